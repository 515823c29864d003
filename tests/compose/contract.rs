//! What happens at a launch and after it, sentence by sentence.

use std::sync::{Arc, Mutex, mpsc};

use crate::common::{Answer, Ask, Count, Run, Touches, at, epsilon, pair};
use queryables::account::{Accounting, ContinuationRule, Exceeded};
use queryables::compose::{Addressed, BoxedMechanism, ConcurrentComposition, Halt, Refusal};
use queryables::machine::{CoinSource, NotPrivateSeededCoins};
use queryables::middle::{LimitQueries, Postprocessed};
use queryables::prelude::*;

const SECRET: &str = "31415926";

fn secret() -> Arc<String> {
    Arc::new(SECRET.to_string())
}

// 1. A launch is decided from public values only, before the data is touched.

#[test]
fn a_refused_launch_has_not_touched_the_data() {
    let touches = Touches::default();
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let over = at(epsilon("1.1"), Answer(touches.clone()));
    assert_eq!(
        filter.release(&over),
        Err(LaunchError::Refused(Refusal {
            spent: epsilon("0"),
            requested: epsilon("1.1"),
            remaining: epsilon("1"),
            limit: epsilon("1"),
        }))
    );
    assert_eq!(touches.count(), 0);
    filter
        .release(&at(epsilon("1"), Answer(touches.clone())))
        .unwrap();
    assert_eq!(touches.count(), 1);
}

#[test]
fn a_launch_with_an_unknown_loss_has_not_touched_the_data() {
    let touches = Touches::default();
    let pair_of_rows = Distance::new(2).unwrap();
    let filter = Filter::concurrent(ApproxDp, pair("1", "1e-6")).at_distance(pair_of_rows);
    let filter = launch(&filter, secret()).unwrap();
    let mechanism = at(pair("0.1", "1e-9"), Answer(touches.clone()));
    assert_eq!(
        filter.release(&mechanism),
        Err(LaunchError::UnknownLoss(UnknownLoss(
            "group privacy with delta > 0 is not offered"
        )))
    );
    assert_eq!(
        (touches.count(), filter.privacy_loss()),
        (0, pair("0", "0"))
    );
}

#[test]
fn a_mechanism_that_panics_when_asked_for_its_loss_is_not_launched() {
    struct Speechless;

    impl Private<PureDp, AddRemove> for Speechless {
        fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
            panic!("no words")
        }
    }

    impl Mechanism<String> for Speechless {
        type Machine = Released<()>;

        fn start(&self, _: &Arc<String>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
            unreachable!("never started")
        }
    }

    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    assert_eq!(
        filter.release(&Speechless),
        Err(LaunchError::UnknownLoss(UnknownLoss(
            "the mechanism failed to state its loss"
        )))
    );
    assert_eq!(filter.release(&at(epsilon("1"), Answer::default())), Ok(1));
}

// 2. A refusal changes nothing and says what it must.

#[test]
fn a_refusal_changes_nothing_and_a_smaller_launch_goes_through() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let child = filter
        .launch(&at(epsilon("0.7"), Count::default()))
        .unwrap();
    let refused = filter.launch(&at(epsilon("0.4"), Count::default()));
    assert_eq!(
        refused.unwrap_err(),
        LaunchError::Refused(Refusal {
            spent: epsilon("0.7"),
            requested: epsilon("0.4"),
            remaining: epsilon("0.3"),
            limit: epsilon("1"),
        })
    );
    assert_eq!(filter.privacy_loss(), epsilon("0.7"));
    assert_eq!(filter.remaining(), epsilon("0.3"));
    assert_eq!(filter.launched(), 1);
    assert_eq!(filter.halt(), None);
    assert!(filter.would_admit(&epsilon("0.3")));
    assert!(!filter.would_admit(&epsilon("0.4")));
    assert_eq!(child.ask(()), Ok(1));
    assert_eq!(
        filter.release(&at(epsilon("0.3"), Answer::default())),
        Ok(1)
    );
    assert_eq!(filter.remaining(), epsilon("0"));
}

