//! The words that announce a secret, all found in one pass and passed to the detector for what may follow them.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::{SecretFinding, assignment, command_arguments, http_headers, key_blocks, redaction_mark, urls};

/// The detector that examines the text at a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DetectorKind {
    /// The word begins or ends a key block.
    Block,
    /// The word is part of a URL that may contain a name and a password.
    Url,
    /// The word is a header with credentials.
    Header,
    /// The word is a command with a password among its arguments.
    Command,
    /// The word begins a password's hash, from which the password can be guessed.
    Hash,
    /// The word is in the middle of a token.
    Middle,
    /// The word is part of a name that may be assigned a secret value.
    Name,
}

const WORDS: &[(&str, DetectorKind)] = &[
    ("-----begin", DetectorKind::Block),
    ("---- begin ssh2", DetectorKind::Block),
    ("-----end", DetectorKind::Block),
    ("private-lines:", DetectorKind::Block),
    ("://", DetectorKind::Url),
    ("hooks.slack.com/", DetectorKind::Url),
    ("webhook", DetectorKind::Url),
    ("/v2/hook/", DetectorKind::Url),
    ("hooks.zapier.com/", DetectorKind::Url),
    ("oapi.dingtalk.com/", DetectorKind::Url),
    ("sig=", DetectorKind::Url),
    ("signature=", DetectorKind::Url),
    ("bearer", DetectorKind::Header),
    ("authorization", DetectorKind::Header),
    ("cookie", DetectorKind::Header),
    ("curl", DetectorKind::Command),
    ("sshpass", DetectorKind::Command),
    ("mysql", DetectorKind::Command),
    ("redis-cli", DetectorKind::Command),
    (" login", DetectorKind::Command),
    ("mongo", DetectorKind::Command),
    ("ldap", DetectorKind::Command),
    ("sqlcmd", DetectorKind::Command),
    ("zip ", DetectorKind::Command),
    ("7z ", DetectorKind::Command),
    ("rdesktop", DetectorKind::Command),
    ("sqlplus", DetectorKind::Command),
    ("oracle:thin:", DetectorKind::Command),
    ("bundle_", DetectorKind::Command),
    ("identified by", DetectorKind::Command),
    ("securestring", DetectorKind::Command),
    ("$2a$", DetectorKind::Hash),
    ("$2b$", DetectorKind::Hash),
    ("$2y$", DetectorKind::Hash),
    ("$1$", DetectorKind::Hash),
    ("$5$", DetectorKind::Hash),
    ("$6$", DetectorKind::Hash),
    ("$y$", DetectorKind::Hash),
    ("$apr1$", DetectorKind::Hash),
    ("$argon2", DetectorKind::Hash),
    ("pbkdf2", DetectorKind::Hash),
    ("{sha}", DetectorKind::Hash),
    ("{ssha}", DetectorKind::Hash),
    ("q~", DetectorKind::Middle),
    (".atlasv1.", DetectorKind::Middle),
    ("sha256~", DetectorKind::Middle),
    (":aa", DetectorKind::Middle),
    (":apa91b", DetectorKind::Middle),
    (":5432:", DetectorKind::Middle),
    (":*:", DetectorKind::Middle),
    ("pass", DetectorKind::Name),
    ("pw", DetectorKind::Name),
    ("mnemonic", DetectorKind::Name),
    ("bearer", DetectorKind::Name),
    ("psk", DetectorKind::Name),
    ("secret", DetectorKind::Name),
    ("token", DetectorKind::Name),
    ("key", DetectorKind::Name),
    ("auth", DetectorKind::Name),
    ("cred", DetectorKind::Name),
    ("session", DetectorKind::Name),
    ("login", DetectorKind::Name),
];

/// A finder for all these words.
#[derive(Debug)]
pub(super) struct SecretWordFinder {
    finder: Option<AhoCorasick>,
}

impl SecretWordFinder {
    pub(super) fn new() -> Self {
        let finder = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(WORDS.iter().map(|(word, _)| word))
            .ok();
        Self { finder }
    }

    /// Adds every secret that a word announces to `found`. Words inside marks are ignored.
    pub(super) fn find_secrets(&self, text: &str, marks: &[Range<usize>], found: &mut Vec<SecretFinding>) {
        let Some(finder) = &self.finder else { return };
        let mut names = assignment::SecretNameScanner::new(text);
        let mut seen = SecretScanProgress::default();
        let mut marks = marks.iter().peekable();
        for hit in finder.find_overlapping_iter(text) {
            let Some((_, place)) = WORDS.get(hit.pattern().as_usize()) else { continue };
            let (start, end) = (hit.start(), hit.end());
            while marks.next_if(|mark| mark.end <= start).is_some() {}
            if marks.peek().is_some_and(|mark| mark.contains(&start)) {
                continue;
            }
            // Words inside a found secret are skipped; only a key block may be larger than it.
            if *place != DetectorKind::Block && seen.secret.contains(&start) {
                continue;
            }
            let known = found.len();
            match place {
                DetectorKind::Name => names.find_value(start, end, found),
                DetectorKind::Block => key_blocks::find_private_key(text, start, found),
                DetectorKind::Url => urls::find_url_secret(text, start, end, &mut seen.hooks_to, found),
                DetectorKind::Header => {
                    http_headers::find_header_secrets(text, start, end, &mut seen.cookies_to, found);
                }
                DetectorKind::Command => {
                    command_arguments::find_command_passwords(text, start, end, &mut seen.commands_to, found);
                }
                DetectorKind::Hash if start < seen.hashes_to => {}
                DetectorKind::Hash => seen.hashes_to = key_blocks::find_password_hash(text, start, found),
                DetectorKind::Middle => key_blocks::find_token_by_middle(text, start, end, found),
            }
            if found.len() > known
                && let Some(last) = found.last()
                && text.get(last.span.clone()).is_some_and(|secret| !redaction_mark::contains_mark(secret))
            {
                seen.secret = last.span.clone();
            }
        }
    }
}

/// The text that was already searched. Without it a hostile text would have the same bytes searched for every word in
/// them.
#[derive(Default)]
struct SecretScanProgress {
    secret: Range<usize>,
    hooks_to: usize,
    cookies_to: usize,
    hashes_to: usize,
    commands_to: command_arguments::Seen,
}
