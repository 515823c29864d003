//! The filter with two price lists.

use std::sync::Arc;

use super::MenuError;
use super::either::worst_of_either;
use super::entry::prepared;
use super::prices::{MenuRow, PriceList};
use super::sums::Sums;
#[cfg(feature = "serde")]
use crate::account::durable::{Durable, ImpossibleCounts, Invalid};
use crate::account::{
    ContinuationRule, Exceeded, LaunchesLeft, Repeats, ValidConcurrently, ValidSequentially,
};
use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;

/// A loss and both of its costs.
type Entry = (Epsilon, [u64; 2]);

/// A filter with two price lists: a launch is admitted if either list has room. It admits more than
/// either list alone, and its worst case is that of an adversary who uses both. As with
/// [`MenuFilter`](super::MenuFilter), launches are also admitted while Σε is at most the limit's ε.
///
/// # Guarantee
///
/// That of [`MenuFilter`](super::MenuFilter), with what is left of both budgets as the state.
///
/// # Example
///
/// ```
/// use queryables::account::ContinuationRule;
/// use queryables::account::menu::{MenuError, TwoPriceListFilter};
/// use queryables::privacy::EpsilonDelta;
///
/// let limit = EpsilonDelta::new("1", "1e-6")?;
/// let menu = [("0.05".parse()?, [1, 2]), ("0.1".parse()?, [4, 7])];
/// let build = |budgets| {
///     TwoPriceListFilter::new(limit, limit.delta, "0.05".parse().unwrap(), &menu, budgets)
/// };
/// let mut rule = build([20, 38])?;
/// rule = rule.charge(&EpsilonDelta::new("0.07", "0")?)?;
/// assert!(matches!(build([20, 60]), Err(MenuError::OverBudget { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TwoPriceListFilter {
    sums: Sums,
    /// The step of the lattice, kept to build the same filter again.
    step: Epsilon,
    budgets: [u64; 2],
    entries: Arc<[(Epsilon, [u64; 2])]>,
    /// What is left of either budget; `None` once it was exceeded.
    left: [Option<u64>; 2],
}

impl TwoPriceListFilter {
    /// A filter on entries (ε, costs), in rising order, with a budget for either sum. The other
    /// arguments are those of [`MenuFilter::new`](super::MenuFilter::new).
    ///
    /// # Errors
    ///
    /// [`MenuError::OverBudget`] if the worst case of these budgets is over the limit; the others
    /// say what to change.
    pub fn new(
        limit: EpsilonDelta,
        slack: Delta,
        step: Epsilon,
        entries: &[(Epsilon, [u64; 2])],
        budgets: [u64; 2],
    ) -> Result<Self, MenuError> {
        let check = |cost: fn([u64; 2]) -> u64| {
            let price = |(loss, costs): &(Epsilon, [u64; 2])| MenuRow {
                loss: *loss,
                count: 1,
                cost: cost(*costs),
            };
            PriceList::check(&entries.iter().map(price).collect::<Vec<_>>())
        };
        check(|[first, _]| first)?;
        check(|[_, second]| second)?;
        // A launch is charged as the first entry that is large enough.
        let falls = |(entry, (less, more)): (usize, (&Entry, &Entry))| {
            let ([one, other], [first, second]) = (less.1, more.1);
            (less.0 == more.0 || one > first || other > second).then_some(entry + 1)
        };
        let neighbours = entries.iter().zip(entries.iter().skip(1));
        if let Some(entry) = neighbours.enumerate().find_map(falls) {
            return Err(MenuError::NotRising { entry });
        }
        let losses: Vec<_> = entries.iter().map(|(loss, _)| (*loss, 1)).collect();
        let (lattice, launches) = prepared(limit, slack, step, &losses)?;
        let costs = entries.iter().map(|(_, costs)| *costs);
        let priced: Vec<_> = launches.into_iter().zip(costs).collect();
        let worst = worst_of_either(&lattice, &priced, budgets)?;
        let delta = worst.delta(&lattice, limit.epsilon, true);
        if delta > slack {
            return Err(MenuError::OverBudget {
                delta,
                limit: slack,
            });
        }
        Ok(Self {
            sums: Sums::new(limit, slack),
            step,
            budgets,
            entries: entries.into(),
            left: budgets.map(Some),
        })
    }

    /// What is left of either budget; `None` once it was exceeded.
    #[must_use]
    pub fn left(&self) -> [Option<u64>; 2] {
        self.left
    }

    fn after(&self, costs: [u64; 2], times: u64) -> [Option<u64>; 2] {
        let ([first, second], [one, other]) = (self.left, costs);
        let after = |left: Option<u64>, cost: u64| left?.checked_sub(cost.checked_mul(times)?);
        [after(first, one), after(second, other)]
    }
}

