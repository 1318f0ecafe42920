//! Words by which people's wishes are told from other talk, and the forms that verbs take. English only.

use super::super::words::any;

#[cfg(test)]
#[path = "lexicon_tests.rs"]
mod tests;

/// Words by which a sentence is meant for all time to come, whatever else it says.
pub(super) const FROM_NOW: &str = "from now on|going forward|moving forward|in future|in the future|from here on|from this point on|\
    as a rule|for future reference|for the future|for good|never again";

/// Words by which a sentence about what agents do is meant for good.
pub(super) const FOR_GOOD: &str = "as a rule|in this repo|on this repo|for this repo|across the codebase|across the repo|\
    in this project|in this codebase|in this monorepo|in this workspace|our convention|our style|our policy|house rule|house style|style guide|\
    by convention|the convention|you keep |don't ever |do not ever |remember to |make sure to always |\
    make sure you always |remember that |you should always |you should never |you must always |you must never |\
    must always |must never |keep in mind|bear in mind|every commit|every pr|every pull request|every migration|\
    every branch|every change|on this team|in this team|around here|whenever you |for anything|in this service|in this package|in this module|in this crate|in this app";

/// How such a sentence begins.
pub(super) const BEGINNINGS: &str = "we use |we don't |we do not |we never |we always |we only |we run |we prefer |we keep |we write |\
    we commit |we deploy |we test |we follow |we avoid |we're not using |we are not using |we're using |we are using |we no longer |we moved to |we switched to |we've moved |we've switched |we stick to |we go through |we've agreed |we agreed |we're on |\
    nobody |no one |i prefer |i always |i never want |prefer |our team uses |the way we |our tests |our commits |this is a pnpm |this is a yarn |this is a bun |this is a uv |this is a poetry |\
    everything here |all tests |all commits |all changes |commits must |commit messages |tests must |the rule is |the rule here |\
    the convention is |the convention here |house rule|our rule|rule: |this team |everything goes through |no more ";

/// What agents do, and what can therefore be asked of them for good.
pub(super) const WORK: &str = "use|run|commit|push|edit|touch|modify|delete|add|write|create|install|import|test|check|ask|read|format|\
    lint|mock|skip|merge|rebase|force-push|bump|generate|put|keep|start|amend|change|name|document|squash|\
    update|regenerate|rerun|include|remove|hardcode|hard-code|disable|leave|prefix|branch|deploy|apply|call|\
    log|open|restart|drop|publish|print|wrap|type|rename|reformat|stage|assume|guess|invent|go|stick|build|\
    pin|vendor|copy|paste|downgrade|upgrade|set|pass|catch|swallow|ignore|silence|stub|store|exec|execute|follow|\
    ship|let|release|treat|track|throw|raise|plan|post|prefer|reuse|extend|move|split|sign|tag|review|translate|suppress|bypass|stash|reset|comment|\
    introduce|bring|refactor|rewrite|duplicate|leak|confirm|explain|summarize|summarise|apologize|apologise|indent|abbreviate|spell";

/// What shows that only this once is meant.
pub(super) const ONCE: &str = "this time|for now|just this once|right now| yet|for the moment|at the moment|this one|that one|today|tonight|\
    tomorrow|this week|next week|this sprint|this release|temporarily|while you're at it|while you are at it|accordingly|\
    until it|until that|until this|until the end|until monday|until tuesday|until wednesday|until thursday|until friday";

/// What shows that somebody only thinks aloud.
pub(super) const UNSURE: &str = "might |maybe|perhaps|could we|can we|could you|can you|would you|would be nice|what if|should we|\
    shall we|i wonder|i think we could|i think we should|i guess|i suppose|not sure|we'll |we will |we may |we plan |every time i |every time the |every time a |every time it |every time we |every time someone |i would like|we want |thanks|thank you| green|lgtm";

/// Where a rule holds.
pub(super) const CONVENTION: &str = "in this repo|on this repo|for this repo|in this project|in this codebase|across the codebase|in this monorepo|in this workspace|\
    in this team|on this team|in this service|in this package|in this module|in this crate|in this app|in our |on our |around here|with us|for us|convention|policy|house style|house rule|style guide|contributing|guideline|the rule";

