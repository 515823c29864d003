//! The reductions in the proofs of Haney et al., as equalities of views for every adversary:
//! Alg 11, 12, 13, and Lemma 2.19 through Alg 14, 15.

use std::convert::Infallible;
use std::sync::Arc;

use crate::support::*;
use queryables::account::{Accumulator, Capped, Sum};
use queryables::compose::{
    Addressed, AddressedMachine, Filter, FilterMachine, LaunchError, Message, NonInteractive,
    Odometer, OdometerMachine, Refusal, Reply,
};
use queryables::machine::{Coins, Fault, Inspect, Machine, Mechanism, Metered, Released, StateKey};
use queryables::middle::{Middle, Move, ThroughExt};
use queryables::number::{Epsilon, Rho};
use queryables::privacy::{AddRemove, Private, PureDp, Rdp, Restated, UnknownLoss, ZCdp};
use queryables::queryable::AskError;
use queryables::verify::{ByRound, Children, Pair, Rational, Verifier, Worst, copies_of};

// ---- Alg 11: FiltCon(IM) is a postprocessing of Filt(NIM) ------------------------------------

/// An interactive mechanism given as (N, P): a randomized response N, then P repeats its answer,
/// truly three times in four, by coins that have nothing to do with the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Repeat(Released1);

#[derive(Debug, Hash)]
struct Repeating(bool);

impl Mechanism<bool> for Repeat {
    type Machine = Repeating;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Repeating, Fault> {
        let Released(answer) = self.0.start(data, coins)?;
        Ok(Repeating(answer))
    }
}

impl Machine for Repeating {
    type Query = ();
    type Answer = bool;
    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<bool, Fault> {
        Ok(self.0 ^ (coins.weighted(&[3, 1])? == 1))
    }
}

impl Private<PureDp, AddRemove> for Repeat {
    fn loss(&self, measure: &PureDp) -> Result<Epsilon, UnknownLoss> {
        self.0.loss(measure)
    }
}

/// P of Alg 11: starts N where M is launched, and plays P_j from then on.
#[derive(Clone, Default)]
struct PlayChildren {
    children: Vec<bool>,
}

impl Middle<Message<Released1, Infallible>, Told> for PlayChildren {
    type OuterQuery = Message<Repeat, ()>;
    type OuterAnswer = Told;

    fn on_query(
        &mut self,
        query: Message<Repeat, ()>,
        coins: &mut Coins<'_>,
    ) -> Result<Move<Message<Released1, Infallible>, Told>, Fault> {
        match query {
            // Direction Q: a launch goes on to Filt(NIM).
            Message::Launch(Repeat(noninteractive)) => {
                Ok(Move::Ask(Message::Launch(noninteractive)))
            }
            Message::Ask(number, ()) => match self.children.get(number) {
                Some(answer) => {
                    let repeated = Repeating(*answer).step((), coins)?;
                    Ok(Move::Answer(Reply::Answered(repeated)))
                }
                None => Ok(Move::Answer(Reply::Unknown(number))),
            },
            Message::Close(_) | Message::PrivacyLoss | Message::Remaining => {
                Err(Fault::InvalidQuery("not offered"))
            }
        }
    }

    fn on_answer(
        &mut self,
        answer: Told,
        _: &mut Coins<'_>,
    ) -> Result<Move<Message<Released1, Infallible>, Told>, Fault> {
        Ok(Move::Answer(match answer {
            Reply::Answered(answer) => {
                self.children.push(answer);
                Reply::Launched(self.children.len() - 1)
            }
            other => other,
        }))
    }
}

/// Filt(NIM), Alg 2: every launch is answered at once.
fn noninteractive(
    budget: Epsilon,
) -> Addressed<Filter<PureRule, AddRemove, NonInteractive>, Released1> {
    Addressed::new(Filter::noninteractive(PureDp, budget))
}