#[test]
fn ten_launches_of_a_tenth_fit_in_one_and_the_eleventh_does_not() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1.0")), secret()).unwrap();
    for launches in 1..=10 {
        filter
            .release(&at(Epsilon::try_from(0.1).unwrap(), Answer::default()))
            .unwrap();
        assert_eq!(filter.launched(), launches);
    }
    assert_eq!(filter.privacy_loss(), filter.limit());
    let eleventh = filter.release(&at(epsilon("1e-27"), Answer::default()));
    assert!(matches!(eleventh, Err(LaunchError::Refused(_))));
}

#[test]
fn over_in_one_coordinate_is_over() {
    let filter = launch(&Filter::concurrent(ApproxDp, pair("1", "1e-6")), secret()).unwrap();
    for over in [pair("1.1", "0"), pair("0.1", "2e-6")] {
        let touches = Touches::default();
        let refused = filter.release(&at(over, Answer(touches.clone())));
        let zero = pair("0", "0");
        let limit = pair("1", "1e-6");
        assert_eq!(
            refused,
            Err(LaunchError::Refused(Refusal {
                spent: zero,
                requested: over,
                remaining: limit,
                limit,
            }))
        );
        assert_eq!(touches.count(), 0);
        assert_eq!(filter.privacy_loss(), zero);
    }
    assert_eq!(
        filter.release(&at(pair("1", "1e-6"), Answer::default())),
        Ok(1)
    );
}

#[test]
fn after_a_halt_nothing_answers_but_what_was_spent_and_why() {
    let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
    let filter = launch(&filter, secret()).unwrap();
    let child = filter
        .launch(&at(epsilon("0.2"), Count::default()))
        .unwrap();
    let inner = filter
        .launch(&Filter::concurrent(PureDp, epsilon("0.3")))
        .unwrap();
    let grandchild = inner.launch(&at(epsilon("0.1"), Count::default())).unwrap();
    assert_eq!((child.ask(()), grandchild.ask(())), (Ok(1), Ok(1)));

    let refusal = Refusal {
        spent: epsilon("0.5"),
        requested: epsilon("0.6"),
        remaining: epsilon("0.5"),
        limit: epsilon("1"),
    };
    let over = filter.release(&at(epsilon("0.6"), Answer::default()));
    assert_eq!(over, Err(LaunchError::Refused(refusal.clone())));

    let touches = Touches::default();
    let small = at(epsilon("0.1"), Answer(touches.clone()));
    assert_eq!(
        filter.release(&small),
        Err(LaunchError::Stopped(Stop::Halted))
    );
    assert_eq!(
        inner.release(&small),
        Err(LaunchError::Stopped(Stop::Halted))
    );
    assert_eq!(touches.count(), 0);
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Halted)));
    assert_eq!(grandchild.ask(()), Err(AskError::Stopped(Stop::Halted)));
    assert!(!filter.would_admit(&epsilon("0")));
    assert!(!inner.would_admit(&epsilon("0")));

    assert_eq!(filter.privacy_loss(), epsilon("0.5"));
    assert_eq!(inner.privacy_loss(), epsilon("0.1"));
    assert_eq!(filter.halt(), Some(Halt::OverBudget(refusal)));
}

#[test]
fn a_filter_that_halts_inside_another_stops_only_its_own() {
    let outer = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let sibling = outer.launch(&at(epsilon("0.1"), Count::default())).unwrap();
    let inner = outer
        .launch(&Filter::concurrent(PureDp, epsilon("0.3")).halting())
        .unwrap();
    let child = inner.launch(&at(epsilon("0.1"), Count::default())).unwrap();
    let over = inner.release(&at(epsilon("0.9"), Answer::default()));
    assert!(matches!(over, Err(LaunchError::Refused(_))));
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Halted)));
    assert_eq!(sibling.ask(()), Ok(1));
    assert_eq!(outer.release(&at(epsilon("0.1"), Answer::default())), Ok(1));
}

