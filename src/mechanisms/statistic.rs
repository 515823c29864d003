//! What the mean and the variance of a bounded attribute have in common.

use std::num::NonZeroU64;
use std::ops::RangeInclusive;

use super::lattice::of_steps;
use super::real_sum::range_in_steps;
use super::{MechanismError, SummingRelation};
use crate::data::{Attribute, Dataset};
use crate::machine::{Coins, Description, Fault, Law};
use crate::noise::Noise;
use crate::number::{Confidence, Interval};
use crate::privacy::{AddRemove, Relation, Replace};

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

    /// The range, in units.
    pub(super) fn values(&self) -> RangeInclusive<f64> {
        let (low, high) = self.range().into_inner();
        let value = |end: i64| of_steps(end.into(), self.exponent);
        value(low)..=value(high)
    }

    pub(super) fn per_unit(&self) -> f64 {
        libm::scalbn(1.0, -self.exponent)
    }

    /// An error of a number that is at most `most` units of steps large, with room for rounding it to a
    /// float: its formula has fewer than 16 operations, each with an error of 2^-53.
    pub(super) fn rounded(&self, error: Interval, most: Interval) -> f64 {
        let start = Interval::whole(self.start.unsigned_abs().into());
        let rounding = (start + most) * Interval::exactly(2_f64.powi(-49));
        libm::scalbn((error + rounding).min(most).high(), self.exponent)
    }

    /// The number of the range at a fraction of its width, rounded.
    pub(super) fn value(&self, fraction: f64) -> f64 {
        let steps = self.start as f64 + self.width.get() as f64 * fraction;
        let (low, high) = self.values().into_inner();
        libm::scalbn(steps, self.exponent).clamp(low, high)
    }

    /// The same, enclosed.
    pub(super) fn at(&self, fraction: Interval) -> Interval {
        let width = Interval::whole(self.width.get().into());
        let steps = Interval::exactly(self.start as f64) + width * fraction;
        // Exact: a power of two, far from the ends of floats.
        let value = |steps: f64| libm::scalbn(steps, self.exponent);
        Interval::between(value(steps.low()), value(steps.high()))
    }
}

/// An attribute that is clamped to a range and rounded to a lattice.
pub(super) struct Bounded<D: ?Sized> {
    pub(super) attribute: Attribute<D, f64>,
    pub(super) scale: Steps,
}

impl<D: ?Sized> Bounded<D> {
    pub(super) fn describe<R: Relation>(&self, name: &'static str) -> Description {
        let (low, high) = self.scale.values().into_inner();
        Description::new(name)
            .with("relation", R::NAME)
            .with("attribute", self.attribute.name())
            .with("range", format_args!("{low}..={high}"))
            .with("exponent", self.scale.exponent)
    }
}

impl<D: ?Sized> Clone for Bounded<D> {
    fn clone(&self) -> Self {
        Self {
            attribute: self.attribute.clone(),
            ..*self
        }
    }
}

/// The noise on each of the sums that are released, and what its size is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SumNoise {
    pub(super) noise: Noise,
    pub(super) scale: Steps,
    pub(super) size_is_public: bool,
}

/// How far sums are from the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SumAccuracy {
    /// Each of them, at most; `None` if nothing can be said.
    pub(super) each: Option<u128>,
    pub(super) scale: Steps,
    pub(super) size_is_public: bool,
}

impl SumNoise {
    pub(super) fn new<R: AveragingRelation>(noise: impl Into<Noise>, scale: Steps) -> Self {
        Self {
            noise: noise.into(),
            scale,
            size_is_public: R::SIZE_IS_PUBLIC,
        }
    }

    /// This number of sums are all as near as this, together with this confidence.
    pub(super) fn accuracy(&self, sums: u64, confidence: Confidence) -> SumAccuracy {
        let each = confidence.for_each_of(sums);
        SumAccuracy {
            each: each.map(|each| self.noise.steps_within(each)),
            scale: self.scale,
            size_is_public: self.size_is_public,
        }
    }
}

/// What is released of a bounded attribute: noisy sums, and what follows from them.
pub(super) trait Statistic: Sized {
    /// How far it is from the truth.
    type Accuracy;

    /// By how much one row changes all sums together, at most.
    fn change(scale: Steps) -> Result<NonZeroU64, MechanismError>;

    /// Draws noise of this law, sums, and adds.
    fn release<D: Dataset + ?Sized, R: AveragingRelation>(
        bounded: &Bounded<D>,
        data: &D,
        law: &(impl Law + Copy + Into<Noise>),
        coins: &mut Coins<'_>,
    ) -> Result<Self, Fault>;

    fn accuracy(noise: &SumNoise, confidence: Confidence) -> Self::Accuracy;
}

