//! What became of a lesson's matter in one run: did the trouble come back, was it spared, or can nobody tell?
//!
//! Whoever is in doubt says [`Effect::Unknown`]: a run that counts on the wrong side does more harm than one that does
//! not count.

use crate::domain::{AgentMemory, Effect, ErrorFamily, Quote, Timestamp};
use crate::text::keyword_share;

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;

/// Tools that everything is done with: to have used one says nothing.
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

/// One run, as far as a lesson can be held against it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// What went wrong in it.
    pub troubles: Vec<Trouble>,
    /// What was done in it, and when.
    pub deeds: Vec<(Deed, Option<Timestamp>)>,
    /// How its last check ended.
    pub check: Check,
    /// What reviewers said about it.
    pub review: Review,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Trouble {
    /// Which failure, if it is one that can be known again.
    pub family: Option<ErrorFamily>,
    /// The trajectory and the steps that show it.
    pub trajectory: String,
    /// See there.
    pub steps: Vec<u32>,
    /// When it was last seen.
    pub at: Option<Timestamp>,
}

/// Something that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// A command was run: its words.
    Ran(Vec<String>),
    /// A file was read or changed.
    Touched(String),
    /// A tool was used.
    Used(String),
}

/// How the last check of a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Check {
    /// There was none.
    #[default]
    NotMade,
    /// It failed.
    Failed,
    /// It passed, then.
    Passed(Option<Timestamp>),
}

/// What reviewers said about a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Review {
    /// Nobody looked.
    #[default]
    NotHeld,
    /// Somebody looked, and found this; or nothing.
    Held(Vec<Finding>),
}

/// One thing that a reviewer found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// In the reviewer's words.
    pub description: String,
    /// When it was said.
    pub at: Option<Timestamp>,
}

/// What became of a lesson's matter in a run that was given it at `given`, or from which it was held back then.
///
/// The trouble came back if the lesson's failure shows again, if what went wrong taught the lesson once more (`seen` are
/// the words that did), or if a reviewer found it: at least `threshold` of the words of one finding are the lesson's. It
/// was spared if reviewers looked and found nothing of the kind, or if the run did what the lesson warns of, had its last
/// check pass, and the failure, which would be known again, did not show.
pub fn outcome(memory: &AgentMemory, given: Timestamp, course: &Course, seen: &[Quote], threshold: f64) -> Effect {
    let is_later = |at: Option<Timestamp>| at.is_none_or(|at| at >= given);
    let families = families(memory);
    let came_back = course.troubles.iter().filter(|trouble| is_later(trouble.at)).any(|trouble| {
        trouble.family.as_ref().is_some_and(|family| families.contains(&family))
            || seen.iter().any(|quote| quote.trajectory_id == trouble.trajectory && trouble.steps.contains(&quote.step))
    });
    let found = match &course.review {
        Review::NotHeld => None,
        Review::Held(findings) => {
            let saying = format!("{} {}", memory.summary, memory.tags.join(" "));
            let is_the_matter = |finding: &&Finding| keyword_share(&finding.description, &saying) >= threshold;
            Some(findings.iter().filter(|finding| is_later(finding.at)).find(is_the_matter).is_some())
        }
    };
    if came_back || found == Some(true) {
        return Effect::Recurred;
    }
    // Words that taught it again, but not where something went wrong: it may have been followed, or missed.
    if !seen.is_empty() {
        return Effect::Unknown;
    }
    if found == Some(false) {
        return Effect::Prevented;
    }
    let has_passed = matches!(course.check, Check::Passed(at) if is_later(at));
    let done_since = || course.deeds.iter().filter(|(_, at)| is_later(*at)).map(|(deed, _)| deed);
    let is_spared = !families.is_empty() && has_passed && done_since().any(|deed| concerns(memory, deed));
    if is_spared { Effect::Prevented } else { Effect::Unknown }
}

/// The failures that a lesson is about, those of lessons that it took in among them.
fn families(memory: &AgentMemory) -> Vec<&ErrorFamily> {
    let absorbed = memory.merges.iter().filter_map(|merge| merge.absorbed.facets.error_family.as_ref());
    memory.facets.error_family.iter().chain(absorbed).collect()
}

/// Whether what was done is what the lesson speaks of.
fn concerns(memory: &AgentMemory, deed: &Deed) -> bool {
    match deed {
        Deed::Ran(words) => mentions(condition(memory), words),
        Deed::Touched(path) => memory.facets.component.as_deref().is_some_and(|component| is_below(path, component)),
        Deed::Used(tool) => {
            let tool = tool.to_lowercase();
            !COMMON_TOOLS.contains(&tool.as_str())
                && memory.facets.tool.as_ref().is_some_and(|own| own.to_lowercase() == tool)
        }
    }
}

/// In what case the lesson holds, where it says so; otherwise all that it says.
fn condition(memory: &AgentMemory) -> &str {
    let rule = memory.rule.as_deref().unwrap_or_default();
    let end = [" THEN ", " then "].iter().filter_map(|then| rule.find(then)).min();
    end.and_then(|end| rule.get(..end)).unwrap_or(&memory.summary)
}

/// Whether a text speaks of a command: its first two words stand there side by side, or its only word does and can
/// hardly be anything else.
fn mentions(text: &str, command: &[String]) -> bool {
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

/// Whether a path lies in a component. Either may be written from another root.
fn is_below(path: &str, component: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
    };
    let (path, component) = (parts(path), parts(component));
    !component.is_empty() && path.windows(component.len()).any(|within| within == component)
}
