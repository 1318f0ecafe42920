//! Turns candidates into a commit: new ones are stored, known ones count as sightings, and writers take turns.

use super::model_client::ModelSession;
use super::reflection_outcome::{DistillationEffort, ReflectionReport, SkipReason};
use super::reflection_plan::ReflectionPlan;
use super::reflection_service::{ArchivistService, COMPARED_EPISODES, PreparedReflection};
use super::semantic_search::embed_pending_lessons;
use crate::distill::ComparisonPair;
use crate::domain::{
    AgentMemory, Candidate, DistillationResult, DropReason, DroppedCandidate, Episode, EpisodeId, EpisodeStatus,
    Importance, MemoryId, MemoryQuery, MemorySource, ReflectionScenario, ReflectionTrigger, Relation,
};
use crate::judge::{
    self, DedupRules, JudgedRelation, KnownNeighbour, Opinions, PlainSignal, SessionEnds, WordFrequencies,
};
use crate::memory::{EpisodeFilter, FactFilter, Lesson, LessonName, LessonNeighbour, MemoryError};

/// The number of times judging is repeated when another process wrote in between.
const CONFLICT_RETRIES: usize = 8;

/// A stored lesson near a candidate.
#[derive(Debug)]
struct NearLesson {
    lesson: Lesson,
    cosine: Option<f64>,
}

impl ArchivistService {
    /// Judges each candidate, and commits the result with the session's episode.
    pub(super) async fn judge_candidates(
        &self,
        trigger: &ReflectionTrigger,
        prepared: &PreparedReflection,
        distilled: DistillationResult,
    ) -> Result<ReflectionReport, SkipReason> {
        let mut dropped = distilled.dropped.clone();
        let candidates = self.adjust_importance(prepared, &distilled.candidates, &mut dropped);
        let opinions = self.collect_model_opinions(prepared, &candidates).await?;
        let mut tries = 0;
        loop {
            let turn = self.memory.acquire_turn().await?;
            let now = self.clock.now();
            let known = self.find_neighbours(&candidates).await?;
            let verdicts =
                judge::judge_candidates(&candidates, &borrow_neighbours(&known), &self.judging_rules(), &opinions);
            let episodes = self.list_compared_episodes(&prepared.context.episode.id).await?;
            let mut plan =
                ReflectionPlan::new(prepared, &episodes, &self.project, lesson_source(&trigger.scenario), now);
            for ((candidate, verdict), known) in candidates.iter().zip(verdicts).zip(&known) {
                let known: Vec<&Lesson> = known.iter().map(|near| &near.lesson).collect();
                plan.apply_verdict(candidate, verdict, &known);
            }
            self.record_lesson_effects(&mut plan, prepared).await?;
            self.load_missing_lessons(&mut plan).await?;
            self.update_lesson_states(&mut plan, prepared, &episodes).await?;
            let batch = plan.build_batch(&distilled, &candidates);
            match self.memory.commit_in_turn(turn, batch, now).await {
                Err(error) if error.is_lost_race() && tries < CONFLICT_RETRIES => tries += 1,
                committed => {
                    let receipt = committed?;
                    self.embed_pending_lessons().await;
                    plan.assign_aliases(&receipt.lessons);
                    dropped.append(&mut plan.dropped);
                    let mut effort = DistillationEffort::from(&distilled);
                    if let Some((calls, usage)) = prepared.model_session.as_ref().and_then(ModelSession::spent_usage) {
                        (effort.calls, effort.usage) = (calls, usage);
                    }
                    return Ok(plan.into_report(effort, dropped));
                }
            }
        }
    }

    fn judging_rules(&self) -> DedupRules {
        DedupRules { thresholds: self.settings.thresholds, background: WordFrequencies::default() }
    }

