use super::written;
use crate::number::Mu;
use crate::privacy::Reentrant;
use crate::privacy::{Distance, Measure, Overflow, Postprocessable, UnknownLoss};

/// μ-Gaussian privacy: answers on neighbours are at least as hard to tell apart as N(0, 1) and N(μ,
/// 1) (Dong, Roth, Su 2022; Tran et al. 2.4, with a Gaussian trade-off function).
///
/// It is a form of f-DP, so the concurrent composition theorems for f-DP hold for it. Its losses
/// do not add up: their squares do.
///
/// Example: [`Gaussian`](crate::privacy::facts::Gaussian).
#[doc(alias = "gaussian differential privacy")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gdp;

impl Measure for Gdp {
    type Loss = Mu;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> Mu {
        Mu::ZERO
    }

    fn join(&self, one: &Mu, other: &Mu) -> Mu {
        *one.max(other)
    }

    /// `k·μ` (Dong, Roth, Su 2022, Theorem 2.14).
    fn group(&self, loss: &Mu, distance: Distance) -> Result<Mu, UnknownLoss> {
        Ok(loss.checked_mul(distance.steps()).ok_or(Overflow)?)
    }
}

impl Postprocessable for Gdp {}

written!(Gdp);
