//! The (ε, δ) rules inside a filter whose children are interleaved.

use std::sync::Arc;

use crate::common::{Answer, Count, at, epsilon, pair};
use queryables::account::{Accumulator, AdvancedComposition, ThroughRdp, ThroughZCdp, compare};
use queryables::compose::Refusal;
use queryables::data::{Predicate, Vector};
use queryables::mechanisms::{self, Lattice, SampledGaussianSum};
use queryables::number::Rho;
use queryables::prelude::*;
use queryables::privacy::convert::{rdp, zcdp};
use queryables::privacy::{RdpGrid, RestatedAt, ZCdp};

#[test]
fn every_rule_runs_a_concurrent_filter() {
    let (budget, loss) = (pair("1", "1e-6"), pair("0.01", "0"));
    let candidates = compare(budget, loss);
    assert_eq!(candidates.len(), 7);
    for (rule, admits) in candidates {
        let name = rule.name();
        let filter = start(&Filter::concurrent_with(rule), Arc::new(())).unwrap();
        let child = filter.launch(&at(loss, Count::default())).unwrap();
        let sibling = filter.launch(&at(loss, Count::default())).unwrap();
        assert_eq!(
            [child.ask(()), sibling.ask(()), child.ask(())],
            [Ok(1), Ok(1), Ok(2)]
        );
        for _ in 2..admits {
            filter.release(&at(loss, Answer::default())).unwrap();
        }
        assert!(!filter.would_admit(&loss), "{name}");
        let Err(LaunchError::Refused(refusal)) = filter.release(&at(loss, Answer::default()))
        else {
            panic!("{name} admits one too many");
        };
        assert_eq!(refusal.limit, budget);
        assert!(refusal.spent <= budget, "{name} {refusal:?}");
        // What it reports as remaining is admitted.
        let remaining = filter.remaining();
        filter.release(&at(remaining, Answer::default())).unwrap();
        // The refusal left the children as they were.
        assert_eq!(child.ask(()), Ok(3));
    }
}

#[test]
fn an_accumulator_runs_an_odometer_and_capped_a_filter() {
    let total = AdvancedComposition::new("1e-6".parse().unwrap()).unwrap();
    let odometer = start(&Odometer::concurrent_with(total), Arc::new(())).unwrap();
    let child = odometer
        .launch(&at(pair("0.1", "1e-7"), Count::default()))
        .unwrap();
    assert_eq!(child.ask(()), Ok(1));
    let expected = total.add(&pair("0.1", "1e-7")).unwrap();
    assert_eq!(odometer.privacy_loss(), expected.total());

    let filter = Filter::concurrent_with(total.capped(pair("0.1", "1e-6")));
    let filter = start(&filter, Arc::new(())).unwrap();
    assert!(!filter.would_admit(&pair("0.1", "0")));
    assert!(filter.would_admit(&pair("0.01", "0")));
}

#[test]
fn a_mechanism_restated_at_a_delta_is_charged_for_it() {
    let budget = pair("1", "2e-6");
    let rule = ThroughZCdp::tight(budget, "1e-6".parse().unwrap()).unwrap();
    let filter = start(&Filter::concurrent_with(rule), Arc::new(())).unwrap();
    let rho: Rho = "0.0001".parse().unwrap();
    let mechanism = RestatedAt::new(ZCdp, "4e-7".parse().unwrap(), at(rho, Answer::default()));
    filter.release(&mechanism).unwrap();
    assert_eq!(filter.privacy_loss().delta, "1.4e-6".parse().unwrap());
    assert!(filter.privacy_loss().epsilon > epsilon("0.05"));
}

fn adults() -> Predicate<Vec<u8>> {
    Predicate::new("at least 18", |age: &u8| *age >= 18)
}

