//! Examines a bank, and repairs what can be repaired without guessing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::bank::JsonlBank;
use super::bank_files::{BankLayout, StoreFile};
use super::bank_state::BankState;
use super::index::LessonIndex;
use super::json_lines;
use super::lost_lines::{find_lost_lines, restoring_lines};
use super::record_view::RecordView;
use super::redo_log::{self, RedoRecord};
use crate::domain::{
    AgentMemory, Alias, Effect, Episode, EpisodeKind, EpisodeStatus, EvidenceLevel, Exposure, Fact, FeedbackVerdict,
    MemoryCategory, MemoryId, MemoryKind, MemoryScope, MemorySource, MemoryState, Severity, Timestamp,
};
use crate::memory::{BankFinding, BankSite, BankStatus, FileStatus, FindingRemedy, IndexStatus, MemoryError};

/// Counts the records of a bank and reports the state of its files and its index.
pub(super) fn bank_status(bank: &JsonlBank) -> Result<BankStatus, MemoryError> {
    let mut state = bank.peek_state()?;
    let count = state.count_records()?;
    let files = StoreFile::ALL.into_iter().filter(|part| bank.layout.file_path(*part).exists());
    Ok(BankStatus {
        site: BankSite::Directory { directory: bank.layout.directory().to_owned() },
        files: files
            .map(|part| FileStatus { name: bank.layout.file_name(part), bytes: state.files.file_end(part) })
            .collect(),
        lessons: count.lessons,
        retired: count.retired,
        episodes: count.episodes,
        facts: count.facts,
        damaged_lines: count.damaged,
        index: match (&state.index, state.unindexed_bytes()) {
            (None, _) if bank.layout.index_path().exists() => IndexStatus::Unusable,
            (None, _) => IndexStatus::Absent,
            (Some(_), 0) => IndexStatus::Current,
            (Some(_), bytes) => IndexStatus::Behind { bytes },
        },
    })
}

/// Examines a bank for problems. Changes nothing.
pub(super) fn examine_bank(bank: &JsonlBank) -> Result<Vec<BankFinding>, MemoryError> {
    let mut findings = Vec::new();
    let layout = &bank.layout;
    let log = redo_log::read_log_end(&layout.redo_log_path())?;
    if log.length > log.whole {
        let problem = "the last record is torn; it was never acknowledged";
        findings.push(new_finding(file_name_of(&layout.redo_log_path()), None, problem, FindingRemedy::Repairable));
    }
    if !log.pending.is_empty() {
        let problem = "a commit is durable but not in its files yet";
        findings.push(new_finding(file_name_of(&layout.redo_log_path()), None, problem, FindingRemedy::Repairable));
    }
    let state = bank.peek_state()?;
    for part in StoreFile::ALL {
        examine_file(bank, &state, part, &mut findings)?;
    }
    for (part, lines) in find_lost_lines(bank, &state)? {
        let problem = match lines.len() {
            1 => "1 acknowledged line is missing; another program took it out".to_owned(),
            count => format!("{count} acknowledged lines are missing; another program took them out"),
        };
        findings.push(new_finding(layout.file_name(part), None, problem, FindingRemedy::Repairable));
    }
    let view = state.read_whole_files(&StoreFile::ALL)?;
    examine_aliases(layout, &view, &mut findings);
    examine_fact_links(layout, &view, &mut findings);
    let unsound = || state.index.is_some() && !LessonIndex::is_sound(&layout.index_path());
    if (state.index.is_none() && layout.index_path().exists()) || unsound() {
        let problem = "it does not fit the files; they are read instead until it is built anew";
        findings.push(new_finding(file_name_of(&layout.index_path()), None, problem, FindingRemedy::Kept));
    }
    Ok(findings)
}

