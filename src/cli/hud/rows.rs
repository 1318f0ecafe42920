//! The lines of the lists: what is known, cleaned and cut once, so that drawing has nothing left to fear.

use chrono::TimeDelta;

use super::super::lesson::name;
use super::super::prose::one_line;
use crate::desk::{JobReport, Jobs, known_at};
use crate::domain::{AgentMemory, Episode, MemoryId, MemoryState, SessionId, Timestamp};
use crate::memory::{Lesson, Which};
use crate::service::Place;

/// Nobody reads more of one text on a screen; whatever is longer was not written for that.
const LONGEST_TEXT: usize = 4_000;

/// What is known of the memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// Lessons in use, the newest first.
    pub(super) lessons: Vec<Row>,
    /// Runs, the last first.
    pub(super) sessions: Vec<Row>,
    /// Lessons that wait for a person.
    pub(super) quarantine: Vec<Row>,
}

/// What is to be done, and whether anybody does it.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    pub(super) jobs: Vec<Row>,
    pub(super) is_worked: bool,
}

/// One line of a list.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// Tells it from all others of its list, also after the list was read anew.
    pub(super) key: String,
    /// What people call it, or how it stands.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) at: Timestamp,
    pub(super) subject: Subject,
    /// Everything that can be searched for.
    words: String,
}

/// What a line stands for.
#[derive(Debug, Clone)]
pub(super) enum Subject {
    Lesson { id: MemoryId, sessions: Vec<SessionId> },
    Run(Box<Episode>),
    Job(Box<JobReport>),
}

impl Known {
    /// Lessons, retired ones among them, and runs, each in the order of the desk.
    pub(super) fn of(lessons: Vec<Lesson>, episodes: Vec<Episode>) -> Self {
        let mut known = Self { sessions: episodes.into_iter().map(Row::of_run).collect(), ..Self::default() };
        for lesson in lessons {
            if lesson.memory.state == Some(MemoryState::Quarantined) {
                known.quarantine.push(Row::of_lesson(&lesson));
            } else if Which::Live.includes(lesson.memory.standing()) {
                known.lessons.push(Row::of_lesson(&lesson));
            }
        }
        known
    }

    /// Every lesson that is shown.
    pub(super) fn all_lessons(&self) -> impl Iterator<Item = &Row> {
        self.lessons.iter().chain(&self.quarantine)
    }
}

impl Waiting {
    /// What is open first, the oldest of each kind first; what is done last, and there the newest first.
    pub(super) fn of(jobs: Jobs, now: Timestamp) -> Self {
        let Jobs { is_worked, mut jobs } = jobs;
        jobs.sort_by_cached_key(|job| {
            let age = i128::from(job.age_seconds);
            (job.place, if job.place == Place::Done { age } else { -age }, job.subject().to_owned())
        });
        Self { is_worked, jobs: jobs.into_iter().map(|job| Row::of_job(job, now)).collect() }
    }
}

impl Row {
    fn of_lesson(lesson: &Lesson) -> Self {
        let memory = &lesson.memory;
        let AgentMemory { id, summary, rule, detail, tags, evidence, .. } = memory;
        let texts = [Some(id.as_str()), Some(summary), rule.as_deref(), detail.as_deref()];
        let words = texts.into_iter().flatten().chain(tags.iter().map(String::as_str));
        Self {
            words: searched([name(memory)].into_iter().chain(words)),
            key: id.to_string(),
            name: shown(name(memory)),
            text: shown(summary),
            at: known_at(lesson),
            subject: Subject::Lesson { id: id.clone(), sessions: evidence.session_ids.clone() },
        }
    }

    fn of_run(episode: Episode) -> Self {
        let session = episode.session_id.as_str();
        let task = episode.task_id.as_deref().unwrap_or_default();
        let (status, summary) = (episode.status.as_str(), episode.summary.as_str());
        let text = if summary.is_empty() { session } else { summary };
        Self {
            words: searched(
                [session, task, status, summary].into_iter().chain(episode.tags.iter().map(String::as_str)),
            ),
            key: episode.id.to_string(),
            name: shown(status),
            text: shown(text),
            at: episode.finished_at,
            subject: Subject::Run(Box::new(episode)),
        }
    }

    fn of_job(job: JobReport, now: Timestamp) -> Self {
        let place = job.place.as_str();
        let agent = job.agent.as_deref().unwrap_or_default();
        let (event, note) = (job.event.as_deref().unwrap_or_default(), job.note.as_deref().unwrap_or_default());
        let age = i64::try_from(job.age_seconds).ok().and_then(TimeDelta::try_seconds).unwrap_or_default();
        Self {
            words: searched([job.subject(), place, agent, event, note, &job.name]),
            key: job.name.clone(),
            name: place.to_owned(),
            text: shown(job.subject()),
            at: now.checked_sub_signed(age).unwrap_or(now),
            subject: Subject::Job(Box::new(job)),
        }
    }

    /// Whether each of these words stands somewhere in it.
    pub(super) fn holds(&self, words: &[String]) -> bool {
        words.iter().all(|word| self.words.contains(word.as_str()))
    }
}

/// The words of a search, as rows are searched for them.
pub(super) fn sought(search: &str) -> Vec<String> {
    search.split_whitespace().map(str::to_lowercase).collect()
}

/// A text as it may stand on a screen: one line, and no longer than anybody reads.
pub(super) fn shown(text: &str) -> String {
    let begin = bounded(text);
    let more = if begin.len() < text.len() { "…" } else { "" };
    format!("{}{more}", one_line(begin))
}

/// The beginning of a text, as much of it as anybody reads.
pub(super) fn bounded(text: &str) -> &str {
    let end = text.char_indices().nth(LONGEST_TEXT).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default()
}

fn searched<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    texts.into_iter().map(shown).collect::<Vec<_>>().join("\n").to_lowercase()
}
