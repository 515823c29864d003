//! Ways around the guarantee that were open once, with safe code and the public API only.
//!
//! Four more do not compile: a mechanism that starts a handle (`handle_as_machine`), coins for a
//! handle (`coins_for_a_handle`), inspecting a handle (`inspecting_a_handle`), and replacing the
//! coins that one is lent (`replacing_the_coins`); see `compile_fail`.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::{Answer, Ask, Count, Run, at, epsilon};
use queryables::account::{
    Accounting, Accumulator, Capped, ContinuationRule, DefaultAccumulator, Exceeded, Sum,
    ValidConcurrently, ValidSequentially,
};
use queryables::compose::{
    Addressed, BoxedMechanism, ConcurrentComposition, FilterMachine, Message, Parallel, Reply,
    RunningFilter, RunningFilterOf, Sequential, Universal, UniversalQuery,
};
use queryables::machine::{CoinSource, NotPrivateSeededCoins, Public, PublicFacts, Unsuitable};
use queryables::mechanisms::{NoisyCount, Predicate};
use queryables::middle::Clamp;
use queryables::prelude::*;
use queryables::privacy::Overflow;
use queryables::queryable::{Child, Relay};
use queryables::verify::{Children, Pair, Verifier};

type Sequentially = RunningFilterOf<Vec<u8>, PureDp, AddRemove, Sequential>;

fn rows() -> Arc<Vec<u8>> {
    Arc::new(vec![1, 2, 3])
}

fn sequentially() -> Sequentially {
    launch(&Filter::sequential(PureDp, epsilon("10")), rows()).unwrap()
}

/// The number of rows, once.
fn once(loss: &str) -> crate::common::Stated<Epsilon, Run<Vec<u8>, usize>> {
    at(epsilon(loss), Run::new(|rows: &Vec<u8>| Ok(rows.len())))
}

/// The number of rows, as often as it is asked for.
fn often(loss: &str) -> crate::common::Stated<Epsilon, Ask<Vec<u8>, u32, usize>> {
    at(epsilon(loss), Ask::new(|rows: &Vec<u8>, _| Ok(rows.len())))
}

const FROZEN: AskError = AskError::Stopped(Stop::Frozen);
const HALTED: AskError = AskError::Stopped(Stop::Halted);

// ---- A handle wrapped into a mechanism is stopped with the handle --------------------------------

/// Starts a relay to a handle that exists already.
#[derive(Clone)]
struct Rewrap<Q, A>(Queryable<Q, A>);

impl<D: ?Sized, Q, A> Mechanism<D> for Rewrap<Q, A> {
    type Machine = Relay<Queryable<Q, A>>;

    fn start(&self, _: &Arc<D>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(Relay(self.0.clone()))
    }
}

#[test]
fn a_frozen_or_halted_handle_cannot_be_thawed_by_launching_it_anew() {
    let outer = sequentially();
    let inner = outer.launch(&often("1")).unwrap();
    let wrapped = launch(&Rewrap(inner.clone()), Arc::new(())).unwrap();
    assert_eq!(wrapped.ask(0), Ok(3));
    outer.release(&once("1")).unwrap();
    assert_eq!(inner.ask(0), Err(FROZEN));
    assert_eq!(wrapped.ask(0), Err(FROZEN));
    let again = launch(&Rewrap(inner), Arc::new(())).unwrap();
    assert_eq!(again.ask(0), Err(FROZEN));

    let halting = Filter::concurrent(PureDp, epsilon("1")).halting();
    let outer = launch(&halting, rows()).unwrap();
    let inner = outer.launch(&often("0.5")).unwrap();
    assert!(matches!(
        outer.release(&once("5")),
        Err(LaunchError::Refused(_))
    ));
    let again = launch(&Rewrap(inner), Arc::new(())).unwrap();
    assert_eq!(again.ask(0), Err(HALTED));
}

