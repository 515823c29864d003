//! The cases that OpenDP documents in its own tests, through the adapter: composition up front,
//! adaptive and fully adaptive composition, odometers, filters, and postprocessed queryables.

use crate::common::epsilon;
use crate::support::*;
use opendp::combinators::{make_adaptive_composition, make_composition};
use opendp::core::{Function, Measurement, PrivacyMap};
use opendp::domains::{AtomDomain, MapDomain};
use opendp::error::Fallible;
use opendp::interactive::Queryable as OpenDpQueryable;
use opendp::measurements::{make_alp_queryable, make_laplace, make_randomized_response_bool};
use opendp::measures::{Approximate, MaxDivergence, RenyiDivergence, ZeroConcentratedDivergence};
use opendp::metrics::{AbsoluteDistance, DiscreteDistance, L01InfDistance};
use queryables::prelude::*;
use queryables::privacy::{ApproxZCdp, Distance, Rdp, Relation, RhoDelta};
use queryables_opendp::{InDomain, Measured, Within};
use std::collections::HashMap;
use std::sync::Arc;

type Response<MO = MaxDivergence> = Measurement<AtomDomain<bool>, DiscreteDistance, MO, bool>;
type Composed<MO> = OpenDpQueryable<Response<MO>, bool>;

/// Randomized response that tells the truth with this probability.
fn response(probability: f64) -> Response {
    make_randomized_response_bool(probability, false).unwrap()
}

/// OpenDP's compositor of randomized responses.
fn composed<MO>(
    measure: MO,
    losses: Vec<MO::Distance>,
) -> Measurement<AtomDomain<bool>, DiscreteDistance, MO, Composed<MO>>
where
    MO: opendp::combinators::CompositionMeasure + 'static,
    MO::Distance: Clone + std::fmt::Debug + opendp::traits::ProductOrd + 'static,
{
    make_adaptive_composition(AtomDomain::default(), DiscreteDistance, measure, 1, losses).unwrap()
}

/// OpenDP's adaptive composition with a budget of 0.1 + 0.1 + 0.3 + 0.5, compositors among the
/// children: here a filter, OpenDP's compositor inside it, and a filter of its own.
#[test]
fn adaptive_composition_with_compositors_among_the_children() {
    let root = Filter::concurrent(PureDp, epsilon("1.1")).under(AnyTwo);
    let root = start(&root, bit(true)).unwrap();
    // Half the time the truth: it says nothing and costs nothing.
    let fair = Measured::new(response(0.5));
    root.release(&fair).unwrap();
    root.release(&fair).unwrap();
    assert_eq!(root.privacy_loss(), Epsilon::ZERO);

    let third = root
        .launch_local(&Measured::new(composed(MaxDivergence, vec![0.125; 3])))
        .unwrap();
    third.ask(response(0.53)).unwrap();
    third.ask(response(0.53)).unwrap();

    let fourth = root
        .launch(&Filter::concurrent(PureDp, epsilon("0.5")).under(AnyTwo))
        .unwrap();
    fourth.release(&Measured::new(response(0.53))).unwrap();
    fourth.release(&Measured::new(response(0.53))).unwrap();
    let spent = fourth.privacy_loss();
    assert!(
        spent > epsilon("0.24") && spent < epsilon("0.2404"),
        "{spent}"
    );

    // A later launch has not closed the earlier child: pure privacy is composed concurrently. It
    // has one question left, and then it has none.
    third.ask(response(0.53)).unwrap();
    assert_eq!(
        third.ask(response(0.53)),
        Err(AskError::Fault(Fault::Failed))
    );
    assert_eq!(third.ask(response(0.53)), Err(AskError::Closed));
    assert_eq!(root.privacy_loss(), epsilon("0.875"));
}

