//! Who a row belongs to, and what is kept for them.

use std::borrow::Borrow;
use std::hash::Hash;
use std::ops::Range;

use arrow_buffer::NullBuffer;
use queryables::mechanisms::query::Unavailable;

use crate::vector::{Values, Vector};

/// What names a person: a whole number, or a text.
pub(crate) trait Key: ToOwned<Owned: Borrow<Self> + Ord + Send> + Hash + Eq + Sync {
    /// What stands for it while its row waits: itself, or its place among other names.
    type Short: Send;

    /// The bytes that an owned one takes besides itself.
    fn heap(&self) -> usize;

    /// Writes it to the end of these names, if it is one.
    fn shorten(&self, names: &mut String) -> Self::Short;

    /// The one that was shortened.
    fn of<'a>(short: &'a Self::Short, names: &'a str) -> &'a Self;

    /// Calls with each row of a column that has a value.
    fn each(column: &Vector<'_>, each: impl FnMut(usize, &Self)) -> Result<(), Unavailable>;
}

impl Key for i64 {
    type Short = i64;

    fn heap(&self) -> usize {
        0
    }

    #[inline]
    fn shorten(&self, _: &mut String) -> i64 {
        *self
    }

    #[inline]
    fn of<'a>(short: &'a i64, _: &'a str) -> &'a i64 {
        short
    }

    #[inline]
    fn each(column: &Vector<'_>, mut each: impl FnMut(usize, &Self)) -> Result<(), Unavailable> {
        let Vector::Whole(numbers) = column else {
            return Err(Unavailable);
        };
        let Values::Each(values) = &numbers.values else {
            return Err(Unavailable);
        };
        let known = numbers.known.as_ref();
        for (row, value) in values.iter().enumerate() {
            if is_known(known, row) {
                each(row, value);
            }
        }
        Ok(())
    }
}

impl Key for str {
    type Short = Range<usize>;

    fn heap(&self) -> usize {
        // What an allocator adds is a guess.
        self.len() + 16
    }

    fn shorten(&self, names: &mut String) -> Range<usize> {
        let start = names.len();
        names.push_str(self);
        start..names.len()
    }

    fn of<'a>(short: &'a Range<usize>, names: &'a str) -> &'a str {
        names.get(short.clone()).unwrap_or_default()
    }

    fn each(column: &Vector<'_>, mut each: impl FnMut(usize, &Self)) -> Result<(), Unavailable> {
        let Vector::Text(texts) = column else {
            return Err(Unavailable);
        };
        for row in 0..texts.len() {
            if is_known(texts.known.as_ref(), row) {
                each(row, texts.at(row));
            }
        }
        Ok(())
    }
}

#[inline]
fn is_known(known: Option<&NullBuffer>, row: usize) -> bool {
    known.is_none_or(|known| known.is_valid(row))
}

/// Under what an entry of a person stands: a group, or nothing where one entry has all groups of a person.
/// Then it takes less memory.
pub(crate) trait Group: Copy + Ord + Send + Sync {
    /// Whether a person has several entries.
    const IS_SEVERAL: bool;

    fn of(number: u32) -> Self;

    fn number(self) -> u32;
}

impl Group for u32 {
    const IS_SEVERAL: bool = true;

    fn of(number: u32) -> Self {
        number
    }

    fn number(self) -> u32 {
        self
    }
}

impl Group for () {
    const IS_SEVERAL: bool = false;

    fn of(_: u32) {}

    fn number(self) -> u32 {
        0
    }
}

/// What may take memory besides itself.
pub(crate) trait Heap {
    /// How many bytes that is.
    fn heap(&self) -> usize {
        0
    }
}

impl Heap for () {}
impl Heap for i64 {}
impl Heap for u64 {}
impl Heap for usize {}
impl Heap for Option<i64> {}
impl Heap for (u32, i64) {}

impl Heap for Option<String> {
    fn heap(&self) -> usize {
        self.as_deref().map_or(0, Key::heap)
    }
}

/// What entries of a part share.
pub(crate) trait Store: Default + Send {
    /// How much memory it takes.
    fn bytes(&self) -> usize;
}

impl Store for () {
    fn bytes(&self) -> usize {
        0
    }
}

impl<T: Send> Store for Vec<T> {
    fn bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

/// A person, a group, and what is kept for them.
pub(crate) struct Entry<K, G, S> {
    pub(crate) person: K,
    pub(crate) group: G,
    pub(crate) kept: S,
}

impl<K, G, S: Heap> Entry<K, G, S> {
    /// The bytes that it takes besides itself.
    pub(crate) fn heap<Q: Key<Owned = K> + ?Sized>(&self) -> usize
    where
        K: Borrow<Q>,
    {
        self.person.borrow().heap() + self.kept.heap()
    }
}
