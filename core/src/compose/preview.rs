//! What a launch would cost, before it is made.

use std::fmt;

use super::engine;
use super::filter::FilterGate;
use super::gate::{DenialOf, PriceOf};
use super::{Discipline, FilterMachine, LaunchError, RunningFilter};
use crate::account::{ChildLoss, ContinuationRule, LaunchesLeft, WholeLoss};
use crate::machine::{Coins, Mechanism, guarded};
use crate::privacy::{Private, Relation};

/// What a filter says about a mechanism without launching it: what it would cost, and how many such
/// launches are left. If the mechanism states its accuracy (`Accuracy`), so does the
/// preview.
///
/// ```
/// use queryables::account::LaunchesLeft;
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Accuracy, Count};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let filter = start(&Filter::concurrent(PureDp, "1".parse()?), ages)?;
/// let adults = Predicate::new("at least 18", |age: &i32| *age >= 18);
/// let count = Count::of(adults).laplace(epsilon!(0.3))?;
///
/// let preview = filter.preview(&count)?;
/// assert_eq!(*preview.cost(), "0.3".parse()?);
/// assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(3));
/// assert_eq!(preview.accuracy("0.95".parse()?), 10);
/// assert_eq!(
///     preview.to_string(),
///     "Count(predicate = at least 18, relation = add or remove one row, epsilon = 0.3) costs ε = 0.3; launches left: 3",
/// );
/// // Nothing was charged.
/// assert_eq!(filter.privacy_loss(), "0".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// Everything in it is public: it is computed from what the mechanism states and from the filter's
/// own count of losses. The data is not touched, nothing is charged or written, and a filter that
/// [halts](super::Filter::halting) does not halt. Other launches may come between a preview and the
/// launch.
#[derive(Clone, Copy)]
pub struct Preview<'m, M: ?Sized, L> {
    mechanism: &'m M,
    cost: L,
    launches_left: LaunchesLeft,
}

impl<'m, M: ?Sized, L> Preview<'m, M, L> {
    pub(crate) fn new(mechanism: &'m M, cost: L, launches_left: LaunchesLeft) -> Self {
        Self {
            mechanism,
            cost,
            launches_left,
        }
    }

    /// The mechanism.
    #[must_use]
    pub fn mechanism(&self) -> &'m M {
        self.mechanism
    }

    /// The loss that a launch would be charged, in the children's measure.
    pub fn cost(&self) -> &L {
        &self.cost
    }

    /// How many launches with this loss would be admitted from now on, one after the other. It is
    /// zero if the filter has halted.
    #[must_use]
    pub fn launches_left(&self) -> LaunchesLeft {
        self.launches_left
    }
}

impl<M: fmt::Debug + ?Sized, L: fmt::Display> fmt::Display for Preview<'_, M, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mechanism, cost, left) = (self.mechanism, &self.cost, self.launches_left);
        write!(f, "{mechanism:?} costs {cost:#}; launches left: {left}")
    }
}

crate::debug_fields!([M: ?Sized, L: fmt::Debug] Preview<'_, M, L>, "Preview" { cost, launches_left, .. });

impl<F: ContinuationRule> FilterGate<F> {
    /// Whether a launch with this loss would be admitted now.
    pub fn would_admit(&self, loss: &ChildLoss<F>) -> bool {
        self.halt.is_none() && self.charged(loss).is_ok()
    }

    /// How many launches with this loss it would admit.
    pub fn launches_left(&self, loss: &ChildLoss<F>) -> LaunchesLeft {
        if self.halt.is_some() {
            return LaunchesLeft::Exactly(0);
        }
        let left = self.rule.admits(loss);
        match self.count_limit {
            Some(limit) => left.and(LaunchesLeft::Exactly(limit.saturating_sub(self.launched))),
            None => left,
        }
    }

    /// What it says about a mechanism with this price.
    fn preview<'m, M: ?Sized>(
        &self,
        mechanism: &'m M,
        price: PriceOf<Self>,
    ) -> Result<Preview<'m, M, ChildLoss<F>>, DenialOf<Self>> {
        let left = guarded(|| Ok(self.launches_left(&price.first)));
        let left = left.map_err(|_| LaunchError::RuleFailed)?;
        Ok(Preview::new(mechanism, price.first, left))
    }
}

type Previewed<'m, M, F> =
    Result<Preview<'m, M, ChildLoss<F>>, LaunchError<ChildLoss<F>, WholeLoss<F>>>;

impl<D: ?Sized, F: ContinuationRule, R: Relation, X: Discipline> RunningFilter<D, F, R, X> {
    /// What a launch of this mechanism would cost and how many such launches are left, without
    /// charging anything. [`Preview`] has an example.
    ///
    /// # Errors
    ///
    /// Why no such mechanism could be launched, whatever is left of the budget.
    pub fn preview<'m, M>(&self, mechanism: &'m M) -> Previewed<'m, M, F>
    where
        M: Mechanism<D> + Private<F::Children, R>,
    {
        let price = self.price(mechanism)?;
        // Counting may take a while: not under the lock.
        let gate = self.read(Clone::clone);
        Ok(gate.preview(mechanism, price)?)
    }
}

impl<D: ?Sized, F: ContinuationRule, R: Relation, X: Discipline> FilterMachine<D, F, R, X> {
    /// What a launch of this mechanism would cost and how many such launches are left, without
    /// charging anything: as a [`RunningFilter`] says it. [`Preview`] has an example.
    ///
    /// # Errors
    ///
    /// Why no such mechanism could be launched, whatever is left of the budget.
    pub fn preview<'m, M>(&self, mechanism: &'m M, coins: &Coins<'_>) -> Previewed<'m, M, F>
    where
        M: Mechanism<D> + Private<F::Children, R>,
    {
        let check = || Ok(self.launches.check(coins).map_err(LaunchError::Stopped)?);
        let price: Result<_, DenialOf<FilterGate<F>>> =
            engine::price::<_, FilterGate<F>, _, _, _>(&self.terms, &*self.data, mechanism, check);
        Ok(self.gate().preview(mechanism, price?)?)
    }
}
