//! Individual filters in which records pay with ε and with δ, before the exact verifier.

use std::ops::Range;

use crate::individual_bugs::{Bug, Individual, Kernel, Row, Told};
use crate::support::*;
use queryables::account::{ThroughZCdp, ValidIndividually};
use queryables::compose::{
    IndividualAnswers, IndividualFilter, IndividualQuery, Payers, RecordUnits, Tariff,
};
use queryables::machine::{Coins, Fault};
use queryables::mechanisms::ThresholdHistogram;
use queryables::number::{Delta, Epsilon};
use queryables::privacy::{AddRemove, ApproxDp, EpsilonDelta, UnknownLoss};
use queryables::verify::{Pair, Rational, Verifier, copies_of};

/// The sum of what records have in this place, by the leaking kernel: in one of eight cases the sum
/// itself, and else a noisy one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Leak(usize);

/// ln 2, rounded up, and 1/8: one more contribution of 1 doubles the odds of an answer, and is told in
/// one of eight cases.
fn loss(times: u64) -> EpsilonDelta {
    let epsilon: Epsilon = "0.693147180560".parse().unwrap();
    let delta: Delta = "0.125".parse().unwrap();
    EpsilonDelta {
        epsilon: epsilon.checked_mul(times).unwrap(),
        delta: delta.checked_mul(times).unwrap(),
    }
}

impl<F: ValidIndividually<Children = ApproxDp>> IndividualQuery<Vec<Row>, F> for Leak {
    type Noise = ();
    type Total = u64;
    type Answer = Told;

    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        units.flat(&loss(1))
    }

    fn noise(&self, _: &mut Coins<'_>) -> Result<(), Fault> {
        Ok(())
    }

    fn nothing(&self) -> u64 {
        0
    }

    fn take(&self, data: &Vec<Row>, records: Range<usize>, payers: &mut Payers<'_>) -> u64 {
        let sizes = data[records].iter().map(|row| row[self.0]);
        sizes.map(|size| payers.charge(size)).sum()
    }

    fn merge(&self, total: &mut u64, chunk: u64) {
        *total += chunk;
    }

    fn answer(&self, total: u64, (): (), coins: &mut Coins<'_>) -> Result<Told, Fault> {
        Ok(Told::Answer(Kernel::Leaking.answer(total, coins)?))
    }
}

/// x answers the first query, and another record the second.
fn pair() -> Pair<Vec<Row>> {
    Pair::new(vec![vec![1, 0], vec![0, 1]], vec![vec![0, 1]])
}

const DEPTH: usize = 3;

/// The worst δ of a filter with this rule, at γ.
fn right<F>(rule: IndividualFilter<Vec<Row>, F>, gamma: u64) -> Rational
where
    F: ValidIndividually<Children = ApproxDp>,
{
    let answers = IndividualAnswers::<_, _, Leak>::new(rule);
    let menu = vec![Leak(0), Leak(1)];
    let verifier = Verifier::by_state(copies_of(&answers), &pair(), menu, DEPTH);
    exact(&verifier.worst_delta(Rational::from(gamma)).unwrap())
}

fn planted(bug: Bug, budget: u64, delta: u64, gamma: u64) -> Rational {
    let individual = Individual {
        bug,
        budget,
        delta,
        kernel: Kernel::Leaking,
    };
    let verifier = Verifier::by_state(copies_of(&individual), &pair(), vec![0, 1], DEPTH);
    exact(&verifier.worst_delta(Rational::from(gamma)).unwrap())
}

/// A filter in which records have this many times ln 2, and this many eighths.
fn sums(epsilons: u64, deltas: u64) -> IndividualFilter<Vec<Row>, SumOfPairs> {
    let budget = EpsilonDelta {
        epsilon: loss(epsilons).epsilon,
        delta: loss(deltas).delta,
    };
    IndividualFilter::new(ApproxDp, budget)
}

type SumOfPairs = queryables::account::Capped<queryables::account::Sum<ApproxDp>>;

