//! Mechanisms whose losses are all known before the first of them starts.

use super::{Accumulator, DefaultAccumulator, ValidConcurrently};
use crate::privacy::{Measure, UnknownLoss, checked};

/// A measure in which mechanisms that are started together may be asked in any order.
///
/// Their losses are known in advance, so this asks for less than a filter, whose losses may depend on
/// answers: f-DP has it, with no accumulator of its own. Every measure with a default accumulator that
/// holds for interleaved children has it.
///
/// Example: [`ConcurrentComposition`](crate::compose::ConcurrentComposition).
///
/// # Guarantee
///
/// Mechanisms with these losses, started together and asked in any order, have
/// [`composed`](Self::composed) together. Implement it for a measure of your own where a theorem says
/// so, and cite it.
#[diagnostic::on_unimplemented(
    message = "no theorem lets children be interleaved under `{Self}`",
    note = "concurrent composition is proved for pure DP, (ε, δ)-DP, f-DP and GDP, Rényi DP of \
            fixed orders and zCDP; for approximate zCDP and approximate Rényi DP it is an open \
            question",
    note = "use `Filter::sequential` or `Odometer::sequential`: a launch freezes earlier children"
)]
pub trait ComposesConcurrently: Measure {
    /// The loss of all of them together.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`], which says why there is none.
    fn composed(&self, losses: &[Self::Loss]) -> Result<Self::Loss, UnknownLoss>;
}

#[diagnostic::do_not_recommend]
impl<Me> ComposesConcurrently for Me
where
    Me: DefaultAccumulator<Accumulator: ValidConcurrently>,
{
    fn composed(&self, losses: &[Me::Loss]) -> Result<Me::Loss, UnknownLoss> {
        let mut total = self.accumulator();
        for loss in losses {
            total = total.add(checked(self, loss)?)?;
        }
        Ok(total.total())
    }
}
