//! Three-valued logic, for all rows of a batch at once.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use queryables::table::Comparison;

/// For each row: yes, no, or neither, which is unknown.
#[derive(Clone)]
pub(crate) struct Truth {
    /// Where it is true.
    pub(crate) yes: BooleanBuffer,
    /// Where it is false.
    pub(crate) no: BooleanBuffer,
}

impl Truth {
    /// The same for all rows.
    pub(crate) fn all(rows: usize, yes: bool) -> Self {
        let (set, unset) = (BooleanBuffer::new_set(rows), BooleanBuffer::new_unset(rows));
        if yes {
            Self {
                yes: set,
                no: unset,
            }
        } else {
            Self {
                yes: unset,
                no: set,
            }
        }
    }

    /// What holds where a value is known, and is unknown where it is missing.
    pub(crate) fn known(holds: BooleanBuffer, known: Option<&NullBuffer>) -> Self {
        match known {
            None => Self {
                no: !&holds,
                yes: holds,
            },
            Some(known) => {
                let yes = &holds & known.inner();
                // Of what is known, the rest.
                let no = known.inner() ^ &yes;
                Self { yes, no }
            }
        }
    }

    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            yes: &self.yes & &other.yes,
            no: &self.no | &other.no,
        }
    }

    pub(crate) fn or(&self, other: &Self) -> Self {
        Self {
            yes: &self.yes | &other.yes,
            no: &self.no & &other.no,
        }
    }

    pub(crate) fn not(self) -> Self {
        Self {
            yes: self.no,
            no: self.yes,
        }
    }

    /// Where it is unknown.
    pub(crate) fn is_unknown(&self) -> Self {
        let no = &self.yes | &self.no;
        Self { yes: !&no, no }
    }

    /// How two of them compare: no is less than yes.
    pub(crate) fn compare(&self, comparison: Comparison, other: &Self) -> Self {
        let less = &self.no & &other.yes;
        let greater = &self.yes & &other.no;
        let equal = &(&self.yes & &other.yes) | &(&self.no & &other.no);
        let (yes, no) = match comparison {
            Comparison::Eq => (equal, &less | &greater),
            Comparison::Ne => (&less | &greater, equal),
            Comparison::Lt => (less, &equal | &greater),
            Comparison::Le => (&less | &equal, greater),
            Comparison::Gt => (greater, &less | &equal),
            Comparison::Ge => (&greater | &equal, less),
        };
        Self { yes, no }
    }
}

/// One bit for each value.
///
/// The obvious loop, 64 values at a time: so the compiler makes vector instructions of it.
pub(crate) fn bits<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> BooleanBuffer {
    let words: Vec<u64> = values
        .chunks(64)
        .map(|values| {
            let bits = values.iter().enumerate();
            bits.fold(0, |word, (place, value)| {
                word | u64::from(test(*value)) << place
            })
        })
        .collect();
    BooleanBuffer::new(Buffer::from_vec(words), 0, values.len())
}