crate::account::approx_dp_in_and_out!(TwoPriceListFilter);

impl ContinuationRule for TwoPriceListFilter {
    fn limit(&self) -> &EpsilonDelta {
        self.sums.limit()
    }

    /// While Σε is at most the limit's ε, the sum; then all that the price lists may use.
    fn spent(&self) -> EpsilonDelta {
        self.sums.spent(|| self.sums.slack())
    }

    fn remaining(&self) -> EpsilonDelta {
        let fits = |costs| self.after(costs, 1).iter().any(Option::is_some);
        let listed = self.entries.iter().rev().find(|(_, costs)| fits(*costs));
        self.sums.remaining(listed.map(|(epsilon, _)| *epsilon))
    }

    fn charge(&self, loss: &EpsilonDelta) -> Result<Self, Exceeded> {
        self.charge_times(loss, 1)
    }

    fn admits(&self, loss: &EpsilonDelta) -> LaunchesLeft {
        self.launches_left(loss)
    }
}

impl Repeats for TwoPriceListFilter {
    fn charge_times(&self, loss: &EpsilonDelta, times: u64) -> Result<Self, Exceeded> {
        let sums = self.sums.charge_times(loss, times)?;
        let mut next = Self {
            sums,
            ..self.clone()
        };
        if loss.epsilon > Epsilon::ZERO {
            // The cheapest of the entries that are large enough, which is the first.
            let place = self
                .entries
                .partition_point(|(entry, _)| *entry < loss.epsilon);
            let entry = self.entries.get(place);
            let left = entry.map_or([None; 2], |(_, costs)| self.after(*costs, times));
            if left == [None; 2] && !sums.are_within() {
                return Err(Exceeded);
            }
            next.left = left;
        }
        Ok(next)
    }
}

impl ValidSequentially for TwoPriceListFilter {}
impl ValidConcurrently for TwoPriceListFilter {}

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    limit: EpsilonDelta,
    slack: Delta,
    step: Epsilon,
    entries: Vec<(Epsilon, [u64; 2])>,
    budgets: [u64; 2],
}

/// What launches change, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    left: [Option<u64>; 2],
    epsilons: Epsilon,
    deltas: Delta,
}

#[cfg(feature = "serde")]
impl Durable for TwoPriceListFilter {
    const NAME: &'static str = "TwoPriceListFilter";

    type Parameters = Parameters;
    type Counts = Counts;

    fn parameters(&self) -> Parameters {
        Parameters {
            limit: *self.sums.limit(),
            slack: self.sums.slack(),
            step: self.step,
            entries: self.entries.to_vec(),
            budgets: self.budgets,
        }
    }

    fn build(read: Parameters) -> Result<Self, Invalid> {
        let (limit, slack, step) = (read.limit, read.slack, read.step);
        Ok(Self::new(limit, slack, step, &read.entries, read.budgets)?)
    }

    fn counts(&self) -> Counts {
        Counts {
            left: self.left,
            epsilons: self.sums.epsilons(),
            deltas: self.sums.deltas(),
        }
    }

    fn resume(&self, counts: Counts) -> Result<Self, Invalid> {
        let Counts {
            left,
            epsilons,
            deltas,
        } = counts;
        let sums = self.sums.resumed(epsilons, deltas)?;
        let mut within = true;
        for (side, (left, budget)) in left.into_iter().zip(self.budgets).enumerate() {
            // A sum that is not over its budget has paid for everything that was launched.
            let Some(left) = left else { continue };
            let most = self.most_for(side, budget.saturating_sub(left));
            within &= left <= budget && epsilons <= most;
        }
        let basic = sums.are_within() && epsilons > Epsilon::ZERO;
        if !within || (left == [None; 2] && !basic) {
            return Err(ImpossibleCounts.into());
        }
        Ok(Self {
            sums,
            left,
            ..self.clone()
        })
    }
}

#[cfg(feature = "serde")]
impl TwoPriceListFilter {
    /// The largest sum of losses that costs no more than this on one side.
    fn most_for(&self, side: usize, cost: u64) -> Epsilon {
        let most = |(epsilon, costs): &(Epsilon, [u64; 2])| {
            let launches = cost / costs.get(side).copied().filter(|cost| *cost > 0)?;
            Some(epsilon.checked_mul(launches).unwrap_or(Epsilon::LARGEST))
        };
        // A mixture of entries is no better than the best alone, up to what is rounded down.
        let best = self.entries.iter().filter_map(most).max();
        let rest = self.entries.last().map(|(epsilon, _)| *epsilon);
        let rest = rest.filter(|_| cost > 0).unwrap_or_default();
        best.unwrap_or_default()
            .checked_add(rest)
            .unwrap_or(Epsilon::LARGEST)
    }
}
