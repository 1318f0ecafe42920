//! Advice that weakens safety: it waits for a person, whoever gave it.
//!
//! One table of kinds. It looks at words and commands, never at the prose around them, so that the language in which the
//! advice is given does not matter, and at every reading of the text (see `plain_views`). A text that refuses such a
//! thing, as in "never push with `--force`", is no such advice.

use self::WeakeningKind::{
    AddsSource, Destroys, HidesWords, RunsDownload, SendsAway, SkipsCheck, SwitchesOffProtection, WidensAccess,
};
use super::network_addresses::is_far_address;
use crate::text::{find_encoded_words, plain_views};

#[cfg(test)]
#[path = "safety_weakening_tests.rs"]
mod tests;

/// The kinds of advice that weaken safety.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::distill) enum WeakeningKind {
    /// Hooks, tests, checks or a review are skipped.
    SkipsCheck,
    /// Authentication, encryption, signatures or another protection is switched off.
    SwitchesOffProtection,
    /// Packages or code come from another place.
    AddsSource,
    /// What the network gives is run.
    RunsDownload,
    /// Work or data is thrown away, or history rewritten.
    Destroys,
    /// More may be done, by more, than before.
    WidensAccess,
    /// Something is sent to another machine.
    SendsAway,
    /// It is not said in plain words.
    HidesWords,
}

impl WeakeningKind {
    /// Describes the kind, worded to follow "it asks for `x`, which".
    pub(in crate::distill) fn describe(self) -> &'static str {
        match self {
            Self::SkipsCheck => "skips a check",
            Self::SwitchesOffProtection => "switches a protection off",
            Self::AddsSource => "takes packages or code from another place",
            Self::RunsDownload => "runs what the network gives",
            Self::Destroys => "throws work or data away",
            Self::WidensAccess => "widens what may be done",
            Self::SendsAway => "sends something to another machine",
            Self::HidesWords => "is not said in plain words",
        }
    }
}

/// A piece of advice that weakens safety.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::distill) struct SafetyWeakening {
    pub(in crate::distill) kind: WeakeningKind,
    /// The words that show it, in lower case.
    pub(in crate::distill) words: String,
}

/// Beginnings of flags, without their dashes.
const FLAGS: &[(WeakeningKind, &str)] = &[
    (
        SkipsCheck,
        "no-verify no-check no-hook no-test no-validat no-audit no-lint no-confirm no-review skip ignore-check \
         ignore-hook ignore-fail ignore-error ignore-test bypass disable-check disable-test disable-lint disable-hook \
         passwithnotests deselect dskiptest dskipit dmaven.test.skip yolo dangerously danger \
         no-typecheck no-scripts-check allow-dirty allow-fail",
    ),
    (
        SwitchesOffProtection,
        "no-gpg nogpg no-sign no-sig no-ssl no-tls no-auth no-sandbox no-strict no-integrity no-secur no-protect \
         no-csrf no-firewall no-permission no-encrypt no-password insecure unsafe allow-unauth allow-insecure \
         allow-unsafe allow-untrusted allow-unsigned allow-unverified allow-http allow-downgrade trusted-host trust \
         disable-auth disable-ssl disable-tls disable-secur disable-sign disable-verif disable-web-secur \
         disable-sandbox disable-csp disable-csrf disable-firewall disable-protect disable-gpg disable-host \
         ignore-cert ignore-ssl ignore-tls ignore-sign ignore-secur ignore-integrity without-auth without-tls \
         skip-tls accept-invalid accept-any verify=false verify=no secure=false auth=none auth=false tls=false \
         ssl=false sslmode=disable",
    ),
    (
        AddsSource,
        "index-url extra-index find-links registry-mirror insecure-registry repository-url mirror-url extra-source \
         add-source proxy-registry",
    ),
    (Destroys, "force hard delete accept-data-loss no-preserve-root purge overwrite-all wipe"),
    (WidensAccess, "privileged cap-add allow-root allow-all allow-any security-opt world-writable full-access"),
];

/// Flags that begin like those above, and do no harm.
const HARMLESS_FLAGS: &[&str] = &[
    "force-with-lease",
    "force-color",
    "force-exclude",
    "skip-worktree",
    "index-filter",
    "index-info",
    "skip-lines",
    "delete-merged",
    "trust-model",
    "no-checkout",
    "no-tests=",
    "index-version",
    "mirror-list",
];

