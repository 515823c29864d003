//! What fails when parameters are chosen adaptively, and what does not.

use crate::rogers::{
    AdaptParamComp, Claim, NaiveAdvanced, StopWhenAhead, probability_of_getting_ahead,
};
use queryables::account::time_uniform::{RogersOdometer, Slack, Variance, VarianceOdometer};
use queryables::machine::{NotPrivateSeededCoins, interact};
use queryables::mechanisms::ApproxRandomizedResponse;
use queryables::number::Delta;
use queryables::privacy::EpsilonDelta;

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
            Box::new(VarianceOdometer::tangent_at(variance(at), slack)),
        ),
        (
            "mixture",
            Box::new(VarianceOdometer::mixture_at(variance(at), slack)),
        ),
        (
            "stitched",
            Box::new(VarianceOdometer::stitched(variance("1e-18"), slack)),
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
    let odometer = VarianceOdometer::tangent_at(variance("1"), slack);
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
