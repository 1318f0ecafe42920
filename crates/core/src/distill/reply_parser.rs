//! Parses a model's reply. Each candidate is parsed on its own, so that a bad one does not affect the others.

use serde_json::{Map, Value};

use super::unchecked_candidate::{StepReference, UncheckedCandidate, UncheckedQuote};
use crate::domain::{
    DropReason, DroppedCandidate, EvidenceLevel, FacetValues, Importance, ImportanceScale, InvalidValue,
    MemoryCategory, MemoryId, MemoryKind, MemoryScope, ReflectionSummary, Severity,
};
use crate::text::one_line;

#[cfg(test)]
#[path = "reply_parser_tests.rs"]
mod tests;

/// The most candidates that are parsed from one reply.
const MAX_CLAIMS: usize = 64;

/// The most quotes and tags that are parsed from one candidate.
const MAX_QUOTES: usize = 24;
const MAX_TAGS: usize = 32;

/// The limits of the account of a session: characters of the outcome, characters of a point, and points.
const MAX_OUTCOME_CHARACTERS: usize = 600;
const MAX_POINT_CHARACTERS: usize = 300;
const MAX_POINTS: usize = 8;

/// The most characters of the summary of a candidate that cannot be parsed.
const SHOWN_CHARACTERS: usize = 160;

/// A model's reply, parsed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParsedReply {
    /// The account of the session.
    pub(super) reflection: ReflectionSummary,
    /// The candidates, each parsed or dropped with a reason.
    pub(super) claims: Vec<Result<UncheckedCandidate, DroppedCandidate>>,
}

/// The reason why a reply contains no reflection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableReply {
    /// It is some other JSON value.
    #[error("the answer is no object; ask for one with `outcome_summary` and `candidates`")]
    NoObject,
    /// Its candidates are missing or no list.
    #[error("the answer has no list `candidates`; an empty one says that nothing was learned")]
    NoCandidates,
}

/// Parses a reply. The account of the session is parsed leniently, the candidates strictly.
pub(super) fn parse_reply(value: &Value) -> Result<ParsedReply, UnreadableReply> {
    let answer = value.as_object().ok_or(UnreadableReply::NoObject)?;
    let candidates = answer.get("candidates").and_then(Value::as_array).ok_or(UnreadableReply::NoCandidates)?;
    let reflection = ReflectionSummary {
        outcome: answer
            .get("outcome_summary")
            .map(|text| shorten_line(text, MAX_OUTCOME_CHARACTERS))
            .unwrap_or_default(),
        worked: parse_points(answer.get("what_worked")),
        failed: parse_points(answer.get("what_failed")),
        decisions: parse_points(answer.get("key_decisions")),
    };
    let claims = candidates.iter().enumerate().map(|(index, value)| {
        let drop = |why, detail| DroppedCandidate { summary: shown_summary(value), why, detail };
        if index >= MAX_CLAIMS {
            return Err(drop(DropReason::TooMany, format!("{MAX_CLAIMS} are read")));
        }
        parse_candidate(value).map_err(|detail| drop(DropReason::Malformed, detail))
    });
    Ok(ParsedReply { reflection, claims: claims.collect() })
}

/// Returns a text on one line, of at most `max` characters; any other value gives an empty text.
fn shorten_line(value: &Value, max: usize) -> String {
    one_line(value.as_str().unwrap_or_default()).chars().take(max).collect()
}