/// What makes a statement hold for all of a kind.
pub(super) const GENERAL: &str = "always|never|only|must|everything|nobody|every|all|any|anything|go|goes|belong|belongs|live|lives|follow|follows|\
    append-only|forbidden|don't|aren't|cannot|can't|get|gets|have|has|come|comes|not|stay|stays|read-only";

/// What makes a statement a rule, whoever says it and however it begins.
pub(super) const STRICT: &str = "always|never|only|must|nobody|everything|belong|belongs|go|goes|live|lives|follow|follows|append-only|forbidden|limits|all|\
    every|read-only|through|per|aren't|isn't|come|comes|untouched";

/// What is told of something that does not work: a report, and no rule.
pub(super) const BROKEN: &str = " fail| broke| an error| error:| errors out|crash| red | red.|doesn't work|does not work|don't work|still |wrong|missing|empty|slow| hang";

/// Why something is not to be done that holds tomorrow as well.
pub(super) const REASONS: &str = " minutes|an hour| hours|production|everybody|everyone|other people|the team|shared|overwrit|overwritten|otherwise|\
    locks |wipes|deletes|expensive|costs|ci |pipeline|on merge|gets lost|is lost|reject|audit|by hand|generated";

/// Ways of writing code that people rule out for good.
pub(super) const PRACTICES: &str = "console.log|print|println|printf|any|unwrap|panic|float|floats|var|sleep|eval|mocks|mock|innerhtml|globals|\
    literals|hardcoded|sed|date.now|datetime.now|thread.sleep|time.sleep|system.out.println|puts|dd|var_dump";

/// Things that only those who work on code speak of.
pub(super) const ARTEFACTS: &str = "test|tests|spec|specs|fixture|fixtures|mock|mocks|snapshot|snapshots|migration|migrations|index|indexes|indices|\
    commit|commits|branch|branches|prs|main|master|trunk|production|prod|staging|changelog|lockfile|lockfiles|\
    dependency|dependencies|package|packages|vendored|generated|ci|pipeline|workflows|config|configs|configuration|secrets|\
    credentials|.env|dockerfile|container|containers|host|database|databases|script|scripts|tools|linter|linters|\
    formatter|imports|docstrings|readme|hooks|sql|endpoints|todos|crates|gems|sudo|schema|refactorings|refactors|\
    helpers|releases|tags|deployments|deploys|builds|binaries|artifacts|api|apis|urls|logs|docstring|code|timestamps|stubs|protos|adrs|subagents|feature";

/// Tools that stand for each other.
pub(super) const TOOLS: &str = "npm|pnpm|yarn|bun|npx|pip|uv|poetry|conda|pipenv|cargo|nextest|make|just|docker|podman|pytest|unittest|\
    jest|vitest|mocha|tox|nox|ruff|black|flake8|eslint|biome|prettier|gradle|./gradlew|gradlew|maven|mvn|\
    ./mvnw|bazel|rg|ripgrep|grep|git|rebase|merge|python3|python|node|deno|rspec|minitest|bundle|rake|rails|\
    bin/rails|cmake|ninja|meson|gcc|clang|tsc|tsx|kubectl|helm|terraform|tofu|psql|sqlite|postgres|go|\
    gotestsum|phpunit|pest|composer|mix|sbt|mill|swift|xcodebuild";

/// Words that stand for something said before: alone they say nothing.
pub(super) const POINTING: &[&str] = &["that", "this", "it", "those", "these", "them", "so", "there", "same"];

/// What a sentence says that makes another one hold for good.
pub(super) const LASTING: &str = "remember|in future|in the future|from now on|going forward|moving forward|from here on|stick to|in mind|\
    that's how we|that is how we|this is how we|how we do|that's the rule|that is the rule|same goes|same applies|same rule|how our team|how this team|our team works|hard requirement|non-negotiable|not negotiable|\
    across the |house style|for everything|all of our|all our |true for|throughout|standard here|applies to|\
    applies everywhere|holds for|goes for|as a rule|convention|for every|for all|for any|everywhere|always|keep it that way|\
    please keep to|keep to that|keep to this|write that down|make a note|note that down|don't forget|do not forget|our rule|a rule here|rule here";

