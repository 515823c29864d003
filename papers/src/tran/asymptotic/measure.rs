use std::fmt;

use thiserror::Error;

use queryables::number::{Delta, Epsilon, Mu, Scale};
use queryables::privacy::convert::gdp;
use queryables::privacy::facts::SampledGaussian;
use queryables::privacy::{Additive, Distance, Gdp, Measure, Overflow, Prices, UnknownLoss};

use super::cost::cost_of;
use super::{Regime, moments};
use crate::number::{above, float};

/// About the mean of the privacy loss, added up over launches: T's B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeanLoss(pub Epsilon);

impl MeanLoss {
    /// √(2B): in the limit, launches that cost B together are μ-GDP for about this μ (Tran et al.
    /// 4.3). A float, because it is not a bound.
    #[must_use]
    pub fn about_mu(self) -> f64 {
        (2.0 * float(self.0)).sqrt()
    }

    /// The ε that this μ would have at a δ. It is not a bound either.
    #[must_use]
    pub fn about_epsilon(self, delta: Delta) -> f64 {
        let mu = Mu::at_least(self.about_mu()).ok();
        let epsilon = mu.and_then(|mu| gdp::epsilon(mu, delta).ok());
        epsilon.map_or(f64::INFINITY, float)
    }
}

impl fmt::Display for MeanLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a mean loss of about {}", self.0)
    }
}

/// Approximate GDP of Gaussians on samples: true in a limit, and not a bound (see the
/// [module](super)).
///
/// Losses are costs, which add up: `Filter::noninteractive` with this measure is T's Algorithm 2,
/// except that it refuses the launch that would go over the budget, where T clips it
/// ([`norm_for_budget`](super::norm_for_budget) says how far). It implies no other measure, cannot
/// be restated, and takes no interactive children.
///
/// # Guarantee
///
/// With rates and deviations within these bounds and costs of at most B together, the whole is
/// Δ-approximately (√(2B) + O(q̄))-GDP with Δ = O(√q̄) as q̄ → 0; in the other regime
/// (√(2B) + O(1/σ̄²))-GDP with Δ = O(ln σ̄/σ̄) as σ̄ → ∞ (Tran et al. 4.3). For given bounds nothing
/// follows.
///
/// ```
/// use queryables::compose::Filter;
/// use queryables::data::Vector;
/// use queryables::mechanisms::{Lattice, SampledGaussianSum};
/// use queryables::privacy::AddRemove;
/// use papers::tran::asymptotic::{AsymptoticGdp, MeanLoss, Regime};
/// use std::sync::Arc;
///
/// let rate = "0.01".parse()?;
/// let measure = AsymptoticGdp::new(Regime::Small, rate, "1.4".parse()?)?;
/// let filter = Filter::noninteractive(measure, MeanLoss("0.05".parse()?));
/// let filter = queryables::start(&filter, Arc::new(vec![[0.6, 0.8]; 100]))?;
///
/// let step = Vector::new("step", |step: &[f64; 2], out: &mut [f64]| out.copy_from_slice(step));
/// let lattice = Lattice::of_length(1.0)?;
/// // σ = 1.6.
/// let step = SampledGaussianSum::new(AddRemove, step, 2, lattice, rate, "0.625".parse()?)?;
/// let sum: Vec<f64> = filter.release(&step)?;
/// assert!(filter.privacy_loss().about_mu() < 0.007);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsymptoticGdp {
    regime: Regime,
    rate: Delta,
    sigma: Scale,
}

/// Why the approximation does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RegimeError {
    /// A rate between the two regimes.
    #[error("a rate of {rate} is in neither regime: take less than 0.2, or more than 0.8")]
    Rate {
        /// The rate that was given.
        rate: Delta,
    },
    /// The mean loss is not what the approximation says.
    #[error(
        "at a rate of {rate} and σ = {sigma} the mean loss is off by {percent} %: take more noise, \
         or a rate that is nearer to 0 or to 1"
    )]
    Noise {
        /// The rate.
        rate: Delta,
        /// The deviation.
        sigma: Scale,
        /// How far the approximation is off, rounded.
        percent: u32,
    },
}

