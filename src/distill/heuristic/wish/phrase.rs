//! A wish as it is written down: for whoever works here next, and not in the voice of the one who said it.

use super::super::words::any;
use super::lexicon::{ARTEFACTS, FROM_NOW, deed, is_deed};
use super::speech::behind;
use super::standing::Spoken;

#[cfg(test)]
#[path = "phrase_tests.rs"]
mod tests;

/// What a person says of themselves, told of "the user". What stands in backticks is left alone.
pub(super) fn of_the_user(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (at, part) in text.split('`').enumerate() {
        if at > 0 {
            out.push('`');
        }
        if at % 2 == 1 {
            out.push_str(part);
        } else {
            out.push_str(&told_of(part));
        }
    }
    out
}

fn told_of(part: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut is_verb_next = false;
    for word in part.split(' ') {
        let core = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'');
        let lower = core.to_lowercase();
        let put = |new: &str| if core.is_empty() { word.to_owned() } else { word.replacen(core, new, 1) };
        let (told, goes_on) = match lower.as_str() {
            // "Case I" and "i, j": no person.
            "i" if !word.ends_with(',') => (put("the user"), true),
            "i'm" => (put("the user is"), false),
            "i've" => (put("the user has"), false),
            "i'd" => (put("the user would"), false),
            "i'll" => (put("the user will"), false),
            "me" | "mine" => (put("the user"), false),
            "my" => (put("the user's"), false),
            "myself" => (put("in person"), false),
            _ if is_verb_next && is_between(&lower) => (word.to_owned(), true),
            _ if is_verb_next => (put(&third(&lower)), false),
            _ => (word.to_owned(), false),
        };
        is_verb_next = goes_on;
        words.push(told);
    }
    words.join(" ")
}

/// Words between "I" and what I do.
fn is_between(word: &str) -> bool {
    matches!(
        word,
        "really"
            | "always"
            | "never"
            | "just"
            | "only"
            | "also"
            | "usually"
            | "still"
            | "generally"
            | "strongly"
            | "personally"
    )
}

/// What I do, said of somebody else.
fn third(verb: &str) -> String {
    const SAME: &str = "can|can't|could|couldn't|will|won't|would|wouldn't|should|shouldn't|must|mustn't|may|might|did|didn't|had|hadn't|was|\
        wasn't|told|said|saw|got|made|wrote|ran|put|went|meant|thought|left|kept|gave|took|found|lost|cannot";
    match verb {
        "am" => "is".to_owned(),
        "have" => "has".to_owned(),
        "haven't" => "hasn't".to_owned(),
        "don't" => "doesn't".to_owned(),
        "do" => "does".to_owned(),
        "go" => "goes".to_owned(),
        _ if any(SAME, |known| known == verb) || verb.ends_with("ed") || verb.is_empty() => verb.to_owned(),
        _ if verb.ends_with('s') || verb.ends_with("sh") || verb.ends_with("ch") || verb.ends_with('x') => {
            format!("{verb}es")
        }
        _ => format!("{verb}s"),
    }
}

/// A sentence as it goes on behind another word.
pub(super) fn small(sentence: &str) -> String {
    let is_word = sentence
        .split_whitespace()
        .next()
        .is_some_and(|word| word.chars().skip(1).all(|c| c.is_lowercase() || c == '\''));
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) if is_word => first.to_lowercase().chain(letters).collect(),
        _ => sentence.to_owned(),
    }
}

/// What a person likes, as an order: "I prefer tabs" asks for "prefer tabs".
pub(super) fn as_order(text: &str) -> Option<String> {
    const ORDERS: &[(&str, &str)] = &[
        ("i prefer ", "prefer "),
        ("i'd prefer ", "prefer "),
        ("i would prefer ", "prefer "),
        ("i like ", "prefer "),
        ("i really like ", "prefer "),
        ("i don't like ", "avoid "),
        ("i really don't like ", "avoid "),
        ("i hate ", "avoid "),
        ("i really hate ", "avoid "),
        ("i can't stand ", "avoid "),
        ("i'm not a fan of ", "avoid "),
        ("not a fan of ", "avoid "),
        ("i don't want any ", "no "),
        ("i never want ", "no "),
        ("you should never ", "never "),
        ("you must never ", "never "),
        ("you should always ", "always "),
        ("you must always ", "always "),
        ("you should not ", "don't "),
        ("you shouldn't ", "don't "),
        ("you must not ", "don't "),
        ("you mustn't ", "don't "),
        ("you can't just ", "don't "),
        ("you can't ", "don't "),
        ("you cannot ", "don't "),
        ("you may not ", "don't "),
        ("you're not allowed to ", "don't "),
        ("you are not allowed to ", "don't "),
        ("you aren't allowed to ", "don't "),
        ("you're not supposed to ", "don't "),
        ("you aren't supposed to ", "don't "),
        ("you also have to ", ""),
        ("you also need to ", ""),
        ("you should ", ""),
        ("you must ", ""),
        ("you need to ", ""),
        ("you have to ", ""),
        ("you keep ", "stop "),
    ];
    ORDERS.iter().find_map(|(start, order)| behind(text, start).map(|rest| format!("{order}{rest}")))
}