/// Words that follow one another, with at most a few others between them; `*` stands for any letters.
const SEQUENCES: &[(WeakeningKind, &[&str])] = &[
    (SkipsCheck, &["core.hookspath*"]),
    (SkipsCheck, &["pre-commit|husky|lefthook", "uninstall"]),
    (SkipsCheck, &["rm|mv|unlink|chmod", "*.git/hooks*|*.husky*"]),
    (SkipsCheck, &["skip", "ci"]),
    (SkipsCheck, &["ci", "skip"]),
    (SkipsCheck, &["gradle*|./gradlew|gradlew", "-x", "*test*|check|lint*"]),
    (SkipsCheck, &["-k", "not"]),
    (SkipsCheck, &["*continue-on-error*|*nosec|*nosonar|*eslint-disable*|*ts-nocheck|*skip-checks*"]),
    (SkipsCheck, &["it.skip*|test.skip*|describe.skip*|t.skip*|xfail|*pytest.mark.skip*|xit|*@disabled"]),
    (SkipsCheck, &["||", "true"]),
    (SwitchesOffProtection, &["setenforce", "0|permissive"]),
    (SwitchesOffProtection, &["ufw|selinux|apparmor|firewalld|auditd|defender|antivirus", "disable*|stop*|off"]),
    (SwitchesOffProtection, &["stop|disable|mask", "firewalld|auditd|apparmor|fail2ban|ufw|falco|crowdstrike*"]),
    (SwitchesOffProtection, &["iptables|nft", "-f|flush"]),
    (SwitchesOffProtection, &["xattr", "*quarantine"]),
    (SwitchesOffProtection, &["spctl|csrutil", "*disable"]),
    (SwitchesOffProtection, &["set-executionpolicy", "bypass|unrestricted"]),
    (SwitchesOffProtection, &["*danger-full-access|*bypasspermissions|*--full-auto"]),
    (SwitchesOffProtection, &["curl|wget|http|https", "-k"]),
    (SwitchesOffProtection, &["stricthostkeychecking*", "no|off|accept-new"]),
    (SwitchesOffProtection, &["*stricthostkeychecking=no|*userknownhostsfile=/dev/null"]),
    (SwitchesOffProtection, &["permitall*|*allowanonymous|*csrf_exempt|*authnone"]),
    (AddsSource, &["config", "set|--add|add", "*registry*|channels|*index-url|*index_url|*mirror*"]),
    (AddsSource, &["registry", "*://*"]),
    (AddsSource, &["add-apt-repository|apt-key|apt-add-repository"]),
    (AddsSource, &["*sources.list*"]),
    (AddsSource, &["gem", "sources"]),
    (AddsSource, &["brew", "tap"]),
    (AddsSource, &["helm", "repo", "add"]),
    (AddsSource, &["remote", "set-url"]),
    (AddsSource, &["*insteadof*"]),
    (AddsSource, &["install|add|require", "*git+http*|*git+ssh*|http://*|https://*|--git"]),
    (AddsSource, &["*replace-with*"]),
    (RunsDownload, &["eval|source|bash|sh|zsh|python|python3|ruby|perl|iex", "curl|wget|iwr|irm"]),
    (RunsDownload, &["iwr|irm|invoke-webrequest|invoke-restmethod", "iex|invoke-expression"]),
    (Destroys, &["git", "reset"]),
    (Destroys, &["git", "clean"]),
    (Destroys, &["git", "stash"]),
    (Destroys, &["git", "restore"]),
    (Destroys, &["git", "checkout", "--|."]),
    (SkipsCheck, &["commit", "-n|-nm|-an|-anm"]),
    (Destroys, &["branch", "-D"]),
    (Destroys, &["push", "-f|+*"]),
    (Destroys, &["git", "filter-branch|filter-repo|update-ref"]),
    (Destroys, &["volume|volumes", "rm|prune|remove"]),
    (Destroys, &["system|builder", "prune"]),
    (Destroys, &["compose|docker-compose", "down", "-v|--volumes"]),
    (Destroys, &["drop", "table|database|schema|user|collection|index"]),
    (Destroys, &["truncate", "table"]),
    (Destroys, &["DELETE", "FROM"]),
    (Destroys, &["kubectl", "delete"]),
    (Destroys, &["terraform|tofu|pulumi", "destroy"]),
    (Destroys, &["dropdb|mkfs*|shred|*flushall|*flushdb|*db:drop*|*db:reset*|remove-item|rimraf"]),
    (Destroys, &["migrate", "reset"]),
    (Destroys, &["dd", "if=*"]),
    (Destroys, &["find", "-delete"]),
    (WidensAccess, &["chmod", "*777|*666|*a+rw*|*a+w*|*o+w*|*ugo+*|*+s"]),
    (WidensAccess, &["authorized_keys|*/authorized_keys|visudo|*sudoers*|*nopasswd*"]),
    (SendsAway, &["|", "nc|ncat|netcat|telnet"]),
    (RunsDownload, &["exec|eval|execfile", "*urlopen|*urlretrieve|*requests.get|*fetch|*http.get"]),
];

