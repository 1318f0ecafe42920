//! The purpose of a command, as far as its words tell: to query, to prepare, to install, to run a target.

use super::sentence_text::any_listed;
use crate::context::strip_runners;
use crate::text::shell_lexer::program_name;

#[cfg(test)]
#[path = "command_purpose_tests.rs"]
mod tests;

/// The most letters by which two words that are a typo apart may differ.
const SLIPS: usize = 2;

/// Words of at most this many letters may differ in one letter only.
const SHORT_WORD: usize = 4;

/// Longer words are not taken for names of scripts.
const LONGEST_WORD: usize = 40;

/// Programs that take a program in their arguments or from their input.
const INTERPRETERS: &str = "python|python2|python3|py|node|ruby|perl|php|deno|bun|tsx|ts-node|Rscript|osascript|lua";

/// Tells whether a command only queries help, a version, a list or a state. It fixes nothing, and passing is no proof.
pub(super) fn is_query_command(words: &[String]) -> bool {
    const FLAGS: &str =
        "--help|--version|--list|--list-tests|--collect-only|--dry-run|--no-run|--showconfig|--show-config";
    const VERBS: &str = "help|version|list|ls|status|show|info|ps|images|inspect|logs|log|view|outdated|why|freeze|describe|\
        doctor|history|top|whoami|which|config-get|is-active|current|tree|search";
    const PROGRAMS: &str =
        "ps|lsof|pgrep|id|uname|whoami|hostname|netstat|ss|nslookup|dig|ping|man|free|uptime|pg_isready";
    let words = strip_runners(words);
    let Some((head, rest)) = words.split_first() else { return false };
    let word = |at: usize| rest.iter().filter(|word| !word.starts_with('-')).nth(at).map_or("", String::as_str);
    let is_list = |word: &str| ["get-", "list-", "describe-"].iter().any(|start| word.starts_with(start));
    let has_flag = rest.iter().any(|word| any_listed(FLAGS, |flag| flag == word));
    let is_short = matches!(rest, [only] if matches!(only.as_str(), "-h" | "-v" | "-V" | "-version" | "-T"));
    let by_verb = match program_name(head) {
        "npm" | "pnpm" | "yarn" | "bun" if matches!(word(0), "run" | "run-script") => word(1).is_empty(),
        "kubectl" | "oc" => {
            matches!(word(0), "get" | "describe" | "logs" | "top" | "explain" | "wait")
                || (word(0), word(1)) == ("rollout", "status")
        }
        "aws" | "gcloud" | "az" => matches!(word(1), "list" | "ls" | "show" | "describe") || is_list(word(1)),
        "docker" | "podman" | "gh" | "glab" | "git" if any_listed(VERBS, |verb| verb == word(1)) => {
            matches!(word(0), "compose" | "container" | "image" | "volume" | "network" | "pr" | "issue" | "run" | "lfs")
                && !(word(0) == "run" && matches!(program_name(head), "docker" | "podman"))
        }
        "curl" | "wget" => !rest.iter().any(|word| {
            matches!(word.as_str(), "-X" | "-d" | "-o" | "-O" | "-T" | "-F")
                || ["--data", "--request", "--output", "--form", "--upload"].iter().any(|flag| word.starts_with(flag))
        }),
        // The commands `go env -w` and `poetry env use` set something.
        _ if word(0) == "env" => word(1).is_empty() && !rest.iter().any(|word| matches!(word.as_str(), "-w" | "-u")),
        "ssh-add" => rest.iter().any(|word| matches!(word.as_str(), "-l" | "-L")),
        "make" | "just" | "task" | "cargo" | "go" => matches!(word(0), "help" | "version" | "list" | "tree"),
        name => any_listed(PROGRAMS, |program| program == name) || any_listed(VERBS, |verb| verb == word(0)),
    };
    has_flag || is_short || by_verb
}

/// Tells whether a checking program is used to prepare something: `playwright install`, `jest --init`, `cypress open`.
pub(super) fn is_preparation(words: &[String]) -> bool {
    const VERBS: &str = "install|install-deps|install-hooks|uninstall|init|init-config|codegen|open|show-report|show-trace|\
        autoupdate|clean|erase|serve|migrate|migrate-config|--init|--install-types|--generate-configuration|--clearcache";
    let words = strip_runners(words);
    let is_builder = words.first().is_some_and(|head| {
        matches!(program_name(head), "mvn" | "mvnw" | "gradle" | "gradlew" | "make" | "npm" | "cargo")
    });
    !is_builder && words.get(1).is_some_and(|verb| any_listed(VERBS, |known| known.eq_ignore_ascii_case(verb)))
}

