//! From candidates to a commit: what is new is stored, what is known is seen again, and nothing is judged twice at once.

use super::adviser::Advice;
use super::archivist::{ArchivistService, Scene};
use super::meaning::foresee;
use super::outcome::{Effort, Learned, Skip};
use super::plan::Plan;
use crate::distill::Pair;
use crate::domain::{
    AgentMemory, Candidate, Distilled, DropReason, Dropped, Episode, EpisodeStatus, MemoryId, MemoryQuery,
    MemorySource, ReflectionScenario, ReflectionTrigger, Relation,
};
use crate::judge::{self, Background, Kin, Known, Opinions, Rules, Runs, Sign};
use crate::memory::{EpisodeFilter, FactFilter, Lesson, LessonName, MemoryError, Neighbour};

/// How often judging begins anew when somebody else wrote in between.
const CONFLICT_RETRIES: usize = 8;

/// What is known around one candidate.
#[derive(Debug)]
struct Near {
    lesson: Lesson,
    cosine: Option<f64>,
}

impl ArchivistService {
    /// Decides what became of each candidate, and commits it with the run's record.
    pub(super) async fn judge(
        &self,
        trigger: &ReflectionTrigger,
        scene: &Scene,
        distilled: Distilled,
    ) -> Result<Learned, Skip> {
        let mut dropped = distilled.dropped.clone();
        let candidates = self.weighed(scene, &distilled.candidates, &mut dropped);
        let opinions = self.opinions(scene, &candidates).await?;
        let mut tries = 0;
        loop {
            let turn = self.memory.turn().await?;
            let now = self.clock.now();
            let known = self.neighbourhoods(&candidates).await?;
            let verdicts = judge::judge(&candidates, &refer(&known), &self.rules(), &opinions);
            let episodes = self.memory.episodes(&EpisodeFilter::default()).await?;
            let mut plan = Plan::new(scene, &episodes, &self.project, source(&trigger.scenario), now);
            for ((candidate, verdict), known) in candidates.iter().zip(verdicts).zip(&known) {
                let known: Vec<&Lesson> = known.iter().map(|near| &near.lesson).collect();
                plan.carry_out(candidate, verdict, &known);
            }
            self.weigh_lessons(&mut plan, scene).await?;
            self.fill_in(&mut plan).await?;
            self.rise_and_fall(&mut plan, scene, &episodes).await?;
            let batch = plan.batch(&distilled, &candidates);
            match self.memory.commit_in(turn, batch, now).await {
                Err(error) if error.is_race() && tries < CONFLICT_RETRIES => tries += 1,
                committed => {
                    let receipt = committed?;
                    self.foresee().await;
                    plan.name(&receipt.lessons);
                    dropped.append(&mut plan.dropped);
                    let mut effort = Effort::from(&distilled);
                    if let Some((calls, usage)) = scene.advice.as_ref().and_then(Advice::spent) {
                        (effort.calls, effort.usage) = (calls, usage);
                    }
                    return Ok(plan.learned(effort, dropped));
                }
            }
        }
    }

    fn rules(&self) -> Rules {
        Rules { thresholds: self.habits.thresholds, background: Background::default() }
    }

    /// Candidates whose importance is what the signals bear out; what then matters too little is dropped.
    fn weighed(&self, scene: &Scene, candidates: &[Candidate], dropped: &mut Vec<Dropped>) -> Vec<Candidate> {
        let context = &scene.context;
        let signs: Vec<Sign<'_>> = context
            .signals
            .iter()
            .map(|signal| Sign {
                kind: signal.kind.as_str(),
                family: signal.error_family.as_ref(),
                times: signal.times,
            })
            .collect();
        let has_failed = context.episode.status == EpisodeStatus::Failed;
        let mut weighed = Vec::new();
        for candidate in candidates {
            let footing = judge::ground_of(candidate, &signs);
            let prior = judge::prior(footing.ground, footing.times, has_failed);
            let importance = judge::held(candidate.importance, prior, self.habits.leeway);
            if importance.value() < self.habits.archivist.min_importance_to_persist {
                let detail = format!("importance {importance}");
                let summary = candidate.summary.clone();
                dropped.push(Dropped { summary, why: DropReason::Unimportant, detail });
            } else {
                weighed.push(Candidate { importance, ..candidate.clone() });
            }
        }
        weighed.sort_by(|a, b| b.importance.value().total_cmp(&a.importance.value()));
        weighed
    }

