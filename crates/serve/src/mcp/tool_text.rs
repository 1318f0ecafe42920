//! The answers of the façade as a few lines of plain text for an agent.

use super::sanitized_output::sanitize_line;
use crate::api::QueuedReflection;
use archivist_core::domain::{AgentMemory, ArchivistOutcome, FeedbackVerdict, OutcomeStatus, Quote};
use archivist_core::recall::EffectVerdict;
use archivist_core::service::{
    LessonBrief, LessonEvidenceReport, LessonFeedback, LessonInjection, LessonSighting, MeasuredEffect,
    RecordedFeedback,
};

/// The most lines of one section; the structured answer has more of them.
const SHOWN: usize = 8;

/// Returns the block, or a sentence that there is none.
pub(super) fn describe_recall(block: &str) -> String {
    match block.trim() {
        "" => "Nothing is known about this. That is a good answer: go on without.".to_owned(),
        block => block.to_owned(),
    }
}

/// Describes the state of a lesson that an agent recorded.
pub(super) fn describe_recorded(lesson: &AgentMemory) -> String {
    let name = display_name(lesson.alias.as_ref(), &lesson.id);
    format!(
        "{name} is written down and waits for a person: no session is given it before `archivist approve {name}`. \
         There is nothing more to do."
    )
}

/// Describes the recorded feedback on each lesson.
pub(super) fn describe_feedback(noted: &[RecordedFeedback]) -> String {
    let one = |one: &RecordedFeedback| {
        let name = display_name(one.alias.as_ref(), &one.id);
        let verdict = match one.verdict {
            FeedbackVerdict::Validated => "held",
            _ => "was noise",
        };
        let news = if one.written { "" } else { " (known already)" };
        let turn = if one.regression { "; it had held before" } else { "" };
        format!("{name} {verdict} in {}, by {}{news}{turn}", sanitize_line(one.run.as_str()), one.level)
    };
    noted.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Describes the outcome of a reflection.
pub(super) fn describe_outcome(outcome: &ArchivistOutcome) -> String {
    let summary = sanitize_line(&outcome.summary);
    match outcome.status {
        OutcomeStatus::Reflected => {
            let (created, updated) = (outcome.memories_created, outcome.memories_updated);
            format!("Reflected: {created} new, {updated} seen again or changed. {summary}").trim_end().to_owned()
        }
        _ => format!("Not reflected on: {summary}"),
    }
}

/// Describes a reflection that waits in the queue.
pub(super) fn describe_queued(waiting: &QueuedReflection) -> String {
    let before = if waiting.is_known { "It had been asked for before" } else { "It is in the queue" };
    format!("{before}: session {} will be reflected on soon.", sanitize_line(waiting.session.as_str()))
}

/// Describes the evidence of a lesson, its sightings and injections, and its effect.
pub(super) fn describe_evidence(report: &LessonEvidenceReport) -> String {
    let memory = &report.lesson.memory;
    let state = memory.state.as_ref().map_or_else(|| "not decided".to_owned(), ToString::to_string);
    let reason = memory.state_reason.as_ref().map(|reason| format!(", {}", sanitize_line(reason))).unwrap_or_default();
    let mut lines = vec![
        format!("{}: {}", display_name(memory.alias.as_ref(), &memory.id), sanitize_line(&memory.summary)),
        format!("It is {}{reason} ({}, importance {}).", sanitize_line(&state), memory.kind, memory.importance),
    ];
    lines.extend(memory.rule.iter().map(|rule| format!("As a rule: {}", sanitize_line(rule))));
    lines.extend(memory.detail.iter().map(|detail| format!("In detail: {}", sanitize_line(detail))));
    push_section(&mut lines, "It rests on these words", &report.quotes, |quote: &Quote| {
        format!("“{}” (step {} of {})", sanitize_line(&quote.text), quote.step, sanitize_line(&quote.trajectory_id))
    });
    push_section(&mut lines, "It was seen in", &report.seen, |seen: &LessonSighting| {
        let run = seen.session.as_ref().map_or_else(|| seen.episode.to_string(), ToString::to_string);
        format!("{} ({}, {})", sanitize_line(&run), seen.at.format("%Y-%m-%d"), seen.level)
    });
    push_section(&mut lines, "It took in", &report.merged, |merged| describe_related(&merged.absorbed));
    push_section(&mut lines, "It is tied to", &report.related, |related| {
        format!("{}: {}", sanitize_line(&related.relation), describe_related(&related.other))
    });
    push_section(&mut lines, "It was given to", &report.given, |given: &LessonInjection| {
        let effect = given.effect.as_ref().map(|effect| format!(", {effect}")).unwrap_or_default();
        format!("{} ({}, {}{effect})", sanitize_line(given.run.as_str()), given.at.format("%Y-%m-%d"), given.exposure)
    });
    push_section(&mut lines, "It was judged", &report.feedback, |judged: &LessonFeedback| {
        format!("{} ({}, by {})", judged.verdict, judged.at.format("%Y-%m-%d"), judged.level)
    });
    lines.push(describe_effect(&report.effect));
    lines.join("\n")
}

fn describe_effect(measured: &MeasuredEffect) -> String {
    let MeasuredEffect { shown, held_back, .. } = measured;
    let verdict = match measured.verdict() {
        EffectVerdict::Helps => "it helps",
        EffectVerdict::Harms => "it does harm",
        EffectVerdict::Unclear => "whether it helps is not known yet",
    };
    format!("Runs that had it: {shown}; runs that it was held back from: {held_back}; {verdict}.")
}

/// Appends a heading and the first items of a section.
fn push_section<T>(lines: &mut Vec<String>, heading: &str, items: &[T], told: impl Fn(&T) -> String) {
    if items.is_empty() {
        return;
    }
    lines.push(format!("{heading}:"));
    lines.extend(items.iter().take(SHOWN).map(|item| format!("- {}", told(item))));
    let more = items.len().saturating_sub(SHOWN);
    lines.extend((more > 0).then(|| format!("- … and {more} more")));
}

fn describe_related(other: &LessonBrief) -> String {
    let state = other.state.as_ref().map(|state| format!(" ({state})")).unwrap_or_default();
    let summary = other.summary.as_deref().map(|summary| format!(" {}", sanitize_line(summary))).unwrap_or_default();
    format!("{}{state}{summary}", display_name(other.alias.as_ref(), &other.id))
}

fn display_name(alias: Option<&impl ToString>, id: &impl ToString) -> String {
    sanitize_line(&alias.map_or_else(|| id.to_string(), ToString::to_string))
}
