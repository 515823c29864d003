//! A framework around the crate: JSON requests come in on a channel, from several clients. Filters
//! of different measures live in one map and keep their open children, and mechanisms are chosen at
//! run time. `cargo run --example embed`

mod adult;

use adult::{Outcome, Person};
use queryables::compose::{AddressedFilter, AnyMechanism, Message};
use queryables::data::Predicate;
use queryables::mechanisms::{AboveThreshold, Count};
use queryables::number::Rho;
use queryables::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::mpsc::{self, Sender};
use std::{collections::BTreeMap, io, sync::Arc, thread};

type People = Vec<Person>;
/// Whatever it is: its answers become JSON, and its price is asked at run time.
type Any = AnyMechanism<People, Predicate<People>, Value>;
type Filters = BTreeMap<&'static str, AddressedFilter<People, Predicate<People>, Value>>;

#[derive(Deserialize)]
struct Request {
    filter: String,
    say: Message<Wanted, u32>,
}

/// Clients choose from what the curator wrote: they send no code.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wanted {
    Count { over: u32, loss: Epsilon },
    Gaussian { over: u32, loss: Rho },
    Search { loss: Epsilon },
}

fn older(age: u32) -> Predicate<People> {
    let name = format!("over {age}");
    Predicate::new(name, move |person: &Person| person.age > age)
}

fn mechanism(wanted: Wanted) -> Outcome<Any> {
    Ok(match wanted {
        Wanted::Count { over, loss } => Any::once(Count::of(older(over)).laplace(loss)?),
        Wanted::Gaussian { over, loss } => Any::once(Count::of(older(over)).gaussian(loss)?),
        Wanted::Search { loss } => Any::open(AboveThreshold::new(AddRemove, 1000, 1, loss)?),
    })
}

fn answer(filters: &Filters, request: Value) -> Outcome<Value> {
    let Request { filter, say } = serde_json::from_value(request)?;
    let filter = filters.get(&*filter).ok_or("no such filter")?;
    let message = say.try_map(mechanism, |age| Ok(older(age)))?;
    Ok(serde_json::to_value(filter.ask(message))?)
}

/// A client sends requests, and waits for each reply.
fn client(server: Sender<(Value, Sender<Value>)>, script: &str) -> Outcome<String> {
    let mut said = String::new();
    for line in script.lines() {
        let (reply, replies) = mpsc::channel();
        server.send((serde_json::from_str(line)?, reply))?;
        said += &format!("{line}\n    {}\n", replies.recv()?);
    }
    Ok(said)
}

const ADA: &str = r#"{"filter": "pure", "say": {"launch": {"search": {"loss": "0.5"}}}}
{"filter": "pure", "say": {"ask": [0, 80]}}
{"filter": "pure", "say": {"launch": {"count": {"over": 65, "loss": "0.25"}}}}
{"filter": "pure", "say": {"ask": [0, 30]}}
{"filter": "pure", "say": {"close": 0}}
{"filter": "pure", "say": {"ask": [0, 29]}}
{"filter": "pure", "say": {"ask": [7, 29]}}
{"filter": "pure", "say": {"launch": {"gaussian": {"over": 65, "loss": "0.02"}}}}
{"filter": "pure", "say": "remaining"}"#;

const BOB: &str = r#"{"filter": "zcdp", "say": {"launch": {"gaussian": {"over": 65, "loss": "0.02"}}}}
{"filter": "zcdp", "say": {"launch": {"count": {"over": 65, "loss": "0.1"}}}}
{"filter": "zcdp", "say": {"launch": {"count": {"over": 65, "loss": "1"}}}}
{"filter": "zcdp", "say": {"launch": {"search": {"loss": "0.5"}}}}
{"filter": "gdp", "say": "privacy_loss"}"#;

pub fn run(out: &mut dyn io::Write) -> Outcome<()> {
    let people = Arc::new(adult::people()?);
    // Two budgets on the same data: what is guaranteed is both of them together.
    let pure = start(&Filter::concurrent(PureDp, epsilon!(1)), people.clone())?;
    let zcdp = start(&Filter::noninteractive(ZCdp, rho!(0.1)), people)?;
    let filters = Filters::from([
        ("pure", AddressedFilter::new(pure)),
        ("zcdp", AddressedFilter::new(zcdp)),
    ]);
    let (sender, requests) = mpsc::channel();
    let clients = [("Ada", ADA), ("Bob", BOB)].map(|(name, script)| {
        let sender = sender.clone();
        (name, thread::spawn(move || client(sender, script)))
    });
    drop(sender);
    for (request, reply) in requests {
        let answer = answer(&filters, request);
        let answer = answer.unwrap_or_else(|error| json!({ "error": error.to_string() }));
        // A client that has gone away wants no reply.
        let _ = reply.send(answer);
    }
    for (name, client) in clients {
        let said = client.join().map_err(|_| "a client panicked")??;
        writeln!(out, "{name}:\n{said}")?;
    }
    Ok(())
}

fn main() -> Outcome<()> {
    run(&mut io::stdout())
}
