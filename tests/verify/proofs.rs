//! Proofs in certificates: every point once, and what the checker refuses of that.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::certificates::*;
use crate::support::*;
use queryables::machine::{CoinSource, Coins, CoinsError, Fault, Law, Machine, Mechanism};
use queryables::privacy::{ApproxDp, EpsilonDelta, PureDp, Rdp};
use queryables::verify::{
    Checkable, Children, Menu, Pair, Value, Verifier, VerifyError, copies_of,
};
use serde_json::Value as Json;

/// Answers every query in this way, given the bit; there is no other state.
struct Always<Q, A> {
    answer: Answer<Q, A>,
    bit: bool,
}

type Answer<Q, A> = fn(bool, Q, &mut Coins<'_>) -> Result<A, Fault>;

impl<Q, A> Always<Q, A> {
    fn new(answer: Answer<Q, A>) -> Self {
        Self { answer, bit: false }
    }
}

impl<Q, A> Hash for Always<Q, A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bit.hash(state);
    }
}

impl<Q, A> Mechanism<bool> for Always<Q, A> {
    type Machine = Self;

    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Self, Fault> {
        let (answer, bit) = (self.answer, **data);
        Ok(Self { answer, bit })
    }
}

impl<Q, A> Machine for Always<Q, A> {
    type Query = Q;
    type Answer = A;

    fn step(&mut self, query: Q, coins: &mut Coins<'_>) -> Result<A, Fault> {
        (self.answer)(self.bit, query, coins)
    }
}

// ---- Size --------------------------------------------------------------------------------------

/// The number of points of a proof, and of the tree that has a point for each transcript.
fn size_of(proof: &str) -> (usize, f64) {
    let proof: Json = serde_json::from_str(proof).unwrap();
    let after = |query: &Json, sizes: &[f64]| -> f64 {
        let answers = query["answers"].as_array().unwrap().iter();
        answers
            .map(|answer| sizes[answer[1].as_u64().unwrap() as usize])
            .sum()
    };
    let mut sizes = Vec::new();
    for point in proof["points"].as_array().unwrap() {
        let queries = point["queries"].as_array().into_iter().flatten();
        let size = 1.0 + queries.map(|query| after(query, &sizes)).sum::<f64>();
        sizes.push(size);
    }
    (sizes.len(), 1.0 + after(&proof["start"], &sizes))
}

/// Certifies a claim that holds.
#[track_caller]
fn proved<Q, A, N, M, Me>(verifier: &Verifier<Q, A, N, M>, measure: &Me, loss: &Me::Loss) -> String
where
    Q: Clone + Debug + Send + Sync + 'static,
    A: Clone + Debug + Eq + Hash + Send + Sync + 'static,
    N: Menu<Q, A>,
    Me: Checkable,
{
    let (verdict, certificate) = verifier.certify(measure, loss).unwrap();
    assert!(verdict.holds(), "{verdict}");
    certificate.unwrap()
}

/// Asserts that a proof has this number of points, in place of at least that number in the tree, and
/// that the checker accepts it.
#[track_caller]
fn assert_points(proof: &str, name: &str, points: usize, of_tree: f64) {
    let (found, tree) = size_of(proof);
    println!("{name}: {found} points, {tree:e} of the tree");
    assert_eq!(found, points);
    assert!(tree >= of_tree, "{tree}");
    let said = format!("private: no strategy over {points} points exceeds ");
    assert_checked(proof, name, Ok(&said));
}

#[test]
fn a_point_that_is_reached_in_many_ways_is_written_once() {
    let pair = Pair::new(false, true);
    // Only the number of lies matters, up to a factor. Nobody could go through the tree.
    let respond = Respond {
        odds: 3,
        answers: 60,
    };
    let verifier = Verifier::by_state(copies_of(&respond), &pair, vec![()], 60);
    let proof = proved(&verifier, &PureDp, &ln_times(3, 60));
    assert_points(&proof, "lies", 61 * 62 / 2, 2e18);
    // Children of a filter, asked in any order.
    let filter = pure_filter::<Respond>(ln_times(3, 3));
    let twice = Respond {
        odds: 3,
        answers: 2,
    };
    let menu = Children::new(vec![once(3), twice], vec![()]).at_most(3);
    let verifier = Verifier::by_state(copies_of(&filter), &pair, menu.without_reading(), 12);
    let proof = proved(&verifier, &PureDp, &ln_times(3, 3));
    assert_points(&proof, "children", 572, 1e6);
    // As long as a conversation may be.
    let verifier = Verifier::by_state(copies_of(&twice), &pair, vec![()], 1000);
    let proof = proved(&verifier, &PureDp, &ln_times(3, 2));
    assert_points(&proof, "long", 1 + 2 + 3 * 998 + 3, 4000.0);
}

