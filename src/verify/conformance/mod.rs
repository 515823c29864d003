//! Whether a compositor of your own keeps its promise: random conversations against a reference machine.
//!
//! Write how your compositor launches, asks and reads ([`Compositor`]). The kit talks to it, interleaving
//! children at random, and compares every reply with what a reference machine of a few lines says:
//!
//! ```
//! use queryables::epsilon;
//! use queryables::number::Epsilon;
//! use queryables::verify::conformance::{Compositor, Conformance, Launch, Probe};
//!
//! /// A home-made filter.
//! struct Mine { bit: bool, spent: Epsilon, children: Vec<Probe> }
//!
//! impl Compositor for Mine {
//!     fn launch(&mut self, child: Probe) -> Launch {
//!         let spent = self.spent.checked_add(child.loss());
//!         let Some(spent) = spent.filter(|spent| *spent <= epsilon!(1)) else { return Launch::Refused };
//!         self.spent = spent;
//!         if child.start(self.bit).is_err() { return Launch::Failed }
//!         self.children.push(child);
//!         Launch::Started
//!     }
//!     fn ask(&mut self, child: usize) -> Option<u32> { self.children.get(child)?.answer(self.bit).ok() }
//!     fn reading(&mut self) -> Option<Epsilon> { Some(self.spent) }
//! }
//!
//! let start = |bit| Mine { bit, spent: Epsilon::ZERO, children: vec![] };
//! Conformance::filter(epsilon!(1)).assert_conforms(start);
//! ```
//!
//! What fails is made smaller, and printed as the adversary that did it. Had `Mine` charged only for
//! children that start:
//!
//! ```text
//! not sound: what was told costs ε = 0.25, and the reading is ε = 0
//!   launch #0 (ε = 0.25, fails): failed
//!   ask #0: no answer
//!   read: ε = 0
//! ```
//!
//! | to do | use |
//! |---|---|
//! | fail a test if a promise is broken | [`Conformance::assert_sound`] |
//! | also if it withholds what the reference gives | [`Conformance::assert_conforms`] |
//! | look for one kind of difference | [`Conformance::search`] |
//! | judge conversations in a property test of your own | [`Conformance::conversations`], [`Conformance::judge`] |
//!
//! # Guarantee
//!
//! What was lost, in [`OverBudget`](Violation::OverBudget) and [`UnderRead`](Violation::UnderRead), was lost:
//! there are children with the stated losses from which this adversary learns that much, if all randomness
//! of the compositor is that of its children. *Proof.* Answers of [probes](Probe) are fixed in advance, and
//! the same on both datasets. Let each answer that is told be that of a randomized response with odds of
//! `e^ε`, such that the fixed answer speaks for the same dataset each time; so for a failing start. Let
//! answers that are not told be constants. Each child has at most its stated loss. What the compositor does
//! depends on answers only, so that this conversation is `e^(ε_1 + … + ε_n)` times as probable on one dataset
//! as on the other, where the sum is over what was told. ∎
//!
//! The other [violations](Violation) are of rules that keep a compositor from losing more: it must not run
//! what it refuses, and its replies depend on the data through its children only.
//!
//! *Not complete.* It proves nothing about conversations that it does not try, about noise that the
//! compositor adds itself, and about other measures than pure privacy: there [`Verifier`](super::Verifier)
//! decides. It does not see the compositor's other ways out (time, files, messages of errors).

mod compositor;
mod kit;
mod outcome;
#[cfg(test)]
mod planted;
mod probe;
mod reference;
mod talk;
#[cfg(test)]
mod tests;

pub use compositor::{Compositor, Launch};
pub use kit::Conformance;
pub use outcome::{Case, Outcome, Violation};
pub use probe::Probe;
