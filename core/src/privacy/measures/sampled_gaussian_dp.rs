//! The measure for children of the sampled Gaussian filter.

use super::written;
use crate::number::{Delta, Mu};
use crate::privacy::{Distance, Measure, Postprocessable, Reentrant, UnknownLoss};

/// Gaussians on a random sample, each row being in it with one fixed probability: the loss is
/// μ = sensitivity/σ of the Gaussian.
///
/// A loss of μ says: for every dataset and every row in it, the pair (output with the row, output
/// without it) is dominated by ((1 − q)N(0, 1) + qN(μ, 1), N(0, 1)) (Zhu, Dong and Wang 2022; Tran et
/// al. §2). At one rate these pairs are ordered by μ, so `a <= b` compares guarantees.
///
/// ```
/// use queryables::privacy::{Measure, SampledGaussianDp};
///
/// let measure = SampledGaussianDp::new("0.01".parse()?);
/// assert_eq!(measure.join(&"0.4".parse()?, &"0.5".parse()?), "0.5".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledGaussianDp {
    rate: Delta,
}

impl SampledGaussianDp {
    /// The measure at this sampling rate.
    #[must_use]
    pub fn new(rate: Delta) -> Self {
        Self { rate }
    }

    /// The probability with which a row is in the sample.
    #[must_use]
    pub fn rate(&self) -> Delta {
        self.rate
    }
}

impl Measure for SampledGaussianDp {
    type Loss = Mu;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> Mu {
        Mu::ZERO
    }

    /// Its pairs have an order: the output with the row comes first.
    fn in_both_orders(&self, mu: Mu) -> Result<Mu, UnknownLoss> {
        match mu == Mu::ZERO {
            true => Ok(mu),
            false => Err(UnknownLoss(
                "this measure is about a row that is added or removed: use `FDp`",
            )),
        }
    }

    fn join(&self, one: &Mu, other: &Mu) -> Mu {
        (*one).max(*other)
    }

    fn group(&self, _: &Mu, _: Distance) -> Result<Mu, UnknownLoss> {
        Err(UnknownLoss("a group is sampled at another rate"))
    }
}

impl Postprocessable for SampledGaussianDp {}

written!(SampledGaussianDp { rate: Delta } => Ok::<_, std::convert::Infallible>(SampledGaussianDp::new(rate)));
