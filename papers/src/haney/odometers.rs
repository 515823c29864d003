//! Lemma 2.19 of Haney et al., through Alg 14 and 15, as equalities of views for every adversary:
//! filters and odometers, both ways.

use std::sync::Arc;

use crate::support::*;
use queryables::account::{Accumulator, Sum};
use queryables::compose::{
    Addressed, AddressedMachine, LaunchError, Message, Odometer, OdometerMachine, Refusal, Reply,
};
use queryables::machine::{Coins, Fault, Inspect, Machine, Mechanism, Metered, StateKey};
use queryables::middle::{Middle, Move, ThroughExt};
use queryables::number::Epsilon;
use queryables::privacy::{Private, PureDp};
use queryables::verify::Children;

/// The machine M of the proof: an odometer that checks the total before each round and, where it
/// would be over `limit`, keeps its state and says so.
#[derive(Clone)]
struct Checked {
    limit: Epsilon,
}

pub(crate) type AddressedOdometer =
    AddressedMachine<OdometerMachine<bool, Sum<PureDp>>, Responding, Respond>;

struct CheckedMachine {
    odometer: AddressedOdometer,
    limit: Epsilon,
}

impl Mechanism<bool> for Checked {
    type Machine = CheckedMachine;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<CheckedMachine, Fault> {
        let odometer = Addressed::<_, Respond>::new(Odometer::concurrent(PureDp));
        Ok(CheckedMachine {
            odometer: odometer.start(data, coins)?,
            limit: self.limit,
        })
    }
}

impl Machine for CheckedMachine {
    type Query = Ask;
    type Answer = Told;
    fn step(&mut self, query: Ask, coins: &mut Coins<'_>) -> Result<Told, Fault> {
        if let Message::Launch(respond) = &query {
            let requested = respond.loss(&PureDp).map_err(|_| Fault::Failed)?;
            let spent = self.odometer.privacy_loss();
            if spent
                .checked_add(requested)
                .is_none_or(|sum| sum > self.limit)
            {
                return Ok(Reply::NotLaunched(LaunchError::Refused(Refusal {
                    spent,
                    set_aside: None,
                    requested,
                    remaining: self.limit.saturating_sub(spent),
                    limit: self.limit,
                })));
            }
        }
        self.odometer.step(query, coins)
    }
}

impl Inspect for CheckedMachine {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.odometer);
    }
}

/// P of Alg 14: counts what is launched and answers `privacy_loss` itself.
#[derive(Clone, Hash)]
pub(crate) struct Counting {
    total: Sum<PureDp>,
    pending: Epsilon,
}

impl Counting {
    pub(crate) fn new() -> Self {
        Self {
            total: Sum::new(PureDp),
            pending: Epsilon::ZERO,
        }
    }
}

impl Middle<Ask, Told> for Counting {
    type OuterQuery = Ask;
    type OuterAnswer = Told;

    fn on_query(&mut self, query: Ask, _: &mut Coins<'_>) -> Result<Move<Ask, Told>, Fault> {
        match &query {
            Message::PrivacyLoss => {
                return Ok(Move::Answer(Reply::PrivacyLoss(self.total.total())));
            }
            Message::Launch(respond) => {
                self.pending = respond.loss(&PureDp).map_err(|_| Fault::Failed)?;
            }
            Message::Ask(..) | Message::Close(_) | Message::Remaining => {}
        }
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: Told, _: &mut Coins<'_>) -> Result<Move<Ask, Told>, Fault> {
        if let Reply::Launched(_) = answer {
            let total = self.total.add(&self.pending);
            self.total = total.map_err(|_| Fault::Failed)?;
        }
        self.pending = Epsilon::ZERO;
        Ok(Move::Answer(answer))
    }
}

/// P of Alg 15: no readings.
#[derive(Clone, Hash)]
pub(crate) struct NoReading;

impl Middle<Ask, Told> for NoReading {
    type OuterQuery = Ask;
    type OuterAnswer = Told;

    fn on_query(&mut self, query: Ask, _: &mut Coins<'_>) -> Result<Move<Ask, Told>, Fault> {
        if query == Message::PrivacyLoss {
            return Err(Fault::InvalidQuery("no readings"));
        }
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: Told, _: &mut Coins<'_>) -> Result<Move<Ask, Told>, Fault> {
        Ok(Move::Answer(answer))
    }
}

#[test]
fn lemma_2_19_filters_and_odometers_are_postprocessings_of_each_other() {
    let limit = ln_times(3, 3);
    let filter = pure_filter::<Respond>(limit);
    let capped = Addressed::<_, Respond>::new(Odometer::concurrent(PureDp).capped(limit));
    let checked = Checked { limit };
    let counting = filter.clone().through(Counting::new());
    let menu = || Children::new(vec![once(3), once(9)], vec![()]);
    for bit in [false, true] {
        let data = Arc::new(bit);
        // Alg 14.
        assert_same_states!(&counting, &checked, &data, menu(), 5);
        // F(·; d) = [G(·) ≼ d].
        assert_same_states!(&capped, &checked, &data, menu(), 5);
        // Alg 15.
        let (silent, without) = (
            checked.clone().through(NoReading),
            filter.clone().through(NoReading),
        );
        assert_same_states!(&silent, &without, &data, menu(), 5);
        assert_same_states!(&silent, &filter, &data, menu().without_reading(), 5);
        // Readings are told from no readings.
        assert_other_states!(&checked, &without, &data, menu(), 5);
    }
}
