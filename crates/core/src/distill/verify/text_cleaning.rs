//! Makes the texts of a lesson safe to show anywhere: no secrets, nothing hidden, no active markup.

use crate::distill::unchecked_candidate::UncheckedCandidate;
use crate::domain::FacetValues;
use crate::redact::Redactor;
use crate::text::{JoinerPolicy, strip_hidden_text};

#[cfg(test)]
#[path = "text_cleaning_tests.rs"]
mod tests;

const MAX_SUMMARY: usize = 300;
const MAX_RULE: usize = 400;
const MAX_DETAIL: usize = 1000;
const MAX_REASON: usize = 200;
const MAX_FACET: usize = 100;
const MAX_TAG: usize = 40;
const MAX_TAGS: usize = 8;

/// The most bytes of one field that are read.
const MAX_READ_BYTES: usize = 16 * 1024;

/// The number of characters within which a tag must close.
const MAX_TAG_CHARACTERS: usize = 200;

/// Names of tags that mean something to a page or to a model.
const TAKEN: &[&str] = &["archivist", "script", "iframe", "svg", "img", "style", "system", "assistant", "human"];

/// Returns a candidate with sanitized texts. Nothing else of it changes.
pub(super) fn sanitize_candidate(mut claim: UncheckedCandidate, redactor: &Redactor) -> UncheckedCandidate {
    let line = |text: &str, max| sanitize_line(text, max, redactor);
    claim.summary = line(&claim.summary, MAX_SUMMARY);
    claim.rule = claim.rule.map(|rule| line(&rule, MAX_RULE)).filter(|rule| !rule.is_empty());
    claim.detail = claim.detail.map(|detail| line(&detail, MAX_DETAIL)).filter(|detail| !detail.is_empty());
    claim.importance_reason =
        claim.importance_reason.map(|reason| line(&reason, MAX_REASON)).filter(|reason| !reason.is_empty());
    let facet = |value: Option<String>| value.map(|value| line(&value, MAX_FACET)).filter(|value| !value.is_empty());
    let facets = std::mem::take(&mut claim.facets);
    claim.facets = FacetValues {
        task_id: facet(facets.task_id),
        provider: facet(facets.provider),
        tool: facet(facets.tool),
        component: facet(facets.component),
        role: facet(facets.role),
        domain: facet(facets.domain),
        phase: facet(facets.phase),
        error_family: facets.error_family,
    };
    let mut tags: Vec<String> = Vec::new();
    for tag in claim.tags.iter().map(|tag| to_kebab_case(&line(tag, MAX_FACET))) {
        if !tag.is_empty() && !tags.contains(&tag) && tags.len() < MAX_TAGS {
            tags.push(tag);
        }
    }
    claim.tags = tags;
    claim
}

/// Returns a text on one line, sanitized, of at most `max` characters.
pub(super) fn sanitize_line(text: &str, max: usize, redactor: &Redactor) -> String {
    let text = text.get(..text.floor_char_boundary(MAX_READ_BYTES)).unwrap_or(text);
    let text = strip_hidden_text(text, JoinerPolicy::Remove);
    let redacted = redactor.redact(&text);
    let folded = redacted.text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut_to_length(neutralize_markup(&folded).trim(), max)
}

/// Returns the text without anything that a renderer would interpret: no tags, no comments, no leading heading, list or
/// quote sign, no code fence.
fn neutralize_markup(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        let behind = tag.strip_prefix('<').unwrap_or_default();
        if opens_tag(before.chars().next_back(), behind) {
            out.push('‹');
            let close =
                behind.find(['>', '<']).filter(|close| behind.get(*close..).is_some_and(|c| c.starts_with('>')));
            match close.and_then(|close| behind.split_at_checked(close)) {
                Some((inside, after)) => {
                    out.push_str(inside);
                    out.push('›');
                    rest = after.strip_prefix('>').unwrap_or(after);
                }
                None => rest = behind,
            }
        } else {
            out.push('<');
            rest = behind;
        }
    }
    out.push_str(rest);
    let out = out.replace("```", "`").replace("-->", "--›");
    let mut bare = out.trim();
    loop {
        let next = bare.trim_start_matches(['#', '>', '*', '+', '=', '|']).trim_start();
        let next = next.strip_prefix("- ").unwrap_or(next).trim_start();
        // A horizontal rule is made of dashes.
        let next = if next.starts_with("---") { next.trim_start_matches('-').trim_start() } else { next };
        if next.len() == bare.len() {
            return bare.to_owned();
        }
        bare = next;
    }
}

/// Tells whether `<` begins a tag or a comment, and is neither a comparison nor part of `Vec<u8>`.
fn opens_tag(before: Option<char>, behind: &str) -> bool {
    if behind.starts_with(['/', '!', '|', '?']) {
        return true;
    }
    let name: String = behind.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':')).collect();
    let is_closed = behind.chars().take(MAX_TAG_CHARACTERS).any(|c| c == '>');
    let is_type = before.is_some_and(|c| c.is_alphanumeric() || c == ':');
    let lower = name.to_lowercase();
    TAKEN.iter().any(|taken| lower.starts_with(taken)) || (is_closed && !name.is_empty() && !is_type)
}

/// Returns at most `max` characters, cut where a word ends.
pub(super) fn cut_to_length(text: &str, max: usize) -> String {
    if text.chars().nth(max).is_none() {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let kept = text.get(..end).unwrap_or_default();
    let word_end = kept.rfind(' ').filter(|at| *at * 2 > kept.len()).unwrap_or(kept.len());
    let kept = kept.get(..word_end).unwrap_or(kept).trim_end_matches([' ', ',', ';', ':', '.']);
    format!("{kept}…")
}

/// Returns a tag in lower case, its words joined by hyphens.
fn to_kebab_case(tag: &str) -> String {
    let lower = tag.to_lowercase();
    let words =
        lower.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '+' | '#'))).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-");
    let kept: String = joined.trim_matches(['.', '#']).chars().take(MAX_TAG).collect();
    kept.trim_end_matches(['-', '.']).to_owned()
}
