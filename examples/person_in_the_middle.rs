//! A person in the middle of a conversation may change queries and answers, and costs nothing.
//!
//! ```text
//! cargo run --example person_in_the_middle
//! ```

mod adult;

use std::error::Error;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use adult::Person;
use queryables::compose::{Addressed, Message, Reply};
use queryables::data::Predicate;
use queryables::machine::{Coins, Fault};
use queryables::mechanisms::{Count, NoisyCount};
use queryables::middle::{Cache, Clamp, LimitQueries, Log, LogEvent, Middle, Move, Round};
use queryables::prelude::*;

/// What the filter takes, as a machine.
type ToFilter = Message<NoisyCount<Vec<Person>>, ()>;

/// A clerk: asked for an age, it launches a noisy count on the filter behind it, asks that for its
/// answer, and passes it on. Nobody on the outside sees that there is a filter.
#[derive(Clone)]
struct Clerk {
    price: Epsilon,
}

impl Middle<ToFilter, Reply<i64, Epsilon>> for Clerk {
    type OuterQuery = u32;
    type OuterAnswer = i64;

    fn on_query(&mut self, age: u32, _: &mut Coins<'_>) -> Result<Move<ToFilter, i64>, Fault> {
        let older = Predicate::new("older", move |person: &Person| person.age > age);
        let count = Count::of(older)
            .laplace(self.price)
            .map_err(|_| Fault::Failed)?;
        Ok(Move::Ask(Message::Launch(count)))
    }

    fn on_answer(
        &mut self,
        reply: Reply<i64, Epsilon>,
        _: &mut Coins<'_>,
    ) -> Result<Move<ToFilter, i64>, Fault> {
        match reply {
            Reply::Launched(number) => Ok(Move::Ask(Message::Ask(number, ()))),
            Reply::Answered(count) => Ok(Move::Answer(count)),
            _ => Err(Fault::Exhausted),
        }
    }
}

pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let people = Arc::new(adult::people()?);
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&lines);
    let log = Log::new(move |said| {
        let line = match said {
            LogEvent::Query(age) => format!("      (the clerk is asked for those over {age})"),
            LogEvent::Answer(count) => format!("      (the clerk says {count})"),
            LogEvent::Fault(fault) => format!("      (the clerk says nothing: {fault})"),
        };
        if let Ok(mut lines) = sink.lock() {
            lines.push(line);
        }
    });

    // From the inside out: a filter, a clerk, a log, and four ready-made persons.
    let ten = NonZeroU32::new(10).ok_or("ten is not zero")?;
    let filter = Filter::concurrent(PureDp, epsilon!(0.3));
    let desk = Addressed::new(filter)
        .through(Clerk {
            price: epsilon!(0.1),
        })
        .through(log)
        .through(Clamp::new(0, 10_000))
        .through(Round::to(ten))
        .through(Cache::new())
        .through(LimitQueries::new(6));
    // Its loss is that of the filter, whatever they do.
    let owner = start(&Filter::concurrent(PureDp, epsilon!(1)), people)?;
    let desk = owner.launch(&desk)?;
    writeln!(
        out,
        "Charged for the whole desk: ε = {}.\n",
        owner.privacy_loss()
    )?;

    for age in [30, 65, 30, 89, 50, 65, 30] {
        let answer = desk.ask(age);
        if let Ok(mut lines) = lines.lock() {
            for line in lines.drain(..) {
                writeln!(out, "{line}")?;
            }
        }
        match answer {
            Ok(count) => writeln!(out, "over {age}: about {count}")?,
            Err(error) => writeln!(out, "over {age}: {error}")?,
        }
    }
    writeln!(
        out,
        "\nAsked twice, the cache answered and the filter was not bothered; the fourth new question\n\
         was over the filter's budget; the seventh was one more than the limit."
    )?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}
