//! What a launch would cost, before it is made.

use std::fmt;

use super::engine;
use super::gate::{DenialOf, PriceOf};
use super::{Discipline, FilterGate, FilterMachine, LaunchError, RunningFilter};
use crate::account::{ChildLoss, ContinuationRule, LaunchesLeft, WholeLoss};
use crate::machine::{Coins, Mechanism, guarded};
use crate::privacy::{Private, Relation};

/// What a filter says about a mechanism without launching it: what it would cost, and how many such
/// launches are left. If the mechanism [states its accuracy](crate::mechanisms::Accuracy), so does the
/// preview.
///
/// ```
/// use queryables::account::LaunchesLeft;
/// use queryables::data::Predicate;
/// use queryables::mechanisms::NoisyCount;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), ages)?;
/// let adults = Predicate::new("at least 18", |age: &i32| *age >= 18);
/// let count = NoisyCount::new(adults, "0.3".parse()?)?;
///
/// let preview = filter.preview(&count)?;
/// assert_eq!(*preview.cost(), "0.3".parse()?);
/// assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(3));
/// assert_eq!(preview.accuracy("0.95".parse()?), 10);
/// assert_eq!(
///     preview.to_string(),
///     "NoisyCount(predicate = at least 18, epsilon = 0.3) costs ε = 0.3; launches left: 3",
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
    pub(crate) mechanism: &'m M,
    cost: L,
    left: LaunchesLeft,
}

impl<'m, M: ?Sized, L> Preview<'m, M, L> {
    pub(crate) fn new(mechanism: &'m M, cost: L, left: LaunchesLeft) -> Self {
        Self {
            mechanism,
            cost,
            left,
        }
    }

    /// The loss that a launch would be charged, in the children's measure.
    pub fn cost(&self) -> &L {
        &self.cost
    }

    /// How many launches with this loss would be admitted from now on, one after the other. It is
    /// zero if the filter has halted.
    #[must_use]
    pub fn launches_left(&self) -> LaunchesLeft {
        self.left
    }
}

impl<M: fmt::Debug + ?Sized, L: fmt::Display> fmt::Display for Preview<'_, M, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            mechanism,
            cost,
            left,
        } = self;
        write!(f, "{mechanism:?} costs {cost:#}; launches left: {left}")
    }
}

impl<M: ?Sized, L: fmt::Debug> fmt::Debug for Preview<'_, M, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Preview")
            .field("cost", &self.cost)
            .field("launches_left", &self.left)
            .finish_non_exhaustive()
    }
}

impl<F: ContinuationRule> FilterGate<F> {
    /// Whether a launch with this loss would be admitted now.
    pub(crate) fn would_admit(&self, loss: &ChildLoss<F>) -> bool {
        self.halt.is_none() && self.charged(loss).is_ok()
    }

