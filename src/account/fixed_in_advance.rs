use std::sync::Arc;

#[cfg(feature = "serde")]
use super::durable::{Durable, ImpossibleCounts, Invalid};
use super::menu::{MenuError, composed_deltas};
use super::{ContinuationRule, Exceeded, ValidConcurrently, ValidSequentially};
use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;

/// A list of losses, fixed before the first launch; each launch takes the next one. The whole costs
/// their tight composition, not their sum.
///
/// The analyst chooses the mechanisms along the way, and may interleave them. A launch that loses
/// less than the next loss on the list is charged that loss.
///
/// # Guarantee
///
/// The whole is (ε, δ)-DP, for interleaved interactive children with finite communication
/// (Haney et al. 1.8 with §5.1). *Proof* as for [`FixedCount`](super::FixedCount), with the i-th
/// response drawn at (ε_i, δ_i): all of them are fixed in advance, so what the analyst sees is a
/// postprocessing of independent responses. δ is computed on a lattice, with every rounding upward.
///
/// # Example
///
/// ```
/// use queryables::account::{ContinuationRule, Exceeded, FixedInAdvance};
/// use queryables::privacy::EpsilonDelta;
///
/// let limit = EpsilonDelta::new("1", "1e-6")?;
/// let pair = |epsilon| EpsilonDelta::new(epsilon, "0");
/// // Their sum is 1.25.
/// let mut losses = vec![pair("0.1")?; 2];
/// losses.extend(vec![pair("0.03")?; 35]);
/// let mut rule = FixedInAdvance::new(limit, "0.005".parse()?, losses)?;
/// assert_eq!(rule.remaining(), pair("0.1")?);
/// rule = rule.charge(&pair("0.07")?)?;
/// assert_eq!(rule.charge(&pair("0.2")?), Err(Exceeded));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FixedInAdvance {
    limit: EpsilonDelta,
    /// The step of the lattice, kept to build the same rule again.
    step: Epsilon,
    /// Each loss, and δ at the limit's ε after it.
    turns: Arc<[(EpsilonDelta, Delta)]>,
    next: usize,
    epsilons: Epsilon,
    deltas: Delta,
}

impl FixedInAdvance {
    /// A rule for these losses, in the order in which launches take them. δ is computed on
    /// multiples of `step`: exact for losses that are multiples, rounded up for others.
    ///
    /// # Errors
    ///
    /// [`MenuError::OverBudget`] if they are over the limit together; the others say what to
    /// change.
    pub fn new(
        limit: EpsilonDelta,
        step: Epsilon,
        losses: Vec<EpsilonDelta>,
    ) -> Result<Self, MenuError> {
        let deltas = composed_deltas(limit, step, &losses)?;
        let delta = deltas.last().copied().ok_or(MenuError::Empty)?;
        if delta > limit.delta {
            let limit = limit.delta;
            return Err(MenuError::OverBudget { delta, limit });
        }
        Ok(Self {
            limit,
            step,
            turns: losses.into_iter().zip(deltas).collect(),
            next: 0,
            epsilons: Epsilon::ZERO,
            deltas: Delta::ZERO,
        })
    }

    /// The losses that have not been used.
    pub fn left(&self) -> impl Iterator<Item = EpsilonDelta> + '_ {
        self.turns.iter().skip(self.next).map(|(loss, _)| *loss)
    }
}

crate::account::approx_dp_in_and_out!(FixedInAdvance);

impl ContinuationRule for FixedInAdvance {
    fn limit(&self) -> &EpsilonDelta {
        &self.limit
    }

    /// The sum of the losses used, while it is within the limit; then the limit's ε and the δ of
    /// their composition.
    fn spent(&self) -> EpsilonDelta {
        let sum = EpsilonDelta {
            epsilon: self.epsilons,
            delta: self.deltas,
        };
        if sum <= self.limit {
            return sum;
        }
        let last = self
            .next
            .checked_sub(1)
            .and_then(|last| self.turns.get(last));
        EpsilonDelta {
            epsilon: self.limit.epsilon,
            delta: last.map_or(Delta::ZERO, |(_, delta)| (*delta).max(self.floor())),
        }
    }

    fn remaining(&self) -> EpsilonDelta {
        self.left().next().unwrap_or_default()
    }

    fn charge(&self, loss: &EpsilonDelta) -> Result<Self, Exceeded> {
        if *loss == EpsilonDelta::default() {
            return Ok(self.clone());
        }
        let turn = self.remaining();
        if !(loss.epsilon <= turn.epsilon && loss.delta <= turn.delta) {
            return Err(Exceeded);
        }
        let epsilons = self.epsilons.checked_add(turn.epsilon);
        Ok(Self {
            next: self.next + 1,
            epsilons: epsilons.unwrap_or(Epsilon::LARGEST),
            deltas: self.deltas.saturating_add(turn.delta),
            ..self.clone()
        })
    }
}

impl FixedInAdvance {
    /// The last δ that was shown while the sum was within the limit: readings never fall.
    fn floor(&self) -> Delta {
        self.deltas.min(self.limit.delta)
    }
}

impl ValidSequentially for FixedInAdvance {}
impl ValidConcurrently for FixedInAdvance {}

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    limit: EpsilonDelta,
    step: Epsilon,
    losses: Vec<EpsilonDelta>,
}

