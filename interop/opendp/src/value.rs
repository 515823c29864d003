//! Plain values, as opposed to what can be queried again.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use opendp::domains::BitVector;

/// A plain value: nothing in it can be asked, now or later.
///
/// What OpenDP releases may hold a queryable, at any depth and behind `dyn Any`. A compositor of
/// this crate would not know of it: it could not freeze it, and could not tell that a mechanism
/// which "answers once" does not. So only types that are known to be plain values are accepted.
///
/// Implement it for your own type if it is a plain value.
///
/// ```
/// use queryables_opendp::Value;
///
/// struct Estimate {
///     value: f64,
///     half_width: f64,
/// }
///
/// impl Value for Estimate {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not known to be a plain value",
    label = "something in it might be asked again",
    note = "numbers, text, options, vectors, sets, maps and tuples of values are values; implement \
            `Value` for a type of your own that is one",
    note = "an OpenDP queryable is not one: a measurement that emits one is interactive, and is \
            launched with `start_local`; its answers must be values, too",
    note = "OpenDP's filters and odometers are not launched as children: they run a measurement \
            before they check its loss; launch a `Filter` or an `Odometer` of `queryables` instead"
)]
pub trait Value: 'static {}

macro_rules! values {
    ($($value:ty)*) => {$(
        impl Value for $value {}
    )*};
}

values! {
    () bool char String BitVector
    u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64
}

impl<T: Value> Value for Option<T> {}
impl<T: Value> Value for Vec<T> {}
impl<T: Value, const N: usize> Value for [T; N] {}
impl<T: Value> Value for HashSet<T> {}
impl<T: Value> Value for BTreeSet<T> {}
impl<K: Value, V: Value> Value for HashMap<K, V> {}
impl<K: Value, V: Value> Value for BTreeMap<K, V> {}
impl<A: Value, B: Value> Value for (A, B) {}
impl<A: Value, B: Value, C: Value> Value for (A, B, C) {}
impl<A: Value, B: Value, C: Value, D: Value> Value for (A, B, C, D) {}
