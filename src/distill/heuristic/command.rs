//! Command lines: what they are about, and how two of them differ.

use super::purpose::{asks, is_inline};
use super::words::any;
use crate::context::{Part, parts};

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;

/// Parts that make ready for what follows.
const SETUPS: &str = "export|source|.|nvm|fnm|asdf|pyenv|rbenv|conda|mise|eval|set|unset|corepack";

/// Programs that change or move files by themselves. What they do to code is an edit.
const FILE_TOOLS: &str = "cp|mv|rm|mkdir|touch|ln|tee|patch|ed|truncate|tar|unzip";

/// How a program in the words of a command writes into files.
const WRITES: &str = "write(|write_text|write_bytes|writefile|writelines|appendfile|file.write|file_put_contents|put_bytes|\
    , 'w'|, \"w\"|,'w'|,\"w\"|, 'a'|os.replace|os.rename|renamesync|shutil.|unlink|fs.rm|fs.cp|copyfile|inplace|-pi|-i ";

/// A command line, taken apart as far as two of them need to be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// `NAME=value` before the command.
    pub(super) settings: Vec<String>,
    /// Parts that make ready: `export …`, `source …`.
    pub(super) setups: Vec<Vec<String>>,
    /// The folder it goes to first.
    pub(super) folder: Option<String>,
    /// What it does: the words of every part that does more than look.
    pub(super) cores: Vec<Vec<String>>,
    /// The words of its parts that only look.
    looks: Vec<Vec<String>>,
    /// Whether it waits first.
    pub(super) waits: bool,
    /// The seconds it is given.
    pub(super) limit: Option<u64>,
    /// Whether it carries a program of its own.
    pub(super) is_script: bool,
    /// Whether that program is one for an interpreter: it looks, or edits, and is never run again.
    pub(super) is_inline: bool,
    /// Whether it writes into a file or edits one.
    pub(super) edits: bool,
}

/// How a later command differs from an earlier one that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    /// Not at all.
    None,
    /// Something is set or run before it.
    Before,
    /// It runs in another folder.
    Folder,
    /// It has other flags.
    Flags,
    /// Another program, or one around it, does it.
    Program,
    /// It waits first.
    Wait,
}

impl Line {
    pub(super) fn read(command: &str) -> Self {
        let mut line = Self { is_script: is_script(command), ..Self::default() };
        for part in parts(command) {
            match part.words() {
                // What a shell is given to run is what is run.
                [shell, flag, script, ..]
                    if matches!(base(shell), "bash" | "sh" | "zsh")
                        && matches!(flag.as_str(), "-c" | "-lc" | "-ec") =>
                {
                    parts(script).iter().for_each(|part| line.take(part));
                }
                _ => line.take(&part),
            }
        }
        if line.is_inline {
            let lower = command.to_lowercase();
            line.edits |= any(WRITES, |writes| lower.contains(writes));
        }
        line
    }

    fn take(&mut self, part: &Part) {
        let words = part.words();
        let Some(head) = words.first() else { return };
        let before = part.all_words().len().saturating_sub(words.len());
        let wraps = part.all_words().iter().take(before);
        self.settings.extend(wraps.clone().filter(|word| is_setting(word) || *word == "sudo").cloned());
        if wraps.clone().any(|word| matches!(base(word), "timeout" | "gtimeout")) {
            self.limit = wraps.filter_map(|word| seconds(word)).next_back();
        }
        match base(head) {
            "cd" | "pushd" => {
                self.folder = self.folder.take().or_else(|| words.get(1).cloned());
            }
            "sleep" => self.waits = true,
            // What is run by them is what is done: `mise exec -- pkl format`.
            name if any(SETUPS, |setup| setup == name) && !words.iter().any(|word| word == "--") => {
                self.setups.push(words.to_vec());
            }
            _ if words.iter().all(|word| is_setting(word)) => self.settings.extend(words.iter().cloned()),
            _ if part.looks() => self.looks.push(words.to_vec()),
            name => {
                self.is_inline |= is_inline(words);
                let in_place = matches!(name, "sed" | "perl" | "git")
                    && words
                        .iter()
                        .skip(1)
                        .any(|word| word.starts_with("-i") || word.starts_with("-pi") || word == "apply");
                self.edits |= part.writes() || in_place || any(FILE_TOOLS, |tool| tool == name);
                let kept = words.iter().filter(|word| !matches!(word.as_str(), "--no-color" | "--nocapture"));
                self.cores.push(kept.cloned().collect());
            }
        }
    }

