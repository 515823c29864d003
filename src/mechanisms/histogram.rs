//! The number of rows in each bin.

use std::ops::Range;

use super::statistic::clamped;
use super::{
    Change, Contributes, Contributions, Labels, MechanismError, Once, Partition, Query,
    RowRelation, Tally, Unavailable,
};
use crate::data::{Bins, Dataset};
use crate::machine::Description;

/// The number of rows in each bin of a [`Partition`], by number or key, known in advance.
///
/// Use it for all bins at the price of one count. For keys that are not known in advance see
/// [`ThresholdHistogram`](super::ThresholdHistogram); for sums and means in each group,
/// [`Grouped::by`](super::Grouped::by).
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::{Histogram, Partition};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages: Arc<Vec<usize>> = Arc::new((0..10_000).map(|person| person % 80).collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), ages)?;
///
/// let decade = Partition::numbered(Attribute::new("decade", |age: &usize| age / 10), 8)?;
/// let counts: Vec<i64> = filter.release(&Histogram::of(decade).laplace(epsilon!(0.5))?)?;
/// assert!(counts.iter().all(|count| (count - 1250).abs() < 200));
///
/// let color = Partition::by_key("parity", |age: &usize| age % 2 == 0, [true, false])?;
/// let counts = filter.release(&Histogram::of(color).laplace(epsilon!(0.5))?)?;
/// assert!((counts[&true] - 5000).abs() < 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// A row is in one bin at most. One that is added or removed changes one count by one, and one that
/// is replaced two counts by one each; both are tight. A row that cannot be read is in no bin.
#[doc(alias = "bar chart")]
#[doc(alias = "contingency table")]
#[doc(alias = "group by")]
#[derive(Clone, Debug)]
pub struct Histogram<P> {
    partition: P,
}

impl<P> Histogram<P> {
    /// Counts the rows in each bin of a [`Partition`].
    #[must_use]
    pub fn of(partition: P) -> Self {
        Self { partition }
    }
}

impl<D: ?Sized, L: Labels, R: RowRelation> Query<R> for Histogram<Partition<D, L>> {
    type Answer = L::Of<i64>;
    type Form = Once;
    type Value = i64;

    fn change(&self) -> Result<Change, MechanismError> {
        Ok(Change::of_counts::<R>())
    }

    fn totals(&self) -> usize {
        self.partition.bins()
    }

    fn answer(&self, totals: &[i128]) -> Self::Answer {
        let counts = totals.iter().map(|total| clamped(*total));
        self.partition.labels.label(counts.collect())
    }

    fn scale(&self) {}

    fn describe(&self) -> Description {
        self.partition.describe(Description::new("Histogram"))
    }
}

impl<D: Dataset + ?Sized, L: Labels, R: RowRelation> Tally<D, R> for Histogram<Partition<D, L>> {
    fn tally(&self, data: &D, totals: &mut [i128]) -> Result<(), Unavailable> {
        let mut bins = Bins::new(totals.len());
        self.partition.bin.fold(data, &mut bins);
        for (total, count) in totals.iter_mut().zip(bins.counts()) {
            *total = (*count).into();
        }
        Ok(())
    }
}

impl<D: Dataset + ?Sized, L: Labels> Contributes<D> for Histogram<Partition<D, L>> {
    /// A row that cannot be read is in no bin.
    fn contributions(&self, data: &D, records: Range<usize>) -> Contributions {
        let numbers = vec![1; records.len()];
        let (places, unreadable) = self.partition.bin.values(data, records);
        Contributions {
            numbers,
            places,
            unreadable,
        }
    }

