//! The mean of a bounded attribute.

use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::gaussian::GaussianNoise;
use super::lattice::of_steps;
use super::real_sum::range_in_steps;
use super::{Accuracy, Estimate, MechanismError, SummingRelation, over, shown, states};
use crate::data::{Attribute, Dataset, RealSum};
use crate::machine::{Coins, Description, Fault, Law, Mechanism, Released};
use crate::noise::{DiscreteLaplace, Noise};
use crate::number::{Confidence, Epsilon, Interval, Mu, Ratio, Rho};
use crate::privacy::facts::{Gaussian, Laplace};
use crate::privacy::{AddRemove, Relation, Replace};

/// The mean of an attribute that is clamped to a range and rounded to a lattice, with discrete
/// Laplace noise.
///
/// Use it for averages: it costs what one sum costs, not a sum and a count. Choose the range from
/// what is publicly known about the attribute, never from the data. The lattice may be fine: noise is
/// as large as the range, whatever the step. Whole numbers have an exponent of zero.
///
/// The answer is a [`Mean`], which has the noisy number of rows too, and the interval in which the
/// true mean is. For the variance as well, see [`NoisyVariance`](super::NoisyVariance).
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::{Accuracy, NoisyMean};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages: Arc<Vec<f64>> = Arc::new((0..2000).map(|person| 20.0 + (person % 50) as f64).collect());
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), ages)?;
///
/// // From 0 to 100 years, in whole years.
/// let age = Attribute::new("age", |age: &f64| *age);
/// let mean = NoisyMean::new(AddRemove, age, 0.0..=100.0, 0, "0.5".parse()?)?;
/// // With a guess of the number of rows it says in advance how far off it will be.
/// assert!(mean.accuracy("0.95".parse()?).for_rows(2000) < 0.38);
///
/// let mean = filter.release(&mean)?;
/// assert!((mean.value() - 44.5).abs() < 3.0);
/// assert!((mean.rows() - 2000.0).abs() < 100.0);
/// let estimate = mean.estimate("0.95".parse()?);
/// println!("the mean age is {estimate:.1}");
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
/// It states [`Laplace`] noise on numbers that change by w together. A row that cannot be read, or
/// whose value is infinite or NaN, counts as the number of the range that is nearest to zero.
pub struct NoisyMean<D: ?Sized, R = AddRemove> {
    averaged: Averaged<D>,
    fact: Laplace,
    noise: DiscreteLaplace,
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
/// let mean = filter.release(&GaussianMean::new(AddRemove, age, 0.0..=100.0, 0, "0.1".parse()?)?)?;
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
    averaged: Averaged<D>,
    gaussian: GaussianNoise,
    relation: PhantomData<fn() -> R>,
}

/// A relation for which it is known whether the number of rows is public.
pub trait AveragingRelation: SummingRelation {
    /// Whether all datasets that are compared have the same number of rows.
    #[doc(hidden)]
    const SIZE_IS_PUBLIC: bool;
}

impl AveragingRelation for AddRemove {
    const SIZE_IS_PUBLIC: bool = false;
}

impl AveragingRelation for Replace {
    const SIZE_IS_PUBLIC: bool = true;
}

/// What is averaged.
struct Averaged<D: ?Sized> {
    attribute: Attribute<D, f64>,
    scale: Steps,
}

/// A range of numbers, in steps of a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Steps {
    pub(super) start: i64,
    pub(super) width: NonZeroU64,
    pub(super) exponent: i32,
}

impl Steps {
    pub(super) fn new(range: &RangeInclusive<f64>, exponent: i32) -> Result<Self, MechanismError> {
        let range = range_in_steps(range, exponent)?;
        let width = NonZeroU64::new(range.start().abs_diff(*range.end()));
        Ok(Self {
            start: *range.start(),
            width: width.ok_or(MechanismError::BadRange)?,
            exponent,
        })
    }

    pub(super) fn range(&self) -> RangeInclusive<i64> {
        self.start..=self.start.saturating_add_unsigned(self.width.get())
    }

