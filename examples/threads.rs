//! One budget, several threads: children answer at the same time, and no launch beyond the budget
//! is admitted.
//!
//! ```text
//! cargo run --example threads
//! ```

mod adult;

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::thread;

use adult::Person;
use queryables::data::Predicate;
use queryables::mechanisms::{AboveThreshold, Count};
use queryables::prelude::*;

pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let people = Arc::new(adult::people()?);
    let filter = start(&Filter::concurrent(PureDp, epsilon!(3)), people)?;

    // Two searches, each on its own thread; a handle is cheap to clone and can be sent.
    let search = AboveThreshold::new(AddRemove, 1000, 1, epsilon!(0.5))?;
    let searches = [("men", true), ("women", false)].map(|(name, is_male)| {
        let search = filter.launch(&search);
        thread::spawn(move || {
            let search = search.map_err(|error| error.to_string())?;
            for age in (16..=90).step_by(2) {
                let younger =
                    Predicate::new(format!("{name} up to {age}"), move |person: &Person| {
                        person.is_male == is_male && person.age <= age
                    });
                if search.ask(younger).map_err(|error| error.to_string())? {
                    return Ok(format!(
                        "The thousand youngest {name} are at most about {age}."
                    ));
                }
            }
            Ok(format!("There are fewer than a thousand {name}."))
        })
    });
    for search in searches {
        let found: Result<String, String> = search.join().map_err(|_| "a search failed")?;
        writeln!(out, "{}", found?)?;
    }

    // Four threads that launch as fast as they can: 0.001 each, and 2 are left.
    let everybody = Predicate::new("everybody", |_: &Person| true);
    let count = Count::of(everybody).laplace(epsilon!(0.001))?;
    let admitted: Vec<usize> = thread::scope(|scope| {
        let threads = [(); 4]
            .map(|()| scope.spawn(|| (0..1000).filter(|_| filter.release(&count).is_ok()).count()));
        threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .collect()
    });
    writeln!(out, "\n4 × 1000 launches at 0.001 against the remaining 2:")?;
    writeln!(
        out,
        "  admitted, by thread: {admitted:?}, together {}",
        admitted.iter().sum::<usize>()
    )?;
    writeln!(
        out,
        "  spent {} of {}",
        filter.privacy_loss(),
        filter.limit()
    )?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}
