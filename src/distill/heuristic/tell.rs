//! How a failure is told: what fails, and what to do about it.

use serde_json::Value;

use super::cause::Cause;
use super::command;
use super::headline::without_test;
use super::remedy::{How, Remedy};
use super::scene::{Deed, Scene};
use super::shown::{quoted, secrets, written};
use super::trouble::Trouble;
use super::words::{capital, cut, list, relative, telling};
use crate::context::Action;
use crate::distill::verify::reads_as_failure;

#[cfg(test)]
#[path = "tell_tests.rs"]
mod tests;

/// A change that is shown word for word is no longer than this.
const SHOWN_CHANGE: usize = 60;

/// What a lesson says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) summary: String,
    pub(super) rule: String,
    pub(super) detail: String,
}

/// The words around a failure that every sentence about it needs.
struct Words {
    /// What failed: a command in backticks, or a tool.
    what: String,
    error: String,
    root: String,
}

impl Words {
    /// The error in brackets. Where what to do is known, words that may be anybody's are not needed to say it.
    fn told(&self) -> String {
        if reads_as_failure(&self.error) { format!(" ({})", self.error) } else { String::new() }
    }

    /// The error behind "fails".
    fn with(&self) -> String {
        if reads_as_failure(&self.error) { format!(" with \"{}\"", self.error) } else { String::new() }
    }
}

pub(super) fn tell(scene: &Scene<'_>, trouble: &Trouble) -> Told {
    let remedy = trouble.remedy.as_ref();
    let deed = remedy.map(|remedy| remedy.failed).or_else(|| trouble.deeds.last().copied());
    let deed = deed.and_then(|index| scene.deeds.get(index));
    let trajectory = trouble.places.keys().next().copied().unwrap_or_default();
    let root = scene.root(deed.map_or(trajectory, |deed| deed.place.trajectory)).to_owned();
    let what = deed.and_then(|deed| run_text(deed, &root)).unwrap_or_else(|| tool_name(&trouble.tool));
    // What was fetched is not repeated.
    let said = if trouble.is_fetched { "" } else { without_test(&trouble.headline) };
    let words = Words { what, error: telling(&relative(said, Some(&root))), root };
    let clear = remedy.filter(|_| trouble.is_mended(scene));
    let (summary, rule) = match clear {
        Some(remedy) => mended(scene, trouble, remedy, &words),
        None => recurring(scene, trouble, &words),
    };
    Told { summary, rule, detail: detail(scene, trouble, &words) }
}

/// A tool by its name; the model is no tool.
fn tool_name(tool: &str) -> String {
    match tool {
        "" => "a command".to_owned(),
        "model" => "the model".to_owned(),
        tool => format!("`{tool}`"),
    }
}

