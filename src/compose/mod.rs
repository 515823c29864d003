//! Compositors: machines that spawn other machines. Filters and odometers are those of
//! [`queryables_core::compose`]; here are more.
//!
//! | | spends | reads | interleaves |
//! |---|---|---|---|
//! | [`TimeUniform`] | without bound | the realised loss | no children |
//! | [`IndividualFilter`] | each record up to its own budget | the curator | queries that answer once |
//! | `AddressedParts` (feature `verify`) | as a [`Parallel`] composition, by messages | – | yes |
//! | `Universal` (feature `verify`) | its budget, on one mechanism | – | – |

mod individual;
mod time_uniform;

pub use individual::{
    IndividualAnswers, IndividualError, IndividualFilter, IndividualMachine, IndividualOdometer,
    IndividualQuery, Payers, Readings, RecordAmount, RecordUnits, RunningIndividualFilter, Tariff,
    start_individual,
};
#[doc(inline)]
pub use queryables_core::compose::*;
pub(crate) use queryables_core::toolkit::compose::*;
pub use time_uniform::{RunningTimeUniform, TimeUniform};
