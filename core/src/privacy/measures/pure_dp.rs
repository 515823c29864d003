use super::{additive, written};
use crate::number::Epsilon;
use crate::privacy::Reentrant;
use crate::privacy::{Distance, Measure, Overflow, Postprocessable, UnknownLoss};

/// ε-differential privacy: the largest log-ratio of the probabilities of any event.
///
/// Example: [`Filter`](crate::compose::Filter).
#[doc(alias = "differential privacy")]
#[doc(alias = "epsilon")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PureDp;

impl Measure for PureDp {
    type Loss = Epsilon;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> Epsilon {
        Epsilon::ZERO
    }

    fn join(&self, one: &Epsilon, other: &Epsilon) -> Epsilon {
        *one.max(other)
    }

    /// `k·ε` (Dwork and Roth 2014, Theorem 2.2).
    fn group(&self, loss: &Epsilon, distance: Distance) -> Result<Epsilon, UnknownLoss> {
        Ok(loss.checked_mul(distance.steps()).ok_or(Overflow)?)
    }
}

impl Postprocessable for PureDp {}

additive!(PureDp);

written!(PureDp);
