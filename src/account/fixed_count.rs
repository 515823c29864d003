use std::sync::Arc;

use super::budget::Budget;
#[cfg(feature = "serde")]
use super::durable::{Durable, Invalid};
use super::menu::MenuError;
use super::{
    ContinuationRule, Exceeded, LaunchesLeft, Repeats, ValidConcurrently, ValidSequentially,
    nonadaptive,
};
use crate::number::{Delta, Epsilon, Interval};
use crate::privacy::EpsilonDelta;
use crate::privacy::convert::search::largest;
use crate::privacy::convert::{either, log_inverse};

/// At most K launches, each within (ε₀, δ₀): the whole is within (ε, δ) by the optimal composition
/// bound of Kairouz, Oh and Viswanath.
///
/// The analyst may decide along the way to make a launch smaller than (ε₀, δ₀), or to make fewer
/// launches; a smaller launch counts as a whole one. A launch that loses nothing does not count.
///
/// # Guarantee
///
/// The whole is (ε, δ)-DP, for interleaved interactive children with finite communication.
///
/// *Proof.* Fix two neighbouring datasets. A launch within (ε₀, δ₀) is (ε₀, δ₀)-DP, so it is a
/// postprocessing of (ε₀, δ₀)-randomized response on which of the two it is (Kairouz, Oh and
/// Viswanath 2015; for an interactive launch Lyu 2022, Vadhan and Zhang 2023, which is Haney et al.
/// Thm 3.3). So draw K such responses in advance. The i-th launch, whatever the analyst chooses it
/// to be after the answers so far, is made from the i-th response and fresh coins; questions to
/// earlier launches are answered from theirs, so interleaving changes nothing (Haney et al. 1.8);
/// stopping early leaves responses unused. So everything that the analyst sees is a postprocessing
/// of K responses, drawn independently and in advance. Their optimal (ε, δ) is
/// `1 − (1 − δ₀)^K (1 − δ_K(ε))`, where δ_K is that of K-fold randomized response
/// (Kairouz, Oh and Viswanath). ∎
///
/// In other words, only K and (ε₀, δ₀) are fixed in advance. An ε₀ chosen along the way would not
/// be covered.
///
/// # Example
///
/// ```
/// use queryables::account::{ContinuationRule, Exceeded, FixedCount};
/// use queryables::privacy::EpsilonDelta;
///
/// let limit = EpsilonDelta::new("1", "1e-6")?;
/// let each = EpsilonDelta::new("0.01", "0")?;
/// let mut rule = FixedCount::most(limit, each)?;
/// assert_eq!(rule.count(), 562);
/// for _ in 0..561 {
///     rule = rule.charge(&each)?;
/// }
/// rule = rule.charge(&EpsilonDelta::new("0.001", "0")?)?;
/// assert_eq!(rule.charge(&each), Err(Exceeded));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FixedCount {
    each: EpsilonDelta,
    count: u64,
    /// The number of launches; their δ are part of the bound.
    budget: Budget<u64>,
    /// δ at the limit's ε after each of [`READINGS`] equal parts of the launches.
    readings: Arc<[Delta]>,
}

/// How many readings are computed in advance, so that reading takes no time.
const READINGS: u64 = 32;

/// The largest number of launches: composing n of them takes time in proportion to √n.
const MOST: u64 = 10_000_000_000;

impl FixedCount {
    /// The largest number of launches that fits.
    ///
    /// # Errors
    ///
    /// [`MenuError::LosesNothing`] if a launch loses nothing, [`MenuError::Endless`] if 10¹⁰ or
    /// more fit.
    pub fn most(limit: EpsilonDelta, each: EpsilonDelta) -> Result<Self, MenuError> {
        if each == EpsilonDelta::default() {
            return Err(MenuError::LosesNothing { entry: 0 });
        }
        let fits = |count| count <= MOST && composed(count, each, limit.epsilon) <= limit.delta;
        let count = largest(fits);
        if count >= MOST {
            return Err(MenuError::Endless);
        }
        Ok(Self::build(limit, each, count))
    }

    /// This number of launches.
    ///
    /// # Errors
    ///
    /// [`MenuError::OverBudget`] if this number is over the limit, [`MenuError::Endless`] for more
    /// than 10¹⁰.
    pub fn new(limit: EpsilonDelta, each: EpsilonDelta, count: u64) -> Result<Self, MenuError> {
        if count > MOST {
            return Err(MenuError::Endless);
        }
        let delta = composed(count, each, limit.epsilon);
        if delta > limit.delta {
            let limit = limit.delta;
            return Err(MenuError::OverBudget { delta, limit });
        }
        Ok(Self::build(limit, each, count))
    }

