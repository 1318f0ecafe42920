//! Classification of names by the secrecy of their values.

use super::bytes::{byte_at, byte_before};

#[cfg(test)]
#[path = "secret_names_tests.rs"]
mod tests;

/// The kind of secret that a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromisedSecret {
    /// A password: any text may be one.
    Password,
    /// A secret or an API, access or private key by its name: any quoted text may be one too.
    Secret,
    /// A token or a key: random text.
    Token,
    /// A name that keys share with many other things: only very random text counts.
    Maybe,
}

impl PromisedSecret {
    /// Returns the kind of a finding under such a name.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret | Self::Token => "secret-value",
            Self::Maybe => "high-entropy",
        }
    }
}

/// Returns true if a kind names the place of a secret and not its shape.
pub(super) fn is_location_kind(kind: &str) -> bool {
    matches!(
        kind,
        "password" | "secret-value" | "high-entropy" | "auth-header" | "url-password" | "cookie" | "prefixed-token"
    )
}

/// The words for keys that are public.
const PUBLIC_KEYS: &[&str] = &["primary", "foreign", "public", "pub", "pk", "authorized", "known"];

/// The words for keys that are mostly not secret.
const OPEN_KEYS: &[&str] = &[
    "cache",
    "sort",
    "partition",
    "map",
    "hash",
    "index",
    "object",
    "row",
    "unique",
    "host",
    "idempotency",
    "dedup",
    "group",
    "lookup",
    "routing",
    "registry",
    "hot",
    "short",
    "search",
    "i18n",
    "translation",
    "config",
    "property",
    "field",
    "column",
    "item",
    "metric",
    "merge",
    "answer",
    "sk",
    "state",
    "storage",
    "query",
    "react",
    "trace",
    "message",
    "queue",
    "event",
    "store",
    "node",
    "tree",
    "bucket",
];

/// The last words that turn a secret's name into the name of something about it.
const ABOUT: &[&str] = &[
    "file",
    "path",
    "dir",
    "type",
    "name",
    "url",
    "uri",
    "field",
    "count",
    "len",
    "length",
    "size",
    "limit",
    "expiry",
    "expires",
    "ttl",
    "policy",
    "label",
    "hint",
    "prompt",
    "regex",
    "pattern",
    "arn",
    "version",
    "algorithm",
    "header",
    "param",
    "endpoint",
    "method",
    "provider",
    "format",
    "index",
    "usage",
    "window",
    "budget",
    "class",
    "kind",
    "status",
    "mode",
    "store",
    "manager",
    "at",
    "date",
    "time",
    "map",
    "list",
    "ref",
    "reference",
    "error",
    "stream",
    "span",
    "tree",
    "author",
    "authors",
    "authority",
    "through",
    "word",
    "words",
    "board",
    "stroke",
    "press",
    "frame",
    "frames",
    "space",
    "pair",
    "pairs",
    "id",
    "ids",
    "input",
    "placeholder",
    "description",
    "title",
    "tooltip",
    "message",
    "strength",
    "reset",
    "sha",
    "digest",
];

/// The most bytes of a name in which two letters count as a word.
const MAX_SHORT_NAME_BYTES: usize = 16;

