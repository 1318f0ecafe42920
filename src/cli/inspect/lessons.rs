//! The lessons that would be drawn from a session, for people.

use crate::cli::console::{Console, Style};
use crate::cli::failure::Failure;
use crate::cli::prose::{count, one_line, wrap};
use crate::domain::{Candidate, Distilled, Engine, Facet, Quote};

/// How far the words below a lesson stand in.
const INDENT: &str = "   ";

/// Text wider than this is hard to read.
const WIDEST_TEXT: usize = 100;

/// So much of a quote is shown.
const QUOTE_CHARACTERS: usize = 160;

/// Quotes shown of one lesson; `--json` has them all.
const QUOTES: usize = 4;

pub(in crate::cli) fn print(distilled: &Distilled, console: &mut Console) -> Result<(), Failure> {
    console.line(&head(distilled))?;
    if let Some(why) = &distilled.fallback {
        console.warn(&format!("the model was not used: {}", one_line(why)));
    }
    for (number, candidate) in (1..).zip(&distilled.candidates) {
        console.line("")?;
        lesson(number, candidate, console)?;
    }
    if !distilled.dropped.is_empty() {
        console.line("")?;
        let heading = console.styled(Style::Bold, "Dropped");
        console.line(&heading)?;
    }
    for dropped in &distilled.dropped {
        let detail = if dropped.detail.is_empty() { String::new() } else { format!(" ({})", dropped.detail) };
        let said = format!("{}: {}{detail}", dropped.why, dropped.summary);
        indented(&one_line(&said), Some(Style::Dim), console)?;
    }
    Ok(())
}

/// How many, and who says so.
fn head(distilled: &Distilled) -> String {
    let learned = match distilled.candidates.len() {
        0 => "Nothing to learn".to_owned(),
        some => count(some, "lesson", "lessons"),
    };
    let by = match (&distilled.engine, &distilled.model) {
        (Engine::Model, Some(model)) => format!("by {}", one_line(model)),
        _ => "by heuristics".to_owned(),
    };
    let usage = &distilled.usage;
    let tokens = usage.prompt_tokens.unwrap_or_default().saturating_add(usage.completion_tokens.unwrap_or_default());
    match distilled.calls {
        0 => format!("{learned}, {by}"),
        calls => format!("{learned}, {by}, {}, {}", count(calls, "call", "calls"), count(tokens, "token", "tokens")),
    }
}

fn lesson(number: usize, candidate: &Candidate, console: &mut Console) -> Result<(), Failure> {
    let columns = console.columns().min(WIDEST_TEXT).saturating_sub(INDENT.len());
    for (at, line) in wrap(&one_line(&candidate.summary), columns).iter().enumerate() {
        let line = console.styled(Style::Bold, line);
        let margin = if at == 0 { format!("{number}. ") } else { INDENT.to_owned() };
        console.line(&format!("{margin}{line}"))?;
    }
    for text in [&candidate.rule, &candidate.detail].into_iter().flatten() {
        indented(&one_line(text), None, console)?;
    }
    let facets = Facet::ALL.iter().filter(|facet| **facet != Facet::ErrorFamily).filter_map(|&facet| {
        candidate.facets.get(facet).map(|value| format!("{} {}", facet.as_str(), one_line(value)))
    });
    let kinds = [candidate.category.to_string(), format!("importance {}", candidate.importance)];
    let seen = match candidate.evidence.episode_ids.len() {
        0 | 1 => None,
        many => Some(format!("seen in {many} runs")),
    };
    indented(&kinds.into_iter().chain(facets).chain(seen).collect::<Vec<_>>().join(" · "), Some(Style::Dim), console)?;
    if let Some(why) = &candidate.quarantine {
        indented(&format!("quarantined: {}", one_line(why)), Some(Style::Yellow), console)?;
    }
    for quote in candidate.evidence.quotes.iter().take(QUOTES) {
        indented(&quoted(quote), Some(Style::Dim), console)?;
    }
    Ok(())
}

fn quoted(quote: &Quote) -> String {
    let words = one_line(&quote.text);
    let shown: String = words.chars().take(QUOTE_CHARACTERS).collect();
    let more = if shown.len() < words.len() { "…" } else { "" };
    format!("step {} ({}): “{shown}{more}”", quote.step, quote.trust)
}

fn indented(text: &str, style: Option<Style>, console: &mut Console) -> Result<(), Failure> {
    for line in wrap(text, console.columns().min(WIDEST_TEXT).saturating_sub(INDENT.len())) {
        let line = style.map_or_else(|| line.clone(), |style| console.styled(style, &line));
        console.line(&format!("{INDENT}{line}"))?;
    }
    Ok(())
}
