//! A rule's losses in whole units, few enough for eight bytes.

use std::sync::Arc;

use super::Tariff;
use super::accounts::Accounts;
use crate::account::{ChildLoss, RecordCost, ValidIndividually};
use crate::number::Delta;
use crate::privacy::UnknownLoss;

/// The units in which records pay under a rule.
///
/// A unit is a power of ten times the smallest unit of the rule, so that losses with up to 15
/// digits stay exact: ten payments of 0.1 fit in a budget of 1. Prices are rounded up, budgets down.
/// δ has units of its own, in the same way.
///
/// Example: [`IndividualQuery`](crate::compose::IndividualQuery).
#[derive(Clone, Debug)]
pub struct RecordUnits<F> {
    rule: F,
    number: Scale,
    delta: Scale,
}

/// An amount in [`RecordUnits`]: what a record has left, has spent, or pays.
///
/// ```
/// use queryables::compose::{IndividualFilter, RecordAmount, start_individual};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let filter = IndividualFilter::new(ApproxDp, EpsilonDelta::new("1", "1e-6")?);
/// let (_, for_the_curator) = start_individual(&filter, Arc::new(vec![17_u32]))?;
/// let units = for_the_curator.units();
/// let price = units.price(&EpsilonDelta::new("0.5", "1e-9")?)?;
/// let budget = units.budget();
/// assert_eq!((price.number, price.delta), (budget.number / 2, budget.delta / 1000));
/// assert_eq!(for_the_curator.spent(0)?, Some(RecordAmount::default()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RecordAmount {
    /// What adds up by the rule, such as ε or ρ.
    pub number: u64,
    /// The δ beside it; zero where records have none to spend.
    pub delta: u64,
}

/// The budget has at most 16 digits: prices may be 900 times as large, and still fit.
const LARGEST_BUDGET: u128 = 10_u128.pow(16);

/// A step has at most 12 digits: an account holds ten million of them.
const LARGEST_STEP: u128 = 10_u128.pow(12);

/// The units of one column of accounts.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// How many of the rule's units are one of these.
    divisor: u128,
    budget: u64,
}

impl Scale {
    fn new(budget: u128, most: u128) -> Self {
        let mut divisor = 1;
        while budget / divisor >= most {
            divisor *= 10;
        }
        Self {
            divisor,
            budget: (budget / divisor) as u64,
        }
    }

    /// Rounded up.
    fn price(&self, units: u128) -> Result<u64, UnknownLoss> {
        let price = u64::try_from(units.div_ceil(self.divisor)).ok();
        // So that sums of two prices fit, and the largest number marks what nobody can pay.
        price
            .filter(|price| *price < u64::MAX / 2)
            .ok_or(UnknownLoss(
                "the price is more than 900 times the budget of any record",
            ))
    }

    /// Rounded down, and at most the declared budget.
    fn own_budget(&self, units: u128) -> u64 {
        let budget = u64::try_from(units / self.divisor);
        budget.map_or(self.budget, |budget| budget.min(self.budget))
    }

    /// In the rule's units.
    fn units(&self, amount: u64) -> Option<u128> {
        u128::from(amount).checked_mul(self.divisor)
    }

    /// An account that counts up, in whole steps of the budget, of which there is one at least.
    fn whole_steps(&self, account: u64) -> u64 {
        let steps = account.div_ceil(self.budget.max(1)).max(1);
        steps.saturating_mul(self.budget)
    }
}

impl<F: ValidIndividually> RecordUnits<F> {
    pub(super) fn new(rule: F) -> Self {
        Self::at_most(rule, LARGEST_BUDGET)
    }

    /// For accounts that count in steps of the rule's budget.
    pub(super) fn of_steps(rule: F) -> Self {
        Self::at_most(rule, LARGEST_STEP)
    }

