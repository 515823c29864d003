//! Expressions over columns: a closed vocabulary.

use std::cmp::Ordering;
use std::ops::{Add, BitAnd, BitOr, Mul, Not, Sub};

use super::Value;

/// An expression over the columns of a row, not yet typed against a schema
/// ([`Schema::condition`](super::Schema::condition)).
///
/// It is built in Rust, read from text ([`FromStr`](std::str::FromStr)) or from JSON, and written as
/// both.
///
/// ```
/// use queryables::table::{Expr, col};
///
/// let adults = col("age").ge(18) & col("state").is_in(["CA", "NY"]);
/// assert_eq!(adults.to_string(), "age >= 18 AND state IN ('CA', 'NY')");
/// assert_eq!("age >= 18 and state in ('CA', 'NY')".parse::<Expr>()?, adults);
///
/// let json = r#"{"and":[{"ge":[{"column":"age"},18]},{"in":[{"column":"state"},["CA","NY"]]}]}"#;
/// assert_eq!(serde_json::to_string(&adults)?, json);
/// assert_eq!(serde_json::from_str::<Expr>(json)?, adults);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # JSON
///
/// | in Rust | in JSON |
/// |---|---|
/// | `col("age")` | `{"column": "age"}` |
/// | a literal | `18`, `0.5`, `"CA"`, `true`, `{"date": "2024-01-31"}`, `{"time": "2024-01-31 12:00:00"}` |
/// | `a.eq(b)`, and `ne`, `lt`, `le`, `gt`, `ge` | `{"eq": [a, b]}` |
/// | `a.is_in([1, 2])` | `{"in": [a, [1, 2]]}` |
/// | `a.between(1, 2)` | `{"between": [a, 1, 2]}` |
/// | `a.is_null()`, `!a` | `{"is_null": a}`, `{"not": a}` |
/// | <code>a & b</code>, <code>a \| b</code> | `{"and": [a, b]}`, `{"or": [a, b]}` |
/// | `a + b`, `a - b`, `a * b` | `{"add": [a, b]}`, `{"sub": [a, b]}`, `{"mul": [a, b]}` |
#[derive(Clone, Debug, PartialEq)]
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
    /// Whether all hold: false if one is false, otherwise unknown if one is unknown. True if there are
    /// none.
    And(Vec<Self>),
    /// Whether one holds: true if one is true, otherwise unknown if one is unknown. False if there are
    /// none.
    Or(Vec<Self>),
    /// The opposite; unknown stays unknown.
    Not(Box<Self>),
    /// A whole number from two: 64-bit numbers in, computed in 38 digits, saturated to 64 bits. Missing
    /// if one is missing.
    Compute(Operation, Box<Self>, Box<Self>),
}

/// How two values compare.
///
/// Example: [`Expr`](crate::table::Expr).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

impl Comparison {
    pub(super) const ALL: [Self; 6] = [Self::Eq, Self::Ne, Self::Lt, Self::Le, Self::Gt, Self::Ge];

    /// In JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt => "lt",
            Self::Le => "le",
            Self::Gt => "gt",
            Self::Ge => "ge",
        }
    }

    /// In texts.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "<>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }

    /// Whether values that compare so are ordered, not only equal or not.
    pub(super) fn needs_order(self) -> bool {
        !matches!(self, Self::Eq | Self::Ne)
    }

    /// Whether two values with this order compare so.
    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::Ne => order.is_ne(),
            Self::Lt => order.is_lt(),
            Self::Le => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::Ge => order.is_ge(),
        }
    }
}

/// What is computed from two whole numbers.
///
/// Example: [`Expr`](crate::table::Expr).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Their sum.
    Add,
    /// Their difference.
    Sub,
    /// Their product.
    Mul,
}

impl Operation {
    pub(super) const ALL: [Self; 3] = [Self::Add, Self::Sub, Self::Mul];

    /// In JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
        }
    }

    /// In texts.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
        }
    }

    /// Saturated to 64 bits.
    pub(super) fn compute(self, one: i64, other: i64) -> i64 {
        match self {
            Self::Add => one.saturating_add(other),
            Self::Sub => one.saturating_sub(other),
            Self::Mul => one.saturating_mul(other),
        }
    }
}

/// The value of a column: where expressions begin. See [`Expr`] for an example.
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
