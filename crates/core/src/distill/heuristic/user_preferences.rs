//! Lasting preferences and decisions in a user's own words, which are kept unchanged.
//!
//! The kind of a candidate alone decides whether it is used at once or waits for a second session: a user stands behind
//! a preference or a decision, and a lesson waits. Orders for one task, questions, reports and pasted text give none.

mod clause_grammar;
mod preference_strength;
mod typed_words;

use std::collections::BTreeSet;

use self::preference_strength::{PreferenceSentence, PreferenceStrength, RemarkContext};
use self::typed_words::TypedWords;
use super::super::unchecked_candidate::{StepReference, UncheckedCandidate};
use super::action_timeline::{ActionTimeline, AgentAction};
use super::sentence_text::{any_listed, cut_to_length, shorten_paths};
use super::{displayed_command, supporting_quotes};
use crate::context::{SignalKind, ToolAction};
use crate::domain::{
    DropReason, DroppedCandidate, FacetValues, Importance, ImportanceBasis, MemoryCategory, MemoryKind, MemoryScope,
    Severity, Speaker,
};
use crate::text::shell_lexer::program_name;

#[cfg(test)]
#[path = "user_preferences_tests.rs"]
mod tests;

/// The most characters of a summary.
const SUMMARY_CHARACTERS: usize = 290;

/// The most characters of the remainder that goes into a rule.
const RULE_CHARACTERS: usize = 340;

/// The number of actions before a remark that it may be about.
const LOOKED_BACK: usize = 12;

/// Words that two different preferences may share.
const COMMON: &str =
    "always|never|please|this|that|from|with|when|before|only|your|they|them|here|instead|project|repo|should|must";

/// Something that a user wants beyond the current task.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StatedPreference<'t> {
    /// The sentences of one paragraph that state it, in order.
    sentences: Vec<&'t str>,
    strength: PreferenceStrength,
}

/// Collects candidates from what users said, and records as dropped the corrections that hold for one task only.
pub(super) fn collect_candidates(
    timeline: &ActionTimeline<'_>,
    dropped: &mut Vec<DroppedCandidate>,
) -> Vec<UncheckedCandidate> {
    let mut claims: Vec<UncheckedCandidate> = Vec::new();
    for (index, trajectory) in timeline.context.trajectories.iter().enumerate() {
        let Ok(index) = u32::try_from(index) else { break };
        let mut has_agent_acted = false;
        for step in trajectory.steps.iter().filter(|step| !step.copied) {
            has_agent_acted |= step.speaker == Speaker::Agent;
            if step.speaker != Speaker::User {
                continue;
            }
            let place = StepReference { trajectory: index, step: step.number };
            let is_correction = is_correction(timeline, place);
            let remark = RemarkContext { programs: programs_before(timeline, place), has_agent_acted, is_correction };
            let preferences = find_preferences(&step.text, &remark);
            if preferences.is_empty() && is_correction {
                dropped.push(DroppedCandidate {
                    summary: cut_to_length(&join_words(&step.text), 160),
                    why: DropReason::OneOff,
                    detail: "a remark on this one task".to_owned(),
                });
            }
            for claim in preferences.iter().filter_map(|preference| make_candidate(timeline, place, preference)) {
                match claims.iter_mut().find(|known| is_repeated(known, &claim)) {
                    Some(known) => strengthen_repeated(known, claim),
                    None => claims.push(claim),
                }
            }
        }
    }
    claims
}

/// A remark of a user, and the words of it that are quoted.
#[derive(Debug, Clone, Copy)]
pub(in crate::distill) struct QuotedRemark<'t> {
    pub(in crate::distill) message: &'t str,
    pub(in crate::distill) quoted: &'t str,
    /// True if the agent acted before it.
    pub(in crate::distill) has_agent_acted: bool,
    /// True if the message corrects the agent.
    pub(in crate::distill) is_correction: bool,
}

impl QuotedRemark<'_> {
    /// Tells whether the quoted words are part of a preference that outlasts the task.
    pub(in crate::distill) fn states_preference(&self) -> bool {
        let QuotedRemark { has_agent_acted, is_correction, .. } = *self;
        let remark = RemarkContext { programs: Vec::new(), has_agent_acted, is_correction };
        find_preferences(self.message, &remark)
            .iter()
            .flat_map(|preference| &preference.sentences)
            .any(|said| self.is_quoted(said))
    }

    /// Tells whether the quoted words correct the agent, ask it something or order something.
    pub(in crate::distill) fn is_about_task(&self) -> bool {
        let typed = TypedWords::parse(self.message);
        let mut quoted = typed.paragraphs.iter().flatten().filter(|said| self.is_quoted(said));
        self.is_correction
            || quoted.any(|said| {
                let sentence = PreferenceSentence::parse(said);
                sentence.is_question || sentence.is_order() || sentence.clarifies_request()
            })
    }

    fn is_quoted(&self, said: &str) -> bool {
        let (said, quoted) = (join_words(said), join_words(self.quoted));
        said.contains(&quoted) || quoted.contains(&said)
    }
}

