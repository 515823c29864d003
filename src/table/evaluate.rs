//! What an expression is for one row: the reference, slow and obvious.

use super::{Expr, Schema, Value};

impl Schema {
    /// The value of a typed expression for a row; none where it is missing or unknown.
    pub(super) fn evaluate(&self, expr: &Expr, row: &[Option<Value>]) -> Option<Value> {
        let value = |expr| self.evaluate(expr, row);
        let truth = |expr| match self.evaluate(expr, row) {
            Some(Value::Bool(truth)) => Some(truth),
            _ => None,
        };
        match expr {
            Expr::Column(name) => {
                let (place, column) = self.column(name).ok()?;
                let value = row.get(place)?.as_ref()?;
                let is_nan = matches!(value, Value::Real(real) if real.is_nan());
                (value.kind() == column.kind() && !is_nan).then(|| value.clone())
            }
            Expr::Literal(value) => Some(value.clone()),
            Expr::Compare(comparison, one, other) => {
                let order = value(one)?.order(&value(other)?)?;
                Some(comparison.holds(order).into())
            }
            Expr::In(one, values) => {
                let one = value(one)?;
                let is_one = |other| Some(one.order(other)?.is_eq());
                any(values.iter().map(is_one)).map(Value::from)
            }
            Expr::Between(one, low, high) => {
                let one = value(one)?;
                Some((one.order(low)?.is_ge() && one.order(high)?.is_le()).into())
            }
            Expr::IsNull(one) => Some(value(one).is_none().into()),
            Expr::And(parts) => {
                let one_is_false = any(parts.iter().map(|part| Some(!truth(part)?)));
                one_is_false.map(|one_is_false| (!one_is_false).into())
            }
            Expr::Or(parts) => any(parts.iter().map(truth)).map(Value::from),
            Expr::Not(one) => Some((!truth(one)?).into()),
            Expr::Compute(operation, one, other) => match (value(one)?, value(other)?) {
                (Value::Whole(one), Value::Whole(other)) => {
                    Some(operation.compute(one, other).into())
                }
                _ => None,
            },
        }
    }
}

/// Whether one is true; unknown if none is, and one is unknown.
fn any(mut truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    truths
        .try_fold(Some(false), |so_far, truth| match truth {
            Some(true) => Err(()),
            Some(false) => Ok(so_far),
            None => Ok(None),
        })
        .unwrap_or(Some(true))
}
