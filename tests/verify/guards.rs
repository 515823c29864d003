//! Single lines of the verifier that matter, and that the large tests would not miss: each test
//! here fails when one of them is wrong.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::support::*;
use queryables::machine::{
    CoinSource, Coins, CoinsError, Fault, Inspect, Law, Machine, Mechanism, Released, StateKey,
};
use queryables::noise::Logistic;
use queryables::number::Epsilon;
use queryables::number::Ratio;
use queryables::privacy::{ApproxDp, EpsilonDelta, Private, PureDp, Rdp, RdpGrid};
use queryables::verify::{
    Completeness, Distribution, Divergences, Goal, Interval, Pair, Rational, Value, Verifier,
    by_transcript, copies_of, renyi_divergence,
};

/// One unit less than this.
fn one_less(epsilon: Epsilon) -> Epsilon {
    Epsilon::from_units(epsilon.units() - 1).unwrap()
}

#[test]
fn a_renyi_claim_holds_to_the_last_digit_and_is_refuted_one_below() {
    let pair = Pair::new(false, true);
    let respond = once(3);
    let verifier = Verifier::by_state(copies_of(&respond), &pair, vec![()], 1);
    for order in ["2", "4", "7"] {
        let rdp = Rdp::new(order.parse().unwrap());
        let loss = respond.loss(&rdp).unwrap();
        verifier.assert_private(&rdp, &loss);
        let verdict = verifier.check(&rdp, &one_less(loss)).unwrap();
        assert!(verdict.is_refuted(), "order {order}: {verdict}");
    }
    // Odds of one tell nothing, and cost nothing, exactly.
    let nothing = once(1);
    let verifier = Verifier::by_state(copies_of(&nothing), &pair, vec![()], 1);
    let verdict = verifier
        .check(&Rdp::new("2".parse().unwrap()), &Epsilon::ZERO)
        .unwrap();
    assert_eq!(verdict.worst.value.exact(), Some(&Rational::ONE));
    assert!(verdict.holds() && verdict.allowed.is_exact(), "{verdict}");
}

#[test]
fn a_curve_is_checked_at_every_order() {
    let pair = Pair::new(false, true);
    let respond = once(3);
    let verifier = Verifier::by_state(copies_of(&respond), &pair, vec![()], 1);
    let orders = ["2", "4", "7"].map(|order| order.parse().unwrap());
    let grid = RdpGrid::new(orders).unwrap();
    let losses = orders.map(|order| respond.loss(&Rdp::new(order)).unwrap());
    verifier.assert_private(&grid, &grid.curve(losses).unwrap());
    for at in 0..orders.len() {
        let mut claimed = losses;
        claimed[at] = one_less(claimed[at]);
        let curve = grid.curve(claimed).unwrap();
        let verdict = verifier.check(&grid, &curve).unwrap();
        assert!(verdict.is_refuted(), "order {}: {verdict}", orders[at]);
    }
}

/// Tosses until heads.
#[derive(Debug)]
struct Endless;

impl queryables::machine::Law for Endless {
    fn sample(
        &self,
        coins: &mut dyn queryables::machine::CoinSource,
    ) -> Result<i128, queryables::machine::CoinsError> {
        while coins.weighted(&[1, 1])? == 0 {}
        Ok(0)
    }
}

/// Tells the bit at odds of three; on one dataset, a lie takes a sampler without end.
#[derive(Clone)]
struct SlowLie;

impl Mechanism<bool> for SlowLie {
    type Machine = queryables::machine::Released<bool>;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let lies = coins.weighted(&[3, 1])? == 1;
        if lies && !**data {
            coins.draw(&Endless)?;
        }
        Ok(queryables::machine::Released(**data ^ lies))
    }
}

#[test]
fn an_undecided_order_does_not_hide_a_refuted_one() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(copies_of(&SlowLie), &pair, vec![()], 1);
    let grid = RdpGrid::new(["2", "3"].map(|order| order.parse().unwrap())).unwrap();
    let check = |claims: [&str; 2]| {
        let curve = grid.curve(claims.map(|claim| claim.parse().unwrap()));
        verifier.check(&grid, &curve.unwrap()).unwrap()
    };
    // What was cut leaves large claims undecided, and refutes small ones.
    let undecided = check(["5", "5"]);
    assert!(!undecided.is_refuted() && !undecided.holds(), "{undecided}");
    let refuted = check(["5", "0"]);
    assert!(refuted.is_refuted(), "{refuted}");
    let third = matches!(refuted.goal, Goal::Renyi { order, .. } if order.to_string() == "3");
    assert!(third, "{refuted}");
}

/// Tells the bit at odds of three when it is asked 0, and otherwise nothing; it has no state but
/// the bit.
#[derive(Clone, Copy, Debug, Hash)]
struct Stateless(bool);