/// Returns the kind of secret that a name promises, if any.
pub(super) fn classify_name(name: &str) -> Option<PromisedSecret> {
    let name = SplitName::from_name(name);
    let last = name.parts().next_back()?;
    let has = |words: &[&str]| name.parts().any(|part| words.iter().any(|word| word.as_bytes() == part));
    let holds = |words: &[&str]| words.iter().any(|word| contains_word(&name.compact, word.as_bytes()));
    let ends = |words: &[&str]| words.iter().any(|word| name.compact.ends_with(word.as_bytes()));
    let is_one = name.ends.len() == 1;
    let is_about =
        !is_one && ABOUT.iter().any(|word| word.as_bytes() == last) && !ends(&["accesskeyid", "clientid", "accessid"]);
    let promise = if holds(&["password", "passwd", "passphrase", "passwort", "kennwort", "wachtwoord"])
        || has(&["pass", "pwd", "passcode", "psk", "mnemonic", "contrasena", "senha"])
        || ends(&["pwd"])
        // Two letters occur anywhere in base64.
        || (has(&["pw"]) && name.compact.len() <= MAX_SHORT_NAME_BYTES)
        || (is_one && ends(&["pass"]) && name.compact.len() <= 12 && !is_ordinary_word(&name.compact))
    {
        PromisedSecret::Password
    } else if holds(&["secret", "apikey", "accesskey", "privatekey"]) {
        PromisedSecret::Secret
    } else if has(&["tokens", "tokenizer"]) || name.compact.starts_with(b"tokeni") {
        return None;
    } else if holds(&["token", "credential"]) || has(&["cred", "creds", "bearer", "auth", "cookie"]) || ends(&["auth"])
    {
        PromisedSecret::Token
    } else if has(&["session"]) {
        PromisedSecret::Maybe
    } else if ends(&["key"]) || has(&["key"]) {
        if has(PUBLIC_KEYS) {
            return None;
        }
        match (has(OPEN_KEYS), holds(STRONG_KEYS)) {
            (true, _) => PromisedSecret::Maybe,
            (false, true) if !is_one && ends(&["key"]) && !has(&["auth"]) => PromisedSecret::Secret,
            (false, true) => PromisedSecret::Token,
            (false, false) if is_one => PromisedSecret::Maybe,
            (false, false) => PromisedSecret::Token,
        }
    } else if last == b"login" && !is_one {
        PromisedSecret::Maybe
    } else {
        return None;
    };
    Some(if is_about { PromisedSecret::Maybe } else { promise })
}

/// The words for keys that are secret even if written in one word.
const STRONG_KEYS: &[&str] =
    &["account", "auth", "signing", "encrypt", "master", "license", "shared", "service", "ssh", "hmac", "aes"];

fn is_ordinary_word(compact: &[u8]) -> bool {
    matches!(compact, b"bypass" | b"compass" | b"surpass" | b"trespass" | b"overpass" | b"underpass" | b"pass")
}

/// Returns true if a name contains a word. Names are short, so no search engine is worth building.
fn contains_word(name: &[u8], word: &[u8]) -> bool {
    let first = word.first();
    name.windows(word.len()).any(|window| window.first() == first && window == word)
}

/// The words of a name in small letters: `AWSSecretKey_2` is `aws`, `secret`, `key`, `2`.
struct SplitName {
    /// All words joined, without the separators.
    compact: Vec<u8>,
    /// The end of each word in it.
    ends: Vec<usize>,
}

impl SplitName {
    fn from_name(name: &str) -> Self {
        let bytes = name.as_bytes();
        let mut split = Self { compact: Vec::with_capacity(bytes.len()), ends: Vec::with_capacity(8) };
        for (place, byte) in bytes.iter().enumerate() {
            let (last, next) = (byte_before(bytes, place), byte_at(bytes, place + 1));
            let is_cut = byte.is_ascii_uppercase()
                && (last.is_ascii_lowercase()
                    || last.is_ascii_digit()
                    || (last.is_ascii_uppercase() && next.is_ascii_lowercase()));
            let is_joiner = !byte.is_ascii_alphanumeric();
            if is_cut || is_joiner {
                split.end_part();
            }
            if !is_joiner {
                split.compact.push(byte.to_ascii_lowercase());
            }
        }
        split.end_part();
        split
    }

    fn end_part(&mut self) {
        let end = self.compact.len();
        if end > self.ends.last().copied().unwrap_or(0) {
            self.ends.push(end);
        }
    }

    fn parts(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.ends.iter().enumerate().map(|(place, end)| {
            let start = place.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(0);
            self.compact.get(start..*end).unwrap_or_default()
        })
    }
}
