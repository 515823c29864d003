//! How often the data may be out of reach.

use super::Fault;

/// How often a start is tried, and how often in its life one machine may find its data unavailable.
///
/// Whether an engine answers may depend on the data: a query that is too long for it, a number that
/// it cannot hold. No loss covers what an analyst learns from this, so it is told a few times and not
/// as often as somebody asks. An engine that hides short interruptions tries again by itself, before
/// it says [`Fault::Unavailable`](super::Fault::Unavailable).
pub(crate) const MOST_OUTAGES: u8 = 3;

impl Fault {
    /// How a start ends because of one inside of it, which was tried again already: whoever starts the outer
    /// one does not multiply that.
    pub(crate) fn after_tries(self) -> Self {
        match self {
            Self::Unavailable => Self::Failed,
            fault => fault,
        }
    }
}

/// How often one machine has found its data unavailable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Outages(u8);

impl Outages {
    /// Counts one more. Whether it was the last: then the machine is closed.
    pub(crate) fn count(&mut self) -> bool {
        self.0 = self.0.saturating_add(1);
        self.0 >= MOST_OUTAGES
    }
}