/// Repairs what can be repaired, and returns the findings that were repaired.
pub(super) fn repair_bank(bank: &JsonlBank, at: Timestamp) -> Result<Vec<BankFinding>, MemoryError> {
    let mended = examine_bank(bank)?
        .into_iter()
        .filter(|finding| finding.remedy == FindingRemedy::Repairable)
        .collect::<Vec<_>>();
    if mended.is_empty() {
        return Ok(mended);
    }
    let writer = bank.open_writer()?;
    let state = bank.read_separate_state()?;
    let view = state.read_whole_files(&[StoreFile::Archive, StoreFile::Lessons])?;
    let mut lines: BTreeMap<StoreFile, String> = BTreeMap::new();
    for (part, lost) in find_lost_lines(bank, &state)? {
        let current = |memory: &AgentMemory| view.lessons.get(&memory.id).map(|row| row.memory.clone());
        for line in restoring_lines(part, &lost, current)? {
            let text = lines.entry(part).or_default();
            text.push_str(&line);
            text.push('\n');
        }
    }
    let mut highest = view.highest_alias.max(writer.highest_alias());
    for id in lessons_needing_alias(&view) {
        let Some(row) = view.lessons.get(&id) else { continue };
        let mut memory = row.memory.clone();
        highest += 1;
        memory.alias = Alias::from_number(bank.layout.alias_prefix(), highest).ok();
        memory.updated_at = Some(at);
        let line = serde_json::to_string(&memory)
            .map_err(|source| MemoryError::Encode { id: memory.id.as_str().to_owned(), source })?;
        let text = lines.entry(StoreFile::Lessons).or_default();
        text.push_str(&line);
        text.push('\n');
    }
    for part in StoreFile::ALL {
        // An empty append still adds the missing newline.
        if state.files.lacks_newline(part)? {
            lines.entry(part).or_default();
        }
    }
    let redo: RedoRecord = bank.build_redo_record(&state, lines)?;
    if redo.is_empty() {
        drop(writer);
    } else {
        writer.commit_record(&redo)?;
    }
    bank.update_index()?;
    Ok(mended)
}

fn examine_file(
    bank: &JsonlBank,
    state: &BankState,
    part: StoreFile,
    findings: &mut Vec<BankFinding>,
) -> Result<(), MemoryError> {
    let file = bank.layout.file_name(part);
    if bank.layout.file_path(part).symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        let problem = "it is a symbolic link; Archivist reads through it but does not write";
        findings.push(new_finding(file.clone(), None, problem, FindingRemedy::ByHand));
    }
    let bytes = state.file_bytes(part)?;
    for line in json_lines::split_lines(&bytes, 0) {
        let problem = match part {
            StoreFile::Episodes => check_line(line.bytes, bank, unknown_word_in_episode),
            StoreFile::Ledger => check_line(line.bytes, bank, unknown_word_in_fact),
            StoreFile::Archive | StoreFile::Lessons => check_line(line.bytes, bank, unknown_word_in_lesson),
        };
        if let Some(problem) = problem {
            findings.push(new_finding(file.clone(), Some(line.number), problem, FindingRemedy::Kept));
        }
    }
    if state.files.lacks_newline(part)? {
        findings.push(new_finding(file, None, "the last line has no newline", FindingRemedy::Repairable));
    }
    Ok(())
}

fn check_line<T: serde::de::DeserializeOwned>(
    line: &[u8],
    bank: &JsonlBank,
    strange: impl Fn(&T) -> Option<String>,
) -> Option<String> {
    match json_lines::parse_line::<T>(line, bank.options.max_line_bytes) {
        Ok(record) => strange(&record),
        Err(why) => Some(format!("not read: {why}")),
    }
}

fn unknown_word_in_lesson(memory: &AgentMemory) -> Option<String> {
    let words = [
        ("scope", MemoryScope::parse(memory.scope.as_str()).err()),
        ("kind", MemoryKind::parse(memory.kind.as_str()).err()),
        ("category", MemoryCategory::parse(memory.category.as_str()).err()),
        ("source", MemorySource::parse(memory.source.as_str()).err()),
        ("state", memory.state.as_ref().and_then(|state| MemoryState::parse(state.as_str()).err())),
        ("severity", memory.severity.as_ref().and_then(|severity| Severity::parse(severity.as_str()).err())),
    ];
    first_unknown_word(words)
}

