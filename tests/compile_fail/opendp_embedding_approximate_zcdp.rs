//! OpenDP would have to freeze a handle that it does not know.
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::metrics::InsertDeleteDistance;
use queryables::interop::opendp::make_interactive;
use queryables::prelude::*;

fn main() {
    let rows = VectorDomain::new(AtomDomain::<u8>::default());
    let filter = Filter::sequential(ApproxZCdp, RhoDelta::default());
    let _ = make_interactive(rows, InsertDeleteDistance, ApproxZCdp, AddRemove, filter);
}
