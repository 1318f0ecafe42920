//! Standing wishes and decisions in a person's own words, which stay as they were said.
//!
//! Whether a claim is given at once or waits for a second session follows from its kind alone: a preference or a decision
//! has a person behind it and is given, a lesson waits. Orders for one task, questions, reports and pasted text give none.

mod clause_grammar;
mod typed_words;
mod wish_strength;

use std::collections::BTreeSet;

use self::typed_words::TypedWords;
use self::wish_strength::{RemarkContext, WishSentence, WishStrength};
use super::super::claim::{Claim, Place};
use super::scene::{Deed, Scene};
use super::weigh::{self, Ground};
use super::words::{any, cut, relative};
use super::{command, quote, shown};
use crate::context::{Action, SignalKind};
use crate::domain::{DropReason, Dropped, Facets, MemoryCategory, MemoryKind, MemoryScope, Severity, Speaker};

#[cfg(test)]
#[path = "user_preferences_tests.rs"]
mod tests;

/// As much of what was said fits into a summary.
const SUMMARY_CHARACTERS: usize = 290;

/// As much of the rest fits into a rule.
const RULE_CHARACTERS: usize = 340;

/// How many actions before a remark it may be about.
const LOOKED_BACK: usize = 12;

/// Words that two wishes share without being one.
const COMMON: &str =
    "always|never|please|this|that|from|with|when|before|only|your|they|them|here|instead|project|repo|should|must";

/// Something that a person wants beyond the task at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StatedWish<'t> {
    /// The sentences of one paragraph that say it, in order.
    sentences: Vec<&'t str>,
    strength: WishStrength,
}

/// Collects claims from what people said, and notes the corrections that hold for one task only.
pub(super) fn collect_claims(scene: &Scene<'_>, dropped: &mut Vec<Dropped>) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    for (index, trajectory) in scene.context.trajectories.iter().enumerate() {
        let Ok(index) = u32::try_from(index) else { break };
        let mut has_agent_acted = false;
        for step in trajectory.steps.iter().filter(|step| !step.copied) {
            has_agent_acted |= step.speaker == Speaker::Agent;
            if step.speaker != Speaker::User {
                continue;
            }
            let place = Place { trajectory: index, step: step.number };
            let is_correction = is_correction(scene, place);
            let remark = RemarkContext { programs: programs_before(scene, place), has_agent_acted, is_correction };
            let wishes = find_wishes(&step.text, &remark);
            if wishes.is_empty() && is_correction {
                dropped.push(Dropped {
                    summary: cut(&join_words(&step.text), 160),
                    why: DropReason::OneOff,
                    detail: "a remark on this one task".to_owned(),
                });
            }
            for claim in wishes.iter().filter_map(|wish| make_claim(scene, place, wish)) {
                match claims.iter_mut().find(|known| is_repeated(known, &claim)) {
                    Some(known) => strengthen(known, claim),
                    None => claims.push(claim),
                }
            }
        }
    }
    claims
}

/// A remark of a person of which words are quoted.
#[derive(Debug, Clone, Copy)]
pub(in crate::distill) struct QuotedRemark<'t> {
    pub(in crate::distill) message: &'t str,
    pub(in crate::distill) quoted: &'t str,
    /// The agent did something before it.
    pub(in crate::distill) has_agent_acted: bool,
    /// The message sets the agent right.
    pub(in crate::distill) is_correction: bool,
}

impl QuotedRemark<'_> {
    /// Says whether the quoted words are part of a wish that outlasts the task.
    pub(in crate::distill) fn states_wish(&self) -> bool {
        let QuotedRemark { has_agent_acted, is_correction, .. } = *self;
        let remark = RemarkContext { programs: Vec::new(), has_agent_acted, is_correction };
        find_wishes(self.message, &remark).iter().flat_map(|wish| &wish.sentences).any(|said| self.is_quoted(said))
    }

    /// Says whether the quoted words set the agent right, ask it something or order something.
    pub(in crate::distill) fn is_about_task(&self) -> bool {
        let typed = TypedWords::parse(self.message);
        let mut quoted = typed.paragraphs.iter().flatten().filter(|said| self.is_quoted(said));
        self.is_correction
            || quoted.any(|said| {
                let sentence = WishSentence::parse(said);
                sentence.is_question || sentence.is_order() || sentence.looks_back()
            })
    }

    fn is_quoted(&self, said: &str) -> bool {
        let (said, quoted) = (join_words(said), join_words(self.quoted));
        said.contains(&quoted) || quoted.contains(&said)
    }
}

