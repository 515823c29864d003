//! Three hits, with the noise for one.

use queryables::machine::Pair;
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::bugs::sparse_vector::SparseVector;
use crate::setup::Setup;

pub(crate) const BUG: Bug = Bug {
    name: "svt_noise_for_one_hit",
    claim: "the noise on counts need not grow with the number of hits",
    wrong: "with c hits the noise on counts must be c times as large",
    source: "Lyu, Su, Li: Understanding the Sparse Vector Technique for Differential Privacy. VLDB 2017. https://arxiv.org/abs/1603.01699 (Alg. 4, from Lee, Clifton 2014)",
    run: || {
        let setup = Setup {
            machine: |version| match version {
                Version::Broken => SparseVector {
                    hits: 3,
                    ..SparseVector::RIGHT
                },
                Version::Repaired => SparseVector::RIGHT,
            },
            pair: Pair::new(vec![0, 2], vec![1, 1]),
            measure: PureDp,
            loss: queryables::epsilon!(3),
            menu: vec![0, 1],
            depth: 5,
            script: vec![0, 1, 0, 1, 0],
        };
        setup.run()
    },
};
