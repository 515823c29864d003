//! Typing an expression against a schema.

use std::fmt;

use super::condition::{Condition, IntoExpr, Number};
use super::{Comparison, Domain, Expr, Kind, Schema, TableError, Value};

impl Schema {
    /// A yes-or-no question about the rows of such a table.
    ///
    /// Both sides of a comparison have one type. A constant is converted where nothing can be lost: a
    /// whole number to a real one, a text such as `2024-01-31` to a date, or with a time to a moment.
    ///
    /// ```
    /// use queryables::table::{Column, Kind, Schema, col};
    ///
    /// let schema = Schema::of_rows([
    ///     Column::whole("age", 0..=120),
    ///     Column::new("seen", Kind::Date),
    /// ])?;
    /// let condition = schema.condition("age >= 18 and seen < '2024-01-31'")?;
    /// assert_eq!(condition.to_string(), "age >= 18 AND seen < DATE '2024-01-31'");
    /// assert_eq!(condition, schema.condition(col("age").ge(18) & col("seen").lt("2024-01-31"))?);
    ///
    /// let error = schema.condition("age >= 'old'").unwrap_err();
    /// let message = "'old' in `age >= 'old'` is a text, and a whole number is needed here";
    /// assert_eq!(error.to_string(), message);
    /// # Ok::<(), queryables::table::TableError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TableError`] if the text is not in the vocabulary, the types do not fit, or a column or category
    /// is not in the schema.
    pub fn condition(&self, question: impl IntoExpr) -> Result<Condition, TableError> {
        let expr = question.into_expr()?.bounded()?;
        let (expr, kind) = self.typed(expr)?;
        need(Kind::Bool, kind, &expr, &"")?;
        Condition::typed(self.clone(), expr)
    }

    /// A number of each row of such a table: whole numbers, or a column of real numbers.
    ///
    /// ```
    /// use queryables::table::{Column, Schema, Value};
    ///
    /// let schema = Schema::of_rows([Column::whole("hours", 0..=24), Column::whole("wage", 0..=500)])?;
    /// let pay = schema.number("hours * wage")?;
    /// assert_eq!(pay.value(&[Some(8.into()), Some(20.into())]), Some(Value::Whole(160)));
    /// assert_eq!(pay.value(&[Some(8.into()), None]), None);
    /// # Ok::<(), queryables::table::TableError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`condition`](Self::condition).
    pub fn number(&self, question: impl IntoExpr) -> Result<Number, TableError> {
        let expr = question.into_expr()?.bounded()?;
        let (expr, kind) = self.typed(expr)?;
        if !matches!((&expr, kind), (Expr::Column(_), Kind::Real)) {
            need(Kind::Whole, kind, &expr, &"")?;
        }
        Number::typed(self.clone(), expr, kind)
    }

    /// The expression in its normal form, and its type.
    ///
    /// Conjunctions in a conjunction are parts of it, and so are disjunctions in a disjunction; what has
    /// one part is that part; constants have the type that they are compared with. Nothing else changes.
    fn typed(&self, expr: Expr) -> Result<(Expr, Kind), TableError> {
        Ok(match expr {
            Expr::Column(name) => {
                let (_, column) = self.column(&name)?;
                (Expr::Column(name), column.kind())
            }
            Expr::Literal(value) => {
                let kind = value.kind();
                (value.fit(kind, &"")?.into(), kind)
            }
            Expr::Compare(comparison, one, other) => {
                (self.comparison(comparison, *one, *other)?, Kind::Bool)
            }
            Expr::In(one, values) => {
                let place = Inside(&Expr::In(one.clone(), values.clone())).to_string();
                let (one, kind) = self.typed(*one)?;
                if values.is_empty() {
                    let problem = "has no values: give one at least";
                    return Err(TableError::BadLiteral {
                        what: format!("IN {place}"),
                        problem,
                    });
                }
                let fitted = values.into_iter().map(|value| value.fit(kind, &place));
                let values = fitted.collect::<Result<Vec<_>, _>>()?;
                values
                    .iter()
                    .try_for_each(|value| self.check_category(&one, value))?;
                (Expr::In(Box::new(one), values), Kind::Bool)
            }
            Expr::Between(one, low, high) => {
                let whole = Expr::Between(one.clone(), low.clone(), high.clone());
                let (one, kind) = self.typed(*one)?;
                if kind == Kind::Bool {
                    return Err(TableError::NoOrder {
                        what: shortened(&whole),
                    });
                }
                let (low, high) = (
                    low.fit(kind, &Inside(&whole))?,
                    high.fit(kind, &Inside(&whole))?,
                );
                (Expr::Between(Box::new(one), low, high), Kind::Bool)
            }
            Expr::IsNull(one) => (self.typed(*one)?.0.is_null(), Kind::Bool),
            Expr::Not(one) => (!self.needed(Kind::Bool, *one, "NOT")?, Kind::Bool),
            Expr::And(parts) => {
                let mut all = Vec::with_capacity(parts.len());
                for part in parts {
                    match self.needed(Kind::Bool, part, "AND")? {
                        Expr::And(parts) => all.extend(parts),
                        part => all.push(part),
                    }
                }
                (single_or(all, Expr::And, true), Kind::Bool)
            }
            Expr::Or(parts) => {
                let mut all = Vec::with_capacity(parts.len());
                for part in parts {
                    match self.needed(Kind::Bool, part, "OR")? {
                        Expr::Or(parts) => all.extend(parts),
                        part => all.push(part),
                    }
                }
                (single_or(all, Expr::Or, false), Kind::Bool)
            }
            Expr::Compute(operation, one, other) => {
                let one = self.needed(Kind::Whole, *one, operation.sign())?;
                let other = self.needed(Kind::Whole, *other, operation.sign())?;
                (
                    Expr::Compute(operation, Box::new(one), Box::new(other)),
                    Kind::Whole,
                )
            }
        })
    }

