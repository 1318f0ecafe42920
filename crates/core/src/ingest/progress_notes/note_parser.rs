//! Parses the lines of the progress notes.

use super::{ProgressNotes, ProgressTokenCounts, strip_lesson_sections};
use crate::ingest::json_fields;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotesSection {
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

/// The field that the next line without a label belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenNotesField {
    Nothing,
    Previous(PreviousSessionField),
    Completed,
    InProgress,
    Files,
    Tools,
    InitOutput,
    Summary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PreviousSessionField {
    Task,
    Completed,
    InProgress,
    Blockers,
    NextSteps,
}

/// Parses the notes and accepts any text. Lessons that Archivist added to them are ignored.
pub fn parse(text: &str) -> ProgressNotes {
    let text = strip_lesson_sections(text);
    let mut parser =
        NotesParser { progress: ProgressNotes::default(), section: NotesSection::Start, open: OpenNotesField::Nothing };
    let mut is_code = false;
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence || is_code {
            parser.store_plain_line(line);
        } else {
            parser.parse_line(line);
        }
        is_code ^= is_fence;
    }
    let mut progress = parser.progress;
    progress.notes = progress.notes.trim().to_owned();
    progress
}

struct NotesParser {
    progress: ProgressNotes,
    section: NotesSection,
    open: OpenNotesField,
}