fn parse_points(value: Option<&Value>) -> Vec<String> {
    let list = match value {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let points = list.iter().map(|point| shorten_line(point, MAX_POINT_CHARACTERS)).filter(|point| !point.is_empty());
    points.take(MAX_POINTS).collect()
}

fn shown_summary(value: &Value) -> String {
    value.get("summary").map(|summary| shorten_line(summary, SHOWN_CHARACTERS)).unwrap_or_default()
}

/// Parses one candidate; an error message names the member at fault.
fn parse_candidate(value: &Value) -> Result<UncheckedCandidate, String> {
    let fields = value.as_object().ok_or("a candidate is an object")?;
    let summary = parse_optional_text(fields, "summary")?.ok_or("`summary` is missing")?;
    let category = parse_keyword(fields, "category", MemoryCategory::parse)?.ok_or("`category` is missing")?;
    let facets = FacetValues {
        provider: parse_optional_text(fields, "provider")?,
        tool: parse_optional_text(fields, "tool")?,
        component: parse_optional_text(fields, "component")?,
        role: parse_optional_text(fields, "role")?,
        domain: parse_optional_text(fields, "domain")?,
        phase: parse_optional_text(fields, "phase")?,
        ..FacetValues::default()
    };
    Ok(UncheckedCandidate {
        summary,
        rule: parse_rule(fields)?,
        detail: parse_optional_text(fields, "detail")?,
        kind: parse_keyword(fields, "kind", MemoryKind::parse)?.unwrap_or_else(|| infer_kind(&category)),
        category,
        scope: parse_keyword(fields, "scope", MemoryScope::parse)?.ok_or("`scope` is missing")?,
        facets,
        tags: parse_list(fields, "tags", MAX_TAGS, |tag| {
            tag.as_str().map(str::to_owned).ok_or("`tags` are strings".to_owned())
        })?,
        importance: parse_importance(fields.get("importance"))?,
        importance_reason: parse_optional_text(fields, "importance_reason")?,
        severity: parse_optional_text(fields, "severity")?
            .and_then(|word| Severity::parse(&normalize_keyword(&word)).ok()),
        quotes: parse_list(fields, "quotes", MAX_QUOTES, parse_quote)?,
        episodes: Vec::new(),
        near: parse_list(fields, "same_as", MAX_QUOTES, |id| Ok(id.as_str().and_then(|id| MemoryId::parse(id).ok())))?
            .into_iter()
            .flatten()
            .collect(),
    })
}

/// Infers the kind of a lesson that does not state it from its category.
fn infer_kind(category: &MemoryCategory) -> MemoryKind {
    match category {
        MemoryCategory::Decision => MemoryKind::Decision,
        MemoryCategory::Preference => MemoryKind::Preference,
        _ => MemoryKind::Lesson,
    }
}

/// Returns a text that may be missing; an empty one counts as missing.
fn parse_optional_text(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("`{name}` is a string")),
    }
}

fn parse_list<T>(
    fields: &Map<String, Value>,
    name: &str,
    max: usize,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(values)) => values.iter().take(max).map(read).collect(),
        Some(_) => Err(format!("`{name}` is a list")),
    }
}

/// Parses a word of a fixed vocabulary, however it is written: `Anti-Pattern` is `anti_pattern`.
fn parse_keyword<T>(
    fields: &Map<String, Value>,
    name: &str,
    parse: impl Fn(&str) -> Result<T, InvalidValue>,
) -> Result<Option<T>, String> {
    let Some(said) = parse_optional_text(fields, name)? else { return Ok(None) };
    parse(&normalize_keyword(&said)).map(Some).map_err(|invalid| format!("`{name}`: {invalid}"))
}

fn normalize_keyword(word: &str) -> String {
    word.trim().to_lowercase().replace([' ', '-'], "_")
}

/// Reads a rule, which is a sentence or an object with `if` and `then`.
fn parse_rule(fields: &Map<String, Value>) -> Result<Option<String>, String> {
    let Some(Value::Object(sides)) = fields.get("rule") else { return parse_optional_text(fields, "rule") };
    let side = |name: &str| parse_optional_text(sides, name).map_err(|_| format!("`rule.{name}` is a string"));
    let bare = |text: String, word: &str| {
        let head = text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
        let rest = text.get(word.len()..).filter(|rest| head && rest.starts_with(char::is_whitespace));
        rest.map(|rest| rest.trim().to_owned()).unwrap_or(text)
    };
    Ok(match (side("if")?, side("then")?) {
        (Some(condition), Some(recommendation)) => {
            Some(format!("IF {} THEN {}", bare(condition, "if"), bare(recommendation, "then")))
        }
        // Half a rule is no rule, and the rule check says so.
        (Some(half), None) | (None, Some(half)) => Some(half),
        (None, None) => None,
    })
}

