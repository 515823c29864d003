//! What a ledger does at a launch, at a restart, and at a retry.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ledger::{Numbered, admitted, created, fresh, over_budget, pure};
use queryables::account::LaunchesLeft;
use queryables::compose::{Halt, Refusal};
use queryables::data::Predicate;
use queryables::ledger::{
    Decision, Entry, FileStore, Ledger, LedgerError, Line, MemoryStore, Outcome, StoreError,
};
use queryables::machine::Description;
use queryables::machine::Stop;
use queryables::mechanisms::AboveThreshold;
use queryables::prelude::*;
use queryables::privacy::Distance;

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn entries(ledger: &Ledger) -> Vec<Entry> {
    let lines = ledger.lines(1, 1000).unwrap();
    let entry = |line| match line {
        Line::Entry(entry) => Some(*entry),
        _ => None,
    };
    lines.into_iter().filter_map(entry).collect()
}

fn outcomes(ledger: &Ledger) -> Vec<(u64, Outcome)> {
    let lines = ledger.lines(1, 1000).unwrap();
    let done = |line| match line {
        Line::Outcome(done) => Some((done.sequence, done.outcome)),
        _ => None,
    };
    lines.into_iter().filter_map(done).collect()
}

/// Every kind of store, each with a new ledger.
fn ledgers(name: &str) -> Vec<Ledger> {
    let file = Ledger::create(fresh(&format!("{name}.redb")), "numbers").unwrap();
    vec![Ledger::in_memory("numbers").unwrap(), file]
}

#[test]
fn every_decision_is_an_entry_with_the_totals_after_it() {
    for ledger in ledgers("entries") {
        let filter = pure(&ledger, "census", "1");
        let (ana, ben) = (filter.party("Ana"), filter.party("Ben"));
        assert_eq!(ana.release(&Numbered::new(1, "0.4")), Ok(1));
        let refused = over_budget(["0.4", "0.7", "0.6", "1"]);
        assert_eq!(ben.release(&Numbered::new(2, "0.7")), Err(refused));
        assert_eq!(ben.launch(&Numbered::new(3, "0.6")).unwrap().ask(()), Ok(3));
        let entries = entries(&ledger);
        let seen = |entry: &Entry| {
            let decision = serde_json::to_value(&entry.decision).unwrap();
            (
                entry.sequence,
                entry.party.clone(),
                entry.loss.clone(),
                decision,
                entry.spent.clone(),
            )
        };
        let refused = serde_json::json!({"refused":
            {"spent": "0.4", "requested": "0.7", "remaining": "0.6", "limit": "1"}});
        assert_eq!(
            entries.iter().map(seen).collect::<Vec<_>>(),
            [
                (
                    1,
                    "Ana".into(),
                    "0.4".into(),
                    "admitted".into(),
                    "0.4".into()
                ),
                (2, "Ben".into(), "0.7".into(), refused, "0.4".into()),
                (3, "Ben".into(), "0.6".into(), "admitted".into(), "1".into()),
            ]
        );
        let first = &entries[0];
        assert_eq!(
            first.mechanism,
            Description::new("Numbered").with("number", 1)
        );
        assert_eq!(first.measure, serde_json::json!({"measure": "PureDp"}));
        assert_eq!(
            (&*first.filter, &*first.relation),
            ("census", "add or remove one row")
        );
        assert_eq!((first.distance, &first.key), (1, &None));
        assert_eq!(
            outcomes(&ledger),
            [(1, Outcome::Answered(None)), (3, Outcome::Started)]
        );
        assert_eq!(filter.replay(), Ok(3));
        assert_eq!(filter.launched(), Ok(2));
    }
}

/// Counts how often it ran.
#[derive(Clone)]
struct Counting<'a>(&'a AtomicU64, Result<u64, Fault>);

impl Mechanism<()> for Counting<'_> {
    type Machine = Released<u64>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        self.0.fetch_add(1, Ordering::Relaxed);
        self.1.map(Released)
    }

    /// The answer stands for what another run would draw.
    fn describe(&self) -> Description {
        Description::new("Counting")
    }
}

impl Private<PureDp, AddRemove> for Counting<'_> {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon("0.25"))
    }
}