impl NotesParser {
    fn parse_line(&mut self, line: &str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            if self.section == NotesSection::Notes && !self.progress.notes.is_empty() {
                self.add_note("");
            }
            return;
        }
        if let Some(title) = parse_heading(trimmed) {
            self.open = OpenNotesField::Nothing;
            self.section = section_for_title(title);
            if self.section == NotesSection::Notes && !title.eq_ignore_ascii_case("notes") {
                self.add_note(trimmed);
            }
            return;
        }
        if trimmed.len() >= 3 && trimmed.bytes().all(|byte| byte == b'-') {
            self.section = NotesSection::End;
            self.open = OpenNotesField::Nothing;
            return;
        }
        if let Some(("completed" | "completed at", value)) =
            split_label(trimmed).as_ref().map(|(label, v)| (label.as_str(), v))
            && strip_bullet(trimmed).is_none()
            && (json_fields::parse_time_text(value).is_some() || value.eq_ignore_ascii_case("in progress"))
        {
            self.progress.completed_at = json_fields::parse_time_text(value);
            return;
        }
        if matches!(self.section, NotesSection::Next | NotesSection::Blockers) {
            self.add_item(trimmed);
        } else if let Some((label, value)) = split_label(trimmed)
            && self.store_labelled(&label, value)
        {
            // The value was stored.
        } else {
            if strip_bullet(trimmed).is_some_and(|item| item.starts_with("**")) {
                self.open = OpenNotesField::Nothing;
            }
            self.store_plain_line(line);
        }
    }

    fn add_item(&mut self, line: &str) {
        let items = if self.section == NotesSection::Next {
            &mut self.progress.next_steps
        } else {
            &mut self.progress.blockers
        };
        match (strip_bullet(line), items.last_mut()) {
            (Some(item), _) => items.extend(non_empty_value(item)),
            (None, Some(last)) => append_line(last, line),
            (None, None) => items.extend(non_empty_value(line)),
        }
    }

    /// Stores the value of a label; returns false if the label is unknown in its section.
    fn store_labelled(&mut self, label: &str, value: &str) -> bool {
        if let OpenNotesField::Previous(_) = self.open
            && let Some(field) = parse_previous_field(label)
        {
            self.open = OpenNotesField::Previous(field);
            self.store_previous_field(field, value);
            return true;
        }
        let progress = &mut self.progress;
        let mut open = OpenNotesField::Nothing;
        match (self.section, label) {
            (NotesSection::Start | NotesSection::Info, "session id" | "session") => {
                progress.session_id = non_empty_value(value);
            }
            (NotesSection::Start | NotesSection::Info, "started" | "started at") => {
                progress.started_at = json_fields::parse_time_text(value);
            }
            (NotesSection::Start | NotesSection::Info, "task") => {
                (progress.task_id, progress.task_title) = parse_task(value);
            }
            (NotesSection::Orientation, "repo state") => progress.repo_state = non_empty_value(value),
            (NotesSection::Orientation, "tests passing at start") => {
                progress.tests_passing_at_start = parse_yes_no(value);
            }
            (NotesSection::Orientation, "init script") => progress.init_script = non_empty_value(value),
            (NotesSection::Orientation, "init output") => {
                progress.init_output = non_empty_value(value);
                open = OpenNotesField::InitOutput;
            }
            (NotesSection::Orientation, "previous session") => {
                open = OpenNotesField::Previous(PreviousSessionField::Task);
                let summary = non_empty_value(value).unwrap_or_default();
                match self::split_label(&summary)
                    .and_then(|(label, value)| Some((parse_previous_field(&label)?, value)))
                {
                    Some((field, value)) => {
                        open = OpenNotesField::Previous(field);
                        self.store_previous_field(field, value);
                    }
                    None => self.store_previous_field(PreviousSessionField::Task, value),
                }
            }
            (NotesSection::Work, "subtasks completed") => {
                progress.subtasks_completed = parse_list(value);
                open = open_if_empty(value, OpenNotesField::Completed);
            }
            (NotesSection::Work, "subtasks in progress") => {
                progress.subtasks_in_progress = parse_list(value);
                open = open_if_empty(value, OpenNotesField::InProgress);
            }
            (NotesSection::Work, "files modified") => {
                progress.files_modified = parse_list(value);
                open = open_if_empty(value, OpenNotesField::Files);
            }
            (NotesSection::Work, "tests run") => progress.tests_run = parse_yes_no(value),
            (NotesSection::Work, "tests passing after work") => progress.tests_passing_after = parse_yes_no(value),
            (NotesSection::Work, "e2e run" | "e2e tests run") => progress.e2e_run = parse_yes_no(value),
            (NotesSection::Work, "e2e passing after work" | "e2e tests passing after work") => {
                progress.e2e_passing_after = parse_yes_no(value);
            }
            (NotesSection::Claude, _) => match self.store_claude_field(label, value) {
                Some(opened) => open = opened,
                None => return false,
            },
            _ => return false,
        }
        self.open = open;
        true
    }

    fn store_claude_field(&mut self, label: &str, value: &str) -> Option<OpenNotesField> {
        let claude = self.progress.claude_session.get_or_insert_default();
        match label {
            "session id" => claude.session_id = non_empty_value(value),
            "forked from" => claude.forked_from = non_empty_value(value),
            "token usage" => claude.tokens = parse_token_counts(value),
            "cost" => claude.cost_usd = parse_cost(value),
            "tools used" => {
                claude.tools_used = parse_list(value);
                return Some(open_if_empty(value, OpenNotesField::Tools));
            }
            "summary" => {
                claude.summary = non_empty_value(value);
                return Some(OpenNotesField::Summary);
            }
            _ => return None,
        }
        Some(OpenNotesField::Nothing)
    }

    fn store_previous_field(&mut self, field: PreviousSessionField, value: &str) {
        let previous = self.progress.previous_session.get_or_insert_default();
        match field {
            PreviousSessionField::Task => previous.task = non_empty_value(value),
            PreviousSessionField::Completed => previous.completed = parse_list(value),
            PreviousSessionField::InProgress => previous.in_progress = parse_list(value),
            PreviousSessionField::Blockers => previous.blockers = non_empty_value(value).into_iter().collect(),
            PreviousSessionField::NextSteps => {
                previous.next_steps = value.split(';').filter_map(non_empty_value).collect();
            }
        }
    }

    /// Stores a line that has no known label.
    fn store_plain_line(&mut self, line: &str) {
        let trimmed = line.trim();
        let item = strip_bullet(trimmed).unwrap_or(trimmed);
        let progress = &mut self.progress;
        match self.open {
            OpenNotesField::Previous(field) => {
                let previous = progress.previous_session.get_or_insert_default();
                match field {
                    PreviousSessionField::Task => append_line(previous.task.get_or_insert_default(), item),
                    PreviousSessionField::Completed => previous.completed.extend(parse_list(item)),
                    PreviousSessionField::InProgress => previous.in_progress.extend(parse_list(item)),
                    PreviousSessionField::Blockers => match previous.blockers.last_mut() {
                        Some(last) => append_line(last, trimmed),
                        None => previous.blockers.extend(non_empty_value(item)),
                    },
                    PreviousSessionField::NextSteps => {
                        previous.next_steps.extend(item.split(';').filter_map(non_empty_value));
                    }
                }
            }
            OpenNotesField::Completed => progress.subtasks_completed.extend(parse_list(item)),
            OpenNotesField::InProgress => progress.subtasks_in_progress.extend(parse_list(item)),
            OpenNotesField::Files => progress.files_modified.extend(parse_list(item)),
            OpenNotesField::Tools => {
                progress.claude_session.get_or_insert_default().tools_used.extend(parse_list(item));
            }
            OpenNotesField::InitOutput => append_line(progress.init_output.get_or_insert_default(), line.trim_end()),
            OpenNotesField::Summary => {
                append_line(progress.claude_session.get_or_insert_default().summary.get_or_insert_default(), trimmed);
            }
            OpenNotesField::Nothing if matches!(self.section, NotesSection::Next | NotesSection::Blockers) => {
                self.add_item(trimmed);
            }
            OpenNotesField::Nothing => self.add_note(line.trim_end()),
        }
    }

    fn add_note(&mut self, line: &str) {
        self.progress.notes.push_str(line);
        self.progress.notes.push('\n');
    }
}