#[test]
fn a_limit_on_the_number_of_mechanisms_is_kept_by_both_policies() {
    let two = Filter::concurrent(PureDp, epsilon("1")).at_most(2);
    let mechanism = at(epsilon("0.1"), Count::default());
    let limit = LaunchError::CountLimit { limit: 2 };

    let refusing = launch(&two, secret()).unwrap();
    let first = refusing.launch(&mechanism).unwrap();
    assert!(refusing.would_admit(&epsilon("0.1")));
    refusing.launch(&mechanism).unwrap();
    assert!(!refusing.would_admit(&epsilon("0.1")));
    assert_eq!(refusing.launch(&mechanism).unwrap_err(), limit);
    assert_eq!(refusing.launch(&mechanism).unwrap_err(), limit);
    assert_eq!(first.ask(()), Ok(1));
    assert_eq!(refusing.privacy_loss(), epsilon("0.2"));

    let halting = launch(&two.halting(), secret()).unwrap();
    let first = halting.launch(&mechanism).unwrap();
    halting.launch(&mechanism).unwrap();
    assert_eq!(halting.launch(&mechanism).unwrap_err(), limit);
    assert_eq!(
        halting.launch(&mechanism).unwrap_err(),
        LaunchError::Stopped(Stop::Halted)
    );
    assert_eq!(halting.halt(), Some(Halt::CountLimit { limit: 2 }));
    assert_eq!(first.ask(()), Err(AskError::Stopped(Stop::Halted)));
}

// 3. An admitted launch is charged before the mechanism runs, and the charge stands.

#[test]
fn the_charge_is_there_when_the_mechanism_starts() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let same = filter.clone();
    let peek = Run::new(move |_: &String| Ok(same.privacy_loss()));
    assert_eq!(
        filter.release(&at(epsilon("0.4"), peek)),
        Ok(epsilon("0.4"))
    );
}

#[test]
fn a_mechanism_that_fails_or_panics_is_charged_and_tells_nothing() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let sibling = filter
        .launch(&at(epsilon("0.1"), Count::default()))
        .unwrap();
    let fail = Run::new(|_: &String| Err::<(), _>(Fault::Failed));
    let reject = Run::new(|_: &String| Err::<(), _>(Fault::InvalidQuery("a reason")));
    let panic = Run::new(|data: &String| -> Result<(), Fault> { panic!("the data is {data}") });
    for (mechanism, spent) in [(fail, "0.2"), (reject, "0.3"), (panic, "0.4")] {
        let error = filter.release(&at(epsilon("0.1"), mechanism)).unwrap_err();
        assert_eq!(error, LaunchError::Failed);
        assert_eq!(
            error.to_string(),
            "the mechanism failed; its loss is charged"
        );
        assert_eq!(filter.privacy_loss(), epsilon(spent));
    }
    assert_eq!(sibling.ask(()), Ok(1));
    assert_eq!(
        filter.release(&at(epsilon("0.6"), Answer::default())),
        Ok(1)
    );
}

#[test]
fn a_child_that_fails_or_panics_later_is_closed_and_nothing_else_is() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let sibling = filter
        .launch(&at(epsilon("0.1"), Count::default()))
        .unwrap();
    let mechanism = Ask::new(|data: &String, panics: bool| -> Result<(), Fault> {
        if panics {
            panic!("the data is {data}");
        }
        Err(Fault::Failed)
    });
    let mechanism = at(epsilon("0.1"), mechanism);
    for panics in [false, true] {
        let child = filter.launch(&mechanism).unwrap();
        let error = child.ask(panics).unwrap_err();
        assert_eq!(error, AskError::Fault(Fault::Failed));
        assert!(!format!("{error} {error:?}").contains(SECRET));
        assert_eq!(child.ask(panics), Err(AskError::Closed));
        assert_eq!(child.clone().ask(panics), Err(AskError::Closed));
    }
    assert_eq!(filter.privacy_loss(), epsilon("0.3"));
    assert_eq!(sibling.ask(()), Ok(1));
}

