//! Tells whether a line reads like the message of something that failed.
//!
//! Rules repeat what a failing command printed. A failure says what is missing, refused or wrong; a stranger's text
//! that a failing command printed mostly does not, and is not repeated before a person has reviewed it.

#[cfg(test)]
#[path = "failure_wording_tests.rs"]
mod tests;

/// Words of failures, whole or in part.
const TELLING: &str = "\
    abort|already |assert|bad request|broken|cannot|can't|capacity|certificate|checksum|conflict|\
    connection reset|corrupt|could not|couldn't|crash|data race|deadline|deadlock|denied|dirty|diverged|\
    does not exist|doesn't exist|duplicate|eacces|eaddr|econn|emfile|enoent|enospc|eperm|error|etimed|exceed|\
    exception|exit code|exit status|exited with|expired|fail|fast-forward|fatal|forbidden|has no attribute|\
    has no exported|has no field|has no member|has no method|illegal|in use|incompatible|insufficient|\
    invalid|killed|limit reached|lock file|locked|malformed|mismatch|missing|multiple definition|must be set|\
    nil pointer|no api key|no candidate|no configuration|no credentials|no longer|no matching|no module|\
    no provider|no route|no rule|no space|no such|no version|non-zero|nonetype|not a directory|not a git|\
    not a valid|not access|not allowed|not authenticated|not available|not compatible|not configured|\
    not connect|not defined|not enough|not find|not found|not implemented|not in path|not initialized|\
    not installed|not logged in|not match|not permitted|not provided|not reachable|not recognized|\
    not registered|not resolve|not running|not set|not started|not supported|not up to date|null pointer|\
    obsolete|oom|out of memory|outdated|overflow|overloaded|panic|pending|permission|quota|refused|rejected|\
    segmentation|self-signed|sigkill|signal:|sigsegv|stale|symbol(s)|throttl|timed out|timeout|too large|\
    too long|too many|traceback|unable to|unauthenticated|unauthorized|unavailable|unbound|uncommitted|\
    undeclared|undefined|unexpected|unhandled|unknown|unmet|unreachable|unrecognized|unresolved|unsatisf|\
    unsupported|violat|wrong";

/// Words that failures share with other texts: they count only next to a name from code.
const COMMON: &str = "\
    differ| actual| but |does not|doesn't|expected|is not|isn't|must be|received|required|requires|specified|\
    to equal|was not";

/// Words by which a text gives general instructions or refers to its author.
const ADVISING: &[&str] =
    &["i", "i'm", "me", "my", "we", "us", "let's", "should", "always", "never", "every", "remember"];

/// Words that address the reader. Programs use them too, but name what they mean.
const READER: &[&str] = &["you", "your", "yours", "yourself", "please"];

/// Words with which questions begin. No failure asks one.
const QUESTIONS: &[&str] = &["what", "what's", "who", "why", "how", "which", "when", "where"];

/// Labels that only say that it is an error. A longer word that ends so names the error.
const LABELS: &[&str] = &["error", "exception", "warning", "fatal", "failed", "failure", "err", "e", "panic"];

/// A line with a named error and fewer words than this is a failure.
const FEW: usize = 4;

/// A line with more words than this is no failure.
const MANY: usize = 60;

/// Tells whether a line says that something is missing, refused or wrong.
pub(in crate::distill) fn reads_as_failure(line: &str) -> bool {
    let (said, has_name) = strip_labels(line);
    let lower = said.to_lowercase();
    let is_cut = |c: char| c.is_whitespace() || ",;!?".contains(c);
    let words: Vec<&str> = lower.split(is_cut).filter(|word| !word.is_empty()).collect();
    let is_question = words.first().is_some_and(|word| QUESTIONS.contains(word));
    if words.len() > MANY || is_question || lower.contains("<html") {
        return false;
    }
    if has_name && words.len() < FEW {
        return true;
    }
    let holds = |list: &str| list.split('|').any(|telling| lower.contains(telling));
    let speaks = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let names = said.split_whitespace().any(is_code_name);
    let is_telling = holds(TELLING) && (names || !speaks(READER));
    let is_common = holds(COMMON) && names && !speaks(READER);
    !speaks(ADVISING) && (is_telling || is_common)
}

/// Returns the failure and the text after it: for a line that names its error, the first sentence and the rest.
pub(super) fn split_failure_line(line: &str) -> (&str, &str) {
    let (_, has_name) = strip_labels(line);
    line.split_once(". ").filter(|_| has_name).unwrap_or((line, ""))
}

/// Returns a line without its leading error labels, and whether one of them names the error.
fn strip_labels(line: &str) -> (&str, bool) {
    let mut rest = line.trim();
    let mut has_name = false;
    while let Some((label, after)) = rest.split_once(": ") {
        let bare = label.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let Some(word) = LABELS.iter().find(|word| bare.ends_with(**word)) else { break };
        if label.contains(char::is_whitespace) {
            break;
        }
        has_name |= bare.len() > word.len();
        rest = after.trim_start();
    }
    (rest, has_name)
}

/// Tells whether a word is a name from code: it has a sign, a digit or a capital where prose has none.
fn is_code_name(word: &str) -> bool {
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`');
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.starts_with("--")
        || (word.starts_with(is_quote) && word.len() > 2)
        || word.contains(['(', '=', '$', '@'])
        || bare.contains(['_', '/', '.', ':', '-', '`'])
        || bare.chars().skip(1).any(char::is_uppercase)
        || bare.chars().any(|c| c.is_ascii_digit())
}
