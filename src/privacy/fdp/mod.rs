//! Trade-off functions and privacy profiles, between certified bounds.
//!
//! | what | where | source |
//! |---|---|---|
//! | a profile in both directions | [`Profile`] | Tran et al. A.2–A.5 |
//! | its trade-off function | [`Profile::trade_off`] | A.6 |
//! | inverse, symmetrised, greatest lower bound | [`Profile::reversed`], [`symmetrised`](Profile::symmetrised), [`worst`](Profile::worst) | A.8–A.10, A.1 |
//! | tensor product and powers | [`Profile::compose`], [`power`](Profile::power) | A.12, A.14 |
//! | Blackwell order, Δ-divergence | [`Profile::compare`], [`divergence`](Profile::divergence) | 2.6, C.8 |
//! | (ε, δ) and μ | [`Profile::epsilon`], [`worst_delta`](Profile::worst_delta), [`mu`](Profile::mu) | A.1, 2.4 |
//! | the measure | [`FDp`] | 2.4 |
//! | units of one profile, as a measure | [`RepeatedMechanism`] | D.3 |
//!
//! # How bounds are kept
//!
//! Losses are put on a lattice, once so that the profile only grows and once so that it only
//! shrinks; both by polygons that touch or nearly touch the profile, so the error is of second
//! order in the step. Sums of losses are convolutions, computed by Fourier transform with a bound
//! on its rounding. Each file proves its part.

mod atoms;
mod blackwell;
mod bounds;
mod chords;
mod compose;
mod construct;
mod convert;
mod curve;
mod error;
mod evaluate;
mod grid;
mod lattice;
mod lattice_profile;
mod measure;
mod polygon;
mod powers;
mod prices;
mod profile;
#[cfg(feature = "serde")]
mod serde;
mod spectrum;
mod table;
mod tail;
mod trade_off;
mod window;

pub use blackwell::Blackwell;
pub use bounds::Bounds;
pub use error::FdpError;
pub use grid::Grid;
pub use measure::FDp;
pub use powers::{RepeatedMechanism, Repetitions};
pub use profile::{Adjacency, Profile};

#[cfg(test)]
mod count_tests;
#[cfg(test)]
mod tests;
