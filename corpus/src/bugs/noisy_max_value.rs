//! The largest noisy score itself, in place of the candidate that has it.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "noisy_max_value",
    claim: "noise of ε/2 on each score makes the noisy maximum ε-DP, whatever the number of candidates",
    wrong: "this holds for the index of the maximum; its value costs more with every candidate",
    source: "Ding, Wang, Wang, Zhang, Kifer: Detecting Violations of Differential Privacy. CCS 2018. https://arxiv.org/abs/1805.10277",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(vec![1, 1, 1], vec![2, 2, 2]),
            measure: PureDp,
            loss: ln(2, 2),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

fn release(version: Version, scores: &Vec<u64>, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    let mut best = (0, 0);
    for (index, score) in scores.iter().enumerate() {
        let noisy = geometric(*score, 3, 2, coins)?;
        if index == 0 || noisy > best.0 {
            best = (noisy, index as u64);
        }
    }
    Ok(if version.is_broken() { best.0 } else { best.1 })
}