#[test]
fn alg_11_concurrent_filters_are_postprocessings_of_noninteractive_ones() {
    let budget = ln_times(3, 2);
    let reduced = noninteractive(budget).through(PlayChildren::default());
    let menu = || {
        Children::new(vec![Repeat(Released1(3)), Repeat(Released1(9))], vec![()]).without_reading()
    };
    for bit in [false, true] {
        let data = Arc::new(bit);
        assert_same_views!(&pure_filter::<Repeat>(budget), &reduced, &data, menu(), 4);
    }
    // Another budget is noticed.
    let other = noninteractive(ln(3)).through(PlayChildren::default());
    let difference = Verifier::comparing(
        copies_of(&pure_filter(budget)),
        copies_of(&other),
        &Arc::new(true),
        menu(),
        4,
    )
    .difference();
    assert_eq!(exact(&difference.unwrap()), Rational::ONE);
}

// ---- Alg 12: F_K is a postprocessing of F_2 ---------------------------------------------------

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
            Reply::Closed(_) | Reply::Remaining(_) => return Err(Fault::Failed),
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
            let difference = Verifier::comparing_by_state(
                copies_of(&direct),
                copies_of(&of_two),
                &data,
                menu(),
                6,
            )
            .difference();
            let difference = difference.unwrap();
            assert_eq!(
                difference.value.exact(),
                Some(&Rational::ZERO),
                "{difference}"
            );
        }
        // A filter of one more is noticed, once that many can be launched.
        let more = Addressed::<_, Kid>::new(Filter::concurrent(PureDp, budget).at_most(2))
            .through(Split2::new(budget, count + 1));
        let difference = Verifier::comparing_by_state(
            copies_of(&direct),
            copies_of(&more),
            &Arc::new(true),
            menu(),
            6,
        )
        .difference();
        assert_eq!(exact(&difference.unwrap()), Rational::ONE);
    }
}

