//! How many launches are left.

use std::fmt;

use super::{Accumulator, ChildLoss, ContinuationRule, Exceeded, WholeLoss};
use crate::privacy::convert::search::largest;

/// How many more launches of one loss a rule would admit ([`ContinuationRule::admits`]).
///
/// ```
/// use queryables::account::{Accumulator, ContinuationRule, LaunchesLeft, Sum};
/// use queryables::privacy::PureDp;
///
/// let rule = Sum::new(PureDp).capped("1".parse()?);
/// assert_eq!(rule.admits(&"0.1".parse()?), LaunchesLeft::Exactly(10));
/// assert_eq!(rule.admits(&"0".parse()?), LaunchesLeft::AtLeast(u64::MAX));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaunchesLeft {
    /// This many, and not one more.
    Exactly(u64),
    /// This many, and perhaps more: counting stopped here.
    AtLeast(u64),
}

/// Where counting one by one stops.
const MOST_COUNTED: u64 = 1 << 16;

impl LaunchesLeft {
    /// A number that is certainly admitted.
    #[must_use]
    pub fn certainly(self) -> u64 {
        match self {
            Self::Exactly(number) | Self::AtLeast(number) => number,
        }
    }

    /// The number that was found by searching all there are.
    fn found(number: u64) -> Self {
        match number {
            u64::MAX => Self::AtLeast(u64::MAX),
            _ => Self::Exactly(number),
        }
    }

    /// As long as another state follows, up to a limit.
    fn counted<T: Clone>(first: &T, next: impl Fn(&T) -> Option<T>) -> Self {
        let mut state = first.clone();
        for number in 0..MOST_COUNTED {
            match next(&state) {
                Some(after) => state = after,
                None => return Self::Exactly(number),
            }
        }
        Self::AtLeast(MOST_COUNTED)
    }

    /// By charging a rule again and again.
    pub(super) fn by_charging<F: ContinuationRule>(rule: &F, loss: &ChildLoss<F>) -> Self {
        Self::counted(rule, |rule| rule.charge(loss).ok())
    }

    /// By adding to an accumulator again and again.
    pub(super) fn by_adding<G: Accumulator>(
        accumulator: &G,
        loss: &ChildLoss<G>,
        limit: &WholeLoss<G>,
    ) -> Self {
        Self::counted(accumulator, |sum| {
            sum.add(loss).ok().filter(|sum| sum.is_within(limit))
        })
    }

    /// The largest number for which this holds.
    pub(crate) fn searched(holds: impl FnMut(u64) -> bool) -> Self {
        Self::found(largest(holds))
    }

    /// Where another rule must admit each launch, too.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let (one, two) = (self.certainly(), other.certainly());
        // The smaller one decides, and of two equal ones that which is exact.
        match (self, other) {
            (Self::Exactly(_), _) if one <= two => self,
            (_, Self::Exactly(_)) if two <= one => other,
            _ => Self::AtLeast(one.min(two)),
        }
    }
}

impl fmt::Display for LaunchesLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(number) => number.fmt(f),
            Self::AtLeast(number) => write!(f, "at least {number}"),
        }
    }
}

/// A rule that can count the same loss many times at once, with the same result.
pub trait Repeats: ContinuationRule {
    /// The rule after this many losses.
    ///
    /// # Errors
    ///
    /// [`Exceeded`] if one of them would not be admitted.
    fn charge_times(&self, loss: &ChildLoss<Self>, times: u64) -> Result<Self, Exceeded>;

