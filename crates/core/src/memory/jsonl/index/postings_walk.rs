//! Walks through the postings of one segment for a question, document by document.

use std::collections::HashSet;

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet, SegmentOrdinal, SegmentReader, TERMINATED, Term};

use super::super::bank_state::LessonLocation;
use super::schema::{IS_LESSON, IndexFields, SegmentColumns, state_term};
use crate::domain::LessonAvailability;
use crate::memory::LessonStateFilter;
use crate::memory::answer_collector::AnswerCollector;
use crate::memory::lesson_matching::{LessonTrait, PreparedQuery, SharedTraits};

/// One segment without the documents for which the caller has newer data.
pub(super) struct SegmentWalk<'a> {
    pub(super) number: SegmentOrdinal,
    pub(super) reader: &'a SegmentReader,
    pub(super) fields: &'a IndexFields,
    pub(super) columns: &'a SegmentColumns,
    pub(super) skip: HashSet<DocId>,
}

impl SegmentWalk<'_> {
    /// Counts the eligible lessons that hold each word of the question.
    ///
    /// The term dictionary knows how many documents hold a word, but not which of them are deleted, in an excluded
    /// state or outdated; those few are looked up one by one.
    pub(super) fn count_holders(&self, ask: &PreparedQuery) -> tantivy::Result<Vec<u64>> {
        let mut excluded: Vec<DocId> = self.skip.iter().copied().collect();
        if self.reader.has_deletes() {
            excluded.extend((0..self.reader.max_doc()).filter(|doc| self.reader.is_deleted(*doc)));
        }
        for term in
            LessonAvailability::ALL.into_iter().filter(|one| !ask.which.includes_state(*one)).filter_map(state_term)
        {
            visit_live_documents(self.reader, self.read_postings(self.fields.traits, term)?, |doc| excluded.push(doc));
        }
        excluded.sort_unstable();
        excluded.dedup();
        let mut holders = Vec::new();
        for word in ask.question.terms() {
            let Some(mut postings) = self.read_postings(self.fields.words, word)? else {
                holders.push(0);
                continue;
            };
            let all = u64::from(postings.doc_freq());
            let gone: u64 = excluded.iter().map(|&doc| u64::from(seek_document(&mut postings, doc))).sum();
            holders.push(all.saturating_sub(gone));
        }
        Ok(holders)
    }

    /// Offers the lessons that hold a word of the question or share its topic; all of them if it has none.
    pub(super) fn offer_lessons(
        &self,
        ask: &PreparedQuery,
        answers: &mut AnswerCollector<'_, LessonLocation>,
    ) -> tantivy::Result<()> {
        let (mut lists, mut circumstances, mut common_words) = (Vec::new(), Vec::new(), Vec::new());
        for (number, word) in ask.question.terms().iter().enumerate() {
            let postings = self.read_postings(self.fields.words, word)?;
            if answers.is_retrieval_term(number) {
                lists.extend(postings.map(|postings| (postings, PostingRole::Word(number))));
            } else {
                common_words.extend(postings.map(|postings| (postings, number)));
            }
        }
        for (term, common) in &ask.traits {
            let postings = self.read_postings(self.fields.traits, term)?;
            if common.is_topic() {
                lists.extend(postings.map(|postings| (postings, PostingRole::Topic(*common))));
            } else {
                circumstances.extend(postings.map(|postings| (postings, *common)));
            }
        }
        if !ask.has_topic() {
            lists.extend(
                self.read_postings(self.fields.traits, IS_LESSON)?.map(|postings| (postings, PostingRole::Any)),
            );
        }

        // The next document of each list, in a separate array so that the least is found quickly.
        let mut heads: Vec<DocId> = lists.iter().map(|(postings, _)| postings.doc()).collect();
        let mut counts = vec![0; ask.question.terms().len()];
        while let Some(doc) = heads.iter().copied().min().filter(|doc| *doc != TERMINATED) {
            let mut common = SharedTraits::default();
            counts.fill(0);
            for (head, (postings, role)) in heads.iter_mut().zip(&mut lists).filter(|(head, _)| **head == doc) {
                match role {
                    PostingRole::Word(number) => {
                        if let Some(count) = counts.get_mut(*number) {
                            *count = postings.term_freq();
                        }
                    }
                    PostingRole::Topic(topic) => common.add_trait(*topic),
                    PostingRole::Any => {}
                }
                *head = postings.advance();
            }
            if self.reader.is_deleted(doc) || self.skip.contains(&doc) {
                continue;
            }
            for (postings, number) in &mut common_words {
                if seek_document(postings, doc)
                    && let Some(count) = counts.get_mut(*number)
                {
                    *count = postings.term_freq();
                }
            }
            for (postings, circumstance) in &mut circumstances {
                if seek_document(postings, doc) {
                    common.add_trait(*circumstance);
                }
            }
            let spot = LessonLocation::Indexed(DocAddress::new(self.number, doc));
            answers.offer_lesson(spot, &self.columns.read_card(doc), &common, &counts);
        }
        Ok(())
    }

    /// Visits the lessons in the included states, with the time when each was last confirmed.
    pub(super) fn visit_lessons(
        &self,
        which: LessonStateFilter,
        mut visit: impl FnMut(DocAddress, i64),
    ) -> tantivy::Result<()> {
        visit_live_documents(self.reader, self.read_postings(self.fields.traits, IS_LESSON)?, |doc| {
            if !self.skip.contains(&doc) && which.includes_state(self.columns.read_card(doc).availability) {
                visit(DocAddress::new(self.number, doc), self.columns.read_worth(doc).last_sign);
            }
        });
        Ok(())
    }

    fn read_postings(&self, field: Field, text: &str) -> tantivy::Result<Option<SegmentPostings>> {
        let term = Term::from_field_text(field, text);
        Ok(self.reader.inverted_index(field)?.read_postings(&term, IndexRecordOption::WithFreqs)?)
    }
}

/// The meaning of a posting list for a document on it.
enum PostingRole {
    /// The document holds this word of the question.
    Word(usize),
    /// The document shares this topic trait.
    Topic(LessonTrait),
    /// The document is a lesson.
    Any,
}

/// Returns true if the term occurs in `doc`; documents must be queried in ascending order.
fn seek_document(postings: &mut SegmentPostings, doc: DocId) -> bool {
    if postings.doc() < doc {
        postings.seek(doc);
    }
    postings.doc() == doc
}

/// Visits the documents of a posting list that are not deleted.
pub(super) fn visit_live_documents(
    reader: &SegmentReader,
    postings: Option<SegmentPostings>,
    mut visit: impl FnMut(DocId),
) {
    let Some(mut postings) = postings else { return };
    while postings.doc() != TERMINATED {
        if !reader.is_deleted(postings.doc()) {
            visit(postings.doc());
        }
        postings.advance();
    }
}
