//! Menus for common uses: many small launches, and a balance of small and large ones.

use super::{MenuEntry, MenuError, MenuFilter};
use crate::account::ThroughRdp;
use crate::number::{Delta, Epsilon, Interval, Order, units};
use crate::privacy::EpsilonDelta;
use crate::privacy::convert::rdp;

/// The entries of the first preset, in multiples of the typical loss.
const MULTIPLES: [u64; 6] = [1, 2, 3, 5, 10, 20];

impl MenuFilter {
    /// For many launches of one size and a few larger ones: 1, 2, 3, 5, 10 and 20 times a typical
    /// ε, at costs in proportion to ε².
    ///
    /// It admits nearly as many typical launches as if their number were fixed in advance. A large
    /// launch uses a larger part of this budget than of that of [`balanced`](Self::balanced).
    ///
    /// # Errors
    ///
    /// [`MenuError`] says what to change.
    ///
    /// ```
    /// use queryables::account::menu::MenuFilter;
    /// use queryables::privacy::EpsilonDelta;
    ///
    /// let limit = EpsilonDelta::new("1", "1e-6")?;
    /// let rule = MenuFilter::many_small(limit, limit.delta, "0.01".parse()?)?;
    /// assert_eq!(rule.budget(), 551);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn many_small(
        limit: EpsilonDelta,
        slack: Delta,
        typical: Epsilon,
    ) -> Result<Self, MenuError> {
        let mut entries = Vec::new();
        for multiple in MULTIPLES {
            let epsilon = typical.checked_mul(multiple).ok_or(OUT_OF_RANGE)?;
            // What is larger than the whole budget needs no place on the menu.
            if epsilon <= limit.epsilon || multiple == 1 {
                entries.push(MenuEntry::new(epsilon, multiple * multiple));
            }
        }
        Self::named("menu, many small", limit, slack, typical, &entries)
    }

    /// For launches of all sizes from half of a typical ε to 20 times as much: costs in proportion
    /// to the Rényi divergence of randomized response, at the order that suits the limit.
    ///
    /// So a launch of any size uses about the same part of the budget as under [`ThroughRdp`], and
    /// the budget is larger. With a detail of 56 it admits at least as many launches of any one
    /// size as the Rényi filter for the typical loss; a Rényi filter that is built for another size
    /// may admit one more launch of that size. Launches smaller than 3 times the typical ε, if they
    /// are not exactly on the menu, are paid for in leases; `detail` is the number of sizes for
    /// each doubling of the Rényi loss, at least 4. 56 takes some seconds, 8 a fraction of one.
    ///
    /// # Errors
    ///
    /// [`MenuError`] says what to change.
    ///
    /// ```
    /// use queryables::account::menu::MenuFilter;
    /// use queryables::account::ContinuationRule;
    /// use queryables::privacy::EpsilonDelta;
    ///
    /// let limit = EpsilonDelta::new("1", "1e-6")?;
    /// let mut rule = MenuFilter::balanced(limit, limit.delta, "0.1".parse()?, 4)?;
    /// rule = rule.charge(&EpsilonDelta::new("0.1", "0")?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn balanced(
        limit: EpsilonDelta,
        slack: Delta,
        typical: Epsilon,
        detail: u64,
    ) -> Result<Self, MenuError> {
        if typical == Epsilon::ZERO || detail < 4 {
            return Err(OUT_OF_RANGE);
        }
        let order = ThroughRdp::chosen_for(limit, slack, typical);
        let order = order.map_err(|_| BAD_BUDGET)?.order();
        let step = Epsilon::from_units(typical.units() / STEPS).map_err(|_| OUT_OF_RANGE)?;
        let largest = typical
            .checked_mul(20)
            .ok_or(OUT_OF_RANGE)?
            .min(limit.epsilon);
        let grid = Grid {
            order,
            typical,
            largest: largest.max(typical),
            step,
            limit,
            slack,
            unit: Interval::from(rdp::pure(order, typical)).middle() / UNITS,
        };
        let mut entries = grid.leases(detail)?;
        entries.extend(grid.leases(detail / 4)?);
        entries.extend(grid.single(detail)?);
        entries.sort_unstable_by_key(|entry| (entry.epsilon, entry.cost));
        entries.dedup_by_key(|entry| (entry.epsilon, entry.count));
        Self::named("menu, balanced", limit, slack, step, &entries)
    }
}

/// The lattice steps in a typical loss.
const STEPS: u128 = 5;