/// One of thirty, where two depend on the bit.
fn roll(bit: bool, (): (), coins: &mut Coins<'_>) -> Result<usize, Fault> {
    let mut weights = [2; 30];
    weights[usize::from(bit)] = 3;
    Ok(coins.weighted(&weights)?)
}

/// It shows no state.
fn die() -> Verifier<(), usize, Vec<()>, impl Mechanism<bool>> {
    let pair = Pair::new(false, true);
    Verifier::new(|| Always::new(roll), &pair, vec![()], 3).threads(1)
}

#[test]
fn points_of_machines_that_hide_their_state_are_one_if_they_are_written_alike() {
    // 1 + 30 + 900 + 27 000 points, and one before the start. The balance of the two faces that
    // depend on the bit is from -3 to 3 at the end, and one less in every round before it.
    let proof = proved(&die(), &PureDp, &epsilon("1.3"));
    assert_points(&proof, "die", 7 + 5 + 3 + 1, 27_932.0);
}

/// A coin that says the bit with this number of a million parts.
fn toss(bit: bool, parts: u64, coins: &mut Coins<'_>) -> Result<bool, Fault> {
    Ok(bit ^ (coins.weighted(&[parts, 1_000_000 - parts])? == 1))
}

#[test]
fn beyond_20_000_points_only_refutations_have_a_certificate() {
    // A fair coin has one end, every other coin has two, and there is the first point.
    let verifier = |parts: RangeInclusive<u64>| {
        let menu: Vec<_> = parts.collect();
        Verifier::by_state(|| Always::new(toss), &Pair::new(false, true), menu, 1)
    };
    let proof = proved(&verifier(500_000..=509_999), &PureDp, &epsilon("0.05"));
    assert_points(&proof, "most", 20_000, 20_002.0);
    // One more.
    let beyond = verifier(500_001..=510_000);
    let (verdict, certificate) = beyond.certify(&PureDp, &epsilon("0.05")).unwrap();
    assert!(verdict.holds(), "{verdict}");
    assert!(certificate.is_none());
    let (verdict, certificate) = beyond.certify(&PureDp, &epsilon("0.03")).unwrap();
    assert!(verdict.is_refuted(), "{verdict}");
    assert_checked(&certificate.unwrap(), "beyond", REFUTED);
}

/// Asserts that there is a verdict within this limit, and no proof.
#[track_caller]
fn assert_only_a_verdict<Q, A, N, M>(verifier: Verifier<Q, A, N, M>, claim: &str, limit: u64)
where
    Q: Clone + Debug + Send + Sync + 'static,
    A: Clone + Debug + Eq + Hash + Send + Sync + 'static,
    N: Menu<Q, A>,
{
    let less = verifier.limit(limit - 1);
    let error = less.check(&PureDp, &epsilon(claim)).unwrap_err();
    let expected = VerifyError::Limit { limit: limit - 1 };
    assert_eq!(error, expected);
    let enough = less.limit(limit).certify(&PureDp, &epsilon(claim));
    let (verdict, certificate) = enough.unwrap();
    assert!(verdict.holds(), "{verdict}");
    assert!(certificate.is_none());
}

#[test]
fn a_verdict_stands_if_its_proof_takes_too_much() {
    // The proof runs a machine again that shows no state.
    let scope = die().check(&PureDp, &epsilon("1.3")).unwrap().worst.scope;
    assert_only_a_verdict(die(), "1.3", scope.runs);
    // Where machines are known by their state, it still walks over the points.
    let lies = || {
        let respond = Respond {
            odds: 3,
            answers: 60,
        };
        let pair = Pair::new(false, true);
        let verifier = Verifier::by_state(copies_of(&respond), &pair, vec![()], 60);
        verifier.threads(1).replays(2)
    };
    let scope = lies().check(&PureDp, &epsilon("66")).unwrap().worst.scope;
    assert!(scope.points > 2 * scope.runs, "{scope:?}");
    assert_only_a_verdict(lies(), "66", scope.points);
}