/// A statistic with Laplace noise, and the same with Gaussian noise. Both have the fields `bounded`,
/// `noise` and `relation`.
macro_rules! statistic {
    ($Noisy:ident, $Gaussian:ident: $Answer:ident, $Accuracy:ident, $what:literal, $change:literal, $errors:literal) => {
        impl<D: ?Sized, R: AveragingRelation> $Noisy<D, R> {
            #[doc = concat!("The ", $what, " of `attribute`, clamped to `range`, in steps of 2 to the power of")]
            /// `exponent`, which is from −500 to 500.
            ///
            /// # Errors
            ///
            /// [`MechanismError::BadExponent`], [`MechanismError::TooWide`] if an end of the range is more
            /// than 2^50 steps away from zero, [`MechanismError::BadRange`] if it is empty, not made of
            /// numbers, or a single number, [`MechanismError::NoLoss`] if ε is zero, and
            /// [`MechanismError::TooFine`] or [`MechanismError::Noise`] if the noise needs longer numbers
            #[doc = concat!("than can be held", $errors, ".")]
            pub fn new(
                _relation: R,
                attribute: Attribute<D, f64>,
                range: RangeInclusive<f64>,
                exponent: i32,
                epsilon: Epsilon,
            ) -> Result<Self, MechanismError> {
                let scale = Steps::new(&range, exponent)?;
                Ok(Self {
                    bounded: Bounded { attribute, scale },
                    noise: LaplaceNoise::new($Answer::change(scale)?, epsilon)?,
                    relation: PhantomData,
                })
            }
        }

        impl<D: ?Sized, R: AveragingRelation> $Gaussian<D, R> {
            #[doc = concat!("The ", $what, " of `attribute`, clamped to `range`, in steps of 2 to the power of")]
            #[doc = concat!(
                "`exponent`, which is from −500 to 500, with ρ-zCDP: a variance of ", $change,
                "/(2ρ) for each sum."
            )]
            ///
            /// # Errors
            ///
            #[doc = concat!("As for [`", stringify!($Noisy), "::new`].")]
            pub fn new(
                _relation: R,
                attribute: Attribute<D, f64>,
                range: RangeInclusive<f64>,
                exponent: i32,
                rho: Rho,
            ) -> Result<Self, MechanismError> {
                Self::with(attribute, &range, exponent, |square| {
                    GaussianNoise::with_rho(square, rho)
                })
            }

            #[doc = concat!("The same with μ-GDP: a variance of ", $change, "/μ² for each sum.")]
            ///
            /// # Errors
            ///
            #[doc = concat!("As for [`", stringify!($Noisy), "::new`].")]
            pub fn with_mu(
                _relation: R,
                attribute: Attribute<D, f64>,
                range: RangeInclusive<f64>,
                exponent: i32,
                mu: Mu,
            ) -> Result<Self, MechanismError> {
                Self::with(attribute, &range, exponent, |square| {
                    GaussianNoise::with_mu(square, mu)
                })
            }

            fn with(
                attribute: Attribute<D, f64>,
                range: &RangeInclusive<f64>,
                exponent: i32,
                noise: impl FnOnce(u128) -> Result<GaussianNoise, MechanismError>,
            ) -> Result<Self, MechanismError> {
                let scale = Steps::new(range, exponent)?;
                let change = u128::from($Answer::change(scale)?.get());
                Ok(Self {
                    bounded: Bounded { attribute, scale },
                    noise: noise(change * change)?,
                    relation: PhantomData,
                })
            }
        }

        statistic!($Noisy: $Answer, $Accuracy, Laplace, $what, "ε");
        statistic!($Gaussian: $Answer, $Accuracy, Gaussian, $what, "ρ");
    };
    ($Statistic:ident: $Answer:ident, $Accuracy:ident, $Fact:ident, $what:literal, $loss:literal) => {
        impl<D: ?Sized, R: AveragingRelation> $Statistic<D, R> {
            #[doc = concat!("The same with the smallest ", $loss, " for which the ", $what, " of `rows` rows or more")]
            /// is at most `within` away from that of the rounded and clamped values, with at least this
            /// confidence ([`Accuracy`]). It is rounded up to six digits.
            ///
            /// # Errors
            ///
            /// [`MechanismError::BadAccuracy`] if `within` is negative or NaN,
            #[doc = concat!("[`MechanismError::TooAccurate`] if no ", $loss, " up to 10^6 suffices, and those of")]
            /// [`new`](Self::new).
            pub fn with_accuracy(
                relation: R,
                attribute: Attribute<D, f64>,
                range: RangeInclusive<f64>,
                exponent: i32,
                within: f64,
                rows: u64,
                confidence: Confidence,
            ) -> Result<Self, MechanismError> {
                let make =
                    |loss| Self::new(relation, attribute.clone(), range.clone(), exponent, loss);
                if within.is_nan() || within < 0.0 {
                    return Err(MechanismError::BadAccuracy);
                }
                let (_, made) = least_loss(make, |made: &Self| {
                    made.accuracy(confidence).for_rows(rows) <= within
                })?;
                Ok(made)
            }

            /// The noise on each of the sums that are released, in steps.
            #[must_use]
            pub fn noise(&self) -> Noise {
                self.noise.noise.into()
            }
        }

        impl<D: Dataset + ?Sized, R: AveragingRelation> Mechanism<D> for $Statistic<D, R> {
            type Machine = Released<$Answer>;

            fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
                let law = &self.noise.noise;
                $Answer::release::<D, R>(&self.bounded, data, law, coins).map(Released)
            }

            fn only_says_releases() -> bool {
                true
            }

            fn describe(&self) -> Description {
                self.description()
            }
        }

        impl<D: ?Sized, R: Relation> $Statistic<D, R> {
            fn description(&self) -> Description {
                let description = self.bounded.describe::<R>(stringify!($Statistic));
                self.noise.describe(description)
            }
        }

        impl<D: ?Sized, R: AveragingRelation> Accuracy for $Statistic<D, R> {
            type Distance = $Accuracy;

            fn accuracy(&self, confidence: Confidence) -> $Accuracy {
                let noise = SumNoise::new::<R>(self.noise.noise, self.bounded.scale);
                $Answer::accuracy(&noise, confidence)
            }
        }

        states!(
            $Fact: impl[D: ?Sized, R: AveragingRelation,] $Statistic<D, R>, R,
            |statistic| statistic.noise.fact
        );
        shown!(impl[D: ?Sized, R: Relation] $Statistic<D, R>);

        impl<D: ?Sized, R> Clone for $Statistic<D, R> {
            fn clone(&self) -> Self {
                Self {
                    bounded: self.bounded.clone(),
                    ..*self
                }
            }
        }
    };
}
pub(super) use statistic;
