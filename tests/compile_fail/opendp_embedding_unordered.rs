//! Two orders of the same rows are no distance apart, and yet no neighbours.
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::metrics::SymmetricDistance;
use queryables::interop::opendp::make_interactive;
use queryables::prelude::*;

fn main() {
    let rows = VectorDomain::new(AtomDomain::<u8>::default());
    let filter = Filter::concurrent(PureDp, Epsilon::default());
    let _ = make_interactive(rows, SymmetricDistance, PureDp, AddRemove, filter);
}
