use super::Probe;
use crate::number::Epsilon;

/// A running compositor, as the kit talks to it. It is started anew for every case, on a dataset that is
/// one bit.
///
/// [`conformance`](super) shows one in a few lines.
pub trait Compositor {
    /// Launches a child, of which the loss is known ([`Probe::loss`]). A child that is started has the
    /// next number, from 0 on.
    fn launch(&mut self, child: Probe) -> Launch;

    /// Asks the child with this number; `None` if there is none, or if it does not answer any more.
    fn ask(&mut self, child: usize) -> Option<u32>;

    /// The loss that it says was spent; `None` if it says none.
    fn reading(&mut self) -> Option<Epsilon>;
}

/// How a launch went, as the analyst is told.
///
/// [`conformance`](super) returns each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Launch {
    /// The child can be asked.
    Started,
    /// It was not run, for a reason that does not depend on the data.
    Refused,
    /// It was run, and failed.
    Failed,
}
