//! Whether an entry tells what happened once and advises nothing.
//!
//! The rule is simple on purpose. An entry is an incident if it is a record of a run, if it tells what somebody did, or
//! if it names a moment, a commit or a pull request and speaks in the past; but never if any of it advises, settles
//! something, or says how things are.

#[cfg(test)]
#[path = "incident_tests.rs"]
mod tests;

/// As much of an entry as is looked at: an event is told at the beginning.
const MAX_BYTES: usize = 8_000;

/// Words of rules and of decisions: who uses them wants something to be done, or not to be done.
const RULING: &[&str] = &[
    "agreed",
    "always",
    "avoid",
    "avoids",
    "be sure",
    "can't",
    "cannot",
    "chose",
    "convention",
    "decided",
    "do not",
    "don't",
    "each time",
    "every time",
    "from now on",
    "going forward",
    "has to",
    "have to",
    "in future",
    "instead of",
    "likes",
    "make sure",
    "must",
    "need to",
    "needs",
    "never",
    "next time",
    "otherwise",
    "policy",
    "prefer",
    "preferred",
    "prefers",
    "recommended",
    "remember to",
    "required",
    "requires",
    "shall",
    "should",
    "unless",
    "wants",
    "whenever",
];

/// A clause that begins with one of these tells somebody what to do, or when.
const TELLING: &[&str] = &[
    "add",
    "allow",
    "ask",
    "assume",
    "await",
    "bind",
    "build",
    "call",
    "change",
    "check",
    "choose",
    "clean",
    "clear",
    "close",
    "commit",
    "compare",
    "compile",
    "configure",
    "confirm",
    "consider",
    "convert",
    "copy",
    "create",
    "declare",
    "define",
    "delete",
    "deploy",
    "disable",
    "drop",
    "enable",
    "ensure",
    "escape",
    "exclude",
    "expect",
    "export",
    "fetch",
    "filter",
    "flush",
    "follow",
    "format",
    "generate",
    "give",
    "guard",
    "handle",
    "hold",
    "if",
    "ignore",
    "import",
    "include",
    "increase",
    "inject",
    "inspect",
    "install",
    "invoke",
    "keep",
    "kill",
    "leave",
    "limit",
    "lint",
    "load",
    "lock",
    "look",
    "lower",
    "mark",
    "merge",
    "mock",
    "move",
    "name",
    "only",
    "open",
    "override",
    "parse",
    "pass",
    "pin",
    "place",
    "print",
    "provide",
    "pull",
    "push",
    "put",
    "quote",
    "raise",
    "rebase",
    "rebuild",
    "regenerate",
    "reload",
    "remove",
    "rename",
    "renew",
    "replace",
    "rerun",
    "reset",
    "resolve",
    "restart",
    "restore",
    "retry",
    "return",
    "reuse",
    "review",
    "roll",
    "rotate",
    "run",
    "save",
    "search",
    "see",
    "send",
    "set",
    "skip",
    "sort",
    "specify",
    "split",
    "start",
    "stop",
    "store",
    "strip",
    "switch",
    "test",
    "treat",
    "trim",
    "try",
    "turn",
    "unset",
    "update",
    "upgrade",
    "use",
    "validate",
    "verify",
    "wait",
    "watch",
    "wrap",
    "write",
];

/// Words that say how things are, not how they were.
const PRESENT: &[&str] = &[
    "are", "aren't", "belong", "breaks", "can", "come", "contains", "depends", "do", "does", "doesn't", "don't", "end",
    "expects", "fails", "get", "go", "has", "hasn't", "have", "holds", "is", "isn't", "keep", "keeps", "land", "live",
    "lives", "means", "need", "rejects", "remain", "returns", "runs", "show", "stay", "supports", "takes", "uses",
    "vanish", "will", "won't", "works",
];

/// Behind a word of [`PRESENT`] these only say how the event ended.
const ENDED: &[&str] = &[
    "closed",
    "complete",
    "completed",
    "deployed",
    "done",
    "fine",
    "fixed",
    "green",
    "happy",
    "merged",
    "now",
    "passing",
    "ready",
    "resolved",
    "working",
];

