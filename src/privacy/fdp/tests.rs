//! Compositions against exact values from elsewhere.

use proptest::prelude::*;

use super::atoms::Atoms;
use super::curve::Curve;
use super::lattice::Lattice;
use super::table::Table;
use super::*;
use crate::account::nonadaptive::tight_delta;
use crate::number::{Delta, Epsilon, Interval, Mu};
use crate::privacy::convert::gdp;
use crate::privacy::{Distance, EpsilonDelta, Measure, UnknownLoss};

fn text<T: std::str::FromStr>(number: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    number.parse().unwrap()
}

fn grid(step: &str) -> Grid {
    Grid::new(text(step)).unwrap()
}

fn float(delta: Delta) -> f64 {
    Interval::from(delta).middle()
}

/// The bounds contain the truth, which is given to 1e-12 of it, and are this narrow.
#[track_caller]
fn holds(bounds: Bounds<Delta>, truth: f64, width: f64) {
    let (lower, upper) = (float(bounds.lower), float(bounds.upper));
    let slack = 1e-12 * truth;
    assert!(
        lower <= truth + slack && truth - slack <= upper,
        "{bounds} {truth}"
    );
    assert!(upper - lower <= width, "{bounds} is wider than {width}");
}

#[test]
fn gaussians_compose_to_a_gaussian() {
    // 16 launches of ½ are one of 2 (Tran et al. A.18). An aim makes bounds wider far from it.
    for (aim, width) in [("0", 2e-3), ("1e-5", 0.1), ("1e-12", 1.0)] {
        let grid = grid("2e-2").aimed_at(text(aim)).spread_by(4);
        let composed = Profile::gaussian(text("0.5")).power(16, &grid).unwrap();
        for epsilon in ["0", "0.5", "1.234", "3", "7", "11"] {
            let truth = float(gdp::delta(text("2"), text(epsilon)));
            for direction in Adjacency::BOTH {
                holds(composed.delta(direction, text(epsilon)), truth, width);
            }
        }
    }
    // What an aim buys: relative precision where δ is 1e-20.
    let grid = grid("2e-2").aimed_at(text("1e-20")).spread_by(4);
    let composed = Profile::gaussian(text("0.5")).power(16, &grid).unwrap();
    let epsilon = composed
        .epsilon_within(text("1e-20"), text("0.01"))
        .unwrap();
    let truth = gdp::epsilon(text("2"), text("1e-20")).unwrap();
    assert!(
        epsilon.lower <= truth && truth <= epsilon.upper,
        "{epsilon} {truth}"
    );
}

#[test]
fn responses_compose_as_the_binomial_says() {
    let grid = grid("0.1").aimed_at(text("1e-6"));
    for launches in [1, 2, 7, 30] {
        let composed = Profile::randomized_response(text("0.1"))
            .power(launches, &grid)
            .unwrap();
        for epsilon in ["0", "0.05", "0.2", "0.77", "1.5"] {
            let truth = float(tight_delta(launches, text("0.1"), text(epsilon)));
            holds(
                composed.delta(Adjacency::Remove, text(epsilon)),
                truth,
                1e-9,
            );
        }
    }
}

#[test]
fn what_gives_everything_away_adds_up() {
    // 1 − (1−δ)^k (1 − δ_k) (Kairouz, Oh, Viswanath 2015).
    let loss = EpsilonDelta::new("0.1", "1e-3").unwrap();
    let composed = Profile::approx_dp(loss).power(10, &grid("0.1")).unwrap();
    for epsilon in ["0", "0.35", "0.9", "2"] {
        let pure = float(tight_delta(10, text("0.1"), text(epsilon)));
        let truth = 1.0 - 0.999_f64.powi(10) * (1.0 - pure);
        holds(composed.delta(Adjacency::Add, text(epsilon)), truth, 1e-9);
    }
    assert_eq!(
        composed.epsilon(text("1e-3")),
        Err(FdpError::BelowFloor {
            asked: text("1e-3"),
            floor: composed.floor(),
        })
    );
    assert!(composed.floor() > text("0.009955") && composed.floor() < text("0.009956"));
}

