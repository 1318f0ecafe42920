//! On what grounds a sentence is taken to be meant for good: what it asks for, rules out, or tells of how work is done.

use super::super::scene::Deed;
use super::super::words::any;
use super::lexicon::{
    ARTEFACTS, BEGINNINGS, BROKEN, CONVENTION, FOR_GOOD, FROM_NOW, GENERAL, HARD, OF_NOW, PEOPLE, PRACTICES, PRODUCTS,
    PROTECTED, REASONS, STATES, STRICT, TOOLS, is_deed,
};
use super::phrase::{self, When};
use super::standing::Spoken;

#[cfg(test)]
#[path = "grounds_tests.rs"]
mod tests;

impl Spoken<'_> {
    /// Whether it is meant for good.
    pub(super) fn stands(&self, before: &[&Deed<'_>], is_correction: bool) -> bool {
        let lower = self.lower;
        if self.tells_of_people() || is_state(lower) {
            return false;
        }
        let is_named = lower.contains(" in this ") || lower.starts_with("this ") || self.words.len() > 7;
        if self.points() && !is_named {
            return false;
        }
        let is_order = match self.word(0) {
            "always" | "never" => {
                let is_deed = self.works_at(1) || (self.word(1) == "ever" && self.works_at(2));
                is_deed && (!matches!(self.word(2), "it" | "them" | "that" | "this") || self.is_of_a_kind_named())
            }
            "ask" | "confirm" => lower.contains(" before "),
            "only" => {
                is_correction
                    && matches!(
                        self.word(1),
                        "run" | "use" | "commit" | "push" | "format" | "install" | "deploy" | "test"
                    )
            }
            "run" | "use" | "call" | "commit" | "push" | "install" | "test" | "format" | "deploy" | "write"
            | "edit" | "change" => {
                let is_clear = is_correction || !matches!(self.word(0), "use" | "write" | "edit" | "change");
                is_clear && self.words.iter().skip(1).any(|word| matches!(*word, "always" | "never"))
            }
            "stop" | "avoid" | "quit" => self.stops_a_habit(),
            _ => {
                lower.contains("without asking")
                    || lower.contains("ask me before")
                    || lower.contains("ask before")
                    || lower.contains("check with me before")
            }
        };
        let mut clauses =
            lower.split([',', ';', '—']).map(placeless).filter(|clause| clause.split_whitespace().count() >= 3);
        if is_order
            || clauses.any(|clause| {
                let is_begun = any(BEGINNINGS, |beginning| clause.starts_with(beginning)) && !is_state(clause);
                let told = Spoken::new(clause);
                is_begun && (told.words.len() > 7 || !told.points() || told.lower.contains(" in this "))
            })
        {
            return true;
        }
        if self.is_of_project() || self.is_for_all_time() {
            return true;
        }
        if self.word(0) == "we" && is_correction && is_deed(self.word(1)) && !lower.starts_with("we run into") {
            return true;
        }
        let is_lasting = any(FOR_GOOD, |words| lower.contains(words))
            || (any(FROM_NOW, |words| lower.contains(words)) && !self.tells_of_a_program());
        if is_lasting && self.words.iter().any(|word| is_deed(word)) {
            return true;
        }
        (is_correction
            && (self.is_hard() || self.is_ban_of_you() || self.is_reasoned() || self.is_ruled_out_in_a_clause()))
            || self.is_about_products(is_correction)
            || self.forbids(is_correction)
            || self.tells_custom(is_correction)
            || is_other_tool(&self.words, before)
            || (is_correction && self.rules_out())
    }

    /// "Use the logger, not console.log"; "it's pnpm in this repo".
    fn rules_out(&self) -> bool {
        let other = self.words.iter().position(|word| matches!(*word, "not" | "instead" | "never" | "more"));
        let is_practice = other.is_some_and(|other| {
            self.words
                .iter()
                .skip(other + 1)
                .take(3)
                .any(|word| any(PRACTICES, |known| known == word.trim_end_matches("()")))
        });
        let is_tool = self.word(0) == "it's" && any(TOOLS, |known| known == self.word(1));
        // "The parser must never panic" tells of a program.
        let is_of_a_thing = matches!(self.word(0), "the" | "this" | "that" | "it");
        (is_practice && !is_of_a_thing)
            || (is_tool && (any(CONVENTION, |words| self.lower.contains(words)) || self.is_of_this_place()))
    }

    /// "Don't commit to main": what is forbidden in a correction, of a kind and not of one thing.
    fn forbids(&self, is_correction: bool) -> bool {
        let clauses = self.lower.split([',', ';', '—', '–']).chain(self.lower.split(" - ").skip(1));
        is_correction
            && clauses
                .flat_map(|clause| [clause, clause.trim_start().trim_start_matches("so ").trim_start_matches("and ")])
                .any(|clause| {
                    let clause = Spoken::new(clause.trim());
                    let rest = match (clause.word(0), clause.word(1)) {
                        ("please", "don't" | "never") => 2,
                        ("don't" | "dont" | "never" | "always", _) | ("let's", "not") => 1,
                        ("do", "not") => 2,
                        ("not", _) => 1,
                        _ => return false,
                    };
                    let rest = if clause.word(0) == "let's" { 2 } else { rest };
                    let is_deed = clause.works_at(rest) && self.words.len() >= 4;
                    // "The tests" and "a table" may be those at hand; what is pointed at was named before.
                    let is_kind = match clause.word(rest + 1) {
                        "the" | "my" | "your" | "its" | "a" | "an" => self.is_of_protected(),
                        "that" | "this" | "it" | "them" | "these" | "those" => self.is_of_a_kind(),
                        _ => true,
                    };
                    is_deed && (is_kind || self.has_reason())
                })
            || (is_correction && self.word(0) == "not" && self.words.len() >= 4 && self.has_reason())
            || (is_correction && self.lower.starts_with("i don't want ") && self.is_of_a_kind())
            || (is_correction && self.says_no())
            || (is_correction
                && (self.is_before_work() || self.is_reserved() || self.is_of_every() || self.names_a_kind()))
    }

    /// "Stop apologizing and stop writing files nobody asked for."
    fn stops_a_habit(&self) -> bool {
        (0..self.words.len()).any(|at| {
            matches!(self.word(at), "stop" | "avoid" | "quit")
                && self.word(at + 1).ends_with("ing")
                && is_deed(self.word(at + 1))
        })
    }

    /// "This project doesn't use semicolons", "this repo is tabs, not spaces".
    fn is_of_project(&self) -> bool {
        let is_project = matches!(self.word(0), "this" | "the" | "our")
            && matches!(self.word(1), "repo" | "repository" | "project" | "codebase" | "team" | "monorepo");
        let is_told = match self.word(2) {
            "uses" | "follows" | "targets" | "avoids" | "requires" | "sticks" | "prefers" => true,
            "doesn't" => is_deed(self.word(3)),
            "is" => {
                let is_numbered = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
                self.lower.contains(", not ")
                    || self.words.contains(&"only")
                    || self.words.iter().skip(3).take(2).any(is_numbered)
            }
            _ => false,
        };
        // "Our linter forbids lodash."
        let is_guarded = self.word(0) == "our"
            && matches!(self.word(2), "forbids" | "requires" | "enforces" | "rejects" | "expects" | "bans");
        ((is_project && is_told) || is_guarded) && !any(BROKEN, |words| self.lower.contains(words))
    }

    /// "Named exports only, from here on": without a deed, but for all time.
    fn is_for_all_time(&self) -> bool {
        let is_meant = any(FROM_NOW, |words| self.lower.contains(words)) || self.ends_always();
        let is_agents =
            self.is_order() || self.words.iter().any(|word| matches!(*word, "only" | "no" | "never" | "always"));
        is_meant && is_agents && !self.tells_of_a_program()
    }

    /// "Just run the tests of the package you changed, always."
    fn ends_always(&self) -> bool {
        self.is_order()
            && (self.words.last() == Some(&"always") || self.is_said_of("next time") || self.is_said_of("every time"))
    }

    /// "Users must always confirm": a feature, and no rule of work.
    fn tells_of_people(&self) -> bool {
        let subject =
            self.words.iter().find(|word| !matches!(**word, "the" | "a" | "an" | "only" | "all" | "our" | "no"));
        subject.is_some_and(|subject| any(PEOPLE, |people| people == *subject))
    }

    /// "From now on the API returns 202": what a program does.
    fn tells_of_a_program(&self) -> bool {
        self.words.iter().any(|word| {
            matches!(
                *word,
                "returns" | "return" | "sends" | "shows" | "show" | "receives" | "responds" | "renders" | "displays"
            )
        })
    }

    /// "Plain strings aren't allowed in components", "nothing in core/ may import from plugins/".
    fn is_hard(&self) -> bool {
        let is_one =
            matches!(self.word(0), "the" | "that" | "this" | "these" | "those" | "it" | "its") && !self.is_of_a_kind();
        let is_nothing = matches!(self.word(0), "nothing" | "nobody" | "none")
            && self.words.iter().any(|word| matches!(*word, "may" | "must" | "should" | "goes" | "gets" | "can"))
            && self.is_of_a_kind();
        !is_one && (is_nothing || any(HARD, |words| self.lower.contains(words)))
    }

    /// "You can't just bump versions", "you're not allowed to push to main".
    fn is_ban_of_you(&self) -> bool {
        const BANS: &str = "you can't |you cannot |you may not |you must not |you mustn't |you shouldn't |you should not |you're not allowed to |\
            you are not allowed to |you aren't allowed to |you're not supposed to |you aren't supposed to |you should never |you must never ";
        let Some(rest) = BANS.split('|').find_map(|ban| self.lower.strip_prefix(ban)) else { return false };
        let rest =
            Spoken::new(rest.trim_start_matches("just ").trim_start_matches("simply ").trim_start_matches("ever "));
        let is_one = matches!(rest.word(1), "the" | "my" | "that" | "this" | "it" | "them" | "these" | "those" | "so");
        rest.works_at(0) && (!is_one || self.is_of_a_kind() || self.has_reason())
    }

    /// "CI runs on node 18, so please only use what is there": an order that is narrowed, with a reason that stays.
    fn is_reasoned(&self) -> bool {
        let mut clauses = self.lower.split([',', ';', '—', '–']).map(str::trim);
        self.has_reason()
            && clauses.any(|clause| {
                let clause =
                    ["so ", "and ", "please "].iter().fold(clause, |clause, word| clause.trim_start_matches(word));
                let clause = Spoken::new(clause);
                let is_narrow = matches!(clause.word(0), "only" | "always" | "never") && clause.works_at(1);
                (is_narrow && clause.words.len() >= 4) || (clause.word(0) == "avoid" && clause.words.len() >= 3)
            })
    }

    /// "Strict typing, no `any`": a clause that rules out a way of writing code.
    fn is_ruled_out_in_a_clause(&self) -> bool {
        self.lower.split([',', ';', '—', '–']).map(|clause| Spoken::new(clause.trim())).any(|clause| clause.says_no())
    }

    /// "No force pushes on shared branches": a "no" that rules out, and not one that spares or reports.
    fn says_no(&self) -> bool {
        const SPARED: &str = "need|necessary|required|problem|worries|rush|error|luck|idea|longer|matter|way|is|are|was|were|found|thanks|\
            questions|difference|needed|clue|point|issues|warnings|failures";
        let is_spared = self.words.iter().any(|word| any(SPARED, |known| known == *word));
        let is_practice = self.words.iter().skip(1).take(3).any(|word| {
            any(PRACTICES, |known| known == word.trim_end_matches("()")) || any(PRODUCTS, |known| known == *word)
        });
        let is_placed = self.words.iter().skip(2).zip(self.words.iter().skip(3)).any(|(word, next)| {
            matches!(*word, "in" | "on" | "to" | "from" | "without") && !matches!(*next, "this" | "that" | "the")
        });
        let is_ruling = ["please", "instead", ": "].iter().any(|words| self.lower.contains(words))
            && self.is_of_a_kind()
            || self.words.last() == Some(&"ever");
        self.word(0) == "no"
            && !is_spared
            && (is_practice || self.word(1) == "more" || (is_placed && self.words.len() >= 4) || is_ruling)
    }

    /// "Keep your answers short", "write commit messages in English": what every session ends with.
    fn is_about_products(&self, is_correction: bool) -> bool {
        const VERBS: &str = "keep|write|name|prefix|start|end|phrase|format|limit|sign|word|title|group|make|put";
        let is_product = |at: usize| any(PRODUCTS, |known| known == self.word(at));
        let is_all = matches!(self.word(1), "your" | "our" | "all");
        let at = if is_all { 2 } else { 1 };
        let is_pair = matches!(self.word(at), "commit" | "branch" | "pr") && is_product(at + 1);
        let is_worked_on = any(VERBS, |known| known == self.word(0));
        // "Use conventional commits", "I want small PRs".
        let is_used =
            self.word(0) == "use" && is_product(2) && !matches!(self.word(1), "the" | "these" | "those" | "my");
        let is_taste = self.lower.starts_with("i want ") || self.lower.starts_with("i like ");
        let is_liked = is_taste && (is_product(2) || is_product(3));
        is_used || is_liked || (is_worked_on && (is_pair || (is_product(at) && (is_correction || is_all))))
    }

    /// "Deploys I do myself", "run it by me first": what is left to a person.
    fn is_reserved(&self) -> bool {
        let is_own = self.words.contains(&"i") && self.words.contains(&"myself");
        let is_not_yours = self.words.contains(&"yourself") && self.is_ban();
        is_own
            || is_not_yours
            || [
                "ask first",
                "ask me first",
                "check with me first",
                "by me first",
                "talk to me before",
                "unless i ",
                "until i ",
            ]
            .iter()
            .any(|words| self.lower.contains(words))
    }

    /// "Every endpoint needs an entry in openapi.yaml."
    fn is_of_every(&self) -> bool {
        const THINGS: &str = "endpoint|function|module|file|component|service|package|class|script|job|query|table|test|commit|branch|\
            migration|pr|change|bugfix|fix|dependency|config|feature|release|method|handler|route|page|hook";
        let is_thing =
            |from: usize| self.words.iter().skip(from).take(3).any(|word| any(THINGS, |thing| thing == *word));
        let is_all = self.word(0) == "all"
            && self.words.iter().skip(1).take(3).any(|word| any(THINGS, |thing| word.strip_suffix('s') == Some(thing)))
            && self.words.iter().any(|word| matches!(*word, "must" | "need" | "get" | "go"));
        // "A changelog entry for every change that users see."
        let is_for_every = self.words.windows(2).enumerate().any(|(at, pair)| {
            matches!(pair, ["for" | "with" | "in" | "on" | "per" | "after" | "before", "every" | "each"])
                && is_thing(at + 2)
        });
        let is_every = matches!(self.word(0), "every" | "each" | "any") && is_thing(1);
        let is_rule = self
            .words
            .iter()
            .any(|word| matches!(*word, "must" | "has" | "needs" | "gets" | "goes" | "belongs" | "starts"));
        ((is_every && is_rule) || is_for_every || is_all) && !any(BROKEN, |words| self.lower.contains(words))
    }

    /// "Keep commits small": an order about all things of a kind.
    fn names_a_kind(&self) -> bool {
        let is_lasting =
            matches!(self.word(0), "keep" | "name" | "put" | "prefix" | "squash" | "sign" | "pin" | "store" | "start");
        is_lasting && self.word(1).ends_with('s') && any(ARTEFACTS, |known| known == self.word(1))
    }

    /// "Before you open a pull request, run the checks."
    fn is_before_work(&self) -> bool {
        const VAGUE: &str = "go on|go ahead|about to start|continue|done";
        let is_when =
            matches!(self.word(0), "before" | "after" | "when" | "whenever" | "if" | "for" | "once" | "every" | "each");
        let holds = |when: &When| {
            let named = Spoken::new(&when.condition);
            let object = named.words.iter().skip_while(|word| !is_deed(word)).nth(1).copied().unwrap_or_default();
            let is_one = matches!(object, "the" | "this" | "that" | "these" | "those" | "it" | "them" | "my" | "its");
            !any(VAGUE, |vague| when.condition.contains(vague)) && (!is_one || named.is_of_a_kind_named())
        };
        is_when && phrase::when(self.lower).is_some_and(|when| holds(&when))
    }

    /// Whether it names something that is to be left alone for good, or says that it speaks of a kind.
    fn is_of_protected(&self) -> bool {
        self.words.iter().any(|word| any(PROTECTED, |known| known == *word) || word.contains('/'))
            || self
                .words
                .iter()
                .any(|word| matches!(*word, "ever" | "any" | "anything" | "every" | "without" | "unless"))
            || any(CONVENTION, |words| self.lower.contains(words))
    }

    fn has_reason(&self) -> bool {
        any(REASONS, |reason| self.lower.contains(reason))
    }

    pub(super) fn is_of_a_kind_named(&self) -> bool {
        self.words.iter().any(|word| any(ARTEFACTS, |known| known == *word) || word.contains('/'))
    }

    /// Whether it speaks of a sort of thing, or names one for good.
    fn is_of_a_kind(&self) -> bool {
        self.is_of_a_kind_named()
            || self.words.iter().any(|word| matches!(*word, "ever" | "any" | "anything" | "every"))
            || any(CONVENTION, |words| self.lower.contains(words))
            || self.is_of_this_place()
    }

    /// "Tests never touch the network", "secrets belong in the vault": how work is done here.
    fn tells_custom(&self, is_correction: bool) -> bool {
        if self.is_order()
            || self.word(0) == "no"
            || self.words.len() < 4
            || any(OF_NOW, |words| self.lower.starts_with(words))
        {
            return false;
        }
        if any(BROKEN, |words| self.lower.contains(words)) || self.tells_of_a_program() {
            return false;
        }
        let has = |list: &str| self.words.iter().any(|word| any(list, |known| known == *word));
        let is_one = matches!(
            self.word(0),
            "the" | "that" | "this" | "these" | "those" | "it" | "it's" | "your" | "my" | "its" | "there" | "i"
        );
        let is_of_place = any(CONVENTION, |words| self.lower.contains(words)) || self.is_of_this_place();
        let is_of_work =
            self.words.iter().take(if is_of_place { 6 } else { 4 }).any(|word| any(ARTEFACTS, |known| known == *word));
        let is_absolute = has("always|never|only|nobody") || (has("must") && has("not|never|only"));
        let is_made = ["is generated", "are generated", "it's generated", "generated from", "by hand"]
            .iter()
            .any(|words| self.lower.contains(words));
        // "Patches go to patches/."
        let is_home =
            has("go|goes|belong|belongs|live|lives|stay|stays") && self.words.iter().any(|word| word.contains('/'));
        if is_home && !is_one && is_correction {
            return true;
        }
        match (is_of_work, is_of_place) {
            (true, true) => is_correction && (!is_one || has(GENERAL) || has("should")),
            (true, false) => {
                is_correction
                    && ((has(STRICT) && !is_one)
                        || (is_absolute && self.word(0) == "the")
                        || (is_made && (self.is_otherwise() || has("don't|never|not"))))
            }
            (false, true) => is_correction && !is_one && (has(STRICT) || has("not|don't|aren't")),
            (false, false) => {
                let is_custom =
                    is_absolute && !is_one && self.words.iter().any(|word| is_deed(word) && word.ends_with("ed"));
                is_correction && (is_custom || (is_made && (self.is_otherwise() || has("never|don't|not"))))
            }
        }
    }

    fn is_otherwise(&self) -> bool {
        self.lower.contains("otherwise") || self.lower.contains("overwritten") || self.lower.contains(": ")
    }

    /// "… here": in this place, and not on this line.
    fn is_of_this_place(&self) -> bool {
        self.words.iter().skip(1).any(|word| *word == "here")
    }
}

