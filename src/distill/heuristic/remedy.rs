//! What made a failure go away: the deeds between a command that failed and the same command when it passed.

use super::cause::Cause;
use super::command::{Difference, Line, is_setting};
use super::purpose::{asks, is_slip, target};
use super::scene::{Deed, Scene};
use super::shown::written;
use super::words::any;
use crate::context::{Action, Ended};

#[cfg(test)]
#[path = "remedy_tests.rs"]
mod tests;

/// How far behind a failure its remedy may come, in deeds.
const WITHIN: usize = 80;

/// How far behind a failure another wording of the command may come.
const NEAR: usize = 4;

/// The same for another command altogether, looks not counted.
const SOON: usize = 3;

/// More deeds than this between failure and success, and nobody knows which of them helped.
const MOST_DEEDS: usize = 2;

/// How many lines of an output are searched for the name of another command.
const HINT_LINES: usize = 400;

/// What made a failure go away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remedy {
    /// The last failure before it.
    pub(super) failed: usize,
    /// The deed that passed, or came further.
    pub(super) worked: usize,
    pub(super) how: How,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum How {
    /// The same was done in another way, after these had been done about the cause.
    Instead(Difference, Vec<usize>),
    /// These were done between: commands, or edits of settings.
    After(Vec<usize>),
    /// It was given more time, in seconds.
    MoreTime(u64),
    /// It was sent to the background.
    Background,
    /// It ran in this folder.
    In(String),
    /// Somebody waited.
    Wait,
    /// A person was asked, and it passed as it was.
    Person,
    /// These edits of code came between.
    Code(Vec<usize>),
    /// Nothing that the log shows.
    Nothing,
}

impl How {
    /// Whether it says what somebody could do.
    pub(super) fn is_clear(&self) -> bool {
        !matches!(self, Self::Code(_) | Self::Nothing)
    }
}

impl Remedy {
    /// The commands that a sentence about it tells.
    pub(super) fn commands<'s>(&self, scene: &'s Scene<'_>) -> Vec<&'s str> {
        let worked = [self.worked];
        let deeds = match &self.how {
            How::Instead(_, cures) => cures.iter().chain(&worked),
            How::After(deeds) => deeds.iter().chain(&[]),
            _ => [].iter().chain(&[]),
        };
        deeds.filter_map(|index| scene.deeds.get(*index)?.command()).collect()
    }
}

/// Whether what failed said that these should be done.
pub(super) fn is_told_after(scene: &Scene<'_>, failed: usize, deeds: &[usize]) -> bool {
    let Some(failed) = scene.deeds.get(failed) else { return false };
    let lines = deeds.iter().filter_map(|index| scene.deeds.get(*index)?.line.as_ref());
    lines.clone().count() > 0 && lines.clone().all(|line| is_told(failed, line.main()))
}

/// Whether all that was done was to build what had been edited before.
pub(super) fn is_rebuilt(scene: &Scene<'_>, failed: usize, deeds: &[usize]) -> bool {
    let is_build = |index: &usize| {
        let line = scene.deeds.get(*index).and_then(|deed| deed.line.as_ref());
        line.is_some_and(|line| line.main().iter().skip(1).any(|word| word == "build" || word == "compile"))
    };
    has_edited(scene, failed) && deeds.iter().all(is_build)
}

/// Whether the agent had edited anything before a deed.
fn has_edited(scene: &Scene<'_>, deed: usize) -> bool {
    let Some(start) = scene.deeds.get(deed) else { return false };
    let mut before = scene.deeds.iter().take(deed).filter(|one| one.place.trajectory == start.place.trajectory);
    before.any(|one| matches!(one.action, Action::Edit(_)) && one.has_passed())
}

