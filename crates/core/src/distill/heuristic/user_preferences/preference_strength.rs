//! The strength of a user's sentence: lasting, perhaps beyond this task, or only for it. English only.

use super::super::sentence_text::any_listed;
use super::clause_grammar::{
    FUNCTION_WORDS, LEADS, POINTERS, PROGRAM_VERBS, PROTECTED, TIMES, ban_object, begins_condition, begins_lasting,
    begins_order, contains_word, contains_words, describes_own_state, has_reason, is_general, is_lasting_rule,
    is_plural, is_polite_ban, is_rule_of_kind, names_people, points_elsewhere, reports_state, spell_out, strip_lead,
};

/// The strength with which a sentence asks for something that outlasts the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PreferenceStrength {
    /// It is general but not stated as lasting: a second session must show it.
    Waiting,
    /// It gives a general reason against what agents do; it counts even in a first order, and also waits.
    Reasoned,
    /// Its words say that it is lasting.
    Lasting,
    /// It cannot be part of a task: "from now on".
    Unmistakable,
    /// It says that something was decided.
    Decision,
}

/// Phrases by which a sentence refers to the whole project.
const PLACES: &str = "in this repo|in this repository|in this project|in this codebase|in this monorepo|across the codebase|\
    across the repo|on this team|around here|in our codebase|in our code|in our repo|our convention|our rule|our policy|house style";

/// Phrases that announce a decision.
const DECISIONS: &str = "decision: |decision - |decided: |the decision is |we decided |we've decided |we have decided |we settled on |\
    we've settled on |we have settled on |we agreed |we've agreed |i decided |i've decided ";

/// Phrases that bind a sentence to the current work, and phrases of doubt.
const PASSING: &str = "for now|this time|right now|this once|for the moment|at the moment|today|tonight|tomorrow|this week|temporarily|\
    while you're at it|this pr|this branch|this commit|this function|this file|this test|this change|this one|that one|merge this|\
    that function|that page|accordingly|so you can|maybe|perhaps|might|i guess|i think we|i wonder|not sure|should we|until|yet|nothing";

/// Reasons against something that would also hold in the future.
const REASONS: &str = "annoying|not useful|isn't useful|aren't useful|useless|not helpful|aren't helpful|pure noise|just noise|\
    causing merge conflicts|cause merge conflicts|causes merge conflicts|misleading";

/// The circumstances in which a user said a sentence.
#[derive(Debug, Clone, Default)]
pub(super) struct RemarkContext {
    /// The programs that the agent just ran.
    pub(super) programs: Vec<String>,
    /// True if the agent acted before it.
    pub(super) has_agent_acted: bool,
    /// True if the message corrects the agent.
    pub(super) is_correction: bool,
}

/// A sentence in lower case, with every position from which it may be read.
#[derive(Debug)]
pub(super) struct PreferenceSentence {
    lower: String,
    /// The texts from each possible beginning, after a short lead.
    starts: Vec<String>,
    pub(super) is_question: bool,
}

impl PreferenceSentence {
    /// Parses a sentence.
    pub(super) fn parse(sentence: &str) -> Self {
        let words: Vec<String> = sentence.split_whitespace().map(spell_out).collect();
        let joined = words.join(" ");
        let lower = joined.trim_end_matches(['.', '!', '?', ' ']).to_owned();
        let mut starts = vec![lower.clone()];
        for (at, mark) in lower.char_indices().filter(|(_, c)| ",:;.!—–-".contains(*c)) {
            let (head, rest) = lower.split_at_checked(at + mark.len_utf8()).unwrap_or((&lower, ""));
            let is_apart = rest.starts_with(' ') && (mark != '-' || head.ends_with(" -"));
            let is_lead = head.split_whitespace().count() <= 6
                || matches!(mark, ';' | '—' | '–' | ':')
                || (rest.starts_with(" we ") && head.split_whitespace().count() <= 12);
            if is_apart && is_lead && !begins_condition(head) {
                starts.push(rest.trim_start().to_owned());
            }
        }
        for joint in [" but ", " so ", " and ", " we "] {
            let Some((head, rest)) = lower.split_once(joint) else { continue };
            // A place leads up to the clause in "In tests we use factories".
            let is_place = head.split(' ').count() <= 4 && any_listed("in |on |for ", |place| head.starts_with(place));
            match joint {
                " we " if is_place => starts.push(format!("we {rest}")),
                " but " | " so " if head.split(' ').count() > 8 => {}
                " and " if !any_listed(TIMES, |time| rest.ends_with(time)) => {}
                " we " => {}
                _ => starts.push(rest.to_owned()),
            }
        }
        starts.iter_mut().for_each(strip_lead);
        Self { lower, starts, is_question: joined.trim_end().ends_with('?') }
    }

