//! Only the core opens a machine: what it hands to the toolkit names the key, and neither has one nor
//! makes one.
use queryables_core::machine::SystemCoins;
use queryables_core::prelude::*;
use queryables_core::queryable::{Child, IntoHandle};
use queryables_core::toolkit::queryable::{OPENING, Opening};

fn found<S: IntoHandle>(child: Child<S>) -> Result<S::Handle, Fault> {
    S::into_handle(child, SystemCoins::new(), OPENING)
}

fn made<S: IntoHandle>(child: Child<S>) -> Result<S::Handle, Fault> {
    S::into_handle(child, SystemCoins::new(), Opening(()))
}

fn main() {}

//~ E0423
//~ E0432
//~ OPENING
