//! A search and a sparse vector over a table of Spark or Sail, interleaved with counts, under one budget.
//! `cargo run --example interleaved -- sc://127.0.0.1:15002 visits.parquet`, with a file of whole numbers
//! `person`, `state` and `hours`.

use std::error::Error;
use std::sync::Arc;

use queryables::machine::PublicMetadata;
use queryables::mechanisms::AboveThreshold;
use queryables::prelude::*;
use queryables::table::{Column, Kind, Schema};
use queryables_spark::{SparkEngine, SparkTable};

/// What is learned.
#[derive(Debug)]
pub struct Found {
    pub all: f64,
    /// Until where half of the people have a visit as short.
    pub median: i64,
    pub late: f64,
    /// States with many people: which, and how many.
    pub large: Vec<(i64, i64)>,
    pub spent: Epsilon,
}

pub fn ask(table: SparkTable) -> Result<Found, Box<dyn Error>> {
    let schema = table.metadata().clone();
    let filter = start(&Filter::concurrent(PureDp, epsilon!(2)), Arc::new(table))?;
    let all = schema.count().laplace(epsilon!(0.5))?;
    let all = filter.release(&all)?;

    // Each is charged once, however often it is asked; the engine counts, and the noise is drawn here.
    let half = all / 2.0;
    let search = AboveThreshold::new(AddRemove, half as i64, 1, epsilon!(0.5))?;
    let search = filter.launch(&search)?;
    let large = AboveThreshold::new(AddRemove, 200, 2, epsilon!(0.25))?;
    let large = filter.launch(&large.with_counts(epsilon!(0.25))?)?;

    let (mut median, mut state, mut states) = (0, 0, Vec::new());
    let mut is_found = false;
    while !is_found || (states.len() < 2 && state < 50) {
        if !is_found {
            is_found =
                median >= 100 || search.ask(schema.condition(format!("hours <= {median}"))?)?;
            median += i64::from(!is_found) * 5;
        }
        if states.len() < 2 {
            let count = large.ask(schema.condition(format!("state = {state}"))?)?;
            states.extend(count.map(|count| (state, count)));
            state += 1;
        }
    }
    let late = schema.count().filter("hours >= 20")?;
    let late = filter.release(&late.laplace(epsilon!(0.5))?)?;
    Ok(Found {
        all,
        median,
        late,
        large: states,
        spent: filter.privacy_loss(),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(remote), Some(path)) = (arguments.next(), arguments.next()) else {
        return Err("the address of an engine, and the path of a file".into());
    };
    let columns = ["person", "state", "hours"].map(|name| Column::new(name, Kind::Whole));
    let schema = Schema::of_people("person", columns)?;
    let table = SparkEngine::open(&remote)?.parquet(&[&path], &schema)?;
    println!("{:#?}", ask(table)?);
    Ok(())
}