#[test]
fn beyond_the_largest_losses_only_infinite_ones_count() {
    // Five losses of at most 0.1, rounded up to multiples of 0.01: at most 0.55.
    let grid = grid("1e-2").aimed_at(text("1e-15"));
    let composed = Profile::laplace(text("0.1")).power(5, &grid).unwrap();
    for epsilon in ["0.56", "0.6", "3", "600"] {
        for direction in Adjacency::BOTH {
            assert_eq!(composed.delta(direction, text(epsilon)).upper, Delta::ZERO);
        }
    }
    assert_eq!(composed.floor(), Delta::ZERO);
    // All five are 0.1 with probability 1/32: δ is at least (1 − e^-0.05)/32.
    let inside = composed.delta(Adjacency::Remove, text("0.45"));
    assert!(inside.upper > text("0.001524"), "{inside}");
    // Without the person, a loss is at most −ln(1 − q): what is cut off is all that counts.
    let step = Profile::sampled_gaussian_by(text("0.001"), text("1"));
    let grid = Grid::new(text("1e-3")).unwrap().aimed_at(text("1e-9"));
    let composed = step.power(64, &grid).unwrap();
    assert!(composed.delta(Adjacency::Add, text("0.2")).upper < text("1e-17"));
    // A leak of 1 − (1 − 1e-3)^10 remains, and no more than that.
    let leaky = EpsilonDelta::new("0.1", "1e-3").unwrap();
    let composed = Profile::approx_dp(leaky).power(10, &grid).unwrap();
    let leak = 1.0 - 0.999_f64.powi(10);
    holds(composed.delta(Adjacency::Remove, text("1.2")), leak, 1e-13);
}

/// The largest loss of a launch is 0.139, which is 0.14 on this grid: together, launches can lose nearly as
/// much as the grid has. So nothing may be left out one place before.
#[test]
fn the_last_cell_before_the_largest_losses_counts() {
    let response = Profile::randomized_response(text("0.139"));
    for (launches, inside, end) in [(2, ["0.21", "0.27"], "0.28"), (3, ["0.35", "0.41"], "0.42")] {
        let composed = response.power(launches, &grid("0.07")).unwrap();
        for epsilon in inside {
            let truth = tight_delta(launches, text("0.139"), text(epsilon));
            let upper = composed.delta(Adjacency::Remove, text(epsilon)).upper;
            assert!(upper >= truth && truth > text("1e-4"), "{upper} {truth}");
        }
        assert!(composed.delta(Adjacency::Remove, text(end)).upper <= text("1e-37"));
    }
}

#[test]
fn losses_that_end_are_tilted_too() {
    // 60 responses end at 6 with a probability of 0.525^60 = 1.6e-17, before δ is 1e-25.
    let grid = grid("0.1").aimed_at(text("1e-25"));
    let response = Profile::randomized_response(text("0.1"));
    let composed = response.power(60, &grid).unwrap();
    let truth = float(tight_delta(60, text("0.1"), text("5.95")));
    assert!(truth > 1e-19 && truth < 1e-17, "{truth}");
    let upper = float(composed.delta(Adjacency::Remove, text("5.95")).upper);
    assert!(upper >= truth && upper < truth * 1.001, "{upper} {truth}");
}

#[test]
fn one_launch_needs_no_grid() {
    let step = Profile::sampled_gaussian_by(text("0.01"), text("1"));
    let nothing = (Profile::laplace(text("1")), 0);
    let parts = [nothing, (step.clone(), 1)];
    let epsilon = Profile::composed_epsilon(&parts, text("1e-12"), text("1e-9")).unwrap();
    assert_eq!(Ok(epsilon), step.epsilon(text("1e-12")));
    assert!(epsilon.lower > text("2.07542") && epsilon.upper < text("2.07544"));
    // Two launches need one, and one that is fine enough is found.
    let twice = Profile::composed_epsilon(&[(step, 2)], text("1e-12"), text("1e-2")).unwrap();
    assert!(
        twice.lower > epsilon.upper && twice.upper < text("2.2"),
        "{twice}"
    );
}

#[test]
fn no_grid_is_fine_enough_for_a_leak() {
    let leaky = Profile::approx_dp(EpsilonDelta::new("0.1", "1e-3").unwrap());
    let error = Profile::composed_epsilon(&[(leaky, 10)], text("1e-3"), text("1e-2"));
    let Err(FdpError::BelowFloor { asked, floor }) = error else {
        panic!("{error:?}");
    };
    assert!(asked == text("1e-3") && floor > text("0.009955") && floor < text("0.009956"));
}

/// E over N(μ, 1) of the other's profile at s minus the loss, by the trapezoidal rule.
fn integrated(rate: f64, mu: f64, s: f64, other: impl Fn(f64) -> f64) -> f64 {
    (-2000..=3000)
        .map(|index| {
            let x = f64::from(index) / 200.0;
            let ratio = 1.0 + rate * libm::expm1(mu * x - 0.5 * mu * mu);
            let density = libm::exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt();
            density * ratio * other(s - libm::log(ratio)) / 200.0
        })
        .sum()
}

