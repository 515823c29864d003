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
//! A case that [violates](Outcome::Violates) is a proof against the compositor, if all of its randomness
//! is that of its children: some children with the stated losses, and this adversary, learn more than is
//! promised. *Proof.* Answers of [probes](Probe) are fixed in advance, and the same for both datasets. So
//! if the replies differ, they tell the datasets apart with certainty. Otherwise let the i-th answer that
//! is told be randomized response, with odds of `e^ε` for the dataset that is `true` if the fixed answer
//! speaks for it, and let a failing start be such an answer. What the compositor does depends on answers
//! only. So this view is `e^(ε_1 + … + ε_n)` times as probable on one dataset as on the other, and what
//! the kit says was lost is `ε_1 + … + ε_n`. ∎
//!
//! *Not complete.* It proves nothing about conversations that it does not try, about noise that the
//! compositor adds itself, and about other measures than pure privacy: there [`Verifier`](super::Verifier)
//! decides. It does not see the compositor's other ways out (time, files, messages of errors).

mod compositor;
mod kit;
mod outcome;
mod probe;
mod reference;
mod talk;
#[cfg(test)]
mod tests;

pub use compositor::{Compositor, Launch};
pub use kit::Conformance;
pub use outcome::{Case, Outcome, Violation};
pub use probe::Probe;