#[test]
fn a_mechanism_that_fails_stays_charged_and_says_so() {
    for ledger in ledgers("failed") {
        let filter = pure(&ledger, "census", "1");
        let runs = AtomicU64::new(0);
        let failing = Counting(&runs, Err(Fault::Failed));
        let failed = filter.party("Ana").release(&failing);
        assert_eq!(failed, Err(LaunchError::Failed.into()));
        assert_eq!(filter.privacy_loss(), Ok(epsilon("0.25")));
        assert_eq!(outcomes(&ledger), [(1, Outcome::Failed)]);
        assert_eq!(runs.into_inner(), 1);
    }
}

#[test]
fn a_retry_gets_the_same_answer_and_is_charged_once() {
    for ledger in ledgers("retry") {
        let ledger = ledger.keeping_answers();
        let filter = pure(&ledger, "census", "1");
        let (ana, ben) = (filter.party("Ana"), filter.party("Ben"));
        let runs = AtomicU64::new(0);
        assert_eq!(ana.release_once("k", &Counting(&runs, Ok(7))), Ok(7));
        // Another run would answer otherwise.
        assert_eq!(ana.release_once("k", &Counting(&runs, Ok(8))), Ok(7));
        assert_eq!(filter.privacy_loss(), Ok(epsilon("0.25")));
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        // The same key with another mechanism, or with another loss.
        let other = ana.release_once("k", &Numbered::new(1, "0.25"));
        assert_eq!(other, Err(LedgerError::OtherLaunch));
        assert_eq!(ana.release_once("n", &Numbered::new(1, "0.1")), Ok(1));
        let other = ana.release_once("n", &Numbered::new(1, "0.2"));
        assert_eq!(other, Err(LedgerError::OtherLaunch));
        // Another party's key is another key.
        assert_eq!(ben.release_once("k", &Counting(&runs, Ok(9))), Ok(9));
        // What was refused may be tried again.
        let refused = ana.release_once("large", &Numbered::new(4, "0.9"));
        assert_eq!(refused, Err(over_budget(["0.6", "0.9", "0.4", "1"])));
        assert_eq!(ana.release_once("large", &Numbered::new(4, "0.3")), Ok(4));
        assert_eq!(filter.privacy_loss(), Ok(epsilon("0.9")));
    }
    for ledger in ledgers("retry without answers") {
        let filter = pure(&ledger, "census", "1");
        let ana = filter.party("Ana");
        assert_eq!(ana.release_once("k", &Numbered::new(1, "0.1")), Ok(1));
        let again = ana.release_once("k", &Numbered::new(1, "0.1"));
        assert_eq!(again, Err(LedgerError::NoAnswer));
        assert_eq!(filter.privacy_loss(), Ok(epsilon("0.1")));
    }
}

#[test]
fn a_ledger_without_a_record_decides_and_retries_all_the_same() {
    let ledger = Ledger::on(MemoryStore::without_record(), "numbers")
        .unwrap()
        .keeping_answers();
    let filter = pure(&ledger, "census", "1");
    let ana = filter.party("Ana");
    assert_eq!(ana.release(&Numbered::new(1, "0.9")), Ok(1));
    assert_eq!(ledger.lines(1, 10), Ok(vec![]));
    assert_eq!(ana.release_once("k", &Numbered::new(2, "0.1")), Ok(2));
    assert_eq!(ana.release_once("k", &Numbered::new(2, "0.1")), Ok(2));
    assert_eq!(filter.privacy_loss(), Ok(epsilon("1")));
}

fn is_other<C, W>(error: &LedgerError<C, W>) -> bool {
    matches!(error, LedgerError::Store(StoreError::OtherTerms { budget, .. }) if budget == "census")
}