    pub(super) fn per_unit(&self) -> f64 {
        libm::scalbn(1.0, -self.exponent)
    }

    pub(super) fn describe(&self, description: Description) -> Description {
        let range = self.range();
        let [low, high] =
            [range.start(), range.end()].map(|end| of_steps((*end).into(), self.exponent));
        description
            .with("range", format_args!("{low}..={high}"))
            .with("exponent", self.exponent)
    }

    /// An error of a number that is at most `most` units of steps large, with room for rounding it to a
    /// float: its formula has fewer than 16 operations, each with an error of 2^-53.
    pub(super) fn rounded(&self, error: Interval, most: Interval) -> f64 {
        let start = Interval::whole(self.start.unsigned_abs().into());
        let rounding = (start + most) * Interval::exactly(2_f64.powi(-49));
        libm::scalbn((error + rounding).min(most).high(), self.exponent)
    }

    /// The place in the range at a fraction of its width.
    fn at(&self, fraction: Interval) -> Interval {
        let width = Interval::whole(self.width.get().into());
        let steps = Interval::exactly(self.start as f64) + width * fraction;
        // Exact: a power of two, far from the ends of floats.
        let value = |steps: f64| libm::scalbn(steps, self.exponent);
        Interval::between(value(steps.low()), value(steps.high()))
    }
}

impl<D: ?Sized> Averaged<D> {
    fn new(
        attribute: Attribute<D, f64>,
        range: &RangeInclusive<f64>,
        exponent: i32,
    ) -> Result<Self, MechanismError> {
        let scale = Steps::new(range, exponent)?;
        Ok(Self { attribute, scale })
    }

    fn release<R: AveragingRelation>(
        &self,
        data: &D,
        law: &(impl Law + Copy + Into<Noise>),
        coins: &mut Coins<'_>,
    ) -> Result<Released<Mean>, Fault>
    where
        D: Dataset,
    {
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let above_noise = coins.draw(law)?;
        let below_noise = if R::SIZE_IS_PUBLIC {
            // Then the two sums add up exactly.
            above_noise.saturating_neg()
        } else {
            coins.draw(law)?
        };
        let mut sum = RealSum::new(self.scale.per_unit(), self.scale.range());
        self.attribute.fold(data, &mut sum);
        let rows = data.len() as i128;
        let all = i128::from(self.scale.width.get()).saturating_mul(rows);
        let above = sum
            .total()
            .saturating_sub(i128::from(self.scale.start).saturating_mul(rows));
        Ok(Released(Mean {
            above: above.saturating_add(above_noise),
            below: all.saturating_sub(above).saturating_add(below_noise),
            accuracy: MeanNoise {
                noise: (*law).into(),
                scale: self.scale,
                size_is_public: R::SIZE_IS_PUBLIC,
            },
        }))
    }

    fn describe<R: Relation>(&self, name: &'static str) -> Description {
        let description = Description::new(name)
            .with("relation", R::NAME)
            .with("attribute", self.attribute.name());
        self.scale.describe(description)
    }
}

impl<D: ?Sized, R: AveragingRelation> NoisyMean<D, R> {
    /// Averages `attribute`, clamped to `range`, in steps of 2 to the power of `exponent`, which is
    /// from −500 to 500.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadExponent`], [`MechanismError::TooWide`] if an end of the range is more
    /// than 2^50 steps away from zero, [`MechanismError::BadRange`] if it is empty, not made of numbers,
    /// or a single number, [`MechanismError::NoLoss`] if ε is zero, and [`MechanismError::TooFine`] or
    /// [`MechanismError::Noise`] if the noise needs longer numbers than can be held.
    pub fn new(
        _relation: R,
        attribute: Attribute<D, f64>,
        range: RangeInclusive<f64>,
        exponent: i32,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        let averaged = Averaged::new(attribute, &range, exponent)?;
        let steps = averaged.scale.width;
        Ok(Self {
            averaged,
            fact: Laplace {
                steps,
                ..Laplace::of_count(epsilon)
            },
            noise: DiscreteLaplace::new(over(Ratio::from(steps.get()), epsilon)?)?,
            relation: PhantomData,
        })
    }
}

