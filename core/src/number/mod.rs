//! Exact decimals and ratios, and bounds that are rounded outward.
//!
//! Privacy parameters are fixed-point decimals ([`Quantity`]): `"0.1"` is 1/10, sums are exact and
//! do not depend on the order. Whatever cannot be exact is computed in intervals that contain the
//! true value. Nothing here knows what privacy is.

mod bound;
mod decimal;
mod float;
#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub(crate) mod interval;
mod literal;
#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub(crate) mod normal;
mod quantity;
mod ratio;
#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub(crate) mod u256;
#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub(crate) mod wide_interval;

pub use decimal::NumberError;
pub(crate) use interval::Interval;
pub(crate) use quantity::write_number;
pub use quantity::{Confidence, Delta, Epsilon, Mu, Order, Quantity, Rho, Scale, Unit, units};
pub use ratio::Ratio;
pub(crate) use u256::{U256, divide_product};
pub(crate) use wide_interval::WideInterval;
