//! Command lines parsed far enough to compare two of them.

use super::command_purpose::{is_inline_program, is_query_command};
use super::sentence_text::any_listed;
use crate::context::{ShellCommand, parse_shell_commands};
use crate::text::shell_lexer::{is_assignment, program_name};

#[cfg(test)]
#[path = "command_comparison_tests.rs"]
mod tests;

/// Programs that only prepare what follows.
const SETUPS: &str = "export|source|.|nvm|fnm|asdf|pyenv|rbenv|conda|mise|eval|set|unset|corepack";

/// Programs that change or move files themselves. What they do to code counts as an edit.
const FILE_TOOLS: &str = "cp|mv|rm|mkdir|touch|ln|tee|patch|ed|truncate|tar|unzip";

/// Calls and flags, in lower case, by which an inline program writes into files.
const WRITES: &str = "write(|write_text|write_bytes|writefile|writelines|appendfile|file.write|file_put_contents|put_bytes|\
    , 'w'|, \"w\"|,'w'|,\"w\"|, 'a'|os.replace|os.rename|renamesync|shutil.|unlink|fs.rm|fs.cp|copyfile|inplace|-pi|-i ";

/// A command line, parsed far enough to compare it with another one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ComparableCommand {
    /// The `NAME=value` assignments before the command.
    pub(super) settings: Vec<String>,
    /// The parts that only prepare: `export …`, `source …`.
    pub(super) setups: Vec<Vec<String>>,
    /// The folder that it changes to first.
    pub(super) folder: Option<String>,
    /// The words of every part that does more than look.
    pub(super) cores: Vec<Vec<String>>,
    /// The words of every part that only looks.
    looks: Vec<Vec<String>>,
    /// True if it waits first.
    pub(super) waits: bool,
    /// The time limit that it is given, in seconds.
    pub(super) limit: Option<u64>,
    /// True if it carries a program of its own.
    pub(super) is_script: bool,
    /// True if that program is for an interpreter: it looks or edits, and is never run again.
    pub(super) is_inline: bool,
    /// True if it writes into a file or edits one.
    pub(super) edits: bool,
}

/// The way in which a later command differs from an earlier one that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandDifference {
    /// There is no difference.
    None,
    /// Something is set or run before it.
    Before,
    /// It runs in another folder.
    Folder,
    /// It has other flags.
    Flags,
    /// Another program, or one wrapped around it, does it.
    Program,
    /// It waits first.
    Wait,
}

impl ComparableCommand {
    pub(super) fn parse(command: &str) -> Self {
        let mut line = Self { is_script: is_script(command), ..Self::default() };
        for part in parse_shell_commands(command) {
            // The script that a shell is given is the command that counts.
            match part.inner_script() {
                Some(script) => parse_shell_commands(&script).iter().for_each(|part| line.add_part(part)),
                None => line.add_part(&part),
            }
        }
        if line.is_inline {
            let lower = command.to_lowercase();
            line.edits |= any_listed(WRITES, |writes| lower.contains(writes));
        }
        line
    }

    fn add_part(&mut self, part: &ShellCommand) {
        let words = part.command_words();
        let Some(head) = words.first() else { return };
        let before = part.words.len().saturating_sub(words.len());
        let wraps = part.words.iter().take(before);
        self.settings.extend(wraps.clone().filter(|word| is_assignment(word) || *word == "sudo").cloned());
        if wraps.clone().any(|word| matches!(program_name(word), "timeout" | "gtimeout")) {
            self.limit = wraps.filter_map(|word| parse_seconds(word)).next_back();
        }
        match program_name(head) {
            "cd" | "pushd" => {
                self.folder = self.folder.take().or_else(|| words.get(1).cloned());
            }
            "sleep" => self.waits = true,
            // The program behind `--` is the command that counts: `mise exec -- pkl format`.
            name if any_listed(SETUPS, |setup| setup == name) && !words.iter().any(|word| word == "--") => {
                self.setups.push(words.to_vec());
            }
            _ if words.iter().all(|word| is_assignment(word)) => self.settings.extend(words.iter().cloned()),
            _ if part.is_read_only() => self.looks.push(words.to_vec()),
            name => {
                self.is_inline |= is_inline_program(words);
                let in_place = matches!(name, "sed" | "perl" | "git")
                    && words
                        .iter()
                        .skip(1)
                        .any(|word| word.starts_with("-i") || word.starts_with("-pi") || word == "apply");
                self.edits |= part.writes || in_place || any_listed(FILE_TOOLS, |tool| tool == name);
                let kept = words.iter().filter(|word| !matches!(word.as_str(), "--no-color" | "--nocapture"));
                self.cores.push(kept.cloned().collect());
            }
        }
    }