    /// Limits the importance of candidates to what the signals support, and drops those that become too unimportant.
    fn adjust_importance(
        &self,
        prepared: &PreparedReflection,
        candidates: &[Candidate],
        dropped: &mut Vec<DroppedCandidate>,
    ) -> Vec<Candidate> {
        let context = &prepared.context;
        let signs: Vec<PlainSignal<'_>> = context
            .signals
            .iter()
            .map(|signal| PlainSignal {
                kind: signal.kind.as_str(),
                family: signal.error_family.as_ref(),
                times: signal.times,
            })
            .collect();
        let has_failed = context.episode.status == EpisodeStatus::Failed;
        let mut weighed = Vec::new();
        for candidate in candidates {
            let footing = judge::find_basis(candidate, &signs);
            let prior = Importance::from_basis(footing.basis, footing.times, has_failed);
            let importance = judge::clamp_to_prior(candidate.importance, prior, self.settings.leeway);
            if importance.value() < self.settings.archivist.min_importance_to_persist {
                let detail = format!("importance {importance}");
                let summary = candidate.summary.clone();
                dropped.push(DroppedCandidate { summary, why: DropReason::Unimportant, detail });
            } else {
                weighed.push(Candidate { importance, ..candidate.clone() });
            }
        }
        weighed.sort_by(|a, b| b.importance.value().total_cmp(&a.importance.value()));
        weighed
    }

    /// Asks a model about the pairs that rules cannot decide, before the memory is locked, since it may take long.
    async fn collect_model_opinions(
        &self,
        prepared: &PreparedReflection,
        candidates: &[Candidate],
    ) -> Result<Opinions, SkipReason> {
        let known = self.find_neighbours(candidates).await?;
        let doubts = judge::find_doubtful_pairs(candidates, &borrow_neighbours(&known), &self.judging_rules());
        let mut opinions = Opinions::default();
        let mut open = Vec::new();
        for (index, id) in doubts {
            let Some(candidate) = candidates.get(index) else { continue };
            if candidate.near.contains(&id) {
                opinions.insert((index, id), JudgedRelation::Same);
            } else if let Some(near) =
                known.get(index).and_then(|near| near.iter().find(|one| one.lesson.memory.id == id))
            {
                open.push((index, id, near.lesson.memory.clone(), candidate));
            }
        }
        let Some(model_session) = prepared.model_session.as_ref().filter(|_| !open.is_empty()) else {
            return Ok(opinions);
        };
        let pair = |(_, _, memory, candidate): &(usize, MemoryId, AgentMemory, &Candidate)| ComparisonPair {
            known: summary_with_rule(&memory.summary, memory.rule.as_deref()),
            new: summary_with_rule(&candidate.summary, candidate.rule.as_deref()),
        };
        let pairs: Vec<ComparisonPair> = open.iter().map(pair).collect();
        let answers = model_session.compare_pairs(&pairs, &self.redactor).await;
        for ((index, id, ..), answer) in open.into_iter().zip(answers) {
            let kin = match answer {
                Some(Relation::Same) => JudgedRelation::Same,
                Some(Relation::Refines) => JudgedRelation::Refines,
                Some(Relation::Contradicts) => JudgedRelation::Contradicts,
                Some(Relation::Similar | Relation::Other(_)) => JudgedRelation::Similar,
                None => continue,
            };
            opinions.insert((index, id), kin);
        }
        Ok(opinions)
    }

    /// Finds the lessons nearest to each candidate, and those with the same error family.
    async fn find_neighbours(&self, candidates: &[Candidate]) -> Result<Vec<Vec<NearLesson>>, MemoryError> {
        let mut all = Vec::new();
        for candidate in candidates {
            let mut question = self.project.new_query();
            question.text = Some(summary_with_rule(&candidate.summary, candidate.rule.as_deref()));
            question.facets.error_family.clone_from(&candidate.facets.error_family);
            let near: Vec<LessonNeighbour> = self.memory.find_neighbours(&question, self.settings.neighbours).await?;
            let cosines = self.compute_cosines(&question, &near).await;
            let near = near.into_iter().zip(cosines).map(|(near, cosine)| NearLesson { lesson: near.lesson, cosine });
            all.push(near.collect());
        }
        Ok(all)
    }

