//! What fails when parameters are chosen adaptively, and what does not.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::Arc;

use queryables::account::time_uniform::{
    MixtureOdometer, RogersOdometer, Slack, StitchedOdometer, TangentOdometer, Variance,
};
use queryables::account::{Accumulator, RestartedFilters, Sum};
use queryables::games::{
    AdaptParamComp, Challenge, Claim, NaiveAdvanced, StopWhenAhead, probability_of_getting_ahead,
};
use queryables::machine::{CoinSource, Machine, NotPrivateSeededCoins, Replay, interact};
use queryables::mechanisms::{ApproxRandomizedResponse, Response};
use queryables::number::{Delta, Epsilon};
use queryables::privacy::{EpsilonDelta, Rdp};

fn variance(text: &str) -> Variance {
    text.parse().unwrap()
}

fn response(epsilon: &str) -> ApproxRandomizedResponse {
    ApproxRandomizedResponse::new(EpsilonDelta::new(epsilon, "0").unwrap())
}

/// The time-uniform odometers, tuned for the variance where the games below end.
fn valid(delta: Delta, at: &str) -> Vec<(&'static str, Box<dyn Clonable>)> {
    let slack = Slack::pure(delta).unwrap();
    vec![
        (
            "filter",
            Box::new(TangentOdometer::tightest_at(variance(at), slack)),
        ),
        (
            "mixture",
            Box::new(MixtureOdometer::tightest_at(variance(at), slack)),
        ),
        (
            "stitched",
            Box::new(StitchedOdometer::new(variance("1e-18"), slack)),
        ),
        (
            "Rogers",
            Box::new(RogersOdometer::new(10_000, delta).unwrap()),
        ),
    ]
}

/// A rule that can be used for more than one game.
trait Clonable: Claim {
    fn fresh(&self) -> Box<dyn Clonable>;
}

impl<C: Claim + Clone + 'static> Clonable for C {
    fn fresh(&self) -> Box<dyn Clonable> {
        Box::new(self.clone())
    }
}

/// Lets a boxed rule be played against.
struct Boxed(Box<dyn Clonable>);

impl Claim for Boxed {
    fn count(&mut self, loss: &EpsilonDelta) {
        self.0.count(loss);
    }

    fn claimed(&self) -> f64 {
        self.0.claimed()
    }
}

/// Rogers et al. 6.1 without chance: the law of the walk is followed exactly.
#[test]
fn stopping_early_defeats_the_naive_rule_and_no_other() {
    let (mechanism, rounds) = (response("0.1"), 1000);
    for text in ["0.05", "0.01", "1e-6"] {
        let delta: Delta = text.parse().unwrap();
        let promised: f64 = text.parse().unwrap();
        let naive = NaiveAdvanced::new(delta);
        let ahead = probability_of_getting_ahead(naive, &mechanism, rounds);
        assert!(ahead > 1.5 * promised, "naive: {ahead} of {promised}");
        for (name, odometer) in valid(delta, "10") {
            let ahead = probability_of_getting_ahead(Boxed(odometer), &mechanism, rounds);
            assert!(ahead <= promised, "{name}: {ahead} of {promised}");
            assert!(ahead > 0.0, "{name} is never even close");
        }
    }
}

/// Mechanisms that reveal everything now and then are paid for by δ''.
#[test]
fn revealing_mechanisms_stay_within_both_slacks() {
    let loss = EpsilonDelta::new("0.1", "1e-4").unwrap();
    let mechanism = ApproxRandomizedResponse::new(loss);
    // 100 launches bring 0.01 along.
    let slack = Slack::new("0.05".parse().unwrap(), "0.01".parse().unwrap()).unwrap();
    let odometer = TangentOdometer::tightest_at(variance("1"), slack);
    let ahead = probability_of_getting_ahead(odometer.clone(), &mechanism, 100);
    assert!(ahead <= 0.06 && ahead > 0.0099, "{ahead}");
    // The launch after that is over δ'': nothing is claimed any more, and nothing can be lost.
    assert_eq!(
        probability_of_getting_ahead(odometer, &mechanism, 200),
        ahead
    );
}

/// At any one time, fixed in advance, the naive rule is right: looking once is what it is for.
#[test]
fn the_naive_rule_holds_at_a_fixed_time() {
    struct OnlyAt(NaiveAdvanced, u32);

    impl Claim for OnlyAt {
        fn count(&mut self, loss: &EpsilonDelta) {
            self.0.count(loss);
            self.1 -= 1;
        }

        fn claimed(&self) -> f64 {
            if self.1 == 0 {
                self.0.claimed()
            } else {
                f64::INFINITY
            }
        }
    }

    for rounds in [1, 10, 100, 1000] {
        let naive = OnlyAt(NaiveAdvanced::new("0.05".parse().unwrap()), rounds);
        let ahead = probability_of_getting_ahead(naive, &response("0.1"), rounds);
        assert!(ahead <= 0.05, "{rounds}: {ahead}");
    }
}

/// Each loss a tenth of all before it, squared: Σε² runs from 1e-18 to 1.
fn growing() -> Vec<ApproxRandomizedResponse> {
    let (mut schedule, mut squares) = (Vec::new(), 0.0_f64);
    while squares < 1.0 {
        let epsilon = (squares / 10.0).sqrt().max(1e-9);
        squares += epsilon * epsilon;
        let text = format!("{epsilon:.20}");
        schedule.push(response(text.trim_end_matches('0')));
    }
    schedule
}

const GAMES: u64 = 400;