/// Parts of the names of settings that protect something, or that switch such a thing off.
const PROTECTING: &[&str] = &[
    "verify",
    "verification",
    "ssl",
    "tls",
    "auth",
    "signing",
    "signature",
    "gpgsign",
    "signed",
    "checksum",
    "integrity",
    "csrf",
    "sandbox",
    "secur",
    "validat",
    "strict",
    "protect",
    "permission",
    "hook",
    "husky",
    "lefthook",
    "firewall",
    "seccomp",
    "apparmor",
    "selinux",
    "reject_unauthorized",
    "rejectunauthorized",
    "sumdb",
    "audit",
    "2fa",
    "mfa",
    "rbac",
    "cors",
    "hsts",
    "antivirus",
    "encrypt",
    "safe",
    "guard",
    "certs",
    "https",
];
const SWITCHING_OFF: &[&str] = &[
    "skip",
    "disable",
    "bypass",
    "insecure",
    "unsafe",
    "ignore_",
    "no_verify",
    "no_auth",
    "no_check",
    "without_",
    "allow_all",
    "allow_any",
    "allow_un",
    "allow_in",
    "allow_http",
    "trust_all",
    "trustserver",
    "nosum",
    "noproxy_auth",
    "noauth",
    "accept_invalid",
    "dangerous",
];

/// Names of settings by which packages, code or traffic take another way.
const ROUTING: &[&str] = &[
    "index_url",
    "index-url",
    "goproxy",
    "registry",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "mirror",
    "npm_config_registry",
    "uv_index",
    "pip_index",
    "cargo_registries",
];

/// Names of settings that say where something is sent or taken from.
const TARGETS: &[&str] = &[
    "url",
    "endpoint",
    "webhook",
    "dsn",
    "collector",
    "upload",
    "server",
    "sink",
    "host",
    "addr",
    "report",
    "callback",
];

const OFF: &[&str] = &["0", "false", "no", "off", "none", "disable", "disabled", "never", "null", "*", "/dev/null"];
const ON: &[&str] = &["1", "true", "yes", "on", "all", "any", "*"];

/// Verbs and objects of prose, close to each other.
const VERBS: &str = "disable disabling turn switch bypass bypassing skip skipping deactivate deactivating suppress omit \
    ignore ignoring remove";
const OBJECTS: &str = "tls ssl certificate certificates signature signatures signing auth authentication authorization \
    hooks hook pre-commit sandbox firewall antivirus selinux 2fa mfa rbac csrf cors verification";

/// Verbs by which something goes to an address.
const SENDING: &str = "send sending upload uploading post posting forward forwarding exfiltrate report ship mail email \
    sende senden envoyer envoyez enviar envíe отправь отправить scp rsync";

/// The most words between two words of a sequence.
const BETWEEN: usize = 3;

/// Folders that are derived from other files, so that deleting them loses nothing.
const DERIVED: &[&str] = &[
    "node_modules",
    "target",
    "dist",
    "build",
    ".next",
    "__pycache__",
    ".pytest_cache",
    ".cache",
    "coverage",
    "out",
    ".turbo",
    ".gradle",
    "_build",
    "deps",
    ".venv",
    "venv",
    ".mypy_cache",
    ".ruff_cache",
    "bin",
    "obj",
    ".nuxt",
    "package-lock.json",
];

