//! Feedback on lessons after a session: an opinion on each lesson, or the outcome of the session that had them.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Archivist, RequestError};
use crate::domain::{AgentMemory, Alias, EpisodeId, EvidenceLevel, Fact, FeedbackVerdict, MemoryId, RunId, Timestamp};
use crate::files::read_small_file;
use crate::judge::{FileCitation, classify_evidence};
use crate::memory::{FactFilter, LessonName};
use crate::service::{
    JudgedLesson, LessonJudgement, OUTCOME_ROLE, find_episode_by_run, list_shown_lessons, record_judgement,
};
use crate::text::one_line;

/// The size up to which a cited file is read.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The number of lines that cited words may have moved from the cited line.
const DRIFT: usize = 3;

/// An opinion on lessons, given by a person or a program.
#[derive(Debug, Clone)]
pub struct LessonOpinion {
    /// The verdict: validated or ignored.
    pub verdict: FeedbackVerdict,
    /// The role that the opinion comes from.
    pub role: Option<String>,
    /// The session it is about, and its proof.
    pub evidence: FeedbackEvidence,
}

/// A session, and the proof of how it went.
#[derive(Debug, Clone)]
pub struct FeedbackEvidence {
    /// The session, as its agent or its orchestrator names it.
    pub run: RunId,
    /// The proof: a command with its output, or a file:line with words of that line.
    pub text: Option<String>,
    /// The claimed level of the proof; if there is also a text, the weaker of the two counts.
    pub stated: Option<EvidenceLevel>,
}

/// What was noted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Noted")]
pub struct RecordedFeedback {
    /// The id of the lesson.
    pub id: MemoryId,
    /// What people call it.
    pub alias: Option<Alias>,
    /// What it says.
    pub summary: String,
    /// The session it is about.
    pub run: RunId,
    /// The run as it is known here.
    pub episode: EpisodeId,
    /// How it was judged.
    pub verdict: FeedbackVerdict,
    /// How much that counts.
    pub weight: f64,
    /// The role that judged it.
    pub role: Option<String>,
    /// How well it is proved.
    pub level: EvidenceLevel,
    /// Whether it is new.
    pub written: bool,
    /// Whether it had held before and is called noise now.
    pub regression: bool,
}

