//! The number of rows that satisfy a predicate.

use std::sync::Arc;

use super::gaussian::GaussianNoise;
use super::least_loss::with_accuracy;
use super::{About, CountingRelation, MechanismError, fitted, noisy, over, shown, states};
use crate::data::{Dataset, Predicate};
use crate::machine::{Coins, Description, Fault, Mechanism, Released, ReleasesOnly};
use crate::noise::DiscreteLaplace;
use crate::number::Ratio;
use crate::number::{Confidence, Epsilon, Mu, Rho};
use crate::privacy::facts::{Gaussian, Laplace};

/// The number of rows that satisfy a predicate, plus discrete Laplace noise of scale 1/ε.
///
/// Use it for a handful of counts under pure privacy. For many counts at once, accounted in zCDP,
/// [`GaussianCount`] is more accurate; to find the few large ones among many,
/// [`AboveThreshold`](super::AboveThreshold) pays only for those.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::NoisyCount;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), ages)?;
///
/// let adults = Predicate::new("at least 18", |age: &i32| *age >= 18);
/// let count: i64 = filter.release(&NoisyCount::new(adults, "0.5".parse()?)?)?;
/// assert!((count - 3).abs() < 200);
/// assert_eq!(filter.remaining(), "0.5".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP, and this is tight, whether a row is added, removed or replaced: each changes the count by
/// at most one, and so the odds of any answer by a factor of at most e^ε. It states [`Laplace`]
/// noise on one answer that changes by one; at a distance of d, by d, which is d·ε. An answer that
/// an `i64` cannot hold is clamped, which is postprocessing.
pub struct NoisyCount<D: ?Sized> {
    predicate: Predicate<D>,
    fact: Laplace,
    noise: DiscreteLaplace,
}

impl<D: ?Sized> NoisyCount<D> {
    /// Counts the rows for which `predicate` holds.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ε is zero.
    pub fn new(predicate: Predicate<D>, epsilon: Epsilon) -> Result<Self, MechanismError> {
        let noise = DiscreteLaplace::new(over(Ratio::from(1), epsilon)?)?;
        Ok(Self {
            predicate,
            fact: Laplace::of_count(epsilon),
            noise,
        })
    }

    /// The same with the smallest ε for which an answer is at most `within` away from the count,
    /// with at least this confidence ([`Accuracy`](super::Accuracy)). It is rounded up to six digits.
    ///
    /// ```
    /// use queryables::data::Predicate;
    /// use queryables::mechanisms::NoisyCount;
    /// use queryables::prelude::*;
    ///
    /// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
    /// let count = NoisyCount::<Vec<u32>>::with_accuracy(adults, 30, "0.95".parse()?)?;
    /// let loss: Epsilon = Private::<PureDp, AddRemove>::loss(&count, &PureDp)?;
    /// assert_eq!(loss.to_string(), "0.0981813");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices.
    pub fn with_accuracy(
        predicate: Predicate<D>,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        with_accuracy(within, confidence, |epsilon| {
            Self::new(predicate.clone(), epsilon)
        })
    }

    fn description(&self) -> Description {
        Description::new("NoisyCount")
            .with("predicate", self.predicate.name())
            .with("epsilon", self.fact.epsilon)
    }
}

/// The number of rows that satisfy a predicate, plus rounded Gaussian noise.
///
/// Use it where many answers are accounted together in zCDP, RDP or GDP, or converted to (ε, δ) at
/// the end.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::GaussianCount;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let filter = launch(&Filter::concurrent(ZCdp, "0.5".parse()?), ages)?;
///
/// let adults = Predicate::new("at least 18", |age: &i32| *age >= 18);
/// let count: i64 = filter.release(&GaussianCount::new(adults, "0.02".parse()?)?)?;
/// assert!((count - 3).abs() < 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of the Gaussian mechanism with a sensitivity of 1, of which it is a postprocessing
/// ([`RoundedGaussian`](crate::noise::RoundedGaussian)), whether a row is added, removed or
/// replaced: each changes the count by at most one. With a variance of σ² it states [`Gaussian`]
/// noise of μ = 1/σ, or ρ = μ²/2. At a distance of d, d·μ and d²·ρ. An answer that an `i64` cannot
/// hold is clamped, which is postprocessing.
pub struct GaussianCount<D: ?Sized> {
    predicate: Predicate<D>,
    gaussian: GaussianNoise,
}

