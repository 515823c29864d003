//! Mechanisms and filters whose types are erased.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use super::rows;
use crate::common::{Answer, Count, Touches, at, epsilon, pair};
use queryables::account::ThroughZCdp;
use queryables::compose::{
    Addressed, AnyFilter, Boxed, BoxedMechanism, BoxedRelease, Halt, Message, Refusal, Reply,
};
use queryables::data::Predicate;
use queryables::machine::Stop;
use queryables::mechanisms::{self, AboveThreshold, ApproxRandomizedResponse, RandomizedResponse};
use queryables::middle::{Log, LogEvent};
use queryables::number::Rho;
use queryables::prelude::*;
use queryables::privacy::{
    AnyLoss, AnyMeasure, ApproxZCdp, Distance, Gdp, ProbabilisticDp, Rdp, Restated, RestatedAt,
};

type Rows = Vec<u32>;
type Release<R = AddRemove> = BoxedRelease<Rows, AnyMeasure, R, i64>;

fn large() -> Predicate<Rows> {
    Predicate::new("large", |row: &u32| *row > 2)
}

fn laplace(loss: &str) -> Release {
    Release::new(
        AnyMeasure,
        mechanisms::Count::of(large())
            .laplace(epsilon(loss))
            .unwrap(),
    )
}

fn gaussian(rho: &str) -> Release {
    let count = mechanisms::Count::of(large())
        .gaussian(rho.parse::<Rho>().unwrap())
        .unwrap();
    Release::new(AnyMeasure, count)
}

fn search(loss: &str) -> BoxedMechanism<Rows, AnyMeasure, AddRemove, Predicate<Rows>, bool> {
    let search = AboveThreshold::new(AddRemove, 1, 1, epsilon(loss)).unwrap();
    BoxedMechanism::new(AnyMeasure, search)
}

fn any<L>(loss: &str) -> AnyLoss
where
    L: FromStr<Err: Debug> + Debug + Display + PartialEq + Send + Sync + 'static,
{
    AnyLoss::new(loss.parse::<L>().unwrap())
}

#[test]
fn a_boxed_mechanism_that_answers_once_is_released_where_nothing_else_is() {
    type Any = BoxedRelease<Rows, PureDp, AddRemove, i64>;
    let filter = start(&Filter::noninteractive(PureDp, epsilon("1")), rows()).unwrap();
    let count = Any::new(
        PureDp,
        mechanisms::Count::of(large())
            .laplace(epsilon!(0.6))
            .unwrap(),
    );
    let _: i64 = filter.release(&count).unwrap();
    assert_eq!(filter.privacy_loss(), epsilon("0.6"));
    let refused = filter.release(&count.clone()).unwrap_err();
    assert!(matches!(refused, LaunchError::Refused(_)), "{refused}");
}

#[test]
fn boxed_mechanisms_say_their_name_and_their_loss() {
    type Any = BoxedMechanism<Rows, PureDp, AddRemove, (), i64>;
    let count = || {
        mechanisms::Count::of(large())
            .laplace(epsilon!(0.6))
            .unwrap()
    };
    assert_eq!(
        format!("{:?}", Any::new(PureDp, count())),
        "Boxed(Count(predicate = large, relation = add or remove one row, epsilon = 0.6), ε = 0.6)"
    );
    assert_eq!(
        format!("{:?}", laplace("0.6")),
        "Boxed(Count(predicate = large, relation = add or remove one row, epsilon = 0.6), Laplace noise, ε = 0.6)"
    );
    // Under the measure with which it was boxed.
    type AtOrder = BoxedRelease<Rows, Rdp, AddRemove, i64>;
    let order = Rdp::new("2".parse().unwrap());
    let rho = mechanisms::Count::of(large()).gaussian(rho!(0.25)).unwrap();
    assert_eq!(
        format!("{:?}", AtOrder::new(order, rho)),
        "Boxed(Count(predicate = large, relation = add or remove one row, rho = 0.25), ε = 0.5)"
    );
    // A log of the messages to a filter says the same.
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&lines);
    let log = Log::new(
        move |said: LogEvent<'_, Message<Any, ()>, Reply<i64, Epsilon>>| {
            sink.lock().unwrap().push(format!("{said:?}"));
        },
    );
    let filter = Addressed::<_, Any>::new(Filter::concurrent(PureDp, epsilon("1"))).through(log);
    let filter = start(&filter, rows()).unwrap();
    filter
        .ask(Message::Launch(Any::new(PureDp, count())))
        .unwrap();
    assert_eq!(
        *lines.lock().unwrap(),
        [
            "Query(Launch(Boxed(Count(predicate = large, relation = add or remove one row, epsilon = 0.6), ε = 0.6)))",
            "Answer(Launched(0))",
        ]
    );
}

