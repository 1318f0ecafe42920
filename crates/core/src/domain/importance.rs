//! The importance of a lesson, from 0 to 1.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::InvalidValue;

/// A number from 0 to 1. Percentages and marks out of ten are converted when they are read.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Importance(pub(super) f64);

impl schemars::JsonSchema for Importance {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Importance".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number", "minimum": 0.0, "maximum": 1.0 })
    }
}

/// The scale of a given number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportanceScale {
    /// The scale is not declared: a number up to 1 is a fraction, a higher one a percentage.
    Undeclared,
    /// Marks from 1 to 10, as some prompts ask for.
    OneToTen,
}

impl Importance {
    /// The importance of a session with nothing to learn.
    pub const NONE: Self = Self(0.0);

    /// The initial importance of a lesson that a person wrote.
    pub const MANUAL: Self = Self(0.7);

    /// Converts a number on `scale` to an importance.
    pub fn parse(number: f64, scale: ImportanceScale) -> Result<Self, InvalidValue> {
        let refuse = |why| Err(InvalidValue::new("an importance", &number.to_string(), why));
        match scale {
            _ if !number.is_finite() || number < 0.0 => refuse("it may not be negative or endless"),
            ImportanceScale::OneToTen if !(1.0..=10.0).contains(&number) => refuse("the declared scale is 1 to 10"),
            ImportanceScale::OneToTen => Ok(Self(number / 10.0)),
            ImportanceScale::Undeclared if number > 100.0 => refuse("it is 0 to 1, or 0 to 100"),
            ImportanceScale::Undeclared if number > 1.0 => Ok(Self(number / 100.0)),
            ImportanceScale::Undeclared => Ok(Self(number)),
        }
    }

    /// Returns the importance as a fraction.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Importance {
    type Error = InvalidValue;
    fn try_from(number: f64) -> Result<Self, Self::Error> {
        Self::parse(number, ImportanceScale::Undeclared)
    }
}

impl From<Importance> for f64 {
    fn from(importance: Importance) -> Self {
        importance.0
    }
}

/// Reads what a person typed. A number above 1 and up to 10 could be a mark or a percentage, so it is refused.
impl std::str::FromStr for Importance {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |why| Err(InvalidValue::new("an importance", text, why));
        match text.parse() {
            Ok(number) if number > 1.0 && number <= 10.0 => refuse("say a number from 0 to 1, as in 0.7"),
            Ok(number) => Self::parse(number, ImportanceScale::Undeclared),
            Err(_) => refuse("it is a number from 0 to 1"),
        }
    }
}

impl fmt::Display for Importance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}", self.0)
    }
}
