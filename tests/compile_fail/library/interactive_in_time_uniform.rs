//! A time-uniform odometer is about mechanisms that answer once.
use std::sync::Arc;

use queryables::account::time_uniform::{Slack, VarianceOdometer};
use queryables::compose::TimeUniform;
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
    let slack = Slack::pure("1e-6".parse().unwrap()).unwrap();
    let odometer = VarianceOdometer::mixture("1".parse().unwrap(), slack);
    let odometer = start(&TimeUniform::noninteractive(odometer), Arc::new(())).unwrap();
    let _ = odometer.launch(&Mine);
}

//~ E0277
//~ this compositor takes non-interactive mechanisms only
