//! Refusals in bounded space.

use super::{Decision, Line};

/// How many launches in a row were refused, of whichever filter, and where the entry of the next one
/// goes: for stores.
///
/// An analyst who has nothing left may be refused as often as he likes. So of a row of refusals 16 have
/// an entry: the first 15, and the last, which says for how many it [stands](super::Entry::times). It
/// takes the place of the one before. Sequence numbers have no gaps, and every refusal is counted.
///
/// A launch that is admitted, or that halts its filter, ends the row: it changes something, and its entry
/// is never replaced.
///
/// ```
/// use queryables::ledger::Refusals;
///
/// let mut refusals = Refusals::default();
/// let places = (1..=16).map(|next| refusals.place(next, true));
/// assert!(places.eq((1..=16).map(|next| (next, 1))));
/// // The next entry would be the 17th.
/// assert_eq!(refusals.place(17, true), (16, 2));
/// assert_eq!(refusals.place(17, true), (16, 3));
/// assert_eq!(refusals.place(17, false), (17, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals(u64);

impl Refusals {
    /// How many of a row have an entry, at most.
    pub const KEPT: usize = 16;

    /// How the record ends. The lines of its last [`KEPT`](Self::KEPT) entries are enough, the newest
    /// first.
    #[must_use]
    pub fn read<'a>(newest_first: impl IntoIterator<Item = &'a str>) -> Self {
        let mut refusals = 0_u64;
        for line in newest_first.into_iter().take(Self::KEPT) {
            match Line::read(line) {
                Some(Line::Entry(entry))
                    if entry.decision != Decision::Admitted && !entry.halted =>
                {
                    refusals = refusals.saturating_add(entry.times);
                }
                _ => break,
            }
        }
        Self(refusals)
    }

    /// Where the entry of the next decision goes, and for how many launches it stands, if the next
    /// sequence number is this one. A smaller number is that of the last entry, which it replaces.
    ///
    /// `refused` if it was not admitted and has changed nothing.
    pub fn place(&mut self, next: u64, refused: bool) -> (u64, u64) {
        if !refused {
            self.0 = 0;
            return (next, 1);
        }
        self.0 = self.0.saturating_add(1);
        match self.0.checked_sub(Self::KEPT as u64) {
            Some(further @ 1..) => (next.saturating_sub(1), further + 1),
            _ => (next, 1),
        }
    }
}