fn is_correction(scene: &Scene<'_>, place: Place) -> bool {
    scene.context.signals.iter().any(|signal| {
        signal.kind == SignalKind::UserCorrection && signal.trajectory == place.trajectory && signal.step == place.step
    })
}

/// The last actions of the agent before somebody spoke, the newest first.
fn actions_before<'s, 'c>(scene: &'s Scene<'c>, place: Place) -> impl Iterator<Item = &'s Deed<'c>> {
    let end = scene.deeds.partition_point(|deed| deed.place < place);
    let deeds = scene.deeds.iter().take(end).rev();
    deeds.take_while(move |deed| deed.place.trajectory == place.trajectory).take(LOOKED_BACK)
}

/// Describes the command or the change that somebody's words followed.
fn describe_last_action(scene: &Scene<'_>, place: Place) -> Option<String> {
    let root = scene.root(place.trajectory);
    actions_before(scene, place).filter(|deed| !deed.is_look).find_map(|deed| match (&deed.action, deed.command()) {
        (_, Some(run)) => Some(format!("Said after the agent ran `{}`.", shown::shown(&relative(run, Some(root))))),
        (Action::Edit(changes), _) => {
            Some(format!("Said after the agent edited `{}`.", relative(&changes.first()?.path, Some(root))))
        }
        _ => None,
    })
}

/// The names of the programs that the agent ran last before somebody spoke.
fn programs_before(scene: &Scene<'_>, place: Place) -> Vec<String> {
    let lines = actions_before(scene, place).filter_map(|deed| deed.line.as_ref());
    let words = lines.flat_map(|line| line.cores.iter().flat_map(|core| core.first()));
    words.map(|word| command::base(word).to_lowercase()).filter(|word| word.len() > 1).collect()
}

/// Finds the wishes of a message, at most one in a paragraph.
fn find_wishes<'t>(message: &'t str, remark: &RemarkContext) -> Vec<StatedWish<'t>> {
    let typed = TypedWords::parse(message);
    let is_heard = |strength: &WishStrength| match strength {
        WishStrength::Unmistakable | WishStrength::Decision => true,
        WishStrength::Reasoned => !typed.is_document,
        WishStrength::Waiting | WishStrength::Standing => remark.has_agent_acted && !typed.is_document,
    };
    let wishes = typed.paragraphs.iter().filter_map(|paragraph| {
        let sentences: Vec<WishSentence> = paragraph.iter().map(|said| WishSentence::parse(said)).collect();
        let strengths: Vec<Option<WishStrength>> =
            sentences.iter().map(|sentence| sentence.strength(remark).filter(is_heard)).collect();
        let strength = strengths.iter().flatten().max().copied()?;
        let chosen = match strength {
            WishStrength::Decision => (0..paragraph.len()).collect(),
            _ => choose_sentences(&sentences, &strengths),
        };
        let said: Vec<&'t str> = chosen.iter().filter_map(|at| paragraph.get(*at).copied()).collect();
        (!said.is_empty()).then_some(StatedWish { sentences: said, strength })
    });
    wishes.collect()
}

