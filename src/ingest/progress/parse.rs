//! From the notes' lines to what they say.

use super::{Progress, Tokens, without_lessons};
use crate::ingest::pick;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Start,
    Info,
    Orientation,
    Work,
    Claude,
    Next,
    Blockers,
    Notes,
    End,
}

/// What the next line without a label belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Previous(Field),
    Completed,
    InProgress,
    Files,
    Tools,
    InitOutput,
    Summary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Task,
    Completed,
    InProgress,
    Blockers,
    NextSteps,
}

/// Reads the notes; there is nothing that it refuses. Lessons that Archivist wrote into them are none of theirs.
pub fn parse(text: &str) -> Progress {
    let text = without_lessons(text);
    let mut parser = Parser { progress: Progress::default(), section: Section::Start, open: Open::Nothing };
    let mut is_code = false;
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence || is_code {
            parser.plain(line);
        } else {
            parser.line(line);
        }
        is_code ^= is_fence;
    }
    let mut progress = parser.progress;
    progress.notes = progress.notes.trim().to_owned();
    progress
}

struct Parser {
    progress: Progress,
    section: Section,
    open: Open,
}

impl Parser {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            if self.section == Section::Notes && !self.progress.notes.is_empty() {
                self.note("");
            }
            return;
        }
        if let Some(title) = heading(trimmed) {
            self.open = Open::Nothing;
            self.section = section(title);
            if self.section == Section::Notes && !title.eq_ignore_ascii_case("notes") {
                self.note(trimmed);
            }
            return;
        }
        if trimmed.len() >= 3 && trimmed.bytes().all(|byte| byte == b'-') {
            self.section = Section::End;
            self.open = Open::Nothing;
            return;
        }
        if let Some(("completed" | "completed at", value)) =
            label(trimmed).as_ref().map(|(label, v)| (label.as_str(), v))
            && bullet(trimmed).is_none()
            && (pick::moment_of(value).is_some() || value.eq_ignore_ascii_case("in progress"))
        {
            self.progress.completed_at = pick::moment_of(value);
            return;
        }
        if matches!(self.section, Section::Next | Section::Blockers) {
            self.item(trimmed);
        } else if let Some((label, value)) = label(trimmed)
            && self.labelled(&label, value)
        {
            // It found its place.
        } else {
            if bullet(trimmed).is_some_and(|item| item.starts_with("**")) {
                self.open = Open::Nothing;
            }
            self.plain(line);
        }
    }

    fn item(&mut self, line: &str) {
        let items =
            if self.section == Section::Next { &mut self.progress.next_steps } else { &mut self.progress.blockers };
        match (bullet(line), items.last_mut()) {
            (Some(item), _) => items.extend(something(item)),
            (None, Some(last)) => append(last, line),
            (None, None) => items.extend(something(line)),
        }
    }

    /// Whether the label is known where it stands.
    fn labelled(&mut self, label: &str, value: &str) -> bool {
        if let Open::Previous(_) = self.open
            && let Some(field) = previous_field(label)
        {
            self.open = Open::Previous(field);
            self.previous(field, value);
            return true;
        }
        let progress = &mut self.progress;
        let mut open = Open::Nothing;
        match (self.section, label) {
            (Section::Start | Section::Info, "session id" | "session") => progress.session_id = something(value),
            (Section::Start | Section::Info, "started" | "started at") => progress.started_at = pick::moment_of(value),
            (Section::Start | Section::Info, "task") => (progress.task_id, progress.task_title) = task(value),
            (Section::Orientation, "repo state") => progress.repo_state = something(value),
            (Section::Orientation, "tests passing at start") => progress.tests_passing_at_start = answer(value),
            (Section::Orientation, "init script") => progress.init_script = something(value),
            (Section::Orientation, "init output") => {
                progress.init_output = something(value);
                open = Open::InitOutput;
            }
            (Section::Orientation, "previous session") => {
                open = Open::Previous(Field::Task);
                let summary = something(value).unwrap_or_default();
                match self::label(&summary).and_then(|(label, value)| Some((previous_field(&label)?, value))) {
                    Some((field, value)) => {
                        open = Open::Previous(field);
                        self.previous(field, value);
                    }
                    None => self.previous(Field::Task, value),
                }
            }
            (Section::Work, "subtasks completed") => {
                progress.subtasks_completed = list(value);
                open = opened(value, Open::Completed);
            }
            (Section::Work, "subtasks in progress") => {
                progress.subtasks_in_progress = list(value);
                open = opened(value, Open::InProgress);
            }
            (Section::Work, "files modified") => {
                progress.files_modified = list(value);
                open = opened(value, Open::Files);
            }
            (Section::Work, "tests run") => progress.tests_run = answer(value),
            (Section::Work, "tests passing after work") => progress.tests_passing_after = answer(value),
            (Section::Work, "e2e run" | "e2e tests run") => progress.e2e_run = answer(value),
            (Section::Work, "e2e passing after work" | "e2e tests passing after work") => {
                progress.e2e_passing_after = answer(value);
            }
            (Section::Claude, _) => match self.claude(label, value) {
                Some(opened) => open = opened,
                None => return false,
            },
            _ => return false,
        }
        self.open = open;
        true
    }

    fn claude(&mut self, label: &str, value: &str) -> Option<Open> {
        let claude = self.progress.claude_session.get_or_insert_default();
        match label {
            "session id" => claude.session_id = something(value),
            "forked from" => claude.forked_from = something(value),
            "token usage" => claude.tokens = tokens(value),
            "cost" => claude.cost_usd = money(value),
            "tools used" => {
                claude.tools_used = list(value);
                return Some(opened(value, Open::Tools));
            }
            "summary" => {
                claude.summary = something(value);
                return Some(Open::Summary);
            }
            _ => return None,
        }
        Some(Open::Nothing)
    }

    fn previous(&mut self, field: Field, value: &str) {
        let previous = self.progress.previous_session.get_or_insert_default();
        match field {
            Field::Task => previous.task = something(value),
            Field::Completed => previous.completed = list(value),
            Field::InProgress => previous.in_progress = list(value),
            Field::Blockers => previous.blockers = something(value).into_iter().collect(),
            Field::NextSteps => previous.next_steps = value.split(';').filter_map(something).collect(),
        }
    }

    /// A line without a label that is known here.
    fn plain(&mut self, line: &str) {
        let trimmed = line.trim();
        let item = bullet(trimmed).unwrap_or(trimmed);
        let progress = &mut self.progress;
        match self.open {
            Open::Previous(field) => {
                let previous = progress.previous_session.get_or_insert_default();
                match field {
                    Field::Task => append(previous.task.get_or_insert_default(), item),
                    Field::Completed => previous.completed.extend(list(item)),
                    Field::InProgress => previous.in_progress.extend(list(item)),
                    Field::Blockers => match previous.blockers.last_mut() {
                        Some(last) => append(last, trimmed),
                        None => previous.blockers.extend(something(item)),
                    },
                    Field::NextSteps => previous.next_steps.extend(item.split(';').filter_map(something)),
                }
            }
            Open::Completed => progress.subtasks_completed.extend(list(item)),
            Open::InProgress => progress.subtasks_in_progress.extend(list(item)),
            Open::Files => progress.files_modified.extend(list(item)),
            Open::Tools => progress.claude_session.get_or_insert_default().tools_used.extend(list(item)),
            Open::InitOutput => append(progress.init_output.get_or_insert_default(), line.trim_end()),
            Open::Summary => {
                append(progress.claude_session.get_or_insert_default().summary.get_or_insert_default(), trimmed);
            }
            Open::Nothing if matches!(self.section, Section::Next | Section::Blockers) => self.item(trimmed),
            Open::Nothing => self.note(line.trim_end()),
        }
    }

    fn note(&mut self, line: &str) {
        self.progress.notes.push_str(line);
        self.progress.notes.push('\n');
    }
}

