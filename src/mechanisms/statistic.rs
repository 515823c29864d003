//! What the mean and the variance of a bounded attribute have in common.

use std::num::NonZeroU64;
use std::ops::RangeInclusive;

use super::real_range::{Bounded, Steps};
use super::{MechanismError, SummingRelation};
use crate::data::Dataset;
use crate::machine::{Coins, Fault, Law};
use crate::noise::Noise;
use crate::number::Confidence;
use crate::privacy::{AddRemove, Replace};

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

    /// What it is, and where it may be with this confidence, for numbers that were clamped to this range
    /// and had not been rounded.
    fn estimate(
        &self,
        range: RangeInclusive<f64>,
        confidence: Confidence,
    ) -> (f64, RangeInclusive<f64>);
}

/// A statistic with Laplace noise, and the same with Gaussian noise. Both have the fields `bounded`,
/// `noise` and `relation`.
macro_rules! statistic {
    ($Noisy:ident, $Gaussian:ident: $Answer:ident, $Accuracy:ident, $what:literal, $change:literal, $errors:literal) => {
        impl<D: ?Sized, R: AveragingRelation> $Noisy<D, R> {
            #[doc = concat!("The ", $what, " of `attribute`, clamped to `range` ([`RealRange`]).")]
            ///
            /// # Errors
            ///
            /// [`MechanismError::BadExponent`], [`MechanismError::CoarseStep`] if the step is more than a
            /// hundredth of the range, [`MechanismError::TooWide`] if an end of the range is more
            /// than 2^50 steps away from zero, [`MechanismError::BadRange`] if it is empty, not made of
            /// numbers, or a single number, [`MechanismError::NoLoss`] if ε is zero, and
            /// [`MechanismError::TooFine`] or [`MechanismError::Noise`] if the noise needs longer numbers
            #[doc = concat!("than can be held", $errors, ".")]
            pub fn new(
                _relation: R,
                attribute: Attribute<D, f64>,
                range: impl Into<RealRange>,
                epsilon: Epsilon,
            ) -> Result<Self, MechanismError> {
                let bounded = Bounded::new(attribute, range.into())?;
                Ok(Self {
                    noise: LaplaceNoise::new($Answer::change(bounded.scale)?, epsilon)?,
                    bounded,
                    relation: PhantomData,
                })
            }
        }

        impl<D: ?Sized, R: AveragingRelation> $Gaussian<D, R> {
            #[doc = concat!(
                "The ", $what, " of `attribute`, clamped to `range` ([`RealRange`]), with ρ-zCDP: a variance of ",
                $change, "/(2ρ) for each sum."
            )]
            ///
            /// # Errors
            ///
            #[doc = concat!("As for [`", stringify!($Noisy), "::new`].")]
            pub fn new(
                _relation: R,
                attribute: Attribute<D, f64>,
                range: impl Into<RealRange>,
                rho: Rho,
            ) -> Result<Self, MechanismError> {
                Self::with(attribute, range.into(), |square| {
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
                range: impl Into<RealRange>,
                mu: Mu,
            ) -> Result<Self, MechanismError> {
                Self::with(attribute, range.into(), |square| {
                    GaussianNoise::with_mu(square, mu)
                })
            }

            fn with(
                attribute: Attribute<D, f64>,
                range: RealRange,
                noise: impl FnOnce(u128) -> Result<GaussianNoise, MechanismError>,
            ) -> Result<Self, MechanismError> {
                let bounded = Bounded::new(attribute, range)?;
                let change = u128::from($Answer::change(bounded.scale)?.get());
                Ok(Self {
                    bounded,
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
            /// is at most `within` away from that of the clamped values, with at least this confidence
            /// ([`Accuracy`]). It is rounded up to six digits.
            ///
            /// # Errors
            ///
            /// [`MechanismError::BadAccuracy`] if `within` is negative or NaN,
            #[doc = concat!("[`MechanismError::TooAccurate`] if no ", $loss, " up to 10^6 suffices, and those of")]
            /// [`new`](Self::new).
            pub fn with_accuracy(
                relation: R,
                attribute: Attribute<D, f64>,
                range: impl Into<RealRange>,
                within: f64,
                rows: u64,
                confidence: Confidence,
            ) -> Result<Self, MechanismError> {
                let range = range.into();
                let make = |loss| Self::new(relation, attribute.clone(), range, loss);
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

            fn describe(&self) -> Description {
                self.description()
            }
        }

        impl<D: ?Sized, R> crate::machine::ReleasesOnly for $Statistic<D, R> {}

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

            fn about(&self) -> About {
                self.bounded.about()
            }
        }

        impl<D: ?Sized, R: AveragingRelation> Estimates for $Statistic<D, R> {
            type Answer = $Answer;
            type Number = f64;

            fn interval(&self, answer: $Answer, confidence: Confidence) -> (f64, RangeInclusive<f64>) {
                Statistic::estimate(&answer, self.bounded.range(), confidence)
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
