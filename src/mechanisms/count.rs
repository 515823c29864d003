//! The number of records that satisfy a condition.

use std::ops::Range;

use super::statistic::fitted;
use super::{
    Change, Contributes, Contributions, Counts, Grouped, MechanismError, Noised, Once, Query,
    RowRelation, Source, Tally, Unavailable,
};
use crate::data::{Dataset, Predicate};
use crate::machine::{Description, DomainMismatch, Public};

/// The number of records that satisfy a condition.
///
/// Use it with Laplace noise for a handful of counts under pure privacy, and with Gaussian noise
/// where many answers are accounted together in zCDP, RDP or GDP. To find the few large ones among
/// many, [`AboveThreshold`](super::AboveThreshold) pays only for those; for all groups at once take
/// a [`Histogram`](super::Histogram).
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), ages)?;
///
/// let adults = Predicate::new("at least 18", |age: &i32| *age >= 18);
/// let count: i64 = filter.release(&Count::of(adults).laplace(epsilon!(0.5))?)?;
/// assert!((count - 3).abs() < 200);
/// assert_eq!(filter.remaining(), epsilon!(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// A record that is added, removed or replaced changes the count by at most one, and this is tight.
#[doc(alias = "noise")]
#[doc(alias = "GaussianCount")]
#[derive(Clone, Debug)]
pub struct Count<P> {
    question: P,
}

/// A [`Count`] with Laplace noise.
pub type NoisyCount<D, N = super::LaplaceNoise, R = crate::privacy::AddRemove> =
    Noised<Count<Predicate<D>>, N, R>;

impl<P> Count<P> {
    /// Counts the records for which this holds.
    pub fn of(question: P) -> Self {
        Self { question }
    }
}

impl<P: Source, R: RowRelation> Query<R> for Count<P> {
    type Answer = i64;
    type Form = Once;
    type Value = i64;

    fn change(&self) -> Result<Change, MechanismError> {
        Change::of(1)
    }

    fn answer(&self, totals: &[i128]) -> i64 {
        fitted(totals)
    }

    fn scale(&self) {}

    fn describe(&self) -> Description {
        self.question
            .describe("predicate", Description::new("Count"))
    }
}

impl<D: Counts<P> + ?Sized, P: Source, R: RowRelation> Tally<D, R> for Count<P> {
    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        D::check(data, &self.question)
    }

    fn tally(&self, data: &D, totals: &mut [i128]) -> Result<(), Unavailable> {
        totals.fill(data.count(&self.question)?.into());
        Ok(())
    }
}

impl<D: Dataset + ?Sized> Contributes<D> for Count<Predicate<D>> {
    fn contributions(&self, data: &D, records: Range<usize>) -> Contributions {
        let (counted, unreadable) = self.question.values(data, records);
        let numbers = counted.iter().map(|counted| (*counted).into());
        Contributions::new(counted.len(), numbers.collect(), unreadable)
    }
}

