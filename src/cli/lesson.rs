//! A lesson as a person reads it: its name, its line, its sheet.

use super::console::{Console, Style};
use super::failure::Failure;
use super::prose::{count, list, moment, one_line, paragraphs, wrap};
use crate::domain::{AgentMemory, Counters, Evidence, Facet, Facets, Quote};
use crate::memory::Lesson;

/// Where the values of a sheet begin.
const LABEL_COLUMNS: usize = 14;
/// How far the paragraphs stand in.
const INDENT: usize = 2;
/// Text wider than this is hard to read.
const WIDEST_TEXT: usize = 100;

/// What people call a lesson.
pub(super) fn name(memory: &AgentMemory) -> &str {
    memory.alias.as_ref().map_or_else(|| memory.id.as_str(), |alias| alias.as_str())
}

/// A lesson on one line, as commands that change one print it.
pub(super) fn short(memory: &AgentMemory) -> String {
    format!("{}  {}", name(memory), one_line(&memory.summary))
}

/// Everything about a lesson.
pub(super) fn print_sheet(lesson: &Lesson, console: &mut Console) -> Result<(), Failure> {
    let memory = &lesson.memory;
    let mut sheet = Sheet { columns: console.columns().min(WIDEST_TEXT), console };
    sheet.title(name(memory), &memory.summary)?;
    for text in [&memory.rule, &memory.detail].into_iter().flatten() {
        sheet.paragraphs(text)?;
    }
    sheet.console.line("")?;
    sheet.entry("Kind", &format!("{}, {}, scope {}", memory.kind, memory.category, memory.scope))?;
    sheet.entry("State", &state(memory))?;
    sheet.entry("Importance", &importance(memory))?;
    sheet.entry("Tags", &list(&memory.tags))?;
    sheet.entry("About", &about(&memory.facets))?;
    sheet.entry("Project", &list([&memory.repo_id, &memory.project_root].into_iter().flatten()))?;
    sheet.entry("Seen", &seen(&lesson.counters))?;
    sheet.entry("Used", &used(&lesson.counters))?;
    sheet.entry("Feedback", &feedback(&lesson.counters))?;
    sheet.evidence(&memory.evidence)?;
    sheet.entry("Links", &list(memory.links.iter().map(|link| format!("{} {}", link.relation, link.to))))?;
    sheet.entry("Source", memory.source.as_str())?;
    sheet.entry("Version", &version(lesson))?;
    sheet.entry("Id", memory.id.as_str())
}

/// Lines under construction.
struct Sheet<'a> {
    console: &'a mut Console,
    columns: usize,
}

impl Sheet<'_> {
    fn title(&mut self, name: &str, summary: &str) -> Result<(), Failure> {
        let indent = name.len() + INDENT;
        let mut begin = format!("{name}  ");
        for line in wrap(&one_line(summary), self.columns.saturating_sub(indent)) {
            let line = self.console.styled(Style::Bold, &line);
            self.console.line(&format!("{begin}{line}"))?;
            begin = " ".repeat(indent);
        }
        Ok(())
    }

    fn paragraphs(&mut self, text: &str) -> Result<(), Failure> {
        self.console.line("")?;
        for paragraph in paragraphs(text) {
            for line in wrap(&paragraph, self.columns.saturating_sub(INDENT)) {
                let line = format!("{:INDENT$}{line}", "");
                self.console.line(line.trim_end())?;
            }
        }
        Ok(())
    }

    /// A label and its value; nothing at all where there is no value.
    fn entry(&mut self, label: &str, value: &str) -> Result<(), Failure> {
        let value = one_line(value);
        if value.is_empty() {
            return Ok(());
        }
        let mut begin = self.console.styled(Style::Dim, &format!("{label:LABEL_COLUMNS$}"));
        for line in wrap(&value, self.columns.saturating_sub(LABEL_COLUMNS)) {
            self.console.line(&format!("{begin}{line}"))?;
            begin = " ".repeat(LABEL_COLUMNS);
        }
        Ok(())
    }

    fn evidence(&mut self, evidence: &Evidence) -> Result<(), Failure> {
        self.entry("Episodes", &list(&evidence.episode_ids))?;
        self.entry("Sessions", &list(&evidence.session_ids))?;
        self.entry("Trajectories", &list(&evidence.trajectory_ids))?;
        self.entry("Logs", &list(&evidence.run_log_paths))?;
        for quote in &evidence.quotes {
            self.entry("Quote", &in_words(quote))?;
        }
        Ok(())
    }
}

fn in_words(quote: &Quote) -> String {
    let Quote { text, trajectory_id, step, level, trust, .. } = quote;
    format!("“{text}” ({level}, {trust}, step {step} of {trajectory_id})")
}

fn state(memory: &AgentMemory) -> String {
    let mut text = memory.state.as_ref().map_or_else(|| "not decided".to_owned(), ToString::to_string);
    if let Some(replacement) = &memory.superseded_by {
        text.push_str(&format!(", replaced by {replacement}"));
    }
    if let Some(reason) = &memory.state_reason {
        text.push_str(&format!(": {reason}"));
    }
    text
}

fn importance(memory: &AgentMemory) -> String {
    let severity = memory.severity.as_ref().map(|severity| format!("severity {severity}"));
    let evergreen = memory.evergreen.then(|| "evergreen".to_owned());
    list([Some(memory.importance.to_string()), severity, evergreen].into_iter().flatten())
}

fn about(facets: &Facets) -> String {
    let said = |facet: Facet| facets.get(facet).map(|value| format!("{} {value}", facet.as_str()));
    list(Facet::ALL.into_iter().filter_map(said))
}

fn seen(counters: &Counters) -> String {
    let last = counters.last_seen_at.map(|at| format!("last on {}", moment(at)));
    list([Some(count(counters.sightings, "time", "times")), last].into_iter().flatten())
}

fn used(counters: &Counters) -> String {
    let held_back = (counters.withheld > 0).then(|| format!("held back {}", count(counters.withheld, "time", "times")));
    let last = counters.last_used_at.map(|at| format!("last on {}", moment(at)));
    list([Some(count(counters.exposures, "time", "times")), last, held_back].into_iter().flatten())
}

fn feedback(counters: &Counters) -> String {
    if counters.validated == 0.0 && counters.ignored == 0.0 {
        return String::new();
    }
    let Counters { validated, ignored, .. } = counters;
    format!("validated {validated:.1}, ignored {ignored:.1}, trust {:.2}", counters.trust())
}

fn version(lesson: &Lesson) -> String {
    let memory = &lesson.memory;
    let restored = memory.restored_from.map(|version| format!("restored from version {version}"));
    let changed = memory.updated_at.map(|at| format!("changed {}", moment(at)));
    let created = format!("created {}", moment(memory.created_at));
    list([Some(lesson.version.to_string()), restored, Some(created), changed].into_iter().flatten())
}