/// A queryable that is asked by a postprocessor, so that what comes out is a value; three times,
/// for composition up front, adaptive and fully adaptive composition.
#[test]
fn a_queryable_that_is_postprocessed_into_a_value() {
    type Approx = Approximate<ZeroConcentratedDivergence>;
    // Tells the truth, at a price.
    let truth = || -> Response<Approx> {
        Measurement::new(
            AtomDomain::default(),
            DiscreteDistance,
            Approximate(ZeroConcentratedDivergence),
            Function::new(|bit: &bool| *bit),
            PrivacyMap::new(|_| (1.0, 0.0)),
        )
        .unwrap()
    };
    let asked = || {
        let composed = composed(Approximate(ZeroConcentratedDivergence), vec![(1.0, 1e-7)]);
        let ask = Function::new_fallible(move |queryable: &Composed<Approx>| {
            Ok(!queryable.clone().eval(&truth())?)
        });
        (composed >> ask).unwrap()
    };

    let both = make_composition(vec![asked(), truth()]).unwrap();
    let budget = RhoDelta::new("4", "1e-6").unwrap();
    let filter = Filter::sequential(ApproxZCdp, budget).under(AnyTwo);
    let filter = start(&filter, bit(false)).unwrap();
    assert_eq!(filter.release(&Measured::new(both)), Ok(vec![true, false]));
    assert_eq!(filter.release(&Measured::new(asked())), Ok(true));
    assert_eq!(filter.privacy_loss().rho, "3".parse().unwrap());

    let odometer = start(&Odometer::sequential(ApproxZCdp).under(AnyTwo), bit(false)).unwrap();
    assert_eq!(odometer.release(&Measured::new(asked())), Ok(true));
    let spent = odometer.privacy_loss();
    // 1e-7 as a float is a little less than 1/10000000.
    assert!(spent <= RhoDelta::new("1", "1e-7").unwrap(), "{spent}");
    assert!(spent.delta > "9.9999999e-8".parse().unwrap());
}

/// OpenDP's odometer: two responses, a compositor of values, a compositor of anything.
#[test]
fn an_odometer_over_responses_and_compositors() {
    let odometer = start(&Odometer::concurrent(PureDp).under(AnyTwo), bit(true)).unwrap();
    let fair = Measured::new(response(0.5));
    odometer.release(&fair).unwrap();
    odometer.release(&fair).unwrap();
    let third = odometer
        .launch_local(&Measured::new(composed(MaxDivergence, vec![0.125, 0.125])))
        .unwrap();
    third.ask(response(0.5)).unwrap();
    let fourth = odometer
        .launch_local(&Measured::new(composed(MaxDivergence, vec![0.25, 0.25])))
        .unwrap();
    fourth.ask(response(0.5)).unwrap();
    third.ask(response(0.5)).unwrap();
    fourth.ask(response(0.5)).unwrap();
    assert_eq!(odometer.privacy_loss(), epsilon("0.75"));
}

/// OpenDP's filter: two responses of ln(0.51/0.49), then one of ln 3 that does not fit. OpenDP's
/// own reading is an error from then on; here nothing was lost.
#[test]
fn a_filter_over_responses() {
    let filter = Filter::concurrent(PureDp, epsilon("1")).under(AnyTwo);
    let filter = start(&filter, bit(true)).unwrap();
    let within = |low: &str, high: &str| {
        let spent = filter.privacy_loss();
        assert!(spent > epsilon(low) && spent < epsilon(high), "{spent}");
    };
    filter.release(&Measured::new(response(0.51))).unwrap();
    within("0.04000533461369", "0.04000533461370");
    filter.release(&Measured::new(response(0.51))).unwrap();
    within("0.08001066922739", "0.08001066922740");
    let error = filter.release(&Measured::new(response(0.75))).unwrap_err();
    assert!(matches!(error, LaunchError::Refused(_)), "{error}");
    within("0.08001066922739", "0.08001066922740");
    filter.release(&Measured::new(response(0.7))).unwrap();
    within("0.92", "0.93");
}

/// Numbers that differ by at most this many halves.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Halves<const N: u32>;

impl<const N: u32> Relation for Halves<N> {
    const NAME: &'static str = "numbers that differ by a number of halves";
}

impl<const N: u32> Within<AtomDomain<f64>, AbsoluteDistance<f64>> for Halves<N> {
    fn d_in(
        _: &AtomDomain<f64>,
        _: &AbsoluteDistance<f64>,
        distance: Distance,
    ) -> Result<f64, UnknownLoss> {
        let steps = u32::try_from(distance.steps()).map_err(|_| UnknownLoss("far"))?;
        Ok(f64::from(steps) * f64::from(N) / 2.0)
    }
}

fn number(value: f64) -> Arc<InDomain<AtomDomain<f64>>> {
    Arc::new(InDomain::new(AtomDomain::new_non_nan(), value).unwrap())
}

/// Two measurements whose maps say infinity: they can be composed, and nobody launches them.
#[test]
fn composition_of_what_has_no_finite_loss() -> Fallible<()> {
    let infinite = |shift: f64| {
        Measurement::new(
            AtomDomain::<f64>::new_non_nan(),
            AbsoluteDistance::<f64>::default(),
            MaxDivergence,
            Function::new(move |number: &f64| number + shift),
            PrivacyMap::new(|_: &f64| f64::INFINITY),
        )
    };
    let both = make_composition(vec![infinite(1.0)?, infinite(-1.0)?])?;
    assert_eq!(both.invoke(&99.0)?, [100.0, 98.0]);
    let odometer = Odometer::concurrent(PureDp).under(Halves::<2>);
    let odometer = start(&odometer, number(99.0)).unwrap();
    let unknown = |reason| LaunchError::UnknownLoss(UnknownLoss(reason));
    assert_eq!(
        odometer
            .release(&Measured::new(infinite(1.0)?))
            .unwrap_err(),
        unknown("OpenDP's privacy map returned an infinite loss")
    );
    // OpenDP does not add infinities.
    assert_eq!(
        odometer.release(&Measured::new(both)).unwrap_err(),
        unknown("OpenDP's privacy map has no answer at this distance")
    );
    Ok(())
}