/// When a wish holds, and what is then to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct When {
    pub(super) condition: String,
    pub(super) order: String,
}

/// The condition that a person named: "when you touch migrations, …", "… before you push".
pub(super) fn when(text: &str) -> Option<When> {
    leading(text).or_else(|| trailing(text))
}

/// How a condition begins.
const CONDITIONS: &[&str] = &[
    "when ",
    "whenever ",
    "if ",
    "once ",
    "every time ",
    "each time ",
    "any time ",
    "as soon as ",
    "before ",
    "after ",
];

/// Where a rule holds that is named before it.
const WHERE: &[&str] = &[
    "for anything ",
    "for everything ",
    "for any ",
    "for all ",
    "for every ",
    "for each ",
    "in ",
    "under ",
    "inside ",
];

fn leading(text: &str) -> Option<When> {
    const THEN: &[&str] = &[
        ", ",
        " you have to ",
        " you also have to ",
        " you must ",
        " you need to ",
        " you also need to ",
        " you should ",
        " always ",
        " never ",
        " please ",
        " don't ",
        ": ",
    ];
    let start = CONDITIONS.iter().chain(WHERE).find(|start| behind(text, start).is_some())?;
    if any(FROM_NOW, |words| behind(text, words).is_some()) {
        return None;
    }
    let is_place = WHERE.contains(start);
    let marks = THEN.iter().filter(|mark| !is_place || matches!(**mark, ", " | ": "));
    let (at, mark) = marks.filter_map(|mark| text.find(mark).map(|at| (at, *mark))).min()?;
    let (head, rest) = (text.get(..at)?, text.get(at..)?);
    let rest = if matches!(mark, ", " | ": ") { rest.get(mark.len()..)? } else { rest.trim_start() };
    let rest = ["then ", "please ", "just "].iter().find_map(|word| behind(rest, word)).unwrap_or(rest);
    let order = as_order(rest).unwrap_or_else(|| rest.to_owned());
    let named = behind(head, start)?;
    let condition = match is_place {
        true if start.starts_with("for ") => format!("you work on {} {named}", start.trim().strip_prefix("for ")?),
        true => format!("you work {start}{named}"),
        false => doing(start.trim(), named)?,
    };
    let is_order = Spoken::new(&order.to_lowercase()).is_order();
    (is_order && named.split_whitespace().next().is_some()).then_some(When { condition, order })
}

fn trailing(text: &str) -> Option<When> {
    const STARTS: &[&str] = &[" before ", " when ", " whenever ", " if ", " every time ", " each time "];
    let lower = text.to_lowercase();
    let spoken = Spoken::new(&lower);
    if lower.len() != text.len() || !spoken.is_order() || (spoken.is_forbidding() && !lower.starts_with("ask ")) {
        return None;
    }
    let (at, start) = STARTS.iter().filter_map(|start| lower.find(start).map(|at| (at, *start))).min()?;
    let (head, rest) = (text.get(..at)?, text.get(at + start.len()..)?);
    let (named, more) = rest.split_once(", ").unwrap_or((rest, ""));
    let condition = doing(start.trim(), named)?;
    let head = head.trim_end_matches([',', ' ']);
    let first = head.split_whitespace().next()?.to_lowercase();
    let is_asking = matches!(first.as_str(), "ask" | "confirm" | "check") && head.split_whitespace().count() <= 4;
    let order = match (is_asking, more) {
        (true, _) if head.split_whitespace().count() == 1 => format!("{head} the user first"),
        (true, _) => format!("{head} first"),
        (false, "") => head.to_owned(),
        (false, more) => format!("{head}, {more}"),
    };
    (order.split_whitespace().count() >= 2).then_some(When { condition, order })
}

/// What an agent does when a wish holds; nothing, if the condition speaks of something else.
fn doing(start: &str, named: &str) -> Option<String> {
    let (first, rest) = named.split_once(' ').unwrap_or((named, ""));
    let lower = first.trim_matches([',', '.', ':']).to_lowercase();
    let is_gerund = lower.ends_with("ing") && is_deed(&lower);
    let works = |rest: &str| {
        let verb = behind(rest, "are ").unwrap_or(rest).split_whitespace().next().unwrap_or_default().to_lowercase();
        is_deed(verb.trim_matches(|c: char| !c.is_alphanumeric() && c != '-'))
    };
    match (start, lower.as_str()) {
        ("before", "you") if works(rest) => Some(format!("you are about to {rest}")),
        ("before", _) if is_gerund => Some(format!("you are about to {} {rest}", deed(&lower)?).trim_end().to_owned()),
        ("after", "you") if works(rest) => Some(format!("after {named}")),
        ("after", _) if is_gerund => Some(format!("after {named}")),
        ("before" | "after", _) => None,
        // "If a test is flaky, …"
        (_, "a" | "an" | "any")
            if rest.split_whitespace().take(2).any(|word| any(ARTEFACTS, |known| known == word)) =>
        {
            Some(named.to_owned())
        }
        (_, "you're") if works(rest) => Some(format!("you are {rest}")),
        (_, "you") if works(rest) => Some(named.to_owned()),
        (_, _) if is_gerund => Some(format!("you are {named}")),
        _ => None,
    }
}
