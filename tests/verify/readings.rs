//! Readings of a compositor are answers like any other, where the menu offers them.

use std::sync::Arc;

use queryables::compose::{Message, Reply};
use queryables::machine::{Coins, Fault, Machine, Mechanism};
use queryables::verify::{Children, Pair, Rational, Value, Verifier, copies_of};

/// A compositor whose reading of what is left tells the bit.
#[derive(Clone, Hash)]
struct TellsTheRest(bool);

impl Mechanism<bool> for TellsTheRest {
    type Machine = TellsTheRest;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<TellsTheRest, Fault> {
        Ok(TellsTheRest(**data))
    }
}

impl Machine for TellsTheRest {
    type Query = Message<(), ()>;
    type Answer = Reply<(), u8>;
    fn step(&mut self, query: Self::Query, _: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        Ok(match query {
            Message::Launch(()) => Reply::Launched(0),
            Message::Remaining => Reply::Remaining(Some(self.0.into())),
            Message::PrivacyLoss => Reply::PrivacyLoss(0),
            _ => Reply::Answered(()),
        })
    }
}

#[test]
fn a_leak_in_what_is_left_is_found_where_it_can_be_read() {
    let pair = Pair::new(false, true);
    let menu = || Children::new(vec![()], vec![()]);
    let worst = |menu| {
        let verifier = Verifier::by_state(copies_of(&TellsTheRest(false)), &pair, menu, 2);
        verifier.worst_ratio().unwrap().value
    };
    assert_eq!(worst(menu()), Value::Finite(Rational::ONE.into()));
    assert_eq!(worst(menu().with_remaining()), Value::Infinite);
}
