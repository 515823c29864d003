//! Expressions that are typed against a schema.

use super::{Expr, Schema, TableError};

/// What an expression can be made from: an [`Expr`], or a text such as `age >= 18`.
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

/// A yes-or-no question about a row, typed against a schema.
///
/// A row counts only where the whole condition is *true*: where a value is missing, it may be unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    schema: Schema,
    expr: Expr,
}

impl Condition {
    /// The schema that it is typed against.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The expression: each literal has the type that it is compared with.
    #[must_use]
    pub fn expr(&self) -> &Expr {
        &self.expr
    }
}

impl Condition {
    /// Stand-in.
    #[must_use]
    pub fn holds(&self, _row: &[Option<super::Value>]) -> Option<bool> {
        None
    }
}

/// Stand-in.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    schema: Schema,
    expr: Expr,
}

impl Number {
    /// Stand-in.
    #[must_use]
    pub fn expr(&self) -> &Expr {
        &self.expr
    }
    /// Stand-in.
    #[must_use]
    pub fn column(&self) -> Option<&str> {
        match &self.expr {
            Expr::Column(name) => Some(name),
            _ => None,
        }
    }
    /// Stand-in.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
    /// Stand-in.
    #[must_use]
    pub fn kind(&self) -> super::Kind {
        super::Kind::Whole
    }
    /// Stand-in.
    #[must_use]
    pub fn value(&self, _row: &[Option<super::Value>]) -> Option<super::Value> {
        None
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
impl std::fmt::Display for Condition {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
impl Schema {
    /// Stand-in.
    pub fn number(&self, expr: impl IntoExpr) -> Result<Number, TableError> {
        Ok(Number {
            schema: self.clone(),
            expr: expr.into_expr()?,
        })
    }
    /// Stand-in.
    pub fn condition(&self, expr: impl IntoExpr) -> Result<Condition, TableError> {
        Ok(Condition {
            schema: self.clone(),
            expr: expr.into_expr()?,
        })
    }
}
