//! How many launches each rule admits: prints the table that is kept in `spec/admitted.md`, what the
//! menu filters admit, and how many steps of training the unit filter admits.
//!
//! ```sh
//! cargo run --release --example admitted
//! cargo run --example admitted -- --quick
//! cargo run --example admitted -- --table > spec/admitted.md
//! ```

use std::error::Error;

use queryables::account::menu::MenuFilter;
use queryables::account::{
    Accumulator, ChildLoss, ContinuationRule, DefaultAccumulator, FixedCount, ThroughRdp,
    ThroughZCdp, advise, compare,
};
use queryables::mu;
use queryables::number::Epsilon;
use queryables::privacy::convert::gdp;
use queryables::privacy::fdp::Profile;
use queryables::privacy::{EpsilonDelta, Gdp, Implies, ZCdp};

fn main() -> Result<(), Box<dyn Error>> {
    let options: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| options.iter().any(|option| option == name);
    print!("{}", table()?);
    if !has("--table") {
        println!();
        // Without optimisation the full form takes minutes.
        let quick = cfg!(debug_assertions) || has("--quick");
        menus(quick)?;
        if !quick {
            println!();
            steps()?;
        }
    }
    Ok(())
}

/// Gaussian noise on samples, as units of one step, where δ is small.
fn steps() -> Result<(), Box<dyn Error>> {
    let budget = EpsilonDelta::new("2", "1e-9")?;
    let (rate, mu) = ("0.001", "1");
    let step = Profile::sampled_gaussian_by(rate.parse()?, mu.parse()?);
    let advice = advise(budget, &step)?;
    let admitted = |filter: &str| {
        let row = advice.iter().find(|row| row.filter == filter);
        row.map_or(0, |row| row.admits)
    };
    let (units, renyi) = (admitted("natural, units"), admitted("RDP, whole orders"));
    println!("units: q={rate} mu={mu} {budget} {units}");
    println!("Rényi: q={rate} mu={mu} {budget} {renyi}");
    if units < renyi {
        return Err("the unit filter admits fewer steps than the Rényi filter".into());
    }
    Ok(())
}

/// What the fixed count and the menus admit, and the balanced one at losses that are not on its
/// menu, beside the Rényi filter that is in the table.
fn menus(quick: bool) -> Result<(), Box<dyn Error>> {
    let budget = EpsilonDelta::new("1", "1e-6")?;
    let loss = EpsilonDelta::new("0.01", "0")?;
    let fixed = FixedCount::most(budget, loss)?;
    println!("admits: fixed count {}", count(fixed, &loss));
    let menu = MenuFilter::many_small(budget, budget.delta, loss.epsilon)?;
    println!("admits: menu {}", count(menu, &loss));
    if quick {
        println!("The balanced menu takes some seconds: run this with --release, without --quick.");
        return Ok(());
    }
    let balanced = MenuFilter::balanced(budget, budget.delta, loss.epsilon, 56)?;
    println!("admits: balanced {}", count(balanced.clone(), &loss));
    println!();
    println!("| ε | balanced | Rényi |");
    println!("|---|---:|---:|");
    let renyi = ThroughRdp::chosen_for(budget, budget.delta, loss.epsilon)?;
    for epsilon in off_the_grid()? {
        let loss = EpsilonDelta { epsilon, ..loss };
        let (here, there) = (count(balanced.clone(), &loss), count(renyi, &loss));
        println!("| {epsilon} | {here} | {there} |");
        if here < there {
            return Err(format!("the balanced menu admits fewer launches of {epsilon}").into());
        }
    }
    Ok(())
}

/// 20 values from 0.005 to 0.2, each about 21 % larger than the one before.
fn off_the_grid() -> Result<Vec<Epsilon>, Box<dyn Error>> {
    let value = |index: i32| 0.00503 * (0.1997_f64 / 0.00503).powf(f64::from(index) / 19.0);
    let text = |index| format!("{:.7}", value(index));
    (0..20).map(|index| Ok(text(index).parse()?)).collect()
}

/// The table, in Markdown.
pub(crate) fn table() -> Result<String, Box<dyn Error>> {
    let budget = EpsilonDelta::new("1", "1e-6")?;
    let loss = EpsilonDelta::new("0.01", "0")?;
    let mut lines = vec![
        "# Launches that fit a budget".to_owned(),
        String::new(),
        "Made by `cargo run --example admitted -- --table`. Every count is of launches, one after"
            .to_owned(),
        "the other, until the first refusal. The fixed count admits no larger launch.".to_owned(),
        String::new(),
        "![Launches that each rule admits](../guide/src/figures/launches.svg)".to_owned(),
        String::new(),
        format!("## Launches of {loss} in {budget}"),
        String::new(),
        "| rule | admits | children may interleave |".to_owned(),
        "|---|---:|---|".to_owned(),
    ];
    let mut candidates = compare(budget, loss);
    candidates.reverse();
    for (rule, _) in candidates {
        let admitted = count(rule.clone(), &loss);
        lines.push(format!("| {} | {admitted} | yes |", rule.name()));
    }
    let limit = FixedCount::most(budget, loss)?.count();
    lines.push(format!(
        "| *tight composition, not a filter: the limit* | {limit} | no |"
    ));

    let mu = mu!(0.01);
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
