//! The menu filter for (ε, δ) children.

use std::sync::Arc;

use super::MenuError;
use super::entry::{MenuEntry, prepared};
use super::prices::{MenuRow, Paid, PriceList};
use super::sum::{CostedLaunch, largest_budget};
use super::sums::Sums;
#[cfg(feature = "serde")]
use crate::account::durable::{Durable, ImpossibleCounts, Invalid};
use crate::account::{
    ContinuationRule, Exceeded, LaunchesLeft, Repeats, ValidConcurrently, ValidSequentially,
};
use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;

/// A filter with a price list: every entry of a finite menu has an integer cost, and launches go on
/// while the costs add up to at most a budget.
///
/// The budget is the largest one whose *worst case over all adaptive adversaries* is within the
/// limit. That worst case is computed when the filter is built; a launch only looks up its price. A
/// loss between two entries is charged as the larger one, so a menu covers all losses up to its
/// end. Three things are admitted besides the price list: launches that lose nothing; launches of
/// any size while Σε is at most the limit's ε; and the δ of children, up to δ minus the slack.
///
/// # Guarantee
///
/// The whole is (ε, δ)-DP, for interleaved interactive children with finite communication.
/// `spec/menu_filter.md` has the proof. In short: let V_n bound the profile of all that can follow
/// when n is left. An adversary chooses the next entry before its answer, so
/// V_n = max(H₀, max_i H_i ⊗ V_{n − c_i}) (Tran et al. App. B, widened), where H_i is the profile of
/// randomized response, of which every ε_i-DP launch is a postprocessing (Kairouz, Oh and
/// Viswanath 2015). V is computed on a lattice with every rounding upward. Ends with Σε ≤ ε add
/// nothing to δ(ε), so they may be admitted, too. A child's own δ adds at most itself. Interleaved
/// children: Haney et al. 1.20.
///
/// # Example
///
/// ```
/// use queryables::account::menu::{MenuEntry, MenuFilter};
/// use queryables::account::{ContinuationRule, Exceeded};
/// use queryables::privacy::EpsilonDelta;
///
/// let limit = EpsilonDelta::new("1", "1e-6")?;
/// let menu = [
///     MenuEntry::new("0.02".parse()?, 1),
///     MenuEntry::new("0.04".parse()?, 4),
///     MenuEntry::new("0.1".parse()?, 25),
/// ];
/// let mut rule = MenuFilter::new(limit, limit.delta, "0.02".parse()?, &menu)?;
/// assert_eq!(rule.budget(), 140);
/// // Charged as 0.04.
/// rule = rule.charge(&EpsilonDelta::new("0.03", "0")?)?;
/// assert_eq!(rule.cost(), Some(4));
/// for _ in 4..140 {
///     rule = rule.charge(&EpsilonDelta::new("0.02", "0")?)?;
/// }
/// assert_eq!(rule.charge(&EpsilonDelta::new("0.02", "0")?), Err(Exceeded));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MenuFilter {
    sums: Sums,
    table: Arc<Table>,
    /// What was paid; `None` once a launch was admitted for which the price list had no room.
    paid: Option<Paid>,
}

/// What never changes.
#[derive(Debug, PartialEq)]
struct Table {
    name: &'static str,
    prices: PriceList<Epsilon>,
    /// The step of the lattice, kept to build the same filter again.
    step: Epsilon,
    /// δ at the limit's ε after each sum of costs.
    readings: Vec<Delta>,
}

impl MenuFilter {
    /// A filter on entries in ascending order of loss. It takes the largest budget that fits. The
    /// time and memory to build it grow with the number of lattice points, which are a `step`
    /// apart, and with the costs.
    ///
    /// Losses that are multiples of the step are exact. Others are rounded outward, which costs
    /// something unless the step is small.
    ///
    /// `slack` is the part of δ that the price list may use; the rest is for children's own δ.
    ///
    /// # Errors
    ///
    /// [`MenuError`] says what to change.
    pub fn new(
        limit: EpsilonDelta,
        slack: Delta,
        step: Epsilon,
        entries: &[MenuEntry],
    ) -> Result<Self, MenuError> {
        Self::named("menu", limit, slack, step, entries)
    }

    pub(super) fn named(
        name: &'static str,
        limit: EpsilonDelta,
        slack: Delta,
        step: Epsilon,
        entries: &[MenuEntry],
    ) -> Result<Self, MenuError> {
        let price = |entry: &MenuEntry| MenuRow {
            loss: entry.epsilon,
            count: entry.count,
            cost: entry.cost,
        };
        let prices: Vec<_> = entries.iter().map(price).collect();
        PriceList::check(&prices)?;
        let losses: Vec<_> = prices
            .iter()
            .map(|price| (price.loss, price.count))
            .collect();
        let (lattice, launches) = prepared(limit, slack, step, &losses)?;
        let costs = prices.iter().map(|price| price.cost);
        let priced: Vec<CostedLaunch> = launches.into_iter().zip(costs).collect();
        let target = EpsilonDelta {
            delta: slack,
            ..limit
        };
        let readings = largest_budget(&lattice, &priced, target)?;
        let prices = PriceList {
            entries: prices,
            budget: readings.len().saturating_sub(1) as u64,
        };
        Ok(Self {
            sums: Sums::new(limit, slack),
            paid: Some(prices.nothing_paid()),
            table: Arc::new(Table {
                name,
                prices,
                step,
                readings,
            }),
        })
    }

