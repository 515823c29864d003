//! Five million rows of Parquet, by group: `cargo run --release --package queryables-arrow --example
//! parquet_by_group -- rides.parquet`. Without a file it makes one.

#[path = "data/rides.rs"]
mod rides;

use queryables::prelude::*;
use queryables::table::{Column, Kind, Schema};
use queryables_arrow::ArrowTable;
use std::{error::Error, sync::Arc};

fn main() -> Result<(), Box<dyn Error>> {
    let file = rides::file(std::env::args().nth(1))?;
    let schema = Schema::of_people(
        "rider",
        [
            Column::new("rider", Kind::Whole),
            Column::categories(
                "zone",
                ["airport", "center", "east", "north", "south", "west"],
            ),
            Column::real("fare", 0.0..=100.0),
        ],
    )?;
    let table = Arc::new(ArrowTable::parquet(&schema, [&file])?);
    let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), table)?;
    let fares = schema
        .sum("fare")?
        .by("zone")?
        .rows_per_person(10)
        .laplace(epsilon!(1))?;
    println!(
        "{:.0}",
        fares.report(&filter.release(&fares)?, confidence!(0.95))
    );
    Ok(())
}
