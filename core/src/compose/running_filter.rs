//! The handle to a running filter.

use super::filter::HaltOf;
use super::gate::PriceOf;
use super::{Discipline, FilterGate, Interleaved, RunningCompositor};
use crate::account::{Capped, ChildLoss, ContinuationRule, DefaultAccumulator, WholeLoss};
use crate::machine::guarded;
use crate::privacy::{AddRemove, Relation};

/// A running [`Filter`](super::Filter) on data of type `D`: what an analyst launches mechanisms
/// with.
///
/// It is a handle: clones share one budget, and it can be sent between threads. Children are
/// independent: they may outlive it, run on other threads, and block neither each other nor their
/// parent. What has been spent can be read at any time, in constant time, without changing
/// anything.
///
/// To name its type in a program, by the data and the measure, use [`RunningFilterOf`].
///
/// # Guarantee
///
/// That of the [`Filter`](super::Filter).
///
/// # Example
///
/// ```
/// use queryables::compose::RunningFilterOf;
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{AboveThreshold, Count};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// struct Session {
///     filter: RunningFilterOf<Vec<u32>, PureDp>,
/// }
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let filter = start(&Filter::concurrent(PureDp, "1".parse()?), ages)?;
/// let session = Session { filter };
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count: i64 = session.filter.release(&Count::of(adults).laplace(epsilon!(0.4))?)?;
/// assert_eq!(session.filter.privacy_loss(), "0.4".parse()?);
/// assert_eq!(session.filter.remaining(), "0.6".parse()?);
/// assert!(!session.filter.would_admit(&"0.7".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type RunningFilter<D, F, R = AddRemove, X = Interleaved> =
    RunningCompositor<D, FilterGate<F>, R, X>;

/// A running filter with the measure's own rule: what [`start`](crate::start) makes of
/// `Filter::concurrent(measure, budget)`.
///
/// Example: [`RunningFilter`](crate::compose::RunningFilter).
pub type RunningFilterOf<D, Me, R = AddRemove, X = Interleaved> =
    RunningFilter<D, Capped<<Me as DefaultAccumulator>::Accumulator>, R, X>;

/// What can be read, at any time, without changing anything.
impl<D: ?Sized, F: ContinuationRule, R: Relation, X: Discipline> RunningFilter<D, F, R, X> {
    /// What is left of the budget: a loss that it would admit, like any smaller one. For losses
    /// that are one number it is the largest such loss.
    ///
    /// A launch may be refused for other reasons than the budget: see
    /// [`would_admit`](Self::would_admit).
    #[must_use]
    pub fn remaining(&self) -> ChildLoss<F> {
        self.read(|gate| gate.rule.remaining())
    }

    /// The part of [`privacy_loss`](Self::privacy_loss) that no launch has cost: what the rule set
    /// aside when it was built ([`ContinuationRule::set_aside`]).
    ///
    /// ```
    /// use queryables::account::ThroughZCdp;
    /// use queryables::prelude::*;
    /// use std::sync::Arc;
    ///
    /// let rule = ThroughZCdp::tight(EpsilonDelta::new("1", "1e-6")?, "5e-7".parse()?)?;
    /// let filter = start(&Filter::concurrent_with(rule), Arc::new(vec![17, 18]))?;
    /// // Nothing was launched yet.
    /// assert_eq!(filter.privacy_loss().to_string(), "(0, 5e-7)");
    /// assert_eq!(filter.set_aside(), filter.privacy_loss());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn set_aside(&self) -> WholeLoss<F> {
        self.read(|gate| gate.rule.set_aside())
    }

    /// The budget.
    #[must_use]
    pub fn limit(&self) -> WholeLoss<F> {
        self.read(|gate| gate.rule.limit().clone())
    }

    /// The number of mechanisms launched so far.
    #[must_use]
    pub fn launched(&self) -> u64 {
        self.read(|gate| gate.launched)
    }

    /// Whether a launch with this loss would be admitted now: whether the budget and the limit on
    /// the number of launches allow it, and the filter was not halted or frozen. The loss is taken as
    /// [`admit`](Self::admit) takes it: for both orders where no dataset comes first.
    #[must_use]
    pub fn would_admit(&self, loss: &ChildLoss<F>) -> bool {
        let price = self.terms().price_of::<FilterGate<F>, R>(loss);
        price.is_ok_and(|price| self.would_take(&price))
    }

    /// Whether a launch at this price would be admitted now.
    pub(super) fn would_take(&self, price: &PriceOf<FilterGate<F>>) -> bool {
        !self.is_stopped()
            && self
                .read(|gate| guarded(|| Ok(gate.would_admit(&price.first))))
                .unwrap_or(false)
    }

    /// Why it halted, if it did.
    #[must_use]
    pub fn halt(&self) -> Option<HaltOf<F>> {
        self.read(|gate| gate.halt.as_deref().cloned())
    }
}
