//! The noisy value that was compared is released.

use queryables::machine::Pair;
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::bugs::sparse_vector::SparseVector;
use crate::setup::Setup;

pub(crate) const BUG: Bug = Bug {
    name: "svt_tells_the_compared_value",
    claim: "the noisy count that was above may be told",
    wrong: "it was compared with the threshold, and tells where that is: all comparisons before it become exact",
    source: "Lyu, Su, Li: Understanding the Sparse Vector Technique for Differential Privacy. VLDB 2017. https://arxiv.org/abs/1603.01699 (Alg. 3, from lecture notes of Roth 2011)",
    run: || {
        let setup = Setup {
            machine: |version| match version {
                Version::Broken => SparseVector {
                    tells: true,
                    ..SparseVector::RIGHT
                },
                Version::Repaired => SparseVector::RIGHT,
            },
            pair: Pair::new(vec![1, 0], vec![0, 1]),
            measure: PureDp,
            loss: queryables::epsilon!(3),
            menu: vec![0, 1],
            depth: 4,
            script: vec![0, 0, 0, 1],
        };
        setup.run()
    },
};
