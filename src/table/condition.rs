//! Expressions that are typed against a schema: conditions and numbers.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::bounds::{LONGEST_TEXT, TEXT_TOO_LONG};
use super::digest::digest;
use super::{Expr, Kind, Schema, TableError, Value};

/// What an expression can be made from: an [`Expr`], or a text such as `age >= 18`.
///
/// See [`Schema::condition`] for an example.
pub trait IntoExpr {
    /// The expression.
    ///
    /// # Errors
    ///
    /// [`TableError::Syntax`] or [`TableError::TooLong`] if the text is not in the vocabulary.
    fn into_expr(self) -> Result<Expr, TableError>;
}

impl IntoExpr for Expr {
    fn into_expr(self) -> Result<Expr, TableError> {
        Ok(self)
    }
}

impl IntoExpr for &str {
    fn into_expr(self) -> Result<Expr, TableError> {
        self.parse()
    }
}

impl IntoExpr for &String {
    fn into_expr(self) -> Result<Expr, TableError> {
        self.parse()
    }
}

impl IntoExpr for String {
    fn into_expr(self) -> Result<Expr, TableError> {
        self.parse()
    }
}

/// An expression in its normal form, and what it was typed against.
#[derive(Clone, PartialEq)]
struct Typed {
    schema: Schema,
    expr: Arc<Expr>,
    /// Short enough to be read again.
    text: Arc<str>,
}

impl Typed {
    fn new(schema: Schema, expr: Expr) -> Result<Self, TableError> {
        let text = expr.to_string();
        if text.len() > LONGEST_TEXT {
            return Err(TEXT_TOO_LONG);
        }
        Ok(Self {
            schema,
            expr: expr.into(),
            text: text.into(),
        })
    }

    fn columns(&self) -> Vec<usize> {
        let mut places = BTreeSet::new();
        let mut open = vec![&*self.expr];
        while let Some(expr) = open.pop() {
            if let Expr::Column(name) = expr {
                places.extend(self.schema.column(name).map(|(place, _)| place));
            }
            open.extend(expr.children());
        }
        places.into_iter().collect()
    }

    /// The schema's digest has 64 characters, so that it ends where the expression begins.
    fn digest(&self) -> String {
        digest(self.schema.digest(), &*self.expr)
    }
}

macro_rules! typed_expression {
    ($Type:ident) => {
        impl $Type {
            /// The schema that it is typed against.
            #[must_use]
            pub fn schema(&self) -> &Schema {
                &self.typed.schema
            }

            /// The expression, in its normal form: each literal has the type that it is compared with,
            /// and no conjunction or disjunction stands in another one of its kind.
            #[must_use]
            pub fn expr(&self) -> &Expr {
                &self.typed.expr
            }

            /// The places of the columns that it reads, in order, each once.
            #[must_use]
            pub fn columns(&self) -> Vec<usize> {
                self.typed.columns()
            }

            /// The SHA-256 of the schema's digest and of the expression's JSON, in hexadecimal digits.
            /// Equal questions have equal digests.
            #[must_use]
            pub fn digest(&self) -> String {
                self.typed.digest()
            }
        }

        /// As text, which the same schema reads back as the same question.
        impl fmt::Display for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.typed.text)
            }
        }

        impl fmt::Debug for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($Type))
                    .field(&self.typed.text)
                    .finish()
            }
        }
    };
}

/// A yes-or-no question about a row, typed against a schema.
///
/// A row counts only where the whole condition is *true*: where a value is missing, it may be unknown.
///
/// ```
/// use queryables::table::{Column, Schema};
///
/// let schema = Schema::of_rows([
///     Column::whole("age", 0..=120),
///     Column::categories("state", ["CA", "NY"]),
/// ])?;
/// let adults = schema.condition("age >= 18 and state <> 'NY'")?;
/// assert_eq!(adults.holds(&[Some(30.into()), Some("CA".into())]), Some(true));
/// assert_eq!(adults.holds(&[Some(30.into()), None]), None);
/// assert_eq!(adults.holds(&[Some(17.into()), None]), Some(false));
/// assert_eq!(adults.columns(), [0, 1]);
/// assert_eq!(adults.digest(), schema.condition(adults.to_string())?.digest());
/// # Ok::<(), queryables::table::TableError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Condition {
    typed: Typed,
}

typed_expression!(Condition);

impl Condition {
    pub(super) fn typed(schema: Schema, expr: Expr) -> Result<Self, TableError> {
        let typed = Typed::new(schema, expr)?;
        Ok(Self { typed })
    }

    /// As text.
    pub(crate) fn text(&self) -> &str {
        &self.typed.text
    }

    /// Whether it holds of a row, whose values are in the order of the schema's columns; none where it is
    /// unknown. A value that is NaN, or that has another type than its column, is missing.
    #[must_use]
    pub fn holds(&self, row: &[Option<Value>]) -> Option<bool> {
        match self.typed.schema.evaluate(&self.typed.expr, row) {
            Some(Value::Bool(truth)) => Some(truth),
            _ => None,
        }
    }
}

/// A number of each row, typed against a schema: whole numbers computed from others, or a column of real
/// numbers.
///
/// See [`Schema::number`] for an example.
#[derive(Clone, PartialEq)]
pub struct Number {
    typed: Typed,
    kind: Kind,
}

typed_expression!(Number);

impl Number {
    pub(super) fn typed(schema: Schema, expr: Expr, kind: Kind) -> Result<Self, TableError> {
        let typed = Typed::new(schema, expr)?;
        Ok(Self { typed, kind })
    }

    /// [`Kind::Whole`] or [`Kind::Real`].
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The number of a row, whose values are in the order of the schema's columns; none where it is
    /// missing. A value that is NaN, or that has another type than its column, is missing.
    ///
    /// Each operation saturates to 64 bits.
    #[must_use]
    pub fn value(&self, row: &[Option<Value>]) -> Option<Value> {
        self.typed.schema.evaluate(&self.typed.expr, row)
    }
}
