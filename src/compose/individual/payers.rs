//! The accounts of a chunk of records, while a query reads them.

use std::slice;

use super::accounts::Slots;
use super::{RecordAmount, Tariff};

/// What happens to a record that cannot pay for its whole contribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Policy {
    /// It contributes nothing to this query.
    Drop,
    /// It contributes what it can still pay for.
    Fit,
    /// Nobody is limited: accounts hold what was spent, in steps of the budget.
    Count,
}

/// The accounts of some records, in order: a query charges one after the other.
///
/// What is on an account is private. A query learns the size that a record contributes, and nothing
/// else.
///
/// Example: [`IndividualQuery`](crate::compose::IndividualQuery).
pub struct Payers<'a> {
    numbers: slice::IterMut<'a, u64>,
    /// In step with the numbers if the tariff has a δ, and else not used.
    deltas: slice::IterMut<'a, u64>,
    tariff: &'a Tariff,
    policy: Policy,
    /// The declared budget.
    step: RecordAmount,
}

impl<'a> Payers<'a> {
    pub(super) fn new(
        slots: Slots<'a>,
        tariff: &'a Tariff,
        policy: Policy,
        step: RecordAmount,
    ) -> Self {
        Self {
            numbers: slots.numbers.iter_mut(),
            deltas: slots.deltas.iter_mut(),
            tariff,
            policy,
            step,
        }
    }

    /// Charges the next record for a contribution of this size, and returns the size that it may
    /// contribute: all of it, or zero.
    #[inline]
    pub fn charge(&mut self, size: u64) -> u64 {
        self.charge_or(size, |_| 0)
    }

    /// The same for a contribution that can be made smaller, if the filter lets records contribute
    /// what they can still pay for. `shrink` is given the largest size that the record can pay for,
    /// makes the contribution at most that, and returns its size.
    #[inline]
    pub fn charge_or(&mut self, size: u64, shrink: impl FnOnce(u64) -> u64) -> u64 {
        let has_delta = self.tariff.delta() > 0;
        let enough = !has_delta || self.delta_if_paid().is_some();
        // A record that cannot pay with δ contributes zero, and a zero contribution is free.
        let paid = self.charge_number(if enough { size } else { 0 }, shrink);
        if has_delta {
            self.charge_delta(paid > 0);
        }
        paid
    }

    #[inline]
    fn charge_number(&mut self, size: u64, shrink: impl FnOnce(u64) -> u64) -> u64 {
        let cost = self.tariff.cost(size);
        let Some(account) = self.numbers.next() else {
            return 0;
        };
        if self.policy == Policy::Count {
            let counted = counted(*account, cost, self.step.number);
            *account = counted.unwrap_or(*account);
            return counted.map_or(0, |_| size);
        }
        if let Some(left) = account.checked_sub(cost) {
            *account = left;
            return size;
        }
        if self.policy == Policy::Drop {
            return 0;
        }
        let allowed = self.tariff.largest_for(*account);
        if allowed == 0 {
            return 0;
        }
        let size = shrink(allowed);
        match account.checked_sub(self.tariff.cost(size)) {
            Some(left) if size <= allowed => {
                *account = left;
                size
            }
            _ => 0,
        }
    }

    /// What the next record's account of δ would be if it paid; `None` if it cannot.
    fn delta_if_paid(&self) -> Option<u64> {
        let (account, delta) = (*self.deltas.as_slice().first()?, self.tariff.delta());
        match self.policy {
            Policy::Count => counted(account, delta, self.step.delta),
            Policy::Drop | Policy::Fit => account.checked_sub(delta),
        }
    }

    fn charge_delta(&mut self, pays: bool) {
        let after = self.delta_if_paid().filter(|_| pays);
        if let (Some(account), Some(after)) = (self.deltas.next(), after) {
            *account = after;
        }
    }

    /// Charges the next record for a contribution of this size, if it could pay for as much this
    /// many times.
    #[inline]
    pub fn charge_if_left(&mut self, size: u64, times: u64) -> u64 {
        let covers = |left: Option<&u64>, cost: u64| {
            left.is_some_and(|left| *left >= cost.saturating_mul(times))
        };
        let numbers = self.numbers.as_slice().first();
        let enough = covers(numbers, self.tariff.cost(size))
            && (self.tariff.delta() == 0
                || covers(self.deltas.as_slice().first(), self.tariff.delta()));
        let enough = self.policy == Policy::Count || enough;
        self.charge(if enough { size } else { 0 })
    }
}

/// An account that counts up, after this cost. A step that the cost would exceed is left as it is,
/// and another one begins (Feldman and Zrnic Alg 6). `None` if the account can hold no more: then the
/// record is left out, since what is not counted must not be lost.
fn counted(account: u64, cost: u64, step: u64) -> Option<u64> {
    let step = step.max(1);
    // What is larger than the query may be has no price.
    let sum = (account % step).checked_add(cost)?;
    let begun = if sum <= step {
        account
    } else {
        account.div_ceil(step).checked_mul(step)?
    };
    begun.checked_add(cost)
}