/// Tells whether a command installs or fetches packages.
pub(super) fn installs_packages(words: &[String]) -> bool {
    const MANAGERS: &str = "npm|pnpm|yarn|bun|pip|pip3|uv|poetry|pipenv|pdm|conda|mamba|gem|bundle|cargo|go|apt|apt-get|brew|\
        dnf|yum|apk|pacman|composer|dotnet|mix|nuget|choco|winget|snap|pipx";
    const VERBS: &str = "install|i|ci|add|sync|get|fetch|update|upgrade|restore|require|download|lock";
    let words = match words {
        [head, flag, rest @ ..] if program_name(head).starts_with("python") && flag == "-m" => rest,
        words => words,
    };
    let Some((head, rest)) = words.split_first() else { return false };
    let verb =
        rest.iter().filter(|word| !word.starts_with('-') && *word != "pip" && *word != "mod").map(String::as_str);
    let is_verb = |verb: &str| any_listed(VERBS, |known| known == verb);
    (any_listed(MANAGERS, |known| known == program_name(head)) && verb.take(1).any(is_verb))
        || (program_name(head) == "yarn" && rest.is_empty())
}

/// Returns the runner and the script or target that a command names: `npm run lint`, `make lint`.
pub(super) fn find_run_target(words: &[String]) -> Option<(&str, &str)> {
    let (head, rest) = words.split_first()?;
    let mut bare = rest.iter().map(String::as_str).filter(|word| !word.starts_with('-') && !word.contains('='));
    let first = bare.next()?;
    let target = match program_name(head) {
        "npm" | "pnpm" | "yarn" | "bun" | "composer" if matches!(first, "run" | "run-script") => bare.next()?,
        "npm" | "bun" if matches!(first, "start" | "test" | "stop" | "restart") => first,
        "pnpm" | "yarn" | "composer" if !installs_packages(words) => first,
        "make" | "gmake" | "just" | "task" | "mage" | "rake" | "invoke" | "inv" | "grunt" | "gulp" | "ant"
        | "gradle" | "gradlew" | "mix" | "nox" => first,
        _ => return None,
    };
    Some((program_name(head), target))
}

/// Tells whether a command has an interpreter run a program given in its own words or its input.
pub(super) fn is_inline_program(words: &[String]) -> bool {
    let words = strip_runners(words);
    let Some((head, rest)) = words.split_first() else { return false };
    let flags = rest.iter().take_while(|word| word.starts_with('-') && *word != "-m");
    let is_given = flags.map(String::as_str).any(|flag| {
        matches!(flag, "-" | "-c" | "-e" | "-r" | "-p" | "--eval" | "--print" | "-ne" | "-pe" | "-lc" | "-pie" | "-0pe")
    });
    any_listed(INTERPRETERS, |known| known == program_name(head))
        && (rest.is_empty() || is_given || rest.first().is_some_and(|word| word == "eval"))
}

/// Tells whether one word is the other with a typo.
pub(super) fn is_typo(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let most = if one.len().min(other.len()) <= SHORT_WORD { 1 } else { SLIPS };
    one != other && one.len().max(other.len()) <= LONGEST_WORD && edit_distance(&one, &other) <= most
}

/// Counts the letters to insert, delete, change or swap with their neighbour to turn one word into the other.
fn edit_distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, against) in other.iter().enumerate() {
            let at = |cells: &[usize], index: usize| cells.get(index).copied().unwrap_or(usize::MAX / 2);
            let changed = at(&above, column) + usize::from(letter != against);
            let mut least = changed.min(at(&above, column + 1) + 1).min(at(&line, column) + 1);
            let is_swapped =
                row > 0 && column > 0 && one.get(row - 1) == Some(against) && other.get(column - 1) == Some(letter);
            if is_swapped {
                least = least.min(at(&before, column - 1) + 1);
            }
            line.push(least);
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or_default()
}
