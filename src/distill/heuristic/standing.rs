//! What a sentence of a person is: meant for good, an order for now, a fact, or nothing to keep.

use super::scene::Deed;
use super::words::any;

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

/// Words by which a sentence is meant for good, whatever it is about.
const FOR_GOOD: &str = "from now on|going forward|in future|in the future|next time|every time|as a rule|in this repo|\
    in this project|in this codebase|in this monorepo|in this workspace|our convention|our style|our policy|house rule|house style|style guide|\
    by convention|the convention|you keep |don't ever |do not ever |remember to |make sure to always |\
    make sure you always |remember that |you should always |you should never |you must always |you must never |\
    must always |must never |keep in mind|bear in mind|every commit|every pr|every pull request|every migration|\
    every branch|every change|on this team|in this team|around here|for future reference|whenever you |for anything|in this service|in this package|in this module|in this crate|in this app";

/// How such a sentence begins.
const BEGINNINGS: &str = "we use |we don't |we do not |we never |we always |we only |we run |we prefer |we keep |we write |\
    we commit |we deploy |we test |we follow |we avoid |we're not using |we are not using |we're using |we are using |we no longer |we moved to |we switched to |we've moved |we've switched |we stick to |we go through |we've agreed |we agreed |we're on |\
    nobody |no one |i prefer |i always |i never want |i'd rather you |i'd prefer you |prefer |this repo uses |this project uses |\
    the project uses |this codebase uses |our team uses |our tests |our commits |this is a pnpm |this is a yarn |this is a bun |this is a uv |this is a poetry |\
    everything here |all tests |all commits |all changes |commits must |commit messages |tests must |the rule is |the rule here |\
    the convention is |the convention here |house rule|our rule|rule: |this team |everything goes through |no more ";

/// What agents do, and what can therefore be asked of them for good.
const WORK: &str = "use|run|commit|push|edit|touch|modify|delete|add|write|create|install|import|test|check|ask|read|format|\
    lint|mock|skip|merge|rebase|force-push|bump|generate|put|keep|start|amend|change|name|document|squash|\
    update|regenerate|rerun|include|remove|hardcode|hard-code|disable|leave|prefix|branch|deploy|apply|call|\
    log|open|restart|drop|publish|print|wrap|type|rename|reformat|stage|assume|guess|invent|go|stick|build|\
    pin|vendor|copy|paste|downgrade|upgrade|set|pass|catch|swallow|ignore|silence|stub|store|exec|execute|follow|\
    ship|let|release|treat|track|throw|raise|plan|post|prefer|reuse|extend|move|split|sign|tag|review|translate|suppress|bypass|stash|reset|comment";

/// What shows that only this once is meant.
const ONCE: &str = "this time|for now|just this once|right now| yet|for the moment|at the moment|this one|today|in this pr |for this pr|\
    for this task|for this change|in this case|here for now|temporarily|in this commit|for this commit";

/// What shows that somebody only thinks aloud.
const UNSURE: &str = "might |maybe|perhaps|could we|can we|could you|can you|would you|would be nice|what if|should we|\
    shall we|i wonder|i think we could|every time i |every time the |every time a |every time it |every time we |every time someone |i would like|we want |thanks|thank you| green|lgtm";

/// Where a rule holds.
const CONVENTION: &str = "in this repo|in this project|in this codebase|in this monorepo|in this workspace|in this team|on this team|in this service|in this package|in this module|in this crate|in this app|\
    in our |on our |around here|with us|for us|convention|policy|house style|house rule|style guide|contributing|guideline|the rule";

/// What makes a statement hold for all of a kind.
const GENERAL: &str = "always|never|only|must|everything|nobody|every|all|any|anything|go|goes|belong|belongs|live|lives|follow|follows|\
    append-only|forbidden|don't|aren't|cannot|can't|get|gets|have|has|come|comes|not|stay|stays|read-only";

/// What makes a statement a rule, whoever says it and however it begins.
const STRICT: &str = "always|never|only|must|nobody|everything|belong|belongs|go|goes|live|lives|follow|follows|append-only|forbidden|limits|all|\
    every|read-only|through|per|aren't|isn't|come|comes|untouched";

