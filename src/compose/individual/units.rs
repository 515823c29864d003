//! A rule's losses in whole units, few enough for eight bytes.

use std::sync::Arc;

use super::Tariff;
use crate::account::{ChildLoss, ValidIndividually};
use crate::privacy::UnknownLoss;

/// The units in which records pay under a rule.
///
/// A unit is a power of ten times the smallest unit of the rule, so that losses with up to 15
/// digits stay exact: ten payments of 0.1 fit in a budget of 1. Prices are rounded up, budgets down.
#[derive(Clone, Debug)]
pub struct RecordUnits<F> {
    rule: F,
    /// How many of the rule's units are one of these.
    divisor: u128,
    budget: u64,
}

/// The budget has at most 16 digits: prices may be a thousand times as large, and still fit.
const LARGEST_BUDGET: u128 = 10_u128.pow(16);

/// A step has at most 12 digits: an account holds ten million of them.
const LARGEST_STEP: u128 = 10_u128.pow(12);

impl<F: ValidIndividually> RecordUnits<F> {
    pub(super) fn new(rule: F) -> Self {
        Self::at_most(rule, LARGEST_BUDGET)
    }

    /// For accounts that count in steps of the rule's budget.
    pub(super) fn of_steps(rule: F) -> Self {
        Self::at_most(rule, LARGEST_STEP)
    }

    fn at_most(rule: F, most: u128) -> Self {
        let budget = rule.record_budget();
        let mut divisor = 1;
        while budget / divisor >= most {
            divisor *= 10;
        }
        Self {
            rule,
            divisor,
            budget: (budget / divisor) as u64,
        }
    }

    /// The rule.
    pub fn rule(&self) -> &F {
        &self.rule
    }

    /// The declared budget: no record has more.
    #[must_use]
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// What this loss costs, rounded up; a loss that is not zero costs at least one unit.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if the rule has no price for it, or if it is more than a thousand budgets.
    pub fn price(&self, loss: &ChildLoss<F>) -> Result<u64, UnknownLoss> {
        let price = self.rule.record_price(loss)?.div_ceil(self.divisor);
        // One less than the largest marks what nobody can pay.
        u64::try_from(price)
            .ok()
            .filter(|price| *price < u64::MAX / 2)
            .ok_or(UnknownLoss(
                "the price is more than a thousand times the budget of any record",
            ))
    }

    /// This number of units as a loss, rounded up; `None` if the rule's units are not losses.
    #[must_use]
    pub fn loss(&self, units: u64) -> Option<ChildLoss<F>> {
        let units = u128::from(units).checked_mul(self.divisor)?;
        self.rule.record_loss(units)
    }

    /// An account that counts up, in whole steps of the budget, of which there is one at least.
    pub(super) fn whole_steps(&self, account: u64) -> u64 {
        let steps = account.div_ceil(self.budget.max(1)).max(1);
        steps.saturating_mul(self.budget)
    }

    /// A record's own budget, rounded down, and clamped to the declared one.
    #[must_use]
    pub fn own_budget(&self, budget: &ChildLoss<F>) -> u64 {
        let units = self.rule.record_worth(budget) / self.divisor;
        u64::try_from(units).map_or(self.budget, |units| units.min(self.budget))
    }

    /// The same price for everybody who contributes.
    ///
    /// # Errors
    ///
    /// As for [`price`](Self::price).
    pub fn flat(&self, loss: &ChildLoss<F>) -> Result<Tariff, UnknownLoss> {
        Ok(Tariff::proportional(self.price(loss)?, 1))
    }

    /// A price in proportion to the size of a contribution, where the largest costs this.
    ///
    /// # Errors
    ///
    /// As for [`price`](Self::price).
    pub fn proportional(&self, loss: &ChildLoss<F>, largest: u64) -> Result<Tariff, UnknownLoss> {
        Ok(Tariff::proportional(self.price(loss)?, largest))
    }

    /// A price for each size, from `loss_of`, which must not fall as the size grows. Sizes up to 32
    /// have a price of their own; larger ones pay for the next of 16 sizes between powers of two.
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
        let prices: Arc<[u64]> = prices.collect::<Result<_, _>>()?;
        Ok(Tariff::stepwise(prices, largest))
    }
}
