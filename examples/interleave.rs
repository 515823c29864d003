//! Two searches and a colleague's own budget, all open at once and used in any order.
//!
//! ```text
//! cargo run --example interleave
//! ```

mod adult;

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use adult::Person;
use queryables::data::Predicate;
use queryables::mechanisms::{AboveThreshold, Count};
use queryables::prelude::*;

fn young(age: u32) -> Predicate<Vec<Person>> {
    Predicate::new(format!("aged {age} or less"), move |person: &Person| {
        person.age <= age
    })
}

fn busy(hours: u32) -> Predicate<Vec<Person>> {
    Predicate::new(
        format!("works {hours} hours or more"),
        move |person: &Person| person.hours_per_week >= hours,
    )
}

pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let people = Arc::new(adult::people()?);
    let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), people)?;

    let by_age = filter.launch(&AboveThreshold::new(AddRemove, 1000, 1, epsilon!(0.3))?)?;
    let by_hours = filter.launch(&AboveThreshold::new(AddRemove, 1000, 1, epsilon!(0.3))?)?;
    // A filter is a mechanism too: this one goes to a colleague.
    let colleague = filter.launch(&Filter::concurrent(PureDp, epsilon!(0.4)))?;
    writeln!(
        out,
        "Open: two searches and a colleague's filter. Spent: {}.\n",
        filter.privacy_loss()
    )?;

    // Which comes first, from the young end and from the busy end? One question to each in turn.
    let (mut age, mut hours) = (20, 80);
    let (mut found_age, mut found_hours) = (None, None);
    while found_age.is_none() || found_hours.is_none() {
        if found_age.is_none() {
            if by_age.ask(young(age))? {
                found_age = Some(age);
            } else {
                age += 2;
            }
        }
        if found_hours.is_none() {
            if by_hours.ask(busy(hours))? {
                found_hours = Some(hours);
            } else {
                hours -= 5;
            }
        }
        if age == 24 && colleague.launched() == 0 {
            // In between, the colleague spends from their own budget.
            let count = colleague.release(&Count::of(young(age)).laplace(epsilon!(0.2))?)?;
            writeln!(
                out,
                "The colleague, meanwhile: about {count} are aged {age} or less."
            )?;
        }
    }
    writeln!(out, "The thousand youngest are at most about {age}.")?;
    writeln!(
        out,
        "The thousand busiest work at least about {hours} hours a week.\n"
    )?;

    // A search that has found what it was for is closed to further questions, the others are not.
    match by_age.ask(young(90)) {
        Err(error) => writeln!(out, "The first search, asked again: {error}.")?,
        Ok(answer) => writeln!(out, "The first search, asked again: {answer}.")?,
    }
    writeln!(
        out,
        "The colleague has {} left of {}.",
        colleague.remaining(),
        colleague.limit()
    )?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}
