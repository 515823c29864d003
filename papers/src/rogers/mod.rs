//! R: Rogers, Roth, Ullman, Vadhan, *Privacy Odometers and Filters: Pay-as-you-Go Composition*
//! (2016): its composition games, for studying odometers rather than using them.
//!
//! An adversary plays against a secret bit b. In each round it names two neighbouring datasets and
//! a mechanism, and is told what the mechanism answers on the b-th dataset:
//! [`FixedParamComp`] fixes the privacy parameters of every round in advance, [`AdaptParamComp`]
//! lets the adversary choose them as it goes. Both are machines, so that a game is
//! [`interact`](queryables::machine::interact), and both know the realised loss of the view so far
//! (Rogers et al. eq. 1).
//!
//! A rule that claims to bound that loss is a [`Claim`]. Every
//! [`TimeUniformOdometer`](queryables::account::time_uniform::TimeUniformOdometer) is one, and so is
//! [`NaiveAdvanced`], which reads a composition theorem for fixed parameters at parameters that
//! were not fixed. [`StopWhenAhead`] is the adversary that shows the difference
//! (Rogers et al. 6.1), and [`probability_of_getting_ahead`] computes by how much.
//! [`probability_of_exceeding`] asks the same of every adversary at once, in the form of Rogers et al.
//! Def. 3.1, and [`probability_of_bad_event`] for filters, in that of Def. 3.2.
//!
//! Losses are floats here, because nobody's privacy depends on a game.

mod claim;
mod composition;
mod filters;
mod response;
mod separation;
mod validity;

#[cfg(test)]
mod definition_tests;
#[cfg(test)]
mod separation_tests;

pub use claim::{Claim, NaiveAdvanced};
pub use composition::{AdaptParamComp, Challenge, FixedParamComp, Likelihood};
pub use filters::{advanced_composition, probability_beyond_theorem_4_1, probability_of_bad_event};
pub use separation::{StopWhenAhead, probability_of_getting_ahead};
pub use validity::probability_of_exceeding;
