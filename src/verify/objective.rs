//! What an adversary maximises.
//!
//! Each is a sum, or a maximum, over the leaves of the conversation, of a function of the two
//! probabilities of the leaf. That is what makes backward recursion exact.

use std::cmp::Ordering;
use std::fmt;

use super::{Interval, Rational};

/// The value of a divergence. It prints shortened, and in full with `{:#}`.
///
/// Example: [`Verifier`](crate::verify::Verifier).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number, exact or certified.
    Finite(Interval),
    /// Something was cut off, and what it would have added is not bounded.
    AtLeast(Rational),
    /// Something is possible on one dataset and impossible on the other.
    Infinite,
}

impl Value {
    pub(super) const ZERO: Self = Self::Finite(Interval::ZERO);

    /// It is at least this; `None` for infinity.
    #[must_use]
    pub fn low(&self) -> Option<&Rational> {
        match self {
            Self::Finite(value) => Some(value.low()),
            Self::AtLeast(low) => Some(low),
            Self::Infinite => None,
        }
    }

    /// It is at most this; `None` for infinity, or where nothing is known.
    #[must_use]
    pub fn high(&self) -> Option<&Rational> {
        match self {
            Self::Finite(value) => Some(value.high()),
            Self::AtLeast(_) | Self::Infinite => None,
        }
    }

    /// The number, if it is known exactly.
    #[must_use]
    pub fn exact(&self) -> Option<&Rational> {
        match self {
            Self::Finite(value) if value.is_exact() => Some(value.low()),
            _ => None,
        }
    }

    /// Whether it is certainly at most `bound`.
    #[must_use]
    pub fn is_at_most(&self, bound: &Interval) -> bool {
        self.high().is_some_and(|high| high <= bound.low())
    }

    /// Whether it is certainly more than `bound`.
    #[must_use]
    pub fn is_more_than(&self, bound: &Interval) -> bool {
        self.low().is_none_or(|low| low > bound.high())
    }

    fn combine(&self, other: &Self, combine: impl Fn(&Interval, &Interval) -> Interval) -> Self {
        match (self, other) {
            (Self::Finite(one), Self::Finite(other)) => Self::Finite(combine(one, other)),
            (Self::Infinite, _) | (_, Self::Infinite) => Self::Infinite,
            (one, other) => {
                let low = |value: &Self| value.low().cloned().unwrap_or_default().into();
                Self::AtLeast(combine(&low(one), &low(other)).low().clone())
            }
        }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        self.combine(other, Interval::plus)
    }

    /// The bounds of the larger of the two: the maximum of each end.
    pub(super) fn max(&self, other: &Self) -> Self {
        self.combine(other, Interval::max)
    }

    pub(super) fn times(&self, factor: &Interval) -> Self {
        match self {
            Self::Finite(value) => Self::Finite(value.times(factor)),
            Self::AtLeast(low) => Self::AtLeast(low * factor.low()),
            Self::Infinite => Self::Infinite,
        }
    }