/// Chooses the sentences of a paragraph that make up its wish: those that say it, the ones they point back to, and what
/// is told beside them as long as that is short. A wish that points at words which are not there needs some of its own.
fn choose_sentences(sentences: &[WishSentence], strengths: &[Option<WishStrength>]) -> Vec<usize> {
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    for (at, sentence) in sentences.iter().enumerate() {
        let before = at.checked_sub(1);
        if strengths.get(at).is_some_and(Option::is_some) {
            let is_pointing = sentence.points_back();
            if is_pointing && at == 0 && !sentence.is_named() {
                continue;
            }
            let is_company =
                |before: &usize| is_pointing || sentences.get(*before).is_some_and(WishSentence::is_statement);
            chosen.extend(before.filter(is_company));
            chosen.insert(at);
        } else if before.is_some_and(|before| chosen.contains(&before)) {
            let is_after_ban = before.and_then(|before| sentences.get(before)).is_some_and(WishSentence::is_ban);
            chosen.extend(Some(at).filter(|_| sentence.carries_on(is_after_ban) || sentence.is_statement()));
        }
    }
    chosen.into_iter().collect()
}

fn make_claim(scene: &Scene<'_>, place: Place, wish: &StatedWish<'_>) -> Option<Claim> {
    let quotes = quote::few(wish.sentences.iter().map(|said| quote::said(scene.context, place, said)));
    quotes.first()?;
    let whole = join_words(&wish.sentences.join(" "));
    let summary = cut(&whole, SUMMARY_CHARACTERS);
    // A reader is shown the summary and the rule: what does not fit into the one stands in the other.
    let rest = whole.get(summary.trim_end_matches('…').len()..).unwrap_or_default().trim();
    let (kind, category, reason) = match wish.strength {
        WishStrength::Decision => (MemoryKind::Decision, MemoryCategory::Decision, "a person said what was decided"),
        WishStrength::Standing | WishStrength::Unmistakable => {
            (MemoryKind::Preference, MemoryCategory::Preference, "a person said how they want it done from now on")
        }
        WishStrength::Waiting | WishStrength::Reasoned => {
            (MemoryKind::Lesson, MemoryCategory::Preference, "a person said how they want it done")
        }
    };
    let ground = match kind {
        MemoryKind::Lesson => Ground::Taste,
        _ if is_insisted(&whole) => Ground::Insisted,
        _ => Ground::Wish,
    };
    Some(Claim {
        rule: (!rest.is_empty())
            .then(|| format!("IF you work on this project THEN keep to this too: {}", cut(rest, RULE_CHARACTERS))),
        detail: if rest.is_empty() { describe_last_action(scene, place) } else { Some(whole) },
        summary,
        kind,
        category,
        scope: MemoryScope::Project,
        facets: Facets::default(),
        tags: vec!["user-preference".to_owned()],
        importance: weigh::importance(ground, 1, false),
        importance_reason: Some(reason.to_owned()),
        severity: Some(Severity::Recommendation),
        quotes,
        episodes: vec![scene.episode(place.trajectory)],
        near: Vec::new(),
    })
}

/// Says whether a person raised their voice, or had said it before.
fn is_insisted(said: &str) -> bool {
    let is_loud = said.split_whitespace().any(|word| matches!(word, "NEVER" | "ALWAYS" | "NOT" | "STOP" | "EVER"));
    let lower = said.to_lowercase();
    is_loud
        || said.contains("!!")
        || any("told you|you keep |how many times|never|as i said", |words| lower.contains(words))
}

/// Says whether two claims are one wish, in the same words or in nearly the same.
fn is_repeated(known: &Claim, claim: &Claim) -> bool {
    let telling = |claim: &Claim| -> BTreeSet<String> {
        let lower = claim.summary.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
        words.filter(|word| !any(COMMON, |common| common == *word)).map(str::to_owned).collect()
    };
    let (one, other) = (telling(known), telling(claim));
    let shared = one.intersection(&other).count();
    known.summary == claim.summary || (shared >= 2 && shared * 10 >= one.len().min(other.len()) * 7)
}

/// Makes a wish that had to be said again weigh more; the stronger words decide whether it stands.
fn strengthen(known: &mut Claim, again: Claim) {
    let quotes = quote::few(known.quotes.drain(..).chain(again.quotes.clone()).map(Some));
    if known.kind == MemoryKind::Lesson {
        *known = again;
    }
    known.quotes = quotes;
    known.importance = weigh::importance(Ground::Insisted, 2, false);
    known.importance_reason = Some("a person had to say it more than once".to_owned());
}

fn join_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
