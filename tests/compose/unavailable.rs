//! An engine that does not answer: what was asked of it is charged once, stays as it was, and can be
//! asked again, a few times.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use queryables::account::{Accumulator, DefaultAccumulator};
use queryables::machine::{CoinSource, NotPrivateSeededCoins};
use queryables::mechanisms::query::{Counts, Source, Unavailable};
use queryables::mechanisms::{AboveThreshold, Count, Priced, QueryAnswerer};
use queryables::middle::{LimitQueries, Middle, Move};
use queryables::prelude::*;

use crate::common::epsilon;

/// As often as a start is tried, and a machine may find its data unavailable.
const MOST: u32 = 3;

/// A million rows on an engine that does not answer the next questions.
#[derive(Default)]
struct Engine {
    failures: AtomicU32,
    asked: AtomicU32,
}

impl Engine {
    fn fails(&self, times: u32) {
        self.failures.store(times, Ordering::SeqCst);
        self.asked.store(0, Ordering::SeqCst);
    }

    fn asked(&self) -> u32 {
        self.asked.load(Ordering::SeqCst)
    }
}

#[derive(Clone, Debug)]
struct All;

impl Source for All {
    fn name(&self) -> Cow<'_, str> {
        "all".into()
    }
}

impl Counts<All> for Engine {
    fn count(&self, All: &All) -> Result<u64, Unavailable> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let left = self.failures.load(Ordering::SeqCst);
        self.failures
            .store(left.saturating_sub(1), Ordering::SeqCst);
        match left {
            0 => Ok(1_000_000),
            _ => Err(Unavailable),
        }
    }
}

const UNAVAILABLE: AskError = AskError::Fault(Fault::Unavailable);

/// The noise is at most 10 000 with all but a probability of e⁻¹⁰⁰⁰.
fn is_near(count: i64) -> bool {
    count.abs_diff(1_000_000) < 10_000
}

#[test]
fn a_release_is_tried_again_for_one_charge_and_not_for_ever() {
    let engine = Arc::new(Engine::default());
    let filter = Filter::concurrent(PureDp, epsilon("10"));
    let filter = start(&filter, Arc::clone(&engine)).unwrap();
    let count = Count::of(All).laplace(epsilon("0.1")).unwrap();
    let mut spent = Epsilon::ZERO;
    for failures in 0..MOST + 2 {
        engine.fails(failures);
        let released = filter.release(&count);
        spent = spent.checked_add(epsilon("0.1")).unwrap();
        assert_eq!(filter.privacy_loss(), spent, "{failures}");
        assert_eq!(engine.asked(), (failures + 1).min(MOST));
        match released {
            Ok(released) => assert!(failures < MOST && is_near(released)),
            Err(error) => {
                assert!(failures >= MOST);
                assert_eq!(error, LaunchError::Failed);
            }
        }
    }
    // As a child: its start counts, and its answer is kept.
    engine.fails(MOST - 1);
    let child = filter.launch(&count).unwrap();
    assert_eq!(engine.asked(), MOST);
    assert!(is_near(child.ask(()).unwrap()));
}

#[test]
fn a_machine_tries_again_as_the_handle_does() {
    let engine = Arc::new(Engine::default());
    let mut source = NotPrivateSeededCoins::new(7);
    let mut coins = source.coins();
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let mut filter = filter.start(&engine, &mut coins).unwrap();
    let count = Count::of(All).laplace(epsilon("0.1")).unwrap();
    engine.fails(MOST - 1);
    assert!(is_near(filter.release(&count, &mut coins).unwrap()));
    assert_eq!(filter.privacy_loss(), epsilon("0.1"));
    engine.fails(MOST);
    assert_eq!(filter.release(&count, &mut coins), Err(LaunchError::Failed));
    assert_eq!(filter.privacy_loss(), epsilon("0.2"));
}

/// One hit only: were it spent by a question that the engine did not answer, there would be none left.
#[test]
fn a_search_that_could_not_count_stays_as_it_was() {
    let engine = Arc::new(Engine::default());
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let filter = start(&filter, Arc::clone(&engine)).unwrap();
    let search = AboveThreshold::new(AddRemove, 500_000, 1, epsilon("1")).unwrap();
    let search = filter.launch(&search).unwrap();
    engine.fails(MOST - 1);
    for _ in 1..MOST {
        assert_eq!(search.ask(All), Err(UNAVAILABLE));
    }
    assert_eq!(engine.asked(), MOST - 1);
    assert_eq!(search.ask(All), Ok(true));
    assert_eq!(search.ask(All), Err(AskError::Fault(Fault::Exhausted)));
    assert_eq!(filter.privacy_loss(), epsilon("1"));
}

