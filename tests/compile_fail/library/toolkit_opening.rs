//! Only the core opens a machine: what it hands to the toolkit names the key, and does not make one.
use queryables_core::machine::SystemCoins;
use queryables_core::prelude::*;
use queryables_core::queryable::{Child, IntoHandle};
use queryables_core::toolkit::queryable::Opening;

fn handle<S: IntoHandle>(child: Child<S>) -> Result<S::Handle, Fault> {
    S::into_handle(child, SystemCoins::new(), Opening(()))
}

fn main() {}

//~ E0423
//~ Opening
