//! Expressions as SQL.

use std::collections::BTreeSet;

use super::{Dialect, Parameter, Statement};
use crate::table::{Comparison, Expr, Kind, Operation, Schema, TableError, Value};

/// What the rows of the table are called.
pub(super) const ROWS: &str = "t";

/// Writes a statement.
pub(super) struct Writer<'a, D> {
    pub(super) dialect: &'a D,
    pub(super) schema: &'a Schema,
    pub(super) parameters: Vec<Parameter>,
}

impl<'a, D: Dialect> Writer<'a, D> {
    /// Begins with the table: its text, and the writer that has its parameters.
    pub(super) fn new(dialect: &'a D, schema: &'a Schema, from: Statement) -> (String, Self) {
        let writer = Self {
            dialect,
            schema,
            parameters: from.parameters,
        };
        (from.text, writer)
    }

    pub(super) fn finish(self, text: String) -> Statement {
        Statement {
            text,
            parameters: self.parameters,
        }
    }

    /// Binds a parameter.
    fn bind(&mut self, parameter: Parameter) -> String {
        let number = self.parameters.len() + 1;
        let placeholder = self.dialect.placeholder(number, &parameter);
        self.parameters.push(parameter);
        placeholder
    }

    /// Binds a constant.
    pub(super) fn value(&mut self, value: impl Into<Value>) -> String {
        self.bind(Parameter::One(value.into()))
    }

    /// Binds constants of one type.
    pub(super) fn list(&mut self, kind: Kind, values: &[Value]) -> String {
        let values = values.iter().cloned().map(Some).collect();
        self.bind(Parameter::List(kind, values))
    }

    /// A column of the schema, and its type.
    pub(super) fn column(&self, name: &str) -> Result<(String, Kind), TableError> {
        let (_, column) = self.schema.column(name)?;
        let quoted = format!("{ROWS}.{}", self.dialect.quoted(name));
        let text = self.dialect.column(&quoted, column.kind());
        Ok((text, column.kind()))
    }

    /// A typed expression. Where it is missing or unknown, it is NULL.
    pub(super) fn expression(&mut self, expr: &Expr) -> Result<String, TableError> {
        Ok(match expr {
            Expr::Column(name) => self.column(name)?.0,
            Expr::Literal(value) => self.value(value.clone()),
            Expr::Compare(comparison, one, other) => {
                let (one, other) = (self.expression(one)?, self.expression(other)?);
                format!("({one} {} {other})", sign(*comparison))
            }
            Expr::In(one, values) => {
                let one = self.expression(one)?;
                // A list has at least one value, and all have one type.
                let kind = values.first().map_or(Kind::Whole, Value::kind);
                let list = self.list(kind, values);
                self.dialect.is_in(&one, &list)
            }
            Expr::Between(one, low, high) => {
                let one = self.expression(one)?;
                let [low, high] = [low, high].map(|end| self.value(end.clone()));
                format!("({one} BETWEEN {low} AND {high})")
            }
            Expr::IsNull(one) => format!("({} IS NULL)", self.expression(one)?),
            Expr::And(parts) => self.joined(parts, "AND", "TRUE")?,
            Expr::Or(parts) => self.joined(parts, "OR", "FALSE")?,
            Expr::Not(one) => format!("(NOT {})", self.expression(one)?),
            Expr::Compute(..) => self.computed(expr)?,
        })
    }

    fn joined(&mut self, parts: &[Expr], word: &str, empty: &str) -> Result<String, TableError> {
        if parts.is_empty() {
            return Ok(empty.to_owned());
        }
        let parts = parts.iter().map(|part| self.expression(part));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        Ok(format!("({})", parts.join(&format!(" {word} "))))
    }

    /// A computed number: NULL if one of its columns is. That is asked once, at the root: LEAST and
    /// GREATEST pass over NULL.
    fn computed(&mut self, expr: &Expr) -> Result<String, TableError> {
        let mut columns = BTreeSet::new();
        let number = self.saturated(expr, &mut columns)?;
        if columns.is_empty() {
            return Ok(number);
        }
        let known: Vec<String> = columns
            .into_iter()
            .map(|column| format!("{column} IS NOT NULL"))
            .collect();
        let known = known.join(" AND ");
        Ok(format!("(CASE WHEN {known} THEN {number} END)"))
    }

    /// A number as if no column was missing: each operation saturates to 64 bits.
    fn saturated(
        &mut self,
        expr: &Expr,
        columns: &mut BTreeSet<String>,
    ) -> Result<String, TableError> {
        let number = match expr {
            Expr::Compute(operation, one, other) => {
                let one = self.saturated(one, columns)?;
                let other = self.saturated(other, columns)?;
                let sign = match operation {
                    Operation::Add => '+',
                    Operation::Sub => '-',
                    Operation::Mul => '*',
                };
                let (least, most) = (wide::<D>(i64::MIN), wide::<D>(i64::MAX));
                return Ok(format!(
                    "LEAST(GREATEST({one} {sign} {other}, {least}), {most})"
                ));
            }
            Expr::Column(_) => {
                let column = self.expression(expr)?;
                columns.insert(column.clone());
                column
            }
            other => self.expression(other)?,
        };
        Ok(format!("CAST({number} AS {})", D::WIDE))
    }
}

fn wide<D: Dialect>(number: i64) -> String {
    format!("CAST('{number}' AS {})", D::WIDE)
}

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "=",
        Comparison::Ne => "<>",
        Comparison::Lt => "<",
        Comparison::Le => "<=",
        Comparison::Gt => ">",
        Comparison::Ge => ">=",
    }
}
