//! Published privacy bugs, each as two small machines: broken, and repaired. Both make the same claim.
//!
//! `cargo run -p corpus` asks three methods about each machine, and prints which of them finds the broken
//! one: the exact verifier, the statistical audit, and the library's reference values (what it states
//! itself about the same parameters). The repaired machine must never be found.
//!
//! One file for each bug, in `src/bugs`: the claim, the machines, the source. The machines are models of a
//! few lines, finite where the verifier should decide them; nothing was copied from where the bug was found.
#![forbid(unsafe_code)]
#![expect(
    clippy::ptr_arg,
    reason = "the functions of a machine take a reference to its data, which is a vector"
)]

mod bug;
mod bugs;
mod machines;
mod noise;
mod setup;

pub use bug::{Bug, Found, Method, Says};
pub use bugs::all;