    /// How many launches with this loss it would admit.
    pub(crate) fn launches_left(&self, loss: &ChildLoss<F>) -> LaunchesLeft {
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
        let price = self.price(mechanism).map_err(|denial| *denial)?;
        // Counting may take a while: not under the lock.
        let gate = self.read(Clone::clone);
        let preview = gate.preview(mechanism, price);
        preview.map_err(|denial| *denial)
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
        let price =
            engine::price::<_, FilterGate<F>, _, _, _>(&self.terms, &*self.data, mechanism, check);
        let preview = price.and_then(|price| self.gate().preview(mechanism, price));
        preview.map_err(|denial| *denial)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::compose::{AnyFilter, Filter};
    use crate::data::Predicate;
    use crate::launch;
    use crate::machine::{CoinSource, Coins, Fault, NotPrivateSeededCoins, Released, Stop};
    use crate::mechanisms::{GaussianCount, NoisyCount};
    use crate::number::Epsilon;
    use crate::privacy::{AddRemove, PureDp, UnknownLoss, ZCdp};

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    /// Counts how often the data is touched.
    fn counting(touched: &Arc<AtomicU32>, loss: &str) -> NoisyCount<Vec<u8>> {
        let touched = Arc::clone(touched);
        let all = Predicate::new("all", move |_: &u8| {
            touched.fetch_add(1, Ordering::Relaxed);
            true
        });
        NoisyCount::new(all, epsilon(loss)).unwrap()
    }

    #[test]
    fn asking_touches_nothing_and_the_number_is_what_is_admitted() {
        let touched = Arc::default();
        let count = counting(&touched, "0.3");
        let filter = Filter::concurrent(PureDp, epsilon("1"));
        let filter = launch(&filter.halting(), Arc::new(vec![1])).unwrap();
        for left in (0..=3).rev() {
            for _ in 0..2 {
                let preview = filter.preview(&count).unwrap();
                assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(left));
                assert_eq!(*preview.cost(), epsilon("0.3"));
            }
            assert_eq!(filter.launched(), 3 - left);
            assert_eq!(touched.load(Ordering::Relaxed), 3 - left as u32);
            // Not even a preview of what is over budget halts it.
            assert_eq!(filter.halt(), None);
            assert_eq!(filter.release(&count).is_ok(), left > 0);
        }
        assert!(filter.halt().is_some());
        let cheap = counting(&touched, "0.1");
        let preview = filter.preview(&cheap).unwrap();
        assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(0));
    }

    /// Step by step, the machine says what the handle says.
    #[test]
    fn a_machine_has_the_preview_of_its_handle() {
        let touched = Arc::default();
        let count = counting(&touched, "0.3");
        let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
        let data = Arc::new(vec![1]);
        let handle = launch(&filter, Arc::clone(&data)).unwrap();
        let mut source = NotPrivateSeededCoins::new(1);
        let coins: &mut Coins<'_> = &mut source.coins();
        let mut machine = filter.start(&data, coins).unwrap();
        for _ in 0..5 {
            let [one, other] = [
                machine.preview(&count, coins).unwrap(),
                handle.preview(&count).unwrap(),
            ];
            assert_eq!(one.cost(), other.cost());
            assert_eq!(one.launches_left(), other.launches_left());
            let admitted = machine.release(&count, coins).is_ok();
            assert_eq!(admitted, one.launches_left() != LaunchesLeft::Exactly(0));
            assert_eq!(handle.release(&count).is_ok(), admitted);
        }
        // Three launches of each: previews touched nothing.
        assert_eq!(touched.load(Ordering::Relaxed), 6);
        let (token, stopper) = coins.token().extended();
        stopper.stop(Stop::Halted);
        let preview = coins.under(&token, |coins| machine.preview(&count, coins).err());
        assert_eq!(preview, Some(LaunchError::Stopped(Stop::Halted)));
    }

    #[test]
    fn a_limit_on_the_number_of_launches_counts() {
        let touched = Arc::default();
        let count = counting(&touched, "0.1");
        let filter = Filter::concurrent(PureDp, epsilon("1")).at_most(2);
        let filter = launch(&filter, Arc::new(vec![1])).unwrap();
        let left = || filter.preview(&count).unwrap().launches_left();
        assert_eq!(left(), LaunchesLeft::Exactly(2));
        filter.release(&count).unwrap();
        assert_eq!(left(), LaunchesLeft::Exactly(1));
    }

    #[test]
    fn what_has_no_loss_has_no_preview() {
        struct Nothing;
        impl Mechanism<Vec<u8>> for Nothing {
            type Machine = Released<()>;

            fn start(&self, _: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
                Ok(Released(()))
            }
        }
        impl Private<PureDp, AddRemove> for Nothing {
            fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
                Err(UnknownLoss("none is known"))
            }
        }
        let outer = Filter::concurrent(PureDp, epsilon("1")).halting();
        let outer = launch(&outer, Arc::new(vec![1])).unwrap();
        let inner = outer
            .launch(&Filter::concurrent(PureDp, epsilon("0.5")))
            .unwrap();
        let error = inner.preview(&Nothing).unwrap_err();
        assert_eq!(
            error,
            LaunchError::UnknownLoss(UnknownLoss("none is known"))
        );
        let touched = Arc::default();
        let dear = counting(&touched, "0.6");
        let refused = outer.release(&dear).unwrap_err();
        assert!(matches!(refused, LaunchError::Refused(_)));
        let error = inner.preview(&dear).unwrap_err();
        assert_eq!(error, LaunchError::Stopped(Stop::Halted));
    }

    #[test]
    fn filters_of_any_measure_preview_too() {
        let touched = Arc::default();
        let count = counting(&touched, "0.3");
        let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(vec![1])).unwrap();
        let any = AnyFilter::from(filter);
        let preview = any.preview(&count).unwrap();
        assert_eq!(preview.cost().get(), Some(&epsilon("0.3")));
        assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(3));
        assert_eq!(preview.accuracy("0.95".parse().unwrap()), 10);
        let zcdp = Filter::concurrent(ZCdp, "0.5".parse().unwrap());
        let zcdp = AnyFilter::from(launch(&zcdp, Arc::new(vec![1_u8])).unwrap());
        let all = Predicate::new("all", |_: &u8| true);
        let count = GaussianCount::new(all, "0.1".parse().unwrap()).unwrap();
        let preview = zcdp.preview(&count).unwrap();
        assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(5));
    }
}