impl<D: ?Sized> GaussianCount<D> {
    /// Counts the rows for which `predicate` holds, with ρ-zCDP: a variance of 1/(2ρ).
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ρ is zero, [`MechanismError::TooFine`] or
    /// [`MechanismError::Noise`] if the variance needs longer numbers than the noise works with:
    /// ρ of more than 10^11 with more than 15 digits after the point, for instance.
    pub fn new(predicate: Predicate<D>, rho: Rho) -> Result<Self, MechanismError> {
        let gaussian = GaussianNoise::with_rho(1, rho)?.on_whole_numbers(1);
        Ok(Self {
            predicate,
            gaussian,
        })
    }

    /// Counts the rows for which `predicate` holds, with μ-GDP: a variance of 1/μ².
    ///
    /// ```
    /// use queryables::data::Predicate;
    /// use queryables::mechanisms::GaussianCount;
    /// use queryables::prelude::*;
    /// use queryables::privacy::Gdp;
    /// use std::sync::Arc;
    ///
    /// let filter = launch(&Filter::concurrent(Gdp, "1".parse()?), Arc::new(vec![17, 18, 43]))?;
    /// let adults = Predicate::new("at least 18", |age: &i32| *age >= 18);
    /// let count: i64 = filter.release(&GaussianCount::with_mu(adults, "0.6".parse()?)?)?;
    /// // √(1 - 0.36)
    /// assert_eq!(filter.remaining(), "0.8".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if μ is zero, [`MechanismError::TooFine`] or
    /// [`MechanismError::Noise`] if the variance needs longer numbers than the noise works with:
    /// μ² must not have more than about 36 digits.
    pub fn with_mu(predicate: Predicate<D>, mu: Mu) -> Result<Self, MechanismError> {
        let gaussian = GaussianNoise::with_mu(1, mu)?.on_whole_numbers(1);
        Ok(Self {
            predicate,
            gaussian,
        })
    }
}

impl<D: ?Sized> GaussianCount<D> {
    /// The same with the smallest ρ for which an answer is at most `within` away from the count,
    /// with at least this confidence ([`Accuracy`](super::Accuracy)). It is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ρ up to 10^6 suffices.
    pub fn with_accuracy(
        predicate: Predicate<D>,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        with_accuracy(within, confidence, |rho| Self::new(predicate.clone(), rho))
    }

    fn description(&self) -> Description {
        let description = Description::new("GaussianCount");
        self.gaussian
            .describe(description.with("predicate", self.predicate.name()))
    }
}

/// The shared implementation of the two.
macro_rules! count {
    ($Count:ident, |$count:ident| $noise:expr) => {
        impl<D: Dataset + ?Sized> Mechanism<D> for $Count<D> {
            type Machine = Released<i64>;

            fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<i64>, Fault> {
                // Drawn before the data is read: whether the coins fail must not depend on the
                // data.
                let $count = self;
                let noise = coins.noise(&$noise)?;
                let count = self.predicate.count(data);
                Ok(Released(fitted(coins.release(count.into(), noise))))
            }

            fn describe(&self) -> Description {
                self.description()
            }
        }

        impl<D: ?Sized> ReleasesOnly for $Count<D> {}

        shown!(impl[D: ?Sized] $Count<D>);

        impl<D: ?Sized> Clone for $Count<D> {
            fn clone(&self) -> Self {
                Self {
                    predicate: self.predicate.clone(),
                    ..*self
                }
            }
        }
    };
}

count!(NoisyCount, |count| count.noise);
count!(GaussianCount, |count| count.gaussian.noise);

noisy!(impl[D: ?Sized] NoisyCount<D>, i64, |count| count.noise.into(), About::all_rows());
noisy!(impl[D: ?Sized] GaussianCount<D>, i64, |count| count.gaussian.noise.into(), About::all_rows());

