//! Everything we have, line by line: runs, then lessons with all their versions, then what happened to them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Brought, Format, Parcel, Shelf, Skipped, Unreadable, Unwritable, Written, lines_of, text_of, within};
use crate::domain::{AgentMemory, Alias, Episode, Fact, MemoryId};

#[cfg(test)]
#[path = "jsonl_tests.rs"]
mod tests;

const FORMAT: Format = Format::Jsonl;
const FILE: &str = "archivist.jsonl";

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Line {
    Episode(Box<Episode>),
    Lesson(Box<AgentMemory>),
    Fact(Box<Fact>),
}

pub(super) fn read(path: &Path) -> Result<Parcel, Unreadable> {
    let path = within(path, FILE);
    let text = text_of(&path)?;
    let mut parcel = Parcel::default();
    let mut places: BTreeMap<MemoryId, usize> = BTreeMap::new();
    let mut facts: Vec<(usize, Fact)> = Vec::new();
    let skip = |parcel: &mut Parcel, number: usize, why: String| {
        parcel.skipped.push(Skipped { place: format!("{}:{number}", path.display()), why });
    };
    for (number, line) in lines_of(&text) {
        match serde_json::from_str::<Line>(line) {
            Ok(Line::Episode(episode)) => parcel.episodes.push(*episode),
            Ok(Line::Lesson(memory)) => {
                let place = *places.entry(memory.id.clone()).or_insert_with(|| {
                    let name = memory.id.to_string();
                    parcel.lessons.push(Brought { name, versions: Vec::new(), facts: Vec::new(), used: None });
                    parcel.lessons.len() - 1
                });
                parcel.lessons.get_mut(place).into_iter().for_each(|brought| brought.versions.push((*memory).clone()));
            }
            Ok(Line::Fact(fact)) => facts.push((number, *fact)),
            Err(error) => skip(&mut parcel, number, error.to_string()),
        }
    }
    for (number, fact) in facts {
        match places.get(fact.memory()).and_then(|place| parcel.lessons.get_mut(*place)) {
            Some(brought) => brought.facts.push(fact),
            None => skip(&mut parcel, number, format!("it speaks of {}, which is not in the file", fact.memory())),
        }
    }
    if parcel.lessons.is_empty() && parcel.episodes.is_empty() && !parcel.skipped.is_empty() {
        let why = parcel.skipped.first().map(|skipped| skipped.why.clone()).unwrap_or_default();
        return Err(Unreadable::malformed(&path, "export of Archivist", why));
    }
    Ok(parcel)
}

pub(super) fn write(shelf: &Shelf) -> Result<Written, Unwritable> {
    let mut text = String::new();
    let mut add = |line: &Line| -> Result<(), Unwritable> {
        text.push_str(&serde_json::to_string(line).map_err(|error| Unwritable::new(FORMAT, error))?);
        text.push('\n');
        Ok(())
    };
    let mut episodes: Vec<&Episode> = shelf.episodes.iter().collect();
    episodes.sort_by(|a, b| a.finished_at.cmp(&b.finished_at).then_with(|| a.id.cmp(&b.id)));
    for episode in episodes {
        add(&Line::Episode(Box::new(episode.clone())))?;
    }
    let mut lessons: Vec<_> = shelf.lessons.iter().collect();
    // Short names are given in order, so that the same ones are given again.
    lessons.sort_by_key(|one| {
        let memory = &one.lesson.memory;
        (memory.alias.as_ref().map(Alias::number), memory.id.clone())
    });
    for shelved in &lessons {
        for version in &shelved.versions {
            add(&Line::Lesson(Box::new(version.clone())))?;
        }
    }
    for shelved in &lessons {
        let mut facts: Vec<&Fact> = shelved.facts.iter().collect();
        facts.sort_by(|a, b| a.at().cmp(&b.at()).then_with(|| a.key().cmp(&b.key())));
        for fact in facts {
            add(&Line::Fact(Box::new(fact.clone())))?;
        }
    }
    Ok(Written::one(FILE, text, Vec::new()))
}