#[derive(Clone)]
struct StartStateless;

impl Mechanism<bool> for StartStateless {
    type Machine = Stateless;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Stateless, Fault> {
        Ok(Stateless(**data))
    }
}

impl Machine for Stateless {
    type Query = u8;
    type Answer = Option<bool>;
    fn step(&mut self, query: u8, coins: &mut Coins<'_>) -> Result<Option<bool>, Fault> {
        let told = self.0 ^ (coins.weighted(&[3, 1])? == 1);
        Ok((query == 0).then_some(told))
    }
}

#[test]
fn what_the_menu_remembers_tells_points_apart() {
    let pair = Pair::new(false, true);
    // Only one of two first queries opens the way to 0, and neither changes the machine.
    for opens in [1, 2] {
        let menu = by_transcript(
            move |said: &[(u8, Result<Option<bool>, Fault>)]| match said {
                [] => vec![1, 2],
                [(first, _), ..] => vec![if *first == opens { 0 } else { 3 }],
            },
        );
        let worst = Verifier::by_state(copies_of(&StartStateless), &pair, menu, 2)
            .worst_ratio()
            .unwrap();
        assert_eq!(exact(&worst), ratio(3, 1), "{opens} opens: {worst}");
    }
}

/// Tosses a coin with these odds; what it shows is nothing.
#[derive(Clone)]
struct Toss(u64);

struct Tossing(u64);

impl Mechanism<()> for Toss {
    type Machine = Tossing;
    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Tossing, Fault> {
        Ok(Tossing(self.0))
    }
}

impl Machine for Tossing {
    type Query = ();
    type Answer = usize;
    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<usize, Fault> {
        Ok(coins.weighted(&[self.0, 1])?)
    }
}

impl Inspect for Tossing {
    /// The odds are the same for all machines of one mechanism.
    fn inspect(&self, _: &mut StateKey) {}
}

#[test]
fn two_mechanisms_may_show_the_same_and_be_different() {
    let data = Arc::new(());
    let difference =
        Verifier::comparing_by_state(copies_of(&Toss(3)), copies_of(&Toss(1)), &data, vec![()], 2)
            .difference()
            .unwrap();
    // Twice heads has probability 9/16 and 4/16, and no other event is further apart.
    assert_eq!(exact(&difference), ratio(5, 16), "{difference}");
}

/// Tosses until heads.
#[derive(Debug)]
struct UntilHeads;

impl Law for UntilHeads {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        let mut tosses = 1;
        while coins.weighted(&[1, 1])? == 0 {
            tosses += 1;
        }
        Ok(tosses)
    }
}

/// Tosses until heads if the bit is set, and answers with the number of tosses; otherwise with 1.
#[derive(Clone)]
struct OneSided;

impl Mechanism<bool> for OneSided {
    type Machine = Released<i128>;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<i128>, Fault> {
        Ok(Released(if **data { coins.draw(&UntilHeads)? } else { 1 }))
    }
}

#[test]
fn what_is_cut_on_either_side_is_reported() {
    for pair in [Pair::new(false, true), Pair::new(true, false)] {
        let worst = Verifier::new(copies_of(&OneSided), &pair, vec![()], 1)
            .cut(ratio(1, 1000))
            .worst_delta(Rational::ONE)
            .unwrap();
        // 2^-10 is the first below a thousandth.
        let mass = ratio(1, 1024);
        assert_eq!(worst.completeness, Completeness::Truncated { mass });
        let (low, high) = (worst.value.low().unwrap(), worst.value.high().unwrap());
        assert!(*low <= ratio(1, 2) && *high >= ratio(1, 2), "{worst}");
    }
}

#[test]
fn a_pure_claim_is_refuted_in_spite_of_a_cut() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(copies_of(&OneSided), &pair, vec![()], 1).cut(ratio(1, 1000));
    // Two tosses are impossible on one side, so that every pure claim is false: δ(ε) is near 1/2.
    let verdict = verifier.check(&PureDp, &"3".parse().unwrap()).unwrap();
    assert!(verdict.is_refuted(), "{verdict}");
    assert!(verdict.worst.value.is_more_than(&ratio(49, 100).into()));
}

#[test]
fn a_divergence_between_two_numbers_lies_between_two_numbers() {
    let order = "3".parse().unwrap();
    let value = Value::Finite(Interval::between(ratio(4, 1), ratio(9, 1)));
    let divergence = renyi_divergence(&value, order).unwrap();
    // Half of ln 4 and of ln 9: 0.693… and 1.098….
    assert!(*divergence.low() <= ratio(6932, 10_000) && *divergence.low() > ratio(6931, 10_000));
    assert!(
        *divergence.high() >= ratio(10_986, 10_000) && *divergence.high() < ratio(10_987, 10_000)
    );
}

