//! Measures distillation on sessions whose lessons are known in advance.
//!
//! Scenarios (`fixtures/planted/*.toml`) become whole logs of several agents: half of them contain exactly one lesson,
//! half contain none. They are read back by the same readers as all other logs. A labelled folder of the user's own can
//! replace them: see [`from_dir`].

mod baseline;
mod labelled_folders;
mod render;
mod scenario;
mod score;
mod session_script;

#[cfg(test)]
#[path = "planted_tests.rs"]
mod tests;

use serde::{Deserialize, Serialize};

use archivist_core::context::{LogGatherer, ReflectionContext, ReflectionInputs, SessionDescription};
use archivist_core::domain::{MemoryCategory, SessionId, Timestamp};
use archivist_core::ingest::{LogFormat, ReaderSettings, SessionReader, UnreadableLog};
use archivist_core::redact::Redactor;

use super::seeded_choice::SeededRandom;
use scenario::{PlantedScenario, ScenarioCatalog};

pub(crate) use baseline::BaselineDistiller;
pub(crate) use labelled_folders::from_dir;
pub(crate) use scenario::{PlantedLessonKind, ScenarioError, ScenarioHalf};
pub(crate) use score::{DistillScores, DistillTally, PlantedVerdict, score_candidates, tally_verdicts};

/// A log together with the lesson that can be learned from it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlantedSession {
    /// The name of the session, unique among those generated together.
    pub name: String,
    /// The format of the log.
    pub format: LogFormat,
    /// The half of the scenarios that it belongs to.
    pub half: ScenarioHalf,
    /// The kind of lesson that it contains.
    pub kind: PlantedLessonKind,
    /// The log, byte for byte.
    pub log: Vec<u8>,
    /// The expected lesson, or `None` for a routine session.
    pub expect: Option<ExpectedLesson>,
}

/// The words and proof that a lesson needs to be the planted one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ExpectedLesson {
    /// The kind of lesson, for figures by kind.
    #[serde(default = "default_lesson_kind")]
    pub kind: PlantedLessonKind,
    /// Groups of words; one of each group must occur in the summary, rule or detail, in any letter case.
    pub mention: Vec<Vec<String>>,
    /// The steps that prove it, counted from 1, one of which it must quote; if empty, any proof will do.
    #[serde(default)]
    pub steps: Vec<u32>,
    /// The categories that fit, or none if any does; another category is counted, not refused.
    #[serde(default)]
    pub category: Vec<MemoryCategory>,
    /// True if the lesson should have a rule; a missing rule is counted, not refused.
    #[serde(default)]
    pub rule: bool,
}

fn default_lesson_kind() -> PlantedLessonKind {
    PlantedLessonKind::Other
}

/// Returns the number of sessions that are needed to render every scenario by every agent.
pub(crate) fn count_all_sessions() -> Result<usize, ScenarioError> {
    let lists = ScenarioLists::from_catalog(&ScenarioCatalog::open()?);
    let longest = lists.0.iter().map(Vec::len).max().unwrap_or_default();
    Ok(longest * lists.0.len() * scenario::ScenarioAgent::ALL.len())
}

/// Generates sessions, the same for the same seed: of four in a row, one is planted and one routine in each half.
pub(crate) fn generate_sessions(seed: u64, count: usize) -> Result<Vec<PlantedSession>, ScenarioError> {
    let book = ScenarioCatalog::open()?;
    let lists = ScenarioLists::from_catalog(&book);
    (0..count).map(|number| lists.generate_session(&book, seed, number)).collect()
}

/// The indexes of the scenarios by half, planted and routine.
struct ScenarioLists([Vec<usize>; 4]);

impl ScenarioLists {
    fn from_catalog(book: &ScenarioCatalog) -> Self {
        let list = |half: ScenarioHalf, is_routine: bool| {
            let fits = |scenario: &PlantedScenario| {
                scenario.half == half && (scenario.kind == PlantedLessonKind::Routine) == is_routine
            };
            book.scenarios.iter().enumerate().filter(|(_, one)| fits(one)).map(|(index, _)| index).collect()
        };
        Self([
            list(ScenarioHalf::Dev, false),
            list(ScenarioHalf::Dev, true),
            list(ScenarioHalf::Held, false),
            list(ScenarioHalf::Held, true),
        ])
    }