fn is_correction(timeline: &ActionTimeline<'_>, place: StepReference) -> bool {
    timeline.context.signals.iter().any(|signal| {
        signal.kind == SignalKind::UserCorrection && signal.trajectory == place.trajectory && signal.step == place.step
    })
}

/// Returns the last actions of the agent before a step, the newest first.
fn actions_before<'s, 'c>(
    timeline: &'s ActionTimeline<'c>,
    place: StepReference,
) -> impl Iterator<Item = &'s AgentAction<'c>> {
    let end = timeline.actions.partition_point(|agent_action| agent_action.place < place);
    let actions = timeline.actions.iter().take(end).rev();
    actions.take_while(move |agent_action| agent_action.place.trajectory == place.trajectory).take(LOOKED_BACK)
}

/// Describes the last command or edit before a step.
fn describe_last_action(timeline: &ActionTimeline<'_>, place: StepReference) -> Option<String> {
    let root = timeline.working_folder(place.trajectory);
    actions_before(timeline, place).filter(|agent_action| !agent_action.is_look).find_map(|agent_action| {
        match (&agent_action.action, agent_action.command()) {
            (_, Some(run)) => Some(format!(
                "Said after the agent ran `{}`.",
                displayed_command::shorten_command(&shorten_paths(run, Some(root)))
            )),
            (ToolAction::Edit(changes), _) => {
                Some(format!("Said after the agent edited `{}`.", shorten_paths(&changes.first()?.path, Some(root))))
            }
            _ => None,
        }
    })
}

/// Returns the names of the programs that the agent ran last before a step.
fn programs_before(timeline: &ActionTimeline<'_>, place: StepReference) -> Vec<String> {
    let lines = actions_before(timeline, place).filter_map(|agent_action| agent_action.line.as_ref());
    let words = lines.flat_map(|line| line.cores.iter().flat_map(|core| core.first()));
    words.map(|word| program_name(word).to_lowercase()).filter(|word| word.len() > 1).collect()
}

/// Finds the preferences of a message, at most one in each paragraph.
fn find_preferences<'t>(message: &'t str, remark: &RemarkContext) -> Vec<StatedPreference<'t>> {
    let typed = TypedWords::parse(message);
    let is_heard = |strength: &PreferenceStrength| match strength {
        PreferenceStrength::Unmistakable | PreferenceStrength::Decision => true,
        PreferenceStrength::Reasoned => !typed.is_document,
        PreferenceStrength::Waiting | PreferenceStrength::Lasting => remark.has_agent_acted && !typed.is_document,
    };
    let preferences = typed.paragraphs.iter().filter_map(|paragraph| {
        let sentences: Vec<PreferenceSentence> = paragraph.iter().map(|said| PreferenceSentence::parse(said)).collect();
        let strengths: Vec<Option<PreferenceStrength>> =
            sentences.iter().map(|sentence| sentence.measure_strength(remark).filter(is_heard)).collect();
        let strength = strengths.iter().flatten().max().copied()?;
        let chosen = match strength {
            PreferenceStrength::Decision => (0..paragraph.len()).collect(),
            _ => choose_sentences(&sentences, &strengths),
        };
        let said: Vec<&'t str> = chosen.iter().filter_map(|at| paragraph.get(*at).copied()).collect();
        (!said.is_empty()).then_some(StatedPreference { sentences: said, strength })
    });
    preferences.collect()
}

/// Chooses the sentences of a paragraph that make up its preference: those that state it, the ones they point back to,
/// and short statements next to them. A preference that points at missing words must be understandable by itself.
fn choose_sentences(sentences: &[PreferenceSentence], strengths: &[Option<PreferenceStrength>]) -> Vec<usize> {
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    for (at, sentence) in sentences.iter().enumerate() {
        let before = at.checked_sub(1);
        if strengths.get(at).is_some_and(Option::is_some) {
            let is_pointing = sentence.points_back();
            if is_pointing && at == 0 && !sentence.is_self_contained() {
                continue;
            }
            let is_company =
                |before: &usize| is_pointing || sentences.get(*before).is_some_and(PreferenceSentence::is_statement);
            chosen.extend(before.filter(is_company));
            chosen.insert(at);
        } else if before.is_some_and(|before| chosen.contains(&before)) {
            let is_after_ban = before.and_then(|before| sentences.get(before)).is_some_and(PreferenceSentence::is_ban);
            chosen.extend(Some(at).filter(|_| sentence.continues_previous(is_after_ban) || sentence.is_statement()));
        }
    }
    chosen.into_iter().collect()
}