#[test]
fn an_assertion_that_fails_shows_the_worst_adversary() {
    let pair = Pair::new(false, true);
    let respond = once(3);
    let verifier = Verifier::new(copies_of(&respond), &pair, vec![()], 1);
    let claim = "1".parse().unwrap();
    let failed = catch_unwind(AssertUnwindSafe(|| {
        verifier.assert_private(&PureDp, &claim);
    }));
    let message = failed.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(
        *message,
        "claimed loss 1: not private: the ratio of the probabilities of a view, for ε = 1, may be at \
         most 2.718281828…, and is 3 (first dataset against second), attained by:\n\
         ask ()\n  \
           false: stop  (probability 3/4 and 1/4)\n  \
           true: stop  (probability 1/4 and 3/4)\n\
         scope: false against true; 1 query on the menu, up to 1 round, 1 point; each was answered"
    );
}

/// Tells the bit at odds of `e` to 1.
#[derive(Clone)]
struct OddsOfE;

impl Mechanism<bool> for OddsOfE {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        let law = Logistic::new(Ratio::new(1, 1).unwrap());
        Ok(Released(**data ^ (coins.draw(&law)? == 1)))
    }
}

#[test]
fn an_irrational_claim_that_is_attained_holds_up_to_one_unit() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(copies_of(&OddsOfE), &pair, vec![()], 1);
    let claim: Epsilon = "1".parse().unwrap();
    let verdict = verifier.check(&PureDp, &claim).unwrap();
    assert!(verdict.holds() && !verdict.holds_exactly());
    assert!(
        verdict
            .to_string()
            .ends_with("\nup to one unit in the last place of ε: 1e-27"),
        "{verdict}"
    );
    // δ(ε) has no tolerance.
    let claimed = EpsilonDelta::new("1", "0").unwrap();
    let verdict = verifier.check(&ApproxDp, &claimed).unwrap();
    assert!(!verdict.holds() && !verdict.is_refuted());
    assert!(
        verdict.to_string().ends_with(
            "\nundecided because both are irrational and closer than the digits that are \
             computed, or equal: claim one unit more in the last place, or check under ApproxDp \
             with a small δ"
        ),
        "{verdict}"
    );
    // What it says helps.
    let more = Epsilon::from_units(claim.units() + 1).unwrap();
    verifier.assert_private(&PureDp, &more);
    verifier.assert_private(&ApproxDp, &EpsilonDelta::new("1", "1e-30").unwrap());
    assert!(
        verifier
            .check(&PureDp, &one_less(claim))
            .unwrap()
            .is_refuted()
    );
}

/// Adds to the bit half the tosses until heads, up or down: no answer is more than four times as
/// likely on one side as on the other.
#[derive(Clone)]
struct Shifted;

impl Mechanism<bool> for Shifted {
    type Machine = Released<i128>;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<i128>, Fault> {
        let tosses = coins.draw(&UntilHeads)?;
        let sign = if coins.weighted(&[1, 1])? == 0 { 1 } else { -1 };
        Ok(Released(i128::from(**data) + sign * (tosses / 2)))
    }
}

#[test]
fn a_pure_claim_beyond_a_cut_says_what_to_do() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(copies_of(&Shifted), &pair, vec![()], 1).cut(ratio(1, 1000));
    let claim = "3".parse().unwrap();
    let verdict = verifier.check(&PureDp, &claim).unwrap();
    assert!(!verdict.holds() && !verdict.is_refuted(), "{verdict}");
    assert!(
        verdict.to_string().ends_with(
            "\nundecided because samplers were cut, and what is beyond may have any ratio: \
             add `releases_only` if the mechanism promises it, or check under ApproxDp, with a δ \
             above what was not followed"
        ),
        "{verdict}"
    );
    verifier.assert_private(&ApproxDp, &EpsilonDelta::new("3", "0.01").unwrap());
}

#[test]
fn negative_numbers_end_nowhere() {
    let law = |mass| Distribution::new([(1, Interval::exact(mass))]);
    let apart = Divergences::between(&law(ratio(-1, 2)), &law(ratio(1, 2)));
    assert_eq!(
        apart.renyi("2.5".parse().unwrap()).exact(),
        Some(&Rational::ZERO)
    );
    // A factor below zero is one of zero: everything is seen.
    let pair = Pair::new(false, true);
    let respond = once(3);
    let worst = Verifier::new(copies_of(&respond), &pair, vec![()], 1).worst_delta(ratio(-1, 1));
    assert_eq!(exact(&worst.unwrap()), Rational::ONE);
}
