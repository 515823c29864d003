//! (ε, δ)-DP as probabilistic DP.

use crate::bug::{Bug, Found, Version};
use queryables::number::Delta;
use queryables::privacy::{EpsilonDelta, convert};
use std::error::Error;

pub(crate) const BUG: Bug = Bug {
    name: "conversion_to_pdp",
    claim: "(ε, δ)-DP implies that the loss is above 2ε with probability at most 2δ/(ε e^ε)",
    wrong: "the proof bounds the probability on the other dataset; on the data itself it may be e^2ε times as large",
    source: "Whitehouse, Ramdas, Rogers, Wu: Fully-Adaptive Composition in Differential Privacy. ICML 2023. https://arxiv.org/abs/2203.05481. Lemma 2, after Kasiviswanathan, Smith; also Rogers et al. 2016, Lemma 2.3 (spec/errata.md)",
    run: || Found::default().with_reference(contradicts),
};

/// An answer of probability 20·10⁻⁶ here and 2·10⁻⁶ there has loss ln 10 > 2, and is (1, δ)-DP.
fn contradicts(version: Version) -> Result<bool, Box<dyn Error>> {
    let told = 20e-6_f64;
    let delta = told - 1_f64.exp() * 2e-6;
    let allowed = match version {
        Version::Broken => 2.0 * delta / 1_f64.exp(),
        Version::Repaired => {
            let delta = Delta::at_least(delta)?;
            let epsilon = queryables::epsilon!(1);
            convert::probabilistic(EpsilonDelta { epsilon, delta })?
                .delta
                .to_f64_up()
        }
    };
    Ok(told > allowed)
}
