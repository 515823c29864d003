#[cfg(feature = "serde")]
use super::durable::{Durable, Invalid};
use super::{
    Accounting, Accumulator, Capped, ContinuationRule, DefaultAccumulator, Exceeded, LaunchesLeft,
    Repeats, ValidConcurrently, ValidSequentially,
};
use crate::privacy::Reentrant;
#[cfg(feature = "serde")]
use crate::privacy::checked;
use crate::privacy::{
    Additive, ApproxDp, ApproxRdp, ApproxZCdp, EpsilonDelta, Measure, Overflow, PureDp, Rdp,
    RdpGrid, ZCdp,
};

/// Losses add up: `G(d₁, …, d_k) = d₁ + … + d_k`, exactly and in any order.
///
/// # Guarantee
///
/// | measure | children | source |
/// |---|---|---|
/// | pure DP | interleaved | Haney et al. 4.6, 4.9 at every order |
/// | (ε, δ)-DP | interleaved, finite communication | Rogers et al. 3.3; Haney et al. 1.20 |
/// | Rényi DP of fixed order, or of every order of a grid | interleaved | Haney et al. 4.6, 4.9 |
/// | zCDP | interleaved | Haney et al. 4.10, 4.11 |
/// | approximate zCDP | one after the other | Whitehouse et al. Thm 1 |
/// | approximate Rényi DP of fixed order | one after the other | Whitehouse et al. Thm 1, whose proof goes order by order |
/// | units of one trade-off function | interleaved, finite communication | Tran et al. 3.6, Ex. D.3; Haney et al. 3.3 |
/// | approximate GDP of sampled Gaussians | non-interactive; in a limit, not a bound | Tran et al. 4.3 |
/// | probabilistic DP | non-interactive | Rogers et al. 3.3 |
///
/// The losses of [`ProbabilisticDp`](crate::privacy::ProbabilisticDp) add up where mechanisms answer
/// once only. Those of [`Gdp`](crate::privacy::Gdp) do not: their squares do
/// ([`RootSumSquares`](super::RootSumSquares)). Nor do those of
/// [`SampledGaussianDp`](crate::privacy::SampledGaussianDp), which has a filter of its own
/// (`SampledGaussianFilter`).
///
/// ε-DP is Rényi privacy of ε at every order: the divergence rises with the order, to the one that
/// ε-DP bounds. So for pure DP the theorem about one order holds at all of them with the same rule,
/// and communication need not be finite.
///
/// On a grid, a launch that one order refuses never reaches the others: for each of them this is a
/// person in the middle of its own filter (Haney et al. 2.17).
///
/// # Example
///
/// ```
/// use queryables::account::{Accumulator, Sum};
/// use queryables::privacy::PureDp;
///
/// let mut sum = Sum::new(PureDp);
/// for _ in 0..10 {
///     sum = sum.add(&"0.1".parse()?)?;
/// }
/// assert_eq!(sum.total(), "1".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Hash)]
#[must_use = "`add` gives the next total and changes nothing"]
pub struct Sum<Me: Measure> {
    measure: Me,
    total: Me::Loss,
}

impl<Me: Additive> Sum<Me> {
    /// Nothing counted yet.
    pub fn new(measure: Me) -> Self {
        let total = measure.zero();
        Self { measure, total }
    }
}

impl<Me: Additive> Accounting for Sum<Me> {
    const REENTRANT: Reentrant = Me::REENTRANT;

    type Children = Me;
    type Whole = Me;

    fn children(&self) -> &Me {
        &self.measure
    }

    fn whole(&self) -> &Me {
        &self.measure
    }
}

impl<Me: Additive> Accumulator for Sum<Me> {
    fn add(&self, loss: &Me::Loss) -> Result<Self, Overflow> {
        Ok(Self {
            measure: self.measure.clone(),
            total: self.measure.plus(&self.total, loss)?,
        })
    }

    fn total(&self) -> Me::Loss {
        self.total.clone()
    }

    fn headroom(&self, limit: &Me::Loss) -> Me::Loss {
        self.measure.minus(limit, &self.total)
    }

    fn admits(&self, loss: &Me::Loss, limit: &Me::Loss) -> LaunchesLeft {
        let within = |total: Me::Loss| (total <= *limit).then_some(total);
        let plus = |one: &Me::Loss, other: &Me::Loss| self.measure.plus(one, other).ok();
        LaunchesLeft::searched(|times| {
            // By doubling: as many sums as the number has digits.
            let (mut total, mut power) = (Some(self.total.clone()), Some(loss.clone()));
            for digit in 0..u64::BITS - times.leading_zeros() {
                if times >> digit & 1 == 1 {
                    let sum = total.zip(power.as_ref());
                    total = sum.and_then(|(total, power)| within(plus(&total, power)?));
                }
                power = power.and_then(|power| plus(&power, &power));
            }
            total.is_some()
        })
    }
}

