//! Finds messages in which a person corrects the agent.

#[cfg(test)]
#[path = "corrections_tests.rs"]
mod tests;

/// The openings of a correction, as whole words.
const OPENINGS: &[&str] = &[
    "nope",
    "stop",
    "please stop",
    "wait",
    "actually",
    "don't",
    "dont",
    "do not",
    "please don't",
    "please do not",
    "never",
    "undo",
    "please undo",
    "revert",
    "please revert",
    "that's wrong",
    "that is wrong",
    "thats wrong",
    "this is wrong",
    "you're wrong",
    "you are wrong",
    "you were wrong",
    "wrong",
    "that's not",
    "that is not",
    "thats not",
    "this is not what",
    "this isn't",
    "that isn't",
    "not what i",
    "i said",
    "i told you",
    "i asked you",
    "i asked for",
    "i meant",
    "i didn't ask",
    "i did not ask",
    "why did you",
    "why are you",
    "you forgot",
    "you missed",
    "you deleted",
    "you removed",
    "you overwrote",
    "you ignored",
    "you should have",
    "you shouldn't",
    "you should not",
    "you were supposed",
    "you broke",
    "that broke",
    "this broke",
    "it broke",
    "instead of",
    "instead",
    "rather than",
    "hold on",
    "hmm no",
    "hm, no",
    "still fails",
    "still failing",
    "still broken",
    "it's still",
    "its still",
    "that didn't",
    "that did not",
    "it didn't work",
    "this didn't",
];

/// Phrases that make a later sentence a correction.
const INSIDE: &[&str] = &[
    "not what i asked",
    "not what i wanted",
    "i told you",
    "as i said",
    "you keep ",
    "stop doing",
    "don't do that",
    "do not do that",
    "from now on",
    "in future, ",
    "always use ",
    "never use ",
    "should have used",
    "should be using",
    "i'd rather you",
    " is the wrong ",
    "'s the wrong ",
    " instead of ",
    "that's not how",
    "we don't ",
    "we never ",
    "we always ",
];

/// Openings that look like a correction but are none.
const NOT_ONE: &[&str] = &[
    "no problem",
    "no worries",
    "no need",
    "no rush",
    "wait for",
    "wait until",
    "stop hook",
    "don't worry",
    "do not worry",
    "don't forget",
    "dont forget",
    "do not forget",
    "never mind",
    "that's not bad",
    "that is not bad",
    "that's not a problem",
    "actually works",
];

/// Phrases of praise in the first sentence.
const PRAISE: &[&str] = &[
    "great",
    "perfect",
    "looks good",
    "so good",
    "awesome",
    "thank",
    "well done",
    "good job",
    "ship it",
    "lgtm",
    "love it",
    "excellent",
    "brilliant",
    "nice work",
];

/// Phrases that show that a sentence is more than praise.
const BUT: &[&str] = &[" but ", "instead", "wrong", " not ", "n't ", " never "];

/// Words that follow a "no" without a comma when it is a refusal.
const AFTER_NO: &[&str] = &[
    "use", "don't", "dont", "do", "not", "never", "stop", "that", "that's", "this", "it's", "it", "you", "i", "we",
    "please", "wait", "revert", "undo", "put", "keep", "make", "leave", "change", "remove", "delete", "try", "run",
    "just", "go", "write", "add", "edit", "the", "no",
];

/// Words that follow "next time" in an order; `GIVEN` has those that follow "please use" without one.
const ORDERS: &[&str] =
    &["use", "run", "ask", "please", "don't", "do", "you", "just", "check", "never", "always", "read", "try", "make"];
const GIVEN: &[&str] = &["the attached", "attached", "the following", "this", "these", "my ", "the file", "it "];

/// The number of characters beyond which a text is a new request, not a remark on the last one.
const MAX_CHARACTERS: usize = 4000;

/// Returns a person's words if they correct the agent. After an interruption any new request is a correction.
pub(super) fn find_correction(words: &str, was_interrupted: bool) -> Option<&str> {
    let words = words.trim();
    if words.is_empty() || words.chars().nth(MAX_CHARACTERS).is_some() {
        return None;
    }
    let lower = own_words(words).to_lowercase().replace('’', "'");
    let lower = lower.trim();
    if lower.is_empty() || NOT_ONE.iter().any(|opening| begins_with_words(lower, opening)) {
        return None;
    }
    let is_correction =
        opens_with_correction(lower) || contains_correction(lower) || (was_interrupted && !asks_to_continue(lower));
    is_correction.then_some(words)
}

/// Returns a person's own words, without quotes and fenced blocks.
fn own_words(words: &str) -> String {
    let mut own = String::with_capacity(words.len());
    let mut is_fenced = false;
    for line in words.lines() {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            is_fenced = !is_fenced;
        } else if !is_fenced && !start.starts_with('>') {
            own.push_str(line);
            own.push('\n');
        }
    }
    own
}

fn opens_with_correction(lower: &str) -> bool {
    let first = lower.split(['.', '!', '?', '\n']).find(|sentence| !sentence.trim().is_empty()).unwrap_or_default();
    let is_praise = PRAISE.iter().any(|praise| first.contains(praise)) && !BUT.iter().any(|but| first.contains(but));
    !is_praise && (begins_with_no(lower) || OPENINGS.iter().any(|opening| begins_with_words(lower, opening)))
}

/// Returns true if a text begins with these whole words.
fn begins_with_words(lower: &str, opening: &str) -> bool {
    lower
        .strip_prefix(opening)
        .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '_' | '-' | '\'')))
}

/// Returns true if a text begins with a "no" that is a refusal.
fn begins_with_no(lower: &str) -> bool {
    let Some(rest) = lower.strip_prefix("no") else { return false };
    let mut letters = rest.chars();
    match letters.next() {
        None | Some(',' | '.' | '!' | ':' | ';' | '\n' | '—' | '–' | '…') => true,
        Some('-') => letters.next().is_some_and(char::is_whitespace),
        Some(' ') => {
            let next = letters.as_str().trim_start().split(|c: char| c.is_whitespace() || ",.:;!?".contains(c)).next();
            next.is_some_and(|next| AFTER_NO.contains(&next) || matches!(next, "" | "-" | "—" | "–"))
        }
        Some(_) => false,
    }
}

fn contains_correction(lower: &str) -> bool {
    INSIDE.iter().any(|passage| lower.contains(passage))
        || text_after_each(lower, "next time").any(|rest| {
            let word = rest.trim_start_matches([',', ':', ' ']).split([' ', ',', '.']).next().unwrap_or_default();
            ORDERS.contains(&word)
        })
        || text_after_each(lower, "please use ").any(|rest| !GIVEN.iter().any(|given| rest.starts_with(given)))
        || text_after_each(lower, " instead").any(|rest| rest.is_empty() || rest.starts_with(['.', '!', ',', '\n']))
        || lower.split(['.', '!', '?', '\n']).any(|sentence| {
            text_after_each(sentence, "use ").any(|rest| rest.contains(", not "))
                && !sentence.trim_start().starts_with("if ")
        })
}

/// Returns the text after each occurrence of some words.
fn text_after_each<'a>(text: &'a str, words: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(words).filter_map(move |(at, _)| text.get(at + words.len()..))
}

/// Returns true if a person only asks the agent to continue.
fn asks_to_continue(lower: &str) -> bool {
    matches!(
        lower.trim_end_matches(['.', '!', ' ']),
        "continue" | "go on" | "go ahead" | "proceed" | "resume" | "ok" | "yes" | "keep going"
    )
}
