//! How a compositor stops its children, and theirs, for good.
//!
//! Every child is held by a leash: a chain of links, one for each ancestor that may ever stop it.
//! Cutting a link stops everything below. Ancestors that never stop anybody add no link, so that
//! the usual child has nothing to check.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Why a leash was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cut {
    /// A later launch in a sequential compositor, or the end of the answer that it was made in.
    Frozen,
    /// An over-budget launch in a compositor that halts.
    Halted,
}

/// The chain from a child to its ancestors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leash(Option<Arc<Link>>);

#[derive(Debug)]
struct Link {
    cut: AtomicU8,
    above: Leash,
    /// A second chain, where a child hangs on two.
    beside: Leash,
}

const WHOLE: u8 = 0;
const FROZEN: u8 = 1;
const HALTED: u8 = 2;

impl Leash {
    /// One more link below this leash, and the knife for it.
    pub(crate) fn extended(&self) -> (Self, Knife) {
        let link = Arc::new(Link::below(self.clone(), Self::default()));
        (Self(Some(Arc::clone(&link))), Knife(link))
    }

    /// A leash that is cut where either is.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            _ => Self(Some(Arc::new(Link::below(self.clone(), other.clone())))),
        }
    }

    /// Whether every link holds; the lowest cut is reported.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Cut> {
        // The usual child has none, and finds that out on the spot.
        if self.0.is_none() {
            return Ok(());
        }
        self.check_links()
    }

    fn check_links(&self) -> Result<(), Cut> {
        let mut leash = self;
        while let Some(link) = &leash.0 {
            // Acquire: whoever sees a cut also sees what was done before it.
            match link.cut.load(Ordering::Acquire) {
                WHOLE => link.beside.check()?,
                FROZEN => return Err(Cut::Frozen),
                _ => return Err(Cut::Halted),
            }
            leash = &link.above;
        }
        Ok(())
    }
}

thread_local! {
    /// The leash of what starts or answers on this thread: the innermost that can be cut.
    static HELD: RefCell<Leash> = RefCell::default();
}

/// Code that no theorem trusts may run in the middle of an answer: a person in the middle, or
/// somebody's postprocessing. It may see a later launch, or make one, and must not go on talking to
/// what that launch has frozen.
impl Leash {
    /// Holds what starts or answers on this thread, until dropped.
    #[inline]
    pub(crate) fn hold(&self) -> Option<Holding> {
        // The usual child has none.
        self.0.is_some().then(|| self.held_from_now_on())
    }

    #[cold]
    fn held_from_now_on(&self) -> Holding {
        // On a thread that is about to end there is nothing to remember it in, and nobody in the
        // middle gets to ask: `held` panics there.
        let outer = HELD.try_with(|held| held.replace(self.clone()));
        Holding(outer.unwrap_or_default())
    }

    /// What holds that which starts or answers on this thread.
    pub(crate) fn held() -> Self {
        HELD.with_borrow(Self::clone)
    }
}

/// Remembers what was held before.
pub(crate) struct Holding(Leash);

impl Drop for Holding {
    #[cold]
    fn drop(&mut self) {
        let outer = std::mem::take(&mut self.0);
        let _ = HELD.try_with(|held| held.replace(outer));
    }
}

impl Link {
    fn below(above: Leash, beside: Leash) -> Self {
        Self {
            cut: AtomicU8::new(WHOLE),
            above,
            beside,
        }
    }
}

/// A long chain is let go of link by link: each letting go of the next in turn would need a stack
/// as deep as the chain, and its length is the analyst's choice.
impl Drop for Link {
    fn drop(&mut self) {
        let mut chains = vec![
            std::mem::take(&mut self.above),
            std::mem::take(&mut self.beside),
        ];
        while let Some(Leash(chain)) = chains.pop() {
            if let Some(mut link) = chain.and_then(Arc::into_inner) {
                chains.push(std::mem::take(&mut link.above));
                chains.push(std::mem::take(&mut link.beside));
            }
        }
    }
}

/// Cuts one link.
#[derive(Debug)]
pub(crate) struct Knife(Arc<Link>);

impl Knife {
    pub(crate) fn cut(&self, why: Cut) {
        let why = match why {
            Cut::Frozen => FROZEN,
            Cut::Halted => HALTED,
        };
        self.0.cut.store(why, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_stops_everything_below_and_nothing_above() {
        let root = Leash::default();
        let (parent, parents_knife) = root.extended();
        let (child, childs_knife) = parent.extended();
        let (grandchild, _knife) = child.extended();
        let (sibling, _knife) = parent.extended();

        childs_knife.cut(Cut::Frozen);
        assert_eq!(grandchild.check(), Err(Cut::Frozen));
        assert_eq!(child.check(), Err(Cut::Frozen));
        assert_eq!(sibling.check(), Ok(()));
        assert_eq!(parent.check(), Ok(()));

        parents_knife.cut(Cut::Halted);
        assert_eq!(sibling.check(), Err(Cut::Halted));
        assert_eq!(root.check(), Ok(()));
    }

    #[test]
    fn a_chain_of_any_length_can_be_let_go() {
        let mut leash = Leash::default();
        for _ in 0..200_000 {
            leash = leash.extended().0;
        }
        assert_eq!(leash.check(), Ok(()));
        drop(leash);
    }

    #[test]
    fn a_joined_leash_is_cut_where_either_is() {
        for which in [0, 1] {
            let chains = [Leash::default().extended(), Leash::default().extended()];
            let joined = chains[0].0.joined(&chains[1].0);
            let (below, _knife) = joined.extended();
            assert_eq!(below.check(), Ok(()));
            chains[which].1.cut(Cut::Halted);
            assert_eq!(joined.check(), Err(Cut::Halted));
            assert_eq!(below.check(), Err(Cut::Halted));
            assert_eq!(chains[1 - which].0.check(), Ok(()));
        }
        let (alone, knife) = Leash::default().extended();
        let joined = [
            Leash::default().joined(&alone),
            alone.joined(&Leash::default()),
        ];
        knife.cut(Cut::Frozen);
        assert!(joined.iter().all(|leash| leash.check() == Err(Cut::Frozen)));
    }
}