#[test]
fn what_a_failed_child_held_is_dropped_at_once() {
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    let mechanism = BoxedMechanism::new(at(epsilon("0.1"), Holder(inside)));
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let child = filter.launch(&mechanism).unwrap();
    drop(mechanism);
    assert_eq!(Arc::strong_count(&held), 2);
    assert_eq!(child.ask(()), Err(AskError::Fault(Fault::Failed)));
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_panic_while_dropping_tells_nothing() {
    /// Panics whenever it can, and so does what it throws.
    struct Vicious(bool);

    impl Drop for Vicious {
        fn drop(&mut self) {
            if !std::mem::replace(&mut self.0, true) {
                panic!("{SECRET}");
            }
        }
    }

    impl Machine for Vicious {
        type Query = bool;
        type Answer = ();

        fn step(&mut self, fail: bool, _: &mut Coins<'_>) -> Result<(), Fault> {
            if fail {
                Err(Fault::Failed)
            } else {
                std::panic::panic_any(Vicious(false))
            }
        }
    }

    #[derive(Clone)]
    struct Start;

    impl Mechanism<String> for Start {
        type Machine = Vicious;

        fn start(&self, _: &Arc<String>, _: &mut Coins<'_>) -> Result<Vicious, Fault> {
            Ok(Vicious(false))
        }
    }

    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    for fail in [true, false] {
        let child = filter.launch(&at(epsilon("0.1"), Start)).unwrap();
        assert_eq!(child.ask(fail), Err(AskError::Fault(Fault::Failed)));
        assert_eq!(child.ask(fail), Err(AskError::Closed));
    }
    // One that never failed panics as its handle goes.
    drop(filter.launch(&at(epsilon("0.1"), Start)).unwrap());
    assert_eq!(filter.privacy_loss(), epsilon("0.3"));
}

/// Holds something, and fails.
#[derive(Clone)]
struct Holder(#[expect(dead_code, reason = "held, not read")] Arc<()>);

impl Mechanism<String> for Holder {
    type Machine = Self;

    fn start(&self, _: &Arc<String>, _: &mut Coins<'_>) -> Result<Self, Fault> {
        Ok(self.clone())
    }
}

impl Machine for Holder {
    type Query = ();
    type Answer = ();

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<(), Fault> {
        Err(Fault::Failed)
    }
}

// 4. A child is charged once, at launch; its siblings and its parent are never blocked by it.

#[test]
fn asking_a_child_costs_nothing_more() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let child = filter
        .launch(&at(epsilon("0.5"), Count::default()))
        .unwrap();
    for asked in 1..=100 {
        assert_eq!(child.ask(()), Ok(asked));
        assert_eq!(filter.privacy_loss(), epsilon("0.5"));
    }
}

/// A mechanism whose answer waits until it is told to go on, and the two ends of that.
fn waiting() -> (Ask<String, (), ()>, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (entered, has_entered) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let channels = Mutex::new((entered, may_go_on));
    let mechanism = Ask::new(move |_: &String, ()| {
        let channels = channels.lock().map_err(|_| Fault::Failed)?;
        channels.0.send(()).map_err(|_| Fault::Failed)?;
        channels.1.recv().map_err(|_| Fault::Failed)
    });
    (mechanism, has_entered, go_on)
}

#[test]
fn nobody_waits_for_a_child_that_is_answering() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let (mechanism, has_entered, go_on) = waiting();
    let slow = filter.launch(&at(epsilon("0.1"), mechanism)).unwrap();
    let sibling = filter
        .launch(&at(epsilon("0.1"), Count::default()))
        .unwrap();
    std::thread::scope(|threads| {
        let answer = threads.spawn(|| slow.ask(()));
        has_entered.recv().unwrap();
        // The slow child is now inside its answer.
        assert_eq!(sibling.ask(()), Ok(1));
        assert_eq!(filter.privacy_loss(), epsilon("0.2"));
        assert_eq!(
            filter.release(&at(epsilon("0.1"), Answer::default())),
            Ok(1)
        );
        let other = filter
            .launch(&at(epsilon("0.1"), Count::default()))
            .unwrap();
        assert_eq!(other.ask(()), Ok(1));
        go_on.send(()).unwrap();
        assert_eq!(answer.join().unwrap(), Ok(()));
    });
}

#[test]
fn nobody_waits_for_a_child_that_is_starting() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let (entered, has_entered) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let channels = Mutex::new((entered, may_go_on));
    let slow = Run::new(move |_: &String| {
        let channels = channels.lock().map_err(|_| Fault::Failed)?;
        channels.0.send(()).map_err(|_| Fault::Failed)?;
        channels.1.recv().map_err(|_| Fault::Failed)
    });
    let slow = at(epsilon("0.1"), slow);
    std::thread::scope(|threads| {
        let launching = threads.spawn(|| filter.release(&slow));
        has_entered.recv().unwrap();
        assert_eq!(filter.privacy_loss(), epsilon("0.1"));
        assert_eq!(
            filter.release(&at(epsilon("0.1"), Answer::default())),
            Ok(1)
        );
        go_on.send(()).unwrap();
        assert_eq!(launching.join().unwrap(), Ok(()));
    });
}