#[test]
fn the_parts_of_a_parallel_composition_are_frozen_with_it() {
    let outer = sequentially();
    let filters = [0, 1].map(|parity| (parity, Filter::concurrent(PureDp, epsilon("1"))));
    let parts = outer
        .launch(&Parallel::new(|row: &u8| row % 2, filters))
        .unwrap();
    let child = parts.part(&1).unwrap().launch(&often("0.1")).unwrap();
    assert_eq!(child.ask(0), Ok(2));
    outer.release(&once("1")).unwrap();
    assert_eq!(child.ask(0), Err(FROZEN));
    let part = parts.clone().part(&0).unwrap();
    assert_eq!(
        part.release(&once("0.1")),
        Err(LaunchError::Stopped(Stop::Frozen))
    );
}

/// And the other way: whoever stops the machine that a relay is part of stops the relay, and
/// whatever would still ask inside.
#[test]
fn a_relay_obeys_whoever_may_stop_the_machine_around_it() {
    let unrelated = launch(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let outer = sequentially();
    // The handle's own machine has a middle that freezes the relay.
    let inside = unrelated
        .launch(&often("0.1").through(Freezes(outer.clone())))
        .unwrap();
    let relay = outer
        .launch(&at(epsilon("1"), Rewrap(inside.clone())))
        .unwrap();
    assert_eq!(relay.ask(0), Err(FROZEN));
    assert_eq!(relay.ask(0), Err(FROZEN));
    // Asked for itself, the same handle stays: nobody has stopped it.
    assert_eq!(inside.ask(0), Ok("3 after 3".into()));
}

// ---- A middle does not talk on after a freeze, however deep it stands -----------------------------

/// Launches on a handle that it holds, tells the inside what it heard, and answers with both.
#[derive(Clone)]
struct Freezes(Sequentially);

impl Middle<u32, usize> for Freezes {
    type OuterQuery = u32;
    type OuterAnswer = String;

    fn on_query(&mut self, _: u32, _: &mut Coins<'_>) -> Result<Move<u32, String>, Fault> {
        let later = self.0.release(&once("0.1")).map_err(|_| Fault::Failed)?;
        Ok(Move::Ask(later as u32))
    }

    fn on_answer(&mut self, answer: usize, _: &mut Coins<'_>) -> Result<Move<u32, String>, Fault> {
        Ok(Move::Answer(format!("{answer} after 3")))
    }
}

#[test]
fn a_middle_is_frozen_through_a_compositor_in_between() {
    let outer = sequentially();
    let direct = outer
        .launch(&often("0.1").through(Freezes(outer.clone())))
        .unwrap();
    assert_eq!(direct.ask(0), Err(FROZEN));

    for between in [
        Filter::sequential(PureDp, epsilon("1")),
        Filter::sequential(PureDp, epsilon("1")).halting(),
    ] {
        let inner = outer.launch(&Addressed::new(between)).unwrap();
        let mechanism = often("0.1").through(Freezes(outer.clone()));
        assert_eq!(
            inner.ask(Message::Launch(mechanism)),
            Ok(Reply::Launched(0))
        );
        assert_eq!(
            inner.ask(Message::Ask(0, 0)),
            Ok(Reply::NotAnswered(FROZEN))
        );
        assert_eq!(inner.ask(Message::Ask(0, 0)), Err(FROZEN));
    }
}

/// A machine with a filter of its own inside, which launches at the first question.
struct Owner<M: Mechanism<Vec<u8>>> {
    filter: FilterMachine<Vec<u8>, Capped<Sum<PureDp>>>,
    child: Option<Child<M::Machine>>,
    mechanism: M,
}

#[derive(Clone)]
struct Owns<M>(M);

impl<M: Mechanism<Vec<u8>> + Clone> Mechanism<Vec<u8>> for Owns<M> {
    type Machine = Owner<M>;

    fn start(&self, rows: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Owner<M>, Fault> {
        let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
        Ok(Owner {
            filter: filter.start(rows, coins)?,
            child: None,
            mechanism: self.0.clone(),
        })
    }
}

impl<M> Machine for Owner<M>
where
    M: Mechanism<Vec<u8>, Machine: Machine> + Private<PureDp, AddRemove>,
{
    type Query = <M::Machine as Machine>::Query;
    type Answer = Result<<M::Machine as Machine>::Answer, AskError>;

    fn step(&mut self, query: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        if self.child.is_none() {
            let child = self.filter.launch(&self.mechanism, coins);
            self.child = Some(child.map_err(|_| Fault::Failed)?);
        }
        let child = self.child.as_mut().ok_or(Fault::Failed)?;
        Ok(child.ask(query, coins))
    }
}

#[test]
fn a_middle_is_frozen_through_a_machine_that_owns_a_filter() {
    let outer = sequentially();
    let mechanism = often("0.1").through(Freezes(outer.clone()));
    let owner = outer.launch(&at(epsilon("1"), Owns(mechanism))).unwrap();
    assert_eq!(owner.ask(0), Ok(Err(FROZEN)));
    assert_eq!(owner.ask(0), Err(FROZEN));
}

#[test]
fn a_composition_starts_nothing_more_once_it_is_frozen() {
    let outer = sequentially();
    let started = Arc::new(AtomicUsize::new(0));
    let counted = |started: &Arc<AtomicUsize>| {
        let started = Arc::clone(started);
        at(
            epsilon("0.1"),
            Run::new(move |rows: &Vec<u8>| {
                started.fetch_add(1, Ordering::SeqCst);
                Ok(rows.len())
            }),
        )
    };
    let later = outer.clone();
    let first = counted(&started).mapped(move |rows: usize| {
        later.release(&once("0.1")).unwrap();
        rows
    });
    type Boxed = BoxedMechanism<Vec<u8>, PureDp, AddRemove, (), usize>;
    let both = [Boxed::new(first), Boxed::new(counted(&started))];
    let launched = outer.launch(&ConcurrentComposition::new(both));
    assert_eq!(launched.map(|_| ()), Err(LaunchError::Failed));
    assert_eq!(started.load(Ordering::SeqCst), 1);
    // Charged: it had begun. And the later launch, too.
    assert_eq!(outer.privacy_loss(), epsilon("0.3"));
}

// ---- Nobody else is disturbed ---------------------------------------------------------------------

/// Freezes the child that it stands before, and then asks somebody else.
#[derive(Clone)]
struct AsksElsewhere(Sequentially, Queryable<i64, i64>);

impl Middle<u32, usize> for AsksElsewhere {
    type OuterQuery = u32;
    type OuterAnswer = Result<i64, AskError>;

    fn on_query(
        &mut self,
        _: u32,
        _: &mut Coins<'_>,
    ) -> Result<Move<u32, Self::OuterAnswer>, Fault> {
        self.0.release(&once("0.1")).map_err(|_| Fault::Failed)?;
        Ok(Move::Answer(self.1.ask(5)))
    }

    fn on_answer(
        &mut self,
        _: usize,
        _: &mut Coins<'_>,
    ) -> Result<Move<u32, Self::OuterAnswer>, Fault> {
        Err(Fault::Failed)
    }
}

#[test]
fn a_child_of_an_unrelated_filter_answers_whoever_was_frozen() {
    let other = launch(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let echo = at(epsilon("0"), Ask::new(|_: &Vec<u8>, query: i64| Ok(query)));
    let unrelated = other.launch(&echo.through(Clamp::new(0, 100))).unwrap();
    let outer = sequentially();
    let middle = AsksElsewhere(outer.clone(), unrelated.clone());
    let child = outer.launch(&often("0.1").through(middle)).unwrap();
    assert_eq!(child.ask(0), Ok(Ok(5)));
    assert_eq!(child.ask(0), Err(FROZEN));
    assert_eq!(unrelated.ask(7), Ok(7));
}

// ---- Whoever states a loss may stop the launch that it is stated for -------------------------------

/// Launches on a handle that it holds before it states its loss.
struct Sly {
    outer: Sequentially,
    heard: AtomicUsize,
}

impl Mechanism<Vec<u8>> for Sly {
    type Machine = Released<usize>;

    fn start(&self, _: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        Ok(Released(self.heard.load(Ordering::SeqCst)))
    }
}

impl Private<PureDp, AddRemove> for Sly {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        let later = self.outer.release(&once("0.1"));
        self.heard.store(later.unwrap_or(0), Ordering::SeqCst);
        Ok(epsilon("0.1"))
    }
}

#[test]
fn a_loss_that_freezes_its_own_launch_is_refused() {
    let sly = |outer: &Sequentially| Sly {
        outer: outer.clone(),
        heard: AtomicUsize::new(0),
    };
    let outer = sequentially();
    let inner = outer
        .launch(&Filter::sequential(PureDp, epsilon("1")))
        .unwrap();
    assert_eq!(
        inner.release(&sly(&outer)),
        Err(LaunchError::Stopped(Stop::Frozen))
    );
    assert_eq!(inner.privacy_loss(), Epsilon::ZERO);

    // As a machine in between, too.
    let outer = sequentially();
    let sly = Arc::new(sly(&outer));
    let between = Filter::sequential(PureDp, epsilon("1"));
    let inner = outer.launch(&Addressed::new(between)).unwrap();
    let refused = Reply::NotLaunched(LaunchError::Stopped(Stop::Frozen));
    assert_eq!(inner.ask(Message::Launch(Shared(sly))), Ok(refused));
}

#[derive(Clone)]
struct Shared(Arc<Sly>);

impl Mechanism<Vec<u8>> for Shared {
    type Machine = Released<usize>;

    fn start(&self, rows: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        self.0.start(rows, coins)
    }
}

impl Private<PureDp, AddRemove> for Shared {
    fn loss(&self, measure: &PureDp) -> Result<Epsilon, UnknownLoss> {
        self.0.loss(measure)
    }
}

// ---- A rule of one's own cannot make its filter wait for itself -----------------------------------

type OwnFilter = RunningFilter<Vec<u8>, Nosy>;

/// Adds up, and meanwhile reads its own filter, and launches there.
#[derive(Clone, Debug)]
struct Nosy {
    rule: Capped<Sum<PureDp>>,
    filter: Arc<Mutex<Option<OwnFilter>>>,
    /// How often it was asked to decide.
    asked: Arc<AtomicUsize>,
    how: How,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Reads,
    ReadsOnAThread,
    Launches,
    Panics,
}

impl Accounting for Nosy {
    type Children = PureDp;
    type Whole = PureDp;

    fn children(&self) -> &PureDp {
        &PureDp
    }

    fn whole(&self) -> &PureDp {
        &PureDp
    }
}

impl ContinuationRule for Nosy {
    fn limit(&self) -> &Epsilon {
        self.rule.limit()
    }

    fn spent(&self) -> Epsilon {
        self.rule.spent()
    }

    fn remaining(&self) -> Epsilon {
        self.rule.remaining()
    }

    fn charge(&self, loss: &Epsilon) -> Result<Self, Exceeded> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let filter = self.filter.lock().unwrap().clone();
        match (self.how, filter) {
            (How::Reads, Some(filter)) => drop(filter.remaining()),
            (How::ReadsOnAThread, Some(filter)) => {
                thread::spawn(move || filter.privacy_loss()).join().unwrap();
            }
            // Once: the launch inside asks the rule again.
            (How::Launches, Some(filter)) if asked == 0 => {
                filter.release(&once("0.25")).unwrap();
            }
            (How::Panics, _) if *loss > epsilon("0.5") => panic!("a loss of more than a half"),
            _ => {}
        }
        Ok(Self {
            rule: self.rule.charge(loss)?,
            ..self.clone()
        })
    }
}

impl ValidSequentially for Nosy {}
impl ValidConcurrently for Nosy {}

fn nosy(how: How) -> (OwnFilter, Arc<AtomicUsize>) {
    let rule = Nosy {
        rule: PureDp.accumulator().capped(epsilon("1")),
        filter: Arc::default(),
        asked: Arc::default(),
        how,
    };
    let (held, asked) = (Arc::clone(&rule.filter), Arc::clone(&rule.asked));
    let filter = launch(&Filter::concurrent_with(rule), rows()).unwrap();
    *held.lock().unwrap() = Some(filter.clone());
    (filter, asked)
}

#[test]
fn a_rule_may_read_its_own_filter() {
    for how in [How::Reads, How::ReadsOnAThread] {
        // On a thread of its own: what waits for itself is found by the timeout of the runner.
        let (done, is_done) = channel();
        thread::spawn(move || {
            let (filter, _) = nosy(how);
            done.send((filter.release(&once("0.5")), filter.privacy_loss()))
        });
        assert_eq!(is_done.recv(), Ok((Ok(3), epsilon("0.5"))));
    }
}

#[test]
fn a_rule_that_launches_decides_again_on_what_it_made() {
    let (filter, asked) = nosy(How::Launches);
    assert_eq!(filter.release(&once("0.5")), Ok(3));
    assert_eq!(filter.privacy_loss(), epsilon("0.75"));
    // For the launch, for the one inside, and for the launch again.
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

#[test]
fn asking_whether_a_launch_would_be_admitted_charges_nothing() {
    let (filter, asked) = nosy(How::Reads);
    assert!(filter.would_admit(&epsilon("1")));
    assert!(!filter.would_admit(&epsilon("1.1")));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert_eq!(filter.privacy_loss(), Epsilon::ZERO);
}

#[test]
fn a_rule_that_panics_changes_nothing() {
    let (filter, _) = nosy(How::Panics);
    filter.release(&once("0.25")).unwrap();
    assert_eq!(filter.release(&once("0.6")), Err(LaunchError::RuleFailed));
    assert!(!filter.would_admit(&epsilon("0.6")));
    assert_eq!(filter.privacy_loss(), epsilon("0.25"));
    assert_eq!(filter.release(&once("0.5")), Ok(3));
}

// ---- What is thrown tells nobody anything ---------------------------------------------------------

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("dropped");
        }
    }
}

