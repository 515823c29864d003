//! Every odometer against an evaluation to 70 digits, and against each other.

use super::rogers::{ABOVE_ONE_OVER_E, TOO_FEW_ROWS};
use super::variance_odometer::Bound;
use super::*;
use crate::account::RuleError;
use crate::account::{Accumulator, AdvancedComposition};
use crate::number::{Delta, Epsilon};
use crate::privacy::{EpsilonDelta, ProbabilisticDp};
use crate::tests::oracle::{self, Real};
use proptest::prelude::*;

/// δ from 1e-30 to 0.5.
fn deltas() -> impl Strategy<Value = Delta> {
    prop_oneof![
        (1_u32..10, 1_u32..=30).prop_map(|(digit, size)| format!("{digit}e-{size}")),
        (1_u32..=500).prop_map(|thousandths| format!("{thousandths}e-3")),
    ]
    .prop_map(|text| text.parse::<Delta>().unwrap())
    .prop_filter("at most 0.5", |delta| *delta <= "0.5".parse().unwrap())
}

/// Numbers from 1e-18 to 1e11, as V is for up to 1e9 launches of 1e-9 to 100.
fn variances() -> impl Strategy<Value = Variance> {
    (1_u32..1000, -18_i32..=8)
        .prop_map(|(digits, size)| format!("{digits}e{size}").parse().unwrap())
}

/// ε from 1e-9 to 100.
fn epsilons() -> impl Strategy<Value = Epsilon> {
    (1_u32..100, -9_i32..=0).prop_map(|(digits, size)| format!("{digits}e{size}").parse().unwrap())
}

fn real(units: u128, decimals: usize) -> Real {
    oracle::whole(units) / oracle::power_of_ten(decimals)
}

fn of(variance: Variance) -> Real {
    real(variance.units(), 27)
}

fn log(delta: Delta) -> Real {
    -oracle::ln(&real(delta.units(), 38))
}

fn number(text: f64) -> Real {
    oracle::real(text)
}

/// No bound is larger than any that can be held.
fn bound(epsilon: Option<Epsilon>) -> Real {
    real(epsilon.map_or(u128::MAX, Epsilon::units), 27)
}

/// At least the truth, and at most 1e-9 above it, if it can be held at all.
#[track_caller]
fn outward(epsilon: Option<Epsilon>, truth: &Real) {
    let bound = bound(epsilon);
    if *truth > number(3.3999e11) && epsilon.is_none() {
        return;
    }
    assert!(bound >= *truth, "{bound} is below {truth}");
    let slack = truth * number(1e-9) + real(1, 27);
    assert!(bound <= truth + slack, "{bound} is far above {truth}");
}

/// The curve of the filter, √(2LV) + V/2: what no odometer may read less than.
fn curve(variance: &Real, delta: Delta) -> Real {
    oracle::sqrt(&(number(2.0) * log(delta) * variance)) + variance / number(2.0)
}

fn filter(target: &Real, delta: Delta, variance: &Real) -> Real {
    let (two, twice_log) = (number(2.0), number(2.0) * log(delta));
    let root = oracle::sqrt(&(&twice_log + &two * target)) - oracle::sqrt(&twice_log);
    let tangent = &root * &root;
    oracle::sqrt(&(&tangent * &twice_log)) / &two
        + oracle::sqrt(&(&twice_log / &tangent)) / &two * variance
        + variance / two
}

fn mixture(gamma: &Real, delta: Delta, variance: &Real) -> Real {
    let two = number(2.0);
    let inside = oracle::ln(&oracle::sqrt(&((variance + gamma) / gamma))) + log(delta);
    oracle::sqrt(&(&two * inside * (gamma + variance))) + variance / two
}

fn stitched(start: &Real, delta: Delta, variance: &Real) -> Real {
    let ratio = |numerator, decimals| real(numerator, decimals);
    let double = oracle::ln(&oracle::ln(&(number(2.0) * variance / start)));
    let logs = double + ratio(72, 2) * (oracle::ln(&ratio(52, 1)) + log(delta));
    ratio(17, 1) * oracle::sqrt(&(variance * logs)) + variance / number(2.0)
}

