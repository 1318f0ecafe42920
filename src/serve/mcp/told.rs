//! What an agent reads: the answers of the desk in a few plain lines.

use super::outgoing::line;
use crate::desk::{Given, Grounds, Judged, Measured, Noted, Other, Seen};
use crate::domain::{AgentMemory, ArchivistOutcome, FeedbackVerdict, OutcomeStatus, Quote};
use crate::recall::Verdict;
use crate::serve::api::Waiting;

/// How many lines of one sort are told; the structured answer has more of them.
const SHOWN: usize = 8;

/// The block, or that there is none.
pub(super) fn recalled(block: &str) -> String {
    match block.trim() {
        "" => "Nothing is known about this. That is a good answer: go on without.".to_owned(),
        block => block.to_owned(),
    }
}

/// What became of a lesson that an agent wrote.
pub(super) fn recorded(lesson: &AgentMemory) -> String {
    let name = name(lesson.alias.as_ref(), &lesson.id);
    format!(
        "{name} is written down and waits for a person: no session is given it before `archivist approve {name}`. \
         There is nothing more to do."
    )
}

/// What was noted of each lesson.
pub(super) fn noted(noted: &[Noted]) -> String {
    let one = |one: &Noted| {
        let name = name(one.alias.as_ref(), &one.id);
        let verdict = match one.verdict {
            FeedbackVerdict::Validated => "held",
            _ => "was noise",
        };
        let news = if one.written { "" } else { " (known already)" };
        let turn = if one.regression { "; it had held before" } else { "" };
        format!("{name} {verdict} in {}, by {}{news}{turn}", line(one.run.as_str()), one.level)
    };
    noted.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// What came of a reflection.
pub(super) fn outcome(outcome: &ArchivistOutcome) -> String {
    let summary = line(&outcome.summary);
    match outcome.status {
        OutcomeStatus::Reflected => {
            let (created, updated) = (outcome.memories_created, outcome.memories_updated);
            format!("Reflected: {created} new, {updated} seen again or changed. {summary}").trim_end().to_owned()
        }
        _ => format!("Not reflected on: {summary}"),
    }
}

/// That a reflection will come.
pub(super) fn waiting(waiting: &Waiting) -> String {
    let before = if waiting.is_known { "It had been asked for before" } else { "It is in the queue" };
    format!("{before}: session {} will be reflected on soon.", line(waiting.session.as_str()))
}

/// What a lesson rests on, where it was seen and given, and what came of that.
pub(super) fn grounds(grounds: &Grounds) -> String {
    let memory = &grounds.lesson.memory;
    let state = memory.state.as_ref().map_or_else(|| "not decided".to_owned(), ToString::to_string);
    let reason = memory.state_reason.as_ref().map(|reason| format!(", {}", line(reason))).unwrap_or_default();
    let mut lines = vec![
        format!("{}: {}", name(memory.alias.as_ref(), &memory.id), line(&memory.summary)),
        format!("It is {}{reason} ({}, importance {}).", line(&state), memory.kind, memory.importance),
    ];
    lines.extend(memory.rule.iter().map(|rule| format!("As a rule: {}", line(rule))));
    lines.extend(memory.detail.iter().map(|detail| format!("In detail: {}", line(detail))));
    section(&mut lines, "It rests on these words", &grounds.quotes, |quote: &Quote| {
        format!("“{}” (step {} of {})", line(&quote.text), quote.step, line(&quote.trajectory_id))
    });
    section(&mut lines, "It was seen in", &grounds.seen, |seen: &Seen| {
        let run = seen.session.as_ref().map_or_else(|| seen.episode.to_string(), ToString::to_string);
        format!("{} ({}, {})", line(&run), seen.at.format("%Y-%m-%d"), seen.level)
    });
    section(&mut lines, "It took in", &grounds.merged, |merged| brief(&merged.absorbed));
    section(&mut lines, "It is tied to", &grounds.related, |related| {
        format!("{}: {}", line(&related.relation), brief(&related.other))
    });
    section(&mut lines, "It was given to", &grounds.given, |given: &Given| {
        let effect = given.effect.as_ref().map(|effect| format!(", {effect}")).unwrap_or_default();
        format!("{} ({}, {}{effect})", line(given.run.as_str()), given.at.format("%Y-%m-%d"), given.exposure)
    });
    section(&mut lines, "It was judged", &grounds.feedback, |judged: &Judged| {
        format!("{} ({}, by {})", judged.verdict, judged.at.format("%Y-%m-%d"), judged.level)
    });
    lines.push(effect(&grounds.effect));
    lines.join("\n")
}

fn effect(measured: &Measured) -> String {
    let Measured { shown, held_back, .. } = measured;
    let verdict = match measured.verdict() {
        Verdict::Helps => "it helps",
        Verdict::Harms => "it does harm",
        Verdict::Unclear => "whether it helps is not known yet",
    };
    format!("Runs that had it: {shown}; runs that it was held back from: {held_back}; {verdict}.")
}

/// Lines of one sort under their heading, the first of them.
fn section<T>(lines: &mut Vec<String>, heading: &str, items: &[T], told: impl Fn(&T) -> String) {
    if items.is_empty() {
        return;
    }
    lines.push(format!("{heading}:"));
    lines.extend(items.iter().take(SHOWN).map(|item| format!("- {}", told(item))));
    let more = items.len().saturating_sub(SHOWN);
    lines.extend((more > 0).then(|| format!("- … and {more} more")));
}

fn brief(other: &Other) -> String {
    let state = other.state.as_ref().map(|state| format!(" ({state})")).unwrap_or_default();
    let summary = other.summary.as_deref().map(|summary| format!(" {}", line(summary))).unwrap_or_default();
    format!("{}{state}{summary}", name(other.alias.as_ref(), &other.id))
}

fn name(alias: Option<&impl ToString>, id: &impl ToString) -> String {
    line(&alias.map_or_else(|| id.to_string(), ToString::to_string))
}
