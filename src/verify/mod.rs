//! Exact privacy of interactive mechanisms against every adaptive adversary.

mod branching;
mod claim;
mod divergence;
mod error;
mod interval;
mod laws;
mod menu;
mod objective;
mod side;
mod solve;
#[cfg(feature = "proptest")]
pub mod strategies;
mod strategy;
mod tree;
mod truncated;
mod verifier;
mod views;

pub use claim::{Checkable, Verdict, assert_private, epsilon_of_ratio};
pub use dashu_ratio::RBig as Rational;
pub use divergence::Divergences;
pub use error::VerifyError;
pub use interval::Interval;
pub use menu::{ByTranscript, Children, Menu};
pub use objective::Value;
pub use strategy::{Player, Strategy};
pub use truncated::{Truncated, TruncatedMachine};
pub use verifier::{Completeness, Direction, Pair, Verifier, Worst, renyi_divergence};
pub use views::{Distribution, views};
