//! What became of the lessons that a run was given, or that were held back from it.

use super::archivist::{ArchivistService, Scene};
use super::plan::Plan;
use crate::context::{Action, ReflectionContext, Signal, SignalKind, is_look, parts};
use crate::domain::{Effect, Episode, Fact, MemoryId, RunId, Step, Timestamp};
use crate::ingest::FINDINGS;
use crate::memory::{FactFilter, LessonName, MemoryError};
use crate::recall::{self, Check, Course, Deed, Finding, Review, Trouble};

#[cfg(test)]
#[path = "effects_tests.rs"]
mod tests;

/// So many names of a run are asked for: its own, and those of its subagents.
const MAX_NAMES: usize = 16;

impl ArchivistService {
    /// Notes of each lesson that was chosen for this run what became of its matter.
    pub(super) async fn weigh_lessons(&self, plan: &mut Plan<'_>, scene: &Scene) -> Result<(), MemoryError> {
        // What several runs teach together is nobody's outcome.
        if scene.pattern.is_some() {
            return Ok(());
        }
        let mut course = None;
        for run in names_of(&scene.context.episode) {
            let facts = self.memory.facts(&FactFilter { memory: None, run: Some(run.clone()) }).await?;
            for (id, given) in chosen(&facts) {
                let Some(lesson) = self.memory.get(&LessonName::Id(id.clone())).await? else { continue };
                let course = course.get_or_insert_with(|| course_of(&scene.context));
                let seen = plan.seen_here(&id);
                let threshold = self.habits.audit_threshold;
                let effect = recall::outcome(&lesson.memory, given, course, &seen, threshold);
                tracing::debug!(lesson = %id, run = %run, %effect, "weighed");
                plan.weigh(&run, &id, effect);
            }
        }
        Ok(())
    }
}

/// What a run may have been called by whoever gave it lessons.
pub(super) fn names_of(episode: &Episode) -> Vec<RunId> {
    let names = [episode.session_id.as_str(), episode.id.as_str()];
    let names = names.into_iter().chain(episode.trajectories.iter().map(String::as_str));
    let mut known: Vec<RunId> = Vec::new();
    for run in names.filter_map(|name| RunId::parse(name).ok()) {
        if !known.contains(&run) && known.len() < MAX_NAMES {
            known.push(run);
        }
    }
    known
}

/// The lessons that were chosen for a run, each with the moment of its first choice.
pub(super) fn chosen(facts: &[Fact]) -> Vec<(MemoryId, Timestamp)> {
    let mut chosen: Vec<(MemoryId, Timestamp)> = Vec::new();
    for fact in facts {
        let Fact::Injection { memory, at, .. } = fact else { continue };
        match chosen.iter_mut().find(|(id, _)| id == memory) {
            Some((_, first)) => *first = (*first).min(*at),
            None => chosen.push((memory.clone(), *at)),
        }
    }
    chosen
}

/// What a run shows, in the words of whoever holds lessons against it.
pub(super) fn course_of(context: &ReflectionContext) -> Course {
    let mut course = Course::default();
    for signal in &context.signals {
        match signal.kind {
            SignalKind::VerificationFailed => course.check = Check::Failed,
            SignalKind::VerificationPassed => course.check = Check::Passed(last_seen(context, signal)),
            _ => {}
        }
        if is_trouble(&signal.kind) {
            let mut steps = signal.steps.clone();
            steps.push(signal.step);
            course.troubles.push(Trouble {
                family: signal.error_family.clone(),
                trajectory: name_of(context, signal.trajectory),
                steps,
                at: last_seen(context, signal),
            });
        }
    }
    for step in context.trajectories.iter().flat_map(|one| &one.steps).filter(|step| !step.copied) {
        course.deeds.extend(deeds(step).into_iter().map(|deed| (deed, step.at)));
        if let Some(findings) = step.extra.get(FINDINGS).and_then(serde_json::Value::as_array) {
            let found = findings.iter().filter_map(serde_json::Value::as_str);
            let found = found.map(|description| Finding { description: description.to_owned(), at: step.at });
            match &mut course.review {
                Review::Held(known) => known.extend(found),
                review @ Review::NotHeld => *review = Review::Held(found.collect()),
            }
        }
    }
    course
}

/// Whether a signal tells of something that should not have happened.
fn is_trouble(kind: &SignalKind) -> bool {
    kind.is_failure() || matches!(kind, SignalKind::Fixed | SignalKind::UserCorrection | SignalKind::VerificationFailed)
}

/// When the trouble was last seen, if that is known. What was mended was last seen before its last step.
fn last_seen(context: &ReflectionContext, signal: &Signal) -> Option<Timestamp> {
    let trajectory = context.trajectories.get(usize::try_from(signal.trajectory).ok()?)?;
    let rests_on = |step: &&Step| step.number == signal.step || signal.steps.contains(&step.number);
    let mut times: Vec<Timestamp> = trajectory.steps.iter().filter(rests_on).filter_map(|step| step.at).collect();
    times.sort_unstable();
    let mended = (signal.kind == SignalKind::Fixed && times.len() > 1).then(|| times.pop()).flatten();
    times.pop().or(mended)
}

/// A trajectory's name, as quotes have it.
fn name_of(context: &ReflectionContext, trajectory: u32) -> String {
    let about =
        usize::try_from(trajectory).ok().and_then(|index| context.trajectories.get(index)).map(|one| &one.about);
    about
        .and_then(|about| about.trajectory_id.clone().or_else(|| about.session_id.clone()))
        .unwrap_or_else(|| context.episode.session_id.as_str().to_owned())
}

/// What a step did. Looking around is no occasion for anything.
fn deeds(step: &Step) -> Vec<Deed> {
    let mut deeds = Vec::new();
    for call in &step.calls {
        deeds.push(Deed::Used(call.tool.clone()));
        match Action::of(&call.tool, &call.arguments) {
            Action::Run { command } if !is_look(&command) => {
                deeds.extend(parts(&command).iter().map(|part| Deed::Ran(part.words().to_vec())));
            }
            Action::Edit(changes) => deeds.extend(changes.into_iter().map(|change| Deed::Touched(change.path))),
            Action::Run { .. } | Action::Read { .. } | Action::Fetch | Action::Delegate | Action::Other => {}
        }
    }
    deeds
}

/// What counts of the effects that are told of one run.
pub(super) fn strongest<'f>(effects: impl IntoIterator<Item = &'f Effect>) -> Effect {
    effects.into_iter().min().cloned().unwrap_or(Effect::Unknown)
}