states!(Laplace: impl[D: ?Sized, R: CountingRelation,] NoisyCount<D>, R, |count| count.fact);
states!(
    Gaussian: impl[D: ?Sized, R: CountingRelation,] GaussianCount<D>, R,
    |count| count.gaussian.fact
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CoinSource;
    use crate::machine::{ClosedForm, Law, NotPrivateSeededCoins};
    use crate::privacy::{AddRemove, Distance, Gdp, Private, Rdp, RdpGrid, Replace, ZCdp};
    use crate::tests::exact::{answers, rows_of, violation};

    fn noisy(epsilon: &str) -> Result<NoisyCount<Vec<u8>>, MechanismError> {
        NoisyCount::new(rows_of(1), epsilon.parse().unwrap())
    }

    fn gaussian(rho: &str) -> Result<GaussianCount<Vec<u8>>, MechanismError> {
        GaussianCount::new(rows_of(1), rho.parse().unwrap())
    }

    #[test]
    fn the_loss_of_laplace_noise_is_attained_and_not_exceeded() {
        let count = noisy("0.5").unwrap();
        let answers = |rows: &[u8]| answers(&count, rows, &[()], 60);
        for (one, other) in [
            (answers(&[1, 2]), answers(&[2])),
            (answers(&[1]), answers(&[2])),
        ] {
            assert!(one.cut.to_f64_fast() < 1e-12);
            let exceeds = |epsilon: &str| {
                let epsilon = epsilon.parse().unwrap();
                violation(&one, &other, epsilon).is_some()
                    && violation(&other, &one, epsilon).is_some()
            };
            assert!(!exceeds("0.5"));
            assert!(exceeds("0.499999999"));
        }
    }

    /// The Rényi divergence of order 2 is at most 2ρ, and rounding takes little from it: less than
    /// one part in 12σ².
    #[test]
    fn the_loss_of_gaussian_noise_is_nearly_attained_and_not_exceeded() {
        for (rho, deviation) in [("0.5", 1.0), ("0.02", 5.0)] {
            let count = gaussian(rho).unwrap();
            let span = (10.0 * deviation) as u64;
            let answers = |rows: &[u8]| answers(&count, rows, &[()], span);
            let (one, other) = (answers(&[1, 2]), answers(&[2]));
            let squares = one.outcomes.iter().filter_map(|(answer, p)| {
                let q = other.outcomes.get(answer)?;
                Some((p * p / q).to_f64_fast())
            });
            let (divergence, rho) = (squares.sum::<f64>().ln(), rho.parse::<f64>().unwrap());
            let lost = 1.0 - divergence / (2.0 * rho);
            assert!(
                (0.0..1.0 / (12.0 * deviation * deviation)).contains(&lost),
                "{lost}"
            );
        }
    }

    #[test]
    fn gaussian_losses_are_stated_under_every_measure_that_has_one() {
        let count = GaussianCount::with_mu(rows_of(1), "0.6".parse().unwrap()).unwrap();
        let mu: Mu = Private::<Gdp, AddRemove>::loss(&count, &Gdp).unwrap();
        let rho: Rho = Private::<ZCdp, Replace>::loss(&count, &ZCdp).unwrap();
        assert_eq!(
            (mu.to_string(), rho.to_string()),
            ("0.6".into(), "0.18".into())
        );
        let [two, ten] = ["2", "10"].map(|order| Rdp::new(order.parse().unwrap()));
        let grid = RdpGrid::new([two.order(), ten.order()]).unwrap();
        let curve = Private::<RdpGrid, AddRemove>::loss(&count, &grid).unwrap();
        assert_eq!(curve.to_string(), "[0.36, 1.8]");
        let three = Distance::new(3).unwrap();
        let apart = Private::<Rdp, AddRemove>::loss_at(&count, &two, three).unwrap();
        assert_eq!(apart.to_string(), "3.24");
    }

    #[test]
    fn noise_follows_from_the_loss() {
        let scale = Ratio::new(20, 3).unwrap();
        let noise = noisy("0.15").unwrap().noise.closed_form();
        assert_eq!(noise, ClosedForm::DiscreteLaplace { scale });
        let variance = Ratio::new(10, 3).unwrap();
        let noise = gaussian("0.15").unwrap().gaussian.noise.closed_form();
        assert_eq!(noise, ClosedForm::RoundedGaussian { variance });
    }

    #[test]
    fn every_loss_but_zero_will_do() {
        for loss in ["1e-27", "0.123456789012345678901234567", "3.4e11"] {
            assert!(noisy(loss).is_ok(), "{loss}");
            assert!(gaussian(loss).is_ok(), "{loss}");
        }
        assert_eq!(noisy("0").unwrap_err(), MechanismError::NoLoss("epsilon"));
        assert_eq!(gaussian("0").unwrap_err(), MechanismError::NoLoss("rho"));
    }

    /// The noise has a scale of 10^27, which is more than an `i64` holds.
    #[test]
    fn answers_are_clamped() {
        let mut coins = NotPrivateSeededCoins::new(5);
        let data = Arc::new(vec![1, 2]);
        let count = noisy("1e-27").unwrap();
        for _ in 0..20 {
            let Released(answer) = count.start(&data, &mut coins.coins()).unwrap();
            assert!(answer == i64::MIN || answer == i64::MAX);
        }
    }

    #[test]
    fn debug_shows_what_is_public() {
        assert_eq!(
            format!("{:?}", noisy("0.5").unwrap()),
            "NoisyCount(predicate = 1, epsilon = 0.5)"
        );
        let described = Mechanism::<Vec<u8>>::describe(&gaussian("0.5").unwrap());
        assert_eq!(
            described.to_string(),
            "GaussianCount(predicate = 1, rho = 0.5)"
        );
    }
}
