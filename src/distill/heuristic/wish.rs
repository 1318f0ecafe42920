//! A person's standing wishes: how they want it done from now on, not what this one task needs.
//!
//! `speech` puts their words plainly, `standing` tells what is meant for good, `phrase` writes it down. English only.

mod at_hand;
mod grounds;
mod lexicon;
mod phrase;
mod remark;
mod speech;
mod standing;

use std::collections::BTreeSet;

use self::lexicon::TASTE;
use self::phrase::{When, small};
use self::remark::{Remark, SHOWN_CHARACTERS, core, is_remark, own_sentences, with_company};
use self::standing::Spoken;
use super::super::claim::{Claim, Place};
use super::command;
use super::quote;
use super::scene::{Deed, Scene};
use super::weigh::{self, Ground};
use super::words::{any, cut, relative};
use crate::context::{Action, SignalKind};
use crate::domain::{DropReason, Dropped, Facets, MemoryCategory, MemoryKind, MemoryScope, Severity, Speaker};

#[cfg(test)]
#[path = "wish_tests.rs"]
mod tests;

/// A longer message is a new order, not a remark.
const MAX_CHARACTERS: usize = 2000;

/// Words that two wishes share without being one.
const COMMON: &str = "always|never|please|this|that|from|with|when|before|only|your|they|them|here|instead|project|repo|repository|should|must";

/// How many deeds before a remark it may be about.
const LOOKED_BACK: usize = 12;

/// Claims from what people said, and what was left out.
pub(super) fn claims(scene: &Scene<'_>, dropped: &mut Vec<Dropped>) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    let corrected: Vec<Place> = scene
        .context
        .signals
        .iter()
        .filter(|signal| signal.kind == SignalKind::UserCorrection)
        .map(|signal| Place { trajectory: signal.trajectory, step: signal.step })
        .collect();
    for (index, trajectory) in scene.context.trajectories.iter().enumerate() {
        let Ok(index) = u32::try_from(index) else { break };
        let mut has_agent_spoken = false;
        for step in trajectory.steps.iter().filter(|step| !step.copied) {
            has_agent_spoken |= step.speaker == Speaker::Agent;
            let place = Place { trajectory: index, step: step.number };
            if step.speaker != Speaker::User || !has_agent_spoken {
                continue;
            }
            let is_correction = corrected.contains(&place);
            let before = before(scene, place);
            match wish(&step.text, &before, is_correction, scene.root(index)) {
                Some(wish) => {
                    if let Some(claim) = claim(scene, place, &wish, &before) {
                        match claims.iter_mut().find(|known| is_said_again(known, &claim)) {
                            Some(known) => insist(known, claim),
                            None => claims.push(claim),
                        }
                    }
                }
                None if is_correction => dropped.push(Dropped {
                    summary: cut(&step.text.split_whitespace().collect::<Vec<_>>().join(" "), 160),
                    why: DropReason::OneOff,
                    detail: "a remark on this one task".to_owned(),
                }),
                None => {}
            }
        }
    }
    claims
}

/// Whether two wishes are one, in the same words or in nearly the same.
fn is_said_again(known: &Claim, claim: &Claim) -> bool {
    let telling = |claim: &Claim| -> BTreeSet<String> {
        let lower = claim.summary.to_lowercase();
        let words = lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.len() > 3 && !any(COMMON, |common| common == *word));
        words.map(str::to_owned).collect()
    };
    let (one, other) = (telling(known), telling(claim));
    let shared = one.intersection(&other).count();
    known.summary == claim.summary || (shared >= 2 && shared * 10 >= one.len().min(other.len()) * 7)
}

/// A wish that had to be said again matters more.
fn insist(known: &mut Claim, again: Claim) {
    known.importance = weigh::importance(Ground::Insisted, 2, false);
    known.importance_reason = Some("a person had to say it more than once".to_owned());
    known.quotes = quote::few(known.quotes.drain(..).chain(again.quotes).map(Some));
}

/// What the agent did last before somebody spoke, the newest first.
fn before<'s, 'c>(scene: &'s Scene<'c>, place: Place) -> Vec<&'s Deed<'c>> {
    let end = scene.deeds.partition_point(|deed| deed.place < place);
    let deeds = scene.deeds.iter().take(end).rev();
    deeds.take_while(|deed| deed.place.trajectory == place.trajectory).take(LOOKED_BACK).collect()
}

