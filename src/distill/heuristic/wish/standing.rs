//! What a sentence of a person is: meant for good, an order for now, a fact, or nothing to keep.

use super::super::scene::Deed;
use super::super::words::any;
use super::lexicon::{LASTING, OF_NOW, PLACES, POINTING, UNSURE, WORK, is_deed};

#[cfg(test)]
#[path = "standing_tests.rs"]
mod tests;

/// What a sentence does among those around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It says how things are done, for good.
    Standing,
    /// It says that what was said beside it holds for good.
    Lasting,
    /// It asks for something; whether for good, only the others tell.
    Order,
    /// It asks for something in the work at hand, and for nothing else.
    Task,
    /// It says how things are.
    Fact,
    /// It is about this one time: blame, praise, a question, something to be taken back.
    Passing,
}

/// A sentence in lower case, with its words.
#[derive(Debug)]
pub(super) struct Spoken<'t> {
    pub(super) lower: &'t str,
    pub(super) words: Vec<&'t str>,
}

impl<'t> Spoken<'t> {
    pub(super) fn new(lower: &'t str) -> Self {
        let is_edge = |c: char| ",.!;:\"'`()".contains(c);
        let words = lower.split_whitespace().map(|word| word.trim_matches(is_edge)).filter(|word| !word.is_empty());
        Self { lower, words: words.collect() }
    }

    /// What the sentence is, as an answer to what was done before.
    pub(super) fn role(&self, before: &[&Deed<'_>], is_correction: bool) -> Role {
        if self.lower.ends_with('?') {
            return Role::Passing;
        }
        let is_at_hand = self.is_at_hand();
        if self.only_points() && !is_at_hand {
            return if self.says_it_lasts() { Role::Lasting } else { Role::Passing };
        }
        if any(UNSURE, |words| self.lower.contains(words)) {
            return Role::Passing;
        }
        if !is_at_hand && self.words.len() >= 3 {
            if self.stands(before, is_correction) {
                return Role::Standing;
            }
            if let Some(role) = self.lasts_by_a_clause() {
                return role;
            }
        }
        let is_told = self.word(0) == "you" && self.is_order();
        match () {
            () if !is_told && any(OF_NOW, |words| self.lower.starts_with(words)) => Role::Passing,
            () if self.is_order() && self.words.len() >= 2 => {
                if is_at_hand {
                    Role::Task
                } else {
                    Role::Order
                }
            }
            () if self.words.len() >= 3 => Role::Fact,
            () => Role::Passing,
        }
    }

    /// Whether it says that something lasts.
    pub(super) fn says_it_lasts(&self) -> bool {
        any(LASTING, |words| self.lower.contains(words))
            || self.is_said_of("next time")
            || self.is_said_of("every time")
    }

    /// "Next time use X", "… every time": of what the agent does, and not of what a program does.
    pub(super) fn is_said_of(&self, time: &str) -> bool {
        self.lower.match_indices(time).any(|(at, _)| {
            let rest = self.lower.get(at + time.len()..).unwrap_or_default();
            let next = rest.trim_start_matches([',', ':', ' ']).split([' ', ',', '.']).next().unwrap_or_default();
            let is_end = rest.trim_start_matches(['.', '!', ' ']).is_empty() || rest.starts_with([',', ':']);
            is_end
                || matches!(next, "you" | "please" | "don't" | "do" | "just" | "never" | "always" | "you're")
                || is_deed(next)
        })
    }

    /// "Write the tests first, that's how our team works": one clause says that the other lasts, or that what stands beside does.
    fn lasts_by_a_clause(&self) -> Option<Role> {
        let clauses = self.lower.split([',', ';', '—', '–']).chain(self.lower.split(" - ").skip(1));
        let mut clauses = clauses.map(|clause| clause.trim().trim_start_matches("so ").trim_start_matches("and "));
        let first = clauses.next()?;
        let says_so = |clause: &str| {
            let clause = Spoken::new(clause);
            clause.only_points() && clause.says_it_lasts()
        };
        clauses.any(says_so).then(|| if Spoken::new(first).is_order() { Role::Standing } else { Role::Lasting })
    }

    pub(super) fn word(&self, at: usize) -> &'t str {
        self.words.get(at).copied().unwrap_or_default()
    }