    fn build(limit: EpsilonDelta, each: EpsilonDelta, count: u64) -> Self {
        let part = |index: u64| {
            let launches = (u128::from(count) * u128::from(index)).div_ceil(u128::from(READINGS));
            let launches = u64::try_from(launches).unwrap_or(count);
            // Rounding may give a smaller number a larger δ than the whole has, which is within the
            // limit.
            composed(launches, each, limit.epsilon).min(limit.delta)
        };
        Self {
            each,
            count,
            budget: Budget::new(limit, Delta::ZERO),
            readings: (0..=READINGS).map(part).collect(),
        }
    }

    /// The number of launches, K.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest loss of each launch.
    #[must_use]
    pub fn each(&self) -> EpsilonDelta {
        self.each
    }

    /// The number of launches so far.
    #[must_use]
    pub fn launched(&self) -> u64 {
        self.budget.total
    }
}

/// The smallest δ at ε of this many launches together, rounded up: with probability (1 − δ₀)^K none
/// of them reveals everything, and then all are pure.
pub(super) fn composed(count: u64, each: EpsilonDelta, epsilon: Epsilon) -> Delta {
    let pure = nonadaptive::tight_delta(count, each.epsilon, epsilon);
    if each.delta == Delta::ZERO || count == 0 {
        return pure;
    }
    either(pure, some_of(count, each.delta))
}

/// 1 − (1 − δ)^count, rounded up, and never more than count · δ.
fn some_of(count: u64, delta: Delta) -> Delta {
    let sum = delta.checked_mul(count).unwrap_or(Delta::ONE);
    // −ln(1 − δ) · count; δ = 1 has no logarithm.
    let Ok(log) = log_inverse(Delta::ONE.saturating_sub(delta)) else {
        return sum;
    };
    // ln(1 − δ) of a tiny δ is lost in 1 − δ: the sum is the better bound there.
    let none = -(log * Interval::whole(u128::from(count)));
    let some: Option<Delta> = (-none.exp_m1()).max(Interval::ZERO).up();
    some.map_or(sum, |some| some.min(sum))
}

crate::account::approx_dp_in_and_out!(FixedCount);

impl ContinuationRule for FixedCount {
    fn limit(&self) -> &EpsilonDelta {
        &self.budget.limit
    }

    /// While the launches together are within the limit's ε by basic composition, their sum. Then
    /// the limit's ε and the δ of the launches so far, rounded up to the next 32nd of all.
    fn spent(&self) -> EpsilonDelta {
        let (epsilon, delta) = (self.each.epsilon, self.each.delta);
        let (limit, launched) = (self.budget.limit, self.launched());
        let sum = epsilon.checked_mul(launched);
        if let Some(epsilon) = sum.filter(|sum| *sum <= limit.epsilon) {
            let delta = some_of(launched, delta).min(limit.delta);
            return EpsilonDelta { epsilon, delta };
        }
        let place =
            (u128::from(launched) * u128::from(READINGS)).div_ceil(u128::from(self.count.max(1)));
        let reading = self
            .readings
            .get(usize::try_from(place).unwrap_or(usize::MAX));
        EpsilonDelta {
            epsilon: limit.epsilon,
            delta: reading.copied().unwrap_or(limit.delta),
        }
    }

    fn remaining(&self) -> EpsilonDelta {
        if self.launched() < self.count {
            self.each
        } else {
            EpsilonDelta::default()
        }
    }

    fn charge(&self, loss: &EpsilonDelta) -> Result<Self, Exceeded> {
        self.charge_times(loss, 1)
    }

    fn admits(&self, loss: &EpsilonDelta) -> LaunchesLeft {
        self.launches_left(loss)
    }
}

impl Repeats for FixedCount {
    fn charge_times(&self, loss: &EpsilonDelta, times: u64) -> Result<Self, Exceeded> {
        if *loss == EpsilonDelta::default() {
            return Ok(self.clone());
        }
        if !(loss.epsilon <= self.each.epsilon && loss.delta <= self.each.delta) {
            return Err(Exceeded);
        }
        let is_within = |launched: &u64| *launched <= self.count;
        Ok(Self {
            budget: self.budget.charge_times(1, Delta::ZERO, times, is_within)?,
            ..self.clone()
        })
    }
}

impl ValidSequentially for FixedCount {}
impl ValidConcurrently for FixedCount {}

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    limit: EpsilonDelta,
    each: EpsilonDelta,
    count: u64,
}

#[cfg(feature = "serde")]
impl Durable for FixedCount {
    const NAME: &'static str = "FixedCount";

    type Parameters = Parameters;
    type Counts = u64;

    fn parameters(&self) -> Parameters {
        Parameters {
            limit: self.budget.limit,
            each: self.each,
            count: self.count,
        }
    }

    fn build(Parameters { limit, each, count }: Parameters) -> Result<Self, Invalid> {
        Ok(Self::new(limit, each, count)?)
    }

