//! The remedy of a failure: the actions between a failed command and its later success.

use super::action_timeline::{ActionTimeline, AgentAction};
use super::command_comparison::{CommandDifference, ComparableCommand};
use super::command_purpose::{find_run_target, is_query_command, is_typo};
use super::displayed_command::find_heredoc_target;
use super::failure_cause::FailureCause;
use super::sentence_text::any_listed;
use crate::context::{CallOutcome, ToolAction};
use crate::text::shell_lexer::{is_assignment, program_name};

#[cfg(test)]
#[path = "remedy_tests.rs"]
mod tests;

/// The most actions between a failure and its remedy.
const WITHIN: usize = 80;

/// The most actions between a failure and another wording of the command.
const NEAR: usize = 4;

/// The most other commands that are tried after a failure, not counting those that only look.
const SOON: usize = 3;

/// The most actions between failure and success of which one can be named as the remedy.
const MOST_DEEDS: usize = 2;

/// The number of lines of an output that are searched for the name of another command.
const HINT_LINES: usize = 400;

/// The remedy that made a failure go away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FailureRemedy {
    /// The index of the last failure before it.
    pub(super) failed: usize,
    /// The index of the action that passed, or got further.
    pub(super) worked: usize,
    pub(super) how: RemedyKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RemedyKind {
    /// It was done in another way, after these actions had addressed the cause.
    Instead(CommandDifference, Vec<usize>),
    /// These actions were done between: commands, or edits of settings.
    After(Vec<usize>),
    /// It was given more time, in seconds.
    MoreTime(u64),
    /// It was sent to the background.
    Background,
    /// It ran in this folder.
    In(String),
    /// The agent waited before it.
    Wait,
    /// The user was asked, and it passed unchanged.
    Person,
    /// These edits of code came between.
    Code(Vec<usize>),
    /// The log shows no remedy.
    Nothing,
}

impl RemedyKind {
    /// Tells whether it says what an agent could do.
    pub(super) fn is_actionable(&self) -> bool {
        !matches!(self, Self::Code(_) | Self::Nothing)
    }
}

impl FailureRemedy {
    /// Returns the commands that a lesson about the remedy names.
    pub(super) fn named_commands<'s>(&self, timeline: &'s ActionTimeline<'_>) -> Vec<&'s str> {
        let worked = [self.worked];
        let actions = match &self.how {
            RemedyKind::Instead(_, cures) => cures.iter().chain(&worked),
            RemedyKind::After(actions) => actions.iter().chain(&[]),
            _ => [].iter().chain(&[]),
        };
        actions.filter_map(|index| timeline.actions.get(*index)?.command()).collect()
    }
}

/// Tells whether the output of the failure itself suggested these actions.
pub(super) fn are_suggested_by_failure(timeline: &ActionTimeline<'_>, failed: usize, actions: &[usize]) -> bool {
    let Some(failed) = timeline.actions.get(failed) else { return false };
    let lines = actions.iter().filter_map(|index| timeline.actions.get(*index)?.line.as_ref());
    lines.clone().count() > 0 && lines.clone().all(|line| is_suggested_in_output(failed, line.main_words()))
}

/// Tells whether the actions only rebuilt what had been edited before.
pub(super) fn is_only_rebuild(timeline: &ActionTimeline<'_>, failed: usize, actions: &[usize]) -> bool {
    let is_build = |index: &usize| {
        let line = timeline.actions.get(*index).and_then(|agent_action| agent_action.line.as_ref());
        line.is_some_and(|line| line.main_words().iter().skip(1).any(|word| word == "build" || word == "compile"))
    };
    has_edited_before(timeline, failed) && actions.iter().all(is_build)
}

/// Tells whether the agent had edited anything before an action.
fn has_edited_before(timeline: &ActionTimeline<'_>, agent_action: usize) -> bool {
    let Some(start) = timeline.actions.get(agent_action) else { return false };
    let mut before =
        timeline.actions.iter().take(agent_action).filter(|one| one.place.trajectory == start.place.trajectory);
    before.any(|one| matches!(one.action, ToolAction::Edit(_)) && one.has_passed())
}