/// "In tests we use factories": a clause from its "we" on, where a place stands before it.
fn placeless(clause: &str) -> &str {
    let clause = clause.trim();
    let is_place = ["in ", "for ", "on ", "at ", "with "].iter().any(|word| clause.starts_with(word));
    let we =
        clause.find(" we ").filter(|at| is_place && clause.get(..*at).is_some_and(|head| head.split(' ').count() <= 5));
    we.and_then(|at| clause.get(at + 1..)).unwrap_or(clause)
}

/// "We don't need", "all tests pass", "nobody knows": what begins like a custom and only tells how things are.
fn is_state(clause: &str) -> bool {
    const REPORTED: &str = "pass|passes|passed|passing|fail|fails|failed|failing|green|fine|ok|done|work|works";
    let spoken = Spoken::new(clause);
    let is_known = |list: &str, word: &str| any(list, |known| known == word);
    match spoken.words.as_slice() {
        ["we", "do", "not", told, ..] | ["we", "don't", told, ..] => is_known(STATES, told),
        ["we", "never" | "always" | "only", told, ..] => is_known(STATES, told) || told.ends_with("ed"),
        ["we're", "on", ..] => {
            !spoken.words.iter().any(|word| is_known(TOOLS, word) || word.contains(|c: char| c.is_ascii_digit()))
        }
        ["all" | "our", _, "are" | "is" | "now" | "still", told, ..] | ["all" | "our", _, told, ..] => {
            is_known(REPORTED, told)
        }
        ["i", "always", told, ..] => !is_deed(told) && !matches!(*told, "want" | "like" | "expect"),
        ["nobody", told, ..] | ["no", "one", told, ..] => {
            let is_ruled = matches!(*told, "should" | "may" | "must" | "can" | "gets" | "ever" | "is");
            !is_ruled && (!is_deed(told) || matches!(*told, "uses" | "reads" | "asked"))
        }
        ["no", "more", ..] => any("error|warning|fail|crash", |words| clause.contains(words)),
        _ => false,
    }
}

