//! It goes on after the first count that is above.

use queryables::machine::Pair;
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::bugs::sparse_vector::SparseVector;
use crate::setup::Setup;

pub(crate) const BUG: Bug = Bug {
    name: "svt_without_cutoff",
    claim: "comparisons cost nothing, also after a count was above",
    wrong: "every count that is above costs; the search must end, or pay again",
    source: "Lyu, Su, Li: Understanding the Sparse Vector Technique for Differential Privacy. VLDB 2017. https://arxiv.org/abs/1603.01699 (Alg. 6, from Chen, Xiao, Zhang, Xu 2015)",
    run: || {
        let setup = Setup {
            machine: |version| match version {
                Version::Broken => SparseVector {
                    hits: u32::MAX,
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
