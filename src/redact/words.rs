//! The words that announce a secret, all found in one pass, each handed to whoever knows what may follow it.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::{Finding, assignment, blocks, commands, headers, mark, urls};

/// Who looks closer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A key block begins.
    Block,
    /// A URL that may carry a name and a password.
    Url,
    /// A header that carries credentials.
    Header,
    /// A command with a password among its arguments.
    Command,
    /// A password's hash, which can be guessed from.
    Hash,
    /// A token known by something in its middle.
    Middle,
    /// A name that may be given a secret value.
    Name,
}

const WORDS: &[(&str, Place)] = &[
    ("-----begin", Place::Block),
    ("---- begin ssh2", Place::Block),
    ("-----end", Place::Block),
    ("private-lines:", Place::Block),
    ("://", Place::Url),
    ("hooks.slack.com/", Place::Url),
    ("webhook", Place::Url),
    ("/v2/hook/", Place::Url),
    ("hooks.zapier.com/", Place::Url),
    ("oapi.dingtalk.com/", Place::Url),
    ("sig=", Place::Url),
    ("signature=", Place::Url),
    ("bearer", Place::Header),
    ("authorization", Place::Header),
    ("cookie", Place::Header),
    ("curl", Place::Command),
    ("sshpass", Place::Command),
    ("mysql", Place::Command),
    ("redis-cli", Place::Command),
    (" login", Place::Command),
    ("mongo", Place::Command),
    ("ldap", Place::Command),
    ("sqlcmd", Place::Command),
    ("zip ", Place::Command),
    ("7z ", Place::Command),
    ("rdesktop", Place::Command),
    ("sqlplus", Place::Command),
    ("oracle:thin:", Place::Command),
    ("bundle_", Place::Command),
    ("identified by", Place::Command),
    ("securestring", Place::Command),
    ("$2a$", Place::Hash),
    ("$2b$", Place::Hash),
    ("$2y$", Place::Hash),
    ("$1$", Place::Hash),
    ("$5$", Place::Hash),
    ("$6$", Place::Hash),
    ("$y$", Place::Hash),
    ("$apr1$", Place::Hash),
    ("$argon2", Place::Hash),
    ("pbkdf2", Place::Hash),
    ("{sha}", Place::Hash),
    ("{ssha}", Place::Hash),
    ("q~", Place::Middle),
    (".atlasv1.", Place::Middle),
    ("sha256~", Place::Middle),
    (":aa", Place::Middle),
    (":apa91b", Place::Middle),
    (":5432:", Place::Middle),
    (":*:", Place::Middle),
    ("pass", Place::Name),
    ("pw", Place::Name),
    ("mnemonic", Place::Name),
    ("bearer", Place::Name),
    ("psk", Place::Name),
    ("secret", Place::Name),
    ("token", Place::Name),
    ("key", Place::Name),
    ("auth", Place::Name),
    ("cred", Place::Name),
    ("session", Place::Name),
    ("login", Place::Name),
];

/// Finds the words.
#[derive(Debug)]
pub(super) struct Words {
    finder: Option<AhoCorasick>,
}

impl Words {
    pub(super) fn new() -> Self {
        let finder = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(WORDS.iter().map(|(word, _)| word))
            .ok();
        Self { finder }
    }

    /// Puts every secret that a word announces into `found`. What marks say of themselves announces nothing.
    pub(super) fn find(&self, text: &str, marks: &[Range<usize>], found: &mut Vec<Finding>) {
        let Some(finder) = &self.finder else { return };
        let mut names = assignment::Names::new(text);
        let mut seen = Seen::default();
        let mut marks = marks.iter().peekable();
        for hit in finder.find_overlapping_iter(text) {
            let Some((_, place)) = WORDS.get(hit.pattern().as_usize()) else { continue };
            let (start, end) = (hit.start(), hit.end());
            while marks.next_if(|mark| mark.end <= start).is_some() {}
            if marks.peek().is_some_and(|mark| mark.contains(&start)) {
                continue;
            }
            // What stands inside a secret need not be looked at again; only a key block may be larger than it.
            if *place != Place::Block && seen.secret.contains(&start) {
                continue;
            }
            let known = found.len();
            match place {
                Place::Name => names.find(start, end, found),
                Place::Block => blocks::find(text, start, found),
                Place::Url => urls::find(text, start, end, &mut seen.hooks_to, found),
                Place::Header => headers::find(text, start, end, &mut seen.cookies_to, found),
                Place::Command => commands::find(text, start, end, &mut seen.commands_to, found),
                Place::Hash if start < seen.hashes_to => {}
                Place::Hash => seen.hashes_to = blocks::find_hash(text, start, found),
                Place::Middle => blocks::find_by_middle(text, start, end, found),
            }
            if found.len() > known
                && let Some(last) = found.last()
                && text.get(last.span.clone()).is_some_and(|secret| !mark::contains(secret))
            {
                seen.secret = last.span.clone();
            }
        }
    }
}

/// What was looked at already. Without it a hostile text would have the same bytes looked at for every word in them.
#[derive(Default)]
struct Seen {
    secret: Range<usize>,
    hooks_to: usize,
    cookies_to: usize,
    hashes_to: usize,
    commands_to: commands::Seen,
}
