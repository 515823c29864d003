//! A middle that rounds whole numbers does not fit a mechanism that answers with a float.
use std::num::NonZeroU32;
use std::sync::Arc;

use queryables::machine::{Coins, Fault};
use queryables::middle::{Round, ThroughExt};
use queryables::prelude::*;

#[derive(Clone)]
struct Half;

impl Mechanism<()> for Half {
    type Machine = Released<f64>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<f64>, Fault> {
        Ok(Released(0.5))
    }
}

fn main() {
    let tens = Round::to(NonZeroU32::MIN);
    let _ = start(&Half.through(tens), Arc::new(()));
}

//~ E0277
//~ … cannot stand in the middle of a machine that takes … and gives …
//~ translate what the machine takes with `MapQuery`, or what it gives with `MapAnswer`; the machine may itself be behind a middle, which changes both
