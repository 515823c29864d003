//! Filters and odometers in f-DP: children state trade-off functions, and the budget and the reading
//! are trade-off functions, each as a [`Profile`](crate::privacy::fdp::Profile).
//!
//! Composing trade-off functions until a budget is reached is **not** private (Tran et al. 3.3, 3.8):
//! an adversary may continue where the functions cross. So there is no default for
//! [`FDp`](crate::privacy::fdp::FDp). A family must be chosen for which there is a theorem:
//!
//! | family | children cost | theorem |
//! |---|---|---|
//! | [`Gaussians`] | their μ, as squares | a Blackwell chain: Tran et al. 3.6, 3.7 |
//! | [`Powers`] | a number of units of one function | a Blackwell chain: Tran et al. 3.6, Ex. D.3 |
//! | [`Menu`] | the price of an entry that is at least as bad | Tran et al. B.1, widened: `spec/menu_filter.md` |
//! | [`List`] | the next of a list that is fixed in advance | Haney et al. 1.8, §5.1, with Tran et al. A.14 |
//!
//! A family makes an accumulator ([`InProfiles::new`]), for odometers, and with any budget a rule
//! ([`InProfiles::within`]), for filters. Interactive children are interleaved: Haney et al. 3.4 and
//! 3.6, for children with finite communication. Mechanisms that are started together need no family,
//! because their losses are known in advance:
//! [`ConcurrentComposition`](crate::compose::ConcurrentComposition) composes them under `FDp`.
//!
//! [`NaturalFilter`](super::NaturalFilter), [`MenuFilter`](super::menu::MenuFilter) and
//! [`FixedInAdvance`](super::FixedInAdvance) are for (ε, δ) budgets: faster, and more precise at
//! that one point.

mod composed;
mod family;
mod gaussians;
mod list;
mod menu;
mod powers;
mod rule;
#[cfg(feature = "serde")]
mod serde;
#[cfg(test)]
mod tests;

pub use family::Family;
pub use gaussians::Gaussians;
pub use list::List;
pub use menu::Menu;
pub use powers::Powers;
pub use rule::{InProfiles, WithinProfile};
