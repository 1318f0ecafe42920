//! The words that announce a secret, all found in one pass and passed to the detector for what may follow them.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::{
    SecretFinding, assignment, command_arguments, http_headers, key_blocks, opaque_values, redaction_mark, urls,
};

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
    /// The word means password in another language.
    Foreign,
    /// The word names a provider whose keys have no prefix.
    Provider,
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
    ("htpasswd", DetectorKind::Command),
    ("chpasswd", DetectorKind::Command),
    ("sudo -s", DetectorKind::Command),
    ("rabbitmqctl", DetectorKind::Command),
    ("net user ", DetectorKind::Command),
    ("http -a ", DetectorKind::Command),
    ("https -a ", DetectorKind::Command),
    ("openssl", DetectorKind::Command),
    ("smbclient", DetectorKind::Command),
    ("lftp", DetectorKind::Command),
    ("xfreerdp", DetectorKind::Command),
    ("bcp ", DetectorKind::Command),
    ("mosquitto", DetectorKind::Command),
    ("plink", DetectorKind::Command),
    ("pscp", DetectorKind::Command),
    ("cqlsh", DetectorKind::Command),
    ("beeline", DetectorKind::Command),
    ("wpa_passphrase", DetectorKind::Command),
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
    ("ibaak", DetectorKind::Middle),
    ("ibadan", DetectorKind::Middle),
    ("jqqj99", DetectorKind::Middle),
    ("@tcp(", DetectorKind::Middle),
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
    ("kennwort", DetectorKind::Name),
    ("wachtwoord", DetectorKind::Name),
    ("senha", DetectorKind::Name),
    ("mot de passe", DetectorKind::Foreign),
    ("contraseña", DetectorKind::Foreign),
    ("hasło", DetectorKind::Foreign),
    ("lösenord", DetectorKind::Foreign),
    ("пароль", DetectorKind::Foreign),
    ("密码", DetectorKind::Foreign),
    ("密碼", DetectorKind::Foreign),
    ("パスワード", DetectorKind::Foreign),
    ("비밀번호", DetectorKind::Foreign),
    ("adafruit", DetectorKind::Provider),
    ("airtable", DetectorKind::Provider),
    ("alchemy", DetectorKind::Provider),
    ("algolia", DetectorKind::Provider),
    ("amplitude", DetectorKind::Provider),
    ("apify", DetectorKind::Provider),
    ("asana", DetectorKind::Provider),
    ("auth0", DetectorKind::Provider),
    ("bitfinex", DetectorKind::Provider),
    ("bittrex", DetectorKind::Provider),
    ("cloudflare", DetectorKind::Provider),
    ("codecov", DetectorKind::Provider),
    ("coinbase", DetectorKind::Provider),
    ("contentful", DetectorKind::Provider),
    ("datadog", DetectorKind::Provider),
    ("discord", DetectorKind::Provider),
    ("dropbox", DetectorKind::Provider),
    ("fastly", DetectorKind::Provider),
    ("finnhub", DetectorKind::Provider),
    ("heroku", DetectorKind::Provider),
    ("hubspot", DetectorKind::Provider),
    ("intercom", DetectorKind::Provider),
    ("kraken", DetectorKind::Provider),
    ("kucoin", DetectorKind::Provider),
    ("launchdarkly", DetectorKind::Provider),
    ("linkedin", DetectorKind::Provider),
    ("mailchimp", DetectorKind::Provider),
    ("mailgun", DetectorKind::Provider),
    ("mapbox", DetectorKind::Provider),
    ("messagebird", DetectorKind::Provider),
    ("newrelic", DetectorKind::Provider),
    ("okta", DetectorKind::Provider),
    ("openai", DetectorKind::Provider),
    ("opsgenie", DetectorKind::Provider),
    ("pagerduty", DetectorKind::Provider),
    ("paypal", DetectorKind::Provider),
    ("plaid", DetectorKind::Provider),
    ("postmark", DetectorKind::Provider),
    ("pusher", DetectorKind::Provider),
    ("rapidapi", DetectorKind::Provider),
    ("sendgrid", DetectorKind::Provider),
    ("snyk", DetectorKind::Provider),
    ("sumologic", DetectorKind::Provider),
    ("travis", DetectorKind::Provider),
    ("trello", DetectorKind::Provider),
    ("twilio", DetectorKind::Provider),
    ("twitch", DetectorKind::Provider),
    ("twitter", DetectorKind::Provider),
    ("typeform", DetectorKind::Provider),
    ("yandex", DetectorKind::Provider),
    ("zendesk", DetectorKind::Provider),
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
                DetectorKind::Foreign => names.find_foreign_password(start, end, found),
                DetectorKind::Provider => opaque_values::find_provider_key(text, start, end, found),
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
