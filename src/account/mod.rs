//! How losses add up: the accumulators and rules of [`queryables_core::account`], and more of them.
//!
//! | rule | children | whole | valid for | source |
//! |---|---|---|---|---|
//! | [`FixedCount`], [`FixedInAdvance`] | `ApproxDp` | `ApproxDp` | interleaved children | Kairouz et al. 2015, Haney et al. 1.8 |
//! | [`MenuFilter`](menu::MenuFilter), [`TwoPriceListFilter`](menu::TwoPriceListFilter) | `ApproxDp` | `ApproxDp` | interleaved children | `spec/menu_filter.md`, after Tran et al. App. B |
//! | [`SampledGaussianFilter`](menu::SampledGaussianFilter) | [`SampledGaussianDp`](crate::privacy::SampledGaussianDp) | `ApproxDp` | interleaved children | the same |
//! | [`profiles`]: Gaussians, powers, menus, lists | [`FDp`](crate::privacy::fdp::FDp) | `FDp` | interleaved children | Tran et al. 3.6, B.1, A.14, Haney et al. 3.4, 3.6 |
//! | [`NaturalFilter`] | `Gdp`, or units of one mechanism ([`RepeatedMechanism`](crate::privacy::fdp::RepeatedMechanism)) | `ApproxDp` | interleaved children | Tran et al. 3.6, Ex. D.3 |
//!
//! | accumulator | children and whole | valid for | source |
//! |---|---|---|---|
//! | [`Sum`] | [`RepeatedMechanism`](crate::privacy::fdp::RepeatedMechanism) | interleaved children | Tran et al. 3.6, Ex. D.3 with Haney et al. 3.3 |
//!
//! [`compare`] says how many launches each (ε, δ) rule admits. [`advise`] says which filter to
//! choose for a mechanism with a given trade-off function.
//!
//! Odometers that bound the *realised* loss instead, with high probability and at all times at
//! once, are in [`time_uniform`]; the games that separate valid ones from naive ones are in the
//! package `papers`.

#[cfg(feature = "fdp")]
mod advise;
mod approx_dp_rule;
mod best_slack;
mod compare;
mod fixed_count;
mod fixed_in_advance;
mod individual;
pub mod menu;
#[cfg(feature = "fdp")]
mod natural;
pub(crate) mod nonadaptive;
#[cfg(feature = "fdp")]
pub mod profiles;
pub mod time_uniform;

#[cfg(feature = "fdp")]
pub use advise::{Advice, advise};
pub use approx_dp_rule::ApproxDpRule;
pub use compare::compare;
pub use fixed_count::FixedCount;
pub use fixed_in_advance::FixedInAdvance;
pub use individual::{RecordCost, SquaresAddUp, ValidIndividually};
#[cfg(feature = "fdp")]
pub use natural::{BlackwellChain, NaturalFilter};
#[doc(inline)]
pub use queryables_core::account::*;
pub(crate) use queryables_core::toolkit::account::*;
