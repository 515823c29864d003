//! Compositors, handles and middles, as those who use them see them.

#[path = "../common/mod.rs"]
mod common;

mod attacks;
mod compositors;
mod contract;
mod descriptions;
mod facts;
mod individual;
mod individual_delta;
mod individual_inside;
mod machine_and_handle;
mod many_records;
mod middles;
mod preview;
mod programs;
mod properties;
mod records;
mod replay;
mod threads;
mod tickets;
mod unavailable;
mod varied;
mod wrappers;
