//! How far a sentence of a person reaches: for good, perhaps beyond this task, or no further. English only.

use super::super::words::any;
use super::clause_grammar::{
    FUNCTION_WORDS, LEADS, POINTERS, PROGRAM_VERBS, PROTECTED, TIMES, ban_object, begins_condition, begins_lasting,
    begins_order, contains_word, contains_words, declines, has_reason, has_state, is_general, is_plural,
    is_rule_of_kind, names_people, points, reports_state, spell_out, stands, strip_lead,
};

/// How a sentence asks for something that outlasts the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WishStrength {
    /// It is general, but its words do not say that it stands: a second session must show it.
    Waiting,
    /// A reason of general weight for not wanting what agents do; it counts even in a first order, and waits too.
    Reasoned,
    /// Its words say that it stands.
    Standing,
    /// Nobody can take it for part of a task: "from now on".
    Unmistakable,
    /// It says that something was decided.
    Decision,
}

/// Words by which a sentence speaks of everything in a project.
const PLACES: &str = "in this repo|in this repository|in this project|in this codebase|in this monorepo|across the codebase|\
    across the repo|on this team|around here|in our codebase|in our code|in our repo|our convention|our rule|our policy|house style";

/// How a decision is announced.
const DECISIONS: &str = "decision: |decision - |decided: |the decision is |we decided |we've decided |we have decided |we settled on |\
    we've settled on |we have settled on |we agreed |we've agreed |i decided |i've decided ";

/// Words that bind a sentence to the work at hand, and words of doubt.
const PASSING: &str = "for now|this time|right now|this once|for the moment|at the moment|today|tonight|tomorrow|this week|temporarily|\
    while you're at it|this pr|this branch|this commit|this function|this file|this test|this change|this one|that one|merge this|\
    that function|that page|accordingly|so you can|maybe|perhaps|might|i guess|i think we|i wonder|not sure|should we|until|yet|nothing";

/// Reasons for not wanting something that would hold tomorrow as well.
const REASONS: &str = "annoying|not useful|isn't useful|aren't useful|useless|not helpful|aren't helpful|pure noise|just noise|\
    causing merge conflicts|cause merge conflicts|causes merge conflicts|misleading";

/// What a person said a sentence after.
#[derive(Debug, Clone, Default)]
pub(super) struct RemarkContext {
    /// The programs that the agent just ran.
    pub(super) programs: Vec<String>,
    /// The agent did something before it.
    pub(super) has_agent_acted: bool,
    /// The message sets the agent right.
    pub(super) is_correction: bool,
}

/// A sentence in lower case, cut into what may be its beginning.
#[derive(Debug)]
pub(super) struct WishSentence {
    lower: String,
    /// The places from which the sentence may be read: what only leads up to it is short.
    starts: Vec<String>,
    pub(super) is_question: bool,
}

