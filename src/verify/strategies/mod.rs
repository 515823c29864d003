//! Strategies for property tests with [`proptest`](https://docs.rs/proptest): datasets with
//! neighbours, losses, mechanisms whose loss is true, adversaries, and whole conversations; and a
//! check of the sensitivity of scores ([`assert_sensitivity`]).
//!
//! All shrink to small, readable cases: few rows, short decimals, odds of one, adversaries that
//! ignore answers, conversations of a few messages.
//!
//! ```
//! use proptest::prelude::*;
//! use queryables::privacy::PureDp;
//! use queryables::verify::strategies::finite_mechanisms;
//! use queryables::verify::{Pair, Verifier, copies_of};
//!
//! proptest!(ProptestConfig::with_cases(10), |(mechanism in finite_mechanisms())| {
//!     let menu = mechanism.queries();
//!     let pair = Pair::new(false, true);
//!     let loss = mechanism.total_loss()?;
//!     Verifier::by_state(copies_of(&mechanism), &pair, menu, 2).assert_private(&PureDp, &loss);
//! });
//! ```

mod adversaries;
mod conversations;
mod data;
mod losses;
mod mechanisms;
mod scores;

pub use adversaries::{Reaction, adversaries};
pub use conversations::conversations;
pub use data::{datasets, neighbours, replaced};
pub use losses::{deltas, epsilon_deltas, epsilons};
pub use mechanisms::{FiniteMechanism, finite_mechanisms};
pub use scores::assert_sensitivity;
