//! The sum of clipped vectors over a random sample of the rows.

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::least_loss::least_loss;
use super::noised::{drawn, release};
use super::{
    About, Accuracy, AddedNoise, Estimates, GaussianNoise, Lattice, MechanismError, Noised, Query,
    QueryExt, RowRelation, Statistic, VectorSum, shown, states,
};
use crate::data::{Dataset, Vector};
use crate::machine::{Coins, CoinsError, Description, Fault, Mechanism, Released, ReleasesOnly};
use crate::noise::{Noise, uniform_below};
use crate::number::{Confidence, Delta, Mu, Ratio};
#[cfg(doc)]
use crate::privacy::convert::rdp;
use crate::privacy::facts::{SampledGaussian, SampledReplacement};
use crate::privacy::{AddRemove, Relation, Replace};

/// The sum of clipped vectors over a random sample of the rows, plus rounded Gaussian noise: the
/// Poisson-subsampled Gaussian mechanism.
///
/// Use it for iterative training: a row that is not in the sample does not affect the step, and
/// with a rate of q a step costs about q² of what it costs on all rows. Divide the sum by q times
/// the number of rows (if that is public) for an average. Each release draws a new sample, which
/// stays secret.
///
/// ```
/// use queryables::data::Vector;
/// use queryables::mechanisms::{Lattice, SampledGaussianSum};
/// use queryables::prelude::*;
/// use queryables::privacy::RdpGrid;
/// use std::sync::Arc;
///
/// let steps: Arc<Vec<[f64; 2]>> = Arc::new(vec![[0.6, 0.8]; 1000]);
/// let grid = RdpGrid::new(["2".parse()?, "4".parse()?])?;
/// let budget = grid.curve([epsilon!(0.1), epsilon!(0.2)])?;
/// let filter = start(&Filter::concurrent(grid, budget), steps)?;
///
/// // One row in a hundred, a length of 1, and noise of the same size.
/// let step = Vector::new("step", |step: &[f64; 2], out: &mut [f64]| out.copy_from_slice(step));
/// let lattice = Lattice::of_length(1.0)?;
/// let step = SampledGaussianSum::new(AddRemove, step, 2, lattice, "0.01".parse()?, mu!(1))?;
/// for _ in 0..100 {
///     let sum: Vec<f64> = filter.release(&step)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// The Rényi divergence of the sampled Gaussian mechanism, for each release: for rows that are added or
/// removed [`rdp::subsampled_gaussian`] (Mironov, Talwar, Zhang 2019, §3.3), and for rows that are
/// replaced [`rdp::subsampled_gaussian_replaced`]. It is a postprocessing of that mechanism, as
/// [`VectorSum`] is of the Gaussian one. The odds of the sample are exact.
///
/// It states [`SampledGaussian`], and [`SampledReplacement`] under [`Replace`]. f-DP prices both, too: as
/// units of one mechanism for a [`NaturalFilter`](crate::account::NaturalFilter), or, for rows that are
/// added or removed, on a menu of noise levels for a
/// [`SampledGaussianFilter`](crate::account::menu::SampledGaussianFilter). It has no loss under zCDP and
/// GDP, where a sample is worth nothing: the tight ρ and μ are those of all rows. It has none for rows
/// more than one apart.
///
/// What is said of its noise is about the sum over the sample that was drawn. How far that is
/// from the rate times the sum over all rows depends on the data.
#[doc(alias = "amplification")]
#[doc(alias = "subsampling")]
pub struct SampledGaussianSum<D: ?Sized, R = AddRemove> {
    /// Of all rows. Under either relation, its noise is made for one row that is added or removed.
    sum: Noised<VectorSum<Vector<D>>, GaussianNoise>,
    rate: Delta,
    pub(super) fact: SampledGaussian,
    replaced: SampledReplacement,
    relation: PhantomData<fn() -> R>,
}

