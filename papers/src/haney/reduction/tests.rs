//! P∘N has the law of M, for every adversary.

use std::sync::Arc;

use super::{Reduction, ReductionError, Transcripts};
use queryables::machine::{Coins, Fault, Machine, Mechanism, Released};
use queryables::mechanisms::{ApproxRandomizedResponse, Response};
use queryables::number::Delta;
use queryables::verify::{Completeness, Pair, Rational, Value, Verifier, Worst};

/// A machine given by its odds: after each transcript and query, a weight for each of three answers.
/// On both datasets the same transcripts, with other weights.
#[derive(Clone, Debug)]
struct Listed {
    seed: u64,
    zeros: bool,
}

#[derive(Clone, Debug)]
struct ListedMachine {
    of: Listed,
    bit: bool,
    said: Vec<(bool, u8)>,
}

impl Mechanism<bool> for Listed {
    type Machine = ListedMachine;

    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<ListedMachine, Fault> {
        Ok(ListedMachine {
            of: self.clone(),
            bit: **data,
            said: Vec::new(),
        })
    }
}

impl ListedMachine {
    /// Small weights out of the seed and what was said.
    fn weights(&self, query: bool) -> [u64; 3] {
        let mut state = self.of.seed ^ u64::from(self.bit) << 7;
        let mut next = |word: u64| {
            state = (state ^ word)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .rotate_left(23);
            state ^= state >> 31;
            state
        };
        for (query, answer) in &self.said {
            next(2 * u64::from(*answer) + u64::from(*query));
        }
        next(u64::from(query) + 77);
        let least = u64::from(!self.of.zeros);
        [0, 1, 2].map(|word| (next(word) >> 5) % 4 + least)
    }
}

impl Machine for ListedMachine {
    type Query = bool;
    type Answer = u8;

    fn step(&mut self, query: bool, coins: &mut Coins<'_>) -> Result<u8, Fault> {
        let mut weights = self.weights(query);
        if weights == [0; 3] {
            weights[0] = 1;
        }
        let answer = coins.weighted(&weights)? as u8;
        self.said.push((query, answer));
        // Some transcripts end, some queries are not understood.
        match (answer, self.said.len()) {
            (2, 2) => Err(Fault::Failed),
            (2, 1) => Err(Fault::InvalidQuery("two")),
            _ => Ok(answer),
        }
    }
}

fn exact<Q, A>(worst: &Worst<Q, A>) -> Rational {
    assert_eq!(worst.completeness, Completeness::Complete);
    let Value::Finite(value) = &worst.value else {
        panic!("{:?}", worst.value);
    };
    assert!(value.is_exact());
    value.low().clone()
}

const DEPTH: usize = 3;

fn transcripts(listed: &Listed) -> Transcripts<bool, u8> {
    let mechanism = listed.clone();
    let pair = Pair::new(false, true);
    Transcripts::of(
        move || mechanism.clone(),
        &pair,
        vec![false, true],
        DEPTH,
        10_000,
    )
    .unwrap()
}

/// The largest total variation between M and P∘N that any adversary attains, on either dataset.
fn apart<M>(mechanism: &M, reduced: &Reduction<bool, u8>) -> Rational
where
    M: Mechanism<bool, Machine: Machine<Query = bool, Answer = u8> + 'static>,
    M: Clone + Send + Sync + 'static,
{
    let difference = |bit: bool| {
        let (one, other) = (mechanism.clone(), reduced.mechanism());
        let comparing = Verifier::comparing(
            move || one.clone(),
            move || other.clone(),
            &Arc::new(bit),
            vec![false, true],
            DEPTH,
        );
        exact(&comparing.replays(1).difference().unwrap())
    };
    difference(false).max(difference(true))
}

/// What any adversary attains, computed by the verifier and not by transcripts.
fn worst_delta(listed: &Listed, odds: u64) -> Rational {
    let mechanism = listed.clone();
    let verifier = Verifier::new(
        move || mechanism.clone(),
        &Pair::new(false, true),
        vec![false, true],
        DEPTH,
    );
    exact(
        &verifier
            .replays(1)
            .worst_delta(Rational::from(odds))
            .unwrap(),
    )
}

/// The least decimal that is at least this.
fn up(delta: &Rational) -> Delta {
    let mut found: Delta = format!("{:.9}", delta.to_f64()).parse().unwrap();
    let step: Delta = "1e-9".parse().unwrap();
    while exactly(found) < *delta {
        found = found.saturating_add(step);
    }
    found
}

fn exactly(delta: Delta) -> Rational {
    let delta = queryables::number::Ratio::from(delta);
    Rational::new(delta.numerator() as i128, delta.denominator().get()).unwrap()
}