/// Returns the field that continues in bullets if its label has no value.
fn open_if_empty(value: &str, list: OpenNotesField) -> OpenNotesField {
    if value.is_empty() { list } else { OpenNotesField::Nothing }
}

fn append_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// Returns the title of a heading.
fn parse_heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    (title.len() < line.len() && title.starts_with([' ', '\t'])).then(|| title.trim())
}

fn section_for_title(title: &str) -> NotesSection {
    match title.trim_end_matches(':').to_lowercase().as_str() {
        "session progress" => NotesSection::Start,
        "session info" => NotesSection::Info,
        "orientation" => NotesSection::Orientation,
        "work done" => NotesSection::Work,
        "claude code session" => NotesSection::Claude,
        "next session should" | "next session" | "next steps" => NotesSection::Next,
        "blockers" => NotesSection::Blockers,
        _ => NotesSection::Notes,
    }
}

fn parse_previous_field(label: &str) -> Option<PreviousSessionField> {
    Some(match label {
        "previous task" | "task" => PreviousSessionField::Task,
        "completed" => PreviousSessionField::Completed,
        "in progress" => PreviousSessionField::InProgress,
        "blockers" | "blocker" => PreviousSessionField::Blockers,
        "next steps" | "next step" => PreviousSessionField::NextSteps,
        _ => return None,
    })
}

/// Returns the text after a bullet.
fn strip_bullet(line: &str) -> Option<&str> {
    ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim).or((line == "-").then_some(""))
}

/// Splits `Label: value`, with or without a bullet, the label bold or not, the colon inside or after the asterisks.
fn split_label(line: &str) -> Option<(String, &str)> {
    let line = strip_bullet(line).unwrap_or(line);
    let (label, value) = line.split_once(':')?;
    let value = value.trim_start_matches('*').trim();
    Some((label.trim().trim_matches('*').trim().to_lowercase(), value))
}

/// Returns the value, unless it is empty, `none` or `n/a`.
fn non_empty_value(value: &str) -> Option<String> {
    let value = value.trim();
    let is_nothing = value.is_empty() || value.eq_ignore_ascii_case("none") || value.eq_ignore_ascii_case("n/a");
    (!is_nothing).then(|| value.to_owned())
}

fn parse_list(value: &str) -> Vec<String> {
    non_empty_value(value).map_or_else(Vec::new, |value| value.split(',').filter_map(non_empty_value).collect())
}

fn parse_yes_no(value: &str) -> Option<bool> {
    match value.to_lowercase().split(|c: char| !c.is_alphanumeric()).next()? {
        "yes" | "true" | "passed" | "passing" => Some(true),
        "no" | "false" | "failed" | "failing" => Some(false),
        _ => None,
    }
}

/// Splits `id - title`, either of which may be missing.
fn parse_task(value: &str) -> (Option<String>, Option<String>) {
    let value = value.trim();
    match value.strip_suffix(" -").map(|id| (id, "")).or_else(|| value.split_once(" - ")) {
        Some((id, title)) => (non_empty_value(id), non_empty_value(title)),
        None if value.contains(char::is_whitespace) => (None, non_empty_value(value.trim_start_matches("- "))),
        None => (non_empty_value(value.trim_matches('-')).and(non_empty_value(value)), None),
    }
}

/// Parses `46 in, 1,376 out, 577,215 cache hits, 99,781 cache writes`. Characters between digits are ignored.
fn parse_token_counts(value: &str) -> ProgressTokenCounts {
    let mut tokens = ProgressTokenCounts::default();
    let mut digits = String::new();
    let mut name = String::new();
    let mut store_count = |digits: &mut String, name: &mut String| {
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
                store_count(&mut digits, &mut name);
            }
            digits.extend(word.chars().filter(char::is_ascii_digit));
        } else {
            name.push_str(word);
        }
    }
    store_count(&mut digits, &mut name);
    tokens
}

/// Parses an amount such as `$1.0217 USD`.
fn parse_cost(value: &str) -> Option<f64> {
    let digits: String = value.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.parse().ok().filter(|amount: &f64| amount.is_finite())
}
