//! Small mechanisms with exact odds, shared by the tests of `verify`.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use queryables::compose::{Addressed, Filter, Message, Reply};
use queryables::machine::{Coins, Fault, Machine, Mechanism, Released};
use queryables::mechanisms::RealRange;
use queryables::number::{Epsilon, Order, Rho};
use queryables::privacy::{
    AddRemove, ApproxDp, EpsilonDelta, Private, PureDp, Rdp, UnknownLoss, ZCdp,
};
use queryables::verify::{Rational, epsilon_of_ratio};

/// A fraction.
pub(crate) fn ratio(numerator: i64, denominator: u64) -> Rational {
    Rational::new(numerator.into(), denominator.into()).unwrap()
}

/// The smallest ε with `e^ε >= numerator`.
pub(crate) fn ln(number: u64) -> Epsilon {
    // Mechanisms state their loss at every replay.
    static KNOWN: Mutex<BTreeMap<u64, Epsilon>> = Mutex::new(BTreeMap::new());
    *KNOWN
        .lock()
        .unwrap()
        .entry(number)
        .or_insert_with(|| epsilon_of_ratio(&Rational::from(number)).unwrap())
}

/// `times` such ε together.
pub(crate) fn ln_times(number: u64, times: u64) -> Epsilon {
    ln(number).checked_mul(times).unwrap()
}

/// Tells the bit, `odds` times truly for each lie; a new coin for each question, and a limited
/// number of answers. Its loss is `answers · ln odds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Respond {
    pub(crate) odds: u64,
    pub(crate) answers: u64,
}

/// With these odds, once.
pub(crate) fn once(odds: u64) -> Respond {
    Respond { odds, answers: 1 }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Responding {
    bit: bool,
    odds: u64,
    left: u64,
}

impl Mechanism<bool> for Respond {
    type Machine = Responding;

    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Responding, Fault> {
        Ok(Responding {
            bit: **data,
            odds: self.odds,
            left: self.answers,
        })
    }
}

impl Machine for Responding {
    type Query = ();
    type Answer = bool;

    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<bool, Fault> {
        if self.left == 0 {
            return Err(Fault::Exhausted);
        }
        self.left -= 1;
        Ok(self.bit ^ (coins.weighted(&[self.odds, 1])? == 1))
    }
}

impl Private<PureDp, AddRemove> for Respond {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(ln_times(self.odds, self.answers))
    }
}

/// `e^((α-1) D_α)` of one answer, for a whole order.
pub(crate) fn renyi_of_once(odds: u64, order: u64) -> Rational {
    let (truth, lie) = (ratio(odds as i64, odds + 1), ratio(1, odds + 1));
    let order = order as isize;
    truth.pow(order) / lie.pow(order - 1) + lie.pow(order) / truth.pow(order - 1)
}

/// The exact Rényi loss of one answer, for whole orders, rounded up.
impl Private<Rdp, AddRemove> for Respond {
    fn loss(&self, measure: &Rdp) -> Result<Epsilon, UnknownLoss> {
        let order = whole(measure.order())?;
        let of_one =
            epsilon_of_ratio(&renyi_of_once(self.odds, order)).ok_or(UnknownLoss("too large"))?;
        let units = (of_one.units() * u128::from(self.answers)).div_ceil(u128::from(order - 1));
        Epsilon::from_units(units).map_err(|_| UnknownLoss("too large"))
    }
}

fn whole(order: Order) -> Result<u64, UnknownLoss> {
    let units = order.units();
    if units.is_multiple_of(1_000_000_000) {
        Ok((units / 1_000_000_000) as u64)
    } else {
        Err(UnknownLoss("only whole orders are worked out"))
    }
}

/// What pure privacy implies, per answer.
impl Private<ZCdp, AddRemove> for Respond {
    fn loss(&self, _: &ZCdp) -> Result<Rho, UnknownLoss> {
        use queryables::privacy::Implies;
        let rho: Rho = PureDp.imply(&ln(self.odds), &ZCdp)?;
        rho.checked_mul(self.answers)
            .ok_or(UnknownLoss("too large"))
    }
}

/// (ε, 0).
pub(crate) fn pure(epsilon: Epsilon) -> EpsilonDelta {
    EpsilonDelta {
        epsilon,
        ..EpsilonDelta::default()
    }
}

/// Pure privacy is (ε, 0).
impl Private<ApproxDp, AddRemove> for Respond {
    fn loss(&self, _: &ApproxDp) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(pure(ln_times(self.odds, self.answers)))
    }
}

/// The same, once, as a non-interactive mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Released1(pub(crate) u64);

impl Mechanism<bool> for Released1 {
    type Machine = Released<bool>;

    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        Ok(Released(**data ^ (coins.weighted(&[self.0, 1])? == 1)))
    }
}

impl Private<PureDp, AddRemove> for Released1 {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(ln(self.0))
    }
}

/// A pure-DP filter in message form.
pub(crate) type PureFilter<M> =
    Addressed<Filter<queryables::account::Capped<queryables::account::Sum<PureDp>>>, M>;

pub(crate) fn pure_filter<M>(budget: Epsilon) -> PureFilter<M> {
    Addressed::new(Filter::concurrent(PureDp, budget))
}

pub(crate) type Ask = Message<Respond, ()>;
pub(crate) type Told = Reply<bool, Epsilon>;

/// What the exact value is, or a panic.
#[track_caller]
pub(crate) fn exact<Q, A>(worst: &queryables::verify::Worst<Q, A>) -> Rational {
    worst.value.exact().expect("exact").clone()
}

/// Asserts that no adversary tells two mechanisms apart.
#[macro_export]
macro_rules! assert_same_views {
    ($one:expr, $other:expr, $data:expr, $menu:expr, $depth:expr) => {
        let difference = Verifier::comparing(
            queryables::verify::copies_of($one),
            queryables::verify::copies_of($other),
            $data,
            $menu,
            $depth,
        )
        .difference()
        .unwrap();
        assert_eq!(
            difference.value.exact(),
            Some(&Rational::ZERO),
            "{difference}"
        );
    };
}

/// How far two mechanisms can be told apart, where equal states are explored once.
#[macro_export]
macro_rules! difference_by_state {
    ($one:expr, $other:expr, $data:expr, $menu:expr, $depth:expr) => {
        queryables::verify::Verifier::comparing_by_state(
            queryables::verify::copies_of($one),
            queryables::verify::copies_of($other),
            $data,
            $menu,
            $depth,
        )
        .difference()
        .unwrap()
    };
}

/// Asserts that no adversary tells two mechanisms apart, where equal states are explored once.
#[macro_export]
macro_rules! assert_same_states {
    ($one:expr, $other:expr, $data:expr, $menu:expr, $depth:expr) => {
        let difference = $crate::difference_by_state!($one, $other, $data, $menu, $depth);
        let value = difference.value.exact();
        assert_eq!(
            value,
            Some(&queryables::verify::Rational::ZERO),
            "{difference}"
        );
    };
}

/// Asserts that some adversary tells two mechanisms apart with certainty.
#[macro_export]
macro_rules! assert_other_states {
    ($one:expr, $other:expr, $data:expr, $menu:expr, $depth:expr) => {
        let difference = $crate::difference_by_state!($one, $other, $data, $menu, $depth);
        assert_eq!(
            $crate::support::exact(&difference),
            queryables::verify::Rational::ONE
        );
    };
}

/// The whole numbers up to this one.
pub(crate) fn range(last: i64) -> RealRange {
    RealRange::of_whole_numbers(0..=last)
}
