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

    /// The placeholder of a parameter, with its type. They are counted from one.
    fn placeholder(&self, number: usize, parameter: &Parameter, form: TextForm) -> String;

    /// A column of this type. What the reference takes for missing (NaN), or cannot hold, is NULL.
    fn column(&self, column: &str, kind: Kind, form: TextForm) -> String;

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

/// In which form texts are compared.
///
/// Some engines cannot hold a text with the character U+0000. So a comparison with such a constant may
/// need another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextForm {
    /// No constant of the comparison has the character U+0000.
    Plain,
    /// One has.
    WithZero,
}
