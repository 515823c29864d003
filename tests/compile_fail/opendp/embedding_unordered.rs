//! Two orders of the same rows are no distance apart, and yet no neighbours.
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::metrics::SymmetricDistance;
use queryables_opendp::make_interactive;
use queryables::prelude::*;

fn main() {
    let rows = VectorDomain::new(AtomDomain::<u8>::default());
    let filter = Filter::concurrent(PureDp, Epsilon::default());
    let _ = make_interactive(rows, SymmetricDistance, PureDp, AddRemove, filter);
}

//~ E0277
//~ how many steps under … a distance in OpenDP's … on … takes is not known
//~ vectors under `AddRemove` are measured by `InsertDeleteDistance`, under `Replace` by `HammingDistance`
//~ from `SymmetricDistance` or `ChangeOneDistance`, chain OpenDP's `make_ordered_random` before it
//~ for any other metric, implement `Reaches` for a relation of your own