    /// Compares lower bounds: that is what an adversary can show.
    pub(super) fn compare_low(&self, other: &Self) -> Ordering {
        match (self.low(), other.low()) {
            (Some(one), Some(other)) => one.cmp(other),
            // Infinity is the largest.
            (one, other) => one.is_none().cmp(&other.is_none()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finite(value) => fmt::Display::fmt(value, f),
            Self::AtLeast(low) => {
                f.write_str("at least ")?;
                fmt::Display::fmt(&Interval::exact(low.clone()), f)
            }
            Self::Infinite => f.write_str("infinite"),
        }
    }
}

/// What is maximised.
#[derive(Clone, Debug)]
pub(super) enum Objective {
    /// `Σ max(0, p - e^ε q)`, for this `e^ε`: the hockey-stick divergence δ(ε).
    HockeyStick(Interval),
    /// `Σ p^α q^(1-α)`, which is `e^((α-1) D_α)`.
    Renyi(Rational),
    /// `Σ p^α (q + missing)^(1-α)`: what a Rényi divergence is at least, if a mass of at most
    /// `missing` was not followed.
    AtLeast { order: Rational, missing: Rational },
    /// The largest `p / q`, which is `e^ε` for pure privacy.
    Ratio,
    /// The mass that is cut off.
    Cut,
}

impl Objective {
    /// What a conversation that ends here adds.
    pub(super) fn leaf(&self, p: &Interval, q: &Interval) -> Value {
        match self {
            Self::HockeyStick(factor) => Value::Finite(p.minus(&factor.times(q))),
            Self::Renyi(order) => renyi(p, q, order),
            Self::AtLeast { order, missing } => {
                // Where nothing is known of a term, it is at least zero.
                let most = Interval::exact(q.high() + missing);
                let term = renyi(&Interval::exact(p.low().clone()), &most, order);
                let low = term.low().cloned().unwrap_or_default();
                Value::Finite(Interval::exact(low))
            }
            Self::Ratio => match p.over(q) {
                Some(ratio) => Value::Finite(ratio),
                None => over_nothing(p, q),
            },
            Self::Cut => Value::ZERO,
        }
    }

    /// The value of two different continuations together.
    pub(super) fn combine(&self, one: &Value, other: &Value) -> Value {
        match self {
            Self::Ratio => one.max(other),
            _ => one.plus(other),
        }
    }

    /// The bound that remains if this mass was not followed, on either side.
    ///
    /// If the adversary were told that it is in the part that was not followed, it would gain at
    /// most its mass under the first law; being told never hurts it. And what the part adds to the
    /// second law takes away at most `e^ε` times its mass there. Nothing bounds the other
    /// divergences from above. From below, they do not fall where the first law alone gets more
    /// mass; where the second may, nothing is known.
    pub(super) fn with_cut(&self, value: Value, [p, q]: [&Rational; 2]) -> Value {
        if *p == Rational::ZERO && *q == Rational::ZERO {
            return value;
        }
        match (self, value) {
            (Self::AtLeast { .. }, value) => value,
            (Self::HockeyStick(factor), Value::Finite(value)) => {
                Value::Finite(value.up_by(p).down_by(&(factor.high() * q)))
            }
            (Self::Cut, value) => value.plus(&Value::Finite(p.max(q).clone().into())),
            (_, Value::Infinite) if *q == Rational::ZERO => Value::Infinite,
            (_, value) if *q == Rational::ZERO => {
                Value::AtLeast(value.low().cloned().unwrap_or_default())
            }
            _ => Value::AtLeast(Rational::ZERO),
        }
    }

    /// Whether [`scale`](Self::scale) knows the value for masses that are multiplied by a factor.
    pub(super) fn scales(&self) -> bool {
        !matches!(self, Self::AtLeast { .. })
    }

