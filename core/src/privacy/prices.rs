//! How a measure prices what a mechanism states about itself.

use super::{Measure, UnknownLoss};

/// A measure that has a loss for every mechanism for which `Fact` holds.
///
/// A mechanism states a fact ([`facts`](super::facts)): discrete Laplace noise of this scale, say.
/// Each measure prices the fact at the smallest loss that is known to hold. So a mechanism states
/// its loss under all measures at once, and can be launched under any of them without a wrapper:
///
/// ```
/// use queryables::privacy::facts::Laplace;
/// use queryables::privacy::{
///     AddRemove, ApproxDp, Distance, Measure, Prices, Private, PureDp, Relation, UnknownLoss,
/// };
///
/// struct NoisyCount {
///     noise: Laplace,
/// }
///
/// impl<Me: Prices<Laplace>> Private<Me, AddRemove> for NoisyCount {
///     fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
///         measure.price(&self.noise)
///     }
///
///     // Noise knows more about larger distances than group privacy does.
///     fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
///         measure.price(&self.noise.at(distance)?)
///     }
/// }
///
/// let count = NoisyCount { noise: Laplace::of_count("0.1".parse()?) };
/// assert_eq!(count.loss(&PureDp)?, "0.1".parse()?);
/// assert_eq!(count.loss(&ApproxDp)?.to_string(), "(0.1, 0)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A measure of your own prices [`Pure`](super::facts::Pure) as soon as `PureDp` is known to imply
/// it ([`Implies`](super::Implies)); for other facts, implement this trait for it.
///
/// # Guarantee
///
/// If the fact is true of a mechanism, for some neighbouring relation, then so is the loss under
/// this measure, for the same relation. Every implementation names its theorem. Losses are rounded
/// up, never down.
#[diagnostic::on_unimplemented(
    message = "launch it under a measure that has a price for `{Fact}`: `{Self}` has none",
    label = "no proved loss under `{Self}`",
    note = "Gaussian noise has a loss under `ZCdp`, `Gdp`, `Rdp`, `RdpGrid`, `ApproxZCdp` and \
            `ApproxRdp`; for (ε, δ), choose a δ for it: `RestatedAt::new(ZCdp, delta, mechanism)`",
    note = "a Rényi curve, as of sampled Gaussian noise, is a loss under `Rdp`, `RdpGrid` and \
            `ApproxRdp`; for (ε, δ), choose a δ for it: `RestatedAt::new(grid, delta, mechanism)`",
    note = "for a measure of your own, implement `Prices<{Fact}>`"
)]
pub trait Prices<Fact>: Measure {
    /// The smallest loss that is known for mechanisms of which the fact is true.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if none is known under this measure, at this order for example, or if it
    /// cannot be held.
    fn price(&self, fact: &Fact) -> Result<Self::Loss, UnknownLoss>;
}
