//! Detects lessons that say nothing that one could do or know.

use super::generic_words::is_generic;
use super::quote_check::FoundQuote;
use super::rule_form::LessonRule;
use crate::distill::unchecked_candidate::UncheckedCandidate;
use crate::domain::TrustClass;

#[cfg(test)]
#[path = "vague_lessons_tests.rs"]
mod tests;

/// The number of a user's words that turn a platitude into a request.
const MIN_ASKED: usize = 3;

/// Names of tools and of things that go wrong, in lower case; sorted.
const NAMED: &[&str] = &[
    "ansible",
    "apt",
    "aws",
    "bash",
    "bazel",
    "brew",
    "bun",
    "cache",
    "cargo",
    "certificate",
    "chrome",
    "clippy",
    "cmake",
    "commit",
    "container",
    "crash",
    "cron",
    "curl",
    "deadlock",
    "deno",
    "docker",
    "eslint",
    "exception",
    "flaky",
    "gcc",
    "git",
    "github",
    "gitlab",
    "go",
    "gradle",
    "grep",
    "helm",
    "java",
    "jest",
    "jq",
    "kafka",
    "kotlin",
    "kubectl",
    "linker",
    "linux",
    "lockfile",
    "macos",
    "make",
    "maven",
    "migration",
    "migrations",
    "mypy",
    "mysql",
    "nginx",
    "nix",
    "node",
    "npm",
    "oom",
    "openssl",
    "panic",
    "perl",
    "php",
    "pip",
    "playwright",
    "pnpm",
    "podman",
    "port",
    "postgres",
    "prettier",
    "proxy",
    "psql",
    "pytest",
    "python",
    "quota",
    "rails",
    "rebase",
    "redis",
    "ripgrep",
    "ruby",
    "ruff",
    "rust",
    "rustfmt",
    "sandbox",
    "sed",
    "segfault",
    "snapshot",
    "sql",
    "sqlite",
    "ssh",
    "stdin",
    "stdout",
    "swift",
    "systemd",
    "tailwind",
    "terraform",
    "timeout",
    "timezone",
    "tls",
    "token",
    "tsc",
    "typescript",
    "utf",
    "uv",
    "vite",
    "vitest",
    "webpack",
    "wget",
    "windows",
    "worktree",
    "yarn",
    "zsh",
];

/// Names that all kinds of work have: they name something only next to specific words.
const COMMON: &[&str] =
    &["cache", "commit", "container", "crash", "exception", "node", "panic", "port", "snapshot", "timeout", "token"];

/// The number of specific words that must accompany a common name.
const MIN_TELLING: usize = 2;

/// Words before a verb that is also a program's name.
const BEFORE_PROGRAMS: &[&str] =
    &["run", "running", "runs", "ran", "use", "using", "uses", "with", "via", "by", "call"];

/// The subjects of a story.
const DOERS: &[&str] = &["agent", "assistant", "model", "i", "we"];

/// Past forms of verbs that do not end in "ed".
const DONE: &[&str] = &[
    "ran", "wrote", "made", "found", "read", "did", "began", "got", "took", "went", "saw", "chose", "built", "kept",
    "set", "put", "was", "were", "had",
];

/// Words by which a story says more than what was done: why, when, or what to do.
const LESSONS: &[&str] = &[
    "should", "must", "need", "needs", "needed", "will", "would", "instead", "because", "since", "always", "never",
    "before", "after", "if", "when", "whenever", "unless", "until", "only", "require", "requires", "required", "so",
    "avoid", "next", "but", "however", "without",
];

/// Returns why a candidate says nothing, if it does.
pub(super) fn find_vagueness(claim: &UncheckedCandidate, found: &[FoundQuote]) -> Option<&'static str> {
    let said = [Some(claim.summary.as_str()), claim.rule.as_deref()].into_iter().flatten();
    let said: Vec<&str> = said.collect();
    let words: Vec<String> = said.iter().flat_map(|text| crate::text::split_words(text)).collect();
    let by_person: Vec<&FoundQuote> = found.iter().filter(|one| one.quote.trust == TrustClass::User).collect();
    let is_persons = !by_person.is_empty();
    let is_platitude = words.iter().all(|word| is_generic(word)) && !said.iter().any(|text| has_name(text));
    if is_platitude && !is_asked_for(&words, &by_person) {
        return Some("it would be true of any work");
    }
    if is_persons {
        return None;
    }
    if claim.rule.is_none() && is_story(&claim.summary) {
        return Some("it tells what was done, and not what to do");
    }
    if said.iter().any(|text| has_name(text) || is_conditional(text)) {
        return None;
    }
    Some("it names no command, file, tool, number, error or condition")
}