/// Rows that panic when they are dropped.
struct BombedRows(Vec<u8>);

impl Drop for BombedRows {
    fn drop(&mut self) {
        panic!("the rows are {:?}", self.0);
    }
}

#[test]
fn data_that_panics_when_it_is_dropped_tells_the_analyst_nothing() {
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let filter = launch(&filter, Arc::new(BombedRows(vec![4, 2]))).unwrap();
    let child = filter.launch(&at(epsilon("0.1"), Holds)).unwrap();
    // The child holds the rows too, and is the last to let them go.
    assert!(catch_unwind(AssertUnwindSafe(|| drop(filter))).is_ok());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(child))).is_ok());
    let odometer = launch(
        &Odometer::concurrent(PureDp),
        Arc::new(BombedRows(vec![4, 2])),
    );
    assert!(catch_unwind(AssertUnwindSafe(|| drop(odometer))).is_ok());
}

/// Keeps the data.
struct Holds;

struct Held(#[allow(dead_code)] Arc<BombedRows>);

impl Mechanism<BombedRows> for Holds {
    type Machine = Held;

    fn start(&self, rows: &Arc<BombedRows>, _: &mut Coins<'_>) -> Result<Held, Fault> {
        Ok(Held(Arc::clone(rows)))
    }
}

impl Machine for Held {
    type Query = ();
    type Answer = ();

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<(), Fault> {
        Ok(())
    }
}

#[test]
fn a_predicate_whose_panic_panics_when_it_is_dropped_tells_nothing_of_the_row() {
    for rows in [vec![1, 2], vec![1, 2, 7]] {
        let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(rows)).unwrap();
        let predicate = Predicate::new("bomb", |row: &u8| {
            if *row == 7 {
                panic_any(Bomb);
            }
            true
        });
        let count = NoisyCount::new(predicate, epsilon("1e-9")).unwrap();
        assert_eq!(filter.release(&count).map(|_| ()), Ok(()));
    }
}

