//! The variance of a bounded attribute.

use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::gaussian::GaussianNoise;
use super::mean::Steps;
use super::{Accuracy, AveragingRelation, Estimate, MechanismError, over, shown, states};
use crate::data::{Attribute, Dataset, Moment, Moments};
use crate::machine::{Coins, Description, Fault, Law, Mechanism, Released};
use crate::noise::{DiscreteLaplace, Noise};
use crate::number::{Confidence, Epsilon, Interval, Mu, Ratio, Rho};
use crate::privacy::facts::{Gaussian, Laplace};
use crate::privacy::{AddRemove, Relation};

/// The variance of an attribute that is clamped to a range and rounded to a lattice, with discrete
/// Laplace noise.
///
/// Use it for a spread: the answer, a [`Variance`], has the variance, the mean and the noisy number of
/// rows, at the price of one sum. If only the mean is needed, [`NoisyMean`](super::NoisyMean) is more
/// accurate.
///
/// ```
/// use queryables::data::{Attribute, Moment};
/// use queryables::mechanisms::NoisyVariance;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// // From 20 to 69: a variance of (50² − 1)/12 = 208.25.
/// let ages: Arc<Vec<f64>> = Arc::new((0..20_000).map(|person| 20.0 + (person % 50) as f64).collect());
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), ages)?;
///
/// let age = Attribute::new("age", |age: &f64| Moment(*age));
/// let spread = filter.release(&NoisyVariance::new(AddRemove, age, 0.0..=100.0, 0, "0.5".parse()?)?)?;
/// assert!((spread.value() - 208.25).abs() < 20.0);
/// assert!((spread.mean() - 44.5).abs() < 1.0);
/// println!("the variance is {:.0}", spread.estimate("0.95".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP, and this is tight, for neighbours under `R`. Let each row be u above the start of the range,
/// of width w, in steps.
///
/// - A row that is added or removed changes the sums P of u², M of 2u(w − u) and B of (w − u)², by w²
///   together, whatever u is. So noise of scale w²/ε on each is ε-DP. They add up to w² times the
///   number of rows n, and the variance is (PB − M²/4)/(n²w²).
/// - Where a row is replaced, the number of rows is public. The sums X of uw and Y of u(w − u) are
///   released: with u and v in units of w, |u − v| + |u(1 − u) − v(1 − v)| =
///   |u − v|·(1 + |1 − u − v|) ≤ 1, because |u − v| is at most s = u + v and 2 − s, and s(2 − s) ≤ 1.
///   So they change by w² together, too. The variance is (X/nw)(w − X/nw) − Y/n.
///
/// It states [`Laplace`] noise on numbers that change by w² together. A row that cannot be read, or
/// whose value is infinite or NaN, counts as the number of the range that is nearest to zero.
pub struct NoisyVariance<D: ?Sized, R = AddRemove> {
    spread: Spread<D>,
    fact: Laplace,
    noise: DiscreteLaplace,
    relation: PhantomData<fn() -> R>,
}

/// [`NoisyVariance`] with rounded Gaussian noise.
///
/// Use it where losses are accounted in zCDP, RDP or GDP, or converted to (ε, δ) at the end.
///
/// ```
/// use queryables::data::{Attribute, Moment};
/// use queryables::mechanisms::GaussianVariance;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages: Arc<Vec<f64>> = Arc::new((0..20_000).map(|person| 20.0 + (person % 50) as f64).collect());
/// let filter = launch(&Filter::concurrent(ZCdp, "0.5".parse()?), ages)?;
///
/// let age = Attribute::new("age", |age: &f64| Moment(*age));
/// let spread = GaussianVariance::new(AddRemove, age, 0.0..=100.0, 0, "0.1".parse()?)?;
/// assert!((filter.release(&spread)?.value() - 208.25).abs() < 20.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of the Gaussian mechanism, of which it is a postprocessing
/// ([`RoundedGaussian`](crate::noise::RoundedGaussian)), for neighbours under `R`: the sums that
/// [`NoisyVariance`] releases change by at most Δ = w² in the Euclidean norm, too. With a variance of
/// σ² it states [`Gaussian`] noise of μ = Δ/σ, or ρ = μ²/2. At a distance of d, d·μ and d²·ρ.
pub struct GaussianVariance<D: ?Sized, R = AddRemove> {
    spread: Spread<D>,
    gaussian: GaussianNoise,
    relation: PhantomData<fn() -> R>,
}

