//! Prints the evidence report of a lesson for people.

use super::evidence_words::{
    describe_evidence_level, describe_feedback, describe_injection, describe_lesson, describe_quote_source,
    describe_relation, describe_verdict,
};
use crate::cli_error::CliError;
use crate::commands::effect::format_signed_percent;
use crate::console::{Console, TextStyle};
use crate::lesson_format::display_name;
use crate::text_format::{
    cut_to_width, format_count, format_timestamp, join_with_commas, one_line, text_width, wrap_words,
};
use archivist_core::domain::Quote;
use archivist_core::service::{LessonEvidenceReport, LessonInjection, LessonSighting};

/// The widest column of text that is easy to read.
const WIDEST_TEXT: usize = 100;
/// The indentation of the lines of a section.
const INDENT: usize = 2;
/// The width of a time with the gap after it.
const MOMENT: usize = 18;
/// The most lines of one kind that are shown.
const SHOWN: usize = 8;

/// Prints the evidence page of a lesson.
pub(super) fn print_evidence_page(report: &LessonEvidenceReport, console: &mut Console) -> Result<(), CliError> {
    let columns = console.columns().min(WIDEST_TEXT);
    let mut page = EvidencePage { console, columns };
    page.print_heading(report)?;
    page.print_quotes(&report.quotes)?;
    page.print_sightings(&report.seen)?;
    page.print_merged(report)?;
    page.print_related(report)?;
    page.print_injections(&report.given)?;
    page.print_feedback(report)?;
    page.print_effect(report)
}

struct EvidencePage<'a> {
    console: &'a mut Console,
    columns: usize,
}