/// Everything that makes a child what it is belongs to its state, limits included: children that
/// differ in nothing else must not be taken for each other.
#[test]
fn nested_filters_with_different_budgets_are_different_states() {
    let pair = Pair::new(false, true);
    let outer = Addressed::<_, Kid>::new(Filter::concurrent(PureDp, ln_times(3, 3)));
    let rest = |budget| {
        let filter = Filter::concurrent(PureDp, budget);
        Message::Launch(Kid::Rest(Addressed::new(filter)))
    };
    // Both orders spend the same, and only one of them has the larger one second.
    let launches = vec![rest(ln_times(3, 2)), rest(ln(3))];
    let menu = ByRound(vec![
        launches.clone(),
        launches,
        vec![Message::Ask(1, KidQuery::Rest(Message::Launch(once(9))))],
        vec![Message::Ask(1, KidQuery::Rest(Message::Ask(0, ())))],
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

// ---- Alg 13: a zCDP filter is a postprocessing of a Rényi filter ------------------------------

/// P of Alg 13, at order 2: launches are restated, all else is passed on. Twice ρ is the Rényi
/// loss, so that refusals can be stated in ρ again.
#[derive(Clone, Hash)]
pub(crate) struct Restating;

fn half(epsilon: Epsilon) -> Rho {
    assert_eq!(epsilon.units() % 2, 0);
    Rho::from_units(epsilon.units() / 2).unwrap()
}

impl Middle<Message<Restated<ZCdp, Respond>, ()>, Told> for Restating {
    type OuterQuery = Ask;
    type OuterAnswer = Reply<bool, Rho>;

    fn on_query(
        &mut self,
        query: Ask,
        _: &mut Coins<'_>,
    ) -> Result<Move<Message<Restated<ZCdp, Respond>, ()>, Reply<bool, Rho>>, Fault> {
        Ok(Move::Ask(match query {
            Message::Launch(respond) => Message::Launch(Restated::new(ZCdp, respond)),
            Message::Ask(number, ()) => Message::Ask(number, ()),
            Message::Close(number) => Message::Close(number),
            Message::PrivacyLoss => Message::PrivacyLoss,
            Message::Remaining => Message::Remaining,
        }))
    }

    fn on_answer(
        &mut self,
        answer: Told,
        _: &mut Coins<'_>,
    ) -> Result<Move<Message<Restated<ZCdp, Respond>, ()>, Reply<bool, Rho>>, Fault> {
        Ok(Move::Answer(match answer {
            Reply::Launched(number) => Reply::Launched(number),
            Reply::NotLaunched(LaunchError::Refused(refusal)) => {
                Reply::NotLaunched(LaunchError::Refused(Refusal {
                    spent: half(refusal.spent),
                    requested: half(refusal.requested),
                    remaining: half(refusal.remaining),
                    limit: half(refusal.limit),
                }))
            }
            Reply::NotLaunched(LaunchError::Stopped(stop)) => {
                Reply::NotLaunched(LaunchError::Stopped(stop))
            }
            Reply::NotLaunched(_) => return Err(Fault::Failed),
            Reply::Answered(answer) => Reply::Answered(answer),
            Reply::NotAnswered(error) => Reply::NotAnswered(error),
            Reply::Closed(number) => Reply::Closed(number),
            Reply::Unknown(number) => Reply::Unknown(number),
            Reply::PrivacyLoss(spent) => Reply::PrivacyLoss(half(spent)),
            Reply::Remaining(left) => Reply::Remaining(left.map(half)),
        }))
    }
}

/// How far a zCDP filter that has room for three responses is from P of Alg 13 before a Rényi
/// filter whose budget is this function of ρ, in units.
fn alg_13(budget: impl Fn(u128) -> u128) -> [Worst<Ask, Reply<bool, Rho>>; 2] {
    let rho: Rho = once(3).loss(&ZCdp).unwrap().checked_mul(3).unwrap();
    let epsilon = Epsilon::from_units(budget(rho.units())).unwrap();
    let direct = Addressed::<_, Respond>::new(Filter::concurrent(ZCdp, rho));
    let rdp = Rdp::new("2".parse().unwrap());
    let reduced = Addressed::<_, Restated<ZCdp, Respond>>::new(Filter::concurrent(rdp, epsilon))
        .through(Restating);
    let menu = || Children::new(vec![once(3), once(9)], vec![()]);
    [false, true].map(|bit| {
        let data = Arc::new(bit);
        let verifier =
            Verifier::comparing_by_state(copies_of(&direct), copies_of(&reduced), &data, menu(), 5);
        verifier.difference().unwrap()
    })
}

#[test]
fn alg_13_zcdp_filters_are_postprocessings_of_renyi_filters() {
    for difference in alg_13(|rho| 2 * rho) {
        assert_eq!(
            difference.value.exact(),
            Some(&Rational::ZERO),
            "{difference}"
        );
    }
}

#[test]
fn alg_13_needs_its_very_factor() {
    // Twice as much admits what should be refused; two units less refuse the third response.
    let wrong: [fn(u128) -> u128; 2] = [|rho| 4 * rho, |rho| 2 * rho - 2];
    for budget in wrong {
        for difference in alg_13(budget) {
            assert_eq!(
                difference.value.exact(),
                Some(&Rational::ONE),
                "{difference}"
            );
        }
    }
}

// ---- Lemma 2.19: filters and odometers, both ways (Alg 14, 15) --------------------------------

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
        let verifiers = [
            // Alg 14.
            Verifier::comparing_by_state(
                copies_of(&counting),
                copies_of(&checked),
                &data,
                menu(),
                5,
            ),
            // F(·; d) = [G(·) ≼ d].
            Verifier::comparing_by_state(copies_of(&capped), copies_of(&checked), &data, menu(), 5),
        ];
        for verifier in &verifiers {
            let difference = verifier.difference().unwrap();
            assert_eq!(
                difference.value.exact(),
                Some(&Rational::ZERO),
                "{difference}"
            );
        }
        // Alg 15.
        let (silent, without) = (
            checked.clone().through(NoReading),
            filter.clone().through(NoReading),
        );
        let verifier =
            Verifier::comparing_by_state(copies_of(&silent), copies_of(&without), &data, menu(), 5);
        let difference = verifier.difference().unwrap();
        assert_eq!(
            difference.value.exact(),
            Some(&Rational::ZERO),
            "{difference}"
        );
        // Readings are told from no readings.
        let verifier = Verifier::comparing_by_state(
            copies_of(&checked),
            copies_of(&without),
            &data,
            menu(),
            5,
        );
        assert_eq!(exact(&verifier.difference().unwrap()), Rational::ONE);
    }
}
