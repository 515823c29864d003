//! Queries for which each record pays what it can lose.
//!
//! Ask them of an [`IndividualFilter`](crate::compose::IndividualFilter), which keeps the
//! accounts; which rules it takes is said by [`ValidIndividually`]. Mechanisms with added noise
//! are the same that others launch: there all pay for what one record can change at most, here each
//! pays for what it changes itself.
//!
//! | query | a record pays | under |
//! |---|---|---|
//! | [`Count`](super::Count), with Laplace noise | ε, if it is counted | any rule that prices Laplace noise |
//! | [`Sum`](super::Sum), with Laplace noise | ε·\|v\|/Δ for its number v | the same |
//! | [`Histogram`](super::Histogram), [`Mean`](super::Mean), [`Variance`](super::Variance), and [by group](super::By) | ε for what it adds in all, divided by Δ | the same |
//! | the same, and [`VectorSum`](super::VectorSum), with Gaussian noise | ρ·‖v‖²/Δ² for what it adds, v | rules in which squares add up |
//! | [`ActiveRecords`] | ε, if it can | any rule that prices Laplace noise |
//! | [`ExponentialMechanism`](super::ExponentialMechanism) by [`SumScores`](super::SumScores) | ε·(range of its scores)/Δ | any rule that prices bounded ranges |
//! | [`ThresholdHistogram`](super::ThresholdHistogram) | (ε, δ), if it has a key | rules with (ε, δ) children |
//!
//! # Guarantee
//!
//! One more record, which adds v to the totals, changes them by v, whatever the others are. So its
//! loss is that of the noise on totals that change by v. With Laplace noise of scale Δ/ε that is
//! ε·‖v‖₁/Δ under pure privacy; under other measures it is priced for the next of 16 numbers between
//! powers of two. With Gaussian noise of ρ for a change of Δ it is ρ·‖v‖²/Δ², rounded up (Feldman and
//! Zrnic §2.1, Prop. 2.9; [`SquaresAddUp`]). What is added is what is charged.
//!
//! Whoever cannot pay adds nothing, and pays nothing; so does a record that cannot be read. If the
//! filter [fits](crate::compose::IndividualFilter::shrinking), what a record adds is shortened to what it
//! can still pay for.

mod active;

pub use active::ActiveRecords;

use std::num::NonZeroU64;
use std::ops::Range;

use super::noised::{drawn, release};
use super::{AddedNoise, Contributes, GaussianNoise, LaplaceNoise, Noised};
use crate::account::{ChildLoss, SquaresAddUp, ValidIndividually};
use crate::compose::{IndividualQuery, Payers, RecordUnits, Tariff};
use crate::data::Dataset;
use crate::machine::{Coins, Description, DrawnNoise, Fault};
use crate::number::{Epsilon, U256};
use crate::privacy::facts::{Gaussian, Laplace};
use crate::privacy::{AddRemove, Overflow, Prices, UnknownLoss};

/// ε·part/whole, rounded up.
pub(super) fn share(epsilon: Epsilon, part: u64, whole: u64) -> Result<Epsilon, UnknownLoss> {
    let product = U256::whole(epsilon.units()).checked_mul(part.into());
    let units = product.and_then(|product| {
        let (units, rest) = product.div_rem(whole.max(1).into());
        units.to_u128()?.checked_add(u128::from(rest != 0))
    });
    let epsilon = units.and_then(|units| Epsilon::from_units(units).ok());
    Ok(epsilon.ok_or(Overflow)?)
}

/// The tariff of a query for which a contribution of this size loses so much, up to the largest.
pub(super) fn priced<F: ValidIndividually>(
    units: &RecordUnits<F>,
    largest: u64,
    loss_of: impl Fn(u64) -> Result<ChildLoss<F>, UnknownLoss>,
) -> Result<Tariff, UnknownLoss> {
    if F::STEPS_ADD_UP || largest == 1 {
        return units.proportional(&loss_of(largest)?, largest);
    }
    units.stepwise(largest, loss_of)
}

/// Noise for which records can pay under a rule.
///
/// Example: [`IndividualFilter`](crate::compose::IndividualFilter).
#[diagnostic::on_unimplemented(
    message = "ask with a noise that records can pay for under this rule: `{Self}` is none",
    note = "Laplace noise is paid for under rules whose measure prices it, Gaussian noise under rules in which squares add up"
)]
pub trait Paid<F: ValidIndividually>: AddedNoise {
    /// What a contribution costs, by its size.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if it has no price.
    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss>;
}

impl<F: ValidIndividually<Children: Prices<Laplace>>> Paid<F> for LaplaceNoise {
    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        let largest = self.together().ok_or(Overflow)?.get();
        let loss_of = |size: u64| {
            let steps = NonZeroU64::new(size).unwrap_or(NonZeroU64::MIN);
            // A larger ε for the same steps says less than what is true.
            let fact = Laplace {
                epsilon: share(self.epsilon(), size, largest)?,
                steps,
                answers: NonZeroU64::MIN,
            };
            units.rule().children().price(&fact)
        };
        priced(units, largest, loss_of)
    }
}

impl<F: SquaresAddUp<Children: Prices<Gaussian>>> Paid<F> for GaussianNoise {
    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        let longest = units.rule().children().price(&self.fact())?;
        let square = u64::try_from(self.square()).ok();
        let square = square.filter(|square| *square <= 1 << 52);
        let too_long = UnknownLoss("records pay for a change of at most 2^26 steps");
        units.proportional(&longest, square.ok_or(too_long)?)
    }
}

impl<D, F, Q, N> IndividualQuery<D, F> for Noised<Q, N, AddRemove>
where
    D: Dataset + ?Sized,
    F: ValidIndividually,
    Q: Contributes<D>,
    N: Paid<F>,
{
    type Noise = Vec<DrawnNoise>;
    type Total = Vec<i128>;
    type Answer = Q::Answer;

    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        self.query.payable()?;
        self.noise.tariff(units)
    }

    fn noise(&self, coins: &mut Coins<'_>) -> Result<Vec<DrawnNoise>, Fault> {
        drawn(self.noise.law(), self.query.totals(), coins)
    }

    fn nothing(&self) -> Vec<i128> {
        vec![0; self.query.totals()]
    }

    fn take(&self, data: &D, records: Range<usize>, payers: &mut Payers<'_>) -> Vec<i128> {
        let mut totals = vec![0; self.query.totals()];
        self.query.take(data, records, N::NORM, payers, &mut totals);
        totals
    }

    fn merge(&self, total: &mut Vec<i128>, chunk: Vec<i128>) {
        for (total, chunk) in total.iter_mut().zip(chunk) {
            *total = total.saturating_add(chunk);
        }
    }

    fn answer(
        &self,
        mut total: Vec<i128>,
        noise: Vec<DrawnNoise>,
        coins: &mut Coins<'_>,
    ) -> Result<Q::Answer, Fault> {
        release(&mut total, noise, coins);
        Ok(self.query.answer(&total))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}
