//! What is said of lessons after a run: they held, they were noise, or the run that had them ended this way.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Desk, Refusal};
use crate::domain::{AgentMemory, Alias, EpisodeId, EvidenceLevel, Fact, FeedbackVerdict, MemoryId, RunId, Timestamp};
use crate::judge::{Citation, level_of};
use crate::memory::{FactFilter, LessonName};
use crate::service::{JudgedLesson, Judgement, OUTCOME_ROLE, episode_of, judge_lessons, shown_to};
use crate::text::one_line;

/// A file that is cited is looked into no further than this.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Lines move while people work: the words may stand so many lines from where they are said to.
const DRIFT: usize = 3;

/// What somebody says of lessons.
#[derive(Debug, Clone)]
pub struct Opinion {
    /// Whether they held or were noise.
    pub verdict: FeedbackVerdict,
    /// Who says so.
    pub role: Option<String>,
    /// In which run, and what shows it.
    pub evidence: Evidence,
}

/// A run, and what shows how it went.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The run, as its agent or its orchestrator names it.
    pub run: RunId,
    /// What shows it: a command with what it printed, or a file:line with words of that line.
    pub text: Option<String>,
    /// How strong the proof is by somebody's word; where there is a text, the weaker of the two counts.
    pub stated: Option<EvidenceLevel>,
}

/// What was noted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Noted {
    /// Which lesson.
    pub id: MemoryId,
    /// What people call it.
    pub alias: Option<Alias>,
    /// What it says.
    pub summary: String,
    /// The run.
    pub run: RunId,
    /// The run as it is known here.
    pub episode: EpisodeId,
    /// How it was judged.
    pub verdict: FeedbackVerdict,
    /// How much that counts.
    pub weight: f64,
    /// By whom.
    pub role: Option<String>,
    /// How well it is proved.
    pub level: EvidenceLevel,
    /// Whether it is new.
    pub written: bool,
    /// Whether it had held before and is called noise now.
    pub regression: bool,
}

impl Noted {
    fn of(one: JudgedLesson, run: &RunId, episode: &EpisodeId, judgement: &Judgement) -> Self {
        Self {
            id: one.memory.id,
            alias: one.memory.alias,
            summary: one.memory.summary,
            run: run.clone(),
            episode: episode.clone(),
            verdict: judgement.verdict.clone(),
            weight: judgement.weight,
            role: judgement.role.clone(),
            level: judgement.level.clone(),
            written: !one.is_known,
            regression: one.is_regression,
        }
    }
}

impl Desk {
    /// Notes what somebody says of lessons. That one held counts only with proof.
    pub async fn feedback(
        &self,
        names: &[LessonName],
        opinion: &Opinion,
        now: Timestamp,
    ) -> Result<Vec<Noted>, Refusal> {
        let lessons = self.lessons_named(names).await?.into_iter().map(|lesson| lesson.memory).collect();
        let (weight, level) = match opinion.verdict {
            FeedbackVerdict::Validated => (1.0, self.proof(&opinion.evidence)?),
            _ => (self.config().feedback.weights.of(opinion.role.as_deref()), self.level(&opinion.evidence)),
        };
        let judgement = Judgement { verdict: opinion.verdict.clone(), weight, role: opinion.role.clone(), level };
        self.judge(lessons, &opinion.evidence.run, &judgement, now).await
    }

    /// Notes how a run ended, for every lesson that it was given.
    pub async fn outcome(&self, evidence: &Evidence, passed: bool, now: Timestamp) -> Result<Vec<Noted>, Refusal> {
        let mut lessons = shown_to(&*self.memory, &evidence.run).await?;
        lessons.retain(|memory| self.sees(memory));
        if lessons.is_empty() {
            return Ok(Vec::new());
        }
        let judgement = match passed {
            true => Judgement::of_run(FeedbackVerdict::Validated, 1.0, self.proof(evidence)?),
            false => {
                Judgement::of_run(FeedbackVerdict::Ignored, self.config().feedback.failed_run, self.level(evidence))
            }
        };
        self.unless_told_otherwise(&lessons, &evidence.run, &judgement).await?;
        self.judge(lessons, &evidence.run, &judgement, now).await
    }

