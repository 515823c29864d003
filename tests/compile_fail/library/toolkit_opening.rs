//! Only the core opens a machine: what it hands to the toolkit names an opening, and nobody makes one
//! of a child.
use queryables_core::machine::SystemCoins;
use queryables_core::prelude::*;
use queryables_core::queryable::{Child, IntoHandle};
use queryables_core::toolkit::queryable::Opening;

fn made<S: IntoHandle>(child: Child<S>) -> Result<S::Handle, Fault> {
    S::into_handle(Opening {
        child,
        coins: SystemCoins::new(),
    })
}

fn main() {}

//~ E0451
//~ Opening
