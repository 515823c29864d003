//! The server as a process, over loopback.

mod budget;
mod client;
mod command;
mod crash;
mod protocol;
mod security;
mod support;
