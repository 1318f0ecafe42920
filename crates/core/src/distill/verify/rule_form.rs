//! The rule of a lesson in its normal form: IF a condition THEN a recommendation.

use super::generic_words::is_generic;

#[cfg(test)]
#[path = "rule_form_tests.rs"]
mod tests;

/// A condition and the recommendation that follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LessonRule {
    pub(super) condition: String,
    pub(super) recommendation: String,
}

/// Conditions that always hold, or that are too vague to check.
const NO_CONDITIONS: &str = "\
    always|true|something fails|something goes wrong|anything fails|anything happens|needed|it is needed|\
    necessary|in doubt|possible|it fails|there is an error|there is a problem|an error occurs|\
    you are working|you work|coding|writing code|working on code|working on a task|an issue arises";

/// A recommendation with fewer words than this, all of them generic, says nothing: "fix the code".
const MIN_GENERIC: usize = 3;

/// Words that a condition begins with.
const OPENINGS: &[&str] = &["if", "when", "whenever", "once", "while", "before", "after", "where", "unless"];

impl LessonRule {
    /// Parses a rule, however it is worded; returns what is missing if it is none.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim().trim_end_matches('.');
        let (opening, rest) = text.split_once(char::is_whitespace).ok_or("it has no condition")?;
        let opening = opening.to_lowercase();
        if !OPENINGS.contains(&opening.as_str()) {
            return Err("it has no condition");
        }
        let (condition, recommendation) = split_sides(rest).ok_or("it says no THEN")?;
        let condition = condition.trim().trim_end_matches([',', ':', ';']).trim();
        let recommendation = recommendation.trim().trim_start_matches([',', ':']).trim();
        let recommendation = strip_word(recommendation, "then").trim_start_matches([',', ':']).trim();
        // A word of time is part of the condition; "if" and "when" only open it.
        let keeps_opening = matches!(opening.as_str(), "before" | "after" | "while" | "unless" | "where");
        let condition =
            if keeps_opening { format!("{opening} {condition}") } else { strip_word(condition, "if").to_owned() };
        Ok(Self { condition, recommendation: recommendation.to_owned() })
    }

    /// Returns what is wrong with the rule, if anything is.
    pub(super) fn find_fault(&self) -> Option<&'static str> {
        let condition = normalize_words(&self.condition);
        let recommendation = normalize_words(&self.recommendation);
        if condition.is_empty() || recommendation.is_empty() {
            return Some("one of its sides is empty");
        }
        if condition == recommendation {
            return Some("both of its sides say the same");
        }
        if NO_CONDITIONS.split('|').any(|none| none == condition) {
            return Some("its condition is none");
        }
        if count_words(&condition) < 2 || count_words(&recommendation) < 2 {
            return Some("one of its sides is a single word");
        }
        let advised = crate::text::split_words(&self.recommendation);
        let is_empty_advice = advised.len() < MIN_GENERIC && advised.iter().all(|word| is_generic(word));
        is_empty_advice.then_some("it says nothing that somebody could do")
    }

    /// Returns the rule in its normal form.
    pub(super) fn normal_form(&self) -> String {
        format!("IF {} THEN {}", self.condition, self.recommendation)
    }
}

/// Splits a rule at a THEN, else at the first comma or colon outside of quotations and brackets.
fn split_sides(text: &str) -> Option<(&str, &str)> {
    let open = find_unquoted_positions(text);
    let then = open.iter().copied().find(|at| {
        text.get(*at..at + 6)
            .is_some_and(|word| word.eq_ignore_ascii_case(" then ") || word.eq_ignore_ascii_case(",then "))
    });
    if let Some(at) = then {
        return Some((text.get(..at)?, text.get(at + 6..)?));
    }
    let comma = open.into_iter().find(|at| {
        let mut rest = text.get(*at..).unwrap_or_default().chars();
        matches!(rest.next(), Some(',' | ':')) && rest.next().is_some_and(char::is_whitespace)
    })?;
    Some((text.get(..comma)?, text.get(comma + 1..)?))
}

/// Returns the positions of a text that are outside of quotations and brackets.
fn find_unquoted_positions(text: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut quoted: Option<char> = None;
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match (quoted, c) {
            (Some(close), c) if c == close => quoted = None,
            (Some(_), _) => {}
            (None, '`' | '"') if text.get(at + 1..).is_some_and(|rest| rest.contains(c)) => quoted = Some(c),
            (None, '“') => quoted = Some('”'),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 => places.push(at),
            (None, _) => {}
        }
    }
    places
}

fn strip_word<'t>(text: &'t str, word: &str) -> &'t str {
    let head = text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    match text.get(word.len()..) {
        Some(rest) if head && rest.starts_with(|c: char| c.is_whitespace() || c == ',' || c == ':') => {
            rest.trim_start()
        }
        _ => text,
    }
}

fn normalize_words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Counts the words; in scripts without spaces, two signs count as one word.
fn count_words(bare: &str) -> usize {
    let unspaced = bare.chars().filter(|c| u32::from(*c) >= 0x2E80).count();
    bare.split(' ').filter(|word| !word.is_empty()).count().max(unspaced / 2)
}