    /// A run ends once.
    async fn unless_told_otherwise(
        &self,
        lessons: &[AgentMemory],
        run: &RunId,
        judgement: &Judgement,
    ) -> Result<(), Refusal> {
        let ended = self.ended(run).await?;
        for memory in lessons {
            let facts = self.memory.facts(&FactFilter { memory: Some(memory.id.clone()), run: None }).await?;
            let is_other = |fact: &Fact| {
                matches!(fact, Fact::Feedback { episode, verdict, role, .. }
                    if *episode == ended && *verdict != judgement.verdict && *role == judgement.role)
            };
            if facts.iter().any(is_other) {
                let ended = if judgement.verdict == FeedbackVerdict::Validated { "failed" } else { "passed" };
                let message = format!("run {run} is noted as one that {ended}");
                return Err(Refusal::impossible(message, "a run ends once; nothing was noted"));
            }
        }
        Ok(())
    }

    async fn judge(
        &self,
        lessons: Vec<AgentMemory>,
        run: &RunId,
        judgement: &Judgement,
        now: Timestamp,
    ) -> Result<Vec<Noted>, Refusal> {
        let episode = self.ended(run).await?;
        let judged = judge_lessons(&*self.memory, lessons, &episode, judgement, now).await?;
        Ok(judged.into_iter().map(|one| Noted::of(one, run, &episode, judgement)).collect())
    }

    /// The run as it is known here, or will be.
    async fn ended(&self, run: &RunId) -> Result<EpisodeId, Refusal> {
        if let Some(episode) = episode_of(&*self.memory, run).await? {
            return Ok(episode.id);
        }
        let root = self.project().root_text();
        Ok(EpisodeId::of_session(self.project().repo_id.as_deref().unwrap_or(&root), run.as_str()))
    }

    /// How strong the proof is. Nothing at all is reasoning.
    fn level(&self, evidence: &Evidence) -> EvidenceLevel {
        let root = &self.project().root;
        let shown = evidence.text.as_deref().map(|text| level_of(text, |citation| stands(citation, root)));
        evidence.stated.clone().max(shown).unwrap_or_default()
    }

    /// The same where only proof will do.
    fn proof(&self, evidence: &Evidence) -> Result<EvidenceLevel, Refusal> {
        match self.level(evidence) {
            level @ (EvidenceLevel::Execution | EvidenceLevel::Citation) => Ok(level),
            _ => {
                let found = match evidence.text {
                    Some(_) => "the evidence shows no output and cites no line that is there",
                    None => "there is no evidence",
                };
                Err(Refusal::impossible(
                    format!("{found}: reasoning does not validate a lesson"),
                    "give --evidence with a command and what it printed, or a file:line with words of that line",
                ))
            }
        }
    }
}

/// Whoever gives an opinion, in one word.
pub fn role(text: &str) -> Result<String, String> {
    let text = one_line(text).to_lowercase();
    match text.as_str() {
        "" => Err("a role is one word, as in sentinel".to_owned()),
        OUTCOME_ROLE => Err("`archivist feedback outcome` says how a run ended".to_owned()),
        role if role.contains(' ') => Err("a role is one word, as in sentinel".to_owned()),
        _ => Ok(text),
    }
}

/// Whether words stand where they are said to, in a file of the project.
fn stands(citation: &Citation<'_>, root: &Path) -> bool {
    let (Ok(root), Ok(path)) = (root.canonicalize(), root.join(citation.path).canonicalize()) else { return false };
    if !path.starts_with(&root) {
        return false;
    }
    let is_fit = std::fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= MAX_FILE_BYTES);
    let Some(text) = is_fit.then(|| std::fs::read(&path).ok()).flatten() else { return false };
    let text = String::from_utf8_lossy(&text);
    let line = usize::try_from(citation.line).unwrap_or(usize::MAX);
    let (first, last) = (line.saturating_sub(1 + DRIFT), line.saturating_add(DRIFT));
    let wanted = one_line(citation.quote);
    text.lines().enumerate().any(|(at, line)| (first..last).contains(&at) && one_line(line).contains(&wanted))
}
