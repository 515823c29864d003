//! How many launches each rule admits: prints the table that is kept in `spec/admitted.md`.
//!
//! ```sh
//! cargo run --example admitted > spec/admitted.md
//! ```

use std::error::Error;

use queryables::account::{
    Accumulator, ChildLoss, ContinuationRule, DefaultAccumulator, ThroughZCdp, compare, nonadaptive,
};
use queryables::privacy::convert::gdp;
use queryables::privacy::{EpsilonDelta, Gdp, Implies, ZCdp};

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", table()?);
    Ok(())
}

/// The table, in Markdown.
pub(crate) fn table() -> Result<String, Box<dyn Error>> {
    let budget = EpsilonDelta::new("1", "1e-6")?;
    let loss = EpsilonDelta::new("0.01", "0")?;
    let mut lines = vec![
        "# Launches that fit a budget".to_owned(),
        String::new(),
        "Made by `cargo run --example admitted`. Every count is of launches, one after the other,"
            .to_owned(),
        "until the first refusal.".to_owned(),
        String::new(),
        format!("## Launches of {loss} in {budget}"),
        String::new(),
        "| rule | admits | children may interleave |".to_owned(),
        "|---|---:|---|".to_owned(),
    ];
    let mut candidates = compare(budget, loss);
    candidates.reverse();
    for candidate in candidates {
        let admitted = count(candidate.rule.clone(), &loss);
        lines.push(format!("| {} | {admitted} | yes |", candidate.rule.name()));
    }
    let limit = nonadaptive::tight_launches(loss.epsilon, budget)?;
    lines.push(format!(
        "| *tight composition, not a filter: the limit* | {limit} | no |"
    ));

    let mu = "0.01".parse()?;
    lines.extend([
        String::new(),
        format!("## Gaussian launches with μ = {mu} in {budget}"),
        String::new(),
        "| rule | admits | children may interleave |".to_owned(),
        "|---|---:|---|".to_owned(),
    ]);
    let rho = Gdp.imply(&mu, &ZCdp)?;
    let zcdp = count(ThroughZCdp::for_zcdp(budget)?, &rho);
    let most = gdp::budget(budget.epsilon, budget.delta);
    let gdp = count(Gdp.accumulator().capped(most), &mu);
    lines.push(format!("| zCDP, tight | {zcdp} | yes |"));
    lines.push(format!("| GDP | {gdp} | yes |"));
    lines.push(String::new());
    Ok(lines.join("\n"))
}

/// Launches until the first refusal.
fn count<F: ContinuationRule>(mut rule: F, loss: &ChildLoss<F>) -> u64 {
    let mut launches = 0;
    while let Ok(next) = rule.charge(loss) {
        rule = next;
        launches += 1;
    }
    launches
}
