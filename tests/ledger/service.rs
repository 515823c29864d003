//! A service whose clients send messages, and whose budgets survive it.

use std::collections::BTreeMap;
use std::sync::Arc;

use queryables::compose::{AddressedFilter, AnyFilter, AnyMechanism, Message, Reply, Unavailable};
use queryables::data::Predicate;
use queryables::ledger::{Decision, Ledger, Line, Outcome, StoreError};
use queryables::mechanisms::{AboveThreshold, Count};
use queryables::number::Rho;
use queryables::prelude::*;
use queryables::privacy::AnyLoss;
use serde::Deserialize;
use serde_json::{Value, json};

use ledger::fresh;

type Ages = Vec<u32>;
type Any = AnyMechanism<Ages, Predicate<Ages>, Value>;
type Service = BTreeMap<&'static str, AddressedFilter<Ages, Predicate<Ages>, Value>>;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wanted {
    Count { loss: Epsilon },
    Gaussian { loss: Rho },
    Search { loss: Epsilon },
}

fn adults() -> Predicate<Ages> {
    Predicate::new("at least 18", |age: &u32| *age >= 18)
}

fn mechanism(wanted: Wanted) -> Result<Any, String> {
    let unfit = |error: &dyn std::error::Error| error.to_string();
    Ok(match wanted {
        Wanted::Count { loss } => Any::once(
            Count::of(adults())
                .laplace(loss)
                .map_err(|error| unfit(&error))?,
        ),
        Wanted::Gaussian { loss } => Any::once(
            Count::of(adults())
                .gaussian(loss)
                .map_err(|error| unfit(&error))?,
        ),
        Wanted::Search { loss } => {
            Any::open(AboveThreshold::new(AddRemove, 1000, 1, loss).map_err(|error| unfit(&error))?)
        }
    })
}

/// A party of each of three filters, with as many measures.
fn service(ledger: &Ledger) -> Service {
    let ages = Arc::new(vec![17, 18, 43, 70]);
    let pure = Filter::concurrent(PureDp, "1".parse().unwrap());
    let pure = ledger.start("pure", &pure, &ages).unwrap();
    let quota = pure.quota("remote", "0.8".parse().unwrap()).unwrap();
    let pure = pure.party("Ana").with_quota(&quota).unwrap();
    let zcdp = Filter::noninteractive(ZCdp, "0.1".parse().unwrap());
    let zcdp = ledger.start("zcdp", &zcdp, &ages).unwrap().party("Ana");
    let budget = EpsilonDelta::new("1", "1e-6").unwrap();
    let approx = Filter::sequential(ApproxDp, budget).halting();
    let approx = ledger.start("approx", &approx, &ages).unwrap();
    Service::from([
        ("pure", AddressedFilter::new(pure)),
        ("zcdp", AddressedFilter::new(zcdp)),
        ("approx", AddressedFilter::new(approx.party("Ana"))),
    ])
}

/// What the client is told, in JSON from one end to the other.
fn ask(service: &Service, filter: &str, message: Value) -> Value {
    let message: Message<Wanted, ()> = serde_json::from_value(message).unwrap();
    let message = message.try_map(mechanism, |()| Ok(adults())).unwrap();
    let told = serde_json::to_value(service[filter].ask(message)).unwrap();
    // The client reads what was sent.
    let read: Reply<Value, AnyLoss> = serde_json::from_value(told.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), told);
    told
}

fn remaining(service: &Service, filter: &str) -> Value {
    ask(service, filter, json!("remaining"))["remaining"]["loss"].clone()
}

