//! For `queryables` alone, the toolkit on top of this crate: what it needs beyond the public surface.
//! Nothing here is stable, and no program may rely on it.
//!
//! The modules have the names of those that they belong to. Methods that public types do not show
//! are traits here.
//!
//! Nothing here makes a handle from a caller's coins. Whoever can do that can rewind a conversation.
//! A handle is made by [`IntoHandle`](crate::queryable::IntoHandle) of an
//! [`Opening`](queryable::Opening): a machine that this crate has started with the operating system's
//! coins. Nobody else makes one, and what is inside it cannot be replaced.

/// Locks and atomics, which a scheduler interleaves where races are tested.
pub mod sync {
    pub use crate::sync::*;
}

/// Integers of 256 bits, and intervals that are rounded outward.
pub mod number {
    pub use crate::number::interval::Interval;
    pub use crate::number::u256::{U256, divide_product};
    pub use crate::number::wide_interval::WideInterval;

    /// The normal law.
    pub mod normal {
        pub use crate::number::normal::*;
    }
}

/// Guards, and noise that a source of coins draws later than it is asked for.
pub mod machine {
    use std::cell::Cell;
    use std::sync::Arc;

    use crate::machine::{
        AnswerKind, Bernoulli, CoinSource, Coins, DrawnNoise, Inspect, Public, StateKey,
    };
    use crate::number::Ratio;

    pub use crate::machine::conversation::view_of;
    pub use crate::machine::guard::{Quiet, caught};
    pub use crate::machine::released::{Known, Later};
    pub use crate::machine::source::total_weight;
    pub use crate::machine::thread_context::ThreadContext;

    /// Views of data, for code that holds it.
    pub trait PublicView<'a, D: ?Sized + 'a> {
        /// What is public of this data.
        fn of(data: &'a D) -> Self;

        /// The same for a part of the data.
        fn part<E: ?Sized>(self, part: impl FnOnce(&'a D) -> &'a E) -> Public<'a, E>;
    }

    impl<'a, D: ?Sized + 'a> PublicView<'a, D> for Public<'a, D> {
        #[inline]
        fn of(data: &'a D) -> Self {
            Public::of(data)
        }

        #[inline]
        fn part<E: ?Sized>(self, part: impl FnOnce(&'a D) -> &'a E) -> Public<'a, E> {
            self.part(part)
        }
    }

    /// Keys of states, for whoever explores them.
    pub trait KeyOf {
        /// The key of this state.
        fn of<T: Inspect + ?Sized>(state: &T) -> Vec<u8>;
    }

    impl KeyOf for StateKey {
        fn of<T: Inspect + ?Sized>(state: &T) -> Vec<u8> {
            StateKey::of(state)
        }
    }

    /// Noise, for a source that draws it later.
    pub trait Deferred: Sized {
        /// Noise that was drawn.
        fn new(drawn: i128) -> Self;

        /// Noise that the source draws when it is released or compared.
        fn later(later: &Arc<Later>) -> Self;

        /// What the source knows of it, unless it was drawn.
        fn as_later(&self) -> Option<&Arc<Later>>;

        /// The sum.
        fn added_to(&self, truth: i128) -> i128;
    }

    impl Deferred for DrawnNoise {
        fn new(drawn: i128) -> Self {
            DrawnNoise::new(drawn)
        }

        fn later(later: &Arc<Later>) -> Self {
            DrawnNoise::later(later)
        }

        fn as_later(&self) -> Option<&Arc<Later>> {
            self.as_later()
        }

        fn added_to(&self, truth: i128) -> i128 {
            self.added_to(truth)
        }
    }

    /// Contexts, for whoever explores what machines answer.
    pub trait Observed<'a> {
        /// The same context; the kind of the answer is stated here.
        fn observed(self, kind: &'a Cell<AnswerKind>) -> Self;
    }

    impl<'a, S: CoinSource> Observed<'a> for Coins<'a, S> {
        fn observed(self, kind: &'a Cell<AnswerKind>) -> Self {
            self.observed(kind)
        }
    }

    /// The odds of a coin.
    pub trait Odds {
        /// The probability of `true`.
        fn odds(&self) -> Ratio;
    }

    impl Odds for Bernoulli {
        fn odds(&self) -> Ratio {
            self.odds()
        }
    }
}

/// The parts of a pass over records.
pub mod data {
    pub use crate::data::fold::{Bins, Merge, RealSum, steps_of};
    pub use crate::data::pass::{CHUNK, Chunk, in_chunks};
}

/// Helpers of measures.
pub mod privacy {
    pub use crate::privacy::implies::half_square;
    pub use crate::privacy::measure::{Reentrant, checked, checked_under};
    pub use crate::written;