/// The same law on both datasets; `false` if the odds of an answer do not fit.
fn assert_reduced(listed: &Listed, tree: &Transcripts<bool, u8>, odds: u64, delta: Delta) -> bool {
    match tree.reduce(odds, 1, delta) {
        Err(error) => {
            assert_eq!(error, ReductionError::TooFine);
            false
        }
        Ok(reduced) => {
            assert_eq!(apart(listed, &reduced), Rational::ZERO);
            true
        }
    }
}

#[test]
fn an_interactive_mechanism_is_a_postprocessing_of_randomized_response() {
    let mut constructed = 0;
    for seed in 0..16 {
        let (zeros, odds) = (seed % 2 == 0, 1 + seed % 5);
        let listed = Listed { seed, zeros };
        let tree = transcripts(&listed);
        let least = tree.least_delta(odds, 1).unwrap();
        // Theorem 3.3: what the worst adversary attains is enough. Less never is.
        assert_eq!(least, worst_delta(&listed, odds), "{listed:?}");
        let delta = up(&least);
        constructed += u32::from(assert_reduced(&listed, &tree, odds, delta));
        let between = 0.5 + 0.5 * least.to_f64();
        let coarse: Delta = format!("{between:.2}").parse().unwrap();
        constructed += u32::from(assert_reduced(&listed, &tree, odds, coarse));
        if least > Rational::ZERO {
            let less = delta.saturating_sub("2e-9".parse().unwrap());
            let refused = tree.reduce(odds, 1, less).map(|_| ());
            assert_eq!(refused, Err(ReductionError::NotPrivate { least }));
        }
    }
    // The others have odds of more than 64 bits.
    assert!(constructed >= 16, "{constructed}");
}

/// Tells the truth `odds` times for each lie, a new coin each time; `true` asks for the opposite.
#[derive(Clone, Copy)]
struct Respond {
    odds: u64,
}

struct Responding(u64, bool);

impl Mechanism<bool> for Respond {
    type Machine = Responding;

    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Responding, Fault> {
        Ok(Responding(self.odds, **data))
    }
}

impl Machine for Responding {
    type Query = bool;
    type Answer = u8;

    fn step(&mut self, query: bool, coins: &mut Coins<'_>) -> Result<u8, Fault> {
        let told = self.1 ^ query ^ (coins.weighted(&[self.0, 1])? == 1);
        Ok(u8::from(told))
    }
}

#[test]
fn pure_privacy_is_reduced_in_closed_form() {
    let respond = Respond { odds: 2 };
    let pair = Pair::new(false, true);
    let menu = vec![false, true];
    let tree = Transcripts::of(move || respond, &pair, menu, DEPTH, 1000).unwrap();
    assert_eq!(tree.least_delta(8, 1), Ok(Rational::ZERO));
    let reduced = tree.reduce(8, 1, Delta::ZERO).unwrap();
    assert_eq!(apart(&respond, &reduced), Rational::ZERO);
    assert_eq!(
        reduced.response,
        ApproxRandomizedResponse::with_odds(8, 1, Delta::ZERO).unwrap()
    );
    // One more than needed does as well, one less does not: (8 − 7)/27 is missing.
    let reduced = tree.reduce(9, 1, Delta::ZERO).unwrap();
    assert_eq!(apart(&respond, &reduced), Rational::ZERO);
    let least = Rational::new(1, 27).unwrap();
    let refused = tree.reduce(7, 1, Delta::ZERO).map(|_| ());
    assert_eq!(refused, Err(ReductionError::NotPrivate { least }));
}

#[test]
fn without_interaction_it_is_the_reduction_of_kairouz_oh_and_viswanath() {
    /// One of four answers, with other odds on each dataset.
    #[derive(Clone, Copy)]
    struct Once;

    impl Mechanism<bool> for Once {
        type Machine = Released<usize>;

        fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
            let weights = match **data {
                false => [6, 3, 2, 1],
                true => [1, 4, 3, 4],
            };
            coins.weighted(&weights).map(Released).map_err(Fault::from)
        }
    }

    let tree = Transcripts::of(|| Once, &Pair::new(false, true), vec![()], 1, 10).unwrap();
    // At e^ε = 2: (6 − 2)/12 in one direction, (4 − 2)/12 in the other.
    let least = Rational::new(1, 3).unwrap();
    assert_eq!(tree.least_delta(2, 1), Ok(least));
    let reduced = tree.reduce(2, 1, "0.35".parse().unwrap()).unwrap();
    for bit in [false, true] {
        let other = reduced.mechanism();
        let comparing =
            Verifier::comparing(|| Once, move || other.clone(), &Arc::new(bit), vec![()], 1);
        assert_eq!(exact(&comparing.difference().unwrap()), Rational::ZERO);
    }
}