/// Looks for what made the failure of a deed go away.
pub(super) fn find(scene: &Scene<'_>, failed: usize, cause: &Cause) -> Option<Remedy> {
    let start = scene.deeds.get(failed)?;
    let line = start.line.as_ref()?;
    let family = &start.fault()?.family;
    let is_of_words = matches!(cause, Cause::Flag | Cause::Target(_));
    let mut last = failed;
    for (at, deed) in scene.deeds.iter().enumerate().skip(failed + 1).take(WITHIN) {
        if deed.place.trajectory != start.place.trajectory {
            break;
        }
        let Some(later) = deed.line.as_ref().filter(|later| !later.asks() || line.asks()) else { continue };
        let in_parts = || (*cause == Cause::Time && is_part(line.main(), later.main())).then_some(Difference::Flags);
        let is_near = at <= last + NEAR;
        let other_words =
            || (is_of_words && is_near && is_reworded(line.main(), later.main())).then_some(Difference::Flags);
        let Some(difference) = line.difference(later).or_else(in_parts).or_else(other_words) else { continue };
        match &deed.ended {
            Ended::Failed(fault) if fault.family == *family => last = at,
            // Another complaint of the same command: the first one is gone.
            Ended::Failed(fault)
                if cause.is_around() && !cause.is_limit() && Cause::read(fault.class, &fault.headline) != *cause =>
            {
                let how = how(scene, (last, at), difference, cause);
                return how.is_clear().then_some(Remedy { failed: last, worked: at, how });
            }
            Ended::Failed(_) => {}
            Ended::Passed => {
                return Some(Remedy { failed: last, worked: at, how: how(scene, (last, at), difference, cause) });
            }
            Ended::Unknown if *cause == Cause::Time && deed.is_background() => {
                return Some(Remedy { failed: last, worked: at, how: How::Background });
            }
            Ended::Unknown => {}
        }
    }
    another_way(scene, failed, cause)
}

/// Another command that did the job soon after one that failed and was never run again.
fn another_way(scene: &Scene<'_>, failed: usize, cause: &Cause) -> Option<Remedy> {
    let start = scene.deeds.get(failed)?;
    let line = start.line.as_ref()?;
    let same_run = |deed: &&Deed<'_>| deed.place.trajectory == start.place.trajectory;
    let later = scene.deeds.iter().enumerate().skip(failed + 1).take_while(|(_, deed)| same_run(deed));
    // A program that looks is replaced by another that looks.
    let is_passed_over = |deed: &Deed<'_>| deed.is_look && !start.is_look;
    let mut tried = 0;
    for (at, deed) in later.filter(|(_, deed)| !is_passed_over(deed)) {
        let Some(other) = deed.line.as_ref().filter(|other| !other.asks()) else {
            match deed.action {
                Action::Edit(_) if deed.has_passed() => return None,
                _ => continue,
            }
        };
        tried += 1;
        if tried > SOON {
            return None;
        }
        if !deed.has_passed() {
            continue;
        }
        let difference = line.stand_in(other).filter(|difference| is_real(*difference, start, deed, cause));
        let is_target = tried == 1 && is_other_target(scene, (failed, at), cause);
        if difference.is_some() || is_target || is_other_means(start, deed, cause) {
            let how = How::Instead(difference.unwrap_or(Difference::Program), Vec::new());
            return Some(Remedy { failed, worked: at, how });
        }
    }
    None
}

/// Whether another script or target stands in for one that is missing: it was looked up between, and is no slip set right.
fn is_other_target(scene: &Scene<'_>, (failed, worked): (usize, usize), cause: &Cause) -> bool {
    let words = |at: usize| scene.deeds.get(at).and_then(|deed| deed.line.as_ref()).map(Line::main);
    let (Cause::Target(_), Some(before), Some(after)) = (cause, words(failed), words(worked)) else { return false };
    let (Some((runner, missing)), Some((other, found))) = (target(before), target(after)) else { return false };
    let between = scene.deeds.iter().take(worked).skip(failed);
    let mut outputs = between.filter_map(|deed| deed.output).flat_map(|output| output.text.lines().take(HINT_LINES));
    let is_it = |word: &str| {
        let word = word.trim_end_matches(':');
        word == found || word.rsplit(':').next() == Some(found)
    };
    let is_cut = |c: char| c.is_whitespace() || "\"'`,;".contains(c);
    let mut is_listed = || outputs.any(|line| line.split(is_cut).any(is_it));
    runner == other && missing != found && !is_slip(missing, found) && is_listed()
}