    /// Bounds that conversions are made of.
    pub mod convert {
        use crate::number::interval::Interval;
        use crate::number::{Delta, Quantity, Unit};
        use crate::privacy::{UnknownLoss, convert};

        /// Mechanisms of bounded range.
        pub mod bounded_range {
            pub use crate::privacy::convert::bounded_range::*;
        }

        /// Gaussian noise on a sample.
        pub mod sampled {
            pub use crate::privacy::convert::sampled::*;
        }

        /// Searches on a line.
        pub mod search {
            pub use crate::privacy::convert::search::*;
        }

        /// A probability, rounded up; whatever is more than 1 is 1.
        pub fn probability_up(probability: Interval) -> Delta {
            convert::probability_up(probability)
        }

        /// `ln(1/δ)`, if δ is not zero.
        pub fn log_inverse(delta: Delta) -> Result<Interval, UnknownLoss> {
            convert::log_inverse(delta)
        }

        /// A loss, rounded up.
        pub fn loss_up<U: Unit>(loss: Interval) -> Result<Quantity<U>, UnknownLoss> {
            convert::loss_up(loss)
        }

        /// `δ₁ + δ₂ − δ₁δ₂`, rounded up: either of two independent events.
        pub fn either(one: Delta, other: Delta) -> Delta {
            convert::either(one, other)
        }
    }
}

/// What rules are made of.
pub mod account {
    use crate::account::{ChildLoss, LaunchesLeft, ThroughRdp, ThroughZCdp};
    use crate::number::u256::U256;
    use crate::number::{Delta, Epsilon};

    pub use crate::account::left::Repeats;
    pub use crate::account::rogers::drift_of;
    pub use crate::account::through_rdp::RdpChildren;
    pub use crate::account::through_zcdp::ZCdpChildren;

    /// How rules count the launches that they would admit.
    pub trait CountsLaunches {
        /// By searching for the largest number that is admitted at once.
        fn by_repeating<F: Repeats>(rule: &F, loss: &ChildLoss<F>) -> Self;

        /// The largest number for which this holds.
        fn searched(holds: impl FnMut(u64) -> bool) -> Self;

        /// Where another rule must admit each launch, too.
        #[must_use]
        fn and(self, other: Self) -> Self;
    }

    impl CountsLaunches for LaunchesLeft {
        fn by_repeating<F: Repeats>(rule: &F, loss: &ChildLoss<F>) -> Self {
            Self::by_repeating(rule, loss)
        }

        fn searched(holds: impl FnMut(u64) -> bool) -> Self {
            Self::searched(holds)
        }

        fn and(self, other: Self) -> Self {
            self.and(other)
        }
    }

    /// What a rule with one threshold has left for children.
    pub trait Left {
        /// What children cost.
        type Cost;

        /// What is left of the cost.
        fn cost_left(&self) -> Self::Cost;

        /// What is left of δ.
        fn delta_left(&self) -> Delta;
    }

    impl<C: ZCdpChildren> Left for ThroughZCdp<C> {
        type Cost = U256;

        fn cost_left(&self) -> U256 {
            self.cost_left()
        }

        fn delta_left(&self) -> Delta {
            self.delta_left()
        }
    }

    impl<C: RdpChildren> Left for ThroughRdp<C> {
        type Cost = Epsilon;

        fn cost_left(&self) -> Epsilon {
            self.cost_left()
        }

        fn delta_left(&self) -> Delta {
            self.delta_left()
        }
    }

    /// What (ε, δ) rules count.
    pub mod budget {
        pub use crate::account::budget::{Budget, Cost};
    }

    /// What an (ε, δ) launch costs as zero-concentrated privacy.
    pub mod twice_rho {
        pub use crate::account::twice_rho::{in_squared_units, squares, twice_rho};
    }
    pub use crate::approx_dp_in_and_out;

    /// Rules that are written down.
    #[cfg(feature = "serde")]
    pub mod durable {
        pub use crate::account::durable::{Durable, ImpossibleCounts, Invalid};
    }
}

/// How a machine of the toolkit's own becomes a handle of its own.
pub mod queryable {
    use std::sync::Arc;

    use crate::machine::{CoinSource, Fault, Mechanism, StopToken, SystemCoins};
    use crate::queryable::Child;

