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
/// erased. Each measure of this crate prices it as it prices what is inside; that a measure has
/// no price for it is found out at run time:
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
#[derive(Clone, Debug)]
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

/// Two curves are equal if they are the same function in memory: functions cannot be compared.
impl PartialEq for Fact {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Pure(one), Self::Pure(other)) => one == other,
            (Self::Laplace(one), Self::Laplace(other)) => one == other,
            (Self::BoundedRange(one), Self::BoundedRange(other)) => one == other,
            (Self::BoundedRanges(one), Self::BoundedRanges(other)) => one == other,
            (Self::Probabilistic(one), Self::Probabilistic(other)) => one == other,
            (Self::Gaussian(one), Self::Gaussian(other)) => one == other,
            (Self::SampledGaussian(one), Self::SampledGaussian(other)) => one.is_same(other),
            (Self::SampledReplacement(one), Self::SampledReplacement(other)) => {
                one.added().is_same(other.added())
            }
            (Self::Thresholded(one), Self::Thresholded(other)) => one == other,
            (Self::ThresholdedGaussian(one), Self::ThresholdedGaussian(other)) => one == other,
            (Self::Curve(one), Self::Curve(other)) => one.is_same(other),
            (Self::ApproxDp(one), Self::ApproxDp(other)) => one == other,
            (Self::ZCdp(one), Self::ZCdp(other)) => one == other,
            (Self::Either(one), Self::Either(other)) => one == other,
            _ => false,
        }
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

/// A row for each measure: the facts that it prices, then the measures that imply it, then what
/// needs a sentence.
macro_rules! prices {
    ($($Me:ident: $($Fact:ident)*; $($From:ident)*; $($pattern:pat => |$me:ident| $price:expr),*;)*) => {$(
        impl Prices<Fact> for $Me {
            fn price(&self, fact: &Fact) -> Result<Self::Loss, UnknownLoss> {
                match fact {
                    $(Fact::$Fact(fact) => self.price(fact),)*
                    $(Fact::$From(loss) => $From.imply(loss, self),)*
                    $($pattern => { let $me = self; $price })*
                    Fact::Either(either) => {
                        let [one, other] = &**either;
                        Ok(self.join(&self.price(one)?, &self.price(other)?))
                    }
                    // One of them prices every fact.
                    #[allow(unreachable_patterns)]
                    _ => Err(UnknownLoss(concat!(
                        stringify!($Me), " has no price for what the mechanism states"
                    ))),
                }
            }
        }
    )*};
}

prices! {
    PureDp: Pure Laplace BoundedRange BoundedRanges Probabilistic; ; ;
    ApproxDp: Pure Laplace BoundedRange BoundedRanges Probabilistic Thresholded; ApproxDp; ;
    // Postprocessing leaves of (ε, δ)-pDP only the (ε, δ)-DP, unless δ is zero.
    ProbabilisticDp: Pure Laplace BoundedRange BoundedRanges; ApproxDp;
        Fact::Probabilistic(fact) => |me| if fact.loss.delta == Delta::ZERO {
            Ok(fact.loss)
        } else {
            ApproxDp.imply(&fact.loss, me)
        },
        Fact::Thresholded(fact) => |me| ApproxDp.imply(&ApproxDp.price(fact)?, me);
    ZCdp: Pure Laplace BoundedRange BoundedRanges Probabilistic Gaussian; ZCdp; ;
    ApproxZCdp: Pure Laplace BoundedRange BoundedRanges Probabilistic Gaussian Thresholded
        ThresholdedGaussian; ApproxDp ZCdp; ;
    Rdp: Pure Laplace BoundedRange BoundedRanges Probabilistic Gaussian SampledGaussian
        SampledReplacement Curve; ZCdp; ;
    RdpGrid: Pure Laplace BoundedRange BoundedRanges Probabilistic Gaussian SampledGaussian
        SampledReplacement Curve; ZCdp; ;
    ApproxRdp: Pure Laplace BoundedRange BoundedRanges Probabilistic Gaussian SampledGaussian
        SampledReplacement Curve Thresholded ThresholdedGaussian; ApproxDp;
        // 0-approximate at the same order, by definition.
        Fact::ZCdp(rho) => |me| ApproxZCdp.imply(&ZCdp.imply(rho, &ApproxZCdp)?, me);
    Gdp: Pure Laplace BoundedRange BoundedRanges Probabilistic Gaussian; ; ;
    SampledGaussianDp: SampledGaussian; ; ;
}