    /// What it is about: the last thing that it does.
    pub(super) fn main(&self) -> &[String] {
        self.cores.last().map_or(&[], Vec::as_slice)
    }

    /// The program that it is about.
    pub(super) fn program(&self) -> &str {
        self.main().first().map_or("", |head| base(head))
    }

    /// What it is about; of a line that only looks, the first thing that it looks at.
    pub(super) fn subject(&self) -> &[String] {
        if self.cores.is_empty() { self.looks.first().map_or(&[], Vec::as_slice) } else { self.main() }
    }

    /// Whether it only asks for help, a version, a list or a state.
    pub(super) fn asks(&self) -> bool {
        !self.edits && !self.cores.is_empty() && self.cores.iter().all(|core| asks(core))
    }

    /// How `later` differs, if it stands for the same thing.
    pub(super) fn difference(&self, later: &Self) -> Option<Difference> {
        let main = self.main();
        if main.is_empty() || self.is_script || later.is_script {
            return None;
        }
        if let Some(at) = later.cores.iter().position(|core| core == main) {
            let has_more = later.cores.iter().take(at).any(|core| !self.cores.contains(core) && !asks(core))
                || later.setups.iter().any(|setup| !self.setups.contains(setup))
                || later.settings.iter().any(|setting| !self.settings.contains(setting));
            return Some(match () {
                () if has_more => Difference::Before,
                () if later.folder.is_some() && later.folder != self.folder => Difference::Folder,
                () if later.waits && !self.waits => Difference::Wait,
                () => Difference::None,
            });
        }
        later.cores.iter().find_map(|core| different(main, core))
    }

    /// How `later` does the same in another way, where less is certain: other values of flags, another verb of a kindred
    /// program, or another program for the same thing.
    pub(super) fn stand_in(&self, later: &Self) -> Option<Difference> {
        let main = self.main();
        if main.is_empty() || self.is_script || later.is_script || later.edits {
            return None;
        }
        later.cores.iter().find_map(|core| {
            let is_kin = |failed: &[String], worked: &[String]| match (bare(failed).as_slice(), bare(worked).as_slice())
            {
                ([head, verb, rest @ ..], [other, others_verb, others @ ..]) => {
                    // One program has two verbs for one thing only where packages are installed.
                    (are_kin(base(head), base(other))
                        || (base(head) == base(other) && verb == "ci" && others_verb == "install"))
                        && are_same_verbs(verb, others_verb)
                        && rest == others
                }
                _ => false,
            };
            match () {
                () if is_flags_apart(main, core) => Some(Difference::Flags),
                () if is_kin(main, core) => Some(Difference::Program),
                () => None,
            }
        })
    }

    /// Whether `later` is another program for the same thing: both name the same file, address or package.
    pub(super) fn shares_object(&self, later: &Self) -> bool {
        const WORDS: &str =
            "install|build|run|test|add|start|exec|update|upgrade|sync|all|main|master|origin|true|false|deploy|apply";
        let objects = |words: &[String]| {
            let objects = words
                .iter()
                .skip(1)
                .filter(|word| !is_flag(word) && word.len() >= 3 && !any(WORDS, |known| known == *word));
            objects.cloned().collect::<Vec<_>>()
        };
        let (main, other) = (self.subject(), later.subject());
        let (mine, others) = (objects(main), objects(other));
        let is_other = main.first().map(|head| base(head)) != other.first().map(|head| base(head));
        is_other && !self.is_script && !later.is_script && mine.iter().any(|word| others.contains(word))
    }
}