    /// Returns the strength of the sentence, or `None` if it asks for nothing beyond the task.
    pub(super) fn measure_strength(&self, context: &RemarkContext) -> Option<PreferenceStrength> {
        use PreferenceStrength::{Decision, Lasting, Reasoned, Unmistakable, Waiting};
        if self.is_reasoned() {
            return Some(Reasoned);
        }
        // The lasting part may come later: "It's fine this time, but going forward tests come first."
        let is_apart = |start: &String| {
            begins_lasting(start) || (begins_order(start) && any_listed(TIMES, |time| start.ends_with(time)))
        };
        let begins_so = self.starts.first().is_some_and(|start| begins_lasting(start));
        if !self.is_question && (begins_so || self.starts.iter().skip(1).any(is_apart)) {
            return Some(Unmistakable);
        }
        match () {
            () if self.contains_any(PASSING) || self.describes_program() => None,
            () if self.asks_permanently() => Some(Lasting),
            () if self.is_question => self.starts.iter().any(|start| is_polite_ban(start)).then_some(Waiting),
            () if self.is_decision() => Some(Decision),
            () if self.is_lasting() => Some(Unmistakable),
            () if self.starts.iter().any(|start| is_lasting_rule(start))
                || self.is_custom()
                || self.asks_for_consent() =>
            {
                Some(Lasting)
            }
            // A rule may only explain a task: "Every request must carry an id, please implement that".
            () if self
                .starts
                .iter()
                .skip(1)
                .any(|start| begins_order(start) && points_elsewhere(start) && !self.is_ban()) =>
            {
                None
            }
            () if self.starts.iter().any(|start| is_general(start)) || self.swaps_tools(context) => Some(Waiting),
            () if self.contains_any("must not be|must never be|may not be") && self.contains_any(PROTECTED) => {
                Some(Waiting)
            }
            () if self.contains_any("unless you have|unless you've|unless you know")
                && self.contains_any("should|shouldn't|don't|never") =>
            {
                Some(Waiting)
            }
            () if self.bans_in_general(context) => Some(Waiting),
            () => None,
        }
    }

    /// Tells whether the sentence needs the one before it: "we always do that in a separate commit".
    pub(super) fn points_back(&self) -> bool {
        let is_lasting_start = |start: &&String| is_lasting_rule(start) || is_general(start) || is_rule_of_kind(start);
        let mut preferences = self.starts.iter().filter(is_lasting_start).peekable();
        match preferences.peek() {
            Some(_) => preferences.all(|start| points_elsewhere(start)),
            None => {
                !self.starts.iter().any(|start| begins_order(start) && !points_elsewhere(start))
                    && points_elsewhere(&self.lower)
            }
        }
    }

    /// Tells whether it is an order from its first word on, or after a short lead.
    pub(super) fn is_order(&self) -> bool {
        self.starts.iter().any(|start| begins_order(start))
    }

    /// Tells whether it has enough words of its own to be understood without the ones before it.
    pub(super) fn is_self_contained(&self) -> bool {
        self.starts.last().is_some_and(|start| start.split(' ').count() > 7) || self.is_reasoned()
    }

    /// Tells whether it explains what was meant by an earlier request.
    pub(super) fn clarifies_request(&self) -> bool {
        self.contains_any("should have|should've|i wanted|i meant|i asked")
    }

    /// Tells whether it forbids something.
    pub(super) fn is_ban(&self) -> bool {
        self.starts.iter().any(|start| ban_object(start).is_some())
    }