/// Looks for what made the failure of an action go away.
pub(super) fn find_remedy(timeline: &ActionTimeline<'_>, failed: usize, cause: &FailureCause) -> Option<FailureRemedy> {
    let start = timeline.actions.get(failed)?;
    let line = start.line.as_ref()?;
    let family = &start.failure()?.family;
    let is_of_words = matches!(cause, FailureCause::Flag | FailureCause::Target(_));
    let mut last = failed;
    for (at, agent_action) in timeline.actions.iter().enumerate().skip(failed + 1).take(WITHIN) {
        if agent_action.place.trajectory != start.place.trajectory {
            break;
        }
        let Some(later) = agent_action.line.as_ref().filter(|later| !later.is_query() || line.is_query()) else {
            continue;
        };
        let in_parts = || {
            (*cause == FailureCause::Time && is_partial_repeat(line.main_words(), later.main_words()))
                .then_some(CommandDifference::Flags)
        };
        let is_near = at <= last + NEAR;
        let other_words = || {
            (is_of_words && is_near && is_reworded(line.main_words(), later.main_words()))
                .then_some(CommandDifference::Flags)
        };
        let Some(difference) = line.compare_with(later).or_else(in_parts).or_else(other_words) else { continue };
        match &agent_action.ended {
            CallOutcome::Failed(fault) if fault.family == *family => last = at,
            // The same command fails for another reason, so the first failure is gone.
            CallOutcome::Failed(fault)
                if cause.is_environmental()
                    && !cause.is_limit()
                    && FailureCause::classify(fault.class, &fault.headline) != *cause =>
            {
                let how = determine_remedy_kind(timeline, (last, at), difference, cause);
                return how.is_actionable().then_some(FailureRemedy { failed: last, worked: at, how });
            }
            CallOutcome::Failed(_) => {}
            CallOutcome::Passed => {
                return Some(FailureRemedy {
                    failed: last,
                    worked: at,
                    how: determine_remedy_kind(timeline, (last, at), difference, cause),
                });
            }
            CallOutcome::Unknown if *cause == FailureCause::Time && agent_action.is_background() => {
                return Some(FailureRemedy { failed: last, worked: at, how: RemedyKind::Background });
            }
            CallOutcome::Unknown => {}
        }
    }
    find_alternative(timeline, failed, cause)
}

/// Finds another command that succeeded soon after one that failed and was never run again.
fn find_alternative(timeline: &ActionTimeline<'_>, failed: usize, cause: &FailureCause) -> Option<FailureRemedy> {
    let start = timeline.actions.get(failed)?;
    let line = start.line.as_ref()?;
    let same_run = |agent_action: &&AgentAction<'_>| agent_action.place.trajectory == start.place.trajectory;
    let later =
        timeline.actions.iter().enumerate().skip(failed + 1).take_while(|(_, agent_action)| same_run(agent_action));
    // A program that only looks is replaced by another one that only looks.
    let is_passed_over = |agent_action: &AgentAction<'_>| agent_action.is_look && !start.is_look;
    let mut tried = 0;
    for (at, agent_action) in later.filter(|(_, agent_action)| !is_passed_over(agent_action)) {
        let Some(other) = agent_action.line.as_ref().filter(|other| !other.is_query()) else {
            match agent_action.action {
                ToolAction::Edit(_) if agent_action.has_passed() => return None,
                _ => continue,
            }
        };
        tried += 1;
        if tried > SOON {
            return None;
        }
        if !agent_action.has_passed() {
            continue;
        }
        let difference = line
            .compare_loosely(other)
            .filter(|difference| is_meaningful_change(*difference, start, agent_action, cause));
        let is_target = tried == 1 && is_substitute_target(timeline, (failed, at), cause);
        if difference.is_some() || is_target || is_substitute_command(start, agent_action, cause) {
            let how = RemedyKind::Instead(difference.unwrap_or(CommandDifference::Program), Vec::new());
            return Some(FailureRemedy { failed, worked: at, how });
        }
    }
    None
}