#[test]
fn a_key_that_panics_on_a_row_tells_nothing_of_it() {
    for rows in [vec!["a,1", "b,2"], vec!["a,1", "b,2", "broken"]] {
        let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(rows)).unwrap();
        let key = |row: &&str| row.split(',').nth(1).unwrap().parse::<u8>().unwrap();
        let filters = [1, 2].map(|key| (key, Filter::concurrent(PureDp, epsilon("0.5"))));
        let parts = filter.launch(&Parallel::new(key, filters)).unwrap();
        let rows = |key| {
            let count = at(epsilon("0.1"), Run::new(|rows: &Vec<&str>| Ok(rows.len())));
            parts.part(&key).unwrap().release(&count)
        };
        assert_eq!((rows(1), rows(2)), (Ok(1), Ok(1)));
    }
}

#[test]
fn whatever_fails_as_it_starts_or_answers_is_charged_and_closes_nothing_else() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let bomb = || -> Result<usize, Fault> { panic_any(Bomb) };
    let start = at(epsilon("0.1"), Run::new(move |_: &Vec<u8>| bomb()));
    assert_eq!(filter.release(&start), Err(LaunchError::Failed));
    let step = at(epsilon("0.1"), Ask::new(move |_: &Vec<u8>, (): ()| bomb()));
    let child = filter.launch(&step).unwrap();
    assert_eq!(child.ask(()), Err(AskError::Fault(Fault::Failed)));
    assert_eq!(child.ask(()), Err(AskError::Closed));
    assert_eq!(filter.privacy_loss(), epsilon("0.2"));
    let touches = at(epsilon("0.1"), Answer::default());
    assert_eq!(filter.release(&touches), Ok(1));
    let counter = filter
        .launch(&at(epsilon("0.1"), Count::default()))
        .unwrap();
    assert_eq!(counter.ask(()), Ok(1));
}

