//! zCDP does not imply pure DP.
use std::sync::Arc;

use queryables::machine::{Coins, Fault};
use queryables::number::Rho;
use queryables::prelude::*;
use queryables::privacy::Restated;

/// A mechanism that states a loss under ZCdp.
#[derive(Clone)]
struct Mine;

impl Private<ZCdp, AddRemove> for Mine {
    fn loss(&self, _: &ZCdp) -> Result<Rho, UnknownLoss> {
        Ok(Rho::default())
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
    let _ = filter.release(&Restated::new(ZCdp, Mine));
}

//~ E0277
//~ state the loss under … itself: … is not known to imply it