/// Tells whether another script or target replaces a missing one: an output between names it, and it is no typo fix.
fn is_substitute_target(timeline: &ActionTimeline<'_>, (failed, worked): (usize, usize), cause: &FailureCause) -> bool {
    let words = |at: usize| {
        timeline.actions.get(at).and_then(|agent_action| agent_action.line.as_ref()).map(ComparableCommand::main_words)
    };
    let (FailureCause::Target(_), Some(before), Some(after)) = (cause, words(failed), words(worked)) else {
        return false;
    };
    let (Some((runner, missing)), Some((other, found))) = (find_run_target(before), find_run_target(after)) else {
        return false;
    };
    let between = timeline.actions.iter().take(worked).skip(failed);
    let mut outputs =
        between.filter_map(|agent_action| agent_action.output).flat_map(|output| output.text.lines().take(HINT_LINES));
    let is_it = |word: &str| {
        let word = word.trim_end_matches(':');
        word == found || word.rsplit(':').next() == Some(found)
    };
    let is_cut = |c: char| c.is_whitespace() || "\"'`,;".contains(c);
    let mut is_listed = || outputs.any(|line| line.split(is_cut).any(is_it));
    runner == other && missing != found && !is_typo(missing, found) && is_listed()
}

/// Tells whether a different command was run for the same purpose: for the same object, for the same target, or because
/// the output of the failure suggested it.
fn is_substitute_command(failed: &AgentAction<'_>, worked: &AgentAction<'_>, cause: &FailureCause) -> bool {
    let (Some(line), Some(other), Some(run)) = (&failed.line, &worked.line, worked.command()) else { return false };
    let lower = run.to_lowercase();
    let is_cure = !cause.remedy_words().is_empty() && any_listed(cause.remedy_words(), |word| lower.contains(word));
    let is_command = !other.subject_words().is_empty() && !other.edits && !other.is_script && !line.edits;
    // A corrected typo is no substitute.
    let head = other.subject_words().first().map_or("", |head| program_name(head));
    let is_slip =
        matches!(cause, FailureCause::Program(Some(name)) if is_typo(name, head) && !head.starts_with(name.as_str()));
    if !is_command || is_slip || (is_cure && !matches!(cause, FailureCause::Network | FailureCause::Patience)) {
        return false;
    }
    let program = line.subject_words().first().map_or("", |head| program_name(head));
    let is_missing = matches!(cause, FailureCause::Program(Some(name)) if name == program);
    let is_barred = is_missing
        || matches!(
            cause,
            FailureCause::Permission
                | FailureCause::Login
                | FailureCause::Version
                | FailureCause::Patience
                | FailureCause::Network
        );
    let target = line.main_words().iter().skip(1).rfind(|word| !word.starts_with('-') && word.len() >= 4);
    let is_same_target = matches!(cause, FailureCause::Flag | FailureCause::Target(_))
        && !only_drops_words(line.main_words(), other.main_words())
        && target.is_some_and(|target| other.main_words().iter().any(|word| word.contains(target)));
    (is_barred && line.shares_object(other)) || is_same_target || is_suggested_in_output(failed, other.main_words())
}

/// Tells whether the output of a failed command suggests the command that worked.
fn is_suggested_in_output(failed: &AgentAction<'_>, worked: &[String]) -> bool {
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
        && lines.any(|line| line.contains(&start) && any_listed(HINTS, |hint| line.to_lowercase().contains(hint)))
}