/// The cost of a typical launch.
const UNITS: f64 = 4.0;

/// Where the entries of a balanced menu come from.
struct Grid {
    order: Order,
    typical: Epsilon,
    largest: Epsilon,
    step: Epsilon,
    /// The Rényi loss that a cost of 1 pays for.
    unit: f64,
    limit: EpsilonDelta,
    slack: Delta,
}

impl Grid {
    /// The Rényi loss of ε, in units.
    fn units(&self, epsilon: Epsilon) -> f64 {
        Interval::from(rdp::pure(self.order, epsilon)).middle() / self.unit
    }

    /// The largest ε with at most this Rényi loss.
    fn epsilon(&self, units: f64) -> Result<Epsilon, MenuError> {
        let loss = Interval::exactly(units * self.unit);
        let loss = loss.down::<units::Epsilon>().ok_or(OUT_OF_RANGE)?;
        Ok(rdp::pure_budget(self.order, loss))
    }

    /// Leases of m launches for k units, m as small as k ≥ `detail` allows, from half of the
    /// typical loss to where one launch costs `detail` by itself.
    fn leases(&self, detail: u64) -> Result<Vec<MenuEntry>, MenuError> {
        let mut entries = Vec::new();
        let half = Epsilon::from_units(self.typical.units() / 2).map_err(|_| OUT_OF_RANGE)?;
        let mut each = self.units(half);
        while each < detail as f64 {
            let count = (detail as f64 / each).ceil();
            let cost = (count * each).ceil();
            let epsilon = self.epsilon(cost / count)?;
            if epsilon > self.largest {
                break;
            }
            if count > 1.0 {
                entries.push(MenuEntry {
                    epsilon,
                    count: count as u64,
                    cost: cost as u64,
                });
            }
            each = (cost + 0.5) / count;
        }
        Ok(entries)
    }

    /// Single launches: on lattice points while the cost is small, then at whole costs, 1/detail
    /// of them apart.
    fn single(&self, detail: u64) -> Result<Vec<MenuEntry>, MenuError> {
        let mut entries = Vec::new();
        for point in STEPS.. {
            let epsilon = Epsilon::from_units(point * self.step.units());
            let epsilon = epsilon.map_err(|_| OUT_OF_RANGE)?;
            let units = self.units(epsilon);
            if units >= detail as f64 || epsilon > self.largest {
                break;
            }
            let cost = (units - 1e-6).ceil().max(1.0) as u64;
            entries.push(MenuEntry::new(epsilon, cost));
        }
        let budget = rdp::budget(self.order, self.limit.epsilon, self.slack);
        let budget = Interval::from(budget.map_err(|_| BAD_BUDGET)?).middle() / self.unit;
        let whole = Interval::from(self.limit.epsilon).middle();
        let mut push = |epsilon: Epsilon, cost: f64, raise: f64| {
            let basic = whole / Interval::from(epsilon).middle();
            let raise = if basic >= 1.05 * budget / cost {
                raise
            } else {
                1.0
            };
            entries.push(MenuEntry::new(epsilon, (cost * raise - 1e-6).ceil() as u64));
        };
        for multiple in MULTIPLES {
            let epsilon = self.typical.checked_mul(multiple).ok_or(OUT_OF_RANGE)?;
            let cost = self.units(epsilon);
            if epsilon <= self.largest && cost >= detail as f64 {
                push(epsilon, cost, RAISE_ROUND);
            }
        }
        let mut cost = detail as f64;
        while cost <= self.units(self.largest) {
            push(self.epsilon(cost)?.min(self.largest), cost, RAISE);
            cost += (cost / detail as f64).floor();
        }
        push(self.largest, self.units(self.largest), RAISE);
        Ok(entries)
    }
}

/// A surcharge on costs in proportion to the Rényi loss, for launches of which Σε alone admits more
/// than the Rényi filter: an adversary gains most from these, so the surcharge leaves more to small
/// ones.
const RAISE: f64 = 1.08;

/// The same for the round multiples of the typical loss, which are used most.
const RAISE_ROUND: f64 = 1.03;

const OUT_OF_RANGE: MenuError = MenuError::OutOfRange {
    what: "the typical loss or the detail",
    advice: "take a typical loss above 0 and far below the largest ε, and a detail of at least 4",
};

const BAD_BUDGET: MenuError = MenuError::OutOfRange {
    what: "the budget",
    advice: "take one in which the Rényi filter admits something",
};
