use super::*;
use crate::tests::oracle::{self, Real};
use proptest::prelude::*;

pub(super) fn text<T: std::str::FromStr>(number: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    number.parse().unwrap()
}

/// One of every kind.
pub(crate) fn all() -> Vec<Curve> {
    let gaussian = |mu: &str| Curve::Gaussian(text(mu));
    let response = |epsilon, delta| Curve::Response(EpsilonDelta::new(epsilon, delta).unwrap());
    let sampled = |rate: &str, base: Curve| Curve::Sampled {
        rate: text(rate),
        base: Arc::new(base),
    };
    let opposite = |rate: &str, mu: &str| Curve::Opposite {
        rate: text(rate),
        mu: text(mu),
    };
    let masses: Vec<(Delta, Delta)> = [("0.1", "0"), ("0.5", "0.2"), ("0.4", "0.7"), ("0", "0.1")]
        .map(|(p, q)| (text(p), text(q)))
        .into();
    vec![
        gaussian("0"),
        gaussian("0.3"),
        gaussian("2"),
        response("0.7", "0"),
        response("0.7", "0.01"),
        Curve::BoundedRange(text("0.9")),
        Curve::Laplace(text("1.1")),
        Curve::DiscreteLaplace {
            epsilon: text("1.2"),
            steps: 3,
        },
        Curve::RoundedGaussian {
            deviation: Deviation::Sigma(text("1.7")),
            steps: 2,
        },
        Curve::RoundedGaussian {
            deviation: Deviation::OverRho(text("5.5")),
            steps: 1,
        },
        Curve::Finite(masses.into()),
        sampled("0.01", gaussian("1")),
        sampled("0.5", gaussian("2.25")),
        sampled("1", gaussian("0.5")),
        sampled("0.2", Curve::Laplace(text("1.1"))),
        sampled("0.3", sampled("0.5", gaussian("1"))),
        opposite("0.01", "1"),
        opposite("0.6", "1.7"),
        opposite("1", "0.5"),
    ]
}

fn contains(interval: Interval, number: &Real) {
    let (low, high) = (oracle::real(interval.low()), oracle::real(interval.high()));
    // The oracle itself has some 70 digits.
    let (low, high) = (low - oracle::exp2(-220), high + oracle::exp2(-220));
    assert!(low <= *number && *number <= high, "{interval:?} {number}");
}