/// Two Laplace mechanisms of scale 1, composed: 2 at a distance of 1.
#[test]
fn composition_of_laplace_noise() -> Fallible<()> {
    let noise = make_laplace::<_, _, MaxDivergence>(
        AtomDomain::<f64>::new_non_nan(),
        AbsoluteDistance::default(),
        1.0,
        None,
    )?;
    let both = Measured::new(make_composition(vec![noise; 2])?);
    let budget = |text: &str| Filter::concurrent(PureDp, epsilon(text)).under(Halves::<2>);
    let enough = start(&budget("2"), number(99.0)).unwrap();
    assert_eq!(enough.release(&both).unwrap().len(), 2);
    let less = start(&budget("1.9999"), number(99.0)).unwrap();
    let error = less.release(&both).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a loss of ε = 2 is over budget: 0 of ε = 1.9999 is spent, ε = 1.9999 is left"
    );
    Ok(())
}

/// Two Gaussian curves: at order 3 and a distance of 2, each is 6 and both are 12.
#[test]
fn composition_of_renyi_curves() -> Fallible<()> {
    let gaussian = Measurement::new(
        AtomDomain::<f64>::new_non_nan(),
        AbsoluteDistance::<f64>::default(),
        RenyiDivergence,
        Function::new(|number: &f64| *number),
        PrivacyMap::new(|d_in: &f64| {
            let half = d_in.powi(2) / 2.0;
            Function::new(move |alpha: &f64| alpha * half)
        }),
    )?;
    let both = Measured::new(make_composition(vec![gaussian; 2])?);
    let odometer = Odometer::concurrent(Rdp::new("3".parse().unwrap()));
    let odometer = start(&odometer.under(Halves::<4>), number(2.0)).unwrap();
    assert_eq!(odometer.release(&both), Ok(vec![2.0; 2]));
    assert_eq!(odometer.privacy_loss(), epsilon("12"));
    Ok(())
}

type Histogram = MapDomain<AtomDomain<i32>, AtomDomain<i32>>;
type PerKey = L01InfDistance<AbsoluteDistance<i32>>;

/// Histograms that differ by one, at one key.
#[derive(Clone, Copy, Debug, PartialEq)]
struct OneMore;

impl Relation for OneMore {
    const NAME: &'static str = "one more at one key";
}

impl Within<Histogram, PerKey> for OneMore {
    /// The number of keys that differ, by how much together, and by how much each.
    fn d_in(_: &Histogram, _: &PerKey, distance: Distance) -> Result<(u32, i32, i32), UnknownLoss> {
        let far = UnknownLoss("far");
        let keys = u32::try_from(distance.steps()).map_err(|_| far)?;
        let total = i32::try_from(keys).map_err(|_| far)?;
        Ok((keys, total, total))
    }
}

/// OpenDP's sparse histogram, which is asked key by key.
#[test]
fn a_histogram_that_is_looked_up() -> Fallible<()> {
    let domain = || MapDomain::new(AtomDomain::default(), AtomDomain::default());
    let metric = L01InfDistance::default();
    let lookup = make_alp_queryable::<i32, i32>(domain(), metric, 2.0, 24, Some(24), None, None)?;
    let histogram = HashMap::from([(42, 12), (100, 5)]);
    let data = Arc::new(InDomain::new(domain(), histogram).unwrap());
    let filter = Filter::concurrent(PureDp, epsilon("4")).under(OneMore);
    let filter = start(&filter, data).unwrap();
    let (one, other) = (
        filter.launch_local(&Measured::new(lookup.clone())).unwrap(),
        filter.launch_local(&Measured::new(lookup)).unwrap(),
    );
    for key in [0, 42, 100, 1000] {
        let estimates = (one.ask(key).unwrap(), other.ask(key).unwrap());
        assert!(estimates.0 >= 0.0 && estimates.1 >= 0.0, "{estimates:?}");
        // The same question has the same answer: it was drawn at the start.
        assert_eq!(one.ask(key), Ok(estimates.0));
    }
    assert_eq!(filter.remaining(), Epsilon::ZERO);
    Ok(())
}
