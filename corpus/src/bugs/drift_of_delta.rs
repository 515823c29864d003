//! A bound on the realised loss that forgets how δ moves its mean.

use crate::bug::{Bug, Found};

pub(crate) const BUG: Bug = Bug {
    name: "drift_of_delta",
    claim: "after 100 answers of (0.01, 0.005) the loss is above 0.2196 with probability at most 0.6",
    wrong: "a mechanism conditioned on no large loss is not ε-DP: δ moves the mean of the loss, too, and 100 δ must be added to the bound",
    source: "Whitehouse, Ramdas, Rogers, Wu: Fully-Adaptive Composition in Differential Privacy. ICML 2023. https://arxiv.org/abs/2203.05481. Theorem 3 with δ > 0 (spec/errata.md)",
    run: || {
        Found::default().with_reference(|version| {
            Ok(exceeds(if version.is_broken() {
                0.2196
            } else {
                0.2196 + 0.5
            }) > 0.6)
        })
    },
};

/// The probability that 100 steps of ±ε, up with probability p, end above the bound. On the data there are two
/// answers: the neighbour has p·e^−ε and (1 − p)·e^ε for them, and δ for a third.
fn exceeds(bound: f64) -> f64 {
    let (epsilon, delta) = (0.01_f64, 0.005);
    let up = (epsilon.exp() - 1.0 + delta) / (epsilon.exp() - (-epsilon).exp());
    let mut law = vec![1.0];
    for _ in 0..100 {
        let mut next = vec![0.0; law.len() + 1];
        for (ups, mass) in law.iter().enumerate() {
            next[ups] += mass * (1.0 - up);
            next[ups + 1] += mass * up;
        }
        law = next;
    }
    let loss = |ups: usize| epsilon * (2.0 * ups as f64 - 100.0);
    law.iter()
        .enumerate()
        .filter(|(ups, _)| loss(*ups) > bound)
        .map(|(_, mass)| mass)
        .sum()
}
