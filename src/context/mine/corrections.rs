//! A person setting the agent right.

/// How a correction begins.
const OPENINGS: &[&str] = &[
    "no,",
    "no.",
    "no!",
    "no ",
    "nope",
    "stop",
    "wait",
    "actually",
    "don't",
    "dont ",
    "do not",
    "please don't",
    "please do not",
    "never ",
    "undo",
    "revert",
    "that's wrong",
    "that is wrong",
    "thats wrong",
    "this is wrong",
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
    "i asked",
    "i meant",
    "i didn't ask",
    "i did not ask",
    "why did you",
    "why are you",
    "you forgot",
    "you missed",
    "you should have",
    "you shouldn't",
    "you should not",
    "you were supposed",
    "you broke",
    "instead of",
    "instead,",
    "rather than",
    "hold on",
    "hmm no",
    "hm, no",
    "still fails",
    "still failing",
    "still broken",
    "it's still",
    "that didn't",
    "that did not",
    "it didn't work",
    "this didn't",
];

/// What makes a later sentence a correction.
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
    "next time",
    "always use ",
    "never use ",
    "please use ",
    "use x instead",
    "should have used",
    "should be using",
    " instead of ",
    "that's not how",
    "we don't ",
    "we never ",
    "we always ",
];

/// Words of agreement that begin like a correction.
const NOT_ONE: &[&str] =
    &["no problem", "no worries", "no need", "no rush", "wait for", "stop hook", "don't worry", "actually works"];

/// Beyond this a text is a new order, not a remark on the last one.
const MAX_CHARACTERS: usize = 4000;

/// The person's words, if they correct what the agent did. After an interruption any new order is a correction.
pub(super) fn read(words: &str, was_interrupted: bool) -> Option<&str> {
    let words = words.trim();
    if words.is_empty() || words.chars().nth(MAX_CHARACTERS).is_some() {
        return None;
    }
    let lower = words.to_lowercase().replace('’', "'");
    if NOT_ONE.iter().any(|opening| lower.starts_with(opening)) {
        return None;
    }
    let is_correction = lower == "no"
        || OPENINGS.iter().any(|opening| lower.starts_with(opening))
        || INSIDE.iter().any(|passage| lower.contains(passage))
        || (was_interrupted && !is_go_on(&lower));
    is_correction.then_some(words)
}

/// Whether a person only wants it to go on.
fn is_go_on(lower: &str) -> bool {
    matches!(
        lower.trim_end_matches(['.', '!', ' ']),
        "continue" | "go on" | "go ahead" | "proceed" | "resume" | "ok" | "yes" | "keep going"
    )
}