/// "Use pnpm, not npm", "use X instead of Y": for good if one of the two is a tool.
fn is_other_tool(words: &[&str], before: &[&Deed<'_>]) -> bool {
    let is_tool = |word: &str| any(TOOLS, |known| known == word);
    let verb = words.iter().position(|word| matches!(*word, "use" | "run" | "using" | "used" | "it's"));
    let is_told_off = matches!(words, ["you", "should" | "were" | "need" | "must", ..]);
    let Some(verb) = verb.filter(|at| *at <= if is_told_off { 5 } else { 1 }) else { return false };
    let other =
        words.iter().position(|word| matches!(*word, "not" | "instead" | "over" | "rather")).filter(|at| *at > verb);
    let Some(other) = other else {
        // "Use yarn, this repo has a yarn.lock."
        let is_of_repo = words.windows(2).any(|pair| matches!(pair, ["this", "repo" | "project" | "codebase"]));
        return is_of_repo && words.get(verb + 1).is_some_and(|word| is_tool(word));
    };
    let ran = |word: &&&str| before.iter().filter_map(|deed| deed.line.as_ref()).any(|line| line.program() == **word);
    let wanted = words.iter().take(other).skip(verb + 1).take(4);
    let refused = words.iter().skip(other + 1).take(4);
    wanted.clone().any(|word| is_tool(word))
        && (refused.clone().next().is_none() || refused.clone().any(|word| is_tool(word) || *word == "of"))
        || refused.clone().any(|word| is_tool(word))
        || refused.clone().filter(|word| word.len() > 2).any(|word| ran(&word)) && wanted.clone().next().is_some()
}