#[diagnostic::do_not_recommend]
impl<Me: Additive> DefaultAccumulator for Me {
    type Accumulator = Sum<Self>;

    fn accumulator(&self) -> Sum<Self> {
        Sum::new(self.clone())
    }
}

impl Repeats for Capped<Sum<ApproxDp>> {
    fn charge_times(&self, loss: &EpsilonDelta, times: u64) -> Result<Self, Exceeded> {
        let whole = EpsilonDelta {
            epsilon: loss.epsilon.checked_mul(times).ok_or(Exceeded)?,
            delta: loss.delta.checked_mul(times).ok_or(Exceeded)?,
        };
        self.charge(&whole)
    }
}

/// A measure in which the losses of interactive children add up, if a launch freezes the earlier
/// ones.
///
/// Example: [`Sum`](crate::account::Sum).
///
/// # Guarantee
///
/// Implement it for a measure of your own where a theorem says so, and cite it: the whole guarantee
/// of [`Filter::sequential`](crate::compose::Filter::sequential) under that measure depends on it.
pub trait AddsUpSequentially: Additive {}

/// A measure in which the losses of interactive children add up, in whatever order they are asked.
///
/// Example: [`Sum`](crate::account::Sum).
///
/// # Guarantee
///
/// As for [`AddsUpSequentially`], for [`Filter::concurrent`](crate::compose::Filter::concurrent).
pub trait AddsUpConcurrently: AddsUpSequentially {}

// The compiler reports a failure for `Sum`, where the message names the theorems.
#[diagnostic::do_not_recommend]
impl<Me: AddsUpSequentially> ValidSequentially for Sum<Me> {}
#[diagnostic::do_not_recommend]
impl<Me: AddsUpConcurrently> ValidConcurrently for Sum<Me> {}

macro_rules! adds_up {
    ($property:ident: $($measure:ty),*) => { $(impl $property for $measure {})* };
}

adds_up!(AddsUpSequentially: PureDp, ApproxDp, Rdp, RdpGrid, ZCdp, ApproxZCdp, ApproxRdp);
adds_up!(AddsUpConcurrently: PureDp, ApproxDp, Rdp, RdpGrid, ZCdp);

#[cfg(feature = "serde")]
impl<Me> Durable for Sum<Me>
where
    Me: Additive + serde::Serialize + serde::de::DeserializeOwned,
    Me::Loss: serde::Serialize + serde::de::DeserializeOwned,
{
    const NAME: &'static str = "Sum";

    type Parameters = Me;
    type Counts = Me::Loss;

    fn parameters(&self) -> Me {
        self.measure.clone()
    }

    fn build(measure: Me) -> Result<Self, Invalid> {
        Ok(Self::new(measure))
    }

    fn counts(&self) -> Me::Loss {
        self.total.clone()
    }

    fn resume(&self, total: Me::Loss) -> Result<Self, Invalid> {
        Ok(Self {
            total: checked(&self.measure, total)?,
            measure: self.measure.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::EpsilonDelta;

    #[test]
    fn what_cannot_be_held_is_an_overflow() {
        let mut sum = Sum::new(PureDp);
        sum = sum.add(&"3e11".parse().unwrap()).unwrap();
        assert_eq!(sum.add(&"3e11".parse().unwrap()), Err(Overflow));
    }

    #[test]
    fn approximate_renyi_losses_add_up_in_both_coordinates() {
        let pair = |epsilon: &str, delta: &str| EpsilonDelta::new(epsilon, delta).unwrap();
        let mut sum = ApproxRdp::new("8".parse().unwrap()).accumulator();
        sum = sum.add(&pair("0.3", "1e-6")).unwrap();
        sum = sum.add(&pair("0.1", "2e-6")).unwrap();
        assert_eq!(sum.total(), pair("0.4", "3e-6"));
        assert!(!sum.is_within(&pair("1", "2.9e-6")));
        assert!(!sum.is_within(&pair("0.39", "1e-3")));
        assert!(sum.is_within(&pair("0.4", "3e-6")));
    }

    #[test]
    fn headroom_is_what_is_missing_in_each_coordinate() {
        let mut sum = Sum::new(ApproxDp);
        sum = sum.add(&EpsilonDelta::new("0.3", "1e-6").unwrap()).unwrap();
        let limit = EpsilonDelta::new("1", "1e-7").unwrap();
        assert_eq!(sum.headroom(&limit), EpsilonDelta::new("0.7", "0").unwrap());
        assert!(!sum.is_within(&limit));
        assert!(sum.is_within(&EpsilonDelta::new("0.3", "1e-6").unwrap()));
    }
}
