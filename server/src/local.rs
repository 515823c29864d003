//! A server in this process, over the census extract: for unit tests, and for the benchmark.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use queryables::ledger::Ledger;
use queryables::table::{Schema, Table};
use queryables_arrow::ArrowTable;

use crate::config::{self, Config};
use crate::listen::{self, Edge};
use crate::service::Service;
use crate::token::TokenHash;

/// The token of the analyst.
pub const TOKEN: &str = "qs_ana";
const CENSUS: &str = include_str!("../data/adult.csv");

/// One analyst, and one dataset with this budget; `more` is written behind it.
pub fn config(limits: &str, budget: &str, more: &str) -> Config {
    let [curator, ana] = ["qs_curator", TOKEN].map(|token| TokenHash::of(token).to_hex());
    let text = format!(
        r#"
[limits]
{limits}

[curator]
token_sha256 = "{curator}"

[[analyst]]
name = "ana"
token_sha256 = "{ana}"

[[dataset]]
name = "census"
data = {{ csv = "adult.csv" }}
ledger = {{ file = "census.redb" }}
budget = {budget}

[dataset.analysts]
ana = {{}}

[dataset.schema]
person = {{ each_row = true }}
columns = [
    {{ name = "age", type = "whole", range = [17, 90] }},
    {{ name = "sex", type = "text", categories = ["Female", "Male"] }},
    {{ name = "hours_per_week", type = "whole", range = [1, 99] }},
]
{more}"#
    );
    config::read(&text, Path::new("")).unwrap_or_else(|all| panic!("{all:?}"))
}

pub fn table(schema: &Schema) -> Arc<dyn Table> {
    Arc::new(ArrowTable::csv_from(schema, CENSUS.as_bytes()).expect("the census"))
}

/// Serves each dataset with the ledger of its name, on loopback and on two threads, until the process ends.
pub fn serve(config: Config, ledger: impl Fn(&str) -> Ledger) -> SocketAddr {
    let edge = Edge {
        address: SocketAddr::from(([127, 0, 0, 1], 0)),
        tls: None,
        hosts: Vec::new(),
        threads: config.threads,
        quantum: config.quantum,
    };
    let service = Service::new(config, |dataset| {
        let ledger = ledger(&dataset.name).keeping_answers();
        Ok((table(&dataset.schema), ledger))
    });
    let service = service.unwrap_or_else(|all| panic!("{all:?}"));
    let (told, address) = mpsc::channel();
    thread::spawn(move || {
        listen::serve(service, edge, move |at| {
            // Whoever waits is there.
            let _ = told.send(at);
        })
    });
    address.recv().expect("it listens")
}
