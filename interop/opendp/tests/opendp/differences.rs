//! Where this crate and OpenDP 0.16 differ, one by one, both sides run.
//!
//! Each test states what OpenDP does, so that it fails when OpenDP changes: then this page, and
//! what is said about OpenDP elsewhere, has to be read again.

use std::cell::RefCell;
use std::rc::Rc;

use crate::common::{Answer, Count, Touches, at, epsilon, pair};
use crate::support::*;
use opendp::combinators::{make_approximate, make_fully_adaptive_composition};
use opendp::core::PrivacyMap;
use opendp::measures::{Approximate, MaxDivergence, ZeroConcentratedDivergence};
use opendp::metrics::SymmetricDistance;
use queryables::account::{Accumulator, AdvancedComposition};
use queryables::number::NumberError;
use queryables::prelude::*;
use queryables::privacy::ApproxZCdp;
use queryables_opendp::Measured;

const EXHAUSTED: &str = "filter is exhausted: no more queries can be answered";

#[test]
fn ten_launches_of_a_tenth_in_one() {
    let runs = Tally::default();
    let mut theirs = running_opendp_filter::<MaxDivergence>(1.0);
    for _ in 0..9 {
        theirs.invoke(stating(0.1, &runs)).unwrap();
    }
    assert_eq!(
        message(theirs.invoke(stating(0.1, &runs))),
        "filter is now exhausted: pending privacy loss (1.0000000000000007) would exceed privacy \
         budget (1.0)"
    );

    let ours = start(&Filter::concurrent(PureDp, epsilon("1")), data()).unwrap();
    let tenth = at(epsilon("0.1"), Answer(Touches::default()));
    for _ in 0..10 {
        ours.release(&tenth).unwrap();
    }
    assert_eq!(ours.remaining(), Epsilon::ZERO);

    // What OpenDP calls 0.1 is a float that is more than a tenth: nine fit in 1, exactly, and ten
    // in what ten of them are.
    let tenth = Measured::new(stating::<MaxDivergence>(0.1, &runs));
    let fit = |budget: &str| {
        let ours = start(&Filter::concurrent(PureDp, epsilon(budget)), data()).unwrap();
        (0..11).filter(|_| ours.release(&tenth).is_ok()).count()
    };
    assert_eq!((fit("1"), fit("1.00000000000000005551115124")), (9, 10));
}

#[test]
fn an_over_budget_launch() {
    // Theirs runs on the data, and then the filter is dead for good, its reading included.
    let runs = Tally::default();
    let mut theirs = running_opendp_filter::<MaxDivergence>(1.0);
    theirs.invoke(stating(0.5, &runs)).unwrap();
    assert_eq!(
        message(theirs.invoke(stating(0.75, &runs))),
        "filter is now exhausted: pending privacy loss (1.25) would exceed privacy budget (1.0)"
    );
    assert_eq!(runs.count(), 2);
    assert_eq!(message(theirs.invoke(stating(0.25, &runs))), EXHAUSTED);
    assert_eq!(message(theirs.privacy_loss(1)), EXHAUSTED);

    // Ours has not touched it, and nothing is lost.
    let runs = Tally::default();
    let ours = start(&Filter::concurrent(PureDp, epsilon("1")), data()).unwrap();
    let release = |loss| ours.release(&Measured::new(stating::<MaxDivergence>(loss, &runs)));
    release(0.5).unwrap();
    assert_eq!(
        release(0.75).unwrap_err().to_string(),
        "a loss of ε = 0.75 is over budget: 0.5 of ε = 1 is spent, ε = 0.5 is left"
    );
    assert_eq!(runs.count(), 1);
    assert_eq!(ours.privacy_loss(), epsilon("0.5"));
    release(0.5).unwrap();
}

#[test]
fn over_in_epsilon_and_under_in_delta() {
    type Approx = Approximate<MaxDivergence>;
    // Theirs does not know what to think, and later launches run on the data, too.
    let runs = Tally::default();
    let mut theirs = running_opendp_filter::<Approx>((1.0, 1e-6));
    assert_eq!(
        message(theirs.invoke(stating((1.5, 0.0), &runs))),
        "unknown ordering between (1.5, 0.0) and (1.0, 1e-6)"
    );
    assert_eq!(
        message(theirs.invoke(stating((0.25, 0.0), &runs))),
        "unknown ordering between (1.75, 0.0) and (1.0, 1e-6)"
    );
    assert_eq!(runs.count(), 2);
    assert_eq!(
        message(theirs.privacy_loss(1)),
        "unknown ordering between (1.75, 0.0) and (1.0, 1e-6)"
    );

    // Ours: over in one coordinate is over.
    let runs = Tally::default();
    let ours = start(&Filter::concurrent(ApproxDp, pair("1", "1e-6")), data()).unwrap();
    for loss in [(1.5, 0.0), (0.25, 0.5)] {
        let refused = ours.release(&Measured::new(stating::<Approx>(loss, &runs)));
        assert!(
            matches!(refused, Err(LaunchError::Refused(_))),
            "{refused:?}"
        );
    }
    assert_eq!(runs.count(), 0);
    assert_eq!(
        ours.release(&Measured::new(stating::<Approx>((0.25, 0.0), &runs))),
        Ok(1)
    );
}