#[test]
fn sampled_gaussians_compose_as_the_integral_says() {
    let (one, other) = (
        Profile::sampled_gaussian_by(text("0.2"), text("1.5")),
        Profile::sampled_gaussian_by(text("0.5"), text("0.7")),
    );
    let composed = one.tensor(&other, &grid("5e-3")).unwrap();
    let curve = other.curve().unwrap().clone();
    for epsilon in ["0", "0.3", "1", "2"] {
        let height = |s: f64| {
            curve
                .at(Adjacency::Remove, Interval::exactly(s))
                .height
                .middle()
        };
        let truth = integrated(0.2, 1.5, epsilon.parse().unwrap(), height);
        let bounds = composed.delta(Adjacency::Remove, text(epsilon));
        assert!(float(bounds.lower) <= truth + 1e-9 && truth - 1e-9 <= float(bounds.upper));
        assert!(float(bounds.upper) - float(bounds.lower) < 1e-4, "{bounds}");
    }
}

#[test]
fn a_composition_can_be_composed_again() {
    let grid = grid("1e-2");
    let two = Profile::gaussian(text("0.5")).power(2, &grid).unwrap();
    let eight = two.power(4, &grid).unwrap();
    for epsilon in ["0", "1", "3"] {
        // √8/2 = √2.
        let mu: Mu = text("1.414213562373095048801688724");
        let truth = float(gdp::delta(mu, text(epsilon)));
        holds(eight.delta(Adjacency::Remove, text(epsilon)), truth, 5e-4);
    }
    let elsewhere = two.power(2, &Grid::new(text("2e-2")).unwrap());
    assert_eq!(
        elsewhere,
        Err(FdpError::DifferentSteps {
            one: text("1e-2"),
            other: text("2e-2"),
        })
    );
}

#[test]
fn orders_and_divergences() {
    let grid = grid("1e-2");
    let gaussian = |mu: &str| Profile::gaussian(text(mu));
    let compare =
        |one: &Profile, other: &Profile| one.compare(other, Adjacency::Remove, &grid).unwrap();
    assert_eq!(compare(&gaussian("1"), &gaussian("1")), Blackwell::Equal);
    assert_eq!(
        compare(&gaussian("1"), &gaussian("1.1")),
        Blackwell::Ordered
    );
    assert_eq!(
        compare(&gaussian("1.1"), &gaussian("1")),
        Blackwell::Reversed
    );
    let sampled = Profile::sampled_gaussian_by(text("0.1"), text("1"));
    assert_eq!(compare(&sampled, &gaussian("1")), Blackwell::Ordered);
    // Nothing proves it, and in the tails the bounds overlap.
    let composed = gaussian("0.6").tensor(&gaussian("0.8"), &grid).unwrap();
    let Blackwell::Undecided { within } = compare(&composed, &gaussian("1")) else {
        panic!("they are the same");
    };
    assert!(within < text("1e-3"), "{within}");
    let divergence = composed
        .divergence(&gaussian("1"), Adjacency::Remove, &grid)
        .unwrap();
    assert!(divergence.lower == Delta::ZERO && divergence.upper < text("1e-3"));
    // sup (H_2 − H_1)/(1 + γ) is at γ = 1: (0.6827 − 0.3829)/2.
    let divergence = gaussian("1")
        .divergence(&gaussian("2"), Adjacency::Remove, &grid)
        .unwrap();
    holds(divergence, 0.149_882_289_3, 1e-4);
    assert_eq!(
        gaussian("1").partial_cmp(&gaussian("2")),
        Some(std::cmp::Ordering::Less)
    );
    assert_eq!(
        gaussian("1").partial_cmp(&Profile::laplace(text("1"))),
        None
    );
}