/// A word of a text.
#[derive(Debug)]
struct AdviceWord {
    text: String,
    /// The word as it is written; the case of a short flag matters.
    written: String,
    /// The number of the clause that it is part of.
    clause: usize,
    /// True if a colon follows it, so that the next word may be its value.
    is_named: bool,
}

/// Returns what a text asks for that weakens safety, in whatever way it is written.
pub(in crate::distill) fn find_weakening(text: &str) -> Option<SafetyWeakening> {
    let found = plain_views(text).iter().find_map(|view| find_in_words(&split_advice(view)));
    found.or_else(|| {
        let words = find_encoded_words(text)?;
        Some(SafetyWeakening { kind: HidesWords, words: words.to_lowercase() })
    })
}

fn find_in_words(words: &[AdviceWord]) -> Option<SafetyWeakening> {
    (0..words.len()).find_map(|at| {
        let (kind, shown) = find_at(words, at)?;
        (!is_refused(words, at)).then_some(SafetyWeakening { kind, words: shown })
    })
}

fn find_at(words: &[AdviceWord], at: usize) -> Option<(WeakeningKind, String)> {
    let word = words.get(at)?;
    let alone = || word.text.clone();
    let next = words.get(at + 1).map(|next| next.text.as_str());
    let is_source =
        |flag: &str| word.text.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
    if ["--index", "--registry", "--source", "--mirror", "--channel"].into_iter().any(is_source)
        && (is_far_address(&word.text) || next.is_some_and(is_far_address))
    {
        return Some((AddsSource, alone()));
    }
    if let Some(kind) = judge_flag(&word.text) {
        return Some((kind, alone()));
    }
    if let Some(kind) = judge_setting(word, words.get(at + 1)) {
        return Some((kind, alone()));
    }
    for (kind, sequence) in SEQUENCES {
        if let Some(end) = match_sequence(words, at, sequence) {
            return Some((*kind, join_words(words, at, end)));
        }
    }
    let near = || words.iter().skip(at + 1).take_while(|other| other.clause == word.clause).take(5);
    let needs_off = matches!(word.text.as_str(), "turn" | "switch");
    if has_word(VERBS, &word.text)
        && near().take(4).any(|other| has_word(OBJECTS, &other.text))
        && (!needs_off || near().any(|other| other.text == "off"))
    {
        return Some((SwitchesOffProtection, join_words(words, at, at + 4)));
    }
    let is_sending = has_word(SENDING, &word.text);
    if is_sending
        && words
            .iter()
            .skip(at + 1)
            .take(10)
            .take_while(|other| other.clause <= word.clause + 1)
            .any(|other| is_far_address(&other.text))
    {
        return Some((SendsAway, join_words(words, at, at + 6)));
    }
    match word.text.as_str() {
        "rm" | "rmdir" | "del" => {
            let arguments: Vec<&AdviceWord> = near().collect();
            let is_deep = arguments
                .iter()
                .any(|other| other.text.starts_with('-') && (other.text.contains('r') || other.text == "--recursive"));
            let mut targets = arguments.iter().filter(|other| !other.text.starts_with('-'));
            let is_derived = targets
                .next()
                .is_some_and(|first| DERIVED.contains(&first.text.trim_start_matches("./").trim_end_matches('/')));
            (is_deep && !is_derived).then(|| (Destroys, join_words(words, at, at + 2)))
        }
        "curl" | "wget" | "fetch" | "http" | "iwr" | "irm" => {
            let rest: Vec<&AdviceWord> = words.iter().skip(at + 1).take(14).collect();
            let pipe = rest.iter().position(|other| other.text == "|");
            let runs =
                pipe.is_some_and(|pipe| rest.iter().skip(pipe + 1).take(3).any(|other| is_interpreter(&other.text)));
            let writes = rest.iter().position(|other| other.text.starts_with("./") || is_interpreter(&other.text));
            let saves = rest.iter().any(|other| other.text == "&&" || other.text == ";");
            if runs || (saves && writes.is_some() && rest.iter().any(|other| is_far_address(&other.text))) {
                return Some((RunsDownload, join_words(words, at, at + 6)));
            }
            let sends = rest.iter().any(|other| {
                matches!(other.text.as_str(), "-d" | "-t" | "--data" | "--data-binary" | "--upload-file" | "--form")
                    || other.text == "--post-file"
                    || other.written == "-F"
            });
            let is_far = rest.iter().any(|other| is_far_address(&other.text));
            (sends && is_far).then(|| (SendsAway, join_words(words, at, at + 6)))
        }
        _ => None,
    }
}

