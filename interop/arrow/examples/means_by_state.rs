//! A CSV with several rows for each person: means by state, with error bars.
//! `cargo run --package queryables-arrow --example means_by_state`

use queryables::{prelude::*, table::*};
use queryables_arrow::ArrowTable;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = Schema::of_people(
        "patient",
        [
            Column::new("patient", Kind::Text),
            Column::categories("state", ["CA", "NY", "TX", "WA"]),
            Column::real("cost", 0.0..=500.0),
        ],
    )?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/visits.csv");
    let visits = ArrowTable::csv(&schema, [file])?;
    let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), visits.into())?;

    // The rows of a patient with more than three weigh less.
    let costs = schema.mean("cost")?.by("state")?.rows_per_person(3);
    let costs = costs.laplace(epsilon!(1))?;
    println!("{}", filter.release(&costs.reported(confidence!(0.95)))?);
    Ok(())
}
