//! Only the core opens a machine: what it hands to the toolkit names an opening, and neither makes
//! one nor gives out what is in it.
use std::sync::Arc;

use queryables_core::machine::{StopToken, SystemCoins};
use queryables_core::prelude::*;
use queryables_core::queryable::{Child, IntoHandle};
use queryables_core::toolkit::queryable::Opening;

fn made<S: IntoHandle>(child: Child<S>) -> Result<S::Handle, Fault> {
    S::into_handle(Opening { child, coins: SystemCoins::new() })
}

fn started<M: Mechanism<(), Machine: IntoHandle>>(mechanism: &M) -> Result<Opening<M::Machine>, Fault> {
    Opening::start(mechanism, &Arc::new(()), StopToken::default())
}

fn main() {}

//~ E0451
//~ E0624
//~ Opening
