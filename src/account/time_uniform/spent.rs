use super::{Reading, Slack};
use crate::account::twice_rho::{in_squared_units, twice_rho};
use crate::number::{Delta, Interval, Quantity, Rho, U256, Unit, units};
use crate::privacy::{EpsilonDelta, Measure, Overflow, ProbabilisticDp, ZCdp};

/// `V = 2Σρ`, which plays the role of time for these odometers: a positive multiple of 10⁻²⁷, at
/// most 3.4·10¹¹. For launches of (ε, δ) it is at most Σε².
///
/// It is the variance of the Gaussian that the realised loss is compared with, hence the name.
///
/// Example: [`VarianceOdometer`](crate::account::time_uniform::VarianceOdometer).
pub type Variance = Quantity<units::Variance>;

const ONE: u128 = 10_u128.pow(units::Variance::DECIMALS);

/// A small whole number in the units of a sum of squares.
pub(super) fn whole(number: u32) -> U256 {
    in_squared_units(u128::from(number) * ONE)
}

/// A variance, as exactly as floats can hold it.
pub(super) fn interval(squares: U256) -> Interval {
    Interval::squares(squares, units::Variance::DECIMALS)
}

/// A bound and the drift of launches with δ; without δ, the bound to the last digit.
pub(super) fn plus(bound: Interval, delta: Delta) -> Interval {
    if delta == Delta::ZERO {
        return bound;
    }
    bound + Interval::from(delta)
}

/// A measure under which the realised loss of a launch is sub-Gaussian for positive λ.
///
/// There are two; the [module](super) has the proof for each.
#[diagnostic::on_unimplemented(
    message = "a time-uniform odometer takes launches under `ProbabilisticDp` or `ZCdp`, not under `{Self}`"
)]
pub(crate) trait SubGaussian: Measure {
    /// 2ρ in the units of a sum of squares, and δ; `None` if it is more than can be held.
    fn cost(loss: &Self::Loss) -> Option<(U256, Delta)>;
}

impl SubGaussian for ProbabilisticDp {
    fn cost(loss: &EpsilonDelta) -> Option<(U256, Delta)> {
        Some((twice_rho(loss.epsilon), loss.delta))
    }
}

impl SubGaussian for ZCdp {
    fn cost(loss: &Rho) -> Option<(U256, Delta)> {
        let twice = in_squared_units(loss.units()).checked_mul(2);
        twice.map(|twice| (twice, Delta::ZERO))
    }
}

/// The state of all these odometers: V and Σδ, exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
// A part of the counts of rules, if there is `serde`.
#[cfg_attr(not(feature = "serde"), allow(unreachable_pub))]
pub struct Spent {
    squares: U256,
    delta: Delta,
}

impl Spent {
    /// After one more launch.
    pub(super) fn add<M: SubGaussian>(&self, loss: &M::Loss) -> Result<Self, Overflow> {
        let (squares, delta) = M::cost(loss).ok_or(Overflow)?;
        self.charge(squares, delta)
    }

    pub(super) fn charge(&self, squares: U256, delta: Delta) -> Result<Self, Overflow> {
        Ok(Self {
            squares: self.squares.checked_add(squares).ok_or(Overflow)?,
            delta: self.delta.saturating_add(delta),
        })
    }

    /// V.
    pub(super) fn squares(&self) -> U256 {
        self.squares
    }

    /// Σδ.
    pub(super) fn delta(&self) -> Delta {
        self.delta
    }

    /// The reading of an odometer whose bound without δ is this function of V.
    pub(super) fn reading(
        &self,
        slack: &Slack,
        boundary: impl FnOnce(U256) -> Option<Interval>,
    ) -> Reading {
        let bound = if self.delta > slack.launches() {
            None
        } else {
            boundary(self.squares).map(|bound| plus(bound, self.delta))
        };
        Reading::new(bound.and_then(Interval::up), slack.total())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::twice_rho::squares;
    use crate::number::NumberError;

    #[test]
    fn a_variance_is_positive() {
        assert_eq!(
            "0".parse::<Variance>(),
            Err(NumberError::TooSmall {
                what: "variance",
                bound: "0"
            })
        );
        assert_eq!("1e-27".parse::<Variance>().unwrap().units(), 1);
    }

    #[test]
    fn squares_add_up_to_a_variance_exactly() {
        let mut spent = Spent::default();
        for _ in 0..10 {
            // Half of 0.01².
            spent = spent.add::<ZCdp>(&"0.00005".parse().unwrap()).unwrap();
        }
        assert_eq!(spent.squares(), squares("0.001".parse().unwrap()));
        assert_eq!(spent.delta(), Delta::ZERO);
        for _ in 0..10 {
            let loss = EpsilonDelta::new("0", "1e-9").unwrap();
            spent = spent.add::<ProbabilisticDp>(&loss).unwrap();
        }
        assert_eq!(spent.squares(), squares("0.001".parse().unwrap()));
        assert_eq!(spent.delta(), "1e-8".parse().unwrap());
    }

    #[test]
    fn pairs_count_as_what_they_imply() {
        let loss = EpsilonDelta::new("1", "1e-9").unwrap();
        let spent = Spent::default().add::<ProbabilisticDp>(&loss).unwrap();
        // 2·tanh(1/2) = 0.924234…
        assert!(spent.squares() < squares("0.92425".parse().unwrap()));
        assert!(spent.squares() > squares("0.92423".parse().unwrap()));
    }

    #[test]
    fn what_cannot_be_held_is_an_overflow() {
        let most = Spent {
            squares: U256::MAX,
            delta: Delta::ZERO,
        };
        assert_eq!(most.add::<ZCdp>(&"1e-27".parse().unwrap()), Err(Overflow));
        let loss = EpsilonDelta::new("1e-27", "0.1").unwrap();
        assert_eq!(most.add::<ProbabilisticDp>(&loss), Err(Overflow));
    }
}
