//! A price list, and what has been paid on it.

use super::MenuError;

/// An entry: up to `count` launches of at most this loss, for one cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MenuRow<L> {
    pub(crate) loss: L,
    pub(crate) count: u64,
    pub(crate) cost: u64,
}

impl<L> MenuRow<L> {
    /// Whether a launch of this entry is cheaper than one of the other, or as cheap with fewer
    /// launches paid for at once.
    fn is_better(&self, other: &Self) -> bool {
        let here = u128::from(self.cost) * u128::from(other.count);
        let there = u128::from(other.cost) * u128::from(self.count);
        (here, self.count) < (there, other.count)
    }
}

/// Entries in rising order of loss, and what their costs may add up to.
#[derive(Debug, PartialEq)]
pub(crate) struct PriceList<L> {
    pub(crate) entries: Vec<MenuRow<L>>,
    pub(crate) budget: u64,
}

/// What has been paid, and how many launches of each entry are paid for and not yet used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Paid {
    cost: u64,
    open: Vec<u64>,
}

impl<L: Copy + Ord> PriceList<L> {
    /// # Errors
    ///
    /// [`MenuError::Empty`], [`MenuError::CostsNothing`], [`MenuError::NotRising`], or
    /// [`MenuError::OutOfRange`] for a count of 0.
    pub(crate) fn check(entries: &[MenuRow<L>]) -> Result<(), MenuError> {
        if entries.is_empty() {
            return Err(MenuError::Empty);
        }
        for (entry, price) in entries.iter().enumerate() {
            if price.cost == 0 {
                return Err(MenuError::CostsNothing { entry });
            }
            if price.count == 0 {
                return Err(MenuError::OutOfRange {
                    what: "the number of launches of an entry",
                    advice: "take at least 1",
                });
            }
        }
        let falls = |(entry, (less, more)): (usize, (&MenuRow<L>, &MenuRow<L>))| {
            (less.loss > more.loss).then_some(entry + 1)
        };
        let neighbours = entries.iter().zip(entries.iter().skip(1));
        if let Some(entry) = neighbours.enumerate().find_map(falls) {
            return Err(MenuError::NotRising { entry });
        }
        Ok(())
    }

    pub(crate) fn nothing_paid(&self) -> Paid {
        Paid {
            cost: 0,
            open: vec![0; self.entries.len()],
        }
    }

    /// The first entry that is at least this loss.
    pub(crate) fn place(&self, loss: L) -> usize {
        self.entries.partition_point(|price| price.loss < loss)
    }

    /// Pays for launches of one loss, in the same way as for one after the other; `None` if the
    /// budget has no room for them.
    ///
    /// A launch takes what is paid for at the entry that is cheapest for it, else pays for that
    /// entry, else for the next cheapest that still fits, else takes what is paid for elsewhere.
    pub(crate) fn pay(&self, paid: &Paid, loss: L, times: u64) -> Option<Paid> {
        let mut paid = paid.clone();
        let mut left = times;
        let first = self.place(loss);
        while left > 0 {
            let room = self.budget.saturating_sub(paid.cost);
            let mut best: Option<(&MenuRow<L>, &mut u64)> = None;
            for (price, open) in self.entries.iter().zip(&mut paid.open).skip(first) {
                let usable = *open > 0 || price.cost <= room;
                let better = best.as_ref().is_none_or(|(best, _)| price.is_better(best));
                if usable && better {
                    best = Some((price, open));
                }
            }
            let (MenuRow { count, cost, .. }, open) = best?;
            if *open == 0 {
                let bundles = left.div_ceil(*count).min(room / cost);
                paid.cost += bundles * cost;
                *open = bundles.saturating_mul(*count);
            }
            let used = left.min(*open);
            *open -= used;
            left -= used;
        }
        Some(paid)
    }

    /// The largest loss for which one more launch fits.
    pub(crate) fn largest_that_fits(&self, paid: &Paid) -> Option<L> {
        let room = self.budget.saturating_sub(paid.cost);
        let entries = self.entries.iter().zip(&paid.open).rev();
        let mut fitting = entries.filter(|(price, open)| **open > 0 || price.cost <= room);
        fitting.next().map(|(price, _)| price.loss)
    }
}