/// Only the number of turns is stored; the sums follow.
#[cfg(feature = "serde")]
impl Durable for FixedInAdvance {
    const NAME: &'static str = "FixedInAdvance";

    type Parameters = Parameters;
    type Counts = usize;

    fn parameters(&self) -> Parameters {
        Parameters {
            limit: self.limit,
            step: self.step,
            losses: self.turns.iter().map(|(loss, _)| *loss).collect(),
        }
    }

    fn build(parameters: Parameters) -> Result<Self, Invalid> {
        let Parameters {
            limit,
            step,
            losses,
        } = parameters;
        Ok(Self::new(limit, step, losses)?)
    }

    fn counts(&self) -> usize {
        self.next
    }

    fn resume(&self, next: usize) -> Result<Self, Invalid> {
        let taken = self.turns.get(..next).ok_or(ImpossibleCounts)?;
        let mut sums = (Epsilon::ZERO, Delta::ZERO);
        for (loss, _) in taken {
            let epsilons = sums.0.checked_add(loss.epsilon);
            sums.0 = epsilons.unwrap_or(Epsilon::LARGEST);
            sums.1 = sums.1.saturating_add(loss.delta);
        }
        Ok(Self {
            next,
            epsilons: sums.0,
            deltas: sums.1,
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::nonadaptive::tight_delta;
    use crate::tests::oracle::{quantity, real};

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    #[test]
    fn equal_losses_cost_what_the_exact_sum_says() {
        let limit = pair("1", "1e-6");
        for (each, count, step, near) in [
            ("0.05", 24, "0.01", 1.0 + 1e-9),
            // Between two points: the chords add to the far tail.
            ("0.05", 24, "0.0007", 1.1),
            ("0.1", 11, "0.1", 1.0 + 1e-9),
        ] {
            let losses = vec![pair(each, "0"); count];
            let step = step.parse().unwrap();
            let bound = *composed_deltas(limit, step, &losses)
                .unwrap()
                .last()
                .unwrap();
            let each = each.parse().unwrap();
            let exact = tight_delta(count as u64, each, limit.epsilon);
            let (bound, exact) = (quantity(bound), quantity(exact));
            assert!(
                exact.clone() * real(1.0 - 1e-12) <= bound,
                "{bound} {exact}"
            );
            assert!(bound <= exact.clone() * real(near), "{bound} {exact}");
        }
    }

    #[test]
    fn launches_pop_their_losses_in_order() {
        let limit = pair("0.4", "5e-2");
        let losses = vec![pair("0.3", "0"), pair("0.1", "1e-3"), pair("0.2", "0")];
        let mut rule = FixedInAdvance::new(limit, "0.1".parse().unwrap(), losses).unwrap();
        assert_eq!(rule.left().count(), 3);
        rule = rule.charge(&pair("0", "0")).unwrap();
        assert_eq!(rule.charge(&pair("0.3", "1e-3")), Err(Exceeded));
        rule = rule.charge(&pair("0.25", "0")).unwrap();
        assert_eq!(rule.spent(), pair("0.3", "0"));
        rule = rule.charge(&pair("0.1", "1e-3")).unwrap();
        assert_eq!(rule.spent(), pair("0.4", "1e-3"));
        rule = rule.charge(&pair("0.2", "0")).unwrap();
        let spent = rule.spent();
        assert!(
            spent <= limit && spent.delta > "1e-3".parse().unwrap(),
            "{spent}"
        );
        assert_eq!(rule.charge(&pair("0.001", "0")), Err(Exceeded));
        assert_eq!(rule.remaining(), pair("0", "0"));
    }

    #[test]
    fn readings_never_fall() {
        // Two leaks of 0.01 are 0.0199 together, 0.02 in the plain sum. Nine more launches leave
        // the sum, and add less than the difference.
        let mut losses = vec![pair("0.1", "0.01"); 2];
        losses.extend(vec![pair("0.1", "0"); 9]);
        let limit = pair("1", "0.05");
        let mut rule = FixedInAdvance::new(limit, "0.1".parse().unwrap(), losses.clone()).unwrap();
        let composed = rule.turns.last().unwrap().1;
        assert!(composed < "0.02".parse().unwrap(), "{composed}");
        for loss in losses {
            let before = rule.spent();
            rule = rule.charge(&loss).unwrap();
            assert!(before <= rule.spent(), "{before} {}", rule.spent());
        }
        assert_eq!(rule.spent(), pair("1", "0.02"));
    }

    #[test]
    fn bad_lists_are_errors() {
        let limit = pair("1", "1e-6");
        let step: Epsilon = "0.1".parse().unwrap();
        let build = |losses| FixedInAdvance::new(limit, step, losses);
        assert_eq!(build(Vec::new()), Err(MenuError::Empty));
        let loss: Epsilon = "0.05".parse().unwrap();
        let coarse = MenuError::StepTooCoarse { step, loss };
        assert_eq!(build(vec![pair("0.05", "0")]), Err(coarse));
        let over = build(vec![pair("0.6", "0"), pair("0.6", "0")]).unwrap_err();
        let MenuError::OverBudget { delta, limit } = over else {
            panic!("{over}");
        };
        assert_eq!(limit, "1e-6".parse().unwrap());
        assert!(
            delta > "0.05".parse().unwrap() && delta < "0.1".parse().unwrap(),
            "{delta}"
        );
    }
}