#[test]
fn a_budget_takes_gaussian_counts_at_their_rho() {
    let budget = pair("1", "1e-6");
    let filter = Filter::concurrent_with(ThroughZCdp::for_zcdp(budget).unwrap());
    // The budget is its loss, so it fits another filter of this measure.
    let outer = start(
        &Filter::concurrent(ApproxDp, budget),
        Arc::new(vec![17, 18]),
    )
    .unwrap();
    let filter = outer.launch(&filter).unwrap();
    assert_eq!(outer.remaining(), pair("0", "0"));

    let rho: Rho = "0.00125".parse().unwrap();
    let count = mechanisms::Count::of(adults()).gaussian(rho).unwrap();
    let child = filter.launch(&at(rho, Count::default())).unwrap();
    for _ in 1..19 {
        let _: i64 = filter.release(&count).unwrap();
    }
    // The refusal is stated in both measures: the children's and the budget's.
    let spent = filter.privacy_loss();
    let converted = zcdp::epsilon("0.02375".parse().unwrap(), budget.delta).unwrap();
    // To the last digits of a float.
    assert!(spent.epsilon.units().abs_diff(converted.units()) < 10_u128.pow(12));
    assert_eq!(spent.delta, budget.delta);
    let refusal = Refusal {
        spent,
        set_aside: Some(Box::new(pair("0", "1e-6"))),
        requested: rho,
        remaining: filter.remaining(),
        limit: budget,
    };
    assert_eq!(
        filter.release(&count),
        Err(LaunchError::Refused(refusal.clone()))
    );
    assert!(!filter.would_admit(&rho));
    assert!(refusal.remaining > "0.0006".parse().unwrap());
    assert_eq!(
        filter.release(&at(refusal.remaining, Answer::default())),
        Ok(1)
    );
    assert_eq!(filter.remaining(), Rho::ZERO);
    assert_eq!(child.ask(()), Ok(1));
    assert_eq!(
        Refusal {
            remaining: Rho::ZERO,
            spent: budget,
            ..refusal
        }
        .to_string(),
        "a loss of ρ = 0.00125 is over budget: (1, 1e-6) of (ε, δ) = (1, 1e-6) is spent, \
         of which (0, 1e-6) was set aside, ρ = 0 is left"
    );
}

#[test]
fn a_grid_takes_gaussian_pure_and_sampled_mechanisms_together() {
    let budget = pair("1", "1e-6");
    let grid = RdpGrid::new(["8", "24", "64"].map(|order| order.parse().unwrap())).unwrap();
    let (one, sigma) = ("1".parse().unwrap(), "20".parse().unwrap());
    let typical = grid.at_each_order(|order| rdp::gaussian(order, one, sigma));
    let rule = ThroughRdp::on_grid_chosen_for(grid.clone(), budget, &typical.unwrap()).unwrap();
    assert_eq!(rule.order(), "24".parse().unwrap());
    let filter = Filter::concurrent_with(rule);
    assert_eq!(
        Private::<ApproxDp, AddRemove>::loss(&filter, &ApproxDp),
        Ok(budget)
    );
    let filter = start(&filter, Arc::new(vec![17_u8, 18])).unwrap();

    let gaussian = mechanisms::Count::of(adults()).gaussian(mu!(0.05)).unwrap();
    let pure = mechanisms::Count::of(adults())
        .laplace(epsilon!(0.05))
        .unwrap();
    let vector = Vector::new("age", |age: &u8, out: &mut [f64]| {
        out[0] = f64::from(*age) / 128.0;
    });
    let lattice = Lattice::in_steps(-7, 128);
    let (rate, mu) = ("0.01".parse().unwrap(), "0.5".parse().unwrap());
    let sampled = SampledGaussianSum::new(AddRemove, vector, 1, lattice, rate, mu).unwrap();
    let _: i64 = filter.release(&gaussian).unwrap();
    let _: i64 = filter.release(&pure).unwrap();
    let _: Vec<f64> = filter.release(&sampled).unwrap();

    // Only the order 24 counts, and there the three add up.
    let order = "24".parse().unwrap();
    let costs = [
        Private::<RdpGrid, AddRemove>::loss(&gaussian, &grid),
        Private::<RdpGrid, AddRemove>::loss(&pure, &grid),
        Private::<RdpGrid, AddRemove>::loss(&sampled, &grid),
    ];
    let total = costs.into_iter().fold(Epsilon::ZERO, |total, curve| {
        total.checked_add(curve.unwrap().epsilons()[1]).unwrap()
    });
    assert_eq!(
        filter.privacy_loss().epsilon,
        rdp::epsilon(order, total, budget.delta).unwrap()
    );
    let most = rdp::budget(order, budget.epsilon, budget.delta).unwrap();
    assert_eq!(filter.remaining().epsilons()[1], most.saturating_sub(total));
}