/// A failure with what to do about it.
fn mended(scene: &Scene<'_>, trouble: &Trouble, remedy: &Remedy, words: &Words) -> (String, String) {
    let Words { what, .. } = words;
    let (told, with) = (words.told(), words.with());
    let fix = fix(scene, trouble, remedy, words);
    let worked = scene.deeds.get(remedy.worked).and_then(|deed| run_text(deed, &words.root));
    let on_error = format!("IF {what} fails{with} THEN {fix}{}.", again(&remedy.how));
    let names: Vec<String> =
        remedy.commands(scene).into_iter().flat_map(secrets).map(|name| format!("`{name}`")).collect();
    if !names.is_empty() {
        // The value is a secret; that one is needed is none.
        let names = list(&names);
        let summary = format!("{what} needs {names} to be set{told}.");
        return (summary, format!("IF you are about to run {what} THEN set {names} first."));
    }
    if let (How::Instead(..), Some(worked), Cause::Patience) = (&remedy.how, &worked, &trouble.cause) {
        let summary = format!("{what} can run into a rate limit{told}: run {worked} instead.");
        return (summary, format!("IF {what} is refused{with} THEN run {worked} instead of waiting."));
    }
    if remedy.how == How::Person {
        return asked(scene, trouble, remedy, words);
    }
    let apart = scene.deeds.get(remedy.failed).zip(scene.deeds.get(remedy.worked));
    if let (How::Instead(_, cures), Some(apart)) =
        (&remedy.how, apart.and_then(|(failed, worked)| apart_by(failed, worked)))
        && cures.is_empty()
    {
        return apart.tell(&told, &words.root);
    }
    if let (How::Instead(_, cures), Some(worked)) = (&remedy.how, worked) {
        let worked = match cures.as_slice() {
            [] => worked,
            cures => format!("{}, then {worked}", orders(scene, cures, trouble, words).trim_start_matches("run ")),
        };
        let summary = match &trouble.cause {
            Cause::Variable(Some(name)) if worked.contains(name.as_str()) => {
                format!("{what} needs `{name}` to be set: run {worked}.")
            }
            Cause::Program(Some(name)) if what.contains(name.as_str()) && !worked.contains(&format!("`{name} ")) => {
                format!("`{name}` is not available here: run {worked} instead.")
            }
            Cause::Target(Some(name)) if what.contains(name.as_str()) => {
                format!("There is no `{name}` to run here: run {worked} instead of {what}.")
            }
            Cause::Port(port) => {
                format!("{} may be taken when {what} starts: run {worked} instead.", port_name(port.as_deref()))
            }
            _ => format!("{what} fails here{told}: run {worked} instead."),
        };
        return (summary, format!("IF you are about to run {what} THEN run {worked} instead."));
    }
    let summary = match (&trouble.cause, &remedy.how) {
        (_, How::In(folder)) => {
            let folder = relative(folder, Some(&words.root));
            let rule = format!("IF you are about to run {what} THEN run it in `{folder}`.");
            return (format!("Run {what} in `{folder}`: elsewhere it fails{told}."), rule);
        }
        (Cause::Time, How::Background) => format!("{what} takes longer than a call may: run it in the background."),
        (Cause::Time, How::MoreTime(seconds)) => {
            format!("{what} does not finish within the default time limit: give it {seconds} s.")
        }
        (Cause::Lock, How::Wait) => {
            format!("{what} can find its lock held by another process{told}: wait a little and try again.")
        }
        (_, How::Wait) => format!("{what} can fail for a moment{told}: wait a little and try again."),
        (Cause::Module(Some(name)), _) => format!("{what} needs `{name}`, which is not installed: {fix} first."),
        (Cause::Program(Some(name)), _) => format!("`{name}` is not installed here: {fix} first."),
        (Cause::Variable(Some(name)), _) => format!("{what} needs `{name}` to be set: {fix} first."),
        (Cause::Port(port), _) => {
            format!("{} may still be taken when {what} starts: {fix} first.", port_name(port.as_deref()))
        }
        (Cause::Service, _) => format!("{what} needs a service that may not be running{told}: {fix} first."),
        (Cause::Lock, _) => format!("{what} can stop at a lock that was left behind{told}: {fix}."),
        (Cause::Lockfile, _) => format!("{what} fails when the lock file is out of step{told}: {fix} first."),
        (Cause::Migration, _) => format!("{what} needs a migrated database{told}: {fix} first."),
        (Cause::Version, _) => format!("{what} needs another version than the default{told}: {fix} first."),
        (Cause::Permission, _) => format!("{what} is not permitted{told}: {fix} first."),
        (Cause::Login, _) => format!("{what} needs to be signed in{told}: {fix} first."),
        _ => format!("{what} fails{told} until this is done: {fix}."),
    };
    (summary, on_error)
}

/// A failure that only a person could mend.
fn asked(scene: &Scene<'_>, trouble: &Trouble, remedy: &Remedy, words: &Words) -> (String, String) {
    let failed = scene.deeds.get(remedy.failed);
    // The arguments are of this one time; the program and its verb come again.
    let main = failed.and_then(|deed| deed.line.as_ref()).map(command::Line::main).unwrap_or_default();
    let is_verb = |word: &&String| word.chars().all(|c| c.is_alphanumeric() || c == '-') && !word.starts_with('-');
    let verb = main.iter().skip(1).take(1).filter(is_verb);
    let what: Vec<&str> = main.iter().take(1).chain(verb).map(String::as_str).collect();
    let what = quoted(&what.join(" "), &words.root);
    let first = failed.and_then(|deed| deed.output).and_then(|output| {
        output.text.lines().map(str::trim).find(|line| line.to_lowercase().contains("error") && reads_as_failure(line))
    });
    let first = first.filter(|first| *first != trouble.headline).map(|first| format!("{}; ", telling(first)));
    let error = format!("{}{}", first.unwrap_or_default(), words.error);
    let summary =
        format!("{what} failed again and again ({error}) and passed unchanged once the person had been asked.");
    let rule = format!(
        "IF {what} fails with \"{}\" THEN do not try again by yourself: ask the person, then run it once more.",
        words.error
    );
    (summary, rule)
}

