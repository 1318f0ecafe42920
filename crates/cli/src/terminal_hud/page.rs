//! Renders the page about the selected row: a lesson with its evidence, a session or a job.

use ratatui::style::Style;
use ratatui::text::Line;

use super::super::text_format::{
    format_count, format_elapsed, format_number, format_timestamp, join_with_commas, split_paragraphs,
};
use super::page_builder::PageBuilder;
use super::rows::{ListRow, MemoryRows, RowSubject, truncate_text};
use super::styles::HudTheme;
use crate::commands::effect::{BAR_HEADING, draw_interval, format_difference};
use crate::commands::why::evidence_words::{
    describe_evidence_level, describe_feedback, describe_injection, describe_lesson, describe_quote_source,
    describe_relation, describe_verdict,
};
use archivist_core::domain::{
    AgentMemory, Engine, Episode, EpisodeStatus, EpisodeUsage, LessonCounters, MemoryState, Quote, SessionId, Timestamp,
};
use archivist_core::recall::EffectVerdict;
use archivist_core::service::JobFolder;
use archivist_core::service::{
    JobReport, LessonEvidenceReport, LessonFeedback, LessonInjection, LessonSighting, MeasuredEffect, RelatedLesson,
};

/// The most items of one kind that are shown; `archivist why` shows the others.
const SHOWN: usize = 12;

/// Renders the page about a lesson with its evidence report.
pub(super) fn render_lesson(report: &LessonEvidenceReport, columns: u16, ink: HudTheme) -> Vec<Line<'static>> {
    let mut sheet = PageBuilder::new(columns, ink);
    let memory = &report.lesson.memory;
    sheet.add_text(&memory.summary, ink.title_style());
    for text in [&memory.rule, &memory.detail].into_iter().flatten() {
        sheet.add_gap();
        split_paragraphs(truncate_text(text)).iter().for_each(|paragraph| sheet.add_text(paragraph, Style::new()));
    }
    render_state(memory, &report.lesson.counters, &mut sheet);
    render_quotes(&report.quotes, &mut sheet);
    render_effect(&report.effect, &mut sheet);
    render_sightings(&report.seen, &mut sheet);
    render_related(&report.related, &mut sheet);
    render_injections(&report.given, &mut sheet);
    render_feedback(&report.feedback, &mut sheet);
    sheet.into_lines()
}

/// Renders the page about a lesson whose evidence report is missing, with the reason.
pub(super) fn render_lesson_brief(row: &ListRow, why: &str, columns: u16, ink: HudTheme) -> Vec<Line<'static>> {
    let mut sheet = PageBuilder::new(columns, ink);
    sheet.add_text(&row.text, ink.title_style());
    sheet.add_gap();
    sheet.add_text(why, ink.faint_style());
    sheet.into_lines()
}

/// Renders the page about a session's episode and the lessons learned from it.
pub(super) fn render_episode(episode: &Episode, known: &MemoryRows, columns: u16, ink: HudTheme) -> Vec<Line<'static>> {
    let mut sheet = PageBuilder::new(columns, ink);
    let style = match episode.status {
        EpisodeStatus::Success => ink.success_style(),
        EpisodeStatus::Failed => ink.error_style(),
        _ => Style::new(),
    };
    sheet.add_text(&episode.summary, ink.title_style());
    sheet.add_gap();
    sheet.add_entry("Session", episode.session_id.as_str());
    sheet.add_styled_entry("Ended", &format!("{}, {}", episode.status, format_timestamp(episode.finished_at)), style);
    sheet.add_entry("Began", &format_timestamp(episode.started_at));
    sheet.add_entry("Task", episode.task_id.as_deref().unwrap_or_default());
    sheet.add_entry("Kind", episode.kind.as_str());
    sheet.add_entry("Cost", &episode.usage.as_ref().map(format_usage).unwrap_or_default());
    sheet.add_entry("Tags", &join_with_commas(&episode.tags));
    if let Some(reflected) = &episode.reflected {
        let by = match &reflected.engine {
            Engine::Heuristic => "by rules",
            Engine::Model => "by a model",
            Engine::Other(word) => word,
        };
        sheet.add_section(&format!("It was reflected on, {by}"));
        let told = &reflected.reflection;
        sheet.add_indented(&told.outcome, Style::new());
        for (label, texts) in [("worked", &told.worked), ("failed", &told.failed), ("decided", &told.decisions)] {
            texts.iter().take(SHOWN).for_each(|text| sheet.add_labelled(label, text));
        }
    }
    render_learned(&episode.session_id, known, &mut sheet);
    sheet.into_lines()
}