#[test]
fn a_mechanism_that_fails() {
    // Theirs is not charged for, may be repeated for ever, and says what it has seen.
    let mut theirs = running_opendp_filter::<MaxDivergence>(1.0);
    for _ in 0..5 {
        let said = message(theirs.invoke(failing(0.75)));
        assert!(said.contains(&SECRET.to_string()), "{said}");
    }
    assert_eq!(theirs.privacy_loss(1), Ok(0.0));

    let ours = start(&Filter::concurrent(PureDp, epsilon("1")), data()).unwrap();
    let failing = Measured::new(failing::<MaxDivergence>(0.75));
    assert_eq!(ours.release(&failing), Err(LaunchError::Failed));
    assert_eq!(ours.privacy_loss(), epsilon("0.75"));
    assert!(matches!(
        ours.release(&failing),
        Err(LaunchError::Refused(_))
    ));
}

#[test]
fn negative_losses_and_budgets_that_are_none() {
    // Theirs takes a loss of -5 and gives back what was spent.
    let runs = Tally::default();
    let mut theirs = running_opendp_filter::<MaxDivergence>(1.0);
    theirs.invoke(stating(1.0, &runs)).unwrap();
    theirs.invoke(stating(-5.0, &runs)).unwrap();
    assert_eq!(theirs.privacy_loss(1), Ok(-4.0));
    theirs.invoke(stating(5.0, &runs)).unwrap();
    assert_eq!(theirs.privacy_loss(1), Ok(1.0));
    assert_eq!(runs.count(), 3);
    // It takes budgets of -1 and NaN, and finds out when the data has been touched.
    for (budget, said) in [
        (
            -1.0,
            "filter is now exhausted: pending privacy loss (0.5) would exceed privacy budget (-1.0)",
        ),
        (f64::NAN, "f64 cannot not be null when clamping."),
    ] {
        let runs = Tally::default();
        let mut theirs = running_opendp_filter::<MaxDivergence>(budget);
        assert_eq!(message(theirs.invoke(stating(0.5, &runs))), said);
        assert_eq!(runs.count(), 1);
    }

    let runs = Tally::default();
    let ours = start(&Filter::concurrent(PureDp, epsilon("1")), data()).unwrap();
    let release = |loss| ours.release(&Measured::new(stating::<MaxDivergence>(loss, &runs)));
    release(1.0).unwrap();
    assert_eq!(
        release(-5.0),
        Err(LaunchError::UnknownLoss(UnknownLoss(
            "OpenDP's privacy map returned a negative loss"
        )))
    );
    assert_eq!((ours.privacy_loss(), runs.count()), (epsilon("1"), 1));
    let what = "epsilon";
    assert_eq!(Epsilon::try_from(-1.0), Err(NumberError::Negative { what }));
    assert_eq!(
        Epsilon::try_from(f64::NAN),
        Err(NumberError::NotANumber { what })
    );
}

#[test]
fn interleaved_children() {
    // Theirs, on one thread.
    let runs = Tally::default();
    let both = || {
        composed::<MaxDivergence>(vec![0.25; 3])
            .invoke(data().value())
            .unwrap()
    };
    let (mut one, mut other) = (both(), both());
    for _ in 0..3 {
        one.eval(&stating(0.25, &runs)).unwrap();
        other.eval(&stating(0.25, &runs)).unwrap();
    }

    // Ours: theirs among them, and across threads those that can be sent.
    let filter = start(&Filter::concurrent(PureDp, epsilon("2")), data()).unwrap();
    let theirs = filter.launch_local(&Measured::new(composed::<MaxDivergence>(vec![0.25; 3])));
    let theirs = theirs.unwrap();
    let ours = filter
        .launch(&at(epsilon("0.5"), Count(Touches::default())))
        .unwrap();
    for asked in 1..=3 {
        theirs.ask(stating(0.25, &runs)).unwrap();
        let elsewhere = ours.clone();
        let answer = std::thread::spawn(move || elsewhere.ask(()))
            .join()
            .unwrap();
        assert_eq!(answer, Ok(asked));
    }
    assert_eq!(runs.count(), 9);
}

#[test]
fn what_can_be_sent_and_shared() {
    fn anywhere<T: Send + Sync>(_: &T) {}
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), data()).unwrap();
    anywhere(&filter);
    anywhere(&data());
    let child = filter
        .launch(&at(epsilon("0.5"), Count(Touches::default())))
        .unwrap();
    anywhere(&child);
    // Theirs is not: `tests/compile_fail/opendp/across_threads.rs`.
}

