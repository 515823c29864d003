//! How running machines are stopped for good.
//!
//! Everything that can be stopped carries a token: a chain of links, one for each ancestor that may
//! stop it. Stopping a link stops everything below it. Ancestors that never stop anything add no
//! link, so that most tokens have nothing to check.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use super::guarded;
use crate::sync::{AtomicU8, Ordering};

/// Why something was stopped for good.
///
/// Example: [`StopToken`](crate::machine::StopToken).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum Stop {
    /// A later launch in a sequential compositor froze it, or the answer in which it was made has
    /// ended.
    #[error("frozen by a later launch, or by the end of the answer that it was made in")]
    Frozen,
    /// A compositor that it lives in halted at a launch that it did not admit.
    #[error("halted after a launch that was not admitted")]
    Halted,
}

/// Says whether its owner was stopped. Clones are the same token.
///
/// ```
/// use queryables::machine::{Stop, StopToken};
///
/// let (parent, stopper) = StopToken::default().extended();
/// let (child, _) = parent.extended();
/// stopper.stop(Stop::Halted);
/// assert_eq!(child.check(), Err(Stop::Halted));
/// ```
#[derive(Clone, Default)]
pub struct StopToken(Option<Arc<Link>>);

struct Link {
    stopped: AtomicU8,
    above: StopToken,
    /// A second chain, for a token with two parents.
    beside: StopToken,
    /// A check from outside this crate that may stop it, too.
    watch: Option<Box<Watch>>,
}

/// A check from outside this crate: whether the owner of a token may go on.
type Watch = dyn Fn() -> Result<(), Stop> + Send + Sync;

const RUNNING: u8 = 0;
const FROZEN: u8 = 1;
const HALTED: u8 = 2;

impl StopToken {
    /// A token below this one, and what stops it.
    #[must_use]
    pub fn extended(&self) -> (Self, Stopper) {
        let link = Arc::new(Link::below(self.clone(), Self::default()));
        (Self(Some(Arc::clone(&link))), Stopper(link))
    }

    /// A token that is stopped if either of the two is.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            _ => Self(Some(Arc::new(Link::below(self.clone(), other.clone())))),
        }
    }

    /// A token below this one that also calls `watch` at every check: for a framework with its own
    /// way of freezing what it runs.
    ///
    /// It is called on the thread that makes the check, possibly while a handle is locked: it must
    /// not ask that handle. If it panics, the check fails.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// use queryables::machine::{Stop, StopToken};
    ///
    /// let moved_on = Arc::new(AtomicBool::new(false));
    /// let flag = Arc::clone(&moved_on);
    /// let token = StopToken::default().watched(move || match flag.load(Ordering::Acquire) {
    ///     false => Ok(()),
    ///     true => Err(Stop::Frozen),
    /// });
    /// assert_eq!(token.check(), Ok(()));
    /// moved_on.store(true, Ordering::Release);
    /// assert_eq!(token.check(), Err(Stop::Frozen));
    /// ```
    #[must_use]
    pub fn watched(&self, watch: impl Fn() -> Result<(), Stop> + Send + Sync + 'static) -> Self {
        let mut link = Link::below(self.clone(), Self::default());
        link.watch = Some(Box::new(watch));
        Self(Some(Arc::new(link)))
    }

    /// Whether it can never be stopped.
    #[inline]
    pub(super) fn is_free(&self) -> bool {
        self.0.is_none()
    }

    /// Whether its owner may go on.
    ///
    /// # Errors
    ///
    /// Why not; the lowest stop is reported.
    #[inline]
    pub fn check(&self) -> Result<(), Stop> {
        // The usual token has no link.
        if self.0.is_none() {
            return Ok(());
        }
        self.check_links()
    }

    fn check_links(&self) -> Result<(), Stop> {
        let mut token = self;
        // Tokens beside, which few have: a long chain of them must not need a deep stack.
        let mut beside: Vec<&Self> = Vec::new();
        loop {
            while let Some(link) = &token.0 {
                link.state()?;
                if !link.beside.is_free() {
                    beside.push(&link.beside);
                }
                token = &link.above;
            }
            match beside.pop() {
                Some(next) => token = next,
                None => return Ok(()),
            }
        }
    }
}

impl fmt::Debug for StopToken {
    /// Whether it is stopped; a chain may be long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StopToken").field(&self.check()).finish()
    }
}

impl fmt::Debug for Stopper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stopper").field(&self.0.state()).finish()
    }
}

impl Link {
    fn state(&self) -> Result<(), Stop> {
        // Acquire: a thread that sees a stop also sees what was done before it.
        match self.stopped.load(Ordering::Acquire) {
            RUNNING => self.watch.as_ref().map_or(Ok(()), |watch| asked(watch)),
            FROZEN => Err(Stop::Frozen),
            _ => Err(Stop::Halted),
        }
    }

    fn below(above: StopToken, beside: StopToken) -> Self {
        Self {
            stopped: AtomicU8::new(RUNNING),
            above,
            beside,
            watch: None,
        }
    }
}

