//! One value of a column.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::Kind;

/// A value of a column, or a literal of a question. A missing value has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A whole number.
    Whole(i64),
    /// A real number. NaN is a missing value, and no literal.
    Real(f64),
    /// A text. Texts compare by their bytes.
    Text(String),
    /// Yes or no.
    Bool(bool),
    /// A date: days since 1970-01-01.
    Date(i32),
    /// A moment: microseconds since 1970-01-01 00:00:00 UTC.
    Time(i64),
}

impl Value {
    /// Its type.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Whole(_) => Kind::Whole,
            Self::Real(_) => Kind::Real,
            Self::Text(_) => Kind::Text,
            Self::Bool(_) => Kind::Bool,
            Self::Date(_) => Kind::Date,
            Self::Time(_) => Kind::Time,
        }
    }

    /// The order of two values of one type; of others there is none, nor of NaN.
    #[must_use]
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) | (Self::Time(one), Self::Time(other)) => {
                Some(one.cmp(other))
            }
            (Self::Real(one), Self::Real(other)) => one.partial_cmp(other),
            (Self::Text(one), Self::Text(other)) => Some(one.as_bytes().cmp(other.as_bytes())),
            (Self::Bool(one), Self::Bool(other)) => Some(one.cmp(other)),
            (Self::Date(one), Self::Date(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }
}

macro_rules! value_from {
    ($($Rust:ty => $Variant:ident),* $(,)?) => {
        $(
            impl From<$Rust> for Value {
                fn from(value: $Rust) -> Self {
                    Self::$Variant(value.into())
                }
            }
        )*
    };
}
value_from!(i32 => Whole, i64 => Whole, u32 => Whole, f64 => Real, &str => Text, String => Text, bool => Bool);
