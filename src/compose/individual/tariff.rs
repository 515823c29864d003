//! What a contribution costs, by its size.

use std::sync::Arc;

/// A public price list for contributions of one query: from a size to whole units.
///
/// Nothing costs nothing; whatever is not nothing costs at least one unit; prices do not fall as
/// sizes grow. δ, if there is any, is the same for every contribution that is not nothing.
/// [`RecordUnits`](super::RecordUnits) makes them.
///
/// Example: [`IndividualQuery`](crate::compose::IndividualQuery).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tariff {
    largest: u64,
    /// What the largest costs.
    most: u64,
    prices: Prices,
    /// What any contribution costs of δ.
    delta: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Prices {
    /// For each unit of size: a whole part, and a fraction of 2^64, rounded up.
    Proportional { whole: u64, fraction: u64 },
    /// For each of [`Tariff::steps`].
    Stepwise(Arc<[u64]>),
}

/// Sizes up to twice this have a step of their own.
const PER_OCTAVE: u64 = 16;

impl Tariff {
    /// What no record can pay.
    pub(super) const UNPAYABLE: u64 = u64::MAX;

    /// `most` for the largest, and for smaller ones their share, rounded up.
    pub(super) fn proportional(most: u64, largest: u64) -> Self {
        let largest = largest.max(1);
        let (whole, rest) = (most / largest, most % largest);
        // The share is less than 1, so rounded up it fits, or is all of it.
        let fraction = (u128::from(rest) << 64).div_ceil(largest.into());
        Self {
            largest,
            most,
            prices: Prices::Proportional {
                whole,
                fraction: u64::try_from(fraction).unwrap_or(u64::MAX),
            },
            delta: 0,
        }
    }

    pub(super) fn stepwise(prices: Arc<[u64]>, largest: u64) -> Self {
        Self {
            largest,
            most: prices.last().copied().unwrap_or(Self::UNPAYABLE),
            prices: Prices::Stepwise(prices),
            delta: 0,
        }
    }

    /// And this much δ, for any contribution.
    pub(super) fn with_delta(self, delta: u64) -> Self {
        Self { delta, ..self }
    }

    /// The sizes that have a price, in ascending order, up to the first that is at least `largest`.
    pub(super) fn steps(largest: u64) -> impl Iterator<Item = u64> {
        let last = step_of(largest.max(1));
        (0..=last).map(move |step| size_of(step).min(largest.max(1)))
    }

    /// What the largest contribution costs, besides δ.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// What any contribution costs of δ, whatever its size.
    #[inline]
    #[must_use]
    pub fn delta(&self) -> u64 {
        self.delta
    }

    /// What a contribution of this size costs, besides δ.
    #[inline]
    #[must_use]
    pub fn cost(&self, size: u64) -> u64 {
        if size > self.largest {
            return Self::UNPAYABLE;
        }
        match &self.prices {
            Prices::Proportional { whole, fraction } => {
                let product = u128::from(size) * u128::from(*fraction);
                let (high, low) = ((product >> 64) as u64, product as u64);
                // At most two more than the exact price.
                let cost = size * whole + high + u64::from(low != 0);
                cost.max(u64::from(size != 0))
                    .min(self.most.max(u64::from(size != 0)))
            }
            Prices::Stepwise(_) if size == 0 => 0,
            Prices::Stepwise(prices) => {
                let cost = usize::try_from(step_of(size)).ok();
                let cost = cost.and_then(|step| prices.get(step));
                cost.copied().unwrap_or(Self::UNPAYABLE).max(1)
            }
        }
    }

    /// The largest size that costs at most this, besides δ.
    #[must_use]
    pub fn largest_for(&self, units: u64) -> u64 {
        if units >= self.most.max(1) {
            return self.largest;
        }
        let guess = match &self.prices {
            Prices::Proportional { .. } => {
                let product = u128::from(units) * u128::from(self.largest);
                // Not above the largest, since `units` is below `most`.
                (product / u128::from(self.most.max(1))) as u64
            }
            Prices::Stepwise(prices) => {
                let within = prices.partition_point(|price| (*price).max(1) <= units) as u64;
                within.checked_sub(1).map_or(0, size_of)
            }
        };
        // Rounding is by at most two units, each of which may be a few sizes.
        let mut size = guess.min(self.largest);
        while size > 0 && self.cost(size) > units {
            size -= (size / 1024).max(1);
        }
        size
    }
}