/// A list whose label has no value goes on in bullets.
fn opened(value: &str, list: Open) -> Open {
    if value.is_empty() { list } else { Open::Nothing }
}

fn append(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// The title of a heading.
fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    (title.len() < line.len() && title.starts_with([' ', '\t'])).then(|| title.trim())
}

fn section(title: &str) -> Section {
    match title.trim_end_matches(':').to_lowercase().as_str() {
        "session progress" => Section::Start,
        "session info" => Section::Info,
        "orientation" => Section::Orientation,
        "work done" => Section::Work,
        "claude code session" => Section::Claude,
        "next session should" | "next session" | "next steps" => Section::Next,
        "blockers" => Section::Blockers,
        _ => Section::Notes,
    }
}

fn previous_field(label: &str) -> Option<Field> {
    Some(match label {
        "previous task" | "task" => Field::Task,
        "completed" => Field::Completed,
        "in progress" => Field::InProgress,
        "blockers" | "blocker" => Field::Blockers,
        "next steps" | "next step" => Field::NextSteps,
        _ => return None,
    })
}

/// What stands behind a bullet.
fn bullet(line: &str) -> Option<&str> {
    ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim).or((line == "-").then_some(""))
}

/// `Label: value`, with or without a bullet, the label bold or not, the colon within or behind the stars.
fn label(line: &str) -> Option<(String, &str)> {
    let line = bullet(line).unwrap_or(line);
    let (label, value) = line.split_once(':')?;
    let value = value.trim_start_matches('*').trim();
    Some((label.trim().trim_matches('*').trim().to_lowercase(), value))
}

