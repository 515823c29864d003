//! A ledger starts a filter only where it knows what neighbours are.
use std::sync::Arc;

use queryables::ledger::Ledger;
use queryables::prelude::*;

struct Graph;

fn main() {
    let ledger = Ledger::in_memory("a graph").unwrap();
    let filter = Filter::concurrent(PureDp, Epsilon::default());
    let _ = ledger.start("census", &filter, &Arc::new(Graph));
}

//~ E0277
//~ implement `LedgerData` for `Graph`, or start the filter on a `Dataset` or a `Table`
