//! What an analyst holds: handles, and how to get them.
//!
//! Every running thing has two forms. The *machine* is owned, takes explicit coins and can be
//! inspected; it is what authors of machines embed and what `verify` explores. The *handle* is
//! shared, can be sent between threads and draws from the operating system; it is what an analyst
//! gets. [`start`] makes handles out of machines, and nothing makes machines out of handles: a
//! handle inside a machine is a [`Relay`], which still stops when the handle is stopped.
//!
//! A handle to an interactive mechanism is a [`Queryable`]; for one that cannot leave its thread,
//! `start_local` gives a [`LocalQueryable`]. The handles to running filters and odometers are in
//! [`compose`](crate::compose).

mod child;
mod error;
pub(crate) mod handle;
mod relay;
mod scope;
mod start;

pub use child::Child;
pub use error::AskError;
pub use handle::{LocalQueryable, Queryable};
pub use relay::Relay;
pub use scope::Scope;
pub(crate) use start::sealed;
pub use start::{HandleOf, IntoHandle, start, start_local, start_under};