    fn at_most(rule: F, most: u128) -> Self {
        let RecordCost { number, delta } = rule.record_budget();
        Self {
            number: Scale::new(number, most),
            delta: Scale::new(delta.units(), most),
            rule,
        }
    }

    /// The rule.
    pub fn rule(&self) -> &F {
        &self.rule
    }

    /// The declared budget: no record has more.
    #[must_use]
    pub fn budget(&self) -> RecordAmount {
        RecordAmount {
            number: self.number.budget,
            delta: self.delta.budget,
        }
    }

    /// What this loss costs, rounded up; a loss that is not zero costs at least one unit.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if the rule has no price for it, if it has a δ and the rule leaves none to
    /// records, or if it does not fit in eight bytes, which is more than 900 budgets.
    pub fn price(&self, loss: &ChildLoss<F>) -> Result<RecordAmount, UnknownLoss> {
        let RecordCost { number, delta } = self.rule.record_price(loss)?;
        if delta > Delta::ZERO && self.delta.budget == 0 {
            return Err(UnknownLoss("the rule leaves no δ to records"));
        }
        Ok(RecordAmount {
            number: self.number.price(number)?,
            delta: self.delta.price(delta.units())?,
        })
    }

    /// This amount as a loss, rounded up; `None` if the rule's numbers are not losses.
    #[must_use]
    pub fn loss(&self, amount: RecordAmount) -> Option<ChildLoss<F>> {
        self.rule.record_loss(RecordCost {
            number: self.number.units(amount.number)?,
            delta: self.delta(amount),
        })
    }

    /// The δ of this amount.
    #[must_use]
    pub fn delta(&self, amount: RecordAmount) -> Delta {
        let units = self.delta.units(amount.delta);
        let delta = units.and_then(|units| Delta::from_units(units).ok());
        // A δ above one says no more than one.
        delta.unwrap_or(Delta::ONE)
    }

    /// An account that counts up, in whole steps of the budget.
    pub(super) fn whole_steps(&self, account: RecordAmount) -> RecordAmount {
        RecordAmount {
            number: self.number.whole_steps(account.number),
            delta: self.delta.whole_steps(account.delta),
        }
    }

    /// A record's own budget, rounded down, and clamped to the declared one.
    #[must_use]
    pub fn own_budget(&self, budget: &ChildLoss<F>) -> RecordAmount {
        let RecordCost { number, delta } = self.rule.record_worth(budget);
        RecordAmount {
            number: self.number.own_budget(number),
            delta: self.delta.own_budget(delta.units()),
        }
    }

    /// Accounts that all have this amount.
    pub(super) fn accounts(&self, records: usize, amount: RecordAmount) -> Accounts {
        Accounts {
            numbers: vec![amount.number; records],
            deltas: match self.delta.budget {
                0 => Vec::new(),
                _ => vec![amount.delta; records],
            },
        }
    }

    /// The same price for everybody who contributes.
    ///
    /// # Errors
    ///
    /// As for [`price`](Self::price).
    pub fn flat(&self, loss: &ChildLoss<F>) -> Result<Tariff, UnknownLoss> {
        self.proportional(loss, 1)
    }

    /// A price in proportion to the size of a contribution, where the largest costs this. The δ of
    /// the loss is paid whatever the size.
    ///
    /// # Errors
    ///
    /// As for [`price`](Self::price).
    pub fn proportional(&self, loss: &ChildLoss<F>, largest: u64) -> Result<Tariff, UnknownLoss> {
        let RecordAmount { number, delta } = self.price(loss)?;
        Ok(Tariff::proportional(number, largest).with_delta(delta))
    }

