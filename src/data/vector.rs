//! Several numbers that each record has.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::threads::{each, pieces};
use super::{CHUNK, Chunk, ClippedSum, ClosureCheck, Dataset, in_chunks};

/// Several numbers that each record has, with a name: public, and cheap to clone.
///
/// The closure writes them into a slice. What it does not write is zero, and if it panics, all of
/// the record's numbers are zero.
///
/// ```
/// use queryables::data::Vector;
///
/// let step = Vector::new("step", |step: &Vec<f64>, out: &mut [f64]| out.copy_from_slice(step));
/// let data = vec![vec![1.0, 2.0], vec![3.0], vec![5.0, 6.0]];
/// let mut numbers = [0.0; 6];
/// # std::panic::set_hook(Box::new(|_| ()));
/// step.read(&data, 0..3, None, &mut numbers);
/// // The second has another number of coordinates, and so the closure panics.
/// assert_eq!(numbers, [1.0, 2.0, 0.0, 0.0, 5.0, 6.0]);
/// ```
///
/// # Guarantee
///
/// That of an [`Attribute`](super::Attribute).
pub struct Vector<D: ?Sized> {
    name: Arc<str>,
    read: Arc<Read<D>>,
    /// A whole pass, so that the closure is inlined into the loop over the records.
    sum: Arc<Sum<D>>,
}

type Read<D> =
    dyn Fn(&D, Range<usize>, Option<&[bool]>, &mut [f64], &mut dyn FnMut(usize)) + Send + Sync;
type Sum<D> = dyn Fn(&D, Range<usize>, Option<&[bool]>, &mut ClippedSum) + Send + Sync;

impl<D: Dataset + ?Sized> Vector<D> {
    /// The numbers that `write` writes, under this name.
    pub fn new(
        name: impl Into<Arc<str>>,
        write: impl Fn(D::Record<'_>, &mut [f64]) + Send + Sync + 'static,
    ) -> Self {
        let write = Arc::new(write);
        let to_sum = Arc::clone(&write);
        Self {
            name: name.into(),
            read: Arc::new(
                move |data: &D, range, kept, numbers: &mut [f64], unreadable: &mut _| {
                    read(data, range, kept, &*write, (numbers, unreadable));
                },
            ),
            sum: Arc::new(move |data: &D, range, kept, total: &mut ClippedSum| {
                sum(data, range, kept, &*to_sum, total);
            }),
        }
    }

    /// Writes the numbers of the records with these indices, one record after the other, each into
    /// its share of the space. Records that are not kept are not read, and their numbers are zero.
    pub fn read(&self, data: &D, range: Range<usize>, kept: Option<&[bool]>, numbers: &mut [f64]) {
        (self.read)(data, range, kept, numbers, &mut |_| ());
    }

    /// Tries the closure on all records, with space for this number of coordinates: on how many it
    /// panics or writes something that is not a finite number. For curators only: see
    /// [`ClosureCheck`].
    pub fn check(&self, data: &D, dimension: usize) -> ClosureCheck {
        let mut check = ClosureCheck::default();
        for record in 0..data.len() {
            let mut numbers = vec![0.0; dimension];
            let mut panicked = [false];
            let range = record..record + 1;
            (self.read)(data, range, None, &mut numbers, &mut |_| panicked = [true]);
            let missing = numbers.iter().any(|number| !number.is_finite());
            check.take(&panicked, std::iter::once(missing));
        }
        check
    }

    /// Adds up the clipped vectors of the records with these indices, on several threads if there
    /// is much to add. Records that are not kept are not read.
    pub(crate) fn sum(
        &self,
        data: &D,
        range: Range<usize>,
        kept: Option<&[bool]>,
        total: &mut ClippedSum,
    ) {
        let pieces = pieces(range.clone(), total.dimension());
        let parts: Option<Vec<_>> = pieces.and_then(|pieces| {
            let with_part = |piece| Some((piece, total.part()?));
            pieces.into_iter().map(with_part).collect()
        });
        let Some(parts) = parts else {
            return (self.sum)(data, range, kept, total);
        };
        let summed = each(parts, |(piece, mut part): (Range<usize>, _)| {
            let kept = kept.map(|kept| {
                let from_first = piece.start - range.start..piece.end - range.start;
                kept.get(from_first).unwrap_or_default()
            });
            (self.sum)(data, piece, kept, &mut part);
            part
        });
        summed.into_iter().for_each(|part| total.merge(part));
    }
}

fn sum<D: Dataset + ?Sized>(
    data: &D,
    range: Range<usize>,
    kept: Option<&[bool]>,
    write: &impl Fn(D::Record<'_>, &mut [f64]),
    total: &mut ClippedSum,
) {
    let first = range.start;
    in_chunks(range, CHUNK, total, |total, chunk| {
        // One that cannot be read is zero.
        let Chunk::Readable(indices) = chunk else {
            return;
        };
        let records = data.records(indices.clone());
        match kept {
            None => total.take(records, write),
            Some(kept) => {
                let kept = kept.iter().skip(indices.start - first);
                let kept = records.zip(kept).filter(|(_, kept)| **kept);
                total.take(kept.map(|(record, _)| record), write);
            }
        }
    });
}

fn read<D: Dataset + ?Sized>(
    data: &D,
    range: Range<usize>,
    kept: Option<&[bool]>,
    write: &impl Fn(D::Record<'_>, &mut [f64]),
    mut state: (&mut [f64], &mut dyn FnMut(usize)),
) {
    let (numbers, _) = &state;
    let (start, dimension) = (range.start, numbers.len() / range.len().max(1));
    if dimension == 0 {
        return;
    }
    in_chunks(range, CHUNK, &mut state, |(numbers, unreadable), chunk| {
        let (Chunk::Readable(indices) | Chunk::Unreadable(indices)) = &chunk;
        let first = (indices.start - start) * dimension;
        let space = numbers.get_mut(first..first + indices.len() * dimension);
        let space = space.unwrap_or_default();
        // The space still holds numbers of another record, or a part of this one's.
        space.fill(0.0);
        if let Chunk::Unreadable(_) = chunk {
            return unreadable(indices.start - start);
        }
        let records = data.records(indices.clone());
        let places = space.chunks_exact_mut(dimension);
        match kept {
            None => records
                .zip(places)
                .for_each(|(record, place)| write(record, place)),
            Some(kept) => {
                let kept = kept.iter().skip(indices.start - start);
                for ((record, place), kept) in records.zip(places).zip(kept) {
                    if *kept {
                        write(record, place);
                    }
                }
            }
        }
    });
}

impl<D: ?Sized> Vector<D> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

crate::clone_fields!([D: ?Sized] Vector<D> { name, read, sum });

impl<D: ?Sized> fmt::Debug for Vector<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Vector({})", self.name)
    }
}
