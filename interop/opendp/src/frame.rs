//! Running OpenDP's code such that nothing of it is left behind, and nothing of it gets out.
//!
//! OpenDP's compositors put a hook in a thread-local variable while they run what they compose;
//! every queryable that is made meanwhile asks it for permission, whoever holds it. We do the same:
//! a queryable that was made inside a frame answers inside that frame only. Code that keeps a
//! second handle to it, to ask it behind the back of the compositor that should be able to freeze
//! it, gets nothing. (OpenDP makes one kind of queryable that asks nobody: the sparse histogram's,
//! which looks up what has been released already.) Nor does it from a handle of this crate that an
//! OpenDP measurement has made inside: that is frozen when the run ends. Both are stopped earlier if
//! the child is frozen or halted while it runs.
//!
//! This is about postprocessing, which may be anybody's and never has the data. The function of a
//! measurement has it in its hands, and is trusted with it.
//!
//! OpenDP takes its hooks out again, unless there was a panic: then the hook stays and disturbs
//! whatever is made later on the thread. So panics end here, inside the frame.
//!
//! A hook that was there before is in force inside as well: whoever runs this crate inside an
//! OpenDP compositor stays bound by it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use opendp::core::{Function, Measurement, PrivacyMap};
use opendp::domains::AtomDomain;
use opendp::error::Fallible;
use opendp::interactive::Wrapper;
use opendp::measures::MaxDivergence;
use opendp::metrics::DiscreteDistance;

use crate::error;
use queryables::machine::{Coins, Fault, Stop, StopToken, guarded};

/// Where the OpenDP code of one child runs.
#[derive(Default)]
pub(crate) struct Frame {
    /// Stopped when the run is over, or when the child is stopped in the middle of it.
    token: Rc<RefCell<StopToken>>,
}

thread_local! {
    /// The token of the frame that runs on this thread: OpenDP's closures get no context.
    static IN_FORCE: RefCell<StopToken> = RefCell::default();
}

/// What stops that which is launched by OpenDP's code on this thread.
pub(crate) fn in_force() -> StopToken {
    IN_FORCE.with_borrow(StopToken::clone)
}

impl Frame {
    /// Runs OpenDP's code on behalf of whoever `coins` belong to. Of an error or a panic nothing is
    /// left but the fact: OpenDP's messages may have data in them.
    pub(crate) fn run<T: 'static>(
        &self,
        coins: &Coins<'_>,
        code: impl FnOnce() -> Fallible<T> + 'static,
    ) -> Result<T, Fault> {
        let (token, stopper) = coins.token().extended();
        self.token.replace(token.clone());
        let outer = IN_FORCE.replace(token);
        let result = guarded(|| wrapped(self.hook(), code).map_err(|_| Fault::Failed));
        IN_FORCE.set(outer);
        stopper.stop(Stop::Frozen);
        result
    }

    /// Permits questions while the frame runs, to what is made inside and to what that makes.
    fn hook(&self) -> Wrapper {
        let token = Rc::clone(&self.token);
        Wrapper::new_recursive_pre_hook(move || {
            let permitted = token.borrow().check();
            permitted.map_err(|_| error::function("asked from outside"))
        })
    }
}

/// Runs code under a hook, which is gone afterwards.
///
/// OpenDP has one public way to do so: a measurement that is invoked with the hook.
fn wrapped<T: 'static>(hook: Wrapper, code: impl FnOnce() -> Fallible<T> + 'static) -> Fallible<T> {
    let code = Cell::new(Some(code));
    let function = Function::new_fallible(move |_: &bool| {
        let code = code.take().ok_or_else(|| error::function("runs once"))?;
        // OpenDP would not take the hook out if this panicked.
        guarded(|| code().map_err(|_| Fault::Failed)).map_err(|_| error::function("failed"))
    });
    let frame = Measurement::new(
        AtomDomain::<bool>::default(),
        DiscreteDistance,
        MaxDivergence,
        function,
        // Never asked.
        PrivacyMap::new(|_| f64::INFINITY),
    )?;
    frame.invoke_wrap(&true, Some(hook))
}
