//! Filters whose children state trade-off functions, launched with ready-made mechanisms.

use std::sync::Arc;

use queryables::account::NaturalFilter;
use queryables::account::menu::{Detail, SampledGaussians};
use queryables::compose::Refusal;
use queryables::data::{Attribute, Predicate, Vector};
use queryables::mechanisms::{
    ApproxRandomizedResponse, Count, Lattice, RandomizedResponse, SampledGaussianSum, Sum,
};
use queryables::prelude::*;
use queryables::privacy::fdp::{FDp, Profile, RepeatedMechanism, Repetitions};
use queryables::privacy::{Distance, RestatedAt};

fn text<T: std::str::FromStr>(number: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    number.parse().unwrap()
}

fn adults() -> Predicate<Vec<u8>> {
    Predicate::new("adults", |age: &u8| *age >= 18)
}

fn step(rate: &str, mu: &str) -> SampledGaussianSum<Vec<u8>> {
    let vector = Vector::new("age", |age: &u8, out: &mut [f64]| {
        out[0] = f64::from(*age) / 128.0;
    });
    let lattice = Lattice::in_steps(-7, 128);
    SampledGaussianSum::new(AddRemove, vector, 1, lattice, text(rate), text(mu)).unwrap()
}

#[test]
fn ready_made_mechanisms_state_their_profiles() {
    let of = |mechanism: &dyn Private<FDp, AddRemove>| mechanism.loss(&FDp).unwrap();
    let count = Count::of(adults()).laplace(epsilon!(0.3)).unwrap();
    assert_eq!(of(&count), Profile::randomized_response(text("0.3")));
    // Noise for a change by one is worth more where answers are three apart.
    let apart = Private::<FDp, AddRemove>::loss_at(&count, &FDp, Distance::new(3).unwrap());
    assert_eq!(apart, Ok(Profile::discrete_laplace(text("0.9"), 3)));
    let age = Attribute::<Vec<u8>, _>::new("age", |age: &u8| i64::from(*age));
    let sum = Sum::of(age, 0..=4).laplace(epsilon!(0.4)).unwrap();
    assert_eq!(of(&sum), Profile::discrete_laplace(text("0.4"), 4));
    let gaussian = Count::of(adults()).gaussian(mu!(0.5)).unwrap();
    assert_eq!(of(&gaussian), Profile::gaussian(text("0.5")));
    assert_eq!(
        of(&step("0.01", "0.5")),
        Profile::sampled_gaussian_by(text("0.01"), text("0.5"))
    );
    let bit = RandomizedResponse::new(text("0.7")).unwrap();
    assert_eq!(of(&bit), Profile::randomized_response(text("0.7")));
    let loss = EpsilonDelta::new("0.7", "1e-3").unwrap();
    let bit = ApproxRandomizedResponse::new(loss);
    assert_eq!(of(&bit), Profile::approx_dp(loss));
    // And from there (ε, δ), at a δ of one's choice.
    let restated = RestatedAt::new(FDp, text("1e-5"), step("0.01", "1"));
    let loss = Private::<ApproxDp, AddRemove>::loss(&restated, &ApproxDp).unwrap();
    assert!(
        loss.epsilon < text("0.65") && loss.delta == text("1e-5"),
        "{loss}"
    );
}

#[test]
fn the_unit_filter_runs_and_refuses_what_is_not_a_unit() {
    let budget = EpsilonDelta::new("1", "1e-6").unwrap();
    let base = RepeatedMechanism::new(Profile::randomized_response(text("0.1")));
    let rule = NaturalFilter::new(budget, base.clone()).unwrap();
    assert_eq!(*rule.most(), Repetitions(10));
    let filter = Filter::concurrent_with(rule);
    assert_eq!(
        Private::<ApproxDp, AddRemove>::loss(&filter, &ApproxDp),
        Ok(budget)
    );
    let filter = start(&filter, Arc::new(vec![17_u8, 18])).unwrap();
    for _ in 0..10 {
        let _: i64 = filter
            .release(&Count::of(adults()).laplace(epsilon!(0.1)).unwrap())
            .unwrap();
    }
    let spent = filter.privacy_loss();
    assert!(spent <= budget);
    let refused = filter.release(&Count::of(adults()).laplace(epsilon!(0.05)).unwrap());
    let Err(LaunchError::Refused(refusal)) = refused else {
        panic!("{refused:?}");
    };
    let expected = Refusal {
        spent,
        set_aside: None,
        requested: Repetitions(1),
        remaining: Repetitions(0),
        limit: budget,
    };
    assert_eq!(refusal, expected);
    let unknown = filter.release(&Count::of(adults()).laplace(epsilon!(0.2)).unwrap());
    assert_eq!(
        unknown.unwrap_err().to_string(),
        "no known loss: not known to be at most one unit: take a base that is at least as large, \
         or state the units"
    );

    // The same rule with its guarantee in units: it nests.
    let inner = Filter::concurrent(base.clone(), Repetitions(5));
    let outer = start(
        &Filter::concurrent(base, Repetitions(7)),
        Arc::new(vec![17_u8, 18]),
    )
    .unwrap();
    let _inner = outer.launch(&inner).unwrap();
    assert_eq!(outer.remaining(), Repetitions(2));
}

#[test]
fn training_stops_when_it_likes_under_either_filter() {
    let budget = EpsilonDelta::new("1", "1e-5").unwrap();
    let ages = Arc::new(vec![17_u8, 18]);
    let base = Profile::sampled_gaussian_by(text("0.1"), text("0.5"));
    let rule = NaturalFilter::new(budget, RepeatedMechanism::new(base)).unwrap();
    let Repetitions(most) = *rule.most();
    let filter = start(&Filter::concurrent_with(rule), Arc::clone(&ages)).unwrap();
    let mut before = EpsilonDelta::default();
    for _ in 0..most {
        // With more noise it is a unit, too.
        let _: Vec<f64> = filter.release(&step("0.1", "0.4")).unwrap();
        assert!(before <= filter.privacy_loss());
        before = filter.privacy_loss();
    }
    let Err(LaunchError::Refused(refusal)) = filter.release(&step("0.1", "0.5")) else {
        panic!("one more is over budget");
    };
    assert_eq!(
        (refusal.requested, refusal.remaining),
        (Repetitions(1), Repetitions(0))
    );
    assert_eq!(filter.remaining(), Repetitions(0));

    let detail = Detail {
        step: text("0.005"),
        ratio: 4,
        cheapest: 4,
    };
    let sigmas = ["2", "4"].map(text);
    let target = EpsilonDelta::new("2", "1e-3").unwrap();
    let menu = SampledGaussians::new(text("0.1"), &sigmas, 5, target, detail).unwrap();
    let rule = menu.filter(target).unwrap();
    let filter = start(&Filter::concurrent_with(rule), ages).unwrap();
    let _: Vec<f64> = filter.release(&step("0.1", "0.25")).unwrap();
    let _: Vec<f64> = filter.release(&step("0.05", "0.5")).unwrap();
    assert!(filter.privacy_loss() <= target);
    let wrong = filter.release(&step("0.2", "0.25")).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "no known loss: the sampling rate is larger than that of the measure"
    );
    let over = filter.release(&step("0.1", "0.6")).unwrap_err();
    assert!(matches!(over, LaunchError::Refused(_)), "{over}");
}
