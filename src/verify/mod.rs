//! Exact privacy of interactive mechanisms, against every adaptive adversary.
//!
//! ```text
//! mechanism, two datasets, a menu of queries, a depth  ->  the worst adversary, and what it learns
//! ```
//!
//! A [`Verifier`] runs the machines that run in production, compositors included, on every path of
//! their coins, and finds the largest divergence that **any** deterministic adversary attains that
//! chooses from the menu, adaptively and with any interleaving of children: δ(ε)
//! ([`worst_delta`](Verifier::worst_delta)), a Rényi divergence
//! ([`worst_renyi`](Verifier::worst_renyi)), or the largest ratio of probabilities
//! ([`worst_ratio`](Verifier::worst_ratio)), in both directions. The adversary that attains it is
//! returned, and prints in readable form. For the measures here, randomized adversaries do no
//! better (Haney et al. 2.3).
//!
//! In a test:
//!
//! ```should_panic
//! use queryables::machine::{Coins, Fault, Mechanism, Released};
//! use queryables::privacy::PureDp;
//! use queryables::verify::{assert_private, Pair};
//! use std::sync::Arc;
//!
//! /// Tells the truth three times in four, and claims ε = 1.
//! struct Respond;
//!
//! impl Mechanism<bool> for Respond {
//!     type Machine = Released<bool>;
//!     fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
//!         Ok(Released(**data ^ (coins.weighted(&[3, 1])? == 1)))
//!     }
//! }
//!
//! let claim = "1".parse().unwrap();
//! assert_private(|| Respond, &Pair::new(false, true), &PureDp, &claim, vec![()], 1);
//! // claimed loss 1: not private: the ratio of the probabilities of a view, for ε = 1, may be at
//! // most 2.718281828…, and is 3 (first dataset against second), attained by:
//! // ask ()
//! //   false: stop  (probability 3/4 and 1/4)
//! //   true: stop  (probability 1/4 and 3/4)
//! // scope: false against true; 1 query on the menu, up to 1 round, 1 point; each was answered
//! ```
//!
//! | to find | use |
//! |---|---|
//! | the worst adversary | [`Verifier`] |
//! | whether a claim holds | [`Verifier::check`], [`assert_private`], [`Verifier::certify`] |
//! | whether no adversary can tell two machines apart | [`Verifier::comparing`], [`Verifier::difference`] |
//! | whether an odometer is right | [`Truncated`] |
//! | whether a compositor of your own keeps its promise | `conformance`, with the feature `proptest` |
//! | what one adversary sees, and how far two laws are apart | [`views`], [`Divergences`] |
//!
//! # How
//!
//! Each divergence is a sum, or a maximum, over the leaves of the conversation. So the best from a
//! point on is the best over the next query of the sum over its answers: backward recursion over
//! public transcripts. The hidden state behind a transcript is a weighted set of coin paths, and
//! machines are run from their start along each. Machines that show their state
//! ([`Inspect`](crate::machine::Inspect)) are met once in each state: the value of a point depends
//! only on the law of the hidden state, up to a factor, and not on how it was reached, so that
//! interleavings which lead to the same states are explored once.
//!
//! # Numbers
//!
//! Probabilities are exact fractions where the coins have rational odds. Named laws with irrational
//! odds are certified intervals ([`Interval`]), and laws and samplers without end are cut at a
//! stated mass. A result says whether it is [`Complete`](Completeness::Complete) or
//! [`Truncated`](Completeness::Truncated). They print shortened, and in full with `{:#}`.
//!
//! # Released values
//!
//! Noise has no end, and a cut bounds neither a ratio nor a Rényi divergence. But a mechanism that
//! does nothing with released values but say them, and promises so
//! ([`ReleasesOnly`](crate::machine::ReleasesOnly), [`Verifier::releases_only`]), need not be
//! followed beyond a cut: clamp a truth plus discrete Laplace noise to where truths lie; what was
//! clamped away is geometric noise that knows nothing of the data. So the machine that releases the
//! clamped value is finite, and no divergence of the whole machine is larger. What is beyond a
//! window of Gaussian noise adds less than 2⁻⁵⁰ to a Rényi sum, for
//! orders up to about `1 + 5σ/(Δ+1)`. What is asked must not depend on values that are clamped
//! away: neither by the menu ([`Menu::reads_answers`]), nor by a person in the middle. The proofs are in
//! `src/verify/released.rs`. Such a result is [`Bounded`](Completeness::Bounded): from above by
//! this, while what is refuted is refuted before a cut.
//!
//! # Compared values
//!
//! A mechanism that compares a truth plus noise with another ([`Coins::at_least`](crate::machine::Coins::at_least))
//! learns how the comparison came out, and cannot learn more. So the verifier need not know the noise
//! where it is larger than what it lists: both results of a comparison are followed from there, each
//! with a probability between zero and that of the noise. Every probability is then an interval that
//! holds the true one, nothing is cut, and no promise is needed; where the intervals are too wide to
//! decide a claim, [`check`](Verifier::check) goes on with a smaller cut, down to 2⁻²⁰⁰. The proof is in
//! `src/verify/compared.rs`, machines that try to leak where noise is not listed are in
//! `tests/verify/compared.rs`.
//!
//! # Which claims are decided
//!
//! A decided claim is proved where it holds, for a Rényi divergence up to 10⁻⁹ in ε, and refuted where
//! it is smaller by more than a cut may hide. `tests/verify/decided.rs` holds the table, every cell by
//! a claim that holds and one that does not, with [`releases_only`](Verifier::releases_only) where the
//! mechanism promises it.
//!
//! | mechanism | [`PureDp`](crate::privacy::PureDp) | [`ApproxDp`](crate::privacy::ApproxDp) | [`Rdp`](crate::privacy::Rdp), [`RdpGrid`](crate::privacy::RdpGrid) |
//! |---|---|---|---|
//! | [`RandomizedResponse`](crate::mechanisms::RandomizedResponse) | decided | decided | decided |
//! | [`ExponentialMechanism`](crate::mechanisms::ExponentialMechanism) | decided | decided | decided |
//! | [`PermuteAndFlip`](crate::mechanisms::PermuteAndFlip) | decided | decided | decided |
//! | [`TopK`](crate::mechanisms::TopK) | decided | decided | decided |
//! | [`NoisyQuantiles`](crate::mechanisms::NoisyQuantiles) | decided | decided | decided |
//! | [`NoisyMax`](crate::mechanisms::NoisyMax) | decided | decided | decided |
//! | [`AboveThreshold`](crate::mechanisms::AboveThreshold) | decided | decided | decided |
//! | [`SparseVector`](crate::mechanisms::SparseVector) | decided | decided | decided |
//! | [`Count`](crate::mechanisms::Count) with Laplace noise | decided | decided | decided |
//! | [`Sum`](crate::mechanisms::Sum) with Laplace noise | decided | decided | decided |
//! | [`Sum`](crate::mechanisms::Sum) of real numbers, with Laplace noise | decided | decided | decided |
//! | [`Mean`](crate::mechanisms::Mean) with Laplace noise | decided | decided | decided |
//! | [`Variance`](crate::mechanisms::Variance) with Laplace noise | decided | decided | decided |
//! | [`Histogram`](crate::mechanisms::Histogram) with Laplace noise | decided | decided | decided |
//! | [`By`](crate::mechanisms::By) with Laplace noise | decided | decided | decided |
//! | [`Proportion`](crate::mechanisms::Proportion) with Laplace noise | decided | decided | decided |
//! | [`ContinualCount`](crate::mechanisms::ContinualCount) with Laplace noise | decided | decided | decided |
//! | [`QueryAnswerer`](crate::mechanisms::QueryAnswerer) | decided | decided | decided |
//! | [`OnRows`](crate::mechanisms::OnRows) | decided | decided | decided |
//! | [`Count`](crate::mechanisms::Count) with Laplace noise, where records pay | decided | decided | decided |
//! | [`Sum`](crate::mechanisms::Sum) with Laplace noise, where records pay | decided | decided | decided |
//! | [`SumScores`](crate::mechanisms::SumScores), for records | decided | decided | decided |
//! | [`Count`](crate::mechanisms::Count) with Gaussian noise | refuted or undecided | decided | decided |
//! | [`Sum`](crate::mechanisms::Sum) with Gaussian noise | refuted or undecided | decided | decided |
//! | [`Sum`](crate::mechanisms::Sum) of real numbers, with Gaussian noise | refuted or undecided | decided | decided |
//! | [`Mean`](crate::mechanisms::Mean) with Gaussian noise | refuted or undecided | decided | decided |
//! | [`Variance`](crate::mechanisms::Variance) with Gaussian noise | refuted or undecided | decided | decided |
//! | [`Histogram`](crate::mechanisms::Histogram) with Gaussian noise | refuted or undecided | decided | decided |
//! | [`ContinualCount`](crate::mechanisms::ContinualCount) with Gaussian noise | refuted or undecided | decided | decided |
//! | [`VectorSum`](crate::mechanisms::VectorSum) with Gaussian noise | refuted or undecided | decided | decided |
//! | [`SampledGaussianSum`](crate::mechanisms::SampledGaussianSum) | refuted or undecided | decided | decided |
//! | [`VectorSum`](crate::mechanisms::VectorSum) with Gaussian noise, where records pay | refuted or undecided | decided | decided |
//! | [`GradientDescent`](crate::mechanisms::GradientDescent) | refuted or undecided | decided | refuted or undecided |
//! | [`NoisyMaxWithMargin`](crate::mechanisms::NoisyMaxWithMargin) | refuted or undecided | decided | refuted or undecided |
//! | [`MultiplicativeWeights`](crate::mechanisms::MultiplicativeWeights) | decided | decided | decided |
//! | [`Boxed`](crate::compose::Boxed) | refuted or undecided | decided | refuted or undecided |
//! | [`FactorizedContinualCount`](crate::mechanisms::FactorizedContinualCount) | too fine | too fine | too fine |
//! | [`ApproxRandomizedResponse`](crate::mechanisms::ApproxRandomizedResponse) | refuted | decided | refuted |
//! | [`ThresholdHistogram`](crate::mechanisms::ThresholdHistogram) | refuted | decided | refuted |
//! | [`GaussianThresholdHistogram`](crate::mechanisms::GaussianThresholdHistogram) | refuted | decided | refuted |
//!
//! [`ZCdp`](crate::privacy::ZCdp) and [`Gdp`](crate::privacy::Gdp) are about infinitely many orders, or
//! ε, and cannot be checked whole ([`Checkable`]); at each order, or each ε, the columns say what is
//! decided. Compositors and filters are decided if their children are.
//!
//! For released noise, the time grows with the number of steps by which the row changes the answer: a
//! [`Sum`](crate::mechanisms::Sum) took 0.1 s for 1000 steps and 13 s for 100 000, optimised. Refutations,
//! δ(ε) and compared noise need all values up to the cut, which are too many (at most 2²⁰) for a scale
//! of more than about 10⁴.
//!
//! Why not all: no ε holds for Gaussian noise under pure privacy, and none at all for the last three,
//! which reveal something with a probability of δ. The noise of
//! [`FactorizedContinualCount`](crate::mechanisms::FactorizedContinualCount) has steps of about 2⁻⁴⁰, more than can be listed.
//!
//! [`NoisyMaxWithMargin`](crate::mechanisms::NoisyMaxWithMargin) says the difference of two noises. Let p(k)
//! be in proportion to q^|k|. The difference of two such noises is g with a probability in proportion to
//! q^|g|·(|g| + κ), where κ = (1 + q²)/(1 − q²): of the sum over k of q^(|k| + |k + g|), g + 1 terms are
//! q^g, and the others add 2q^(g + 2)/(1 − q²). So for truths that are t apart, what is beyond a margin of
//! G has odds of q^g·(g − t + κ), and not of q^g: it does know the data, and the law that is clamped to G
//! does not bound the rest. (It could be decided by a rule of its own: (g − G) + (G − t + κ) is a mixture
//! of two laws that do not know t. That holds for two candidates only.)
//! `verify::not_proved::the_rest_of_a_margin_depends_on_the_data` has the numbers.
//!
//! [`GradientDescent`](crate::mechanisms::GradientDescent) computes the next gradient from what it released, so
//! that it does not [promise](crate::machine::ReleasesOnly) to only say it: what follows a
//! value beyond the window depends on that value, and nothing that is explored bounds its divergence. Let
//! the gradient be that of the row where a weight is beyond the window, and else zero. All that is explored
//! is the same on both datasets, and the second step tells them apart:
//! `verify::not_proved::a_gradient_that_is_not_zero_far_out_only`.
//!
//! [`Boxed`](crate::compose::Boxed) erases the type that makes the promise; noise that is only compared needs
//! none.
//!
//! # What is an error
//!
//! A question that asks nothing: no depth, an empty menu, a menu of which nothing is ever launched
//! or answered, or of which children are launched and never answer, the same dataset twice. What
//! counts as an answer is the machine's to state
//! ([`Coins::answered`](crate::machine::Coins::answered)); a middle tells no more than the most
//! informative answer that it got from inside. Every result says its [`Scope`]: the pair, the menu and
//! which of its queries were ever answered, the depth, the points.
//!
//! A claim that does not belong to its measure, such as a curve of another grid, and a δ of 1, which
//! forbids nothing.
//!
//! An exploration that takes more runs, memory or time than it may ([`Verifier`], "Limits";
//! [`Limits`] for [`views`]), or a conversation of more than 1000 rounds.
//!
//! A machine that behaves differently on a replay. Every run begins with a new mechanism, made by a
//! factory. A step is the start, or one query after one transcript, on one dataset and after one
//! path of coins. Each step is run twice on every path of its own coins, and each of the first 64
//! steps of an exploration until it was run 100 times, on all its paths together. So randomness
//! from elsewhere, the clock for instance, that shows in one run of ten of the start, whatever the
//! coins, goes unnoticed with a probability of at most 0.9^100 + 0.1^100 < 2.7e-5
//! (`a_leak_in_one_run_of_ten_passes_few_of_a_thousand_checks`). If it shows in a later step only,
//! or on one of many paths only, then it is met twice, and goes unnoticed with a probability of
//! 0.9^2 + 0.1^2 = 0.82. For [`views`] a whole conversation is one step.
//!
//! # Certificates
//!
//! [`Verifier::certify`] writes a verdict as JSON, for a checker of less than 200 lines that shares no code
//! with this crate: `spec/check_certificate.py`. Its documentation says what is not
//! checked.
//!
//! # What it cannot see
//!
//! *Not complete.* It proves a claim for what it is given, and for nothing else. Each of these
//! leaks and passes, in `tests/verify/cannot_see.rs`:
//!
//! | not seen | test |
//! |---|---|
//! | datasets other than the pair | `another_pair` |
//! | queries that are not on the menu | `another_query` |
//! | conversations beyond the depth | `a_longer_conversation` |
//! | what leaves in another way than by answers: time, files, globals | `other_ways_out` |
//! | randomness outside the machine that shows in fewer than one run of ten | `randomness_outside_the_machine_that_seldom_shows` |
//! | the same in one run of ten, in a step after the first 64 | `randomness_outside_the_machine_in_a_late_step` |
//! | the same in one run of ten, on one path of a hundred | `randomness_outside_the_machine_on_one_path` |
//! | answers that compare equal and can be told apart, by a coarse `Eq` and `Hash` | `answers_that_compare_equal` |
//! | state that all mechanisms of a factory share | `a_memory_that_outlives_the_factory` |
//! | state that [`Inspect`](crate::machine::Inspect) does not show, for [`Verifier::by_state`] | `a_state_that_is_not_shown` |
//! | what a [`Menu::State`] does not hash, if the queries print alike, for [`Verifier::by_state`] | `a_menu_that_is_not_hashed` |
//! | a [`Law`](crate::machine::Law) whose sampler does not draw from the law that it names | `a_law_that_is_not_sampled` |
//! | ratios and Rényi divergences beyond a cut, if values are neither only released nor only compared; δ(ε) is bounded from both sides | `ratios_beyond_a_cut` |
//! | a mechanism that does more with a released value than say it, though it [promises not to](crate::machine::ReleasesOnly) | `a_promise_that_is_broken` |
//!
//! *Sound*, within that: what it refutes is refuted, with the adversary as the witness
//! (`the_worst_adversary_attains_what_is_said`, `the_worst_is_the_worst`), and sixteen planted bugs
//! are caught (`tests/verify/planted.rs`, `tests/verify/properties.rs`).