// ---- Values ------------------------------------------------------------------------------------

/// Certifies a claim that is larger than the value by a little, and lets the checker refuse it when
/// it is smaller by a little.
#[track_caller]
fn assert_tight<Q, A, N, M, Me>(
    verifier: &Verifier<Q, A, N, M>,
    measure: &Me,
    name: &str,
    value: f64,
    loss: impl Fn(&str) -> Me::Loss,
) where
    Q: Clone + Debug + Send + Sync + 'static,
    A: Clone + Debug + Eq + Hash + Send + Sync + 'static,
    N: Menu<Q, A>,
    Me: Checkable,
{
    let (more, less) = (
        format!("{:.8}", value + 1e-8),
        format!("{:.8}", value - 1e-8),
    );
    let proof = proved(verifier, measure, &loss(&more));
    assert_checked(&proof, name, PROVED);
    let exceeded = tampered(&proof, &more, &less);
    assert_checked(&exceeded, name, Err("refused: the claim is exceeded"));
}

fn high(value: &Value) -> f64 {
    value.high().unwrap().to_f64()
}

#[test]
fn values_over_shared_points_are_those_of_the_verdict() {
    let pair = Pair::new(false, true);
    let respond = Respond {
        odds: 2,
        answers: 25,
    };
    let verifier = Verifier::by_state(copies_of(&respond), &pair, vec![()], 25);
    let delta = high(&verifier.worst_delta_at(epsilon("2")).unwrap().value);
    let loss = |text: &str| EpsilonDelta::new("2", text).unwrap();
    assert_tight(&verifier, &ApproxDp, "tight-delta", delta, loss);
    let order = "3".parse().unwrap();
    let renyi = high(&verifier.worst_renyi(order).unwrap().value).ln() / 2.0;
    assert_tight(&verifier, &Rdp::new(order), "tight-renyi", renyi, epsilon);
    assert_tight(
        &verifier,
        &PureDp,
        "tight-ratio",
        25.0 * 2_f64.ln(),
        epsilon,
    );
}

/// Tosses until heads.
#[derive(Debug)]
struct UntilHeads;

impl Law for UntilHeads {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        let mut tosses = 0;
        while coins.weighted(&[1, 1])? == 0 {
            tosses += 1;
        }
        Ok(tosses)
    }
}

/// Tells the bit three times in four, and whether a number of tosses is odd.
fn until_heads(bit: bool, (): (), coins: &mut Coins<'_>) -> Result<(bool, bool), Fault> {
    let says = bit ^ (coins.weighted(&[3, 1])? == 1);
    Ok((says, coins.draw(&UntilHeads)? % 2 == 1))
}

#[test]
fn what_is_cut_after_a_shared_point_has_its_factor() {
    let pair = Pair::new(false, true);
    let verifier =
        Verifier::by_state(|| Always::new(until_heads), &pair, vec![()], 3).cut(ratio(1, 1000));
    let delta = high(&verifier.worst_delta_at(epsilon("1")).unwrap().value);
    let loss = |text: &str| EpsilonDelta::new("1", text).unwrap();
    assert_tight(&verifier, &ApproxDp, "cut", delta, loss);
    let proof = proved(&verifier, &ApproxDp, &loss("0.6"));
    assert_points(&proof, "cut", 4 + 3 + 2 + 1, 86.0);
}

/// Tells the bit once in four, and nothing otherwise.
fn sometimes(bit: bool, (): (), coins: &mut Coins<'_>) -> Result<Option<bool>, Fault> {
    Ok((coins.weighted(&[1, 3])? == 0).then_some(bit))
}

#[test]
fn nothing_is_asked_where_one_side_is_impossible() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::by_state(|| Always::new(sometimes), &pair, vec![()], 3);
    // 1 - (3/4)^3 = 0.578125
    let loss = |text: &str| EpsilonDelta::new("1", text).unwrap();
    assert_tight(&verifier, &ApproxDp, "impossible", 0.578125, loss);
    // Three in a row, and ends that are impossible on one side, on the other, and on neither.
    let proof = proved(&verifier, &ApproxDp, &loss("0.6"));
    assert_points(&proof, "impossible", 3 + 3, 11.0);
}