/// Whether a command of another kind was run for the same end: for the same thing, for the same target, or because what
/// failed said so itself.
fn is_other_means(failed: &Deed<'_>, worked: &Deed<'_>, cause: &Cause) -> bool {
    let (Some(line), Some(other), Some(run)) = (&failed.line, &worked.line, worked.command()) else { return false };
    let lower = run.to_lowercase();
    let is_cure = !cause.cures().is_empty() && any(cause.cures(), |word| lower.contains(word));
    let is_command = !other.subject().is_empty() && !other.edits && !other.is_script && !line.edits;
    // A slip of the hand that was set right.
    let head = other.subject().first().map_or("", |head| super::command::base(head));
    let is_slip =
        matches!(cause, Cause::Program(Some(name)) if is_slip(name, head) && !head.starts_with(name.as_str()));
    if !is_command || is_slip || (is_cure && !matches!(cause, Cause::Network | Cause::Patience)) {
        return false;
    }
    let program = line.subject().first().map_or("", |head| super::command::base(head));
    let is_missing = matches!(cause, Cause::Program(Some(name)) if name == program);
    let is_barred = is_missing
        || matches!(cause, Cause::Permission | Cause::Login | Cause::Version | Cause::Patience | Cause::Network);
    let target = line.main().iter().skip(1).rfind(|word| !word.starts_with('-') && word.len() >= 4);
    let is_same_target = matches!(cause, Cause::Flag | Cause::Target(_))
        && !is_less(line.main(), other.main())
        && target.is_some_and(|target| other.main().iter().any(|word| word.contains(target)));
    (is_barred && line.shares_object(other)) || is_same_target || is_told(failed, other.main())
}

/// Whether the output of a command that failed names the command that worked.
fn is_told(failed: &Deed<'_>, worked: &[String]) -> bool {
    const HINTS: &str = "use |instead|run |try |via |through ";
    let Some(output) = failed.output else { return false };
    let start = match worked {
        [only] => only.clone(),
        [head, ..] if head.contains('/') => head.clone(),
        [head, verb, ..] => format!("{head} {verb}"),
        [] => return false,
    };
    let is_new = failed.command().is_some_and(|run| !run.contains(&start));
    let mut lines = output.text.lines().take(HINT_LINES).filter(|line| line.len() < 600);
    is_new
        && start.len() >= 4
        && lines.any(|line| line.contains(&start) && any(HINTS, |hint| line.to_lowercase().contains(hint)))
}

/// Whether a command is another with words taken out or put in, as a value goes with its flag. What only leaves words out
/// that belong to no flag looks at less, and what asks looks at nothing.
fn is_reworded(failed: &[String], worked: &[String]) -> bool {
    let is_same_program = !failed.is_empty() && failed.first() == worked.first();
    let bare = |words: &[String]| words.iter().filter(|word| !word.starts_with('-')).cloned().collect::<Vec<_>>();
    let (bare_failed, bare_worked) = (bare(failed), bare(worked));
    let (fewer, more) =
        if bare_failed.len() < bare_worked.len() { (bare_failed, bare_worked) } else { (bare_worked, bare_failed) };
    is_same_program
        && !is_less(failed, worked)
        && !asks(worked)
        && fewer.len() >= 2
        && more.len() - fewer.len() <= 2
        && fewer.iter().all(|word| more.contains(word))
}

/// Whether a command only leaves words of another out, and not as a value goes with its flag.
fn is_less(failed: &[String], worked: &[String]) -> bool {
    let goes_with_flag = |(at, word): (usize, &String)| {
        let flag = at.checked_sub(1).and_then(|at| failed.get(at));
        worked.contains(word)
            || word.starts_with('-')
            || flag.is_some_and(|flag| flag.starts_with('-') && !worked.contains(flag))
    };
    worked.iter().all(|word| failed.contains(word)) && !failed.iter().enumerate().all(goes_with_flag)
}

/// Whether a command does a part of what another does: the same words and more.
fn is_part(whole: &[String], part: &[String]) -> bool {
    whole.len() >= 2 && part.len() > whole.len() && part.starts_with(whole)
}

