//! Prints the lessons that a session would give, for people.

use crate::cli_error::CliError;
use crate::console::{Console, TextStyle};
use crate::text_format::{format_count, one_line, wrap_words};
use archivist_core::domain::{Candidate, DistillationResult, Engine, Facet, Quote};

/// The indentation of the text below a lesson.
const INDENT: &str = "   ";

/// The widest column of text that is easy to read.
const WIDEST_TEXT: usize = 100;

/// The most characters of a quote that are shown.
const QUOTE_CHARACTERS: usize = 160;

/// The most quotes of one lesson that are shown; `--json` has them all.
const QUOTES: usize = 4;

pub(crate) fn print_candidates(distilled: &DistillationResult, console: &mut Console) -> Result<(), CliError> {
    console.print_line(&render_headline(distilled))?;
    if let Some(why) = &distilled.fallback {
        console.print_warning(&format!("the model was not used: {}", one_line(why)));
    }
    for (number, candidate) in (1..).zip(&distilled.candidates) {
        console.print_line("")?;
        print_candidate(number, candidate, console)?;
    }
    if !distilled.dropped.is_empty() {
        console.print_line("")?;
        let heading = console.style_text(TextStyle::Bold, "Dropped");
        console.print_line(&heading)?;
    }
    for dropped in &distilled.dropped {
        let detail = if dropped.detail.is_empty() { String::new() } else { format!(" ({})", dropped.detail) };
        let said = format!("{}: {}{detail}", dropped.why, dropped.summary);
        print_indented(&one_line(&said), Some(TextStyle::Dim), console)?;
    }
    Ok(())
}

/// Returns the number of lessons, and the engine that found them.
fn render_headline(distilled: &DistillationResult) -> String {
    let learned = match distilled.candidates.len() {
        0 => "Nothing to learn".to_owned(),
        some => format_count(some, "lesson", "lessons"),
    };
    let by = match (&distilled.engine, &distilled.model) {
        (Engine::Model, Some(model)) => format!("by {}", one_line(model)),
        _ => "by heuristics".to_owned(),
    };
    let usage = &distilled.usage;
    let tokens = usage.prompt_tokens.unwrap_or_default().saturating_add(usage.completion_tokens.unwrap_or_default());
    match distilled.calls {
        0 => format!("{learned}, {by}"),
        calls => format!(
            "{learned}, {by}, {}, {}",
            format_count(calls, "call", "calls"),
            format_count(tokens, "token", "tokens")
        ),
    }
}

fn print_candidate(number: usize, candidate: &Candidate, console: &mut Console) -> Result<(), CliError> {
    let columns = console.columns().min(WIDEST_TEXT).saturating_sub(INDENT.len());
    for (at, line) in wrap_words(&one_line(&candidate.summary), columns).iter().enumerate() {
        let line = console.style_text(TextStyle::Bold, line);
        let margin = if at == 0 { format!("{number}. ") } else { INDENT.to_owned() };
        console.print_line(&format!("{margin}{line}"))?;
    }
    for text in [&candidate.rule, &candidate.detail].into_iter().flatten() {
        print_indented(&one_line(text), None, console)?;
    }
    let facets = Facet::ALL.iter().filter(|facet| **facet != Facet::ErrorFamily).filter_map(|&facet| {
        candidate.facets.get(facet).map(|value| format!("{} {}", facet.as_str(), one_line(value)))
    });
    let kinds = [candidate.category.to_string(), format!("importance {}", candidate.importance)];
    let seen = match candidate.evidence.episode_ids.len() {
        0 | 1 => None,
        many => Some(format!("seen in {many} runs")),
    };
    print_indented(
        &kinds.into_iter().chain(facets).chain(seen).collect::<Vec<_>>().join(" · "),
        Some(TextStyle::Dim),
        console,
    )?;
    if let Some(why) = &candidate.quarantine {
        print_indented(&format!("quarantined: {}", one_line(why)), Some(TextStyle::Yellow), console)?;
    }
    for quote in candidate.evidence.quotes.iter().take(QUOTES) {
        print_indented(&render_quote(quote), Some(TextStyle::Dim), console)?;
    }
    Ok(())
}

fn render_quote(quote: &Quote) -> String {
    let words = one_line(&quote.text);
    let shown: String = words.chars().take(QUOTE_CHARACTERS).collect();
    let more = if shown.len() < words.len() { "…" } else { "" };
    format!("step {} ({}): “{shown}{more}”", quote.step, quote.trust)
}

fn print_indented(text: &str, style: Option<TextStyle>, console: &mut Console) -> Result<(), CliError> {
    for line in wrap_words(text, console.columns().min(WIDEST_TEXT).saturating_sub(INDENT.len())) {
        let line = style.map_or_else(|| line.clone(), |style| console.style_text(style, &line));
        console.print_line(&format!("{INDENT}{line}"))?;
    }
    Ok(())
}