/// The one thing by which a command that works differs from one that does not.
enum Apart {
    /// These are set for it.
    Settings { command: Vec<String>, settings: Vec<String> },
    /// Another program runs it.
    Runner { command: Vec<String>, runner: Vec<String> },
    /// Another program does the same.
    Program { old: String, new: String },
}

/// Finds the one thing by which two commands differ, if it is one.
fn apart_by(failed: &Deed<'_>, worked: &Deed<'_>) -> Option<Apart> {
    let (before, after) = (failed.line.as_ref()?, worked.line.as_ref()?);
    let command = before.main();
    let exports = after.setups.iter().filter(|setup| setup.first().is_some_and(|word| word == "export"));
    let settings = after.settings.iter().chain(exports.flat_map(|setup| setup.iter().skip(1)));
    let settings: Vec<String> =
        settings.filter(|word| command::is_setting(word) && !before.settings.contains(word)).cloned().collect();
    if after.cores.iter().any(|core| core == command) && !settings.is_empty() {
        return Some(Apart::Settings { command: command.to_vec(), settings });
    }
    let parts = || after.cores.iter().chain(&after.setups);
    for core in before.cores.iter().filter(|core| !core.is_empty()) {
        if let Some(part) = parts().find(|part| part.len() > core.len() && part.ends_with(core)) {
            let runner = part.iter().take(part.len() - core.len()).cloned().collect();
            return Some(Apart::Runner { command: core.clone(), runner });
        }
    }
    let (old, arguments) = command.split_first()?;
    let is_same = |part: &&Vec<String>| part.split_first().is_some_and(|(_, others)| others == arguments);
    let new = parts().find(is_same).and_then(|part| part.first()).filter(|new| *new != old && !arguments.is_empty())?;
    Some(Apart::Program { old: old.clone(), new: new.clone() })
}

impl Apart {
    /// Tells the difference, and the rule that follows.
    fn tell(&self, told: &str, root: &str) -> (String, String) {
        let shown = |words: &[String]| quoted(&words.join(" "), root);
        match self {
            Self::Settings { command, settings } => {
                let (command, settings) = (shown(command), shown(settings));
                let summary = format!("{command} fails here{told}: run it with {settings}.");
                (summary, format!("IF you are about to run {command} THEN run it with {settings}."))
            }
            Self::Runner { command, runner } => {
                let (command, runner) = (shown(command), shown(runner));
                let summary = format!("{command} fails here{told}: run it through {runner}.");
                (summary, format!("IF you are about to run {command} THEN run it through {runner}."))
            }
            Self::Program { old, new } => {
                let (old, new) = (quoted(old, root), quoted(new, root));
                (
                    format!("{old} fails here{told}: use {new}."),
                    format!("IF you are about to run {old} THEN use {new}."),
                )
            }
        }
    }
}

/// What a deed ran, without what comes before and behind the command it is about.
fn run_text(deed: &Deed<'_>, root: &str) -> Option<String> {
    let run = deed.command()?;
    let line = deed.line.as_ref().filter(|line| !line.is_script && line.cores.len() == 1);
    let core = line.and_then(|line| line.main().first()).and_then(|head| {
        let start = run.find(head.as_str())?;
        let rest = run.get(start..)?;
        let ends = [" | ", " && ", " || ", "; ", " 2>", "\n"];
        let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        rest.get(..end)
    });
    let is_prepared = line.is_some_and(|line| !line.settings.is_empty() || !line.setups.is_empty());
    Some(quoted(core.filter(|_| !is_prepared).unwrap_or(run), root))
}

fn again(how: &How) -> &'static str {
    match how {
        How::After(_) => ", then run it again",
        _ => "",
    }
}

fn port_name(port: Option<&str>) -> String {
    port.map_or_else(|| "The port".to_owned(), |port| format!("Port {port}"))
}

/// What to do, as an order.
fn fix(scene: &Scene<'_>, trouble: &Trouble, remedy: &Remedy, words: &Words) -> String {
    match &remedy.how {
        How::After(deeds) => orders(scene, deeds, trouble, words),
        How::MoreTime(seconds) => format!("give it {seconds} s"),
        How::Background => "run it in the background".to_owned(),
        How::In(folder) => format!("run it in `{}`", relative(folder, Some(&words.root))),
        How::Wait => "wait a little and try again".to_owned(),
        How::Instead(..) | How::Code(_) | How::Person | How::Nothing => "do it in another way".to_owned(),
    }
}

