//! OpenDP's noise under a filter of this crate, and a filter of this crate inside OpenDP.
//!
//! ```text
//! cargo run --package queryables-opendp --example opendp
//! ```

#[path = "../../../examples/adult/mod.rs"]
mod adult;

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use opendp::combinators::{
    make_adaptive_composition, make_approximate, make_fully_adaptive_composition,
    make_privacy_filter,
};
use opendp::core::{Function, Measurement, StabilityMap, Transformation};
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::error::Fallible;
use opendp::measurements::make_laplace;
use opendp::measures::{Approximate, MaxDivergence};
use opendp::metrics::{AbsoluteDistance, InsertDeleteDistance, SymmetricDistance};
use opendp::transformations::{make_clamp, make_ordered_random};
use queryables::account::{Accumulator, AdvancedComposition};
use queryables::data::Predicate;
use queryables::mechanisms::AboveThreshold;
use queryables::prelude::*;
use queryables_opendp::{InDomain, Measured, make_interactive};

type Ages = VectorDomain<AtomDomain<u32>>;
type Count = Measurement<Ages, SymmetricDistance, Approximate<MaxDivergence>, i64>;

/// How many are older than this, with OpenDP's Laplace noise: (1/scale, 0).
fn older_than(ages: &Ages, age: u32, scale: f64) -> Fallible<Count> {
    let number = AtomDomain::<i64>::default();
    let count = Transformation::new(
        ages.clone(),
        SymmetricDistance,
        number.clone(),
        AbsoluteDistance::default(),
        Function::new(move |ages: &Vec<u32>| {
            ages.iter().filter(|other| **other > age).count() as i64
        }),
        StabilityMap::new_from_constant(1),
    )?;
    let noise =
        make_laplace::<_, _, MaxDivergence>(number, AbsoluteDistance::default(), scale, None)?;
    make_approximate((count >> noise)?)
}

/// OpenDP's own filter, until it admits no more.
fn opendps_filter(ages: &Ages, people: &Vec<u32>) -> Fallible<usize> {
    let measure = Approximate(MaxDivergence);
    let odometer = make_fully_adaptive_composition(ages.clone(), SymmetricDistance, measure)?;
    let mut filter = make_privacy_filter(odometer, 1, (1.0, 1e-6))?.invoke(people)?;
    let count = older_than(ages, 40, 100.0)?;
    Ok((0..)
        .take_while(|_| filter.invoke(count.clone()).is_ok())
        .count())
}

pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let people: Vec<u32> = adult::people()?.iter().map(|person| person.age).collect();
    let ages: Ages = VectorDomain::new(AtomDomain::default());
    writeln!(out, "A budget of (1, 1e-6), and launches at (0.01, 0).\n")?;
    let admitted = opendps_filter(&ages, &people)?;
    writeln!(out, "OpenDP's filter admits {admitted}.")?;

    // The same noise and the same budget, with a better rule. The data comes with its domain.
    let rule = AdvancedComposition::new("1e-6".parse()?)?.capped(EpsilonDelta::new("1", "1e-6")?);
    let member = Arc::new(InDomain::new(ages.clone(), people.clone())?);
    let filter = start(&Filter::concurrent_with(rule), member)?;

    // Two children stay open all the while, at (0.01, 0) each: a search of this crate's, and a
    // compositor of OpenDP's in which two more counts, at half of that, are asked for later.
    let search = AboveThreshold::new(AddRemove, 500, 1, "0.01".parse()?)?;
    let search = filter.launch(&search)?;
    let two_counts = make_adaptive_composition(
        ages.clone(),
        SymmetricDistance,
        Approximate(MaxDivergence),
        1,
        vec![(0.005, 0.0); 2],
    )?;
    let two_counts = filter.launch_local(&Measured::new(two_counts))?;

    let count = Measured::new(older_than(filter.metadata(), 40, 100.0)?);
    let (mut sum, mut counted, mut age, mut found) = (0, 0, 20, false);
    let refusal = loop {
        match filter.release(&count) {
            Ok(answer) => sum += answer,
            Err(refusal) => break refusal,
        }
        counted += 1;
        if !found && age < 90 {
            let younger = move |other: &u32| *other <= age;
            found = search.ask(Predicate::new(format!("at most {age}"), younger))?;
            age += u32::from(!found);
        }
        if counted % 150 == 0 {
            let elders = two_counts.ask(older_than(filter.metadata(), 65, 200.0)?)?;
            writeln!(
                out,
                "After {counted} counts: about {elders} are older than 65."
            )?;
        }
    };
    writeln!(
        out,
        "This crate's filter admits {}: {counted} counts, a search, and a compositor of OpenDP's.",
        filter.launched()
    )?;
    writeln!(out, "Then: {refusal}.")?;
    writeln!(
        out,
        "About {} are older than 40, on average over all counts; the 500 youngest are at most about {age}.\n",
        sum / counted
    )?;

    // The other way round: a filter of this crate is an OpenDP measurement, at the end of a chain.
    let bounds = (17, 90);
    let clamped = VectorDomain::new(AtomDomain::new_closed(bounds)?);
    let chain = (make_clamp(ages, SymmetricDistance, bounds)?
        >> make_ordered_random(clamped.clone(), SymmetricDistance)?)?;
    let filter = Filter::concurrent(PureDp, "0.5".parse()?);
    let chain =
        (chain >> make_interactive(clamped, InsertDeleteDistance, PureDp, AddRemove, filter)?)?;
    writeln!(
        out,
        "A filter of 0.5 behind OpenDP's clamp: ε = {} for one person.",
        chain.map(&1)?
    )?;
    let filter = chain.invoke(&people)?;
    let search = filter.launch(&AboveThreshold::new(AddRemove, 500, 1, "0.3".parse()?)?)?;
    let oldest = search.ask(Predicate::new("at most 90", |age: &u32| *age <= 90))?;
    writeln!(
        out,
        "Whether at least 500 are at most 90: {oldest}. Left: {}.",
        filter.remaining()
    )?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}