impl<D: ?Sized, R: RowRelation> SampledGaussianSum<D, R> {
    /// Sums vectors of `dimension` coordinates, on this lattice, over a sample that each row joins
    /// with probability `rate`. The noise has a standard deviation of 1/μ times the lattice's radius,
    /// under either relation; 1/μ is often called the noise multiplier.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadParameter`] if the rate is zero, and those of
    /// a [`VectorSum`].
    pub fn new(
        _relation: R,
        vector: Vector<D>,
        dimension: usize,
        lattice: Lattice,
        rate: Delta,
        mu: Mu,
    ) -> Result<Self, MechanismError> {
        if rate == Delta::ZERO {
            return Err(MechanismError::parameter(
                "the sampling rate",
                0,
                "greater than zero",
            ));
        }
        let sum = VectorSum::of(vector, dimension, lattice).gaussian(mu)?;
        let fact = SampledGaussian::new(rate, sum.noise.fact());
        let replaced = SampledReplacement::from(&fact);
        Ok(Self {
            sum,
            rate,
            fact,
            replaced,
            relation: PhantomData,
        })
    }

    /// The same with the smallest μ for which a coordinate of the answer is at most `within` away from
    /// the sum of the rounded and clipped ones over the sample, with at least this confidence for each
    /// ([`Accuracy`](super::Accuracy)). It is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadParameter`] if `within` is negative or NaN,
    /// [`MechanismError::TooAccurate`] if no μ up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        relation: R,
        vector: Vector<D>,
        dimension: usize,
        lattice: Lattice,
        rate: Delta,
        within: f64,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        if !f64::is_distance(within) {
            return Err(MechanismError::accuracy(within));
        }
        let make = |mu| Self::new(relation, vector.clone(), dimension, lattice, rate, mu);
        least_loss(make, |made: &Self| {
            f64::is_within(lattice.exponent, made.noise(), within, confidence)
        })
    }
}

impl<D: ?Sized, R: Relation> SampledGaussianSum<D, R> {
    fn description(&self) -> Description {
        let sum = Query::<AddRemove>::describe(&self.sum.query);
        let described = Description::new("SampledGaussianSum").with("relation", R::NAME);
        let described = self.sum.noise.describe(described.with_inner("sum", sum));
        described.with("rate", self.rate)
    }
}

/// True with these odds.
pub(super) fn happens(odds: Ratio, coins: &mut Coins<'_>) -> Result<bool, CoinsError> {
    let (numerator, denominator) = (odds.numerator(), odds.denominator());
    match (u64::try_from(numerator), u64::try_from(denominator.get())) {
        (Ok(yes), Ok(all)) => Ok(coins.weighted(&[all - yes, yes])? == 1),
        _ => Ok(uniform_below(coins.source(), denominator)? < numerator),
    }
}

impl<D: Dataset + ?Sized, R: RowRelation> Mechanism<D> for SampledGaussianSum<D, R> {
    type Machine = Released<Vec<f64>>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let Noised { query, noise, .. } = &self.sum;
        let noise = drawn(noise.law(), query.dimension, coins)?;
        // One draw for each row: the running time depends on the number of rows, as it does for
        // every sum. Once the noise was drawn, the system's coins can no longer fail.
        let mut totals = query.sampled(data, Ratio::from(self.rate), coins)?;
        release(&mut totals, noise, coins);
        Ok(Released(Query::<AddRemove>::answer(query, &totals)))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized, R> ReleasesOnly for SampledGaussianSum<D, R> {}

states!(SampledGaussian: impl[D: ?Sized,] SampledGaussianSum<D>, AddRemove, |sum| sum.fact);
states!(SampledReplacement: impl[D: ?Sized,] SampledGaussianSum<D, Replace>, Replace, |sum| sum.replaced);
shown!(impl[D: ?Sized, R: Relation] SampledGaussianSum<D, R>);

impl<D: ?Sized, R> SampledGaussianSum<D, R> {
    /// The noise of each coordinate.
    #[must_use]
    pub fn noise(&self) -> Noise {
        self.sum.noise()
    }

    /// Its variance, rounded up.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.noise().variance()
    }
}

/// How far a coordinate is from the sum over the sample.
impl<D: ?Sized, R> Accuracy for SampledGaussianSum<D, R> {
    type Distance = f64;