/// Calls the outside check; a panic counts as a stop.
#[cold]
fn asked(watch: &Watch) -> Result<(), Stop> {
    guarded(|| Ok(watch())).unwrap_or(Err(Stop::Frozen))
}

/// A long chain is dropped in a loop: dropping it recursively would need a stack as deep as the
/// chain, and the analyst chooses its length.
impl Drop for Link {
    fn drop(&mut self) {
        let mut chains = vec![
            std::mem::take(&mut self.above),
            std::mem::take(&mut self.beside),
        ];
        while let Some(StopToken(chain)) = chains.pop() {
            if let Some(mut link) = chain.and_then(Arc::into_inner) {
                chains.push(std::mem::take(&mut link.above));
                chains.push(std::mem::take(&mut link.beside));
            }
        }
    }
}

/// Stops one token, and everything below it.
///
/// Example: [`StopToken`](crate::machine::StopToken).
pub struct Stopper(Arc<Link>);

impl Stopper {
    /// Stops it for good. The first reason stays.
    pub fn stop(&self, why: Stop) {
        let why = match why {
            Stop::Frozen => FROZEN,
            Stop::Halted => HALTED,
        };
        // Release: see the acquire above. Where it was stopped before, nothing changes.
        let _ = self
            .0
            .stopped
            .compare_exchange(RUNNING, why, Ordering::Release, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_reaches_everything_below_and_nothing_above() {
        let root = StopToken::default();
        let (parent, stops_parent) = root.extended();
        let (child, stops_child) = parent.extended();
        let (grandchild, _stopper) = child.extended();
        let (sibling, _stopper) = parent.extended();

        stops_child.stop(Stop::Frozen);
        assert_eq!(grandchild.check(), Err(Stop::Frozen));
        assert_eq!(child.check(), Err(Stop::Frozen));
        assert_eq!(sibling.check(), Ok(()));
        assert_eq!(parent.check(), Ok(()));

        stops_parent.stop(Stop::Halted);
        assert_eq!(sibling.check(), Err(Stop::Halted));
        assert_eq!(root.check(), Ok(()));
    }

    #[test]
    fn a_watch_is_asked_at_every_check_and_its_panic_is_an_objection() {
        use std::sync::atomic::AtomicUsize;
        let answers = Arc::new(AtomicUsize::new(0));
        let next = Arc::clone(&answers);
        let watched = StopToken::default().watched(move || {
            match next.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
                0 => Ok(()),
                1 => Err(Stop::Halted),
                2 => panic!("on purpose"),
                _ => Ok(()),
            }
        });
        let (below, stopper) = watched.extended();
        let halted = Err(Stop::Halted);
        let checks = [Ok(()), halted, Err(Stop::Frozen), Ok(())];
        assert_eq!(checks.map(|_| below.check()), checks);
        // After a stop, the outside check is not called any more.
        stopper.stop(Stop::Halted);
        assert_eq!(below.check(), halted);
        assert_eq!(answers.load(std::sync::atomic::Ordering::Relaxed), 4);
    }

    #[test]
    fn the_first_reason_stays() {
        let (token, stopper) = StopToken::default().extended();
        stopper.stop(Stop::Frozen);
        stopper.stop(Stop::Halted);
        assert_eq!(token.check(), Err(Stop::Frozen));
    }

    #[test]
    fn a_chain_of_any_length_can_be_let_go() {
        let mut token = StopToken::default();
        for _ in 0..200_000 {
            token = token.extended().0;
        }
        assert_eq!(token.check(), Ok(()));
        assert_eq!(format!("{token:?}"), "StopToken(Ok(()))");
        drop(token);
    }

    #[test]
    fn a_chain_of_joined_tokens_of_any_length_can_be_checked() {
        let mut token = StopToken::default().extended().0;
        for _ in 0..200_000 {
            token = StopToken::default().extended().0.joined(&token);
        }
        assert_eq!(token.check(), Ok(()));
    }

    #[test]
    fn a_joined_token_is_stopped_where_either_is() {
        for which in [0, 1] {
            let chains = [
                StopToken::default().extended(),
                StopToken::default().extended(),
            ];
            let joined = chains[0].0.joined(&chains[1].0);
            let (below, _stopper) = joined.extended();
            assert_eq!(below.check(), Ok(()));
            chains[which].1.stop(Stop::Halted);
            assert_eq!(joined.check(), Err(Stop::Halted));
            assert_eq!(below.check(), Err(Stop::Halted));
            assert_eq!(chains[1 - which].0.check(), Ok(()));
        }
        let (alone, stopper) = StopToken::default().extended();
        let joined = [
            StopToken::default().joined(&alone),
            alone.joined(&StopToken::default()),
        ];
        stopper.stop(Stop::Frozen);
        assert!(
            joined
                .iter()
                .all(|token| token.check() == Err(Stop::Frozen))
        );
    }
}