#[test]
fn trade_offs_are_those_of_closed_forms() {
    // Gaussians (Dong, Roth, Su 2022), and (1−q)(1−α) + qG_μ(α) (Tran et al. §2.2).
    let sampled = Profile::sampled_gaussian_by(text("0.3"), text("1.2"));
    let composed = Profile::gaussian(text("0.6"))
        .power(4, &grid("1e-2"))
        .unwrap();
    for alpha in ["0.001", "0.05", "0.3", "0.9"] {
        let size: f64 = alpha.parse().unwrap();
        let plain = float(gdp::tradeoff(text("1.2"), text(alpha)));
        holds(
            Profile::gaussian(text("1.2")).trade_off(Adjacency::Remove, text(alpha)),
            plain,
            1e-7,
        );
        let truth = 0.7 * (1.0 - size) + 0.3 * plain;
        holds(sampled.trade_off(Adjacency::Add, text(alpha)), truth, 1e-7);
        holds(
            composed.trade_off(Adjacency::Remove, text(alpha)),
            plain,
            1e-3,
        );
        // The inverse: T[P, Q] at what T[Q, P] misses.
        let missed = sampled.trade_off(Adjacency::Add, text(alpha));
        let back = sampled.trade_off(Adjacency::Remove, missed.lower);
        assert!((float(back.upper) - size).abs() < 1e-6, "{back}");
        // The worse direction misses least.
        let worst = sampled
            .symmetrised()
            .trade_off(Adjacency::Remove, text(alpha));
        assert!(worst.lower <= missed.upper);
    }
    // (ε, δ): max(0, 1 − δ − e^ε α, e^-ε (1 − δ − α)).
    let profile = Profile::approx_dp(EpsilonDelta::new("0.5", "0.01").unwrap());
    for alpha in [0.01, 0.2, 0.3774, 0.6, 0.995] {
        let truth = (0.99 - 0.5_f64.exp() * alpha)
            .max((-0.5_f64).exp() * (0.99 - alpha))
            .max(0.0);
        holds(
            profile.trade_off(Adjacency::Remove, alpha.try_into().unwrap()),
            truth,
            1e-6,
        );
    }
}

#[test]
fn polygons_are_checked() {
    let polygon = |corners: &[(&str, &str)]| {
        let corners: Vec<_> = corners.iter().map(|(a, b)| (text(a), text(b))).collect();
        Profile::from_trade_off(&corners)
    };
    let wrong = |corner, why| Err(FdpError::NotATradeOff { corner, why });
    assert_eq!(polygon(&[("0.5", "0.6")]), wrong(0, "β is more than 1 − α"));
    assert_eq!(
        polygon(&[("0.5", "0.3"), ("0.4", "0.2")]),
        wrong(1, "α falls")
    );
    assert_eq!(
        polygon(&[("0.1", "0.3"), ("0.4", "0.4")]),
        wrong(1, "β rises")
    );
    assert_eq!(
        polygon(&[("0.1", "0.8"), ("0.2", "0.5")]),
        wrong(1, "not convex")
    );
    // Randomized response has one corner, at 1/(1 + e^ε).
    let response = polygon(&[("0.25", "0.25")]).unwrap();
    holds(
        response.trade_off(Adjacency::Remove, text("0.1")),
        0.7,
        1e-7,
    );
    holds(response.worst_delta(Epsilon::ZERO), 0.5, 1e-12);
    assert!(polygon(&[]).unwrap().worst_delta(Epsilon::ZERO).upper < text("1e-14"));
}

#[test]
fn bad_input_says_what_to_do() {
    for step in ["0", "1e-10", "2"] {
        let step = text(step);
        assert_eq!(Grid::new(step), Err(FdpError::Step { step }));
    }
    let gaussian = Profile::gaussian(text("1"));
    assert_eq!(Profile::compose(&[], &grid("0.1")), Err(FdpError::NoParts));
    assert_eq!(gaussian.power(0, &grid("0.1")), Err(FdpError::NoParts));
    assert_eq!(
        gaussian.power(1, &grid("1e-4").with_most_points(1024)),
        Err(FdpError::TooManyPoints {
            needed: 1 << 18,
            most: 1024
        })
    );
    let error = Profile::gaussian(text("40"))
        .power(1, &grid("0.1"))
        .unwrap_err();
    assert!(matches!(error, FdpError::TooFar { .. }), "{error}");
    let composed = gaussian.power(4, &grid("0.2")).unwrap();
    let error = composed
        .epsilon_within(text("1e-3"), text("1e-6"))
        .unwrap_err();
    let FdpError::TooCoarse { asked, reached } = error else {
        panic!("{error}");
    };
    assert!(asked == text("1e-6") && reached > text("1e-3"));
    assert!(
        error
            .to_string()
            .ends_with("choose a smaller step or aim at δ")
    );
    assert!(matches!(
        composed.epsilon(text("1e-30")),
        Err(FdpError::BelowFloor { .. })
    ));
    assert_eq!(composed.mu(), Err(FdpError::NoGaussianBound));
    assert_eq!(gaussian.mu(), Ok(text("1")));
    assert_eq!(
        Profile::rounded_gaussian(text("2"), 3).mu(),
        Ok(text("1.5"))
    );
    let group = FDp.group(&composed, Distance::new(3).unwrap());
    let offered = "group privacy of this trade-off function is not offered";
    assert_eq!(group, Err(UnknownLoss(offered)));
    let group = FDp.group(&gaussian, Distance::new(3).unwrap());
    assert_eq!(group, Ok(Profile::gaussian(text("3"))));
}

