//! Matches lessons against a question. Every store answers through this file, so that they agree.

use std::collections::{HashMap, HashSet};

use super::{BankTenancy, LessonStateFilter};
use crate::domain::{
    AgentMemory, Facet, FacetSet, FacetValues, LessonAvailability, LessonCounters, MemoryId, MemoryQuery, MemoryScope,
    StableHash,
};
use crate::recall::{self, AgeingClass, LessonTerms, RelevanceMeasure, RelevanceQuery};

/// The properties that decide if a lesson can be an answer, apart from the question. They are read for every candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LessonCard {
    pub(super) availability: LessonAvailability,
    pub(super) binding: FacetSet,
    pub(super) ageing: AgeingClass,
    pub(super) global: bool,
    pub(super) has_repo: bool,
    pub(super) has_root: bool,
    /// The weighted count of its words.
    pub(super) length: u32,
}

impl LessonCard {
    pub(super) fn from_memory(memory: &AgentMemory, length: u32) -> Self {
        Self {
            availability: memory.availability(),
            binding: memory.binding_facets(),
            ageing: AgeingClass::from_lesson(memory),
            global: memory.scope == MemoryScope::Global,
            has_repo: memory.repo_id.is_some(),
            has_root: memory.project_root.is_some(),
            length,
        }
    }
}

/// The properties that rank an answer among others. They are read only for lessons that may be selected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LessonWorth {
    /// The importance, lowered by distrust.
    pub(super) importance: f64,
    /// The last time the lesson was confirmed, in milliseconds since 1970.
    pub(super) last_sign: i64,
    /// The hash that breaks ties, the same wherever the lesson is stored.
    pub(super) lot: u64,
}

impl LessonWorth {
    pub(super) fn from_memory(memory: &AgentMemory, counters: &LessonCounters) -> Self {
        Self {
            importance: memory.importance.value() * counters.trust_score(),
            last_sign: counters.last_confirmed_at().unwrap_or(memory.version_at()).timestamp_millis(),
            lot: tie_break_hash(&memory.id),
        }
    }

    /// Orders two equally good lessons: the one that was confirmed later comes first.
    pub(super) fn break_tie(&self, other: &Self) -> std::cmp::Ordering {
        other.last_sign.cmp(&self.last_sign).then(self.lot.cmp(&other.lot))
    }
}

/// Returns the first eight bytes of a hash, for telling things apart.
pub(super) fn short_hash(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(StableHash::from_bytes(bytes).to_bytes())
}

/// Returns the hash of a lesson's id that breaks ties.
pub(super) fn tie_break_hash(id: &MemoryId) -> u64 {
    short_hash(id.as_str().as_bytes())
}

/// The properties of a lesson that are matched against a question.
#[derive(Clone, Copy)]
pub(super) struct MatchInput<'a> {
    pub(super) card: &'a LessonCard,
    /// The traits it shares with the question, apart from words.
    pub(super) common: &'a SharedTraits,
    /// The count of each term of the question in it.
    pub(super) counts: &'a [u32],
    /// Its tie-break hash, which costs an index lookup.
    pub(super) lot: &'a dyn Fn() -> u64,
}

/// The match of a lesson with a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LessonMatch {
    /// The relevance, from 0 to 1.
    pub(super) relevance: f64,
    /// The closeness by which it passes the gate.
    pub(super) closeness: f64,
}

/// A trait that a lesson and a question can share, apart from words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LessonTrait {
    Tag,
    Facet(Facet),
    Scope,
    Kind,
    Repo,
    Root,
}

impl LessonTrait {
    /// Returns true if sharing it makes a lesson an answer, and not just a better one.
    pub(super) fn is_topic(self) -> bool {
        matches!(self, Self::Tag | Self::Facet(Facet::ErrorFamily))
    }
}

/// The traits that a lesson and a question share, apart from words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SharedTraits {
    tags: u16,
    facets: FacetSet,
    scope: bool,
    kind: bool,
    repo: bool,
    root: bool,
}

impl SharedTraits {
    /// Returns true if one of them makes a lesson an answer.
    pub(super) fn has_topic(&self) -> bool {
        self.tags > 0 || self.facets.contains(Facet::ErrorFamily)
    }