#[test]
fn filters_of_different_measures_live_in_one_map() {
    let rule = ThroughZCdp::for_zcdp(pair("1", "1e-6")).unwrap();
    let mut filters: BTreeMap<&str, AnyFilter<Rows>> = BTreeMap::new();
    macro_rules! insert {
        ($name:literal, $filter:expr) => {
            filters.insert($name, start(&$filter, rows()).unwrap().into());
        };
    }
    insert!("pure", Filter::concurrent(PureDp, epsilon("1")));
    insert!("zcdp", Filter::concurrent(ZCdp, "1".parse().unwrap()));
    insert!("gdp", Filter::concurrent(Gdp, "1".parse().unwrap()));
    insert!("approximate", Filter::concurrent_with(rule));
    for (name, filter) in &filters {
        let _: i64 = filter.release(&laplace("0.1")).unwrap();
        assert_eq!(filter.reading().unwrap().launched, 1, "{name}");
        let admitted = filter.release(&gaussian("0.01"));
        assert_eq!(admitted.is_ok(), *name != "pure", "{name}");
    }
    // Each charges exactly what the filter with types charges.
    let typed = start(&Filter::concurrent(ZCdp, "1".parse().unwrap()), rows()).unwrap();
    typed
        .release(
            &mechanisms::Count::of(large())
                .laplace(epsilon!(0.1))
                .unwrap(),
        )
        .unwrap();
    typed
        .release(&mechanisms::Count::of(large()).gaussian(rho!(0.01)).unwrap())
        .unwrap();
    assert_eq!(
        filters["zcdp"].reading().unwrap().privacy_loss.get(),
        Some(&typed.privacy_loss())
    );
    assert_eq!(
        filters["zcdp"].reading().unwrap().remaining.get::<Rho>(),
        Some(&typed.remaining())
    );
    // Budget and losses of this one are pairs, those of its children are not.
    assert_eq!(
        filters["approximate"].reading().unwrap().set_aside,
        AnyLoss::new(pair("0", "1e-6"))
    );
    assert_eq!(
        filters["approximate"].reading().unwrap().limit,
        AnyLoss::new(pair("1", "1e-6"))
    );
    assert_eq!(format!("{:?}", filters["gdp"]), "AnyFilter(Gdp)");
}

#[test]
fn what_has_no_price_is_an_error_and_costs_nothing() {
    let filter: AnyFilter<Rows> = start(&Filter::concurrent(PureDp, epsilon("1")), rows())
        .unwrap()
        .into();
    assert!(!filter.would_admit(&gaussian("0.1")).unwrap());
    assert_eq!(
        filter.release(&gaussian("0.1")),
        Err(LaunchError::UnknownLoss(UnknownLoss(
            "PureDp has no price for what the mechanism states"
        )))
    );
    assert_eq!(
        (
            filter.reading().unwrap().launched,
            filter.reading().unwrap().privacy_loss
        ),
        (0, any::<Epsilon>("0"))
    );
    // And neither has what is over budget.
    assert!(
        filter.would_admit(&laplace("1")).unwrap() && !filter.would_admit(&laplace("1.1")).unwrap()
    );
    let over = Refusal {
        spent: any::<Epsilon>("0"),
        set_aside: None,
        requested: any::<Epsilon>("1.1"),
        remaining: any::<Epsilon>("1"),
        limit: any::<Epsilon>("1"),
    };
    let refused = filter.release(&laplace("1.1")).unwrap_err();
    assert_eq!(refused, LaunchError::Refused(over));
    assert_eq!(
        refused.to_string(),
        "a loss of ε = 1.1 is over budget: 0 of ε = 1 is spent, ε = 1 is left"
    );
    assert_eq!(filter.reading().unwrap().launched, 0);
}

