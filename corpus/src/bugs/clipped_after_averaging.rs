//! Gradients are averaged, and the average is clipped.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Once;
use crate::noise::geometric;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "clipped_after_averaging",
    claim: "gradients clipped to C change the average of n by C/n",
    wrong: "the average was clipped: one gradient can move it by C, n times as far as the noise hides",
    source: "Tramèr, Terzis, Steinke, Song, Jagielski, Carlini: Debugging Differential Privacy: A Case Study for Privacy Auditing. 2022. https://arxiv.org/abs/2202.12219 (an implementation of backpropagation clipping, whose sensitivity was too small by a factor of the batch size)",
    run: || {
        let setup = Setup {
            machine: |version| Once {
                version,
                run: release,
            },
            pair: Pair::new(vec![0, 0, 0, 0], vec![0, 0, 0, 4]),
            measure: PureDp,
            loss: ln(2, 1),
            menu: vec![()],
            depth: 1,
            script: vec![()],
        };
        setup.run()
    },
};

/// C is 1, and the average is in steps of C/4.
fn release(version: Version, gradients: &Vec<u64>, coins: &mut Coins<'_>) -> Result<u64, Fault> {
    let steps = match version {
        // The sum in steps of C is the average in steps of C/4; clipped to C.
        Version::Broken => gradients.iter().sum::<u64>().min(4),
        Version::Repaired => gradients.iter().map(|gradient| (*gradient).min(1)).sum(),
    };
    geometric(steps, 8, 2, coins)
}
