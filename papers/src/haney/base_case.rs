//! The base case of Haney et al. Lemma 4.7, as an equality of views for every adversary: a filter
//! for two mechanisms whose first launch is M₁ is a postprocessing of ConComp(M₁, U), where the
//! universal mechanism U has what M₁ leaves of the budget.

use std::sync::Arc;

use super::halting::Flagged;
use super::universal::{Universal, UniversalAnswer, UniversalMachine, UniversalQuery};
use crate::support::*;
use queryables::compose::{
    Addressed, ConcurrentComposition, Filter, LaunchError, Message, Refusal, Reply,
};
use queryables::machine::{Coins, Fault, Machine, Mechanism};
use queryables::middle::{Middle, Move, ThroughExt};
use queryables::number::Epsilon;
use queryables::privacy::{AddRemove, Private, PureDp, UnknownLoss};
use queryables::queryable::AskError;
use queryables::verify::{ByRound, Pair, Rational, Verifier, copies_of};

type Place = Universal<PureDp, AddRemove, Respond>;

/// One of the two that are composed.
#[derive(Clone, Debug)]
enum Part {
    First(Respond),
    Universal(Place),
}

enum PartMachine {
    First(Responding),
    Universal(UniversalMachine<bool, PureDp, AddRemove, Respond>),
}

type PartQuery = UniversalQuery<Respond, ()>;
type PartAnswer = UniversalAnswer<bool>;

impl Mechanism<bool> for Part {
    type Machine = PartMachine;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<PartMachine, Fault> {
        Ok(match self {
            Self::First(respond) => PartMachine::First(respond.start(data, coins)?),
            Self::Universal(place) => PartMachine::Universal(place.start(data, coins)?),
        })
    }
}

impl Machine for PartMachine {
    type Query = PartQuery;
    type Answer = PartAnswer;
    fn step(&mut self, query: PartQuery, coins: &mut Coins<'_>) -> Result<PartAnswer, Fault> {
        match (self, query) {
            (Self::First(first), UniversalQuery::Ask(())) => {
                first.step((), coins).map(UniversalAnswer::Answered)
            }
            (Self::First(_), UniversalQuery::Become(_)) => {
                Err(Fault::InvalidQuery("it is a mechanism already"))
            }
            (Self::Universal(place), query) => place.step(query, coins),
        }
    }
}

impl Private<PureDp, AddRemove> for Part {
    fn loss(&self, measure: &PureDp) -> Result<Epsilon, UnknownLoss> {
        match self {
            Self::First(respond) => respond.loss(measure),
            Self::Universal(place) => place.loss(measure),
        }
    }
}

/// ConComp(M₁, U), where U has what M₁ leaves of the budget.
fn composed(first: Respond, budget: Epsilon) -> ConcurrentComposition<Part> {
    let left = budget.saturating_sub(first.loss(&PureDp).unwrap());
    ConcurrentComposition::new([
        Part::First(first),
        Part::Universal(Universal::new(PureDp, AddRemove, left)),
    ])
}

/// P: answers the first launch itself, turns the second one into U's first query, and words what U
/// refuses as the filter does.
#[derive(Clone)]
struct AsFilter {
    first: Respond,
    budget: Epsilon,
    launched: usize,
    /// The loss that U was asked to become.
    asked: Option<Epsilon>,
}

impl AsFilter {
    fn new(first: Respond, budget: Epsilon) -> Self {
        Self {
            first,
            budget,
            launched: 0,
            asked: None,
        }
    }
}

impl Middle<(usize, PartQuery), Result<PartAnswer, AskError>> for AsFilter {
    type OuterQuery = Ask;
    type OuterAnswer = Told;

    fn on_query(
        &mut self,
        query: Ask,
        _: &mut Coins<'_>,
    ) -> Result<Move<(usize, PartQuery), Told>, Fault> {
        Ok(match query {
            Message::Launch(respond) => match self.launched {
                0 if respond == self.first => {
                    self.launched = 1;
                    Move::Answer(Reply::Launched(0))
                }
                // Against a deterministic adversary the first launch is known.
                0 => return Err(Fault::Failed),
                1 => {
                    self.asked = respond.loss(&PureDp).ok();
                    Move::Ask((1, UniversalQuery::Become(respond)))
                }
                _ => Move::Answer(Reply::NotLaunched(LaunchError::CountLimit { limit: 2 })),
            },
            Message::Ask(number, ()) if number < self.launched => {
                Move::Ask((number, UniversalQuery::Ask(())))
            }
            Message::Ask(number, ()) => Move::Answer(Reply::Unknown(number)),
            Message::Close(_) | Message::PrivacyLoss | Message::Remaining => {
                return Err(Fault::InvalidQuery("not offered"));
            }
        })
    }

