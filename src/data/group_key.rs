//! What rows are grouped by.

use std::sync::Arc;

/// What rows are grouped by, where the groups are not known in advance: a number, a text, or a few
/// of them; or `None` for a row without a group. It tells people apart in
/// [`People`](super::People), and counts in
/// [`ThresholdHistogram`](crate::mechanisms::ThresholdHistogram).
///
/// Sealed, because keys of different rows are compared with each other: code of others that panics
/// in a comparison, or finds keys equal that can be told apart, could not be put down to one row.
/// Return a number or a text that your own type of key contains.
///
/// ```
/// use queryables::data::{Dataset, People};
///
/// struct PatientNumber(u64);
///
/// let visits = vec![Arc::new(PatientNumber(7)), Arc::new(PatientNumber(7))];
/// # use std::sync::Arc;
/// let patients = People::by_key(&visits, |visit: &Arc<PatientNumber>| visit.0);
/// assert_eq!(patients.len(), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "group by a number, a text, or a tuple of them: `{Self}` is none",
    label = "not a key of a group",
    note = "use `Option` for rows that belong to no person or group"
)]
pub trait GroupKey: sealed::Sealed {
    /// What is compared.
    type Key: Ord + Clone + Send + Sync + 'static;

    /// The key, if the row is somebody's.
    fn key(self) -> Option<Self::Key>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! keys {
    ($($Key:ty)*) => {$(
        impl sealed::Sealed for $Key {}

        impl GroupKey for $Key {
            type Key = Self;

            fn key(self) -> Option<Self> {
                Some(self)
            }
        }
    )*};
}

keys! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize bool char }
keys! { String Box<str> Arc<str> Vec<u8> &'static str }

/// Nobody's, if `None`.
impl<P: GroupKey> GroupKey for Option<P> {
    type Key = P::Key;

    fn key(self) -> Option<P::Key> {
        self?.key()
    }
}

impl<P: GroupKey> sealed::Sealed for Option<P> {}

/// Nobody's, if one part is.
macro_rules! tuples {
    ($(($($Part:ident)*))*) => {$(
        impl<$($Part: GroupKey),*> sealed::Sealed for ($($Part,)*) {}

        impl<$($Part: GroupKey),*> GroupKey for ($($Part,)*) {
            type Key = ($($Part::Key,)*);

            #[allow(non_snake_case, reason = "parts are named by their types")]
            fn key(self) -> Option<Self::Key> {
                let ($($Part,)*) = self;
                Some(($($Part.key()?,)*))
            }
        }
    )*};
}

tuples! { (A B) (A B C) }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_named_in_part_is_nobody() {
        assert_eq!(("Ada", 1815).key(), Some(("Ada", 1815)));
        assert_eq!(("Ada", None::<u8>).key(), None);
        assert_eq!((Some(1_u8), Some('x'), "y").key(), Some((1, 'x', "y")));
        assert_eq!(Some(Some(3_u8)).key(), Some(3));
    }
}
