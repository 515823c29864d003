use super::{additive, written};
use crate::privacy::Reentrant;
use crate::privacy::{Distance, EpsilonDelta, Measure, UnknownLoss};

/// (ε, δ)-probabilistic privacy: with probability at least 1 − δ the realised loss is at most ε
/// (Rogers et al. 2.2, "point-wise indistinguishable").
///
/// It implies (ε, δ)-differential privacy, and is not implied by it; it is not closed under
/// postprocessing (Whitehouse et al. App. F), so no interactive mechanism can be launched under it,
/// and no middle can be used.
///
/// Example: [`probabilistic`](crate::privacy::convert::probabilistic).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProbabilisticDp;

impl Measure for ProbabilisticDp {
    type Loss = EpsilonDelta;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> EpsilonDelta {
        EpsilonDelta::default()
    }

    fn join(&self, one: &EpsilonDelta, other: &EpsilonDelta) -> EpsilonDelta {
        one.join(*other)
    }

    fn group(&self, _: &EpsilonDelta, _: Distance) -> Result<EpsilonDelta, UnknownLoss> {
        Err(UnknownLoss("probabilistic DP has no group privacy theorem"))
    }
}

additive!(ProbabilisticDp);

written!(ProbabilisticDp);