/// What somebody did. Words in `-ed` are known by that where a person is named.
const DID: &[&str] = &[
    "added",
    "asked",
    "attempted",
    "broke",
    "built",
    "bumped",
    "changed",
    "checked",
    "cleaned",
    "closed",
    "committed",
    "completed",
    "continued",
    "converted",
    "crashed",
    "created",
    "debugged",
    "deleted",
    "deployed",
    "did",
    "disabled",
    "discovered",
    "discussed",
    "enabled",
    "explored",
    "extracted",
    "failed",
    "finished",
    "fixed",
    "found",
    "got",
    "hit",
    "implemented",
    "installed",
    "introduced",
    "investigated",
    "looked",
    "made",
    "merged",
    "migrated",
    "moved",
    "noticed",
    "opened",
    "passed",
    "pushed",
    "ran",
    "rebased",
    "refactored",
    "released",
    "removed",
    "renamed",
    "replaced",
    "reported",
    "reproduced",
    "resolved",
    "restarted",
    "reverted",
    "reviewed",
    "rewrote",
    "rolled",
    "saw",
    "solved",
    "spent",
    "started",
    "stopped",
    "succeeded",
    "successfully",
    "switched",
    "tested",
    "tried",
    "updated",
    "upgraded",
    "verified",
    "worked",
    "wrote",
];

/// Words of the past that do not end in `-ed`.
const WAS: &[&str] = &[
    "began", "broke", "built", "came", "did", "found", "gave", "got", "had", "hit", "hung", "kept", "led", "left",
    "lost", "made", "ran", "said", "saw", "sent", "spent", "threw", "told", "took", "was", "went", "were", "wrote",
];

/// Words in `-ed` that are none of the past.
const NOT_PAST: &[&str] = &["embed", "exceed", "feed", "indeed", "need", "proceed", "seed", "shed", "speed", "succeed"];

/// Who does things.
const SOMEBODY: &[&str] = &["agent", "assistant", "claude", "he", "i", "she", "they", "user", "we"];

/// A moment, in one word or two.
const MOMENTS: &[&str] = &[
    "ago",
    "earlier today",
    "just now",
    "last month",
    "last night",
    "last run",
    "last session",
    "last week",
    "this afternoon",
    "this evening",
    "this morning",
    "this run",
    "this session",
    "this week",
    "today",
    "tonight",
    "yesterday",
];

const MONTHS: &[&str] = &[
    "apr",
    "april",
    "aug",
    "august",
    "dec",
    "december",
    "feb",
    "february",
    "jan",
    "january",
    "jul",
    "july",
    "jun",
    "june",
    "mar",
    "march",
    "may",
    "nov",
    "november",
    "oct",
    "october",
    "sep",
    "september",
];

/// What is numbered in the work on a project.
const NUMBERED: &[&str] = &["issue", "mr", "pr", "pull", "request", "ticket"];

/// Fewer letters than this are no commit.
const COMMIT_LETTERS: std::ops::RangeInclusive<usize> = 7..=40;

/// What gives the entry away as an incident, if it is one.
pub(super) fn told(text: &str) -> Option<String> {
    let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
    if is_rule(text) {
        return None;
    }
    let clauses = clauses(text);
    // "Task: Create a file - Outcome: failure" orders nothing: it says what was ordered.
    if clauses.windows(2).any(|pair| matches!(pair, [label, ended] if is_outcome(label, ended))) {
        return Some("tells how a run ended".to_owned());
    }
    if clauses.iter().any(|clause| advises(clause) || says_how_things_are(clause)) {
        return None;
    }
    let deed = clauses.iter().find_map(|clause| deed(clause));
    let moment = || {
        clauses.iter().find_map(|clause| moment(clause)).filter(|_| clauses.iter().flatten().any(|word| is_past(word)))
    };
    deed.or_else(moment).map(|sign| format!("tells of an event: \"{sign}\""))
}

fn is_rule(text: &str) -> bool {
    text.split_once("IF ").is_some_and(|(_, rest)| rest.contains(" THEN "))
}

/// The parts of a text between its signs, each by its words in lower case. Code spans are one word.
fn clauses(text: &str) -> Vec<Vec<String>> {
    let mut clauses = Vec::new();
    let mut clause: Vec<String> = Vec::new();
    for line in text.lines() {
        for word in line.split_whitespace() {
            let ends = word.ends_with(['.', ',', ';', ':', '!', '?', ')']);
            let bare = word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '#' || c == '`'));
            let is_code = word.trim_start_matches('(').starts_with('`');
            if !bare.is_empty() {
                clause.push(if is_code { "`".to_owned() } else { bare.trim_matches('`').to_lowercase() });
            }
            if ends || bare.is_empty() {
                clauses.extend(Some(std::mem::take(&mut clause)).filter(|clause| !clause.is_empty()));
            }
        }
        clauses.extend(Some(std::mem::take(&mut clause)).filter(|clause| !clause.is_empty()));
    }
    clauses
}

