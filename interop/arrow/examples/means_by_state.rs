//! A CSV with several rows for each person: means by state, with error bars.
//! `cargo run --package queryables-arrow --example means_by_state`

use queryables::prelude::*;
use queryables::table::{Column, Kind, Schema};
use queryables_arrow::ArrowTable;
use std::{error::Error, sync::Arc};

fn main() -> Result<(), Box<dyn Error>> {
    let schema = Schema::of_people(
        "patient",
        [
            Column::new("patient", Kind::Text),
            Column::categories("state", ["CA", "NY", "TX", "WA"]),
            Column::real("cost", 0.0..=500.0),
        ],
    )?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/visits.csv");
    let visits = Arc::new(ArrowTable::csv(&schema, [file])?);
    let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), visits)?;
    let costs = schema
        .mean("cost")?
        .by("state")?
        .rows_per_person(3)
        .laplace(epsilon!(1))?;
    println!(
        "{}",
        costs.report(&filter.release(&costs)?, confidence!(0.95))
    );
    Ok(())
}