/// Tells whether a command is another one with words removed or added, as a value goes with its flag. A command that
/// only drops words without a flag does less, and one that only queries does nothing.
fn is_reworded(failed: &[String], worked: &[String]) -> bool {
    let is_same_program = !failed.is_empty() && failed.first() == worked.first();
    let bare = |words: &[String]| words.iter().filter(|word| !word.starts_with('-')).cloned().collect::<Vec<_>>();
    let (bare_failed, bare_worked) = (bare(failed), bare(worked));
    let (fewer, more) =
        if bare_failed.len() < bare_worked.len() { (bare_failed, bare_worked) } else { (bare_worked, bare_failed) };
    is_same_program
        && !only_drops_words(failed, worked)
        && !is_query_command(worked)
        && fewer.len() >= 2
        && more.len() - fewer.len() <= 2
        && fewer.iter().all(|word| more.contains(word))
}

/// Tells whether a command only drops words of another one, and not just a flag with its value.
fn only_drops_words(failed: &[String], worked: &[String]) -> bool {
    let goes_with_flag = |(at, word): (usize, &String)| {
        let flag = at.checked_sub(1).and_then(|at| failed.get(at));
        worked.contains(word)
            || word.starts_with('-')
            || flag.is_some_and(|flag| flag.starts_with('-') && !worked.contains(flag))
    };
    worked.iter().all(|word| failed.contains(word)) && !failed.iter().enumerate().all(goes_with_flag)
}

/// Tells whether a command repeats all words of another one and adds more, so that it does a part of it.
fn is_partial_repeat(whole: &[String], part: &[String]) -> bool {
    whole.len() >= 2 && part.len() > whole.len() && part.starts_with(whole)
}

fn determine_remedy_kind(
    timeline: &ActionTimeline<'_>,
    (failed, worked): (usize, usize),
    difference: CommandDifference,
    cause: &FailureCause,
) -> RemedyKind {
    let (Some(before), Some(after)) = (timeline.actions.get(failed), timeline.actions.get(worked)) else {
        return RemedyKind::Nothing;
    };
    if *cause == FailureCause::Time {
        if after.is_background() && !before.is_background() {
            return RemedyKind::Background;
        }
        let limit = |agent_action: &AgentAction<'_>| {
            agent_action
                .line
                .as_ref()
                .and_then(|line| line.limit)
                .or_else(|| agent_action.time_limit().map(|ms| ms / 1000))
        };
        if let Some(limit) = limit(after).filter(|given| limit(before).is_none_or(|least| *given > least)) {
            return RemedyKind::MoreTime(limit);
        }
    }
    // A setting that was removed may have been the whole problem.
    if before
        .line
        .as_ref()
        .zip(after.line.as_ref())
        .is_some_and(|(failed, worked)| failed.settings.iter().any(|setting| !worked.settings.contains(setting)))
    {
        return RemedyKind::Nothing;
    }
    let between = InterveningActions::collect(timeline, failed, worked, cause);
    let edits = after.line.as_ref().is_some_and(|line| line.edits)
        || after.command().is_some_and(|run| is_fixer(&run.to_lowercase()));
    if edits && !cause.is_environmental() {
        return RemedyKind::Code(vec![worked]);
    }
    if difference == CommandDifference::Folder && between.edits.is_empty() {
        return after.line.as_ref().and_then(|line| line.folder.clone()).map_or(RemedyKind::Nothing, RemedyKind::In);
    }
    if let Some(folder) =
        after.argument_folder().filter(|folder| before.argument_folder().is_some_and(|other| other != *folder))
        && between.is_empty()
    {
        return RemedyKind::In(folder.to_owned());
    }
    if matches!(difference, CommandDifference::Before | CommandDifference::Program | CommandDifference::Flags)
        && (between.edits.is_empty() || cause.is_environmental())
        && is_meaningful_change(difference, before, after, cause)
    {
        return match difference {
            // Other flags say little next to an action that addresses the cause.
            CommandDifference::Flags if !between.cures.is_empty() && *cause != FailureCause::Flag => {
                RemedyKind::After(between.cures)
            }
            // Another way to call a missing program needs nothing else.
            CommandDifference::Program if matches!(cause, FailureCause::Program(_)) => {
                RemedyKind::Instead(difference, Vec::new())
            }
            _ => RemedyKind::Instead(difference, between.cures),
        };
    }
    if !between.cures.is_empty() && (cause.is_environmental() || between.edits.is_empty()) {
        return RemedyKind::After(between.cures);
    }
    if (difference == CommandDifference::Wait || between.waited) && between.is_empty() {
        return RemedyKind::Wait;
    }
    let is_of_settings = |index: &usize| match timeline.actions.get(*index).map(|agent_action| &agent_action.action) {
        Some(ToolAction::Edit(changes)) => {
            !changes.is_empty() && changes.iter().all(|change| is_settings_file(&change.path))
        }
        _ => false,
    };
    match between {
        // Nobody had touched the code, and settings alone made it pass.
        InterveningActions { edits, .. }
            if !edits.is_empty() && edits.iter().all(is_of_settings) && !has_edited_before(timeline, failed) =>
        {
            RemedyKind::After(edits)
        }
        InterveningActions { edits, .. } if !edits.is_empty() => RemedyKind::Code(edits),
        InterveningActions { others, .. } if !others.is_empty() && others.len() <= MOST_DEEDS => {
            RemedyKind::After(others)
        }
        InterveningActions { others, .. } if others.is_empty() && timeline.has_user_spoken_between(before, after) => {
            RemedyKind::Person
        }
        _ => RemedyKind::Nothing,
    }
}