    pub(super) fn add_trait(&mut self, common: LessonTrait) {
        match common {
            LessonTrait::Tag => self.tags = self.tags.saturating_add(1),
            LessonTrait::Facet(facet) => self.facets.insert(facet),
            LessonTrait::Scope => self.scope = true,
            LessonTrait::Kind => self.kind = true,
            LessonTrait::Repo => self.repo = true,
            LessonTrait::Root => self.root = true,
        }
    }
}

/// Returns the traits of a lesson as terms. A lesson and a question share a trait if they share its term.
pub(super) fn trait_terms(memory: &AgentMemory) -> Vec<String> {
    let mut terms = vec![format!("scope {}", memory.scope), format!("kind {}", memory.kind)];
    terms.extend(memory.repo_id.iter().map(|repo| format!("repo {repo}")));
    terms.extend(memory.project_root.iter().map(|root| format!("root {root}")));
    let facets = Facet::ALL.into_iter().filter_map(|facet| Some((facet, memory.facets.get(facet)?)));
    terms.extend(facets.map(|(facet, value)| format!("{} {value}", facet.as_str())));
    let tags: HashSet<String> = memory.tags.iter().map(|tag| tag_term(tag)).collect();
    terms.extend(tags);
    terms
}

/// Returns true if a trait term makes a lesson an answer by itself.
#[cfg(feature = "postgres")]
pub(super) fn is_topic_term(term: &str) -> bool {
    let named = |facet: Facet| term.strip_prefix(facet.as_str()).is_some_and(|rest| rest.starts_with(' '));
    term.starts_with("tag ") || named(Facet::ErrorFamily)
}

fn tag_term(tag: &str) -> String {
    format!("tag {}", tag.trim().to_lowercase())
}

/// A question that is prepared for matching.
#[derive(Debug, Clone)]
pub(super) struct PreparedQuery {
    /// The words of the question.
    pub(super) question: RelevanceQuery,
    /// The trait terms to look for and what each of them means.
    pub(super) traits: Vec<(String, LessonTrait)>,
    /// The lessons that may answer by their meaning, even if they share no word.
    pub(super) close: Vec<MemoryId>,
    /// The closeness of these in meaning, by their tie-break hashes.
    cosines: HashMap<u64, f64>,
    /// The states of the lessons that may answer, and whose words count as the vocabulary.
    pub(super) which: LessonStateFilter,
    tags: u16,
    /// The facets that the question mentions: a lesson bound to another value does not apply.
    mentioned: FacetSet,
    wants_scope: bool,
    wants_kind: bool,
    knows_repo: bool,
    /// True if lessons of other projects are excluded.
    confined: bool,
    has_topic: bool,
}

impl PreparedQuery {
    /// Prepares a question for answers.
    pub(super) fn for_query(query: &MemoryQuery, tenancy: BankTenancy) -> Self {
        let mut ask = Self::from_query(query, tenancy, LessonStateFilter::Given);
        let tags: HashSet<String> = query.tags.iter().map(|tag| tag_term(tag)).collect();
        ask.tags = u16::try_from(tags.len()).unwrap_or(u16::MAX);
        ask.traits.extend(tags.into_iter().map(|term| (term, LessonTrait::Tag)));
        ask.traits.extend(query.scope.iter().map(|scope| (format!("scope {scope}"), LessonTrait::Scope)));
        ask.traits.extend(query.kind.iter().map(|kind| (format!("kind {kind}"), LessonTrait::Kind)));
        ask.mentioned = query.facets.present_facets();
        ask.wants_scope = query.scope.is_some();
        ask.wants_kind = query.kind.is_some();
        ask.has_topic = query.has_topic();
        ask.close = query.cosines.keys().cloned().collect();
        ask.cosines = query.cosines.iter().map(|(id, cosine)| (tie_break_hash(id), *cosine)).collect();
        ask
    }

    /// Returns the closeness of a lesson in meaning, if known.
    fn find_cosine(&self, lot: u64) -> Option<f64> {
        self.cosines.get(&lot).copied()
    }

    /// Prepares a search for lessons that are similar to the question's text, whatever their facets and state.
    pub(super) fn for_neighbours(query: &MemoryQuery, tenancy: BankTenancy) -> Self {
        Self::from_query(query, tenancy, LessonStateFilter::All)
    }