// ---- The clone of a rule of one's own runs under no lock --------------------------------------------

type Hook = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// Does something once, as it is cloned.
struct Hooked {
    rule: Capped<Sum<PureDp>>,
    hook: Hook,
}

impl std::fmt::Debug for Hooked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hooked")
    }
}

impl Clone for Hooked {
    fn clone(&self) -> Self {
        let hook = self.hook.lock().unwrap().take();
        if let Some(hook) = hook {
            hook();
        }
        Self {
            rule: self.rule.clone(),
            hook: Arc::clone(&self.hook),
        }
    }
}

impl Accounting for Hooked {
    type Children = PureDp;
    type Whole = PureDp;

    fn children(&self) -> &PureDp {
        &PureDp
    }

    fn whole(&self) -> &PureDp {
        &PureDp
    }
}

impl ContinuationRule for Hooked {
    fn limit(&self) -> &Epsilon {
        self.rule.limit()
    }

    fn spent(&self) -> Epsilon {
        self.rule.spent()
    }

    fn remaining(&self) -> Epsilon {
        self.rule.remaining()
    }

    fn charge(&self, loss: &Epsilon) -> Result<Self, Exceeded> {
        let mut next = self.clone();
        next.rule = self.rule.charge(loss)?;
        Ok(next)
    }
}