/// What varies.
struct Spread<D: ?Sized> {
    attribute: Attribute<D, Moment>,
    scale: Steps,
}

/// The width of a range whose square a fact can hold.
const WIDEST: u64 = (1 << 32) - 1;

impl<D: ?Sized> Spread<D> {
    fn new(
        attribute: Attribute<D, Moment>,
        range: &RangeInclusive<f64>,
        exponent: i32,
    ) -> Result<Self, MechanismError> {
        let scale = Steps::new(range, exponent)?;
        if scale.width.get() > WIDEST {
            return Err(MechanismError::TooManySteps);
        }
        Ok(Self { attribute, scale })
    }

    /// w².
    fn change(&self) -> NonZeroU64 {
        self.scale.width.saturating_mul(self.scale.width)
    }

    fn release<R: AveragingRelation>(
        &self,
        data: &D,
        law: &(impl Law + Copy + Into<Noise>),
        coins: &mut Coins<'_>,
    ) -> Result<Released<Variance>, Fault>
    where
        D: Dataset,
    {
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let mut draw = || coins.draw(law);
        let noise = if R::SIZE_IS_PUBLIC {
            [draw()?, draw()?, 0]
        } else {
            [draw()?, draw()?, draw()?]
        };
        let mut moments = Moments::new(self.scale.per_unit(), self.scale.range());
        self.attribute.fold(data, &mut moments);
        let (high, mixed, low) = (moments.high(), moments.mixed(), moments.low());
        // Each u(w − u) is counted twice in the mixed sum, and u² + u(w − u) is uw.
        let sums = if R::SIZE_IS_PUBLIC {
            [high + mixed / 2, mixed / 2, high + mixed + low]
        } else {
            [high, mixed, low]
        };
        let [one, two, three] = sums;
        let [first, second, third] = noise;
        Ok(Released(Variance {
            sums: [
                one.saturating_add(first),
                two.saturating_add(second),
                three.saturating_add(third),
            ],
            noise: VarianceNoise {
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

impl<D: ?Sized, R: AveragingRelation> NoisyVariance<D, R> {
    /// The variance of `attribute`, clamped to `range`, in steps of 2 to the power of `exponent`, which
    /// is from −500 to 500.
    ///
    /// # Errors
    ///
    /// Those of [`NoisyMean::new`](super::NoisyMean::new), and [`MechanismError::TooManySteps`] if the
    /// range is 2^32 steps wide or more.
    pub fn new(
        _relation: R,
        attribute: Attribute<D, Moment>,
        range: RangeInclusive<f64>,
        exponent: i32,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        let spread = Spread::new(attribute, &range, exponent)?;
        let steps = spread.change();
        Ok(Self {
            spread,
            fact: Laplace {
                steps,
                ..Laplace::of_count(epsilon)
            },
            noise: DiscreteLaplace::new(over(Ratio::from(steps.get()), epsilon)?)?,
            relation: PhantomData,
        })
    }
}

impl<D: ?Sized, R: AveragingRelation> GaussianVariance<D, R> {
    /// The variance of `attribute`, clamped to `range`, in steps of 2 to the power of `exponent`, which
    /// is from −500 to 500, with ρ-zCDP: a variance of w⁴/(2ρ) for each sum.
    ///
    /// # Errors
    ///
    /// As for [`NoisyVariance::new`].
    pub fn new(
        _relation: R,
        attribute: Attribute<D, Moment>,
        range: RangeInclusive<f64>,
        exponent: i32,
        rho: Rho,
    ) -> Result<Self, MechanismError> {
        let spread = Spread::new(attribute, &range, exponent)?;
        let change = u128::from(spread.change().get());
        Ok(Self {
            spread,
            gaussian: GaussianNoise::with_rho(change * change, rho)?,
            relation: PhantomData,
        })
    }

    /// The same with μ-GDP: a variance of w⁴/μ² for each sum.
    ///
    /// # Errors
    ///
    /// As for [`NoisyVariance::new`].
    pub fn with_mu(
        _relation: R,
        attribute: Attribute<D, Moment>,
        range: RangeInclusive<f64>,
        exponent: i32,
        mu: Mu,
    ) -> Result<Self, MechanismError> {
        let spread = Spread::new(attribute, &range, exponent)?;
        let change = u128::from(spread.change().get());
        Ok(Self {
            spread,
            gaussian: GaussianNoise::with_mu(change * change, mu)?,
            relation: PhantomData,
        })
    }
}

/// The shared implementation of the two.
macro_rules! variance {
    ($Variance:ident: $Fact:ident, |$variance:ident| $noise:expr, $fact:expr) => {
        impl<D: Dataset + ?Sized, R: AveragingRelation> Mechanism<D> for $Variance<D, R> {
            type Machine = Released<Variance>;

            fn start(
                &self,
                data: &Arc<D>,
                coins: &mut Coins<'_>,
            ) -> Result<Released<Variance>, Fault> {
                let $variance = self;
                self.spread.release::<R>(data, &$noise, coins)
            }

            fn describe(&self) -> Description {
                self.description()
            }
        }

        impl<D: ?Sized, R: AveragingRelation> Accuracy for $Variance<D, R> {
            type Distance = VarianceAccuracy;

            fn accuracy(&self, confidence: Confidence) -> VarianceAccuracy {
                let $variance = self;
                let noise = VarianceNoise {
                    noise: $noise.into(),
                    scale: self.spread.scale,
                    size_is_public: R::SIZE_IS_PUBLIC,
                };
                noise.accuracy(confidence)
            }
        }

        states!(
            $Fact: impl[D: ?Sized, R: AveragingRelation,] $Variance<D, R>, R,
            |$variance| $fact
        );
        shown!(impl[D: ?Sized, R: Relation] $Variance<D, R>);

        impl<D: ?Sized, R> Clone for $Variance<D, R> {
            fn clone(&self) -> Self {
                let spread = Spread {
                    attribute: self.spread.attribute.clone(),
                    ..self.spread
                };
                Self { spread, ..*self }
            }
        }
    };
}

variance!(NoisyVariance: Laplace, |variance| variance.noise, variance.fact);
variance!(
    GaussianVariance: Gaussian,
    |variance| variance.gaussian.noise,
    variance.gaussian.fact
);

impl<D: ?Sized, R: Relation> NoisyVariance<D, R> {
    fn description(&self) -> Description {
        let description = self.spread.describe::<R>("NoisyVariance");
        description.with("epsilon", self.fact.epsilon)
    }
}

impl<D: ?Sized, R: Relation> GaussianVariance<D, R> {
    fn description(&self) -> Description {
        let description = self.spread.describe::<R>("GaussianVariance");
        self.gaussian.describe(description)
    }
}

/// What a [`NoisyVariance`] or [`GaussianVariance`] answers: noisy sums, and what follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variance {
    /// P, M and B; where the number of rows is public, X, Y and w² times that number.
    sums: [i128; 3],
    noise: VarianceNoise,
}

/// The noise of a variance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct VarianceNoise {
    noise: Noise,
    scale: Steps,
    size_is_public: bool,
}

/// How far the sums of a variance are from the truth, and from which its error follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VarianceAccuracy {
    /// In squared steps; `None` if nothing can be said.
    each: Option<u128>,
    scale: Steps,
    size_is_public: bool,
}

impl VarianceNoise {
    /// All sums are as near as this, together with this confidence.
    fn accuracy(&self, confidence: Confidence) -> VarianceAccuracy {
        let sums = if self.size_is_public { 2 } else { 3 };
        let each = confidence.for_each_of(sums);
        VarianceAccuracy {
            each: each.map(|each| self.noise.steps_within(each)),
            scale: self.scale,
            size_is_public: self.size_is_public,
        }
    }
}

impl VarianceAccuracy {
    /// How far the variance is from that of the rounded and clamped values, at most, if there are this
    /// number of rows, with the confidence that was asked for: rounded up, with what rounding the
    /// variance to a float may add, and never more than w²/4, which is the largest variance.
    ///
    /// Let all sums be within e of the truth, in units of w². Where the number n of rows is public the
    /// variance is within 2e/n, in the same units: X/n and Y/n are within e/n. Otherwise shares of
    /// P, M and B in their sum are within r = 2e/(n − 3e), and the variance is within r(1 + 5r/4).
    #[must_use]
    pub fn for_rows(&self, rows: u64) -> f64 {
        let square = square(self.scale);
        let quarter = Interval::exactly(0.25);
        let error = self.each.map_or(quarter, |each| {
            let each = Interval::whole(each) / square;
            let rows = Interval::whole(rows.into());
            let counted = if self.size_is_public {
                rows
            } else {
                rows - Interval::exactly(3.0) * each
            };
            if counted.low() <= 0.0 {
                return quarter;
            }
            let share = Interval::TWO * each / counted;
            let error = if self.size_is_public {
                share
            } else {
                share * (Interval::ONE + Interval::exactly(1.25) * share)
            };
            error.min(quarter)
        });
        // The formula has fewer than 32 operations, each with an error of 2^-53 of at most one.
        let rounding = Interval::exactly(2_f64.powi(-48));
        let error = (error + rounding).min(quarter);
        scaled((error * square).high(), self.scale)
    }
}

/// w².
fn square(scale: Steps) -> Interval {
    Interval::whole(scale.width.get().into()).square()
}

/// Squared steps as a number.
fn scaled(squares: f64, scale: Steps) -> f64 {
    libm::scalbn(squares, 2 * scale.exponent)
}

impl Variance {
    /// The variance (that of all rows, divided by their number): from zero to a quarter of the squared
    /// width.
    #[must_use]
    pub fn value(&self) -> f64 {
        let share = self.possible(0).map_or(0.0, Interval::middle);
        scaled(share * square(self.noise.scale).middle(), self.noise.scale)
    }

    /// The mean: a number of the range.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let [one, two, three] = self.sums.map(|sum| sum.max(0) as f64);
        let (above, all) = if self.noise.size_is_public {
            (one.min(three), three)
        } else {
            (one + two / 2.0, one + two + three)
        };
        let fraction = if all > 0.0 { above / all } else { 0.5 };
        let scale = self.noise.scale;
        let steps = scale.start as f64 + scale.width.get() as f64 * fraction;
        libm::scalbn(steps, scale.exponent)
    }

    /// The noisy number of rows; the true one where it is public.
    #[must_use]
    pub fn rows(&self) -> f64 {
        let [one, two, three] = self.sums.map(|sum| sum as f64);
        let all = if self.noise.size_is_public {
            three
        } else {
            one + two + three
        };
        all / square(self.noise.scale).middle()
    }

    /// The variance with an interval for that of the rounded and clamped values of all rows, if there
    /// are any.
    ///
    /// Each of the sums is within its noise of the truth, all together with this confidence (the union
    /// bound), and the interval has the variances of all sums that are possible then, and some more:
    /// it bounds the parts of the formula one by one.
    #[must_use]
    pub fn estimate(&self, confidence: Confidence) -> Estimate<f64> {
        let VarianceAccuracy { each, .. } = self.noise.accuracy(confidence);
        let all = Interval::between(0.0, 0.25);
        let share = each.and_then(|each| self.possible(each)).unwrap_or(all);
        let steps = share * square(self.noise.scale);
        let [low, high] = [steps.low(), steps.high()].map(|end| scaled(end, self.noise.scale));
        Estimate {
            value: self.value(),
            interval: low.max(0.0)..=high,
            confidence,
        }
    }

    /// The variances in units of w², if each sum is at most so far from the truth; `None` if there may
    /// be no rows.
    fn possible(&self, each: u128) -> Option<Interval> {
        let each = i128::try_from(each).unwrap_or(i128::MAX);
        // True sums are not negative.
        let around = |sum: i128| {
            let least = sum.saturating_sub(each).max(0).unsigned_abs();
            let most = sum.saturating_add(each).max(0).unsigned_abs();
            Interval::between(Interval::whole(least).low(), Interval::whole(most).high())
        };
        let [one, two, three] = self.sums;
        let (zero, quarter) = (Interval::ZERO, Interval::exactly(0.25));
        let variance = if self.noise.size_is_public {
            let all = Interval::whole(u128::try_from(three).ok().filter(|all| *all > 0)?);
            let mean = (around(one) / all).max(zero).min(Interval::ONE);
            // u(1 − u) rises up to one half and falls from there on.
            let product = |mean: f64| {
                let mean = Interval::exactly(mean);
                mean * (Interval::ONE - mean)
            };
            let ends = [product(mean.low()), product(mean.high())];
            let [low, high] = ends;
            let most = if mean.low() <= 0.5 && mean.high() >= 0.5 {
                quarter
            } else {
                low.max(high)
            };
            let products = Interval::between(low.min(high).low(), most.high());
            products - around(two) / all
        } else {
            let [high, mixed, low] = [one, two, three].map(around);
            let all = high + mixed + low;
            if all.low() <= 0.0 {
                return None;
            }
            (high * low - mixed.square() * quarter) / all.square()
        };
        Some(variance.max(zero).min(quarter))
    }
}

#[cfg(test)]
#[path = "variance_tests.rs"]
mod tests;
