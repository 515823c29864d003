//! Alg 12 of Haney et al., as an equality of views for every adversary: F_K is a postprocessing of
//! F_2. Alg 11 is in `halting`, Alg 13 in `restating`, Alg 14 and 15 in `odometers`.

use std::sync::Arc;

use crate::support::*;
use queryables::account::{Capped, Sum};
use queryables::compose::{
    Addressed, AddressedMachine, Filter, FilterMachine, LaunchError, Message, Refusal, Reply,
};
use queryables::machine::{Coins, Fault, Inspect, Machine, Mechanism, StateKey};
use queryables::middle::{Middle, Move, ThroughExt};
use queryables::number::Epsilon;
use queryables::privacy::{AddRemove, Private, PureDp, UnknownLoss};
use queryables::queryable::AskError;
use queryables::verify::Children;

pub(crate) type PureRule = Capped<Sum<PureDp>>;

/// What F_2 launches: the first mechanism, then F_{K-1}.
#[derive(Clone, Debug)]
pub(crate) enum Kid {
    First(Respond),
    Rest(Addressed<Filter<PureRule>, Respond>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KidQuery {
    First(()),
    Rest(Ask),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KidAnswer {
    First(bool),
    Rest(Told),
}

pub(crate) type AddressedFilter<D> =
    AddressedMachine<FilterMachine<D, PureRule>, Responding, Respond>;

pub(crate) enum KidMachine {
    First(Responding),
    Rest(AddressedFilter<bool>),
}

impl Mechanism<bool> for Kid {
    type Machine = KidMachine;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<KidMachine, Fault> {
        Ok(match self {
            Self::First(respond) => KidMachine::First(respond.start(data, coins)?),
            Self::Rest(filter) => KidMachine::Rest(filter.start(data, coins)?),
        })
    }
}

impl Machine for KidMachine {
    type Query = KidQuery;
    type Answer = KidAnswer;
    fn step(&mut self, query: KidQuery, coins: &mut Coins<'_>) -> Result<KidAnswer, Fault> {
        match (self, query) {
            (Self::First(first), KidQuery::First(())) => {
                first.step((), coins).map(KidAnswer::First)
            }
            (Self::Rest(rest), KidQuery::Rest(message)) => {
                rest.step(message, coins).map(KidAnswer::Rest)
            }
            _ => Err(Fault::InvalidQuery("for the other one")),
        }
    }
}

impl Inspect for KidMachine {
    fn inspect(&self, key: &mut StateKey) {
        match self {
            Self::First(first) => {
                key.write(&0);
                key.write(first);
            }
            Self::Rest(rest) => {
                key.write(&1);
                key.write(rest);
            }
        }
    }
}

impl Private<PureDp, AddRemove> for Kid {
    fn loss(&self, measure: &PureDp) -> Result<Epsilon, UnknownLoss> {
        match self {
            Self::First(respond) => respond.loss(measure),
            Self::Rest(filter) => filter.loss(measure),
        }
    }
}

/// P of Alg 12, with its errors corrected: the first launch starts the first mechanism and, right
/// after, F_{K-1} with what is left; queries to later children and later launches go there.
#[derive(Clone, Hash)]
pub(crate) struct Split2 {
    budget: Epsilon,
    count: u64,
    /// The loss of the first mechanism, once it has been tried.
    first: Option<Epsilon>,
    /// Waiting for F_{K-1} to be started.
    starting: bool,
}

impl Split2 {
    pub(crate) fn new(budget: Epsilon, count: u64) -> Self {
        Self {
            budget,
            count,
            first: None,
            starting: false,
        }
    }

    /// What F_{K-1} says, as F_K would say it.
    fn restate(&self, told: Told) -> Told {
        let first = self.first.unwrap_or_default();
        let more = |epsilon: Epsilon| epsilon.checked_add(first).unwrap();
        match told {
            Reply::Launched(number) => Reply::Launched(number + 1),
            Reply::NotLaunched(LaunchError::Refused(refusal)) => {
                Reply::NotLaunched(LaunchError::Refused(Refusal {
                    spent: more(refusal.spent),
                    limit: more(refusal.limit),
                    ..refusal
                }))
            }
            Reply::NotLaunched(LaunchError::CountLimit { limit }) => {
                Reply::NotLaunched(LaunchError::CountLimit { limit: limit + 1 })
            }
            Reply::Unknown(number) => Reply::Unknown(number + 1),
            other => other,
        }
    }
}

impl Middle<Message<Kid, KidQuery>, Reply<KidAnswer, Epsilon>> for Split2 {
    type OuterQuery = Ask;
    type OuterAnswer = Told;

    fn on_query(
        &mut self,
        query: Ask,
        _: &mut Coins<'_>,
    ) -> Result<Move<Message<Kid, KidQuery>, Told>, Fault> {
        Ok(Move::Ask(match query {
            Message::Launch(respond) if self.first.is_none() => {
                self.first = respond.loss(&PureDp).ok();
                Message::Launch(Kid::First(respond))
            }
            launch @ Message::Launch(_) => Message::Ask(1, KidQuery::Rest(launch)),
            Message::Ask(0, ()) => Message::Ask(0, KidQuery::First(())),
            Message::Ask(number, ()) => {
                Message::Ask(1, KidQuery::Rest(Message::Ask(number - 1, ())))
            }
            Message::PrivacyLoss => Message::PrivacyLoss,
            Message::Close(_) | Message::Remaining => {
                return Err(Fault::InvalidQuery("not offered"));
            }
        }))
    }

    fn on_answer(
        &mut self,
        answer: Reply<KidAnswer, Epsilon>,
        _: &mut Coins<'_>,
    ) -> Result<Move<Message<Kid, KidQuery>, Told>, Fault> {
        Ok(match answer {
            Reply::Launched(0) => {
                self.starting = true;
                let left = self.budget.saturating_sub(self.first.unwrap_or_default());
                let rest = Filter::concurrent(PureDp, left).at_most(self.count - 1);
                Move::Ask(Message::Launch(Kid::Rest(Addressed::new(rest))))
            }
            Reply::Launched(_) if self.starting => {
                self.starting = false;
                Move::Answer(Reply::Launched(0))
            }
            Reply::Launched(_) => return Err(Fault::Failed),
            Reply::NotLaunched(error) => {
                self.first = None;
                Move::Answer(Reply::NotLaunched(error))
            }
            Reply::Answered(KidAnswer::First(answer)) => Move::Answer(Reply::Answered(answer)),
            Reply::Answered(KidAnswer::Rest(told)) => Move::Answer(self.restate(told)),
            Reply::NotAnswered(AskError::Fault(Fault::InvalidQuery(reason))) => {
                return Err(Fault::InvalidQuery(reason));
            }
            Reply::NotAnswered(error) => Move::Answer(Reply::NotAnswered(error)),
            Reply::PrivacyLoss(spent) => Move::Answer(Reply::PrivacyLoss(spent)),
            Reply::Unknown(number) => Move::Answer(Reply::Unknown(number)),
            Reply::Closed(_) | Reply::Remaining(_) | Reply::NotRead(_) => {
                return Err(Fault::Failed);
            }
        })
    }
}

#[test]
fn alg_12_larger_filters_are_postprocessings_of_filters_of_two() {
    let budget = ln_times(3, 4);
    for count in [3, 4] {
        let direct =
            Addressed::<_, Respond>::new(Filter::concurrent(PureDp, budget).at_most(count));
        let of_two = Addressed::<_, Kid>::new(Filter::concurrent(PureDp, budget).at_most(2))
            .through(Split2::new(budget, count));
        // What F₂ has spent is its own: readings are not part of the statement.
        let menu = || Children::new(vec![once(3), once(9), once(300)], vec![()]).without_reading();
        for bit in [false, true] {
            let data = Arc::new(bit);
            assert_same_states!(&direct, &of_two, &data, menu(), 6);
        }
        // A filter of one more is noticed, once that many can be launched.
        let more = Addressed::<_, Kid>::new(Filter::concurrent(PureDp, budget).at_most(2))
            .through(Split2::new(budget, count + 1));
        assert_other_states!(&direct, &more, &Arc::new(true), menu(), 6);
    }
}