fn how(scene: &Scene<'_>, (failed, worked): (usize, usize), difference: Difference, cause: &Cause) -> How {
    let (Some(before), Some(after)) = (scene.deeds.get(failed), scene.deeds.get(worked)) else { return How::Nothing };
    if *cause == Cause::Time {
        if after.is_background() && !before.is_background() {
            return How::Background;
        }
        let limit = |deed: &Deed<'_>| {
            deed.line.as_ref().and_then(|line| line.limit).or_else(|| deed.limit().map(|ms| ms / 1000))
        };
        if let Some(limit) = limit(after).filter(|given| limit(before).is_none_or(|least| *given > least)) {
            return How::MoreTime(limit);
        }
    }
    // What was no longer set may have been all that was wrong.
    if before
        .line
        .as_ref()
        .zip(after.line.as_ref())
        .is_some_and(|(failed, worked)| failed.settings.iter().any(|setting| !worked.settings.contains(setting)))
    {
        return How::Nothing;
    }
    let between = Between::of(scene, failed, worked, cause);
    let edits = after.line.as_ref().is_some_and(|line| line.edits)
        || after.command().is_some_and(|run| is_fixer(&run.to_lowercase()));
    if edits && !cause.is_around() {
        return How::Code(vec![worked]);
    }
    if difference == Difference::Folder && between.edits.is_empty() {
        return after.line.as_ref().and_then(|line| line.folder.clone()).map_or(How::Nothing, How::In);
    }
    if let Some(folder) = after.folder().filter(|folder| before.folder().is_some_and(|other| other != *folder))
        && between.is_empty()
    {
        return How::In(folder.to_owned());
    }
    if matches!(difference, Difference::Before | Difference::Program | Difference::Flags)
        && (between.edits.is_empty() || cause.is_around())
        && is_real(difference, before, after, cause)
    {
        return match difference {
            // Other flags beside what does something about the cause say little.
            Difference::Flags if !between.cures.is_empty() && *cause != Cause::Flag => How::After(between.cures),
            // Who finds another way to a program that is missing needs nothing else.
            Difference::Program if matches!(cause, Cause::Program(_)) => How::Instead(difference, Vec::new()),
            _ => How::Instead(difference, between.cures),
        };
    }
    if !between.cures.is_empty() && (cause.is_around() || between.edits.is_empty()) {
        return How::After(between.cures);
    }
    if (difference == Difference::Wait || between.waited) && between.is_empty() {
        return How::Wait;
    }
    let is_of_settings = |index: &usize| match scene.deeds.get(*index).map(|deed| &deed.action) {
        Some(Action::Edit(changes)) => !changes.is_empty() && changes.iter().all(|change| is_settings(&change.path)),
        _ => false,
    };
    match between {
        // Code that nobody had touched, and that settings alone made pass.
        Between { edits, .. }
            if !edits.is_empty() && edits.iter().all(is_of_settings) && !has_edited(scene, failed) =>
        {
            How::After(edits)
        }
        Between { edits, .. } if !edits.is_empty() => How::Code(edits),
        Between { others, .. } if !others.is_empty() && others.len() <= MOST_DEEDS => How::After(others),
        Between { others, .. } if others.is_empty() && scene.is_answered(before, after) => How::Person,
        _ => How::Nothing,
    }
}

/// Whether another way of running a check says something: a narrower check that passes says nothing.
fn is_real(difference: Difference, before: &Deed<'_>, after: &Deed<'_>, cause: &Cause) -> bool {
    const TELLING: &str = "test-threads=1|runinband|-j1|-j 1|--maxworkers|-n0|-n 0|--features|--all-features|--no-cache|--force|\
        --no-parallel|--serial|-p 1|--experimental|--legacy|--openssl|--no-daemon|--profile|--config";
    if !before.is_check || cause.is_around() || difference != Difference::Flags {
        return true;
    }
    let words = |deed: &Deed<'_>| deed.command().unwrap_or_default().to_lowercase();
    any(TELLING, |flag| words(after).contains(flag) && !words(before).contains(flag))
}

/// What was done between a failure and a success.
#[derive(Debug, Default)]
struct Between {
    /// What does something about the cause.
    cures: Vec<usize>,
    /// Other commands that changed something.
    others: Vec<usize>,
    /// Edits of code.
    edits: Vec<usize>,
    waited: bool,
}

impl Between {
    fn of(scene: &Scene<'_>, failed: usize, worked: usize, cause: &Cause) -> Self {
        let mut between = Self::default();
        let program = scene.deeds.get(failed).and_then(|deed| deed.line.as_ref()).map_or("", |line| line.program());
        for (at, deed) in scene.deeds.iter().enumerate().take(worked).skip(failed + 1) {
            between.take(at, deed, cause, program);
        }
        // The last that may have helped did.
        let keep = |deeds: &mut Vec<usize>| {
            let surplus = deeds.len().saturating_sub(MOST_DEEDS);
            deeds.drain(..surplus);
        };
        keep(&mut between.cures);
        between
    }