/// Tells whether a text only tells what somebody did.
fn is_story(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let told: Vec<&str> = words.iter().map(String::as_str).skip_while(|word| *word == "the").collect();
    let is_done = |verb: &str| verb.ends_with("ed") || DONE.contains(&verb);
    let starts = match told.as_slice() {
        [doer, verb, next, ..] => {
            DOERS.contains(doer) && (is_done(verb) || (matches!(*verb, "first" | "then" | "also") && is_done(next)))
        }
        _ => false,
    };
    starts && !told.iter().any(|word| LESSONS.contains(word))
}

/// Tells whether a text has a condition and a recommendation, each with a word that is not generic.
fn is_conditional(text: &str) -> bool {
    let is_telling = |part: &str| crate::text::split_words(part).iter().any(|word| !is_generic(word));
    let spoken = LessonRule::parse(text).ok().map(|rule| (rule.condition, rule.recommendation));
    let spoken = spoken.or_else(|| {
        let lower = text.to_lowercase();
        [" when ", " if ", " whenever ", " unless ", " before ", " after "].iter().find_map(|opening| {
            lower
                .split_once(opening)
                .map(|(recommendation, condition)| (condition.to_owned(), recommendation.to_owned()))
        })
    });
    spoken.is_some_and(|(condition, recommendation)| is_telling(&condition) && is_telling(&recommendation))
}

/// Tells whether a user said just that, in more than a few words.
fn is_asked_for(words: &[String], by_person: &[&FoundQuote]) -> bool {
    by_person.iter().any(|one| {
        let asked = crate::text::split_words(&one.quote.text);
        let shared = words.iter().filter(|word| asked.contains(word)).count();
        shared >= MIN_ASKED && shared * 3 >= words.len() * 2
    })
}

/// Tells whether a text names something: an identifier, a path, a flag, a number, a tool, an error, a proper name.
fn has_name(text: &str) -> bool {
    if text.contains(['`', '"', '“']) {
        return true;
    }
    let common: Vec<String> = COMMON.iter().flat_map(|word| crate::text::split_words(word)).collect();
    let is_which = |word: &String| !is_generic(word) && !common.contains(word);
    let says_which = crate::text::split_words(text).iter().filter(|word| is_which(word)).count() >= MIN_TELLING;
    let mut begins = true;
    let mut before = String::new();
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
        let lower = bare.to_lowercase();
        let is_named = match lower.as_str() {
            "make" | "go" => BEFORE_PROGRAMS.contains(&before.as_str()),
            name if COMMON.binary_search(&name).is_ok() => says_which,
            name => NAMED.binary_search(&name).is_ok(),
        };
        let has_digit = bare.chars().any(|c| c.is_ascii_digit());
        let is_short =
            matches!(lower.as_str(), "e.g" | "i.e" | "etc" | "and/or" | "i" | "i'm" | "i'll" | "i've" | "i'd");
        let has_joint = bare.contains(['_', '/', '=', ':'])
            || bare.contains("--")
            || bare.trim_matches('.').contains('.')
            || word.trim_end_matches(['.', ',', ';', ')']).ends_with('/');
        let is_flag = bare.starts_with('-') && bare.len() > 1;
        let capitals = bare.chars().filter(|c| c.is_uppercase()).count();
        let is_rule_word = matches!(bare, "IF" | "THEN" | "ALWAYS" | "NEVER" | "NOT" | "DO" | "MUST");
        let is_proper = capitals > 0 && !begins && !is_rule_word;
        let is_camel =
            capitals > 0 && bare.chars().any(char::is_lowercase) && bare.chars().skip(1).any(char::is_uppercase);
        let is_acronym = capitals > 1 && !is_rule_word;
        let is_other_script = bare.chars().any(|c| u32::from(c) >= 0x2E80);
        let is_name = has_digit || has_joint || is_flag || is_proper || is_camel || is_acronym || is_other_script;
        if is_named || (is_name && !is_short) {
            return true;
        }
        begins = word.ends_with(['.', '!', '?', ':']) || is_rule_word;
        before = lower;
    }
    false
}