impl WishSentence {
    /// Reads a sentence.
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
            // "In tests we use factories"
            let is_place = head.split(' ').count() <= 4 && any("in |on |for ", |place| head.starts_with(place));
            match joint {
                " we " if is_place => starts.push(format!("we {rest}")),
                " but " | " so " if head.split(' ').count() > 8 => {}
                " and " if !any(TIMES, |time| rest.ends_with(time)) => {}
                " we " => {}
                _ => starts.push(rest.to_owned()),
            }
        }
        starts.iter_mut().for_each(strip_lead);
        Self { lower, starts, is_question: joined.trim_end().ends_with('?') }
    }

    /// How far the sentence reaches, if it asks for anything beyond the task.
    pub(super) fn strength(&self, context: &RemarkContext) -> Option<WishStrength> {
        use WishStrength::{Decision, Reasoned, Standing, Unmistakable, Waiting};
        if self.is_reasoned() {
            return Some(Reasoned);
        }
        // "It's fine this time, but going forward tests come first."
        let is_apart =
            |start: &String| begins_lasting(start) || (begins_order(start) && any(TIMES, |time| start.ends_with(time)));
        let begins_so = self.starts.first().is_some_and(|start| begins_lasting(start));
        if !self.is_question && (begins_so || self.starts.iter().skip(1).any(is_apart)) {
            return Some(Unmistakable);
        }
        match () {
            () if self.has(PASSING) || self.describes_program() => None,
            () if self.asks_for_good() => Some(Standing),
            () if self.is_question => self.starts.iter().any(|start| declines(start)).then_some(Waiting),
            () if self.is_decision() => Some(Decision),
            () if self.is_lasting() => Some(Unmistakable),
            () if self.starts.iter().any(|start| stands(start)) || self.is_custom() || self.asks_for_consent() => {
                Some(Standing)
            }
            // "Every request must carry an id, please implement that": a task, and what it is about.
            () if self.starts.iter().skip(1).any(|start| begins_order(start) && points(start) && !self.is_ban()) => {
                None
            }
            () if self.starts.iter().any(|start| is_general(start)) || self.swaps_tools(context) => Some(Waiting),
            () if self.has("must not be|must never be|may not be") && self.has(PROTECTED) => Some(Waiting),
            () if self.has("unless you have|unless you've|unless you know")
                && self.has("should|shouldn't|don't|never") =>
            {
                Some(Waiting)
            }
            () if self.bans_in_general(context) => Some(Waiting),
            () => None,
        }
    }

    /// Says whether the sentence only makes sense behind the one before it: "we always do that in a separate commit".
    pub(super) fn points_back(&self) -> bool {
        let is_wish = |start: &&String| stands(start) || is_general(start) || is_rule_of_kind(start);
        let mut wishes = self.starts.iter().filter(is_wish).peekable();
        match wishes.peek() {
            Some(_) => wishes.all(|start| points(start)),
            None => !self.starts.iter().any(|start| begins_order(start) && !points(start)) && points(&self.lower),
        }
    }

    /// Says whether it is an order from its first word on, behind a short lead.
    pub(super) fn is_order(&self) -> bool {
        self.starts.iter().any(|start| begins_order(start))
    }

    /// Says whether it has enough words of its own to be understood where it points at nothing that was said.
    pub(super) fn is_named(&self) -> bool {
        self.starts.last().is_some_and(|start| start.split(' ').count() > 7) || self.is_reasoned()
    }

    /// Says whether it tells what was meant by something that was asked for before.
    pub(super) fn looks_back(&self) -> bool {
        self.has("should have|should've|i wanted|i meant|i asked")
    }

    /// Says whether it forbids something.
    pub(super) fn is_ban(&self) -> bool {
        self.starts.iter().any(|start| ban_object(start).is_some())
    }

    /// Says whether it carries on what the sentence before it asked for: its reason, or what to do instead.
    pub(super) fn carries_on(&self, after_ban: bool) -> bool {
        const JOINTS: &str = "otherwise|because|since|that|it|they|this|these|those|the others|never in|not in|ever";
        const DONE_INSTEAD: &str = "use|run|go|put|write|change|ask|only|keep|always|instead";
        let begins = |list: &str| {
            any(list, |word| {
                self.lower.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',']))
            })
        };
        let is_at_hand = self.is_question || self.has(PASSING);
        !is_at_hand && (begins(JOINTS) || (after_ban && begins(DONE_INSTEAD) && !self.points_back()))
    }

    /// Says whether it tells something that is neither asked for nor bound to the moment.
    pub(super) fn is_statement(&self) -> bool {
        !self.is_question && !self.is_order() && !self.has(PASSING) && self.lower.split(' ').count() > 3
    }

    /// "Always show the spinner, and never block": how a program is to behave.
    fn describes_program(&self) -> bool {
        let mut words = self.starts.first().map_or("", String::as_str).split(' ');
        matches!(words.next(), Some("always" | "never"))
            && words.next().is_some_and(|verb| contains_word(PROGRAM_VERBS, verb))
    }

    fn has(&self, list: &str) -> bool {
        any(list, |words| contains_words(&self.lower, words))
    }

    fn is_decision(&self) -> bool {
        let is_announced = self.starts.iter().any(|start| any(DECISIONS, |words| start.starts_with(words)));
        let is_chosen = self.starts.iter().any(|start| {
            any("let's go with |let's settle on |let's use |let's stick ", |words| start.starts_with(words))
        });
        is_announced
            || (is_chosen
                && (self.has("everywhere|for all|for every|as the standard") || self.has(TIMES) || self.has(PLACES)))
    }

    /// "Would you mind asking me before you push from now on?" A question that points at something asks for one thing.
    fn asks_for_good(&self) -> bool {
        let is_polite = self.is_question
            && any("could you |can you |would you |will you |can we agree |could we agree ", |ask| {
                self.starts.iter().any(|start| start.starts_with(ask))
            });
        let is_for_good = self.has(TIMES) || self.has("always|never|every time|agree");
        (is_polite && is_for_good && !self.has("it|this|that one|these")) || self.lower.starts_with("why do you keep ")
    }

    /// "Stick to it in future": an order, or what we do, for all time; "remember that for every migration".
    fn is_lasting(&self) -> bool {
        let is_remembered = self.has("remember|keep in mind") && self.has("for every|for all|always|for other");
        let is_led = self.lower.split_once([':', '—', '–']).or_else(|| self.lower.split_once(" - ")).is_some_and(
            |(head, rest)| {
                head.split(' ').count() <= 8
                    && any(LEADS, |lead| contains_words(head, lead))
                    && rest.trim().contains(' ')
            },
        );
        let is_at_end = any(TIMES, |time| self.lower.ends_with(time))
            || any(TIMES, |time| self.lower.contains(&format!("{time}, ")));
        let is_told = !any("it |the |they |i |he |she |there |when ", |who| self.lower.starts_with(who));
        let is_ordered =
            self.starts.iter().any(|start| begins_order(start) && any(TIMES, |time| contains_words(start, time)));
        let is_noted = is_led || self.lower.starts_with("for future reference, ");
        ((is_remembered || is_at_end || is_noted) && is_told) || is_ordered
    }

    /// "Indexes are always created concurrently here", "this project doesn't use semicolons", "use tabs in this repo".
    fn is_custom(&self) -> bool {
        let is_how = self.has("that's how we|that is how we|this is how we|how our team|the way we do|how we do");
        is_how
            || self.starts.iter().any(|start| {
                let is_placed = any(PLACES, |place| contains_words(start, place));
                let is_of_project =
                    any("this repo |this project |this codebase |our team ", |name| start.starts_with(name))
                        && (any("uses|doesn't use|follows|requires|avoids", |verb| contains_words(start, verb))
                            || start.contains(", not "));
                let is_ours = any("we |it's |in this |in our ", |who| start.starts_with(who)) && !has_state(start);
                let is_ruled = any("always|never|must|only", |all| contains_words(start, all))
                    && !any("the |it ", |one| start.starts_with(one));
                let is_none = start.starts_with("no ") && !contains_words(start, "is");
                let is_told = is_placed && (begins_order(start) || is_ours || is_ruled || is_none);
                let is_kept = (is_placed || contains_words(start, "here")) && is_rule_of_kind(start);
                let is_used = any("we use |we're on |we run |we write |we keep ", |who| start.starts_with(who))
                    && contains_words(start, "here")
                    && !points(start);
                is_of_project || is_used || ((is_told || is_kept) && !reports_state(start))
            })
    }

    /// "Ask me before you delete anything", "don't push unless I say so"; also what is ruled out for good.
    fn asks_for_consent(&self) -> bool {
        let is_me = self.has("ask me|asking me|you to ask|you asked|you ask|check with me")
            || self.starts.iter().any(|start| start.starts_with("ask ") || start.contains(", ask first"));
        let is_asked = is_me && self.has("before|first");
        let is_consent =
            is_asked || self.has("without asking|unless i ask|unless i say|unless i tell|unless i explicitly");
        let is_ruled_out = self.has(
            "is off limits|are off limits|is off-limits|are off-limits|is forbidden|are forbidden|are not allowed|aren't allowed|\
             you're not allowed to|you are not allowed to|is non-negotiable|are non-negotiable|under no circumstances",
        );
        (is_consent && (self.is_order() || self.has("if you|i'd rather you|i want you to")))
            || (is_ruled_out && !names_people(&self.lower))
    }

    /// "Use pnpm, not npm", where the agent just ran npm, or where the message sets it right.
    fn swaps_tools(&self, context: &RemarkContext) -> bool {
        let is_bare = |name: &str| {
            name.starts_with(|c: char| c.is_alphabetic() || c == '`') && !contains_word(FUNCTION_WORDS, name)
        };
        let other = ["not ", "instead of ", "rather than "].iter().find_map(|joint| {
            let (head, rest) = self.lower.split_once(joint).filter(|(head, _)| !head.is_empty())?;
            let name = rest.split([' ', ',', '.', ';']).next()?;
            let used = head
                .split_whitespace()
                .skip_while(|word| !any("use|using|prefer|it's|run|with", |verb| verb == *word))
                .nth(1);
            (is_bare(name) && used.is_none_or(is_bare)).then(|| name.trim_matches('`').to_owned())
        });
        let Some(other) = other else { return false };
        // "Write tests in pytest style, not unittest classes"
        let is_of_kind =
            self.starts.iter().any(|start| begins_order(start) && start.split(' ').nth(1).is_some_and(is_plural));
        let is_corrected = context.is_correction && self.has("use|using") && self.has("here");
        self.lower.split(' ').count() <= 14 && (context.programs.contains(&other) || is_of_kind || is_corrected)
    }

    /// "Don't install with pip, the lockfile drifts": a kind of thing is forbidden, and a reason is given or it was just done.
    fn bans_in_general(&self, context: &RemarkContext) -> bool {
        self.starts.iter().filter_map(|start| ban_object(start)).any(|object| {
            let words: Vec<&str> = object.split([' ', ',', '`']).filter(|word| !word.is_empty()).collect();
            let is_kind = words.get(1).is_some_and(|word| !contains_word(POINTERS, word));
            let is_run = words.iter().take(4).any(|word| context.programs.iter().any(|program| program == word));
            is_kind && (is_run || has_reason(object)) && !contains_words(object, "forget")
        })
    }

    /// "The assertions are not useful and causing merge conflicts, so remove them."
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
        let is_wanted =
            any("so remove|so drop|so don't|so stop|could we|can we|could you|let's|please|should be", |words| {
                contains_words(rest, words)
            });
        is_named && is_wanted && any(REASONS, |reason| contains_words(rest, reason))
    }
}