    fn width(&self) -> usize {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Attribute;
    use crate::mechanisms::query::Keys;
    use crate::mechanisms::{AddedNoise, LaplaceNoise, Noised};
    use crate::prelude::*;
    use crate::privacy::{Gdp, Private, Rdp, Replace, ZCdp};
    use crate::tests::exact::{answers, violation};

    type Bins<R> = Noised<Histogram<Partition<Vec<u8>>>, LaplaceNoise, R>;

    fn histogram<R: RowRelation>(
        relation: R,
        bins: usize,
        epsilon: &str,
    ) -> Result<Bins<R>, MechanismError> {
        let bin = Attribute::new("itself", |row: &u8| match row {
            99 => panic!("an unlucky row"),
            row => usize::from(*row),
        });
        Histogram::of(Partition::numbered(bin, bins)?)
            .under(relation)
            .laplace(epsilon.parse::<Epsilon>().unwrap())
    }

    /// Whether some answer's odds surely differ by more than e^epsilon between the datasets.
    fn exceeds<R: RowRelation>(relation: R, epsilon: &str, pair: [&[u8]; 2]) -> bool {
        let histogram = histogram(relation, 2, "2").unwrap();
        let [one, other] = pair.map(|rows| answers(&histogram, rows, &[()], 12));
        assert!(one.cut.to_f64_fast() < 1e-4);
        let epsilon = epsilon.parse().unwrap();
        violation(&one, &other, epsilon).is_some() || violation(&other, &one, epsilon).is_some()
    }

    #[test]
    fn the_loss_is_attained_and_not_exceeded() {
        assert!(!exceeds(AddRemove, "2", [&[0, 1], &[1]]));
        assert!(exceeds(AddRemove, "1.99", [&[0, 1], &[1]]));
        assert!(!exceeds(Replace, "2", [&[0], &[1]]));
        assert!(exceeds(Replace, "1.99", [&[0], &[1]]));
        // The noise for added rows is too small for replaced ones.
        assert!(exceeds(AddRemove, "2", [&[0], &[1]]));
    }

    /// The Rényi divergence of order 2, between the datasets that are furthest apart.
    #[test]
    fn the_divergence_is_attained_and_not_exceeded() {
        fn check<R: RowRelation>(relation: R, pair: [&[u8]; 2]) {
            let histogram = histogram(relation, 2, "2").unwrap();
            let [one, other] = pair.map(|rows| answers(&histogram, rows, &[()], 25));
            let squares = one.outcomes.iter().filter_map(|(answer, p)| {
                let q = other.outcomes.get(answer)?;
                Some((p * p / q).to_f64_fast())
            });
            let divergence = squares.sum::<f64>().ln();
            let order = Rdp::new("2".parse().unwrap());
            let claim: f64 = histogram.loss(&order).unwrap().to_string().parse().unwrap();
            assert!((claim - divergence).abs() < 1e-3, "{divergence} {claim}");
        }
        check(AddRemove, [&[0, 1], &[1]]);
        check(Replace, [&[0], &[1]]);
    }

    #[test]
    fn a_row_without_a_bin_is_in_none() {
        for rows in [&[2][..], &[99], &[]] {
            let histogram = histogram(AddRemove, 2, "1000000").unwrap();
            let found = answers(&histogram, rows, &[()], 1);
            let (likely, _) = found.outcomes.iter().max_by_key(|(_, mass)| *mass).unwrap();
            assert_eq!(*likely, [Ok(vec![0, 0])]);
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        assert_eq!(
            histogram(AddRemove, 0, "1").unwrap_err(),
            MechanismError::none("bins")
        );
        assert_eq!(
            histogram(AddRemove, usize::MAX, "1").unwrap_err(),
            MechanismError::TooMany {
                what: "bins",
                asked: usize::MAX,
                most: 1 << 22
            }
        );
        assert_eq!(
            histogram(AddRemove, 3, "0").unwrap_err(),
            MechanismError::NoLoss("epsilon")
        );
    }

    fn by_parity() -> Partition<Vec<u8>, Keys<bool>> {
        Partition::by_key("odd", |row: &u8| row % 2 == 1, [false, true]).unwrap()
    }

    #[test]
    fn gaussian_losses_are_for_one_bin_or_two() {
        fn losses<R: RowRelation>(relation: R) -> [String; 3] {
            let by_rho = Histogram::of(by_parity())
                .under(relation)
                .gaussian(rho!(0.5));
            let by_mu = Histogram::of(by_parity()).under(relation).gaussian(mu!(1));
            let (by_rho, by_mu) = (by_rho.unwrap(), by_mu.unwrap());
            assert_eq!(by_rho.noise.law(), by_mu.noise.law());
            [
                by_rho.loss(&ZCdp).unwrap().to_string(),
                by_mu.loss(&Gdp).unwrap().to_string(),
                by_mu.noise.law().variance().to_string(),
            ]
        }
        assert_eq!(losses(AddRemove), ["0.5", "1", "1"]);
        assert_eq!(losses(Replace), ["0.5", "1", "2"]);
    }

    /// The Rényi divergence of order 2 is at most 2ρ = 1, and rounding takes little from it; for
    /// replaced rows the noise must be larger.
    #[test]
    fn the_loss_of_gaussian_noise_is_nearly_attained_and_not_exceeded() {
        fn divergence<R: RowRelation>(relation: R, pair: [&[u8]; 2]) -> f64 {
            let histogram = Histogram::of(by_parity())
                .under(relation)
                .gaussian(rho!(0.5));
            let [one, other] =
                pair.map(|rows| answers(histogram.as_ref().unwrap(), rows, &[()], 9));
            let squares = one.outcomes.iter().filter_map(|(answer, p)| {
                let q = other.outcomes.get(answer)?;
                Some((p * p / q).to_f64_fast())
            });
            squares.sum::<f64>().ln()
        }
        for found in [
            divergence(AddRemove, [&[0, 1], &[1]]),
            divergence(Replace, [&[0, 0], &[0, 1]]),
        ] {
            assert!((0.9..=1.0).contains(&found), "{found}");
        }
        assert!(divergence(AddRemove, [&[0, 0], &[0, 1]]) > 1.5);
    }
}