fn is_outcome(label: &[String], ended: &[String]) -> bool {
    let ends = ["aborted", "blocked", "cancelled", "error", "failed", "failure", "partial", "success", "timeout"];
    label.last().is_some_and(|word| word == "outcome")
        && ended.first().is_some_and(|word| ends.contains(&word.as_str()))
}

fn advises(clause: &[String]) -> bool {
    // "Please", "so" and "then" only lead up to what is to be done.
    let mut words =
        clause.iter().map(String::as_str).skip_while(|word| matches!(*word, "please" | "so" | "then" | "and" | "just"));
    // "Commit 4f2c9ab broke it" and "test 3 failed" order nothing.
    let (first, next) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_numbered = is_commit(next) || next.starts_with(|c: char| c.is_ascii_digit() || c == '#');
    (TELLING.contains(&first) && !is_numbered) || says(clause, RULING).is_some()
}

fn says_how_things_are(clause: &[String]) -> bool {
    let pairs = clause.iter().zip(clause.iter().skip(1).map(Some).chain([None]));
    pairs.into_iter().any(|(word, next)| {
        PRESENT.contains(&word.as_str()) && !next.is_some_and(|next| ENDED.contains(&next.as_str()))
    })
}

/// The first of these that a clause says, in one word or several.
fn says(clause: &[String], phrases: &[&'static str]) -> Option<&'static str> {
    phrases.iter().copied().find(|phrase| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        clause.windows(phrase.len()).any(|window| window.iter().map(String::as_str).eq(phrase.iter().copied()))
    })
}

/// What somebody did, if the clause begins with that.
fn deed(clause: &[String]) -> Option<String> {
    let words: Vec<&str> = clause
        .iter()
        .map(String::as_str)
        .skip_while(|word| matches!(*word, "the" | "also" | "and" | "then" | "just"))
        .collect();
    match words.as_slice() {
        // "…, started by a script" says how things are.
        [_, "by", ..] => None,
        [did, ..] if DID.contains(did) => Some((*did).to_owned()),
        [who, did, ..] if SOMEBODY.contains(who) && is_past(did) => Some(format!("{who} {did}")),
        _ => None,
    }
}

fn is_past(word: &str) -> bool {
    let is_regular = word.len() > 3 && word.ends_with("ed") && !NOT_PAST.contains(&word);
    is_regular || WAS.contains(&word)
}

/// A moment, a commit or a number of the project's work.
fn moment(clause: &[String]) -> Option<String> {
    let pairs = clause.iter().zip(clause.iter().skip(1).map(String::as_str).chain([""]));
    let named = pairs.into_iter().find_map(|(word, next)| {
        let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let is_day = |word: &str| is_number(word.trim_end_matches(|c: char| c.is_ascii_lowercase())) && word.len() <= 4;
        let is_ticket = word.strip_prefix('#').is_some_and(is_number)
            || (NUMBERED.contains(&word.as_str()) && is_number(next.trim_start_matches('#')));
        let is_month = |one: &str, other: &str| MONTHS.contains(&one) && is_day(other);
        if is_ticket || is_month(word, next) || is_month(next, word) {
            Some(format!("{word} {next}").trim().to_owned())
        } else {
            (is_date(word) || is_commit(word)).then(|| word.clone())
        }
    });
    named.or_else(|| says(clause, MOMENTS).map(str::to_owned))
}

/// `2026-03-01`, perhaps with a time behind it, or `1.3.2026`.
fn is_date(word: &str) -> bool {
    let day = word.split('t').next().unwrap_or_default();
    let parts: Vec<&str> = day.split(['-', '.', '/']).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let are_numbers = parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    are_numbers && matches!(lengths.as_slice(), [4, 1..=2, 1..=2] | [1..=2, 1..=2, 4])
}

fn is_commit(word: &str) -> bool {
    let is_hex = word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'));
    is_hex
        && COMMIT_LETTERS.contains(&word.len())
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_lowercase())
}
