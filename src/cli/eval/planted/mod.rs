//! How well lessons are distilled, measured on sessions of which it is known what there is to learn.
//!
//! Scenarios (`fixtures/planted/*.toml`) become whole logs of several agents: half of them hold exactly one lesson, half
//! hold none. They are read back by the readers that read everything else. A set of somebody else's may stand in for
//! them: see [`from_dir`].

mod baseline;
mod render;
mod scenario;
mod score;
mod set;
mod weave;

#[cfg(test)]
#[path = "planted_tests.rs"]
mod tests;

use serde::{Deserialize, Serialize};

use crate::context::{Gathering, Inputs, ReflectionContext, Run};
use crate::domain::{MemoryCategory, SessionId, Timestamp};
use crate::ingest::{Format, Reading, Rules, Unreadable};
use crate::redact::Redactor;

use super::draw::Draw;
use scenario::{Book, Scenario};

pub(crate) use baseline::Baseline;
pub(crate) use scenario::{Half, Kind, ScenarioError};
pub(crate) use score::{Scores, Tally, Verdict, score, tally};
pub(crate) use set::from_dir;

/// A log, and what there is to learn from it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Session {
    /// Unique among those made together.
    pub name: String,
    /// What the log is written in.
    pub format: Format,
    /// Which half of the scenarios it belongs to.
    pub half: Half,
    /// What there is to learn.
    pub kind: Kind,
    /// The log, byte for byte.
    pub log: Vec<u8>,
    /// The lesson; nothing, if it is a routine session.
    pub expect: Option<Expectation>,
}

/// What a lesson must say to be the one that was planted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Expectation {
    /// What sort of lesson, for whoever wants figures by it.
    #[serde(default = "other")]
    pub kind: Kind,
    /// Of every group one must stand in its summary, rule or detail, in any letter case.
    pub mention: Vec<Vec<String>>,
    /// Steps that prove it, counted from 1: one of its quotes must stand in one of them. None, if any proof will do.
    #[serde(default)]
    pub steps: Vec<u32>,
    /// Categories that fit; none, if any does. Another one is counted, not refused.
    #[serde(default)]
    pub category: Vec<MemoryCategory>,
    /// Whether it should have a rule. A missing one is counted, not refused.
    #[serde(default)]
    pub rule: bool,
}

fn other() -> Kind {
    Kind::Other
}

/// How many sessions there are when every scenario is told by every agent.
pub(crate) fn all_sessions() -> Result<usize, ScenarioError> {
    let lists = Lists::of(&Book::open()?);
    let longest = lists.0.iter().map(Vec::len).max().unwrap_or_default();
    Ok(longest * lists.0.len() * scenario::Agent::ALL.len())
}

/// Makes sessions. Of four in a row one is planted and one routine in each half; the same seed gives the same bytes.
pub(crate) fn sessions(seed: u64, count: usize) -> Result<Vec<Session>, ScenarioError> {
    let book = Book::open()?;
    let lists = Lists::of(&book);
    (0..count).map(|number| lists.session(&book, seed, number)).collect()
}

/// The scenarios by half, planted and routine.
struct Lists([Vec<usize>; 4]);

impl Lists {
    fn of(book: &Book) -> Self {
        let list = |half: Half, is_routine: bool| {
            let fits = |scenario: &Scenario| scenario.half == half && (scenario.kind == Kind::Routine) == is_routine;
            book.scenarios.iter().enumerate().filter(|(_, one)| fits(one)).map(|(index, _)| index).collect()
        };
        Self([list(Half::Dev, false), list(Half::Dev, true), list(Half::Held, false), list(Half::Held, true)])
    }

    /// The session of a number: lists in turn, in each list scenario by scenario, then the same by the next agent.
    fn session(&self, book: &Book, seed: u64, number: usize) -> Result<Session, ScenarioError> {
        let list = self.0.get(number % self.0.len()).map(Vec::as_slice).unwrap_or_default();
        let turn = number / self.0.len();
        let missing = || ScenarioError::of("any", "one of the halves is empty");
        let at = turn.checked_rem(list.len()).ok_or_else(missing)?;
        let round = turn / list.len();
        let scenario = list.get(at).and_then(|index| book.scenarios.get(*index)).ok_or_else(missing)?;
        let agents = scenario.agents();
        let agent = (at + round).checked_rem(agents.len()).and_then(|at| agents.get(at)).ok_or_else(missing)?;
        let mut draw = Draw::new(&[&seed.to_string(), &scenario.id, &round.to_string()]);
        let script = weave::weave(scenario, book, &mut draw)?;
        let rendered = render::render(&script, *agent);
        let expect = script.expect.as_ref().map(|expect| Expectation {
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
        Ok(Session {
            name: format!("{}-{}-{}-{round}", scenario.half.as_str(), scenario.id, agent.format().as_str()),
            format: agent.format(),
            half: scenario.half,
            kind: scenario.kind,
            log: rendered.log,
            expect,
        })
    }
}

/// What a reflection on a session looks at. Nothing is read but the log.
pub(crate) fn context(session: &Session, redactor: &Redactor, now: Timestamp) -> Result<ReflectionContext, Unreadable> {
    context_of_log(&session.name, &session.log, redactor, now)
}

/// Builds what a reflection on one log looks at. Nothing but its bytes is read.
pub(crate) fn context_of_log(
    log_name: &str,
    mut log: &[u8],
    redactor: &Redactor,
    now: Timestamp,
) -> Result<ReflectionContext, Unreadable> {
    let mut gathering = Gathering::new(redactor);
    let before = gathering.so_far();
    let format = Reading::new(Rules::default()).read(&mut log, &mut gathering)?;
    let summary = gathering.summary(&before, log_name, format.as_str());
    let gathered = gathering.finish();
    let about = gathered.trajectories.first().map(|trajectory| trajectory.about.clone()).unwrap_or_default();
    let named = about.session_id.as_deref().unwrap_or(log_name);
    let unnamed = || std::io::Error::new(std::io::ErrorKind::InvalidData, "the session's name cannot be one");
    let session_id = SessionId::parse(named).or_else(|_| SessionId::parse(log_name)).map_err(|_| unnamed())?;
    let run = Run {
        session_id,
        project_root: about.directory.unwrap_or_else(|| "/".to_owned()),
        repo_id: None,
        task_id: None,
        subtask_id: None,
        kind: None,
        outcome: None,
        now,
    };
    let inputs = Inputs {
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