impl ValidSequentially for Hooked {}
impl ValidConcurrently for Hooked {}

#[test]
fn a_rule_whose_clone_reads_its_filter_does_not_wait_for_itself() {
    let (done, is_done) = channel();
    thread::spawn(move || {
        let rule = Hooked {
            rule: PureDp.accumulator().capped(epsilon("1")),
            hook: Arc::default(),
        };
        let hook = Arc::clone(&rule.hook);
        let filter = launch(&Filter::concurrent_with(rule), rows()).unwrap();
        let seen = || {
            [0, 1].map(|how| {
                let inner = filter.clone();
                *hook.lock().unwrap() = Some(Box::new(move || {
                    // Also from another thread, and for a reading as for a launch.
                    thread::spawn(move || inner.remaining()).join().unwrap();
                }));
                match how {
                    0 => filter.release(&once("0.25")).is_ok(),
                    _ => filter.would_admit(&epsilon("0.5")),
                }
            })
        };
        done.send((seen(), filter.remaining()))
    });
    assert_eq!(is_done.recv(), Ok(([true, true], epsilon("0.75"))));
}

// ---- Children of a machine are stopped with it, wherever they are kept ------------------------------

type Kept = Child<crate::common::Asking<Vec<u8>, u32, usize>>;

/// Starts a filter that has launched a child already, and keeps that child aside.
#[derive(Clone)]
struct Stashes(Arc<Mutex<Option<Kept>>>);

impl Mechanism<Vec<u8>> for Stashes {
    type Machine = FilterMachine<Vec<u8>, Capped<Sum<PureDp>>>;

    fn start(&self, rows: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let mut filter = Filter::concurrent(PureDp, epsilon("1")).start(rows, coins)?;
        let child = filter.launch(&often("0.5"), coins);
        *self.0.lock().unwrap() = Some(child.map_err(|_| Fault::Failed)?);
        Ok(filter)
    }
}