    fn on_answer(
        &mut self,
        answer: Result<PartAnswer, AskError>,
        _: &mut Coins<'_>,
    ) -> Result<Move<(usize, PartQuery), Told>, Fault> {
        Ok(Move::Answer(match (answer, self.asked.take()) {
            (Ok(UniversalAnswer::Became), _) => {
                self.launched = 2;
                Reply::Launched(1)
            }
            (Ok(UniversalAnswer::Answered(answer)), _) => Reply::Answered(answer),
            (Err(AskError::Fault(Fault::InvalidQuery(_))), Some(requested)) => {
                let spent = self.first.loss(&PureDp).map_err(|_| Fault::Failed)?;
                Reply::NotLaunched(LaunchError::Refused(Refusal {
                    spent,
                    set_aside: None,
                    requested,
                    remaining: self.budget.saturating_sub(spent),
                    limit: self.budget,
                }))
            }
            (Err(error), _) => Reply::NotAnswered(error),
        }))
    }
}

/// The first launch is M₁, and then everything.
fn menu(first: Respond) -> ByRound<Ask> {
    let mut all: Vec<Ask> = [once(3), once(9), once(300)].map(Message::Launch).into();
    all.extend([Message::Ask(0, ()), Message::Ask(1, ())]);
    let mut rounds = vec![all; 4];
    rounds.insert(0, vec![Message::Launch(first)]);
    ByRound(rounds)
}

#[test]
fn lemma_4_7_a_filter_of_two_is_a_concurrent_composition_with_a_universal_mechanism() {
    let budget = ln_times(3, 3);
    let filter = Addressed::<_, Respond>::new(Filter::concurrent(PureDp, budget).at_most(2));
    // One of them has a state: it answers twice.
    let twice = Respond {
        odds: 3,
        answers: 2,
    };
    for first in [once(3), twice] {
        let reduced = composed(first, budget).through(AsFilter::new(first, budget));
        for bit in [false, true] {
            let data = Arc::new(bit);
            assert_same_views!(&filter, &reduced, &data, menu(first), 5);
        }
        // Where the filter halts, P needs a flag, and without it is told apart.
        let halting = Filter::concurrent(PureDp, budget).at_most(2).halting();
        let halting = Addressed::<_, Respond>::new(halting);
        let flagged = Flagged::new(AsFilter::new(first, budget));
        let flagged = composed(first, budget).through(flagged);
        let data = Arc::new(true);
        assert_same_views!(&halting, &flagged, &data, menu(first), 5);
        let copies = (copies_of(&halting), copies_of(&reduced));
        let difference = Verifier::comparing(copies.0, copies.1, &data, menu(first), 5);
        assert_eq!(exact(&difference.difference().unwrap()), Rational::ONE);
        // A universal mechanism with room for one response less is noticed.
        let less = budget.saturating_sub(ln(3));
        let reduced = composed(first, less).through(AsFilter::new(first, budget));
        let difference = Verifier::comparing(
            copies_of(&filter),
            copies_of(&reduced),
            &Arc::new(true),
            menu(first),
            5,
        );
        assert_eq!(exact(&difference.difference().unwrap()), Rational::ONE);
    }
}

/// And what it is reduced to costs the budget, and this is tight.
#[test]
fn a_concurrent_composition_with_a_universal_mechanism_costs_the_budget() {
    let budget = ln_times(3, 3);
    let pair = Pair::new(false, true);
    for first in [once(3), once(9)] {
        let both = composed(first, budget);
        assert_eq!(both.loss(&PureDp), Ok(budget));
        let menu = vec![
            (0, UniversalQuery::Ask(())),
            (1, UniversalQuery::Become(once(3))),
            (1, UniversalQuery::Become(once(9))),
            (1, UniversalQuery::Become(once(27))),
            (1, UniversalQuery::Ask(())),
        ];
        let verifier = Verifier::new(copies_of(&both), &pair, menu, 4);
        assert_eq!(exact(&verifier.worst_ratio().unwrap()), ratio(27, 1));
    }
}
