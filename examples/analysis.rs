//! A whole analysis of the census data: means by group, a median, a histogram whose keys nobody
//! listed, and a search, with error bars, a chart, and what is left of the budget.
//! `cargo run --example analysis -- chart.svg`

mod adult;
mod chart;

use adult::{Education, Outcome, Person};
use queryables::compose::Parallel;
use queryables::data::{Attribute, Predicate};
use queryables::mechanisms::{
    AboveThreshold, Accuracy, Count, Estimates, Mean, NoisyQuantiles, ThresholdHistogram,
};
use queryables::prelude::*;
use std::{io, sync::Arc};

/// Prints the analysis and returns the chart.
pub fn run(out: &mut dyn io::Write) -> Outcome<String> {
    let budget = EpsilonDelta::new("1", "1e-6")?;
    let people = Arc::new(adult::people()?);
    let filter = start(&Filter::concurrent(ApproxDp, budget), people)?;
    let confidence = confidence!(0.95);

    // Everybody is in one group, so that all groups together cost what one of them costs.
    let each = Filter::concurrent(ApproxDp, EpsilonDelta::new("0.3", "0")?);
    let each = Education::ALL.map(|level| (level, each.clone()));
    let groups = filter.launch(&Parallel::new(Person::education, each)?)?;
    let hours = Attribute::new("hours", |person: &Person| f64::from(person.hours_per_week));
    let mean = Mean::of(hours, 0.0..=80.0).laplace(epsilon!(0.3))?;
    let mut bars = vec![];
    for (level, group) in groups.iter() {
        let hours = mean.estimate(group.release(&mean)?, confidence);
        writeln!(out, "{level:>11}: {hours:.1} hours a week")?;
        bars.push((level, hours));
    }

    let age = Attribute::new("age", |person: &Person| i64::from(person.age));
    let median = NoisyQuantiles::new(AddRemove, age, 0..=120, [(1, 2)], epsilon!(0.2))?;
    writeln!(out, "The median age is {}.", filter.release(&median)?[0])?;

    // Which hours people work need not be listed: what is rare is left out, at the price of a δ.
    let hours = |person: &Person| u64::from(person.hours_per_week);
    let loss = EpsilonDelta::new("0.3", "1e-6")?;
    let histogram = ThresholdHistogram::new(AddRemove, "hours", hours, loss)?;
    let bins = filter.release(&histogram)?.into_iter();
    for (hours, people) in bins.filter(|(_, people)| *people > 200) {
        writeln!(out, "About {people} work {hours} hours.")?;
    }

    // A search is charged once, however often it is asked.
    let search = filter.launch(&AboveThreshold::new(AddRemove, 1000, 1, epsilon!(0.1))?)?;
    let up_to = |age| Predicate::new("young", move |person: &Person| person.age <= age);
    let mut age = 17;
    while age < 90 && !search.ask(up_to(age))? {
        age += 1;
    }
    writeln!(out, "The thousand youngest are at most about {age}.")?;

    // What is left, and what it would buy: a preview charges nothing.
    let next = Count::of(up_to(age)).laplace(epsilon!(0.1))?;
    let preview = filter.preview(&next)?;
    let (left, error) = (preview.launches_left(), preview.accuracy(confidence));
    writeln!(out, "Spent {:.2} of {budget}.", filter.privacy_loss())?;
    writeln!(out, "Left: {left} such count, within {error} of the truth.")?;
    Ok(chart::bars("Hours a week, with 95 % intervals", &bars))
}

fn main() -> Outcome<()> {
    Ok(chart::save(&run(&mut io::stdout())?)?)
}
