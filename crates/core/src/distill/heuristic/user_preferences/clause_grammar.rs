//! Clauses in lower case: orders, bans, customs, and what they refer to. English only.

use super::super::sentence_text::any_listed;

/// Phrases by which a sentence refers to all future work, anywhere in it.
pub(super) const TIMES: &str = "from now on|going forward|moving forward|in future|in the future|from here on|from here on out|as a rule|as a general rule|\
    in general|next time|every time you|each time you|whenever you|whenever we|never again";

/// Phrases that announce something to remember, before a colon or a dash.
pub(super) const LEADS: &str = "for future reference|for the future|convention|remember|keep in mind|rule of thumb|house rule|for next time|recurring";

/// Function words, with which no order begins.
pub(super) const FUNCTION_WORDS: &str = "a|an|the|this|that|these|those|it|its|it's|that's|there|there's|here|he|she|they|them|we|we're|i|i'm|i've|my|our|\
    your|you|you're|who|what|which|why|how|when|where|if|whenever|while|because|since|although|unless|until|as|and|or|but|so|not|no|\
    yes|yeah|ok|okay|in|on|at|for|from|to|of|with|without|by|under|after|before|is|are|was|were|will|would|should|must|can|could|may|\
    might|has|have|had|does|did|all|any|each|every|some|both|one|two|now|then|also|still|again|just|maybe|nobody|everybody|everything|\
    always|never|sometimes|perhaps|otherwise|great|good|nice|cool|fine|thanks|sorry|hey|wait|hmm|actually|right|sure|next|first|same|only";

/// Verbs that follow a noun, so that the clause is no order.
const FINITE: &str =
    "is|are|was|were|has|have|had|will|would|should|must|can|could|may|might|does|did|doesn't|isn't|never|always";

/// Verbs that describe a program as often as they order an agent.
pub(super) const PROGRAM_VERBS: &str =
    "return|send|show|display|render|respond|throw|retry|overwrite|redirect|store|save|load|print|start|wrap";

/// Verbs of a state and not of a custom: "we don't need", "we never had".
const STATES: &str = "need|have|want|get|know|care|think|got|had|see|seem|believe|mind|expect|remember|understand|were|was|are|even|\
    really|actually|currently|support|run into|forget";

/// Words that refer to something said before, or that choose between offered options.
pub(super) const POINTERS: &str =
    "it|that|this|them|those|these|so|option|variant|version|approach|the|your|a|an|any|new|my|to|latter|later|how";

/// Nouns after a pointing word that make it refer to nothing before.
const SELF_NAMED: &str = "repo|repository|project|codebase|monorepo|team|kind|sort|user|users|main|production";

/// Phrases for what must not be touched by hand, now or later.
pub(super) const PROTECTED: &str = "generated|vendored|vendor|by hand|manually|yourself|to main|to master|production|lockfile|lockfiles|secrets|.env|\
    force-push|--no-verify|third_party|directly";

/// Verbs that say what is done with a kind of thing.
const KIND_VERBS: &str = "go|live|belong|come|get|hit|must|have|start|carry|need|needs|stay|should";

/// Tells whether the words that begin here refer to something that they do not name.
pub(super) fn points_elsewhere(start: &str) -> bool {
    let words: Vec<&str> = start.split(' ').map(|word| word.trim_matches([',', '.'])).collect();
    let is_pointer = |at: usize| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        words.get(at).is_some_and(|word| contains_word("it|that|that's|this|them|those|these|so", word))
            && !contains_word(SELF_NAMED, next)
            && next != "the"
    };
    let is_fragment = matches!(
        words.as_slice(),
        ["never" | "not" | "only", "in" | "on" | "to" | "for" | "from" | "where" | "when", ..]
    );
    (0..4).any(is_pointer) || is_fragment
}

