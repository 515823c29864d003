//! How many rows there are of a kind.

use std::sync::Arc;

use super::{MechanismError, Predicate, clamped, over};
use crate::machine::{Coins, Fault, Law, Mechanism, Ratio, Released};
use crate::noise::{DiscreteGaussian, DiscreteLaplace};
use crate::privacy::{AddRemove, Epsilon, Private, PureDp, Replace, Rho, UnknownLoss, ZCdp};

/// The number of rows that satisfy a predicate, plus discrete Laplace noise of scale 1/ε.
///
/// Use it for a handful of counts under pure privacy. For many counts at once, accounted in zCDP,
/// [`GaussianCount`] is more accurate; to find the few large ones among many,
/// [`AboveThreshold`](super::AboveThreshold) pays only for those.
///
/// ```
/// use queryables::mechanisms::{NoisyCount, Predicate};
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
/// ε-DP, and no less, whether a row is added, removed or replaced: each changes the count by at
/// most one, and so the odds of any answer by a factor of at most e^ε. At a distance of d, d·ε.
/// An answer that an `i64` cannot hold is clamped, which is postprocessing.
pub struct NoisyCount<Row> {
    predicate: Predicate<Row>,
    epsilon: Epsilon,
    noise: DiscreteLaplace,
}

impl<Row> NoisyCount<Row> {
    /// Counts the rows for which `predicate` holds.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ε is zero.
    pub fn new(predicate: Predicate<Row>, epsilon: Epsilon) -> Result<Self, MechanismError> {
        let noise = DiscreteLaplace::new(over(Ratio::from(1), epsilon)?)?;
        Ok(Self {
            predicate,
            epsilon,
            noise,
        })
    }
}

/// The number of rows that satisfy a predicate, plus discrete Gaussian noise of variance 1/(2ρ).
///
/// Use it where many answers are accounted together in zCDP, or converted to (ε, δ) at the end.
///
/// ```
/// use queryables::mechanisms::{GaussianCount, Predicate};
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
/// ρ-zCDP, and no less, whether a row is added, removed or replaced (Canonne, Kamath and Steinke
/// 2020, Theorem 4): each changes the count by at most one. At a distance of d, d²·ρ. An answer
/// that an `i64` cannot hold is clamped, which is postprocessing.
pub struct GaussianCount<Row> {
    predicate: Predicate<Row>,
    rho: Rho,
    noise: DiscreteGaussian,
}

impl<Row> GaussianCount<Row> {
    /// Counts the rows for which `predicate` holds.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ρ is zero, [`MechanismError::TooLarge`] if 2ρ, in lowest
    /// terms, needs more than 128 bits.
    pub fn new(predicate: Predicate<Row>, rho: Rho) -> Result<Self, MechanismError> {
        let half = Ratio::from(2).inverse().unwrap_or(Ratio::from(1));
        let noise = DiscreteGaussian::new(over(half, rho)?)?;
        Ok(Self {
            predicate,
            rho,
            noise,
        })
    }
}

/// What the two have in common.
macro_rules! count {
    ($Count:ident, $measure:ident, $loss:ident: $Loss:ident) => {
        impl<Row, D: AsRef<[Row]> + ?Sized> Mechanism<D> for $Count<Row> {
            type Machine = Released<i64>;

            fn start(&self, data: &Arc<D>, coins: &mut dyn Coins) -> Result<Released<i64>, Fault> {
                // Before the data: whether there are coins must not depend on it.
                let noise = coins.draw(&self.noise)?;
                let count = self.predicate.count((**data).as_ref());
                Ok(Released(clamped(count.into(), noise)))
            }
        }

        impl<Row> Private<$measure, AddRemove> for $Count<Row> {
            fn loss(&self, _: &$measure) -> Result<$Loss, UnknownLoss> {
                Ok(self.$loss)
            }
        }

        impl<Row> Private<$measure, Replace> for $Count<Row> {
            fn loss(&self, _: &$measure) -> Result<$Loss, UnknownLoss> {
                Ok(self.$loss)
            }
        }

        impl<Row> Clone for $Count<Row> {
            fn clone(&self) -> Self {
                Self {
                    predicate: self.predicate.clone(),
                    ..*self
                }
            }
        }

        impl<Row> std::fmt::Debug for $Count<Row> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let support = self.noise.support();
                f.debug_struct(stringify!($Count))
                    .field("predicate", &self.predicate)
                    .field("loss", &self.$loss)
                    .field("noise", &support)
                    .finish()
            }
        }
    };
}

count!(NoisyCount, PureDp, epsilon: Epsilon);
count!(GaussianCount, ZCdp, rho: Rho);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{NotPrivateSeededCoins, Support};
    use crate::mechanisms::exact::{answers, rows_of, violation};

    fn noisy(epsilon: &str) -> Result<NoisyCount<u8>, MechanismError> {
        NoisyCount::new(rows_of(1), epsilon.parse().unwrap())
    }

    fn gaussian(rho: &str) -> Result<GaussianCount<u8>, MechanismError> {
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

    /// The Rényi divergence of order 2 is 2ρ: the sum of p²/q is e^(2ρ).
    #[test]
    fn the_loss_of_gaussian_noise_is_attained() {
        let count = gaussian("0.5").unwrap();
        let answers = |rows: &[u8]| answers(&count, rows, &[()], 9);
        let (one, other) = (answers(&[1, 2]), answers(&[2]));
        let sum: f64 = one
            .outcomes
            .iter()
            .filter_map(|(answer, mass)| {
                let (p, q) = (mass, other.outcomes.get(answer)?);
                Some((p * p / q).to_f64_fast())
            })
            .sum();
        assert!((sum - 1_f64.exp()).abs() < 1e-9, "{sum}");
    }

    #[test]
    fn noise_follows_from_the_loss() {
        let scale = Ratio::new(20, 3).unwrap();
        let noise = noisy("0.15").unwrap().noise.support();
        assert_eq!(noise, Support::DiscreteLaplace { scale });
        let variance = Ratio::new(10, 3).unwrap();
        let noise = gaussian("0.15").unwrap().noise.support();
        assert_eq!(noise, Support::DiscreteGaussian { variance });
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
            let Released(answer) = count.start(&data, &mut coins).unwrap();
            assert!(answer == i64::MIN || answer == i64::MAX);
        }
    }

    #[test]
    fn debug_shows_what_is_public() {
        assert_eq!(
            format!("{:?}", noisy("0.5").unwrap()),
            "NoisyCount { predicate: Attribute(1), loss: epsilon 0.5, noise: DiscreteLaplace { \
             scale: Ratio { numerator: 2, denominator: 1 } } }"
        );
    }
}