/// Whitehouse et al. Lemma 11: given what was seen, the next mechanism is reduced to a response with
/// the parameters of that history. Both mechanisms together are then conditional randomized response
/// with a kernel behind each answer.
#[test]
fn the_next_mechanism_is_reduced_given_what_was_seen() {
    /// RR with odds of 2 to 1 after a zero, and of 3 to 1 with δ = 1/4 after a one; the second
    /// answer is that of `tell`.
    #[derive(Clone, Copy)]
    struct After(u8);

    impl Mechanism<bool> for After {
        type Machine = Released<u8>;

        fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
            let bit = u8::from(**data);
            let (odds, quarter) = if self.0 == 0 { (2, 0) } else { (3, 1) };
            if coins.weighted(&[quarter, 4 - quarter])? == 0 {
                return Ok(Released(2 + bit));
            }
            let lie = coins.weighted(&[odds, 1])? as u8;
            Ok(Released(bit ^ lie))
        }
    }

    let first = Respond { odds: 3 };
    let pair = Pair::new(false, true);
    for seen in [0, 1] {
        let (odds, delta) = if seen == 0 { (2, "0") } else { (3, "0.25") };
        let delta: Delta = delta.parse().unwrap();
        let tree = Transcripts::of(move || After(seen), &pair, vec![()], 1, 10).unwrap();
        let reduced = tree.reduce(odds, 1, delta).unwrap();
        let response = ApproxRandomizedResponse::with_odds(odds, 1, delta).unwrap();
        assert_eq!(reduced.response, response);
        for bit in [false, true] {
            let other = reduced.mechanism();
            let comparing = Verifier::comparing(
                move || After(seen),
                move || other.clone(),
                &Arc::new(bit),
                vec![()],
                1,
            );
            assert_eq!(exact(&comparing.difference().unwrap()), Rational::ZERO);
        }
        // The parameters of one history are not those of the other.
        let less = tree.reduce(odds - 1, 1, delta);
        assert!(
            matches!(less, Err(ReductionError::NotPrivate { .. })),
            "{seen}"
        );
    }
    // The first is reduced by itself.
    let tree = Transcripts::of(move || first, &pair, vec![false, true], 1, 10).unwrap();
    assert_eq!(tree.least_delta(3, 1), Ok(Rational::ZERO));
}

#[test]
fn what_cannot_be_reduced_says_why() {
    let pair = Pair::new(false, true);
    let respond = Respond { odds: 2 };
    let build = |limit| Transcripts::of(move || respond, &pair, vec![false, true], 4, limit);
    assert_eq!(build(20), Err(ReductionError::TooLarge { limit: 20 }));
    // 8 + 4 + … : sixteen scripts fit, and their transcripts do not.
    assert_eq!(build(100), Err(ReductionError::TooLarge { limit: 100 }));
    let tree = build(10_000).unwrap();
    assert_eq!(tree.least_delta(1, 2), Err(ReductionError::BadOdds));
    assert_eq!(tree.least_delta(1, 0), Err(ReductionError::BadOdds));

    /// Fails to start on one dataset, which the pair reveals.
    #[derive(Clone, Copy)]
    struct Starts;

    impl Mechanism<bool> for Starts {
        type Machine = Released<Response>;

        fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
            match **data {
                true => Err(Fault::Failed),
                false => Ok(Released(Response::Zero)),
            }
        }
    }
    let starts = Transcripts::of(|| Starts, &pair, vec![()], 1, 10);
    assert_eq!(starts, Err(ReductionError::DoesNotStart));
    // e^0.5 is no fraction.
    let irrational =
        ApproxRandomizedResponse::new(queryables::privacy::EpsilonDelta::new("0.5", "0").unwrap());
    let refused = Transcripts::of(move || irrational, &pair, vec![()], 1, 10);
    assert_eq!(refused, Err(ReductionError::NotExact));
}

#[test]
fn a_pure_mechanism_with_other_odds_at_every_answer_is_reduced() {
    for seed in [1, 3, 5] {
        let listed = Listed { seed, zeros: false };
        let tree = transcripts(&listed);
        let odds = (1..2000).find(|odds| tree.least_delta(*odds, 1) == Ok(Rational::ZERO));
        assert!(assert_reduced(&listed, &tree, odds.unwrap(), Delta::ZERO));
        // A δ does no harm: some of it is revealed though it need not be.
        let delta = "0.5".parse().unwrap();
        assert!(assert_reduced(&listed, &tree, odds.unwrap(), delta));
    }
}
