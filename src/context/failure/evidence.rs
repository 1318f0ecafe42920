//! What one line of output says about a failure, how much it says, and how far it can be believed.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::read::Class;
use super::verification::is_failed_summary;

/// How far a line can be believed when nothing else tells of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Belief {
    /// Only a headline for a failure known otherwise.
    Weak,
    /// A complaint; believed where a program says its last word.
    Closing,
    /// What a program prints that fails. In a file that was merely shown it means nothing.
    Content,
    /// The shell or the program named in the line complains about itself.
    Own,
}

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Saying {
    pub(super) class: Class,
    /// How specific it is; the highest becomes the headline.
    pub(super) weight: u8,
    pub(super) belief: Belief,
}

const fn say(class: Class, weight: u8, belief: Belief) -> Option<Saying> {
    Some(Saying { class, weight, belief })
}

/// Pieces of text without which no line is believed. Short, so that one search finds them all.
pub(super) const ANCHORS: &str = "\
    rror|ERR!|FAIL|ailed|ailure|failing| fail|(fail)|xception|atal: |panic|raceback|ot found|hes found|\
    No such|No module|enied|ermitted|Killed|SIGKILL|emory|OOM|o space|refused|resolve |imed out|\
    TIMEDOUT|eadline|ate limit|ate_lim| 429|verloaded|oo many|uota|ontext |too long|fault|dumped|not ok|\
    ECONN|EACCES|ENOSPC|reset by|ertificate|recognized|option|** (|.go:|problems (|limit |unexpected |\
    unbound|directory|exceeds";

/// Pieces that tell a failure even in the middle of a long output. Few, so that the search runs at full speed.
pub(super) const DEEP_ANCHORS: &[&str] =
    &["raceback (most", "rror[E", "panicked at", "FAILED", "FAIL: ", "error TS", ": error: ", "rror: "];

/// Pieces that more lines have. They only help to find a headline for a failure that is known.
pub(super) const WEAK_ANCHORS: &str = "\
    ● |ndefined|not defined|annot|an't |nknown|nvalid|issing|nable|ould not|ouldn't|nterrupt|oes not|\
    oesn't|nsupported|onflict|xpected|ENOENT|ERR|✗|ERROR|atal";

/// Reads one line, colours taken off. `None` if it says nothing.
pub(super) fn judge(line: &str) -> Option<Saying> {
    let bare = line.trim();
    if bare.is_empty() || bare.len() > 4000 || bare.starts_with("[error] tool reported") {
        return None;
    }
    let indented = line.starts_with([' ', '\t']);
    let strict = by_form(line, bare, indented);
    if strict.is_some_and(|saying| saying.weight >= 86) {
        return strict;
    }
    let lower = bare.to_ascii_lowercase();
    // A warning is a headline only where nothing else is said.
    let is_of_node = lower.starts_with("(node:") && lower.contains("warning:");
    let is_warning = is_of_node || ["warn", "[warn", "npm warn", "(warn"].iter().any(|start| lower.starts_with(start));
    if strict.is_none() && is_warning {
        return by_words(bare, &lower).and_then(|saying| say(saying.class, 8, Belief::Weak));
    }
    let worded = by_wording(bare, &lower, indented);
    match (strict, worded) {
        (Some(strict), Some(worded)) => Some(Saying {
            class: if worded.weight > 30 { worded.class } else { strict.class },
            weight: strict.weight.max(worded.weight),
            belief: strict.belief.max(worded.belief),
        }),
        (strict, worded) => strict.or(worded).or_else(|| by_words(bare, &lower)),
    }
}

/// An output of so many tokens is too large for its reader.
const HUGE_TOKENS: u64 = 10_000;

/// Returns how clearly a line tells of a failure or of a flood, or 0. Where a file or a search is shown, only what the
/// shell, the harness or the program itself says counts.
pub(in crate::context) fn complaint_weight(line: &str, is_dump: bool) -> u8 {
    if super::shells::names_its_line(line) || is_flood(line) {
        return 82;
    }
    let least = if is_dump { Belief::Own } else { Belief::Weak };
    judge(&super::plain::plain(line)).filter(|saying| saying.belief >= least).map_or(0, |saying| saying.weight)
}

