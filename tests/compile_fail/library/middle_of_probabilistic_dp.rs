//! A probabilistic guarantee does not survive a middle.
use queryables::middle::{Clamp, ThroughExt};
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
    type Machine = Released<u8>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<u8>, Fault> {
        Ok(Released(1))
    }
}

fn loss_of(mechanism: &impl Private<ProbabilisticDp, AddRemove>) {
    let _ = mechanism.loss(&ProbabilisticDp);
}

fn main() {
    loss_of(&Mine);
    loss_of(&Mine.through(Clamp::new(0, 1)));
}

//~ E0277
//~ a guarantee in … is not kept by postprocessing
//~ probabilistic DP is not closed under postprocessing (Whitehouse et al., App. F): restate the mechanism under `ApproxDp` first, with `Restated::new(ProbabilisticDp, mechanism)`
