//! The page on what is selected: a lesson with its grounds, a run, a job.

use ratatui::style::Style;
use ratatui::text::Line;

use super::super::effect::{BAR_HEADING, bar, difference};
use super::super::prose::{count, elapsed, grouped, list, moment, paragraphs};
use super::super::why::words::{answer, brief, chosen, judgement, proof, relation, whose};
use super::ink::Ink;
use super::rows::{Known, Row, Subject, bounded};
use super::sheet::Sheet;
use crate::desk::{Given, Grounds, JobReport, Judged, Measured, Related, Seen};
use crate::domain::{
    AgentMemory, Counters, Engine, Episode, EpisodeStatus, EpisodeUsage, MemoryState, Quote, SessionId, Timestamp,
};
use crate::recall::Verdict;
use crate::service::Place;

/// How many things of one kind are shown; `archivist why` tells the others.
const SHOWN: usize = 12;

/// Everything about a lesson.
pub(super) fn lesson(grounds: &Grounds, columns: u16, ink: Ink) -> Vec<Line<'static>> {
    let mut sheet = Sheet::new(columns, ink);
    let memory = &grounds.lesson.memory;
    sheet.text(&memory.summary, ink.title());
    for text in [&memory.rule, &memory.detail].into_iter().flatten() {
        sheet.gap();
        paragraphs(bounded(text)).iter().for_each(|paragraph| sheet.text(paragraph, Style::new()));
    }
    standing(memory, &grounds.lesson.counters, &mut sheet);
    quotes(&grounds.quotes, &mut sheet);
    effect(&grounds.effect, &mut sheet);
    seen(&grounds.seen, &mut sheet);
    related(&grounds.related, &mut sheet);
    given(&grounds.given, &mut sheet);
    feedback(&grounds.feedback, &mut sheet);
    sheet.lines()
}

/// What the list says of a lesson, as long as that is all, and why it is.
pub(super) fn brief_of(row: &Row, why: &str, columns: u16, ink: Ink) -> Vec<Line<'static>> {
    let mut sheet = Sheet::new(columns, ink);
    sheet.text(&row.text, ink.title());
    sheet.gap();
    sheet.text(why, ink.faint());
    sheet.lines()
}

/// Everything about a run, and what was learned in it.
pub(super) fn run(episode: &Episode, known: &Known, columns: u16, ink: Ink) -> Vec<Line<'static>> {
    let mut sheet = Sheet::new(columns, ink);
    let style = match episode.status {
        EpisodeStatus::Success => ink.good(),
        EpisodeStatus::Failed => ink.alarm(),
        _ => Style::new(),
    };
    sheet.text(&episode.summary, ink.title());
    sheet.gap();
    sheet.entry("Session", episode.session_id.as_str());
    sheet.marked("Ended", &format!("{}, {}", episode.status, moment(episode.finished_at)), style);
    sheet.entry("Began", &moment(episode.started_at));
    sheet.entry("Task", episode.task_id.as_deref().unwrap_or_default());
    sheet.entry("Kind", episode.kind.as_str());
    sheet.entry("Cost", &episode.usage.as_ref().map(cost).unwrap_or_default());
    sheet.entry("Tags", &list(&episode.tags));
    if let Some(reflected) = &episode.reflected {
        let by = match &reflected.engine {
            Engine::Heuristic => "by rules",
            Engine::Model => "by a model",
            Engine::Other(word) => word,
        };
        sheet.section(&format!("It was reflected on, {by}"));
        let told = &reflected.reflection;
        sheet.indented(&told.outcome, Style::new());
        for (label, texts) in [("worked", &told.worked), ("failed", &told.failed), ("decided", &told.decisions)] {
            texts.iter().take(SHOWN).for_each(|text| sheet.dated(label, text));
        }
    }
    learned(&episode.session_id, known, &mut sheet);
    sheet.lines()
}

/// Everything about a job.
pub(super) fn job(job: &JobReport, columns: u16, ink: Ink) -> Vec<Line<'static>> {
    let mut sheet = Sheet::new(columns, ink);
    let (place, style) = match job.place {
        Place::New => ("waits for a worker", Style::new()),
        Place::Claimed => ("a worker has it", ink.good()),
        Place::Dead => ("was given up; it waits for a person", ink.alarm()),
        Place::Done => ("is done", ink.faint()),
    };
    sheet.text(job.subject(), ink.title());
    sheet.gap();
    sheet.marked("State", place, style);
    sheet.entry("Age", &elapsed(job.age_seconds));
    sheet.entry("Asked by", &list([&job.agent, &job.event].into_iter().flatten()));
    sheet.entry("Tried", &count(job.attempts, "time in vain", "times in vain"));
    sheet.entry("Not before", &job.not_before.map(moment).unwrap_or_default());
    sheet.entry("Last word", job.note.as_deref().unwrap_or_default());
    sheet.entry("File", &job.name);
    if job.place == Place::Dead {
        sheet.gap();
        sheet.text("It is tried again when its file is moved from queue/dead to queue/new.", ink.faint());
    }
    sheet.lines()
}