#[test]
fn a_filter_goes_on_where_it_was_and_only_under_its_own_terms() {
    let path = created("restart.redb", "numbers");
    {
        let ledger = Ledger::open(&path, "numbers").unwrap().keeping_answers();
        let filter = pure(&ledger, "census", "1");
        filter
            .party("Ana")
            .release(&Numbered::new(1, "0.4"))
            .unwrap();
        filter
            .party("Ana")
            .release_once("k", &Numbered::new(2, "0.1"))
            .unwrap();
        // A second process is kept out.
        assert_eq!(FileStore::open(&path).unwrap_err(), StoreError::InUse);
    }
    let other = StoreError::OtherDataset {
        named: "numbers".into(),
        given: "others".into(),
    };
    assert_eq!(Ledger::open(&path, "others").unwrap_err(), other);
    let ledger = Ledger::open(&path, "numbers").unwrap().keeping_answers();
    for filter in [
        Filter::concurrent(PureDp, epsilon("2")),
        Filter::concurrent(PureDp, epsilon("1")).at_most(3),
        Filter::concurrent(PureDp, epsilon("1")).halting(),
        Filter::concurrent(PureDp, epsilon("1")).at_distance(Distance::new(2).unwrap()),
    ] {
        let error = ledger.start("census", &filter, &Arc::new(())).unwrap_err();
        assert!(is_other(&error), "{error}");
    }
    let replace = Filter::concurrent(PureDp, epsilon("1")).under(Replace);
    let error = ledger.start("census", &replace, &Arc::new(())).unwrap_err();
    assert!(is_other(&error), "{error}");
    let sequential = Filter::sequential(PureDp, epsilon("1"));
    let launched = ledger.start("census", &sequential, &Arc::new(()));
    let error = launched.unwrap_err();
    assert!(is_other(&error), "{error}");

    let filter = pure(&ledger, "census", "1");
    assert_eq!(filter.remaining(), Ok(epsilon("0.5")));
    assert_eq!(
        filter
            .party("Ana")
            .release_once("k", &Numbered::new(2, "0.1")),
        Ok(2)
    );
    assert_eq!(filter.party("Ana").release(&Numbered::new(3, "0.5")), Ok(3));
    assert_eq!(filter.remaining(), Ok(Epsilon::ZERO));
    assert_eq!(admitted(&ledger.lines(1, 10).unwrap()), [1, 2, 3]);
    assert_eq!(filter.replay(), Ok(3));
}

#[test]
fn a_halt_outlives_the_process() {
    let path = created("halt.redb", "numbers");
    let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
    let refusal = Refusal {
        spent: Epsilon::ZERO,
        set_aside: None,
        requested: epsilon("2"),
        remaining: epsilon("1"),
        limit: epsilon("1"),
    };
    {
        let ledger = Ledger::open(&path, "numbers").unwrap();
        let filter = ledger.start("census", &filter, &Arc::new(())).unwrap();
        let refused = filter.party("Ana").release(&Numbered::new(1, "2"));
        assert_eq!(refused, Err(over_budget(["0", "2", "1", "1"])));
    }
    let ledger = Ledger::open(&path, "numbers").unwrap();
    let filter = ledger.start("census", &filter, &Arc::new(())).unwrap();
    assert_eq!(filter.halt(), Ok(Some(Halt::OverBudget(refusal))));
    let halted = LaunchError::Stopped(Stop::Halted);
    assert_eq!(
        filter.party("Ana").release(&Numbered::new(1, "0.1")),
        Err(halted.into())
    );
    assert_eq!(filter.party("Ana").would_admit(&epsilon("0.1")), Ok(false));
}

#[test]
fn a_budget_opened_twice_in_a_file_is_one_budget() {
    let ledger = Ledger::create(fresh("twice.redb"), "numbers").unwrap();
    let (one, other) = (pure(&ledger, "census", "1"), pure(&ledger, "census", "1"));
    for turn in 0..10 {
        let filter = if turn % 2 == 0 { &one } else { &other };
        filter
            .party("Ana")
            .release(&Numbered::new(turn, "0.1"))
            .unwrap();
    }
    for filter in [&one, &other] {
        let refused = filter.party("Ana").release(&Numbered::new(11, "0.1"));
        assert_eq!(refused, Err(over_budget(["1", "0.1", "0", "1"])));
        assert_eq!(filter.privacy_loss(), Ok(epsilon("1")));
    }
    // In memory a budget is its handle.
    let ledger = Ledger::in_memory("numbers").unwrap();
    let _one = pure(&ledger, "census", "1");
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let again = ledger.start("census", &filter, &Arc::new(())).unwrap_err();
    let budget = "census".to_owned();
    assert_eq!(
        again,
        LedgerError::Store(StoreError::AlreadyOpen { budget })
    );
}

