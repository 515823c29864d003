//! A filter for non-interactive mechanisms launches nothing that answers twice.
use std::sync::Arc;

use queryables::machine::{Coins, Fault};
use queryables::prelude::*;
use queryables::privacy::ProbabilisticDp;

/// A mechanism that states a loss under ProbabilisticDp.
#[derive(Clone)]
struct Mine;

impl Private<ProbabilisticDp, AddRemove> for Mine {
    fn loss(&self, _: &ProbabilisticDp) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(EpsilonDelta::default())
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
    let filter = Filter::noninteractive(ProbabilisticDp, EpsilonDelta::default());
    let filter = start(&filter, Arc::new(())).unwrap();
    let _ = filter.launch(&Mine);
}

//~ E0277
//~ this compositor takes non-interactive mechanisms only
//~ its theorem is about mechanisms that answer once: use `release`, or a compositor built with `concurrent` or `sequential`