/// Parses a number from 0 to 1, also as a string. Above 1 it is a mark up to 10, above 10 a percentage up to 100.
fn parse_importance(value: Option<&Value>) -> Result<Importance, String> {
    let number = match value {
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().trim_end_matches('%').parse().ok(),
        None | Some(Value::Null) => return Err("`importance` is missing".to_owned()),
        Some(_) => None,
    };
    let number = number.ok_or("`importance` is a number from 0 to 1")?;
    let is_percent = matches!(value, Some(Value::String(text)) if text.trim().ends_with('%'));
    let parsed = match number {
        _ if is_percent => Importance::parse(number / 100.0, ImportanceScale::Undeclared),
        _ if number > 1.0 && number <= 10.0 => Importance::parse(number, ImportanceScale::OneToTen),
        _ => Importance::parse(number, ImportanceScale::Undeclared),
    };
    parsed.map_err(|invalid| format!("`importance`: {invalid}"))
}

fn parse_quote(value: &Value) -> Result<UncheckedQuote, String> {
    let fields = value.as_object().ok_or("`quotes` are objects")?;
    let words = match fields.get("text") {
        Some(Value::String(words)) => words.clone(),
        _ => return Err("`quotes.text` is a string".to_owned()),
    };
    let trajectory = match fields.get("trajectory") {
        None | Some(Value::Null) => None,
        Some(Value::Number(number)) => {
            Some(parse_whole_number(number).ok_or("`quotes.trajectory` is a number from 0 on")?)
        }
        Some(Value::String(text)) => {
            Some(parse_numbered(text, 't').ok_or("`quotes.trajectory` is a number from 0 on")?)
        }
        Some(_) => return Err("`quotes.trajectory` is a number from 0 on".to_owned()),
    };
    let wrong = || "`quotes.step` names a step, as in t0.s3".to_owned();
    let place = match fields.get("step") {
        Some(Value::Number(number)) => {
            StepReference { trajectory: trajectory.unwrap_or(0), step: parse_whole_number(number).ok_or_else(wrong)? }
        }
        Some(Value::String(text)) => parse_step_reference(text, trajectory).ok_or_else(wrong)?,
        _ => return Err(wrong()),
    };
    let level = parse_optional_text(fields, "source").ok().flatten().and_then(|source| parse_level(&source));
    Ok(UncheckedQuote { place, text: words, level })
}

fn parse_whole_number(number: &serde_json::Number) -> Option<u32> {
    number.as_u64().and_then(|number| u32::try_from(number).ok())
}

/// Parses `t0.s3`, `s3` or `3`, also as the beginning of the step's line: `s3 agent`, `[s3]`, `step 3`.
fn parse_step_reference(text: &str, trajectory: Option<u32>) -> Option<StepReference> {
    let mut words = text.split_whitespace().map(|word| word.trim_matches(['[', ']', '`', ':', ',']));
    let text = words.find(|word| !word.eq_ignore_ascii_case("step"))?;
    match text.split_once('.') {
        Some((before, behind)) => {
            Some(StepReference { trajectory: parse_numbered(before, 't')?, step: parse_numbered(behind, 's')? })
        }
        None => Some(StepReference { trajectory: trajectory.unwrap_or(0), step: parse_numbered(text, 's')? }),
    }
}

fn parse_numbered(text: &str, letter: char) -> Option<u32> {
    let text = text.trim();
    text.strip_prefix([letter, letter.to_ascii_uppercase()]).unwrap_or(text).parse().ok()
}

fn parse_level(source: &str) -> Option<EvidenceLevel> {
    match normalize_keyword(source).as_str() {
        "execution" => Some(EvidenceLevel::Execution),
        "file" | "citation" => Some(EvidenceLevel::Citation),
        "words" | "reasoning" => Some(EvidenceLevel::Reasoning),
        _ => None,
    }
}