impl<D: ?Sized, R: AveragingRelation> GaussianMean<D, R> {
    /// Averages `attribute`, clamped to `range`, in steps of 2 to the power of `exponent`, which is
    /// from −500 to 500, with ρ-zCDP: a variance of w²/(2ρ) for each sum.
    ///
    /// # Errors
    ///
    /// As for [`NoisyMean::new`].
    pub fn new(
        _relation: R,
        attribute: Attribute<D, f64>,
        range: RangeInclusive<f64>,
        exponent: i32,
        rho: Rho,
    ) -> Result<Self, MechanismError> {
        let averaged = Averaged::new(attribute, &range, exponent)?;
        let width = u128::from(averaged.scale.width.get());
        Ok(Self {
            averaged,
            gaussian: GaussianNoise::with_rho(width * width, rho)?,
            relation: PhantomData,
        })
    }

    /// The same with μ-GDP: a variance of w²/μ² for each sum.
    ///
    /// # Errors
    ///
    /// As for [`NoisyMean::new`].
    pub fn with_mu(
        _relation: R,
        attribute: Attribute<D, f64>,
        range: RangeInclusive<f64>,
        exponent: i32,
        mu: Mu,
    ) -> Result<Self, MechanismError> {
        let averaged = Averaged::new(attribute, &range, exponent)?;
        let width = u128::from(averaged.scale.width.get());
        Ok(Self {
            averaged,
            gaussian: GaussianNoise::with_mu(width * width, mu)?,
            relation: PhantomData,
        })
    }
}

/// The shared implementation of the two.
macro_rules! mean {
    ($Mean:ident: $Fact:ident, |$mean:ident| $noise:expr, $fact:expr) => {
        impl<D: Dataset + ?Sized, R: AveragingRelation> Mechanism<D> for $Mean<D, R> {
            type Machine = Released<Mean>;

            fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<Mean>, Fault> {
                let $mean = self;
                self.averaged.release::<R>(data, &$noise, coins)
            }

            fn describe(&self) -> Description {
                self.description()
            }
        }

        impl<D: ?Sized, R: AveragingRelation> Accuracy for $Mean<D, R> {
            type Distance = MeanAccuracy;

            fn accuracy(&self, confidence: Confidence) -> MeanAccuracy {
                let $mean = self;
                let noise = MeanNoise {
                    noise: $noise.into(),
                    scale: self.averaged.scale,
                    size_is_public: R::SIZE_IS_PUBLIC,
                };
                noise.accuracy(confidence)
            }
        }

        states!($Fact: impl[D: ?Sized, R: AveragingRelation,] $Mean<D, R>, R, |$mean| $fact);
        shown!(impl[D: ?Sized, R: Relation] $Mean<D, R>);

        impl<D: ?Sized, R> Clone for $Mean<D, R> {
            fn clone(&self) -> Self {
                let averaged = Averaged {
                    attribute: self.averaged.attribute.clone(),
                    ..self.averaged
                };
                Self { averaged, ..*self }
            }
        }
    };
}

mean!(NoisyMean: Laplace, |mean| mean.noise, mean.fact);
mean!(GaussianMean: Gaussian, |mean| mean.gaussian.noise, mean.gaussian.fact);

impl<D: ?Sized, R: Relation> NoisyMean<D, R> {
    fn description(&self) -> Description {
        let description = self.averaged.describe::<R>("NoisyMean");
        description.with("epsilon", self.fact.epsilon)
    }
}

impl<D: ?Sized, R: Relation> GaussianMean<D, R> {
    fn description(&self) -> Description {
        let description = self.averaged.describe::<R>("GaussianMean");
        self.gaussian.describe(description)
    }
}

/// What a [`NoisyMean`] or [`GaussianMean`] answers: two noisy sums, and what follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mean {
    /// The noisy sum of u.
    above: i128,
    /// The noisy sum of w − u.
    below: i128,
    accuracy: MeanNoise,
}

