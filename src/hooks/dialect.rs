//! How an agent speaks: which of its events is which moment, and how its payloads name things.

/// A moment in the life of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Start,
    Prompt,
    Pause,
    End,
}

/// What every agent's moments may be called on the command line, besides the names that the agent itself has for them.
const COMMON: &[(&str, Moment)] = &[
    ("session-start", Moment::Start),
    ("prompt-submit", Moment::Prompt),
    ("stop", Moment::Pause),
    ("subagent-stop", Moment::Pause),
    ("pre-compact", Moment::Pause),
    ("session-end", Moment::End),
];

/// How one agent speaks. Of several names the first that is there counts.
#[derive(Debug)]
pub(super) struct Dialect {
    /// The agent's own names of its events. Where one of them takes a context, it is the first of its moment.
    pub(super) events: &'static [(&'static str, Moment)],
    /// Whether the words that all agents share mean something here.
    pub(super) common: Common,
    /// Where a payload names its event.
    pub(super) event: &'static [&'static str],
    /// Where it names the session.
    pub(super) session: &'static [&'static str],
    /// Where it names logs, the session's own first. All of them count.
    pub(super) logs: &'static [&'static str],
    /// Where it says where the agent works.
    pub(super) directory: &'static [&'static str],
    /// Where it names the task.
    pub(super) task: &'static [&'static str],
    /// Where it names the part of the task.
    pub(super) subtask: &'static [&'static str],
    /// Where it says in a word why.
    pub(super) reason: &'static [&'static str],
    /// Where it says how it ended.
    pub(super) outcome: &'static [&'static str],
    /// Where it names the scenario of a trigger.
    pub(super) scenario: &'static [&'static str],
    /// Where it holds what a person said.
    pub(super) prompt: &'static [&'static str],
}

/// Which of the words that all agents share an agent understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Common {
    All,
    Ends,
}

impl Dialect {
    /// What most agents have in common.
    pub(super) const USUAL: Self = Self {
        events: &[],
        common: Common::All,
        event: &["hook_event_name"],
        session: &["session_id"],
        logs: &["transcript_path"],
        directory: &["cwd"],
        task: &[],
        subtask: &[],
        reason: &["reason", "source", "trigger"],
        outcome: &[],
        scenario: &[],
        prompt: &["prompt"],
    };

    /// The moment that a word means: case, hyphens and underscores do not count.
    pub(super) fn moment(&self, word: &str) -> Option<Moment> {
        let shared = COMMON.iter().filter(|(_, moment)| self.common == Common::All || *moment == Moment::End);
        self.events.iter().chain(shared).find(|(name, _)| is_same(name, word)).map(|(_, moment)| *moment)
    }

    /// What the agent itself calls a moment.
    pub(super) fn name(&self, moment: Moment) -> Option<&'static str> {
        self.events.iter().find(|(_, other)| *other == moment).map(|(name, _)| *name)
    }

    /// Every name that something of use may stand under.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let known = [self.event, self.session, self.logs, self.directory, self.task, self.subtask, self.reason];
        let more = [self.outcome, self.scenario, self.prompt, &["model", "healerStatus", "healer_status"]];
        known.into_iter().chain(more).flatten().copied()
    }
}

fn is_same(left: &str, right: &str) -> bool {
    fn letters(word: &str) -> impl Iterator<Item = char> {
        word.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase())
    }
    letters(left).eq(letters(right.trim()))
}
