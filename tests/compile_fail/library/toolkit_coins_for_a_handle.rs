//! What the core hands to the toolkit makes no handle from a caller's coins, not even for a machine
//! of one's own.
use queryables_core::machine::NotPrivateSeededCoins;
use queryables_core::prelude::*;
use queryables_core::queryable::{Child, IntoHandle};
use queryables_core::toolkit::queryable::Opening;

struct Two;

impl Machine for Two {
    type Query = ();
    type Answer = u8;

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<u8, Fault> {
        Ok(2)
    }
}

fn handle(child: Child<Two>) -> Result<Queryable<(), u8>, Fault> {
    let coins = NotPrivateSeededCoins::new(7);
    Two::into_handle(Opening { child, coins })
}

fn main() {}

//~ E0308
//~ SystemCoins
//~ NotPrivateSeededCoins