fn rogers(epsilons: &[Epsilon], rows: u64, delta: Delta) -> Real {
    let (one, two) = (number(1.0), number(2.0));
    let rows = oracle::whole(u128::from(rows));
    let (mut drift, mut variance) = (number(0.0), number(0.0));
    for epsilon in epsilons {
        let epsilon = real(epsilon.units(), 27);
        drift += &epsilon * oracle::exp_m1(&epsilon) / &two;
        variance += &epsilon * &epsilon;
    }
    let log_rows = oracle::ln(&rows) / oracle::ln(&two);
    let log = oracle::ln(&(number(4.0) * log_rows)) + log(delta);
    let square = &rows * &rows;
    let spread = if &variance * &square >= one && variance <= one {
        variance * (&one + oracle::ln(&oracle::sqrt(&number(3.0))))
    } else {
        (&one / &square + &variance) * (&one + oracle::ln(&(&one + square * variance)) / &two)
    };
    drift + oracle::sqrt(&(two * spread * log))
}

proptest! {
    #[test]
    fn whitehouses_readings_are_rounded_outward(
        parameter in variances(), variance in variances(), target in epsilons(), delta in deltas(),
    ) {
        let slack = Slack::pure(delta).unwrap();
        let at = of(variance);
        let odometer = VarianceOdometer::tangent(target, slack).unwrap();
        outward(odometer.bound_at(variance), &filter(&real(target.units(), 27), delta, &at));
        let odometer = VarianceOdometer::mixture(parameter, slack);
        outward(odometer.bound_at(variance), &mixture(&of(parameter), delta, &at));
        let odometer = VarianceOdometer::stitched(parameter, slack);
        if variance < parameter {
            prop_assert_eq!(odometer.bound_at(variance), None);
        } else {
            outward(odometer.bound_at(variance), &stitched(&of(parameter), delta, &at));
        }
    }

    #[test]
    fn rogers_readings_are_rounded_outward(
        epsilons in proptest::collection::vec(
            // Beyond 20 the drift alone is more than can be held.
            epsilons().prop_filter("small", |epsilon| *epsilon <= "20".parse().unwrap()), 1..20,
        ),
        rows in 2..1_000_000_000_u64,
        delta in deltas(),
    ) {
        prop_assume!(delta <= "0.36".parse().unwrap());
        let mut odometer = RogersOdometer::new(rows, delta).unwrap();
        for epsilon in &epsilons {
            odometer = odometer.add(&EpsilonDelta::new(*epsilon, Delta::ZERO).unwrap()).unwrap();
        }
        outward(odometer.reading().bound(), &rogers(&epsilons, rows, delta));
    }

    /// Rogers' reading rises with every loss and with certainty, within a branch.
    #[test]
    fn rogers_readings_rise_within_a_branch(
        epsilon in 1_u32..900, more in 1_u32..1000, launches in 1_usize..4,
        scale in prop_oneof![Just(-5), Just(-3), Just(0)], delta in deltas(),
    ) {
        prop_assume!(delta <= "0.36".parse().unwrap());
        // With a thousand rows the middle branch is that of √V from 1e-3 to 1. The three scales
        // stay below it, inside it and above it.
        let read = |thousandths: u32, delta| {
            let mut odometer = RogersOdometer::new(1000, delta).unwrap();
            for _ in 0..launches {
                let epsilon = match scale {
                    -5 => format!("{thousandths}e-7"),
                    -3 => format!("{}e-6", 1000 + 100 * thousandths),
                    _ => format!("{}e-3", 1001 + thousandths),
                };
                let loss = EpsilonDelta::new(epsilon.as_str(), "0").unwrap();
                odometer = odometer.add(&loss).unwrap();
            }
            bound(odometer.reading().bound())
        };
        prop_assert!(read(epsilon, delta) < read(epsilon + more, delta));
        let surer = Delta::from_units(delta.units() / 100 * 99).unwrap();
        prop_assert!(read(epsilon, delta) <= read(epsilon, surer));
    }

    /// Time-uniform bounds pay for it: none is below the filter's curve.
    #[test]
    fn none_reads_less_than_the_filter(
        parameter in variances(), variance in variances(), target in epsilons(), delta in deltas(),
    ) {
        let slack = Slack::pure(delta).unwrap();
        let least = curve(&of(variance), delta);
        let above = |epsilon| bound(epsilon) >= least;
        prop_assert!(above(VarianceOdometer::tangent(target, slack).unwrap().bound_at(variance)));
        prop_assert!(above(VarianceOdometer::mixture(parameter, slack).bound_at(variance)));
        if parameter <= variance {
            prop_assert!(above(VarianceOdometer::stitched(parameter, slack).bound_at(variance)));
        }
    }

    /// More is never read as less, in any argument that matters.
    #[test]
    fn readings_rise_with_the_variance_and_fall_with_delta(
        parameter in variances(), variance in variances(), target in epsilons(), delta in deltas(),
        percent in 101_u128..1000,
    ) {
        let more = Variance::from_units((variance.units() / 100).saturating_mul(percent));
        prop_assume!(more.is_ok() && variance.units() >= 10_000);
        let more = more.unwrap();
        let slack = Slack::pure(delta).unwrap();
        let less_sure = Slack::pure(Delta::from_units(delta.units() / 100 * 99).unwrap()).unwrap();
        let filter = |slack, at| bound(VarianceOdometer::tangent(target, slack).unwrap().bound_at(at));
        prop_assert!(filter(slack, variance) <= filter(slack, more));
        let mixture = |slack, at| bound(VarianceOdometer::mixture(parameter, slack).bound_at(at));
        prop_assert!(mixture(slack, variance) <= mixture(slack, more));
        prop_assert!(mixture(slack, variance) <= mixture(less_sure, variance));
        let stitched = |slack, at| bound(VarianceOdometer::stitched(parameter, slack).bound_at(at));
        if parameter <= variance {
            prop_assert!(stitched(slack, variance) <= stitched(slack, more));
            prop_assert!(
                stitched(slack, variance) <= stitched(less_sure, variance)
            );
            // And a later start is better.
            let late = VarianceOdometer::stitched(variance, slack);
            prop_assert!(bound(late.bound_at(variance)) <= stitched(slack, variance));
        }
    }

    /// Tuned for a variance, no other parameter does better there.
    #[test]
    fn tuning_finds_the_least_reading(
        variance in variances(), delta in deltas(), other in variances(), target in epsilons(),
        near in 1_u32..200,
    ) {
        let slack = Slack::pure(delta).unwrap();
        // Equal up to rounding outward.
        let at_most = |tuned: Option<Epsilon>, other: Option<Epsilon>| {
            let [tuned, other] = [tuned, other].map(bound);
            tuned <= other * (number(1.0) + number(1e-12)) + real(2, 27)
        };
        let tuned = VarianceOdometer::tangent_at(variance, slack);
        outward(tuned.bound_at(variance), &curve(&of(variance), delta));
        let untuned = VarianceOdometer::tangent(target, slack).unwrap();
        prop_assert!(at_most(tuned.bound_at(variance), untuned.bound_at(variance)));

        let tuned = VarianceOdometer::mixture_at(variance, slack);
        for gamma in [Some(other), nearby(gamma_of(&tuned), near)].into_iter().flatten() {
            let untuned = VarianceOdometer::mixture(gamma, slack);
            prop_assert!(at_most(tuned.bound_at(variance), untuned.bound_at(variance)));
        }

        let tuned = VarianceOdometer::stitched(variance, slack);
        if other <= variance {
            let untuned = VarianceOdometer::stitched(other, slack);
            prop_assert!(at_most(tuned.bound_at(variance), untuned.bound_at(variance)));
        }
    }
}

