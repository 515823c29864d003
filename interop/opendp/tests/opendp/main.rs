//! The adapter as its users see it: measurements launched, mechanisms embedded, OpenDP's own cases,
//! and the differences between the two.

mod cases;
#[path = "../../../../tests/common/mod.rs"]
mod common;
mod differences;
mod embedding;
mod examples;
mod launch;
mod nesting;
mod support;
mod threads;
