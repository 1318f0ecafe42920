//! Reads two forms of error that many programs share: `program: what: why`, and an exception's name before its message.

use super::failure_detection::FailureClass;
use super::failure_line::ClueCredibility;
use super::failure_line::FailureClue;

/// Messages of programs, after their own name, when the system refuses something.
const REFUSALS: &[(&str, FailureClass)] = &[
    ("No such file or directory", FailureClass::NotFound),
    ("command not found", FailureClass::NotFound),
    ("not found", FailureClass::NotFound),
    ("No such command", FailureClass::NotFound),
    ("Permission denied", FailureClass::Permission),
    ("Operation not permitted", FailureClass::Permission),
    ("Read-only file system", FailureClass::Permission),
    ("Is a directory", FailureClass::Command),
    ("Not a directory", FailureClass::NotFound),
    ("File exists", FailureClass::Command),
    ("Directory not empty", FailureClass::Command),
    ("Exec format error", FailureClass::Command),
    ("cannot execute binary file", FailureClass::Command),
    ("Argument list too long", FailureClass::Command),
    ("syntax error near unexpected token", FailureClass::Command),
    ("unexpected EOF while looking for matching", FailureClass::Command),
    ("unbound variable", FailureClass::Command),
    ("unrecognized option", FailureClass::Command),
    ("invalid option", FailureClass::Command),
    ("unknown option", FailureClass::Command),
    ("illegal option", FailureClass::Command),
    ("missing operand", FailureClass::Command),
];

/// Returns true if a shell names its line: `zsh:2: command not found: foo`, `(eval):1: file exists: a.txt`.
pub(super) fn names_shell_line(line: &str) -> bool {
    let rest = ["zsh:", "bash:", "sh:", "(eval):"].iter().find_map(|shell| line.strip_prefix(shell));
    let place = rest.and_then(|rest| rest.split_once(": ")).map(|(place, _)| place.trim_start_matches(" line "));
    place.is_some_and(|place| !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reads errors of programs: `bash: foo: command not found`, `cat: x: No such file or directory`.
pub(super) fn program_error_clue(bare: &str, indented: bool) -> Option<FailureClue> {
    if indented || bare.len() > 500 {
        return None;
    }
    if bare.starts_with("zsh: command not found: ")
        || bare.starts_with("fish: Unknown command")
        || is_unmatched_glob(bare)
        || bare.contains("is not recognized as an internal or external command")
        || bare.contains("is not recognized as the name of a cmdlet")
    {
        return Some(FailureClue { class: FailureClass::NotFound, weight: 82, belief: ClueCredibility::Own });
    }
    let (program, rest) = bare.split_once(": ")?;
    program_name(program)?;
    if rest.starts_with("No module named ") {
        return Some(FailureClue { class: FailureClass::NotFound, weight: 84, belief: ClueCredibility::Content });
    }
    let own = |class, weight| Some(FailureClue { class, weight, belief: ClueCredibility::Own });
    if program == "curl" && rest.starts_with('(') {
        return own(FailureClass::Network, 82);
    }
    if rest.ends_with(": not found") || rest == "command not found" || rest.ends_with(": command not found") {
        return own(FailureClass::NotFound, 82);
    }
    let &(_, class) = REFUSALS.iter().find(|(refusal, _)| {
        *refusal != "not found"
            && (rest.ends_with(refusal)
                || (refusal.contains("option") || refusal.contains("token")) && rest.contains(refusal))
    })?;
    own(class, 78)
}

/// Returns true if a pattern matched no file, so that zsh ran nothing: `(eval):1: no matches found: *.go`.
pub(super) fn is_unmatched_glob(bare: &str) -> bool {
    (bare.starts_with("zsh") || bare.starts_with("(eval)")) && bare.contains(": no matches found: ")
}

/// Returns the program that an error line names, or `None` if the text cannot be a program.
pub(super) fn program_name(program: &str) -> Option<&str> {
    let plain = program.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/+[\\:".contains(&byte));
    let name = crate::text::shell_lexer::program_name(program).trim_start_matches('-');
    let is_file_place = name.contains(':') || program.starts_with("--");
    (plain && !is_file_place && !name.is_empty() && program.len() <= 80).then_some(name)
}

/// Reads an exception named after other words: `failed at line 'f()' due to: ValueError: no`.
pub(super) fn inner_exception_clue(bare: &str) -> Option<FailureClue> {
    ["Error: ", "Exception: "].iter().filter_map(|mark| bare.find(mark)).min().and_then(|at| {
        let start = bare.get(..at)?.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_')?;
        exception_clue(bare.get(start..)?.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()), true)
    })
}

/// Reads `TypeError: x is not a function`, `java.lang.IllegalStateException: no`, `x.rb:3:in 'f': no (NoMethodError)`.
pub(super) fn exception_clue(bare: &str, indented: bool) -> Option<FailureClue> {
    let belief = if indented { ClueCredibility::Weak } else { ClueCredibility::Content };
    if bare.contains(":in ") && bare.ends_with("Error)") {
        return Some(FailureClue { class: FailureClass::Exception, weight: 82, belief });
    }
    let bare = bare.strip_prefix("Uncaught ").unwrap_or(bare);
    let (name, message) = match bare.split_once(": ") {
        Some((name, message)) => (name, message),
        // `AssertionError` alone, at the end of a traceback.
        None => (bare.trim_end_matches(':'), ""),
    };
    let name = name.split_once(" [").map_or(name, |(name, _)| name);
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._$:\\".contains(&byte)) {
        return None;
    }
    let last = name.rsplit(['.', '\\', ':', '$']).next().unwrap_or(name);
    let is_kind = last.ends_with("Error")
        || last.ends_with("Exception")
        || last.ends_with("Failure")
        || last == "KeyboardInterrupt";
    if !is_kind
        || !last.starts_with(|c: char| c.is_ascii_uppercase())
        || matches!(last, "Error" | "Exception" | "Failure") && name == last
    {
        return None;
    }
    if message.is_empty() && bare.len() != name.len() && bare.len() != name.len() + 1 {
        return None;
    }
    let class = match last {
        "ModuleNotFoundError" | "FileNotFoundError" | "ImportError" | "NotFoundError" | "FileNotFoundException" => {
            FailureClass::NotFound
        }
        "PermissionError" | "AccessDeniedException" => FailureClass::Permission,
        "TimeoutError" | "TimeoutExpired" | "TimeoutException" => FailureClass::Timeout,
        "ConnectionError" | "ConnectionRefusedError" | "ConnectionResetError" | "ConnectException" | "URLError" => {
            FailureClass::Network
        }
        "AssertionError" | "AssertionFailedError" | "ExpectationFailedException" => FailureClass::Assertion,
        "SyntaxError" | "IndentationError" | "TabError" => FailureClass::Compile,
        "MemoryError" | "OutOfMemoryError" => FailureClass::Resource,
        "KeyboardInterrupt" => FailureClass::Interrupted,
        "RateLimitError" => FailureClass::RateLimit,
        _ => FailureClass::Exception,
    };
    Some(FailureClue {
        class,
        weight: if message.is_empty() { 66 } else { 82 },
        belief: if message.is_empty() { ClueCredibility::Weak } else { belief },
    })
}
