//! For `queryables` alone, the toolkit on top of this crate: what it needs beyond the public surface.
//! Nothing here is stable, and no program may rely on it.
//!
//! The modules have the names of those that they belong to. Methods that public types do not show
//! are functions here.
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

    /// What is public of this data, for code that holds it.
    #[inline]
    pub fn public<D: ?Sized>(data: &D) -> Public<'_, D> {
        Public::of(data)
    }

    /// The same for a part of the data.
    #[inline]
    pub fn public_part<'a, D: ?Sized, E: ?Sized>(
        data: Public<'a, D>,
        part: impl FnOnce(&'a D) -> &'a E,
    ) -> Public<'a, E> {
        data.part(part)
    }

    /// The key of this state, for whoever explores states.
    pub fn key_of<T: Inspect + ?Sized>(state: &T) -> Vec<u8> {
        StateKey::of(state)
    }

    /// Noise that was drawn.
    pub fn noise_drawn(drawn: i128) -> DrawnNoise {
        DrawnNoise::new(drawn)
    }

    /// Noise that the source draws when it is released or compared.
    pub fn noise_later(later: &Arc<Later>) -> DrawnNoise {
        DrawnNoise::later(later)
    }

    /// What the source knows of noise that it draws later; none if it was drawn.
    pub fn later_of(noise: &DrawnNoise) -> Option<&Arc<Later>> {
        noise.as_later()
    }

    /// The sum of both.
    pub fn with_noise(noise: &DrawnNoise, truth: i128) -> i128 {
        noise.added_to(truth)
    }

    /// The same context; the kind of the answer is stated here, for whoever explores what machines
    /// answer.
    pub fn observed<'a, S: CoinSource>(
        coins: Coins<'a, S>,
        kind: &'a Cell<AnswerKind>,
    ) -> Coins<'a, S> {
        coins.observed(kind)
    }

    /// The probability that a coin is 1.
    pub fn odds(coin: &Bernoulli) -> Ratio {
        coin.odds()
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
    use crate::account::{LaunchesLeft, ThroughRdp, ThroughZCdp};
    use crate::number::u256::U256;
    use crate::number::{Delta, Epsilon};

    pub use crate::account::left::Repeats;
    pub use crate::account::rogers::drift_of;
    pub use crate::account::through_rdp::RdpChildren;
    pub use crate::account::through_zcdp::ZCdpChildren;

    /// How many launches are left where both must admit each.
    pub fn left_in_both(one: LaunchesLeft, other: LaunchesLeft) -> LaunchesLeft {
        one.and(other)
    }

    /// What children may still cost, and what is left of δ.
    pub fn zcdp_left<C: ZCdpChildren>(rule: &ThroughZCdp<C>) -> (U256, Delta) {
        (rule.cost_left(), rule.delta_left())
    }

    /// What children may still cost, and what is left of δ.
    pub fn rdp_left<C: RdpChildren>(rule: &ThroughRdp<C>) -> (Epsilon, Delta) {
        (rule.cost_left(), rule.delta_left())
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

    /// Starts a mechanism that a ledger has admitted, and makes the handle to it, with the operating
    /// system's coins.
    ///
    /// # Errors
    ///
    /// As for [`Ticket::start`].
    #[inline]
    pub fn open<D: ?Sized, M: Mechanism<D, Machine: IntoHandle>>(
        ticket: Ticket,
        mechanism: &M,
        data: &Arc<D>,
    ) -> Result<HandleOf<M, D>, Fault> {
        ticket.open(mechanism, data)
    }

    /// Starts a mechanism that a ledger has admitted and that answers once.
    ///
    /// # Errors
    ///
    /// As for [`Ticket::start`].
    #[inline]
    pub fn release<D: ?Sized, M: Mechanism<D, Machine: Answered> + ?Sized>(
        ticket: Ticket,
        mechanism: &M,
        data: &Arc<D>,
        coins: &mut Coins<'_>,
    ) -> Result<<M::Machine as Answered>::Value, Fault> {
        ticket.release(mechanism, data, coins)
    }

    /// The same ticket, for a child that `other` stops too.
    pub fn joined(ticket: Ticket, other: &StopToken) -> Ticket {
        ticket.joined(other)
    }
}
