//! The scope of a verdict: what was asked, and of which datasets.

use std::fmt;
use std::sync::Arc;

use queryables::machine::{Coins, Fault, Machine, Mechanism, Released};
use queryables::verify::{Pair, Verifier, copies_of};

/// A query that is always answered, or never; both print alike.
#[derive(Clone)]
struct Query(bool);

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("q")
    }
}

#[derive(Clone)]
struct Half;

impl Mechanism<bool> for Half {
    type Machine = Half;
    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<Half, Fault> {
        Ok(Half)
    }
}

impl Machine for Half {
    type Query = Query;
    type Answer = u8;
    fn step(&mut self, query: Query, _: &mut Coins<'_>) -> Result<u8, Fault> {
        match query.0 {
            true => Ok(0),
            false => Err(Fault::InvalidQuery("not this one")),
        }
    }
}

#[test]
fn queries_that_print_alike_are_two() {
    let menu = vec![Query(true), Query(false)];
    let pair = Pair::new(false, true);
    let worst = Verifier::new(copies_of(&Half), &pair, menu, 1).worst_ratio();
    let scope = worst.unwrap().scope;
    let answered: Vec<_> = scope.menu.iter().map(|(_, answered)| *answered).collect();
    assert_eq!(answered, [true, false]);
    assert_eq!(
        scope.to_string(),
        "scope: false against true; 2 queries on the menu, up to 1 round, 1 point; answered: q; \
         never answered: q"
    );
}

/// Fails to start, in a way that depends on the bit.
#[derive(Clone)]
struct Never;

impl Mechanism<bool> for Never {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        Err(match **data {
            true => Fault::Failed,
            false => Fault::Exhausted,
        })
    }
}

#[test]
fn where_nothing_starts_nothing_was_asked() {
    let pair = Pair::new(false, true);
    let worst = Verifier::new(copies_of(&Never), &pair, vec![()], 1).worst_ratio();
    assert_eq!(
        worst.unwrap().scope.to_string(),
        "scope: false against true; up to 1 round, 0 points; nothing was asked"
    );
}

/// Tells the last row.
#[derive(Clone)]
struct Last;

impl Mechanism<Vec<u8>> for Last {
    type Machine = Released<Option<u8>>;
    fn start(&self, data: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<Option<u8>>, Fault> {
        Ok(Released(data.last().copied()))
    }
}

#[test]
fn long_datasets_that_begin_alike_are_shown_where_they_differ() {
    let mut other = vec![0_u8; 100];
    other[90] = 1;
    let pair = Pair::new(vec![0_u8; 100], other);
    let worst = Verifier::new(copies_of(&Last), &pair, vec![()], 1).worst_ratio();
    assert_eq!(
        worst.unwrap().scope.sides,
        [
            "[0, 0, 0, 0, 0, 0, 0… 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]",
            "[0, 0, 0, 0, 0, 0, 0… 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]",
        ]
    );
}
