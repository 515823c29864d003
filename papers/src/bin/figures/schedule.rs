//! The schedule of Tran et al. §4.5: 3650 steps of a Gaussian on a 1 % sample, with 25 values of σ.
//!
//! The approximate GDP filter is no bound: at δ = 1e-5 it reads less than the same steps in a fixed
//! order lose. The Rényi filter and the menu filter are bounds for every adaptive order.

use std::path::Path;
use std::time::Instant;

use papers::tran::asymptotic::{schedule, scheduled_sigma};
use plotters::prelude::*;
use queryables::account::menu::{Detail, SampledGaussians};
use queryables::number::{Delta, Epsilon, Order, Scale};
use queryables::privacy::EpsilonDelta;
use queryables::privacy::convert::rdp;
use queryables::privacy::fdp::{Grid, Profile};

use crate::Outcome;
use crate::chart::{Line, Panel};

const STEPS: u64 = 3650;
const BLOCK: u64 = 150;
const RATE: &str = "0.01";

/// σ, and how many steps have it.
fn plan() -> Outcome<Vec<(Scale, u64)>> {
    (0..STEPS.div_ceil(BLOCK))
        .map(|block| {
            let sigma = scheduled_sigma(BLOCK * block + 1, STEPS, BLOCK, 1.5);
            Ok((sigma.try_into()?, BLOCK.min(STEPS - BLOCK * block)))
        })
        .collect()
}

/// At the best order for each δ, which a filter fixes in advance.
fn renyi(plan: &[(Scale, u64)], deltas: &[Delta]) -> Outcome<Vec<f64>> {
    let mut sums: Vec<(Order, Epsilon)> = Vec::new();
    for order in 2..=64_u32 {
        let order = order.to_string().parse()?;
        let mut sum = Epsilon::ZERO;
        for (sigma, times) in plan {
            let each = rdp::subsampled_gaussian(order, RATE.parse()?, "1".parse()?, *sigma)?;
            let all = each
                .checked_mul(*times)
                .and_then(|all| sum.checked_add(all));
            sum = all.ok_or("too large")?;
        }
        sums.push((order, sum));
    }
    let best = |delta: &Delta| {
        let epsilons = sums
            .iter()
            .filter_map(|(order, sum)| rdp::epsilon(*order, *sum, *delta).ok());
        epsilons.min().map_or(f64::NAN, number)
    };
    Ok(deltas.iter().map(best).collect())
}

/// In a fixed order: the upper of two bounds, which are close.
fn fixed(plan: &[(Scale, u64)], deltas: &[Delta], step: &str) -> Outcome<Vec<f64>> {
    let parts = plan
        .iter()
        .map(|(sigma, times)| Ok((Profile::sampled_gaussian(RATE.parse()?, *sigma), *times)))
        .collect::<Outcome<Vec<_>>>()?;
    let grid = Grid::new(step.parse()?)?.aimed_at("1e-5".parse()?);
    let composed = Profile::compose(&parts, &grid)?;
    deltas
        .iter()
        .map(|delta| Ok(number(composed.epsilon(*delta)?.upper)))
        .collect()
}

/// For every adaptive order, certified.
fn menu(plan: &[(Scale, u64)], deltas: &[Delta]) -> Outcome<Vec<f64>> {
    let target = EpsilonDelta::new("1.2235", "1e-5")?;
    let detail = Detail {
        step: "0.00025".parse()?,
        ratio: 8,
        cheapest: 48,
    };
    let started = Instant::now();
    let sigmas: Vec<Scale> = plan.iter().map(|(sigma, _)| *sigma).collect();
    println!("the menu filter: composing leases of 50 steps");
    let menu = SampledGaussians::new(RATE.parse()?, &sigmas, 50, target, detail)?;
    let budget = menu.cost_of(plan)?;
    println!("solving {budget} states, after {:.1?}", started.elapsed());
    let epsilons = menu.epsilons(budget, deltas)?;
    println!("solved after {:.1?}", started.elapsed());
    Ok(epsilons.into_iter().map(number).collect())
}

fn number(value: impl ToString) -> f64 {
    value.to_string().parse().unwrap_or(f64::NAN)
}

pub fn draw(folder: &Path, quick: bool) -> Outcome {
    let plan = plan()?;
    let points = if quick { 5 } else { 25 };
    // log δ from 1e-6 to 1e-4, 1e-5 in the middle.
    let logs = (0..points).map(|index| -6.0 + 2.0 * f64::from(index) / f64::from(points - 1));
    let logs: Vec<f64> = logs.collect();
    let deltas = logs
        .iter()
        .map(|log| Ok(Delta::try_from(10_f64.powf(*log))?))
        .collect::<Outcome<Vec<Delta>>>()?;
    let cost = schedule(STEPS, RATE.parse()?, BLOCK, 1.5, "1".parse()?)?;
    let about = deltas
        .iter()
        .map(|delta| cost.about_epsilon(*delta))
        .collect();
    let step = if quick { "1e-3" } else { "2e-4" };
    let mut curves = vec![
        ("Rényi filter, a bound", renyi(&plan, &deltas)?),
        ("approximate GDP filter, no bound", about),
        ("the steps in a fixed order", fixed(&plan, &deltas, step)?),
    ];
    if !quick {
        curves.push(("menu filter, a bound", menu(&plan, &deltas)?));
    }
    table(&deltas, &curves);
    let lines: Vec<Line> = curves
        .into_iter()
        .map(|(name, epsilons)| Line {
            name,
            points: logs.iter().copied().zip(epsilons).collect(),
        })
        .collect();
    let path = folder.join("schedule.svg");
    let root = SVGBackend::new(&path, (720, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    Panel {
        title: "T 2: 3650 steps of a sampled Gaussian, σ changes 25 times",
        across: "log₁₀ δ",
        up: "ε",
        left: (-6.0, -4.0),
        bottom: (0.9, 1.6),
        legend: SeriesLabelPosition::UpperRight,
    }
    .draw(&root, &lines)?;
    root.present()?;
    println!("wrote {}", path.display());
    Ok(())
}

fn table(deltas: &[Delta], curves: &[(&str, Vec<f64>)]) {
    let names: Vec<&str> = curves.iter().map(|(name, _)| *name).collect();
    println!("| δ | {} |", names.join(" | "));
    println!("|---|{}", "---:|".repeat(names.len()));
    // Five of them, 1e-5 in the middle.
    let shown = deltas.len().saturating_sub(1) / 4;
    for (index, delta) in deltas.iter().enumerate().step_by(shown.max(1)) {
        let row = curves
            .iter()
            .map(|(_, epsilons)| format!("{:.4}", epsilons[index]));
        println!(
            "| {delta:.0e} | {} |",
            row.collect::<Vec<_>>().join(" | "),
            delta = number(delta)
        );
    }
}
