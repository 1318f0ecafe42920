//! What a name promises of its value.

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;

/// How secret the value of a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// A password: any text may be one.
    Password,
    /// What is called a secret or an API, access or private key: any text in quotes may be one too.
    Secret,
    /// A token or a key: random text.
    Token,
    /// A name that keys share with much else: only what is very random counts.
    Maybe,
}

impl Promise {
    /// The kind of what is found under such a name.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret | Self::Token => "secret-value",
            Self::Maybe => "high-entropy",
        }
    }
}

/// Whether a kind names the place where a secret stood and not its shape.
pub(super) fn is_place(kind: &str) -> bool {
    matches!(
        kind,
        "password" | "secret-value" | "high-entropy" | "auth-header" | "url-password" | "cookie" | "prefixed-token"
    )
}

/// Names of keys that open nothing.
const OPEN_KEYS: &[&str] = &[
    "primary",
    "foreign",
    "public",
    "pub",
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
    "pk",
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

/// Last words that make of a secret's name the name of something about it.
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

/// What a name promises, if anything.
pub(super) fn promise(name: &str) -> Option<Promise> {
    let parts = parts(name);
    let compact: String = parts.concat();
    let has = |word: &str| parts.iter().any(|part| part == word);
    let last = parts.last()?.as_str();
    let is_access_key_id =
        compact.ends_with("accesskeyid") || compact.ends_with("clientid") || compact.ends_with("accessid");
    let is_about = parts.len() > 1 && ABOUT.contains(&last) && !is_access_key_id;
    let promise = if compact.contains("password")
        || compact.contains("passwd")
        || compact.contains("passphrase")
        || has("pass")
        || has("pwd")
        || has("passcode")
        || has("psk")
        || compact.ends_with("pwd")
        || (parts.len() == 1 && compact.ends_with("pass") && compact.len() <= 10 && !is_word_in_pass(&compact))
    {
        Promise::Password
    } else if ["secret", "apikey", "accesskey", "privatekey"].iter().any(|word| compact.contains(word)) {
        Promise::Secret
    } else if has("tokens") || has("tokenizer") || compact.starts_with("tokeni") {
        return None;
    } else if compact.contains("token")
        || compact.contains("credential")
        || has("cred")
        || has("creds")
        || has("bearer")
        || has("auth")
        || compact.ends_with("auth")
        || has("cookie")
    {
        Promise::Token
    } else if has("session") {
        Promise::Maybe
    } else if compact.ends_with("key") || has("key") {
        if parts.iter().any(|part| OPEN_KEYS.contains(&part.as_str())) {
            return None;
        }
        if compact == "key" || parts.len() == 1 && !STRONG_KEYS.iter().any(|strong| compact.contains(strong)) {
            Promise::Maybe
        } else {
            Promise::Token
        }
    } else if last == "login" && parts.len() > 1 {
        Promise::Maybe
    } else {
        return None;
    };
    Some(if is_about { Promise::Maybe } else { promise })
}

/// Keys written in one word that are secret nonetheless.
const STRONG_KEYS: &[&str] =
    &["account", "auth", "signing", "encrypt", "master", "license", "shared", "service", "ssh"];

fn is_word_in_pass(compact: &str) -> bool {
    matches!(compact, "bypass" | "compass" | "surpass" | "trespass" | "overpass" | "underpass" | "pass")
}

/// The words of a name in small letters: `AWSSecretKey_2` is `aws`, `secret`, `key`, `2`.
pub(super) fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    let bytes = name.as_bytes();
    for (place, byte) in bytes.iter().enumerate() {
        let next = bytes.get(place + 1).copied().unwrap_or(0);
        let last = place.checked_sub(1).and_then(|place| bytes.get(place)).copied().unwrap_or(0);
        let is_cut = byte.is_ascii_uppercase()
            && (last.is_ascii_lowercase()
                || last.is_ascii_digit()
                || (last.is_ascii_uppercase() && next.is_ascii_lowercase()));
        let is_joiner = !byte.is_ascii_alphanumeric();
        if (is_cut || is_joiner) && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        if !is_joiner {
            part.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}
