//! For tests only: every deterministic strategy against a filter, one by one, with exact
//! rationals. It shares nothing with the recursion that it checks: strategies are trees that are
//! listed, and a maximum is taken over the list.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::curve::{Curve, Margin};
use super::either::worst_of_either;
use super::lattice::Lattice;
use super::launch::Launch;
use super::sum::visit;
use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;
use crate::tests::oracle::{exp, quantity, real};

/// A leaf of a conversation: its probability on either dataset.
type Leaf = (RBig, RBig);

fn ratio(top: i64, bottom: i64) -> RBig {
    RBig::from(IBig::from(top)) / RBig::from(IBig::from(bottom))
}

/// What a state admits: the outcomes of a launch, and where it leads.
type Moves<S> = Vec<(Vec<Leaf>, S)>;

/// The leaves of every strategy from a state on. `moves` says what is admitted there: the outcomes
/// of a launch, and where it leads.
fn strategies<S: Clone>(state: &S, moves: &dyn Fn(&S) -> Moves<S>) -> Vec<Vec<Leaf>> {
    // To stop.
    let mut all = vec![vec![(ratio(1, 1), ratio(1, 1))]];
    for (outcomes, next) in moves(state) {
        let later = strategies(&next, moves);
        // After each outcome any strategy may follow.
        let mut partial: Vec<Vec<Leaf>> = vec![Vec::new()];
        for (p, q) in &outcomes {
            let mut longer = Vec::new();
            for before in &partial {
                for after in &later {
                    let mut leaves = before.clone();
                    leaves.extend(after.iter().map(|(a, b)| (p * a, q * b)));
                    longer.push(leaves);
                }
            }
            partial = longer;
        }
        all.extend(partial);
    }
    all
}

/// The largest Σ (P − γQ)⁺ over all strategies.
fn worst(strategies: &[Vec<Leaf>], gamma: &RBig, reversed: bool) -> RBig {
    let zero = ratio(0, 1);
    let divergence = |leaves: &Vec<Leaf>| {
        leaves.iter().fold(zero.clone(), |sum, (p, q)| {
            let (p, q) = if reversed { (q, p) } else { (p, q) };
            let part = p - gamma * q;
            if part > zero { sum + part } else { sum }
        })
    };
    strategies
        .iter()
        .map(divergence)
        .fold(zero.clone(), Ord::max)
}

/// ln 2, rounded up: losses that are multiples of it are powers of two, all but the last digits.
fn step() -> Epsilon {
    "0.693147180559945309417232122".parse().unwrap()
}

fn lattice() -> Lattice {
    let reach = step().checked_mul(12).unwrap();
    Lattice::new(step(), reach, reach).unwrap()
}

/// Randomized response with odds of 2^k, and a leak with probability `leak`.
fn response(power: u32, leak: &RBig) -> Vec<Leaf> {
    let odds = 1_i64 << power;
    let honest = ratio(1, 1) - leak;
    let truth = &honest * ratio(odds, odds + 1);
    let lie = &honest * ratio(1, odds + 1);
    let mut leaves = vec![(truth.clone(), lie.clone()), (lie, truth)];
    if *leak > ratio(0, 1) {
        leaves.extend([(leak.clone(), ratio(0, 1)), (ratio(0, 1), leak.clone())]);
    }
    leaves
}

/// Not its own reverse: losses 2, 0 and −1 steps with probabilities 2/5, 3/10, 3/10.
fn lopsided() -> Vec<Leaf> {
    vec![
        (ratio(2, 5), ratio(1, 10)),
        (ratio(3, 10), ratio(3, 10)),
        (ratio(3, 10), ratio(3, 5)),
    ]
}

fn approximate(power: u64, leak: Delta) -> Launch {
    let epsilon = step().checked_mul(power).unwrap();
    Launch::approximate(
        &lattice(),
        EpsilonDelta {
            epsilon,
            delta: leak,
        },
    )
}

