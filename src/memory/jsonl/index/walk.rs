//! A question's way through the postings of one segment, document by document.

use std::collections::HashSet;

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet, SegmentOrdinal, SegmentReader, TERMINATED, Term};

use super::super::state::Spot;
use super::schema::{Columns, Fields, IS_LESSON, standing_term};
use crate::domain::Standing;
use crate::memory::answers::Answers;
use crate::memory::search::{Ask, Common, Trait};

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
        for term in Standing::ALL.into_iter().filter(|one| !ask.which.includes(*one)).filter_map(standing_term) {
            each_alive(self.reader, self.postings(self.fields.traits, term)?, |doc| excluded.push(doc));
        }
        excluded.sort_unstable();
        excluded.dedup();
        let mut holders = Vec::new();
        for word in ask.question.terms() {
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
    pub(super) fn walk(&self, ask: &Ask, answers: &mut Answers<'_, Spot>) -> tantivy::Result<()> {
        let (mut lists, mut circumstances, mut common_words) = (Vec::new(), Vec::new(), Vec::new());
        for (number, word) in ask.question.terms().iter().enumerate() {
            let postings = self.postings(self.fields.words, word)?;
            if answers.brings(number) {
                lists.extend(postings.map(|postings| (postings, Role::Word(number))));
            } else {
                common_words.extend(postings.map(|postings| (postings, number)));
            }
        }
        for (term, common) in &ask.traits {
            let postings = self.postings(self.fields.traits, term)?;
            if common.is_topic() {
                lists.extend(postings.map(|postings| (postings, Role::Topic(*common))));
            } else {
                circumstances.extend(postings.map(|postings| (postings, *common)));
            }
        }
        if !ask.has_topic() {
            lists.extend(self.postings(self.fields.traits, IS_LESSON)?.map(|postings| (postings, Role::Any)));
        }

        // The next document of each list, kept apart so that the least of them is found quickly.
        let mut heads: Vec<DocId> = lists.iter().map(|(postings, _)| postings.doc()).collect();
        let mut counts = vec![0; ask.question.terms().len()];
        while let Some(doc) = heads.iter().copied().min().filter(|doc| *doc != TERMINATED) {
            let mut common = Common::default();
            counts.fill(0);
            for (head, (postings, role)) in heads.iter_mut().zip(&mut lists).filter(|(head, _)| **head == doc) {
                match role {
                    Role::Word(number) => {
                        if let Some(count) = counts.get_mut(*number) {
                            *count = postings.term_freq();
                        }
                    }
                    Role::Topic(topic) => common.note(*topic),
                    Role::Any => {}
                }
                *head = postings.advance();
            }
            if self.reader.is_deleted(doc) || self.skip.contains(&doc) {
                continue;
            }
            for (postings, number) in &mut common_words {
                if stands_in(postings, doc)
                    && let Some(count) = counts.get_mut(*number)
                {
                    *count = postings.term_freq();
                }
            }
            for (postings, circumstance) in &mut circumstances {
                if stands_in(postings, doc) {
                    common.note(*circumstance);
                }
            }
            let spot = Spot::Indexed(DocAddress::new(self.number, doc));
            answers.offer(spot, &self.columns.card(doc), &common, &counts);
        }
        Ok(())
    }

    fn postings(&self, field: Field, text: &str) -> tantivy::Result<Option<SegmentPostings>> {
        let term = Term::from_field_text(field, text);
        Ok(self.reader.inverted_index(field)?.read_postings(&term, IndexRecordOption::WithFreqs)?)
    }
}

/// What it means for a document to be on a list.
enum Role {
    /// It holds this word of the question.
    Word(usize),
    /// It shares the topic in this way.
    Topic(Trait),
    /// It is a lesson.
    Any,
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
