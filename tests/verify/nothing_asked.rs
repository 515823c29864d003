//! Conversations in which no answer says anything about data are errors, whoever gives the answers.

use std::sync::Arc;

use queryables::account::{Accumulator, DefaultAccumulator};
use queryables::compose::{Addressed, BoxedMechanism, Filter, Message, Odometer, Reply};
use queryables::data::Predicate;
use queryables::machine::{AnswerKind, BoxedMachine, Coins, Fault, Machine, Mechanism, Released};
use queryables::mechanisms::{Priced, QueryAnswerer};
use queryables::middle::{Cache, LimitQueries, MapAnswer, Middle, Move, ThroughExt};
use queryables::number::Epsilon;
use queryables::privacy::{AddRemove, Private, PureDp, UnknownLoss};
use queryables::verify::{Pair, Truncated, Verifier, VerifyError, copies_of};

fn pair() -> Pair<bool> {
    Pair::new(false, true)
}

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// Tells the bit, and claims a loss of 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Leak;

impl Mechanism<bool> for Leak {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        Ok(Released(**data))
    }
}

impl Private<PureDp, AddRemove> for Leak {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        "1".parse().map_err(|_| UnknownLoss("no number"))
    }
}

fn leaks() -> Vec<Message<Leak, ()>> {
    vec![Message::Launch(Leak), Message::Ask(0, ())]
}

fn filter(
    budget: &str,
) -> Addressed<Filter<queryables::account::Capped<queryables::account::Sum<PureDp>>>, Leak> {
    Addressed::new(Filter::concurrent(PureDp, epsilon(budget)))
}

/// Whether a claim of no loss holds for this mechanism on the bit.
macro_rules! check {
    ($mechanism:expr, $menu:expr) => {
        Verifier::new(copies_of(&$mechanism), &pair(), $menu, 2)
            .check(&PureDp, &Epsilon::ZERO)
            .map(|verdict| verdict.holds())
    };
}

#[test]
fn a_filter_that_admits_nothing_is_an_error_behind_every_middle() {
    type Told = Reply<bool, Epsilon>;
    let same = || MapAnswer::new(|reply: Told| reply);
    let print = || MapAnswer::new(|reply: Told| format!("{reply:?}"));
    let nothing = Err(VerifyError::NothingLaunched);
    assert_eq!(check!(filter("0.5").through(same()), leaks()), nothing);
    assert_eq!(check!(filter("0.5").through(print()), leaks()), nothing);
    let limited = filter("0.5").through(same()).through(LimitQueries::new(9));
    assert_eq!(check!(limited, leaks()), nothing);
    // With a budget for it, the leak is found.
    assert_eq!(check!(filter("1").through(same()), leaks()), Ok(false));
    assert_eq!(check!(filter("1").through(print()), leaks()), Ok(false));
    let limited = filter("1").through(print()).through(LimitQueries::new(9));
    assert_eq!(check!(limited, leaks()), Ok(false));
}

#[test]
fn a_filter_that_releases_nothing_is_an_error() {
    let asked = |budget| {
        let filter = Filter::noninteractive(PureDp, epsilon(budget));
        let filter = Addressed::<_, Leak>::new(filter);
        check!(filter, vec![Message::Launch(Leak), Message::Remaining])
    };
    assert_eq!(asked("0.5"), Err(VerifyError::NothingLaunched));
    assert_eq!(asked("1"), Ok(false));
}

/// Launches, asks the child, and then asks what is left, for one answer.
#[derive(Clone, Default)]
struct ThenReads(Vec<Message<Leak, ()>>);

impl Middle<Message<Leak, ()>, Reply<bool, Epsilon>> for ThenReads {
    type OuterQuery = bool;
    type OuterAnswer = ();
    fn on_query(
        &mut self,
        ask: bool,
        _: &mut Coins<'_>,
    ) -> Result<Move<Message<Leak, ()>, ()>, Fault> {
        self.0 = vec![Message::Remaining];
        self.0.extend(ask.then_some(Message::Ask(0, ())));
        Ok(Move::Ask(Message::Launch(Leak)))
    }
    fn on_answer(
        &mut self,
        _: Reply<bool, Epsilon>,
        _: &mut Coins<'_>,
    ) -> Result<Move<Message<Leak, ()>, ()>, Fault> {
        Ok(self.0.pop().map_or(Move::Answer(()), Move::Ask))
    }
}

/// It says nothing of what it was told, which is 0-DP.
#[test]
fn of_several_answers_to_a_middle_the_most_informative_counts() {
    let asked = |ask| check!(filter("1").through(ThenReads::default()), vec![ask]);
    assert_eq!(asked(false), Err(VerifyError::NoChildAnswered));
    assert_eq!(asked(true), Ok(true));
    // Another middle around it makes no difference.
    let again = |ask| {
        let inner = filter("1").through(ThenReads::default());
        check!(inner.through(MapAnswer::new(|()| 7)), vec![ask])
    };
    assert_eq!(again(false), Err(VerifyError::NoChildAnswered));
    assert_eq!(again(true), Ok(true));
}