    /// Generates the session with this number: lists in turn, in each list all scenarios, then again by the next agent.
    fn generate_session(
        &self,
        book: &ScenarioCatalog,
        seed: u64,
        number: usize,
    ) -> Result<PlantedSession, ScenarioError> {
        let list = self.0.get(number % self.0.len()).map(Vec::as_slice).unwrap_or_default();
        let turn = number / self.0.len();
        let missing = || ScenarioError::for_scenario("any", "one of the halves is empty");
        let at = turn.checked_rem(list.len()).ok_or_else(missing)?;
        let round = turn / list.len();
        let scenario = list.get(at).and_then(|index| book.scenarios.get(*index)).ok_or_else(missing)?;
        let agents = scenario.possible_agents();
        let agent = (at + round).checked_rem(agents.len()).and_then(|at| agents.get(at)).ok_or_else(missing)?;
        let mut draw = SeededRandom::new(&[&seed.to_string(), &scenario.id, &round.to_string()]);
        let script = session_script::build_script(scenario, book, &mut draw)?;
        let rendered = render::render_script(&script, *agent);
        let expect = script.expect.as_ref().map(|expect| ExpectedLesson {
            kind: scenario.kind,
            mention: expect.mention.clone(),
            steps: script
                .turns
                .iter()
                .zip(&rendered.steps)
                .filter(|(turn, _)| expect.proof.contains(&turn.mark))
                .map(|(_, step)| *step)
                .collect(),
            category: expect.category.clone(),
            rule: expect.rule,
        });
        Ok(PlantedSession {
            name: format!("{}-{}-{}-{round}", scenario.half.as_str(), scenario.id, agent.log_format().as_str()),
            format: agent.log_format(),
            half: scenario.half,
            kind: scenario.kind,
            log: rendered.log,
            expect,
        })
    }
}

/// Builds the context of a reflection on a session from its log alone.
pub(crate) fn build_session_context(
    session: &PlantedSession,
    redactor: &Redactor,
    now: Timestamp,
) -> Result<ReflectionContext, UnreadableLog> {
    build_log_context(&session.name, &session.log, redactor, now)
}

/// Builds the context of a reflection on one log from its bytes alone.
pub(crate) fn build_log_context(
    log_name: &str,
    mut log: &[u8],
    redactor: &Redactor,
    now: Timestamp,
) -> Result<ReflectionContext, UnreadableLog> {
    let mut gathering = LogGatherer::new(redactor);
    let before = gathering.current_progress();
    let format = SessionReader::new(ReaderSettings::default()).read_log(&mut log, &mut gathering)?;
    let summary = gathering.summarize_since(&before, log_name, format.as_str());
    let gathered = gathering.finish();
    let about = gathered.trajectories.first().map(|trajectory| trajectory.about.clone()).unwrap_or_default();
    let named = about.session_id.as_deref().unwrap_or(log_name);
    let unnamed = || std::io::Error::new(std::io::ErrorKind::InvalidData, "the session's name cannot be one");
    let session_id = SessionId::parse(named).or_else(|_| SessionId::parse(log_name)).map_err(|_| unnamed())?;
    let run = SessionDescription {
        session_id,
        project_root: about.directory.unwrap_or_else(|| "/".to_owned()),
        repo_id: None,
        task_id: None,
        subtask_id: None,
        kind: None,
        outcome: None,
        now,
    };
    let inputs = ReflectionInputs {
        run,
        gathered,
        sessions: vec![summary],
        config: None,
        progress_md: None,
        apm_snapshot: None,
        episodes: Vec::new(),
        memories: Vec::new(),
    };
    Ok(ReflectionContext::build(inputs, redactor))
}
