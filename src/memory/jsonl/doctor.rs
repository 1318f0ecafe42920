//! Looking a bank over, and putting right what can be put right without guessing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::bank::Bank;
use super::index::Index;
use super::layout::{Layout, Part};
use super::lines;
use super::redo::{self, Redo};
use super::state::State;
use super::view::View;
use crate::domain::{
    AgentMemory, Alias, Effect, Episode, EpisodeKind, EpisodeStatus, EvidenceLevel, Exposure, Fact, FeedbackVerdict,
    MemoryCategory, MemoryId, MemoryKind, MemoryScope, MemorySource, MemoryState, Severity, Standing, Timestamp,
};
use crate::memory::{BankStatus, FileStatus, Finding, IndexStatus, MemoryError, Remedy, Site};

/// Counts what is there.
pub(super) fn status(bank: &Bank) -> Result<BankStatus, MemoryError> {
    let state = bank.look()?;
    let view = state.read_all(&Part::ALL)?;
    let live = view.lessons.values().filter(|row| row.memory.standing() != Standing::Retired).count();
    let files = Part::ALL.into_iter().filter(|part| bank.layout.path(*part).exists());
    Ok(BankStatus {
        site: Site::Directory { directory: bank.layout.directory().to_owned() },
        files: files.map(|part| FileStatus { name: bank.layout.name(part), bytes: state.files.end(part) }).collect(),
        lessons: live,
        retired: view.lessons.len() - live,
        episodes: view.episodes.len(),
        facts: view.facts.len(),
        damaged_lines: view.damaged,
        index: match (&state.index, state.uncovered()) {
            (None, _) if bank.layout.index().exists() => IndexStatus::Unusable,
            (None, _) => IndexStatus::Absent,
            (Some(_), 0) => IndexStatus::Current,
            (Some(_), bytes) => IndexStatus::Behind { bytes },
        },
    })
}

/// Looks a bank over. Changes nothing.
pub(super) fn examine(bank: &Bank) -> Result<Vec<Finding>, MemoryError> {
    let mut findings = Vec::new();
    let layout = &bank.layout;
    let log = redo::read(&layout.redo())?;
    if log.length > log.whole {
        let problem = "the last record is torn; it was never acknowledged";
        findings.push(finding(name_of(&layout.redo()), None, problem, Remedy::Repairable));
    }
    if !log.pending.is_empty() {
        let problem = "a commit is durable but not in its files yet";
        findings.push(finding(name_of(&layout.redo()), None, problem, Remedy::Repairable));
    }
    let state = bank.look()?;
    for part in Part::ALL {
        examine_file(bank, &state, part, &mut findings)?;
    }
    let view = state.read_all(&Part::ALL)?;
    examine_names(layout, &view, &mut findings);
    examine_links(layout, &view, &mut findings);
    let unsound = || state.index.is_some() && !Index::is_sound(&layout.index());
    if (state.index.is_none() && layout.index().exists()) || unsound() {
        let problem = "it does not fit the files; they are read instead until it is built anew";
        findings.push(finding(name_of(&layout.index()), None, problem, Remedy::Kept));
    }
    Ok(findings)
}

/// Puts right what can be put right, and says what that was.
pub(super) fn repair(bank: &Bank, at: Timestamp) -> Result<Vec<Finding>, MemoryError> {
    let mended = examine(bank)?.into_iter().filter(|finding| finding.remedy == Remedy::Repairable).collect::<Vec<_>>();
    if mended.is_empty() {
        return Ok(mended);
    }
    let writer = bank.write()?;
    let state = bank.read_apart()?;
    let view = state.read_all(&[Part::Archive, Part::Lessons])?;
    let mut lines: BTreeMap<Part, String> = BTreeMap::new();
    let mut highest = view.highest_alias.max(writer.highest_alias());
    for id in needing_names(&view) {
        let Some(row) = view.lessons.get(&id) else { continue };
        let mut memory = row.memory.clone();
        highest += 1;
        memory.alias = Alias::numbered(bank.layout.alias_prefix(), highest).ok();
        memory.updated_at = Some(at);
        let line = serde_json::to_string(&memory)
            .map_err(|source| MemoryError::Encode { id: memory.id.as_str().to_owned(), source })?;
        let text = lines.entry(Part::Lessons).or_default();
        text.push_str(&line);
        text.push('\n');
    }
    for part in Part::ALL {
        // An empty addition still gets the newline that the file lacks.
        if state.files.lacks_newline(part)? {
            lines.entry(part).or_default();
        }
    }
    let redo: Redo = bank.redo(&state, lines)?;
    if redo.is_empty() {
        drop(writer);
    } else {
        writer.carry_out(&redo)?;
    }
    bank.fold_now()?;
    Ok(mended)
}

