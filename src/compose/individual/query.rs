//! What can be asked where each record pays for itself.

use std::ops::Range;

use super::{Payers, RecordUnits, Tariff};
use crate::account::ValidIndividually;
use crate::data::Dataset;
use crate::machine::{Coins, Description, Fault};
use crate::privacy::UnknownLoss;

/// A query with a public map from records to losses, asked of an
/// [`IndividualFilter`](super::IndividualFilter) with the rule `F`.
///
/// Each record makes a *contribution*, possibly none, which depends on the record and on the query
/// only. It has a *size*, and the [`tariff`](Self::tariff) says what a size costs. The answer is
/// drawn from the contributions of those who paid.
///
/// Ready-made ones are in [`mechanisms::individual`](crate::mechanisms::individual): counts, sums,
/// Gaussian vector sums, and the exponential mechanism.
///
/// # What an implementer owes
///
/// - For every multiset of contributions, and one more of a size s, the laws of the answer with and
///   without it are within the loss for which the tariff charges s, δ included, in both directions. This is a
///   supremum over all datasets: a price that is right for the data at hand, and not for others, is
///   wrong (`spec/individual.md` has the counterexample).
/// - [`take`](Self::take) charges each record once, in order, and adds it with the size that
///   [`Payers::charge`] returns; zero means nothing. All records are read, whether they can pay or
///   not.
/// - The total does not depend on the order of records, nor on how they are divided into chunks.
/// - [`noise`](Self::noise) is drawn before the data is read.
/// - Only `take` meets records, and only `take` may panic: the record on which it does contributes
///   nothing and pays nothing.
///
/// # Example
///
/// Randomized response about whether anybody contributes: one more contribution changes the odds of
/// an answer by a factor of three at most.
///
/// ```
/// use queryables::account::ValidIndividually;
/// use queryables::compose::{IndividualFilter, IndividualQuery, Payers, RecordUnits, Tariff};
/// use queryables::machine::{Coins, Fault};
/// use queryables::prelude::*;
/// use std::ops::Range;
/// use std::sync::Arc;
///
/// #[derive(Clone)]
/// struct Anybody(u8);
///
/// impl<F: ValidIndividually<Children = PureDp>> IndividualQuery<Vec<u8>, F> for Anybody {
///     type Noise = bool;
///     type Total = u64;
///     type Answer = bool;
///
///     fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
///         // ln 3, rounded up.
///         let loss = "1.0987".parse().map_err(|_| UnknownLoss("not a number"))?;
///         units.flat(&loss)
///     }
///
///     fn noise(&self, coins: &mut Coins<'_>) -> Result<bool, Fault> {
///         Ok(coins.weighted(&[3, 1])? == 1)
///     }
///
///     fn nothing(&self) -> u64 {
///         0
///     }
///
///     fn take(&self, data: &Vec<u8>, records: Range<usize>, payers: &mut Payers<'_>) -> u64 {
///         let rows = &data[records];
///         rows.iter().map(|row| payers.charge(u64::from(*row == self.0))).sum()
///     }
///
///     fn merge(&self, total: &mut u64, chunk: u64) {
///         *total += chunk;
///     }
///
///     fn answer(&self, total: u64, lie: bool, _: &mut Coins<'_>) -> Result<bool, Fault> {
///         Ok((total > 0) ^ lie)
///     }
/// }
///
/// let filter = start(&IndividualFilter::new(PureDp, "2.5".parse()?), Arc::new(vec![1_u8, 2]))?;
/// let somebody: bool = filter.release(&Anybody(2))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait IndividualQuery<D: Dataset + ?Sized, F: ValidIndividually>: Sync {
    /// What is drawn before the data is read.
    type Noise;
    /// What all contributions add up to.
    type Total: Send;
    /// What is released.
    type Answer;

    /// What contributions cost, by their size. It is public, and read before the data is.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if the rule has no price. Then nobody is charged.
    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss>;

    /// Draws the noise.
    ///
    /// # Errors
    ///
    /// Those of the coins.
    fn noise(&self, coins: &mut Coins<'_>) -> Result<Self::Noise, Fault>;

    /// The total of no records.
    fn nothing(&self) -> Self::Total;

    /// Charges these records, one after the other, and adds up those who paid.
    fn take(&self, data: &D, records: Range<usize>, payers: &mut Payers<'_>) -> Self::Total;

    /// Adds the total of further records.
    fn merge(&self, total: &mut Self::Total, chunk: Self::Total);

    /// The answer. Most queries add the noise to the total, and need no more coins.
    ///
    /// # Errors
    ///
    /// Those of the coins, and none that depends on the total.
    fn answer(
        &self,
        total: Self::Total,
        noise: Self::Noise,
        coins: &mut Coins<'_>,
    ) -> Result<Self::Answer, Fault>;

    /// A name and public parameters.
    fn describe(&self) -> Description {
        Description::of::<Self>().incomplete()
    }
}