/// The chords of a pair: its excess at the lattice points, rounded up.
fn chorded(pair: &[Leaf]) -> Launch {
    let power = |point: i64| match point {
        0.. => ratio(1 << point, 1),
        _ => ratio(1, 1 << -point),
    };
    let value = |point: i64| {
        let gamma = power(point);
        let profile = worst(&[pair.to_vec()], &gamma, false);
        let nothing = (ratio(1, 1) - gamma).max(ratio(0, 1));
        (profile - nothing).to_f64().value().next_up().max(0.0)
    };
    let dots: Vec<_> = (-4..=4).map(|point| (point, value(point))).collect();
    Launch::chords(&lattice(), &dots, false)
}

/// At five points and in both directions: exact ≤ bound ≤ exact, up to the digits of ln 2.
#[track_caller]
fn agrees(curve: &Curve, strategies: &[Vec<Leaf>], symmetric: bool) {
    // The chords of the other pairs are made from floats.
    let floor = if symmetric { 1e-37 } else { 1e-14 };
    let lattice = lattice();
    for point in 0..=4_u64 {
        let gamma = ratio(1 << point, 1);
        let epsilon = step().checked_mul(point).unwrap();
        let bound = quantity(curve.delta(&lattice, epsilon, symmetric));
        let forth = worst(strategies, &gamma, false);
        let back = worst(strategies, &gamma, true);
        let exact = if symmetric { forth } else { forth.max(back) };
        let low = real(exact.to_f64().value() * (1.0 - 1e-14));
        let high = real(exact.to_f64().value() * (1.0 + 1e-12) + floor);
        assert!(low <= bound && bound <= high, "{point}: {exact} {bound}");
    }
}

/// From a δ half way between those of two points back to an ε between them that suffices.
#[track_caller]
fn comes_back(curve: &Curve, strategies: &[Vec<Leaf>], symmetric: bool) {
    let lattice = lattice();
    let delta = |epsilon| curve.delta(&lattice, epsilon, symmetric).units();
    for point in 1..=4_u64 {
        let [before, after] = [point - 1, point].map(|point| step().checked_mul(point).unwrap());
        let target = Delta::from_units(delta(before).midpoint(delta(after))).unwrap();
        // Beyond the largest loss only the roundings of floats are left.
        if target < "1e-9".parse().unwrap() {
            continue;
        }
        let epsilon = curve.epsilon(&lattice, target, symmetric).unwrap();
        assert!(before < epsilon && epsilon < after, "{point}: {epsilon}");
        // Rounded down to 40 bits.
        let gamma = exp(&quantity(epsilon)).to_f64().value() * 2_f64.powi(40);
        let gamma = ratio(gamma as i64 - 1, 1 << 40);
        let forth = worst(strategies, &gamma, false);
        let back = worst(strategies, &gamma, true);
        let exact = real(forth.max(back).to_f64().value());
        assert!(
            exact <= quantity(target) + real(1e-11),
            "{point}: {epsilon}"
        );
    }
}

/// One sum: the worst case with this much left.
fn summed(entries: &[(Launch, u64)], budget: u64) -> Curve {
    let mut found = Curve::nothing(&lattice(), Margin::default());
    visit(&lattice(), entries, |left, curve| {
        found = curve.clone();
        left < budget
    })
    .unwrap();
    found
}

fn by_sum(menu: &[(Vec<Leaf>, u64)]) -> impl Fn(&u64) -> Vec<(Vec<Leaf>, u64)> + '_ {
    |left| {
        let admitted = menu.iter().filter(|(_, cost)| cost <= left);
        admitted
            .map(|(pair, cost)| (pair.clone(), left - cost))
            .collect()
    }
}

