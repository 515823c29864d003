//! What mechanisms state about themselves, for measures to price ([`Prices`]).
//!
//! | fact | states | priced under |
//! |---|---|---|
//! | [`Pure`] | ε-DP | every measure |
//! | [`Laplace`] | discrete Laplace noise on whole numbers | every measure |
//! | [`BoundedRange`] | log-odds that move within an interval of length ε | every measure |
//! | [`BoundedRanges`] | several of them, one after the other | every measure |
//! | [`Probabilistic`] | (ε, δ)-pDP | every measure; those without a δ only if δ is zero |
//! | [`Gaussian`] | Gaussian noise, by its ρ or μ, on counts or on anything | f-DP, zCDP, GDP, Rényi, and approximate zCDP and Rényi |
//! | [`SampledGaussian`] | Gaussian noise on a sample | f-DP, Rényi and approximate Rényi, and Gaussians on samples |
//! | [`SampledReplacement`] | the same, for a row that is replaced | f-DP, Rényi and approximate Rényi |
//! | [`Thresholded`] | noisy counts, of which small ones are kept back | (ε, δ), pDP, f-DP, approximate zCDP and Rényi |
//! | [`Curve`] | Rényi divergences, as a function of the order | Rényi and approximate Rényi |
//!
//! [`Fact`] is one of them, chosen at run time.
//!
//! Each fact also states what holds at larger distances: noise that is made for one row protects
//! several rows better than group privacy implies, because it is known how far their answers are
//! apart.

mod bounded_range;
mod bounded_ranges;
mod curve;
mod diverges;
mod fact;
mod gaussian;
mod laplace;
mod probabilistic;
mod pure;
mod sampled_gaussian;
mod sampled_replacement;
mod thresholded;

pub use bounded_range::BoundedRange;
pub use bounded_ranges::BoundedRanges;
pub use curve::Curve;
pub(crate) use diverges::Diverges;
pub use fact::Fact;
#[doc(hidden)]
pub use fact::erased;
pub use gaussian::Gaussian;
pub use laplace::Laplace;
pub use probabilistic::Probabilistic;
pub use pure::Pure;
pub use sampled_gaussian::SampledGaussian;
pub use sampled_replacement::SampledReplacement;
pub use thresholded::Thresholded;

#[cfg(doc)]
use super::Prices;

/// Prices that follow from those under another measure, by [`Implies`](super::Implies).
macro_rules! through {
    ($Fact:ty: $($From:ident => $To:ident),* $(,)?) => {$(
        #[diagnostic::do_not_recommend]
        impl crate::privacy::Prices<$Fact> for $To {
            fn price(&self, fact: &$Fact) -> Result<Self::Loss, crate::privacy::UnknownLoss> {
                let loss = crate::privacy::Prices::<$Fact>::price(&$From, fact)?;
                crate::privacy::Implies::imply(&$From, &loss, self)
            }
        }
    )*};
}
use through;
