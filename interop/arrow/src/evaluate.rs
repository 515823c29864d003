//! Expressions, for all rows of a batch at once.

use std::borrow::Cow;
use std::cmp::Ordering;

use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;
use hashbrown::HashSet;
use queryables::mechanisms::query::Unavailable;
use queryables::table::{Comparison, Expr, Operation, Schema, Value};

use crate::truth::{Truth, bits};
use crate::vector::{Numbers, Texts, Values, Vector};

/// Rows of a table: those columns that a question reads.
pub(crate) struct Batch<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) rows: usize,
    /// With their places in the schema.
    pub(crate) columns: Vec<(usize, ArrayRef)>,
}

/// A list of constants that is longer than this is searched by hash or by halves.
const SHORT: usize = 8;

impl Batch<'_> {
    /// The column at this place of the schema.
    pub(crate) fn column(&self, place: usize) -> Result<Vector<'_>, Unavailable> {
        let column = self.columns.iter().find(|(other, _)| *other == place);
        column
            .and_then(|(_, array)| Vector::of(array))
            .ok_or(Unavailable)
    }

    /// Where an expression is true and where it is false. It was typed when it was made: what cannot be is
    /// unavailable.
    pub(crate) fn truth(&self, expr: &Expr) -> Result<Truth, Unavailable> {
        match self.evaluate(expr)? {
            Vector::Truth(truth) => Ok(truth),
            _ => Err(Unavailable),
        }
    }

    /// The values of an expression.
    pub(crate) fn evaluate<'b>(&'b self, expr: &'b Expr) -> Result<Vector<'b>, Unavailable> {
        Ok(match expr {
            Expr::Column(name) => {
                let (place, _) = self.schema.column(name).map_err(|_| Unavailable)?;
                return self.column(place);
            }
            Expr::Literal(value) => match value {
                Value::Whole(number) | Value::Time(number) => Vector::Whole(Numbers::same(*number)),
                Value::Date(days) => Vector::Whole(Numbers::same(i64::from(*days))),
                Value::Real(number) => Vector::Real(Numbers::same(*number)),
                Value::Text(text) => Vector::Text(Texts::same(text)),
                Value::Bool(yes) => Vector::Truth(Truth::all(self.rows, *yes)),
            },
            Expr::Compare(comparison, one, other) => {
                let (one, other) = (self.evaluate(one)?, self.evaluate(other)?);
                Vector::Truth(self.compare(*comparison, &one, &other)?)
            }
            Expr::In(one, values) => Vector::Truth(self.is_in(&self.evaluate(one)?, values)?),
            Expr::Between(one, low, high) => {
                Vector::Truth(self.between(&self.evaluate(one)?, low, high)?)
            }
            Expr::IsNull(one) => Vector::Truth(match self.evaluate(one)? {
                Vector::Whole(numbers) => self.is_missing(numbers.known),
                Vector::Real(numbers) => self.is_missing(numbers.known),
                Vector::Text(texts) => self.is_missing(texts.known),
                Vector::Truth(truth) => truth.is_unknown(),
            }),
            Expr::And(parts) => {
                let truths = parts.iter().map(|part| self.truth(part));
                let all = truths.reduce(|one, other| Ok(one?.and(&other?)));
                Vector::Truth(all.unwrap_or_else(|| Ok(Truth::all(self.rows, true)))?)
            }
            Expr::Or(parts) => {
                let truths = parts.iter().map(|part| self.truth(part));
                let some = truths.reduce(|one, other| Ok(one?.or(&other?)));
                Vector::Truth(some.unwrap_or_else(|| Ok(Truth::all(self.rows, false)))?)
            }
            Expr::Not(one) => Vector::Truth(self.truth(one)?.not()),
            Expr::Compute(operation, one, other) => {
                match (self.evaluate(one)?, self.evaluate(other)?) {
                    (Vector::Whole(one), Vector::Whole(other)) => {
                        Vector::Whole(compute(*operation, &one, &other))
                    }
                    _ => return Err(Unavailable),
                }
            }
        })
    }

    fn is_missing(&self, known: Option<NullBuffer>) -> Truth {
        match known {
            None => Truth::all(self.rows, false),
            Some(known) => Truth::known(!known.inner(), None),
        }
    }

    fn compare(
        &self,
        comparison: Comparison,
        one: &Vector<'_>,
        other: &Vector<'_>,
    ) -> Result<Truth, Unavailable> {
        Ok(match (one, other) {
            (Vector::Whole(one), Vector::Whole(other)) => {
                self.compare_numbers(comparison, one, other)
            }
            (Vector::Real(one), Vector::Real(other)) => {
                self.compare_numbers(comparison, one, other)
            }
            (Vector::Text(one), Vector::Text(other)) => {
                // Rust compares texts by their bytes.
                let holds =
                    (0..self.rows).map(|row| compares(comparison, one.at(row).cmp(other.at(row))));
                let known = NullBuffer::union(one.known.as_ref(), other.known.as_ref());
                Truth::known(holds.collect(), known.as_ref())
            }
            (Vector::Truth(one), Vector::Truth(other)) => one.compare(comparison, other),
            _ => return Err(Unavailable),
        })
    }

    fn compare_numbers<T: Copy + PartialOrd>(
        &self,
        comparison: Comparison,
        one: &Numbers<'_, T>,
        other: &Numbers<'_, T>,
    ) -> Truth {
        // One loop for each comparison, so that it is decided before the loop.
        match comparison {
            Comparison::Eq => self.both(one, other, |one, other| one == other),
            Comparison::Ne => self.both(one, other, |one, other| one != other),
            Comparison::Lt => self.both(one, other, |one, other| one < other),
            Comparison::Le => self.both(one, other, |one, other| one <= other),
            Comparison::Gt => self.both(one, other, |one, other| one > other),
            Comparison::Ge => self.both(one, other, |one, other| one >= other),
        }
    }

    fn both<T: Copy>(
        &self,
        one: &Numbers<'_, T>,
        other: &Numbers<'_, T>,
        test: impl Fn(T, T) -> bool,
    ) -> Truth {
        match (&one.values, &other.values) {
            (_, Values::Same(other)) => one.test(self.rows, |one| test(one, *other)),
            (Values::Same(one), _) => other.test(self.rows, |other| test(*one, other)),
            (Values::Each(ones), Values::Each(others)) => {
                let pairs: Vec<(T, T)> = ones.iter().copied().zip(others.iter().copied()).collect();
                let holds = bits(&pairs, |(one, other)| test(one, other));
                let known = NullBuffer::union(one.known.as_ref(), other.known.as_ref());
                Truth::known(holds, known.as_ref())
            }
        }
    }

    fn is_in(&self, one: &Vector<'_>, values: &[Value]) -> Result<Truth, Unavailable> {
        Ok(match one {
            Vector::Whole(numbers) => {
                let values: Vec<i64> = values.iter().map(whole).collect::<Result<_, _>>()?;
                if values.len() <= SHORT {
                    numbers.test(self.rows, |number| {
                        values
                            .iter()
                            .fold(false, |found, value| found | (number == *value))
                    })
                } else {
                    let values: HashSet<i64> = values.into_iter().collect();
                    numbers.test(self.rows, |number| values.contains(&number))
                }
            }
            Vector::Real(numbers) => {
                let values: Vec<f64> = values.iter().map(real).collect::<Result<_, _>>()?;
                numbers.test(self.rows, |number| values.contains(&number))
            }
            Vector::Text(texts) => {
                let values: HashSet<&str> = values.iter().map(text).collect::<Result<_, _>>()?;
                texts.test(self.rows, |text| values.contains(text))
            }
            Vector::Truth(truth) => {
                let parts = values.iter().map(|value| {
                    let value = Truth::all(self.rows, yes(value)?);
                    Ok(truth.compare(Comparison::Eq, &value))
                });
                let some =
                    parts.reduce(|one: Result<Truth, Unavailable>, other| Ok(one?.or(&other?)));
                some.unwrap_or_else(|| Ok(Truth::all(self.rows, false)))?
            }
        })
    }

    fn between(&self, one: &Vector<'_>, low: &Value, high: &Value) -> Result<Truth, Unavailable> {
        Ok(match one {
            Vector::Whole(numbers) => {
                let (low, high) = (whole(low)?, whole(high)?);
                numbers.test(self.rows, |number| (number >= low) & (number <= high))
            }
            Vector::Real(numbers) => {
                let (low, high) = (real(low)?, real(high)?);
                numbers.test(self.rows, |number| (number >= low) & (number <= high))
            }
            Vector::Text(texts) => {
                let (low, high) = (text(low)?, text(high)?);
                texts.test(self.rows, |text| (low..=high).contains(&text))
            }
            Vector::Truth(truth) => {
                let low = Truth::all(self.rows, yes(low)?);
                let high = Truth::all(self.rows, yes(high)?);
                let above = truth.compare(Comparison::Ge, &low);
                above.and(&truth.compare(Comparison::Le, &high))
            }
        })
    }
}

