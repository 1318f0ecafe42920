//! Facets: the task, tool, path and other circumstances of a lesson or a query.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ErrorFamily;

/// The circumstances of a lesson, and of the moment that asks for lessons. All optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Facets")]
pub struct FacetValues {
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
    /// The error family of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_family: Option<ErrorFamily>,
}

/// One kind of circumstance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Facet {
    /// The facet stored in [`FacetValues::task_id`].
    Task,
    /// The facet stored in [`FacetValues::provider`].
    Provider,
    /// The facet stored in [`FacetValues::tool`].
    Tool,
    /// The facet stored in [`FacetValues::component`].
    Component,
    /// The facet stored in [`FacetValues::role`].
    Role,
    /// The facet stored in [`FacetValues::domain`].
    Domain,
    /// The facet stored in [`FacetValues::phase`].
    Phase,
    /// The facet stored in [`FacetValues::error_family`].
    ErrorFamily,
}

impl Facet {
    /// All facets, in the order of [`FacetValues`].
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

    /// Returns the facet's name in an index term or a message.
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

impl FacetValues {
    /// Returns the value of one facet.
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

    /// Returns the facets that have a value.
    pub fn present_facets(&self) -> FacetSet {
        Facet::ALL.into_iter().filter(|&facet| self.get(facet).is_some()).collect()
    }

    /// Returns the facets of a lesson (`self`) that match the facets of a query.
    pub fn facets_met_by(&self, asked: &Self) -> FacetSet {
        let met = |&facet: &Facet| match (self.get(facet), asked.get(facet)) {
            (Some(own), Some(asked)) => Self::values_met_by(facet, asked).any(|value| value == own),
            _ => false,
        };
        Facet::ALL.into_iter().filter(met).collect()
    }

    /// Returns the values of a lesson's facet that match `asked`: a component matches every path below it.
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
    /// Returns the set with this one facet.
    pub const fn from_facet(facet: Facet) -> Self {
        Self(1 << (facet as u8))
    }

    /// Returns true if the set contains `facet`.
    pub fn contains(self, facet: Facet) -> bool {
        !self.intersection(Self::from_facet(facet)).is_empty()
    }

    /// Adds a facet to the set.
    pub fn insert(&mut self, facet: Facet) {
        self.0 |= Self::from_facet(facet).0;
    }

    /// Returns the facets that are in both sets.
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the facets that are in this set but not in the other.
    pub fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns true if the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the facets in the set.
    pub fn iter(self) -> impl Iterator<Item = Facet> {
        Facet::ALL.into_iter().filter(move |facet| self.contains(*facet))
    }

    /// Returns the set as a number for storage in an index.
    pub fn to_bits(self) -> u8 {
        self.0
    }

    /// Returns the set that such a number represents.
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
