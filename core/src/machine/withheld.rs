//! Why code that has run for a step gives nothing out.

use super::{Fault, Outages, Stop, discard};

/// Code that has run for a step, and what it came to is not given out: it ended with a fault, or the
/// step was stopped by then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Withheld {
    /// What is told. A stop hides how the code has ended, because that may have been chosen after
    /// it.
    pub(crate) told: Fault,
    /// How the code itself has ended, if not with an answer.
    fault: Option<Fault>,
}

impl Withheld {
    /// Code that was stopped meanwhile.
    #[cold]
    pub(super) fn stopped<T>(result: Result<T, Fault>, stop: Stop) -> Self {
        let fault = result.as_ref().err().copied();
        // Dropping an answer is third-party code, too.
        discard(result);
        Self {
            told: Fault::Stopped(stop),
            fault,
        }
    }

    /// Whether the machine has failed, or has found its data unavailable for the last time, and must
    /// not be asked again by anybody, whoever was stopped.
    pub(crate) fn is_final(self, outages: &mut Outages) -> bool {
        match self.fault {
            Some(Fault::Unavailable) => outages.count(),
            Some(fault) => !fault.is_recoverable(),
            None => false,
        }
    }

    /// What a machine ends its own step with whose inner machine has ended.
    pub(crate) fn ended(self) -> Fault {
        match self.fault {
            Some(fault) if !fault.is_recoverable() => fault,
            _ => Fault::Failed,
        }
    }

    /// What a machine ends its own step with whose inner code this is. A failure stays one, so that
    /// whoever runs the machine closes it.
    pub(crate) fn inside(self) -> Fault {
        match self.fault {
            Some(fault) if !fault.is_recoverable() => fault,
            _ => self.told,
        }
    }
}

/// Nobody was stopped, and the code did not answer.
impl From<Fault> for Withheld {
    #[inline]
    fn from(fault: Fault) -> Self {
        Self {
            told: fault,
            fault: Some(fault),
        }
    }
}

impl From<Withheld> for Fault {
    #[inline]
    fn from(withheld: Withheld) -> Self {
        withheld.told
    }
}
