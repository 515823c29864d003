//! For `queryables` alone, the toolkit on top of this crate: what it needs beyond the public surface.
//! Nothing here is stable, and no program may rely on it.
//!
//! The modules have the names of those that they belong to. Methods that public types do not show
//! are traits here.
//!
//! Nothing here makes a handle from a caller's coins. Whoever can do that can rewind a conversation.
//! A handle is made by [`IntoHandle`](crate::queryable::IntoHandle), which takes
//! [`SystemCoins`](crate::machine::SystemCoins) and an [`Opening`](queryable::Opening), and only this
//! crate has one.

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
    use std::sync::Arc;

    use crate::machine::{Bernoulli, DrawnNoise, Inspect, Public, StateKey};
    use crate::number::Ratio;

    pub use crate::machine::conversation::view_of;
    pub use crate::machine::errand::Errand;
    pub use crate::machine::guard::caught;
    pub use crate::machine::released::{Known, Later};
    pub use crate::machine::source::total_weight;

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
    pub use crate::data::fold::steps_of;
    pub use crate::data::pass::{Chunk, in_chunks};
}

/// Helpers of measures.
pub mod privacy {
    pub use crate::privacy::implies::half_square;
    pub use crate::privacy::measure::{CallsBack, checked};
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
    pub use crate::account::left::largest;

    /// What is spent of δ.
    pub mod deltas {
        pub use crate::account::deltas::Deltas;
    }

    /// What an (ε, δ) launch costs as zero-concentrated privacy.
    pub mod twice_rho {
        pub use crate::account::twice_rho::{in_squared_units, squares, twice_rho};
    }
    pub use crate::approx_dp_in_and_out;

    /// Rules that are written down.
    #[cfg(feature = "serde")]
    pub mod durable {
        pub use crate::account::durable::{Counts, Parameters, impossible};
    }
}

/// How a machine of the toolkit's own becomes a handle of its own.
pub mod queryable {
    use std::sync::Arc;

    use crate::machine::{CoinSource, Fault, Mechanism, StopToken, SystemCoins};
    use crate::queryable::Child;

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

    /// A child whose machine is put inside another one.
    pub trait Wrapped<S> {
        /// The same child with the other machine. `None` if it is closed.
        fn map<T>(self, wrap: impl FnOnce(S) -> T) -> Option<Child<T>>;
    }

    impl<S> Wrapped<S> for Child<S> {
        fn map<T>(self, wrap: impl FnOnce(S) -> T) -> Option<Child<T>> {
            self.map(wrap)
        }
    }
}

/// Gates of the toolkit's own, and filters whose budget a ledger keeps.
pub mod compose {
    pub use crate::compose::gate::sealed::Decides;
    pub use crate::compose::gate::{DenialOf, NoPrice, Price, PriceOf, Terms};
    pub use crate::compose::ledgered::Ledgered;
    pub use crate::compose::slot::Slot;
}
