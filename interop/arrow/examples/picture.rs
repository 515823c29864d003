//! A histogram as a picture. `cargo run --package queryables-arrow --example picture -- costs.svg`

use queryables::prelude::*;
use queryables::table::{Column, Kind, Schema};
use queryables_arrow::{ArrowTable, chart};
use std::{error::Error, sync::Arc};

fn main() -> Result<(), Box<dyn Error>> {
    let schema = Schema::of_people(
        "patient",
        [Column::new("patient", Kind::Text), Column::real("cost", 0.0..=500.0)],
    )?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/visits.csv");
    let visits = Arc::new(ArrowTable::csv(&schema, [file])?);
    let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), visits)?;
    let edges = (0..=10).map(|edge| 50 * edge);
    let costs = schema.count().by_buckets("cost", edges)?.rows_per_person(3).laplace(epsilon!(1))?;
    let report = costs.report(&filter.release(&costs)?, confidence!(0.95));
    let named = std::env::args().nth(1).map(Into::into);
    let picture = named.unwrap_or_else(|| std::env::temp_dir().join("costs.svg"));
    std::fs::write(&picture, chart(&report, "Visits by cost"))?;
    println!("{report:.0}\n\nDrawn in {}.", picture.display());
    Ok(())
}