/// How somebody wants it done, made to stand alone, and the words it was taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wish {
    sentence: String,
    /// When it holds, if they said so.
    condition: Option<String>,
    /// What to do, as an order.
    order: String,
    /// Why, if they said so behind it.
    reason: Option<String>,
    said: Vec<String>,
    is_forbidding: bool,
    force: Force,
}

/// How much a person meant it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Force {
    /// A taste.
    Mild,
    Plain,
    /// It was ruled out for ever, said again, or said loudly.
    Strong,
}

impl Force {
    fn of(text: &str) -> Self {
        const STRONG: &str = "how many times|i told you|i've told you|do you keep |third time|second time|again and again|hard requirement|\
            non-negotiable|not negotiable|off limits|off-limits|not allowed|n't allowed|forbidden|under no circumstances|strictly|as i said|\
            like i said|once again|did it again|again with|mandatory|without exception|no exceptions";
        const MILD: &str = "i prefer|i'd prefer|i'd rather|prefer |nit,|nit:|would be nice|if possible|not a fan|i like|small thing|minor thing|\
            tiny thing|ideally|i'd appreciate|it would be better";
        let lower = text.to_lowercase().replace('’', "'");
        let is_absolute = lower.starts_with("you keep ")
            || Spoken::new(&lower).words.iter().any(|word| matches!(*word, "never" | "ever"));
        match () {
            () if is_absolute || speech::is_loud(text) || any(STRONG, |words| lower.contains(words)) => Self::Strong,
            () if any(MILD, |words| lower.contains(words)) => Self::Mild,
            () => Self::Plain,
        }
    }

    fn ground(self) -> Ground {
        match self {
            Self::Mild => Ground::Taste,
            Self::Plain => Ground::Wish,
            Self::Strong => Ground::Insisted,
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Mild => "a person said how they like it done",
            Self::Plain => "a person said how they want it done from now on",
            Self::Strong => "a person insisted on how they want it done",
        }
    }
}

fn wish(text: &str, before: &[&Deed<'_>], is_correction: bool, root: &str) -> Option<Wish> {
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        return None;
    }
    let said = own_sentences(text);
    let is_remark = is_correction || is_remark(&said, before);
    let remarks: Vec<Remark<'_>> = said.into_iter().map(|said| Remark::of(said, before, is_remark)).collect();
    let core = core(&remarks)?;
    let at = with_company(&remarks, core);
    let picks: Vec<&Remark<'_>> = at.iter().filter_map(|at| remarks.get(*at)).collect();
    let sentences: Vec<String> = picks.iter().map(|remark| remark.sentence(before, root)).collect();
    // What to do is what was asked for; what is told as a fact is no order yet.
    let mut orders: Vec<When> = Vec::new();
    let mut facts: Vec<String> = Vec::new();
    let mut only_forbids = true;
    for (remark, sentence) in picks.iter().zip(&sentences) {
        match remark.order(root) {
            Some(when) => {
                only_forbids &= remark.spoken().is_forbidding();
                orders.push(when);
            }
            None if remark.lower.starts_with("you") => {}
            None => facts.push(small(sentence.trim_end_matches('.'))),
        }
    }
    let is_forbidding = picks.first().is_some_and(|remark| remark.spoken().is_ban())
        || orders.first().is_some_and(|when| Spoken::new(&when.order.to_lowercase()).is_ban());
    let condition = orders.iter().map(|when| &when.condition).find(|condition| !condition.is_empty()).cloned();
    let asked: Vec<String> = orders.into_iter().map(|when| when.order).collect();
    let order = match asked.as_slice() {
        [] => format!("keep to this: {}", facts.join("; ")),
        asked if only_forbids => asked.iter().chain(&facts).cloned().collect::<Vec<_>>().join("; "),
        asked => asked.join("; "),
    };
    // The sentence before may say that it is not the first time.
    let (first, last) = (at.first().copied().unwrap_or(core), at.last().copied().unwrap_or(core));
    let around = remarks.iter().take(last + 1).skip(first.saturating_sub(1)).map(|remark| remark.said);
    let around = around.collect::<Vec<_>>().join(" ");
    Some(Wish {
        sentence: cut(&sentences.join(" "), SHOWN_CHARACTERS),
        condition,
        order: cut(&order, SHOWN_CHARACTERS),
        reason: remarks.get(last + 1).filter(|next| next.is_reason()).map(|next| next.sentence(before, root)),
        said: picks.iter().map(|remark| remark.said.to_owned()).collect(),
        is_forbidding,
        force: Force::of(&around),
    })
}