/// The noise of a mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct MeanNoise {
    noise: Noise,
    scale: Steps,
    size_is_public: bool,
}

/// How far the two sums of a mean are from the truth, and from which the error of the mean follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeanAccuracy {
    /// In steps; `None` if nothing can be said.
    each: Option<u128>,
    scale: Steps,
    size_is_public: bool,
}

impl MeanNoise {
    /// Both sums are as near as this, together with this confidence.
    fn accuracy(&self, confidence: Confidence) -> MeanAccuracy {
        let sums = if self.size_is_public { 1 } else { 2 };
        let each = confidence.for_each_of(sums);
        MeanAccuracy {
            each: each.map(|each| self.noise.steps_within(each)),
            scale: self.scale,
            size_is_public: self.size_is_public,
        }
    }
}

impl MeanAccuracy {
    /// How far the mean is from that of the rounded and clamped values, at most, if there are this
    /// number of rows, with the confidence that was asked for: rounded up, with what rounding the mean
    /// to a float may add, and never more than the width of the range.
    ///
    /// If both sums are within a of the truth, the mean of n rows is within a/(n − 2a/w) of it; where
    /// the number of rows is public, within a/n.
    #[must_use]
    pub fn for_rows(&self, rows: u64) -> f64 {
        let width = Interval::whole(self.scale.width.get().into());
        let error = self.each.map_or(width, |each| {
            let each = Interval::whole(each);
            let counted = if self.size_is_public {
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
        self.scale.rounded(error, width)
    }
}

impl Mean {
    /// The mean: a number of the range, and its middle if the sums say that there are no rows.
    #[must_use]
    pub fn value(&self) -> f64 {
        // What is below zero is noise.
        let [above, below] = [self.above, self.below].map(|sum| sum.max(0).unsigned_abs());
        let fraction = fraction(above, below).map_or(0.5, Interval::middle);
        let range = self.range();
        let value = self.accuracy.scale.at(Interval::exactly(fraction)).middle();
        value.clamp(*range.start(), *range.end())
    }

    /// The noisy number of rows; the true one where it is public.
    #[must_use]
    pub fn rows(&self) -> f64 {
        let width = self.accuracy.scale.width.get();
        self.above.saturating_add(self.below) as f64 / width as f64
    }

    /// The mean with an interval for that of the rounded and clamped values of all rows, if there are
    /// any.
    ///
    /// Each of the two sums is within its noise of the truth, both together with this confidence (the
    /// union bound), and the interval has the means of all pairs of sums that are possible then.
    #[must_use]
    pub fn estimate(&self, confidence: Confidence) -> Estimate<f64> {
        let MeanAccuracy { each, .. } = self.accuracy.accuracy(confidence);
        let interval = each.and_then(|each| self.possible(each));
        Estimate {
            value: self.value(),
            interval: interval.unwrap_or(self.range()),
            confidence,
        }
    }

    /// The means, if each sum is at most so far from the truth; `None` if there may be no rows.
    fn possible(&self, each: u128) -> Option<RangeInclusive<f64>> {
        let each = i128::try_from(each).unwrap_or(i128::MAX);
        let (range, scale) = (self.range(), self.accuracy.scale);
        // True sums are not negative.
        let least = |sum: i128| sum.saturating_sub(each).max(0).unsigned_abs();
        let most = |sum: i128| sum.saturating_add(each).max(0).unsigned_abs();
        // Where the number of rows is public the two errors are opposite, so these add up to it.
        let low = fraction(least(self.above), most(self.below));
        let high = fraction(most(self.above), least(self.below));
        let low = scale.at(low?).low().max(*range.start());
        let high = scale.at(high?).high().min(*range.end());
        Some(low..=high)
    }

    fn range(&self) -> RangeInclusive<f64> {
        let scale = self.accuracy.scale;
        let range = scale.range();
        let [low, high] =
            [range.start(), range.end()].map(|end| of_steps((*end).into(), scale.exponent));
        low..=high
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
