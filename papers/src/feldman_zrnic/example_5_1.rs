//! Example 5.1: a sum is an odometer for truncated views, and not given its reading.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::Arc;

use queryables::account::{Accumulator, RestartedFilters, Sum};
use queryables::machine::{CoinSource, Machine, Replay};
use queryables::mechanisms::{ApproxRandomizedResponse, Response};
use queryables::number::{Delta, Epsilon};
use queryables::privacy::Rdp;

use crate::rogers::{AdaptParamComp, Challenge};

/// At order 2: ⊤ in the first round buys a second one.
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