    /// How many such losses it would admit: the largest number that it admits at once.
    fn launches_left(&self, loss: &ChildLoss<Self>) -> LaunchesLeft {
        LaunchesLeft::searched(|times| self.charge_times(loss, times).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{
        AdvancedComposition, DefaultAccumulator, Rogers, Sum, ThroughRdp, ThroughZCdp,
    };
    use crate::privacy::{ApproxDp, EpsilonDelta, Gdp, PureDp, RdpGrid, ZCdp};

    /// The number is what charging one by one admits, now and after a few launches.
    fn is_what_charging_admits<F: ContinuationRule>(mut rule: F, loss: &ChildLoss<F>) {
        for _ in 0..3 {
            let counted = LaunchesLeft::by_charging(&rule, loss);
            assert_eq!(rule.admits(loss), counted, "{rule:?}");
            let Ok(next) = rule.charge(loss) else { return };
            assert_eq!(next.admits(loss).certainly() + 1, counted.certainly());
            rule = next;
        }
    }

    #[test]
    fn every_rule_admits_as_many_as_it_says() {
        let budget = EpsilonDelta::new("1", "1e-6").unwrap();
        let slack = "5e-7".parse().unwrap();
        for (epsilon, delta) in [("0.1", "0"), ("0.013", "1e-9"), ("0.007", "0"), ("2", "0")] {
            let loss = EpsilonDelta::new(epsilon, delta).unwrap();
            let epsilon = epsilon.parse().unwrap();
            is_what_charging_admits(PureDp.accumulator().capped(budget.epsilon), &epsilon);
            is_what_charging_admits(ApproxDp.accumulator().capped(budget), &loss);
            is_what_charging_admits(Rogers::new(budget).unwrap(), &loss);
            is_what_charging_admits(ThroughZCdp::tight(budget, slack).unwrap(), &loss);
            is_what_charging_admits(ThroughZCdp::simple(budget, slack).unwrap(), &loss);
            let renyi = ThroughRdp::chosen_for(budget, slack, epsilon).unwrap();
            is_what_charging_admits(renyi, &loss);
            is_what_charging_admits(
                AdvancedComposition::new(slack).unwrap().capped(budget),
                &loss,
            );
        }
        let rho = "0.013".parse().unwrap();
        is_what_charging_admits(ZCdp.accumulator().capped("0.5".parse().unwrap()), &rho);
        is_what_charging_admits(ThroughZCdp::for_zcdp(budget).unwrap(), &rho);
        for mu in ["0.1", "0.03", "1", "1.1"] {
            let mu = mu.parse().unwrap();
            is_what_charging_admits(Gdp.accumulator().capped("1".parse().unwrap()), &mu);
        }
        let orders = ["2", "8"].map(|order| order.parse().unwrap());
        let grid = RdpGrid::new(orders).unwrap();
        let curve = |low: &str, high: &str| {
            grid.curve([low, high].map(|loss| loss.parse().unwrap()))
                .unwrap()
        };
        let rule = grid.accumulator().capped(curve("1", "3"));
        is_what_charging_admits(rule.clone(), &curve("0.1", "0.7"));
        assert_eq!(rule.admits(&curve("0.1", "0.7")), LaunchesLeft::Exactly(4));
    }

    #[test]
    fn large_numbers_are_exact_where_losses_add_up() {
        let rule = Sum::new(PureDp).capped("1".parse().unwrap());
        let admits = |loss: &str| rule.admits(&loss.parse().unwrap());
        assert_eq!(admits("1e-12"), LaunchesLeft::Exactly(10_u64.pow(12)));
        assert_eq!(admits("3e-12"), LaunchesLeft::Exactly(333_333_333_333));
        assert_eq!(admits("1e-27"), LaunchesLeft::AtLeast(u64::MAX));
        let squares = Gdp.accumulator().capped("1".parse().unwrap());
        assert_eq!(
            squares.admits(&"1e-6".parse().unwrap()),
            LaunchesLeft::Exactly(10_u64.pow(12))
        );
    }

    #[test]
    fn counting_ends() {
        let forever = LaunchesLeft::counted(&(), |()| Some(()));
        assert_eq!(forever, LaunchesLeft::AtLeast(MOST_COUNTED));
        assert_eq!(forever.to_string(), "at least 65536");
    }

    #[test]
    fn the_smaller_of_two_numbers_decides() {
        use LaunchesLeft::{AtLeast, Exactly};
        for (one, other, both) in [
            (Exactly(3), Exactly(9), Exactly(3)),
            (Exactly(3), AtLeast(9), Exactly(3)),
            (Exactly(3), AtLeast(3), Exactly(3)),
            (Exactly(9), AtLeast(3), AtLeast(3)),
            (AtLeast(3), AtLeast(9), AtLeast(3)),
        ] {
            assert_eq!((one.and(other), other.and(one)), (both, both));
        }
        assert_eq!(Exactly(3).to_string(), "3");
    }
}
