//! Formats a lesson for people: its name, its summary line and its full sheet.

use super::cli_error::CliError;
use super::console::{Console, TextStyle};
use super::text_format::{format_count, format_timestamp, join_with_commas, one_line, split_paragraphs, wrap_words};
use archivist_core::domain::{AgentMemory, Evidence, Facet, FacetValues, LessonCounters, Quote};
use archivist_core::memory::Lesson;

/// The width of the labels of a sheet.
const LABEL_COLUMNS: usize = 14;
/// The indentation of paragraphs.
const INDENT: usize = 2;
/// The widest column of text that is easy to read.
const WIDEST_TEXT: usize = 100;

/// Returns the alias of a lesson, or its id if it has none.
pub(super) fn display_name(memory: &AgentMemory) -> &str {
    memory.alias.as_ref().map_or_else(|| memory.id.as_str(), |alias| alias.as_str())
}

/// Returns the name and summary of a lesson on one line, as commands that change a lesson print it.
pub(super) fn summary_line(memory: &AgentMemory) -> String {
    format!("{}  {}", display_name(memory), one_line(&memory.summary))
}

/// Prints everything about a lesson.
pub(super) fn print_sheet(lesson: &Lesson, console: &mut Console) -> Result<(), CliError> {
    let memory = &lesson.memory;
    let mut sheet = LessonSheet { columns: console.columns().min(WIDEST_TEXT), console };
    sheet.print_title(display_name(memory), &memory.summary)?;
    for text in [&memory.rule, &memory.detail].into_iter().flatten() {
        sheet.print_paragraphs(text)?;
    }
    sheet.console.print_line("")?;
    sheet.print_entry("Kind", &format!("{}, {}, scope {}", memory.kind, memory.category, memory.scope))?;
    sheet.print_entry("State", &describe_state(memory))?;
    sheet.print_entry("Importance", &describe_importance(memory))?;
    sheet.print_entry("Tags", &join_with_commas(&memory.tags))?;
    sheet.print_entry("About", &describe_facets(&memory.facets))?;
    sheet.print_entry("Project", &join_with_commas([&memory.repo_id, &memory.project_root].into_iter().flatten()))?;
    sheet.print_entry("Seen", &describe_sightings(&lesson.counters))?;
    sheet.print_entry("Used", &describe_injections(&lesson.counters))?;
    sheet.print_entry("Feedback", &describe_feedback(&lesson.counters))?;
    sheet.print_evidence(&memory.evidence)?;
    sheet.print_entry(
        "Links",
        &join_with_commas(memory.links.iter().map(|link| format!("{} {}", link.relation, link.to))),
    )?;
    sheet.print_entry("Source", memory.source.as_str())?;
    sheet.print_entry("Version", &describe_version(lesson))?;
    sheet.print_entry("Id", memory.id.as_str())
}

/// Prints the lines of a lesson's sheet.
struct LessonSheet<'a> {
    console: &'a mut Console,
    columns: usize,
}

impl LessonSheet<'_> {
    fn print_title(&mut self, name: &str, summary: &str) -> Result<(), CliError> {
        let indent = name.len() + INDENT;
        let mut begin = format!("{name}  ");
        for line in wrap_words(&one_line(summary), self.columns.saturating_sub(indent)) {
            let line = self.console.style_text(TextStyle::Bold, &line);
            self.console.print_line(&format!("{begin}{line}"))?;
            begin = " ".repeat(indent);
        }
        Ok(())
    }

    fn print_paragraphs(&mut self, text: &str) -> Result<(), CliError> {
        self.console.print_line("")?;
        for paragraph in split_paragraphs(text) {
            for line in wrap_words(&paragraph, self.columns.saturating_sub(INDENT)) {
                let line = format!("{:INDENT$}{line}", "");
                self.console.print_line(line.trim_end())?;
            }
        }
        Ok(())
    }

    /// Prints a label and its value, or nothing if the value is empty.
    fn print_entry(&mut self, label: &str, value: &str) -> Result<(), CliError> {
        let value = one_line(value);
        if value.is_empty() {
            return Ok(());
        }
        let mut begin = self.console.style_text(TextStyle::Dim, &format!("{label:LABEL_COLUMNS$}"));
        for line in wrap_words(&value, self.columns.saturating_sub(LABEL_COLUMNS)) {
            self.console.print_line(&format!("{begin}{line}"))?;
            begin = " ".repeat(LABEL_COLUMNS);
        }
        Ok(())
    }

    fn print_evidence(&mut self, evidence: &Evidence) -> Result<(), CliError> {
        self.print_entry("Episodes", &join_with_commas(&evidence.episode_ids))?;
        self.print_entry("Sessions", &join_with_commas(&evidence.session_ids))?;
        self.print_entry("Trajectories", &join_with_commas(&evidence.trajectory_ids))?;
        self.print_entry("Logs", &join_with_commas(&evidence.run_log_paths))?;
        for quote in &evidence.quotes {
            self.print_entry("Quote", &describe_quote(quote))?;
        }
        Ok(())
    }
}

fn describe_quote(quote: &Quote) -> String {
    let Quote { text, trajectory_id, step, level, trust, .. } = quote;
    format!("“{text}” ({level}, {trust}, step {step} of {trajectory_id})")
}

fn describe_state(memory: &AgentMemory) -> String {
    let mut text = memory.state.as_ref().map_or_else(|| "not decided".to_owned(), ToString::to_string);
    if let Some(replacement) = &memory.superseded_by {
        text.push_str(&format!(", replaced by {replacement}"));
    }
    if let Some(reason) = &memory.state_reason {
        text.push_str(&format!(": {reason}"));
    }
    text
}

fn describe_importance(memory: &AgentMemory) -> String {
    let severity = memory.severity.as_ref().map(|severity| format!("severity {severity}"));
    let evergreen = memory.evergreen.then(|| "evergreen".to_owned());
    join_with_commas([Some(memory.importance.to_string()), severity, evergreen].into_iter().flatten())
}

fn describe_facets(facets: &FacetValues) -> String {
    let said = |facet: Facet| facets.get(facet).map(|value| format!("{} {value}", facet.as_str()));
    join_with_commas(Facet::ALL.into_iter().filter_map(said))
}

fn describe_sightings(counters: &LessonCounters) -> String {
    let last = counters.last_seen_at.map(|at| format!("last on {}", format_timestamp(at)));
    join_with_commas([Some(format_count(counters.sightings, "time", "times")), last].into_iter().flatten())
}

fn describe_injections(counters: &LessonCounters) -> String {
    let held_back =
        (counters.withheld > 0).then(|| format!("held back {}", format_count(counters.withheld, "time", "times")));
    let last = counters.last_used_at.map(|at| format!("last on {}", format_timestamp(at)));
    join_with_commas([Some(format_count(counters.exposures, "time", "times")), last, held_back].into_iter().flatten())
}

fn describe_feedback(counters: &LessonCounters) -> String {
    if counters.validated == 0.0 && counters.ignored == 0.0 {
        return String::new();
    }
    let LessonCounters { validated, ignored, .. } = counters;
    format!("validated {validated:.1}, ignored {ignored:.1}, trust {:.2}", counters.trust_score())
}

fn describe_version(lesson: &Lesson) -> String {
    let memory = &lesson.memory;
    let restored = memory.restored_from.map(|version| format!("restored from version {version}"));
    let changed = memory.updated_at.map(|at| format!("changed {}", format_timestamp(at)));
    let created = format!("created {}", format_timestamp(memory.created_at));
    join_with_commas([Some(lesson.version.to_string()), restored, Some(created), changed].into_iter().flatten())
}
