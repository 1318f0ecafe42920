//! Recognizes entries that report a single event and give no instruction.
//!
//! The rule is simple on purpose. An entry is an incident if it records the outcome of a session, if it reports an
//! action, or if it names a time, a commit or a pull request in the past tense; but never if any part of it gives an
//! instruction, states a decision, or describes the present state.

#[cfg(test)]
#[path = "single_events_tests.rs"]
mod tests;

/// The number of bytes of an entry that are examined, since an event is reported at the beginning.
const MAX_BYTES: usize = 8_000;

/// Words of rules and decisions, which express that something is to be done or not to be done.
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

/// A clause that begins with one of these words is an instruction or a condition.
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

/// Words that describe the present state rather than the past.
const PRESENT: &[&str] = &[
    "are", "aren't", "belong", "breaks", "can", "come", "contains", "depends", "do", "does", "doesn't", "don't", "end",
    "expects", "fails", "get", "go", "has", "hasn't", "have", "holds", "is", "isn't", "keep", "keeps", "land", "live",
    "lives", "means", "need", "rejects", "remain", "returns", "runs", "show", "stay", "supports", "takes", "uses",
    "vanish", "will", "won't", "works",
];

/// After a word of [`PRESENT`] these words only report how the event ended.
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

/// Words that report an action at the start of a clause. After a named person, any word in `-ed` counts as well.
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

/// Past-tense words that do not end in `-ed`.
const WAS: &[&str] = &[
    "began", "broke", "built", "came", "did", "found", "gave", "got", "had", "hit", "hung", "kept", "led", "left",
    "lost", "made", "ran", "said", "saw", "sent", "spent", "threw", "told", "took", "was", "went", "were", "wrote",
];

/// Words in `-ed` that are not in the past tense.
const NOT_PAST: &[&str] = &["embed", "exceed", "feed", "indeed", "need", "proceed", "seed", "shed", "speed", "succeed"];

/// Words for a person or an agent that acts.
const SOMEBODY: &[&str] = &["agent", "assistant", "claude", "he", "i", "she", "they", "user", "we"];

/// Phrases of one or two words that name a time.
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

/// Words for the numbered items of a project's work.
const NUMBERED: &[&str] = &["issue", "mr", "pr", "pull", "request", "ticket"];

/// The possible lengths of a commit hash.
const COMMIT_LETTERS: std::ops::RangeInclusive<usize> = 7..=40;

/// Returns a description of the sign that makes the entry an incident, if it is one.
pub(super) fn describe_incident(text: &str) -> Option<String> {
    let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
    if contains_rule(text) {
        return None;
    }
    let clauses = split_clauses(text);
    // "Task: Create a file - Outcome: failure" is no instruction: it reports one that was given.
    if clauses.windows(2).any(|pair| matches!(pair, [label, ended] if is_outcome_label(label, ended))) {
        return Some("tells how a run ended".to_owned());
    }
    if clauses.iter().any(|clause| gives_instruction(clause) || describes_present_state(clause)) {
        return None;
    }
    let action = clauses.iter().find_map(|clause| find_past_action(clause));
    let moment = || {
        clauses
            .iter()
            .find_map(|clause| find_event_reference(clause))
            .filter(|_| clauses.iter().flatten().any(|word| is_past_tense(word)))
    };
    action.or_else(moment).map(|sign| format!("tells of an event: \"{sign}\""))
}

fn contains_rule(text: &str) -> bool {
    text.split_once("IF ").is_some_and(|(_, rest)| rest.contains(" THEN "))
}

/// Splits a text into clauses at punctuation, each as a list of words in lower case. A code span becomes one word.
fn split_clauses(text: &str) -> Vec<Vec<String>> {
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

fn is_outcome_label(label: &[String], ended: &[String]) -> bool {
    let ends = ["aborted", "blocked", "cancelled", "error", "failed", "failure", "partial", "success", "timeout"];
    label.last().is_some_and(|word| word == "outcome")
        && ended.first().is_some_and(|word| ends.contains(&word.as_str()))
}

fn gives_instruction(clause: &[String]) -> bool {
    // "Please", "so" and "then" only introduce an instruction.
    let mut words =
        clause.iter().map(String::as_str).skip_while(|word| matches!(*word, "please" | "so" | "then" | "and" | "just"));
    // "Commit 4f2c9ab broke it" and "test 3 failed" are no instructions.
    let (first, next) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_numbered = is_commit_hash(next) || next.starts_with(|c: char| c.is_ascii_digit() || c == '#');
    (TELLING.contains(&first) && !is_numbered) || find_phrase(clause, RULING).is_some()
}

fn describes_present_state(clause: &[String]) -> bool {
    let pairs = clause.iter().zip(clause.iter().skip(1).map(Some).chain([None]));
    pairs.into_iter().any(|(word, next)| {
        PRESENT.contains(&word.as_str()) && !next.is_some_and(|next| ENDED.contains(&next.as_str()))
    })
}

/// Returns the first of these phrases that a clause contains.
fn find_phrase(clause: &[String], phrases: &[&'static str]) -> Option<&'static str> {
    phrases.iter().copied().find(|phrase| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        clause.windows(phrase.len()).any(|window| window.iter().map(String::as_str).eq(phrase.iter().copied()))
    })
}

/// Returns the words that report an action, if the clause begins with them.
fn find_past_action(clause: &[String]) -> Option<String> {
    let words: Vec<&str> = clause
        .iter()
        .map(String::as_str)
        .skip_while(|word| matches!(*word, "the" | "also" | "and" | "then" | "just"))
        .collect();
    match words.as_slice() {
        // "…, started by a script" describes the present state.
        [_, "by", ..] => None,
        [did, ..] if DID.contains(did) => Some((*did).to_owned()),
        [who, did, ..] if SOMEBODY.contains(who) && is_past_tense(did) => Some(format!("{who} {did}")),
        _ => None,
    }
}

fn is_past_tense(word: &str) -> bool {
    let is_regular = word.len() > 3 && word.ends_with("ed") && !NOT_PAST.contains(&word);
    is_regular || WAS.contains(&word)
}

/// Returns the first date, time, commit or numbered item that the clause names.
fn find_event_reference(clause: &[String]) -> Option<String> {
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
            (is_date(word) || is_commit_hash(word)).then(|| word.clone())
        }
    });
    named.or_else(|| find_phrase(clause, MOMENTS).map(str::to_owned))
}

/// Returns true for dates such as `2026-03-01`, with or without a time after it, or `1.3.2026`.
fn is_date(word: &str) -> bool {
    let day = word.split('t').next().unwrap_or_default();
    let parts: Vec<&str> = day.split(['-', '.', '/']).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let are_numbers = parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    are_numbers && matches!(lengths.as_slice(), [4, 1..=2, 1..=2] | [1..=2, 1..=2, 4])
}

fn is_commit_hash(word: &str) -> bool {
    let is_hex = word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'));
    is_hex
        && COMMIT_LETTERS.contains(&word.len())
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_lowercase())
}
