//! The rows of the lists. Their texts are cleaned and shortened once, so that drawing needs no checks.

use chrono::TimeDelta;

use super::super::lesson_format::display_name;
use super::super::text_format::one_line;
use archivist_core::domain::{AgentMemory, Episode, MemoryId, MemoryState, SessionId, Timestamp};
use archivist_core::memory::{Lesson, LessonStateFilter};
use archivist_core::service::JobFolder;
use archivist_core::service::{JobQueueStatus, JobReport, last_confirmed_at};
use archivist_core::text::{JoinerPolicy, strip_hidden_text};

/// The most characters of one text that are shown.
const LONGEST_TEXT: usize = 4_000;

/// The rows that show the memory.
#[derive(Debug, Clone, Default)]
pub(super) struct MemoryRows {
    /// The lessons in use, the newest first.
    pub(super) lessons: Vec<ListRow>,
    /// The sessions, the latest first.
    pub(super) sessions: Vec<ListRow>,
    /// The quarantined lessons, which wait for a person.
    pub(super) quarantine: Vec<ListRow>,
}

/// The rows that show the queue, and whether a worker runs.
#[derive(Debug, Clone, Default)]
pub(super) struct QueueRows {
    pub(super) jobs: Vec<ListRow>,
    pub(super) is_worked: bool,
}

/// One row of a list.
#[derive(Debug, Clone)]
pub(super) struct ListRow {
    /// Identifies the row within its list, also after the list was read again.
    pub(super) key: String,
    /// The name of a lesson, or the status of a session or job.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) at: Timestamp,
    pub(super) subject: RowSubject,
    /// The text that searches look at.
    words: String,
}

/// The thing that a row stands for.
#[derive(Debug, Clone)]
pub(super) enum RowSubject {
    Lesson { id: MemoryId, sessions: Vec<SessionId> },
    Run(Box<Episode>),
    Job(Box<JobReport>),
}

impl MemoryRows {
    /// Creates the rows from lessons, including retired ones, and episodes, each in the given order.
    pub(super) fn from_memory(lessons: Vec<Lesson>, episodes: Vec<Episode>) -> Self {
        let mut known = Self { sessions: episodes.into_iter().map(ListRow::from_episode).collect(), ..Self::default() };
        for lesson in lessons {
            if lesson.memory.state == Some(MemoryState::Quarantined) {
                known.quarantine.push(ListRow::from_lesson(&lesson));
            } else if LessonStateFilter::Live.includes_state(lesson.memory.availability()) {
                known.lessons.push(ListRow::from_lesson(&lesson));
            }
        }
        known
    }

    /// Returns every lesson that is shown.
    pub(super) fn all_lessons(&self) -> impl Iterator<Item = &ListRow> {
        self.lessons.iter().chain(&self.quarantine)
    }
}

impl QueueRows {
    /// Creates the rows of the queue: open jobs first, the oldest of each place first; done jobs last, the newest
    /// first.
    pub(super) fn from_jobs(jobs: JobQueueStatus, now: Timestamp) -> Self {
        let JobQueueStatus { is_worked, mut jobs } = jobs;
        jobs.sort_by_cached_key(|job| {
            let age = i128::from(job.age_seconds);
            (job.place, if job.place == JobFolder::Done { age } else { -age }, job.display_name().to_owned())
        });
        Self { is_worked, jobs: jobs.into_iter().map(|job| ListRow::from_job(job, now)).collect() }
    }
}

impl ListRow {
    fn from_lesson(lesson: &Lesson) -> Self {
        let memory = &lesson.memory;
        let AgentMemory { id, summary, rule, detail, tags, evidence, .. } = memory;
        let texts = [Some(id.as_str()), Some(summary), rule.as_deref(), detail.as_deref()];
        let words = texts.into_iter().flatten().chain(tags.iter().map(String::as_str));
        Self {
            words: searchable_text([display_name(memory)].into_iter().chain(words)),
            key: id.to_string(),
            name: clean_line(display_name(memory)),
            text: clean_line(summary),
            at: last_confirmed_at(lesson),
            subject: RowSubject::Lesson { id: id.clone(), sessions: evidence.session_ids.clone() },
        }
    }

    fn from_episode(episode: Episode) -> Self {
        let session = episode.session_id.as_str();
        let task = episode.task_id.as_deref().unwrap_or_default();
        let (status, summary) = (episode.status.as_str(), episode.summary.as_str());
        let text = if summary.is_empty() { session } else { summary };
        Self {
            words: searchable_text(
                [session, task, status, summary].into_iter().chain(episode.tags.iter().map(String::as_str)),
            ),
            key: episode.id.to_string(),
            name: clean_line(status),
            text: clean_line(text),
            at: episode.finished_at,
            subject: RowSubject::Run(Box::new(episode)),
        }
    }

    fn from_job(job: JobReport, now: Timestamp) -> Self {
        let place = job.place.as_str();
        let agent = job.agent.as_deref().unwrap_or_default();
        let (event, note) = (job.event.as_deref().unwrap_or_default(), job.note.as_deref().unwrap_or_default());
        let age = i64::try_from(job.age_seconds).ok().and_then(TimeDelta::try_seconds).unwrap_or_default();
        Self {
            words: searchable_text([job.display_name(), place, agent, event, note, &job.name]),
            key: job.name.clone(),
            name: place.to_owned(),
            text: clean_line(job.display_name()),
            at: now.checked_sub_signed(age).unwrap_or(now),
            subject: RowSubject::Job(Box::new(job)),
        }
    }

    /// Returns true if the row contains each of these words.
    pub(super) fn matches_words(&self, words: &[String]) -> bool {
        words.iter().all(|word| self.words.contains(word.as_str()))
    }
}

/// Splits a search into lower-case words.
pub(super) fn search_words(search: &str) -> Vec<String> {
    search.split_whitespace().map(str::to_lowercase).collect()
}

/// Returns the text as one clean line of limited length.
pub(super) fn clean_line(text: &str) -> String {
    let begin = truncate_text(text);
    let more = if begin.len() < text.len() { "…" } else { "" };
    format!("{}{more}", one_line(begin))
}

/// Returns the beginning of a text, up to the length limit.
pub(super) fn truncate_text(text: &str) -> &str {
    let end = text.char_indices().nth(LONGEST_TEXT).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default()
}

fn searchable_text<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let text = texts.into_iter().map(clean_line).collect::<Vec<_>>().join("\n").to_lowercase();
    strip_hidden_text(&text, JoinerPolicy::Remove).into_owned()
}
