//! Expressions over columns: a closed vocabulary.

use std::ops::{Add, BitAnd, BitOr, Mul, Not, Sub};

use serde::{Deserialize, Serialize};

use super::Value;

/// An expression over the columns of a row, not yet typed against a schema
/// ([`Schema::condition`](super::Schema::condition)).
///
/// ```
/// use queryables::table::col;
///
/// let adults = col("age").ge(18) & col("state").is_in(["CA", "NY"]);
/// assert_eq!(adults.to_string(), "age >= 18 AND state IN ('CA', 'NY')");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expr {
    /// The value of a column.
    Column(String),
    /// A constant.
    Literal(Value),
    /// Whether two values compare so; unknown if one is missing.
    Compare(Comparison, Box<Self>, Box<Self>),
    /// Whether a value is one of these constants; unknown if it is missing.
    In(Box<Self>, Vec<Value>),
    /// Whether a value is at least one constant and at most the other; unknown if it is missing.
    Between(Box<Self>, Value, Value),
    /// Whether a value is missing; never unknown.
    IsNull(Box<Self>),
    /// Whether all hold: false if one is false, otherwise unknown if one is unknown.
    And(Vec<Self>),
    /// Whether one holds: true if one is true, otherwise unknown if one is unknown.
    Or(Vec<Self>),
    /// The opposite; unknown stays unknown.
    Not(Box<Self>),
    /// A whole number from two: 64-bit numbers in, computed in 38 digits, saturated to 64 bits. Missing
    /// if one is missing.
    Compute(Operation, Box<Self>, Box<Self>),
}

/// How two values compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// At most.
    Le,
    /// Greater.
    Gt,
    /// At least.
    Ge,
}

/// What is computed from two whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Their sum.
    Add,
    /// Their difference.
    Sub,
    /// Their product.
    Mul,
}

/// The value of a column: where expressions begin.
pub fn col(name: impl Into<String>) -> Expr {
    Expr::Column(name.into())
}

impl<V: Into<Value>> From<V> for Expr {
    fn from(value: V) -> Self {
        Self::Literal(value.into())
    }
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident => $Comparison:ident),* $(,)?) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name(self, other: impl Into<Self>) -> Self {
                let (one, other) = (Box::new(self), Box::new(other.into()));
                Self::Compare(Comparison::$Comparison, one, other)
            }
        )*
    };
}

impl Expr {
    comparisons! {
        /// Equal.
        eq => Eq,
        /// Not equal.
        ne => Ne,
        /// Less than.
        lt => Lt,
        /// At most.
        le => Le,
        /// Greater than.
        gt => Gt,
        /// At least.
        ge => Ge,
    }

    /// One of these.
    #[must_use]
    pub fn is_in<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Self {
        Self::In(Box::new(self), values.into_iter().map(Into::into).collect())
    }

    /// At least `low` and at most `high`.
    #[must_use]
    pub fn between(self, low: impl Into<Value>, high: impl Into<Value>) -> Self {
        Self::Between(Box::new(self), low.into(), high.into())
    }

    /// Missing.
    #[must_use]
    pub fn is_null(self) -> Self {
        Self::IsNull(Box::new(self))
    }
}

/// Both. What is a conjunction already gets one more part.
impl BitAnd for Expr {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        match self {
            Self::And(mut parts) => {
                parts.push(other);
                Self::And(parts)
            }
            one => Self::And(vec![one, other]),
        }
    }
}

/// One of them, or both.
impl BitOr for Expr {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        match self {
            Self::Or(mut parts) => {
                parts.push(other);
                Self::Or(parts)
            }
            one => Self::Or(vec![one, other]),
        }
    }
}

impl Not for Expr {
    type Output = Self;

    fn not(self) -> Self {
        Self::Not(Box::new(self))
    }
}

macro_rules! operations {
    ($($Trait:ident $method:ident),*) => {
        $(
            impl<V: Into<Self>> $Trait<V> for Expr {
                type Output = Self;

                fn $method(self, other: V) -> Self {
                    let (one, other) = (Box::new(self), Box::new(other.into()));
                    Self::Compute(Operation::$Trait, one, other)
                }
            }
        )*
    };
}
operations!(Add add, Sub sub, Mul mul);
