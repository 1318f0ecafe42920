//! The words that announce a secret, all found in one pass, each handed to whoever knows what may follow it.

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::{Finding, assignment, blocks, commands, headers, urls};

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
    ("private-lines:", Place::Block),
    ("://", Place::Url),
    ("hooks.slack.com/", Place::Url),
    ("webhook", Place::Url),
    ("sig=", Place::Url),
    ("signature=", Place::Url),
    ("bearer", Place::Header),
    ("authorization", Place::Header),
    ("cookie", Place::Header),
    ("curl", Place::Command),
    ("sshpass", Place::Command),
    ("mysql", Place::Command),
    ("redis-cli", Place::Command),
    ("docker login", Place::Command),
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
    ("q~", Place::Middle),
    (".atlasv1.", Place::Middle),
    ("sha256~", Place::Middle),
    (":aa", Place::Middle),
    ("pass", Place::Name),
    ("pwd", Place::Name),
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

    /// Puts every secret that a word announces into `found`.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Finding>) {
        let Some(finder) = &self.finder else { return };
        let mut names = assignment::Names::new(text);
        for hit in finder.find_overlapping_iter(text) {
            let Some((_, place)) = WORDS.get(hit.pattern().as_usize()) else { continue };
            match place {
                Place::Name => names.find(hit.start(), hit.end(), found),
                Place::Block => blocks::find(text, hit.start(), found),
                Place::Url => urls::find(text, hit.start(), hit.end(), found),
                Place::Header => headers::find(text, hit.start(), hit.end(), found),
                Place::Command => commands::find(text, hit.start(), hit.end(), found),
                Place::Hash => blocks::find_hash(text, hit.start(), found),
                Place::Middle => blocks::find_by_middle(text, hit.start(), hit.end(), found),
            }
        }
    }
}
