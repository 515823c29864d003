//! No concurrent composition theorem is known for approximate zCDP.
use queryables::prelude::*;

fn main() {
    let _ = Filter::concurrent(ApproxZCdp, RhoDelta::default());
}
