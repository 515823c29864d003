//! How far apart two laws are.

use std::collections::HashMap;
use std::hash::Hash;

use super::objective::{Objective, Value};
use super::views::Distribution;
use super::worst::{exp_of, order_of};
use super::{Interval, Rational, VerifyError};
use crate::number::{Epsilon, Order};

/// The divergences of the first law from the second.
///
/// ```
/// use queryables::verify::{Divergences, Distribution, Interval, Rational};
///
/// let ratio = |n, d| Interval::exact(Rational::new(n, d).unwrap());
/// let p = Distribution::new([("heads", ratio(3, 4)), ("tails", ratio(1, 4))]);
/// let q = Distribution::new([("heads", ratio(1, 4)), ("tails", ratio(3, 4))]);
/// let apart = Divergences::between(&p, &q);
///
/// assert_eq!(apart.total_variation().to_string(), "1/2");
/// assert_eq!(apart.hockey_stick(ratio(2, 1)).to_string(), "1/4");
/// assert_eq!(apart.largest_ratio().to_string(), "3");
/// // e^((2-1) D_2) = (9/16)/(1/4) + (1/16)/(3/4)
/// assert_eq!(apart.renyi("2".parse()?).to_string(), "7/3");
/// # Ok::<(), queryables::number::NumberError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Divergences {
    /// The two probabilities of each outcome.
    masses: Vec<[Interval; 2]>,
    cut: [Rational; 2],
}

impl Divergences {
    /// The divergences of `p` from `q`.
    #[must_use]
    pub fn between<T: Eq + Hash>(p: &Distribution<T>, q: &Distribution<T>) -> Self {
        let mut masses: Vec<[Interval; 2]> = Vec::new();
        let mut index = HashMap::new();
        for (outcome, mass) in p.outcomes() {
            index.insert(outcome, masses.len());
            masses.push([mass.clone(), Interval::ZERO]);
        }
        for (outcome, mass) in q.outcomes() {
            match index.get(outcome).and_then(|at| masses.get_mut(*at)) {
                Some([_, other]) => *other = mass.clone(),
                None => masses.push([Interval::ZERO, mass.clone()]),
            }
        }
        Self {
            masses,
            cut: [p.cut().clone(), q.cut().clone()],
        }
    }

    fn of(&self, objective: &Objective) -> Value {
        let leaves = self.masses.iter().map(|[p, q]| objective.leaf(p, q));
        let sum = leaves.fold(Value::ZERO, |sum, leaf| objective.combine(&sum, &leaf));
        let [p, q] = &self.cut;
        objective.with_cut(sum, [p, q])
    }

    /// δ(ε) for this `e^ε`: `Σ max(0, p - e^ε q)`.
    #[must_use]
    pub fn hockey_stick(&self, exp_epsilon: impl Into<Interval>) -> Value {
        self.of(&Objective::HockeyStick(exp_epsilon.into()))
    }

    /// δ(ε) for this ε, as a certified interval.
    ///
    /// # Errors
    ///
    /// [`VerifyError::OutOfRange`] if ε is above 1000.
    pub fn delta(&self, epsilon: Epsilon) -> Result<Value, VerifyError> {
        Ok(self.hockey_stick(exp_of(epsilon)?))
    }

    /// Half the sum of all differences.
    #[must_use]
    pub fn total_variation(&self) -> Value {
        self.hockey_stick(Rational::ONE)
    }

    /// `e^((α-1) D_α)`: see [`renyi_divergence`](super::renyi_divergence).
    #[must_use]
    pub fn renyi(&self, order: Order) -> Value {
        self.of(&Objective::Renyi(order_of(order)))
    }

    /// The largest `p / q`: `e` to the max divergence.
    #[must_use]
    pub fn largest_ratio(&self) -> Value {
        self.of(&Objective::Ratio)
    }

    /// The trade-off function `T(p, q)`: the corners, from left to right, of the smallest error of
    /// the second kind against the error of the first kind, among all tests of `p` against `q`.
    /// Between them it is linear (Neyman and Pearson). `None` where probabilities are not exact.
    #[must_use]
    pub fn tradeoff(&self) -> Option<Vec<(Rational, Rational)>> {
        let mut masses = Vec::new();
        for [p, q] in &self.masses {
            if !(p.is_exact() && q.is_exact()) {
                return None;
            }
            if !(p.is_zero() && q.is_zero()) {
                masses.push((p.low(), q.low()));
            }
        }
        if self.cut.iter().any(|cut| *cut > Rational::ZERO) {
            return None;
        }
        // Rejected first: what is likeliest under q, for its probability under p.
        masses.sort_by(|(p, q), (other_p, other_q)| (*p * *other_q).cmp(&(*other_p * *q)));
        let mut corner = (Rational::ZERO, Rational::ONE);
        let mut corners = vec![corner.clone()];
        let mut last: Option<(&Rational, &Rational)> = None;
        for (p, q) in masses {
            corner = (corner.0 + p, corner.1 - q);
            // Equal ratios are one line.
            if last.is_some_and(|(last_p, last_q)| last_p * q == p * last_q) {
                corners.pop();
            }
            corners.push(corner.clone());
            last = Some((p, q));
        }
        Some(corners)
    }
}