#[test]
fn interactive_children_are_launched_only_where_a_theorem_allows_them() {
    // No theorem for interactive mechanisms here.
    let once: AnyFilter<Rows> = start(
        &Filter::noninteractive(ProbabilisticDp, pair("1", "0")),
        rows(),
    )
    .unwrap()
    .into();
    assert!(!once.is_interactive());
    let refused = once.launch(&search("0.1")).map(|_| ()).unwrap_err();
    assert_eq!(refused, LaunchError::Interactive);
    assert_eq!(
        (
            once.reading().unwrap().launched,
            once.reading().unwrap().privacy_loss
        ),
        (0, AnyLoss::new(pair("0", "0")))
    );
    assert!(once.release(&laplace("0.1")).is_ok());

    // Approximate zCDP has none for interleaving: a launch freezes the earlier child.
    let budget = "(1, 0)".parse().unwrap();
    let one_by_one: AnyFilter<Rows> = start(&Filter::sequential(ApproxZCdp, budget), rows())
        .unwrap()
        .into();
    let first = one_by_one.launch(&search("0.1")).unwrap();
    assert_eq!(first.ask(large()).map(|_| ()), Ok(()));
    one_by_one.launch(&search("0.1")).unwrap();
    assert_eq!(first.ask(large()), Err(AskError::Stopped(Stop::Frozen)));

    let both: AnyFilter<Rows> = start(&Filter::concurrent(ZCdp, "1".parse().unwrap()), rows())
        .unwrap()
        .into();
    assert!(both.is_interactive());
    let (one, other) = (
        both.launch(&search("0.1")).unwrap(),
        both.launch(&search("0.1")).unwrap(),
    );
    assert!(other.ask(large()).is_ok() && one.ask(large()).is_ok());
}

/// Decided, charged, started: in this order, as with types.
#[test]
fn an_erased_filter_charges_before_it_runs_and_halts_as_the_filter_does() {
    let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
    let running = start(&filter, rows()).unwrap();
    let erased: AnyFilter<Rows> = running.clone().into();
    let touches = Touches::default();
    let costing = |loss: &str| Restated::new(PureDp, at(epsilon(loss), Answer(touches.clone())));
    assert_eq!(erased.release(&costing("0.4")), Ok(1));
    let child = erased
        .launch(&Restated::new(PureDp, at(epsilon("0.1"), Count::default())))
        .unwrap();
    let fails =
        crate::common::Run::new(|_: &Rows| Err::<(), _>(queryables::machine::Fault::Failed));
    let failed = erased
        .clone()
        .release(&Restated::new(PureDp, at(epsilon("0.2"), fails)));
    assert_eq!(failed, Err(LaunchError::Failed));
    assert_eq!(running.privacy_loss(), epsilon("0.7"));
    // One budget, whichever handle is used.
    assert_eq!(
        (
            erased.reading().unwrap().halt,
            erased.reading().unwrap().launched
        ),
        (None, 3)
    );
    let refused = erased.release(&costing("0.4"));
    let Err(LaunchError::Refused(refusal)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(touches.count(), 1);
    assert_eq!(
        erased.reading().unwrap().halt,
        Some(Halt::OverBudget(refusal))
    );
    assert_eq!(
        erased.release(&costing("0.1")),
        Err(LaunchError::Stopped(Stop::Halted))
    );
    assert_eq!(
        running.release(&costing("0.1")),
        Err(LaunchError::Stopped(Stop::Halted))
    );
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Halted)));
}

#[test]
fn what_is_stated_is_priced_at_the_distance_of_the_filter() {
    let filter = Filter::concurrent(ZCdp, "1".parse().unwrap());
    let filter = filter.at_distance(Distance::new(3).unwrap());
    let erased: AnyFilter<Rows> = start(&filter, rows()).unwrap().into();
    erased.release(&gaussian("0.1")).unwrap();
    // 3² times as much.
    assert_eq!(erased.reading().unwrap().privacy_loss, any::<Rho>("0.9"));
}

#[test]
fn filters_of_any_measure_nest() {
    let outer: AnyFilter<Rows> = start(&Filter::concurrent(ZCdp, "1".parse().unwrap()), rows())
        .unwrap()
        .into();
    // The inner budget is a loss under its own measure, and priced under the outer one.
    let zcdp = outer.launch(&Restated::new(
        ZCdp,
        Filter::concurrent(ZCdp, "0.25".parse().unwrap()),
    ));
    let gdp = outer.launch(&Restated::new(
        Gdp,
        Filter::concurrent(Gdp, "1".parse().unwrap()),
    ));
    assert_eq!(outer.reading().unwrap().privacy_loss, any::<Rho>("0.75"));
    let inner: [AnyFilter<Rows>; 2] = [zcdp.unwrap().into(), gdp.unwrap().into()];
    for filter in inner {
        filter.release(&gaussian("0.1")).unwrap();
    }
    // An (ε, δ) has no price under zCDP.
    let pair = Restated::new(ApproxDp, Filter::concurrent(ApproxDp, pair("0.1", "1e-6")));
    assert_eq!(
        outer.launch(&pair).map(|_| ()),
        Err(LaunchError::UnknownLoss(UnknownLoss(
            "ZCdp has no price for what the mechanism states"
        )))
    );
}

