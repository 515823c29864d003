//! Five million rows of Parquet, by group. Without a file it makes one:
//! `cargo run --release --package queryables-arrow --example parquet_by_group -- rides.parquet`

#[path = "data/rides.rs"]
mod rides;

use queryables::{prelude::*, table::*};
use queryables_arrow::ArrowTable;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = rides::file(std::env::args().nth(1))?;
    let schema = Schema::of_people(
        "rider",
        [
            Column::new("rider", Kind::Whole),
            Column::categories("zone", rides::ZONES),
            Column::real("fare", 0.0..=50.0),
        ],
    )?;
    let rides = ArrowTable::parquet(&schema, [file])?;
    let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), rides.into())?;

    let fares = schema.sum("fare")?.by("zone")?.rows_per_person(10);
    let fares = fares.laplace(epsilon!(1))?;
    let report = filter.release(&fares.reported(confidence!(0.95)))?;
    println!("{report:.0}");
    Ok(())
}
