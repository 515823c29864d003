//! No budget, but a reading at every moment, for one person and for a couple.
//!
//! ```text
//! cargo run --example odometer
//! ```

mod adult;

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use adult::Person;
use queryables::data::Predicate;
use queryables::mechanisms::Count;
use queryables::prelude::*;
use queryables::privacy::Distance;

pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let people = Arc::new(adult::people()?);
    let couple = Distance::new(2).ok_or("two is not zero")?;
    let odometer = Odometer::concurrent(ZCdp).tracking([couple]);
    let odometer = start(&odometer, Arc::clone(&people))?;

    writeln!(
        out,
        "Years of education, and how many have at least as many:\n"
    )?;
    writeln!(
        out,
        "{:>5} {:>9} {:>7} {:>18} {:>18}",
        "years", "count", "cost ρ", "so far, for one", "for a couple"
    )?;
    for (years, rho) in [
        (8, "0.001"),
        (10, "0.001"),
        (12, "0.004"),
        (13, "0.016"),
        (14, "0.016"),
    ] {
        let educated = Predicate::new(format!("{years} years"), move |person: &Person| {
            person.years_of_education >= years
        });
        let count = odometer.release(&Count::of(educated).gaussian(rho.parse::<Rho>()?)?)?;
        let couples = odometer
            .privacy_loss_at(couple)
            .ok_or("couples are tracked")?;
        writeln!(
            out,
            "{years:>5} {count:>9} {rho:>7} {:>18} {couples:>18}",
            odometer.privacy_loss()
        )?;
    }

    writeln!(
        out,
        "\nA reading means: had we decided in advance to stop at it, all that was seen would be\n\
         private at that level. It comes after the launch, so to stop at a level, ask before it:\n\
         capped, an odometer is a filter, which other filters launch, too:"
    )?;
    let outer = start(&Filter::concurrent(ZCdp, rho!(0.5)), people)?;
    let capped = outer.launch(&Odometer::concurrent(ZCdp).capped(rho!(0.1)))?;
    let all = Predicate::new("everybody", |_: &Person| true);
    for rho in ["0.1", "0.2"] {
        let admitted = capped.would_admit(&rho.parse()?);
        writeln!(out, "  ρ = {rho}: {}", if admitted { "yes" } else { "no" })?;
    }
    match capped.release(&Count::of(all).gaussian(rho!(0.2))?) {
        Err(error) => writeln!(out, "  {error}")?,
        Ok(count) => writeln!(out, "  {count}")?,
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}