/// What is told of something that does not work: a report, and no rule.
const BROKEN: &str =
    " fail| broke| error|crash| red | red.|doesn't work|does not work|don't work|still |wrong|missing|empty|slow| hang";

/// Why something is not to be done that holds tomorrow as well.
const REASONS: &str = " minutes|an hour| hours|production|everybody|everyone|other people|the team|shared|overwrit|overwritten|otherwise|\
    locks |wipes|deletes|expensive|costs|ci |pipeline|on merge|gets lost|is lost|reject|audit|by hand|generated";

/// Ways of writing code that people rule out for good.
const PRACTICES: &str = "console.log|print|println|printf|any|unwrap|panic|float|floats|var|sleep|eval|mocks|mock|innerhtml|globals|\
    literals|hardcoded|sed|date.now|datetime.now|thread.sleep|time.sleep|system.out.println|puts|dd|var_dump";

/// Things that only those who work on code speak of.
const ARTEFACTS: &str = "test|tests|spec|specs|fixture|fixtures|mock|mocks|snapshot|snapshots|migration|migrations|index|indexes|indices|\
    commit|commits|branch|branches|prs|main|master|trunk|production|prod|staging|changelog|lockfile|lockfiles|\
    dependency|dependencies|package|packages|vendored|generated|ci|pipeline|workflows|config|configs|configuration|secrets|\
    credentials|.env|dockerfile|container|containers|host|database|databases|script|scripts|tools|linter|linters|\
    formatter|imports|docstrings|readme|hooks|sql|endpoints|todos|crates|gems|sudo|schema|refactorings|refactors|\
    helpers|releases|tags|deployments|deploys|builds|binaries|artifacts|api|apis|urls|logs|docstring|code|timestamps|stubs|protos|adrs|subagents|feature";

/// Tools that stand for each other.
const TOOLS: &str = "npm|pnpm|yarn|bun|npx|pip|uv|poetry|conda|pipenv|cargo|nextest|make|just|docker|podman|pytest|unittest|\
    jest|vitest|mocha|tox|nox|ruff|black|flake8|eslint|biome|prettier|gradle|./gradlew|gradlew|maven|mvn|\
    ./mvnw|bazel|rg|ripgrep|grep|git|rebase|merge|python3|python|node|deno|rspec|minitest|bundle|rake|rails|\
    bin/rails|cmake|ninja|meson|gcc|clang|tsc|tsx|kubectl|helm|terraform|tofu|psql|sqlite|postgres|go|\
    gotestsum|phpunit|pest|composer|mix|sbt|mill|swift|xcodebuild";

/// Words that stand for something said before: alone they say nothing.
const POINTING: &[&str] = &["that", "this", "it", "those", "these", "them", "so", "there", "same"];

/// What a sentence says that makes another one hold for good.
const LASTING: &str = "remember|in future|in the future|from now on|going forward|next time|every time|stick to|in mind|\
    that's how we|that is how we|this is how we|how we do|that's the rule|that is the rule|same goes|same for|same applies|applies to|\
    applies everywhere|holds for|goes for|as a rule|convention|for every|for all|for any|everywhere|always|keep it that way|\
    please keep to|keep to that|keep to this|write that down|make a note|note that down|don't forget|do not forget|our rule|a rule here|rule here";

/// How a sentence begins that is about what was just done, or that wants it undone.
const OF_NOW: &str = "revert|undo|redo |try again|put it back|put that back|put them back|fix it|fix that|fix this|do it again|do that|start over|\
    roll |roll it back|continue|go on|go ahead|rewrite it|change it back|take it out|take that out|remove it|remove that|\
    remove the |delete the |delete it|restore|move it back|thank|great|good|nice|perfect|sorry|looks|now |then |carry on|you |why |what |\
    how |i meant|i mean |i asked|i said|i wanted|oh |that was|this was|it was|that broke|this broke|it broke|that would|this would|it would|let's not do|let's not go|not like ";

impl<'t> Spoken<'t> {
    pub(super) fn new(lower: &'t str) -> Self {
        let is_edge = |c: char| ",.!;:\"'`()".contains(c);
        let words = lower.split_whitespace().map(|word| word.trim_matches(is_edge)).filter(|word| !word.is_empty());
        Self { lower, words: words.collect() }
    }

