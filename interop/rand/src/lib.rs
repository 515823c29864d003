//! [`queryables`](queryables_core) and the rand ecosystem, in both directions.
//!
//! | | |
//! |---|---|
//! | [`RngCoins`] | coins from any secure generator: a hardware module, a generator that your rules require |
//! | [`CoinsRng`], [`with_rng`] | code that takes a generator, `rand_distr` for example, on the coins of a machine |
//!
//! It is a crate of its own because `rand_core` is at version 0.10 and its traits change with each
//! minor version; `queryables` does not name them in its API. This version is for `rand_core` 0.10.

#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]

mod coins;
mod rng;

pub use coins::RngCoins;
pub use rng::{CoinsRng, with_rng};