fn claim(scene: &Scene<'_>, place: Place, wish: &Wish, before: &[&Deed<'_>]) -> Option<Claim> {
    let said: Vec<_> = wish.said.iter().map(|words| quote::said(scene.context, place, words)).collect();
    said.first()?.as_ref()?;
    let about = about(wish, before);
    let deed = about.and_then(|deed| match (&deed.action, deed.command()) {
        (_, Some(run)) => quote::deed(scene.context, deed.place, run),
        (Action::Edit(changes), _) => quote::deed(scene.context, deed.place, &changes.first()?.path),
        _ => None,
    });
    let root = scene.root(place.trajectory);
    let doing = about.and_then(|deed| match (&deed.action, deed.command()) {
        (_, Some(run)) => Some(format!("you are about to run `{}`", command::shown(&relative(run, Some(root))))),
        (Action::Edit(changes), _) => {
            Some(format!("you are about to edit `{}`", relative(&changes.first()?.path, Some(root))))
        }
        _ => None,
    });
    let lower = wish.sentence.to_lowercase();
    let category = match () {
        () if wish.is_forbidding && !any(TASTE, |words| lower.contains(words)) => MemoryCategory::AntiPattern,
        () if ["before ", "after ", "commit", "branch", "always run", "pull request"]
            .iter()
            .any(|word| lower.contains(word)) =>
        {
            MemoryCategory::Workflow
        }
        () => MemoryCategory::Preference,
    };
    let run = about.and_then(|deed| deed.command()).map(|run| command::shown(&relative(run, Some(root))));
    let after = match (&run, &doing) {
        (Some(run), _) => Some(format!("Said after the agent ran `{run}`.")),
        (None, Some(_)) => Some("Said after the agent edited files.".to_owned()),
        (None, None) => None,
    };
    let why = wish.reason.as_ref().map(|reason| format!("The reason given: {}", small(reason)));
    let detail: Vec<String> = why.into_iter().chain(after).collect();
    Some(Claim {
        summary: wish.sentence.clone(),
        rule: Some(format!(
            "IF {} THEN {}.",
            wish.condition.clone().or(doing).unwrap_or_else(|| "you work on this project".to_owned()),
            wish.order.trim_end_matches('.')
        )),
        detail: (!detail.is_empty()).then(|| detail.join(" ")),
        kind: MemoryKind::Preference,
        category,
        scope: MemoryScope::Project,
        facets: Facets::default(),
        tags: vec!["user-preference".to_owned()],
        importance: weigh::importance(wish.force.ground(), 1, false),
        importance_reason: Some(wish.force.reason().to_owned()),
        severity: Some(Severity::Recommendation),
        quotes: quote::few(said.into_iter().chain([deed])),
        episodes: vec![scene.episode(place.trajectory)],
        near: Vec::new(),
    })
}

/// The deed that a wish is about: one that shares a word with it, else none.
fn about<'s, 'c>(wish: &Wish, before: &[&'s Deed<'c>]) -> Option<&'s Deed<'c>> {
    let lower = wish.sentence.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || "_-./".contains(c)))
        .map(|word| word.trim_matches('.'))
        .collect();
    let shares = |deed: &&&'s Deed<'c>| match (&deed.action, &deed.line) {
        (_, Some(line)) => line.cores.iter().any(|core| {
            core.iter()
                .take(2)
                .any(|word| word.len() > 1 && words.contains(&command::base(word).to_lowercase().as_str()))
        }),
        (Action::Edit(changes), _) => changes.iter().any(|change| {
            let path = change.path.to_lowercase();
            words
                .iter()
                .any(|word| word.len() > 3 && (word.contains('/') || word.contains('.')) && path.contains(*word))
                || path.split('/').any(|part| part.len() > 3 && words.contains(&part))
        }),
        _ => false,
    };
    before.iter().find(shares).copied()
}