#[test]
fn the_relation_stays_a_type() {
    let replacing: AnyFilter<Rows, Replace> = start(
        &Filter::concurrent(PureDp, epsilon("1")).under(Replace),
        rows(),
    )
    .unwrap()
    .into();
    let count = mechanisms::Count::of(large())
        .under(Replace)
        .laplace(epsilon!(0.1))
        .unwrap();
    let _: i64 = replacing
        .release(&Release::<Replace>::new(AnyMeasure, count))
        .unwrap();
    assert_eq!(
        replacing.reading().unwrap().privacy_loss,
        any::<Epsilon>("0.1")
    );
}

#[test]
fn postprocessed_and_restated_mechanisms_keep_what_they_state() {
    type Said = BoxedRelease<Rows, AnyMeasure, AddRemove, String>;
    let count = mechanisms::Count::of(large())
        .laplace(epsilon!(0.1))
        .unwrap();
    let said = Said::new(
        AnyMeasure,
        count.mapped(|count: i64| format!("about {count}")),
    );
    let zcdp: AnyFilter<Rows> = start(&Filter::concurrent(ZCdp, "1".parse().unwrap()), rows())
        .unwrap()
        .into();
    assert!(zcdp.release(&said).unwrap().starts_with("about "));

    // Gaussian noise has no (ε, δ) of its own; with a δ that is chosen for it, it has.
    let approx: AnyFilter<Rows> = start(&Filter::concurrent(ApproxDp, pair("1", "1e-6")), rows())
        .unwrap()
        .into();
    let count = mechanisms::Count::of(large())
        .gaussian(rho!(0.005))
        .unwrap();
    let chosen = RestatedAt::new(ZCdp, "1e-6".parse().unwrap(), count);
    let mechanism = Release::new(AnyMeasure, Restated::new(ApproxDp, chosen));
    approx.release(&mechanism).unwrap();
    let spent = approx.reading().unwrap().privacy_loss;
    assert_eq!(
        spent.get::<EpsilonDelta>().unwrap().delta,
        "1e-6".parse().unwrap()
    );
}

/// As in `probabilistic_losses_are_priced_as_if_postprocessed`, but through a filter: a δ makes the
/// price under probabilistic DP larger than what the mechanism states itself.
#[test]
fn a_bit_that_is_revealed_with_probability_delta_costs_more_when_erased() {
    type Bit = BoxedRelease<bool, AnyMeasure, AddRemove, queryables::mechanisms::Response>;
    let stated = pair("0.1", "1e-6");
    let response = ApproxRandomizedResponse::new(stated);
    let filter = Filter::noninteractive(ProbabilisticDp, pair("1", "1e-3"));
    let typed = start(&filter, Arc::new(true)).unwrap();
    typed.release(&response).unwrap();
    assert_eq!(typed.privacy_loss(), stated);
    let erased: AnyFilter<bool> = start(&filter, Arc::new(true)).unwrap().into();
    erased.release(&Bit::new(AnyMeasure, response)).unwrap();
    let spent = *erased
        .reading()
        .unwrap()
        .privacy_loss
        .get::<EpsilonDelta>()
        .unwrap();
    assert!(
        spent.epsilon > stated.epsilon && spent.delta > stated.delta,
        "{spent}"
    );
    // Without one it does not.
    let erased: AnyFilter<bool> = start(&filter, Arc::new(true)).unwrap().into();
    type Plain = Boxed<bool, AnyMeasure, AddRemove, Released<bool>>;
    let response = RandomizedResponse::new("0.1".parse().unwrap()).unwrap();
    erased.release(&Plain::new(AnyMeasure, response)).unwrap();
    assert_eq!(
        erased.reading().unwrap().privacy_loss,
        AnyLoss::new(pair("0.1", "0"))
    );
}