    /// Returns the words of the last part that does something.
    pub(super) fn main_words(&self) -> &[String] {
        self.cores.last().map_or(&[], Vec::as_slice)
    }

    /// Returns the name of the main program, without its folder.
    pub(super) fn program_name(&self) -> &str {
        self.main_words().first().map_or("", |head| program_name(head))
    }

    /// Returns the words of the main part, or of the first part that looks if there is no other.
    pub(super) fn subject_words(&self) -> &[String] {
        if self.cores.is_empty() { self.looks.first().map_or(&[], Vec::as_slice) } else { self.main_words() }
    }

    /// Tells whether it only asks for help, a version, a list or a state.
    pub(super) fn is_query(&self) -> bool {
        !self.edits && !self.cores.is_empty() && self.cores.iter().all(|core| is_query_command(core))
    }

    /// Returns how `later` differs, or `None` if it does not do the same thing.
    pub(super) fn compare_with(&self, later: &Self) -> Option<CommandDifference> {
        let main = self.main_words();
        if main.is_empty() || self.is_script || later.is_script {
            return None;
        }
        if let Some(at) = later.cores.iter().position(|core| core == main) {
            let has_more =
                later.cores.iter().take(at).any(|core| !self.cores.contains(core) && !is_query_command(core))
                    || later.setups.iter().any(|setup| !self.setups.contains(setup))
                    || later.settings.iter().any(|setting| !self.settings.contains(setting));
            return Some(match () {
                () if has_more => CommandDifference::Before,
                () if later.folder.is_some() && later.folder != self.folder => CommandDifference::Folder,
                () if later.waits && !self.waits => CommandDifference::Wait,
                () => CommandDifference::None,
            });
        }
        later.cores.iter().find_map(|core| compare_words(main, core))
    }

    /// Returns how `later` does the same in another way, where less is certain: other values of flags, another verb of
    /// an interchangeable program, or another program for the same thing.
    pub(super) fn compare_loosely(&self, later: &Self) -> Option<CommandDifference> {
        let main = self.main_words();
        if main.is_empty() || self.is_script || later.is_script || later.edits {
            return None;
        }
        later.cores.iter().find_map(|core| {
            let is_kin = |failed: &[String], worked: &[String]| match (
                strip_flags(failed).as_slice(),
                strip_flags(worked).as_slice(),
            ) {
                ([head, verb, rest @ ..], [other, others_verb, others @ ..]) => {
                    // One program has two interchangeable verbs only where packages are installed.
                    (are_interchangeable(program_name(head), program_name(other))
                        || (program_name(head) == program_name(other) && verb == "ci" && others_verb == "install"))
                        && are_equivalent_verbs(verb, others_verb)
                        && rest == others
                }
                _ => false,
            };
            match () {
                () if differ_only_in_flags(main, core) => Some(CommandDifference::Flags),
                () if is_kin(main, core) => Some(CommandDifference::Program),
                () => None,
            }
        })
    }

    /// Tells whether `later` is another program for the same thing: both name the same file, address or package.
    pub(super) fn shares_object(&self, later: &Self) -> bool {
        const WORDS: &str =
            "install|build|run|test|add|start|exec|update|upgrade|sync|all|main|master|origin|true|false|deploy|apply";
        let objects = |words: &[String]| {
            let objects = words
                .iter()
                .skip(1)
                .filter(|word| !is_flag(word) && word.len() >= 3 && !any_listed(WORDS, |known| known == *word));
            objects.cloned().collect::<Vec<_>>()
        };
        let (main, other) = (self.subject_words(), later.subject_words());
        let (mine, others) = (objects(main), objects(other));
        let is_other = main.first().map(|head| program_name(head)) != other.first().map(|head| program_name(head));
        is_other && !self.is_script && !later.is_script && mine.iter().any(|word| others.contains(word))
    }
}

/// Returns the words that are no flags, without a leading `./`.
fn strip_flags(words: &[String]) -> Vec<String> {
    words.iter().filter(|word| !is_flag(word)).map(|word| word.strip_prefix("./").unwrap_or(word).to_owned()).collect()
}

/// Returns how one command differs from another that does the same, or `None` if it does something else.
fn compare_words(failed: &[String], worked: &[String]) -> Option<CommandDifference> {
    let (failed_bare, worked_bare) = (strip_flags(failed), strip_flags(worked));
    if failed_bare == worked_bare {
        return Some(CommandDifference::Flags);
    }
    let (head, rest) = failed_bare.split_first()?;
    let (other, others) = worked_bare.split_first()?;
    // `pytest -q` and `uv run pytest -q`, `mvn test` and `./mvnw test`, `npm install` and `pnpm install`.
    let is_wrapped = worked_bare.len() > failed_bare.len() && worked_bare.ends_with(&failed_bare);
    let is_kin = rest == others
        && (are_interchangeable(program_name(head), program_name(other)) || program_name(head) == program_name(other));
    let is_module = worked_bare.len() == failed_bare.len() + 1
        && worked_bare.ends_with(rest)
        && are_interchangeable(program_name(head), program_name(other));
    (is_wrapped || is_kin || is_module).then_some(CommandDifference::Program)
}

