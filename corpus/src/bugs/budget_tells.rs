//! What is left of the budget depends on the data.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Talk;
use crate::noise::respond;
use crate::setup::Setup;
use crate::setup::ln;

pub(crate) const BUG: Bug = Bug {
    name: "budget_tells",
    claim: "an analyst may read what is left of the budget: it was computed by the system",
    wrong: "a query on the data charged for what it met in the data, so that the rest of the budget tells it exactly",
    source: "Haeberlen, Pierce, Narayan: Differential Privacy Under Fire. USENIX Security 2011",
    run: || {
        let setup = Setup {
            machine: |version| Talk {
                version,
                start,
                step,
            },
            pair: Pair::new(false, true),
            measure: PureDp,
            loss: ln(3, 1),
            menu: vec![true, false],
            depth: 2,
            script: vec![true, false],
        };
        setup.run()
    },
};

#[derive(Hash)]
struct State {
    version: Version,
    bit: bool,
    left: u8,
}

fn start(version: Version, bit: &bool, _: &mut Coins<'_>) -> Result<State, Fault> {
    Ok(State {
        version,
        bit: *bit,
        left: 1,
    })
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Reply {
    Answer(bool),
    Refused,
    Left(u8),
}

/// Asks, or reads what is left.
fn step(state: &mut State, asks: bool, coins: &mut Coins<'_>) -> Result<Reply, Fault> {
    if !asks {
        return Ok(Reply::Left(state.left));
    }
    if state.left == 0 {
        return Ok(Reply::Refused);
    }
    let answer = respond(state.bit, 3, coins)?;
    // Broken: the query has a query of its own for each row that it meets.
    let charged = !state.version.is_broken() || state.bit;
    state.left -= u8::from(charged);
    Ok(Reply::Answer(answer))
}
