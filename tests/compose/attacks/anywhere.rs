//! Code that freezes its own child gets nothing out in any compositor, at any depth, through any
//! handle.

use std::sync::Arc;

use super::{FROZEN, Sequentially, often, once, rows, sequentially};
use crate::common::{Ask, Run, Stated, at, epsilon, pair};
use queryables::account::time_uniform::{Slack, VarianceOdometer};
use queryables::compose::{
    Addressed, BoxedMechanism, ConcurrentComposition, Message, Reply, TimeUniform,
};
use queryables::machine::{CoinSource, NotPrivateSeededCoins, Stop, StopToken};
use queryables::prelude::*;
use queryables::queryable::start_under;

type Once = Stated<Epsilon, Run<Vec<u8>, usize>>;
type Often = Stated<Epsilon, Ask<Vec<u8>, u32, usize>>;

/// Does something, and then answers once.
fn after(code: impl Fn() + Send + Sync + 'static) -> Once {
    let run = Run::new(move |rows: &Vec<u8>| {
        code();
        Ok(rows.len())
    });
    at(epsilon("0.1"), run)
}

/// The same at every answer.
fn after_each(code: impl Fn() + Send + Sync + 'static) -> Often {
    let ask = Ask::new(move |rows: &Vec<u8>, _| {
        code();
        Ok(rows.len())
    });
    at(epsilon("0.1"), ask)
}

/// Makes one more launch on a filter.
fn freezes(filter: &Sequentially) -> impl Fn() + Send + Sync + Clone + 'static {
    let filter = filter.clone();
    move || {
        filter.release(&once("0.1")).unwrap();
    }
}

/// Asserts that neither a release nor an answer gets out of a handle that it freezes.
macro_rules! withheld {
    ($handle:expr) => {{
        let handle = $handle;
        let inside = handle.clone();
        let stops = after(move || {
            inside.release(&once("0.1")).unwrap();
        });
        let failed = handle.release(&stops).unwrap_err();
        assert!(matches!(failed, LaunchError::Failed), "{failed:?}");
        handle
    }};
}

macro_rules! unanswered {
    ($handle:expr) => {{
        let handle = withheld!($handle);
        let inside = handle.clone();
        let stops = after_each(move || {
            inside.release(&once("0.1")).unwrap();
        });
        let child = handle.launch(&stops).unwrap();
        assert_eq!(child.ask(0), Err(FROZEN));
        assert_eq!(child.ask(0), Err(FROZEN));
        let local = handle.launch_local(&stops).unwrap();
        assert_eq!(local.ask(0), Err(FROZEN));
    }};
}

#[test]
fn in_every_compositor_that_freezes() {
    unanswered!(sequentially());
    unanswered!(start(&Odometer::sequential(PureDp), rows()).unwrap());
    withheld!(start(&Filter::noninteractive(PureDp, epsilon("9")), rows()).unwrap());
    withheld!(start(&Odometer::noninteractive(PureDp), rows()).unwrap());
    let at_distances = Odometer::sequential(PureDp).keeping_maps();
    withheld!(start(&at_distances, rows()).unwrap());
    let odometer = start(&at_distances, rows()).unwrap();
    let inside = odometer.clone();
    let stops = after_each(move || {
        inside.release(&once("0.1")).unwrap();
    });
    assert_eq!(odometer.launch(&stops).unwrap().ask(0), Err(FROZEN));
}

#[test]
fn in_a_time_uniform_odometer() {
    let slack = Slack::pure("1e-6".parse().unwrap()).unwrap();
    let odometer = VarianceOdometer::tangent("1".parse().unwrap(), slack).unwrap();
    let odometer = start(&TimeUniform::noninteractive(odometer), rows()).unwrap();
    let once = |code: Arc<dyn Fn() + Send + Sync>| {
        let run = Run::new(move |rows: &Vec<u8>| {
            code();
            Ok(rows.len())
        });
        at(pair("0.1", "0"), run)
    };
    let (inside, plain) = (odometer.clone(), once(Arc::new(|| ())));
    assert_eq!(odometer.release(&plain), Ok(3));
    let stops = once(Arc::new(move || {
        inside.release(&plain).unwrap();
    }));
    assert_eq!(odometer.release(&stops), Err(LaunchError::Failed));
}

/// Whoever is stopped, from the child's own compositor to the outermost.
#[test]
fn at_any_depth() {
    let outer = sequentially();
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    for depth in 1..4 {
        let mut innermost = outer.launch(&filter).unwrap();
        for _ in 1..depth {
            innermost = innermost.launch(&filter).unwrap();
        }
        let child = innermost.launch(&after_each(freezes(&outer))).unwrap();
        assert_eq!(child.ask(0), Err(FROZEN), "{depth}");

        let innermost = outer.launch(&filter).unwrap();
        let released = innermost.release(&after(freezes(&outer)));
        assert_eq!(released, Err(LaunchError::Failed));
    }
}

#[test]
fn inside_a_machine_whatever_it_is_made_of() {
    let outer = sequentially();
    let stops = || after_each(freezes(&outer));
    type Any = BoxedMechanism<Vec<u8>, PureDp, AddRemove, u32, usize>;

    let boxed = outer.launch(&Any::new(PureDp, stops())).unwrap();
    assert_eq!(boxed.ask(0), Err(FROZEN));

    let several = ConcurrentComposition::new([often("0.1"), stops()]);
    let several = outer.launch(&several).unwrap();
    assert_eq!(several.ask((0, 0)), Ok(Ok(3)));
    assert_eq!(several.ask((1, 0)), Err(FROZEN));

    let inside = Filter::concurrent(PureDp, epsilon("1"));
    let inside = outer.launch(&Addressed::new(inside)).unwrap();
    assert_eq!(inside.ask(Message::Launch(stops())), Ok(Reply::Launched(0)));
    assert_eq!(inside.ask(Message::Ask(0, 0)), Err(FROZEN));
}

/// A mechanism that was admitted, and is started by other code.
#[test]
fn with_a_ticket() {
    let filter = sequentially();
    let ticket = filter.admit(&epsilon("0.1")).unwrap();
    let mut source = NotPrivateSeededCoins::new(0);
    let started = ticket.start(&after(freezes(&filter)), &rows(), &mut source.coins());
    assert_eq!(started.map(|_| ()), Err(Fault::Stopped(Stop::Frozen)));

    let ticket = filter.admit(&epsilon("0.1")).unwrap();
    let stops = after_each(freezes(&filter));
    let child = ticket.start(&stops, &rows(), &mut source.coins());
    assert_eq!(child.unwrap().ask(0, &mut source.coins()), Err(FROZEN));
}

/// What a framework launches under a token of its own.
#[test]
fn under_a_token() {
    let (token, stopper) = StopToken::default().extended();
    let stopper = Arc::new(stopper);
    let stops = {
        let stopper = Arc::clone(&stopper);
        move || stopper.stop(Stop::Halted)
    };
    let child = start_under(&after_each(stops.clone()), rows(), &token).unwrap();
    assert_eq!(child.ask(0), Err(AskError::Stopped(Stop::Halted)));
    let (token, stopper) = StopToken::default().extended();
    let stops = move || stopper.stop(Stop::Halted);
    let started = start_under(&after(stops), rows(), &token).map(|_| ());
    assert_eq!(started, Err(Fault::Stopped(Stop::Halted)));
}
