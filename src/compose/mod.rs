//! Compositors: machines that spawn other machines.
//!
//! | | spends | reads | interleaves |
//! |---|---|---|---|
//! | [`Filter`] | up to a budget | yes | as its discipline allows |
//! | [`Odometer`] | without bound | yes | as its discipline allows |
//! | [`TimeUniform`] | without bound | the realised loss | no children |
//! | [`ConcurrentComposition`] | what its mechanisms sum to | – | yes |
//! | [`Parallel`] | the largest of its parts | in each part | yes |
//! | [`Universal`] | its budget, on one mechanism | – | – |
//!
//! A running filter or odometer is a [`Compositor`]: a handle that can be cloned and sent, whose
//! launches are decided from public values before the data is touched, and charged before the
//! mechanism runs. The [`Discipline`] is part of the type: [`Interleaved`] where a theorem lets
//! children be asked in any order, [`Sequential`] where a launch freezes earlier children,
//! [`NonInteractive`] where children answer once.
//!
//! [`Addressed`] is the same compositor as one single machine whose queries are messages, as the
//! papers write it: for adversaries, and for persons in the middle.

mod addressed;
mod addressed_parts;
mod boxed;
mod child;
mod compositor;
mod concurrent;
mod discipline;
mod error;
mod filter;
mod leash;
mod odometer;
mod parallel;
mod patience;
mod time_uniform;
mod universal;

pub use addressed::{Addressed, AddressedMachine, Message, Reply};
pub use addressed_parts::{AddressedParts, AddressedPartsMachine};
pub use boxed::BoxedMechanism;
pub use child::Child;
#[cfg(feature = "opendp")]
pub(crate) use child::guarded;
pub(crate) use compositor::LaunchErrorOf;
pub use compositor::{Compositor, Gate};
pub use concurrent::{ConcurrentComposition, ConcurrentMachine};
pub use discipline::{Discipline, Interactive, Interleaved, NonInteractive, Sequential};
pub use error::{AskError, LaunchError, Refusal};
pub use filter::{Filter, FilterGate, FilterTariff, Halt};
#[cfg(feature = "opendp")]
pub(crate) use leash::Cut;
pub(crate) use leash::Leash;
pub use odometer::{Odometer, OdometerGate, OdometerPrice, OdometerTariff};
pub use parallel::{Parallel, Parts};
pub use time_uniform::{TimeUniform, TimeUniformGate};
pub use universal::{Universal, UniversalAnswer, UniversalMachine, UniversalQuery};
