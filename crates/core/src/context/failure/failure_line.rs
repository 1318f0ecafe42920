//! Reads what one line of output says about a failure, how specific it is and how far it can be trusted.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::failure_detection::FailureClass;
use super::test_results::is_failed_summary;

/// The degree to which a line is trusted when nothing else reports a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ClueCredibility {
    /// The line only serves as a headline for a failure that is known otherwise.
    Weak,
    /// The line reports an error; trusted at an end of the output of a program.
    Closing,
    /// The line is typical output of a failing program. In a file that was merely shown it means nothing.
    Content,
    /// The shell or the program named in the line reports its own error.
    Own,
}

/// A clue to a failure in one line of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FailureClue {
    pub(super) class: FailureClass,
    /// The specificity of the clue; the highest becomes the headline.
    pub(super) weight: u8,
    pub(super) belief: ClueCredibility,
}

const fn make_clue(class: FailureClass, weight: u8, belief: ClueCredibility) -> Option<FailureClue> {
    Some(FailureClue { class, weight, belief })
}

/// Fragments that every trusted line contains. They are short, so that one search finds them all.
pub(super) const ANCHORS: &str = "\
    rror|ERR!|FAIL|ailed|ailure|failing| fail|(fail)|xception|atal: |panic|raceback|ot found|hes found|\
    No such|No module|enied|ermitted|Killed|SIGKILL|emory|OOM|o space|refused|resolve |imed out|\
    TIMEDOUT|eadline|ate limit|ate_lim| 429|verloaded|oo many|uota|ontext |too long|fault|dumped|not ok|\
    ECONN|EACCES|ENOSPC|reset by|ertificate|recognized|option|** (|.go:|problems (|limit |unexpected |\
    unbound|directory|exceeds";

/// Fragments that show a failure even in the middle of a long output. They are few, to keep the search fast.
pub(super) const DEEP_ANCHORS: &[&str] =
    &["raceback (most", "rror[E", "panicked at", "FAILED", "FAIL: ", "error TS", ": error: ", "rror: "];

/// Fragments of more lines. They only help to find a headline for a failure that is already known.
pub(super) const WEAK_ANCHORS: &str = "\
    ● |ndefined|not defined|annot|an't |nknown|nvalid|issing|nable|ould not|ouldn't|nterrupt|oes not|\
    oesn't|nsupported|onflict|xpected|ENOENT|ERR|✗|ERROR|atal";

/// Reads the clue of one line without colour codes; `None` if the line has none.
pub(super) fn read_clue(line: &str) -> Option<FailureClue> {
    let bare = line.trim();
    if bare.is_empty() || bare.len() > 4000 || bare.starts_with("[error] tool reported") {
        return None;
    }
    let indented = line.starts_with([' ', '\t']);
    let strict = clue_by_form(line, bare, indented);
    if strict.is_some_and(|clue| clue.weight >= 86) {
        return strict;
    }
    let lower = bare.to_ascii_lowercase();
    // A warning becomes a headline only if there is nothing else.
    let is_of_node = lower.starts_with("(node:") && lower.contains("warning:");
    let is_warning = is_of_node || ["warn", "[warn", "npm warn", "(warn"].iter().any(|start| lower.starts_with(start));
    if strict.is_none() && is_warning {
        return clue_by_words(bare, &lower).and_then(|clue| make_clue(clue.class, 8, ClueCredibility::Weak));
    }
    let worded = clue_by_wording(bare, &lower, indented);
    match (strict, worded) {
        (Some(strict), Some(worded)) => Some(FailureClue {
            class: if worded.weight > 30 { worded.class } else { strict.class },
            weight: strict.weight.max(worded.weight),
            belief: strict.belief.max(worded.belief),
        }),
        (strict, worded) => strict.or(worded).or_else(|| clue_by_words(bare, &lower)),
    }
}

/// The number of tokens from which on an output is too large for its reader.
const HUGE_TOKENS: u64 = 10_000;

/// Returns how clearly a line reports a failure or an output that is too large, or 0. In the output of a file or a
/// search only lines of the shell, the harness or the program itself count.
pub(in crate::context) fn rate_error_line(line: &str, is_dump: bool) -> u8 {
    if super::error_forms::names_shell_line(line) || is_output_too_large(line) {
        return 82;
    }
    let least = if is_dump { ClueCredibility::Own } else { ClueCredibility::Weak };
    read_clue(&super::plain_output::strip_control_codes(line))
        .filter(|clue| clue.belief >= least)
        .map_or(0, |clue| clue.weight)
}

