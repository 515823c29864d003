//! The server as a process, over loopback.

mod browser;
mod budget;
mod client;
mod command;
mod crash;
mod desk;
mod protocol;
mod security;
mod support;
mod terminal;