fn make_candidate(
    timeline: &ActionTimeline<'_>,
    place: StepReference,
    preference: &StatedPreference<'_>,
) -> Option<UncheckedCandidate> {
    let quotes = supporting_quotes::dedup_and_cap(
        preference.sentences.iter().map(|said| supporting_quotes::quote_user(timeline.context, place, said)),
    );
    quotes.first()?;
    let whole = join_words(&preference.sentences.join(" "));
    let summary = cut_to_length(&whole, SUMMARY_CHARACTERS);
    // A reader sees the summary and the rule, so the remainder of the summary goes into the rule.
    let rest = whole.get(summary.trim_end_matches('…').len()..).unwrap_or_default().trim();
    let (kind, category, reason) = match preference.strength {
        PreferenceStrength::Decision => {
            (MemoryKind::Decision, MemoryCategory::Decision, "a person said what was decided")
        }
        PreferenceStrength::Lasting | PreferenceStrength::Unmistakable => {
            (MemoryKind::Preference, MemoryCategory::Preference, "a person said how they want it done from now on")
        }
        PreferenceStrength::Waiting | PreferenceStrength::Reasoned => {
            (MemoryKind::Lesson, MemoryCategory::Preference, "a person said how they want it done")
        }
    };
    let basis = match kind {
        MemoryKind::Lesson => ImportanceBasis::MildPreference,
        _ if is_insisted(&whole) => ImportanceBasis::InsistedPreference,
        _ => ImportanceBasis::UserPreference,
    };
    Some(UncheckedCandidate {
        rule: (!rest.is_empty()).then(|| {
            format!("IF you work on this project THEN keep to this too: {}", cut_to_length(rest, RULE_CHARACTERS))
        }),
        detail: if rest.is_empty() { describe_last_action(timeline, place) } else { Some(whole) },
        summary,
        kind,
        category,
        scope: MemoryScope::Project,
        facets: FacetValues::default(),
        tags: vec!["user-preference".to_owned()],
        importance: Importance::from_basis(basis, 1, false),
        importance_reason: Some(reason.to_owned()),
        severity: Some(Severity::Recommendation),
        quotes,
        episodes: vec![timeline.owning_episode(place.trajectory)],
        near: Vec::new(),
    })
}

/// Tells whether a user insisted: in capitals, with exclamation marks, or by saying that it was said before.
fn is_insisted(said: &str) -> bool {
    let is_loud = said.split_whitespace().any(|word| matches!(word, "NEVER" | "ALWAYS" | "NOT" | "STOP" | "EVER"));
    let lower = said.to_lowercase();
    is_loud
        || said.contains("!!")
        || any_listed("told you|you keep |how many times|never|as i said", |words| lower.contains(words))
}

/// Tells whether two candidates are one preference, in the same or nearly the same words.
fn is_repeated(known: &UncheckedCandidate, claim: &UncheckedCandidate) -> bool {
    let telling = |claim: &UncheckedCandidate| -> BTreeSet<String> {
        let lower = claim.summary.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
        words.filter(|word| !any_listed(COMMON, |common| common == *word)).map(str::to_owned).collect()
    };
    let (one, other) = (telling(known), telling(claim));
    let shared = one.intersection(&other).count();
    known.summary == claim.summary || (shared >= 2 && shared * 10 >= one.len().min(other.len()) * 7)
}

/// Raises the importance of a preference that was said again; the stronger statement decides its kind.
fn strengthen_repeated(known: &mut UncheckedCandidate, again: UncheckedCandidate) {
    let quotes = supporting_quotes::dedup_and_cap(known.quotes.drain(..).chain(again.quotes.clone()).map(Some));
    if known.kind == MemoryKind::Lesson {
        *known = again;
    }
    known.quotes = quotes;
    known.importance = Importance::from_basis(ImportanceBasis::InsistedPreference, 2, false);
    known.importance_reason = Some("a person had to say it more than once".to_owned());
}

fn join_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
