//! What the menu offered during an exploration, and whether it was answered.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::explorer::Asked;
use super::meter::Held;
use super::{Interval, VerifyError};
use crate::machine::AnswerKind;

/// A query on offer.
pub(super) struct Offer<Q> {
    pub(super) query: Q,
    pub(super) asked: Asked,
    entry: usize,
}

/// Everything that was offered.
#[derive(Default)]
pub(super) struct Offers {
    seen: Mutex<Seen>,
    /// Whether some transcript has different probabilities on the two sides.
    differs: AtomicBool,
}

#[derive(Default)]
struct Seen {
    /// By how they print; of those on one menu that print alike, the first, the second, and so on.
    index: HashMap<(String, usize), usize>,
    entries: Vec<(String, AnswerKind)>,
    /// What each state of the menu offered.
    menus: HashMap<u32, Vec<usize>>,
}

impl Offers {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These queries are on offer in this state of the menu.
    pub(super) fn offer<Q: Debug>(
        &self,
        state: u32,
        queries: Vec<Q>,
        held: &Held,
    ) -> Result<Vec<Offer<Q>>, VerifyError> {
        let names: Vec<_> = queries.iter().map(|query| format!("{query:?}")).collect();
        let mut seen = self.seen();
        let mut entries = Vec::with_capacity(names.len());
        let mut alike: HashMap<String, usize> = HashMap::new();
        for name in names {
            let next = seen.entries.len();
            let before = alike.entry(name.clone()).or_default();
            let key = (name, *before);
            *before += 1;
            let entry = match seen.index.get(&key) {
                Some(entry) => *entry,
                None => {
                    held.grow(200 + 2 * key.0.len());
                    seen.entries.push((key.0.clone(), AnswerKind::Refused));
                    seen.index.insert(key, next);
                    next
                }
            };
            entries.push(entry);
        }
        let known = seen.menus.entry(state).or_insert_with(|| {
            held.grow(64 + size_of_val(entries.as_slice()));
            entries.clone()
        });
        // What is remembered of a state goes by the number on the menu.
        if *known != entries {
            return Err(VerifyError::MenuDiverged);
        }
        drop(seen);
        let offers = queries.into_iter().zip(entries).enumerate();
        let offers = offers.map(|(number, (query, entry))| Offer {
            query,
            asked: (state, number),
            entry,
        });
        Ok(offers.collect())
    }

    /// This came of it, with these probabilities.
    pub(super) fn note<Q>(
        &self,
        offer: &Offer<Q>,
        kind: AnswerKind,
        masses: impl FnOnce() -> [Interval; 2],
    ) {
        if let Some((_, known)) = self.seen().entries.get_mut(offer.entry) {
            *known = kind.max(*known);
        }
        if !self.differs.load(Ordering::Relaxed) {
            self.compare(&masses());
        }
    }

    /// Whether these probabilities show a difference.
    pub(super) fn compare(&self, [p, q]: &[Interval; 2]) {
        if p != q {
            self.differs.store(true, Ordering::Relaxed);
        }
    }

    /// What was offered.
    ///
    /// # Errors
    ///
    /// If nothing came of any of it.
    pub(super) fn entries(&self) -> Result<Vec<(String, bool)>, VerifyError> {
        let seen = self.seen();
        let most = seen.entries.iter().map(|(_, kind)| *kind).max();
        // Any difference is a leak, even if only in faults.
        if most < Some(AnswerKind::Informative) && !self.differs.load(Ordering::Relaxed) {
            return Err(match most {
                Some(AnswerKind::Launched) => VerifyError::NoChildAnswered,
                Some(AnswerKind::NotLaunched | AnswerKind::Reading) => VerifyError::NothingLaunched,
                _ => VerifyError::NothingAnswered,
            });
        }
        let entries = seen.entries.iter();
        let entries = entries.map(|(query, kind)| (query.clone(), *kind > AnswerKind::NotLaunched));
        Ok(entries.collect())
    }
}