    pub use crate::queryable::handle::SharedMachine;
    pub use crate::queryable::sealed::{Opening, Sealed};

    /// Starts a mechanism with the operating system's coins, in this token's scope, as a machine that
    /// is kept and not handed out.
    ///
    /// # Errors
    ///
    /// The mechanism's fault; [`Fault::Stopped`] if the token is stopped.
    pub fn started<D: ?Sized, M: Mechanism<D>>(
        mechanism: &M,
        data: &Arc<D>,
        token: &StopToken,
    ) -> Result<M::Machine, Fault> {
        Child::run(mechanism, data, token, &mut SystemCoins::new().coins())
    }
}

/// Gates of the toolkit's own, and filters whose budget a ledger keeps.
pub mod compose {
    use std::sync::Arc;

    use crate::account::{ChildLoss, ContinuationRule, LaunchesLeft, WholeLoss};
    use crate::compose::{AnyFilter, CompositorMachine, Gate, Preview, Refusal, Ticket};
    use crate::machine::{Answered, Coins, Fault, Mechanism, StopToken};
    use crate::queryable::{HandleOf, IntoHandle};

    pub use crate::compose::engine::{Launches, price};
    pub use crate::compose::erased::{AnyLaunchError, Charged, Ended, Erased, Erasing, States};
    pub use crate::compose::filter::{FilterGate, HaltOf};
    pub use crate::compose::gate::sealed::Decides;
    pub use crate::compose::gate::{DenialOf, Price, PriceOf, RuleCell, Terms};
    pub use crate::compose::ledgered::{LedgeredParts, ledgered_parts};

    /// An erased filter of the toolkit's own.
    pub fn any_filter<D: ?Sized, R>(filter: Arc<dyn Erased<D, R>>) -> AnyFilter<D, R> {
        AnyFilter::of(filter)
    }

    /// A compositor with a gate of the toolkit's own, started in this context.
    pub fn compositor<D: ?Sized, G: Gate, R, X>(
        data: &Arc<D>,
        terms: Terms<G::Children>,
        gate: G,
        coins: &Coins<'_>,
    ) -> CompositorMachine<D, G, R, X> {
        CompositorMachine::new(data, terms, gate, coins)
    }

    /// What a rule that does not admit a loss says.
    pub fn refusal<F: ContinuationRule>(
        rule: &F,
        requested: &ChildLoss<F>,
    ) -> Refusal<ChildLoss<F>, WholeLoss<F>> {
        Refusal::by(rule, requested)
    }

    /// What a launch would cost, and how many are left.
    pub fn preview<M: ?Sized, L>(mechanism: &M, cost: L, left: LaunchesLeft) -> Preview<'_, M, L> {
        Preview::new(mechanism, cost, left)
    }

    /// Launches that a ledger has admitted.
    pub trait Redeem: Sized {
        /// Starts the mechanism, and makes the handle to it, with the operating system's coins.
        ///
        /// # Errors
        ///
        /// As for [`Ticket::start`].
        fn open<D: ?Sized, M: Mechanism<D, Machine: IntoHandle>>(
            self,
            mechanism: &M,
            data: &Arc<D>,
        ) -> Result<HandleOf<M, D>, Fault>;

        /// Starts a mechanism that answers once.
        ///
        /// # Errors
        ///
        /// As for [`Ticket::start`].
        fn release<D: ?Sized, M: Mechanism<D, Machine: Answered> + ?Sized>(
            self,
            mechanism: &M,
            data: &Arc<D>,
            coins: &mut Coins<'_>,
        ) -> Result<<M::Machine as Answered>::Value, Fault>;

        /// The same, for a child that `other` stops too.
        fn joined(self, other: &StopToken) -> Self;
    }

    impl Redeem for Ticket {
        #[inline]
        fn open<D: ?Sized, M: Mechanism<D, Machine: IntoHandle>>(
            self,
            mechanism: &M,
            data: &Arc<D>,
        ) -> Result<HandleOf<M, D>, Fault> {
            self.open(mechanism, data)
        }

        #[inline]
        fn release<D: ?Sized, M: Mechanism<D, Machine: Answered> + ?Sized>(
            self,
            mechanism: &M,
            data: &Arc<D>,
            coins: &mut Coins<'_>,
        ) -> Result<<M::Machine as Answered>::Value, Fault> {
            self.release(mechanism, data, coins)
        }

        fn joined(self, other: &StopToken) -> Self {
            self.joined(other)
        }
    }
}