fn gamma_of(odometer: &VarianceOdometer) -> f64 {
    match odometer.bound {
        Bound::Mixture(mixture) => mixture.gamma,
        _ => panic!("not a mixture"),
    }
}

fn nearby(gamma: f64, percent: u32) -> Option<Variance> {
    Variance::round_up(&format!("{:e}", gamma * f64::from(percent) / 100.0)).ok()
}

#[test]
fn launches_with_too_much_delta_end_what_is_known() {
    let slack = Slack::new("1e-6".parse().unwrap(), "1e-7".parse().unwrap()).unwrap();
    let one = "1".parse().unwrap();
    check(VarianceOdometer::tangent("1".parse().unwrap(), slack).unwrap());
    check(VarianceOdometer::mixture(one, slack));
    check(VarianceOdometer::stitched("0.009".parse().unwrap(), slack));
    check(RogersOdometer::new(100, "2e-7".parse().unwrap()).unwrap());

    fn check(mut odometer: impl TimeUniformOdometer<Launches = ProbabilisticDp>) {
        let loss = EpsilonDelta::new("0.1", "1e-7").unwrap();
        odometer = odometer.add(&loss).unwrap();
        // Equality is still inside.
        assert!(odometer.reading().bound().is_some(), "{odometer:?}");
        let loss = EpsilonDelta::new("0", "1e-38").unwrap();
        odometer = odometer.add(&loss).unwrap();
        assert_eq!(odometer.reading().bound(), None, "{odometer:?}");
    }
}

