//! Counts with rounded Gaussian noise, against sums over the law that is drawn.

use super::{Adjacency, FDp, Grid, Profile};
use crate::number::{Interval, Mu, Rho};
use crate::privacy::facts::Gaussian;
use crate::privacy::{Distance, Gdp, Implies, Measure, Prices};
use crate::tests::oracle::{self, Real, quantity, real};

fn text<T: std::str::FromStr>(number: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    number.parse().unwrap()
}

/// The probabilities of −n, …, n, of rounded noise of deviation 1/μ, with 12 deviations on either side.
fn law(mu: &Real) -> Vec<Real> {
    let reach = (12.0 / oracle::float(mu)).ceil() + 2.0;
    let half = real(0.5);
    let mass =
        |k: f64| oracle::tail(&((real(k) - &half) * mu)) - oracle::tail(&((real(k) + &half) * mu));
    let middle = real(1.0) - real(2.0) * oracle::tail(&(half.clone() * mu));
    let right: Vec<Real> = (1..=reach as u32).map(|k| mass(f64::from(k))).collect();
    let left = right.iter().rev().cloned();
    left.chain([middle]).chain(right.iter().cloned()).collect()
}

/// Σ (p(k − 1) − e^s p(k))⁺: all sets of answers, without any argument about the best one.
fn drawn(law: &[Real], s: f64) -> Real {
    let gamma = oracle::exp(&real(s));
    let moved = [Real::ZERO].into_iter().chain(law.iter().cloned());
    let stayed = law.iter().cloned().chain([Real::ZERO]);
    moved
        .zip(stayed)
        .map(|(p, q)| oracle::at_least_zero(p - &gamma * q))
        .fold(Real::ZERO, |sum, height| sum + height)
}

/// σ from 0.1 to 5, by μ and by ρ.
fn counts() -> Vec<(Gaussian, Real)> {
    let mus = [
        "10",
        "5",
        "3.3333333333",
        "2",
        "1.25",
        "1.000000001",
        "1",
        "0.7",
        "0.2",
    ];
    let rhos = ["50", "5.5", "0.9", "0.02"];
    let by_mu = mus.map(|mu| {
        let mu: Mu = text(mu);
        (Gaussian::CountMu(mu), quantity(mu))
    });
    let by_rho = rhos.map(|rho| {
        let rho: Rho = text(rho);
        (
            Gaussian::CountRho(rho),
            oracle::sqrt(&(real(2.0) * quantity(rho))),
        )
    });
    by_mu.into_iter().chain(by_rho).collect()
}

#[test]
fn counts_are_priced_for_what_is_drawn() {
    // What lies beyond 12 deviations.
    let beyond = real(1e-31);
    for (fact, mu) in counts() {
        let price = FDp.price(&fact).unwrap();
        let gaussian = Profile::gaussian(Gdp.price(&fact).unwrap());
        let law = law(&mu);
        for s in [-3.0, -0.4, 0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 20.0] {
            let truth = drawn(&law, s);
            for direction in Adjacency::BOTH {
                let given = price.at(direction, Interval::exactly(s));
                let says = format!("{fact:?} {s}: {given:?} {truth}");
                assert!(truth <= real(given.high()) + &beyond, "{says}");
                let plain = gaussian.at(direction, Interval::exactly(s)).high();
                assert!(given.high() <= plain + 1e-14, "{says} {plain}");
                if oracle::float(&mu) > 1.0 {
                    let wide = real(given.high() - given.low());
                    assert!(
                        wide <= real(1e-13) && real(given.low()) <= &truth + &beyond,
                        "{says}"
                    );
                }
            }
        }
    }
}

/// In 60 digits (mpmath): 0.0478 is what is drawn, and 0.675 what Gaussian noise would lose.
#[test]
fn a_count_with_little_noise_loses_far_less_than_gaussian_noise() {
    let fact = Gaussian::CountMu(text("3.3333333333"));
    let delta = FDp.price(&fact).unwrap().worst_delta(text("3"));
    assert!(delta.lower <= text("0.047784594723741"), "{delta}");
    assert!(delta.upper >= text("0.04778459472374"), "{delta}");
    let plain = Profile::gaussian(text("3.3333333333")).worst_delta(text("3"));
    assert!(plain.lower > text("0.6752"), "{plain}");
}

/// What else follows from the price is what followed from Gaussian noise.
#[test]
fn a_count_is_a_postprocessing_of_gaussian_noise() {
    let rho = text("5.5");
    for fact in [Gaussian::CountMu(text("3")), Gaussian::CountRho(rho)] {
        let price = FDp.price(&fact).unwrap();
        let mu = Gdp.price(&fact).unwrap();
        assert_eq!(FDp.imply(&price, &Gdp), Ok(mu));
        let two = Distance::new(2).unwrap();
        let twice = Profile::gaussian(mu.checked_mul(2).unwrap());
        assert_eq!(FDp.group(&price, two), Ok(twice.clone()));
        assert_eq!(FDp.price(&fact.at(two).unwrap()), Ok(twice));
        assert!(price.is_known_below(&Profile::gaussian(mu)));
        let less = mu.saturating_sub(text("1e-27"));
        assert!(!price.is_known_below(&Profile::gaussian(less)));
    }
    let nothing = Gaussian::CountMu(Mu::ZERO);
    assert_eq!(FDp.price(&nothing), Ok(Profile::perfect()));
}

/// The sum over all pairs and triples of answers, and never more than for Gaussian noise.
#[test]
fn counts_compose_as_the_law_that_is_drawn() {
    let grid = Grid::new(text("1e-3")).unwrap();
    for mu in ["3.3333333333", "1.25", "1.000000001"] {
        let each = FDp.price(&Gaussian::CountMu(text(mu))).unwrap();
        let masses: Vec<f64> = law(&quantity(text::<Mu>(mu)))
            .iter()
            .map(oracle::float)
            .collect();
        // (p(k − 1), p(k)), where both are floats.
        let pairs: Vec<(f64, f64)> = masses
            .iter()
            .copied()
            .zip(masses.iter().skip(1).copied())
            .collect();
        let mut all = vec![(1.0, 1.0)];
        for launches in 1..=3_u32 {
            all = all
                .iter()
                .flat_map(|(p, q)| pairs.iter().map(move |(a, b)| (p * a, q * b)))
                .collect();
            let composed = each.power(u64::from(launches), &grid).unwrap();
            let whole: f64 = mu.parse::<f64>().unwrap() * f64::from(launches).sqrt();
            let plain = Profile::gaussian(whole.try_into().unwrap());
            for s in [0.0, 0.5, 2.0, 3.0, 6.0] {
                let truth: f64 = all
                    .iter()
                    .map(|(p, q)| (p - f64::exp(s) * q).max(0.0))
                    .sum();
                let given = composed.at(Adjacency::Remove, Interval::exactly(s));
                let plain = plain.at(Adjacency::Remove, Interval::exactly(s)).high();
                let says = format!("{mu} {launches} {s}: {given:?} {truth} {plain}");
                assert!(
                    given.low() <= truth + 1e-9 && truth <= given.high() + 1e-12,
                    "{says}"
                );
                assert!(given.high() <= plain + 1e-9, "{says}");
                assert!(given.high() <= truth + 1e-4, "{says}");
            }
        }
    }
}