/// Renders the page about a job.
pub(super) fn render_job(job: &JobReport, columns: u16, ink: HudTheme) -> Vec<Line<'static>> {
    let mut sheet = PageBuilder::new(columns, ink);
    let (place, style) = match job.place {
        JobFolder::New => ("waits for a worker", Style::new()),
        JobFolder::Claimed => ("a worker has it", ink.success_style()),
        JobFolder::Dead => ("was given up; it waits for a person", ink.error_style()),
        JobFolder::Done => ("is done", ink.faint_style()),
    };
    sheet.add_text(job.display_name(), ink.title_style());
    sheet.add_gap();
    sheet.add_styled_entry("State", place, style);
    sheet.add_entry("Age", &format_elapsed(job.age_seconds));
    sheet.add_entry("Asked by", &join_with_commas([&job.agent, &job.event].into_iter().flatten()));
    sheet.add_entry("Tried", &format_count(job.attempts, "time in vain", "times in vain"));
    sheet.add_entry("Not before", &job.not_before.map(format_timestamp).unwrap_or_default());
    sheet.add_entry("Last word", job.note.as_deref().unwrap_or_default());
    sheet.add_entry("File", &job.name);
    if job.place == JobFolder::Dead {
        sheet.add_gap();
        sheet.add_text("`archivist worker --once --retry-dead` tries it again.", ink.faint_style());
    }
    sheet.into_lines()
}

/// Renders the state of a lesson. For a quarantined lesson the reason comes first.
fn render_state(memory: &AgentMemory, counters: &LessonCounters, sheet: &mut PageBuilder) {
    let ink = sheet.theme();
    let is_quarantined = memory.state == Some(MemoryState::Quarantined);
    let reason = memory.state_reason.as_deref();
    if is_quarantined {
        sheet.add_section("Why it is in quarantine");
        sheet.add_indented(reason.unwrap_or("nobody said why"), ink.caution_style());
        sheet.add_indented("It is given to nobody until you approve it: a approves, r rejects.", ink.faint_style());
    }
    sheet.add_gap();
    let state = memory.state.as_ref().map_or_else(|| "not decided".to_owned(), ToString::to_string);
    let style = match memory.state {
        Some(MemoryState::Quarantined) => ink.caution_style(),
        Some(MemoryState::Active | MemoryState::Verified) => ink.success_style(),
        _ => Style::new(),
    };
    let why = reason.filter(|_| !is_quarantined).map(|why| format!(": {why}")).unwrap_or_default();
    sheet.add_styled_entry("State", &format!("{state}{why}"), style);
    sheet.add_entry("Kind", &format!("{}, {}, scope {}", memory.kind, memory.category, memory.scope));
    sheet.add_entry("Importance", &memory.importance.to_string());
    sheet.add_entry("Learned", &format_timestamp(memory.created_at));
    let often = |number: u64, last: Option<Timestamp>| {
        join_with_commas(
            [Some(format_count(number, "time", "times")), last.map(|at| format!("last on {}", format_timestamp(at)))]
                .into_iter()
                .flatten(),
        )
    };
    sheet.add_entry("Seen", &often(counters.sightings, counters.last_seen_at));
    sheet.add_entry("Given", &often(counters.exposures, counters.last_used_at));
    sheet.add_entry("Tags", &join_with_commas(&memory.tags));
}

/// Renders the quotes, each followed by its source.
fn render_quotes(quotes: &[Quote], sheet: &mut PageBuilder) {
    if quotes.is_empty() {
        return;
    }
    sheet.add_section("It rests on");
    for quote in quotes.iter().take(SHOWN) {
        sheet.add_indented(&format!("“{}”", quote.text), Style::new());
        let place = format!("{}, step {} of {}", describe_quote_source(quote), quote.step, quote.trajectory_id);
        sheet.add_twice_indented(&place, sheet.theme().faint_style());
    }
    render_remainder(quotes.len(), sheet);
}