#[test]
fn a_child_that_a_machine_launched_before_it_became_a_handle_is_frozen_with_it() {
    let outer = sequentially();
    let kept = Arc::new(Mutex::new(None));
    let inner = outer
        .launch(&at(epsilon("1"), Stashes(Arc::clone(&kept))))
        .unwrap();
    let mut child = kept.lock().unwrap().take().unwrap();
    let mut coins = NotPrivateSeededCoins::new(0);
    assert_eq!(child.ask(0, &mut coins.coins()), Ok(3));
    outer.release(&once("0.1")).unwrap();
    assert_eq!(child.ask(0, &mut coins.coins()), Err(FROZEN));
    assert_eq!(
        inner.release(&once("0.1")),
        Err(LaunchError::Stopped(Stop::Frozen))
    );
}

#[test]
fn a_machine_admits_no_loss_that_does_not_belong_to_its_measure() {
    let grid = |orders: &[&str]| RdpGrid::new(orders.iter().map(|o| o.parse().unwrap())).unwrap();
    let (two, one) = (grid(&["2", "8"]), grid(&["3"]));
    let budget = two.curve(["1", "1"].map(epsilon)).unwrap();
    let mut source = NotPrivateSeededCoins::new(0);
    let coins: &mut Coins<'_> = &mut source.coins();
    let filter = Filter::concurrent(two.clone(), budget);
    let mut filter = filter.start(&rows(), coins).unwrap();
    let foreign = one.curve([Epsilon::ZERO]).unwrap();
    assert_eq!(
        filter.admit(&foreign, coins).map(|_| ()),
        Err(LaunchError::UnknownLoss(UnknownLoss::FOREIGN))
    );
    assert_eq!(two.plus(&two.zero(), &foreign), Err(Overflow));
    let huge = two.curve(["0", "1000"].map(epsilon)).unwrap();
    let huge = at(huge, Run::new(|rows: &Vec<u8>| Ok(rows.len())));
    assert!(matches!(
        filter.release(&huge, coins),
        Err(LaunchError::Refused(_))
    ));
}

// ---- A relay that is stopped leaves what it asked as it was -----------------------------------------

/// Is in the middle of an answer, or not; freezes the asker on the way if it is told to.
#[derive(Clone)]
struct Careful {
    outer: Sequentially,
    answering: bool,
}

impl Middle<u32, usize> for Careful {
    type OuterQuery = bool;
    type OuterAnswer = usize;

    fn on_query(&mut self, freeze: bool, _: &mut Coins<'_>) -> Result<Move<u32, usize>, Fault> {
        assert!(!self.answering, "left in the middle of an answer");
        self.answering = true;
        if freeze {
            self.outer
                .release(&once("0.1"))
                .map_err(|_| Fault::Failed)?;
        }
        Ok(Move::Ask(0))
    }

    fn on_answer(&mut self, answer: usize, _: &mut Coins<'_>) -> Result<Move<u32, usize>, Fault> {
        self.answering = false;
        Ok(Move::Answer(answer))
    }

    fn on_fault(&mut self, fault: Fault, _: &mut Coins<'_>) -> Result<Move<u32, usize>, Fault> {
        self.answering = false;
        Err(fault)
    }
}

