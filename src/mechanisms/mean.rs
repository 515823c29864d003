//! The mean of a bounded attribute.

use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::gaussian::GaussianNoise;
use super::laplace::LaplaceNoise;
use super::least_loss::least_loss;
use super::real_range::{Bounded, Steps};
use super::statistic::{Statistic, SumAccuracy, SumNoise, statistic};
use super::{
    About, Accuracy, AveragingRelation, Estimates, MechanismError, RealRange, shown, states,
};
use crate::data::{Attribute, Dataset, RealSum};
use crate::machine::{Coins, Description, Fault, Law, Mechanism, Released};
use crate::noise::Noise;
use crate::number::{Confidence, Epsilon, Interval, Mu, Rho};
use crate::privacy::facts::{Gaussian, Laplace};
use crate::privacy::{AddRemove, Relation};

/// The mean of an attribute that is clamped to a range and rounded to steps, with discrete Laplace
/// noise.
///
/// Use it for averages: it costs what one sum costs, not a sum and a count. Choose the range from
/// what is publicly known about the attribute, never from the data. Steps follow from the range
/// ([`RealRange`]).
///
/// The answer is a [`Mean`], which has the noisy number of rows too; [`estimate`](Estimates::estimate)
/// has the interval in which the true mean is. For the variance as well, see
/// [`NoisyVariance`](super::NoisyVariance).
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::{Accuracy, Estimates, NoisyMean};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages: Arc<Vec<f64>> = Arc::new((0..2000).map(|person| 20.0 + (person % 50) as f64).collect());
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), ages)?;
///
/// // From 0 to 100 years.
/// let age = Attribute::new("age", |age: &f64| *age);
/// let mean = NoisyMean::new(AddRemove, age, 0.0..=100.0, "0.5".parse()?)?;
/// // With a guess of the number of rows it says in advance how far off it will be.
/// assert!(mean.accuracy("0.95".parse()?).for_rows(2000) < 0.38);
///
/// let answer = filter.release(&mean)?;
/// assert!((answer.value() - 44.5).abs() < 3.0);
/// assert!((answer.rows() - 2000.0).abs() < 100.0);
/// println!("the mean age is {:.1}", mean.estimate(answer, "0.95".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP, and this is tight, for neighbours under `R`. Let each row be u above the start of the range
/// and w − u below its end, in steps.
///
/// - A row that is added or removed changes the sum of u and the sum of w − u, by w together,
///   whatever u is. So noise of scale w/ε on each is ε-DP, without dividing ε between them. Their sum
///   is w times the number of rows, and the mean is the start of the range plus w times the first,
///   divided by their sum. The number of rows is never used itself.
/// - Where a row is replaced, the number of rows is the same in all datasets that are compared, so
///   it is public. Only the sum of u is released, with noise of scale w/ε, and it is divided by that
///   number.
///
/// A sum with half of ε and a count with the other half, as deviations from the middle of the range,
/// would have twice the variance.
///
/// It states [`Laplace`] noise on numbers that change by w together. The range is in whole steps, as
/// numbers are, so that w is exact, rounding included ([`RealRange`]).
pub struct NoisyMean<D: ?Sized, R = AddRemove> {
    bounded: Bounded<D>,
    noise: LaplaceNoise,
    relation: PhantomData<fn() -> R>,
}

/// [`NoisyMean`] with rounded Gaussian noise.
///
/// Use it where losses are accounted in zCDP, RDP or GDP, or converted to (ε, δ) at the end.
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::GaussianMean;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages: Arc<Vec<f64>> = Arc::new((0..2000).map(|person| 20.0 + (person % 50) as f64).collect());
/// let filter = launch(&Filter::concurrent(ZCdp, "0.5".parse()?), ages)?;
///
/// let age = Attribute::new("age", |age: &f64| *age);
/// let mean = filter.release(&GaussianMean::new(AddRemove, age, 0.0..=100.0, "0.1".parse()?)?)?;
/// assert!((mean.value() - 44.5).abs() < 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of the Gaussian mechanism, of which it is a postprocessing
/// ([`RoundedGaussian`](crate::noise::RoundedGaussian)), for neighbours under `R`: the numbers that
/// [`NoisyMean`] releases change by at most Δ = w in the Euclidean norm, too. With a variance of σ² it
/// states [`Gaussian`] noise of μ = Δ/σ, or ρ = μ²/2. At a distance of d, d·μ and d²·ρ.
///
/// Here this is the same as the sum of the deviations from the middle of the range with one half of ρ
/// and the count with the other. With a share of θ for the sum, the error of a mean that is d away
/// from the middle has a variance proportional to (w/2)²/θ + d²/(1 − θ); the worst case, d = w/2, is
/// least for equal shares, and no other mean is then farther than √2 times from its own best share.
pub struct GaussianMean<D: ?Sized, R = AddRemove> {
    bounded: Bounded<D>,
    noise: GaussianNoise,
    relation: PhantomData<fn() -> R>,
}

statistic!(NoisyMean, GaussianMean: Mean, MeanAccuracy, "mean", "w²", "");

/// What a [`NoisyMean`] or [`GaussianMean`] answers: two noisy sums, and what follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mean {
    /// The noisy sum of u.
    above: i128,
    /// The noisy sum of w − u.
    below: i128,
    noise: SumNoise,
}

/// How far the two sums of a mean are from the truth, and from which the error of the mean follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeanAccuracy(SumAccuracy);

