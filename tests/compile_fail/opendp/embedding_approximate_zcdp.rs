//! OpenDP would have to freeze a handle that it does not know.
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::metrics::InsertDeleteDistance;
use queryables_opendp::make_interactive;
use queryables::prelude::*;
use queryables::privacy::{ApproxZCdp, RhoDelta};

fn main() {
    let rows = VectorDomain::new(AtomDomain::<u8>::default());
    let filter = Filter::sequential(ApproxZCdp, RhoDelta::default());
    let _ = make_interactive(rows, InsertDeleteDistance, ApproxZCdp, AddRemove, filter);
}

//~ E0277
//~ a mechanism with a loss in … cannot be handed to OpenDP
//~ OpenDP has the measures of `PureDp`, `ApproxDp`, `ZCdp`, `Rdp` and `RdpGrid`
//~ under approximate zCDP it must be able to freeze what it launched, and it cannot freeze the handles of this crate
