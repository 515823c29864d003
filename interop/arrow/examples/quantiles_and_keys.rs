//! Quantiles, and keys that nobody listed, as a picture.
//! `cargo run --package queryables-arrow --example quantiles_and_keys -- reasons.svg`

use queryables::mechanisms::table::{Report, ReportRow};
use queryables::{mechanisms::Estimates, prelude::*, table::*};
use queryables_arrow::{ArrowTable, chart};
use std::{error::Error, sync::Arc};

fn main() -> Result<(), Box<dyn Error>> {
    let column = |name: &str, kind| Column::new(name, kind);
    let columns = [
        column("patient", Kind::Text),
        column("reason", Kind::Text),
        column("cost", Kind::Real),
    ];
    let schema = Schema::of_people("patient", columns)?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/visits.csv");
    let visits = Arc::new(ArrowTable::csv(&schema, [file])?);
    let filter = start(
        &Filter::concurrent(ApproxDp, EpsilonDelta::new("1", "1e-6")?),
        visits,
    )?;

    let costs = schema
        .count()
        .by_buckets("cost", (0..=50).map(|edge| 10 * edge))?;
    let quartiles = costs.quantiles(AddRemove, [(1, 4), (1, 2), (3, 4)], epsilon!(0.5))?;
    for (low, high) in filter.release(&quartiles)? {
        println!("The next quartile of the costs is from {low} to {high}.");
    }

    // What is rare is left out, at the price of a δ.
    let reasons = schema
        .count()
        .keys("reason")?
        .laplace(AddRemove, EpsilonDelta::new("0.5", "1e-6")?)?;
    let rows = filter
        .release(&reasons)?
        .into_iter()
        .map(|(reason, patients)| {
            let (patients, interval) = reasons.interval(patients, confidence!(0.95));
            let [low, high] = [interval.start(), interval.end()].map(|end| *end as f64);
            ReportRow {
                key: vec![reason.to_string()],
                estimate: Some((patients as f64, low, high)),
            }
        });
    let report = Report {
        columns: vec!["reason".into()],
        confidence: "0.95".into(),
        rows: rows.collect(),
    };
    let picture = std::env::args().nth(1).unwrap_or("/tmp/reasons.svg".into());
    std::fs::write(&picture, chart(&report, "Patients by reason"))?;
    println!("\n{report:.0}\n\nDrawn in {picture}.");
    Ok(())
}
