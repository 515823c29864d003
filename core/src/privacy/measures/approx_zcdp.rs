use super::{additive, written};
use crate::privacy::Reentrant;
use crate::privacy::{Distance, Measure, Postprocessable, RhoDelta, UnknownLoss};

/// δ-approximate ρ-zero-concentrated privacy (Bun and Steinke 2016, Definition 8.1; Whitehouse et
/// al. Def. 3).
///
/// No concurrent composition theorem is known for it (Haney et al. §4): its compositors are
/// sequential.
///
/// Example: [`Thresholded`](crate::privacy::facts::Thresholded).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ApproxZCdp;

impl Measure for ApproxZCdp {
    type Loss = RhoDelta;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> RhoDelta {
        RhoDelta::default()
    }

    fn join(&self, one: &RhoDelta, other: &RhoDelta) -> RhoDelta {
        one.join(*other)
    }

    fn group(&self, _: &RhoDelta, _: Distance) -> Result<RhoDelta, UnknownLoss> {
        Err(UnknownLoss("group privacy with delta > 0 is not offered"))
    }
}

impl Postprocessable for ApproxZCdp {}

additive!(ApproxZCdp);

written!(ApproxZCdp);