    /// What the sentence is, as an answer to what was done before.
    pub(super) fn role(&self, before: &[&Deed<'_>], is_correction: bool) -> Role {
        if let Some(asked) = self.lower.strip_suffix('?').filter(|_| is_correction).and_then(without_asking) {
            return Spoken::new(asked).role(before, is_correction);
        }
        if self.lower.ends_with('?') || any(ONCE, |once| self.lower.contains(once)) {
            return Role::Passing;
        }
        if self.only_points() {
            return if any(LASTING, |words| self.lower.contains(words)) { Role::Lasting } else { Role::Passing };
        }
        if any(UNSURE, |words| self.lower.contains(words)) {
            return Role::Passing;
        }
        if self.words.len() >= 3 && self.stands(before, is_correction) {
            return Role::Standing;
        }
        match () {
            () if any(OF_NOW, |words| self.lower.starts_with(words)) => Role::Passing,
            () if self.is_order() && self.words.len() >= 2 => Role::Order,
            () if self.words.len() >= 3 => Role::Fact,
            () => Role::Passing,
        }
    }

    fn word(&self, at: usize) -> &'t str {
        self.words.get(at).copied().unwrap_or_default()
    }

    fn works_at(&self, at: usize) -> bool {
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
            && any(LASTING, |words| self.lower.contains(words));
        let is_short = is_bare || self.words.len() <= 12 && (1..=3).any(points) && !self.lower.contains(',');
        !is_named && (starts || is_short)
    }

    fn points(&self) -> bool {
        self.words.iter().enumerate().take(5).any(|(at, word)| {
            // "Comments that repeat the code" points at nothing.
            let is_joint = *word == "that"
                && at > 0
                && !self.works_at(at - 1)
                && !matches!(self.word(at - 1), "do" | "of" | "in" | "to" | "for" | "with");
            POINTING.contains(word) && *word != "there" && *word != "so" && !is_joint
        })
    }