impl EvidencePage<'_> {
    fn print_heading(&mut self, report: &LessonEvidenceReport) -> Result<(), CliError> {
        let memory = &report.lesson.memory;
        let mut begin = format!("{}  ", display_name(memory));
        let indent = text_width(&begin);
        for line in wrap_words(&one_line(&memory.summary), self.columns.saturating_sub(indent)) {
            let line = self.console.style_text(TextStyle::Bold, &line);
            self.console.print_line(&format!("{begin}{line}"))?;
            begin = " ".repeat(indent);
        }
        if let Some(rule) = &memory.rule {
            self.print_hanging(indent, "", &one_line(rule))?;
        }
        let state = memory.state.as_ref().map_or_else(|| "not decided".to_owned(), ToString::to_string);
        let state = memory.state_reason.as_ref().map_or_else(|| state.clone(), |why| format!("{state}: {why}"));
        let learned = format!("learned on {}", format_timestamp(memory.created_at));
        let about = join_with_commas([memory.kind.to_string(), format!("importance {}", memory.importance), learned]);
        self.console.print_line("")?;
        self.print_hanging(0, "", &one_line(&format!("It is {state} ({about}).")))
    }

    /// Prints the quotes, each followed by its source.
    fn print_quotes(&mut self, quotes: &[Quote]) -> Result<(), CliError> {
        if quotes.is_empty() {
            return Ok(());
        }
        self.print_section("It rests on")?;
        for quote in quotes.iter().take(SHOWN) {
            self.print_hanging(INDENT, "", &format!("“{}”", one_line(&quote.text)))?;
            let place = format!("{}, step {} of {}", describe_quote_source(quote), quote.step, quote.trajectory_id);
            for line in wrap_words(&place, self.columns.saturating_sub(2 * INDENT)) {
                let line = self.console.style_text(TextStyle::Dim, &line);
                self.console.print_line(&format!("{:1$}{line}", "", 2 * INDENT))?;
            }
        }
        self.print_remainder(quotes.len(), "quote", "quotes")
    }

    fn print_sightings(&mut self, seen: &[LessonSighting]) -> Result<(), CliError> {
        if seen.is_empty() {
            return Ok(());
        }
        self.print_section(&format!("It was seen in {}", format_count(seen.len(), "run", "runs")))?;
        for one in seen.iter().take(SHOWN) {
            let session = one.session.as_ref().map_or_else(|| one.episode.to_string(), ToString::to_string);
            let status = one.status.as_ref().map(|status| format!("{status}, "));
            let told = format!("{session} ({}{})", status.unwrap_or_default(), describe_evidence_level(&one.level));
            self.print_hanging(INDENT, &format_timestamp(one.at), &told)?;
            if let Some(summary) = &one.summary {
                let room = self.columns.saturating_sub(INDENT + MOMENT);
                let summary = self.console.style_text(TextStyle::Dim, &cut_to_width(&one_line(summary), room));
                self.console.print_line(&format!("{:1$}{summary}", "", INDENT + MOMENT))?;
            }
        }
        self.print_remainder(seen.len(), "run", "runs")
    }

    fn print_merged(&mut self, report: &LessonEvidenceReport) -> Result<(), CliError> {
        if report.merged.is_empty() {
            return Ok(());
        }
        self.print_section("It took in")?;
        for merged in report.merged.iter().take(SHOWN) {
            self.print_hanging(INDENT, &format_timestamp(merged.at), &describe_lesson(&merged.absorbed))?;
        }
        self.print_remainder(report.merged.len(), "lesson", "lessons")
    }

    fn print_related(&mut self, report: &LessonEvidenceReport) -> Result<(), CliError> {
        if report.related.is_empty() {
            return Ok(());
        }
        self.print_section("Beside others it")?;
        for related in report.related.iter().take(SHOWN) {
            self.print_hanging(INDENT, describe_relation(related), &describe_lesson(&related.other))?;
        }
        self.print_remainder(report.related.len(), "lesson", "lessons")
    }

    fn print_injections(&mut self, given: &[LessonInjection]) -> Result<(), CliError> {
        if given.is_empty() {
            self.console.print_line("")?;
            return self.console.print_line("It was not given to any run yet.");
        }
        self.print_section("It was chosen for")?;
        for one in given.iter().take(SHOWN) {
            self.print_hanging(INDENT, &format_timestamp(one.at), &one_line(&describe_injection(one)))?;
        }
        self.print_remainder(given.len(), "time", "times")
    }

    fn print_feedback(&mut self, report: &LessonEvidenceReport) -> Result<(), CliError> {
        if report.feedback.is_empty() {
            return Ok(());
        }
        self.print_section("People and programs said")?;
        for judged in report.feedback.iter().take(SHOWN) {
            self.print_hanging(INDENT, &format_timestamp(judged.at), &one_line(&describe_feedback(judged)))?;
        }
        self.print_remainder(report.feedback.len(), "judgement", "judgements")?;
        let trust = format!("It is trusted {:.0} %.", report.lesson.counters.trust_score() * 100.0);
        self.print_hanging(INDENT, "", &trust)
    }

    fn print_effect(&mut self, report: &LessonEvidenceReport) -> Result<(), CliError> {
        let measured = &report.effect;
        if measured.arms.exposed.runs + measured.arms.withheld.runs == 0 {
            return Ok(());
        }
        self.print_section(&format!("Does it help? {}", describe_verdict(measured.verdict())))?;
        self.print_hanging(INDENT, "", &format!("The trouble {}.", measured.arms))?;
        match &measured.estimate {
            Some(estimate) => {
                let [middle, low, high] = [estimate.difference, estimate.low, estimate.high].map(format_signed_percent);
                let told = format!("The difference is {middle} %, hardly less than {low} % or more than {high} %.");
                self.print_hanging(INDENT, "", &told)
            }
            None => {
                self.print_hanging(INDENT, "", "Only runs of one kind are known: they have nothing to be held against.")
            }
        }
    }

    fn print_section(&mut self, title: &str) -> Result<(), CliError> {
        let title = self.console.style_text(TextStyle::Cyan, title);
        self.console.print_line("")?;
        self.console.print_line(&title)
    }

    /// Prints a label and a text with hanging indentation.
    fn print_hanging(&mut self, indent: usize, label: &str, text: &str) -> Result<(), CliError> {
        let hanging = if label.is_empty() { indent } else { indent + MOMENT };
        let mut begin = format!("{:indent$}{label}", "");
        begin.push_str(&" ".repeat(hanging.saturating_sub(text_width(&begin))));
        for line in wrap_words(text, self.columns.saturating_sub(hanging)) {
            self.console.print_line(&format!("{begin}{line}"))?;
            begin = " ".repeat(hanging);
        }
        Ok(())
    }

    fn print_remainder(&mut self, all: usize, one: &str, many: &str) -> Result<(), CliError> {
        match all.saturating_sub(SHOWN) {
            0 => Ok(()),
            left => {
                let told = format!(
                    "and {}; --json tells them all",
                    format_count(left, &format!("more {one}"), &format!("more {many}"))
                );
                let told = self.console.style_text(TextStyle::Dim, &told);
                self.console.print_line(&format!("{:INDENT$}{told}", ""))
            }
        }
    }
}
