//! A server that checks, runs, and then charges, and passes errors on.

use queryables::machine::{Coins, Fault, Pair};
use queryables::privacy::PureDp;

use crate::bug::{Bug, Version};
use crate::machines::Talk;
use crate::noise::respond;
use crate::setup::{Setup, ln};

pub(crate) const BUG: Bug = Bug {
    name: "charged_after_running",
    claim: "a server with a budget of ln 3 answers at most one question at ln 3",
    wrong: "it checks, queries, and then charges: a query that fails on the data ends before the charge, and the analyst is sent the text of its error",
    source: "https://github.com/dscc-admin-ch/lomas, server/lomas_server/dp_queries/dp_logic.py at 2a26241 (handle_query; it runs one query of a user at a time)",
    run: || {
        let setup = Setup {
            machine: |version| Talk {
                version,
                start,
                step,
            },
            pair: Pair::new(1, 0),
            measure: PureDp,
            loss: ln(3, 1),
            menu: vec![Query::IsPositive, Query::Reciprocal],
            depth: 2,
            script: vec![Query::Reciprocal, Query::IsPositive],
        };
        setup.run()
    },
};

/// About the only row. Both are answered by randomized response.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Query {
    IsPositive,
    /// Whether 1 divided by it is at least 1: fails for 0.
    Reciprocal,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Reply {
    Answer(bool),
    Error(String),
    NotEnoughBudget,
}

#[derive(Hash)]
struct State {
    version: Version,
    row: u32,
    spent: bool,
}

fn start(version: Version, row: &u32, _: &mut Coins<'_>) -> Result<State, Fault> {
    Ok(State {
        version,
        row: *row,
        spent: false,
    })
}

fn step(state: &mut State, query: Query, coins: &mut Coins<'_>) -> Result<Reply, Fault> {
    if state.spent {
        return Ok(Reply::NotEnoughBudget);
    }
    let truth = match query {
        Query::IsPositive => Ok(state.row > 0),
        Query::Reciprocal => match 1_u32.checked_div(state.row) {
            Some(quotient) => Ok(quotient >= 1),
            None => Err(format!("1 / {}: division by zero", state.row)),
        },
    };
    let truth = match (truth, state.version) {
        (Ok(truth), _) => truth,
        (Err(text), Version::Broken) => return Ok(Reply::Error(text)),
        // A row on which the query fails counts as no.
        (Err(_), Version::Repaired) => false,
    };
    state.spent = true;
    Ok(Reply::Answer(respond(truth, 3, coins)?))
}