fn is_interpreter(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    matches!(
        name,
        "sh" | "bash"
            | "zsh"
            | "dash"
            | "fish"
            | "python"
            | "python3"
            | "node"
            | "perl"
            | "ruby"
            | "php"
            | "deno"
            | "iex"
            | "pwsh"
            | "powershell"
            | "osascript"
    )
}

/// Returns the kind of a flag that weakens safety.
fn judge_flag(word: &str) -> Option<WeakeningKind> {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-').filter(|name| name.len() > 3))?;
    if HARMLESS_FLAGS.iter().any(|harmless| name.starts_with(harmless)) {
        return None;
    }
    let is_listed = |listed: &str| {
        listed.split_whitespace().any(|start| {
            name.strip_prefix(start).is_some_and(|rest| {
                // `index` and the like are whole names; the rest are beginnings.
                !matches!(start, "delete" | "hard" | "trust" | "skip" | "danger")
                    || rest.is_empty()
                    || rest.starts_with(['=', '-', ':'])
            })
        })
    };
    FLAGS.iter().find(|(_, listed)| is_listed(listed)).map(|(kind, _)| *kind)
}

/// Returns the kind of a setting that weakens safety: `NAME=value`, `name: value` or `name value`.
fn judge_setting(word: &AdviceWord, next: Option<&AdviceWord>) -> Option<WeakeningKind> {
    let bare = word.text.trim_start_matches('-');
    let is_plain_value =
        |next: &&str| !matches!(*next, "no" | "never" | "null" | "*" | "none" | "any" | "all" | "on" | "yes");
    let following = || next.map(|next| next.text.as_str()).filter(is_plain_value);
    let assigned = bare.split_once('=').or_else(|| bare.split_once(':').filter(|(_, value)| !value.starts_with('/')));
    let (name, value) = match assigned {
        Some((name, value)) => (name, value),
        None if word.is_named || bare.contains(['.', '_', '-']) => (bare, following()?),
        None => return None,
    };
    let is_assigned = bare.contains('=');
    let name = name.replace('-', "_").replace("author", "");
    let value = value.trim_matches(|c: char| matches!(c, '"' | '\'' | '`'));
    let holds = |listed: &[&str]| listed.iter().any(|part| name.contains(&part.replace('-', "_")));
    let is_name = name.len() > 2 && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '@' | '/'));
    if !is_name {
        return None;
    }
    let is_off = (holds(SWITCHING_OFF) && ON.contains(&value))
        || (holds(PROTECTING) && OFF.contains(&value))
        || (is_assigned && holds(&["sumdb", "nosum", "noproxy", "goinsecure"]) && !value.is_empty())
        || (is_assigned && (value.contains("insecure") || value.contains("skipverify") || value == "trust"));
    match () {
        () if is_assigned && matches!(name.as_str(), "skip" | "husky" | "lefthook") => Some(SkipsCheck),
        () if is_off => Some(SwitchesOffProtection),
        () if holds(ROUTING) && (value == "direct" || is_far_address(value)) => Some(AddsSource),
        () if is_assigned && holds(TARGETS) && is_far_address(value) && is_web_address(value) => Some(SendsAway),
        () => None,
    }
}

/// Tells whether an address is no database's and no file's.
fn is_web_address(value: &str) -> bool {
    let scheme = value.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_none_or(|scheme| {
        ["http", "ws", "ftp", "tcp", "udp", "grpc", "smtp"].iter().any(|web| scheme.starts_with(web))
    })
}

