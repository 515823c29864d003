//! A sampled menu against the composition of the launches that it admits.

use super::{Detail, SampledGaussians};
use crate::account::ContinuationRule;
use crate::number::{Delta, Epsilon, Interval, Scale};
use crate::privacy::EpsilonDelta;
use crate::privacy::fdp::{Bounds, Grid, Profile};

const RATE: &str = "0.1";

fn text<T: std::str::FromStr>(number: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    number.parse().unwrap()
}

fn target() -> EpsilonDelta {
    EpsilonDelta::new("1", "1e-3").unwrap()
}

fn menu(sigmas: &[&str], lease: u64) -> SampledGaussians {
    let sigmas: Vec<Scale> = sigmas.iter().map(|sigma| text(sigma)).collect();
    let detail = Detail {
        step: text("0.002"),
        ratio: 4,
        cheapest: 4,
    };
    SampledGaussians::new(text(RATE), &sigmas, lease, target(), detail).unwrap()
}

/// The launches in a fixed order: what no filter can certify less than.
fn truth(launches: &[(&str, u64)]) -> Profile {
    let part =
        |(sigma, times): &(&str, u64)| (Profile::sampled_gaussian(text(RATE), text(sigma)), *times);
    let parts: Vec<(Profile, u64)> = launches.iter().map(part).collect();
    let grid = Grid::new(text("1e-3")).unwrap().aimed_at(text("1e-4"));
    Profile::compose(&parts, &grid).unwrap()
}

fn certified(menu: &SampledGaussians, launches: &[(&str, u64)], delta: Delta) -> Epsilon {
    let plan: Vec<(Scale, u64)> = launches
        .iter()
        .map(|(sigma, times)| (text(sigma), *times))
        .collect();
    let cost = menu.cost_of(&plan).unwrap();
    menu.epsilons(cost, &[delta]).unwrap()[0]
}

/// One entry has no costs to round, so that whole leases are within 0.2 % of the truth: with one
/// launch less they would be below it.
#[test]
fn a_sampled_menu_certifies_what_its_launches_lose() {
    for lease in [5, 2, 1] {
        let menu = menu(&["2"], lease);
        for (leases, unused) in [(1, 0), (1, lease - 1), (2, 0), (3, lease / 2)] {
            let launches = [("2", leases * lease - unused)];
            let truth = truth(&launches);
            for delta in ["1e-3", "1e-4"].map(text) {
                let certified = certified(&menu, &launches, delta);
                let Bounds { lower, upper } = truth.epsilon(delta).unwrap();
                let wider = Interval::from(certified) / Interval::from(upper);
                let says = format!("{lease} {launches:?} {delta}: {certified} {lower}");
                assert!(certified >= lower, "{says}");
                assert!(unused > 0 || wider.low() < 1.002, "{says}");
            }
        }
    }
}

/// Leases of each noise level are paid for apart from the others.
#[test]
fn several_noise_levels_are_certified_for_what_they_lose_together() {
    let menu = menu(&["1.5", "3"], 3);
    let delta = text("1e-3");
    for launches in [
        [("3", 3), ("1.5", 3)],
        [("3", 6), ("1.5", 1)],
        [("3", 7), ("1.5", 4)],
    ] {
        let certified = certified(&menu, &launches, delta);
        let Bounds { lower, .. } = truth(&launches).epsilon(delta).unwrap();
        assert!(certified >= lower, "{launches:?}: {certified} {lower}");
    }
}

/// Launch by launch, within leases and at their ends; the last ones fit exactly.
#[test]
fn a_sampled_filter_has_spent_what_its_launches_lose() {
    let (limit, lease) = (target(), 3);
    let lost = |launches| truth(&[("2", launches)]).worst_delta(limit.epsilon).lower;
    let mut filter = menu(&["2"], lease).filter(limit).unwrap();
    let mut spent = Vec::new();
    while let Ok(next) = filter.charge(&text("0.5")) {
        filter = next;
        assert_eq!(filter.spent().epsilon, limit.epsilon);
        spent.push(filter.spent().delta);
        // Some 45 fit.
        assert!(spent.len() < 100);
    }
    let all = spent.len() as u64;
    for launches in (1..=2 * lease).chain(all - lease..=all) {
        let spent = spent[launches as usize - 1];
        let lost = lost(launches);
        assert!(spent >= lost, "{launches}: {spent} {lost}");
    }
    assert!(
        lost(all) <= limit.delta && lost(all + lease) > limit.delta,
        "{all}"
    );
}
