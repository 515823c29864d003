//! The core of interactive differential privacy.
//!
//! ```text
//! (state, query; coins) -> (state', answer)
//! ```
//!
//! A mechanism that answers several queries is a randomized state machine. This crate has the
//! machines, the measures in which they state their losses, the rules by which losses add up, and
//! the compositors that launch machines under a budget: filters, odometers, and what is built of
//! them. It has no mechanisms, no noise, no threads and few dependencies.
//!
//! It is for frameworks that bring mechanisms of their own. Programs use `queryables`, the toolkit on
//! top: it re-exports all of this under the same paths, and adds noise, mechanisms, individual
//! budgets, f-DP, exact verification and ledgers. The examples below are written for it.
//!
//! A framework implements [`Mechanism`](machine::Mechanism) and [`Private`](privacy::Private), and
//! hands out what [`start`] returns:
//!
//! ```
//! use queryables_core::prelude::*;
//! use std::num::NonZeroU64;
//! use std::sync::Arc;
//!
//! /// Says the truth with odds of 3 to 1.
//! #[derive(Clone)]
//! struct Response {
//!     four: NonZeroU64,
//!     epsilon: Epsilon,
//! }
//!
//! impl Mechanism<bool> for Response {
//!     type Machine = Released<bool>;
//!
//!     fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
//!         let lies = coins.uniform(self.four)? == 0;
//!         Ok(Released(**data != lies))
//!     }
//! }
//!
//! impl Private<PureDp, Replace> for Response {
//!     fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
//!         Ok(self.epsilon)
//!     }
//! }
//!
//! // ln 3, rounded up.
//! let four = NonZeroU64::new(4).ok_or("not zero")?;
//! let response = Response { four, epsilon: "1.0987".parse()? };
//! let filter = Filter::concurrent(PureDp, "1.5".parse()?).under(Replace);
//! let filter = start(&filter, Arc::new(true))?;
//! let answer: bool = filter.release(&response)?;
//! // It is refused before the data is touched.
//! assert!(matches!(filter.release(&response), Err(LaunchError::Refused(_))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules, each built on those above it only
//!
//! | module | what lives there |
//! |---|---|
//! | [`number`] | exact decimals, ratios, intervals rounded outward |
//! | [`machine`] | machines, mechanisms, coins, adversaries, views |
//! | [`data`] | datasets, folds, and a pass over all records |
//! | [`privacy`] | measures and their losses, neighbouring relations, facts and their prices, conversions |
//! | [`account`] | how losses add up: accumulators and continuation rules |
//! | [`queryable`] | the handles that analysts hold |
//! | [`compose`] | filters, odometers, and other compositors |
//! | [`middle`] | the person in the middle, and ready-made ones |

#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]
#![warn(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate
)]
// In the library only: tests and examples may panic.
#![cfg_attr(
    not(test),
    warn(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

pub mod account;
pub mod compose;
pub mod data;
mod fields;
pub mod machine;
pub mod middle;
pub mod number;
pub mod privacy;
pub mod queryable;
mod sync;
#[cfg(test)]
mod tests;
#[doc(hidden)]
#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub mod toolkit;

pub use queryable::start;

/// What most programs need, in one `use`.
///
/// To launch, read and ask: filters, odometers, the common measures and their numbers. Authors of
/// mechanisms also take [`machine`], of middles [`middle`], of measures [`privacy`].
pub mod prelude {
    pub use crate::compose::{Filter, LaunchError, Odometer};
    pub use crate::machine::{Coins, Fault, Machine, Mechanism, Released};
    pub use crate::middle::ThroughExt;
    pub use crate::number::{Delta, Epsilon, Rho};
    pub use crate::privacy::{
        AddRemove, ApproxDp, EpsilonDelta, Private, PureDp, Replace, UnknownLoss, ZCdp,
    };
    pub use crate::queryable::{AskError, Queryable, start};
    pub use crate::{confidence, delta, epsilon, mu, rho};
}

/// How other frameworks embed the crate, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../spec/embedding.md")]
struct Embedding;