#[test]
fn a_panic_in_one_child_while_its_sibling_answers_on_another_thread() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let (mechanism, has_entered, go_on) = waiting();
    let sibling = filter.launch(&at(epsilon("0.1"), mechanism)).unwrap();
    let panics = Ask::new(|data: &String, ()| -> Result<(), Fault> { panic!("{data}") });
    let panics = filter.launch(&at(epsilon("0.1"), panics)).unwrap();
    std::thread::scope(|threads| {
        let answer = threads.spawn(|| sibling.ask(()));
        has_entered.recv().unwrap();
        assert_eq!(panics.ask(()), Err(AskError::Fault(Fault::Failed)));
        go_on.send(()).unwrap();
        assert_eq!(answer.join().unwrap(), Ok(()));
    });
    assert_eq!(panics.ask(()), Err(AskError::Closed));
    assert_eq!(filter.privacy_loss(), epsilon("0.2"));
}

// 5. Reading the loss never changes state (see also properties.rs and memory.rs).

#[test]
fn reading_changes_nothing() {
    let odometer = launch(&Odometer::concurrent(PureDp), secret()).unwrap();
    for _ in 0..3 {
        assert_eq!(odometer.privacy_loss(), epsilon("0"));
    }
    odometer
        .release(&at(epsilon("0.3"), Answer::default()))
        .unwrap();
    for _ in 0..3 {
        assert_eq!(odometer.privacy_loss(), epsilon("0.3"));
    }
}

// A rule may be anybody's.

/// Panics at its second launch.
#[derive(Clone, Debug)]
struct Shaky {
    limit: Epsilon,
    launches: u32,
}

impl Accounting for Shaky {
    type Children = PureDp;
    type Whole = PureDp;

    fn children(&self) -> &PureDp {
        &PureDp
    }

    fn whole(&self) -> &PureDp {
        &PureDp
    }
}

impl ContinuationRule for Shaky {
    fn limit(&self) -> &Epsilon {
        &self.limit
    }

    fn spent(&self) -> Epsilon {
        Epsilon::ZERO
    }

    fn remaining(&self) -> Epsilon {
        self.limit
    }

    fn charge(&self, _: &Epsilon) -> Result<Self, Exceeded> {
        assert_ne!(self.launches, 1, "shaky");
        Ok(Self {
            launches: self.launches + 1,
            ..*self
        })
    }
}

#[test]
fn a_launch_at_which_the_rule_panics_touches_nothing() {
    let rule = Shaky {
        limit: epsilon("1"),
        launches: 0,
    };
    let filter = launch(&Filter::noninteractive_with(rule), secret()).unwrap();
    let touches = Touches::default();
    let mechanism = at(epsilon("0.1"), Answer(touches.clone()));
    assert_eq!(filter.release(&mechanism), Ok(1));
    for _ in 0..3 {
        assert_eq!(filter.release(&mechanism), Err(LaunchError::RuleFailed));
    }
    assert_eq!(touches.count(), 1);
    assert_eq!(filter.limit(), epsilon("1"));
}

// 6. A handle's `Debug` and an error never contain data.

