//! What a step runs on: randomness, and the permission to go on.

use std::fmt;
use std::num::NonZeroU64;

use super::{CoinSource, CoinsError, Law, Stop, StopToken};

/// The context of a step: a source of randomness, and the stop tokens of everybody on whose behalf
/// the step runs.
///
/// Whoever runs a machine makes the context; a compositor that steps a child extends it by the
/// child's own token ([`under`](Self::under)). So a machine that runs three compositors deep sees
/// whether any of the three was frozen or halted meanwhile, and a machine that somebody else owns
/// has a context of its own.
///
/// # What a machine may do with it
///
/// Draw, pass it on to machines inside, and ask whether to go on ([`check`](Self::check)). A
/// machine that runs code of others in the middle of a step, and then talks on to what is inside,
/// checks first: that code may have seen a later launch, or made one.
///
/// ```
/// use queryables::machine::{CoinSource, Coins, NotPrivateSeededCoins, StopToken, Stop};
///
/// let (token, stopper) = StopToken::default().extended();
/// let mut source = NotPrivateSeededCoins::new(7);
/// let mut coins = source.coins();
/// let mut inner = coins.under(&token);
/// assert!(inner.weighted(&[1, 3])? < 2);
/// assert_eq!(inner.check(), Ok(()));
/// stopper.stop(Stop::Frozen);
/// assert_eq!(inner.check(), Err(Stop::Frozen));
/// // The one outside goes on.
/// assert_eq!(coins.check(), Ok(()));
/// # Ok::<(), queryables::machine::CoinsError>(())
/// ```
pub struct Coins<'a> {
    source: &'a mut dyn CoinSource,
    stops: Stops<'a>,
}

/// The tokens in force, innermost first. They are linked through the stack, so that a step costs
/// no allocation and replacing the source loses none of them.
#[derive(Clone, Copy, Default)]
struct Stops<'a> {
    token: Option<&'a StopToken>,
    outer: Option<&'a Stops<'a>>,
}

impl<'a> Coins<'a> {
    /// A context that nobody can stop. [`CoinSource::coins`] is the same.
    pub fn new(source: &'a mut dyn CoinSource) -> Self {
        Self {
            source,
            stops: Stops::default(),
        }
    }

    /// This context, extended by the token of a machine that is about to run in it.
    pub fn under<'b>(&'b mut self, token: &'b StopToken) -> Coins<'b> {
        Coins {
            source: &mut *self.source,
            stops: Stops {
                token: Some(token),
                outer: Some(&self.stops),
            },
        }
    }

    /// The same context, to be lent to code of others.
    ///
    /// Whoever is lent `&mut Coins` can put another context in its place (`*coins = …`), and then
    /// what runs next in it has the source of their choice, and no tokens. So somebody who runs code
    /// that no theorem trusts, and goes on after it, lends this.
    pub fn reborrow(&mut self) -> Coins<'_> {
        Coins {
            source: &mut *self.source,
            stops: self.stops,
        }
    }

    /// This context with another source of randomness: the tokens stay.
    pub fn with_source<'b>(&'b self, source: &'b mut dyn CoinSource) -> Coins<'b> {
        Coins {
            source,
            stops: self.stops,
        }
    }

    /// Whether the step may go on.
    ///
    /// # Errors
    ///
    /// Why not: the innermost token that was stopped says it.
    #[inline]
    pub fn check(&self) -> Result<(), Stop> {
        let mut stops = Some(&self.stops);
        while let Some(Stops { token, outer }) = stops {
            if let Some(token) = token {
                token.check()?;
            }
            stops = *outer;
        }
        Ok(())
    }

    /// A token that is stopped where any of those in force is, for what outlives the step.
    #[must_use]
    pub fn token(&self) -> StopToken {
        let mut joined = StopToken::default();
        let mut stops = Some(&self.stops);
        while let Some(Stops { token, outer }) = stops {
            if let Some(token) = token {
                joined = joined.joined(token);
            }
            stops = *outer;
        }
        joined
    }

    /// The source of randomness.
    pub fn source(&mut self) -> &mut dyn CoinSource {
        &mut *self.source
    }

    /// A uniform draw from `0..below`.
    ///
    /// # Errors
    ///
    /// Those of the source: see [`CoinSource::uniform`].
    #[inline]
    pub fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
        self.source.uniform(below)
    }

    /// A draw from a named law.
    ///
    /// # Errors
    ///
    /// Those of the source: see [`CoinSource::draw`].
    #[inline]
    pub fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
        self.source.draw(law)
    }

    /// An index drawn with odds proportional to its integer weight.
    ///
    /// # Errors
    ///
    /// See [`CoinSource::weighted`].
    #[inline]
    pub fn weighted(&mut self, weights: &[u64]) -> Result<usize, CoinsError> {
        self.source.weighted(weights)
    }
}

impl fmt::Debug for Coins<'_> {
    /// Nothing of what the source will give.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coins")
            .field("check", &self.check())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::NotPrivateSeededCoins;

    #[test]
    fn a_stop_anywhere_in_the_stack_is_seen_inside_and_not_outside() {
        for stopped in 0..3 {
            let links = [(); 3].map(|()| StopToken::default().extended());
            let mut source = NotPrivateSeededCoins::new(0);
            let mut root = source.coins();
            let mut one = root.under(&links[0].0);
            let mut two = one.under(&links[1].0);
            let three = two.under(&links[2].0);
            let token = three.token();
            links[stopped].1.stop(Stop::Halted);
            assert_eq!(three.check(), Err(Stop::Halted));
            assert_eq!(token.check(), Err(Stop::Halted));
            let expected = |depth| {
                if stopped < depth {
                    Err(Stop::Halted)
                } else {
                    Ok(())
                }
            };
            assert_eq!(two.check(), expected(2));
            assert_eq!(one.check(), expected(1));
            assert_eq!(root.check(), Ok(()));
        }
    }

    #[test]
    fn the_innermost_stop_is_the_one_reported() {
        let (outer, stops_outer) = StopToken::default().extended();
        let (inner, stops_inner) = StopToken::default().extended();
        let mut source = NotPrivateSeededCoins::new(0);
        let mut coins = source.coins();
        let mut one = coins.under(&outer);
        let two = one.under(&inner);
        stops_outer.stop(Stop::Halted);
        stops_inner.stop(Stop::Frozen);
        assert_eq!(two.check(), Err(Stop::Frozen));
    }

    #[test]
    fn another_source_keeps_the_tokens() {
        let (token, stopper) = StopToken::default().extended();
        let mut source = NotPrivateSeededCoins::new(0);
        let mut other = NotPrivateSeededCoins::new(1);
        let mut coins = source.coins();
        let inner = coins.under(&token);
        let replaced = inner.with_source(&mut other);
        stopper.stop(Stop::Frozen);
        assert_eq!(replaced.check(), Err(Stop::Frozen));
    }
}
