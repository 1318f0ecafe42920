//! What a model answered, taken apart. Each lesson is read on its own: a bad one never takes the others with it.

use serde_json::{Map, Value};

use super::claim::{Cited, Claim, Place};
use crate::domain::{
    DropReason, Dropped, EvidenceLevel, Facets, Importance, ImportanceScale, Invalid, MemoryCategory, MemoryId,
    MemoryKind, MemoryScope, Reflection, Severity,
};

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;

/// Lessons that are read of one answer. A model that says more has stopped to choose.
const MAX_CLAIMS: usize = 64;

/// Quotations and tags that are read of one lesson.
const MAX_QUOTES: usize = 24;
const MAX_TAGS: usize = 32;

/// What is kept of the account of a session.
const MAX_OUTCOME_CHARACTERS: usize = 600;
const MAX_POINT_CHARACTERS: usize = 300;
const MAX_POINTS: usize = 8;

/// Of a lesson that cannot be read, as much is shown.
const SHOWN_CHARACTERS: usize = 160;

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    /// What happened.
    pub(super) reflection: Reflection,
    /// What was learned, or why it cannot be read.
    pub(super) claims: Vec<Result<Claim, Dropped>>,
}

/// A reply that holds no reflection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableReply {
    /// It is some other JSON value.
    #[error("the answer is no object; ask for one with `outcome_summary` and `candidates`")]
    NoObject,
    /// Its candidates are missing or no list.
    #[error("the answer has no list `candidates`; an empty one says that nothing was learned")]
    NoCandidates,
}

/// Reads an answer. What happened is read leniently, what was learned strictly.
pub(super) fn claims(value: &Value) -> Result<Answer, UnreadableReply> {
    let answer = value.as_object().ok_or(UnreadableReply::NoObject)?;
    let candidates = answer.get("candidates").and_then(Value::as_array).ok_or(UnreadableReply::NoCandidates)?;
    let reflection = Reflection {
        outcome: answer.get("outcome_summary").map(|text| short(text, MAX_OUTCOME_CHARACTERS)).unwrap_or_default(),
        worked: points(answer.get("what_worked")),
        failed: points(answer.get("what_failed")),
        decisions: points(answer.get("key_decisions")),
    };
    let claims = candidates.iter().enumerate().map(|(index, value)| {
        let drop = |why, detail| Dropped { summary: shown(value), why, detail };
        if index >= MAX_CLAIMS {
            return Err(drop(DropReason::TooMany, format!("{MAX_CLAIMS} are read")));
        }
        claim(value).map_err(|detail| drop(DropReason::Malformed, detail))
    });
    Ok(Answer { reflection, claims: claims.collect() })
}

/// A text on one line, of at most so many characters; anything that is no text is nothing.
fn short(value: &Value, max: usize) -> String {
    let text = value.as_str().unwrap_or_default();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(max).collect()
}

fn points(value: Option<&Value>) -> Vec<String> {
    let list = match value {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let points = list.iter().map(|point| short(point, MAX_POINT_CHARACTERS)).filter(|point| !point.is_empty());
    points.take(MAX_POINTS).collect()
}

fn shown(value: &Value) -> String {
    value.get("summary").map(|summary| short(summary, SHOWN_CHARACTERS)).unwrap_or_default()
}

/// One lesson; what is wrong with it names the member.
fn claim(value: &Value) -> Result<Claim, String> {
    let fields = value.as_object().ok_or("a candidate is an object")?;
    let summary = text(fields, "summary")?.ok_or("`summary` is missing")?;
    let category = word(fields, "category", MemoryCategory::parse)?.ok_or("`category` is missing")?;
    let facets = Facets {
        provider: text(fields, "provider")?,
        tool: text(fields, "tool")?,
        component: text(fields, "component")?,
        role: text(fields, "role")?,
        domain: text(fields, "domain")?,
        phase: text(fields, "phase")?,
        ..Facets::default()
    };
    Ok(Claim {
        summary,
        rule: rule(fields)?,
        detail: text(fields, "detail")?,
        kind: word(fields, "kind", MemoryKind::parse)?.unwrap_or_else(|| kind_of(&category)),
        category,
        scope: word(fields, "scope", MemoryScope::parse)?.ok_or("`scope` is missing")?,
        facets,
        tags: list(fields, "tags", MAX_TAGS, |tag| {
            tag.as_str().map(str::to_owned).ok_or("`tags` are strings".to_owned())
        })?,
        importance: importance(fields.get("importance"))?,
        importance_reason: text(fields, "importance_reason")?,
        severity: text(fields, "severity")?.and_then(|word| Severity::parse(&plain(&word)).ok()),
        quotes: list(fields, "quotes", MAX_QUOTES, quote)?,
        episodes: Vec::new(),
        near: list(fields, "same_as", MAX_QUOTES, |id| Ok(id.as_str().and_then(|id| MemoryId::parse(id).ok())))?
            .into_iter()
            .flatten()
            .collect(),
    })
}

/// What sort of statement a lesson is that does not say so: models are asked for a category alone.
fn kind_of(category: &MemoryCategory) -> MemoryKind {
    match category {
        MemoryCategory::Decision => MemoryKind::Decision,
        MemoryCategory::Preference => MemoryKind::Preference,
        _ => MemoryKind::Lesson,
    }
}

/// A text that may be missing; an empty one is.
fn text(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("`{name}` is a string")),
    }
}