    fn counts(&self) -> u64 {
        self.launched()
    }

    fn resume(&self, launched: u64) -> Result<Self, Invalid> {
        let is_within = |launched: &u64| *launched <= self.count;
        Ok(Self {
            budget: self.budget.resumed(launched, Delta::ZERO, is_within)?,
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::oracle::{quantity, real, whole};

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    #[test]
    fn as_many_as_the_optimal_bound_admits() {
        for (limit, each, count) in [
            (pair("1", "1e-6"), pair("0.01", "0"), 562),
            (pair("4", "1e-6"), pair("0.1", "0"), 74),
            (pair("0.1", "1e-3"), pair("0.001", "0"), 3302),
        ] {
            let rule = FixedCount::most(limit, each).unwrap();
            assert_eq!(rule.count(), count);
            let over = FixedCount::new(limit, each, count + 1).unwrap_err();
            let delta = nonadaptive::tight_delta(count + 1, each.epsilon, limit.epsilon);
            assert!(delta > limit.delta);
            let limit = limit.delta;
            assert_eq!(over, MenuError::OverBudget { delta, limit });
        }
    }

    #[test]
    fn a_smaller_launch_counts_and_a_larger_one_is_refused() {
        let mut rule = FixedCount::new(pair("1", "1e-6"), pair("0.5", "1e-7"), 2).unwrap();
        for over in [pair("0.6", "0"), pair("0.1", "2e-7")] {
            assert_eq!(rule.charge(&over), Err(Exceeded));
        }
        rule = rule.charge(&pair("0", "0")).unwrap();
        assert_eq!((rule.launched(), rule.spent()), (0, pair("0", "0")));
        rule = rule.charge(&pair("0.1", "1e-7")).unwrap();
        assert_eq!(rule.spent(), pair("0.5", "1e-7"));
        assert_eq!(rule.remaining(), pair("0.5", "1e-7"));
        rule = rule.charge(&pair("0.5", "0")).unwrap();
        assert_eq!(rule.remaining(), pair("0", "0"));
        let before = rule.clone();
        assert_eq!(rule.charge(&pair("0.001", "0")), Err(Exceeded));
        assert_eq!(rule, before);
        assert_eq!(rule.charge(&pair("0", "0")).map(|_| ()), Ok(()));
    }

    #[test]
    fn bad_counts_are_errors() {
        let (limit, each) = (pair("1", "1e-6"), pair("0.01", "0"));
        let most = FixedCount::most(limit, pair("0", "0"));
        assert_eq!(most, Err(MenuError::LosesNothing { entry: 0 }));
        let most = FixedCount::most(limit, pair("1e-12", "0"));
        assert_eq!(most, Err(MenuError::Endless));
        let many = FixedCount::new(limit, each, MOST + 1);
        assert_eq!(many, Err(MenuError::Endless));
        assert_eq!(FixedCount::most(limit, pair("2", "0")).unwrap().count(), 0);
    }

    /// 1 − (1 − δ₀)^K (1 − δ_K), by repeated multiplication with 256 bits.
    #[test]
    fn leaks_add_up_to_just_above_the_truth() {
        for (count, each, epsilon) in [
            (100, pair("0.05", "1e-8"), "1"),
            (7, pair("0.3", "0.01"), "0.7"),
            (50, pair("0.1", "0.2"), "2"),
        ] {
            let epsilon = epsilon.parse().unwrap();
            let pure = quantity(nonadaptive::tight_delta(count, each.epsilon, epsilon));
            let mut kept = real(1.0) - pure;
            for _ in 0..count {
                kept *= real(1.0) - quantity(each.delta);
            }
            let truth = real(1.0) - kept;
            let bound = quantity(composed(count, each, epsilon));
            assert!(truth <= bound, "{count} {each}");
            assert!(
                bound <= truth * real(1.0 + 1e-6) + real(1e-30),
                "{count} {each}"
            );
        }
        assert_eq!(some_of(3, Delta::ONE), Delta::ONE);
        assert_eq!(quantity(some_of(3, Delta::ZERO)), whole(0));
    }

    #[test]
    fn what_is_spent_rises_to_the_limit() {
        let (limit, each) = (pair("1", "1e-6"), pair("0.05", "1e-9"));
        let mut rule = FixedCount::most(limit, each).unwrap();
        let mut before = rule.spent();
        while let Ok(next) = rule.charge(&each) {
            rule = next;
            let now = rule.spent();
            assert!(before <= now && now <= limit, "{before} {now}");
            let truth = composed(rule.launched(), each, now.epsilon);
            assert!(truth <= now.delta, "{} {now}", rule.launched());
            before = now;
        }
        assert_eq!(rule.launched(), rule.count());
    }
}