/// Tells whether another way of running a check is meaningful: that a narrower check passes says nothing.
fn is_meaningful_change(
    difference: CommandDifference,
    before: &AgentAction<'_>,
    after: &AgentAction<'_>,
    cause: &FailureCause,
) -> bool {
    const TELLING: &str = "test-threads=1|runinband|-j1|-j 1|--maxworkers|-n0|-n 0|--features|--all-features|--no-cache|--force|\
        --no-parallel|--serial|-p 1|--experimental|--legacy|--openssl|--no-daemon|--profile|--config";
    if !before.is_check || cause.is_environmental() || difference != CommandDifference::Flags {
        return true;
    }
    let words = |agent_action: &AgentAction<'_>| agent_action.command().unwrap_or_default().to_lowercase();
    any_listed(TELLING, |flag| words(after).contains(flag) && !words(before).contains(flag))
}

/// The actions between a failure and a success.
#[derive(Debug, Default)]
struct InterveningActions {
    /// Actions that address the cause.
    cures: Vec<usize>,
    /// Other commands that changed something.
    others: Vec<usize>,
    /// Edits of code.
    edits: Vec<usize>,
    waited: bool,
}

impl InterveningActions {
    fn collect(timeline: &ActionTimeline<'_>, failed: usize, worked: usize, cause: &FailureCause) -> Self {
        let mut between = Self::default();
        let program = timeline
            .actions
            .get(failed)
            .and_then(|agent_action| agent_action.line.as_ref())
            .map_or("", |line| line.program_name());
        for (at, agent_action) in timeline.actions.iter().enumerate().take(worked).skip(failed + 1) {
            between.add_action(at, agent_action, cause, program);
        }
        // The last actions are the likeliest to have helped.
        let keep = |actions: &mut Vec<usize>| {
            let surplus = actions.len().saturating_sub(MOST_DEEDS);
            actions.drain(..surplus);
        };
        keep(&mut between.cures);
        between
    }

