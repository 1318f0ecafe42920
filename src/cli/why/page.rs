//! The grounds of a lesson as a person reads them.

use super::super::console::{Console, Style};
use super::super::effect::percent;
use super::super::failure::Failure;
use super::super::lesson::name;
use super::super::prose::{count, cut, list, moment, one_line, width, wrap};
use super::words::{answer, brief, chosen, judgement, proof, relation, whose};
use crate::desk::{Given, Grounds, Seen};
use crate::domain::Quote;

/// Text wider than this is hard to read.
const WIDEST_TEXT: usize = 100;
/// How far the lines of a section stand in.
const INDENT: usize = 2;
/// What a moment takes, with the gap behind it.
const MOMENT: usize = 18;
/// How many lines of one kind are shown.
const SHOWN: usize = 8;

/// Prints a page.
pub(super) fn print(grounds: &Grounds, console: &mut Console) -> Result<(), Failure> {
    let columns = console.columns().min(WIDEST_TEXT);
    let mut page = Page { console, columns };
    page.head(grounds)?;
    page.quotes(&grounds.quotes)?;
    page.seen(&grounds.seen)?;
    page.merged(grounds)?;
    page.related(grounds)?;
    page.given(&grounds.given)?;
    page.feedback(grounds)?;
    page.effect(grounds)
}

struct Page<'a> {
    console: &'a mut Console,
    columns: usize,
}

