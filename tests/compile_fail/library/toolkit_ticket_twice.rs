//! A ticket is one charge, and starts one mechanism: also through what the core hands to the toolkit.
use std::sync::Arc;

use queryables_core::prelude::*;
use queryables_core::compose::Ticket;
use queryables_core::machine::Answered;
use queryables_core::toolkit::compose::release;

fn twice<M: Mechanism<(), Machine: Answered>>(ticket: Ticket, mechanism: &M, coins: &mut Coins<'_>) {
    let data = Arc::new(());
    let _ = release(ticket, mechanism, &data, coins);
    let _ = release(ticket, mechanism, &data, coins);
}

fn main() {}

//~ E0382
//~ ticket