#[test]
fn asking_writes_nothing() {
    for ledger in ledgers("asking") {
        let filter = pure(&ledger, "census", "1");
        let quota = filter.quota("small", epsilon("0.3")).unwrap();
        let ana = filter.party("Ana").with_quota(&quota).unwrap();
        ana.release(&Numbered::new(1, "0.2")).unwrap();
        let before = ledger.lines(1, 100).unwrap();
        for (loss, fits) in [("0.1", true), ("0.2", false), ("0.9", false)] {
            assert_eq!(ana.would_admit(&epsilon(loss)), Ok(fits));
        }
        assert_eq!(filter.party("Ben").would_admit(&epsilon("0.8")), Ok(true));
        // Her quota has room for two, and the filter for sixteen.
        let mechanism = Numbered::new(2, "0.05");
        for (party, left) in [(&ana, 2), (&filter.party("Ben"), 16)] {
            let preview = party.preview(&mechanism).unwrap();
            assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(left));
        }
        assert_eq!(ana.quotas_remaining(), Ok(vec![epsilon("0.1")]));
        assert_eq!(filter.remaining(), Ok(epsilon("0.8")));
        assert_eq!(ledger.lines(1, 100).unwrap(), before);
        assert_eq!(filter.privacy_loss(), Ok(epsilon("0.2")));
    }
}

