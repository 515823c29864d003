#[cfg(feature = "serde")]
use super::durable::{Durable, ImpossibleCounts, Invalid};
use super::{Accounting, Accumulator, RuleError, ValidConcurrently, ValidSequentially};
use crate::number::Epsilon;
use crate::privacy::Reentrant;
use crate::privacy::{Overflow, Rdp, UnknownLoss};

/// Rényi filters of one size Δ, one after the other: the total is Δ for each that was opened.
///
/// A launch that does not fit what is left of the current filter opens the next one and is charged
/// there, so it must fit a whole one: no launch may cost more than Δ. What was left of the filter
/// before is lost. Before the first launch that costs something no filter is open and the total is
/// zero.
///
/// # Guarantee
///
/// Feldman and Zrnic, Algorithm 5 and Proposition 5.2: for every k, all that is answered while the
/// total is at most kΔ is together (α, kΔ)-Rényi private. That is a statement about the view up to
/// there, and not about the rest given what the odometer shows, which no sum satisfies (their
/// Example 5.1). It is about mechanisms that answer once; for interactive children, and interleaved
/// ones, it also needs Haney et al. 4.9:
///
/// The total is never below the sum of the losses. So the view up to a total of `d` is a prefix,
/// cut at a place that follows from the answers, of the view up to a *sum* of `d`, and what holds
/// for [`Sum`](super::Sum) under [`Rdp`] (Haney et al. 4.9, interleaved children included) holds
/// here. A sum is therefore the better odometer; the advantage of this one is that its readings are
/// multiples of Δ, known in advance.
///
/// # Example
///
/// ```
/// use queryables::account::{Accumulator, RestartedFilters};
/// use queryables::privacy::{Rdp, UnknownLoss};
///
/// let odometer = RestartedFilters::new(Rdp::new("2".parse()?), "1".parse()?)?;
/// let odometer = odometer.add(&"0.7".parse()?)?;
/// assert_eq!(odometer.total(), "1".parse()?);
/// let odometer = odometer.add(&"0.7".parse()?)?;
/// assert_eq!(odometer.total(), "2".parse()?);
/// assert_eq!(
///     odometer.covers(&"1.1".parse()?),
///     Err(UnknownLoss("it is more than one step of the odometer")),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "`add` gives the next total and changes nothing"]
pub struct RestartedFilters {
    measure: Rdp,
    step: Epsilon,
    /// Δ for each filter opened so far.
    total: Epsilon,
    /// Of the one that is open; nothing if none is.
    left: Epsilon,
}

impl RestartedFilters {
    /// An odometer that moves by `step`; nothing counted yet.
    ///
    /// # Errors
    ///
    /// [`RuleError::OutOfRange`] if `step` is zero: filters of size zero hold nothing.
    pub fn new(measure: Rdp, step: Epsilon) -> Result<Self, RuleError> {
        if step == Epsilon::ZERO {
            return Err(NO_STEP);
        }
        Ok(Self {
            measure,
            step,
            total: Epsilon::ZERO,
            left: Epsilon::ZERO,
        })
    }

    /// The size Δ of a filter, which is also the most that one launch may cost.
    #[must_use]
    pub fn step(&self) -> Epsilon {
        self.step
    }
}

const NO_STEP: RuleError = RuleError::OutOfRange {
    what: "the step of a restarted odometer",
    advice: "choose one greater than 0",
};

impl Accounting for RestartedFilters {
    const REENTRANT: Reentrant = Reentrant(false);

    type Children = Rdp;
    type Whole = Rdp;

    fn children(&self) -> &Rdp {
        &self.measure
    }

    fn whole(&self) -> &Rdp {
        &self.measure
    }
}

impl Accumulator for RestartedFilters {
    fn covers(&self, loss: &Epsilon) -> Result<(), UnknownLoss> {
        if *loss > self.step {
            return Err(UnknownLoss("it is more than one step of the odometer"));
        }
        Ok(())
    }

    fn add(&self, loss: &Epsilon) -> Result<Self, Overflow> {
        self.covers(loss).map_err(|_| Overflow)?;
        let (total, left) = if *loss > self.left {
            let total = self.total.checked_add(self.step).ok_or(Overflow)?;
            (total, self.step)
        } else {
            (self.total, self.left)
        };
        Ok(Self {
            total,
            left: left.saturating_sub(*loss),
            ..*self
        })
    }

