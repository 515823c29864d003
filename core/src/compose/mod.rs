//! Compositors: machines that spawn other machines.
//!
//! | | spends | reads | interleaves |
//! |---|---|---|---|
//! | [`Filter`] | up to a budget | yes | as its discipline allows |
//! | [`Odometer`] | without bound | yes | as its discipline allows |
//! | [`MapOdometer`] | without bound | at any distance | as its discipline allows |
//! | [`ConcurrentComposition`] | what its mechanisms sum to | – | yes |
//! | [`Parallel`] | the largest of its parts | in each part | yes |
//!
//! Each has two running forms. The handle is what an analyst gets from `launch`: a
//! [`RunningFilter`] or a [`RunningOdometer`] can be cloned and sent between threads. The machine, a [`CompositorMachine`], is what authors of machines embed and
//! what `verify` explores. Both decide launches from public values before the data is touched,
//! charge them before the mechanism runs, and run none of that under a lock.
//!
//! The [`Discipline`] is part of the type: [`Interleaved`] where a theorem lets children be asked
//! in any order, [`Sequential`] where a launch freezes earlier children, [`NonInteractive`] where
//! children answer once.
//!
//! Programs that choose measures and mechanisms at run time erase types: [`Boxed`] mechanisms, and
//! [`AnyFilter`] for running filters of any measure. Those that get messages from elsewhere leave
//! the open children to an [`AddressedFilter`].
//!
//! [`Addressed`] is the same compositor as a single machine whose queries are messages, as in the
//! papers: for adversaries, and for persons in the middle.

mod addressed;
mod addressed_filter;
mod any_filter;
mod boxed;
mod compositor;
mod concurrent;
mod discipline;
pub(crate) mod engine;
pub(crate) mod erased;
mod error;
pub(crate) mod filter;
#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub(crate) mod gate;
#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub(crate) mod ledgered;
mod map_odometer;
mod odometer;
mod parallel;
mod preview;
mod running;
mod running_filter;
mod running_odometer;
#[cfg(feature = "serde")]
mod wire;

pub use addressed::{Addressed, AddressedMachine, Message, Reply};
pub use addressed_filter::{AddressedFilter, AnyMechanism};
pub use any_filter::{AnyFilter, AnyReading};
pub use boxed::{Boxed, BoxedMechanism, BoxedRelease};
pub use compositor::CompositorMachine;
pub use concurrent::ConcurrentComposition;
pub use discipline::{Discipline, Interactive, Interleaved, NonInteractive, Sequential};
pub use engine::Ticket;
pub use error::{LaunchError, Refusal, Unavailable};
use filter::FilterGate;
pub use filter::{Filter, FilterMachine, Halt};
pub use gate::{Gate, Takes};
pub use map_odometer::{MapOdometer, RunningMapOdometer};
use odometer::OdometerGate;
pub use odometer::{Odometer, OdometerMachine};
pub use parallel::{DuplicateKey, Parallel, Parts};
pub use preview::Preview;
pub use running::RunningCompositor;
pub use running_filter::{RunningFilter, RunningFilterOf};
pub use running_odometer::{RunningOdometer, RunningOdometerOf};
