//! A handle is not a machine: a mechanism that starts an existing handle cannot be launched,
//! because stopping the handle would not stop the new one.
use std::sync::Arc;

use queryables::compose::RunningFilterOf;
use queryables::prelude::*;

struct Rewrap(RunningFilterOf<(), PureDp>);

impl Mechanism<()> for Rewrap {
    type Machine = RunningFilterOf<(), PureDp>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(self.0.clone())
    }
}

fn main() {
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), Arc::new(())).unwrap();
    let _ = start(&Rewrap(filter), Arc::new(()));
}

//~ E0277
//~ … is not a machine that can be handed out to an analyst
//~ a handle can be sent between threads: what it is made of must be a `Machine` that is `Send`
//~ one that is not `Send` can be launched with `start_local`, and stays on its thread
//~ a mechanism that starts a handle which exists already cannot be launched: put it into a `Relay`, which stops with the handle