#[test]
fn quotas_overlap_and_a_launch_that_one_refuses_charges_none() {
    let path = created("quotas.redb", "numbers");
    for round in 0..2 {
        // The second time after a restart.
        let ledger = Ledger::open(&path, "numbers").unwrap();
        let filter = pure(&ledger, "census", "1");
        let team = filter.quota("team", epsilon("0.6")).unwrap();
        let own = filter.quota("Ana", epsilon("0.5")).unwrap();
        let ana = filter
            .party("Ana")
            .with_quota(&team)
            .unwrap()
            .with_quota(&own)
            .unwrap();
        let ben = filter.party("Ben").with_quota(&team).unwrap();
        if round == 0 {
            assert_eq!(ana.release(&Numbered::new(1, "0.4")), Ok(1));
            assert_eq!(ben.release(&Numbered::new(2, "0.2")), Ok(2));
        }
        // Hers has room for it, the team's has not, and the filter has.
        let refused = ana.release(&Numbered::new(3, "0.1")).unwrap_err();
        let LedgerError::Launch(LaunchError::OverQuota { quota, refusal }) = refused else {
            panic!("{refused}");
        };
        assert_eq!(
            (&*quota, refusal.spent),
            (r#"("census", "team")"#, epsilon("0.6"))
        );
        assert_eq!(filter.spent_of(&team), Ok(Some(epsilon("0.6"))));
        assert_eq!(filter.spent_of(&own), Ok(Some(epsilon("0.4"))));
        assert_eq!(filter.privacy_loss(), Ok(epsilon("0.6")));
        // What the filter refuses is charged to no quota either.
        let free = filter.quota("free", epsilon("5")).unwrap();
        let eva = filter.party("Eva").with_quota(&free).unwrap();
        assert!(matches!(
            eva.release(&Numbered::new(4, "0.7")),
            Err(LedgerError::Launch(LaunchError::Refused(_)))
        ));
        assert_eq!(filter.spent_of(&free), Ok(Some(Epsilon::ZERO)));
        let last = entries(&ledger).pop().unwrap();
        assert!(matches!(last.decision, Decision::Refused(_)));
        assert_eq!(
            last.quotas,
            [(r#"("census", "free")"#.to_owned(), "0".into())]
        );
        assert_eq!(filter.replay(), Ok(4 + 2 * round));
        // Twice the same quota, and one of another filter.
        let open = |quota: &str| StoreError::AlreadyOpen {
            budget: format!(r#"("census", "{quota}")"#),
        };
        let again = filter.quota("team", epsilon("0.6"));
        assert_eq!(again.unwrap_err(), open("team"));
        assert_eq!(ana.clone().with_quota(&own).unwrap_err(), open("Ana"));
        let elsewhere = pure(&ledger, "elsewhere", "1").party("Ana");
        let budget = r#"("census", "team")"#.to_owned();
        let not_open = StoreError::NotOpen { budget };
        assert_eq!(elsewhere.with_quota(&team).unwrap_err(), not_open);
    }
}

#[test]
fn nobody_else_can_spend_a_share_that_was_set_aside() {
    let path = created("share.redb", "numbers");
    for round in 0..2 {
        let ledger = Ledger::open(&path, "numbers").unwrap();
        let filter = pure(&ledger, "census", "1");
        let share = Filter::concurrent(PureDp, epsilon("0.4"));
        let share = filter.reserve("Ben", &share).unwrap();
        assert_eq!(
            filter.remaining(),
            Ok(epsilon(if round == 0 { "0.6" } else { "0" }))
        );
        if round == 0 {
            // Ana takes everything that she can get.
            let ana = filter.party("Ana");
            assert_eq!(ana.release(&Numbered::new(1, "0.6")), Ok(1));
            let refused = ana.release(&Numbered::new(2, "0.1"));
            assert_eq!(refused, Err(over_budget(["1", "0.1", "0", "1"])));
        }
        let ben = share.party("Ben");
        let number = 3 + round;
        assert_eq!(ben.release(&Numbered::new(number, "0.2")), Ok(number));
        assert_eq!(
            share.privacy_loss(),
            Ok(epsilon(["0.2", "0.4"][round as usize]))
        );
        // A share that does not fit is not set aside.
        let large = Filter::concurrent(PureDp, epsilon("0.1"));
        let error = filter.reserve("Eva", &large).unwrap_err();
        assert!(matches!(
            error,
            LedgerError::Launch(LaunchError::Refused(_))
        ));
        // Another share under the same name is another launch.
        let error = filter.reserve("Ben", &large).unwrap_err();
        assert!(matches!(error, LedgerError::OtherLaunch));
    }
}

#[test]
fn a_share_stops_when_the_filter_halts_also_after_a_restart() {
    let path = created("share halts.redb", "numbers");
    let whole = Filter::concurrent(PureDp, epsilon("1")).halting();
    let share = Filter::concurrent(PureDp, epsilon("0.5"));
    for round in 0..2 {
        let ledger = Ledger::open(&path, "numbers").unwrap();
        let filter = ledger.start("census", &whole, &Arc::new(())).unwrap();
        let reserved = filter.reserve("Ben", &share);
        if round == 1 {
            // Known, and stopped before it starts.
            let stopped = matches!(&reserved, Err(LedgerError::Fault(Fault::Stopped(_))));
            assert!(stopped, "{reserved:?}");
            continue;
        }
        let ben = reserved.unwrap().party("Ben");
        assert_eq!(ben.release(&Numbered::new(1, "0.1")), Ok(1));
        let refused = filter.party("Ana").release(&Numbered::new(2, "2"));
        assert_eq!(refused, Err(over_budget(["0.5", "2", "0.5", "1"])));
        let halted = LaunchError::Stopped(Stop::Halted);
        assert_eq!(ben.release(&Numbered::new(3, "0.1")), Err(halted.into()));
    }
}

#[test]
fn children_answer_on_until_the_process_ends() {
    let path = created("children.redb", "numbers");
    let ages = Arc::new(vec![1_u8, 2, 3]);
    let launches = |ledger: &Ledger| {
        let filter = Filter::concurrent(PureDp, epsilon("1"));
        let filter = ledger.start("census", &filter, &ages).unwrap();
        let threshold = AboveThreshold::new(AddRemove, 5, 1, epsilon("0.3")).unwrap();
        (filter.clone(), filter.party("Ana").launch(&threshold))
    };
    {
        let ledger = Ledger::open(&path, "numbers").unwrap();
        let (_filter, child) = launches(&ledger);
        let child = child.unwrap();
        let all = Predicate::new("all", |_: &u8| true);
        child.ask(all.clone()).unwrap();
    }
    let ledger = Ledger::open(&path, "numbers").unwrap();
    assert_eq!(outcomes(&ledger), [(1, Outcome::Started)]);
    let (filter, child) = launches(&ledger);
    child.unwrap();
    // The first is gone, and its charge stands.
    assert_eq!(filter.privacy_loss(), Ok(epsilon("0.6")));
}

#[test]
fn a_launch_without_a_loss_is_no_decision() {
    let ledger = Ledger::in_memory("numbers").unwrap();
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let filter = filter.at_distance(Distance::new(u64::MAX).unwrap());
    let filter = ledger.start("census", &filter, &Arc::new(())).unwrap();
    let error = filter
        .party("Ana")
        .release(&Numbered::new(1, "1e11"))
        .unwrap_err();
    assert!(matches!(
        error,
        LedgerError::Launch(LaunchError::UnknownLoss(_))
    ));
    assert_eq!(entries(&ledger), []);
}

#[test]
fn nothing_prints_what_is_inside() {
    let ledger = Ledger::in_memory("numbers").unwrap();
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let filter = ledger
        .start("census", &filter, &Arc::new(vec!["secret"]))
        .unwrap();
    let party = filter.party("Ana");
    let printed = format!("{ledger:?} {filter:?} {party:?}");
    assert_eq!(printed, r#"Ledger(MemoryStore) LedgerFilter Party("Ana")"#);
}
