//! Noise on the threshold only.

use queryables::machine::Pair;
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::bugs::sparse_vector::SparseVector;
use crate::setup::Setup;

pub(crate) const BUG: Bug = Bug {
    name: "svt_without_query_noise",
    claim: "noise on the threshold is enough for any number of comparisons",
    wrong: "without noise on the counts, one threshold is compared with all of them: two answers order two counts exactly",
    source: "Lyu, Su, Li: Understanding the Sparse Vector Technique for Differential Privacy. VLDB 2017. https://arxiv.org/abs/1603.01699 (Alg. 5, from Stoddard, Chen, Machanavajjhala 2014)",
    run: || {
        let setup = Setup {
            machine: |version| match version {
                Version::Broken => SparseVector {
                    count_scale: 0,
                    ..SparseVector::RIGHT
                },
                Version::Repaired => SparseVector::RIGHT,
            },
            pair: Pair::new(vec![0, 1], vec![1, 0]),
            measure: PureDp,
            loss: queryables::epsilon!(3),
            menu: vec![0, 1],
            depth: 2,
            script: vec![0, 1],
        };
        setup.run()
    },
};
