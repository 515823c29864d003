//! A handle is not a machine: a mechanism that starts one which exists already cannot be launched,
//! or whoever may stop the handle would not stop the new one.
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
    let filter = launch(&Filter::concurrent(PureDp, Epsilon::default()), Arc::new(())).unwrap();
    let _ = launch(&Rewrap(filter), Arc::new(()));
}