/// Returns true if a harness says in this line that the output is too large.
fn is_output_too_large(line: &str) -> bool {
    let tokens = line.strip_prefix("Original token count: ").and_then(|count| count.trim().parse::<u64>().ok());
    tokens.is_some_and(|tokens| tokens >= HUGE_TOKENS) || line.starts_with("Output too large (")
}

/// Reads lines with a fixed form: compilers, test runners, uncaught exceptions, shells.
fn clue_by_form(line: &str, bare: &str, indented: bool) -> Option<FailureClue> {
    use ClueCredibility::{Closing, Content, Weak};
    let at_start = |belief: ClueCredibility| if indented { Weak } else { belief };
    if bare.starts_with("error[E") && bare.contains("]: ") {
        return make_clue(FailureClass::Compile, 90, at_start(Content));
    }
    if let Some(at) = bare.find("error TS")
        && bare.get(at + 8..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        && (at == 0 || bare.get(..at).is_some_and(|head| head.ends_with(": ") || head.ends_with(" - ")))
    {
        return make_clue(FailureClass::Compile, 90, at_start(Content));
    }
    if let Some(clue) = clue_by_location(bare) {
        return Some(FailureClue { belief: at_start(clue.belief), ..clue });
    }
    if bare.starts_with("FAILED ") && (bare.contains("::") || bare.contains(".py")) {
        return make_clue(FailureClass::Test, if bare.contains(" - ") { 88 } else { 76 }, at_start(Content));
    }
    if bare.starts_with("ERROR ") && bare.contains(".py") && !bare.contains(": ERROR") {
        return make_clue(FailureClass::Test, if bare.contains(" - ") { 84 } else { 70 }, at_start(Content));
    }
    if is_failed_summary(line) {
        return make_clue(FailureClass::Test, 45, Content);
    }
    let prefixes: &[(&str, FailureClass, u8, ClueCredibility)] = &[
        ("--- FAIL: ", FailureClass::Test, 75, Content),
        ("(fail) ", FailureClass::Test, 76, Content),
        ("● Console", FailureClass::Test, 0, Weak),
        ("● ", FailureClass::Test, 78, Weak),
        ("FAIL: ", FailureClass::Test, 70, Content),
        ("ERROR: test", FailureClass::Test, 70, Content),
        ("FAIL\t", FailureClass::Test, 44, Content),
        ("error: could not compile", FailureClass::Compile, 40, Content),
        ("error: aborting due to", FailureClass::Compile, 40, Content),
        ("error: linking with", FailureClass::Compile, 80, Content),
        ("error: test failed", FailureClass::Test, 35, Content),
        ("error: doctest failed", FailureClass::Test, 35, Content),
        ("error: build failed", FailureClass::Compile, 35, Content),
        ("make: *** ", FailureClass::Command, 42, Content),
        ("gmake: *** ", FailureClass::Command, 42, Content),
        ("npm ERR! code", FailureClass::Command, 36, Content),
        ("npm error code", FailureClass::Command, 36, Content),
        ("npm ERR! A complete log", FailureClass::Command, 0, Content),
        ("npm error A complete log", FailureClass::Command, 0, Content),
        ("npm ERR! ", FailureClass::Command, 50, Content),
        ("npm error ", FailureClass::Command, 50, Content),
        ("BUILD FAILED", FailureClass::Compile, 45, Content),
        ("BUILD FAILURE", FailureClass::Compile, 45, Content),
        ("[INFO] BUILD FAILURE", FailureClass::Compile, 45, Content),
        ("FAILURE: Build failed", FailureClass::Compile, 46, Content),
        ("[ERROR] COMPILATION ERROR", FailureClass::Compile, 46, Content),
        ("[ERROR] ", FailureClass::Command, 55, Closing),
        ("panic: ", FailureClass::Exception, 84, Content),
        ("fatal error: ", FailureClass::Exception, 80, Content),
        ("PHP Fatal error:", FailureClass::Exception, 84, Content),
        ("PHP Parse error:", FailureClass::Compile, 84, Content),
        ("Fatal error: ", FailureClass::Exception, 82, Content),
        ("Exception in thread ", FailureClass::Exception, 84, Content),
        ("Unhandled exception", FailureClass::Exception, 80, Content),
        ("terminate called after throwing", FailureClass::Exception, 84, Content),
        ("FATAL ERROR: ", FailureClass::Exception, 82, Content),
        ("** (", FailureClass::Exception, 82, Content),
        ("Caused by: ", FailureClass::Exception, 60, Weak),
        ("fatal: ", FailureClass::Command, 78, ClueCredibility::Own),
        ("Permission denied (publickey", FailureClass::Permission, 80, ClueCredibility::Own),
        ("Segmentation fault", FailureClass::Exception, 80, Content),
        ("Bus error", FailureClass::Exception, 80, Content),
        ("Aborted (core dumped)", FailureClass::Exception, 78, Content),
        ("assertion failed", FailureClass::Assertion, 80, Content),
        ("Assertion failed", FailureClass::Assertion, 80, Content),
        ("ModuleNotFoundError: ", FailureClass::NotFound, 84, Content),
        ("Module not found: ", FailureClass::NotFound, 84, Content),
        ("Syntax Error: ", FailureClass::Exception, 80, Content),
    ];
    if let Some((_, class, weight, belief)) = prefixes.iter().find(|(prefix, ..)| bare.starts_with(prefix)) {
        return if *weight == 0 { None } else { make_clue(*class, *weight, at_start(*belief)) };
    }
    if bare.starts_with("not ok ") && !bare.contains("# TODO") && !bare.contains("# SKIP") {
        return make_clue(FailureClass::Test, 72, at_start(Content));
    }
    if bare.starts_with("test ") && bare.ends_with(" ... FAILED") {
        return make_clue(FailureClass::Test, 62, at_start(Content));
    }
    if bare.starts_with("FAIL ") && [".test.", ".spec.", "_test.", "tests/"].iter().any(|part| bare.contains(part)) {
        return make_clue(FailureClass::Test, if bare.contains(" > ") { 77 } else { 60 }, Content);
    }
    if bare.starts_with("thread '") && bare.contains("panicked at") {
        return make_clue(FailureClass::Exception, 76, at_start(Content));
    }
    if bare.starts_with("assertion `") && bare.contains("` failed") {
        return make_clue(FailureClass::Assertion, if bare.contains("failed: ") { 82 } else { 74 }, at_start(Content));
    }
    if let Some(rest) = bare.strip_prefix("E  ") {
        return make_clue(
            if rest.contains("ssert") { FailureClass::Assertion } else { FailureClass::Exception },
            74,
            Weak,
        );
    }
    if bare.contains(" problems (") && !bare.contains("(0 errors") && bare.starts_with('✖') {
        return make_clue(FailureClass::Lint, 50, Content);
    }
    if bare.starts_with("Found ") && !bare.starts_with("Found 0") {
        let counts_types = bare.contains(" error in ") || bare.contains(" errors in ");
        let class = if counts_types { FailureClass::Compile } else { FailureClass::Lint };
        return if counts_types || is_ruff_summary(bare) { make_clue(class, 50, at_start(Content)) } else { None };
    }
    if let Some(rest) = indented.then(|| bare.split_once("  error  ")).flatten() {
        return rest
            .0
            .split(':')
            .all(|part| part.trim().parse::<u32>().is_ok())
            .then(|| make_clue(FailureClass::Lint, 85, Weak))?;
    }
    if bare == "Killed" || bare.ends_with(" Killed") && bare.contains(": ") {
        return make_clue(FailureClass::Resource, 80, Content);
    }
    if bare.contains("Segmentation fault (core dumped)") || bare.contains(": Segmentation fault") {
        return make_clue(FailureClass::Exception, 80, Content);
    }
    super::error_forms::program_error_clue(bare, indented)
        .or_else(|| super::error_forms::exception_clue(bare, indented))
}

fn is_ruff_summary(bare: &str) -> bool {
    bare.strip_prefix("Found ")
        .and_then(|rest| rest.strip_suffix(" errors.").or_else(|| rest.strip_suffix(" error.")))
        .is_some_and(|count| count.parse::<u32>().is_ok())
}

/// Reads `src/x.c:12:5: error: …` of compilers and type checkers, and `./x.go:12:5: undefined: y` of Go.
fn clue_by_location(bare: &str) -> Option<FailureClue> {
    let place = |head: &str| {
        let head = head.trim_end_matches(':');
        head.ends_with(|c: char| c.is_ascii_digit() || c == ')') && head.contains(['.', ':']) && !head.contains(' ')
    };
    for mark in [" error: ", " fatal error: ", " error CS", " Error: "] {
        if let Some((head, _)) = bare.split_once(mark)
            && place(head)
        {
            return make_clue(FailureClass::Compile, 86, ClueCredibility::Content);
        }
    }
    if bare.starts_with("e: ") && bare.contains(".kt:") {
        return make_clue(FailureClass::Compile, 86, ClueCredibility::Content);
    }
    let (file, rest) = bare.split_once(".go:")?;
    let (line, rest) = rest.split_once(':')?;
    let (column, _) = rest.split_once(": ")?;
    let numbers = [line, column].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if numbers && !file.contains(' ') { make_clue(FailureClass::Compile, 85, ClueCredibility::Content) } else { None }
}

/// Reads lines that word a known cause.
fn clue_by_wording(bare: &str, lower: &str, indented: bool) -> Option<FailureClue> {
    let (class, weight) = super::cause_wordings::find_cause(lower)?;
    let sure = class == FailureClass::Timeout
        && (lower.starts_with("command timed out") || lower.contains("error: command timed out"));
    let belief = match () {
        () if sure => ClueCredibility::Own,
        () if !indented && states_error(bare, lower) => ClueCredibility::Content,
        () => ClueCredibility::Weak,
    };
    // A line that does not clearly state an error is a worse headline.
    make_clue(class, if belief == ClueCredibility::Weak { weight - 25 } else { weight }, belief)
}

/// Returns true if a line states an error, rather than being code or prose.
fn states_error(bare: &str, lower: &str) -> bool {
    const LOUD: &str = "\
        error|fatal|failed|failure|exception|exceeded|http|api |curl:|wget:|request|429|unable|could not|\
        couldn't|prompt is too long|input is too long|connect|getaddrinfo|ssh:|{\"type\":\"error\"|\
        {\"error\"|usage limit|timeout|timed out|your input exceeds|npm err";
    const CODE: &[&str] =
        &["//", "#", "*", "/*", "- ", "+", "def ", "fn ", "if ", "assert", "test ", "✓", "(pass)", "|", ">"];
    let head = super::plain_output::clip_characters(lower, 48);
    LOUD.split('|').any(|word| head.contains(word))
        && !CODE.iter().any(|word| lower.starts_with(word))
        && !bare.ends_with(['{', ';', ','])
        && !lower.ends_with("... ok")
        && !bare.contains("=>")
        && !bare.contains('→')
}

/// Reads lines with plain words for errors. They only serve as headlines.
fn clue_by_words(bare: &str, lower: &str) -> Option<FailureClue> {
    static FAILURE_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(WORDS.split('|')).ok());
    static CALM: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(CLEAN).ok());
    const STARTS: &[&str] =
        &["error: ", "error - ", "error ", "fatal ", "failed ", "failure: ", "err: ", "outcome: error"];
    const WORDS: &str = "\
        not defined|undefined|not found|cannot|can't|could not|couldn't|unable to|unrecognized|unknown|\
        invalid|missing|denied|unexpected|failed|failure|error|exception|refused|not a |no such|does not|\
        doesn't|unsupported|conflict|expected|fatal|err: ";
    const CLEAN: &[&str] =
        &["0 errors", "0 failed", "no errors", "0 failures", "without error", "error handling", "0 error"];
    if !FAILURE_WORDS.as_ref()?.is_match(lower) || CALM.as_ref()?.is_match(lower) {
        return None;
    }
    let class = if lower.contains("not found") || lower.contains("no such") || lower.contains("does not exist") {
        FailureClass::NotFound
    } else if lower.contains("permission denied") || lower.contains("not permitted") || lower.contains("eacces") {
        FailureClass::Permission
    } else {
        FailureClass::Command
    };
    let is_told = STARTS.iter().any(|start| lower.starts_with(start)) || bare.starts_with("E: ");
    if let Some(inner) = super::error_forms::inner_exception_clue(bare) {
        let belief = if is_told { ClueCredibility::Closing } else { ClueCredibility::Weak };
        return make_clue(inner.class, 62, belief);
    }
    if is_told {
        let follows_script = lower.contains("exited with code") || lower.contains("failed with exit code");
        return make_clue(class, if follows_script { 35 } else { 60 }, ClueCredibility::Closing);
    }
    let is_prose = bare.starts_with(['#', '-', '*', '/', '|', '>']);
    make_clue(class, if is_prose { 12 } else { 25 }, ClueCredibility::Weak)
}
