//! What a lesson, or a question, is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ErrorFamily;

/// The circumstances of a lesson, and of the moment that asks for lessons. All optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Facets {
    /// The task it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Which agent or model vendor: `claude-code`, `openai`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Which tool: `bash`, `grep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A path of the repository; it stands for everything below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// Who acts: an orchestrator's role or archetype.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// `code`, `writing`, or the project's own; `general` is everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Where in the work: `plan`, `verify`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Which failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_family: Option<ErrorFamily>,
}

/// One of the circumstances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Facet {
    /// See [`Facets::task_id`].
    Task,
    /// See [`Facets::provider`].
    Provider,
    /// See [`Facets::tool`].
    Tool,
    /// See [`Facets::component`].
    Component,
    /// See [`Facets::role`].
    Role,
    /// See [`Facets::domain`].
    Domain,
    /// See [`Facets::phase`].
    Phase,
    /// See [`Facets::error_family`].
    ErrorFamily,
}

impl Facet {
    /// All of them, in the order of [`Facets`].
    pub const ALL: [Self; 8] = [
        Self::Task,
        Self::Provider,
        Self::Tool,
        Self::Component,
        Self::Role,
        Self::Domain,
        Self::Phase,
        Self::ErrorFamily,
    ];

    /// Its name in a term or a message.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Provider => "provider",
            Self::Tool => "tool",
            Self::Component => "component",
            Self::Role => "role",
            Self::Domain => "domain",
            Self::Phase => "phase",
            Self::ErrorFamily => "error",
        }
    }
}

impl Facets {
    /// The value of one facet.
    pub fn get(&self, facet: Facet) -> Option<&str> {
        match facet {
            Facet::Task => self.task_id.as_deref(),
            Facet::Provider => self.provider.as_deref(),
            Facet::Tool => self.tool.as_deref(),
            Facet::Component => self.component.as_deref(),
            Facet::Role => self.role.as_deref(),
            Facet::Domain => self.domain.as_deref(),
            Facet::Phase => self.phase.as_deref(),
            Facet::ErrorFamily => self.error_family.as_ref().map(ErrorFamily::as_str),
        }
    }

    /// The facets that have a value.
    pub fn given(&self) -> FacetSet {
        Facet::ALL.into_iter().filter(|&facet| self.get(facet).is_some()).collect()
    }

    /// The facets of a lesson (`self`) that a question's circumstances meet.
    pub fn met_by(&self, asked: &Self) -> FacetSet {
        let met = |&facet: &Facet| match (self.get(facet), asked.get(facet)) {
            (Some(own), Some(asked)) => Self::values_met_by(facet, asked).any(|value| value == own),
            _ => false,
        };
        Facet::ALL.into_iter().filter(met).collect()
    }

    /// The values a lesson may have for its facet to be met by `asked`: a component is met by every path below it.
    pub fn values_met_by(facet: Facet, asked: &str) -> impl Iterator<Item = &str> {
        let above = (facet == Facet::Component)
            .then(|| asked.match_indices('/').filter_map(|(at, _)| asked.get(..at)).filter(|path| !path.is_empty()));
        std::iter::once(asked).chain(above.into_iter().flatten())
    }
}

/// A set of facets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FacetSet(u8);

impl FacetSet {
    /// This one alone.
    pub const fn of(facet: Facet) -> Self {
        Self(1 << (facet as u8))
    }

    /// Whether `facet` is in it.
    pub fn contains(self, facet: Facet) -> bool {
        !self.and(Self::of(facet)).is_empty()
    }

    /// Adds one.
    pub fn insert(&mut self, facet: Facet) {
        self.0 |= Self::of(facet).0;
    }

    /// What is in both.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is here and not there.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those that are in it.
    pub fn iter(self) -> impl Iterator<Item = Facet> {
        Facet::ALL.into_iter().filter(move |facet| self.contains(*facet))
    }

    /// As a number, for an index to keep.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The set behind such a number.
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }
}

impl FromIterator<Facet> for FacetSet {
    fn from_iter<I: IntoIterator<Item = Facet>>(facets: I) -> Self {
        let mut set = Self::default();
        for facet in facets {
            set.insert(facet);
        }
        set
    }
}
