//! Noise with the scale ε, in place of 1/ε.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "scale_upside_down",
    claim: "a histogram with Laplace noise of a scale that is computed from ε is ε-DP",
    wrong: "the scale is ε, in place of 1/ε: for ε below 1 there is too little noise",
    source: "Ding, Wang, Wang, Zhang, Kifer: Detecting Violations of Differential Privacy. CCS 2018. https://arxiv.org/abs/1805.10277",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(3, 4),
            measure: PureDp,
            loss: ln(2, 1),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

/// A scale of 1/ln 2 is a base of 2; one of ln 2 is a base of e^(1/ln 2) = 4.23, here 4.
fn release(version: Version, count: &u64, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    geometric(*count, 7, if version.is_broken() { 4 } else { 2 }, coins)
}
