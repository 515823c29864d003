//! Running OpenDP's code such that no hook of it stays behind, and no message of it gets out.
//!
//! OpenDP's compositors put a hook in a thread-local variable while they run what they compose;
//! every queryable that is created meanwhile asks it for permission. We do the same: a queryable
//! that was made inside a frame answers inside that frame only. Code that keeps a second handle to
//! it, to bypass the compositor that should be able to freeze it, gets no answer. (OpenDP makes one
//! kind of queryable that asks nobody: the sparse histogram's, which looks up what has been
//! released already.) Nor does it from a handle of `queryables` that an OpenDP measurement has made
//! inside: that is frozen when the run ends. Both are stopped earlier if the child is frozen or
//! halted while it runs.
//!
//! This is about postprocessing, which never has the data. The function of a measurement does have
//! the data, and is trusted with it.
//!
//! OpenDP takes its hooks out again, unless there was a panic: then the hook stays and disturbs
//! whatever is made later on the thread. So panics end here, inside the frame.
//!
//! A hook that was there before is in force inside as well: code that runs `queryables` inside an
//! OpenDP compositor stays bound by that compositor.

use std::cell::Cell;
use std::rc::Rc;

use opendp::core::{Function, Measurement, PrivacyMap};
use opendp::domains::AtomDomain;
use opendp::error::Fallible;
use opendp::interactive::Wrapper;
use opendp::measures::MaxDivergence;
use opendp::metrics::DiscreteDistance;
use queryables_core::machine::{Coins, Fault, guarded};
use queryables_core::queryable::Scope;

use crate::error;

/// How often the hook may lie around one queryable.
///
/// While a queryable is asked, OpenDP puts its hook around the hook that is in force, so that their
/// number doubles with each level of nesting: 1, 2, 4, …. A question goes through all of them, and
/// so does letting go of the queryable, each on the stack: 13 to 16 levels end the process. This
/// many are 8 levels, and need less than a tenth of a thread's usual stack.
const MOST_LAYERS: usize = 128;

/// Where the OpenDP code of one child runs.
#[derive(Default)]
pub(crate) struct Frame {
    scope: Scope,
    layers: Layers,
}

/// Counts how often the hook was put around the queryable that is being made.
#[derive(Default)]
struct Layers(Rc<Cell<usize>>);

impl Layers {
    /// How many there are, to count anew from here. (A method, so that a closure captures the whole
    /// and is cloned with it, not the field alone.)
    fn take(&self) -> usize {
        self.0.replace(0)
    }

    fn same(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

/// OpenDP clones the hook once for each layer, and tells nobody otherwise.
impl Clone for Layers {
    fn clone(&self) -> Self {
        self.0.set(self.0.get() + 1);
        self.same()
    }
}

impl Frame {
    /// Runs OpenDP's code on behalf of the machine that `coins` belong to. Errors and panics lose
    /// their messages, because these may contain data.
    pub(crate) fn run<T: 'static>(
        &self,
        coins: &Coins<'_>,
        code: impl FnOnce() -> Fallible<T> + 'static,
    ) -> Result<T, Fault> {
        let run = || wrapped(self.hook(), code).map_err(|_| Fault::Failed);
        self.scope.run(coins, run)
    }

    /// Permits questions while the frame runs, to what is made inside and to what that makes.
    fn hook(&self) -> Wrapper {
        let (scope, layers) = (self.scope.clone(), self.layers.same());
        let hook = Wrapper::new_recursive_pre_hook(move || {
            // Whatever was being made before is done.
            layers.take();
            let permitted = scope.check();
            permitted.map_err(|_| error::function("asked from outside"))
        });
        // Outermost of all: the last to be put around a queryable, and only once.
        let layers = self.layers.same();
        Wrapper::new(move |queryable| {
            let made = hook(queryable)?;
            if layers.take() > MOST_LAYERS {
                return Err(error::function(
                    "OpenDP's compositors are nested too deeply",
                ));
            }
            Ok(made)
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