/// Answers everything itself.
#[derive(Clone)]
struct Alone;

impl Middle<(), bool> for Alone {
    type OuterQuery = ();
    type OuterAnswer = bool;
    fn on_query(&mut self, (): (), _: &mut Coins<'_>) -> Result<Move<(), bool>, Fault> {
        Ok(Move::Answer(true))
    }
    fn on_answer(&mut self, answer: bool, _: &mut Coins<'_>) -> Result<Move<(), bool>, Fault> {
        Ok(Move::Answer(answer))
    }
}

#[test]
fn a_middle_that_never_asks_is_an_error() {
    let nothing = Err(VerifyError::NothingLaunched);
    assert_eq!(check!(Leak.through(Alone), vec![()]), nothing);
    // One that repeats what it was told once is not.
    let again = Leak.through(Cache::new());
    assert_eq!(check!(again, vec![()]), Ok(false));
}

#[test]
fn a_filter_that_admits_nothing_is_an_error_as_a_child() {
    type Inner = BoxedMechanism<bool, PureDp, AddRemove, Message<Leak, ()>, Reply<bool, Epsilon>>;
    let outer = Addressed::<_, Inner>::new(Filter::concurrent(PureDp, epsilon("2")));
    let menu = |budget| {
        let inner = Inner::new(PureDp, filter(budget));
        let asks = leaks().into_iter().map(|ask| Message::Ask(0, ask));
        let launch = Message::Launch(inner);
        [launch].into_iter().chain(asks).collect::<Vec<_>>()
    };
    let asked = |budget| {
        Verifier::new(copies_of(&outer), &pair(), menu(budget), 3)
            .check(&PureDp, &Epsilon::ZERO)
            .map(|verdict| verdict.holds())
    };
    assert_eq!(asked("0.5"), Err(VerifyError::NoChildAnswered));
    assert_eq!(asked("1"), Ok(false));
}

#[test]
fn an_odometer_that_every_launch_crosses_is_an_error() {
    let odometer = || Addressed::<_, Leak>::new(Odometer::concurrent(PureDp));
    let crossed = Truncated::new(odometer(), epsilon("0.5"));
    assert_eq!(check!(crossed, leaks()), Err(VerifyError::NothingLaunched));
    let open = Truncated::new(odometer(), epsilon("1"));
    assert_eq!(check!(open, leaks()), Ok(false));
}

#[test]
fn counts_that_are_all_refused_are_an_error() {
    let pair = Pair::new(vec![7_u8], vec![7, 7]);
    let is = Predicate::new("is 7", |row: &u8| *row == 7);
    let asked = |budget| {
        let answerer = QueryAnswerer::new(PureDp.accumulator().capped(epsilon(budget)));
        let menu = vec![Priced::new(is.clone(), epsilon("1"))];
        Verifier::new(copies_of(&answerer), &pair, menu, 1)
            .check(&PureDp, &Epsilon::ZERO)
            .map(|verdict| verdict.holds())
    };
    assert_eq!(asked("0.1"), Err(VerifyError::NothingLaunched));
    assert_eq!(asked("1"), Ok(false));
}

/// Says the same to everything, and knows that this is no answer.
#[derive(Clone)]
struct Refusing;

impl Machine for Refusing {
    type Query = ();
    type Answer = u8;
    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<u8, Fault> {
        coins.answered(AnswerKind::Refused);
        Ok(0)
    }
}

/// Starts it behind a pointer.
#[derive(Clone)]
struct Boxing;

impl Mechanism<bool> for Boxing {
    type Machine = BoxedMachine<(), u8>;
    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(Box::new(Refusing))
    }
}

#[test]
fn a_machine_whose_type_is_erased_states_the_kind_of_its_answers() {
    let refused = check!(Boxing, vec![()]);
    assert_eq!(refused, Err(VerifyError::NothingAnswered));
}

/// Tells the number of rows.
#[derive(Clone)]
struct Length;

impl Mechanism<Vec<f64>> for Length {
    type Machine = Released<usize>;
    fn start(&self, data: &Arc<Vec<f64>>, _: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        Ok(Released(data.len()))
    }
}

#[test]
fn the_same_dataset_twice_is_an_error_where_it_does_not_equal_itself() {
    let asked = |one: &[f64], other: &[f64]| {
        let pair = Pair::new(one.to_vec(), other.to_vec());
        let worst = Verifier::new(copies_of(&Length), &pair, vec![()], 1).worst_ratio();
        worst.map(|worst| worst.value.high().is_none())
    };
    let nan = f64::NAN;
    assert_eq!(asked(&[nan], &[nan]), Err(VerifyError::SameDataset));
    assert_eq!(asked(&[nan], &[nan, nan]), Ok(true));
}