impl<D: Dataset + ?Sized> Grouped<D> for Count<Predicate<D>> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CoinSource;
    use crate::machine::{ClosedForm, Law, NotPrivateSeededCoins};
    use crate::mechanisms::{AddedNoise, GaussianNoise};
    use crate::number::{Mu, Ratio};
    use crate::prelude::*;
    use crate::privacy::{AddRemove, Distance, Gdp, Private, Rdp, RdpGrid, ZCdp};
    use crate::tests::exact::{answers, rows_of, violation};
    use std::sync::Arc;

    fn noisy(epsilon: &str) -> Result<NoisyCount<Vec<u8>>, MechanismError> {
        Count::of(rows_of(1)).laplace(epsilon.parse::<Epsilon>().unwrap())
    }

    fn gaussian(rho: &str) -> Result<NoisyCount<Vec<u8>, GaussianNoise>, MechanismError> {
        Count::of(rows_of(1)).gaussian(rho.parse::<Rho>().unwrap())
    }

    #[test]
    fn the_loss_of_laplace_noise_is_attained_and_not_exceeded() {
        let count = noisy("0.5").unwrap();
        let answers = |rows: &[u8]| answers(&count, rows, &[()], 60);
        for (one, other) in [
            (answers(&[1, 2]), answers(&[2])),
            (answers(&[1]), answers(&[2])),
        ] {
            assert!(one.cut.to_f64_fast() < 1e-12);
            let exceeds = |epsilon: &str| {
                let epsilon = epsilon.parse().unwrap();
                violation(&one, &other, epsilon).is_some()
                    && violation(&other, &one, epsilon).is_some()
            };
            assert!(!exceeds("0.5"));
            assert!(exceeds("0.499999999"));
        }
    }

    /// The Rényi divergence of order 2 is at most 2ρ, and rounding takes little from it: less than
    /// one part in 12σ².
    #[test]
    fn the_loss_of_gaussian_noise_is_nearly_attained_and_not_exceeded() {
        for (rho, deviation) in [("0.5", 1.0), ("0.02", 5.0)] {
            let count = gaussian(rho).unwrap();
            let span = (10.0 * deviation) as u64;
            let answers = |rows: &[u8]| answers(&count, rows, &[()], span);
            let (one, other) = (answers(&[1, 2]), answers(&[2]));
            let squares = one.outcomes.iter().filter_map(|(answer, p)| {
                let q = other.outcomes.get(answer)?;
                Some((p * p / q).to_f64_fast())
            });
            let (divergence, rho) = (squares.sum::<f64>().ln(), rho.parse::<f64>().unwrap());
            let lost = 1.0 - divergence / (2.0 * rho);
            assert!(
                (0.0..1.0 / (12.0 * deviation * deviation)).contains(&lost),
                "{lost}"
            );
        }
    }

    #[test]
    fn gaussian_losses_are_stated_under_every_measure_that_has_one() {
        let count = Count::of(rows_of(1)).gaussian(mu!(0.6)).unwrap();
        let mu: Mu = Private::<Gdp, AddRemove>::loss(&count, &Gdp).unwrap();
        let rho: Rho = count.loss(&ZCdp).unwrap();
        assert_eq!(
            (mu.to_string(), rho.to_string()),
            ("0.6".into(), "0.18".into())
        );
        let [two, ten] = ["2", "10"].map(|order| Rdp::new(order.parse().unwrap()));
        let grid = RdpGrid::new([two.order(), ten.order()]).unwrap();
        let curve = Private::<RdpGrid, AddRemove>::loss(&count, &grid).unwrap();
        assert_eq!(curve.to_string(), "[0.36, 1.8]");
        let three = Distance::new(3).unwrap();
        let apart = Private::<Rdp, AddRemove>::loss_at(&count, &two, three).unwrap();
        assert_eq!(apart.to_string(), "3.24");
    }

    #[test]
    fn noise_follows_from_the_loss() {
        let scale = Ratio::new(20, 3).unwrap();
        let noise = noisy("0.15").unwrap().noise.law().closed_form();
        assert_eq!(noise, ClosedForm::DiscreteLaplace { scale });
        let variance = Ratio::new(10, 3).unwrap();
        let noise = gaussian("0.15").unwrap().noise.law().closed_form();
        assert_eq!(noise, ClosedForm::RoundedGaussian { variance });
    }

    #[test]
    fn every_loss_but_zero_will_do() {
        for loss in ["1e-27", "0.123456789012345678901234567", "3.4e11"] {
            assert!(noisy(loss).is_ok(), "{loss}");
            assert!(gaussian(loss).is_ok(), "{loss}");
        }
        assert_eq!(noisy("0").unwrap_err(), MechanismError::NoLoss("epsilon"));
        assert_eq!(gaussian("0").unwrap_err(), MechanismError::NoLoss("rho"));
    }

    /// The noise has a scale of 10^27, which is more than an `i64` holds.
    #[test]
    fn answers_are_clamped() {
        let mut coins = NotPrivateSeededCoins::new(5);
        let data = Arc::new(vec![1, 2]);
        let count = noisy("1e-27").unwrap();
        for _ in 0..20 {
            let Released(answer) = count.start(&data, &mut coins.coins()).unwrap();
            assert!(answer == i64::MIN || answer == i64::MAX);
        }
    }

    #[test]
    fn debug_shows_what_is_public() {
        assert_eq!(
            format!("{:?}", noisy("0.5").unwrap()),
            "Count(predicate = 1, relation = add or remove one row, epsilon = 0.5)"
        );
        let described = Mechanism::<Vec<u8>>::describe(&gaussian("0.5").unwrap());
        assert_eq!(
            described.to_string(),
            "Count(predicate = 1, relation = add or remove one row, rho = 0.5)"
        );
    }
}
