//! queryables
pub mod account;
pub mod compose;
pub mod machine;
pub mod middle;
pub mod privacy;
pub mod queryable;
#[cfg(feature = "verify")]
pub mod verify;

/// What most programs need.
pub mod prelude {
    pub use crate::compose::{AskError, Filter, LaunchError, Odometer};
    pub use crate::machine::{Machine, Mechanism, Released};
    pub use crate::privacy::*;
    pub use crate::queryable::{Queryable, launch};
}