#[test]
fn a_service_with_mixed_measures_continues_after_a_restart() {
    let path = fresh("service.redb");
    let ledger = Ledger::create(&path, "ages").unwrap();
    let before = service(&ledger);
    let launch = |mechanism| json!({ "launch": mechanism });

    let search = launch(json!({"search": {"loss": "0.25"}}));
    assert_eq!(ask(&before, "pure", search.clone()), json!({"launched": 0}));
    // Converted to JSON. Wrong with probability below e^-50.
    assert_eq!(
        ask(&before, "pure", json!({"ask": [0, null]})),
        json!({"answered": false})
    );
    let count = launch(json!({"count": {"loss": "0.25"}}));
    assert!(ask(&before, "pure", count.clone())["answered"].is_i64());
    assert_eq!(remaining(&before, "pure"), json!("0.5"));
    let gaussian = launch(json!({"gaussian": {"loss": "0.06"}}));
    assert!(ask(&before, "zcdp", gaussian.clone())["answered"].is_i64());
    assert_eq!(
        ask(&before, "zcdp", search.clone()),
        json!({"not_launched": "interactive"})
    );
    assert_eq!(
        ask(&before, "pure", gaussian.clone()),
        json!({"not_launched": "unknown_loss"})
    );
    // A later launch freezes the child.
    assert_eq!(
        ask(&before, "approx", search.clone()),
        json!({"launched": 0})
    );
    assert!(ask(&before, "approx", count.clone())["answered"].is_i64());
    let frozen = ask(&before, "approx", json!({"ask": [0, null]}));
    assert_eq!(frozen, json!({"not_answered": "frozen"}));

    // The process ends, and another one goes on with what is left.
    drop((before, ledger));
    let ledger = Ledger::open(&path, "ages").unwrap();
    let after = service(&ledger);
    assert_eq!(remaining(&after, "pure"), json!("0.5"));
    // The children are gone, and what they cost is not.
    assert_eq!(
        ask(&after, "pure", json!({"ask": [0, null]})),
        json!({"unknown": 0})
    );
    assert_eq!(
        ask(&after, "pure", launch(json!({"count": {"loss": "0.4"}}))),
        json!({"over_quota": {
            "quota": r#"("pure", "remote")"#,
            "refused": {
                "measure": "PureDp",
                "spent": "0.5",
                "requested": "0.4",
                "remaining": "0.3",
                "limit": "0.8",
            },
        }}),
    );
    assert_eq!(ask(&after, "pure", search), json!({"launched": 0}));
    assert_eq!(
        ask(&after, "zcdp", gaussian),
        json!({"refused": {
            "measure": "ZCdp",
            "spent": "0.06",
            "requested": "0.06",
            "remaining": "0.04",
            "limit": "0.1",
        }}),
    );
    // One launch too many halts this one, for every process to come.
    let over = launch(json!({"count": {"loss": "0.75"}}));
    let refused = ask(&after, "approx", over.clone());
    assert_eq!(refused["refused"]["spent"], json!("(0.5, 0)"));
    assert_eq!(
        ask(&after, "approx", count),
        json!({"not_launched": "halted"})
    );
    drop((after, ledger));
    let ledger = Ledger::open(&path, "ages").unwrap();
    let last = service(&ledger);
    assert_eq!(
        ask(&last, "approx", over),
        json!({"not_launched": "halted"})
    );
    let halt = last["approx"].filter().reading().unwrap().halt;
    assert!(halt.is_some());

    // Everything is in the record, with what became of it and what the mechanisms say of themselves.
    let lines = ledger.lines(1, 100).unwrap();
    let entries = lines.iter().filter_map(|line| match line {
        Line::Entry(entry) if entry.decision == Decision::Admitted => {
            Some((&*entry.filter, entry.mechanism.name()))
        }
        _ => None,
    });
    let admitted = [
        ("pure", "AboveThreshold"),
        ("pure", "Count"),
        ("zcdp", "Count"),
        ("approx", "AboveThreshold"),
        ("approx", "Count"),
        ("pure", "AboveThreshold"),
    ];
    assert_eq!(entries.collect::<Vec<_>>(), admitted);
    let outcomes = lines.iter().filter_map(|line| match line {
        Line::Outcome(done) => Some(done.outcome.clone()),
        _ => None,
    });
    let [started, answered] = [Outcome::Started, Outcome::Answered(None)];
    let became = [
        &started, &answered, &answered, &started, &answered, &started,
    ];
    assert_eq!(outcomes.collect::<Vec<_>>(), became.map(Outcome::clone));
}

/// An erased party is the party: its quotas, its store, what it says without a launch.
#[test]
fn an_erased_party_reads_as_the_party_does() {
    let ledger = Ledger::in_memory("ages").unwrap();
    let ages = Arc::new(vec![17, 18, 43, 70]);
    let filter = Filter::concurrent(PureDp, "1".parse().unwrap()).at_most(2);
    let filter = ledger.start("pure", &filter, &ages).unwrap();
    let quota = filter.quota("remote", "0.75".parse().unwrap()).unwrap();
    let party = filter.party("Ana").with_quota(&quota).unwrap();
    let any: AnyFilter<Ages> = party.clone().into();
    let count = |loss: &str| {
        Count::of(adults())
            .laplace(loss.parse::<Epsilon>().unwrap())
            .unwrap()
    };
    assert_eq!(format!("{any:?}"), "AnyFilter(PureDp)");
    assert!(any.is_interactive());

    assert_eq!(any.would_admit(&count("0.75")), Ok(true));
    assert_eq!(any.would_admit(&count("0.8")), Ok(false));
    let quarter = count("0.25");
    let typed = party.preview(&quarter).unwrap();
    let preview = any.preview(&quarter).unwrap();
    assert_eq!(preview.cost().get(), Some(typed.cost()));
    assert_eq!(preview.launches_left(), typed.launches_left());

    any.release(&quarter).unwrap();
    let reading = any.reading().unwrap();
    assert_eq!(
        reading.privacy_loss.get(),
        Some(&party.privacy_loss().unwrap())
    );
    assert_eq!(reading.remaining.get(), Some(&party.remaining().unwrap()));
    assert_eq!(reading.limit.get(), Some(&filter.limit()));
    assert_eq!((reading.launched, reading.halt), (1, None));
    any.release(&quarter).unwrap();
    let limit = any.release(&quarter).unwrap_err();
    assert_eq!(limit, LaunchError::CountLimit { limit: 2 });
}

/// The store's error is said for the data holder; the client hears a code.
#[test]
fn a_store_that_is_down_makes_an_erased_filter_unavailable() {
    let path = fresh("unavailable.redb");
    let ledger = Ledger::create(&path, "ages").unwrap();
    let service = service(&ledger);
    std::fs::rename(&path, path.with_extension("moved")).unwrap();
    let count = json!({"launch": {"count": {"loss": "0.1"}}});
    let told = ask(&service, "pure", count);
    assert_eq!(told, json!({"not_launched": "unavailable"}));
    let count = Count::of(adults()).laplace(epsilon!(0.1)).unwrap();
    let down = Unavailable(StoreError::Replaced.to_string());
    let released = service["pure"].filter().release(&count);
    assert_eq!(released, Err(LaunchError::Unavailable(down)));
}