    /// Computes how similar each lesson is to the query in meaning, if there is an embedder.
    async fn compute_cosines(&self, question: &MemoryQuery, near: &[LessonNeighbour]) -> Vec<Option<f64>> {
        let unknown = vec![None; near.len()];
        let (Some(embedder), Some(text)) = (&self.embedder, &question.text) else { return unknown };
        let lessons =
            near.iter().map(|one| summary_with_rule(&one.lesson.memory.summary, one.lesson.memory.rule.as_deref()));
        let texts: Vec<String> = std::iter::once(text.clone()).chain(lessons).collect();
        match embedder.embed_texts(&texts).await {
            Ok(vectors) => match vectors.split_first() {
                Some((own, others)) => {
                    others.iter().map(|other| Some(f64::from(own.cosine_similarity(other)))).collect()
                }
                None => unknown,
            },
            Err(error) => {
                tracing::warn!(%error, "lessons are compared by their words alone");
                unknown
            }
        }
    }

    /// Embeds newly written lessons, so that they are found by meaning. On failure, the next query embeds them.
    async fn embed_pending_lessons(&self) {
        if let Some(embedder) = &self.embedder
            && let Err(error) = embed_pending_lessons(&*self.memory, embedder.as_ref()).await
        {
            tracing::warn!(%error, "lessons are left without vectors for now");
        }
    }

    /// Loads the lessons that will change and were not among the neighbours.
    async fn load_missing_lessons(&self, plan: &mut ReflectionPlan<'_>) -> Result<(), MemoryError> {
        for id in plan.missing_lessons() {
            if let Some(lesson) = self.memory.get_lesson(&LessonName::Id(id)).await? {
                plan.track_lesson(&lesson);
            }
        }
        Ok(())
    }

    /// Lists the last episodes and what is stored of this one, however long ago.
    async fn list_compared_episodes(&self, this: &EpisodeId) -> Result<Vec<Episode>, MemoryError> {
        let recent = self.memory.list_episodes(&EpisodeFilter::newest(COMPARED_EPISODES)).await?;
        if recent.iter().any(|episode| episode.id == *this) {
            return Ok(recent);
        }
        let filter = EpisodeFilter { id: Some(this.clone()), ..EpisodeFilter::default() };
        let mut episodes = self.memory.list_episodes(&filter).await?;
        episodes.extend(recent);
        Ok(episodes)
    }

    /// Updates the lifecycle state of each lesson in the plan.
    async fn update_lesson_states(
        &self,
        plan: &mut ReflectionPlan<'_>,
        prepared: &PreparedReflection,
        episodes: &[Episode],
    ) -> Result<(), MemoryError> {
        let finished = episodes.iter().filter(|one| one.id != prepared.context.episode.id).map(|one| one.finished_at);
        let runs = SessionEnds::new(finished.chain([prepared.context.episode.finished_at]));
        for id in plan.tracked_lessons() {
            let stored = self.memory.list_facts(&FactFilter { memory: Some(id.clone()), run: None }).await?;
            plan.update_state(&id, &stored, &runs, &self.settings.lifecycle);
        }
        Ok(())
    }
}

fn lesson_source(scenario: &ReflectionScenario) -> MemorySource {
    match scenario {
        ReflectionScenario::HealerInvocation => MemorySource::Healer,
        _ => MemorySource::Archivist,
    }
}

fn borrow_neighbours(known: &[Vec<NearLesson>]) -> Vec<Vec<KnownNeighbour<'_>>> {
    known
        .iter()
        .map(|near| near.iter().map(|one| KnownNeighbour { memory: &one.lesson.memory, cosine: one.cosine }).collect())
        .collect()
}

pub fn summary_with_rule(summary: &str, rule: Option<&str>) -> String {
    rule.map_or_else(|| summary.to_owned(), |rule| format!("{summary}\n{rule}"))
}
