//! A whole analysis of the census data: means by group, a median, a histogram whose keys nobody
//! listed, and a search. With error bars, a chart, and what is left of the budget.
//!
//! ```text
//! cargo run --example analysis -- chart.svg
//! ```

mod adult;

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use adult::Person;
use queryables::compose::Parallel;
use queryables::data::{Attribute, Predicate};
use queryables::mechanisms::{
    AboveThreshold, Estimate, NoisyCount, NoisyMean, NoisyQuantiles, ThresholdHistogram,
};
use queryables::prelude::*;

const SCHOOLS: [&str; 5] = ["school", "high school", "college", "bachelor", "master"];

fn school(person: &Person) -> &'static str {
    SCHOOLS[match person.years_of_education {
        0..=8 => 0,
        9 => 1,
        10..=12 => 2,
        13 => 3,
        _ => 4,
    }]
}

/// Prints the analysis and returns the chart.
pub fn run(out: &mut dyn Write) -> Result<String, Box<dyn Error>> {
    let people = Arc::new(adult::people()?);
    let budget = EpsilonDelta::new("1", "1e-6")?;
    let filter = launch(&Filter::concurrent(ApproxDp, budget), people)?;
    let confidence = "0.95".parse()?;

    // Everybody is in one group, so that all groups together cost what one of them costs.
    let each = Filter::concurrent(ApproxDp, EpsilonDelta::new("0.3", "0")?);
    let groups = filter.launch(&Parallel::new(
        school,
        SCHOOLS.map(|name| (name, each.clone())),
    ))?;
    let hours = Attribute::new("hours", |person: &Person| f64::from(person.hours_per_week));
    let mean = NoisyMean::new(AddRemove, hours, 0.0..=80.0, 0, "0.3".parse()?)?;
    let mut bars = vec![];
    for name in SCHOOLS {
        let group = groups.part(&name).ok_or("no such group")?;
        let mean = group.release(&mean)?.estimate(confidence);
        writeln!(out, "{name:>11}: {mean:.1} hours a week")?;
        bars.push((name, mean));
    }

    let age = Attribute::new("age", |person: &Person| i64::from(person.age));
    let median = NoisyQuantiles::new(AddRemove, age, 0..=120, [(1, 2)], "0.2".parse()?)?;
    writeln!(out, "The median age is {}.", filter.release(&median)?[0])?;

    // Which hours people work need not be listed: what is rare is left out, at the price of a δ.
    let key = |person: &Person| u64::from(person.hours_per_week);
    let loss = EpsilonDelta::new("0.3", "1e-6")?;
    let histogram = ThresholdHistogram::new(AddRemove, "hours", key, loss)?;
    let mut common: Vec<(u64, i64)> = filter.release(&histogram)?.into_iter().collect();
    common.sort_by_key(|(_, people)| -people);
    for (hours, people) in common.iter().take(3) {
        writeln!(out, "About {people} work {hours} hours.")?;
    }

    // A search is charged once, however often it is asked.
    let search = filter.launch(&AboveThreshold::new(AddRemove, 1000, 1, "0.1".parse()?)?)?;
    let mut age = 17;
    let up_to = |age: u32| Predicate::new("young", move |person: &Person| person.age <= age);
    while age < 90 && !search.ask(up_to(age))? {
        age += 1;
    }
    writeln!(out, "The thousand youngest are at most about {age}.")?;
    // What is left, and what it would buy: a preview charges nothing.
    let next = NoisyCount::new(up_to(age), "0.1".parse()?)?;
    let preview = filter.preview(&next)?;
    writeln!(
        out,
        "Spent {:.2} of {budget}. Left: {} more such counts, within {} of the truth.",
        filter.privacy_loss(),
        preview.launches_left(),
        preview.accuracy(confidence),
    )?;
    Ok(chart(&bars))
}

/// Bars with their intervals, as SVG.
fn chart(bars: &[(&str, Estimate<f64>)]) -> String {
    let y = |hours: f64| 240.0 - 4.0 * hours;
    let mut svg = String::from(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 460 280' font-family='sans-serif' \
         font-size='12'>\n<rect width='460' height='280' fill='white'/>\n\
         <text x='20' y='20' font-size='14'>Hours a week by education, with 95 % intervals</text>\n",
    );
    for tick in [0, 20, 40] {
        let y = y(f64::from(tick));
        let _ = writeln!(
            svg,
            "<path d='M40 {y} H450' stroke='#ddd'/><text x='30' y='{}' text-anchor='end'>{tick}</text>",
            y + 4.0
        );
    }
    for (index, (name, mean)) in bars.iter().enumerate() {
        let x = 60 + 78 * index;
        let (top, middle) = (y(mean.value), x + 29);
        let (low, high) = (y(*mean.interval.start()), y(*mean.interval.end()));
        let _ = writeln!(
            svg,
            "<rect x='{x}' y='{top:.1}' width='58' height='{:.1}' fill='#7aa6c2'/>\
             <path d='M{middle} {low:.1} V{high:.1} M{} {low:.1} h12 M{} {high:.1} h12' stroke='#222'/>\
             <text x='{middle}' y='258' text-anchor='middle'>{name}</text>",
            240.0 - top,
            middle - 6,
            middle - 6,
        );
    }
    svg + "</svg>\n"
}

fn main() -> Result<(), Box<dyn Error>> {
    let chart = run(&mut io::stdout())?;
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(path, chart)?;
    }
    Ok(())
}
