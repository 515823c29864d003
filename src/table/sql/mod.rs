//! Plans as SQL: one statement with bound parameters, for engines that differ in little.
//!
//! [`Statement::tally`] writes what [`Plan`](super::Plan) says, and a [`Dialect`] writes what engines
//! spell differently. What an analyst writes is in the parameters, and never in the text.

mod dialect;
mod expression;
mod keys;
mod tally;
mod totals;

pub use dialect::Dialect;
pub use totals::read_totals;

use super::{Kind, Value};

/// A statement, or a part of one, with its parameters.
///
/// Example: `queryables-postgres`.
///
/// # Guarantee
///
/// The text is made of words of this crate and of its [`Dialect`], of numbers that count groups and
/// parameters, and of quoted names of the schema. It depends on the shape of a question: all constants
/// are parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statement {
    /// The SQL.
    pub text: String,
    /// What is bound to its placeholders, in their order.
    pub parameters: Vec<Parameter>,
}

/// What is bound to a placeholder.
///
/// Example: `queryables-postgres`.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// A value.
    One(Value),
    /// Values of one type, in their order. A missing one has none.
    List(Kind, Vec<Option<Value>>),
}

impl Parameter {
    /// Its type, or that of its values.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::One(value) => value.kind(),
            Self::List(kind, _) => *kind,
        }
    }
}