fn list<T>(
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

/// One of our words, however it is written: `Anti-Pattern` is `anti_pattern`.
fn word<T>(
    fields: &Map<String, Value>,
    name: &str,
    parse: impl Fn(&str) -> Result<T, Invalid>,
) -> Result<Option<T>, String> {
    let Some(said) = text(fields, name)? else { return Ok(None) };
    parse(&plain(&said)).map(Some).map_err(|invalid| format!("`{name}`: {invalid}"))
}

fn plain(word: &str) -> String {
    word.trim().to_lowercase().replace([' ', '-'], "_")
}

/// A rule is a sentence, or an object with `if` and `then`.
fn rule(fields: &Map<String, Value>) -> Result<Option<String>, String> {
    let Some(Value::Object(sides)) = fields.get("rule") else { return text(fields, "rule") };
    let side = |name: &str| text(sides, name).map_err(|_| format!("`rule.{name}` is a string"));
    let bare = |text: String, word: &str| {
        let head = text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
        let rest = text.get(word.len()..).filter(|rest| head && rest.starts_with(char::is_whitespace));
        rest.map(|rest| rest.trim().to_owned()).unwrap_or(text)
    };
    Ok(match (side("if")?, side("then")?) {
        (Some(condition), Some(advice)) => Some(format!("IF {} THEN {}", bare(condition, "if"), bare(advice, "then"))),
        // Half a rule is none, and the linter says so.
        (Some(half), None) | (None, Some(half)) => Some(half),
        (None, None) => None,
    })
}

/// A number from 0 to 1, also in quotation marks. Above 1 it is a mark up to 10, above that a percentage up to 100.
fn importance(value: Option<&Value>) -> Result<Importance, String> {
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

fn quote(value: &Value) -> Result<Cited, String> {
    let fields = value.as_object().ok_or("`quotes` are objects")?;
    let words = match fields.get("text") {
        Some(Value::String(words)) => words.clone(),
        _ => return Err("`quotes.text` is a string".to_owned()),
    };
    let trajectory = match fields.get("trajectory") {
        None | Some(Value::Null) => None,
        Some(Value::Number(number)) => Some(whole(number).ok_or("`quotes.trajectory` is a number from 0 on")?),
        Some(Value::String(text)) => Some(numbered(text, 't').ok_or("`quotes.trajectory` is a number from 0 on")?),
        Some(_) => return Err("`quotes.trajectory` is a number from 0 on".to_owned()),
    };
    let wrong = || "`quotes.step` names a step, as in t0.s3".to_owned();
    let place = match fields.get("step") {
        Some(Value::Number(number)) => {
            Place { trajectory: trajectory.unwrap_or(0), step: whole(number).ok_or_else(wrong)? }
        }
        Some(Value::String(text)) => place(text, trajectory).ok_or_else(wrong)?,
        _ => return Err(wrong()),
    };
    let level = text(fields, "source").ok().flatten().and_then(|source| level(&source));
    Ok(Cited { place, text: words, level })
}

fn whole(number: &serde_json::Number) -> Option<u32> {
    number.as_u64().and_then(|number| u32::try_from(number).ok())
}

/// `t0.s3`, `s3` or `3`, also as the head of the step's line: `s3 agent`, `[s3]`, `step 3`.
fn place(text: &str, trajectory: Option<u32>) -> Option<Place> {
    let mut words = text.split_whitespace().map(|word| word.trim_matches(['[', ']', '`', ':', ',']));
    let text = words.find(|word| !word.eq_ignore_ascii_case("step"))?;
    match text.split_once('.') {
        Some((before, behind)) => Some(Place { trajectory: numbered(before, 't')?, step: numbered(behind, 's')? }),
        None => Some(Place { trajectory: trajectory.unwrap_or(0), step: numbered(text, 's')? }),
    }
}

fn numbered(text: &str, letter: char) -> Option<u32> {
    let text = text.trim();
    text.strip_prefix([letter, letter.to_ascii_uppercase()]).unwrap_or(text).parse().ok()
}

fn level(source: &str) -> Option<EvidenceLevel> {
    match plain(source).as_str() {
        "execution" => Some(EvidenceLevel::Execution),
        "file" | "citation" => Some(EvidenceLevel::Citation),
        "words" | "reasoning" => Some(EvidenceLevel::Reasoning),
        _ => None,
    }
}
