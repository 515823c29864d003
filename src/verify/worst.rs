//! The worst that any adversary can do.

use std::fmt::{self, Debug};

use super::objective::Value;
use super::scope::Scope;
use super::strategy::Strategy;
use super::{Direction, Interval, Rational, VerifyError};
use crate::number::{Epsilon, Order};

/// Whether everything was followed.
///
/// Example: [`Verifier`](crate::verify::Verifier).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// Every path of every conversation.
    Complete,
    /// Samplers were cut.
    Truncated {
        /// At most this probability was not followed, whatever the adversary does.
        mass: Rational,
    },
    /// Released values were taken together where that loses nothing
    /// ([`verify`](super#released-values)): the value is a bound from above, which holds for the
    /// whole noise.
    Bounded,
}

/// The worst that any adversary can do.
///
/// Example: [`Verifier`](crate::verify::Verifier).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Worst<Q, A> {
    /// The supremum over all adversaries and both directions. Where it is not known exactly, each
    /// end is maximised separately.
    pub value: Value,
    /// The direction in which it is attained, or else its lower end.
    pub direction: Direction,
    /// Whether everything was followed.
    pub completeness: Completeness,
    /// An adversary that attains it. Where it is not known exactly, this one certainly attains the
    /// lower end, and another may do better. For a [bound](Completeness::Bounded) none is
    /// searched for: [`Strategy::More`].
    pub adversary: Strategy<Q, A>,
    /// What the result is about.
    pub scope: Scope,
}

impl<Q: Debug, A: Debug> fmt::Display for Worst<Q, A> {
    /// A precision is the number of digits of the value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounded = self.completeness == Completeness::Bounded;
        f.write_str(if bounded { "at most " } else { "" })?;
        fmt::Display::fmt(&self.value, f)?;
        if bounded {
            return write!(f, " ({})\n{}", self.direction, self.scope);
        }
        writeln!(f, " ({}), attained by:", self.direction)?;
        write!(f, "{}", self.adversary)?;
        if let Completeness::Truncated { mass } = &self.completeness {
            let mass = Interval::exact(mass.clone());
            write!(f, "\nnot followed: a probability of at most {mass}")?;
            if self.adversary.meets_zero() {
                f.write_str("; where 0 is said, it may be part of this")?;
            }
        }
        write!(f, "\n{}", self.scope)
    }
}

/// `e^ε`.
pub(super) fn exp_of(epsilon: Epsilon) -> Result<Interval, VerifyError> {
    let exponent = Rational::from_parts(epsilon.units().into(), 10_u128.pow(27).into());
    Interval::exp(&exponent).ok_or(VerifyError::OutOfRange("epsilon"))
}

/// α as a fraction.
pub(super) fn order_of(order: Order) -> Rational {
    Rational::from_parts(order.units().into(), 10_u128.pow(9).into())
}

/// The Rényi divergence `D_α`, given `e^((α-1) D_α)`; `None` for infinity, and where nothing
/// bounds it from above.
///
/// Example: [`Divergences`](crate::verify::Divergences).
#[must_use]
pub fn renyi_divergence(value: &Value, order: Order) -> Option<Interval> {
    let Value::Finite(value) = value else {
        return None;
    };
    // Exactly 1 or more in theory; what is cut or rounded may be below.
    let log = |number: &Rational| Interval::ln(&number.clone().max(Rational::ONE));
    let scale = Interval::exact(Rational::ONE / (order_of(order) - Rational::ONE));
    let low = log(value.low())?.times(&scale);
    let high = log(value.high())?.times(&scale);
    Some(Interval::between(low.low().clone(), high.high().clone()))
}