/// A value that is one.
fn something(value: &str) -> Option<String> {
    let value = value.trim();
    let is_nothing = value.is_empty() || value.eq_ignore_ascii_case("none") || value.eq_ignore_ascii_case("n/a");
    (!is_nothing).then(|| value.to_owned())
}

fn list(value: &str) -> Vec<String> {
    something(value).map_or_else(Vec::new, |value| value.split(',').filter_map(something).collect())
}

fn answer(value: &str) -> Option<bool> {
    match value.to_lowercase().split(|c: char| !c.is_alphanumeric()).next()? {
        "yes" | "true" | "passed" | "passing" => Some(true),
        "no" | "false" | "failed" | "failing" => Some(false),
        _ => None,
    }
}

/// `id - title`, each of which may be missing.
fn task(value: &str) -> (Option<String>, Option<String>) {
    let value = value.trim();
    match value.strip_suffix(" -").map(|id| (id, "")).or_else(|| value.split_once(" - ")) {
        Some((id, title)) => (something(id), something(title)),
        None if value.contains(char::is_whitespace) => (None, something(value.trim_start_matches("- "))),
        None => (something(value.trim_matches('-')).and(something(value)), None),
    }
}

/// `46 in, 1,376 out, 577,215 cache hits, 99,781 cache writes`. Whatever stands between digits only groups them.
fn tokens(value: &str) -> Tokens {
    let mut tokens = Tokens::default();
    let mut digits = String::new();
    let mut name = String::new();
    let mut settle = |digits: &mut String, name: &mut String| {
        let count = std::mem::take(digits).parse().ok();
        let place = match std::mem::take(name).to_lowercase() {
            name if name.contains("write") || name.contains("creat") => &mut tokens.cache_write,
            name if name.contains("cache") => &mut tokens.cache_read,
            name if name.starts_with("in") => &mut tokens.input,
            name if name.starts_with("out") => &mut tokens.output,
            _ => return,
        };
        *place = count.or(*place);
    };
    for word in value.split(char::is_whitespace).filter(|word| !word.is_empty()) {
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            if !name.is_empty() {
                settle(&mut digits, &mut name);
            }
            digits.extend(word.chars().filter(char::is_ascii_digit));
        } else {
            name.push_str(word);
        }
    }
    settle(&mut digits, &mut name);
    tokens
}

/// `$1.0217 USD`.
fn money(value: &str) -> Option<f64> {
    let digits: String = value.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.parse().ok().filter(|amount: &f64| amount.is_finite())
}
