//! A whole analysis of a CSV: counts, means, a histogram, a search, with error bars, a picture, and what is
//! left of the budget. `cargo run --package queryables-arrow --example census`

use queryables::mechanisms::{AboveThreshold, Estimates};
use queryables::prelude::*;
use queryables::table::{Column, Schema};
use queryables_arrow::{ArrowTable, chart};
use std::{error::Error, fs, sync::Arc};

fn main() -> Result<(), Box<dyn Error>> {
    // What is public: the columns, their ranges and categories, and that each row is a person.
    let schema = Schema::of_rows([
        Column::whole("age", 0..=120),
        Column::categories("sex", ["Female", "Male"]),
        Column::whole("hours_per_week", 0..=80),
        Column::categories("income", ["<=50K", ">50K"]),
    ])?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/adult.csv");
    let table = Arc::new(ArrowTable::csv(&schema, [file])?);
    let filter = start(&Filter::concurrent(PureDp, epsilon!(2)), table)?;
    let confidence = confidence!(0.95);

    let rich = schema
        .count()
        .filter("income = '>50K'")?
        .laplace(epsilon!(0.1))?;
    let rich = rich.estimate(filter.release(&rich)?, confidence);
    println!("People who earn more than 50k: {rich:.0}\n");

    let hours = schema
        .mean("hours_per_week")?
        .by("sex")?
        .by("income")?
        .laplace(epsilon!(0.5))?;
    let hours = filter.release(&hours.reported(confidence))?;
    println!("Hours a week:\n{hours:.1}\n");

    let decades = (0..=10).map(|decade| 10 * decade);
    let ages = schema
        .count()
        .by_buckets("age", decades)?
        .laplace(epsilon!(0.5))?;
    let ages = filter.release(&ages.reported_at_least(confidence, 25.0))?;
    println!("Ages, where there are about 25 people or more:\n{ages:.0}\n");
    let picture = std::env::temp_dir().join("ages.svg");
    fs::write(&picture, chart(&ages, "People by age"))?;

    // A search is charged once, however often it is asked. Questions are texts, or are built in Rust.
    let search = filter.launch(&AboveThreshold::new(AddRemove, 2500, 1, "0.4".parse()?)?)?;
    let mut median = 20;
    while !search.ask(schema.condition(format!("age <= {median}"))?)? {
        median += 1;
    }
    println!(
        "Half of 5000 people are at most about {median}. Left: ε = {}.",
        filter.remaining()
    );
    Ok(())
}