/// Strips words that only lead up to a sentence: "please", "no", "ok".
pub(super) fn strip_lead(start: &mut String) {
    const LEADS: &[&str] =
        &["please ", "kindly ", "and ", "but ", "so ", "also ", "then ", "ok ", "just ", "again ", "hey ", "yes "];
    while let Some(rest) = LEADS.iter().find_map(|lead| start.strip_prefix(lead)) {
        *start = rest.to_owned();
    }
    // The "no" of "No we use tabs" denies, that of "no database" does not.
    let denied = start
        .strip_prefix("no ")
        .filter(|rest| any_listed("we |it's |you |use |don't |do |never |always ", |head| rest.starts_with(head)));
    if let Some(rest) = denied {
        *start = rest.to_owned();
    }
}

/// Tells whether a phrase for all future work comes first, followed by an order or a custom.
pub(super) fn begins_lasting(start: &str) -> bool {
    any_listed(TIMES, |time| {
        let Some(rest) = start.strip_prefix(time) else { return false };
        let rest = rest.trim_start_matches([',', ':', ' ']);
        let rest = rest.strip_prefix("please ").unwrap_or(rest);
        let mut words = rest.split(' ');
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_doubt = contains_word("may|might|could|can|will|would|should", second) && first != "you";
        let is_other = contains_word("the|it|this|that|i|they|he|she|there|a|an", first) && !rest.starts_with("i want");
        !second.is_empty() && !is_doubt && !is_other
    })
}

/// Tells whether the words that begin here state a lasting rule.
pub(super) fn is_lasting_rule(start: &str) -> bool {
    let words: Vec<&str> = start.split(' ').map(|word| word.trim_matches([',', ':'])).collect();
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let is_program = |verb: &str| contains_word(PROGRAM_VERBS, verb);
    match (word(0), word(1)) {
        ("always" | "never", verb) => {
            let is_verb = !contains_word("mind|used|a|the|been|had|seen|works|on|good|", verb) && !verb.ends_with("ed");
            let is_empty = verb == "do" && words.len() <= 4;
            is_verb && !is_empty && words.len() >= 3 && !is_program(verb)
        }
        ("don't", "ever") => words.len() >= 4,
        ("do", "not") if word(2) == "ever" => words.len() >= 5,
        ("you", "should" | "must") => matches!(word(2), "always" | "never") && words.len() >= 5,
        ("i", "don't") if start.starts_with("i don't want you to ") || start.starts_with("i don't ever ") => {
            words.len() >= 6
        }
        ("you", "keep") => word(2).ends_with("ing"),
        ("we", "don't" | "never" | "always" | "do") => {
            let verb = if word(1) == "do" && word(2) == "not" { word(3) } else { word(2) };
            words.len() >= 4
                && (word(1) != "do" || word(2) == "not")
                && !contains_word(STATES, verb)
                && !is_program(verb)
        }
        ("we", "only" | "use" | "avoid" | "keep" | "write" | "run") => {
            any_listed(", not |instead of |, never |rather than ", |other| start.contains(other))
        }
        ("every" | "each", "time") if matches!(word(2), "you" | "we") => words.len() >= 7,
        _ if begins_order(start) => {
            let is_sure =
                any_listed("make sure you |make sure to |be sure to |remember to ", |sure| start.starts_with(sure));
            (is_sure && any_listed("every|each|always", |all| contains_words(start, all)))
                || any_listed(" always| every time| each time", |all| start.ends_with(all))
        }
        _ => false,
    }
}