fn compares(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Eq => order.is_eq(),
        Comparison::Ne => order.is_ne(),
        Comparison::Lt => order.is_lt(),
        Comparison::Le => order.is_le(),
        Comparison::Gt => order.is_gt(),
        Comparison::Ge => order.is_ge(),
    }
}

/// 64-bit numbers in, saturated to 64 bits.
fn compute(
    operation: Operation,
    one: &Numbers<'_, i64>,
    other: &Numbers<'_, i64>,
) -> Numbers<'static, i64> {
    let compute: fn(i64, i64) -> i64 = match operation {
        Operation::Add => i64::saturating_add,
        Operation::Sub => i64::saturating_sub,
        Operation::Mul => i64::saturating_mul,
    };
    let values: Vec<i64> = match (&one.values, &other.values) {
        (Values::Same(one), Values::Same(other)) => {
            return Numbers::same(compute(*one, *other));
        }
        (Values::Each(ones), Values::Same(other)) => {
            ones.iter().map(|one| compute(*one, *other)).collect()
        }
        (Values::Same(one), Values::Each(others)) => {
            others.iter().map(|other| compute(*one, *other)).collect()
        }
        (Values::Each(ones), Values::Each(others)) => {
            let pairs = ones.iter().zip(others.iter());
            pairs.map(|(one, other)| compute(*one, *other)).collect()
        }
    };
    Numbers {
        values: Values::Each(Cow::Owned(values)),
        known: NullBuffer::union(one.known.as_ref(), other.known.as_ref()),
    }
}

/// A constant that stands beside whole numbers, days or microseconds.
pub(crate) fn whole(value: &Value) -> Result<i64, Unavailable> {
    match value {
        Value::Whole(number) | Value::Time(number) => Ok(*number),
        Value::Date(days) => Ok(i64::from(*days)),
        _ => Err(Unavailable),
    }
}

pub(crate) fn real(value: &Value) -> Result<f64, Unavailable> {
    match value {
        Value::Real(number) => Ok(*number),
        _ => Err(Unavailable),
    }
}

pub(crate) fn text(value: &Value) -> Result<&str, Unavailable> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err(Unavailable),
    }
}

fn yes(value: &Value) -> Result<bool, Unavailable> {
    match value {
        Value::Bool(yes) => Ok(*yes),
        _ => Err(Unavailable),
    }
}
