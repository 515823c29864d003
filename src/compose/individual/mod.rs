//! Each record pays what it can lose.
//!
//! An [`IndividualFilter`] keeps an account for each record. A query ([`IndividualQuery`]) says
//! what each record contributes, and what that costs *this record*; those who cannot pay are left
//! out. The theorem behind it is in `spec/individual.md`.
//!
//! Here is the filter, with its accounts. The queries are in
//! [`mechanisms::individual`](crate::mechanisms::individual), and the rules that it takes are those
//! that are [`ValidIndividually`](crate::account::ValidIndividually).
//!
//! Accounts are whole units in eight bytes ([`RecordUnits`]), and eight more where records may spend
//! δ. Prices are rounded up, and all records are read by every query, whether they can pay or not.

mod accounts;
mod answers;
mod filter;
mod machine;
mod odometer;
mod own_budgets;
mod pass;
mod payers;
mod query;
mod readings;
mod running;
mod tariff;
mod units;

pub use answers::IndividualAnswers;
pub use filter::IndividualFilter;
pub use machine::{IndividualError, IndividualMachine};
pub use odometer::IndividualOdometer;
pub use payers::Payers;
pub use query::IndividualQuery;
pub use readings::{Readings, start_individual};
pub use running::RunningIndividualFilter;
pub use tariff::Tariff;
pub use units::{RecordAmount, RecordUnits};
