//! Reads episodes from their file: those of one name, or the last few, without parsing the rest.

use std::collections::HashSet;

use super::bank_files::StoreFile;
use super::bank_state::BankState;
use super::json_lines;
use crate::domain::{Episode, EpisodeId};
use crate::memory::{EpisodeFilter, MemoryError};

/// The number of bytes that are read at once from the end of the file.
const PIECE_BYTES: u64 = 256 * 1024;

impl BankState {
    /// Returns the current form of the episodes that a filter admits, in the order in which they were last written.
    pub(super) fn find_episodes(&mut self, filter: &EpisodeFilter) -> Result<Vec<Episode>, MemoryError> {
        if !self.has_read_episodes() {
            if let Some(id) = &filter.id {
                return Ok(self
                    .search_episode(id)?
                    .into_iter()
                    .filter(|episode| filter.admits_episode(episode))
                    .collect());
            }
            if let Some(count) = filter.newest {
                return self.read_newest_episodes(filter, count);
            }
        }
        let view = self.load_episodes()?;
        let mut episodes: Vec<_> =
            view.episodes.values().filter(|(_, episode)| filter.admits_episode(episode)).collect();
        episodes.sort_unstable_by_key(|(place, _)| *place);
        let surplus = filter.newest.map_or(0, |count| episodes.len().saturating_sub(count));
        Ok(episodes.into_iter().skip(surplus).map(|(_, episode)| episode.clone()).collect())
    }

    /// Returns the current form of one episode.
    pub(super) fn find_episode(&mut self, id: &EpisodeId) -> Result<Option<Episode>, MemoryError> {
        if !self.has_read_episodes() {
            return self.search_episode(id);
        }
        Ok(self.load_episodes()?.episodes.get(id).map(|(_, episode)| episode.clone()))
    }

    /// Finds the last line that holds one episode. Only lines with its id in them are parsed.
    fn search_episode(&self, id: &EpisodeId) -> Result<Option<Episode>, MemoryError> {
        let bytes = self.file_bytes(StoreFile::Episodes)?;
        let finder = memchr::memmem::FinderRev::new(id.as_str());
        let mut end = bytes.len();
        while let Some(place) = finder.rfind(bytes.get(..end).unwrap_or_default()) {
            let start = bytes.get(..place).and_then(|before| memchr::memrchr(b'\n', before)).map_or(0, |last| last + 1);
            let line = bytes.get(start..).unwrap_or_default();
            if let Some(episode) = self.parse_episodes(line).next().filter(|episode| episode.id == *id) {
                return Ok(Some(episode));
            }
            end = start;
        }
        Ok(None)
    }

    /// Reads the file from its end until it has found enough episodes.
    fn read_newest_episodes(&self, filter: &EpisodeFilter, count: usize) -> Result<Vec<Episode>, MemoryError> {
        let mut end = self.files.file_end(StoreFile::Episodes);
        let mut step = PIECE_BYTES;
        // The end of a line whose beginning is in the piece before.
        let mut rest_of_line: Vec<u8> = Vec::new();
        let mut seen: HashSet<EpisodeId> = HashSet::new();
        let mut newest_first: Vec<Episode> = Vec::new();
        while end > 0 && newest_first.len() < count {
            let start = end.saturating_sub(step);
            let mut piece = self.files.read_bytes(StoreFile::Episodes, start, end)?;
            piece.append(&mut rest_of_line);
            let first = if start == 0 { 0 } else { memchr::memchr(b'\n', &piece).map_or(piece.len(), |end| end + 1) };
            let lines = piece.split_off(first);
            if lines.is_empty() {
                // The line is longer than the piece; larger pieces keep the work in proportion to its length.
                step = step.saturating_mul(2);
            }
            let episodes: Vec<Episode> = self.parse_episodes(&lines).collect();
            let unseen = episodes.into_iter().rev().filter(|episode| seen.insert(episode.id.clone()));
            let wanted = count - newest_first.len();
            newest_first.extend(unseen.filter(|episode| filter.admits_episode(episode)).take(wanted));
            rest_of_line = piece;
            end = start;
        }
        newest_first.reverse();
        Ok(newest_first)
    }

    fn parse_episodes<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = Episode> + use<'a> {
        let limit = self.line_limit();
        json_lines::split_lines(bytes, 0).filter_map(move |line| json_lines::parse_line(line.bytes, limit).ok())
    }
}