    /// `value` for masses that are all multiplied by `factor`.
    pub(super) fn scale(&self, value: &Value, factor: &Interval) -> Value {
        match self {
            Self::Ratio => value.clone(),
            _ => value.times(factor),
        }
    }
}

/// `p^α q^(1-α)`.
fn renyi(p: &Interval, q: &Interval, order: &Rational) -> Value {
    // The ratio first: powers of small masses are below the smallest interval.
    let term = p.over(q).and_then(|ratio| {
        let power = match whole(order) {
            Some(order) => Some(ratio.power(order - 1)),
            None => ratio.rational_power(&(order - Rational::ONE)),
        };
        power.map(|power| power.times(p))
    });
    term.map_or_else(|| over_nothing(p, q), Value::Finite)
}

/// A positive number over what may be zero.
fn over_nothing(p: &Interval, q: &Interval) -> Value {
    if p.is_zero() {
        Value::ZERO
    } else if q.is_zero() && *p.low() > Rational::ZERO {
        Value::Infinite
    } else {
        Value::AtLeast(Rational::ZERO)
    }
}

/// The order, if it is a whole number that is not too large to be an exponent.
fn whole(order: &Rational) -> Option<isize> {
    if *order.denominator() != dashu_int::UBig::ONE {
        return None;
    }
    isize::try_from(order.numerator())
        .ok()
        .filter(|order| *order <= 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(numerator: i64, denominator: u64) -> Interval {
        Rational::from_parts(numerator.into(), denominator.into()).into()
    }

    #[test]
    fn leaves_are_exact_where_they_can_be() {
        let (p, q) = (ratio(3, 4), ratio(1, 4));
        assert_eq!(
            Objective::HockeyStick(ratio(2, 1)).leaf(&p, &q),
            Value::Finite(ratio(1, 4))
        );
        assert_eq!(
            Objective::Renyi(Rational::from(2_u8)).leaf(&p, &q),
            Value::Finite(ratio(9, 4))
        );
        assert_eq!(Objective::Ratio.leaf(&p, &q), Value::Finite(ratio(3, 1)));
        // (3/4)^1.5 / (1/4)^0.5 = 1.299...
        let half = Objective::Renyi(ratio(3, 2).low().clone()).leaf(&p, &q);
        assert!(half.is_more_than(&ratio(1299, 1000)) && half.is_at_most(&ratio(13, 10)));
    }

    #[test]
    fn what_one_side_excludes_is_infinite() {
        for objective in [
            Objective::Ratio,
            Objective::Renyi(Rational::from(2_u8)),
            Objective::Renyi(ratio(3, 2).low().clone()),
        ] {
            let zero = Interval::ZERO;
            assert_eq!(objective.leaf(&ratio(1, 4), &zero), Value::Infinite);
            assert_eq!(objective.leaf(&zero, &zero), Value::ZERO);
            assert_eq!(objective.leaf(&zero, &ratio(1, 4)), Value::ZERO);
        }
    }

    #[test]
    fn what_one_side_may_exclude_is_not_bounded() {
        let unbounded = Value::AtLeast(Rational::ZERO);
        let maybe = Interval::between(Rational::ZERO, ratio(1, 4).low().clone());
        for objective in [
            Objective::Ratio,
            Objective::Renyi(Rational::from(2_u8)),
            Objective::Renyi(ratio(3, 2).low().clone()),
        ] {
            assert_eq!(objective.leaf(&ratio(1, 4), &maybe), unbounded);
            // Nor is it with something else that is: only the lower end grows.
            let third = Value::Finite(ratio(1, 3));
            let both = Value::AtLeast(ratio(1, 3).low().clone());
            assert_eq!(objective.combine(&third, &unbounded), both);
            assert_eq!(objective.combine(&unbounded, &third), both);
        }
    }

    #[test]
    fn more_of_the_first_law_does_not_lower_a_ratio() {
        let (cut, zero) = (ratio(1, 8), Rational::ZERO);
        for objective in [Objective::Ratio, Objective::Renyi(Rational::from(2_u8))] {
            let value = Value::Finite(ratio(1, 2));
            assert_eq!(
                objective.with_cut(value.clone(), [cut.low(), &zero]),
                Value::AtLeast(ratio(1, 2).low().clone())
            );
            assert_eq!(
                objective.with_cut(Value::Infinite, [cut.low(), &zero]),
                Value::Infinite
            );
            assert_eq!(
                objective.with_cut(Value::Infinite, [&zero, cut.low()]),
                Value::AtLeast(Rational::ZERO)
            );
        }
    }

    #[test]
    fn a_cut_widens_both_ends() {
        let objective = Objective::HockeyStick(ratio(2, 1));
        let value = Value::Finite(ratio(1, 2));
        let cut = [ratio(1, 8), ratio(1, 16)];
        assert_eq!(
            objective.with_cut(value.clone(), [cut[0].low(), cut[1].low()]),
            Value::Finite(Interval::between(
                ratio(3, 8).low().clone(),
                ratio(5, 8).low().clone()
            ))
        );
        assert_eq!(
            Objective::Ratio.with_cut(value, [cut[0].low(), cut[1].low()]),
            Value::AtLeast(Rational::ZERO)
        );
    }
}