impl AsymptoticGdp {
    /// For rates up to `rate` in the regime of small rates, and from `rate` on in that of large ones;
    /// and for deviations of at least `sigma`, at sensitivity 1.
    ///
    /// # Errors
    ///
    /// [`RegimeError::Rate`] unless rates are below 0.2 or above 0.8, respectively.
    /// [`RegimeError::Noise`] if at these bounds the mean loss, computed by quadrature, is more than
    /// 10 % off.
    ///
    /// ```
    /// use papers::tran::asymptotic::{AsymptoticGdp, Regime, RegimeError};
    ///
    /// let half = "0.5".parse()?;
    /// let error = AsymptoticGdp::new(Regime::Small, half, "1".parse()?).unwrap_err();
    /// assert_eq!(error, RegimeError::Rate { rate: half });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(regime: Regime, rate: Delta, sigma: Scale) -> Result<Self, RegimeError> {
        let q = float(rate);
        let within = match regime {
            Regime::Small => rate > Delta::ZERO && q < 0.2,
            Regime::Large => rate.to_f64_down() > 0.8,
        };
        if !within {
            return Err(RegimeError::Rate { rate });
        }
        let deviation = float(sigma);
        let cost = cost_of(regime, rate, 1.0 / deviation);
        let mean = moments(q, deviation).mean_p;
        let off = (cost / mean - 1.0).abs();
        // This is NaN if there is hardly any noise.
        if off <= 0.1 {
            return Ok(Self {
                regime,
                rate,
                sigma,
            });
        }
        let percent = (100.0 * off).round().min(1e6) as u32;
        Err(RegimeError::Noise {
            rate,
            sigma,
            percent,
        })
    }

    /// In which limit it holds.
    #[must_use]
    pub fn regime(&self) -> Regime {
        self.regime
    }
}

impl Measure for AsymptoticGdp {
    type Loss = MeanLoss;

    fn zero(&self) -> MeanLoss {
        MeanLoss::default()
    }

    fn join(&self, one: &MeanLoss, other: &MeanLoss) -> MeanLoss {
        *one.max(other)
    }

    fn group(&self, loss: &MeanLoss, distance: Distance) -> Result<MeanLoss, UnknownLoss> {
        if distance == Distance::NEIGHBOURS {
            return Ok(*loss);
        }
        Err(UnknownLoss(
            "an approximate guarantee is for neighbours only",
        ))
    }
}

/// Tran et al. Alg. 2.
impl Additive for AsymptoticGdp {
    fn plus(&self, one: &MeanLoss, other: &MeanLoss) -> Result<MeanLoss, Overflow> {
        one.0.checked_add(other.0).map(MeanLoss).ok_or(Overflow)
    }

    fn minus(&self, whole: &MeanLoss, part: &MeanLoss) -> MeanLoss {
        MeanLoss(whole.0.saturating_sub(part.0))
    }
}