/// The truncated-view odometer with the same slack reads the curve, to the last digits; tuned for
/// where the launches end, the filter odometer touches it there and lies above it elsewhere.
#[test]
fn the_filter_odometer_touches_the_filter() {
    let delta: Delta = "1e-6".parse().unwrap();
    let mut curve = AdvancedComposition::new(delta).unwrap();
    let launch = EpsilonDelta::new("0.1", "0").unwrap();
    // V after 100 launches of 0.1, as it is counted.
    let at = "0.999167499167499167499167499".parse().unwrap();
    let mut line = VarianceOdometer::tangent_at(at, Slack::pure(delta).unwrap());
    for launches in 1..=200 {
        curve = curve.add(&launch).unwrap();
        line = line.add(&launch).unwrap();
        let (curve, line) = (curve.total().epsilon, line.reading().bound().unwrap());
        let apart = (line.units() as f64 - curve.units() as f64) / curve.units() as f64;
        if launches == 100 {
            assert!(apart.abs() < 1e-14, "{apart}");
        } else {
            assert!(apart > 1e-6, "{launches}: {apart}");
        }
    }
}

/// The mechanism in the module's doc that refutes Whitehouse et al. Thm 3 as printed: the
/// probability that the realised loss of this number of launches is above this, exactly.
fn exceeded(loss: &EpsilonDelta, launches: u32, bound: Option<Epsilon>) -> Real {
    let (one, epsilon) = (number(1.0), real(loss.epsilon.units(), 27));
    let grown = oracle::exp(&epsilon);
    let p = (&grown - &one + real(loss.delta.units(), 38)) / (&grown - &one / &grown);
    assert!(p <= one, "there is no such mechanism");
    // The loss is ε for each a and −ε for each b.
    let bound = real(bound.unwrap().units(), 27);
    let (mut chance, mut tail) = (number(1.0), number(0.0));
    for _ in 0..launches {
        chance *= &p;
    }
    // From all launches giving a, down.
    for answers in (0..=launches).rev() {
        let realised = &epsilon * (number(2.0) * number(answers.into()) - number(launches.into()));
        if realised <= bound {
            break;
        }
        tail += &chance;
        let odds = (&one - &p) / &p;
        chance *= odds * number(answers.into()) / number((launches - answers + 1).into());
    }
    tail
}

fn after<O>(mut odometer: O, loss: &EpsilonDelta, launches: u32) -> Option<Epsilon>
where
    O: TimeUniformOdometer<Launches = ProbabilisticDp>,
{
    for _ in 0..launches {
        odometer = odometer.add(loss).unwrap();
    }
    odometer.reading().bound()
}

