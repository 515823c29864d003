//! A fact that is chosen at run time.

use std::fmt;

use super::{
    BoundedRange, BoundedRanges, Curve, Gaussian, Laplace, Probabilistic, Pure, SampledGaussian,
    SampledReplacement, Thresholded,
};
use crate::number::{Delta, Rho};
use crate::privacy::{
    ApproxDp, ApproxRdp, ApproxZCdp, Distance, EpsilonDelta, Gdp, Implies, Measure, Prices,
    ProbabilisticDp, PureDp, Rdp, RdpGrid, SampledGaussianDp, UnknownLoss, ZCdp,
};

/// What a mechanism states, of whichever kind: one of the facts of this module, or a loss under
/// one measure.
///
/// It is the loss under [`AnyMeasure`](crate::privacy::AnyMeasure), for mechanisms whose type is
/// erased. A measure prices it as it prices what is inside, and a measure of your own does so with
/// [`price_any_fact!`](crate::price_any_fact). That a measure has no price for it is found out at run
/// time:
///
/// ```
/// use queryables::privacy::facts::{Fact, Gaussian};
/// use queryables::privacy::{Prices, PureDp, UnknownLoss, ZCdp};
///
/// let fact = Fact::Gaussian(Gaussian::Rho("0.1".parse()?));
/// assert_eq!(ZCdp.price(&fact)?, "0.1".parse()?);
/// assert_eq!(
///     PureDp.price(&fact),
///     Err(UnknownLoss("PureDp has no price for what the mechanism states")),
/// );
/// assert_eq!(fact.to_string(), "Gaussian noise, ρ = 0.1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of [`Prices`], for a mechanism of which the fact is true and for every postprocessing of
/// it. Each measure here that prices a fact is closed under postprocessing, but for
/// [`ProbabilisticDp`]: there, a fact with δ > 0 has the price of the (ε, δ)-DP that it implies.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fact {
    /// ε-DP.
    Pure(Pure),
    /// Discrete Laplace noise on whole numbers.
    Laplace(Laplace),
    /// Log-odds that move within an interval.
    BoundedRange(BoundedRange),
    /// The same, several times.
    BoundedRanges(BoundedRanges),
    /// (ε, δ)-pDP.
    Probabilistic(Probabilistic),
    /// Gaussian noise.
    Gaussian(Gaussian),
    /// Gaussian noise on a sample.
    SampledGaussian(SampledGaussian),
    /// The same, for a row that is replaced.
    SampledReplacement(SampledReplacement),
    /// Noisy counts with Laplace noise, of which small ones are kept back.
    Thresholded(Thresholded<Laplace>),
    /// The same, with Gaussian noise.
    ThresholdedGaussian(Thresholded<Gaussian>),
    /// Rényi divergences.
    Curve(Curve),
    /// (ε, δ)-DP, and nothing else is known.
    ApproxDp(EpsilonDelta),
    /// ρ-zCDP, and nothing else is known.
    ZCdp(Rho),
    /// At least one of the two is true.
    Either(Box<[Fact; 2]>),
}

impl Fact {
    /// What is true at a distance.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if nothing is known there.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        Ok(match self {
            Self::Pure(fact) => Self::Pure(fact.at(distance)?),
            Self::Laplace(fact) => Self::Laplace(fact.at(distance)?),
            Self::BoundedRange(fact) => Self::BoundedRange(fact.at(distance)?),
            Self::BoundedRanges(fact) => Self::BoundedRanges(fact.at(distance)?),
            Self::Probabilistic(fact) => Self::Probabilistic(fact.at(distance)?),
            Self::Gaussian(fact) => Self::Gaussian(fact.at(distance)?),
            Self::SampledGaussian(fact) => Self::SampledGaussian(fact.at(distance)?),
            Self::SampledReplacement(fact) => Self::SampledReplacement(fact.at(distance)?),
            Self::Thresholded(fact) => match distance {
                Distance::NEIGHBOURS => self.clone(),
                _ => Self::ApproxDp(ApproxDp.group(&ApproxDp.price(fact)?, distance)?),
            },
            Self::ThresholdedGaussian(_) if distance == Distance::NEIGHBOURS => self.clone(),
            Self::ThresholdedGaussian(_) => {
                return Err(UnknownLoss("group privacy with delta > 0 is not offered"));
            }
            Self::Curve(fact) => Self::Curve(fact.at(distance)?),
            Self::ApproxDp(loss) => Self::ApproxDp(ApproxDp.group(loss, distance)?),
            Self::ZCdp(loss) => Self::ZCdp(ZCdp.group(loss, distance)?),
            Self::Either(either) => {
                let [one, other] = &**either;
                Self::Either(Box::new([one.at(distance)?, other.at(distance)?]))
            }
        })
    }
}

