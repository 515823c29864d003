//! Spend, kill, reopen, continue: a budget outlives its process.
//!
//! The program starts itself as a second process, kills that one in the middle of its work, and goes
//! on with what the ledger says. Run with
//! `cargo run --example restart --features redb`.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use queryables::account::{Capped, Sum};
use queryables::data::Predicate;
use queryables::ledger::{Ledger, LedgerError, LedgerFilter};
use queryables::mechanisms::Count;
use queryables::prelude::*;

type Census = LedgerFilter<Vec<u32>, Capped<Sum<PureDp>>>;

fn open(path: &Path) -> Result<(Ledger, Census), Box<dyn Error>> {
    let ledger = Ledger::open(path, "ages, March")?;
    let ages = Arc::new(vec![17, 18, 43, 70]);
    let filter = Filter::concurrent(PureDp, epsilon!(1));
    let census = ledger.start("census", &filter, &ages)?;
    Ok((ledger, census))
}

/// Counts adults at ε = 0.05 until the budget is spent, or somebody ends the process.
fn spend(path: &Path) -> Result<(), Box<dyn Error>> {
    let (_ledger, census) = open(path)?;
    let ana = census.party("Ana");
    let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
    let count = Count::of(adults).laplace(epsilon!(0.05))?;
    loop {
        match ana.release(&count) {
            Ok(answer) => println!("about {answer} adults"),
            Err(LedgerError::Launch(refused @ LaunchError::Refused(_))) => {
                println!("{refused}");
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(path) = std::env::args().nth(1) {
        return spend(Path::new(&path));
    }
    let path = std::env::temp_dir().join(format!("census-{}.redb", std::process::id()));
    // Once for the data. A ledger that is opened must be there: a new one would have all of the budget.
    drop(Ledger::create(&path, "ages, March")?);
    let mut process = Command::new(std::env::current_exe()?)
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()?;
    let said = process.stdout.take().ok_or("no output")?;
    let seen = BufReader::new(said).lines().take(5).count();
    process.kill()?;
    process.wait()?;
    println!("killed after {seen} answers were seen");

    let (ledger, census) = open(&path)?;
    println!("the ledger has {} launches,", census.launched()?);
    println!("{} of {} is spent", census.privacy_loss()?, census.limit());
    assert!(census.launched()? >= seen as u64);
    drop((ledger, census));

    println!("the rest:");
    spend(&path)?;
    let (_ledger, census) = open(&path)?;
    println!(
        "replayed: {} entries lead to {}",
        census.replay()?,
        census.privacy_loss()?
    );
    std::fs::remove_file(&path)?;
    Ok(())
}
