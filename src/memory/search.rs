//! What a question asks of each lesson. Every store answers through this file, with an index or without, so they agree.

use std::collections::{HashMap, HashSet};

use super::{Tenancy, Which};
use crate::domain::{AgentMemory, Counters, Facet, FacetSet, Facets, MemoryId, MemoryQuery, MemoryScope, Standing};
use crate::recall::{self, Ageing, Measure, Question, Terms};

/// What decides whether a lesson is an answer, apart from the question. Looked at for every lesson that comes near.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Card {
    pub(super) standing: Standing,
    pub(super) binding: FacetSet,
    pub(super) ageing: Ageing,
    pub(super) global: bool,
    pub(super) has_repo: bool,
    pub(super) has_root: bool,
    /// Weighted count of its words.
    pub(super) length: u32,
}

impl Card {
    pub(super) fn of(memory: &AgentMemory, length: u32) -> Self {
        Self {
            standing: memory.standing(),
            binding: memory.binding_facets(),
            ageing: Ageing::of(memory),
            global: memory.scope == MemoryScope::Global,
            has_repo: memory.repo_id.is_some(),
            has_root: memory.project_root.is_some(),
            length,
        }
    }
}

/// What decides where an answer stands among others. Looked at for those that may make it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Worth {
    /// Importance, lowered by distrust.
    pub(super) importance: f64,
    /// The last sign that the lesson holds, in milliseconds since 1970.
    pub(super) last_sign: i64,
    /// Settles what nothing else does, the same way wherever the lesson stands.
    pub(super) lot: u64,
}

impl Worth {
    pub(super) fn of(memory: &AgentMemory, counters: &Counters) -> Self {
        Self {
            importance: memory.importance.value() * counters.trust(),
            last_sign: counters.last_sign().unwrap_or(memory.version_at()).timestamp_millis(),
            lot: lot(&memory.id),
        }
    }

    /// Of two lessons that are equally good, the one with the later sign of life comes first.
    pub(super) fn tie(&self, other: &Self) -> std::cmp::Ordering {
        other.last_sign.cmp(&self.last_sign).then(self.lot.cmp(&other.lot))
    }
}

/// The first eight bytes of a hash, for telling things apart.
pub(super) fn short_hash(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(blake3::hash(bytes).as_bytes()).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(first)
}

/// The lot of a lesson, by its id.
pub(super) fn lot(id: &MemoryId) -> u64 {
    short_hash(id.as_str().as_bytes())
}

/// What is seen of a lesson that passes by.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) card: &'a Card,
    /// What it has in common with the question, apart from words.
    pub(super) common: &'a Common,
    /// How much each term of the question counts in it.
    pub(super) counts: &'a [u32],
    /// Its lot, which costs a look into the index.
    pub(super) lot: &'a dyn Fn() -> u64,
}

/// How a lesson meets a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Met {
    /// From 0 to 1.
    pub(super) relevance: f64,
    /// What it is let through the gate by.
    pub(super) closeness: f64,
}

/// Something a lesson and a question can have in common, apart from words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trait {
    Tag,
    Facet(Facet),
    Scope,
    Kind,
    Repo,
    Root,
}

impl Trait {
    /// Whether having it in common makes a lesson an answer, and not just a better one.
    pub(super) fn is_topic(self) -> bool {
        matches!(self, Self::Tag | Self::Facet(Facet::ErrorFamily))
    }
}

/// What a lesson and a question have in common, apart from words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Common {
    tags: u16,
    facets: FacetSet,
    scope: bool,
    kind: bool,
    repo: bool,
    root: bool,
}

impl Common {
    /// Whether it is something that makes a lesson an answer.
    pub(super) fn has_topic(&self) -> bool {
        self.tags > 0 || self.facets.contains(Facet::ErrorFamily)
    }

    pub(super) fn note(&mut self, common: Trait) {
        match common {
            Trait::Tag => self.tags = self.tags.saturating_add(1),
            Trait::Facet(facet) => self.facets.insert(facet),
            Trait::Scope => self.scope = true,
            Trait::Kind => self.kind = true,
            Trait::Repo => self.repo = true,
            Trait::Root => self.root = true,
        }
    }
}

/// The traits of a lesson, as terms. Two sides have a trait in common if they have a term in common.
pub(super) fn terms_of_traits(memory: &AgentMemory) -> Vec<String> {
    let mut terms = vec![format!("scope {}", memory.scope), format!("kind {}", memory.kind)];
    terms.extend(memory.repo_id.iter().map(|repo| format!("repo {repo}")));
    terms.extend(memory.project_root.iter().map(|root| format!("root {root}")));
    let facets = Facet::ALL.into_iter().filter_map(|facet| Some((facet, memory.facets.get(facet)?)));
    terms.extend(facets.map(|(facet, value)| format!("{} {value}", facet.as_str())));
    let tags: HashSet<String> = memory.tags.iter().map(|tag| tag_term(tag)).collect();
    terms.extend(tags);
    terms
}

/// Those of a lesson's traits that make it an answer by themselves.
#[cfg(feature = "postgres")]
pub(super) fn is_topic_term(term: &str) -> bool {
    let named = |facet: Facet| term.strip_prefix(facet.as_str()).is_some_and(|rest| rest.starts_with(' '));
    term.starts_with("tag ") || named(Facet::ErrorFamily)
}

fn tag_term(tag: &str) -> String {
    format!("tag {}", tag.trim().to_lowercase())
}