impl fmt::Display for Fact {
    /// What is known, with the unit of each number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure(fact) => write!(f, "{:#}", fact.epsilon),
            Self::Laplace(fact) => write!(f, "Laplace noise, {:#}", fact.epsilon),
            Self::BoundedRange(fact) => write!(f, "bounded range, {:#}", fact.epsilon),
            Self::BoundedRanges(fact) => {
                write!(f, "{} bounded ranges, {:#}", fact.choices, fact.epsilon)
            }
            Self::Probabilistic(fact) => write!(f, "probabilistic, {:#}", fact.loss),
            Self::Gaussian(fact) => gaussian(f, *fact),
            Self::SampledGaussian(fact) => sampled(f, fact),
            Self::SampledReplacement(fact) => {
                sampled(f, fact.added())?;
                f.write_str(", and a row replaced")
            }
            Self::Thresholded(fact) => {
                let (epsilon, delta) = (fact.noise.epsilon, fact.delta);
                write!(f, "Laplace noise above a threshold, {epsilon:#}, {delta:#}")
            }
            Self::ThresholdedGaussian(fact) => {
                gaussian(f, fact.noise)?;
                write!(f, ", above a threshold, {:#}", fact.delta)
            }
            Self::Curve(_) => f.write_str("a Rényi curve"),
            Self::ApproxDp(loss) => write!(f, "{loss:#}"),
            Self::ZCdp(loss) => write!(f, "{loss:#}"),
            Self::Either(either) => {
                let [one, other] = &**either;
                write!(f, "{one}, or {other}")
            }
        }
    }
}

fn sampled(f: &mut fmt::Formatter<'_>, fact: &SampledGaussian) -> fmt::Result {
    gaussian(f, fact.gaussian())?;
    write!(f, ", sampled at a rate of {}", fact.rate())
}

fn gaussian(f: &mut fmt::Formatter<'_>, fact: Gaussian) -> fmt::Result {
    match fact {
        Gaussian::Rho(rho) => write!(f, "Gaussian noise, {rho:#}"),
        Gaussian::Mu(mu) => write!(f, "Gaussian noise, {mu:#}"),
        Gaussian::CountRho(rho) => write!(f, "Gaussian noise on a count, {rho:#}"),
        Gaussian::CountMu(mu) => write!(f, "Gaussian noise on a count, {mu:#}"),
    }
}

/// Implements [`Prices<Fact>`](Fact) for a measure: each fact has the price that the measure has for
/// its type ([`Prices`]), and a loss has what it implies ([`Implies`]). The rest has no price.
///
/// So the table of prices is written once, as implementations of these two traits.
///
/// ```
/// use queryables::number::Epsilon;
/// use queryables::price_any_fact;
/// use queryables::privacy::facts::{BoundedRange, Fact, Pure};
/// use queryables::privacy::{Distance, Implies, Measure, Prices, PureDp, UnknownLoss};
///
/// /// ε-DP under another name.
/// #[derive(Clone, Debug, PartialEq)]
/// struct Mine;
///
/// impl Measure for Mine {
///     type Loss = Epsilon;
///     fn zero(&self) -> Epsilon {
///         PureDp.zero()
///     }
///     fn join(&self, one: &Epsilon, other: &Epsilon) -> Epsilon {
///         PureDp.join(one, other)
///     }
///     fn group(&self, loss: &Epsilon, distance: Distance) -> Result<Epsilon, UnknownLoss> {
///         PureDp.group(loss, distance)
///     }
/// }
///
/// // So it prices `Pure`.
/// impl Implies<Mine> for PureDp {
///     fn imply(&self, loss: &Epsilon, _: &Mine) -> Result<Epsilon, UnknownLoss> {
///         Ok(*loss)
///     }
/// }
///
/// price_any_fact!(Mine);
///
/// let epsilon = "0.5".parse()?;
/// assert_eq!(Mine.price(&Fact::Pure(Pure { epsilon })), Ok(epsilon));
/// assert_eq!(
///     Mine.price(&Fact::BoundedRange(BoundedRange { epsilon })),
///     Err(UnknownLoss("Mine has no price for what the mechanism states")),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A measure that is not closed under postprocessing must not use it: see [`Fact`].
#[macro_export]
macro_rules! price_any_fact {
    ($Me:ident) => {
        impl $crate::privacy::Prices<$crate::privacy::facts::Fact> for $Me {
            fn price(
                &self,
                fact: &$crate::privacy::facts::Fact,
            ) -> Result<Self::Loss, $crate::privacy::UnknownLoss> {
                $crate::price_any_fact!($Me, self, fact)
            }
        }
    };
    // The price of what is inside.
    ($Me:ident, $me:expr, $fact:expr) => {{
        // Used where the measure has no price.
        use $crate::privacy::facts::Fact;
        #[allow(unused_imports)]
        use $crate::privacy::facts::erased::NoPrice as _;
        use $crate::privacy::facts::erased::{Ask, Follow};
        let none = $crate::privacy::UnknownLoss(concat!(
            stringify!($Me),
            " has no price for what the mechanism states"
        ));
        match $fact {
            Fact::Pure(fact) => Ask($me, fact).price_or(none),
            Fact::Laplace(fact) => Ask($me, fact).price_or(none),
            Fact::BoundedRange(fact) => Ask($me, fact).price_or(none),
            Fact::BoundedRanges(fact) => Ask($me, fact).price_or(none),
            Fact::Probabilistic(fact) => Ask($me, fact).price_or(none),
            Fact::Gaussian(fact) => Ask($me, fact).price_or(none),
            Fact::SampledGaussian(fact) => Ask($me, fact).price_or(none),
            Fact::SampledReplacement(fact) => Ask($me, fact).price_or(none),
            Fact::Thresholded(fact) => Ask($me, fact).price_or(none),
            Fact::ThresholdedGaussian(fact) => Ask($me, fact).price_or(none),
            Fact::Curve(fact) => Ask($me, fact).price_or(none),
            Fact::ApproxDp(loss) => Follow(&$crate::privacy::ApproxDp, loss, $me).price_or(none),
            Fact::ZCdp(loss) => Follow(&$crate::privacy::ZCdp, loss, $me).price_or(none),
            Fact::Either(either) => {
                let [one, other] = &**either;
                let prices = [one, other].map(|fact| $crate::privacy::Prices::price($me, fact));
                let [one, other] = prices;
                Ok($crate::privacy::Measure::join($me, &one?, &other?))
            }
            // There may be more facts in a later version.
            #[allow(unreachable_patterns)]
            _ => Err(none),
        }
    }};
}

