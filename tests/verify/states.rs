//! What makes two states different, for a verifier that explores equal ones once.

use std::sync::Arc;

use crate::support::*;
use queryables::compose::{Addressed, Filter, Message};
use queryables::machine::{Coins, Fault, Mechanism};
use queryables::number::Epsilon;
use queryables::privacy::{AddRemove, Private, PureDp, UnknownLoss};
use queryables::verify::{ByRound, Pair, Verifier, copies_of};

/// Everything that makes a child what it is belongs to its state, limits included: children that
/// differ in nothing else must not be taken for each other.
#[test]
fn nested_filters_with_different_budgets_are_different_states() {
    let pair = Pair::new(false, true);
    let outer =
        Addressed::<_, PureFilter<Respond>>::new(Filter::concurrent(PureDp, ln_times(3, 3)));
    let rest = |budget| Message::Launch(pure_filter(budget));
    // Both orders spend the same, and only one of them has the larger one second.
    let launches = vec![rest(ln_times(3, 2)), rest(ln(3))];
    let menu = ByRound(vec![
        launches.clone(),
        launches,
        vec![Message::Ask(1, Message::Launch(once(9)))],
        vec![Message::Ask(1, Message::Ask(0, ()))],
    ]);
    let worst = Verifier::new(copies_of(&outer), &pair, menu.clone(), 4).worst_ratio();
    assert_eq!(exact(&worst.unwrap()), ratio(9, 1));
    let worst = Verifier::by_state(copies_of(&outer), &pair, menu, 4).worst_ratio();
    assert_eq!(exact(&worst.unwrap()), ratio(9, 1));
}

/// A response, or nothing but a failure at the same price.
#[derive(Clone, Debug, Hash)]
enum Fragile {
    Sound,
    Failing,
}

impl Mechanism<bool> for Fragile {
    type Machine = Responding;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Responding, Fault> {
        match self {
            Self::Sound => once(3).start(data, coins),
            Self::Failing => Err(Fault::Failed),
        }
    }
}

impl Private<PureDp, AddRemove> for Fragile {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(ln(3))
    }
}

/// A launch that fails freezes what was launched before, and leaves no other trace.
#[test]
fn frozen_children_are_different_states() {
    let pair = Pair::new(false, true);
    let filter = Addressed::<_, Fragile>::new(Filter::sequential(PureDp, ln_times(3, 2)));
    let launches = [Fragile::Sound, Fragile::Failing]
        .map(Message::Launch)
        .to_vec();
    let menu = ByRound(vec![launches.clone(), launches, vec![Message::Ask(0, ())]]);
    let worst = Verifier::new(copies_of(&filter), &pair, menu.clone(), 3).worst_ratio();
    assert_eq!(exact(&worst.unwrap()), ratio(3, 1));
    let worst = Verifier::by_state(copies_of(&filter), &pair, menu, 3).worst_ratio();
    assert_eq!(exact(&worst.unwrap()), ratio(3, 1));
}
