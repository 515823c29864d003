//! Quantiles, and keys that nobody listed, as a picture:
//! `cargo run --package queryables-arrow --example quantiles_and_keys`

use queryables::{prelude::*, table::*};
use queryables_arrow::{ArrowTable, chart};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = |name| Column::new(name, Kind::Text);
    let cost = Column::real("cost", 0.0..=500.0);
    let schema = Schema::of_people("patient", [text("patient"), text("reason"), cost])?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/visits.csv");
    let visits = ArrowTable::csv(&schema, [file])?;
    let budget = EpsilonDelta::new("1.5", "1e-6")?;
    let filter = start(&Filter::concurrent(ApproxDp, budget), visits.into())?;

    let tens = (0..=50).map(|number| 10 * number);
    let costs = schema.count().by_buckets("cost", tens)?;
    let quartiles = costs.quantiles(AddRemove, [(1, 4), (1, 2), (3, 4)], epsilon!(0.5))?;
    println!("Costs at the quartiles: {:?}", filter.release(&quartiles)?);

    // What is rare is not found, and there is a δ. What is found is public, and can be groups.
    let loss = EpsilonDelta::new("0.5", "1e-6")?;
    let reasons = schema.count().keys("reason")?.laplace(AddRemove, loss)?;
    let found = filter.release(&reasons)?.into_iter().map(|(key, _)| key);
    let groups = Grouping::keys(&schema, "reason", found)?;
    let patients = schema.count().grouped(groups).laplace(epsilon!(0.5))?;
    let report = filter.release(&patients.reported(confidence!(0.95)))?;
    println!("{report:.0}");
    let picture = std::env::temp_dir().join("reasons.svg");
    Ok(std::fs::write(picture, chart(&report, "Patients"))?)
}
