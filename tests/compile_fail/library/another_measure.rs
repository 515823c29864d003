//! A filter asks for losses under its own measure.
use std::sync::Arc;

use queryables::machine::{Coins, Fault};
use queryables::number::Rho;
use queryables::prelude::*;

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
    let _ = filter.release(&Mine);
}

//~ E0277
//~ launch a mechanism that states a loss under … for neighbours under …: … does not
//~ a compositor launches mechanisms whose loss is proved under its own measure and neighbouring relation
//~ stated under a stronger measure? wrap it: `Restated::new(PureDp, mechanism)`
//~ stated under another neighbouring relation? losses do not carry over: state it again, or start the compositor under that relation, with `.under(relation)`
//~ an odometer has no bound and so no loss: cap it first, with `Odometer::capped`