/// Answers between them make no difference: each failure may tell something.
#[test]
fn a_search_is_closed_when_its_data_was_unavailable_too_often() {
    let engine = Arc::new(Engine::default());
    let search = AboveThreshold::new(AddRemove, 2_000_000, 1, epsilon("1")).unwrap();
    let search = start(&search, Arc::clone(&engine)).unwrap();
    for _ in 0..MOST {
        assert_eq!(search.ask(All), Ok(false));
        engine.fails(1);
        assert_eq!(search.ask(All), Err(UNAVAILABLE));
    }
    engine.fails(0);
    assert_eq!(search.ask(All), Err(AskError::Closed));
    assert_eq!(engine.asked(), 0);
}

#[test]
fn an_answerer_is_charged_once_for_a_count_that_is_tried_again() {
    let engine = Arc::new(Engine::default());
    let rule = PureDp.accumulator().capped(epsilon("0.5"));
    let counts = start(&QueryAnswerer::new(rule), Arc::clone(&engine)).unwrap();
    engine.fails(MOST - 1);
    let counted = counts.ask(Priced::new(All, epsilon("0.3")));
    assert!(is_near(counted.unwrap().unwrap()));
    let Ok(Err(LaunchError::Refused(refusal))) = counts.ask(Priced::new(All, epsilon("0.3")))
    else {
        panic!("over budget");
    };
    assert_eq!(refusal.spent, epsilon("0.3"));
    // What was charged and got no answer ends it: no second count for that charge.
    engine.fails(MOST);
    let failed = Err(AskError::Fault(Fault::Failed));
    assert_eq!(counts.ask(Priced::new(All, epsilon("0.1"))), failed);
    let closed = Err(AskError::Closed);
    assert_eq!(counts.ask(Priced::new(All, epsilon("0.1"))), closed);
}

#[test]
fn behind_a_middle_the_machine_stays_as_it_was_and_the_middle_has_counted() {
    let engine = Arc::new(Engine::default());
    let search = AboveThreshold::new(AddRemove, 500_000, 1, epsilon("1")).unwrap();
    let search = start(&search.through(LimitQueries::new(2)), Arc::clone(&engine)).unwrap();
    engine.fails(1);
    assert_eq!(search.ask(All), Err(UNAVAILABLE));
    assert_eq!(search.ask(All), Ok(true));
    assert_eq!(search.ask(All), Err(AskError::Fault(Fault::Exhausted)));
}

/// Answers that the engine did not.
#[derive(Clone)]
struct Telling;

impl Middle<All, bool> for Telling {
    type OuterQuery = All;
    type OuterAnswer = Option<bool>;

    fn on_query(&mut self, All: All, _: &mut Coins<'_>) -> Result<Move<All, Option<bool>>, Fault> {
        Ok(Move::Ask(All))
    }

    fn on_answer(
        &mut self,
        answer: bool,
        _: &mut Coins<'_>,
    ) -> Result<Move<All, Option<bool>>, Fault> {
        Ok(Move::Answer(Some(answer)))
    }

    fn on_fault(
        &mut self,
        fault: Fault,
        _: &mut Coins<'_>,
    ) -> Result<Move<All, Option<bool>>, Fault> {
        assert_eq!(fault, Fault::Unavailable);
        Ok(Move::Answer(None))
    }
}

/// Who runs the middle sees no fault, and it is still not told for ever.
#[test]
fn a_middle_that_answers_for_the_engine_is_bounded_too() {
    let engine = Arc::new(Engine::default());
    let search = AboveThreshold::new(AddRemove, 2_000_000, 1, epsilon("1")).unwrap();
    let search = start(&search.through(Telling), Arc::clone(&engine)).unwrap();
    for _ in 1..MOST {
        engine.fails(1);
        assert_eq!(search.ask(All), Ok(None));
        assert_eq!(search.ask(All), Ok(Some(false)));
    }
    engine.fails(1);
    assert_eq!(search.ask(All), Err(AskError::Fault(Fault::Failed)));
    assert_eq!(search.ask(All), Err(AskError::Closed));
}
