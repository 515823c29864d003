//! Exact decimals as floats, and back. Nobody's privacy depends on what is computed here.

use queryables::number::{Quantity, Unit};

/// A float next to the number.
pub(crate) fn float<U: Unit>(number: Quantity<U>) -> f64 {
    number.to_f64_up()
}

/// A number that is above what a float stands for, if that was computed to 1e-12 of itself.
pub(crate) fn above<U: Unit>(number: f64) -> Option<Quantity<U>> {
    Quantity::at_least(number * (1.0 + 1e-12)).ok()
}

/// The same from below.
pub(crate) fn below<U: Unit>(number: f64) -> Option<Quantity<U>> {
    Quantity::at_most(number * (1.0 - 1e-12)).ok()
}