impl Page<'_> {
    fn head(&mut self, grounds: &Grounds) -> Result<(), Failure> {
        let memory = &grounds.lesson.memory;
        let mut begin = format!("{}  ", name(memory));
        let indent = width(&begin);
        for line in wrap(&one_line(&memory.summary), self.columns.saturating_sub(indent)) {
            let line = self.console.styled(Style::Bold, &line);
            self.console.line(&format!("{begin}{line}"))?;
            begin = " ".repeat(indent);
        }
        if let Some(rule) = &memory.rule {
            self.hang(indent, "", &one_line(rule))?;
        }
        let state = memory.state.as_ref().map_or_else(|| "not decided".to_owned(), ToString::to_string);
        let state = memory.state_reason.as_ref().map_or_else(|| state.clone(), |why| format!("{state}: {why}"));
        let learned = format!("learned on {}", moment(memory.created_at));
        let about = list([memory.kind.to_string(), format!("importance {}", memory.importance), learned]);
        self.console.line("")?;
        self.hang(0, "", &one_line(&format!("It is {state} ({about}).")))
    }

    /// The words, each in quotation marks, and under them where they stand.
    fn quotes(&mut self, quotes: &[Quote]) -> Result<(), Failure> {
        if quotes.is_empty() {
            return Ok(());
        }
        self.section("It rests on")?;
        for quote in quotes.iter().take(SHOWN) {
            self.hang(INDENT, "", &format!("“{}”", one_line(&quote.text)))?;
            let place = format!("{}, step {} of {}", whose(quote), quote.step, quote.trajectory_id);
            for line in wrap(&place, self.columns.saturating_sub(2 * INDENT)) {
                let line = self.console.styled(Style::Dim, &line);
                self.console.line(&format!("{:1$}{line}", "", 2 * INDENT))?;
            }
        }
        self.more(quotes.len(), "quote", "quotes")
    }

    fn seen(&mut self, seen: &[Seen]) -> Result<(), Failure> {
        if seen.is_empty() {
            return Ok(());
        }
        self.section(&format!("It was seen in {}", count(seen.len(), "run", "runs")))?;
        for one in seen.iter().take(SHOWN) {
            let session = one.session.as_ref().map_or_else(|| one.episode.to_string(), ToString::to_string);
            let status = one.status.as_ref().map(|status| format!("{status}, "));
            let told = format!("{session} ({}{})", status.unwrap_or_default(), proof(&one.level));
            self.hang(INDENT, &moment(one.at), &told)?;
            if let Some(summary) = &one.summary {
                let room = self.columns.saturating_sub(INDENT + MOMENT);
                let summary = self.console.styled(Style::Dim, &cut(&one_line(summary), room));
                self.console.line(&format!("{:1$}{summary}", "", INDENT + MOMENT))?;
            }
        }
        self.more(seen.len(), "run", "runs")
    }

    fn merged(&mut self, grounds: &Grounds) -> Result<(), Failure> {
        if grounds.merged.is_empty() {
            return Ok(());
        }
        self.section("It took in")?;
        for merged in grounds.merged.iter().take(SHOWN) {
            self.hang(INDENT, &moment(merged.at), &brief(&merged.absorbed))?;
        }
        self.more(grounds.merged.len(), "lesson", "lessons")
    }

    fn related(&mut self, grounds: &Grounds) -> Result<(), Failure> {
        if grounds.related.is_empty() {
            return Ok(());
        }
        self.section("Beside others it")?;
        for related in grounds.related.iter().take(SHOWN) {
            self.hang(INDENT, relation(related), &brief(&related.other))?;
        }
        self.more(grounds.related.len(), "lesson", "lessons")
    }

    fn given(&mut self, given: &[Given]) -> Result<(), Failure> {
        if given.is_empty() {
            self.console.line("")?;
            return self.console.line("It was not given to any run yet.");
        }
        self.section("It was chosen for")?;
        for one in given.iter().take(SHOWN) {
            self.hang(INDENT, &moment(one.at), &one_line(&chosen(one)))?;
        }
        self.more(given.len(), "time", "times")
    }

    fn feedback(&mut self, grounds: &Grounds) -> Result<(), Failure> {
        if grounds.feedback.is_empty() {
            return Ok(());
        }
        self.section("People and programs said")?;
        for judged in grounds.feedback.iter().take(SHOWN) {
            self.hang(INDENT, &moment(judged.at), &one_line(&judgement(judged)))?;
        }
        self.more(grounds.feedback.len(), "judgement", "judgements")?;
        let trust = format!("It is trusted {:.0} %.", grounds.lesson.counters.trust() * 100.0);
        self.hang(INDENT, "", &trust)
    }

    fn effect(&mut self, grounds: &Grounds) -> Result<(), Failure> {
        let measured = &grounds.effect;
        if measured.arms.exposed.runs + measured.arms.withheld.runs == 0 {
            return Ok(());
        }
        self.section(&format!("Does it help? {}", answer(measured.verdict())))?;
        self.hang(INDENT, "", &format!("The trouble {}.", measured.arms))?;
        match &measured.estimate {
            Some(estimate) => {
                let [middle, low, high] = [estimate.difference, estimate.low, estimate.high].map(percent);
                let told = format!("The difference is {middle} %, hardly less than {low} % or more than {high} %.");
                self.hang(INDENT, "", &told)
            }
            None => self.hang(INDENT, "", "Only runs of one kind are known: they have nothing to be held against."),
        }
    }

    fn section(&mut self, title: &str) -> Result<(), Failure> {
        let title = self.console.styled(Style::Cyan, title);
        self.console.line("")?;
        self.console.line(&title)
    }

    /// A label and a text whose further lines stand under its first.
    fn hang(&mut self, indent: usize, label: &str, text: &str) -> Result<(), Failure> {
        let hanging = if label.is_empty() { indent } else { indent + MOMENT };
        let mut begin = format!("{:indent$}{label}", "");
        begin.push_str(&" ".repeat(hanging.saturating_sub(width(&begin))));
        for line in wrap(text, self.columns.saturating_sub(hanging)) {
            self.console.line(&format!("{begin}{line}"))?;
            begin = " ".repeat(hanging);
        }
        Ok(())
    }

    fn more(&mut self, all: usize, one: &str, many: &str) -> Result<(), Failure> {
        match all.saturating_sub(SHOWN) {
            0 => Ok(()),
            left => {
                let told = format!(
                    "and {}; --json tells them all",
                    count(left, &format!("more {one}"), &format!("more {many}"))
                );
                let told = self.console.styled(Style::Dim, &told);
                self.console.line(&format!("{:INDENT$}{told}", ""))
            }
        }
    }
}