    /// Whether it is meant for good.
    fn stands(&self, before: &[&Deed<'_>], is_correction: bool) -> bool {
        let lower = self.lower;
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
            "stop" | "avoid" => is_deed(self.word(1)) && self.word(1).ends_with("ing"),
            _ => {
                lower.contains("without asking")
                    || lower.contains("ask me before")
                    || lower.contains("ask before")
                    || lower.contains("check with me before")
            }
        };
        let mut clauses =
            lower.split([',', ';', '—']).map(str::trim).filter(|clause| clause.split_whitespace().count() >= 3);
        if is_order || clauses.any(|clause| any(BEGINNINGS, |beginning| clause.starts_with(beginning))) {
            return true;
        }
        if self.word(0) == "we" && is_correction && is_deed(self.word(1)) && !lower.starts_with("we run into") {
            return true;
        }
        if any(FOR_GOOD, |words| lower.contains(words)) && self.words.iter().any(|word| is_deed(word)) {
            return true;
        }
        self.forbids(is_correction)
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
        is_practice || (is_tool && (any(CONVENTION, |words| self.lower.contains(words)) || self.is_of_this_place()))
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
                    let is_one = matches!(
                        clause.word(rest + 1),
                        "the" | "my" | "that" | "this" | "your" | "its" | "it" | "them" | "these" | "those"
                    );
                    is_deed && (!is_one || self.is_of_a_kind() || self.has_reason())
                })
            || (is_correction && self.word(0) == "not" && self.words.len() >= 4 && self.has_reason())
            || (is_correction && self.lower.starts_with("i don't want ") && self.is_of_a_kind())
            || (is_correction && self.says_no())
            || (is_correction
                && (self.is_before_work() || self.is_reserved() || self.is_of_every() || self.names_a_kind()))
    }

    /// "No force pushes on shared branches, please": a "no" that rules out, and not one that spares.
    fn says_no(&self) -> bool {
        const SPARED: &str = "need|necessary|required|problem|worries|rush|error|luck|idea|longer|matter|way";
        let is_ruling = ["please", "instead", "without", ": "].iter().any(|words| self.lower.contains(words));
        self.word(0) == "no" && is_ruling && !any(SPARED, |words| self.lower.contains(words))
    }

    /// "Deploys I do myself", "run it by me first": what is left to a person.
    fn is_reserved(&self) -> bool {
        let is_own = self.words.contains(&"i") && self.words.contains(&"myself");
        is_own
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
        let is_every = matches!(self.word(0), "every" | "each" | "any");
        let is_thing = self.words.iter().skip(1).take(3).any(|word| any(THINGS, |thing| thing == *word));
        let is_rule = self
            .words
            .iter()
            .any(|word| matches!(*word, "must" | "has" | "needs" | "gets" | "goes" | "belongs" | "starts"));
        is_every && is_thing && is_rule && !any(BROKEN, |words| self.lower.contains(words))
    }

    /// "Keep commits small": an order about all things of a kind.
    fn names_a_kind(&self) -> bool {
        let is_lasting =
            matches!(self.word(0), "keep" | "name" | "put" | "prefix" | "squash" | "sign" | "pin" | "store" | "start");
        is_lasting && self.word(1).ends_with('s') && any(ARTEFACTS, |known| known == self.word(1))
    }

    /// "Before you open a pull request, run the checks."
    fn is_before_work(&self) -> bool {
        let is_when = matches!(self.word(0), "before" | "after" | "when" | "whenever" | "if") && self.word(1) == "you";
        let then = self.lower.split_once(", ").map(|(_, then)| Spoken::new(then));
        is_when && self.works_at(2) && then.is_some_and(|then| then.is_order())
    }

    fn has_reason(&self) -> bool {
        any(REASONS, |reason| self.lower.contains(reason))
    }

    fn is_of_a_kind_named(&self) -> bool {
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
        if any(BROKEN, |words| self.lower.contains(words)) {
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

/// Something that agents do, in any form of the word.
fn is_deed(word: &str) -> bool {
    let is_work = |stem: &str| any(WORK, |known| known == stem);
    if is_work(word) {
        return true;
    }
    ["ing", "ed", "es", "s", "d"].iter().filter_map(|ending| word.strip_suffix(ending)).any(|stem| {
        let mut letters = stem.chars().rev();
        let is_doubled = matches!((letters.next(), letters.next()), (Some(last), Some(other)) if last == other);
        let undoubled = stem.char_indices().next_back().and_then(|(at, _)| stem.get(..at)).filter(|_| is_doubled);
        is_work(stem) || is_work(&format!("{stem}e")) || undoubled.is_some_and(is_work)
    })
}

/// "Could you not use sed" asks for what "don't use sed" asks for.
pub(super) fn without_asking(lower: &str) -> Option<&str> {
    ["could you please ", "can you please ", "could you ", "can you ", "would you mind "]
        .iter()
        .find_map(|asking| lower.strip_prefix(asking))
        .filter(|asked| asked.starts_with("not ") || asked.starts_with("stop "))
}

/// "Use pnpm, not npm", "use X instead of Y": for good if one of the two is a tool.
fn is_other_tool(words: &[&str], before: &[&Deed<'_>]) -> bool {
    let is_tool = |word: &str| any(TOOLS, |known| known == word);
    let verb = words.iter().position(|word| matches!(*word, "use" | "run" | "using" | "used" | "it's"));
    let is_told_off = matches!(words, ["you", "should" | "were" | "need" | "must", ..]);
    let Some(verb) = verb.filter(|at| *at <= if is_told_off { 5 } else { 1 }) else { return false };
    let other =
        words.iter().position(|word| matches!(*word, "not" | "instead" | "over" | "rather")).filter(|at| *at > verb);
    let Some(other) = other else { return false };
    let ran = |word: &&&str| before.iter().filter_map(|deed| deed.line.as_ref()).any(|line| line.program() == **word);
    let wanted = words.iter().take(other).skip(verb + 1).take(4);
    let refused = words.iter().skip(other + 1).take(4);
    wanted.clone().any(|word| is_tool(word))
        && (refused.clone().next().is_none() || refused.clone().any(|word| is_tool(word) || *word == "of"))
        || refused.clone().any(|word| is_tool(word))
        || refused.clone().filter(|word| word.len() > 2).any(|word| ran(&word)) && wanted.clone().next().is_some()
}