impl RecordedFeedback {
    fn from_judged_lesson(one: JudgedLesson, run: &RunId, episode: &EpisodeId, judgement: &LessonJudgement) -> Self {
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

impl Archivist {
    /// Records an opinion on lessons. Validating a lesson requires proof.
    pub async fn feedback(
        &self,
        names: &[LessonName],
        opinion: &LessonOpinion,
    ) -> Result<Vec<RecordedFeedback>, RequestError> {
        let now = self.now();
        let lessons = self.get_lessons(names).await?.into_iter().map(|lesson| lesson.memory).collect();
        let (weight, level) = match opinion.verdict {
            FeedbackVerdict::Validated => (1.0, self.require_proof(&opinion.evidence)?),
            _ => (
                self.config().feedback.weights.weight_for_role(opinion.role.as_deref()),
                self.evidence_level(&opinion.evidence),
            ),
        };
        let judgement = LessonJudgement { verdict: opinion.verdict.clone(), weight, role: opinion.role.clone(), level };
        self.store_judgement(lessons, &opinion.evidence.run, &judgement, now).await
    }

    /// Records how a session ended, for every lesson that it was given.
    pub async fn record_session_outcome(
        &self,
        evidence: &FeedbackEvidence,
        passed: bool,
    ) -> Result<Vec<RecordedFeedback>, RequestError> {
        let now = self.now();
        let mut lessons = list_shown_lessons(&*self.memory, &evidence.run).await?;
        lessons.retain(|memory| self.sees_lesson(memory));
        if lessons.is_empty() {
            return Ok(Vec::new());
        }
        let judgement = match passed {
            true => LessonJudgement::from_outcome(FeedbackVerdict::Validated, 1.0, self.require_proof(evidence)?),
            false => LessonJudgement::from_outcome(
                FeedbackVerdict::Ignored,
                self.config().feedback.failed_run,
                self.evidence_level(evidence),
            ),
        };
        self.reject_contradicting_outcome(&lessons, &evidence.run, &judgement).await?;
        self.store_judgement(lessons, &evidence.run, &judgement, now).await
    }

    /// Returns an error if the opposite outcome is already recorded for this session.
    async fn reject_contradicting_outcome(
        &self,
        lessons: &[AgentMemory],
        run: &RunId,
        judgement: &LessonJudgement,
    ) -> Result<(), RequestError> {
        let ended = self.resolve_episode_id(run).await?;
        for memory in lessons {
            let facts = self.memory.list_facts(&FactFilter { memory: Some(memory.id.clone()), run: None }).await?;
            let is_other = |fact: &Fact| {
                matches!(fact, Fact::Feedback { episode, verdict, role, .. }
                    if *episode == ended && *verdict != judgement.verdict && *role == judgement.role)
            };
            if facts.iter().any(is_other) {
                let ended = if judgement.verdict == FeedbackVerdict::Validated { "failed" } else { "passed" };
                let message = format!("run {run} is noted as one that {ended}");
                return Err(RequestError::impossible_request(message, "a run ends once; nothing was noted"));
            }
        }
        Ok(())
    }

    async fn store_judgement(
        &self,
        lessons: Vec<AgentMemory>,
        run: &RunId,
        judgement: &LessonJudgement,
        now: Timestamp,
    ) -> Result<Vec<RecordedFeedback>, RequestError> {
        let episode = self.resolve_episode_id(run).await?;
        let judged = record_judgement(&*self.memory, lessons, &episode, judgement, now).await?;
        Ok(judged.into_iter().map(|one| RecordedFeedback::from_judged_lesson(one, run, &episode, judgement)).collect())
    }

    /// Returns the id of the session's episode, computing it if the session has none yet.
    async fn resolve_episode_id(&self, run: &RunId) -> Result<EpisodeId, RequestError> {
        if let Some(episode) = find_episode_by_run(&*self.memory, run).await? {
            return Ok(episode.id);
        }
        let root = self.project().root_text();
        Ok(EpisodeId::for_session(self.project().repo_id.as_deref().unwrap_or(&root), run.as_str()))
    }

    /// Returns the level of the proof. Without any proof it is reasoning.
    fn evidence_level(&self, evidence: &FeedbackEvidence) -> EvidenceLevel {
        let root = &self.project().root;
        let shown = evidence
            .text
            .as_deref()
            .map(|text| classify_evidence(text, |citation| citation_matches_file(citation, root)));
        evidence.stated.clone().max(shown).unwrap_or_default()
    }

    /// Returns the level of the proof, or an error if it is only reasoning.
    fn require_proof(&self, evidence: &FeedbackEvidence) -> Result<EvidenceLevel, RequestError> {
        match self.evidence_level(evidence) {
            level @ (EvidenceLevel::Execution | EvidenceLevel::Citation) => Ok(level),
            _ => {
                let found = match evidence.text {
                    Some(_) => "the evidence shows no output and cites no line that is there",
                    None => "there is no evidence",
                };
                Err(RequestError::impossible_request(
                    format!("{found}: reasoning does not validate a lesson"),
                    "give --evidence with a command and what it printed, or a file:line with words of that line",
                ))
            }
        }
    }
}

/// Parses the one-word role that an opinion comes from.
pub fn parse_role(text: &str) -> Result<String, String> {
    let text = one_line(text).to_lowercase();
    match text.as_str() {
        "" => Err("a role is one word, as in sentinel".to_owned()),
        OUTCOME_ROLE => Err("`archivist feedback outcome` says how a run ended".to_owned()),
        role if role.contains(' ') => Err("a role is one word, as in sentinel".to_owned()),
        _ => Ok(text),
    }
}

/// Returns true if the quoted words are near the cited line, in a file of the project.
fn citation_matches_file(citation: &FileCitation<'_>, root: &Path) -> bool {
    let (Ok(root), Ok(path)) = (root.canonicalize(), root.join(citation.path).canonicalize()) else { return false };
    if !path.starts_with(&root) {
        return false;
    }
    let Ok(text) = read_small_file(&path, MAX_FILE_BYTES) else { return false };
    let text = String::from_utf8_lossy(&text);
    let line = usize::try_from(citation.line).unwrap_or(usize::MAX);
    let (first, last) = (line.saturating_sub(1 + DRIFT), line.saturating_add(DRIFT));
    let wanted = one_line(citation.quote);
    text.lines().enumerate().any(|(at, line)| (first..last).contains(&at) && one_line(line).contains(&wanted))
}
