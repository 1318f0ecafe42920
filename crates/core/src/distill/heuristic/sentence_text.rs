//! Texts as they appear in a sentence: short, without what only a machine needs.

use crate::text::shell_lexer::program_name;

#[cfg(test)]
#[path = "sentence_text_tests.rs"]
mod tests;

/// The most characters of an error in a sentence.
const ERROR_CHARACTERS: usize = 120;

/// Prefixes, in lower case, that programs put before a message.
const WRAPPERS: &str = "outcome: error - |outcome: failure - |error: |error - |error |fatal: |fatal error: |[error] |npm err! |\
    npm error |uncaught |err! |e |warning: |<tool_use_error>|tool error: |failed: |command failed: |\
    modulenotfounderror: |importerror: |runtimeerror: |exception: |referenceerror: |system.exception: |\
    java.lang.runtimeexception: ";

/// Returns the informative part of an error, short enough for a sentence.
pub(super) fn shorten_error(headline: &str) -> String {
    let line = extract_json_message(headline).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = line.trim_start_matches(['✗', '×', '❌', '•', '>', '│', '⨯', ' ']).trim();
    loop {
        let lower: String = rest.chars().take(32).collect::<String>().to_lowercase();
        let inner = WRAPPERS.split('|').filter(|wrapper| lower.starts_with(wrapper)).find_map(|wrapper| {
            rest.get(wrapper.len()..).map(str::trim).filter(|inner| inner.split_whitespace().count() >= 2)
        });
        let inner = inner
            .or_else(|| strip_shell_prefix(rest))
            .or_else(|| strip_timestamp(rest))
            .or_else(|| strip_module_path(rest))
            .or_else(|| strip_location(rest));
        match inner {
            Some(inner) => rest = inner,
            None => break,
        }
    }
    let first = rest.split_once(". ").map_or(rest, |(first, _)| if first.len() >= 24 { first } else { rest });
    cut_to_length(&shorten_paths(first, None).replace(['"', '`'], "'").replace("''", "'"), ERROR_CHARACTERS)
        .trim_end_matches(['.', ':', ';'])
        .to_owned()
}

/// Returns the message of an error that is given as JSON.
fn extract_json_message(headline: &str) -> &str {
    let inner = ["\"message\":\"", "\"message\": \""].iter().find_map(|key| headline.split(key).nth(1));
    let inner =
        inner.and_then(|rest| rest.split(['"', '\\']).next()).filter(|words| words.split_whitespace().count() >= 2);
    inner.unwrap_or(headline)
}

/// Strips a shell's prefix: `bash: line 1: x: command not found` becomes `x: command not found`.
fn strip_shell_prefix(text: &str) -> Option<&str> {
    let (program, rest) = text.split_once(": ")?;
    let is_shell = matches!(
        program_name(program),
        "python" | "python3" | "node" | "bash" | "sh" | "zsh" | "dash" | "fish" | "eval" | "zsh:1" | "(eval):1"
    );
    let rest = is_shell.then_some(rest)?;
    let behind_place = rest.split_once(": ").filter(|(place, _)| {
        let number = place.strip_prefix("line ").unwrap_or(place);
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    Some(behind_place.map_or(rest, |(_, rest)| rest))
}

/// Strips the time that a line begins with.
fn strip_timestamp(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once(' ')?;
    let bare = first.trim_matches(['[', ']']);
    let digits = bare.bytes().filter(u8::is_ascii_digit).count();
    let is_time = digits >= 6 && bare.bytes().all(|byte| byte.is_ascii_digit() || b"-:.TZ/,+".contains(&byte));
    (is_time && rest.split_whitespace().count() >= 2).then_some(rest)
}

/// Strips a source location: `src/x.ts(3,10): error TS1: y` becomes `error TS1: y`; also that of a panic.
fn strip_location(text: &str) -> Option<&str> {
    let (place, rest) = match text.starts_with("thread '") {
        true => text.split_once(" panicked at ")?.1.split_once(": ")?,
        false => text.split_once(": ")?,
    };
    let is_place = place.contains('.')
        && !place.contains(' ')
        && place.ends_with(|c: char| c.is_ascii_digit() || c == ')')
        && place.contains([':', '(']);
    (is_place && rest.split_whitespace().count() >= 2).then_some(rest)
}

/// Strips a module path: `django.core.exceptions.ImproperlyConfigured: x` becomes `ImproperlyConfigured: x`.
fn strip_module_path(text: &str) -> Option<&str> {
    let (name, _) = text.split_once(": ")?;
    let is_path = name.contains('.') && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._$".contains(&byte));
    let last = name.rsplit('.').next()?;
    let is_type = last.starts_with(|c: char| c.is_ascii_uppercase()) && last.len() > 4;
    (is_path && is_type).then(|| text.get(name.len() - last.len()..)).flatten()
}

/// Tells whether a headline says nothing but that something failed.
pub(super) fn is_uninformative(headline: &str) -> bool {
    const TALK: &str = "outcome failure|outcome error|command failed|no output|failed|error|failure|build failed|tests failed|\
        test failed|unknown error|something went wrong|fail|errors|killed|terminated|process exited|exit status|\
        exit code|command exited|returned a nonzero|process completed|make error|elifecycle|lifecycle script|\
        script failed|found errors|build failure|run failed|aborted|internal error|execution failed|\
        test result failed|failures|short test summary info|done|ok|none|null|undefined|false|tool failed|\
        call failed|task failed";
    let words: Vec<String> = headline
        .to_lowercase()
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| {
            word.len() > 1 && !matches!(*word, "with" | "code" | "status" | "non" | "zero" | "npm" | "err" | "the")
        })
        .map(str::to_owned)
        .collect();
    let bare = words.join(" ");
    let letters = bare.chars().filter(|c| c.is_alphabetic()).count();
    let is_count = words.iter().all(|word| {
        matches!(
            word.as_str(),
            "failed"
                | "passed"
                | "skipped"
                | "error"
                | "errors"
                | "in"
                | "test"
                | "tests"
                | "total"
                | "of"
                | "ms"
                | "failures"
                | "failure"
                | "warning"
                | "warnings"
                | "found"
                | "result"
                | "ok"
                | "ignored"
                | "measured"
                | "filtered"
                | "out"
                | "suites"
                | "snapshots"
                | "time"
                | "files"
                | "file"
                | "problems"
                | "problem"
                | "examples"
                | "example"
                | "pending"
                | "run"
                | "ran"
                | "exit"
                | "process"
                | "exited"
                | "command"
                | "script"
                | "make"
                | "build"
                | "fail"
                | "pass"
                | "is"
                | "was"
                | "returned"
                | "finished"
                | "ended"
                | "and"
                | "failing"
                | "passing"
                | "assertions"
                | "could"
                | "not"
                | "compile"
                | "due"
                | "to"
                | "previous"
                | "outcome"
        )
    });
    let is_make = headline.starts_with("make") && headline.contains("] Error ");
    letters < 5 || is_make || is_count || any_listed(TALK, |talk| talk == bare)
}

/// Tells whether a predicate holds for one of the words in a list separated by `|`.
pub(super) fn any_listed(list: &str, holds: impl FnMut(&str) -> bool) -> bool {
    list.split('|').filter(|word| !word.is_empty()).any(holds)
}

/// Returns a text cut to a length between two words, with an ellipsis.
pub(super) fn cut_to_length(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.trim().to_owned() };
    let head = text.get(..end).unwrap_or_default();
    let whole =
        head.rfind(char::is_whitespace).filter(|at| *at > most / 2).and_then(|at| head.get(..at)).unwrap_or(head);
    format!("{}…", whole.trim_end_matches(|c: char| c.is_whitespace() || ",;:-–(".contains(c)))
}