fn unknown_word_in_episode(episode: &Episode) -> Option<String> {
    first_unknown_word([
        ("kind", EpisodeKind::parse(episode.kind.as_str()).err()),
        ("status", EpisodeStatus::parse(episode.status.as_str()).err()),
    ])
}

fn unknown_word_in_fact(fact: &Fact) -> Option<String> {
    let level = |level: &EvidenceLevel| ("level", EvidenceLevel::parse(level.as_str()).err());
    match fact {
        Fact::Sighting { level: own, .. } => first_unknown_word([level(own)]),
        Fact::Injection { exposure, .. } => {
            first_unknown_word([("exposure", Exposure::parse(exposure.as_str()).err())])
        }
        Fact::Feedback { verdict, level: own, .. } => {
            first_unknown_word([("verdict", FeedbackVerdict::parse(verdict.as_str()).err()), level(own)])
        }
        Fact::Effect { effect, .. } => first_unknown_word([("effect", Effect::parse(effect.as_str()).err())]),
    }
}

fn first_unknown_word<const N: usize>(words: [(&str, Option<crate::domain::InvalidValue>); N]) -> Option<String> {
    words.into_iter().find_map(|(field, invalid)| Some(format!("{field}: {}", invalid?)))
}

fn examine_aliases(layout: &BankLayout, view: &RecordView, findings: &mut Vec<BankFinding>) {
    let file = || layout.file_name(StoreFile::Lessons);
    for (alias, ids) in lessons_by_alias(view) {
        match alias {
            None => {
                for id in ids {
                    findings.push(new_finding(
                        file(),
                        None,
                        format!("`{id}` has no short name"),
                        FindingRemedy::Repairable,
                    ));
                }
            }
            Some(alias) if ids.len() > 1 => {
                let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
                let problem = format!("`{alias}` names {} lessons: {}", ids.len(), ids.join(", "));
                findings.push(new_finding(file(), None, problem, FindingRemedy::Repairable));
            }
            Some(_) => {}
        }
    }
}

fn examine_fact_links(layout: &BankLayout, view: &RecordView, findings: &mut Vec<BankFinding>) {
    let mut unknown: BTreeMap<&MemoryId, usize> = BTreeMap::new();
    for id in view.lessons_with_facts().filter(|id| !view.lessons.contains_key(*id)) {
        unknown.insert(id, view.facts_about(id).count());
    }
    for (id, count) in unknown {
        let speak = if count == 1 { "1 fact speaks".to_owned() } else { format!("{count} facts speak") };
        let problem = format!("{speak} of `{id}`, which is not in this memory");
        findings.push(new_finding(layout.file_name(StoreFile::Ledger), None, problem, FindingRemedy::Kept));
    }
}

/// Returns the lessons that have no short name, and all but the oldest of those that share one.
fn lessons_needing_alias(view: &RecordView) -> Vec<MemoryId> {
    let mut needing = Vec::new();
    for (alias, ids) in lessons_by_alias(view) {
        let keeps = usize::from(alias.is_some());
        let mut by_age: Vec<&MemoryId> = ids.into_iter().collect();
        by_age.sort_by_key(|id| (view.lessons.get(*id).map(|row| row.memory.created_at), *id));
        needing.extend(by_age.into_iter().skip(keeps).cloned());
    }
    needing
}

fn lessons_by_alias(view: &RecordView) -> BTreeMap<Option<&Alias>, BTreeSet<&MemoryId>> {
    let mut aliases: HashMap<Option<&Alias>, BTreeSet<&MemoryId>> = HashMap::new();
    for (id, row) in &view.lessons {
        aliases.entry(row.memory.alias.as_ref()).or_default().insert(id);
    }
    aliases.into_iter().collect()
}

fn file_name_of(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn new_finding(file: String, line: Option<usize>, problem: impl Into<String>, remedy: FindingRemedy) -> BankFinding {
    BankFinding { file, line, problem: problem.into(), remedy }
}