/// Tells whether a harness says in this line that the output is too large.
fn is_flood(line: &str) -> bool {
    let tokens = line.strip_prefix("Original token count: ").and_then(|count| count.trim().parse::<u64>().ok());
    tokens.is_some_and(|tokens| tokens >= HUGE_TOKENS) || line.starts_with("Output too large (")
}

/// Lines with a form of their own: compilers, test runners, uncaught exceptions, shells.
fn by_form(line: &str, bare: &str, indented: bool) -> Option<Saying> {
    use Belief::{Closing, Content, Weak};
    let at_start = |belief: Belief| if indented { Weak } else { belief };
    if bare.starts_with("error[E") && bare.contains("]: ") {
        return say(Class::Compile, 90, at_start(Content));
    }
    if let Some(at) = bare.find("error TS")
        && bare.get(at + 8..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        && (at == 0 || bare.get(..at).is_some_and(|head| head.ends_with(": ") || head.ends_with(" - ")))
    {
        return say(Class::Compile, 90, at_start(Content));
    }
    if let Some(saying) = placed_error(bare) {
        return Some(Saying { belief: at_start(saying.belief), ..saying });
    }
    if bare.starts_with("FAILED ") && (bare.contains("::") || bare.contains(".py")) {
        return say(Class::Test, if bare.contains(" - ") { 88 } else { 76 }, at_start(Content));
    }
    if bare.starts_with("ERROR ") && bare.contains(".py") && !bare.contains(": ERROR") {
        return say(Class::Test, if bare.contains(" - ") { 84 } else { 70 }, at_start(Content));
    }
    if is_failed_summary(line) {
        return say(Class::Test, 45, Content);
    }
    let prefixes: &[(&str, Class, u8, Belief)] = &[
        ("--- FAIL: ", Class::Test, 75, Content),
        ("(fail) ", Class::Test, 76, Content),
        ("● Console", Class::Test, 0, Weak),
        ("● ", Class::Test, 78, Weak),
        ("FAIL: ", Class::Test, 70, Content),
        ("ERROR: test", Class::Test, 70, Content),
        ("FAIL\t", Class::Test, 44, Content),
        ("error: could not compile", Class::Compile, 40, Content),
        ("error: aborting due to", Class::Compile, 40, Content),
        ("error: linking with", Class::Compile, 80, Content),
        ("error: test failed", Class::Test, 35, Content),
        ("error: doctest failed", Class::Test, 35, Content),
        ("error: build failed", Class::Compile, 35, Content),
        ("make: *** ", Class::Command, 42, Content),
        ("gmake: *** ", Class::Command, 42, Content),
        ("npm ERR! code", Class::Command, 36, Content),
        ("npm error code", Class::Command, 36, Content),
        ("npm ERR! A complete log", Class::Command, 0, Content),
        ("npm error A complete log", Class::Command, 0, Content),
        ("npm ERR! ", Class::Command, 50, Content),
        ("npm error ", Class::Command, 50, Content),
        ("BUILD FAILED", Class::Compile, 45, Content),
        ("BUILD FAILURE", Class::Compile, 45, Content),
        ("[INFO] BUILD FAILURE", Class::Compile, 45, Content),
        ("FAILURE: Build failed", Class::Compile, 46, Content),
        ("[ERROR] COMPILATION ERROR", Class::Compile, 46, Content),
        ("[ERROR] ", Class::Command, 55, Closing),
        ("panic: ", Class::Exception, 84, Content),
        ("fatal error: ", Class::Exception, 80, Content),
        ("PHP Fatal error:", Class::Exception, 84, Content),
        ("PHP Parse error:", Class::Compile, 84, Content),
        ("Fatal error: ", Class::Exception, 82, Content),
        ("Exception in thread ", Class::Exception, 84, Content),
        ("Unhandled exception", Class::Exception, 80, Content),
        ("terminate called after throwing", Class::Exception, 84, Content),
        ("FATAL ERROR: ", Class::Exception, 82, Content),
        ("** (", Class::Exception, 82, Content),
        ("Caused by: ", Class::Exception, 60, Weak),
        ("fatal: ", Class::Command, 78, Belief::Own),
        ("Permission denied (publickey", Class::Permission, 80, Belief::Own),
        ("Segmentation fault", Class::Exception, 80, Content),
        ("Bus error", Class::Exception, 80, Content),
        ("Aborted (core dumped)", Class::Exception, 78, Content),
        ("assertion failed", Class::Assertion, 80, Content),
        ("Assertion failed", Class::Assertion, 80, Content),
        ("ModuleNotFoundError: ", Class::NotFound, 84, Content),
        ("Module not found: ", Class::NotFound, 84, Content),
        ("Syntax Error: ", Class::Exception, 80, Content),
    ];
    if let Some((_, class, weight, belief)) = prefixes.iter().find(|(prefix, ..)| bare.starts_with(prefix)) {
        return if *weight == 0 { None } else { say(*class, *weight, at_start(*belief)) };
    }
    if bare.starts_with("not ok ") && !bare.contains("# TODO") && !bare.contains("# SKIP") {
        return say(Class::Test, 72, at_start(Content));
    }
    if bare.starts_with("test ") && bare.ends_with(" ... FAILED") {
        return say(Class::Test, 62, at_start(Content));
    }
    if bare.starts_with("FAIL ") && [".test.", ".spec.", "_test.", "tests/"].iter().any(|part| bare.contains(part)) {
        return say(Class::Test, if bare.contains(" > ") { 77 } else { 60 }, Content);
    }
    if bare.starts_with("thread '") && bare.contains("panicked at") {
        return say(Class::Exception, 76, at_start(Content));
    }
    if bare.starts_with("assertion `") && bare.contains("` failed") {
        return say(Class::Assertion, if bare.contains("failed: ") { 82 } else { 74 }, at_start(Content));
    }
    if let Some(rest) = bare.strip_prefix("E  ") {
        return say(if rest.contains("ssert") { Class::Assertion } else { Class::Exception }, 74, Weak);
    }
    if bare.contains(" problems (") && !bare.contains("(0 errors") && bare.starts_with('✖') {
        return say(Class::Lint, 50, Content);
    }
    if bare.starts_with("Found ") && !bare.starts_with("Found 0") {
        let counts_types = bare.contains(" error in ") || bare.contains(" errors in ");
        let class = if counts_types { Class::Compile } else { Class::Lint };
        return if counts_types || is_ruff_sum(bare) { say(class, 50, at_start(Content)) } else { None };
    }
    if let Some(rest) = indented.then(|| bare.split_once("  error  ")).flatten() {
        return rest.0.split(':').all(|part| part.trim().parse::<u32>().is_ok()).then(|| say(Class::Lint, 85, Weak))?;
    }
    if bare == "Killed" || bare.ends_with(" Killed") && bare.contains(": ") {
        return say(Class::Resource, 80, Content);
    }
    if bare.contains("Segmentation fault (core dumped)") || bare.contains(": Segmentation fault") {
        return say(Class::Exception, 80, Content);
    }
    super::shells::complaint(bare, indented).or_else(|| super::shells::exception(bare, indented))
}

fn is_ruff_sum(bare: &str) -> bool {
    bare.strip_prefix("Found ")
        .and_then(|rest| rest.strip_suffix(" errors.").or_else(|| rest.strip_suffix(" error.")))
        .is_some_and(|count| count.parse::<u32>().is_ok())
}

/// `src/x.c:12:5: error: …` of compilers and type checkers, `./x.go:12:5: undefined: y` of Go.
fn placed_error(bare: &str) -> Option<Saying> {
    let place = |head: &str| {
        let head = head.trim_end_matches(':');
        head.ends_with(|c: char| c.is_ascii_digit() || c == ')') && head.contains(['.', ':']) && !head.contains(' ')
    };
    for mark in [" error: ", " fatal error: ", " error CS", " Error: "] {
        if let Some((head, _)) = bare.split_once(mark)
            && place(head)
        {
            return say(Class::Compile, 86, Belief::Content);
        }
    }
    if bare.starts_with("e: ") && bare.contains(".kt:") {
        return say(Class::Compile, 86, Belief::Content);
    }
    let (file, rest) = bare.split_once(".go:")?;
    let (line, rest) = rest.split_once(':')?;
    let (column, _) = rest.split_once(": ")?;
    let numbers = [line, column].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if numbers && !file.contains(' ') { say(Class::Compile, 85, Belief::Content) } else { None }
}

/// Causes that have many wordings.
fn by_wording(bare: &str, lower: &str, indented: bool) -> Option<Saying> {
    let (class, weight) = super::wordings::cause(lower)?;
    let sure = class == Class::Timeout
        && (lower.starts_with("command timed out") || lower.contains("error: command timed out"));
    let belief = match () {
        () if sure => Belief::Own,
        () if !indented && is_loud(bare, lower) => Belief::Content,
        () => Belief::Weak,
    };
    // A softly spoken line is a worse headline than a clear complaint.
    say(class, if belief == Belief::Weak { weight - 25 } else { weight }, belief)
}

/// Whether a line complains, rather than shows code or tells a story.
fn is_loud(bare: &str, lower: &str) -> bool {
    const LOUD: &str = "\
        error|fatal|failed|failure|exception|exceeded|http|api |curl:|wget:|request|429|unable|could not|\
        couldn't|prompt is too long|input is too long|connect|getaddrinfo|ssh:|{\"type\":\"error\"|\
        {\"error\"|usage limit|timeout|timed out|your input exceeds|npm err";
    const CODE: &[&str] =
        &["//", "#", "*", "/*", "- ", "+", "def ", "fn ", "if ", "assert", "test ", "✓", "(pass)", "|", ">"];
    let head = super::plain::clip(lower, 48);
    LOUD.split('|').any(|word| head.contains(word))
        && !CODE.iter().any(|word| lower.starts_with(word))
        && !bare.ends_with(['{', ';', ','])
        && !lower.ends_with("... ok")
        && !bare.contains("=>")
        && !bare.contains('→')
}

/// Plain words for trouble. They only serve to find a headline.
fn by_words(bare: &str, lower: &str) -> Option<Saying> {
    static TROUBLE: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(WORDS.split('|')).ok());
    static CALM: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(CLEAN).ok());
    const STARTS: &[&str] =
        &["error: ", "error - ", "error ", "fatal ", "failed ", "failure: ", "err: ", "outcome: error"];
    const WORDS: &str = "\
        not defined|undefined|not found|cannot|can't|could not|couldn't|unable to|unrecognized|unknown|\
        invalid|missing|denied|unexpected|failed|failure|error|exception|refused|not a |no such|does not|\
        doesn't|unsupported|conflict|expected|fatal|err: ";
    const CLEAN: &[&str] =
        &["0 errors", "0 failed", "no errors", "0 failures", "without error", "error handling", "0 error"];
    if !TROUBLE.as_ref()?.is_match(lower) || CALM.as_ref()?.is_match(lower) {
        return None;
    }
    let class = if lower.contains("not found") || lower.contains("no such") || lower.contains("does not exist") {
        Class::NotFound
    } else if lower.contains("permission denied") || lower.contains("not permitted") || lower.contains("eacces") {
        Class::Permission
    } else {
        Class::Command
    };
    let is_told = STARTS.iter().any(|start| lower.starts_with(start)) || bare.starts_with("E: ");
    if let Some(inner) = super::shells::inner_exception(bare) {
        let belief = if is_told { Belief::Closing } else { Belief::Weak };
        return say(inner.class, 62, belief);
    }
    if is_told {
        let follows_script = lower.contains("exited with code") || lower.contains("failed with exit code");
        return say(class, if follows_script { 35 } else { 60 }, Belief::Closing);
    }
    let is_prose = bare.starts_with(['#', '-', '*', '/', '|', '>']);
    say(class, if is_prose { 12 } else { 25 }, Belief::Weak)
}
