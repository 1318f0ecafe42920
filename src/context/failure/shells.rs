//! Two forms that many programs share: `program: what: why`, and the name of an exception before its message.

use super::evidence::Belief;
use super::evidence::Saying;
use super::read::Class;

/// What programs say after their own name when the system refuses them something.
const REFUSALS: &[(&str, Class)] = &[
    ("No such file or directory", Class::NotFound),
    ("command not found", Class::NotFound),
    ("not found", Class::NotFound),
    ("No such command", Class::NotFound),
    ("Permission denied", Class::Permission),
    ("Operation not permitted", Class::Permission),
    ("Read-only file system", Class::Permission),
    ("Is a directory", Class::Command),
    ("Not a directory", Class::NotFound),
    ("File exists", Class::Command),
    ("Directory not empty", Class::Command),
    ("Exec format error", Class::Command),
    ("cannot execute binary file", Class::Command),
    ("Argument list too long", Class::Command),
    ("syntax error near unexpected token", Class::Command),
    ("unexpected EOF while looking for matching", Class::Command),
    ("unbound variable", Class::Command),
    ("unrecognized option", Class::Command),
    ("invalid option", Class::Command),
    ("unknown option", Class::Command),
    ("illegal option", Class::Command),
    ("missing operand", Class::Command),
];

/// Tells whether a shell complains and says where: `zsh:2: command not found: foo`, `(eval):1: file exists: a.txt`.
pub(super) fn names_its_line(line: &str) -> bool {
    let rest = ["zsh:", "bash:", "sh:", "(eval):"].iter().find_map(|shell| line.strip_prefix(shell));
    let place = rest.and_then(|rest| rest.split_once(": ")).map(|(place, _)| place.trim_start_matches(" line "));
    place.is_some_and(|place| !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `bash: foo: command not found`, `cat: x: No such file or directory`.
pub(super) fn complaint(bare: &str, indented: bool) -> Option<Saying> {
    if indented || bare.len() > 500 {
        return None;
    }
    if bare.starts_with("zsh: command not found: ")
        || bare.starts_with("fish: Unknown command")
        || is_unmatched(bare)
        || bare.contains("is not recognized as an internal or external command")
        || bare.contains("is not recognized as the name of a cmdlet")
    {
        return Some(Saying { class: Class::NotFound, weight: 82, belief: Belief::Own });
    }
    let (program, rest) = bare.split_once(": ")?;
    program_name(program)?;
    if rest.starts_with("No module named ") {
        return Some(Saying { class: Class::NotFound, weight: 84, belief: Belief::Content });
    }
    let own = |class, weight| Some(Saying { class, weight, belief: Belief::Own });
    if program == "curl" && rest.starts_with('(') {
        return own(Class::Network, 82);
    }
    if rest.ends_with(": not found") || rest == "command not found" || rest.ends_with(": command not found") {
        return own(Class::NotFound, 82);
    }
    let &(_, class) = REFUSALS.iter().find(|(refusal, _)| {
        *refusal != "not found"
            && (rest.ends_with(refusal)
                || (refusal.contains("option") || refusal.contains("token")) && rest.contains(refusal))
    })?;
    own(class, 78)
}

/// zsh runs nothing if a pattern matches no file: `(eval):1: no matches found: *.go`.
pub(super) fn is_unmatched(bare: &str) -> bool {
    (bare.starts_with("zsh") || bare.starts_with("(eval)")) && bare.contains(": no matches found: ")
}

/// The program that a complaint names, or nothing if this cannot be one.
pub(super) fn program_name(program: &str) -> Option<&str> {
    let plain = program.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/+[\\:".contains(&byte));
    let name = super::command::base(program).trim_start_matches('-');
    let is_file_place = name.contains(':') || program.starts_with("--");
    (plain && !is_file_place && !name.is_empty() && program.len() <= 80).then_some(name)
}

/// The exception that a line names behind other words: `failed at line 'f()' due to: ValueError: no`.
pub(super) fn inner_exception(bare: &str) -> Option<Saying> {
    ["Error: ", "Exception: "].iter().filter_map(|mark| bare.find(mark)).min().and_then(|at| {
        let start = bare.get(..at)?.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_')?;
        exception(bare.get(start..)?.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()), true)
    })
}

/// `TypeError: x is not a function`, `java.lang.IllegalStateException: no`, `x.rb:3:in 'f': no (NoMethodError)`.
pub(super) fn exception(bare: &str, indented: bool) -> Option<Saying> {
    let belief = if indented { Belief::Weak } else { Belief::Content };
    if bare.contains(":in ") && bare.ends_with("Error)") {
        return Some(Saying { class: Class::Exception, weight: 82, belief });
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
            Class::NotFound
        }
        "PermissionError" | "AccessDeniedException" => Class::Permission,
        "TimeoutError" | "TimeoutExpired" | "TimeoutException" => Class::Timeout,
        "ConnectionError" | "ConnectionRefusedError" | "ConnectionResetError" | "ConnectException" | "URLError" => {
            Class::Network
        }
        "AssertionError" | "AssertionFailedError" | "ExpectationFailedException" => Class::Assertion,
        "SyntaxError" | "IndentationError" | "TabError" => Class::Compile,
        "MemoryError" | "OutOfMemoryError" => Class::Resource,
        "KeyboardInterrupt" => Class::Interrupted,
        "RateLimitError" => Class::RateLimit,
        _ => Class::Exception,
    };
    Some(Saying {
        class,
        weight: if message.is_empty() { 66 } else { 82 },
        belief: if message.is_empty() { Belief::Weak } else { belief },
    })
}
