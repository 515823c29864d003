//! A filter whose rule is printed the wrong way round.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::ApproxDp;

use crate::bug::{Bug, Version};
use crate::machines::Talk;
use crate::noise::respond;
use crate::setup::Setup;
use crate::setup::approximately;

pub(crate) const BUG: Bug = Bug {
    name: "reversed_comparison",
    claim: "a filter that continues while ε ≤ √(2 ln(1/δ′) Σε²) + ½ Σε² is (ε, δ′)-DP",
    wrong: "the comparison is reversed: it starts what is too expensive, and nothing else",
    source: "Haney, Shoemate, Tian, Vadhan, Vyrros, Xu, Zhang: Concurrent Composition for Interactive Differential Privacy with Adaptive Privacy-Loss Parameters. CCS 2023. https://arxiv.org/abs/2309.05901. Theorem 3.7 as printed; the proof has it right (spec/errata.md)",
    run: || {
        let setup = Setup {
            machine: |version| Talk {
                version,
                start,
                step,
            },
            pair: Pair::new(false, true),
            measure: ApproxDp,
            loss: approximately(queryables::epsilon!(4), "0.01")?,
            menu: vec![2, 999],
            depth: 2,
            script: vec![999],
        };
        setup.run()
    },
};

const BUDGET: f64 = 4.0;

#[derive(Hash)]
struct State {
    version: Version,
    bit: bool,
    /// The odds of all that was started.
    odds: Vec<u64>,
}

fn start(version: Version, bit: &bool, _: &mut Coins<'_>) -> Result<State, Fault> {
    Ok(State {
        version,
        bit: *bit,
        odds: vec![],
    })
}

/// Launches a response with these odds, ln odds-DP.
fn step(state: &mut State, odds: u64, coins: &mut Coins<'_>) -> Result<Option<bool>, Fault> {
    let all = state.odds.iter().chain([&odds]);
    let squares: f64 = all.map(|odds| (*odds as f64).ln().powi(2)).sum();
    let bound = (2.0 * 100_f64.ln() * squares).sqrt() + squares / 2.0;
    let admitted = if state.version.is_broken() {
        BUDGET <= bound
    } else {
        bound <= BUDGET
    };
    if !admitted {
        return Ok(None);
    }
    state.odds.push(odds);
    respond(state.bit, odds, coins).map(Some)
}