// Shows nothing of the accounts.
crate::debug_fields!([] Payers<'_>, "Payers");

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: u64, delta: u64) -> RecordAmount {
        RecordAmount { number, delta }
    }

    fn slots<'a>(numbers: &'a mut [u64], deltas: &'a mut [u64]) -> Slots<'a> {
        Slots { numbers, deltas }
    }

    #[test]
    fn accounts_are_not_shown() {
        let tariff = Tariff::proportional(10, 1);
        let mut accounts = [987_654_321];
        let slots = slots(&mut accounts, &mut []);
        let payers = Payers::new(slots, &tariff, Policy::Drop, step(10, 0));
        assert_eq!(format!("{payers:?}"), "Payers");
    }

    /// Otherwise it would go on losing, and its reading would stay where it is.
    #[test]
    fn an_odometer_leaves_out_a_record_whose_account_is_full() {
        let tariff = Tariff::proportional(7, 1);
        let counted = |account: u64| {
            let mut accounts = [account];
            let slots = slots(&mut accounts, &mut []);
            let mut payers = Payers::new(slots, &tariff, Policy::Count, step(10, 0));
            (payers.charge(1), accounts[0])
        };
        assert_eq!(counted(3), (1, 10));
        assert_eq!(counted(4), (1, 17));
        // The largest number ends in 615: the step from 600 can be filled, that from 610 cannot.
        assert_eq!(counted(u64::MAX - 15), (1, u64::MAX - 8));
        for full in [u64::MAX - 11, u64::MAX - 5, u64::MAX] {
            assert_eq!(counted(full), (0, full));
        }
    }

    #[test]
    fn what_has_no_price_is_left_out() {
        let tariff = Tariff::proportional(7, 1);
        for policy in [Policy::Drop, Policy::Fit, Policy::Count] {
            let mut accounts = [100];
            let slots = slots(&mut accounts, &mut []);
            let mut payers = Payers::new(slots, &tariff, policy, step(100, 0));
            assert_eq!((payers.charge(2), accounts[0]), (0, 100), "{policy:?}");
        }
    }

    /// Numbers and δ of four records: one that can pay, one without δ, one without the number, and
    /// one that contributes nothing.
    #[test]
    fn a_record_pays_with_both_or_not_at_all() {
        let tariff = Tariff::proportional(10, 2).with_delta(3);
        let (mut numbers, mut deltas) = ([20, 20, 9, 20], [5, 2, 5, 5]);
        let slots = slots(&mut numbers, &mut deltas);
        let mut payers = Payers::new(slots, &tariff, Policy::Drop, step(20, 5));
        let paid = [2, 2, 2, 0].map(|size| payers.charge(size));
        assert_eq!(paid, [2, 0, 0, 0]);
        // There is no fifth.
        assert_eq!(payers.charge(1), 0);
        assert_eq!((numbers, deltas), ([10, 20, 9, 20], [2, 2, 5, 5]));
    }

    #[test]
    fn whoever_fits_pays_all_of_delta() {
        let tariff = Tariff::proportional(10, 2).with_delta(3);
        let (mut numbers, mut deltas) = ([9, 4, 9], [3, 3, 2]);
        let slots = slots(&mut numbers, &mut deltas);
        let mut payers = Payers::new(slots, &tariff, Policy::Fit, step(20, 5));
        let paid = [2, 2, 2].map(|size| payers.charge_or(size, |allowed| allowed));
        assert_eq!(paid, [1, 0, 0]);
        assert_eq!((numbers, deltas), ([4, 4, 9], [0, 3, 2]));
    }

    #[test]
    fn an_odometer_counts_both_and_neither_if_one_is_full() {
        let tariff = Tariff::proportional(7, 1).with_delta(2);
        let counted = |number: u64, delta: u64| {
            let (mut numbers, mut deltas) = ([number], [delta]);
            let slots = slots(&mut numbers, &mut deltas);
            let mut payers = Payers::new(slots, &tariff, Policy::Count, step(10, 3));
            (payers.charge(1), numbers[0], deltas[0])
        };
        assert_eq!(counted(3, 1), (1, 10, 3));
        assert_eq!(counted(4, 2), (1, 17, 5));
        assert_eq!(counted(3, u64::MAX), (0, 3, u64::MAX));
        assert_eq!(counted(u64::MAX, 1), (0, u64::MAX, 1));
    }

    #[test]
    fn who_is_active_has_enough_of_both() {
        let tariff = Tariff::proportional(10, 1).with_delta(3);
        let (mut numbers, mut deltas) = ([20, 20, 19], [6, 5, 6]);
        let slots = slots(&mut numbers, &mut deltas);
        let mut payers = Payers::new(slots, &tariff, Policy::Drop, step(20, 6));
        let paid = [(); 3].map(|()| payers.charge_if_left(1, 2));
        assert_eq!(paid, [1, 0, 0]);
        assert_eq!((numbers, deltas), ([10, 20, 19], [3, 5, 6]));
    }

    /// A price list of another rule, in which records have δ to spend.
    #[test]
    fn where_nobody_has_delta_nobody_pays_with_it() {
        let tariff = Tariff::proportional(1, 1).with_delta(1);
        let mut numbers = [9];
        let slots = slots(&mut numbers, &mut []);
        let mut payers = Payers::new(slots, &tariff, Policy::Drop, step(9, 0));
        assert_eq!((payers.charge(1), numbers), (0, [9]));
    }
}
