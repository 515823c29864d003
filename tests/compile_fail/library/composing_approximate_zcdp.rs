//! Mechanisms started together are asked in any order.
use queryables::compose::ConcurrentComposition;
use std::sync::Arc;

use queryables::machine::{Coins, Fault};
use queryables::prelude::*;
use queryables::privacy::{ApproxZCdp, RhoDelta};

/// A mechanism that states a loss under ApproxZCdp.
#[derive(Clone)]
struct Mine;

impl Private<ApproxZCdp, AddRemove> for Mine {
    fn loss(&self, _: &ApproxZCdp) -> Result<RhoDelta, UnknownLoss> {
        Ok(RhoDelta::default())
    }
}

impl Mechanism<()> for Mine {
    type Machine = Released<u8>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<u8>, Fault> {
        Ok(Released(1))
    }
}

fn main() {
    let filter = Filter::sequential(ApproxZCdp, RhoDelta::default());
    let filter = start(&filter, Arc::new(())).unwrap();
    let _ = filter.launch(&ConcurrentComposition::new([Mine, Mine]));
}

//~ E0277
//~ no theorem lets children be interleaved under …
//~ concurrent composition is proved for pure DP, (ε, δ)-DP, f-DP and GDP, Rényi DP of fixed orders and zCDP; for approximate zCDP and approximate Rényi DP it is an open question
//~ use `Filter::sequential` or `Odometer::sequential`: a launch freezes earlier children