#[test]
fn nothing_prints_the_data() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let reveal = Ask::new(|data: &String, ()| Ok(data.clone()));
    let child = filter.launch(&at(epsilon("0.1"), reveal)).unwrap();
    let odometer = launch(&Odometer::concurrent(PureDp), secret()).unwrap();
    assert_eq!(format!("{filter:?}"), "RunningFilter");
    assert_eq!(format!("{odometer:?}"), "RunningOdometer");
    assert_eq!(format!("{child:?}"), "Queryable");
    // The child does hold it.
    assert_eq!(child.ask(()), Ok(SECRET.to_string()));

    /// Holds the data and shows it.
    #[derive(Debug)]
    struct Holds(#[expect(dead_code, reason = "shown only")] Arc<String>);

    impl Machine for Holds {
        type Query = ();
        type Answer = ();

        fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<(), Fault> {
            Ok(())
        }
    }

    #[derive(Clone, Debug)]
    struct Hold;

    impl Mechanism<String> for Hold {
        type Machine = Holds;

        fn start(&self, data: &Arc<String>, _: &mut Coins<'_>) -> Result<Holds, Fault> {
            Ok(Holds(Arc::clone(data)))
        }
    }

    let mut coins = NotPrivateSeededCoins::new(0);
    assert!(format!("{:?}", Hold.start(&secret(), &mut coins.coins())).contains(SECRET));
    let hold = at(epsilon("0.1"), Hold);
    let machine = Filter::concurrent(PureDp, epsilon("1")).start(&secret(), &mut coins.coins());
    let mut machine = machine.unwrap();
    let shown = [
        format!("{machine:?}"),
        format!("{:?}", machine.launch(&hold, &mut coins.coins())),
        format!("{:?}", filter.launch(&hold)),
        format!(
            "{:?}",
            ConcurrentComposition::new([Hold]).start(&secret(), &mut coins.coins())
        ),
        format!(
            "{:?}",
            Postprocessed::new(LimitQueries::new(1), Holds(secret()))
        ),
        format!(
            "{:?}",
            Addressed::<_, crate::common::Stated<Epsilon, Hold>>::new(Filter::concurrent(
                PureDp,
                epsilon("1")
            ))
            .start(&secret(), &mut coins.coins())
        ),
    ];
    for text in shown {
        assert!(!text.contains(SECRET), "{text}");
    }
}

// Losses and budgets that are no numbers never come into being (quantity.rs has them all).

#[test]
fn bad_numbers_are_errors_before_anything_is_touched() {
    let what = "epsilon";
    for (number, error) in [
        (-0.1, NumberError::Negative { what }),
        (f64::NAN, NumberError::NotANumber { what }),
        (f64::INFINITY, NumberError::Infinite { what }),
        (
            1e30,
            NumberError::TooLarge {
                what,
                largest: "3.4e11",
            },
        ),
        (5e-324, NumberError::TooFine { what, decimals: 27 }),
    ] {
        assert_eq!(Epsilon::try_from(number), Err(error.clone()));
        assert_eq!(EpsilonDelta::new(number, 0.0), Err(error));
    }
}

#[test]
fn a_total_that_cannot_be_held_is_refused() {
    let large = epsilon("3e11");
    let filter = launch(&Filter::concurrent(PureDp, epsilon("3.4e11")), secret()).unwrap();
    filter.release(&at(large, Answer::default())).unwrap();
    assert!(matches!(
        filter.release(&at(large, Answer::default())),
        Err(LaunchError::Refused(_))
    ));
    let touches = Touches::default();
    let odometer = launch(&Odometer::concurrent(PureDp), secret()).unwrap();
    odometer
        .release(&at(large, Answer(touches.clone())))
        .unwrap();
    let overflow = odometer.release(&at(large, Answer(touches.clone())));
    assert_eq!(overflow, Err(LaunchError::Overflow));
    assert_eq!((touches.count(), odometer.privacy_loss()), (1, large));
}

// Asking from inside an answer.

#[test]
fn asking_a_child_from_inside_its_own_answer_is_an_error() {
    type Own = Queryable<bool, Result<usize, AskError>>;
    let own: Arc<Mutex<Option<Own>>> = Arc::default();
    let inside = Arc::clone(&own);
    let mechanism = Ask::new(move |_: &String, nested: bool| {
        let own = inside.lock().map_err(|_| Fault::Failed)?.clone();
        match own {
            Some(own) if nested => Ok(own.ask(false).and_then(|answer| answer)),
            _ => Ok(Ok(7)),
        }
    });
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let child = filter.launch(&at(epsilon("0.1"), mechanism)).unwrap();
    *own.lock().unwrap() = Some(child.clone());
    assert_eq!(child.ask(true), Ok(Err(AskError::Busy)));
    // Nothing is broken by it, and the thread can wait again.
    assert_eq!(child.ask(false), Ok(Ok(7)));
}

#[test]
fn asking_another_child_that_is_free_from_inside_an_answer_works() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let other = filter
        .launch(&at(epsilon("0.1"), Count::default()))
        .unwrap();
    let mechanism = Ask::new(move |_: &String, ()| Ok(other.ask(())));
    let child = filter.launch(&at(epsilon("0.1"), mechanism)).unwrap();
    assert_eq!(child.ask(()), Ok(Ok(1)));
    assert_eq!(child.ask(()), Ok(Ok(2)));
}
