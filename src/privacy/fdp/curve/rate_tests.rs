//! Sampling at rates next to 1, and at 1.

use super::tests::{all, text};
use super::*;

/// μ, q and s; q·δ(ln(1 + (γ − 1)/q)) and w·δ(ln(γq/w)) with w = 1 − γ(1 − q), where δ is the profile of
/// N(μ, 1) against N(0, 1): in 80 digits (mpmath).
const PROFILES: &str = "
    5 0.999 6.5 0.8359237950809216 0.26075935519937925
    5 0.999 20.0 0.047256169942073793 0.0
    5 0.999 35.0 1.7298328415296102e-6 0.0
    5 0.999999999 6.5 0.83680863280951423 0.83680804513849779
    5 0.999999999 20.0 0.047322964121712457 0.018397996087153136
    5 0.999999999 35.0 1.733228912829268e-6 0.0
    5 0.9999999999999999 6.5 0.83680863369437212 0.83680863369431335
    5 0.9999999999999999 20.0 0.047322964188519652 0.047322960947266805
    5 0.9999999999999999 35.0 1.7332289162269408e-6 1.2347782464128256e-6
    5 0.99999999999999999999 6.5 0.83680863369437221 0.8368086336943722
    5 0.99999999999999999999 20.0 0.047322964188519659 0.047322964188195533
    5 0.99999999999999999999 35.0 1.7332289162269411e-6 1.7331750290761787e-6
    5 1 6.5 0.83680863369437221 0.83680863369437221
    5 1 20.0 0.047322964188519659 0.047322964188519659
    5 1 35.0 1.7332289162269411e-6 1.7332289162269411e-6
    5.86727154988713 0.999 16.10099095598215 0.50750117829369968 0.0
";

#[test]
fn rates_next_to_one_lose_no_digits() {
    for line in PROFILES.lines().filter(|line| !line.is_empty()) {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let [mu, rate, s, remove, add] = *columns else {
            panic!("{line}");
        };
        let curve = Curve::Sampled {
            rate: text(rate),
            base: Arc::new(Curve::Gaussian(text(mu))),
        };
        for (direction, truth) in [(Adjacency::Remove, remove), (Adjacency::Add, add)] {
            let truth: f64 = text(truth);
            let height = curve.at(direction, Interval::exactly(text(s))).height;
            let (low, high) = (height.low(), height.high());
            let says = format!("{line}, {direction:?}: {height:?}");
            assert!(low <= truth * (1.0 + 1e-15), "{says}");
            assert!(truth <= high * (1.0 + 1e-15), "{says}");
            assert!(high - low <= 1e-11 * truth, "{says}");
        }
    }
}

#[test]
fn a_sample_of_everybody_is_no_sample() {
    for base in all() {
        let sampled = Curve::Sampled {
            rate: Delta::ONE,
            base: Arc::new(base.clone()),
        };
        for direction in Adjacency::BOTH {
            for s in [-800.0, -35.0, -1.0, 0.0, 1e-3, 1.0, 35.0, 800.0] {
                let s = Interval::exactly(s);
                let [one, other] = [&sampled, &base].map(|curve| curve.at(direction, s));
                assert_eq!(
                    (one.height, one.slope),
                    (other.height, other.slope),
                    "{base:?} {s:?}"
                );
            }
        }
    }
}