#[cfg(feature = "serde")]
impl<L> PriceList<L> {
    /// What was paid, if every open launch belongs to a bundle that was paid for.
    pub(crate) fn opened(&self, cost: u64, open: Vec<u64>) -> Option<Paid> {
        if cost > self.budget || open.len() != self.entries.len() {
            return None;
        }
        // At least one launch of an open bundle was used.
        let mut bundles = self.entries.iter().zip(&open).map(|(price, open)| {
            let used = u64::from(*open > 0);
            let bundles = open.checked_add(used)?.div_ceil(price.count);
            bundles.checked_mul(price.cost)
        });
        let opened = bundles.try_fold(0_u64, |sum, cost| sum.checked_add(cost?))?;
        (opened <= cost).then_some(Paid { cost, open })
    }
}

#[cfg(feature = "serde")]
impl PriceList<crate::number::Epsilon> {
    /// The same, if launches that lose this much together can have led there: what was paid for
    /// covers the losses.
    pub(crate) fn paid(
        &self,
        cost: u64,
        open: Vec<u64>,
        losses: crate::number::Epsilon,
    ) -> Option<Paid> {
        use crate::number::Epsilon;
        // The most that a cost can cover: the best ratio, for each unit of cost.
        let most = self.entries.iter().map(|price| {
            let bundles = cost.div_ceil(price.cost).saturating_mul(price.count);
            price.loss.checked_mul(bundles).unwrap_or(Epsilon::LARGEST)
        });
        let covered = losses <= most.max().unwrap_or_default();
        self.opened(cost, open).filter(|_| covered)
    }
}

impl Paid {
    #[cfg(feature = "serde")]
    pub(crate) fn into_parts(self) -> (u64, Vec<u64>) {
        (self.cost, self.open)
    }

    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn prices() -> PriceList<u32> {
        let price = |loss, count, cost| MenuRow { loss, count, cost };
        PriceList {
            entries: vec![
                price(1, 10, 7),
                price(1, 1, 1),
                price(2, 1, 3),
                price(5, 1, 8),
            ],
            budget: 20,
        }
    }

    #[test]
    fn what_is_paid_for_is_used_first_and_the_end_is_filled_with_single_launches() {
        let prices = prices();
        let mut paid = prices.nothing_paid();
        let mut costs = Vec::new();
        while let Some(next) = prices.pay(&paid, 1, 1) {
            paid = next;
            costs.push(paid.cost());
        }
        // Two bundles of ten, then single ones.
        assert_eq!(costs.len(), 26);
        assert_eq!((costs[0], costs[9], costs[10], costs[25]), (7, 7, 14, 20));
        assert_eq!(prices.largest_that_fits(&paid), None);
    }

    #[test]
    fn what_is_paid_for_elsewhere_is_the_last_resort() {
        let mut prices = prices();
        prices.entries[2].count = 2;
        prices.budget = 10;
        let paid = prices.pay(&prices.nothing_paid(), 2, 1).unwrap();
        let paid = prices.pay(&paid, 1, 10).unwrap();
        assert_eq!(paid.cost(), 10);
        assert_eq!(prices.largest_that_fits(&paid), Some(2));
        let paid = prices.pay(&paid, 1, 1).unwrap();
        assert_eq!((paid.cost(), prices.pay(&paid, 1, 1)), (10, None));
    }

    #[test]
    fn bad_lists_are_errors_that_name_the_entry() {
        let price = |loss, count, cost| MenuRow::<u32> { loss, count, cost };
        assert_eq!(PriceList::<u32>::check(&[]), Err(MenuError::Empty));
        let free = [price(1, 1, 1), price(2, 1, 0)];
        assert_eq!(
            PriceList::check(&free),
            Err(MenuError::CostsNothing { entry: 1 })
        );
        let falling = [price(2, 1, 1), price(1, 1, 1)];
        assert_eq!(
            PriceList::check(&falling),
            Err(MenuError::NotRising { entry: 1 })
        );
    }

    proptest! {
        #[test]
        fn paying_at_once_is_paying_one_by_one(losses in proptest::collection::vec((1..6_u32, 1..15_u64), 1..6)) {
            let prices = prices();
            let mut at_once = Some(prices.nothing_paid());
            let mut one_by_one = at_once.clone();
            for (loss, times) in losses {
                at_once = at_once.and_then(|paid| prices.pay(&paid, loss, times));
                for _ in 0..times {
                    one_by_one = one_by_one.and_then(|paid| prices.pay(&paid, loss, 1));
                }
                prop_assert_eq!(&at_once, &one_by_one);
                prop_assert!(at_once.as_ref().is_none_or(|paid| paid.cost() <= prices.budget));
            }
        }
    }
}