    /// The name of the filter.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.table.name
    }

    /// The largest sum of costs.
    #[must_use]
    pub fn budget(&self) -> u64 {
        self.table.prices.budget
    }

    /// The sum of costs so far; `None` once a launch was admitted only because Σε was small.
    #[must_use]
    pub fn cost(&self) -> Option<u64> {
        self.paid.as_ref().map(Paid::cost)
    }

    /// The menu.
    pub fn entries(&self) -> impl Iterator<Item = MenuEntry> + '_ {
        let entry = |price: &MenuRow<Epsilon>| MenuEntry {
            epsilon: price.loss,
            count: price.count,
            cost: price.cost,
        };
        self.table.prices.entries.iter().map(entry)
    }
}

crate::account::approx_dp_in_and_out!(MenuFilter);

impl ContinuationRule for MenuFilter {
    fn limit(&self) -> &EpsilonDelta {
        self.sums.limit()
    }

    /// The sum, while Σε is at most the limit's ε; then the worst case of everything with this
    /// cost.
    fn spent(&self) -> EpsilonDelta {
        self.sums.spent(|| {
            let cost = self.cost().and_then(|cost| usize::try_from(cost).ok());
            let reading = cost.and_then(|cost| self.table.readings.get(cost).copied());
            reading.unwrap_or(self.sums.slack())
        })
    }

    fn remaining(&self) -> EpsilonDelta {
        let (prices, paid) = (&self.table.prices, self.paid.as_ref());
        self.sums
            .remaining(paid.and_then(|paid| prices.largest_that_fits(paid)))
    }

    fn charge(&self, loss: &EpsilonDelta) -> Result<Self, Exceeded> {
        self.charge_times(loss, 1)
    }

    fn admits(&self, loss: &EpsilonDelta) -> LaunchesLeft {
        self.launches_left(loss)
    }
}

impl Repeats for MenuFilter {
    fn charge_times(&self, loss: &EpsilonDelta, times: u64) -> Result<Self, Exceeded> {
        let sums = self.sums.charge_times(loss, times)?;
        let mut next = Self {
            sums,
            ..self.clone()
        };
        if loss.epsilon > Epsilon::ZERO {
            let prices = &self.table.prices;
            let paid = self.paid.as_ref();
            let paid = paid.and_then(|paid| prices.pay(paid, loss.epsilon, times));
            if paid.is_none() && !sums.are_within() {
                return Err(Exceeded);
            }
            next.paid = paid;
        }
        Ok(next)
    }
}

impl ValidSequentially for MenuFilter {}
impl ValidConcurrently for MenuFilter {}

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    name: String,
    limit: EpsilonDelta,
    slack: Delta,
    step: Epsilon,
    /// Loss, number of launches, cost.
    entries: Vec<(Epsilon, u64, u64)>,
}

/// What launches change, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// What was paid and how many launches of each entry are paid for and open.
    paid: Option<(u64, Vec<u64>)>,
    epsilons: Epsilon,
    deltas: Delta,
}

/// The menus with a name.
#[cfg(feature = "serde")]
const NAMES: [&str; 3] = ["menu", "menu, many small", "menu, balanced"];

#[cfg(feature = "serde")]
impl Durable for MenuFilter {
    const NAME: &'static str = "MenuFilter";

    type Parameters = Parameters;
    type Counts = Counts;

    fn parameters(&self) -> Parameters {
        let entry = |entry: MenuEntry| (entry.epsilon, entry.count, entry.cost);
        Parameters {
            name: self.table.name.to_owned(),
            limit: *self.sums.limit(),
            slack: self.sums.slack(),
            step: self.table.step,
            entries: self.entries().map(entry).collect(),
        }
    }

    fn build(read: Parameters) -> Result<Self, Invalid> {
        let name = NAMES.into_iter().find(|name| *name == read.name);
        let name = name.ok_or("no menu has this name")?;
        let entry = |(epsilon, count, cost)| MenuEntry {
            epsilon,
            count,
            cost,
        };
        let entries: Vec<_> = read.entries.into_iter().map(entry).collect();
        Ok(Self::named(
            name, read.limit, read.slack, read.step, &entries,
        )?)
    }

    fn counts(&self) -> Counts {
        Counts {
            paid: self.paid.clone().map(Paid::into_parts),
            epsilons: self.sums.epsilons(),
            deltas: self.sums.deltas(),
        }
    }

    /// Checks that what is open was paid for and that the sum of the losses fits what was used,
    /// where a bundle of each entry is weighed by its cost.
    fn resume(&self, counts: Counts) -> Result<Self, Invalid> {
        let Counts {
            paid,
            epsilons,
            deltas,
        } = counts;
        let sums = self.sums.resumed(epsilons, deltas)?;
        let paid = match paid {
            // What the menu could not pay for was within the budget by itself.
            None if sums.are_within() && epsilons > Epsilon::ZERO => None,
            None => return Err(ImpossibleCounts.into()),
            Some((cost, open)) => {
                let paid = self.table.prices.paid(cost, open, epsilons);
                Some(paid.ok_or(ImpossibleCounts)?)
            }
        };
        let table = self.table.clone();
        Ok(Self { sums, table, paid })
    }
}
