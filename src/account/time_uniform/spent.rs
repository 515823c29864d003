use super::{Reading, Slack};
use crate::number::{Delta, Interval, Quantity, U256, Unit};
use crate::privacy::{EpsilonDelta, Overflow};

/// The unit of [`Variance`].
#[derive(Clone, Copy, Debug)]
pub struct VarianceUnit;

impl Unit for VarianceUnit {
    const NAME: &'static str = "variance";
    const DECIMALS: u32 = 27;
    const LARGEST: u128 = 340_000_000_000 * 10_u128.pow(Self::DECIMALS);
    const LARGEST_TEXT: &'static str = "3.4e11";
    const GREATER_THAN: Option<(u128, &'static str)> = Some((0, "0"));
}

/// `V = Σε²`, the time in which these odometers measure: a positive multiple of 10⁻²⁷, at most
/// 3.4·10¹¹.
///
/// It bounds the variance of the realised loss, hence the name.
pub type Variance = Quantity<VarianceUnit>;

const ONE: u128 = 10_u128.pow(VarianceUnit::DECIMALS);

/// A variance in the units of a sum of squares, exactly.
pub(super) fn squares(variance: Variance) -> U256 {
    in_squared_units(variance.units())
}

/// A small whole number in the units of a sum of squares.
pub(super) fn whole(number: u32) -> U256 {
    in_squared_units(u128::from(number) * ONE)
}

fn in_squared_units(units: u128) -> U256 {
    // At most 128 + 90 bits.
    U256::whole(units).checked_mul(ONE).unwrap_or(U256::MAX)
}

/// A variance, as exactly as floats can hold it.
pub(super) fn interval(squares: U256) -> Interval {
    Interval::squares(squares, VarianceUnit::DECIMALS)
}

/// What all these odometers remember: `Σε²` and `Σδ`, exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    squares: U256,
    delta: Delta,
}

impl Spent {
    pub(super) fn add(&self, loss: &EpsilonDelta) -> Result<Self, Overflow> {
        let squares = self.squares.checked_add(U256::of(loss.epsilon));
        Ok(Self {
            squares: squares.ok_or(Overflow)?,
            delta: self.delta.saturating_add(loss.delta),
        })
    }

    /// `Σε²`.
    pub(super) fn squares(&self) -> U256 {
        self.squares
    }

    /// `Σδ`.
    pub(super) fn delta(&self) -> Delta {
        self.delta
    }

    /// The reading of an odometer with this boundary on the variance.
    pub(super) fn reading(
        &self,
        slack: &Slack,
        boundary: impl FnOnce(U256) -> Option<Interval>,
    ) -> Reading {
        let bound = if self.delta > slack.launches() {
            None
        } else {
            boundary(self.squares)
        };
        Reading::new(bound.and_then(Interval::up), slack.total())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            let loss = EpsilonDelta::new("0.01", "1e-9").unwrap();
            spent = spent.add(&loss).unwrap();
        }
        assert_eq!(spent.squares(), squares("0.001".parse().unwrap()));
        assert_eq!(spent.delta(), "1e-8".parse().unwrap());
    }

    #[test]
    fn what_cannot_be_held_is_an_overflow() {
        let large = EpsilonDelta::new("3.3e11", "0.1").unwrap();
        let spent = Spent::default().add(&large).unwrap();
        assert_eq!(spent.add(&large), Err(Overflow));
    }
}
