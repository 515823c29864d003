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
    profiles(&folder.join("counterexample-profiles.svg"), &figures)?;
    choices(&folder.join("counterexample-choices.svg"), &figures)
}

fn number(value: impl ToString) -> f64 {
    value.to_string().parse().unwrap_or(f64::NAN)
}

/// Figure 1: the trade-off functions of the two choices cross, and the interaction misses less than the
/// budget allows.
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
    };
    let panel = |title| Panel {
        title,
        across: "α: false alarms",
        up: "β: misses",
        left: (0.0, 1.0),
        bottom: (0.0, 1.0),
        legend: SeriesLabelPosition::UpperRight,
    };
    let near = |title| Panel {
        left: (0.05, 0.45),
        bottom: (0.0, 0.5),
        ..panel(title)
    };
    let panels = [
        (
            panel("T 1a: second and third step, with a row and without"),
            curve("μ = 2.25, 2.25", |row| row.futures[0]),
            curve("μ = 0.1, 10", |row| row.futures[1]),
        ),
        (
            panel("T 1b: the same, the worse order of both"),
            curve("μ = 2.25, 2.25", |row| row.symmetric_futures[0]),
            curve("μ = 0.1, 10", |row| row.symmetric_futures[1]),
        ),
        (
            near("T 1c: all three steps, with a row and without"),
            curve("budget of the filter", |row| row.budget),
            curve("what the analyst attains", |row| row.adaptive),
        ),
        (
            near("T 1d: the same, the worse order of both"),
            curve("budget of the filter", |row| row.symmetric_budget),
            curve("what the analyst attains", |row| row.symmetric_adaptive),
        ),
    ];
    for ((panel, one, other), area) in panels.into_iter().zip(&areas) {
        panel.draw(area, &[one, other])?;
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
    let curve = |name, height: fn(&ProfileRow) -> Delta| Line {
        name,
        points: figures
            .profiles
            .iter()
            .map(|row| (number(row.gamma), number(height(row))))
            .collect(),
    };
    let panel = |title| Panel {
        title,
        across: "γ",
        up: "H(γ): the best P(A) − γ·Q(A)",
        left: (0.5, 4.0),
        bottom: (0.3, 0.8),
        legend: SeriesLabelPosition::UpperRight,
    };
    panel("T 4a: all three steps, with a row and without").draw(
        &areas[0],
        &[
            curve("budget of the filter, at most", |row| row.budget.upper),
            curve("what the analyst attains, at least", |row| {
                row.adaptive.lower
            }),
        ],
    )?;
    panel("T 4b: the same, the worse order of both").draw(
        &areas[1],
        &[
            curve("budget of the filter, at most", |row| {
                row.symmetric_budget.upper
            }),
            curve("what the analyst attains, at least", |row| {
                row.symmetric_adaptive.lower
            }),
        ],
    )?;
    root.present()?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Figures 3 and 5: the profiles of the two choices cross, and the analyst of Example 3.3 attains the
/// best of all choices where they do.
fn choices(path: &Path, figures: &Figures) -> Outcome {
    let root = SVGBackend::new(path, (1280, 430)).into_drawing_area();
    root.fill(&WHITE)?;
    let areas = root.split_evenly((1, 3));
    let curve = |name, height: fn(&ProfileRow) -> Delta| Line {
        name,
        points: figures
            .profiles
            .iter()
            .map(|row| (number(row.gamma), number(height(row))))
            .collect(),
    };
    let panel = |title| Panel {
        title,
        across: "γ",
        up: "H(γ): the best P(A) − γ·Q(A)",
        left: (0.5, 4.0),
        bottom: (0.35, 0.75),
        legend: SeriesLabelPosition::UpperRight,
    };
    panel("T 3: second and third step").draw(
        &areas[0],
        &[
            curve("μ = 2.25, 2.25", |row| row.choices[0].upper),
            curve("μ = 0.1, 10", |row| row.choices[1].upper),
        ],
    )?;
    panel("T 5a: all three, with a row and without").draw(
        &areas[1],
        &[
            curve("budget of the filter", |row| row.budget.upper),
            curve("what the analyst attains", |row| row.adaptive.lower),
            curve("the best choice at each γ", |row| row.best.upper),
        ],
    )?;
    panel("T 5b: the same, the worse order of both").draw(
        &areas[2],
        &[
            curve("budget of the filter", |row| row.symmetric_budget.upper),
            curve("what the analyst attains", |row| {
                row.symmetric_adaptive.lower
            }),
            curve("the best choice at each γ", |row| row.symmetric_best.upper),
        ],
    )?;
    root.present()?;
    println!("wrote {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use queryables::privacy::fdp::{Adjacency, Profile};

    /// The figures integrate over the first answer; here the same products are Fourier transforms.
    #[test]
    fn the_curves_are_those_of_composed_profiles() {
        let grid = Grid::new("1e-2".parse().unwrap()).unwrap();
        let example = Counterexample::new(&grid).unwrap();
        let gammas: [Scale; 3] = ["0.7", "1.363", "3"].map(|gamma| gamma.parse().unwrap());
        let alpha: Delta = "0.3".parse().unwrap();
        let figures = example.figures(&gammas, &[alpha]);
        let [one, other] = example.futures();
        let product = |choice: &Profile| example.first().tensor(choice, &grid).unwrap();
        let best = product(&one.worst(other));
        let budget = product(one).worst(&product(other));
        for (row, gamma) in figures.profiles.iter().zip(gammas) {
            let fixed = budget.height(Adjacency::Remove, gamma);
            let near = |drawn: Delta, computed: Delta| {
                let (drawn, computed) = (number(drawn), number(computed));
                assert!(
                    (drawn - computed).abs() < 2e-3,
                    "{gamma}: {drawn} {computed}"
                );
            };
            near(row.budget.upper, fixed.upper);
            near(row.best.upper, best.height(Adjacency::Remove, gamma).upper);
            // Nothing is above the best choice, and at the crossing the analyst attains it.
            assert!(row.adaptive.lower <= row.best.upper && row.budget.lower <= row.best.upper);
        }
        let crossing = figures.profiles[1];
        assert!(number(crossing.best.upper) - number(crossing.adaptive.lower) < 2e-3);
        let [one, other] = crossing.choices.map(|choice| number(choice.upper));
        assert!((one - other).abs() < 1e-3, "{one} {other}");
        // A trade-off function is the other form of its profile. The one that is drawn is a bound from
        // few γ, and so below.
        let drawn = number(figures.trade_offs[0].budget);
        let composed = budget.trade_off(Adjacency::Remove, alpha);
        assert!(drawn <= number(composed.upper), "{drawn} {composed}");
    }

    /// Every column, and so where curves cross, as `spec/papers.md` says.
    #[test]
    fn the_curves_are_those_of_the_answers_themselves() {
        let example = Counterexample::new(&Grid::new("1e-2".parse().unwrap()).unwrap()).unwrap();
        let near = |drawn: [Delta; 4], exact: [f64; 4], at: f64| {
            let drawn = drawn.map(number);
            let apart = drawn.iter().zip(exact).map(|(one, other)| one - other);
            assert!(
                apart.fold(0.0, |most: f64, apart| most.max(apart.abs())) < 3e-3,
                "{at}: {drawn:?} {exact:?}"
            );
        };
        // Where these trade-off functions have their slopes.
        let many = (-15..=15).map(|index| (0.1 * f64::from(index)).exp());
        let gammas: Vec<Scale> = PROFILES
            .map(|(gamma, ..)| gamma)
            .into_iter()
            .chain(many)
            .map(|gamma| gamma.try_into().unwrap())
            .collect();
        let alphas = TRADE_OFFS.map(|(alpha, ..)| Delta::try_from(alpha).unwrap());
        let figures = example.figures(&gammas, &alphas);
        for (row, (gamma, one, both)) in figures.profiles.iter().zip(PROFILES) {
            let [first, second] = row.choices.map(|choice| choice.upper);
            let drawn = [first, second, row.budget.upper, row.adaptive.lower];
            near(drawn, one, gamma);
            let drawn = [
                row.symmetric_budget.upper,
                row.symmetric_adaptive.lower,
                row.best.upper,
                row.symmetric_best.upper,
            ];
            near(drawn, both, gamma);
        }
        for (row, (alpha, one, both)) in figures.trade_offs.iter().zip(TRADE_OFFS) {
            let [first, second] = row.futures;
            near([first, second, row.budget, row.adaptive], one, alpha);
            let [first, second] = row.symmetric_futures;
            let drawn = [first, second, row.symmetric_budget, row.symmetric_adaptive];
            near(drawn, both, alpha);
        }
    }

    /// By sums over cells of all three answers (numpy), which are ordered by P/Q: γ; both choices, the budget,
    /// what the analyst attains; in the worse order the last two, then the best choice in one order and in the
    /// worse.
    const PROFILES: [(f64, [f64; 4], [f64; 4]); 5] = [
        (
            0.7,
            [0.58552, 0.5, 0.62745, 0.60909],
            [0.67451, 0.69015, 0.62746, 0.69019],
        ),
        (
            0.95,
            [0.54576, 0.5, 0.58556, 0.58650],
            [0.59313, 0.60010, 0.59117, 0.60228],
        ),
        (
            1.363,
            [0.50003, 0.5, 0.53740, 0.56065],
            [0.53740, 0.56065, 0.56065, 0.56065],
        ),
        (
            2.6,
            [0.42087, 0.5, 0.51474, 0.51678],
            [0.51474, 0.51678, 0.52734, 0.52734],
        ),
        (
            2.8,
            [0.41202, 0.5, 0.51312, 0.51194],
            [0.51312, 0.51194, 0.52477, 0.52477],
        ),
    ];
    /// The same of trade-off functions: α; both choices, the budget, what the analyst attains; and in the worse
    /// order.
    const TRADE_OFFS: [(f64, [f64; 4], [f64; 4]); 3] = [
        (
            0.1,
            [0.62914, 0.78601, 0.50456, 0.64305],
            [0.36411, 0.4, 0.32639, 0.31724],
        ),
        (
            0.2,
            [0.34196, 0.58069, 0.25232, 0.35479],
            [0.26081, 0.3, 0.22138, 0.21724],
        ),
        (
            0.35,
            [0.11182, 0.28263, 0.08261, 0.06741],
            [0.11182, 0.15, 0.08261, 0.06741],
        ),
    ];
}
