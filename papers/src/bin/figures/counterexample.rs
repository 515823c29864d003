//! Tran et al. Fig. 1 and 4, with the branches of Example 3.3 swapped: as printed nothing is violated.

use std::path::Path;

use papers::tran::counterexample::{Counterexample, Figures, ProfileRow, TradeOffRow};
use plotters::prelude::*;
use queryables::number::{Delta, Scale};
use queryables::privacy::fdp::Grid;

use crate::Outcome;
use crate::chart::{Line, Panel};

pub fn draw(folder: &Path, quick: bool) -> Outcome {
    let (step, points) = if quick { ("2e-2", 24) } else { ("5e-3", 160) };
    println!("the counterexample, on multiples of {step}");
    let example = Counterexample::new(&Grid::new(step.parse()?)?)?;
    // γ from e^-3 to e^3: a trade-off function needs both sides.
    let gamma = |index: u32| (6.0 * f64::from(index) / f64::from(points) - 3.0).exp();
    let gammas = (0..=points)
        .map(|index| Ok(Scale::try_from(gamma(index))?))
        .collect::<Outcome<Vec<Scale>>>()?;
    let alphas = (0..=points)
        .map(|index| Ok(Delta::try_from(f64::from(index) / f64::from(points))?))
        .collect::<Outcome<Vec<Delta>>>()?;
    let figures = example.figures(&gammas, &alphas);
    trade_offs(&folder.join("counterexample-trade-offs.svg"), &figures)?;
    profiles(&folder.join("counterexample-profiles.svg"), &figures)
}

fn number(value: impl ToString) -> f64 {
    value.to_string().parse().unwrap_or(f64::NAN)
}

/// Figure 1: the two futures cross, and the interaction misses less than the budget allows.
fn trade_offs(path: &Path, figures: &Figures) -> Outcome {
    let root = SVGBackend::new(path, (960, 820)).into_drawing_area();
    root.fill(&WHITE)?;
    let areas = root.split_evenly((2, 2));
    let curve = |name, height: fn(&TradeOffRow) -> Delta| Line {
        name,
        points: figures
            .trade_offs
            .iter()
            .map(|row| (number(row.alpha), number(height(row))))
            .collect(),
        is_dashed: false,
    };
    let panel = |title| Panel {
        title,
        across: "α: false alarms",
        up: "β: misses",
        left: (0.0, 1.0),
        bottom: (0.0, 1.0),
    };
    let near = |title| Panel {
        left: (0.05, 0.45),
        bottom: (0.0, 0.5),
        ..panel(title)
    };
    let panels = [
        (
            panel("a) the futures, a row removed"),
            curve("μ = 2.25, 2.25", |row| row.futures[0]),
            curve("μ = 0.1, 10", |row| row.futures[1]),
        ),
        (
            panel("b) the futures, symmetrised"),
            curve("μ = 2.25, 2.25", |row| row.symmetric_futures[0]),
            curve("μ = 0.1, 10", |row| row.symmetric_futures[1]),
        ),
        (
            near("c) budget and interaction, a row removed"),
            curve("f_B", |row| row.budget),
            curve("f_adapt", |row| row.adaptive),
        ),
        (
            near("d) budget and interaction, symmetrised"),
            curve("f_B", |row| row.symmetric_budget),
            curve("f_adapt", |row| row.symmetric_adaptive),
        ),
    ];
    for ((panel, one, other), area) in panels.into_iter().zip(&areas) {
        let other = Line {
            is_dashed: true,
            ..other
        };
        panel.draw(area, &[one, other], &[])?;
    }
    root.present()?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Figure 4: the interaction's profile is above the budget's around γ = 1.363.
fn profiles(path: &Path, figures: &Figures) -> Outcome {
    let root = SVGBackend::new(path, (960, 430)).into_drawing_area();
    root.fill(&WHITE)?;
    let areas = root.split_evenly((1, 2));
    let curve = |name, is_dashed, height: fn(&ProfileRow) -> Delta| Line {
        name,
        points: figures
            .profiles
            .iter()
            .map(|row| (number(row.gamma), number(height(row))))
            .collect(),
        is_dashed,
    };
    let panel = |title| Panel {
        title,
        across: "γ",
        up: "H(γ)",
        left: (0.5, 4.0),
        bottom: (0.3, 0.8),
    };
    panel("a) a row removed").draw(
        &areas[0],
        &[
            curve("H_B, at most", false, |row| row.budget.upper),
            curve("H_adapt, at least", true, |row| row.adaptive.lower),
        ],
        &[],
    )?;
    panel("b) symmetrised").draw(
        &areas[1],
        &[
            curve("H_B, at most", false, |row| row.symmetric_budget.upper),
            curve("H_adapt, at least", true, |row| {
                row.symmetric_adaptive.lower
            }),
        ],
        &[],
    )?;
    root.present()?;
    println!("wrote {}", path.display());
    Ok(())
}