/// Tells whether the words that begin here are general without saying that they are lasting.
pub(super) fn is_general(start: &str) -> bool {
    let words: Vec<&str> = start.split(' ').map(|word| word.trim_matches([',', ':'])).collect();
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let is_kind = |at: usize| {
        !word(at).is_empty()
            && !contains_word(POINTERS, word(at))
            && !word(at).starts_with(|c: char| c.is_ascii_digit())
    };
    let begins = |heads: &str| any_listed(heads, |head| start.starts_with(head));
    match (word(0), word(1)) {
        _ if begins("i prefer |i hate |we prefer ") => is_kind(2),
        _ if begins("i'd prefer |i don't like |i never want ") => is_kind(3) && word(2) != "to",
        // In "Keep your answers short" the plural means what every session makes.
        (_, "your") if begins_order(start) => is_plural(word(2)),
        ("i", "want") => contains_word("all|every|each", word(2)),
        ("use", _) => is_kind(1) && start.contains(" here, ") && has_reason(start),
        ("stop" | "avoid" | "quit", verb) => verb.ends_with("ing") && is_kind(2),
        ("we", "shouldn't") => is_kind(3) || contains_word("the|your|a|my", word(3)),
        ("we", "should" | "must") => {
            matches!(word(2), "not" | "never" | "always") && !contains_word("it|that|this", word(4))
        }
        ("when" | "before" | "after", verb) if verb.ends_with("ing") => {
            start.contains(" you ") || start.split_once(", ").is_some_and(|(_, rest)| begins_order(rest))
        }
        ("when" | "if" | "before", "you") => {
            let is_any = any_listed(" a | an | any | new ", |all| start.contains(all));
            start.split_once(", ").is_some_and(|(_, rest)| begins_order(rest)) && is_any
        }
        _ => {
            let is_protected =
                ban_object(start).is_some_and(|object| any_listed(PROTECTED, |what| contains_words(object, what)));
            let is_ruled = any_listed("always|never|only|must|should|need|needs|belong|mandatory", |all| {
                words.iter().take(5).any(|word| *word == all)
            });
            (is_protected && !contains_words(start, "forget"))
                || (is_rule_of_kind(start) && is_ruled && !reports_state(start))
        }
    }
}

/// Returns what a ban forbids: the words after "don't", with their verb.
pub(super) fn ban_object(start: &str) -> Option<&str> {
    const BANS: &str = "never |don't |do not |stop |avoid |we don't |we never |you shouldn't |you should not |you must not |you can't |could you not |\
        could you please not |can you not |i don't want you to ";
    BANS.split('|').find_map(|ban| start.strip_prefix(ban)).filter(|object| {
        object.split(' ').next().is_some_and(|verb| !verb.is_empty() && !verb.ends_with("ly") && verb != "mind,")
    })
}

/// Tells whether a question asks not to do something: "Could you please not run prettier on the whole repo?"
pub(super) fn is_polite_ban(start: &str) -> bool {
    let asked = ["could you please not ", "could you not ", "would you mind not "]
        .iter()
        .find_map(|ask| start.strip_prefix(ask));
    asked.and_then(|object| object.split(' ').nth(1)).is_some_and(|what| !contains_word(POINTERS, what))
}

/// Tells whether a clause rules on a kind of thing: "Secrets go in Vault", "dates are always stored in utc".
pub(super) fn is_rule_of_kind(start: &str) -> bool {
    let words: Vec<&str> = start.split(' ').map(|word| word.trim_end_matches([',', ':'])).collect();
    let is_each = matches!(words.first(), Some(&("each" | "every")));
    let is_kind = |word: &&str| is_plural(word) || (is_each && contains_word("needs|gets", word));
    let Some(at) = words.iter().take(4).position(is_kind) else { return false };
    let is_bare = is_each || words.iter().take(at).all(|word| !contains_word(FUNCTION_WORDS, word));
    let is_done = words.iter().skip(at).take(6).any(|verb| is_participle(verb) || contains_word(KIND_VERBS, verb));
    is_bare && is_done && !names_people(start) && !begins_order(start)
}

pub(super) fn is_plural(word: &str) -> bool {
    let is_word = word.len() > 3 && word.chars().all(|c| c.is_alphabetic() || c == '-');
    is_word && word.ends_with('s') && !word.ends_with("ss") && !contains_word(FUNCTION_WORDS, word)
}

