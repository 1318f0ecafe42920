//! A question's way through the postings of one segment, document by document.

use std::collections::HashSet;

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet, SegmentOrdinal, SegmentReader, TERMINATED, Term};

use super::super::answers::{Answers, Spot};
use super::super::search::{Ask, Common};
use super::schema::{Columns, Fields, IS_LESSON, IS_RETIRED};
use crate::domain::Standing;

/// One segment, less what the caller knows better.
pub(super) struct Segment<'a> {
    pub(super) number: SegmentOrdinal,
    pub(super) reader: &'a SegmentReader,
    pub(super) fields: &'a Fields,
    pub(super) columns: &'a Columns,
    pub(super) skip: HashSet<DocId>,
}

impl Segment<'_> {
    /// How many lessons that count hold each word of the question.
    ///
    /// The term dictionary knows how many documents hold a word, but not which of them are gone, retired or known
    /// better; those few are looked for one by one.
    pub(super) fn holders(&self, ask: &Ask) -> tantivy::Result<Vec<u64>> {
        let mut excluded: Vec<DocId> = self.skip.iter().copied().collect();
        if self.reader.has_deletes() {
            excluded.extend((0..self.reader.max_doc()).filter(|doc| self.reader.is_deleted(*doc)));
        }
        if !ask.which.includes(Standing::Retired) {
            each_alive(self.reader, self.postings(self.fields.traits, IS_RETIRED)?, |doc| excluded.push(doc));
        }
        excluded.sort_unstable();
        excluded.dedup();
        let mut holders = Vec::new();
        for word in &ask.words {
            let Some(mut postings) = self.postings(self.fields.words, word)? else {
                holders.push(0);
                continue;
            };
            let all = u64::from(postings.doc_freq());
            let gone: u64 = excluded.iter().map(|&doc| u64::from(stands_in(&mut postings, doc))).sum();
            holders.push(all.saturating_sub(gone));
        }
        Ok(holders)
    }

    /// Offers the lessons that hold a word of the question or share its topic; all of them if it has none.
    pub(super) fn walk(&self, ask: &Ask, answers: &mut Answers<'_>) -> tantivy::Result<()> {
        let mut words = Vec::new();
        for word in &ask.words {
            words.push(self.postings(self.fields.words, word)?);
        }
        let (mut topics, mut circumstances) = (Vec::new(), Vec::new());
        for (term, common) in &ask.traits {
            if let Some(postings) = self.postings(self.fields.traits, term)? {
                let list = if common.is_topic() { &mut topics } else { &mut circumstances };
                list.push((postings, *common));
            }
        }
        let mut everything = if ask.has_topic() { None } else { self.postings(self.fields.traits, IS_LESSON)? };

        let mut counts = vec![0; ask.words.len()];
        loop {
            let by_word = words.iter().flatten().chain(&everything).map(DocSet::doc);
            let by_topic = topics.iter().map(|(postings, _)| postings.doc());
            let doc = by_word.chain(by_topic).min().unwrap_or(TERMINATED);
            if doc == TERMINATED {
                return Ok(());
            }
            let mut common = Common::default();
            for (count, postings) in counts.iter_mut().zip(&mut words) {
                *count = postings.as_mut().map_or(0, |postings| take(postings, doc));
            }
            for (postings, topic) in &mut topics {
                if take(postings, doc) > 0 {
                    common.note(*topic);
                }
            }
            everything.as_mut().map(|postings| take(postings, doc));
            if self.reader.is_deleted(doc) || self.skip.contains(&doc) {
                continue;
            }
            for (postings, circumstance) in &mut circumstances {
                if stands_in(postings, doc) {
                    common.note(*circumstance);
                }
            }
            let spot = Spot::Indexed(DocAddress::new(self.number, doc));
            answers.offer(spot, &self.columns.card(doc), &common, &counts);
        }
    }

    fn postings(&self, field: Field, text: &str) -> tantivy::Result<Option<SegmentPostings>> {
        let term = Term::from_field_text(field, text);
        Ok(self.reader.inverted_index(field)?.read_postings(&term, IndexRecordOption::WithFreqs)?)
    }
}

/// How often the term stands in `doc`; the list moves on if it does.
fn take(postings: &mut SegmentPostings, doc: DocId) -> u32 {
    if postings.doc() != doc {
        return 0;
    }
    let count = postings.term_freq();
    postings.advance();
    count
}

/// Whether the term stands in `doc`; documents are asked for in their order.
fn stands_in(postings: &mut SegmentPostings, doc: DocId) -> bool {
    if postings.doc() < doc {
        postings.seek(doc);
    }
    postings.doc() == doc
}

/// Visits the documents of a posting list that are still there.
pub(super) fn each_alive(reader: &SegmentReader, postings: Option<SegmentPostings>, mut visit: impl FnMut(DocId)) {
    let Some(mut postings) = postings else { return };
    while postings.doc() != TERMINATED {
        if !reader.is_deleted(postings.doc()) {
            visit(postings.doc());
        }
        postings.advance();
    }
}
