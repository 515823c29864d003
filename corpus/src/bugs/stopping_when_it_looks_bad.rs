//! A bound for a fixed number of answers, used at a time that is chosen on the way.

use crate::bug::{Bug, Found, Version};
use queryables::account::time_uniform::{Slack, Variance, VarianceOdometer};
use std::error::Error;

pub(crate) const BUG: Bug = Bug {
    name: "stopping_when_it_looks_bad",
    claim: "after n answers of ε, for whichever n the analyst stops at, the loss is above n ε²/2 + ε √(2 n ln(1/δ)) with probability at most δ",
    wrong: "this holds for each n; an analyst who waits finds one at which it fails, with a larger probability",
    source: "Rogers, Roth, Ullman, Vadhan: Privacy Odometers and Filters: Pay-as-you-Go Composition. NIPS 2016. https://arxiv.org/abs/1605.08294",
    run: || Found::default().with_reference(|version| Ok(ever_exceeds(version)? > 0.1)),
};

const EPSILON: f64 = 0.1;
const ANSWERS: usize = 600;

/// The probability that the loss of responses at ε is ever above the bound, for δ = 0.1. Repaired: a bound that
/// holds at all times.
fn ever_exceeds(version: Version) -> Result<f64, Box<dyn Error>> {
    let slack = Slack::pure("0.1".parse()?)?;
    let odometer =
        VarianceOdometer::<queryables::privacy::ProbabilisticDp>::mixture_at("1".parse()?, slack);
    let up = EPSILON.exp() / (1.0 + EPSILON.exp());
    let (mut law, mut exceeded) = (vec![1.0], 0.0);
    for answers in 1..=ANSWERS {
        let mut next = vec![0.0; answers + 1];
        for (ups, mass) in law.iter().enumerate() {
            next[ups] += mass * (1.0 - up);
            next[ups + 1] += mass * up;
        }
        let squares = answers as f64 * EPSILON * EPSILON;
        let bound = match version {
            Version::Broken => squares / 2.0 + (2.0 * squares * 10_f64.ln()).sqrt(),
            Version::Repaired => {
                let variance = Variance::at_least(squares)?;
                odometer
                    .bound_at(variance)
                    .map_or(f64::INFINITY, queryables::number::Epsilon::to_f64_down)
            }
        };
        for (ups, mass) in next.iter_mut().enumerate() {
            if EPSILON * (2.0 * ups as f64 - answers as f64) > bound {
                exceeded += std::mem::take(mass);
            }
        }
        law = next;
    }
    Ok(exceeded)
}