/// Tells whether a later clause gives a reason instead of ordering more.
pub(super) fn has_reason(start: &str) -> bool {
    let rest = [", ", "; ", " - ", " — ", ". "]
        .iter()
        .filter_map(|mark| start.split_once(mark))
        .map(|(_, rest)| rest.trim_start_matches("- "));
    let is_reason = |rest: &str| {
        rest.split(' ').count() > 2
            && !begins_order(rest)
            && !any_listed("only |just |not |and |but |or |please ", |head| rest.starts_with(head))
    };
    rest.min_by_key(|rest| std::cmp::Reverse(rest.len())).is_some_and(is_reason)
        || any_listed("because|otherwise|since|so that", |why| contains_words(start, why))
}

pub(super) fn begins_order(start: &str) -> bool {
    let mut words = start.split([' ', ',', ':']);
    let first = words.next().unwrap_or_default();
    let Some(next) = words.next().filter(|next| !next.is_empty()) else { return false };
    let is_verb =
        first.chars().all(|c| c.is_ascii_lowercase()) && first.len() > 1 && !contains_word(FUNCTION_WORDS, first);
    let is_noun = (first.ends_with('s') && !first.ends_with("ss"))
        || any_listed("ing|ed|ly", |end| first.ends_with(end) && first.len() > 4);
    // The first word of "Type hints are …" and "print statements get …" is a noun.
    let third = words.next().unwrap_or_default();
    let is_noun = is_noun || (is_plural(next) && (contains_word(FINITE, third) || contains_word(KIND_VERBS, third)));
    match first {
        "always" | "never" | "don't" | "only" | "let's" => true,
        "you" => contains_word("should|must|need|have|shouldn't|can't|may", next),
        "i" => any_listed("i want |i'd like |i don't want |i prefer ", |preference| start.starts_with(preference)),
        "i'd" => contains_word("like|prefer|rather", next),
        _ => is_verb && !is_noun && !contains_word(FINITE, next),
    }
}

pub(super) fn begins_condition(head: &str) -> bool {
    any_listed("when |whenever |if |before |after |every time |each time |next time |unless ", |when| {
        head.starts_with(when)
    })
}

fn is_participle(word: &str) -> bool {
    let is_state = contains_word("needed|broken|expected|supposed|failed|fixed|used", word);
    !is_state
        && (word.len() > 4 && (word.ends_with("ed") || word.ends_with("en"))
            || matches!(word, "run" | "built" | "made" | "kept" | "put"))
}

pub(super) fn names_people(start: &str) -> bool {
    any_listed("user|users|guests|customers|admins|people|clients|visitors", |who| {
        start.split(' ').take(3).any(|word| word == who)
    })
}

/// Tells whether a sentence reports how something behaves, and not how it is to be done.
pub(super) fn reports_state(lower: &str) -> bool {
    any_listed(
        "fail|fails|failing|failed|broken|broke|crash|crashes|slow|wrong|missing|flaky|red|green|works|looks",
        |word| contains_words(lower, word),
    )
}

/// Tells whether people only have, need or wait for something: "we need it in this project".
pub(super) fn describes_own_state(start: &str) -> bool {
    let words: Vec<&str> = start.split(' ').collect();
    words.iter().take(6).any(|word| *word != "are" && contains_word(STATES, word)) || contains_words(start, "may")
}

pub(super) fn contains_word(list: &str, word: &str) -> bool {
    any_listed(list, |known| known == word)
}

/// Tells whether a text contains these words as whole words.
pub(super) fn contains_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text.get(at + words.len()..).and_then(|rest| rest.chars().next());
        let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_letter(before) && !is_letter(after)
    })
}

/// Returns a word in lower case with its usual spelling, without the shortcuts of hasty typing.
pub(super) fn spell_out(word: &str) -> String {
    let lower = word.to_lowercase().replace('’', "'");
    match lower.as_str() {
        "dont" => "don't".to_owned(),
        "doesnt" => "doesn't".to_owned(),
        "arent" => "aren't".to_owned(),
        "pls" | "plz" => "please".to_owned(),
        _ => lower,
    }
}
