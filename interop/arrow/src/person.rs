//! Who a row belongs to, and what is kept for them.

use std::borrow::Borrow;
use std::hash::Hash;

use arrow_buffer::NullBuffer;
use queryables::mechanisms::query::Unavailable;

use crate::vector::{Values, Vector};

/// What names a person: a whole number, or a text.
pub(crate) trait Key: ToOwned<Owned: Borrow<Self> + Ord + Send> + Hash + Eq + Sync {
    /// Rows that wait, each with its key.
    type Waiting<U: Send>: Waiting<Self, U>;

    /// The bytes that an owned one takes besides itself.
    fn heap(&self) -> usize;

    /// Calls with each row of a column that has a value.
    fn each(column: &Vector<'_>, each: impl FnMut(usize, &Self)) -> Result<(), Unavailable>;
}

/// Rows that wait, each with its key: so many that a part of the people stays in the cache of a core while
/// they are added.
pub(crate) trait Waiting<Q: ?Sized, U>: Default + Send {
    fn push(&mut self, key: &Q, update: U);

    /// The bytes of keys that are not in the rows themselves.
    fn heap(&self) -> usize;

    fn len(&self) -> usize;

    /// Takes all rows out, in their order.
    fn drain(&mut self, each: impl FnMut(&Q, U));
}

impl<U: Send> Waiting<i64, U> for Vec<(i64, U)> {
    #[inline]
    fn push(&mut self, key: &i64, update: U) {
        self.push((*key, update));
    }

    fn heap(&self) -> usize {
        0
    }

    #[inline]
    fn len(&self) -> usize {
        self.len()
    }

    #[inline]
    fn drain(&mut self, mut each: impl FnMut(&i64, U)) {
        self.drain(..).for_each(|(key, update)| each(&key, update));
    }
}

/// Texts one after another, and where each ends.
pub(crate) struct WaitingTexts<U> {
    texts: String,
    rows: Vec<(usize, U)>,
}

impl<U> Default for WaitingTexts<U> {
    fn default() -> Self {
        Self {
            texts: String::new(),
            rows: Vec::new(),
        }
    }
}

impl<U: Send> Waiting<str, U> for WaitingTexts<U> {
    #[inline]
    fn push(&mut self, key: &str, update: U) {
        self.texts.push_str(key);
        self.rows.push((self.texts.len(), update));
    }

    fn heap(&self) -> usize {
        self.texts.len()
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn drain(&mut self, mut each: impl FnMut(&str, U)) {
        let mut start = 0;
        for (end, update) in self.rows.drain(..) {
            each(self.texts.get(start..end).unwrap_or_default(), update);
            start = end;
        }
        self.texts.clear();
    }
}

impl Key for i64 {
    type Waiting<U: Send> = Vec<(i64, U)>;

    fn heap(&self) -> usize {
        0
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
    type Waiting<U: Send> = WaitingTexts<U>;

    fn heap(&self) -> usize {
        // What an allocator adds is a guess.
        self.len() + 16
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
    fn number(self) -> u32;
}

impl Group for u32 {
    fn number(self) -> u32 {
        self
    }
}

impl Group for () {
    fn number(self) -> u32 {
        0
    }
}

/// What is kept for a person in a group, or waits to be added to it.
pub(crate) trait Kept: Send {
    /// The bytes that it takes besides itself.
    fn heap(&self) -> usize {
        0
    }
}

impl Kept for () {}
impl Kept for i64 {}
impl Kept for u64 {}
impl Kept for Option<i64> {}

impl Kept for Option<String> {
    fn heap(&self) -> usize {
        self.as_deref().map_or(0, Key::heap)
    }
}

/// A person, a group, and what is kept for them.
pub(crate) struct Entry<K, G, S> {
    pub(crate) person: K,
    pub(crate) group: G,
    pub(crate) kept: S,
}

impl<K, G, S: Kept> Entry<K, G, S> {
    /// The bytes that it takes besides itself.
    pub(crate) fn heap<Q: Key<Owned = K> + ?Sized>(&self) -> usize
    where
        K: Borrow<Q>,
    {
        self.person.borrow().heap() + self.kept.heap()
    }
}