    /// Tells whether it continues what the sentence before it asked for: with a reason, or with what to do instead.
    pub(super) fn continues_previous(&self, after_ban: bool) -> bool {
        const JOINTS: &str = "otherwise|because|since|that|it|they|this|these|those|the others|never in|not in|ever";
        const DONE_INSTEAD: &str = "use|run|go|put|write|change|ask|only|keep|always|instead";
        let begins = |list: &str| {
            any_listed(list, |word| {
                self.lower.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',']))
            })
        };
        let is_at_hand = self.is_question || self.contains_any(PASSING);
        !is_at_hand && (begins(JOINTS) || (after_ban && begins(DONE_INSTEAD) && !self.points_back()))
    }

    /// Tells whether it states something that is neither a request nor bound to the current work.
    pub(super) fn is_statement(&self) -> bool {
        !self.is_question && !self.is_order() && !self.contains_any(PASSING) && self.lower.split(' ').count() > 3
    }

    /// Tells whether it describes how a program must behave: "Always show the spinner, and never block".
    fn describes_program(&self) -> bool {
        let mut words = self.starts.first().map_or("", String::as_str).split(' ');
        matches!(words.next(), Some("always" | "never"))
            && words.next().is_some_and(|verb| contains_word(PROGRAM_VERBS, verb))
    }

    fn contains_any(&self, list: &str) -> bool {
        any_listed(list, |words| contains_words(&self.lower, words))
    }

    fn is_decision(&self) -> bool {
        let is_announced = self.starts.iter().any(|start| any_listed(DECISIONS, |words| start.starts_with(words)));
        let is_chosen = self.starts.iter().any(|start| {
            any_listed("let's go with |let's settle on |let's use |let's stick ", |words| start.starts_with(words))
        });
        is_announced
            || (is_chosen
                && (self.contains_any("everywhere|for all|for every|as the standard")
                    || self.contains_any(TIMES)
                    || self.contains_any(PLACES)))
    }

    /// Tells whether a question asks for something lasting: "Would you mind asking me before you push from now on?"
    fn asks_permanently(&self) -> bool {
        let is_polite = self.is_question
            && any_listed("could you |can you |would you |will you |can we agree |could we agree ", |ask| {
                self.starts.iter().any(|start| start.starts_with(ask))
            });
        let is_for_good = self.contains_any(TIMES) || self.contains_any("always|never|every time|agree");
        (is_polite && is_for_good && !self.contains_any("it|this|that one|these"))
            || self.lower.starts_with("why do you keep ")
    }

    /// Tells whether it is lasting in its words: "Stick to it in future", "remember that for every migration".
    fn is_lasting(&self) -> bool {
        let is_remembered =
            self.contains_any("remember|keep in mind") && self.contains_any("for every|for all|always|for other");
        let is_led = self.lower.split_once([':', '—', '–']).or_else(|| self.lower.split_once(" - ")).is_some_and(
            |(head, rest)| {
                head.split(' ').count() <= 8
                    && any_listed(LEADS, |lead| contains_words(head, lead))
                    && rest.trim().contains(' ')
            },
        );
        let is_at_end = any_listed(TIMES, |time| self.lower.ends_with(time))
            || any_listed(TIMES, |time| self.lower.contains(&format!("{time}, ")));
        let is_told = !any_listed("it |the |they |i |he |she |there |when ", |who| self.lower.starts_with(who));
        let is_ordered = self
            .starts
            .iter()
            .any(|start| begins_order(start) && any_listed(TIMES, |time| contains_words(start, time)));
        let is_noted = is_led || self.lower.starts_with("for future reference, ");
        ((is_remembered || is_at_end || is_noted) && is_told) || is_ordered
    }

    /// Tells whether it states a custom: "this project doesn't use semicolons", "use tabs in this repo".
    fn is_custom(&self) -> bool {
        let is_how =
            self.contains_any("that's how we|that is how we|this is how we|how our team|the way we do|how we do");
        is_how
            || self.starts.iter().any(|start| {
                let is_placed = any_listed(PLACES, |place| contains_words(start, place));
                let is_of_project =
                    any_listed("this repo |this project |this codebase |our team ", |name| start.starts_with(name))
                        && (any_listed("uses|doesn't use|follows|requires|avoids", |verb| contains_words(start, verb))
                            || start.contains(", not "));
                let is_ours = any_listed("we |it's |in this |in our ", |who| start.starts_with(who))
                    && !describes_own_state(start);
                let is_ruled = any_listed("always|never|must|only", |all| contains_words(start, all))
                    && !any_listed("the |it ", |one| start.starts_with(one));
                let is_none = start.starts_with("no ") && !contains_words(start, "is");
                let is_told = is_placed && (begins_order(start) || is_ours || is_ruled || is_none);
                let is_kept = (is_placed || contains_words(start, "here")) && is_rule_of_kind(start);
                let is_used = any_listed("we use |we're on |we run |we write |we keep ", |who| start.starts_with(who))
                    && contains_words(start, "here")
                    && !points_elsewhere(start);
                is_of_project || is_used || ((is_told || is_kept) && !reports_state(start))
            })
    }

    /// Tells whether it demands consent, as in "don't push unless I say so", or rules something out for good.
    fn asks_for_consent(&self) -> bool {
        let is_me = self.contains_any("ask me|asking me|you to ask|you asked|you ask|check with me")
            || self.starts.iter().any(|start| start.starts_with("ask ") || start.contains(", ask first"));
        let is_asked = is_me && self.contains_any("before|first");
        let is_consent =
            is_asked || self.contains_any("without asking|unless i ask|unless i say|unless i tell|unless i explicitly");
        let is_ruled_out = self.contains_any(
            "is off limits|are off limits|is off-limits|are off-limits|is forbidden|are forbidden|are not allowed|aren't allowed|\
             you're not allowed to|you are not allowed to|is non-negotiable|are non-negotiable|under no circumstances",
        );
        (is_consent && (self.is_order() || self.contains_any("if you|i'd rather you|i want you to")))
            || (is_ruled_out && !names_people(&self.lower))
    }

    /// Tells whether it replaces a tool, as in "Use pnpm, not npm", after the agent ran npm or in a correction.
    fn swaps_tools(&self, context: &RemarkContext) -> bool {
        let is_bare = |name: &str| {
            name.starts_with(|c: char| c.is_alphabetic() || c == '`') && !contains_word(FUNCTION_WORDS, name)
        };
        let other = ["not ", "instead of ", "rather than "].iter().find_map(|joint| {
            let (head, rest) = self.lower.split_once(joint).filter(|(head, _)| !head.is_empty())?;
            let name = rest.split([' ', ',', '.', ';']).next()?;
            let used = head
                .split_whitespace()
                .skip_while(|word| !any_listed("use|using|prefer|it's|run|with", |verb| verb == *word))
                .nth(1);
            (is_bare(name) && used.is_none_or(is_bare)).then(|| name.trim_matches('`').to_owned())
        });
        let Some(other) = other else { return false };
        // A kind of thing is meant in "Write tests in pytest style, not unittest classes".
        let is_of_kind =
            self.starts.iter().any(|start| begins_order(start) && start.split(' ').nth(1).is_some_and(is_plural));
        let is_corrected = context.is_correction && self.contains_any("use|using") && self.contains_any("here");
        self.lower.split(' ').count() <= 14 && (context.programs.contains(&other) || is_of_kind || is_corrected)
    }

    /// Tells whether it forbids a kind of thing, with a reason or after it was done: "Don't use pip, the lock drifts".
    fn bans_in_general(&self, context: &RemarkContext) -> bool {
        self.starts.iter().filter_map(|start| ban_object(start)).any(|object| {
            let words: Vec<&str> = object.split([' ', ',', '`']).filter(|word| !word.is_empty()).collect();
            let is_kind = words.get(1).is_some_and(|word| !contains_word(POINTERS, word));
            let is_run = words.iter().take(4).any(|word| context.programs.iter().any(|program| program == word));
            is_kind && (is_run || has_reason(object)) && !contains_words(object, "forget")
        })
    }

    /// Tells whether it gives a reason and a request: "The assertions are not useful, so remove them."
    fn is_reasoned(&self) -> bool {
        let Some((subject, rest)) = [" is ", " are ", " isn't ", " aren't "].iter().find_map(|verb| {
            let at = self.lower.find(verb)?;
            Some((self.lower.get(..at)?, self.lower.get(at..)?))
        }) else {
            return false;
        };
        let first = subject.split(' ').next().unwrap_or_default();
        let count = subject.split(' ').count();
        let is_named =
            (2..=8).contains(&count) && !contains_word("it|this|that|there|what|which|why|if|when|i|you|error", first);
        let is_wanted = any_listed(
            "so remove|so drop|so don't|so stop|could we|can we|could you|let's|please|should be",
            |words| contains_words(rest, words),
        );
        is_named && is_wanted && any_listed(REASONS, |reason| contains_words(rest, reason))
    }
}
