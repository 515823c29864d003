use super::{additive, written};
use crate::number::{Delta, Epsilon, Interval};
use crate::privacy::Reentrant;
use crate::privacy::convert::probability_up;
use crate::privacy::{Distance, EpsilonDelta, Measure, Overflow, Postprocessable, UnknownLoss};

/// (ε, δ)-differential privacy (Haney et al. 1.1, 1.7).
///
/// Example: [`Restated`](crate::privacy::Restated).
#[doc(alias = "(epsilon, delta)")]
#[doc(alias = "delta")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ApproxDp;

impl Measure for ApproxDp {
    type Loss = EpsilonDelta;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> EpsilonDelta {
        EpsilonDelta::default()
    }

    fn join(&self, one: &EpsilonDelta, other: &EpsilonDelta) -> EpsilonDelta {
        one.join(*other)
    }

    /// `(k·ε, δ(e^kε − 1)/(e^ε − 1))`, the latter rounded up (Vadhan 2017, Lemma 2.2): over k steps
    /// P(S) ≤ e^ε P′(S) + δ becomes `e^kε P″(S) + δ(1 + e^ε + … + e^(k−1)ε)`.
    fn group(&self, loss: &EpsilonDelta, distance: Distance) -> Result<EpsilonDelta, UnknownLoss> {
        let steps = distance.steps();
        let epsilon = loss.epsilon.checked_mul(steps).ok_or(Overflow)?;
        let delta = if loss.delta == Delta::ZERO || steps == 1 {
            loss.delta
        } else if epsilon == Epsilon::ZERO {
            loss.delta.checked_mul(steps).unwrap_or(Delta::ONE)
        } else {
            let growth = Interval::from(epsilon).exp_m1() / Interval::from(loss.epsilon).exp_m1();
            probability_up(Interval::from(loss.delta) * growth)
        };
        Ok(EpsilonDelta { epsilon, delta })
    }
}

impl Postprocessable for ApproxDp {}

additive!(ApproxDp);

written!(ApproxDp);
