//! Rogers et al. in their own words: the odometer of Def. 3.1, and Examples 1 and 2 of the
//! introduction.

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::rogers::{AdaptParamComp, Challenge, Claim, NaiveAdvanced, probability_of_exceeding};
use queryables::account::time_uniform::{RogersOdometer, Slack, VarianceOdometer};
use queryables::account::{Accumulator, Sum};
use queryables::machine::{CoinSource, Machine, Replay};
use queryables::mechanisms::{ApproxRandomizedResponse, Response};
use queryables::number::Delta;
use queryables::privacy::{ApproxDp, EpsilonDelta};

fn response(epsilon: &str, delta: &str) -> ApproxRandomizedResponse {
    ApproxRandomizedResponse::new(EpsilonDelta::new(epsilon, delta).unwrap())
}

/// The basic odometer (R 3.3): Σε while Σδ is at most `delta`, and no claim after that.
#[derive(Clone)]
struct Basic {
    total: Sum<ApproxDp>,
    delta: Delta,
    /// To make it wrong.
    share: f64,
}

impl Basic {
    fn new(delta: &str, share: f64) -> Self {
        Self {
            total: Sum::new(ApproxDp),
            delta: delta.parse().unwrap(),
            share,
        }
    }
}

impl Claim for Basic {
    fn count(&mut self, loss: &EpsilonDelta) {
        self.total = self.total.add(loss).unwrap();
    }

    fn claimed(&self) -> f64 {
        let EpsilonDelta { epsilon, delta } = self.total.total();
        if delta <= self.delta {
            self.share * epsilon.to_f64_up()
        } else {
            f64::INFINITY
        }
    }
}

/// Def. 3.1 with Thm 3.3: the losses add up, and only a revealed bit is beyond their sum.
#[test]
fn definition_3_1_the_sum_is_a_valid_odometer() {
    let menu = [response("0.5", "0.01"), response("1.5", "0.02")];
    let found = probability_of_exceeding(&Basic::new("0.04", 1.0), &menu, 6);
    // Four rounds of 0.01 bring more than two of 0.02, and more rounds are claimed nothing of.
    let expected = 1.0 - 0.99_f64.powi(4);
    let two = 1.0 - 0.98_f64.powi(2);
    assert!((found - expected.max(two)).abs() < 1e-12, "{found}");
    assert!(found <= 0.04);
    // A share of the sum is no odometer.
    let found = probability_of_exceeding(&Basic::new("0.04", 0.9), &menu, 6);
    assert!(found > 0.99, "{found}");
}

/// Claims a third of what another rule claims.
#[derive(Clone)]
struct Third<C>(C);

impl<C: Claim> Claim for Third<C> {
    fn count(&mut self, loss: &EpsilonDelta) {
        self.0.count(loss);
    }

    fn claimed(&self) -> f64 {
        self.0.claimed() / 3.0
    }
}

/// How probable it is that a claim is exceeded in 100 rounds of one mechanism, and that a third of it is.
fn whole_and_third<C: Claim + Clone>(rule: &C) -> [f64; 2] {
    let one = [response("0.3", "0")];
    let third = Third(rule.clone());
    [
        probability_of_exceeding(rule, &one, 100),
        probability_of_exceeding(&third, &one, 100),
    ]
}

/// Def. 3.1 for the other odometers: one for δ/2 is valid for δ, in both directions of the loss.
#[test]
fn definition_3_1_holds_for_time_uniform_odometers() {
    let (promised, half) = (0.1, "0.05".parse().unwrap());
    let slack = Slack::pure(half).unwrap();
    let at = "9".parse().unwrap();
    let tangent = VarianceOdometer::tangent_at(at, slack);
    let mixture = VarianceOdometer::mixture_at(at, slack);
    let stitched = VarianceOdometer::stitched("0.0025".parse().unwrap(), slack);
    let rogers = RogersOdometer::new(100, half).unwrap();
    // One mechanism and many rounds: each is valid, and a third of it is not.
    for (found, about) in [
        (whole_and_third(&tangent), [0.023508, 0.880096]),
        (whole_and_third(&mixture), [0.005286, 0.864232]),
        (whole_and_third(&stitched), [0.000139, 0.865543]),
        (whole_and_third(&rogers), [0.0, 0.442219]),
    ] {
        let [whole, third] = found;
        assert!(whole <= promised && third > promised, "{found:?}");
        let off = [whole - about[0], third - about[1]];
        assert!(off.iter().all(|off| off.abs() < 1e-6), "{found:?}");
    }
    // Three mechanisms and few rounds.
    let three = ["0.05", "0.2", "0.8"].map(|epsilon| response(epsilon, "0"));
    for found in [
        probability_of_exceeding(&tangent, &three, 4),
        probability_of_exceeding(&mixture, &three, 4),
        probability_of_exceeding(&stitched, &three, 4),
        probability_of_exceeding(&rogers, &three, 4),
    ] {
        assert!(found <= promised, "{found}");
    }
}

