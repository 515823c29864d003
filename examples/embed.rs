//! A framework around the crate: JSON requests come in on a channel, from several clients. Filters
//! of different measures live in one map, mechanisms are chosen at run time, and open children are
//! kept in a registry.
//!
//! ```text
//! cargo run --example embed
//! ```

mod adult;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;

use adult::Person;
use queryables::compose::{AnyFilter, BoxedMechanism, BoxedRelease};
use queryables::data::Predicate;
use queryables::mechanisms::{AboveThreshold, GaussianCount, NoisyCount};
use queryables::middle::MapAnswer;
use queryables::prelude::*;
use queryables::privacy::AnyMeasure;
use serde_json::{Value, json};

type People = Vec<Person>;
type Failure = Box<dyn Error>;
/// What answers once, whatever it is: its answer is JSON, and its price is asked at run time.
type Release = BoxedRelease<People, AnyMeasure, AddRemove, Value>;
/// What is opened and asked.
type Open = BoxedMechanism<People, AnyMeasure, AddRemove, Predicate<People>, Value>;

/// All of it is owned by one thread here; the handles could be shared by many.
#[derive(Default)]
struct Server {
    filters: BTreeMap<&'static str, AnyFilter<People>>,
    children: BTreeMap<u64, Queryable<Predicate<People>, Value>>,
    opened: u64,
    log: Vec<String>,
}

fn text<'a>(request: &'a Value, key: &str) -> Result<&'a str, Failure> {
    Ok(request[key].as_str().ok_or(format!("`{key}` is missing"))?)
}

/// Clients choose from what the curator wrote: they send no code.
fn older(request: &Value) -> Result<Predicate<People>, Failure> {
    let age = request["over"].as_u64().ok_or("`over` is missing")?;
    let name = format!("over {age}");
    Ok(Predicate::new(name, move |person: &Person| {
        u64::from(person.age) > age
    }))
}

fn one_answer(kind: &str, request: &Value) -> Result<Release, Failure> {
    let loss = text(request, "loss")?;
    let json = |count: i64| json!(count);
    Ok(match kind {
        "count" => {
            let count = NoisyCount::new(older(request)?, loss.parse()?)?;
            Release::new(AnyMeasure, count.mapped(json))
        }
        "gaussian" => {
            let count = GaussianCount::new(older(request)?, loss.parse()?)?;
            Release::new(AnyMeasure, count.mapped(json))
        }
        other => return Err(format!("there is no `{other}`").into()),
    })
}

fn search(request: &Value) -> Result<Open, Failure> {
    let search = AboveThreshold::new(AddRemove, 1000, 1, text(request, "loss")?.parse()?)?;
    let search = search.through(MapAnswer::new(|hit: bool| json!(hit)));
    Ok(Open::new(AnyMeasure, search))
}

impl Server {
    fn answer(&mut self, request: &Value) -> Result<Value, Failure> {
        if let Some(number) = request["child"].as_u64() {
            let child = self.children.get(&number).ok_or("no such child")?;
            if request["close"] == true {
                self.children.remove(&number);
                return Ok(json!("closed"));
            }
            return Ok(child.ask(older(request)?)?);
        }
        let filter = self
            .filters
            .get(text(request, "filter")?)
            .ok_or("no such filter")?;
        match text(request, "do")? {
            "read" => Ok(json!(format!(
                "{:#} of {:#} is left",
                filter.remaining(),
                filter.limit()
            ))),
            "search" => {
                let child = filter.launch(&search(request)?)?;
                self.opened += 1;
                self.children.insert(self.opened, child);
                Ok(json!({ "child": self.opened }))
            }
            kind => {
                let mechanism = one_answer(kind, request)?;
                self.log.push(format!("{mechanism:?}"));
                Ok(filter.release(&mechanism)?)
            }
        }
    }
}

/// A client sends requests, and waits for each reply.
fn client(server: &Sender<(Value, Sender<Value>)>, script: &str) -> Result<String, String> {
    let mut said = String::new();
    for line in script.lines() {
        let request = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let (reply, replies) = mpsc::channel();
        server
            .send((request, reply))
            .map_err(|error| error.to_string())?;
        let reply = replies.recv().map_err(|error| error.to_string())?;
        said += &format!("{line}\n    {reply}\n");
    }
    Ok(said)
}

const ADA: &str = r#"{"filter": "pure", "do": "search", "loss": "0.5"}
{"child": 1, "over": 80}
{"filter": "pure", "do": "count", "over": 65, "loss": "0.25"}
{"child": 1, "over": 30}
{"child": 1, "close": true}
{"child": 1, "over": 30}
{"filter": "pure", "do": "gaussian", "over": 65, "loss": "0.02"}
{"filter": "pure", "do": "read"}"#;

const BOB: &str = r#"{"filter": "zcdp", "do": "gaussian", "over": 65, "loss": "0.02"}
{"filter": "zcdp", "do": "count", "over": 65, "loss": "0.1"}
{"filter": "zcdp", "do": "count", "over": 65, "loss": "1"}
{"filter": "once", "do": "search", "loss": "0.5"}
{"filter": "gdp", "do": "median"}"#;

pub fn run(out: &mut dyn Write) -> Result<(), Failure> {
    let people = Arc::new(adult::people()?);
    let pure = launch(
        &Filter::concurrent(PureDp, "1".parse()?),
        Arc::clone(&people),
    )?;
    let zcdp = launch(
        &Filter::concurrent(ZCdp, "0.1".parse()?),
        Arc::clone(&people),
    )?;
    let once = launch(&Filter::noninteractive(PureDp, "1".parse()?), people)?;
    // Three budgets on the same data: what is guaranteed is all of them together.
    let mut server = Server {
        filters: [
            ("pure", pure.into()),
            ("zcdp", zcdp.into()),
            ("once", once.into()),
        ]
        .into(),
        ..Server::default()
    };
    thread::scope(|scope| {
        let (sender, requests) = mpsc::channel::<(Value, Sender<Value>)>();
        let clients = [("Ada", ADA), ("Bob", BOB)].map(|(name, script)| {
            let sender = sender.clone();
            (name, scope.spawn(move || client(&sender, script)))
        });
        drop(sender);
        for (request, reply) in requests {
            let answer = server.answer(&request);
            let answer = answer.unwrap_or_else(|error| json!({ "error": error.to_string() }));
            // A client that has gone away wants no reply.
            let _ = reply.send(answer);
        }
        for (name, client) in clients {
            writeln!(
                out,
                "{name}:\n{}",
                client.join().map_err(|_| "a client panicked")??
            )?;
        }
        Ok::<(), Failure>(())
    })?;
    server.log.sort();
    writeln!(out, "The log:\n{}", server.log.join("\n"))?;
    Ok(())
}

fn main() -> Result<(), Failure> {
    run(&mut io::stdout())
}
