//! F's table, beside what was measured.

use std::io::Write;

use crate::Outcome;
use crate::setting::Setting;
use crate::training::{Accuracy, Run};

/// The mean and its deviation over trials.
fn spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let number = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / number;
    let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (number - 1.0).max(1.0)).sqrt())
}

fn percent((mean, deviation): (f64, f64)) -> String {
    format!("{mean:.2} ± {deviation:.2}")
}

/// The share of records that have spent all but a thousandth of their budget, in percent.
fn ran_out(run: &Run) -> f64 {
    let [.., spent] = &run.spent;
    let out = spent.iter().filter(|share| **share > 0.999).count();
    100.0 * out as f64 / spent.len() as f64
}

/// The median of what records have spent, in percent of their budget.
fn median(run: &Run) -> f64 {
    let [.., spent] = &run.spent;
    let mut spent = spent.clone();
    spent.sort_by(f64::total_cmp);
    100.0 * spent.get(spent.len() / 2).copied().unwrap_or(0.0)
}

/// What the table shows, and its columns.
pub fn head(out: &mut impl Write, trials: usize) -> Outcome {
    writeln!(
        out,
        "Adult: accuracy in percent on the test data, mean ± deviation over {trials} trials, δ = 1e-5.\n\
         Without filtering: k steps (F Alg. 7). With filtering: k_max steps, and each record pays for \
         its own\ngradients, from a budget of k·ρ (F Alg. 8). The loss is the same.\n"
    )?;
    writeln!(
        out,
        "{:>5} {:>12} {:>7} {:>7}  {:29}  {:29}  {:29}  {:>13}",
        "ε",
        "k to k_max",
        "F 2.4",
        "exact",
        "F: without, with",
        "last weights",
        "averaged weights",
        "out  median"
    )?;
    Ok(())
}

/// One row.
pub fn row(out: &mut impl Write, setting: &Setting, runs: &[Run]) -> Outcome {
    let measured = |of: fn(&Run) -> Accuracy, by: fn(&Accuracy) -> f64| {
        percent(spread(runs.iter().map(move |run| by(&of(run)))))
    };
    let both = |by: fn(&Accuracy) -> f64| {
        let (without, with) = (
            measured(|run| run.without, by),
            measured(|run| run.with, by),
        );
        format!("{without}, {with}")
    };
    let printed = setting.printed.map_or_else(
        || "–".into(),
        |[without, with]| format!("{}, {}", percent(without), percent(with)),
    );
    let (ran_out, _) = spread(runs.iter().map(ran_out));
    let (median, _) = spread(runs.iter().map(median));
    writeln!(
        out,
        "{:>5} {:>12} {:>7.4} {:>7.3}  {printed:29}  {:29}  {:29}  {ran_out:>5.2} {median:>7.2}",
        setting.name,
        format!("{} to {}", setting.steps, setting.most_steps),
        setting.epsilon_of_f()?,
        setting.exact_epsilon()?,
        both(|accuracy| accuracy.last),
        both(|accuracy| accuracy.average),
    )?;
    Ok(())
}

/// What the columns mean, and what can be seen.
pub const REMARKS: &str = "\
F 2.4: ε as F computes it, ρ + 2√(ρ ln 1/δ) for ρ = k/(2σ²). exact: the smallest ε of the same noise.
out: share of records that ran out of budget, and the median of what records have spent, in percent.

- The row ε = 1.0 of F is printed with σ = 613.49, which is ε = 0.5. The row 1.0* has the σ that ε = 1.0
  needs, 309.94.
- In the rows of F the filter hardly binds. A record runs out only if its gradient is clipped in nearly
  every step, which happens to those whom the model keeps getting wrong. All others have spent a small
  part of the budget. What filtering gives there are k_max − k more steps, free of charge.
- In the last row gradients are of very different lengths, and the clip value leaves room for the long
  ones. Without filtering everybody pays as if theirs were the longest, and training ends too early.";