    pub(super) fn works_at(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| any(WORK, |known| known == *word))
    }

    /// Whether it asks for something, in the form of an order.
    pub(super) fn is_order(&self) -> bool {
        match self.word(0) {
            "always" | "never" | "only" | "just" | "please" | "simply" | "instead" => {
                self.works_at(1) || self.works_at(2)
            }
            "don't" | "dont" | "stop" | "prefer" | "make" | "let" | "let's" | "avoid" => true,
            "do" => self.word(1) == "not",
            "from" | "next" | "in" | "going" => {
                self.words.iter().skip(2).take(3).any(|word| any(WORK, |known| known == *word))
            }
            "you" => matches!(self.word(1), "should" | "must" | "need" | "have"),
            "tests" | "commits" | "branches" | "types" | "names" => false,
            _ => {
                self.works_at(0)
                    && !matches!(self.word(1), "is" | "are" | "must" | "should" | "goes" | "names" | "messages")
            }
        }
    }

    /// Whether it says what is not to be done.
    pub(super) fn is_forbidding(&self) -> bool {
        const NOT: &[&str] = &[
            "never",
            "don't",
            "dont",
            "not",
            "stop",
            "avoid",
            "nobody",
            "no",
            "aren't",
            "isn't",
            "can't",
            "cannot",
            "mustn't",
            "shouldn't",
        ];
        self.words.iter().take(5).any(|word| NOT.contains(word)) || self.words.contains(&"never")
    }

    /// Whether it first of all says what is not to be done.
    pub(super) fn is_ban(&self) -> bool {
        const STARTS: &str = "never|don't|do not|stop |quit |avoid |we don't|we do not|we never|not |no |nobody|nothing|you can't|you cannot|you must not|\
            you mustn't|you shouldn't|you should not|you should never|you must never|you're not allowed|you are not allowed|you may not|you keep |\
            i don't like|i hate|i never want|i don't want";
        const INSIDE: &str =
            "not allowed|n't allowed|off limits|off-limits|forbidden|must not |must never |not permitted|no-go";
        any(STARTS, |start| self.lower.starts_with(start)) || any(INSIDE, |words| self.lower.contains(words))
    }

    /// Whether it says what to do instead, too.
    pub(super) fn has_instead(&self) -> bool {
        ["instead", " use ", ", run ", "rather", ", only ", " but ", ", not ", "; "]
            .iter()
            .any(|word| self.lower.contains(word))
    }

    /// Whether it begins with a word for something that was named before.
    pub(super) fn leans(&self) -> bool {
        matches!(
            self.word(0),
            "they" | "it" | "it's" | "they're" | "those" | "these" | "them" | "otherwise" | "because" | "there's"
        )
    }

    /// Whether it only adds to the sentence before: "never in files that are checked in".
    pub(super) fn is_fragment(&self) -> bool {
        matches!(self.word(0), "never" | "not" | "only")
            && matches!(
                self.word(1),
                "in" | "on" | "at" | "to" | "for" | "from" | "with" | "as" | "by" | "into" | "where" | "when"
            )
    }

    /// Whether it speaks of something that it does not name.
    pub(super) fn points_back(&self) -> bool {
        self.words.iter().any(|word| matches!(*word, "it" | "that" | "this" | "them" | "those" | "these"))
    }

    /// Whether it only points at what was said or done: "never do that again", "please remember that for every migration".
    fn only_points(&self) -> bool {
        const VERBS: &[&str] = &[
            "is",
            "are",
            "was",
            "would",
            "will",
            "has",
            "goes",
            "applies",
            "holds",
            "keeps",
            "must",
            "should",
            "makes",
            "means",
            "breaks",
            "can",
            "way",
            "for",
            "rule",
            "too",
            "in",
            "everywhere",
        ];
        const AFTER: &[&str] = &[
            "for",
            "in",
            "from",
            "next",
            "when",
            "whenever",
            "on",
            "everywhere",
            "always",
            "too",
            "as",
            "with",
            "going",
            "again",
            "please",
            "every",
            "way",
            "ever",
            "",
        ];
        let is_named = self.lower.contains("this is a ")
            || self.lower.starts_with("this repo")
            || self.lower.starts_with("this project");
        let first = self.word(0);
        let starts = (POINTING.contains(&first) && first != "there" && VERBS.contains(&self.word(1)))
            || matches!(first, "that's" | "that’s" | "same");
        let points = |at: usize| {
            POINTING.contains(&self.word(at)) && self.word(at) != "there" && AFTER.contains(&self.word(at + 1))
        };
        let is_bare = matches!(self.word(1), "it" | "that" | "this" | "them")
            && !self.is_of_a_kind_named()
            && self.says_it_lasts();
        let is_short = is_bare || self.words.len() <= 12 && (1..=3).any(points) && !self.lower.contains(',');
        // "All of our services do that."
        let is_shared = self.words.len() <= 8
            && matches!(first, "all" | "everyone" | "everybody" | "everything" | "every")
            && matches!(self.words.as_slice(), [.., "do" | "does" | "works" | "work", "that" | "it" | "this" | "so"]);
        !is_named && (starts || is_short || is_shared)
    }

    /// Whether it soon points at something else: "we always do that in a separate commit".
    pub(super) fn points(&self) -> bool {
        self.words.iter().enumerate().take(5).any(|(at, word)| {
            // "Comments that repeat the code" points at nothing.
            let is_joint = *word == "that"
                && at > 0
                && !self.works_at(at - 1)
                && !matches!(self.word(at - 1), "do" | "of" | "in" | "to" | "for" | "with");
            let is_place = any(PLACES, |place| place == self.word(at + 1));
            POINTING.contains(word) && *word != "there" && *word != "so" && !is_joint && !is_place
        })
    }
}
