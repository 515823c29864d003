//! Noise that follows a schedule, under a filter that would also admit any other order: 3650 steps
//! of a Gaussian on a 1 % sample, with the 25 values of σ of Tran et al. §4.5.
//!
//! ```sh
//! cargo run --release --example schedule
//! cargo run --example schedule -- --quick
//! ```
//!
//! Every value of σ is an entry of a menu, paid for in leases of 50 steps. What is printed is the
//! smallest ε that is certified at δ = 1e-5 for *every* adaptive use of leases that cost as much as
//! the schedule's. The order fixed in advance would have 1.2157; the Rényi filter has 1.331.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use queryables::account::menu::{Detail, SampledGaussians};
use queryables::epsilon;
use queryables::number::Scale;
use queryables::privacy::EpsilonDelta;

/// σ, and how many steps have it.
type Schedule = Vec<(Scale, u64)>;

fn main() -> Result<(), Box<dyn Error>> {
    // Without optimisation the full form takes half an hour.
    let quick = cfg!(debug_assertions) || std::env::args().any(|option| option == "--quick");
    run(&mut std::io::stdout(), quick)
}

/// `σ_t = 1.5 + sin(π/T · 150⌈t/150⌉)` for t = 1, …, T.
fn schedule(steps: u64) -> Result<Schedule, Box<dyn Error>> {
    (0..steps.div_ceil(150))
        .map(|block| {
            let last = 150.0 * (block + 1) as f64;
            let sigma = 1.5 + (std::f64::consts::PI / steps as f64 * last).sin();
            Ok((sigma.try_into()?, (steps - 150 * block).min(150)))
        })
        .collect()
}

pub(crate) fn run(out: &mut impl Write, quick: bool) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let mut target = EpsilonDelta::new("1.2235", "1e-5")?;
    let mut plan = schedule(3650)?;
    let mut lease = 50;
    let mut detail = Detail {
        step: epsilon!(0.00025),
        ratio: 8,
        cheapest: 48,
    };
    if quick {
        // Two values of σ, a coarse lattice, and costs of one digit: still a bound, for a
        // plan that is rounded up to less noise.
        plan.sort_unstable();
        let menu: Vec<Scale> = plan.iter().step_by(13).map(|(sigma, _)| *sigma).collect();
        for (sigma, _) in &mut plan {
            let less = menu.iter().filter(|entry| *entry <= sigma).max();
            *sigma = *less.unwrap_or(sigma);
        }
        lease = 150;
        target.epsilon = epsilon!(2);
        detail = Detail {
            step: epsilon!(0.001),
            ratio: 10,
            cheapest: 4,
        };
    }
    let sigmas: Vec<Scale> = plan.iter().map(|(sigma, _)| *sigma).collect();
    writeln!(out, "composing leases of {lease} steps")?;
    let menu = SampledGaussians::new("0.01".parse()?, &sigmas, lease, target, detail)?;
    let budget = menu.cost_of(&plan)?;
    writeln!(out, "costs {:?}", menu.costs())?;
    writeln!(
        out,
        "solving {budget} states, after {:.1?}",
        started.elapsed()
    )?;
    let epsilon = menu.epsilons(budget, &[target.delta])?;
    let epsilon = epsilon.first().ok_or("there is one for each δ")?;
    let steps: u64 = plan.iter().map(|(_, times)| times).sum();
    writeln!(out, "{steps} steps, {:.1?}", started.elapsed())?;
    // Rounded up to four digits.
    let units = epsilon.units().div_ceil(10_u128.pow(23));
    let (whole, rest) = (units / 10_000, units % 10_000);
    let name = if quick { "quick menu" } else { "menu" };
    writeln!(
        out,
        "schedule: {name} epsilon={whole}.{rest:04} delta={}",
        target.delta
    )?;
    Ok(())
}
