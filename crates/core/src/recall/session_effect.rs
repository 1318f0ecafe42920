//! The effect of a lesson in one session: did its failure recur, was it prevented, or is that unknown?
//!
//! In doubt the result is [`Effect::Unknown`]: a session that counts on the wrong side does more harm than one that
//! does not count.

use crate::domain::{AgentMemory, Effect, ErrorFamily, Quote, Timestamp};
use crate::text::keyword_share;

#[cfg(test)]
#[path = "session_effect_tests.rs"]
mod tests;

/// The tools that are used for everything, so that their use says nothing.
const COMMON_TOOLS: &[&str] = &[
    "bash",
    "shell",
    "sh",
    "terminal",
    "exec",
    "exec_command",
    "local_shell",
    "read",
    "edit",
    "write",
    "grep",
    "glob",
];

/// One session, as far as it can be compared with a lesson.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObservedSession {
    /// The failures of the session.
    pub failures: Vec<ObservedFailure>,
    /// The actions of the session, with their times.
    pub actions: Vec<(ObservedAction, Option<Timestamp>)>,
    /// The result of its last check.
    pub check: FinalCheck,
    /// The result of its review.
    pub review: ObservedReview,
}

/// A failure that occurred in a session.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedFailure {
    /// The error family, if the failure has a stable identity.
    pub family: Option<ErrorFamily>,
    /// The id of the trajectory that shows it.
    pub trajectory: String,
    /// The steps of that trajectory that show it.
    pub steps: Vec<u32>,
    /// The time when it was last seen.
    pub at: Option<Timestamp>,
}

/// An action of the agent in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObservedAction {
    /// A command was run; these are its words.
    Ran(Vec<String>),
    /// A file was read or changed.
    Touched(String),
    /// A tool was used.
    Used(String),
}

/// The result of the last check in a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FinalCheck {
    /// There was no check.
    #[default]
    NotMade,
    /// The last check failed.
    Failed,
    /// The last check passed at this time.
    Passed(Option<Timestamp>),
}

/// The result of the review of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ObservedReview {
    /// Nobody reviewed the session.
    #[default]
    NotHeld,
    /// Somebody reviewed it; these are the findings, if any.
    Held(Vec<ObservedFinding>),
}

/// A single finding of a reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedFinding {
    /// The finding in the reviewer's words.
    pub description: String,
    /// The time of the finding.
    pub at: Option<Timestamp>,
}

/// Returns the effect of a lesson in a session that got it at `given`, or from which it was withheld then.
///
/// The failure recurred if the lesson's error family shows again, if a failure taught the lesson again (`seen` are the
/// quotes that did), or if a reviewer found it: at least `threshold` of the words of one finding are the lesson's. It
/// was prevented if reviewers found nothing of the kind, or if the session did what the lesson warns of, its last check
/// passed, and the error family, which would be recognized, did not show.
pub fn judge_lesson_effect(
    memory: &AgentMemory,
    given: Timestamp,
    course: &ObservedSession,
    seen: &[Quote],
    threshold: f64,
) -> Effect {
    let is_later = |at: Option<Timestamp>| at.is_none_or(|at| at >= given);
    let families = lesson_error_families(memory);
    let came_back = course.failures.iter().filter(|failure| is_later(failure.at)).any(|failure| {
        failure.family.as_ref().is_some_and(|family| families.contains(&family))
            || seen.iter().any(|quote| quote.trajectory_id == failure.trajectory && failure.steps.contains(&quote.step))
    });
    let found = match &course.review {
        ObservedReview::NotHeld => None,
        ObservedReview::Held(findings) => {
            let statement = format!("{} {}", memory.summary, memory.tags.join(" "));
            let is_the_matter =
                |finding: &&ObservedFinding| keyword_share(&finding.description, &statement) >= threshold;
            Some(findings.iter().filter(|finding| is_later(finding.at)).find(is_the_matter).is_some())
        }
    };
    if came_back || found == Some(true) {
        return Effect::Recurred;
    }
    // Quotes taught it again, but not at a failure: the lesson may have been followed, or missed.
    if !seen.is_empty() {
        return Effect::Unknown;
    }
    if found == Some(false) {
        return Effect::Prevented;
    }
    let has_passed = matches!(course.check, FinalCheck::Passed(at) if is_later(at));
    let done_since = || course.actions.iter().filter(|(_, at)| is_later(*at)).map(|(action, _)| action);
    let is_spared = !families.is_empty() && has_passed && done_since().any(|action| concerns_action(memory, action));
    if is_spared { Effect::Prevented } else { Effect::Unknown }
}

/// Returns the error families of a lesson, including those of the lessons merged into it.
fn lesson_error_families(memory: &AgentMemory) -> Vec<&ErrorFamily> {
    let absorbed = memory.merges.iter().filter_map(|merge| merge.absorbed.facets.error_family.as_ref());
    memory.facets.error_family.iter().chain(absorbed).collect()
}

/// Returns true if the lesson is about this action.
fn concerns_action(memory: &AgentMemory, action: &ObservedAction) -> bool {
    match action {
        ObservedAction::Ran(words) => mentions_command(trigger_text(memory), words),
        ObservedAction::Touched(path) => {
            memory.facets.component.as_deref().is_some_and(|component| is_inside_component(path, component))
        }
        ObservedAction::Used(tool) => {
            let tool = tool.to_lowercase();
            !COMMON_TOOLS.contains(&tool.as_str())
                && memory.facets.tool.as_ref().is_some_and(|own| own.to_lowercase() == tool)
        }
    }
}

/// Returns the case in which the lesson applies, if its rule names one; otherwise its summary.
fn trigger_text(memory: &AgentMemory) -> &str {
    let rule = memory.rule.as_deref().unwrap_or_default();
    let end = [" THEN ", " then "].iter().filter_map(|then| rule.find(then)).min();
    end.and_then(|end| rule.get(..end)).unwrap_or(&memory.summary)
}

/// Returns true if a text mentions a command: its first two words appear next to each other, or its only word does and
/// can hardly be anything else.
fn mentions_command(text: &str, command: &[String]) -> bool {
    let bare = |word: &str| word.trim_matches(|c: char| "`'\"“”’‘,;:()!?".contains(c)).trim_end_matches('.').to_owned();
    let text: Vec<String> = text.split_whitespace().map(bare).collect();
    match command {
        [] => false,
        [only] => only.contains(['/', '.', '-', '_']) && text.contains(only),
        [first, second, ..] => {
            text.windows(2).any(|pair| matches!(pair, [one, two] if one == first && two == second))
                || (first.contains(['/', '.']) && text.contains(first))
        }
    }
}

/// Returns true if a path is inside a component. Either may be written from another root.
fn is_inside_component(path: &str, component: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
    };
    let (path, component) = (parts(path), parts(component));
    !component.is_empty() && path.windows(component.len()).any(|within| within == component)
}