/// The words that are no flags, with or without the sign for the folder one is in.
fn bare(words: &[String]) -> Vec<String> {
    words.iter().filter(|word| !is_flag(word)).map(|word| word.strip_prefix("./").unwrap_or(word).to_owned()).collect()
}

/// How one command differs from another that does the same.
fn different(failed: &[String], worked: &[String]) -> Option<Difference> {
    let (failed_bare, worked_bare) = (bare(failed), bare(worked));
    if failed_bare == worked_bare {
        return Some(Difference::Flags);
    }
    let (head, rest) = failed_bare.split_first()?;
    let (other, others) = worked_bare.split_first()?;
    // `pytest -q` and `uv run pytest -q`, `mvn test` and `./mvnw test`, `npm install` and `pnpm install`.
    let is_wrapped = worked_bare.len() > failed_bare.len() && worked_bare.ends_with(&failed_bare);
    let is_kin = rest == others && (are_kin(base(head), base(other)) || base(head) == base(other));
    let is_module =
        worked_bare.len() == failed_bare.len() + 1 && worked_bare.ends_with(rest) && are_kin(base(head), base(other));
    (is_wrapped || is_kin || is_module).then_some(Difference::Program)
}

/// Verbs by which kindred programs do the same.
fn are_same_verbs(one: &str, other: &str) -> bool {
    const VERBS: &[&[&str]] = &[
        &["install", "i", "ci", "add", "sync", "get", "require", "restore", "update"],
        &["test", "t"],
        &["run", "exec", "x", "dlx", "start", "serve", "dev"],
        &["build", "compile", "package", "assemble"],
    ];
    one == other || VERBS.iter().any(|verbs| verbs.contains(&one) && verbs.contains(&other))
}

/// Whether two commands differ in nothing but flags and what the flags are given.
fn is_flags_apart(failed: &[String], worked: &[String]) -> bool {
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

/// Whether a command does only a part of what another does.
fn is_narrower(whole: &[String], part: &[String]) -> bool {
    const NARROWING: &str = "-k|-m|-t|-g|--grep|--filter|--testnamepattern|--test-name-pattern|-run|--run|--only|--last-failed|--lf|\
        --exclude|--ignore|--deselect|--skip|--tests|--lib|--bin|-x|--collect-only|--dry-run|--help|-h|--version|--no-run|--list";
    let mut added = part.iter().filter(|word| word.starts_with('-') && !whole.contains(word)).peekable();
    added.peek().is_some()
        && added.any(|flag| {
            let name = flag.split('=').next().unwrap_or(flag).to_lowercase();
            any(NARROWING, |known| known == name)
        })
}

/// Programs that stand in for each other.
fn are_kin(one: &str, other: &str) -> bool {
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

/// `90`, `90s`, `10m`.
fn seconds(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(['s', 'm', 'h']);
    let number: u64 = digits.parse().ok()?;
    Some(match word.get(digits.len()..) {
        Some("m") => number.saturating_mul(60),
        Some("h") => number.saturating_mul(3600),
        _ => number,
    })
}

/// The program's name without its folder.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn is_flag(word: &str) -> bool {
    word.starts_with('-') || word == "sudo" || is_setting(word)
}

/// `NAME=value`.
pub(super) fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Whether a command carries a program: nobody runs such a one a second time.
fn is_script(command: &str) -> bool {
    const INLINE: &[&str] =
        &["python -c", "python3 -c", "node -e", "ruby -e", "perl -e", "php -r", "deno eval", "bun -e", "node --eval"];
    let is_loop = ["for ", "while ", "until "].iter().any(|start| command.trim_start().starts_with(start));
    is_loop
        || command.contains("<<")
        || INLINE.iter().any(|inline| command.contains(inline))
        || command.trim().lines().count() > 3
}