/// The index of the first step that is at least this size, which is not zero.
#[inline]
fn step_of(size: u64) -> u64 {
    let rest = size - 1;
    if rest < 2 * PER_OCTAVE {
        return rest;
    }
    // Sizes from 2^k + 1 to 2^(k+1) are in 16 steps of 2^(k-4).
    let octave = u64::from(rest.ilog2());
    let within = rest >> (octave - 4);
    (octave - 4) * PER_OCTAVE + within
}

/// The largest size in a step.
fn size_of(step: u64) -> u64 {
    if step < 2 * PER_OCTAVE {
        return step + 1;
    }
    let octave = step / PER_OCTAVE - 1;
    let within = step % PER_OCTAVE + PER_OCTAVE + 1;
    u64::try_from(u128::from(within) << octave).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn square_prices(largest: u64) -> Tariff {
        let prices = Tariff::steps(largest).map(|size| size.saturating_mul(size));
        Tariff::stepwise(prices.collect(), largest)
    }

    #[test]
    fn the_largest_costs_exactly_the_price_and_nothing_costs_nothing() {
        for (most, largest) in [(10, 3), (1, 1 << 52), (1 << 60, 1 << 52), (7, 7), (0, 5)] {
            let tariff = Tariff::proportional(most, largest);
            assert_eq!(tariff.cost(0), 0);
            assert_eq!(tariff.cost(largest), most.max(1));
            assert_eq!(tariff.cost(largest + 1), u64::MAX);
        }
        // A share of 10/3 and of 20/3.
        let thirds = Tariff::proportional(10, 3);
        assert_eq!([1, 2, 3].map(|size| thirds.cost(size)), [4, 7, 10]);
    }

    #[test]
    fn small_sizes_have_a_step_of_their_own() {
        let sizes: Vec<u64> = Tariff::steps(40).collect();
        let expected: Vec<u64> = (1..=32).chain([34, 36, 38, 40]).collect();
        assert_eq!(sizes, expected);
        let tariff = square_prices(40);
        assert_eq!(
            [1, 32, 33, 34, 39].map(|size| tariff.cost(size)),
            [1, 1024, 1156, 1156, 1600]
        );
        assert_eq!(tariff.cost(41), u64::MAX);
        assert_eq!(tariff.largest_for(1155), 32);
        assert_eq!(tariff.largest_for(0), 0);
    }

    proptest! {
        #[test]
        fn a_share_is_rounded_up_and_by_little(
            most in 0_u64..1 << 60, largest in 1_u64..1 << 53, part: u64,
        ) {
            let size = part % largest + 1;
            let cost = u128::from(Tariff::proportional(most, largest).cost(size));
            let exact = (u128::from(most) * u128::from(size)).div_ceil(largest.into()).max(1);
            prop_assert!((exact..=exact + 1).contains(&cost), "{cost} {exact}");
        }

        #[test]
        fn steps_are_the_next_larger_size(size in 1_u64..=u64::MAX) {
            let step = step_of(size);
            prop_assert!(size_of(step) >= size);
            prop_assert!(step == 0 || size_of(step - 1) < size);
            // At most a sixteenth more.
            prop_assert!(size_of(step) - size <= size / PER_OCTAVE);
        }

        #[test]
        fn what_can_be_paid_for_is_paid_for(
            most in 1_u64..1 << 60, largest in 1_u64..1 << 53, units: u64, bits in 0_u32..64,
        ) {
            let units = units >> bits;
            for tariff in [Tariff::proportional(most, largest), square_prices(largest >> 20)] {
                let size = tariff.largest_for(units);
                prop_assert!(tariff.cost(size) <= units);
                prop_assert!(size <= tariff.largest);
                // Not much less than what could be paid for.
                let larger = size + size / 256 + 1;
                let slack = units.saturating_add(2).saturating_add(most / largest * 2);
                let enough = larger > tariff.largest || tariff.cost(larger) > units
                    || tariff.cost(larger) <= slack;
                prop_assert!(enough, "{size} of {tariff:?} for {units}");
            }
        }
    }
}
