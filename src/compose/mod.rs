//! Compositors: machines that spawn other machines.
//!
//! | | spends | reads | interleaves |
//! |---|---|---|---|
//! | [`Filter`] | up to a budget | yes | as its discipline allows |
//! | [`Odometer`] | without bound | yes | as its discipline allows |
//! | [`MapOdometer`] | without bound | at any distance | as its discipline allows |
//! | [`TimeUniform`] | without bound | the realised loss | no children |
//! | [`ConcurrentComposition`] | what its mechanisms sum to | – | yes |
//! | [`Parallel`] | the largest of its parts | in each part | yes |
//! | [`IndividualFilter`] | each record up to its own budget | the curator | queries that answer once |
//! | `Universal` (feature `verify`) | its budget, on one mechanism | – | – |
//!
//! Each has two running forms. The handle is what an analyst gets from `launch`: a
//! [`RunningFilter`], a [`RunningOdometer`] or a [`RunningTimeUniform`] can be cloned and sent
//! between threads. The machine, a [`CompositorMachine`], is what authors of machines embed and
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
#[cfg(feature = "verify")]
mod addressed_parts;
mod any_filter;
mod boxed;
mod compositor;
mod concurrent;
mod discipline;
mod engine;
mod error;
mod filter;
mod gate;
mod individual;
#[cfg(feature = "ledger")]
mod ledgered;
mod map_odometer;
mod odometer;
mod parallel;
mod preview;
mod running;
mod running_filter;
mod running_odometer;
mod time_uniform;
#[cfg(feature = "verify")]
mod universal;
#[cfg(feature = "serde")]
mod wire;

pub use addressed::{Addressed, AddressedMachine, Message, Reply};
pub use addressed_filter::{AddressedFilter, AnyMechanism};
#[cfg(feature = "verify")]
pub use addressed_parts::{AddressedParts, AddressedPartsMachine};
pub use any_filter::{AnyFilter, AnyReading};
#[cfg(feature = "ledger")]
pub(crate) use any_filter::{AnyLaunchError, Charged, Ended, Erased, Erasing, Quoted, States};
pub use boxed::{Boxed, BoxedMechanism, BoxedRelease};
pub use compositor::CompositorMachine;
pub use concurrent::{ConcurrentComposition, ConcurrentMachine};
pub use discipline::{Discipline, Interactive, Interleaved, NonInteractive, Sequential};
pub use engine::Ticket;
#[cfg(feature = "ledger")]
pub(crate) use engine::{Launches, price};
pub use error::{LaunchError, Refusal, Unavailable};
pub use filter::{Filter, FilterGate, FilterMachine, Halt};
pub use gate::{Gate, Takes};
#[cfg(feature = "ledger")]
pub(crate) use gate::{NoPrice, Price, Terms};
pub use individual::{
    IndividualAnswers, IndividualAnswersMachine, IndividualError, IndividualFilter,
    IndividualMachine, IndividualOdometer, IndividualQuery, Payers, Readings, RecordAmount,
    RecordUnits, RunningIndividual, Tariff, WithReadings, launch_individual,
};
pub use map_odometer::{MapGate, MapOdometer, MapOdometerMachine, RunningMapOdometer};
pub use odometer::{Odometer, OdometerGate, OdometerMachine};
pub use parallel::{DuplicateKey, Parallel, Parts, PartsMachine};
pub use preview::Preview;
pub use running::RunningCompositor;
pub use running_filter::{RunningFilter, RunningFilterOf};
pub use running_odometer::{RunningOdometer, RunningOdometerOf};
pub use time_uniform::{RunningTimeUniform, TimeUniform, TimeUniformGate};
#[cfg(feature = "verify")]
pub use universal::{Universal, UniversalAnswer, UniversalMachine, UniversalQuery};