/// How a sentence begins that is about what was just done, or that wants it undone.
pub(super) const OF_NOW: &str = "again with|revert|undo|redo |try again|put it back|put that back|put them back|fix it|fix that|fix this|do it again|do that|do the same|start over|\
    roll |roll it back|continue|go on|go ahead|rewrite it|change it back|take it out|take that out|remove it|remove that|\
    remove the |delete the |delete it|restore|move it back|thank|great|good|nice|perfect|sorry|looks|now |then |carry on|you |why |what |\
    how |i meant|i mean |i asked|i said|i wanted|oh |that was|this was|it was|that broke|this broke|it broke|that would|this would|it would|let's not do|let's not go|not like ";

/// What rules something out, or in, without appeal.
pub(super) const HARD: &str = "not allowed|n't allowed|off limits|off-limits|has to go through|have to go through|must go through|\
    needs to go through|need to go through|hard requirement|non-negotiable|not negotiable|mandatory|is forbidden|\
    are forbidden|strictly|no-go|not permitted|n't permitted|not acceptable|unacceptable";

/// People of whom a program tells what they may: a feature, and no rule of work.
pub(super) const PEOPLE: &str = "user|users|guest|guests|customer|customers|admin|admins|visitor|visitors|member|members|player|\
    players|buyer|buyers|seller|sellers|owner|owners|client|clients|patient|patients|student|students";

/// What is not to be touched tomorrow either: "the tests" may be for once, "the generated client" is for good.
pub(super) const PROTECTED: &str = "generated|vendored|vendor|lockfile|lockfiles|production|prod|staging|main|master|trunk|secrets|\
    credentials|env|ci|pipeline|hooks|third_party|third-party|snapshots|host|sudo|database|databases|migrations";

/// What comes out of every session: whoever speaks of these in general speaks of all sessions.
pub(super) const PRODUCTS: &str = "commits|messages|prs|branches|names|answers|replies|responses|summaries|explanations|diffs|\
    comments|docstrings|identifiers|titles|descriptions";

/// Matters of taste: to forbid one is still a preference.
pub(super) const TASTE: &str = "tabs|spaces|semicolon|quotes|emoji|comment|naming|spelling|spell|answers|replies|summar|style|indent|\
    acronym|wording|tone|prefer|a fan of|apologiz|apologis|exports";

/// What people say of what we are or have, which orders nothing: "we don't need", "we never had".
pub(super) const STATES: &str =
    "need|have|want|get|know|care|think|got|had|see|seem|believe|mind|expect|remember|understand|were|was|are";

/// "In this function", "on that page": what is not one of these is the thing at hand.
pub(super) const PLACES: &str = "repo|repository|project|codebase|monorepo|workspace|team|service|package|module|crate|app|org|company|\
    house|kind|sort|reason|point|matter|library|sdk";

/// A deed in its plain form: "writing", "wrote" and "writes" are "write".
pub(super) fn deed(word: &str) -> Option<String> {
    const IRREGULAR: &[(&str, &str)] = &[
        ("wrote", "write"),
        ("written", "write"),
        ("ran", "run"),
        ("kept", "keep"),
        ("went", "go"),
        ("left", "leave"),
        ("built", "build"),
        ("threw", "throw"),
        ("stuck", "stick"),
        ("brought", "bring"),
        ("caught", "catch"),
    ];
    let is_work = |stem: &str| any(WORK, |known| known == stem);
    if is_work(word) {
        return Some(word.to_owned());
    }
    if let Some((_, base)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        return Some((*base).to_owned());
    }
    ["ing", "ed", "es", "s", "d"].iter().filter_map(|ending| word.strip_suffix(ending)).find_map(|stem| {
        let mut letters = stem.chars().rev();
        let is_doubled = matches!((letters.next(), letters.next()), (Some(last), Some(other)) if last == other);
        let undoubled = stem.char_indices().next_back().and_then(|(at, _)| stem.get(..at)).filter(|_| is_doubled);
        let full = format!("{stem}e");
        [Some(stem), Some(full.as_str()), undoubled].into_iter().flatten().find(|stem| is_work(stem)).map(str::to_owned)
    })
}

/// Something that agents do, in any form of the word.
pub(super) fn is_deed(word: &str) -> bool {
    deed(word).is_some()
}
