//! A sampler of a law without end that has an end.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "finite_sampler",
    claim: "geometric noise by inversion of a few uniform bits is ε-DP",
    wrong: "the largest noise that the bits can make is an end: an answer beyond it is possible on one dataset only",
    source: "Balcer, Vadhan: Differential Privacy on Finite Computers. ITCS 2018. https://arxiv.org/abs/1709.05396",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(10, 11),
            measure: PureDp,
            loss: ln(2, 1),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

/// Odds of 2^-|k| up to a noise of 6, and nothing beyond. Repaired: what is beyond is put at the ends of the
/// public range of answers, whatever the data.
fn release(version: Version, count: &u64, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    if !version.is_broken() {
        return geometric(*count, 21, 2, coins);
    }
    let weights: Vec<u64> = (0..=12_u32).map(|at| 1 << (6 - at.abs_diff(6))).collect();
    Ok(count + coins.weighted(&weights)? as u64 - 6)
}