    /// An operand that must have this type.
    fn needed(&self, wanted: Kind, expr: Expr, operator: &str) -> Result<Expr, TableError> {
        let (expr, kind) = self.typed(expr)?;
        need(wanted, kind, &expr, &format_args!(" beside {operator}"))?;
        Ok(expr)
    }

    fn comparison(
        &self,
        comparison: Comparison,
        one: Expr,
        other: Expr,
    ) -> Result<Expr, TableError> {
        let whole = Expr::Compare(comparison, Box::new(one.clone()), Box::new(other.clone()));
        let place = Inside(&whole);
        let (one, other) = (self.typed(one), self.typed(other));
        let ((one, one_kind), (other, other_kind)) = match (one, other) {
            (Ok(one), Ok(other)) => (one, other),
            (Err(error), Ok((_, kind))) | (Ok((_, kind)), Err(error)) => {
                return Err(beside(error, kind));
            }
            (Err(error), Err(_)) => return Err(error),
        };
        let (one, other) = match (one, other) {
            (one, other) if one_kind == other_kind => (one, other),
            (Expr::Literal(one), Expr::Literal(other)) => match other.clone().fit(one_kind, &place)
            {
                Ok(other) => (one.into(), other.into()),
                Err(_) => (one.fit(other_kind, &place)?.into(), other.into()),
            },
            (one, Expr::Literal(other)) => (one, other.fit(one_kind, &place)?.into()),
            (Expr::Literal(one), other) => (one.fit(other_kind, &place)?.into(), other),
            (one, other) => {
                need(one_kind, other_kind, &other, &format_args!(" {place}"))?;
                (one, other)
            }
        };
        let kind = one_kind;
        if comparison.needs_order() {
            if kind == Kind::Bool {
                return Err(TableError::NoOrder {
                    what: shortened(&whole),
                });
            }
        } else {
            match (&one, &other) {
                (column, Expr::Literal(value)) | (Expr::Literal(value), column) => {
                    self.check_category(column, value)?;
                }
                _ => {}
            }
        }
        Ok(Expr::Compare(comparison, Box::new(one), Box::new(other)))
    }

    /// A value that a column is said to be equal to is one of its categories, if it has any.
    fn check_category(&self, column: &Expr, value: &Value) -> Result<(), TableError> {
        let Expr::Column(name) = column else {
            return Ok(());
        };
        let (_, column) = self.column(name)?;
        match column.domain() {
            Some(Domain::Categories(known)) if !known.contains(value) => {
                Err(TableError::UnknownCategory {
                    column: name.clone(),
                    value: value.to_string(),
                    known: known.iter().map(Value::to_string).collect(),
                })
            }
            _ => Ok(()),
        }
    }
}

/// One part instead of a list with one part, and a constant instead of a list without any.
fn single_or(mut parts: Vec<Expr>, list: fn(Vec<Expr>) -> Expr, empty: bool) -> Expr {
    match parts.len() {
        0 => empty.into(),
        1 => parts.remove(0),
        _ => list(parts),
    }
}

fn need(
    wanted: Kind,
    found: Kind,
    expr: &Expr,
    place: &dyn fmt::Display,
) -> Result<(), TableError> {
    if found == wanted {
        return Ok(());
    }
    let what = format!("{}{place}", shortened(expr));
    Err(TableError::WrongType {
        what,
        found,
        wanted,
    })
}

/// The error, which says so if it is about a column that may be meant as a text.
fn beside(error: TableError, kind: Kind) -> TableError {
    match error {
        TableError::UnknownColumn { column, known, .. } => TableError::UnknownColumn {
            column,
            known,
            beside_text: matches!(kind, Kind::Text | Kind::Date | Kind::Time),
        },
        other => other,
    }
}

/// Where a constant stands.
struct Inside<'a>(&'a Expr);

impl fmt::Display for Inside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`", shortened(self.0))
    }
}

/// The text of an expression, or its beginning.
fn shortened(expr: &Expr) -> String {
    const SHOWN: usize = 80;
    let text = expr.to_string();
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
