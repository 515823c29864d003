use super::additive;
use crate::number::Delta;
use crate::privacy::CallsBack;
use crate::privacy::{Distance, EpsilonDelta, Measure, Overflow, Postprocessable, UnknownLoss};

/// (ε, δ)-differential privacy (Haney et al. 1.1, 1.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ApproxDp;

impl Measure for ApproxDp {
    type Loss = EpsilonDelta;

    const CALLS_BACK: CallsBack = CallsBack(false);

    fn zero(&self) -> EpsilonDelta {
        EpsilonDelta::default()
    }

    fn join(&self, one: &EpsilonDelta, other: &EpsilonDelta) -> EpsilonDelta {
        one.join(*other)
    }

    /// `(k·ε, 0)` where δ is zero, as for [`PureDp`](super::PureDp).
    fn group(&self, loss: &EpsilonDelta, distance: Distance) -> Result<EpsilonDelta, UnknownLoss> {
        if loss.delta != Delta::ZERO {
            return Err(UnknownLoss("group privacy with delta > 0 is not offered"));
        }
        let epsilon = loss.epsilon.checked_mul(distance.steps()).ok_or(Overflow)?;
        Ok(EpsilonDelta { epsilon, ..*loss })
    }
}

impl Postprocessable for ApproxDp {}

additive!(ApproxDp);