/// Returns the position of the last word of a sequence that begins here.
fn match_sequence(words: &[AdviceWord], at: usize, sequence: &[&str]) -> Option<usize> {
    let (first, rest) = sequence.split_first()?;
    let matches = |place: usize, pattern: &str| {
        words.get(place).is_some_and(|word| {
            pattern.split('|').filter(|one| !one.is_empty()).any(|one| matches_glob(word, one))
                || (pattern.starts_with('|') && word.text == pattern)
        })
    };
    if !matches(at, first) {
        return None;
    }
    let clause = words.get(at)?.clause;
    let mut place = at;
    for pattern in rest {
        // A forced reference is known by its sign, wherever it stands behind the push.
        let between = if pattern.contains("+*") { 2 * BETWEEN } else { BETWEEN };
        let next = (place + 1..=place + 1 + between)
            .take_while(|next| words.get(*next).is_some_and(|word| word.clause == clause))
            .find(|next| matches(*next, pattern))?;
        place = next;
    }
    Some(place)
}

fn matches_glob(word: &AdviceWord, pattern: &str) -> bool {
    if pattern.chars().any(char::is_uppercase) {
        return word.written == pattern;
    }
    let text = word.text.as_str();
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => pattern.trim_matches('*').split('*').all(|part| text.contains(part)),
        (Some(end), None) => text.ends_with(end),
        (None, Some(start)) => text.starts_with(start),
        (None, None) => text == pattern,
    }
}

fn join_words(words: &[AdviceWord], from: usize, to: usize) -> String {
    let shown = words.iter().skip(from).take(to + 1 - from).map(|word| word.text.as_str());
    shown.collect::<Vec<_>>().join(" ")
}

fn has_word(listed: &str, word: &str) -> bool {
    listed.split_whitespace().any(|known| known == word)
}

/// Tells whether the words before refuse what follows: "never", "do not use", "instead of". A refusal of going without
/// it is none.
fn is_refused(words: &[AdviceWord], at: usize) -> bool {
    const REFUSALS: &str = "never not don't dont avoid nicht kein keine niemals ne jamais nunca";
    const TURNS: &str = "without unless except forget omit leave drop miss lack lacks missing hesitate only but until works supported fails passes and just then so mind worry panic bother be simply always instead ohne sauf sans sin";
    let Some(clause) = words.get(at).map(|word| word.clause) else { return false };
    let before: Vec<&str> = words
        .get(at.saturating_sub(6)..at)
        .unwrap_or_default()
        .iter()
        .filter(|word| word.clause == clause)
        .map(|word| word.text.as_str())
        .collect();
    let refusal = before.iter().rposition(|word| has_word(REFUSALS, word));
    let instead = before.windows(2).rposition(|pair| matches!(pair, ["instead" | "rather", "of" | "than"]));
    let Some(place) = refusal.max(instead) else { return false };
    // "do not commit with it" refuses it; "avoid the hook with it" does not.
    let is_means = |word: &&str| has_word("with by via using", word);
    let between = before.get(place + 1..).unwrap_or_default();
    let is_turned = between.iter().any(|word| has_word(TURNS, word));
    let is_other = between.iter().any(is_means) && (between.len() > 3 || before.get(place) == Some(&"avoid"));
    !is_turned && !is_other
}

/// Splits a text into words, with signs of the shell as words of their own.
fn split_advice(text: &str) -> Vec<AdviceWord> {
    let mut words = Vec::new();
    let mut clause = 0;
    let spaced = text
        .replace("||", " ‖ ")
        .replace('|', " | ")
        .replace('‖', "||")
        .replace("&&", " && ")
        .replace(';', "; ")
        .replace("$(", " ")
        .replace("<(", " ");
    for piece in spaced.split(|c: char| c.is_whitespace() || "`\"'()[]{}<>".contains(c)) {
        let bare = piece.trim_matches(|c: char| matches!(c, ',' | ';' | '!' | '?' | '。' | '，' | '；'));
        let is_named = bare.len() > 1 && bare.ends_with(':');
        let is_end = piece.len() > bare.len() || piece.ends_with(['.', ':']);
        let bare = if bare.len() > 1 { bare.trim_end_matches(['.', ':']) } else { bare };
        if !bare.is_empty() {
            words.push(AdviceWord { text: bare.to_lowercase(), written: bare.to_owned(), clause, is_named });
        }
        if is_end || matches!(bare, "THEN" | "then") {
            clause += 1;
        }
    }
    words
}