/// Advanced composition read as one goes is no odometer of Def. 3.1, though it is right at each
/// time that is fixed in advance.
#[test]
fn definition_3_1_fails_for_the_naive_odometer() {
    let menu = ["0.05", "0.2", "0.8"].map(|epsilon| response(epsilon, "0"));
    let naive = NaiveAdvanced::new("0.3".parse().unwrap());
    let found = probability_of_exceeding(&naive, &menu, 8);
    assert!((found - 0.4197).abs() < 1e-4, "{found}");
}

// ---- Examples 1 and 2 ------------------------------------------------------------------------

const EPSILON: &str = "0.1";

/// What advanced composition says of this number of rounds.
fn advanced(rounds: u32, delta: &str) -> f64 {
    let mut naive = NaiveAdvanced::new(delta.parse().unwrap());
    for _ in 0..rounds {
        naive.count(&EpsilonDelta::new(EPSILON, "0").unwrap());
    }
    naive.claimed()
}

/// Follows the realised loss round by round, in steps of ε, and takes out of the game whatever
/// `ends` says, by the number of rounds and the loss. Gives the probability of having ended.
fn ended(rounds: u32, ends: impl Fn(u32, f64) -> bool) -> f64 {
    let (epsilon, mut ended) = (0.1_f64, 0.0);
    let truth = 1.0 / (1.0 + (-epsilon).exp());
    let width = rounds as usize + 1;
    let mut law = vec![0.0; 2 * width + 1];
    law[width] = 1.0;
    for round in 1..=rounds {
        let mut next = vec![0.0; law.len()];
        for place in 1..2 * width {
            let probability = truth * law[place - 1] + (1.0 - truth) * law[place + 1];
            if ends(round, (place as f64 - width as f64) * epsilon) {
                ended += probability;
            } else {
                next[place] = probability;
            }
        }
        law = next;
    }
    ended
}

/// Example 1: the number of rounds is fixed. Both composition theorems are right.
#[test]
fn example_1_a_fixed_number_of_rounds_is_what_the_theorem_says() {
    for rounds in [1, 5, 25, 100, 400] {
        let claim = advanced(rounds, "0.05");
        let beyond = ended(rounds, |round, loss| round == rounds && loss > claim);
        assert!(beyond <= 0.05, "{rounds}: {beyond}");
        let basic = f64::from(rounds) * 0.1 * (1.0 + 1e-12);
        assert_eq!(
            ended(rounds, |round, loss| round == rounds && loss > basic),
            0.0
        );
    }
}

/// Example 2: it stops when an answer is large. The analyst decides when: a query that is true of
/// everybody has a large answer, and tells nothing, but counts as a round. So it asks that one as
/// soon as the loss is beyond what the theorem will say of the rounds played, that one included.
/// Applied to the number of rounds that it happened to take, the theorem is then wrong more often
/// than it says. The sum is not.
#[test]
fn example_2_a_number_of_rounds_that_depends_on_the_answers_is_not() {
    let rounds = 1000;
    let claims: Vec<f64> = (0..=rounds + 1)
        .map(|round| advanced(round, "0.05"))
        .collect();
    let beyond = ended(rounds, |round, loss| loss > claims[round as usize + 1]);
    assert!(beyond > 0.075, "{beyond}");
    let sum = |round| f64::from(round) * 0.1 * (1.0 + 1e-12);
    assert_eq!(ended(rounds, |round, loss| loss > sum(round)), 0.0);
}

/// Nor does any ε hold for Example 2 in advance: the loss after k rounds may be all of k·ε.
#[test]
fn example_2_has_no_bound_in_advance() {
    let mechanism = ApproxRandomizedResponse::with_odds(3, 1, "0".parse().unwrap()).unwrap();
    let four = NonZeroU64::new(4).unwrap();
    let mut coins = Replay::of(vec![(four, 3); 64]);
    let mut game = AdaptParamComp::new(64, false);
    for round in 1..=64 {
        let pair = [Arc::new(false), Arc::new(true)];
        let answer = game.step(Challenge { pair, mechanism }, &mut coins.coins());
        assert_eq!(answer, Ok(Response::Top));
        let all = f64::from(round) * 3_f64.ln();
        assert!((game.loss() - all).abs() < 1e-12 * all, "{round}");
    }
}
