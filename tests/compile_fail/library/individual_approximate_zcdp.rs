//! Approximate zCDP has no rule that lets each record pay for itself.
use queryables::compose::IndividualFilter;
use queryables::privacy::{ApproxZCdp, RhoDelta};

fn main() {
    let _ = IndividualFilter::<Vec<u8>, _>::new(ApproxZCdp, RhoDelta::default());
}

//~ E0277
//~ no theorem lets each record pay for itself under …
//~ for a grid of Rényi orders, choose one of them: `Rdp::new(order)`, or `ThroughRdp::on_grid_at`
