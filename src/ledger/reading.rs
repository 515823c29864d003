//! What a party can read of its budgets, which costs nothing.

use super::filter::LedgerRule;
use super::party::Party;
use super::{LedgerError, LedgerErrorOf, StoreError};
use crate::account::{ChildLoss, WholeLoss, left_in_both};
use crate::compose::{Discipline, FilterGate, LaunchError, Preview, Price, preview};
use crate::machine::{Mechanism, guarded};
use crate::privacy::{Private, Relation};

impl<D, F, R, X> Party<D, F, R, X>
where
    D: ?Sized,
    F: LedgerRule,
    R: Relation,
    X: Discipline,
{
    /// Whether a launch with this loss would be admitted now, by the filter and by every quota.
    /// The loss is taken as a launch takes it: for both orders where no dataset comes first. Nothing
    /// is written.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn would_admit(&self, loss: &ChildLoss<F>) -> Result<bool, StoreError> {
        match self.shared().terms.price_of::<FilterGate<F>, R>(loss) {
            Ok(price) => self.would_take(&price),
            // A store that does not answer is reported, whatever was asked.
            Err(_) => self.is_running().map(|_| false),
        }
    }

    fn is_running(&self) -> Result<bool, StoreError> {
        match self.shared().running().map_err(|denial| *denial) {
            Err(LedgerError::Store(error)) => Err(error),
            running => Ok(running.is_ok()),
        }
    }

    /// Whether a launch at this price would be admitted now.
    pub(super) fn would_take(&self, price: &Price<ChildLoss<F>>) -> Result<bool, StoreError> {
        if !self.is_running()? {
            return Ok(false);
        }
        let loss = &price.first;
        self.shared().read(|book| {
            let fits = || {
                let mut quotas = book.quotas_at(&self.seat.quotas);
                quotas.all(|quota| quota.rule.charge(loss).is_ok())
            };
            guarded(|| Ok(book.gate().would_admit(loss) && fits())).unwrap_or(false)
        })
    }

    /// What a launch of this mechanism would cost, and how many such launches the filter and every
    /// quota would admit. Nothing is charged or written. [`Preview`] has an example.
    ///
    /// # Errors
    ///
    /// Why no such mechanism could be launched, whatever is left of the budget, and those of the
    /// store.
    pub fn preview<'m, M>(
        &self,
        mechanism: &'m M,
    ) -> Result<Preview<'m, M, ChildLoss<F>>, LedgerErrorOf<F>>
    where
        M: Mechanism<D> + Private<F::Children, R>,
    {
        let price = self.price(mechanism)?;
        let left = self.shared().read(|book| {
            guarded(|| {
                let filter = book.gate().launches_left(&price.first);
                let quotas = book.quotas_at(&self.seat.quotas);
                Ok(quotas.fold(filter, |left, quota| {
                    left_in_both(left, quota.rule.launches_left(&price.first))
                }))
            })
        })?;
        let left = left.map_err(|_| LaunchError::RuleFailed)?;
        Ok(preview(mechanism, price.first, left))
    }

    /// What is left of the filter's budget, in the children's measure.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn remaining(&self) -> Result<ChildLoss<F>, StoreError> {
        self.shared().read(|book| book.rule().remaining())
    }

    /// What is left of each of its quotas.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn quotas_remaining(&self) -> Result<Vec<ChildLoss<F>>, StoreError> {
        self.shared().read(|book| {
            let quotas = book.quotas_at(&self.seat.quotas);
            quotas.map(|quota| quota.rule.remaining()).collect()
        })
    }

    /// What all parties together have spent.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn privacy_loss(&self) -> Result<WholeLoss<F>, StoreError> {
        self.shared().read(|book| book.rule().spent())
    }
}
