//! What T's figures plot.

use queryables::number::{Delta, Scale};
use queryables::privacy::fdp::{Adjacency, Bounds};

use super::{Branches, Counterexample, ROUNDING, larger, probability};
use crate::number::float;

impl Counterexample {
    /// What T's Figures 1, 3, 4 and 5 plot, at these γ and these α.
    #[must_use]
    pub fn figures(&self, gammas: &[Scale], alphas: &[Delta]) -> Figures {
        let [one, other] = &self.futures;
        let profiles = gammas
            .iter()
            .map(|&gamma| {
                let odds = float(gamma);
                let symmetric = |height: &dyn Fn(f64) -> (f64, f64)| {
                    // max(H(γ), 1 − γ + γH(1/γ)).
                    let (low, high) = height(1.0 / odds);
                    let other = |height: f64| 1.0 - odds + odds * height;
                    larger(height(odds), (other(low), other(high)))
                };
                let budget = |gamma| self.budget_at(gamma);
                let adaptive = |gamma| self.adaptive_at(Branches::Swapped, gamma);
                let best = |gamma| self.best_at(gamma);
                ProfileRow {
                    gamma,
                    choices: [one, other].map(|choice| choice.height(Adjacency::Remove, gamma)),
                    best: probability(best(odds)),
                    symmetric_best: probability(symmetric(&best)),
                    budget: probability(budget(odds)),
                    adaptive: probability(adaptive(odds)),
                    symmetric_budget: probability(symmetric(&budget)),
                    symmetric_adaptive: probability(symmetric(&adaptive)),
                }
            })
            .collect::<Vec<_>>();
        let trade_off = |alpha: Delta, direction, height: fn(&ProfileRow) -> Delta| {
            missed(
                alpha,
                direction,
                profiles.iter().map(|row| (row.gamma, height(row))),
            )
        };
        let trade_offs = alphas
            .iter()
            .map(|&alpha| TradeOffRow {
                alpha,
                futures: [one, other]
                    .map(|future| future.trade_off(Adjacency::Remove, alpha).lower),
                symmetric_futures: [one, other].map(|future| {
                    future
                        .symmetrised()
                        .trade_off(Adjacency::Remove, alpha)
                        .lower
                }),
                budget: trade_off(alpha, Adjacency::Remove, |row| row.budget.upper),
                adaptive: trade_off(alpha, Adjacency::Remove, |row| row.adaptive.upper),
                symmetric_budget: trade_off(alpha, Adjacency::Add, |row| {
                    row.symmetric_budget.upper
                }),
                symmetric_adaptive: trade_off(alpha, Adjacency::Add, |row| {
                    row.symmetric_adaptive.upper
                }),
            })
            .collect();
        Figures {
            profiles,
            trade_offs,
        }
    }
}

/// Data for pictures.
#[derive(Clone, Debug)]
pub struct Figures {
    /// T Figures 3, 4 and 5.
    pub profiles: Vec<ProfileRow>,
    /// T Figure 1.
    pub trade_offs: Vec<TradeOffRow>,
}

/// A row of T Figures 3, 4 and 5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfileRow {
    /// γ.
    pub gamma: Scale,
    /// Of the two choices for the second and third step (Figure 3).
    pub choices: [Bounds<Delta>; 2],
    /// The first step, and then the worse choice at every γ (Figure 5).
    pub best: Bounds<Delta>,
    /// The same, symmetrised.
    pub symmetric_best: Bounds<Delta>,
    /// H_B.
    pub budget: Bounds<Delta>,
    /// H_adapt.
    pub adaptive: Bounds<Delta>,
    /// sym(H_B).
    pub symmetric_budget: Bounds<Delta>,
    /// sym(H_adapt).
    pub symmetric_adaptive: Bounds<Delta>,
}

/// A row of T Figure 1: lower bounds on trade-off functions, from the γ of the other rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TradeOffRow {
    /// α.
    pub alpha: Delta,
    /// Of the two choices (Figure 1a).
    pub futures: [Delta; 2],
    /// Of the two choices, symmetrised (Figure 1b).
    pub symmetric_futures: [Delta; 2],
    /// f_B (Figure 1c).
    pub budget: Delta,
    /// f_adapt (Figure 1c).
    pub adaptive: Delta,
    /// sym(f_B) (Figure 1d).
    pub symmetric_budget: Delta,
    /// sym(f_adapt) (Figure 1d).
    pub symmetric_adaptive: Delta,
}

/// A lower bound on T[P, Q](α) or T[Q, P](α), from points of the profile of (P, Q).
///
/// T[Q, P](α) ≥ 1 − H − γα at each. As T[P, Q] is its inverse, (1 − H − α)/γ bounds that one.
fn missed(
    alpha: Delta,
    direction: Adjacency,
    points: impl Iterator<Item = (Scale, Delta)>,
) -> Delta {
    let alpha = float(alpha);
    let best = points
        .map(|(gamma, height)| {
            let (gamma, rest) = (float(gamma), 1.0 - float(height));
            match direction {
                Adjacency::Add => rest - gamma * alpha,
                Adjacency::Remove => (rest - alpha) / gamma,
            }
        })
        .fold(0.0, f64::max);
    Delta::at_most((best - ROUNDING).max(0.0)).unwrap_or_default()
}