fn examine_file(bank: &Bank, state: &State, part: Part, findings: &mut Vec<Finding>) -> Result<(), MemoryError> {
    let file = bank.layout.name(part);
    if bank.layout.path(part).symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        let problem = "it is a symbolic link; Archivist reads through it but does not write";
        findings.push(finding(file.clone(), None, problem, Remedy::ByHand));
    }
    let bytes = state.bytes_of(part)?;
    for line in lines::lines(&bytes, 0) {
        let problem = match part {
            Part::Episodes => parsed(line.bytes, bank, strange_in_episode),
            Part::Ledger => parsed(line.bytes, bank, strange_in_fact),
            Part::Archive | Part::Lessons => parsed(line.bytes, bank, strange_in_lesson),
        };
        if let Some(problem) = problem {
            findings.push(finding(file.clone(), Some(line.number), problem, Remedy::Kept));
        }
    }
    if state.files.lacks_newline(part)? {
        findings.push(finding(file, None, "the last line has no newline", Remedy::Repairable));
    }
    Ok(())
}

fn parsed<T: serde::de::DeserializeOwned>(
    line: &[u8],
    bank: &Bank,
    strange: impl Fn(&T) -> Option<String>,
) -> Option<String> {
    match lines::parse::<T>(line, bank.options.max_line_bytes) {
        Ok(record) => strange(&record),
        Err(why) => Some(format!("not read: {why}")),
    }
}

fn strange_in_lesson(memory: &AgentMemory) -> Option<String> {
    let words = [
        ("scope", MemoryScope::parse(memory.scope.as_str()).err()),
        ("kind", MemoryKind::parse(memory.kind.as_str()).err()),
        ("category", MemoryCategory::parse(memory.category.as_str()).err()),
        ("source", MemorySource::parse(memory.source.as_str()).err()),
        ("state", memory.state.as_ref().and_then(|state| MemoryState::parse(state.as_str()).err())),
        ("severity", memory.severity.as_ref().and_then(|severity| Severity::parse(severity.as_str()).err())),
    ];
    strange(words)
}

fn strange_in_episode(episode: &Episode) -> Option<String> {
    strange([
        ("kind", EpisodeKind::parse(episode.kind.as_str()).err()),
        ("status", EpisodeStatus::parse(episode.status.as_str()).err()),
    ])
}

fn strange_in_fact(fact: &Fact) -> Option<String> {
    let level = |level: &EvidenceLevel| ("level", EvidenceLevel::parse(level.as_str()).err());
    match fact {
        Fact::Sighting { level: own, .. } => strange([level(own)]),
        Fact::Injection { exposure, .. } => strange([("exposure", Exposure::parse(exposure.as_str()).err())]),
        Fact::Feedback { verdict, level: own, .. } => {
            strange([("verdict", FeedbackVerdict::parse(verdict.as_str()).err()), level(own)])
        }
        Fact::Effect { effect, .. } => strange([("effect", Effect::parse(effect.as_str()).err())]),
    }
}

fn strange<const N: usize>(words: [(&str, Option<crate::domain::Invalid>); N]) -> Option<String> {
    words.into_iter().find_map(|(field, invalid)| Some(format!("{field}: {}", invalid?)))
}

fn examine_names(layout: &Layout, view: &View, findings: &mut Vec<Finding>) {
    let file = || layout.name(Part::Lessons);
    for (alias, ids) in aliases(view) {
        match alias {
            None => {
                for id in ids {
                    findings.push(finding(file(), None, format!("`{id}` has no short name"), Remedy::Repairable));
                }
            }
            Some(alias) if ids.len() > 1 => {
                let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
                let problem = format!("`{alias}` names {} lessons: {}", ids.len(), ids.join(", "));
                findings.push(finding(file(), None, problem, Remedy::Repairable));
            }
            Some(_) => {}
        }
    }
}

fn examine_links(layout: &Layout, view: &View, findings: &mut Vec<Finding>) {
    let mut unknown: BTreeMap<&MemoryId, usize> = BTreeMap::new();
    for id in view.lessons_with_facts().filter(|id| !view.lessons.contains_key(*id)) {
        unknown.insert(id, view.facts_of(id).count());
    }
    for (id, count) in unknown {
        let speak = if count == 1 { "1 fact speaks".to_owned() } else { format!("{count} facts speak") };
        let problem = format!("{speak} of `{id}`, which is not in this memory");
        findings.push(finding(layout.name(Part::Ledger), None, problem, Remedy::Kept));
    }
}

/// Lessons that have no short name, and all but the oldest of those that share one.
fn needing_names(view: &View) -> Vec<MemoryId> {
    let mut needing = Vec::new();
    for (alias, ids) in aliases(view) {
        let keeps = usize::from(alias.is_some());
        let mut by_age: Vec<&MemoryId> = ids.into_iter().collect();
        by_age.sort_by_key(|id| (view.lessons.get(*id).map(|row| row.memory.created_at), *id));
        needing.extend(by_age.into_iter().skip(keeps).cloned());
    }
    needing
}

fn aliases(view: &View) -> BTreeMap<Option<&Alias>, BTreeSet<&MemoryId>> {
    let mut aliases: HashMap<Option<&Alias>, BTreeSet<&MemoryId>> = HashMap::new();
    for (id, row) in &view.lessons {
        aliases.entry(row.memory.alias.as_ref()).or_default().insert(id);
    }
    aliases.into_iter().collect()
}

fn name_of(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn finding(file: String, line: Option<usize>, problem: impl Into<String>, remedy: Remedy) -> Finding {
    Finding { file, line, problem: problem.into(), remedy }
}