/// Whether twenty coins in a row say the bit, each a little oftener than not.
fn twenty(bit: bool, (): (), coins: &mut Coins<'_>) -> Result<bool, Fault> {
    const HALF: u64 = 1_000_000_000_000_000_000;
    for _ in 0..20 {
        if coins.weighted(&[HALF + u64::from(bit), HALF])? == 1 {
            return Ok(false);
        }
    }
    Ok(true)
}

#[test]
fn fractions_of_any_length_are_read() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::by_state(|| Always::new(twenty), &pair, vec![()], 13);
    let proof = proved(&verifier, &PureDp, &epsilon("0.001"));
    // More than Python reads unless it is told to.
    let longest = proof.split('"').map(str::len).max().unwrap();
    assert!(longest > 2 * 4300, "{longest}");
    assert_checked(&proof, "digits", PROVED);
}

// ---- Tampering ---------------------------------------------------------------------------------

/// The proof for two answers, with this in place of that.
#[track_caller]
fn assert_refused(from: &str, to: &str, why: &str) {
    let proof = certified(&PureDp, &epsilon("2.198"), 2).to_string();
    let refused = format!("refused: {why}");
    assert_checked(&tampered(&proof, from, to), "tampered-proof", Err(&refused));
}

#[test]
fn an_answer_leads_to_a_point_before_it() {
    // The first point with queries has number 2, and there are six.
    let to = |index: &str| format!("[[\"answer\", \"false\"], {index}, \"3/4\"]");
    for index in ["2", "4", "6", "-1", "true", "\"0\"", "0.0", "null"] {
        assert_refused(&to("0"), &to(index), "not an earlier point");
    }
    // Another one does not have the right probabilities.
    let more = "the answers have more probability than their query";
    assert_refused(&to("0"), &to("1"), more);
    assert_refused(
        "[[\"answer\", \"()\"], 5, ",
        "[[\"answer\", \"()\"], 6, ",
        "not an earlier point",
    );
}

#[test]
fn a_factor_is_positive_and_the_right_one() {
    let to = |factor: &str| format!("[[\"answer\", \"false\"], 0, \"{factor}\"]");
    let refused = |factor: &str, why: &str| assert_refused(&to("3/4"), &to(factor), why);
    for factor in ["0", "-3/4"] {
        refused(factor, "a factor is not positive");
    }
    refused("4/5", "the answers have more probability than their query");
    refused("2/3", "the answers have less probability");
    let start = |factor: &str| format!("[[\"answer\", \"()\"], 5, \"{factor}\"]");
    let more = "the answers have more probability than their query";
    assert_refused(&start("1"), &start("2"), more);
    assert_refused(
        &start("1"),
        &start("1/2"),
        "the answers have less probability",
    );
}

#[test]
fn one_query_less_is_left_after_each() {
    let left = |number: &str| format!("\"left\": {number}");
    let other = "a point with another number of queries left";
    assert_refused(&left("2"), &left("1"), other);
    assert_refused(&left("2"), &left("3"), other);
    let early = "a point without queries before the end";
    assert_refused(&left("1"), &left("2"), early);
    for none in ["0", "-1", "true", "\"1\""] {
        assert_refused(&left("1"), &left(none), "queries where none are left");
    }
    assert_refused("\"left\": 1, ", "", "'left'");
    // The last answers lead to ends only: here to the point of the first answer.
    let last =
        |to: &str| format!("[[\"answer\", \"false\"], {to}, \"3/4\"], [[\"answer\", \"true\"], 3,");
    assert_refused(&last("1"), &last("2"), other);
}

#[test]
fn a_point_in_the_middle_does_not_end_the_conversation() {
    let early = "a point without queries before the end";
    // An end with the right probabilities.
    assert_refused(
        "[[\"answer\", \"()\"], 5, ",
        "[[\"answer\", \"()\"], 1, ",
        early,
    );
}

#[test]
fn a_cut_is_neither_negative_nor_without_a_bound() {
    let cut = |mass: &str| format!("\"cut\": [\"{mass}\", \"0\"]");
    assert_refused(&cut("0"), &cut("-1/9"), "a cut is negative");
    let unbounded = "a cut leaves this goal without a bound";
    assert_refused(&cut("0"), &cut("1/9"), unbounded);
}
