use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

#[cfg(doc)]
use super::SampledReplacement;
use super::{Curve, Diverges, Gaussian};
use crate::number::{Delta, Epsilon, Interval, Mu, Order};
#[cfg(doc)]
use crate::privacy::convert::rdp;
use crate::privacy::convert::sampled;
use crate::privacy::{Distance, Gdp, Prices, SampledGaussianDp, UnknownLoss};

/// Gaussian noise on a Poisson sample, which each row joins with the same probability, or a
/// postprocessing of it.
///
/// ```
/// use queryables::privacy::facts::{Gaussian, SampledGaussian};
/// use queryables::privacy::fdp::{FDp, Profile};
/// use queryables::privacy::{Prices, Rdp};
///
/// let fact = SampledGaussian::new("0.01".parse()?, Gaussian::Mu("1".parse()?));
/// assert!(Rdp::new("2".parse()?).price(&fact)? < "0.0001719".parse()?);
/// let profile = Profile::sampled_gaussian("0.01".parse()?, "1".parse()?);
/// assert_eq!(FDp.price(&fact)?, profile);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// For every dataset and every row in it, the pair (answers with the row, answers without it) is
/// dominated by (1 − q)N(0, 1) + qN(μ, 1) against N(0, 1) (Zhu, Dong, Wang 2022; Tran et al. §2.2),
/// with the Rényi divergences of [`rdp::subsampled_gaussian`] in both directions (Mironov, Talwar,
/// Zhang 2019, §3.3).
///
/// It is a fact about rows that are added or removed. For rows that are replaced it implies
/// [`SampledReplacement`].
#[derive(Clone, Debug)]
pub struct SampledGaussian {
    rate: Delta,
    gaussian: Gaussian,
    curve: Curve,
}

impl SampledGaussian {
    /// This Gaussian noise, on a sample that each row joins with probability `rate`.
    #[must_use]
    pub fn new(rate: Delta, gaussian: Gaussian) -> Self {
        Self {
            rate,
            gaussian,
            curve: remembered(gaussian, move |order, half| {
                sampled::added(order, rate, half)
            }),
        }
    }

    /// The probability with which a row joins the sample.
    #[must_use]
    pub fn rate(&self) -> Delta {
        self.rate
    }

    /// The noise.
    #[must_use]
    pub fn gaussian(&self) -> Gaussian {
        self.gaussian
    }

    /// What is true at a distance: known for neighbours only.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] unless the distance is that of neighbours.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        if distance == Distance::NEIGHBOURS {
            return Ok(self.clone());
        }
        Err(UnknownLoss("several rows join a sample at another rate"))
    }
}

/// With the same rate and noise; the rest follows from them.
impl PartialEq for SampledGaussian {
    fn eq(&self, other: &Self) -> bool {
        (self.rate, self.gaussian) == (other.rate, other.gaussian)
    }
}

/// Divergences that are computed once for each order: most are a sum of thousands of terms.
pub(super) fn remembered(
    gaussian: Gaussian,
    divergence: impl Fn(Order, Interval) -> Result<Epsilon, UnknownLoss> + Send + Sync + 'static,
) -> Curve {
    let half = match gaussian {
        Gaussian::Rho(rho) | Gaussian::CountRho(rho) => Interval::from(rho),
        Gaussian::Mu(mu) | Gaussian::CountMu(mu) => Interval::from(mu).square() / Interval::TWO,
    };
    let known: Mutex<BTreeMap<Order, Epsilon>> = Mutex::default();
    Curve::new(move |order| {
        // Poison is ignored: a panic cannot leave half an entry.
        let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(epsilon) = known().get(&order) {
            return Ok(*epsilon);
        }
        let epsilon = divergence(order, half)?;
        known().insert(order, epsilon);
        Ok(epsilon)
    })
}

/// Mironov, Talwar, Zhang 2019, §3.3.
impl Diverges for SampledGaussian {
    fn divergence(&self, order: Order) -> Result<Epsilon, UnknownLoss> {
        self.curve.divergence(order)
    }
}

/// By definition, at the rate of the measure and at smaller ones: more of N(μ, 1) in the mixture is
/// easier to tell apart.
impl Prices<SampledGaussian> for SampledGaussianDp {
    fn price(&self, fact: &SampledGaussian) -> Result<Mu, UnknownLoss> {
        if fact.rate > self.rate() {
            return Err(UnknownLoss(
                "the sampling rate is larger than that of the measure",
            ));
        }
        Gdp.price(&fact.gaussian)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Rdp;

    fn of(rate: &str, mu: &str) -> SampledGaussian {
        SampledGaussian::new(rate.parse().unwrap(), Gaussian::Mu(mu.parse().unwrap()))
    }

    #[test]
    fn a_smaller_rate_is_priced_and_a_larger_one_is_not() {
        let measure = SampledGaussianDp::new("0.01".parse().unwrap());
        for rate in ["0.01", "0.001"] {
            assert_eq!(measure.price(&of(rate, "0.5")), Ok("0.5".parse().unwrap()));
        }
        assert_eq!(
            measure.price(&of("0.011", "0.5")),
            Err(UnknownLoss(
                "the sampling rate is larger than that of the measure"
            ))
        );
    }

    #[test]
    fn everybody_in_the_sample_is_no_sample() {
        let loss = of("1", "2").divergence("2.5".parse().unwrap()).unwrap();
        assert!(loss >= "5".parse().unwrap() && loss < "5.000000001".parse().unwrap());
    }

    #[test]
    fn it_is_known_for_neighbours_only() {
        let fact = of("0.25", "1");
        let rdp = Rdp::new("2".parse().unwrap());
        let near = fact.at(Distance::NEIGHBOURS).unwrap();
        assert_eq!(rdp.price(&near), rdp.price(&fact));
        assert_eq!(
            fact.at(Distance::new(2).unwrap()).map(|_| ()),
            Err(UnknownLoss("several rows join a sample at another rate"))
        );
    }
}
