//! The server as a process, over loopback.

mod browser;
mod budget;
mod client;
mod command;
mod crash;
mod desk;
mod engine;
mod flood;
/// A server of PostgreSQL for a test, as the adapter's own tests start one.
#[allow(dead_code, reason = "the tests of the adapter use all of it")]
#[path = "../../../interop/postgres/tests/support/mod.rs"]
mod postgres;
mod protocol;
mod rules;
mod security;
mod support;
mod terminal;
mod transport;