    fn take(&mut self, at: usize, deed: &Deed<'_>, cause: &Cause, program: &str) {
        match &deed.action {
            Action::Edit(changes) if deed.has_passed() => {
                let is_settings = !changes.is_empty() && changes.iter().all(|change| is_settings(&change.path));
                match is_settings && cause.is_around() {
                    true => self.cures.push(at),
                    false => self.edits.push(at),
                }
            }
            Action::Run { command } if !deed.is_look => {
                let Some(line) = deed.line.as_ref().filter(|line| !line.asks()) else { return };
                if line.is_inline {
                    if line.edits && deed.has_passed() {
                        self.edits.push(at);
                    }
                    return;
                }
                let is_service = matches!(cause, Cause::Service | Cause::Network);
                let is_done = deed.has_passed() || (is_service && deed.ended == Ended::Unknown);
                if !is_done || is_bookkeeping(line.main()) {
                    return;
                }
                // What something is set to says nothing of what is done.
                let words = command.split_whitespace().filter(|word| !is_setting(word));
                let lower = words.collect::<Vec<_>>().join(" ").to_lowercase();
                let named = match cause {
                    Cause::Variable(Some(name)) | Cause::Name(name) => command.contains(name.as_str()),
                    _ => false,
                };
                let is_cure = cause.is_around() && (named || any(cause.cures(), |word| lower.contains(word)));
                let written = written(command);
                match () {
                    () if written.is_some_and(|path| !(cause.is_around() && is_settings(path))) => self.edits.push(at),
                    () if written.is_some() => self.cures.push(at),
                    () if is_cure && !(deed.is_check && line.program() == program) => self.cures.push(at),
                    () if deed.is_check && !is_maker(&lower) => {}
                    () if !cause.is_around() && (line.edits || is_fixer(&lower) || is_own_script(line.main())) => {
                        self.edits.push(at);
                    }
                    () => self.others.push(at),
                }
            }
            Action::Run { .. } => self.waited |= deed.line.as_ref().is_some_and(|line| line.waits),
            _ => {}
        }
    }

    fn is_empty(&self) -> bool {
        self.cures.is_empty() && self.others.is_empty() && self.edits.is_empty()
    }
}

/// Formatters, fixers and those who accept what came out: they edit.
fn is_fixer(lower: &str) -> bool {
    const FIXERS: &str =
        "fmt|format|--fix|--write|black|prettier|isort|autofix|:fix| -u|--update|snapshot|accept|codemod";
    any(FIXERS, |word| lower.contains(word))
}

/// A script of the agent's own, which may do anything.
fn is_own_script(words: &[String]) -> bool {
    let is_runner = words.first().is_some_and(|head| {
        matches!(
            super::command::base(head),
            "python" | "python3" | "node" | "ruby" | "perl" | "bash" | "sh" | "deno" | "tsx"
        )
    });
    is_runner && words.get(1).is_some_and(|file| file.contains('.') && !file.ends_with("manage.py"))
}

/// Checks that make something on the way.
fn is_maker(lower: &str) -> bool {
    ["build", "generate", "codegen", "prepare", "compile"].iter().any(|word| lower.contains(word))
}

/// Git's own business mends nothing but what is about git.
fn is_bookkeeping(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["git", verb, ..] => !matches!(*verb, "submodule" | "lfs" | "config" | "remote" | "gc" | "prune" | "worktree"),
        ["mkdir", ..] => true,
        _ => false,
    }
}

/// A file that sets something up, and is no code.
pub(super) fn is_settings(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    const NAMES: &str = "makefile|dockerfile|gemfile|procfile|go.mod|pipfile|justfile|vagrantfile|jenkinsfile|build.gradle|\
        cmakelists.txt|requirements.txt|rust-toolchain|hosts";
    const ENDINGS: &str = ".toml|.yml|.yaml|.ini|.cfg|.conf|.env|.lock|.properties|.tfvars|.kts|.nix|.gradle";
    any(NAMES, |known| known == name)
        || any(ENDINGS, |ending| name.ends_with(ending))
        || (name.starts_with('.') && !name.ends_with(".js") && !name.ends_with(".ts"))
        || name.starts_with(".env")
        || matches!(
            name.as_str(),
            "package.json" | "tsconfig.json" | "composer.json" | "settings.json" | "launch.json" | "pom.xml"
        )
        || name.contains(".config.")
        || name.starts_with("requirements")
}