/// How a lesson stands. Where it waits for a person, why it does comes first.
fn standing(memory: &AgentMemory, counters: &Counters, sheet: &mut Sheet) {
    let ink = sheet.ink();
    let is_quarantined = memory.state == Some(MemoryState::Quarantined);
    let reason = memory.state_reason.as_deref();
    if is_quarantined {
        sheet.section("Why it is in quarantine");
        sheet.indented(reason.unwrap_or("nobody said why"), ink.care());
        sheet.indented("It is given to nobody until you approve it: a approves, r rejects.", ink.faint());
    }
    sheet.gap();
    let state = memory.state.as_ref().map_or_else(|| "not decided".to_owned(), ToString::to_string);
    let style = match memory.state {
        Some(MemoryState::Quarantined) => ink.care(),
        Some(MemoryState::Active | MemoryState::Verified) => ink.good(),
        _ => Style::new(),
    };
    let why = reason.filter(|_| !is_quarantined).map(|why| format!(": {why}")).unwrap_or_default();
    sheet.marked("State", &format!("{state}{why}"), style);
    sheet.entry("Kind", &format!("{}, {}, scope {}", memory.kind, memory.category, memory.scope));
    sheet.entry("Importance", &memory.importance.to_string());
    sheet.entry("Learned", &moment(memory.created_at));
    let often = |number: u64, last: Option<Timestamp>| {
        list(
            [Some(count(number, "time", "times")), last.map(|at| format!("last on {}", moment(at)))]
                .into_iter()
                .flatten(),
        )
    };
    sheet.entry("Seen", &often(counters.sightings, counters.last_seen_at));
    sheet.entry("Given", &often(counters.exposures, counters.last_used_at));
    sheet.entry("Tags", &list(&memory.tags));
}

/// The words, and under them whose they are.
fn quotes(quotes: &[Quote], sheet: &mut Sheet) {
    if quotes.is_empty() {
        return;
    }
    sheet.section("It rests on");
    for quote in quotes.iter().take(SHOWN) {
        sheet.indented(&format!("“{}”", quote.text), Style::new());
        let place = format!("{}, step {} of {}", whose(quote), quote.step, quote.trajectory_id);
        sheet.deeper(&place, sheet.ink().faint());
    }
    more(quotes.len(), sheet);
}

/// Whether it helps, with the interval drawn.
fn effect(measured: &Measured, sheet: &mut Sheet) {
    if measured.arms.exposed.runs + measured.arms.withheld.runs == 0 {
        return;
    }
    let style = match measured.verdict() {
        Verdict::Helps => sheet.ink().good(),
        Verdict::Harms => sheet.ink().alarm(),
        Verdict::Unclear => Style::new(),
    };
    sheet.section(&format!("Does it help? {}", answer(measured.verdict())));
    if let Some(estimate) = &measured.estimate {
        sheet.picture(BAR_HEADING, sheet.ink().faint());
        sheet.picture(&bar(estimate), style);
        sheet.indented(&format!("{} %; below 0 it helps", difference(estimate)), Style::new());
    }
    sheet.indented(&format!("The trouble {}.", measured.arms), Style::new());
}

fn seen(seen: &[Seen], sheet: &mut Sheet) {
    if seen.is_empty() {
        return;
    }
    sheet.section(&format!("It was seen in {}", count(seen.len(), "run", "runs")));
    for one in seen.iter().take(SHOWN) {
        let session = one.session.as_ref().map_or_else(|| one.episode.to_string(), ToString::to_string);
        let status = one.status.as_ref().map(|status| format!("{status}, ")).unwrap_or_default();
        sheet.dated(&moment(one.at), &format!("{session} ({status}{})", proof(&one.level)));
        if let Some(summary) = &one.summary {
            sheet.deeper(summary, sheet.ink().faint());
        }
    }
    more(seen.len(), sheet);
}

fn related(related: &[Related], sheet: &mut Sheet) {
    if related.is_empty() {
        return;
    }
    sheet.section("Beside others it");
    for one in related.iter().take(SHOWN) {
        sheet.dated(relation(one), &brief(&one.other));
    }
    more(related.len(), sheet);
}

fn given(given: &[Given], sheet: &mut Sheet) {
    if given.is_empty() {
        return;
    }
    sheet.section("It was chosen for");
    for one in given.iter().take(SHOWN) {
        sheet.dated(&moment(one.at), &chosen(one));
    }
    more(given.len(), sheet);
}

fn feedback(feedback: &[Judged], sheet: &mut Sheet) {
    if feedback.is_empty() {
        return;
    }
    sheet.section("People and programs said");
    for one in feedback.iter().take(SHOWN) {
        sheet.dated(&moment(one.at), &judgement(one));
    }
    more(feedback.len(), sheet);
}

fn learned(session: &SessionId, known: &Known, sheet: &mut Sheet) {
    let here = |subject: &Subject| match subject {
        Subject::Lesson { sessions, .. } => sessions.contains(session),
        Subject::Run(_) | Subject::Job(_) => false,
    };
    let lessons: Vec<_> = known.all_lessons().filter(|row| here(&row.subject)).collect();
    if lessons.is_empty() {
        return;
    }
    sheet.section("It taught");
    for row in lessons.iter().take(SHOWN) {
        sheet.dated(&row.name, &row.text);
    }
    more(lessons.len(), sheet);
}

fn more(all: usize, sheet: &mut Sheet) {
    let left = all.saturating_sub(SHOWN);
    if left > 0 {
        sheet.indented(&format!("and {left} more"), sheet.ink().faint());
    }
}

fn cost(usage: &EpisodeUsage) -> String {
    let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    let tokens = (tokens > 0).then(|| format!("{} tokens", grouped(tokens)));
    list([tokens, usage.cost_usd.map(|usd| format!("${usd:.2}"))].into_iter().flatten())
}
