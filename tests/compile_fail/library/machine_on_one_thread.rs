//! A handle can be sent between threads, so the machine must be able to.
use std::rc::Rc;
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
    type Machine = Local;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Local, Fault> {
        Ok(Local(Rc::new(1)))
    }
}

struct Local(Rc<u8>);

impl Machine for Local {
    type Query = ();
    type Answer = u8;

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<u8, Fault> {
        Ok(*self.0)
    }
}

fn main() {
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), Arc::new(())).unwrap();
    let _ = filter.launch(&Mine);
}

//~ E0277
//~ Send