mod bounds;
mod branching;
#[cfg(test)]
mod branching_tests;
mod certificate;
mod claim;
mod compared;
#[cfg(feature = "proptest")]
pub mod conformance;
mod divergence;
mod error;
mod exploration;
mod explorer;
mod fork;
mod goal;
mod interval;
mod json;
mod judge;
mod laws;
mod menu;
mod meter;
mod objective;
mod offers;
mod proof;
mod rational;
mod released;
mod runner;
mod scope;
mod share;
mod side;
mod solve;
#[cfg(feature = "proptest")]
pub mod strategies;
mod strategy;
mod tree;
mod truncated;
mod verifier;
mod views;
mod watch;
mod worst;

pub use crate::machine::{Direction, Pair};
pub use bounds::Limits;
pub use claim::{Verdict, assert_private, epsilon_of_ratio};

pub use divergence::Divergences;
pub use error::VerifyError;
pub use goal::{Checkable, Goal};
pub use interval::Interval;
pub use menu::{ByRound, Children, Menu, by_transcript};
pub use meter::Progress;
pub use objective::Value;
pub use rational::Rational;
pub use scope::Scope;
pub use side::copies_of;
pub use strategy::Strategy;
pub use truncated::Truncated;
pub use verifier::Verifier;
pub use views::{Distribution, views, views_within};
pub use watch::to_terminal;
pub use worst::{Completeness, Worst, renyi_divergence};
