//! A server to try out: the census extract, a budget, a curator and two analysts.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use queryables::ledger::Ledger;
use queryables_arrow::ArrowTable;

use crate::config;
use crate::listen::{self, Edge};
use crate::service::Service;
use crate::token::{TokenHash, new_token};

/// The first 5000 rows of the Adult data (`examples/data/README.md`).
const CENSUS: &str = include_str!("../data/adult.csv");
const CONFIG: &str = include_str!("demo.toml");

/// Serves the demonstration until it is ended.
pub fn run(port: u16) -> Result<(), Box<dyn std::error::Error>> {
    let [curator, ana, ben] = [new_token()?, new_token()?, new_token()?];
    let text = CONFIG
        .replace("CURATOR", &TokenHash::of(&curator).to_hex())
        .replace("ANA", &TokenHash::of(&ana).to_hex())
        .replace("BEN", &TokenHash::of(&ben).to_hex());
    let folder = Folder::new()?;
    let mut config = config::read(&text, &folder.0).map_err(|all| format!("{all:?}"))?;
    config.listen = SocketAddr::from(([127, 0, 0, 1], port));
    let edge = Edge {
        address: config.listen,
        tls: None,
        hosts: Vec::new(),
        threads: config.threads,
        quantum: config.quantum,
    };
    let service = Service::new(config, |dataset| {
        let ledger = Ledger::create(folder.0.join("census.redb"), &dataset.name);
        let ledger = ledger.map_err(|error| error.to_string())?;
        let table = ArrowTable::csv_from(&dataset.schema, CENSUS.as_bytes());
        let table = table.map_err(|error| error.to_string())?;
        Ok((Arc::new(table), ledger.keeping_answers()))
    });
    let service = service.map_err(|problems| problems.join("\n"))?;
    let place = folder.0.display().to_string();
    listen::serve(service, edge, move |address| {
        println!("listening on http://{address}");
        println!("curator {curator}");
        println!("ana     {ana}");
        println!("ben     {ben}");
        println!("The ledger is in {place} and is removed at the end.");
        println!("Try: curl -s http://{address}/v1/datasets -H 'Authorization: Bearer {ana}'");
    })?;
    Ok(())
}

/// A folder for the ledger, removed at the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let random = crate::token::random::<8>().map_err(io::Error::other)?;
        let folder = std::env::temp_dir().join(format!("queryables-demo-{random}"));
        std::fs::create_dir(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