#[test]
fn probabilistic_losses_with_delta_drift_and_the_reading_says_so() {
    let loss = EpsilonDelta::new("0.01", "0.005").unwrap();
    let slack = Slack::new("0.1".parse().unwrap(), "0.5".parse().unwrap()).unwrap();
    let promised = number(0.6);
    let at: Variance = "0.01".parse().unwrap();
    // As printed, without Σδ, the reading is 0.2196, and almost never enough.
    let printed = VarianceOdometer::tangent_at(at, slack).bound_at(at);
    assert!(printed > Some("0.2195".parse().unwrap()) && printed < Some("0.2197".parse().unwrap()));
    let fails = exceeded(&loss, 100, printed);
    assert!(
        fails > number(0.99944) && fails < number(0.99946),
        "{fails}"
    );
    for bound in [
        after(VarianceOdometer::tangent_at(at, slack), &loss, 100),
        after(VarianceOdometer::mixture_at(at, slack), &loss, 100),
        after(
            VarianceOdometer::stitched("0.009".parse().unwrap(), slack),
            &loss,
            100,
        ),
    ] {
        assert!(exceeded(&loss, 100, bound) <= promised, "{bound:?}");
    }

    let loss = EpsilonDelta::new("0.002", "0.0018").unwrap();
    let rogers = RogersOdometer::new(200, "0.36".parse().unwrap()).unwrap();
    let bound = after(rogers, &loss, 100).unwrap();
    assert!(exceeded(&loss, 100, Some(bound)) <= number(0.36), "{bound}");
    let printed = Epsilon::from_units(bound.units() - 18 * 10_u128.pow(25)).unwrap();
    assert!(exceeded(&loss, 100, Some(printed)) > number(0.999));
}

/// `ln E e^{λZ}` of the mechanism above: what the module's doc bounds.
#[test]
fn the_bound_on_the_moments_holds_and_is_tight_to_first_order() {
    let (one, two) = (number(1.0), number(2.0));
    for epsilon in [1e-3, 0.1, 1.0, 3.0, 10.0] {
        for delta in [0.0, 1e-6, 0.01, 0.5, 1.0] {
            for lambda in [1e-6, 0.1, 1.0, 7.0, 50.0] {
                let [epsilon, delta, lambda] = [epsilon, delta, lambda].map(number);
                let grown = oracle::exp(&epsilon);
                let sinh = (&grown - &one / &grown) / &two;
                let p = &grown / (&grown + &one) + &delta / (&two * &sinh);
                let up = oracle::exp(&(&lambda * &epsilon));
                let moment = oracle::ln(&(&p * &up + (&one - &p) / &up));
                let rho = &epsilon * (&grown - &one) / (&grown + &one);
                let drift = &rho + &delta * &epsilon / &sinh;
                let bound = &lambda * &lambda * &rho + &lambda * &drift;
                assert!(moment <= bound, "{epsilon} {delta} {lambda}");
                // The mean is the drift: no smaller one would do.
                if lambda == number(1e-6) {
                    assert!(moment > lambda * drift * (number(1.0) - number(1e-2)));
                }
            }
        }
    }
}

/// Gaussian noise is ρ-zCDP, and its loss has mean ρ and variance 2ρ: at a fixed time the bound of
/// the tangent is passed with less than its probability, and not with much less.
#[test]
fn gaussian_losses_pass_the_bound_seldom_enough() {
    let slack = Slack::pure("0.05".parse().unwrap()).unwrap();
    let at: Variance = "0.5".parse().unwrap();
    let mut odometer = VarianceOdometer::tangent_at(at, slack).for_zcdp();
    for _ in 0..25 {
        odometer = odometer.add(&"0.01".parse().unwrap()).unwrap();
    }
    let bound = real(odometer.reading().bound().unwrap().units(), 27);
    let standard = (bound - number(0.25)) / oracle::sqrt(&number(0.5));
    let beyond = oracle::tail(&standard);
    assert!(beyond < number(0.05) && beyond > number(0.005), "{beyond}");
}

