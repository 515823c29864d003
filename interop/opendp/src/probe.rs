//! Finding out whether OpenDP has frozen what it launched.
//!
//! Under approximate zCDP an OpenDP compositor freezes earlier children: every queryable that was
//! made while a child started asks the compositor for permission. A handle of `queryables` does not
//! know of that. So a queryable of OpenDP's is made beside the handle, the probe, and the handle's
//! token asks the probe at every check.
//!
//! Queryables cannot leave their thread, and handles can. On another thread nobody can be asked, and
//! the check passes: see [`make_interactive`](crate::make_interactive).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::thread::{self, ThreadId};

use opendp::combinators::make_adaptive_composition;
use opendp::core::{Function, Measurement, PrivacyMap};
use opendp::domains::AtomDomain;
use opendp::error::Fallible;
use opendp::interactive::Queryable;
use opendp::measures::MaxDivergence;
use opendp::metrics::DiscreteDistance;
use queryables_core::machine::{Stop, StopToken};

type Nothing = Measurement<AtomDomain<bool>, DiscreteDistance, MaxDivergence, ()>;

/// A compositor on a bit that is nobody's, which admits nothing.
type Probe = Queryable<Nothing, ()>;

thread_local! {
    static PROBES: RefCell<HashMap<u64, (Weak<()>, Probe)>> = RefCell::default();
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// A token below this one, for what is launched now on this thread: it does not pass any more once
/// OpenDP freezes what is being made.
pub(crate) fn watched(token: &StopToken) -> Fallible<StopToken> {
    let probe = probe()?;
    let alive = Arc::new(());
    let key = NEXT.replace(NEXT.get() + 1);
    PROBES.with_borrow_mut(|probes| {
        // Handles that are gone, wherever they were let go of.
        if probes.len().is_power_of_two() {
            probes.retain(|_, (alive, _)| alive.strong_count() > 0);
        }
        probes.insert(key, (Arc::downgrade(&alive), probe));
    });
    let home = thread::current().id();
    Ok(token.watched(move || {
        let _alive = &alive;
        asked(home, key)
    }))
}

fn asked(home: ThreadId, key: u64) -> Result<(), Stop> {
    if thread::current().id() != home {
        return Ok(());
    }
    let find = |probes: &RefCell<HashMap<u64, (Weak<()>, Probe)>>| {
        let probes = probes.borrow();
        probes.get(&key).map(|(_, probe)| probe.clone())
    };
    // As the thread ends, the probes may be gone before the handles.
    let probe = PROBES.try_with(find).ok().flatten();
    match probe.is_some_and(permitted) {
        true => Ok(()),
        false => Err(Stop::Frozen),
    }
}

fn measurement(loss: f64) -> Fallible<Nothing> {
    Measurement::new(
        AtomDomain::default(),
        DiscreteDistance,
        MaxDivergence,
        Function::new(|_: &bool| ()),
        PrivacyMap::new(move |_| loss),
    )
}

fn probe() -> Fallible<Probe> {
    let nothing = make_adaptive_composition(
        AtomDomain::default(),
        DiscreteDistance,
        MaxDivergence,
        1,
        vec![0.0],
    )?;
    nothing.invoke(&true)
}

/// Whether a question gets through to the probe, which then says that it costs too much.
fn permitted(mut probe: Probe) -> bool {
    let Ok(too_much) = measurement(1.0) else {
        return false;
    };
    let Err(error) = probe.eval(&too_much) else {
        return false;
    };
    let message = error.message.unwrap_or_default();
    message.starts_with("insufficient budget for query")
}