/// In how many of the games, each played through the game itself, the adversary gets ahead.
fn games_lost(rule: &dyn Clonable) -> u64 {
    let schedule = growing();
    let lost = (0..GAMES).filter(|seed| {
        let rule = Boxed(rule.fresh());
        let mut adversary = StopWhenAhead::new(rule, schedule.clone());
        let mut game = AdaptParamComp::new(schedule.len(), false);
        interact(
            &mut adversary,
            &mut game,
            &mut NotPrivateSeededCoins::new(0),
            &mut NotPrivateSeededCoins::new(*seed),
            schedule.len() + 1,
        );
        adversary.is_ahead()
    });
    lost.count() as u64
}

/// With parameters that grow, one game has many scales and the naive rule is lost at last. Of a
/// rule that is ahead with probability at most 5%, more than 84 of 400 games are lost with
/// probability at most exp(−2·400·0.161²) < 1e-9 (Hoeffding). The naive one is ahead with
/// probability about 0.44: at most 100 are lost with probability exp(−2·400·0.18²) < 1e-9 even if
/// it is 0.43.
#[test]
fn growing_parameters_defeat_the_naive_rule_and_no_other() {
    let delta: Delta = "0.05".parse().unwrap();
    let lost = games_lost(&NaiveAdvanced::new(delta));
    assert!(lost > 100, "naive: {lost} of {GAMES}");
    for (name, odometer) in valid(delta, "1") {
        let lost = games_lost(odometer.as_ref());
        assert!(lost <= 84, "{name}: {lost} of {GAMES}");
    }
}

/// Feldman and Zrnic, Example 5.1, at order 2: ⊤ in the first round buys a second one.
///
/// Odds 3 : 1 have a Rényi divergence of order 2 of ln(7/3), since 9·(1/4) + (1/9)·(3/4) = 7/3.
fn second(first: Response) -> (ApproxRandomizedResponse, Epsilon) {
    let odds = |truth, lie| ApproxRandomizedResponse::with_odds(truth, lie, Delta::ZERO).unwrap();
    match first {
        Response::Top => (odds(3, 1), ln_7_3()),
        _ => (odds(2, 2), Epsilon::ZERO),
    }
}

/// ln(7/3) = 0.847297860387203611…, rounded up.
fn ln_7_3() -> Epsilon {
    "0.847297860387203612".parse().unwrap()
}

type View = (Response, Option<Response>);

/// How many of the 16 coins lead to each view of the two rounds, where a round is seen only if the
/// reading after it is at most `threshold`; and the readings after the last round.
fn views(
    odometer: &impl Accumulator<Children = Rdp, Whole = Rdp>,
    secret: bool,
    threshold: &Epsilon,
) -> HashMap<View, (u32, Epsilon)> {
    let four = NonZeroU64::new(4).unwrap();
    let mut views = HashMap::new();
    for coins in 0..16 {
        let mut coins = Replay::of([(four, coins / 4), (four, coins % 4)]);
        let mut game = AdaptParamComp::new(2, secret);
        let mut play = |mechanism| {
            let pair = [Arc::new(false), Arc::new(true)];
            game.step(Challenge { pair, mechanism }, &mut coins.coins())
                .unwrap()
        };
        let odometer = odometer.add(&ln_7_3()).unwrap();
        assert!(odometer.total() <= *threshold);
        let first = play(ApproxRandomizedResponse::with_odds(3, 1, Delta::ZERO).unwrap());
        let (mechanism, loss) = second(first);
        let odometer = odometer.add(&loss).unwrap();
        let then = play(mechanism);
        let seen = odometer.total() <= *threshold;
        views
            .entry((first, seen.then_some(then)))
            .or_insert((0, odometer.total()))
            .0 += 1;
    }
    views
}

/// `E[(P⁰/P¹)²]` over the views drawn from P¹, given that they are among those kept.
fn second_moment(
    odometer: &impl Accumulator<Children = Rdp, Whole = Rdp>,
    threshold: &Epsilon,
    keep: impl Fn(Epsilon) -> bool,
) -> f64 {
    let [zero, one] = [false, true].map(|secret| views(odometer, secret, threshold));
    let (mut moment, mut weight) = (0.0, 0.0);
    for (view, (under_one, reading)) in one {
        if keep(reading) {
            let (under_one, under_zero) = (f64::from(under_one), f64::from(zero[&view].0));
            moment += under_zero * under_zero / under_one;
            weight += under_one;
        }
    }
    moment / weight
}

#[test]
fn a_sum_is_an_odometer_for_truncated_views_and_not_given_its_reading() {
    let once = ln_7_3();
    let twice = once.checked_add(once).unwrap();
    let measure = Rdp::new("2".parse().unwrap());
    let sum = Sum::new(measure);
    let restarted = RestartedFilters::new(measure, once).unwrap();

    // Given that the sum shows 2 ln(7/3), so that e^reading = 49/9, the moment is 9·(7/3) = 21.
    let given = second_moment(&sum, &twice, |reading| reading == twice);
    assert!((given - 21.0).abs() < 1e-12 && given > 49.0 / 9.0);

    // Up to each reading, it is at most e^reading: 7/3 (with equality) and 16/3 < 49/9.
    for (threshold, limit, exactly) in [
        (once, 7.0 / 3.0, 7.0 / 3.0),
        (twice, 49.0 / 9.0, 16.0 / 3.0),
    ] {
        for moment in [
            second_moment(&sum, &threshold, |_| true),
            second_moment(&restarted, &threshold, |_| true),
        ] {
            assert!((moment - exactly).abs() < 1e-12, "{moment}");
            assert!(moment <= limit + 1e-12);
        }
    }
}