    /// What a model thinks of the pairs that rules alone cannot decide. Asked before the turn is taken: it may take long.
    async fn opinions(&self, scene: &Scene, candidates: &[Candidate]) -> Result<Opinions, Skip> {
        let known = self.neighbourhoods(candidates).await?;
        let doubts = judge::doubts(candidates, &refer(&known), &self.rules());
        let mut opinions = Opinions::default();
        let mut open = Vec::new();
        for (index, id) in doubts {
            let Some(candidate) = candidates.get(index) else { continue };
            if candidate.near.contains(&id) {
                opinions.insert((index, id), Kin::Same);
            } else if let Some(near) =
                known.get(index).and_then(|near| near.iter().find(|one| one.lesson.memory.id == id))
            {
                open.push((index, id, near.lesson.memory.clone(), candidate));
            }
        }
        let Some(advice) = scene.advice.as_ref().filter(|_| !open.is_empty()) else { return Ok(opinions) };
        let pair = |(_, _, memory, candidate): &(usize, MemoryId, AgentMemory, &Candidate)| Pair {
            known: saying(&memory.summary, memory.rule.as_deref()),
            new: saying(&candidate.summary, candidate.rule.as_deref()),
        };
        let pairs: Vec<Pair> = open.iter().map(pair).collect();
        let answers = advice.compare(&pairs, &self.redactor).await;
        for ((index, id, ..), answer) in open.into_iter().zip(answers) {
            let kin = match answer {
                Some(Relation::Same) => Kin::Same,
                Some(Relation::Refines) => Kin::Refines,
                Some(Relation::Contradicts) => Kin::Contradicts,
                Some(Relation::Similar | Relation::Other(_)) => Kin::Similar,
                None => continue,
            };
            opinions.insert((index, id), kin);
        }
        Ok(opinions)
    }

    /// The lessons nearest to each candidate, and those on the same failure.
    async fn neighbourhoods(&self, candidates: &[Candidate]) -> Result<Vec<Vec<Near>>, MemoryError> {
        let mut all = Vec::new();
        for candidate in candidates {
            let mut question = self.project.question();
            question.text = Some(saying(&candidate.summary, candidate.rule.as_deref()));
            question.facets.error_family.clone_from(&candidate.facets.error_family);
            let near: Vec<Neighbour> = self.memory.neighbours(&question, self.habits.neighbours).await?;
            let cosines = self.cosines(&question, &near).await;
            let near = near.into_iter().zip(cosines).map(|(near, cosine)| Near { lesson: near.lesson, cosine });
            all.push(near.collect());
        }
        Ok(all)
    }

    /// How close the question is to each lesson in meaning, where a model of meanings is there.
    async fn cosines(&self, question: &MemoryQuery, near: &[Neighbour]) -> Vec<Option<f64>> {
        let unknown = vec![None; near.len()];
        let (Some(embedder), Some(text)) = (&self.embedder, &question.text) else { return unknown };
        let lessons = near.iter().map(|one| saying(&one.lesson.memory.summary, one.lesson.memory.rule.as_deref()));
        let texts: Vec<String> = std::iter::once(text.clone()).chain(lessons).collect();
        match embedder.embed(&texts).await {
            Ok(vectors) => match vectors.split_first() {
                Some((own, others)) => others.iter().map(|other| Some(f64::from(own.cosine(other)))).collect(),
                None => unknown,
            },
            Err(error) => {
                tracing::warn!(%error, "lessons are compared by their words alone");
                unknown
            }
        }
    }

    /// Lets what was written be found by its meaning. A question does so, too: whatever fails here is made up for there.
    async fn foresee(&self) {
        if let Some(embedder) = &self.embedder
            && let Err(error) = foresee(&*self.memory, embedder.as_ref()).await
        {
            tracing::warn!(%error, "lessons are left without vectors for now");
        }
    }

    /// Reads the lessons that are to change and were not among the neighbours.
    async fn fill_in(&self, plan: &mut Plan<'_>) -> Result<(), MemoryError> {
        for id in plan.missing() {
            if let Some(lesson) = self.memory.get(&LessonName::Id(id)).await? {
                plan.know(&lesson);
            }
        }
        Ok(())
    }

    /// Where each lesson that was touched stands now.
    async fn rise_and_fall(&self, plan: &mut Plan<'_>, scene: &Scene, episodes: &[Episode]) -> Result<(), MemoryError> {
        let finished = episodes.iter().filter(|one| one.id != scene.context.episode.id).map(|one| one.finished_at);
        let runs = Runs::new(finished.chain([scene.context.episode.finished_at]));
        for id in plan.touched() {
            let stored = self.memory.facts(&FactFilter { memory: Some(id.clone()), run: None }).await?;
            plan.stand(&id, &stored, &runs, &self.habits.lifecycle);
        }
        Ok(())
    }
}

fn source(scenario: &ReflectionScenario) -> MemorySource {
    match scenario {
        ReflectionScenario::HealerInvocation => MemorySource::Healer,
        _ => MemorySource::Archivist,
    }
}

fn refer(known: &[Vec<Near>]) -> Vec<Vec<Known<'_>>> {
    known
        .iter()
        .map(|near| near.iter().map(|one| Known { memory: &one.lesson.memory, cosine: one.cosine }).collect())
        .collect()
}

pub(super) fn saying(summary: &str, rule: Option<&str>) -> String {
    rule.map_or_else(|| summary.to_owned(), |rule| format!("{summary}\n{rule}"))
}
