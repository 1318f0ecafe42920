//! Records the effect of lessons that were injected into a session, or withheld from it.

use super::reflection_plan::ReflectionPlan;
use super::reflection_service::{ArchivistService, PreparedReflection};
use crate::context::{ReflectionContext, Signal, SignalKind, ToolAction, is_read_only_command, parse_shell_commands};
use crate::domain::{Effect, Episode, Fact, MemoryId, RunId, Step, Timestamp};
use crate::ingest::FINDINGS;
use crate::memory::{FactFilter, LessonName, MemoryError};
use crate::recall::{
    self, FinalCheck, ObservedAction, ObservedFailure, ObservedFinding, ObservedReview, ObservedSession,
};

#[cfg(test)]
#[path = "effect_recorder_tests.rs"]
mod tests;

/// The most run ids of one session: its own, and those of its subagents.
const MAX_NAMES: usize = 16;

impl ArchivistService {
    /// Records the effect of each lesson that was selected for this session.
    pub(super) async fn record_lesson_effects(
        &self,
        plan: &mut ReflectionPlan<'_>,
        prepared: &PreparedReflection,
    ) -> Result<(), MemoryError> {
        // A pattern reflection covers several sessions, so it has no outcome of its own.
        if prepared.pattern.is_some() {
            return Ok(());
        }
        let mut course = None;
        for run in episode_run_ids(&prepared.context.episode) {
            let facts = self.memory.list_facts(&FactFilter { memory: None, run: Some(run.clone()) }).await?;
            for (id, given) in list_first_injections(&facts) {
                let Some(lesson) = self.memory.get_lesson(&LessonName::Id(id.clone())).await? else { continue };
                let course = course.get_or_insert_with(|| summarize_course(&prepared.context));
                let seen = plan.sighting_quotes(&id);
                let threshold = self.settings.audit_threshold;
                let effect = recall::judge_lesson_effect(&lesson.memory, given, course, &seen, threshold);
                tracing::debug!(lesson = %id, run = %run, %effect, "weighed");
                plan.record_effect(&run, &id, effect);
            }
        }
        Ok(())
    }
}

/// Returns the run ids under which a session may have been given lessons.
pub(super) fn episode_run_ids(episode: &Episode) -> Vec<RunId> {
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

/// Lists the lessons that were selected for a session, each with the time of its first injection.
pub(super) fn list_first_injections(facts: &[Fact]) -> Vec<(MemoryId, Timestamp)> {
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

/// Summarizes a session for judging the effect of lessons on it.
pub(super) fn summarize_course(context: &ReflectionContext) -> ObservedSession {
    let mut course = ObservedSession::default();
    for signal in &context.signals {
        match signal.kind {
            SignalKind::VerificationFailed => course.check = FinalCheck::Failed,
            SignalKind::VerificationPassed => course.check = FinalCheck::Passed(last_seen_at(context, signal)),
            _ => {}
        }
        if is_failure_signal(&signal.kind) {
            let mut steps = signal.steps.clone();
            steps.push(signal.step);
            course.failures.push(ObservedFailure {
                family: signal.error_family.clone(),
                trajectory: trajectory_name(context, signal.trajectory),
                steps,
                at: last_seen_at(context, signal),
            });
        }
    }
    for step in context.trajectories.iter().flat_map(|one| &one.steps).filter(|step| !step.copied) {
        course.actions.extend(list_step_actions(step).into_iter().map(|action| (action, step.at)));
        if let Some(findings) = step.extra.get(FINDINGS).and_then(serde_json::Value::as_array) {
            let found = findings.iter().filter_map(serde_json::Value::as_str);
            let found = found.map(|description| ObservedFinding { description: description.to_owned(), at: step.at });
            match &mut course.review {
                ObservedReview::Held(known) => known.extend(found),
                review @ ObservedReview::NotHeld => *review = ObservedReview::Held(found.collect()),
            }
        }
    }
    course
}

/// Returns true if a signal shows something that should not have happened.
fn is_failure_signal(kind: &SignalKind) -> bool {
    kind.is_failure() || matches!(kind, SignalKind::Fixed | SignalKind::UserCorrection | SignalKind::VerificationFailed)
}

/// Returns when a failure was last seen, if known. A fixed failure was last seen before its last step.
fn last_seen_at(context: &ReflectionContext, signal: &Signal) -> Option<Timestamp> {
    let trajectory = context.trajectories.get(usize::try_from(signal.trajectory).ok()?)?;
    let rests_on = |step: &&Step| step.number == signal.step || signal.steps.contains(&step.number);
    let mut times: Vec<Timestamp> = trajectory.steps.iter().filter(rests_on).filter_map(|step| step.at).collect();
    times.sort_unstable();
    let mended = (signal.kind == SignalKind::Fixed && times.len() > 1).then(|| times.pop()).flatten();
    times.pop().or(mended)
}

/// Returns a trajectory's name as quotes use it.
fn trajectory_name(context: &ReflectionContext, trajectory: u32) -> String {
    let about =
        usize::try_from(trajectory).ok().and_then(|index| context.trajectories.get(index)).map(|one| &one.about);
    about
        .and_then(|about| about.trajectory_id.clone().or_else(|| about.session_id.clone()))
        .unwrap_or_else(|| context.episode.session_id.as_str().to_owned())
}

/// Lists the actions of a step. Commands that only look around are left out.
fn list_step_actions(step: &Step) -> Vec<ObservedAction> {
    let mut actions = Vec::new();
    for call in &step.calls {
        actions.push(ObservedAction::Used(call.tool.clone()));
        match ToolAction::from_call(&call.tool, &call.arguments) {
            ToolAction::Run { command } if !is_read_only_command(&command) => {
                actions.extend(
                    parse_shell_commands(&command)
                        .iter()
                        .map(|part| ObservedAction::Ran(part.command_words().to_vec())),
                );
            }
            ToolAction::Edit(changes) => {
                actions.extend(changes.into_iter().map(|change| ObservedAction::Touched(change.path)));
            }
            ToolAction::Run { .. }
            | ToolAction::Read { .. }
            | ToolAction::Fetch
            | ToolAction::Delegate
            | ToolAction::Other => {}
        }
    }
    actions
}

/// Returns the strongest of the effects recorded for one session.
pub(super) fn strongest_effect<'f>(effects: impl IntoIterator<Item = &'f Effect>) -> Effect {
    effects.into_iter().min().cloned().unwrap_or(Effect::Unknown)
}