    fn add_action(&mut self, at: usize, agent_action: &AgentAction<'_>, cause: &FailureCause, program: &str) {
        match &agent_action.action {
            ToolAction::Edit(changes) if agent_action.has_passed() => {
                let is_settings = !changes.is_empty() && changes.iter().all(|change| is_settings_file(&change.path));
                match is_settings && cause.is_environmental() {
                    true => self.cures.push(at),
                    false => self.edits.push(at),
                }
            }
            ToolAction::Run { command } if !agent_action.is_look => {
                let Some(line) = agent_action.line.as_ref().filter(|line| !line.is_query()) else { return };
                if line.is_inline {
                    if line.edits && agent_action.has_passed() {
                        self.edits.push(at);
                    }
                    return;
                }
                let is_service = matches!(cause, FailureCause::Service | FailureCause::Network);
                let is_done = agent_action.has_passed() || (is_service && agent_action.ended == CallOutcome::Unknown);
                if !is_done || is_bookkeeping(line.main_words()) {
                    return;
                }
                // The value of an assignment says nothing about what is done.
                let words = command.split_whitespace().filter(|word| !is_assignment(word));
                let lower = words.collect::<Vec<_>>().join(" ").to_lowercase();
                let named = match cause {
                    FailureCause::Variable(Some(name)) | FailureCause::Name(name) => command.contains(name.as_str()),
                    _ => false,
                };
                let is_cure = cause.is_environmental()
                    && (named || any_listed(cause.remedy_words(), |word| lower.contains(word)));
                let written = find_heredoc_target(command);
                match () {
                    () if written.is_some_and(|path| !(cause.is_environmental() && is_settings_file(path))) => {
                        self.edits.push(at);
                    }
                    () if written.is_some() => self.cures.push(at),
                    () if is_cure && !(agent_action.is_check && line.program_name() == program) => self.cures.push(at),
                    () if agent_action.is_check && !is_generator(&lower) => {}
                    () if !cause.is_environmental()
                        && (line.edits || is_fixer(&lower) || is_agent_script(line.main_words())) =>
                    {
                        self.edits.push(at);
                    }
                    () => self.others.push(at),
                }
            }
            ToolAction::Run { .. } => self.waited |= agent_action.line.as_ref().is_some_and(|line| line.waits),
            _ => {}
        }
    }

    fn is_empty(&self) -> bool {
        self.cures.is_empty() && self.others.is_empty() && self.edits.is_empty()
    }
}

/// Tells whether a command formats, fixes or accepts new output, and so edits files.
fn is_fixer(lower: &str) -> bool {
    const FIXERS: &str =
        "fmt|format|--fix|--write|black|prettier|isort|autofix|:fix| -u|--update|snapshot|accept|codemod";
    any_listed(FIXERS, |word| lower.contains(word))
}

/// Tells whether a command runs a script of the agent's own, which may do anything.
fn is_agent_script(words: &[String]) -> bool {
    let is_runner = words.first().is_some_and(|head| {
        matches!(program_name(head), "python" | "python3" | "node" | "ruby" | "perl" | "bash" | "sh" | "deno" | "tsx")
    });
    is_runner && words.get(1).is_some_and(|file| file.contains('.') && !file.ends_with("manage.py"))
}

/// Tells whether a check also builds or generates something.
fn is_generator(lower: &str) -> bool {
    ["build", "generate", "codegen", "prepare", "compile"].iter().any(|word| lower.contains(word))
}

/// Tells whether a command is routine work of git or `mkdir`, which fixes nothing else.
fn is_bookkeeping(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["git", verb, ..] => !matches!(*verb, "submodule" | "lfs" | "config" | "remote" | "gc" | "prune" | "worktree"),
        ["mkdir", ..] => true,
        _ => false,
    }
}

/// Tells whether a file holds settings and no code.
pub(super) fn is_settings_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    const NAMES: &str = "makefile|dockerfile|gemfile|procfile|go.mod|pipfile|justfile|vagrantfile|jenkinsfile|build.gradle|\
        cmakelists.txt|requirements.txt|rust-toolchain|hosts";
    const ENDINGS: &str = ".toml|.yml|.yaml|.ini|.cfg|.conf|.env|.lock|.properties|.tfvars|.kts|.nix|.gradle";
    any_listed(NAMES, |known| known == name)
        || any_listed(ENDINGS, |ending| name.ends_with(ending))
        || (name.starts_with('.') && !name.ends_with(".js") && !name.ends_with(".ts"))
        || name.starts_with(".env")
        || matches!(
            name.as_str(),
            "package.json" | "tsconfig.json" | "composer.json" | "settings.json" | "launch.json" | "pom.xml"
        )
        || name.contains(".config.")
        || name.starts_with("requirements")
}