/// T's `getApprox`, where the rate and the noise are within the bounds.
impl Prices<SampledGaussian> for AsymptoticGdp {
    fn price(&self, fact: &SampledGaussian) -> Result<MeanLoss, UnknownLoss> {
        let within = match self.regime {
            Regime::Small => fact.rate() <= self.rate,
            Regime::Large => fact.rate() >= self.rate,
        };
        let mu = Gdp.price(&fact.gaussian())?;
        // 1/μ ≥ σ̄, but for the last digits.
        if !within || float(mu) * float(self.sigma) > 1.0 + 1e-12 {
            return Err(UnknownLoss(
                "the rate or the noise is outside of the bounds of the approximation",
            ));
        }
        let cost = above(cost_of(self.regime, fact.rate(), float(mu)));
        Ok(MeanLoss(cost.ok_or(Overflow)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tran::asymptotic;
    use queryables::account::{Accumulator, ContinuationRule, DefaultAccumulator, Exceeded};
    use queryables::privacy::facts::Gaussian;
    use queryables::privacy::fdp::{Grid, Profile};

    fn text<T: std::str::FromStr>(number: &str) -> T
    where
        T::Err: std::fmt::Debug,
    {
        number.parse().unwrap()
    }

    fn fact(rate: &str, mu: &str) -> SampledGaussian {
        SampledGaussian::new(text(rate), Gaussian::Mu(text(mu)))
    }

    /// All but the last digits of a float.
    fn is_near(one: MeanLoss, other: MeanLoss) -> bool {
        let [one, other] = [one, other].map(|loss| float(loss.0));
        (one / other - 1.0).abs() < 1e-11
    }

    #[test]
    fn parameters_outside_of_the_regime_are_refused() {
        use Regime::{Large, Small};
        for (regime, rate) in [
            (Small, "0.2"),
            (Small, "0"),
            (Small, "0.9"),
            (Large, "0.8"),
            (Large, "0.1"),
        ] {
            let rate = text(rate);
            assert_eq!(
                AsymptoticGdp::new(regime, rate, text("5")),
                Err(RegimeError::Rate { rate })
            );
        }
        // e^(1/σ²) is far from what a launch with hardly any noise loses.
        let (rate, sigma) = (text("0.01"), text("0.5"));
        let error = AsymptoticGdp::new(Small, rate, sigma).unwrap_err();
        let RegimeError::Noise { percent, .. } = error else {
            panic!("{error}");
        };
        assert!(percent > 10, "{error}");
        // The mean loss is off by 11.5 % here, and by 9.3 % there.
        let (sigma, percent) = (text("0.72"), 12);
        assert_eq!(
            AsymptoticGdp::new(Small, rate, sigma),
            Err(RegimeError::Noise {
                rate,
                sigma,
                percent
            })
        );
        assert!(AsymptoticGdp::new(Small, rate, text("0.75")).is_ok());
        assert!(AsymptoticGdp::new(Small, rate, text("1")).is_ok());
        assert!(AsymptoticGdp::new(Large, text("0.9"), text("5")).is_ok());
        let measure = AsymptoticGdp::new(Small, rate, text("1.25")).unwrap();
        let outside = Err(UnknownLoss(
            "the rate or the noise is outside of the bounds of the approximation",
        ));
        assert_eq!(measure.price(&fact("0.011", "0.5")), outside);
        assert_eq!(measure.price(&fact("0.01", "0.81")), outside);
        let cost = asymptotic::cost(Small, rate, text("1.25"), text("1")).unwrap();
        let price = measure.price(&fact("0.01", "0.8")).unwrap();
        assert!(is_near(price, cost), "{price} {cost}");
        let large = AsymptoticGdp::new(Large, text("0.9"), text("5")).unwrap();
        assert_eq!(large.price(&fact("0.89", "0.2")), outside);
        let price = large.price(&fact("1", "0.2")).unwrap();
        assert!(is_near(price, MeanLoss(text("0.02"))), "{price}");
        assert_eq!(large.regime(), Large);
    }

    #[test]
    fn costs_add_up_to_the_budget() {
        let measure = AsymptoticGdp::new(Regime::Large, text("0.9"), text("5")).unwrap();
        let mut rule = measure.accumulator().capped(MeanLoss(text("0.05")));
        let cost = measure.price(&fact("1", "0.2")).unwrap();
        for _ in 0..2 {
            rule = rule.charge(&cost).unwrap();
        }
        assert_eq!(rule.charge(&cost), Err(Exceeded));
        assert!(is_near(rule.remaining(), MeanLoss(text("0.01"))));
        // T clips the last launch, so that it uses what is left.
        let norm =
            asymptotic::norm_for_budget(Regime::Large, text("1"), text("5"), rule.remaining());
        let norm = norm.unwrap();
        let last = asymptotic::cost(Regime::Large, text("1"), text("5"), norm).unwrap();
        assert!(is_near(last, rule.remaining()), "{last}");
        assert_eq!(rule.charge(&rule.remaining()).map(|_| ()), Ok(()));
    }

    /// At δ = 1e-5 the same launches in a fixed order lose more than the filter reads.
    #[test]
    fn what_is_read_is_below_what_the_schedule_loses() {
        let cost = asymptotic::schedule(3650, text("0.01"), 150, 1.5, text("1")).unwrap();
        let about = cost.about_epsilon(text("1e-5"));
        assert!((about - 1.191).abs() < 1e-3, "{about}");
        let part = |block: u64| {
            let sigma = asymptotic::scheduled_sigma(150 * block + 1, 3650, 150, 1.5);
            let sigma = sigma.try_into().unwrap();
            let profile = Profile::sampled_gaussian(text("0.01"), sigma);
            (profile, 150.min(3650 - 150 * block))
        };
        let parts: Vec<_> = (0..25).map(part).collect();
        let grid = Grid::new(text("1e-3")).unwrap().aimed_at(text("1e-5"));
        let truth = Profile::compose(&parts, &grid).unwrap();
        let truth = truth.epsilon(text("1e-5")).unwrap();
        assert!(
            truth.lower > text("1.2") && truth.upper < text("1.22"),
            "{truth}"
        );
    }
}