/// A question, made ready.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    /// The words asked for.
    pub(super) question: Question,
    /// Terms to look for and what each of them means.
    pub(super) traits: Vec<(String, Trait)>,
    /// Lessons that may answer by what they mean, whether or not they share a word.
    pub(super) close: Vec<MemoryId>,
    /// How close these are, by their lots.
    cosines: HashMap<u64, f64>,
    /// Which lessons may answer, and whose words count as the vocabulary.
    pub(super) which: Which,
    tags: u16,
    /// Facets the question mentions: a lesson bound to another value does not apply.
    mentioned: FacetSet,
    wants_scope: bool,
    wants_kind: bool,
    knows_repo: bool,
    /// Whether lessons of other projects are out.
    confined: bool,
    has_topic: bool,
}

impl Ask {
    /// What a question asks.
    pub(super) fn query(query: &MemoryQuery, tenancy: Tenancy) -> Self {
        let mut ask = Self::about(query, tenancy, Which::Given);
        let tags: HashSet<String> = query.tags.iter().map(|tag| tag_term(tag)).collect();
        ask.tags = u16::try_from(tags.len()).unwrap_or(u16::MAX);
        ask.traits.extend(tags.into_iter().map(|term| (term, Trait::Tag)));
        ask.traits.extend(query.scope.iter().map(|scope| (format!("scope {scope}"), Trait::Scope)));
        ask.traits.extend(query.kind.iter().map(|kind| (format!("kind {kind}"), Trait::Kind)));
        ask.mentioned = query.facets.given();
        ask.wants_scope = query.scope.is_some();
        ask.wants_kind = query.kind.is_some();
        ask.has_topic = query.has_topic();
        ask.close = query.cosines.keys().cloned().collect();
        ask.cosines = query.cosines.iter().map(|(id, cosine)| (lot(id), *cosine)).collect();
        ask
    }

    /// How close a lesson is in meaning, where that is known.
    fn cosine(&self, lot: u64) -> Option<f64> {
        self.cosines.get(&lot).copied()
    }

    /// What reads like the question's text, in whatever circumstances and however it stands.
    pub(super) fn neighbours(query: &MemoryQuery, tenancy: Tenancy) -> Self {
        Self::about(query, tenancy, Which::All)
    }

    fn about(query: &MemoryQuery, tenancy: Tenancy, which: Which) -> Self {
        let question = Question::of(query.text.as_deref().unwrap_or_default());
        let mut traits = vec![(format!("root {}", query.project_root), Trait::Root)];
        traits.extend(query.repo_id.iter().map(|repo| (format!("repo {repo}"), Trait::Repo)));
        for facet in Facet::ALL {
            for value in query.facets.get(facet).into_iter().flat_map(|asked| Facets::values_met_by(facet, asked)) {
                traits.push((format!("{} {value}", facet.as_str()), Trait::Facet(facet)));
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
            confined: tenancy == Tenancy::Shared,
            has_topic: true,
        }
    }

    /// Whether a lesson must be on a topic to be an answer.
    pub(super) fn has_topic(&self) -> bool {
        self.has_topic
    }

    /// How much each term of the question counts in a lesson.
    pub(super) fn counts_in(&self, terms: &Terms) -> Vec<u32> {
        self.question.terms().iter().map(|term| terms.counts.get(term).copied().unwrap_or_default()).collect()
    }

    /// What this lesson has in common with the question.
    pub(super) fn common_with(&self, memory: &AgentMemory) -> Common {
        self.common_among(terms_of_traits(memory).iter().map(String::as_str))
    }

    /// The same for a lesson of which only the traits are known, as [`terms_of_traits`] has them.
    pub(super) fn common_among<'t>(&self, traits: impl Iterator<Item = &'t str>) -> Common {
        let own: HashSet<&str> = traits.collect();
        let mut common = Common::default();
        for (_, found) in self.traits.iter().filter(|(term, _)| own.contains(term.as_str())) {
            common.note(*found);
        }
        common
    }

    /// How much closer circumstances can bring a lesson that shares neither tag nor failure with the question.
    #[cfg(feature = "postgres")]
    pub(super) fn most_nearness(&self) -> f64 {
        let mut facets = FacetSet::default();
        for (_, found) in &self.traits {
            if let Trait::Facet(facet) = found
                && !found.is_topic()
            {
                facets.insert(*facet);
            }
        }
        recall::nearness(0.0, facets)
    }

    /// How a lesson meets the question; `None` if it is no answer.
    pub(super) fn meets(&self, measure: &Measure, seen: &Seen<'_>, floor: f64) -> Option<Met> {
        let Seen { card, common, counts, lot } = *seen;
        let is_ours = || match (card.has_repo, self.knows_repo) {
            (true, true) => common.repo,
            _ => !card.has_root || common.root,
        };
        let admitted = self.which.includes(card.standing)
            && (!self.wants_scope || common.scope)
            && (!self.wants_kind || common.kind)
            && (!self.confined || card.global || is_ours())
            && card.binding.and(self.mentioned).without(common.facets).is_empty();
        if !admitted {
            return None;
        }
        let overlap = measure.overlap(counts, card.length);
        let cosine = if self.cosines.is_empty() { None } else { self.cosine(lot()) };
        let text = measure.relevance(overlap, cosine);
        let tags = if self.tags == 0 { 0.0 } else { f64::from(common.tags) / f64::from(self.tags) };
        if self.has_topic && !recall::meets_topic(text, tags, common.facets, floor) {
            return None;
        }
        let closeness = recall::closeness(overlap, cosine) + recall::nearness(tags, common.facets);
        Some(Met { relevance: recall::relevance(text, tags, common.facets), closeness })
    }
}
