#![doc = include_str!("../README.md")]
#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]
#![warn(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate
)]

#[cfg(test)]
#[macro_use]
#[path = "../../tests/verify/support.rs"]
mod support;

pub mod feldman_zrnic;
pub mod haney;
mod number;
pub mod rogers;
pub mod tran;
pub mod whitehouse;