/// Deeds as orders.
fn orders(scene: &Scene<'_>, deeds: &[usize], trouble: &Trouble, words: &Words) -> String {
    let mut orders: Vec<String> = Vec::new();
    for deed in deeds.iter().filter_map(|index| scene.deeds.get(*index)) {
        let order = order(deed, trouble, words);
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    match orders.as_slice() {
        [one, two] if one.starts_with("run ") && two.starts_with("run ") => {
            format!("{one} and {}", two.trim_start_matches("run "))
        }
        orders => list(orders),
    }
}

/// One deed as an order.
fn order(deed: &Deed<'_>, trouble: &Trouble, words: &Words) -> String {
    if let Some(run) = deed.command() {
        let is_one_process = command::base(run).starts_with("kill")
            && run
                .split_whitespace()
                .skip(1)
                .all(|word| word.starts_with('-') || word.bytes().all(|byte| byte.is_ascii_digit()));
        if is_one_process && matches!(trouble.cause, Cause::Port(_) | Cause::Lock) {
            return "find and stop the process that holds it".to_owned();
        }
        if let Some(path) = written(run) {
            return format!("write `{}`", relative(path, Some(&words.root)));
        }
        return format!("run {}", quoted(run, &words.root));
    }
    changed(deed, &words.root).unwrap_or_else(|| "change the settings".to_owned())
}

/// An edit as an order: what was changed to what, where that is short, else which file.
pub(super) fn changed(deed: &Deed<'_>, root: &str) -> Option<String> {
    let Action::Edit(changes) = &deed.action else { return None };
    let path = relative(&changes.first()?.path, Some(root));
    let text = |keys: &[&str]| {
        let given = deed.arguments?;
        keys.iter()
            .find_map(|key| given.get(key))
            .and_then(Value::as_str)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    let old = text(&["old_string", "old_str", "oldString"]);
    let new = text(&["new_string", "new_str", "newString"]);
    let is_short = |text: &str| text.len() <= SHOWN_CHANGE && !text.contains(['\n', '`']);
    Some(match (old, new) {
        (Some(old), Some(new)) if new.contains(old) && is_short(new.replacen(old, "", 1).trim()) => {
            format!("add `{}` to `{path}`", new.replacen(old, "", 1).trim())
        }
        (Some(old), Some(new)) if is_short(old) && is_short(new) => format!("change `{old}` to `{new}` in `{path}`"),
        _ => match text(&["content", "file_text", "contents"]).filter(|content| is_short(content)) {
            Some(content) => format!("put `{content}` into `{path}`"),
            None => format!("edit `{path}`"),
        },
    })
}

/// A failure that comes again and again, with no more than advice. How often is told beside it: the next run counts on,
/// and the lesson is to stay the same.
fn recurring(scene: &Scene<'_>, trouble: &Trouble, words: &Words) -> (String, String) {
    let Words { what, error, .. } = words;
    let advice = match &trouble.cause {
        Cause::Code | Cause::Unknown | Cause::Network | Cause::Service if trouble.tool == "model" => {
            "change what is asked or pause before asking again: every attempt ended the same way".to_owned()
        }
        cause => advice(cause),
    };
    let agent = scene.agent(trouble.places.keys().next().copied().unwrap_or_default());
    if let (Some(rival), Some(agent)) = (trouble.rival(scene), agent) {
        let summary = format!("{} runs out of time under {agent}; {rival} got the same task done.", capital(what));
        let rule =
            format!("IF {agent} is about to run {what} THEN leave it to {rival}, or split it into smaller runs.");
        return (summary, rule);
    }
    // One lesson for all commands that need it.
    if let Cause::Program(Some(name)) | Cause::Module(Some(name)) = &trouble.cause {
        let summary = format!("`{name}` is not installed here, and nothing in the log mended it.");
        return (summary, format!("IF you are about to use `{name}` THEN {advice}."));
    }
    // A limit is known by its kind; the words are not needed to tell it.
    let said = if reads_as_failure(error) { format!(": \"{error}\"") } else { String::new() };
    let summary = match &trouble.cause {
        Cause::Room => format!("More is sent to {what} than the context window holds{said}."),
        Cause::Length => format!("An answer grew longer than {what} gives{said}."),
        Cause::Patience => format!("{} limits the rate of calls{said}.", capital(what)),
        Cause::Time => format!("{} runs out of time{said}.", capital(what)),
        Cause::Name(name) => format!("`{name}` is not defined where {what} needs it."),
        Cause::Sandbox => {
            format!("The agent's sandbox keeps {what} from its work ({error}): the code is not at fault.")
        }
        _ => format!("{} fails with \"{error}\", and nothing in the log mended it.", capital(what)),
    };
    let condition = match &trouble.cause {
        Cause::Room => format!("you give {what} a large task or a long input"),
        Cause::Length => format!("you ask {what} for a long text"),
        Cause::Patience if said.is_empty() => format!("{what} refuses a call for its rate"),
        Cause::Patience => format!("{what} answers with \"{error}\""),
        _ => format!("{what} fails with \"{error}\""),
    };
    (summary, format!("IF {condition} THEN {advice}."))
}

/// What the cause itself asks for.
fn advice(cause: &Cause) -> String {
    let named =
        |name: &Option<String>, else_: &str| name.as_ref().map_or_else(|| else_.to_owned(), |name| format!("`{name}`"));
    match cause {
        Cause::Room => "send less at once: trim, split or summarise the input before asking".to_owned(),
        Cause::Length => "write it in parts: several smaller answers or files instead of one".to_owned(),
        Cause::Patience => "slow down: fewer calls at a time, and a longer pause after each refusal".to_owned(),
        Cause::Time => "raise the time limit, run it in the background, or split it into smaller runs".to_owned(),
        Cause::Name(name) => format!("define, import or export `{name}` where it is used before running anything else"),
        Cause::Module(name) | Cause::Program(name) => {
            format!("install {} first, or do without", named(name, "what is missing"))
        }
        Cause::Variable(name) => format!("set {} before running it", named(name, "the variable")),
        Cause::Port(_) => "stop what holds the port, or choose another, before starting".to_owned(),
        Cause::Service => "start the service and see that it answers before running it".to_owned(),
        Cause::Lock => "make sure that nobody holds the lock, then remove it".to_owned(),
        Cause::Lockfile => "bring the lock file up to date first".to_owned(),
        Cause::Migration => "run the migrations first".to_owned(),
        Cause::Version => "switch to the version that it asks for first".to_owned(),
        Cause::Flag => "read its help before trying another flag".to_owned(),
        Cause::Target(_) => "list what there is to run before trying another name".to_owned(),
        Cause::Permission => {
            "set the permissions right, or work where writing is allowed, before trying again".to_owned()
        }
        Cause::Login => "sign in first".to_owned(),
        Cause::Folder => "go to the folder that holds the project first".to_owned(),
        Cause::Unmade => "build or generate what it asks for first".to_owned(),
        Cause::Resource => "free memory or disk, or do less at once, before trying again".to_owned(),
        Cause::Network => "see that the host can be reached before trying again".to_owned(),
        Cause::Sandbox => {
            "do not debug it: judge by what runs without that, and say what was not checked, or have it run outside"
                .to_owned()
        }
        Cause::Code | Cause::Edit | Cause::Unknown => {
            "find the cause before running it again: every attempt ended the same way".to_owned()
        }
    }
}

/// How often and where, and how it went away.
fn detail(scene: &Scene<'_>, trouble: &Trouble, words: &Words) -> String {
    let times = match trouble.times {
        0 | 1 => "It failed once".to_owned(),
        times => format!("It failed {times} times"),
    };
    let runs = match (trouble.episodes.len(), trouble.earlier.len()) {
        (runs @ 2.., _) => format!(" in {runs} of {} runs", scene.runs()),
        (_, 0) => String::new(),
        (_, 1) => ", and in an earlier run too".to_owned(),
        (_, earlier) => format!(", and in {earlier} earlier runs too"),
    };
    let ended = match &trouble.remedy {
        Some(remedy) => {
            let worked = scene.deeds.get(remedy.worked);
            let run = worked.and_then(|deed| run_text(deed, &words.root)).unwrap_or_default();
            match worked.is_some_and(Deed::has_passed) {
                true => format!(", then {run} passed"),
                false => format!(", then {run} got further"),
            }
        }
        None => ", and the log shows no fix".to_owned(),
    };
    // The whole message, where the summary shows but a part of it.
    let line = if words.error.ends_with('…') && !trouble.is_fetched && reads_as_failure(&words.error) {
        format!(" It said: {}", cut(&relative(&trouble.headline, Some(&words.root)), 200))
    } else {
        String::new()
    };
    format!("{times}{runs}{ended}.{line}")
}