#[test]
fn approximate_zcdp_children() {
    type Approx = Approximate<ZeroConcentratedDivergence>;
    type Inner = opendp::interactive::Queryable<OnRows<Approx>, usize>;
    // Theirs lets an interactive child be launched in a fully adaptive compositor, and then refuses
    // its every question: the permission that it asks for has another type than the one it gets.
    let mut theirs = make_fully_adaptive_composition::<_, _, _, Inner>(
        rows(),
        SymmetricDistance,
        Approx::default(),
    )
    .unwrap()
    .invoke(data().value())
    .unwrap();
    let runs = Tally::default();
    let mut child = theirs.invoke(composed(vec![(0.25, 0.0)])).unwrap();
    let said = message(child.eval(&stating((0.25, 0.0), &runs)));
    assert!(said.starts_with("could not downcast answer to "), "{said}");

    let ours = start(&Odometer::sequential(ApproxZCdp), data()).unwrap();
    let child = ours.launch_local(&Measured::new(composed::<Approx>(vec![(0.25, 0.0)])));
    assert_eq!(child.unwrap().ask(stating((0.25, 0.0), &runs)), Ok(1));
}

#[test]
fn how_far_a_budget_goes() {
    type Approx = Approximate<MaxDivergence>;
    let runs = Tally::default();
    let hundredth = || make_approximate(stating::<MaxDivergence>(0.01, &runs)).unwrap();
    let mut theirs = running_opendp_filter::<Approx>((1.0, 1e-6));
    let admitted = (0..)
        .take_while(|_| theirs.invoke(hundredth()).is_ok())
        .count();
    assert_eq!(admitted, 99);

    let rule = AdvancedComposition::new("1e-6".parse().unwrap())
        .unwrap()
        .capped(pair("1", "1e-6"));
    let ours = start(&Filter::concurrent_with(rule), data()).unwrap();
    let hundredth = Measured::new(hundredth());
    let admitted = (0..)
        .take_while(|_| ours.release(&hundredth).is_ok())
        .count();
    assert_eq!(admitted, 349);
}

/// A custom queryable in a few lines: it counts how often it was asked. OpenDP's constructors are
/// private: `tests/compile_fail/opendp/own_queryable.rs`.
#[test]
fn writing_your_own_queryable() {
    struct Counter(u32);

    impl Machine for Counter {
        type Query = ();
        type Answer = u32;

        fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<u32, Fault> {
            self.0 += 1;
            Ok(self.0)
        }
    }

    #[derive(Clone)]
    struct Counting;

    impl<D: ?Sized> Mechanism<D> for Counting {
        type Machine = Counter;

        fn start(&self, _: &std::sync::Arc<D>, _: &mut Coins<'_>) -> Result<Counter, Fault> {
            Ok(Counter(0))
        }
    }

    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), data()).unwrap();
    let child = filter.launch(&at(epsilon("1"), Counting)).unwrap();
    assert_eq!((child.ask(()), child.ask(())), (Ok(1), Ok(2)));
}

/// Theirs is not charged for, and the panic goes through the analyst's hands, message and all.
#[test]
fn a_mechanism_that_panics() {
    let mut theirs = running_opendp_filter::<MaxDivergence>(1.0);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        theirs.invoke(panicking(0.75)).is_ok()
    }));
    let said = *caught.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(said, "on purpose, with 3 rows");
    assert_eq!(theirs.privacy_loss(1), Ok(0.0));

    let ours = start(&Filter::concurrent(PureDp, epsilon("1")), data()).unwrap();
    let panicking = Measured::new(panicking::<MaxDivergence>(0.75));
    assert_eq!(ours.release(&panicking), Err(LaunchError::Failed));
    assert_eq!(ours.privacy_loss(), epsilon("0.75"));
}

/// Their reading asks the maps of all earlier launches anew, every time; ours has asked them once.
#[test]
fn a_map_that_has_no_answer_any_more() {
    let asked = Rc::new(RefCell::new(0));
    let count = Rc::clone(&asked);
    let fickle = with_map::<MaxDivergence>(
        PrivacyMap::new_fallible(move |_: &u32| {
            *count.borrow_mut() += 1;
            if *count.borrow() > 1 {
                return Err(failure("no more"));
            }
            Ok(0.5)
        }),
        &Tally::default(),
    );
    let mut theirs = running_opendp_filter::<MaxDivergence>(1.0);
    theirs.invoke(fickle.clone()).unwrap();
    assert_eq!(message(theirs.privacy_loss(1)), "no more");

    *asked.borrow_mut() = 0;
    let ours = start(&Filter::concurrent(PureDp, epsilon("1")), data()).unwrap();
    ours.release(&Measured::new(fickle)).unwrap();
    assert_eq!(ours.privacy_loss(), epsilon("0.5"));
}
