//! A ledger as a table, with a bar for the budget, and verified: every decision is made again from
//! nothing. Run with `cargo run --example ledger --features ledger`.

use std::error::Error;
use std::sync::Arc;

use queryables::data::Predicate;
use queryables::ledger::{Decision, Ledger, Line};
use queryables::mechanisms::Count;
use queryables::prelude::*;

/// A tenth of the budget for each mark.
fn bar(spent: Epsilon, limit: Epsilon) -> String {
    let marks = (0..10_u64).filter(|tenth| {
        let mark = limit.checked_mul(tenth + 1);
        mark.zip(spent.checked_mul(10))
            .is_some_and(|(mark, spent)| spent >= mark)
    });
    let marks = marks.count();
    format!("[{}{}]", "#".repeat(marks), ".".repeat(10 - marks))
}

fn main() -> Result<(), Box<dyn Error>> {
    let ledger = Ledger::in_memory("ages, March")?;
    let ages = Arc::new(vec![17_u32, 18, 43, 70]);
    let limit = epsilon!(1);
    let census = ledger.start("census", &Filter::concurrent(PureDp, limit), &ages)?;
    // Ana may spend 0.5 of it. That is fair, and bounds nothing that she learns from Ben.
    let quota = census.quota("Ana", epsilon!(0.5))?;
    let (ana, ben) = (census.party("Ana").with_quota(&quota)?, census.party("Ben"));
    let count = |years: u32, epsilon: &str| {
        let older = Predicate::new(format!("at least {years}"), move |age: &u32| *age >= years);
        Ok::<_, Box<dyn Error>>(Count::of(older).laplace(epsilon.parse::<Epsilon>()?)?)
    };
    // Some are refused: what for is in the table.
    let _ = ana.release(&count(18, "0.4")?);
    let _ = ana.release(&count(65, "0.2")?);
    let _ = ben.release(&count(65, "0.3")?);
    let _ = ben.release(&count(21, "0.4")?);
    let _ = ben.release(&count(30, "0.3")?);

    println!(
        "{:>2} {:5} {:24} {:>5} {:10} {:>5}",
        "#", "who", "what", "ε", "", "spent"
    );
    for line in ledger.lines(1, 100)? {
        let Line::Entry(entry) = line else { continue };
        let decision = match entry.decision {
            Decision::Admitted => "",
            Decision::OverQuota { .. } => "over quota",
            _ => "refused",
        };
        let text = |value: &serde_json::Value| value.as_str().unwrap_or("?").to_owned();
        let what = entry.mechanism.get("predicate").unwrap_or("?");
        let what = format!("{} {what}", entry.mechanism.name());
        let (loss, spent) = (text(&entry.loss), text(&entry.spent));
        let bar = bar(spent.parse()?, limit);
        let (number, who) = (entry.sequence, &entry.party);
        println!("{number:>2} {who:5} {what:24} {loss:>5} {decision:10} {spent:>5} {bar}");
    }
    let entries = census.replay()?;
    println!(
        "verified: {entries} entries lead to {}",
        census.privacy_loss()?
    );
    Ok(())
}
