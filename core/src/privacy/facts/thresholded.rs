use super::{Diverges, Laplace};
use crate::number::{Delta, Epsilon, Interval};
use crate::privacy::{
    ApproxDp, ApproxRdp, ApproxZCdp, EpsilonDelta, Prices, ProbabilisticDp, RhoDelta, UnknownLoss,
    ZCdp,
};

/// Noisy counts by key, of which those below a threshold are kept back, together with their keys.
///
/// `noise` is what is true of the counts if their keys are public; it may also be what other facts
/// say, [`Gaussian`](super::Gaussian) for instance. A key that only one of two neighbours has is
/// released there with probability δ.
///
/// ```
/// use queryables::privacy::facts::{Laplace, Thresholded};
/// use queryables::privacy::{ApproxDp, ApproxZCdp, Prices};
///
/// let noise = Laplace::of_count("0.5".parse()?);
/// let fact = Thresholded { noise, delta: "1e-6".parse()? };
/// assert_eq!(ApproxDp.price(&fact)?.to_string(), "(0.5, 1e-6)");
/// // ε·tanh(ε/2).
/// assert!(ApproxZCdp.price(&fact)?.rho < "0.12246".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// Keys are independent of each other, so that a key with the same count on both sides can be left
/// out. Neighbours differ in one key, or in two if a row is replaced; one count falls by one and
/// another rises by one. Let A and A′ be the laws of what is released of those of these keys that
/// both sides have; `noise` is true of them, or half of it where they are one of two. Let p ≤ δ be
/// the probability that a key with one row is released.
///
/// | what one side has and the other does not | laws | without the event that it is released |
/// |---|---|---|
/// | no key | A and A′ | A and A′ |
/// | a key | A, and A′ times (p, 1 − p) | A and A′ |
/// | each has one | (p, 1 − p) on each side, for different keys | the same on both sides |
///
/// So conditioned on events of probability 1 − p or 1, on either side, what is left are A and A′,
/// which is δ-approximate zCDP and Rényi privacy by definition, with the ρ or ε of `noise`.
///
/// With Laplace noise it is (ε, δ)-DP. In the first row by what `noise` says. In the second, what is
/// released with the key has probability p ≤ δ; without it, (1 − p)·A′ ≤ A′ ≤ e^ε·A, and the other
/// way round A exceeds e^ε·(1 − p)·A′ ≥ (1 − p)·A by p·A at most, which is p in all. In the third, p
/// on either side, and the rest is equal. This is tight: the second row has δ = p at *every* ε, and
/// the first needs ε if δ is zero.
///
/// It is (ε, δ)-pDP, as long as what is left of ε in the second row is at least −ln(1 − p), by which
/// A exceeds (1 − p)·A. Otherwise the difference is added to ε.
///
/// At larger distances it is what group privacy implies, where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Thresholded<F> {
    /// What is true of the counts of keys that both sides have.
    pub noise: F,
    /// The probability that a key with a single row is released.
    pub delta: Delta,
}

/// See [`Thresholded`].
impl Prices<Thresholded<Laplace>> for ApproxDp {
    fn price(&self, fact: &Thresholded<Laplace>) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(EpsilonDelta {
            epsilon: fact.noise.epsilon,
            delta: fact.delta,
        })
    }
}

/// See [`Thresholded`].
impl Prices<Thresholded<Laplace>> for ProbabilisticDp {
    fn price(&self, fact: &Thresholded<Laplace>) -> Result<EpsilonDelta, UnknownLoss> {
        let Laplace {
            epsilon, answers, ..
        } = fact.noise;
        let unknown = UnknownLoss("a key of one row is always released");
        let missing = -(-Interval::from(fact.delta)).ln_1p();
        let missing: Epsilon = missing.up().ok_or(unknown)?;
        // Rounded down, since it is subtracted.
        let share = Epsilon::from_units(epsilon.units() / u128::from(answers.get()));
        let others = epsilon.saturating_sub(share.unwrap_or_default());
        let mixed = others.checked_add(missing).ok_or(unknown)?;
        Ok(EpsilonDelta {
            epsilon: epsilon.max(mixed),
            delta: fact.delta,
        })
    }
}

/// See [`Thresholded`].
impl<F> Prices<Thresholded<F>> for ApproxZCdp
where
    ZCdp: Prices<F>,
{
    fn price(&self, fact: &Thresholded<F>) -> Result<RhoDelta, UnknownLoss> {
        Ok(RhoDelta {
            rho: ZCdp.price(&fact.noise)?,
            delta: fact.delta,
        })
    }
}

/// See [`Thresholded`].
impl<F: Diverges> Prices<Thresholded<F>> for ApproxRdp {
    fn price(&self, fact: &Thresholded<F>) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(EpsilonDelta {
            epsilon: fact.noise.divergence(self.order())?,
            delta: fact.delta,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Rdp;
    use crate::privacy::facts::Gaussian;
    use std::num::NonZeroU64;

    fn of(epsilon: &str, answers: u64, delta: &str) -> Thresholded<Laplace> {
        Thresholded {
            noise: Laplace {
                answers: NonZeroU64::new(answers).unwrap(),
                ..Laplace::of_count(epsilon.parse().unwrap())
            },
            delta: delta.parse().unwrap(),
        }
    }

    #[test]
    fn the_noise_is_priced_and_delta_comes_on_top() {
        let fact = of("1", 2, "1e-6");
        assert_eq!(ApproxDp.price(&fact).unwrap().to_string(), "(1, 1e-6)");
        let loss = ApproxZCdp.price(&fact).unwrap();
        assert_eq!(Ok(loss.rho), ZCdp.price(&fact.noise));
        assert_eq!(loss.delta, fact.delta);
        let order = "3".parse().unwrap();
        let loss = ApproxRdp::new(order).price(&fact).unwrap();
        assert_eq!(Ok(loss.epsilon), Rdp::new(order).price(&fact.noise));
        let gaussian = Thresholded {
            noise: Gaussian::Rho("0.5".parse().unwrap()),
            delta: fact.delta,
        };
        let loss = ApproxZCdp.price(&gaussian).unwrap();
        assert_eq!(loss.to_string(), "(0.5, 1e-6)");
        let loss = ApproxRdp::new(order).price(&gaussian).unwrap();
        assert_eq!(loss.to_string(), "(1.5, 1e-6)");
    }

    /// −ln(1 − δ) on top of what the other key may lose: nothing, or a half.
    #[test]
    fn a_large_delta_adds_to_the_realised_loss() {
        let epsilon = |fact| ProbabilisticDp.price(&fact).unwrap().epsilon.to_string();
        assert_eq!(epsilon(of("1", 1, "0.6")), "1");
        assert!(epsilon(of("0.5", 1, "0.5")).starts_with("0.693147180"));
        assert_eq!(epsilon(of("1", 2, "0.3")), "1");
        assert!(epsilon(of("1", 2, "0.5")).starts_with("1.193147180"));
        assert_eq!(
            ProbabilisticDp.price(&of("1", 1, "1")),
            Err(UnknownLoss("a key of one row is always released"))
        );
    }
}