#[test]
fn groups_of_pure_profiles_lose_as_many_times_as_much() {
    let three = Distance::new(3).unwrap();
    let of = |profile: Profile| FDp.group(&profile, three).unwrap();
    let response = Profile::randomized_response(text("0.9"));
    assert_eq!(of(Profile::randomized_response(text("0.3"))), response);
    assert_eq!(of(Profile::laplace(text("0.3"))), response);
    assert_eq!(
        of(Profile::bounded_range(text("0.3"))),
        Profile::bounded_range(text("0.9"))
    );
    let approximate = Profile::approx_dp(EpsilonDelta::new("0.3", "1e-6").unwrap());
    let offered = "group privacy of this trade-off function is not offered";
    assert_eq!(FDp.group(&approximate, three), Err(UnknownLoss(offered)));
}

/// The profile of masses on a lattice.
fn of_atoms(atoms: &Atoms, lattice: Lattice, s: f64) -> f64 {
    let finite: f64 = atoms
        .masses
        .iter()
        .map(|(index, mass)| mass * (-libm::expm1(s - lattice.about(*index))).max(0.0))
        .sum();
    finite + atoms.infinite
}

fn curves() -> Vec<Curve> {
    let profiles = [
        Profile::gaussian(text("0.4")),
        Profile::laplace(text("0.33")),
        Profile::approx_dp(EpsilonDelta::new("0.57", "0.01").unwrap()),
        Profile::discrete_laplace(text("0.84"), 4),
        Profile::rounded_gaussian(text("1.3"), 1),
        Profile::sampled_gaussian(text("0.01"), text("1")),
        Profile::sampled_gaussian_by(text("0.5"), text("10")),
        Profile::laplace(text("0.9")).sampled(text("0.3")).unwrap(),
    ];
    profiles
        .iter()
        .map(|profile| profile.curve().unwrap().clone())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn discretised_profiles_are_bounds_everywhere(
        step in prop_oneof![Just("0.05"), Just("0.0123"), Just("0.3")], at in 0..8_usize,
        places in proptest::collection::vec(-1.5..2.5_f64, 40),
    ) {
        let lattice = Lattice::new(text(step)).unwrap();
        let curve = &curves()[at];
        for direction in Adjacency::BOTH {
            let nodes = lattice.nodes(curve, direction, 1e-18, 16).unwrap();
            let table = Table::of_curve(curve, direction, lattice, nodes);
            let (above, below) = (Atoms::above(&table), Atoms::below(&table));
            prop_assert!(above.masses.iter().chain(&below.masses).all(|(_, mass)| *mass >= 0.0));
            for &s in &places {
                let truth = curve.at(direction, Interval::exactly(s)).height;
                let bounds = table.at(Interval::exactly(s));
                prop_assert!(bounds.low() <= truth.high() && truth.low() <= bounds.high());
                prop_assert!(of_atoms(&above, lattice, s) >= truth.low() - 1e-15, "{curve} {s}");
                prop_assert!(of_atoms(&below, lattice, s) <= truth.high() + 1e-15, "{curve} {s}");
            }
        }
    }

    #[test]
    fn compositions_with_nothing_change_nothing(at in 0..8_usize, s in 0.0..1.5_f64) {
        // H ⊗ Id = H (Tran et al. A.13).
        let profiles = [
            Profile::gaussian(text("0.4")),
            Profile::laplace(text("0.33")),
            Profile::approx_dp(EpsilonDelta::new("0.57", "0.01").unwrap()),
            Profile::discrete_laplace(text("0.84"), 4),
            Profile::rounded_gaussian(text("1.3"), 1),
            Profile::sampled_gaussian(text("0.01"), text("1")),
            Profile::sampled_gaussian_by(text("0.5"), text("3")),
            Profile::laplace(text("0.9")).sampled(text("0.3")).unwrap(),
        ];
        let profile = &profiles[at];
        let epsilon: Epsilon = s.try_into().unwrap();
        let composed = profile.tensor(&Profile::perfect(), &grid("0.03")).unwrap();
        for direction in Adjacency::BOTH {
            let (exact, given) = (profile.delta(direction, epsilon), composed.delta(direction, epsilon));
            prop_assert!(given.lower <= exact.upper && exact.lower <= given.upper, "{exact} {given}");
            prop_assert!(float(given.upper) - float(given.lower) < 0.05, "{profile} {given}");
        }
    }
}
