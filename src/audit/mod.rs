//! A statistical test of privacy, for mechanisms that are too large to enumerate.
//!
//! ```text
//! mechanism, two datasets, an adversary, many runs  ->  ε is at least this, up to a chance of 1e-9
//! ```
//!
//! An [`Audit`] runs an adversary against a mechanism on two neighbouring datasets, many times, and
//! looks for an event that is seen more often on one of them. What it reports ([`Finding`]) is a
//! **lower** bound on ε at a stated δ, with a stated probability of being wrong. A claim below that
//! bound is refuted ([`Finding::check`]).
//!
//! In a test, with a seed so that the outcome is the same each time:
//!
//! ```should_panic
//! use queryables::audit::{Audit, Pair};
//! use queryables::machine::{Coins, Fault, Mechanism, Released, Script};
//! use queryables::privacy::PureDp;
//! use std::sync::Arc;
//!
//! /// Tells the truth nine times in ten, and claims ε = 1.
//! struct Respond;
//!
//! impl Mechanism<bool> for Respond {
//!     type Machine = Released<bool>;
//!     fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
//!         Ok(Released(**data ^ (coins.weighted(&[9, 1])? == 1)))
//!     }
//! }
//!
//! let pair = Pair::new(false, true);
//! let audit = Audit::new(&Respond, &pair, || Script::new([()]), 1).seed(7);
//! let finding = audit.run().unwrap();
//! finding.assert_not_refuted(&PureDp, &"1".parse().unwrap());
//! // a loss of 1 is refuted: it implies ε ≤ 1 at δ = 0, where ε ≥ 2.0448 was found
//! // (first dataset against second)
//! // seen in 8977 of 10000 runs on the first dataset and in 943 of 10000 on the second: [false]
//! // wrong with probability at most 1e-9
//! ```
//!
//! If a claim is to be tested, and nothing else, [`Audit::test`] stops as soon as it is refuted, and may be
//! looked at at any time ([`SequentialTest`]). It needs about a hundred runs on each dataset here, where
//! the audit above takes 20 000 and would need to know in advance how many are enough.
//!
//! Run it on datasets that were made up for the purpose. A finding is computed from them without
//! any noise: **it is not private.**
//!
//! # How
//!
//! An event that has a probability of at least p on one dataset and at most q on its neighbour
//! shows that the mechanism is not (ε, δ)-private for any ε below ln((p − δ)/q). The two
//! probabilities are bounded from the counts as in Clopper and Pearson (1934), rounded outward,
//! such that all bounds together fail with at most the stated probability. The event is either
//! named beforehand ([`Audit::run_on`]), or learned from runs of their own ([`Audit::run`],
//! [`Audit::run_by`]) that are never counted: an event that is chosen and counted on the same runs
//! looks better than it is. Faults, panics and failed starts are part of the view, so they can be
//! events.
//!
//! # What it cannot show
//!
//! *Not complete*, by far: finding nothing is **no proof of privacy**, and a mechanism that reveals
//! everything may pass. Each of these does, in `tests/audit/cannot_show.rs`:
//!
//! | not shown | test |
//! |---|---|
//! | more than [`largest_epsilon`], about ln(trials / ln(4/failure)) | `more_than_the_trials_allow` |
//! | events that are rarer than about ln(4/failure)/trials | `a_rare_catastrophe` |
//! | datasets other than the pair | `another_pair` |
//! | what another adversary would have asked | `another_adversary` |
//! | what the label leaves out, or what never repeats itself without one | `another_label` |
//! | what leaves in another way than by answers: time, files, globals | `other_ways_out` |
//!
//! *Sound up to chance*: a true claim is refuted with at most the stated probability, and in
//! practice more rarely, because that takes errors on both datasets. This probability is over the
//! audit's coins, before it is run. So:
//!
//! - **Each audit has its own chance to fail, and they add up.** After k of them, the probability
//!   that any of them is wrong is at most k times as large. Running until a claim is refuted,
//!   trying adversaries, pairs or labels, or more trials because the first were not enough, all
//!   count. (A [`SequentialTest`] may go on for as long as one likes, and counts once.) Divide the failure probability by the number of audits that you are ready to run: from
//!   1e-9 to 1e-12 costs little.
//! - **A seed is drawn once.** With the operating system's coins every audit sees new runs. With the
//!   same seed it sees the same ones, so a claim, label, event, adversary or seed that was chosen after
//!   looking at what the seed gave is not covered (`what_is_learned_by_heart_does_not_count`); run it
//!   once more without the seed. All coins are ChaCha20, and the promise holds as far as its output
//!   looks random.
//! - **One finding may be used for any number of questions.** Only its two probabilities may be
//!   wrong; every δ, ε and claim is derived from them.
//! - **The datasets must be neighbours** under the relation that the claim is made for. Nobody checks
//!   this.
//! - **Runs must be independent.** The runs on the two datasets alternate. A mechanism that keeps
//!   state outside of its machines, an adversary that learns from run to run, or a label that
//!   depends on more than the view, can tell them apart by that alone: what is refuted then is not
//!   the mechanism's privacy (`runs_that_know_of_each_other`).
//!
//! # Beside `verify`
//!
//! The two give different kinds of results. Where `verify` can enumerate a mechanism, it decides a
//! claim exactly, against *every* adversary that chooses from a menu: if it finds nothing, that is
//! a proof. An audit samples, against one adversary: if it finds nothing, that proves nothing. It
//! needs no exact arithmetic and no finite coins, so there is no limit on the size of the
//! mechanism. Use `verify` on a small instance and an audit on the real one.

mod binomial;
mod claim;
mod error;
mod event;
mod finding;
mod sequential;
mod trials;

pub use crate::machine::{Direction, Pair};
pub use claim::AuditResult;
use claim::Refutable;
pub use error::AuditError;
pub use finding::{Finding, largest_epsilon};
pub use sequential::SequentialTest;
pub use trials::Audit;
