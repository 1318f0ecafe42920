//! The rule of a lesson in its normal form: IF a condition THEN a recommendation.

use super::generic::is_generic;

#[cfg(test)]
#[path = "rule_tests.rs"]
mod tests;

/// A condition and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) condition: String,
    pub(super) advice: String,
}

/// Conditions that always hold, or of which nobody can say when they do.
const NO_CONDITIONS: &str = "\
    always|true|something fails|something goes wrong|anything fails|anything happens|needed|it is needed|\
    necessary|in doubt|possible|it fails|there is an error|there is a problem|an error occurs|\
    you are working|you work|coding|writing code|working on code|working on a task|an issue arises";

/// Fewer words than this, all of them common, advise nothing: "fix the code".
const MIN_GENERIC: usize = 3;

/// Words that a condition begins with.
const OPENINGS: &[&str] = &["if", "when", "whenever", "once", "while", "before", "after", "where", "unless"];

impl Rule {
    /// Reads a rule, however it is put; says what is wrong with what is none.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim().trim_end_matches('.');
        let (opening, rest) = text.split_once(char::is_whitespace).ok_or("it has no condition")?;
        let opening = opening.to_lowercase();
        if !OPENINGS.contains(&opening.as_str()) {
            return Err("it has no condition");
        }
        let (condition, advice) = split(rest).ok_or("it says no THEN")?;
        let condition = condition.trim().trim_end_matches([',', ':', ';']).trim();
        let advice = advice.trim().trim_start_matches([',', ':']).trim();
        let advice = strip_word(advice, "then").trim_start_matches([',', ':']).trim();
        // A time is part of the condition; "if" and "when" only open it.
        let keeps_opening = matches!(opening.as_str(), "before" | "after" | "while" | "unless" | "where");
        let condition =
            if keeps_opening { format!("{opening} {condition}") } else { strip_word(condition, "if").to_owned() };
        Ok(Self { condition, advice: advice.to_owned() })
    }

    /// What is wrong with it, if anything is.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let condition = bare(&self.condition);
        let advice = bare(&self.advice);
        if condition.is_empty() || advice.is_empty() {
            return Some("one of its sides is empty");
        }
        if condition == advice {
            return Some("both of its sides say the same");
        }
        if NO_CONDITIONS.split('|').any(|none| none == condition) {
            return Some("its condition is none");
        }
        if length(&condition) < 2 || length(&advice) < 2 {
            return Some("one of its sides is a single word");
        }
        let advised = crate::text::words(&self.advice);
        let is_empty_advice = advised.len() < MIN_GENERIC && advised.iter().all(|word| is_generic(word));
        is_empty_advice.then_some("it says nothing that somebody could do")
    }

    /// The normal form.
    pub(super) fn say(&self) -> String {
        format!("IF {} THEN {}", self.condition, self.advice)
    }
}

/// The two sides: at a THEN, else at the first comma or colon that stands in no quotation and no bracket.
fn split(text: &str) -> Option<(&str, &str)> {
    let open = outside(text);
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

/// The places of a text that stand in no quotation and no bracket.
fn outside(text: &str) -> Vec<usize> {
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

fn bare(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// How many words there are; where there are no blanks between them, two signs are one.
fn length(bare: &str) -> usize {
    let unspaced = bare.chars().filter(|c| u32::from(*c) >= 0x2E80).count();
    bare.split(' ').filter(|word| !word.is_empty()).count().max(unspaced / 2)
}
