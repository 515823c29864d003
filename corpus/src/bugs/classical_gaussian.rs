//! The classical scale of Gaussian noise, beyond where its proof holds.

use queryables::data::Predicate;
use queryables::machine::Pair;
use queryables::mechanisms::{Count, QueryExt};
use queryables::number::{Mu, Rho};
use queryables::privacy::{ApproxDp, convert};

use crate::bug::{Bug, Version};
use crate::setup::{Setup, approximately};

pub(crate) const BUG: Bug = Bug {
    name: "classical_gaussian",
    claim: "σ = √(2 ln(1.25/δ))/ε makes a count (ε, δ)-DP, here with ε = 10 and δ = 0.01",
    wrong: "the proof needs ε < 1; for a large ε this is too little noise",
    source: "Balle, Wang: Improving the Gaussian Mechanism for Differential Privacy. ICML 2018. https://arxiv.org/abs/1805.06530",
    run: || {
        let setup = Setup {
            machine: |version| {
                let all = Predicate::new("all", |_: &u8| true);
                Count::of(all)
                    .gaussian(rho(version))
                    .unwrap_or_else(|_| unreachable!())
            },
            pair: Pair::new(vec![7_u8], vec![7, 7]),
            measure: ApproxDp,
            loss: approximately(queryables::epsilon!(10), "0.01")?,
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run_with_cut(20)?.with_reference(|version| {
            // For one step, μ = 1/σ = √(2ρ).
            let mu = (2.0 * rho(version).to_f64_up()).sqrt();
            let delta = convert::gdp::delta(Mu::at_most(mu)?, queryables::epsilon!(10));
            Ok(delta > "0.01".parse()?)
        })
    },
};

/// ρ = 1/(2σ²). Repaired: from the exact curve, and a little below it, for what the verifier cuts off.
fn rho(version: Version) -> Rho {
    let mu = match version {
        Version::Broken => 10.0 / (2.0 * 125_f64.ln()).sqrt(),
        Version::Repaired => {
            let (epsilon, delta) = (queryables::epsilon!(10), queryables::delta!(0.01));
            convert::gdp::budget(epsilon, delta).to_f64_down() * 0.95
        }
    };
    Rho::at_most(mu * mu / 2.0).unwrap_or_default()
}
