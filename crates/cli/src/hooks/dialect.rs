//! The dialect of an agent: the session phase of each of its events, and the keys of its payloads.

/// A phase in the life of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionPhase {
    Start,
    Prompt,
    Pause,
    End,
}

/// The event names that all agents accept on the command line, in addition to their own.
const COMMON: &[(&str, SessionPhase)] = &[
    ("session-start", SessionPhase::Start),
    ("prompt-submit", SessionPhase::Prompt),
    ("stop", SessionPhase::Pause),
    ("subagent-stop", SessionPhase::Pause),
    ("pre-compact", SessionPhase::Pause),
    ("session-end", SessionPhase::End),
];

/// The dialect of one agent. If several keys are listed, the first one present counts.
#[derive(Debug)]
pub(super) struct HookDialect {
    /// The agent's own event names. If an event accepts a context, it is the first one of its phase.
    pub(super) events: &'static [(&'static str, SessionPhase)],
    /// The common event names that this agent accepts.
    pub(super) common: CommonEvents,
    /// The payload keys of the event name.
    pub(super) event: &'static [&'static str],
    /// The payload keys of the session id.
    pub(super) session: &'static [&'static str],
    /// The payload keys of the log paths, the session's own first. All of them count.
    pub(super) logs: &'static [&'static str],
    /// The payload keys of the working directory.
    pub(super) directory: &'static [&'static str],
    /// The payload keys of the task.
    pub(super) task: &'static [&'static str],
    /// The payload keys of the subtask.
    pub(super) subtask: &'static [&'static str],
    /// The payload keys of the one-word reason.
    pub(super) reason: &'static [&'static str],
    /// The payload keys of the outcome.
    pub(super) outcome: &'static [&'static str],
    /// The payload keys of the trigger's scenario.
    pub(super) scenario: &'static [&'static str],
    /// The payload keys of the user's prompt.
    pub(super) prompt: &'static [&'static str],
}

/// The common event names that an agent accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommonEvents {
    All,
    Ends,
}

impl HookDialect {
    /// The dialect that most agents share.
    pub(super) const USUAL: Self = Self {
        events: &[],
        common: CommonEvents::All,
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

    /// Returns the phase that an event name stands for, ignoring case, hyphens and underscores.
    pub(super) fn parse_phase(&self, word: &str) -> Option<SessionPhase> {
        let shared =
            COMMON.iter().filter(|(_, moment)| self.common == CommonEvents::All || *moment == SessionPhase::End);
        self.events.iter().chain(shared).find(|(name, _)| is_same_word(name, word)).map(|(_, moment)| *moment)
    }

    /// Returns the agent's own event name for a phase.
    pub(super) fn event_name(&self, moment: SessionPhase) -> Option<&'static str> {
        self.events.iter().find(|(_, other)| *other == moment).map(|(name, _)| *name)
    }

    /// Returns every payload key that may hold a useful value.
    pub(super) fn payload_keys(&self) -> impl Iterator<Item = &'static str> {
        let known = [self.event, self.session, self.logs, self.directory, self.task, self.subtask, self.reason];
        let more = [self.outcome, self.scenario, self.prompt, &["model", "healerStatus", "healer_status"]];
        known.into_iter().chain(more).flatten().copied()
    }
}

fn is_same_word(left: &str, right: &str) -> bool {
    fn plain_letters(word: &str) -> impl Iterator<Item = char> {
        word.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase())
    }
    plain_letters(left).eq(plain_letters(right.trim()))
}