    /// A price for each size, from `loss_of`, which must not fall as the size grows. Sizes up to 32
    /// have a price of their own; larger ones pay for the next of 16 sizes between powers of two.
    /// The largest δ of all sizes is paid whatever the size.
    ///
    /// # Errors
    ///
    /// As for [`price`](Self::price).
    pub fn stepwise(
        &self,
        largest: u64,
        loss_of: impl Fn(u64) -> Result<ChildLoss<F>, UnknownLoss>,
    ) -> Result<Tariff, UnknownLoss> {
        let sizes = Tariff::steps(largest);
        let prices = sizes.map(|size| self.price(&loss_of(size)?));
        let prices: Vec<RecordAmount> = prices.collect::<Result<_, _>>()?;
        let numbers: Arc<[u64]> = prices.iter().map(|price| price.number).collect();
        let delta = prices.iter().map(|price| price.delta).max();
        Ok(Tariff::stepwise(numbers, largest).with_delta(delta.unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Accumulator, Sum};
    use crate::privacy::{ApproxDp, EpsilonDelta, PureDp};

    fn pairs(epsilon: &str, delta: &str) -> RecordUnits<crate::account::Capped<Sum<ApproxDp>>> {
        let limit = EpsilonDelta::new(epsilon, delta).unwrap();
        RecordUnits::new(Sum::new(ApproxDp).capped(limit))
    }

    #[test]
    fn records_need_a_second_column_only_where_they_may_spend_delta() {
        let columns = |accounts: Accounts| [accounts.numbers.len(), accounts.deltas.len()];
        let pure = RecordUnits::new(Sum::new(PureDp).capped("1".parse().unwrap()));
        assert_eq!(columns(pure.accounts(7, pure.budget())), [7, 0]);
        let none = pairs("1", "0");
        assert_eq!(columns(none.accounts(7, none.budget())), [7, 0]);
        let some = pairs("1", "1e-6");
        assert_eq!(columns(some.accounts(7, some.budget())), [7, 7]);
    }

    #[test]
    fn a_thousand_thousandths_fit_in_both_and_one_more_does_not() {
        let units = pairs("0.7", "3e-7");
        let price = units.price(&EpsilonDelta::new("0.0007", "3e-10").unwrap());
        let (price, budget) = (price.unwrap(), units.budget());
        assert_eq!(1000 * price.number, budget.number);
        assert_eq!(1000 * price.delta, budget.delta);
        // More digits than there are: prices up, budgets down.
        let loss = EpsilonDelta::new("0.00000000000000001", "1e-37").unwrap();
        let one = RecordAmount {
            number: 1,
            delta: 1,
        };
        assert_eq!(units.price(&loss), Ok(one));
        assert_eq!(units.own_budget(&loss), RecordAmount::default());
        let more = EpsilonDelta::new("5", "1").unwrap();
        assert_eq!(units.own_budget(&more), budget);
    }

    #[test]
    fn amounts_are_the_losses_that_they_stand_for() {
        let units = pairs("1", "1e-6");
        let loss = EpsilonDelta::new("0.123456789", "1.23e-8").unwrap();
        let price = units.price(&loss).unwrap();
        assert_eq!(units.loss(price), Some(loss));
        assert_eq!(units.delta(price), loss.delta);
        // A sum of δ above one.
        let units = pairs("1", "0.5");
        let thrice = RecordAmount {
            number: 0,
            delta: 3 * units.budget().delta,
        };
        assert_eq!(units.delta(thrice), Delta::ONE);
        assert_eq!(
            units.loss(thrice),
            Some(EpsilonDelta::new("0", "1").unwrap())
        );
    }

    #[test]
    fn a_price_of_more_than_nine_hundred_budgets_is_none() {
        let refused = UnknownLoss("the price is more than 900 times the budget of any record");
        // The first digits decide between 900 and 9000 budgets.
        let units = pairs("9.99", "9.99e-7");
        let price = |epsilon, delta| units.price(&EpsilonDelta::new(epsilon, delta).unwrap());
        assert!(price("9000", "9e-4").is_ok());
        assert_eq!(price("9300", "0"), Err(refused));
        assert_eq!(price("0", "9.3e-4"), Err(refused));
    }
}