/// Renders the measured effect of a lesson and its interval.
fn render_effect(measured: &MeasuredEffect, sheet: &mut PageBuilder) {
    if measured.arms.exposed.runs + measured.arms.withheld.runs == 0 {
        return;
    }
    let style = match measured.verdict() {
        EffectVerdict::Helps => sheet.theme().success_style(),
        EffectVerdict::Harms => sheet.theme().error_style(),
        EffectVerdict::Unclear => Style::new(),
    };
    sheet.add_section(&format!("Does it help? {}", describe_verdict(measured.verdict())));
    if let Some(estimate) = &measured.estimate {
        sheet.add_drawing(BAR_HEADING, sheet.theme().faint_style());
        sheet.add_drawing(&draw_interval(estimate), style);
        sheet.add_indented(&format!("{} %; below 0 it helps", format_difference(estimate)), Style::new());
    }
    sheet.add_indented(&format!("The trouble {}.", measured.arms), Style::new());
}

fn render_sightings(seen: &[LessonSighting], sheet: &mut PageBuilder) {
    if seen.is_empty() {
        return;
    }
    sheet.add_section(&format!("It was seen in {}", format_count(seen.len(), "run", "runs")));
    for one in seen.iter().take(SHOWN) {
        let session = one.session.as_ref().map_or_else(|| one.episode.to_string(), ToString::to_string);
        let status = one.status.as_ref().map(|status| format!("{status}, ")).unwrap_or_default();
        sheet.add_labelled(
            &format_timestamp(one.at),
            &format!("{session} ({status}{})", describe_evidence_level(&one.level)),
        );
        if let Some(summary) = &one.summary {
            sheet.add_twice_indented(summary, sheet.theme().faint_style());
        }
    }
    render_remainder(seen.len(), sheet);
}

fn render_related(related: &[RelatedLesson], sheet: &mut PageBuilder) {
    if related.is_empty() {
        return;
    }
    sheet.add_section("Beside others it");
    for one in related.iter().take(SHOWN) {
        sheet.add_labelled(describe_relation(one), &describe_lesson(&one.other));
    }
    render_remainder(related.len(), sheet);
}

fn render_injections(given: &[LessonInjection], sheet: &mut PageBuilder) {
    if given.is_empty() {
        return;
    }
    sheet.add_section("It was chosen for");
    for one in given.iter().take(SHOWN) {
        sheet.add_labelled(&format_timestamp(one.at), &describe_injection(one));
    }
    render_remainder(given.len(), sheet);
}

fn render_feedback(feedback: &[LessonFeedback], sheet: &mut PageBuilder) {
    if feedback.is_empty() {
        return;
    }
    sheet.add_section("People and programs said");
    for one in feedback.iter().take(SHOWN) {
        sheet.add_labelled(&format_timestamp(one.at), &describe_feedback(one));
    }
    render_remainder(feedback.len(), sheet);
}

fn render_learned(session: &SessionId, known: &MemoryRows, sheet: &mut PageBuilder) {
    let here = |subject: &RowSubject| match subject {
        RowSubject::Lesson { sessions, .. } => sessions.contains(session),
        RowSubject::Run(_) | RowSubject::Job(_) => false,
    };
    let lessons: Vec<_> = known.all_lessons().filter(|row| here(&row.subject)).collect();
    if lessons.is_empty() {
        return;
    }
    sheet.add_section("It taught");
    for row in lessons.iter().take(SHOWN) {
        sheet.add_labelled(&row.name, &row.text);
    }
    render_remainder(lessons.len(), sheet);
}

fn render_remainder(all: usize, sheet: &mut PageBuilder) {
    let left = all.saturating_sub(SHOWN);
    if left > 0 {
        sheet.add_indented(&format!("and {left} more"), sheet.theme().faint_style());
    }
}

fn format_usage(usage: &EpisodeUsage) -> String {
    let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    let tokens = (tokens > 0).then(|| format!("{} tokens", format_number(tokens)));
    join_with_commas([tokens, usage.cost_usd.map(|usd| format!("${usd:.2}"))].into_iter().flatten())
}