#[test]
fn two_responses_and_every_strategy() {
    let none = ratio(0, 1);
    let entries = [
        (approximate(1, Delta::ZERO), 1),
        (approximate(2, Delta::ZERO), 2),
    ];
    let menu = [(response(1, &none), 1), (response(2, &none), 2)];
    for budget in 0..=4 {
        let all = strategies(&budget, &by_sum(&menu));
        agrees(&summed(&entries, budget), &all, true);
        comes_back(&summed(&entries, budget), &all, true);
    }
}

#[test]
fn leaks_and_every_strategy() {
    let leak = ratio(1, 16);
    let delta = "0.0625".parse().unwrap();
    let entries = [(approximate(1, delta), 1), (approximate(3, Delta::ZERO), 2)];
    let menu = [(response(1, &leak), 1), (response(3, &ratio(0, 1)), 2)];
    let all = strategies(&2, &by_sum(&menu));
    agrees(&summed(&entries, 2), &all, true);
}

#[test]
fn a_pair_that_is_not_its_reverse_and_every_strategy() {
    let entries = [(approximate(1, Delta::ZERO), 1), (chorded(&lopsided()), 2)];
    let menu = [(response(1, &ratio(0, 1)), 1), (lopsided(), 2)];
    for budget in 2..=4 {
        let all = strategies(&budget, &by_sum(&menu));
        agrees(&summed(&entries, budget), &all, false);
        comes_back(&summed(&entries, budget), &all, false);
    }
}

#[test]
fn a_pair_that_can_be_flipped_and_every_strategy() {
    let flipped: Vec<Leaf> = lopsided().into_iter().map(|(p, q)| (q, p)).collect();
    let entries = [(chorded(&lopsided()), 1), (chorded(&flipped), 1)];
    let menu = [(lopsided(), 1), (flipped, 1)];
    let all = strategies(&2, &by_sum(&menu));
    agrees(&summed(&entries, 2), &all, false);
}

#[test]
fn two_sums_of_which_either_fits_and_every_strategy() {
    let none = ratio(0, 1);
    let costs = [[1, 2], [3, 3]];
    let budgets = [3, 5];
    let entries = [
        (approximate(1, Delta::ZERO), costs[0]),
        (approximate(2, Delta::ZERO), costs[1]),
    ];
    let pairs = [response(1, &none), response(2, &none)];
    let moves = |spent: &[u64; 2]| -> Vec<(Vec<Leaf>, [u64; 2])> {
        let after = pairs
            .iter()
            .zip(costs)
            .map(|(pair, [first, second])| (pair.clone(), [spent[0] + first, spent[1] + second]));
        after
            .filter(|(_, [first, second])| *first <= budgets[0] || *second <= budgets[1])
            .collect()
    };
    let all = strategies(&[0, 0], &moves);
    assert!(all.len() > 40, "{}", all.len());
    let curve = worst_of_either(&lattice(), &entries, budgets).unwrap();
    agrees(&curve, &all, true);
}

/// The maximum matters: no strategy that is fixed in advance is as bad.
#[test]
fn adaptivity_makes_it_worse() {
    let none = ratio(0, 1);
    let menu = [(response(1, &none), 1), (response(2, &none), 3)];
    let all = strategies(&4, &by_sum(&menu));
    let fixed = |count: u32, pair: &[Leaf]| {
        (0..count).fold(vec![(ratio(1, 1), ratio(1, 1))], |leaves, _| {
            let more = leaves
                .iter()
                .flat_map(|(a, b)| pair.iter().map(move |(p, q)| (a * p, b * q)));
            more.collect::<Vec<_>>()
        })
    };
    let mut both = Vec::new();
    for (p, q) in &menu[0].0 {
        both.extend(menu[1].0.iter().map(|(a, b)| (p * a, q * b)));
    }
    let in_advance = [fixed(4, &menu[0].0), both];
    let is_worse = |gamma: &RBig| worst(&all, gamma, false) > worst(&in_advance, gamma, false);
    assert!((2..16).any(|halves| is_worse(&ratio(halves, 2))));
}