/// Tells whether two verbs of interchangeable programs mean the same.
fn are_equivalent_verbs(one: &str, other: &str) -> bool {
    const VERBS: &[&[&str]] = &[
        &["install", "i", "ci", "add", "sync", "get", "require", "restore", "update"],
        &["test", "t"],
        &["run", "exec", "x", "dlx", "start", "serve", "dev"],
        &["build", "compile", "package", "assemble"],
    ];
    one == other || VERBS.iter().any(|verbs| verbs.contains(&one) && verbs.contains(&other))
}

/// Tells whether two commands differ only in flags and the values of flags.
fn differ_only_in_flags(failed: &[String], worked: &[String]) -> bool {
    let apart = |one: &[String], other: &[String]| {
        let mut values = one.iter().enumerate().filter(|(_, word)| !other.contains(word));
        values.all(|(at, word)| {
            let flag = at
                .checked_sub(1)
                .and_then(|at| one.get(at))
                .filter(|flag| flag.starts_with('-') && !flag.contains('='));
            let is_value =
                flag.is_some_and(|flag| !other.contains(flag) && (flag.starts_with("--") || !word.contains('/')));
            is_flag(word) || is_value
        })
    };
    let is_same_start = failed.len() >= 2 && failed.first() == worked.first();
    is_same_start && !is_narrower(failed, worked) && apart(failed, worked) && apart(worked, failed)
}

/// Tells whether a command does only a part of what another one does.
fn is_narrower(whole: &[String], part: &[String]) -> bool {
    const NARROWING: &str = "-k|-m|-t|-g|--grep|--filter|--testnamepattern|--test-name-pattern|-run|--run|--only|--last-failed|--lf|\
        --exclude|--ignore|--deselect|--skip|--tests|--lib|--bin|-x|--collect-only|--dry-run|--help|-h|--version|--no-run|--list";
    let mut added = part.iter().filter(|word| word.starts_with('-') && !whole.contains(word)).peekable();
    added.peek().is_some()
        && added.any(|flag| {
            let name = flag.split('=').next().unwrap_or(flag).to_lowercase();
            any_listed(NARROWING, |known| known == name)
        })
}

/// Tells whether two different programs can replace each other.
fn are_interchangeable(one: &str, other: &str) -> bool {
    const KIN: &[&[&str]] = &[
        &["npm", "pnpm", "yarn", "bun", "npx", "bunx"],
        &["python", "python3", "py", "uv", "python2"],
        &["pip", "pip3", "uv", "pipx", "python", "python3", "poetry", "conda"],
        &["docker-compose", "docker", "podman"],
        &["make", "gmake", "just", "task"],
        &["mvn", "mvnw"],
        &["gradle", "gradlew"],
        &["node", "bun", "deno", "tsx", "ts-node"],
        &["cargo", "cross"],
        &["jest", "vitest"],
        &["vim", "nvim"],
        &["gcc", "clang", "cc"],
        &["g++", "clang++", "c++"],
        &["grep", "rg"],
        &["apt", "apt-get", "brew", "dnf", "yum", "apk", "pacman", "snap"],
        &["curl", "wget"],
        &["terraform", "tofu"],
        &["ruby", "bundle", "rails"],
    ];
    one != other && KIN.iter().any(|kin| kin.contains(&one) && kin.contains(&other))
}

/// Parses a duration such as `90`, `90s` or `10m` into seconds.
fn parse_seconds(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(['s', 'm', 'h']);
    let number: u64 = digits.parse().ok()?;
    Some(match word.get(digits.len()..) {
        Some("m") => number.saturating_mul(60),
        Some("h") => number.saturating_mul(3600),
        _ => number,
    })
}

fn is_flag(word: &str) -> bool {
    word.starts_with('-') || word == "sudo" || is_assignment(word)
}

/// Tells whether a command carries a program, which nobody runs a second time.
fn is_script(command: &str) -> bool {
    const INLINE: &[&str] =
        &["python -c", "python3 -c", "node -e", "ruby -e", "perl -e", "php -r", "deno eval", "bun -e", "node --eval"];
    let is_loop = ["for ", "while ", "until "].iter().any(|start| command.trim_start().starts_with(start));
    is_loop
        || command.contains("<<")
        || INLINE.iter().any(|inline| command.contains(inline))
        || command.trim().lines().count() > 3
}
