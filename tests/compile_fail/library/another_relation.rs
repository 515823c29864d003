//! A loss stated for replacing a row says nothing about adding or removing one.
use std::sync::Arc;

use queryables::machine::{Coins, Fault};
use queryables::prelude::*;

/// A mechanism that states a loss under PureDp.
#[derive(Clone)]
struct Mine;

impl Private<PureDp, Replace> for Mine {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(Epsilon::default())
    }
}

impl Mechanism<()> for Mine {
    type Machine = Released<u8>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<u8>, Fault> {
        Ok(Released(1))
    }
}

fn main() {
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), Arc::new(())).unwrap();
    let _ = filter.release(&Mine);
}

//~ E0277
//~ launch a mechanism that states a loss under … for neighbours under …: … does not