/// A budget of (2 ln 2, 1/8) pays once, with δ for one leak, and not twice.
#[test]
fn a_record_takes_part_as_long_as_it_can_pay_with_delta() {
    for gamma in [2, 4] {
        assert_eq!(right(sums(2, 1), gamma), ratio(1, 8));
        assert_eq!(planted(Bug::Nothing, 2, 1, gamma), ratio(1, 8));
    }
    // One leak of two, and beyond a factor of 4 nothing.
    let twice = ratio(15, 64);
    assert_eq!(right(sums(2, 2), 4), twice);
    assert_eq!(planted(Bug::DeltaForgotten, 2, 1, 4), twice);
    // With a factor of 2 there is the noise, too: 15/64 + 49/64·2/9.
    let forgotten = planted(Bug::DeltaForgotten, 2, 1, 2);
    assert_eq!(forgotten, ratio(233, 576));
    assert_eq!(right(sums(2, 2), 2), forgotten);
}

/// If it is ε that is short, δ does not help.
#[test]
fn a_record_takes_part_as_long_as_it_can_pay_with_epsilon() {
    assert_eq!(right(sums(1, 3), 2), ratio(1, 8));
    assert_eq!(planted(Bug::Nothing, 1, 3, 2), ratio(1, 8));
}

#[test]
fn nobody_pays_with_the_delta_of_others() {
    assert_eq!(right(sums(3, 1), 8), ratio(1, 8));
    assert_eq!(planted(Bug::DeltaOfOthers, 3, 1, 8), ratio(169, 512));
}

/// Whitehouse et al. Thm 2, with a slack of 1/4: ρ and δ for two, and so the whole is within its limit
/// of (2.1, 1/2).
#[test]
fn through_zcdp_a_record_pays_with_rho_and_delta() {
    let limit = EpsilonDelta::new("2.1", "0.5").unwrap();
    let rule = |slack: &str| ThroughZCdp::simple(limit, slack.parse().unwrap()).unwrap();
    // e^2.1 is 8.2.
    let worst = |slack| right(IndividualFilter::with_rule(rule(slack)), 8);
    assert_eq!(worst("0.25"), ratio(15, 64));
    assert_eq!(worst("0.26"), ratio(1, 8));
    assert_eq!(worst("0.375"), ratio(1, 8));
}

/// With a budget for one histogram, the second one has no key. δ is q²/(1 + q) = 0.0989 for q = 1/e.
#[test]
fn a_histogram_of_unknown_keys_is_paid_for_once() {
    let key = |row: &u8| Some(*row);
    let one: Epsilon = "1".parse().unwrap();
    let histogram = ThresholdHistogram::with_threshold(AddRemove, "key", key, 3, one).unwrap();
    let worst = |budget: EpsilonDelta| {
        let filter = IndividualFilter::<Vec<u8>, _>::new(ApproxDp, budget);
        let answers = IndividualAnswers::<_, _, ThresholdHistogram<_, _>>::new(filter);
        let (pair, menu) = (Pair::new(vec![7], vec![]), vec![histogram.clone()]);
        let verifier = Verifier::new(copies_of(&answers), &pair, menu, 2);
        let verifier = verifier.cut(ratio(1, 1_000_000));
        let holds = |delta: f64| {
            let claim = EpsilonDelta::new(1.0, delta).unwrap();
            verifier.check(&ApproxDp, &claim).unwrap().holds()
        };
        // Up to what is cut from the noise. Twice is δ and δ, but for both at once.
        let once: f64 = histogram.delta().to_string().parse().unwrap();
        let twice = 2.0 * once - once * once;
        [once, twice].map(|delta| holds(delta + 1e-5) && !holds(delta - 1e-5))
    };
    let budget = |epsilon, delta| EpsilonDelta::new(epsilon, delta).unwrap();
    assert_eq!(worst(budget("1", "0.1")), [true, false]);
    assert_eq!(worst(budget("2", "0.19")), [true, false]);
    assert_eq!(worst(budget("1.9", "0.2")), [true, false]);
    assert_eq!(worst(budget("2", "0.2")), [false, true]);
}
