//! Which people a pass is about.

/// The people whose hash has this remainder: all of them for a modulus of one.
#[derive(Clone, Copy)]
pub(super) struct Share {
    pub(super) remainder: u64,
    /// A power of two.
    pub(super) modulus: u64,
}

/// A table is read at most this many times for a question. Then it takes the memory that it takes.
const MOST_SHARES: u64 = 1 << 20;

impl Share {
    pub(super) const ALL: Self = Self {
        remainder: 0,
        modulus: 1,
    };

    #[inline]
    pub(super) fn has(self, hash: u64) -> bool {
        // Bits that neither the hash table nor the number of a part uses.
        (hash >> 28) & (self.modulus - 1) == self.remainder
    }

    /// Twice this modulus, if it is not too large.
    pub(super) fn doubled(modulus: u64) -> Option<u64> {
        (modulus < MOST_SHARES).then_some(2 * modulus)
    }

    /// What is left of it for later passes, if this one came to a larger modulus: half, a quarter, and so on.
    pub(super) fn rest(self, modulus: u64) -> impl Iterator<Item = Self> {
        let halves = std::iter::successors(Some(self.modulus), |half| Some(2 * half));
        halves
            .take_while(move |half| *half < modulus)
            .map(move |half| Self {
                remainder: self.remainder + half,
                modulus: 2 * half,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everybody is in one pass.
    #[test]
    fn a_share_and_its_rest_have_each_hash_once() {
        let hashes = (0..4096_u64).map(|number| number << 28 | number);
        let first = Share {
            remainder: 1,
            modulus: 2,
        };
        let last = Share {
            modulus: 16,
            ..first
        };
        for hash in hashes {
            let shares = first.rest(last.modulus).chain([last]);
            let found = shares.filter(|share| share.has(hash)).count();
            assert_eq!(found, usize::from(first.has(hash)), "{hash:#x}");
        }
        assert_eq!(Share::ALL.rest(1).count(), 0);
        assert_eq!(Share::doubled(1 << 19), Some(1 << 20));
        assert_eq!(Share::doubled(1 << 20), None);
    }
}