    fn from_query(query: &MemoryQuery, tenancy: BankTenancy, which: LessonStateFilter) -> Self {
        let question = RelevanceQuery::from_text(query.text.as_deref().unwrap_or_default());
        let mut traits = vec![(format!("root {}", query.project_root), LessonTrait::Root)];
        traits.extend(query.repo_id.iter().map(|repo| (format!("repo {repo}"), LessonTrait::Repo)));
        for facet in Facet::ALL {
            for value in query.facets.get(facet).into_iter().flat_map(|asked| FacetValues::values_met_by(facet, asked))
            {
                traits.push((format!("{} {value}", facet.as_str()), LessonTrait::Facet(facet)));
            }
        }
        Self {
            question,
            traits,
            close: Vec::new(),
            cosines: HashMap::new(),
            which,
            tags: 0,
            mentioned: FacetSet::default(),
            wants_scope: false,
            wants_kind: false,
            knows_repo: query.repo_id.is_some(),
            confined: tenancy == BankTenancy::Shared,
            has_topic: true,
        }
    }

    /// Returns true if a lesson must be on a topic to be an answer.
    pub(super) fn has_topic(&self) -> bool {
        self.has_topic
    }

    /// Returns the count of each term of the question in a lesson.
    pub(super) fn count_terms_in(&self, terms: &LessonTerms) -> Vec<u32> {
        self.question.terms().iter().map(|term| terms.counts.get(term).copied().unwrap_or_default()).collect()
    }

    /// Returns the traits that a lesson shares with the question.
    pub(super) fn shared_traits_with(&self, memory: &AgentMemory) -> SharedTraits {
        self.shared_traits_among(trait_terms(memory).iter().map(String::as_str))
    }

    /// Returns the shared traits of a lesson whose trait terms, as [`trait_terms`] returns them, are given.
    pub(super) fn shared_traits_among<'t>(&self, traits: impl Iterator<Item = &'t str>) -> SharedTraits {
        let own: HashSet<&str> = traits.collect();
        let mut common = SharedTraits::default();
        for (_, found) in self.traits.iter().filter(|(term, _)| own.contains(term.as_str())) {
            common.add_trait(*found);
        }
        common
    }

    /// Returns the most that shared facets can add to a lesson that shares neither tag nor error family.
    #[cfg(feature = "postgres")]
    pub(super) fn max_nearness(&self) -> f64 {
        let mut facets = FacetSet::default();
        for (_, found) in &self.traits {
            if let LessonTrait::Facet(facet) = found
                && !found.is_topic()
            {
                facets.insert(*facet);
            }
        }
        recall::facet_nearness(0.0, facets)
    }

    /// Matches a lesson with the question; `None` if it is no answer.
    pub(super) fn match_lesson(
        &self,
        measure: &RelevanceMeasure,
        seen: &MatchInput<'_>,
        floor: f64,
    ) -> Option<LessonMatch> {
        let MatchInput { card, common, counts, lot } = *seen;
        let is_ours = || match (card.has_repo, self.knows_repo) {
            (true, true) => common.repo,
            _ => !card.has_root || common.root,
        };
        let admitted = self.which.includes_state(card.availability)
            && (!self.wants_scope || common.scope)
            && (!self.wants_kind || common.kind)
            && (!self.confined || card.global || is_ours())
            && card.binding.intersection(self.mentioned).difference(common.facets).is_empty();
        if !admitted {
            return None;
        }
        let overlap = measure.measure_overlap(counts, card.length);
        let cosine = if self.cosines.is_empty() { None } else { self.find_cosine(lot()) };
        let text = measure.text_relevance(overlap, cosine);
        let tags = if self.tags == 0 { 0.0 } else { f64::from(common.tags) / f64::from(self.tags) };
        if self.has_topic && !recall::meets_topic(text, tags, common.facets, floor) {
            return None;
        }
        let closeness = recall::combined_closeness(overlap, cosine) + recall::facet_nearness(tags, common.facets);
        Some(LessonMatch { relevance: recall::combined_relevance(text, tags, common.facets), closeness })
    }
}
