//! A filter over census data: an open search and noisy counts interleaved, a refusal, what is left.
//!
//! ```text
//! cargo run -p quickstart
//! ```

mod adult;

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use adult::Person;
use queryables::data::Predicate;
use queryables::mechanisms::{AboveThreshold, Count};
use queryables::prelude::*;

fn at_most(age: u32) -> Predicate<Vec<Person>> {
    Predicate::new(format!("aged {age} or less"), move |person: &Person| {
        person.age <= age
    })
}

pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    // The data holder starts a filter on it, with a budget of ε = 1.
    let people = Arc::new(adult::people()?);
    let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), people)?;
    writeln!(out, "A budget of ε = {}.", filter.limit())?;

    // Where people are added or removed, how many there are is not public either.
    let everybody = Predicate::new("everybody", |_: &Person| true);
    let total = filter.release(&Count::of(everybody).laplace(epsilon!(0.1))?)?;
    writeln!(out, "About {total} people, for 0.1.\n")?;

    // An interactive mechanism: charged once, asked as often as it takes.
    let search = AboveThreshold::new(AddRemove, total / 2, 1, epsilon!(0.4))?;
    let search = filter.launch(&search)?;
    writeln!(
        out,
        "Half of them are at most how old? The search costs 0.4, however long it takes."
    )?;
    let mut median = 20;
    while !search.ask(at_most(median))? {
        // Other mechanisms can be launched while it is open.
        if median % 10 == 0 {
            let count = filter.release(&Count::of(at_most(median)).laplace(epsilon!(0.1))?)?;
            writeln!(
                out,
                "  up to {median}: no (and a noisy count, for 0.1: {count})"
            )?;
        } else {
            writeln!(out, "  up to {median}: no")?;
        }
        median += 5;
    }
    writeln!(out, "  up to {median}: yes\n")?;

    let rich = Predicate::new("earns over 50k", |person: &Person| person.earns_over_50k);
    writeln!(out, "How many earn more than 50k?")?;
    match filter.release(&Count::of(rich.clone()).laplace(epsilon!(0.5))?) {
        // The refusal came before the data was touched, and everything goes on.
        Err(error) => writeln!(out, "  {error}")?,
        Ok(count) => writeln!(out, "  about {count}")?,
    }
    let rest = filter.remaining();
    let count = filter.release(&Count::of(rich).laplace(rest)?)?;
    writeln!(out, "  about {count}, for the remaining {rest}\n")?;

    writeln!(
        out,
        "Spent: {} of {}.",
        filter.privacy_loss(),
        filter.limit()
    )?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}