/// The sum of u changes by u and that of w − u by w − u, which is w together.
impl Statistic for Mean {
    type Accuracy = MeanAccuracy;

    fn change(scale: Steps) -> Result<NonZeroU64, MechanismError> {
        Ok(scale.width)
    }

    fn release<D: Dataset + ?Sized, R: AveragingRelation>(
        bounded: &Bounded<D>,
        data: &D,
        law: &(impl Law + Copy + Into<Noise>),
        coins: &mut Coins<'_>,
    ) -> Result<Self, Fault> {
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let above_noise = coins.noise(law)?;
        // Where the size is public, the two sums add up exactly.
        let below_noise = match R::SIZE_IS_PUBLIC {
            true => None,
            false => Some(coins.noise(law)?),
        };
        let scale = bounded.scale;
        let mut sum = RealSum::new(scale.per_unit(), scale.range());
        bounded.attribute.fold(data, &mut sum);
        let rows = data.len() as i128;
        let all = i128::from(scale.width.get()).saturating_mul(rows);
        let start = i128::from(scale.start).saturating_mul(rows);
        let above = sum.total().saturating_sub(start);
        let noisy_above = coins.release(above, above_noise);
        let noisy_below = match below_noise {
            Some(noise) => coins.release(all.saturating_sub(above), noise),
            None => all.saturating_sub(noisy_above),
        };
        Ok(Self {
            above: noisy_above,
            below: noisy_below,
            noise: SumNoise::new::<R>(*law, scale),
        })
    }

    fn accuracy(noise: &SumNoise, confidence: Confidence) -> MeanAccuracy {
        let sums = if noise.size_is_public { 1 } else { 2 };
        MeanAccuracy(noise.accuracy(sums, confidence))
    }

    /// Each of the two sums is within its noise of the truth, both together with this confidence (the
    /// union bound), and the interval has the means of all pairs of sums that are possible then. It is
    /// wider by half a step on both sides: what rounding changes each number by, at most, it changes
    /// their mean by.
    fn estimate(
        &self,
        range: RangeInclusive<f64>,
        confidence: Confidence,
    ) -> (f64, RangeInclusive<f64>) {
        let MeanAccuracy(SumAccuracy { each, .. }) =
            <Self as Statistic>::accuracy(&self.noise, confidence);
        let value = self.value().clamp(*range.start(), *range.end());
        let within = each.and_then(|each| self.possible(each, &range));
        (value, within.unwrap_or(range))
    }
}

impl MeanAccuracy {
    /// How far the mean is from that of the clamped values, at most, if there are this number of rows,
    /// with the confidence that was asked for: rounded up, with what rounding the mean to a float may
    /// add, and never more than the width of the range and half a step.
    ///
    /// If both sums are within a of the truth, the mean of n rows is within a/(n − 2a/w) of it; where
    /// the number of rows is public, within a/n. Rounding the values adds half a step.
    #[must_use]
    pub fn for_rows(&self, rows: u64) -> f64 {
        let SumAccuracy {
            each,
            scale,
            size_is_public,
        } = self.0;
        let width = Interval::whole(scale.width.get().into());
        let error = each.map_or(width, |each| {
            let each = Interval::whole(each);
            let counted = if size_is_public {
                Interval::whole(rows.into())
            } else {
                Interval::whole(rows.into()) - Interval::TWO * each / width
            };
            if counted.low() > 0.0 {
                (each / counted).min(width)
            } else {
                width
            }
        });
        match scale.rounding() {
            None => scale.rounded(error, width),
            Some(half) => scale.rounded(error + half, width + half),
        }
    }
}

impl Mean {
    /// The mean: a number of the range, whose ends are rounded to steps, and its middle if the sums say
    /// that there are no rows.
    #[must_use]
    pub fn value(&self) -> f64 {
        // What is below zero is noise.
        let [above, below] = [self.above, self.below].map(|sum| sum.max(0) as f64);
        let all = above + below;
        let fraction = if all > 0.0 { above / all } else { 0.5 };
        self.noise.scale.value(fraction)
    }

    /// The noisy number of rows; the true one where it is public.
    #[must_use]
    pub fn rows(&self) -> f64 {
        let width = self.noise.scale.width.get();
        self.above.saturating_add(self.below) as f64 / width as f64
    }

    /// The means before rounding, if each sum is at most so far from the truth and numbers are in this
    /// range; `None` if there may be no rows.
    fn possible(&self, each: u128, range: &RangeInclusive<f64>) -> Option<RangeInclusive<f64>> {
        let each = i128::try_from(each).unwrap_or(i128::MAX);
        let scale = self.noise.scale;
        // True sums are not negative.
        let least = |sum: i128| sum.saturating_sub(each).max(0).unsigned_abs();
        let most = |sum: i128| sum.saturating_add(each).max(0).unsigned_abs();
        // Where the number of rows is public the two errors are opposite, so these add up to it.
        let low = fraction(least(self.above), most(self.below));
        let high = fraction(most(self.above), least(self.below));
        let low = scale.before_rounding(low?).low().max(*range.start());
        let high = scale.before_rounding(high?).high().min(*range.end());
        Some(low..=high)
    }
}

/// `above / (above + below)`; `None` if both are zero.
fn fraction(above: u128, below: u128) -> Option<Interval> {
    let all = Interval::whole(above.saturating_add(below));
    (above > 0 || below > 0).then(|| Interval::whole(above) / all)
}

#[cfg(test)]
#[path = "mean_tests.rs"]
mod tests;
