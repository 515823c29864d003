//! What engines spell differently.

use super::Parameter;
use crate::table::Kind;

/// How an engine spells what engines spell differently.
///
/// # What an implementer owes
///
/// Each method computes what its documentation says, for all values, and never fails. A method that is
/// given expressions uses each of them once, so that nested ones do not grow. An implementation is checked
/// by [canaries](super::super::canaries).
pub trait Dialect {
    /// The type of IEEE doubles.
    const DOUBLE: &'static str;
    /// The type of whole numbers with 38 digits or more.
    const WIDE: &'static str;
    /// The type of texts.
    const TEXT: &'static str;

    /// A name in quotes.
    fn quoted(&self, name: &str) -> String;

    /// The placeholder of a parameter, with its type. They are counted from one, and one may stand twice.
    /// Texts compare by their bytes.
    fn placeholder(&self, number: usize, parameter: &Parameter) -> String;

    /// A column of this type. NaN is NULL, and texts compare by their bytes.
    fn column(&self, column: &str, kind: Kind) -> String;

    /// Whether a value is one of a list; NULL if it is NULL.
    fn is_in(&self, value: &str, list: &str) -> String;

    /// The number of rising edges that are at most a value; NULL if it is NULL.
    fn edges_below(&self, value: &str, edges: &str) -> String;

    /// A list as a table with this name, and with the columns `key` and `place`, which counts from one.
    fn list_table(&self, list: &str, name: &str) -> String;

    /// The exact sum of whole numbers, which is wide.
    fn sum(&self, number: &str) -> String;

    /// The quotient of two 64-bit numbers, rounded toward zero.
    fn quotient(&self, dividend: &str, divisor: &str) -> String;

    /// The same of wide numbers. Their quotient is a 64-bit number.
    fn wide_quotient(&self, dividend: &str, divisor: &str) -> String;
}