    fn total(&self) -> Epsilon {
        self.total
    }

    fn headroom(&self, limit: &Epsilon) -> Epsilon {
        if self.total > *limit {
            return Epsilon::ZERO;
        }
        if limit.saturating_sub(self.total) >= self.step {
            return self.step;
        }
        self.left
    }
}

impl ValidSequentially for RestartedFilters {}
impl ValidConcurrently for RestartedFilters {}

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    measure: Rdp,
    step: Epsilon,
}

/// What launches change, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    total: Epsilon,
    left: Epsilon,
}

#[cfg(feature = "serde")]
impl Durable for RestartedFilters {
    const NAME: &'static str = "RestartedFilters";

    type Parameters = Parameters;
    type Counts = Counts;

    fn parameters(&self) -> Parameters {
        Parameters {
            measure: self.measure,
            step: self.step,
        }
    }

    fn build(Parameters { measure, step }: Parameters) -> Result<Self, Invalid> {
        Ok(Self::new(measure, step)?)
    }

    fn counts(&self) -> Counts {
        Counts {
            total: self.total,
            left: self.left,
        }
    }

    fn resume(&self, Counts { total, left }: Counts) -> Result<Self, Invalid> {
        // The total is a number of whole steps, and what is left belongs to the last of them, which
        // was begun by a launch that lost something.
        let whole = total.units().is_multiple_of(self.step.units());
        let begun = left < self.step && (left == Epsilon::ZERO || total >= self.step);
        if !(whole && begun) {
            return Err(ImpossibleCounts.into());
        }
        Ok(Self {
            total,
            left,
            ..*self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{ContinuationRule, Exceeded};
    use crate::compose::{LaunchError, Odometer};
    use crate::machine::{Coins, Fault, Mechanism, Released};
    use crate::privacy::{AddRemove, Private};
    use crate::start;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    fn odometer(step: &str) -> RestartedFilters {
        RestartedFilters::new(Rdp::new("2".parse().unwrap()), epsilon(step)).unwrap()
    }

    #[test]
    fn a_launch_that_does_not_fit_opens_the_next_filter_and_is_charged_there() {
        let mut odometer = odometer("1");
        assert_eq!(odometer.total(), Epsilon::ZERO);
        let readings: Vec<_> = ["0.4", "0.6", "0.3", "0.8", "0.2", "0"]
            .into_iter()
            .map(|loss| {
                odometer = odometer.add(&epsilon(loss)).unwrap();
                odometer.total().to_string()
            })
            .collect();
        // 0.4 + 0.6 fill the first; 0.3 opens the second, 0.8 the third, which 0.2 fills.
        assert_eq!(readings, ["1", "1", "2", "3", "3", "3"]);
    }

    #[test]
    fn what_is_left_of_the_last_filter_can_be_spent() {
        let rule = odometer("1").capped(epsilon("1"));
        assert_eq!(rule.remaining(), epsilon("1"));
        // The first filter is open and paid for: the total is the limit.
        let rule = rule.charge(&epsilon("0.4")).unwrap();
        assert_eq!(
            (rule.spent(), rule.remaining()),
            (epsilon("1"), epsilon("0.6"))
        );
        let rule = rule.charge(&epsilon("0.6")).unwrap();
        assert_eq!(rule.remaining(), Epsilon::ZERO);
        assert_eq!(rule.charge(&epsilon("1e-27")), Err(Exceeded));
    }

    #[test]
    fn what_costs_nothing_opens_no_filter() {
        let mut rule = odometer("1").capped(epsilon("0.9"));
        assert_eq!(rule.remaining(), Epsilon::ZERO);
        rule = rule.charge(&Epsilon::ZERO).unwrap();
        assert_eq!(rule.spent(), Epsilon::ZERO);
        assert_eq!(rule.charge(&epsilon("1e-27")), Err(Exceeded));
        // Nor does it where the open one is full.
        let mut odometer = odometer("1");
        odometer = odometer.add(&epsilon("1")).unwrap();
        odometer = odometer.add(&Epsilon::ZERO).unwrap();
        assert_eq!(odometer.total(), epsilon("1"));
    }

    #[test]
    fn no_launch_may_cost_more_than_the_step() {
        let mut odometer = odometer("0.5");
        odometer = odometer.add(&epsilon("0.5")).unwrap();
        let more = epsilon("0.500000000000000000000000001");
        let why = UnknownLoss("it is more than one step of the odometer");
        assert_eq!(odometer.covers(&more), Err(why));
        assert_eq!(odometer.add(&more), Err(Overflow));
    }

    #[test]
    fn a_step_of_nothing_and_a_total_too_large_are_errors() {
        assert_eq!(
            RestartedFilters::new(Rdp::new("2".parse().unwrap()), Epsilon::ZERO),
            Err(NO_STEP)
        );
        let mut odometer = odometer("2e11");
        odometer = odometer.add(&epsilon("2e11")).unwrap();
        assert_eq!(odometer.covers(&epsilon("1")), Ok(()));
        assert_eq!(odometer.add(&epsilon("1")), Err(Overflow));
    }

    #[test]
    fn an_odometer_refuses_what_is_more_than_a_step_and_goes_on() {
        let odometer = Odometer::concurrent_with(odometer("0.5"));
        let odometer = start(&odometer, Arc::new(())).unwrap();
        let release = |loss: &str| odometer.release(&Nothing(epsilon(loss)));
        assert_eq!(release("0.4"), Ok(()));
        assert_eq!(
            release("0.6"),
            Err(LaunchError::UnknownLoss(UnknownLoss(
                "it is more than one step of the odometer"
            )))
        );
        assert_eq!(odometer.privacy_loss(), epsilon("0.5"));
        assert_eq!(release("0.4"), Ok(()));
        assert_eq!(odometer.privacy_loss(), epsilon("1"));
    }

    /// Releases nothing, at any cost.
    #[derive(Clone)]
    struct Nothing(Epsilon);

    impl Mechanism<()> for Nothing {
        type Machine = Released<()>;

        fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
            Ok(Released(()))
        }
    }

    impl Private<Rdp, AddRemove> for Nothing {
        fn loss(&self, _: &Rdp) -> Result<Epsilon, UnknownLoss> {
            Ok(self.0)
        }
    }

    #[test]
    fn headroom_is_what_may_still_be_launched() {
        let mut odometer = odometer("1");
        assert_eq!(odometer.headroom(&epsilon("0.9")), Epsilon::ZERO);
        assert_eq!(odometer.headroom(&epsilon("1")), epsilon("1"));
        odometer = odometer.add(&epsilon("0.7")).unwrap();
        assert_eq!(odometer.headroom(&epsilon("0.9")), Epsilon::ZERO);
        assert_eq!(odometer.headroom(&epsilon("1.9")), epsilon("0.3"));
        assert_eq!(odometer.headroom(&epsilon("2")), epsilon("1"));
        // What `remaining` says is admitted, and nothing more.
        let mut rule = odometer.capped(epsilon("1.9"));
        assert_eq!(rule.charge(&epsilon("0.31")), Err(Exceeded));
        rule = rule.charge(&epsilon("0.3")).unwrap();
        assert_eq!(rule.spent(), epsilon("1"));
    }

    proptest! {
        /// Against the list of all losses: the greedy cut of Algorithm 5, at least the sum, and
        /// less than twice the sum and a step (of two neighbouring filters the losses exceed Δ).
        #[test]
        fn the_total_is_that_of_the_algorithm(losses in proptest::collection::vec(0_u32..=100, 1..60)) {
            let mut odometer = odometer("1");
            let (mut filters, mut inside, mut sum) = (0_u32, 100, 0);
            for loss in losses {
                odometer = odometer.add(&epsilon(&format!("{loss}e-2"))).unwrap();
                sum += loss;
                inside += loss;
                if inside > 100 {
                    filters += 1;
                    inside = loss;
                }
                prop_assert_eq!(odometer.total(), epsilon(&filters.to_string()));
                prop_assert!(100 * filters >= sum);
                prop_assert!(100 * filters <= 2 * sum + 100);
            }
        }
    }
}
