//! Only a mechanism whose start already answers can be released.
use std::sync::Arc;

use queryables::machine::{Coins, Fault};
use queryables::prelude::*;

/// A mechanism that states a loss under PureDp.
#[derive(Clone)]
struct Mine;

impl Private<PureDp, AddRemove> for Mine {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(Epsilon::default())
    }
}

impl Mechanism<()> for Mine {
    type Machine = Counter;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Counter, Fault> {
        Ok(Counter)
    }
}

struct Counter;

impl Machine for Counter {
    type Query = ();
    type Answer = u8;

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<u8, Fault> {
        Ok(1)
    }
}

fn main() {
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), Arc::new(())).unwrap();
    let _ = filter.release(&Mine);
}

//~ E0277
//~ use `launch` instead: the machine of this mechanism, …, can be asked several times
//~ only a mechanism that answers once, whose machine is `Released<A>`, can be released
