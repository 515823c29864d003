//! Composing trade-off functions until a budget is reached is not a valid filter: Tran et al.
//! Example 3.3, computed between certified bounds, with its erratum.
//!
//! ```sh
//! cargo run --release --package papers --bin counterexample
//! ```
//!
//! `cargo run --release --package papers --bin figures` draws it.

use std::error::Error;
use std::io::Write;

use papers::tran::counterexample::{Branches, Counterexample};
use queryables::number::Delta;
use queryables::privacy::fdp::{Adjacency, Blackwell, Bounds, Grid};

fn main() -> Result<(), Box<dyn Error>> {
    // Without optimisation a fine grid takes minutes.
    let quick = cfg!(debug_assertions) || std::env::args().any(|option| option == "--quick");
    run(&mut std::io::stdout(), if quick { "1e-2" } else { "1e-3" })
}

fn run(out: &mut impl Write, step: &str) -> Result<(), Box<dyn Error>> {
    let grid = Grid::new(step.parse()?)?;
    let example = Counterexample::new(&grid)?;
    let [one, other] = example.futures();
    let crossing = one.compare(other, Adjacency::Remove, &grid)?;
    if let Blackwell::Crossing { at: (low, high) } = crossing {
        writeln!(out, "the futures cross between γ = {low:.4} and {high:.4}")?;
    }
    let gamma = "1.363".parse()?;
    writeln!(out, "at γ = {gamma}:")?;
    let budget = example.budget(gamma);
    writeln!(out, "H_B is {}", shown(budget))?;
    for (branches, name) in [
        (Branches::Swapped, "(0.1, 10) for y ≤ 0.65"),
        (Branches::AsPrinted, "(2.25, 2.25) for y ≤ 0.65, as printed"),
    ] {
        let adaptive = example.adaptive(branches, gamma);
        let verdict = if adaptive.lower > budget.upper {
            "over the budget"
        } else if adaptive.upper <= budget.lower {
            "within the budget"
        } else {
            "not decided on this grid"
        };
        writeln!(out, "H_adapt with {name} is {}: {verdict}", shown(adaptive))?;
    }
    Ok(())
}

/// Rounded outward to four digits.
fn shown(bounds: Bounds<Delta>) -> String {
    let digits = 10_u128.pow(34);
    let (low, high) = (
        bounds.lower.units() / digits,
        bounds.upper.units().div_ceil(digits),
    );
    format!("between 0.{low:04} and 0.{high:04}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counterexample_is_over_the_budget_with_its_branches_swapped() {
        let mut out = Vec::new();
        run(&mut out, "1e-2").unwrap();
        let text = String::from_utf8(out).unwrap();
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
        assert!(
            line("H_adapt with (0.1, 10)").ends_with(": over the budget"),
            "{text}"
        );
        assert!(
            line("H_adapt with (2.25, 2.25)").ends_with(": within the budget"),
            "{text}"
        );
    }
}
