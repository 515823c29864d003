//! Ways around the guarantee that were open once, with safe code and the public API only.
//!
//! Four more do not compile: a mechanism that starts a handle (`handle_as_machine`), coins for a
//! handle (`coins_for_a_handle`), inspecting a handle (`inspecting_a_handle`), and replacing the
//! coins that one is lent (`replacing_the_coins`); see `compile_fail`.

mod anywhere;
mod bystanders;
mod frozen;
mod itself;
mod leaks;
mod rules;
mod told;

use std::sync::Arc;

use crate::common::{Ask, Run, at, epsilon};
use queryables::compose::{RunningFilterOf, Sequential};
use queryables::machine::Stop;
use queryables::prelude::*;
use queryables::queryable::Relay;

pub type Sequentially = RunningFilterOf<Vec<u8>, PureDp, AddRemove, Sequential>;

pub fn rows() -> Arc<Vec<u8>> {
    Arc::new(vec![1, 2, 3])
}

pub fn sequentially() -> Sequentially {
    start(&Filter::sequential(PureDp, epsilon("10")), rows()).unwrap()
}

/// The number of rows, once.
pub fn once(loss: &str) -> crate::common::Stated<Epsilon, Run<Vec<u8>, usize>> {
    at(epsilon(loss), Run::new(|rows: &Vec<u8>| Ok(rows.len())))
}

/// The number of rows, as often as it is asked for.
pub fn often(loss: &str) -> crate::common::Stated<Epsilon, Ask<Vec<u8>, u32, usize>> {
    at(epsilon(loss), Ask::new(|rows: &Vec<u8>, _| Ok(rows.len())))
}

pub const FROZEN: AskError = AskError::Stopped(Stop::Frozen);
pub const HALTED: AskError = AskError::Stopped(Stop::Halted);

/// Starts a relay to a handle that exists already.
#[derive(Clone)]
pub struct Rewrap<Q, A>(Queryable<Q, A>);

impl<D: ?Sized, Q, A> Mechanism<D> for Rewrap<Q, A> {
    type Machine = Relay<Queryable<Q, A>>;

    fn start(&self, _: &Arc<D>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(Relay(self.0.clone()))
    }
}