/// What [`price_any_fact!`](crate::price_any_fact) expands to.
///
/// Whether a measure prices a fact is looked up by the compiler where both types are known: a method of
/// the type itself goes before one of a trait, and the first is there only if the price is.
#[doc(hidden)]
pub mod erased {
    use super::{Implies, Measure, Prices, UnknownLoss};

    /// What does this measure ask for this fact?
    #[derive(Debug)]
    pub struct Ask<'a, Me, F>(pub &'a Me, pub &'a F);

    impl<Me: Prices<F>, F> Ask<'_, Me, F> {
        /// The price.
        pub fn price_or(self, _: UnknownLoss) -> Result<Me::Loss, UnknownLoss> {
            self.0.price(self.1)
        }
    }

    /// What follows from this loss under that measure?
    #[derive(Debug)]
    pub struct Follow<'a, From: Measure, To>(pub &'a From, pub &'a From::Loss, pub &'a To);

    impl<From: Implies<To>, To: Measure> Follow<'_, From, To> {
        /// What is implied.
        pub fn price_or(self, _: UnknownLoss) -> Result<To::Loss, UnknownLoss> {
            self.0.imply(self.1, self.2)
        }
    }

    /// Where there is no price.
    pub trait NoPrice<Loss>: Sized {
        /// The error.
        fn price_or(self, none: UnknownLoss) -> Result<Loss, UnknownLoss> {
            Err(none)
        }
    }

    impl<Me: Measure, F> NoPrice<Me::Loss> for Ask<'_, Me, F> {}

    impl<From: Measure, To: Measure> NoPrice<To::Loss> for Follow<'_, From, To> {}
}

price_any_fact!(PureDp);
price_any_fact!(ApproxDp);
price_any_fact!(ZCdp);
price_any_fact!(ApproxZCdp);
price_any_fact!(Rdp);
price_any_fact!(RdpGrid);
price_any_fact!(ApproxRdp);
price_any_fact!(Gdp);
price_any_fact!(SampledGaussianDp);

/// Postprocessing leaves of (ε, δ)-pDP only the (ε, δ)-DP, unless δ is zero.
impl Prices<Fact> for ProbabilisticDp {
    fn price(&self, fact: &Fact) -> Result<Self::Loss, UnknownLoss> {
        match fact {
            Fact::Probabilistic(fact) if fact.loss.delta > Delta::ZERO => {
                ApproxDp.imply(&fact.loss, self)
            }
            Fact::Thresholded(fact) => ApproxDp.imply(&ApproxDp.price(fact)?, self),
            _ => price_any_fact!(ProbabilisticDp, self, fact),
        }
    }
}
