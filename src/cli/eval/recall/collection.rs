//! Texts that are searched by the product's own measure, without a store around it.

use std::collections::{BTreeMap, HashMap};

use crate::domain::{AgentMemory, MemoryId, Timestamp};
use crate::model::embed::Vector;
use crate::recall::{Measure, Overlap, Question, Terms, Vocabulary, closest, terms_of};
use crate::text::Cutter;

/// One group's texts, made ready to be searched.
pub(super) struct Collection {
    lengths: Vec<u32>,
    /// By term: which texts hold it, and how much it counts there.
    postings: HashMap<String, Vec<(usize, u32)>>,
}

impl Collection {
    pub(super) fn new<'t>(texts: impl IntoIterator<Item = &'t str>, cutter: &mut Cutter) -> Self {
        let mut collection = Self { lengths: Vec::new(), postings: HashMap::new() };
        for (place, text) in texts.into_iter().enumerate() {
            let Terms { counts, length } = terms(text, cutter);
            collection.lengths.push(length);
            for (term, count) in counts {
                collection.postings.entry(term).or_default().push((place, count));
            }
        }
        collection
    }

    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// What each text has in common with a question, where it has anything.
    pub(super) fn overlaps(&self, text: &str) -> (Measure, BTreeMap<usize, Overlap>) {
        let question = Question::of(text);
        let held: Vec<&[(usize, u32)]> = question
            .terms()
            .iter()
            .map(|term| self.postings.get(term).map(Vec::as_slice).unwrap_or_default())
            .collect();
        let vocabulary = Vocabulary {
            documents: self.lengths.len() as u64,
            length: self.lengths.iter().map(|length| u64::from(*length)).sum(),
            holders: held.iter().map(|postings| postings.len() as u64).collect(),
        };
        let measure = vocabulary.measure(&question);
        let mut counts: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (term, postings) in held.iter().enumerate() {
            for &(place, count) in *postings {
                let counts = counts.entry(place).or_insert_with(|| vec![0; held.len()]);
                if let Some(slot) = counts.get_mut(term) {
                    *slot = count;
                }
            }
        }
        let length = |place: &usize| self.lengths.get(*place).copied().unwrap_or_default();
        let overlaps = counts
            .iter()
            .filter_map(|(place, counts)| measure.overlap(counts, length(place)).map(|overlap| (*place, overlap)));
        let overlaps = overlaps.collect();
        (measure, overlaps)
    }
}

/// A text as the words of a lesson that has nothing but a summary.
fn terms(text: &str, cutter: &mut Cutter) -> Terms {
    let Ok(id) = MemoryId::parse("mem-text") else { return Terms::default() };
    terms_of(cutter, &AgentMemory::new(id, Timestamp::default(), text))
}

/// The vectors of texts, unit by unit.
pub(super) struct Meanings(pub(super) Vec<Vec<Vector>>);

impl Meanings {
    /// How close a question is to each text.
    pub(super) fn cosines(&self, question: &Vector) -> Vec<f64> {
        let close = |units: &Vec<Vector>| closest(units.iter().map(|unit| f64::from(unit.cosine(question))));
        self.0.iter().map(|units| close(units).unwrap_or_default()).collect()
    }
}