/// Returns a text with local paths shortened: relative to the project, else their last two parts.
pub(super) fn shorten_paths(text: &str, folder: Option<&str>) -> String {
    let folder = folder.map(|folder| folder.trim_end_matches('/')).filter(|folder| folder.len() > 1);
    let mut out = String::with_capacity(text.len());
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(&shorten_path_word(word, folder));
    }
    out
}

fn shorten_path_word(word: &str, folder: Option<&str>) -> String {
    let starts = word.char_indices().find(|(at, c)| {
        *c == '/'
            && word
                .get(..*at)
                .is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || "./~_-*}:".contains(c)))
    });
    let Some((start, _)) = starts else { return word.to_owned() };
    let (lead, path) = word.split_at_checked(start).unwrap_or((word, ""));
    let end = path.find(|c: char| "'\"`,;)]}:=".contains(c)).unwrap_or(path.len());
    let (path, trail) = path.split_at_checked(end).unwrap_or((path, ""));
    if let Some(inside) = folder.and_then(|folder| path.strip_prefix(folder)).and_then(|rest| rest.strip_prefix('/')) {
        let inside = if inside.is_empty() { "." } else { inside };
        return format!("{lead}{inside}{trail}");
    }
    if folder == Some(path) {
        return format!("{lead}.{trail}");
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    const SHARED: &[&str] = &[
        "/usr/",
        "/opt/",
        "/etc/",
        "/bin/",
        "/lib/",
        "/sbin/",
        "/dev/",
        "/proc/",
        "/sys/",
        "/tmp/",
        "/var/lib/",
        "/nix/",
    ];
    let is_private =
        ["/home/", "/Users/", "/root/", "/private/", "/var/folders/"].iter().any(|root| path.starts_with(root));
    if parts.len() < 2 || (!is_private && (parts.len() < 4 || SHARED.iter().any(|root| path.starts_with(root)))) {
        return word.to_owned();
    }
    let last = parts.iter().rev().take(2).rev().copied().collect::<Vec<_>>().join("/");
    format!("{lead}{last}{trail}")
}

/// Capitalizes the first letter if the text begins with a word; a path, a command and an identifier stay unchanged.
pub(super) fn capitalize_first(text: &str) -> String {
    const NAMES: &str =
        "npm|pnpm|yarn|npx|pip|uv|conda|pipenv|kubectl|pytest|jest|vitest|eslint|tsc|tsx|rg|mvn|tox|nox|psql|sqlite";
    let first = text.split([' ', ',', ';', ':']).next().unwrap_or_default().trim_end_matches(['.', '!', '?']);
    let is_word =
        first.chars().all(|c| c.is_lowercase() || c == '\'' || c == '-') && !any_listed(NAMES, |name| name == first);
    let mut letters = text.chars();
    match letters.next() {
        Some(letter) if is_word => letter.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// Joins items as in a sentence: "a, b and c".
pub(super) fn join_with_and(things: &[String]) -> String {
    match things {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