#[test]
fn an_unrelated_handle_answers_on_after_a_relay_to_it_was_frozen() {
    let unrelated = launch(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let outer = sequentially();
    let middle = Careful {
        outer: outer.clone(),
        answering: false,
    };
    let inside = unrelated.launch(&often("0.1").through(middle)).unwrap();
    let relay = outer
        .launch(&at(epsilon("1"), Rewrap(inside.clone())))
        .unwrap();
    assert_eq!(relay.ask(true), Err(FROZEN));
    assert_eq!(inside.ask(false), Ok(3));
}

// ---- Public facts ---------------------------------------------------------------------------------------

struct Leaky(Vec<u8>);

impl PublicFacts for Leaky {
    type Facts = u8;

    fn facts(&self) -> &u8 {
        panic!("the rows are {:?}", self.0);
    }
}

#[test]
fn facts_that_panic_tell_the_analyst_nothing_of_the_data() {
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let filter = launch(&filter, Arc::new(Leaky(vec![4, 2]))).unwrap();
    let thrown = catch_unwind(AssertUnwindSafe(|| *filter.facts())).unwrap_err();
    let text = thrown.downcast_ref::<&str>().copied().unwrap_or_default();
    let text = thrown.downcast_ref::<String>().map_or(text, String::as_str);
    assert!(text.contains("fails to say what is public"), "{text}");
}

/// Fits no dataset.
#[derive(Clone)]
struct Picky;

impl Mechanism<Vec<u8>> for Picky {
    type Machine = Released<usize>;

    fn start(&self, _: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        Err(Fault::Failed)
    }

    fn check(&self, _: Public<'_, Vec<u8>>) -> Result<(), Unsuitable> {
        Err(Unsuitable("picky"))
    }
}

impl Private<PureDp, AddRemove> for Picky {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon("0.1"))
    }
}

#[test]
fn what_does_not_fit_the_public_facts_is_refused_before_the_charge_everywhere() {
    let refused = LaunchError::Unsuitable(Unsuitable("picky"));
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    assert_eq!(filter.release(&Picky), Err(refused.clone()));
    assert_eq!(filter.release(&Picky.mapped(|n: usize| n)), Err(refused));
    assert_eq!(filter.privacy_loss(), Epsilon::ZERO);
    let invalid = Fault::InvalidQuery("picky");
    assert_eq!(launch(&Picky, rows()).map(|_| ()), Err(invalid));
    let place = Universal::new(PureDp, AddRemove, epsilon("1"));
    let place = launch(&place, rows()).unwrap();
    let became = place.ask(UniversalQuery::Become(Picky));
    assert_eq!(became, Err(AskError::Fault(invalid)));
}

#[test]
fn a_ticket_below_many_compositors_can_be_printed() {
    let zero = Filter::sequential(PureDp, Epsilon::ZERO);
    let mut filter = launch(&zero, rows()).unwrap();
    for _ in 0..1000 {
        filter = filter.launch(&zero).unwrap();
    }
    let ticket = filter.admit(&Epsilon::ZERO).unwrap();
    assert_eq!(format!("{ticket:?}"), "Ticket { token: StopToken(Ok(())) }");
}

// ---- A rule that panics hides nothing from the verifier ------------------------------------------------

/// Admits everything, which is a bug, and panics at an absurd loss.
#[derive(Clone, Debug, Hash)]
struct Careless(Epsilon);

impl Accounting for Careless {
    type Children = PureDp;
    type Whole = PureDp;

    fn children(&self) -> &PureDp {
        &PureDp
    }

    fn whole(&self) -> &PureDp {
        &PureDp
    }
}

impl ContinuationRule for Careless {
    fn limit(&self) -> &Epsilon {
        &self.0
    }

    fn spent(&self) -> Epsilon {
        Epsilon::ZERO
    }

    fn remaining(&self) -> Epsilon {
        Epsilon::ZERO
    }

    fn charge(&self, loss: &Epsilon) -> Result<Self, Exceeded> {
        assert!(*loss < epsilon("100"));
        Ok(self.clone())
    }
}

impl ValidSequentially for Careless {}
impl ValidConcurrently for Careless {}

/// Tells the bit, at this loss.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
struct Tell(u8);

impl Mechanism<bool> for Tell {
    type Machine = Released<bool>;

    fn start(&self, bit: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        Ok(Released(**bit))
    }
}

impl Private<PureDp, AddRemove> for Tell {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon(&self.0.to_string()))
    }
}

#[test]
fn a_state_after_a_panic_of_the_rule_is_told_from_one_before() {
    let rule = Filter::concurrent_with(Careless(Epsilon::ZERO));
    let filter = Addressed::<_, Tell>::new(rule);
    let pair = Pair::new(false, true);
    // The absurd loss first: what comes after it must still be explored.
    let menu = Children::new(vec![Tell(200), Tell(1)], vec![()]);
    let verifier = Verifier::by_state(&filter, &pair, menu, 4);
    assert!(!verifier.check(&PureDp, &Epsilon::ZERO).unwrap().holds());
}
