//! Reading changes nothing; nothing that is printed or read has data; bad numbers are errors.

use std::sync::{Arc, Mutex};

use super::{SECRET, secret};
use crate::common::own_rule::OwnRule;
use crate::common::{Answer, Ask, Count, Touches, at, epsilon};
use queryables::compose::{Addressed, ConcurrentComposition};
use queryables::machine::{CoinSource, NotPrivateSeededCoins};
use queryables::middle::{LimitQueries, Postprocessed};
use queryables::number::NumberError;
use queryables::prelude::*;

// 5. Reading the loss never changes state (see also programs.rs and memory.rs).

#[test]
fn reading_changes_nothing() {
    let odometer = start(&Odometer::concurrent(PureDp), secret()).unwrap();
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

// A rule may be third-party code.

#[test]
fn a_launch_at_which_the_rule_panics_touches_nothing() {
    let panics: fn(&Epsilon) = |loss| assert!(*loss < epsilon("0.2"));
    let rule = OwnRule::new(epsilon("1"), panics);
    let filter = start(&Filter::noninteractive_with(rule), secret()).unwrap();
    let touches = Touches::default();
    let mechanism = |loss| at(epsilon(loss), Answer(touches.clone()));
    assert_eq!(filter.release(&mechanism("0.1")), Ok(1));
    for _ in 0..3 {
        let failed = filter.release(&mechanism("0.2"));
        assert_eq!(failed, Err(LaunchError::RuleFailed));
    }
    assert_eq!(touches.count(), 1);
    assert_eq!(filter.limit(), epsilon("1"));
}

// 6. A handle's `Debug` and an error never contain data.

#[test]
fn nothing_prints_the_data() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let reveal = Ask::new(|data: &String, ()| Ok(data.clone()));
    let child = filter.launch(&at(epsilon("0.1"), reveal)).unwrap();
    let odometer = start(&Odometer::concurrent(PureDp), secret()).unwrap();
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
    let filter = start(&Filter::concurrent(PureDp, epsilon("3.4e11")), secret()).unwrap();
    filter.release(&at(large, Answer::default())).unwrap();
    assert!(matches!(
        filter.release(&at(large, Answer::default())),
        Err(LaunchError::Refused(_))
    ));
    let touches = Touches::default();
    let odometer = start(&Odometer::concurrent(PureDp), secret()).unwrap();
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
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let child = filter.launch(&at(epsilon("0.1"), mechanism)).unwrap();
    *own.lock().unwrap() = Some(child.clone());
    assert_eq!(child.ask(true), Ok(Err(AskError::Busy)));
    // Nothing is broken by it, and the thread can wait again.
    assert_eq!(child.ask(false), Ok(Ok(7)));
}

#[test]
fn asking_another_child_that_is_free_from_inside_an_answer_works() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let other = filter
        .launch(&at(epsilon("0.1"), Count::default()))
        .unwrap();
    let mechanism = Ask::new(move |_: &String, ()| Ok(other.ask(())));
    let child = filter.launch(&at(epsilon("0.1"), mechanism)).unwrap();
    assert_eq!(child.ask(()), Ok(Ok(1)));
    assert_eq!(child.ask(()), Ok(Ok(2)));
}
