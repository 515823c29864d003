//! The accounts of a chunk of records, while a query reads them.

use std::fmt;

use super::Tariff;

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
pub struct Payers<'a> {
    accounts: std::slice::IterMut<'a, u64>,
    tariff: &'a Tariff,
    policy: Policy,
    /// The declared budget.
    step: u64,
}

impl<'a> Payers<'a> {
    pub(super) fn new(
        accounts: &'a mut [u64],
        tariff: &'a Tariff,
        policy: Policy,
        step: u64,
    ) -> Self {
        Self {
            step,
            accounts: accounts.iter_mut(),
            tariff,
            policy,
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
        let cost = self.tariff.cost(size);
        if self.policy == Policy::Count {
            return self.count(size, cost);
        }
        let Some(account) = self.accounts.next() else {
            return 0;
        };
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

    /// A step that the cost would exceed is left as it is, and another one begins (Feldman and Zrnic
    /// Alg 6). A record whose account can hold no more is left out: what is not counted must not be
    /// lost.
    fn count(&mut self, size: u64, cost: u64) -> u64 {
        let Some(account) = self.accounts.next() else {
            return 0;
        };
        let step = self.step.max(1);
        let begun = match (*account % step).checked_add(cost) {
            Some(sum) if sum <= step => Some(*account),
            Some(_) => account.div_ceil(step).checked_mul(step),
            // What is larger than the query may be has no price.
            None => None,
        };
        match begun.and_then(|begun| begun.checked_add(cost)) {
            Some(counted) => {
                *account = counted;
                size
            }
            None => 0,
        }
    }

    /// Charges the next record for a contribution of this size, if it could pay for as much this
    /// many times.
    #[inline]
    pub fn charge_if_left(&mut self, size: u64, times: u64) -> u64 {
        let units = self.tariff.cost(size).saturating_mul(times);
        let account = self.accounts.as_slice().first();
        let enough = self.policy == Policy::Count || account.is_some_and(|left| *left >= units);
        self.charge(if enough { size } else { 0 })
    }
}

impl fmt::Debug for Payers<'_> {
    /// Shows nothing of the accounts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Payers")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_not_shown() {
        let tariff = Tariff::proportional(10, 1);
        let mut accounts = [987_654_321];
        let payers = Payers::new(&mut accounts, &tariff, Policy::Drop, 10);
        assert_eq!(format!("{payers:?}"), "Payers");
    }

    /// Otherwise it would go on losing, and its reading would stay where it is.
    #[test]
    fn an_odometer_leaves_out_a_record_whose_account_is_full() {
        let tariff = Tariff::proportional(7, 1);
        let counted = |account: u64| {
            let mut accounts = [account];
            let mut payers = Payers::new(&mut accounts, &tariff, Policy::Count, 10);
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
            let mut payers = Payers::new(&mut accounts, &tariff, policy, 100);
            assert_eq!((payers.charge(2), accounts[0]), (0, 100), "{policy:?}");
        }
    }
}