#[test]
fn a_reading_follows_what_was_counted() {
    let slack = Slack::new("1e-6".parse().unwrap(), "1e-6".parse().unwrap()).unwrap();
    let odometer = VarianceOdometer::mixture("0.01".parse().unwrap(), slack);
    let mut concentrated = odometer.clone().for_zcdp();
    for _ in 0..5 {
        concentrated = concentrated.add(&"0.005".parse().unwrap()).unwrap();
    }
    let at: Variance = "0.05".parse().unwrap();
    assert_eq!(concentrated.reading().bound(), odometer.bound_at(at));

    // A pure launch of 0.1 counts as a little less than half of 0.1², and δ is added.
    let after = |delta| {
        after(
            odometer.clone(),
            &EpsilonDelta::new("0.1", delta).unwrap(),
            5,
        )
    };
    let pure = bound(after("0"));
    assert!(pure < bound(odometer.bound_at(at)));
    assert!(pure > bound(odometer.bound_at("0.04995".parse().unwrap())));
    let more = bound(after("1e-7")) - pure;
    assert!(oracle::abs(&(more - number(5e-7))) < number(1e-15));
}

#[test]
fn rogers_has_two_branches_and_exact_ends() {
    let read = |epsilon: &str| {
        let mut odometer = RogersOdometer::new(10, "1e-6".parse().unwrap()).unwrap();
        let loss = EpsilonDelta::new(epsilon, "0").unwrap();
        odometer = odometer.add(&loss).unwrap();
        odometer.reading().bound().unwrap()
    };
    // V = 1/n² and V = 1 belong to the tighter branch; a hair outside is far above.
    assert!(read("0.1") < read("0.099999999999999999999999999"));
    assert!(read("1.000000000000000000000000001") > Epsilon::try_from("10").unwrap());
    assert!(read("1") < Epsilon::try_from("10").unwrap());
}

#[test]
fn rogers_refuses_what_its_theorem_does_not_cover() {
    let delta = |text: &str| text.parse::<Delta>().unwrap();
    for (rows, slack, error) in [
        (1, "1e-6", TOO_FEW_ROWS),
        (2, "0", RuleError::NoSlack),
        (2, "0.3679", ABOVE_ONE_OVER_E),
        (2, "1", ABOVE_ONE_OVER_E),
    ] {
        assert_eq!(RogersOdometer::new(rows, delta(slack)), Err(error));
    }
    assert!(RogersOdometer::new(2, delta("0.3678")).is_ok());
}

#[test]
fn a_drift_that_cannot_be_held_is_no_bound() {
    let mut odometer = RogersOdometer::new(10, "1e-6".parse().unwrap()).unwrap();
    let loss = EpsilonDelta::new("100", "0").unwrap();
    odometer = odometer.add(&loss).unwrap();
    assert_eq!(odometer.reading().bound(), None);
}

/// The constants of the stitched odometer are at least those that they round.
#[test]
fn howards_constants_are_rounded_up() {
    let first = (2_f64.powf(0.25) + 2_f64.powf(-0.25)) / 2_f64.sqrt();
    assert!(first * 1.4_f64.sqrt() < 1.7 && first * 1.4_f64.sqrt() > 1.698);
    assert!(1.4_f64.recip() < 0.72);
    // Σ n^−1.4 up to N, and the integral of the rest from N, which is more than the rest.
    let terms = 100_000;
    let zeta = (1..=terms)
        .rev()
        .map(|n| f64::from(n).powf(-1.4))
        .sum::<f64>()
        + f64::from(terms).powf(-0.4) / 0.4;
    let third = zeta / 2_f64.ln().powf(1.4);
    assert!(third < 5.2 && third > 5.18);
    // Where ln ln(2V/v₀) is negative, at worst ln ln 2, a larger factor before it makes the bound
    // smaller. The larger 0.72 more than makes up for that, even at δ' = 1.
    let worst = 2_f64.ln().ln();
    let exact = first * first * (1.4 * worst + third.ln());
    assert!(1.7 * 1.7 * (worst + 0.72 * 5.2_f64.ln()) > exact);
}
