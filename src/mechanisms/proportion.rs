//! The share of records that satisfy a condition.

use std::ops::Range;

use super::contributes::tallied;
use super::moments::Moment;
use super::{
    Change, Contributes, Contributions, Grouped, MechanismError, NoisyMean, Once, Query, RealRange,
    RowRelation, SumScale, Tally, Unavailable,
};
use crate::data::{Dataset, Predicate};
use crate::machine::Description;
use crate::privacy::AddRemove;

/// The share of records that satisfy a condition, among those that satisfy another one.
///
/// Use it for rates: the two numbers that it needs cost what one count does. The answer is a
/// [`NoisyMean`] of ones and zeros.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Estimates, Proportion};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages: Arc<Vec<u32>> = Arc::new((0..10_000).map(|person| person % 100).collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), ages)?;
///
/// let adult = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let retired = Predicate::new("at least 65", |age: &u32| *age >= 65);
/// let share = Proportion::of(retired, adult).laplace(epsilon!(0.5))?;
/// let answer = filter.release(&share)?;
/// assert!((answer.value() - 35.0 / 82.0).abs() < 0.02);
/// println!("{:.3}", share.estimate(answer, confidence!(0.95)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// It counts the records that satisfy both conditions, and those that satisfy the second one alone.
/// One that is added or removed changes one of the two counts by one, and one that is replaced both
/// of them; both are tight. The number of records that the share is of is not public in either case.
#[doc(alias = "percentage")]
#[doc(alias = "rate")]
#[derive(Clone, Debug)]
pub struct Proportion<P> {
    question: P,
    among: P,
}

impl<P> Proportion<P> {
    /// The share of those records that satisfy `question`, of all that satisfy `among`.
    pub fn of(question: P, among: P) -> Self {
        Self { question, among }
    }
}

/// Ones and zeros.
fn bits() -> RealRange {
    RealRange::of_whole_numbers(0..=1)
}

impl<D: ?Sized, R: RowRelation> Query<R> for Proportion<Predicate<D>> {
    type Answer = NoisyMean;
    type Form = Once;
    type Value = NoisyMean;

    fn change(&self) -> Result<Change, MechanismError> {
        Ok(Change::of_counts::<R>())
    }

    fn totals(&self) -> usize {
        2
    }

    fn answer(&self, totals: &[i128]) -> NoisyMean {
        NoisyMean::of_sums(totals, &bits(), false)
    }

    fn scale(&self) -> SumScale {
        SumScale::new::<AddRemove>(&bits())
    }

    fn describe(&self) -> Description {
        Description::new("Proportion")
            .with("predicate", self.question.name())
            .with("among", self.among.name())
    }
}

impl<D: Dataset + ?Sized, R: RowRelation> Tally<D, R> for Proportion<Predicate<D>> {
    fn tally(&self, data: &D, totals: &mut [i128]) -> Result<(), Unavailable> {
        tallied(self, data, totals);
        Ok(())
    }
}

impl<D: Dataset + ?Sized> Contributes<D> for Proportion<Predicate<D>> {
    fn contributions(&self, data: &D, records: Range<usize>) -> Contributions {
        let (holds, mut unreadable) = self.question.values(data, records.clone());
        let (among, others) = self.among.values(data, records);
        unreadable.extend(others);
        let pairs = holds.iter().zip(&among);
        let numbers = pairs.flat_map(|(holds, among)| [holds & among, !holds & among]);
        Contributions::new(holds.len(), numbers.map(i128::from).collect(), unreadable)
    }
}

impl<D: Dataset + ?Sized> Grouped<D> for Proportion<Predicate<D>> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{CoinSource, Coins, NotPrivateSeededCoins};
    use crate::mechanisms::{Accuracy, Estimates, Noised};
    use crate::prelude::*;
    use crate::tests::enumerate::{Enumeration, enumerate_laws};
    use crate::tests::exact::violation;
    use std::sync::Arc;

    /// Of rows that are not 0, those that are 1.
    fn ones() -> Proportion<Predicate<Vec<u8>>> {
        let one = Predicate::new("one", |row: &u8| *row == 1);
        Proportion::of(one, Predicate::new("not zero", |row: &u8| *row != 0))
    }

    fn answers<R: RowRelation>(
        share: &Noised<Proportion<Predicate<Vec<u8>>>, crate::mechanisms::LaplaceNoise, R>,
        rows: &[u8],
    ) -> Enumeration<Option<(i128, i128)>> {
        let data = Arc::new(rows.to_vec());
        enumerate_laws(9, |coins| {
            let answer = share.start(&data, &mut Coins::new(&mut *coins));
            answer.ok().map(|Released(answer)| answer.sums())
        })
    }

    #[test]
    fn the_loss_is_attained_and_not_exceeded() {
        fn exceeds<R: RowRelation>(relation: R, epsilon: &str, pair: [&[u8]; 2]) -> bool {
            let share = ones().under(relation).laplace(epsilon!(2)).unwrap();
            let [one, other] = pair.map(|rows| answers(&share, rows));
            violation(&one, &other, epsilon.parse().unwrap()).is_some()
        }
        for row in [1, 2] {
            assert!(!exceeds(AddRemove, "2", [&[1], &[1, row]]));
            assert!(exceeds(AddRemove, "1.99", [&[1], &[1, row]]));
        }
        assert!(!exceeds(Replace, "2", [&[1], &[2]]));
        assert!(exceeds(Replace, "1.99", [&[1], &[2]]));
        // Enough for a row that is added, and too little for one that is replaced.
        assert!(exceeds(AddRemove, "2", [&[1], &[2]]));
    }

    #[test]
    fn without_noise_it_is_the_share_and_the_interval_has_it() {
        let rows: Arc<Vec<u8>> = Arc::new([0, 1, 2, 3].repeat(500));
        let mut coins = NotPrivateSeededCoins::new(3);
        let exact = ones().laplace(epsilon!(1e6)).unwrap();
        let Released(answer) = exact.start(&rows, &mut coins.coins()).unwrap();
        assert_eq!((answer.value(), answer.rows()), (1.0 / 3.0, 1500.0));
        let share = ones().gaussian(rho!(0.5)).unwrap();
        let Released(answer) = share.start(&rows, &mut coins.coins()).unwrap();
        let estimate = share.estimate(answer, confidence!(0.999999));
        assert!(estimate.interval.contains(&(1.0 / 3.0)), "{estimate}");
        assert!(share.accuracy(confidence!(0.95)).for_rows(1500) < 0.01);
        let described = "Proportion(predicate = one, among = not zero, relation = add or remove one row, rho = 0.5)";
        assert_eq!(format!("{share:?}"), described);
    }
}
