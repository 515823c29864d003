//! What an analyst holds: handles, and how to get them.
//!
//! [`launch`] starts a mechanism on data; on the compositor that comes back, `launch` gives
//! further handles and `release` gives answers. A handle to an interactive mechanism is a
//! [`Queryable`]; for one that cannot leave its thread, `launch_local` gives a [`LocalQueryable`].

mod handle;
mod launch;

pub use handle::{LocalQueryable, Queryable};
#[cfg(feature = "opendp")]
pub(crate) use launch::launch_held;
pub use launch::{IntoHandle, LocalHandle, launch, launch_local};