    fn accuracy(&self, confidence: Confidence) -> f64 {
        self.sum.accuracy(confidence)
    }

    fn about(&self) -> About {
        self.sum.about().with("in a random sample of them")
    }
}

impl<D: ?Sized, R> Estimates for SampledGaussianSum<D, R> {
    type Answer = f64;
    type Number = f64;

    fn interval(&self, answer: f64, confidence: Confidence) -> (f64, RangeInclusive<f64>) {
        self.sum.interval(answer, confidence)
    }
}

crate::clone_fields!(
    [D: ?Sized, R] SampledGaussianSum<D, R> { sum, rate, fact, replaced, relation }
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CoinSource;
    use crate::machine::NotPrivateSeededCoins;
    use crate::privacy::{Private, Rdp, RdpGrid};
    use crate::tests::enumerate::{Enumeration, enumerate_laws};

    type Sum<R = AddRemove> = SampledGaussianSum<Vec<i32>, R>;

    fn sum(rate: &str, mu: &str) -> Result<Sum, MechanismError> {
        sum_under(AddRemove, rate, mu)
    }

    fn sum_under<R: RowRelation>(
        relation: R,
        rate: &str,
        mu: &str,
    ) -> Result<Sum<R>, MechanismError> {
        let itself = Vector::new("itself", |row: &i32, out: &mut [f64]| {
            out[0] = f64::from(*row);
        });
        let lattice = Lattice::of_whole_numbers(3);
        let (rate, mu) = (rate.parse().unwrap(), mu.parse().unwrap());
        SampledGaussianSum::new(relation, itself, 1, lattice, rate, mu)
    }

    fn answers<R: RowRelation>(sum: &Sum<R>, rows: &[i32]) -> Enumeration<i64> {
        let data = Arc::new(rows.to_vec());
        enumerate_laws(40, |coins| {
            match sum.start(&data, &mut Coins::new(&mut *coins)) {
                Ok(Released(sum)) => sum[0] as i64,
                Err(_) => i64::MIN,
            }
        })
    }

    /// e^((α - 1) D), where D is the Rényi divergence of this order.
    fn moment(one: &Enumeration<i64>, other: &Enumeration<i64>, order: i32) -> f64 {
        let terms = one.outcomes.iter().filter_map(|(answer, p)| {
            let q = other.outcomes.get(answer)?.to_f64_fast();
            Some(p.to_f64_fast().powi(order) * q.powi(1 - order))
        });
        terms.sum()
    }

    /// In both directions: adding and removing.
    #[test]
    fn the_loss_is_nearly_attained_and_not_exceeded() {
        let sum = sum("0.25", "0.75").unwrap();
        // Of the first nothing is cut but what lies beyond ten σ.
        let (without, with) = (answers(&sum, &[]), answers(&sum, &[3]));
        for order in [2, 3, 5] {
            let measure = Rdp::new(order.to_string().parse().unwrap());
            let claim: f64 = sum.loss(&measure).unwrap().to_string().parse().unwrap();
            let divergence = |one, other| moment(one, other, order).ln() / f64::from(order - 1);
            let (added, removed) = (divergence(&with, &without), divergence(&without, &with));
            assert!(
                removed < added && added < claim,
                "{added} {removed} {claim}"
            );
            // With a σ of 4 steps, rounding takes little, as does what was cut.
            assert!(added > 0.95 * claim, "{added} {claim}");
        }
    }

    /// Replaced by its opposite, by itself, by nothing and by less.
    #[test]
    fn a_row_that_is_replaced_loses_most_if_it_is_turned_around() {
        let sum = sum_under(Replace, "0.25", "0.75").unwrap();
        let laws = [3, -3, 0, 1].map(|row| answers(&sum, &[row]));
        let [one, opposite, zero, less] = &laws;
        for order in [2, 3, 5] {
            let measure = Rdp::new(order.to_string().parse().unwrap());
            let claim: f64 = sum.loss(&measure).unwrap().to_string().parse().unwrap();
            let divergence = |one, other| moment(one, other, order).ln() / f64::from(order - 1);
            let most = divergence(one, opposite);
            assert!(most < claim && most > 0.95 * claim, "{most} {claim}");
            assert!((divergence(opposite, one) - most).abs() < 1e-9);
            for (one, other) in [(one, zero), (zero, one), (one, less), (less, opposite)] {
                assert!(divergence(one, other) < 0.9 * most, "{order}");
            }
        }
    }

    /// A row alone joins with exactly its odds, and is clipped.
    #[test]
    fn the_odds_of_the_sample_are_exact() {
        let mut without_noise = NoNoise(0);
        for (drawn, expected) in [(0, 0.0), (1, 3.0)] {
            without_noise.0 = drawn;
            let sum = sum("0.25", "1").unwrap();
            let data = Arc::new(vec![7]);
            let Released(answer) = sum.start(&data, &mut without_noise.coins()).unwrap();
            assert_eq!(answer, [expected]);
        }
    }

    /// Odds of 0.25 that a word does not hold. By Hoeffding's inequality, 20 000 draws are further
    /// off than this with probability 2e^(-2·20000·0.0232²) < 1e-9.
    #[test]
    fn long_odds_are_odds() {
        let odds = Ratio::new(1 << 100, (1 << 102) - 1).unwrap();
        let mut coins = NotPrivateSeededCoins::new(5);
        let draws = (0..20_000).filter(|_| happens(odds, &mut coins.coins()).unwrap());
        let share = draws.count() as f64 / 20_000.0;
        assert!((share - 0.25).abs() < 0.0232, "{share}");
    }

    /// Draws no noise, and this branch of any two.
    struct NoNoise(usize);

    impl CoinSource for NoNoise {
        fn uniform(&mut self, _: std::num::NonZeroU64) -> Result<u64, CoinsError> {
            Err(CoinsError::TapeEnds)
        }

        fn draw(&mut self, _: &dyn crate::machine::Law) -> Result<i128, CoinsError> {
            Ok(0)
        }

        fn weighted(&mut self, weights: &[u64]) -> Result<usize, CoinsError> {
            assert_eq!(weights, [3, 1]);
            Ok(self.0)
        }
    }

    #[test]
    fn losses_are_those_of_the_curve() {
        let (sum, everybody) = (sum("0.01", "1").unwrap(), sum("1", "0.5").unwrap());
        let [two, half] = ["2", "2.5"].map(|order| order.parse().unwrap());
        // ln(1 + q²(e^(μ²) - 1)) = 0.000171813422074551…, at the second reading too.
        for _ in 0..2 {
            let loss = sum.loss(&Rdp::new(two)).unwrap().to_string();
            assert!(loss.starts_with("0.00017181342207455"), "{loss}");
        }
        let grid = RdpGrid::new([two, "7".parse().unwrap()]).unwrap();
        let curve = sum.clone().loss(&grid).unwrap();
        assert_eq!(Ok(curve.epsilons()[0]), sum.loss(&Rdp::new(two)));
        assert_eq!(
            Ok(curve.epsilons()[1]),
            sum.loss(&Rdp::new(grid.orders()[1]))
        );
        assert!(curve.epsilons()[0] < curve.epsilons()[1]);
        // At half orders the integral: between those of the neighbouring whole orders.
        let between = sum.loss(&Rdp::new(half)).unwrap();
        let three = sum.loss(&Rdp::new("3".parse().unwrap())).unwrap();
        assert!(sum.loss(&Rdp::new(two)).unwrap() < between && between < three);
        // Everybody is in the sample: as without sampling.
        let loss = everybody.loss(&Rdp::new(two)).unwrap().to_string();
        assert!(loss.starts_with("0.25"), "{loss}");
    }

    #[test]
    fn bad_parameters_are_refused() {
        assert_eq!(
            sum("0", "1").unwrap_err().to_string(),
            "the sampling rate must be greater than zero, not 0"
        );
        assert_eq!(sum("0.5", "0").unwrap_err(), MechanismError::NoLoss("mu"));
        assert!(sum("1", "1").is_ok());
    }
}
