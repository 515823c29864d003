//! Typing an expression against a schema.

use std::fmt;

use super::condition::{Condition, IntoExpr, Number};
use super::print::Shortened;
use super::{Comparison, Expr, Kind, Schema, TableError, Value};

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
        match (&expr, kind) {
            (_, Kind::Whole) | (Expr::Column(_), Kind::Real) => {}
            // Of real numbers nothing is computed.
            (_, Kind::Real) => need(Kind::Whole, kind, &expr, &"")?,
            (_, found) => {
                let what = Shortened(&expr).to_string();
                return Err(TableError::NotANumber { what, found });
            }
        }
        Number::typed(self.clone(), expr, kind)
    }

    /// The expression in its normal form, and its type.
    ///
    /// Conjunctions in a conjunction are parts of it, and so are disjunctions in a disjunction; what has
    /// one part is that part; constants have the type that they are compared with. Nothing else changes.
    fn typed(&self, expr: Expr) -> Result<(Expr, Kind), TableError> {
        let condition = match expr {
            Expr::Column(name) => {
                let (_, column) = self.column(&name)?;
                return Ok((Expr::Column(name), column.kind()));
            }
            Expr::Literal(value) => {
                let kind = value.kind();
                return Ok((value.fit(kind, &"")?.into(), kind));
            }
            Expr::Compute(operation, one, other) => {
                let one = self.operand(Kind::Whole, *one, operation.sign())?;
                let other = self.operand(Kind::Whole, *other, operation.sign())?;
                let number = Expr::Compute(operation, Box::new(one), Box::new(other));
                return Ok((number, Kind::Whole));
            }
            Expr::Compare(comparison, one, other) => self.compared(comparison, *one, *other)?,
            Expr::In(one, values) => self.member(*one, values)?,
            Expr::Between(one, low, high) => self.between(*one, low, high)?,
            Expr::IsNull(one) => self.typed(*one)?.0.is_null(),
            Expr::Not(one) => !self.operand(Kind::Bool, *one, "NOT")?,
            Expr::And(parts) => self.joined(true, parts)?,
            Expr::Or(parts) => self.joined(false, parts)?,
        };
        Ok((condition, Kind::Bool))
    }

    /// An operand that must have this type.
    fn operand(&self, wanted: Kind, expr: Expr, operator: &str) -> Result<Expr, TableError> {
        let (expr, kind) = self.typed(expr)?;
        need(wanted, kind, &expr, &format_args!(" beside {operator}"))?;
        Ok(expr)
    }

    /// All of these, or one of these.
    fn joined(&self, all: bool, parts: Vec<Expr>) -> Result<Expr, TableError> {
        let word = if all { "AND" } else { "OR" };
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match (all, self.operand(Kind::Bool, part, word)?) {
                (true, Expr::And(parts)) | (false, Expr::Or(parts)) => flat.extend(parts),
                (_, part) => flat.push(part),
            }
        }
        Ok(match flat.len() {
            0 => all.into(),
            1 => flat.remove(0),
            _ if all => Expr::And(flat),
            _ => Expr::Or(flat),
        })
    }

    fn compared(&self, by: Comparison, one: Expr, other: Expr) -> Result<Expr, TableError> {
        let asked = Expr::Compare(by, Box::new(one.clone()), Box::new(other.clone()));
        let place = Inside(&asked);
        let [(one, one_kind), (other, other_kind)] = self.sides(one, other)?;
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
                need(one_kind, other_kind, &other, &place)?;
                (one, other)
            }
        };
        match (&one, &other) {
            _ if by.needs_order() => need_order(one_kind, &asked)?,
            (Expr::Column(name), Expr::Literal(value))
            | (Expr::Literal(value), Expr::Column(name)) => {
                self.check_category(name, value)?;
            }
            _ => {}
        }
        Ok(Expr::Compare(by, Box::new(one), Box::new(other)))
    }

    /// Both sides of a comparison. A text in double quotes is read as a column: beside a text, the error
    /// says so.
    fn sides(&self, one: Expr, other: Expr) -> Result<[(Expr, Kind); 2], TableError> {
        let are_columns = (
            matches!(one, Expr::Column(_)),
            matches!(other, Expr::Column(_)),
        );
        match (self.typed(one), self.typed(other)) {
            (Err(error), Ok((_, kind))) if are_columns.0 => Err(beside(error, kind)),
            (Ok((_, kind)), Err(error)) if are_columns.1 => Err(beside(error, kind)),
            (one, other) => Ok([one?, other?]),
        }
    }

    fn member(&self, one: Expr, values: Vec<Value>) -> Result<Expr, TableError> {
        let asked = Expr::In(Box::new(one.clone()), values.clone());
        let (one, kind) = self.typed(one)?;
        if values.is_empty() {
            let (what, problem) = (
                Shortened(&asked).to_string(),
                "has no values: give one at least",
            );
            return Err(TableError::BadLiteral { what, problem });
        }
        let place = Inside(&asked);
        let values = values.into_iter().map(|value| value.fit(kind, &place));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        if let Expr::Column(name) = &one {
            let mut values = values.iter();
            values.try_for_each(|value| self.check_category(name, value))?;
        }
        Ok(Expr::In(Box::new(one), values))
    }

    fn between(&self, one: Expr, low: Value, high: Value) -> Result<Expr, TableError> {
        let asked = Expr::Between(Box::new(one.clone()), low.clone(), high.clone());
        let (one, kind) = self.typed(one)?;
        need_order(kind, &asked)?;
        let place = Inside(&asked);
        let (low, high) = (low.fit(kind, &place)?, high.fit(kind, &place)?);
        Ok(Expr::Between(Box::new(one), low, high))
    }
}

fn beside(error: TableError, kind: Kind) -> TableError {
    match error {
        TableError::UnknownColumn { column, known, .. } => TableError::UnknownColumn {
            column,
            known,
            beside_text: matches!(kind, Kind::Text | Kind::Date | Kind::Time),
        },
        error => error,
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
    let what = format!("{}{place}", Shortened(expr));
    Err(TableError::WrongType {
        what,
        found,
        wanted,
    })
}

fn need_order(kind: Kind, asked: &Expr) -> Result<(), TableError> {
    if kind != Kind::Bool {
        return Ok(());
    }
    let what = Shortened(asked).to_string();
    Err(TableError::NoOrder { what })
}

/// Where something stands.
struct Inside<'a>(&'a Expr);

impl fmt::Display for Inside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " in `{}`", Shortened(self.0))
    }
}
