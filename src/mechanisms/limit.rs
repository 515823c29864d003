//! One bound on the memory of everything that an analyst can ask for.

use super::MechanismError;

/// The most memory that what an analyst asks for takes beside the data, in bytes: 256 MiB.
///
/// Every mechanism that holds many numbers at once states how much memory each of them takes at most.
/// More than fit are refused at construction, with [`MechanismError::TooMany`], before anything is
/// charged or allocated.
///
/// | many | bytes for each, at most | how many there may be |
/// |---|---|---|
/// | bins of a [`Partition`](super::Partition), beside their keys | 64 | 2^22 |
/// | candidates of a [`Score`](super::Score) | 128 | 2^21 |
/// | coordinates of a vector, weights of a [`Descent`](super::Descent) | 128 | 2^21 |
/// | the same, where records pay for themselves | 4096 | 2^16 |
/// | rows in the domain of [`MultiplicativeWeights`](super::MultiplicativeWeights), beside the domain | 128 | 2^21 |
/// | [cells](super::table::Cells) of a table, of which a question takes a moment for each | 4096 | 2^16 |
/// | nodes that a [`ContinualCount`](super::ContinualCount) remembers of what it was asked | 128 | 2^21 |
/// | quantiles | 1024 | 2^18 |
///
/// What a closure of the analyst allocates is not counted, nor are keys.
pub const MOST_MEMORY: usize = 1 << 28;

/// Many of the same kind, of which each takes at most this memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Many {
    what: &'static str,
    bytes: usize,
}

pub(super) const BINS: Many = Many::of("bins", 64);
pub(super) const CANDIDATES: Many = Many::of("candidates", 128);
pub(super) const COORDINATES: Many = Many::of("coordinates", 128);
/// Each thread has a sum of its own.
pub(super) const PAID_COORDINATES: Many = Many::of("coordinates", 4096);
pub(super) const DOMAIN: Many = Many::of("rows in the domain", 128);
/// A condition has at most 1024 parts, each of which is computed for each cell: 2^26 in all take seconds.
#[cfg(feature = "table")]
pub(super) const CELLS: Many = Many::of("cells", 4096);
pub(super) const NODES: Many = Many::of("nodes", 128);
pub(super) const QUANTILES: Many = Many::of("quantiles", 1024);

impl Many {
    const fn of(what: &'static str, bytes: usize) -> Self {
        Self { what, bytes }
    }

    /// How many there may be.
    pub(super) const fn most(self) -> usize {
        MOST_MEMORY / self.bytes
    }

    /// Refuses what is too much.
    pub(super) fn check(self, asked: usize) -> Result<(), MechanismError> {
        let Self { what, .. } = self;
        let most = self.most();
        if asked > most {
            return Err(MechanismError::TooMany { what, asked, most });
        }
        Ok(())
    }

    /// The items of a list that is not too long. Of one that is, no more is read than shows it.
    pub(super) fn collect<T>(
        self,
        items: impl IntoIterator<Item = T>,
    ) -> Result<Vec<T>, MechanismError> {
        let mut held = Vec::new();
        for item in items {
            self.check(held.len() + 1)?;
            held.push(item);
        }
        Ok(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_and_what_is_allowed_are_said() {
        assert_eq!(BINS.check(1 << 22), Ok(()));
        let refused = BINS.check(1 << 27).unwrap_err();
        let expected = MechanismError::TooMany {
            what: "bins",
            asked: 1 << 27,
            most: 1 << 22,
        };
        assert_eq!(refused, expected);
        assert_eq!(
            refused.to_string(),
            "134217728 bins were asked for: there may be at most 4194304"
        );
    }

    #[test]
    fn a_list_without_an_end_is_refused() {
        let refused = QUANTILES.collect(std::iter::repeat(0)).unwrap_err();
        let expected = MechanismError::TooMany {
            what: "quantiles",
            asked: (1 << 18) + 1,
            most: 1 << 18,
        };
        assert_eq!(refused, expected);
        assert_eq!(QUANTILES.collect(0..3), Ok(vec![0, 1, 2]));
    }
}