/// max P(A) − γQ(A) for N(μ, 1) against N(0, 1), by the density's formula.
fn gaussian(mu: &Real, s: &Real) -> Real {
    let (middle, half) = (s / mu, mu / oracle::real(2.0));
    oracle::cdf(&(&half - &middle)) - oracle::exp(s) * oracle::cdf(&(-half - middle))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn gaussians_are_enclosed(mu in 0.05..4.0_f64, s in -4.0..6.0_f64) {
        let mu: Mu = mu.try_into().unwrap();
        let curve = Curve::Gaussian(mu);
        let truth = gaussian(&oracle::quantity(mu), &oracle::real(s));
        let point = curve.at(Adjacency::Remove, Interval::exactly(s));
        contains(point.height, &truth);
        prop_assert!(point.height.high() - point.height.low() < 1e-14);
    }

    #[test]
    fn sampled_gaussians_are_enclosed(
        rate in prop_oneof![(1..999_u32, Just(3_u32)), (1..10_u32, 3..38_u32)],
        near_one: bool, mu in 0.05..4.0_f64, s in prop_oneof![-1.0..3.0_f64, -4.0..6.0_f64],
    ) {
        // Some digits, next to 0 or next to 1.
        let (digits, decimals) = rate;
        let small = Delta::from_units(u128::from(digits) * 10_u128.pow(38 - decimals)).unwrap();
        let rate = if near_one { Delta::ONE.saturating_sub(small) } else { small };
        let mu: Mu = mu.try_into().unwrap();
        let curve = Curve::Sampled { rate, base: Arc::new(Curve::Gaussian(mu)) };
        let (q, one) = (oracle::quantity(rate), oracle::real(1.0));
        // The truth from Tran et al. §2.2: P − γQ = (1−q−γ)N(0,1) + qN(μ,1), above the place where
        // that is zero.
        let truth = |gamma: Real| {
            let odds = (&gamma - &one + &q) / &q;
            if odds <= Real::ZERO {
                return &one - gamma;
            }
            &q * gaussian(&oracle::quantity(mu), &oracle::ln(&odds))
        };
        let point = curve.at(Adjacency::Remove, Interval::exactly(s));
        contains(point.height, &truth(oracle::exp(&oracle::real(s))));
        prop_assert!(point.height.high() - point.height.low() < 1e-14);
        // H(1/γ) gives the other direction (Tran et al. A.8).
        let gamma = oracle::exp(&oracle::real(s));
        let other = &one - &gamma + &gamma * truth(&one / &gamma);
        let point = curve.at(Adjacency::Add, Interval::exactly(s));
        contains(point.height, &other);
        prop_assert!(point.height.high() - point.height.low() < 1e-13);
    }

    /// The place where P = γQ is found by bisection.
    #[test]
    fn replaced_rows_are_enclosed(
        rate in 0.001..0.999_f64, mu in 0.05..6.0_f64, s in -3.0..3.0_f64,
    ) {
        let (rate, mu): (Delta, Mu) = (rate.try_into().unwrap(), mu.try_into().unwrap());
        let (q, m, one) = (oracle::quantity(rate), oracle::quantity(mu), oracle::real(1.0));
        let gamma = oracle::exp(&oracle::real(s));
        let mixture = |x: &Real| {
            let exponent = &m * x - &m * &m / oracle::real(2.0);
            &one - &q + &q * oracle::exp(&exponent)
        };
        let (mut low, mut high) = (oracle::real(-200.0), oracle::real(200.0));
        for _ in 0..180 {
            let middle = (&low + &high) / oracle::real(2.0);
            if mixture(&middle) > &gamma * mixture(&-&middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        let above = |mean: &Real| oracle::cdf(&(mean - &low));
        let nothing = (&one - &q) * above(&oracle::real(0.0));
        let truth = &nothing + &q * above(&m) - gamma * (&nothing + &q * above(&-&m));
        let curve = Curve::Opposite { rate, mu };
        for direction in Adjacency::BOTH {
            let height = curve.at(direction, Interval::exactly(s)).height;
            contains(height, &truth);
            prop_assert!(height.high() - height.low() < 1e-13, "{height:?}");
        }
    }

    #[test]
    fn slopes_are_those_of_tangents(s in -3.0..3.0_f64, t in -3.0..3.0_f64, at in 0..18_usize) {
        let curve = &all()[at];
        for direction in Adjacency::BOTH {
            let point = |s: f64| curve.at(direction, Interval::exactly(s));
            let (here, there) = (point(s), point(t));
            let step = Interval::exactly(t).exp() - Interval::exactly(s).exp();
            let tangent = here.height - here.slope * step;
            prop_assert!(there.height.high() >= tangent.low(), "{curve} {s} {t}");
        }
    }

    #[test]
    fn the_other_direction_is_the_reflection(s in -3.0..3.0_f64, at in 0..18_usize) {
        // 1 − γ + γH(1/γ), Tran et al. A.8.
        let curve = &all()[at];
        let odds = Interval::exactly(s).exp();
        let back = curve.at(Adjacency::Remove, Interval::exactly(-s)).height;
        let reflected = Interval::ONE - odds + odds * back;
        let given = curve.at(Adjacency::Add, Interval::exactly(s)).height;
        prop_assert!(given.low() <= reflected.high() && reflected.low() <= given.high(), "{curve}");
    }
}

/// F(s) of the logistic law is 1/(1 + e^(−s)). Moved by ε, its likelihood ratio rises, so that the
/// best events are those above a place.
#[test]
fn a_bounded_range_is_logistic_noise() {
    for range in ["1e-9", "0.3", "2", "30"] {
        let curve = Curve::BoundedRange(text(range));
        let size: f64 = range.parse().unwrap();
        let above = |x: f64| 1.0 / (1.0 + x.exp());
        for share in -24..=24 {
            let s = size * f64::from(share) / 16.0;
            let events = (-4000..=4000).map(|step| f64::from(step) * 0.02);
            let heights = events.map(|x| above(x - size) - s.exp() * above(x));
            let truth = heights.fold((1.0 - s.exp()).max(0.0), f64::max);
            for direction in Adjacency::BOTH {
                let given = curve.at(direction, Interval::exactly(s)).height;
                assert!(
                    given.high() >= truth - 1e-15,
                    "{range} {s} {given:?} {truth}"
                );
                // Events are 0.02 apart, and the height is flat at its top.
                assert!(given.low() <= truth + 1e-4 * size.min(1.0), "{range} {s}");
                assert!(given.high() - given.low() <= 1e-13, "{range} {s} {given:?}");
            }
        }
    }
}

#[test]
fn integer_noise_agrees_with_sums_over_its_answers() {
    let sum = |odds: &dyn Fn(i32) -> (f64, f64), s: f64| -> f64 {
        (-200..=200)
            .map(odds)
            .map(|(p, q)| (p - s.exp() * q).max(0.0))
            .sum()
    };
    let tail = |t: f64| 0.5 * libm::erfc(t / std::f64::consts::SQRT_2);
    for step in -40..=40 {
        let s = f64::from(step) * 0.05;
        let interval = Interval::exactly(s);
        let laplace = Curve::DiscreteLaplace {
            epsilon: text("1.2"),
            steps: 3,
        };
        let whole = (1.0 - (-0.4_f64).exp()) / (1.0 + (-0.4_f64).exp());
        let odds = |k: i32| whole * (-0.4 * f64::from(k.abs())).exp();
        let truth = sum(&|k| (odds(k - 3), odds(k)), s);
        let given = laplace.at(Adjacency::Remove, interval).height;
        assert!(
            (given.middle() - truth).abs() < 1e-13,
            "{s} {given:?} {truth}"
        );
        let odds = |k: i32| {
            let k = f64::from(k);
            tail((k - 0.5) / 1.7) - tail((k + 0.5) / 1.7)
        };
        // Over many steps the best threshold is far from that of no step.
        for steps in [2_u32, 9] {
            let (deviation, shift) = (Deviation::Sigma(text("1.7")), steps.cast_signed());
            let gaussian = Curve::RoundedGaussian { deviation, steps };
            let truth = sum(&|k| (odds(k - shift), odds(k)), s);
            let given = gaussian.at(Adjacency::Add, interval).height;
            assert!(
                (given.middle() - truth).abs() < 1e-13,
                "{steps} {s} {given:?} {truth}"
            );
        }
    }
}

/// Many small steps are almost none, and what is rounded to them is no less private.
#[test]
fn many_steps_are_laplace_noise() {
    let plain = Curve::Laplace(text("0.5"));
    for (steps, apart) in [(1_000_003_u64, 1e-6), (1 << 44, 1e-12)] {
        let discrete = Curve::DiscreteLaplace {
            epsilon: text("0.5"),
            steps,
        };
        for place in -50..=50 {
            let s = Interval::exactly(f64::from(place) * 0.01);
            let [one, other] = [&discrete, &plain].map(|curve| curve.at(Adjacency::Remove, s));
            let more = one.height.middle() - other.height.middle();
            assert!((-1e-13..apart).contains(&more), "{steps} {s:?} {more}");
            assert!(one.height.high() - one.height.low() < 1e-13, "{one:?}");
        }
    }
}
