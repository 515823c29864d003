//! What a step runs on: randomness, and the permission to go on.

use std::num::NonZeroU64;

use super::answer_kind::Observer;
use super::{CoinSource, CoinsError, DrawnNoise, Fault, Law, Stop, StopToken, Withheld, guarded};

/// The context of a step: a source of randomness, and the stop tokens of every compositor and
/// machine on whose behalf the step runs.
///
/// The code that runs a machine makes the context. A compositor that steps a child extends it by
/// the child's own token ([`under`](Self::under)). So a machine that runs three compositors deep
/// sees whether any of the three was frozen or halted meanwhile. A machine with another owner has a
/// context of its own.
///
/// A context is lent as `&mut Coins<'_>`, an unsized type. So the borrower can neither replace it
/// nor swap it for another, and cannot choose the coins of what runs next or remove a token.
///
/// # What a machine may do with it
///
/// Draw, pass it on to machines inside, and ask whether to go on ([`check`](Self::check)).
///
/// Third-party code (a predicate, a middle, a mechanism that it was given) may have seen a later
/// launch when it returns, or made one. Whoever runs a machine checks after every start and every
/// step, and gives nothing out if the machine was stopped meanwhile. So a machine need not check at
/// its end. In the middle of a step it must, before it asks a machine inside and before it tells
/// third-party code what third-party code has come to: [`guarded`](Self::guarded) does both.
///
/// ```
/// use queryables::machine::{
///     CoinSource, Coins, CoinsError, NotPrivateSeededCoins, Stop, StopToken,
/// };
///
/// let (token, stopper) = StopToken::default().extended();
/// let mut source = NotPrivateSeededCoins::new(7);
/// let coins: &mut Coins<'_> = &mut source.coins();
/// coins.under(&token, |inner| {
///     assert!(inner.weighted(&[1, 3])? < 2);
///     assert_eq!(inner.check(), Ok(()));
///     stopper.stop(Stop::Frozen);
///     assert_eq!(inner.check(), Err(Stop::Frozen));
///     Ok::<(), CoinsError>(())
/// })?;
/// // The one outside goes on.
/// assert_eq!(coins.check(), Ok(()));
/// # Ok::<(), CoinsError>(())
/// ```
pub struct Coins<'a, S: ?Sized = dyn CoinSource + 'a> {
    stops: Stops<'a>,
    pub(super) observer: Observer<'a>,
    source: S,
}

/// The innermost of the tokens in force; `None` if nothing can stop the step.
pub(crate) type Stops<'a> = Option<&'a Frame<'a>>;

/// A token in force, and those outside it. They are linked through the stack, so that a step
/// allocates nothing and replacing the source keeps all tokens.
pub(crate) struct Frame<'a> {
    token: &'a StopToken,
    outer: Stops<'a>,
}

impl<S: CoinSource> Coins<'_, S> {
    /// A context that cannot be stopped. [`CoinSource::coins`] does the same for a borrowed source.
    pub fn new(source: S) -> Self {
        Self {
            stops: None,
            observer: None,
            source,
        }
    }
}

impl<'a, S: CoinSource> Coins<'a, S> {
    /// A context of a handle's own source, with the tokens of the code that asks the handle.
    #[inline]
    pub(crate) fn with_stops(source: S, stops: Stops<'a>) -> Self {
        Self {
            stops,
            observer: None,
            source,
        }
    }
}

impl<'a> Coins<'a> {
    /// Runs a machine in this context, extended by the machine's own token.
    #[inline]
    pub fn under<T>(&mut self, token: &StopToken, run: impl FnOnce(&mut Coins<'_>) -> T) -> T {
        if token.is_free() {
            return run(self);
        }
        let frame = Frame {
            token,
            outer: self.stops,
        };
        run(&mut Coins {
            stops: Some(&frame),
            observer: self.observer,
            source: &mut self.source,
        })
    }

    /// Runs the code that starts a machine, or asks it, under the machine's own token. There is a
    /// check before it, and one of whether what it came to is given out. The error is a [`Fault`], or
    /// [`Withheld`] for whoever has to know whether the code has failed.
    #[inline]
    pub(crate) fn run_under<T, E: From<Fault> + From<Withheld>>(
        &mut self,
        token: &StopToken,
        code: impl FnOnce(&mut Coins<'_>) -> Result<T, Fault>,
    ) -> Result<T, E> {
        // Nothing can stop most of what runs.
        if token.is_free() && self.stops.is_none() {
            return guarded(|| code(self)).map_err(E::from);
        }
        self.run_stoppable(token, code)
    }

    /// Apart from the above, so that the usual case stays small enough to be compiled in place.
    #[inline(never)]
    fn run_stoppable<T, E: From<Fault> + From<Withheld>>(
        &mut self,
        token: &StopToken,
        code: impl FnOnce(&mut Coins<'_>) -> Result<T, Fault>,
    ) -> Result<T, E> {
        self.under(token, |coins| {
            coins.check().map_err(Fault::Stopped)?;
            let result = guarded(|| code(coins));
            Ok(coins.settled(result)?)
        })
    }

    /// This context with another source of randomness: the tokens stay.
    pub fn with_source<'b, S: CoinSource>(&'b self, source: S) -> Coins<'b, S> {
        Coins {
            stops: self.stops,
            observer: self.observer,
            source,
        }
    }

    /// Runs third-party code in the middle of a step, and then checks whether the step may still go
    /// on: that code may have made the launch that froze the machine, or seen it.
    ///
    /// # Errors
    ///
    /// [`Fault::Failed`] if the code fails or panics; otherwise [`Fault::Stopped`] if the machine was
    /// stopped meanwhile, and the code's own fault if not.
    pub fn guarded<T>(
        &mut self,
        code: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let result = guarded(|| code(self));
        self.settled(result).map_err(Withheld::inside)
    }

    /// The tokens in force, for a machine that is run by its handle.
    pub(crate) fn stops(&self) -> Stops<'a> {
        self.stops
    }

    /// The source of randomness.
    pub fn source(&mut self) -> &mut (dyn CoinSource + 'a) {
        &mut self.source
    }
}

impl<S: ?Sized> Coins<'_, S> {
    /// Whether the step may go on.
    ///
    /// # Errors
    ///
    /// Why not, as the innermost stopped token says.
    #[inline]
    pub fn check(&self) -> Result<(), Stop> {
        if self.stops.is_none() {
            return Ok(());
        }
        self.tokens().try_for_each(StopToken::check)
    }

    /// What code came to that has run for this step, unless the step was stopped meanwhile. Every
    /// start of a machine and every question to one ends here.
    ///
    /// # Guarantee
    ///
    /// What is given out counts as answered now, and the views are those of a conversation in which
    /// every answer comes at its own check, one after the other. All code that the answer depends on
    /// has returned. Whatever that code has learned through a call, a lock, a channel or the end of
    /// a thread happened before this check. A launch stops the earlier children before the new one
    /// starts. So if any of that code had learned of the new child, this check would see the stop:
    /// what passes was asked and computed in ignorance of all later children. That is what
    /// sequential composition allows, also under measures without a theorem for interleaving. In the
    /// same way what passes was computed in ignorance of a halt. A stop also hides how the code has
    /// ended, because that may have been chosen after it.
    #[inline]
    pub(crate) fn settled<T>(&self, result: Result<T, Fault>) -> Result<T, Withheld> {
        match self.check() {
            Ok(()) => result.map_err(Withheld::from),
            Err(stop) => Err(Withheld::stopped(result, stop)),
        }
    }

    /// The tokens in force, innermost first.
    fn tokens(&self) -> impl Iterator<Item = &StopToken> {
        std::iter::successors(self.stops, |frame| frame.outer).map(|frame| frame.token)
    }

    /// A token that is stopped if any of those in force is, for things that outlive the step.
    #[must_use]
    pub fn token(&self) -> StopToken {
        let root = StopToken::default();
        self.tokens()
            .fold(root, |joined, token| joined.joined(token))
    }
}

impl<S: CoinSource + ?Sized> Coins<'_, S> {
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

    /// A uniform word of 64 bits, for samplers of other libraries.
    ///
    /// # Errors
    ///
    /// Those of the source; the verifier refuses: see [`CoinSource::word`].
    #[inline]
    pub fn word(&mut self) -> Result<u64, CoinsError> {
        self.source.word()
    }

    /// Noise for [`release`](Self::release), drawn now: before the data is read, so that whether the
    /// coins fail does not depend on the data.
    ///
    /// # Errors
    ///
    /// Those of the source: see [`CoinSource::draw`].
    #[inline]
    pub fn noise(&mut self, law: &dyn Law) -> Result<DrawnNoise, CoinsError> {
        self.source.noise(law)
    }

    /// A truth plus noise that these coins drew, to be released. It is clamped where an `i128` cannot
    /// hold it. An example is at [`DrawnNoise`].
    ///
    /// A mechanism that does nothing with such values but say them can promise so
    /// ([`ReleasesOnly`](super::ReleasesOnly)), and is then verified without a cut.
    #[inline]
    pub fn release(&mut self, truth: i128, noise: DrawnNoise) -> i128 {
        self.source.release(truth, noise)
    }

    /// Whether the first truth plus its noise is at least the second plus its own, where these coins
    /// drew both. An example is at [`DrawnNoise`].
    ///
    /// Noise that is only compared is known by its comparisons alone, whatever the machine does. So
    /// `verify` can bound what follows where the noise is larger
    /// than it lists, and nothing has to be promised.
    #[inline]
    pub fn at_least(&mut self, left: (i128, &DrawnNoise), right: (i128, &DrawnNoise)) -> bool {
        self.source.at_least(left, right)
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

// Nothing that the source will draw.
crate::debug_fields!([S: ?Sized] Coins<'_, S>, "Coins");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::NotPrivateSeededCoins;

    #[test]
    fn a_stop_anywhere_in_the_stack_is_seen_inside_and_not_outside() {
        for stopped in 0..3 {
            let links = [(); 3].map(|()| StopToken::default().extended());
            let expected = |depth| match stopped < depth {
                true => Err(Stop::Halted),
                false => Ok(()),
            };
            let mut source = NotPrivateSeededCoins::new(0);
            let root: &mut Coins<'_> = &mut source.coins();
            root.under(&links[0].0, |one| {
                one.under(&links[1].0, |two| {
                    two.under(&links[2].0, |three| {
                        let token = three.token();
                        links[stopped].1.stop(Stop::Halted);
                        assert_eq!(three.check(), Err(Stop::Halted));
                        assert_eq!(token.check(), Err(Stop::Halted));
                    });
                    assert_eq!(two.check(), expected(2));
                });
                assert_eq!(one.check(), expected(1));
            });
            assert_eq!(root.check(), Ok(()));
        }
    }

    #[test]
    fn the_innermost_stop_is_the_one_reported() {
        let (outer, stops_outer) = StopToken::default().extended();
        let (inner, stops_inner) = StopToken::default().extended();
        stops_outer.stop(Stop::Halted);
        stops_inner.stop(Stop::Frozen);
        let mut source = NotPrivateSeededCoins::new(0);
        let check = |coins: &mut Coins<'_>| coins.under(&inner, |coins| coins.check());
        let coins: &mut Coins<'_> = &mut source.coins();
        let found = coins.under(&outer, check);
        assert_eq!(found, Err(Stop::Frozen));
    }

    #[test]
    fn another_source_keeps_the_tokens() {
        let (token, stopper) = StopToken::default().extended();
        stopper.stop(Stop::Frozen);
        let mut source = NotPrivateSeededCoins::new(0);
        let mut other = NotPrivateSeededCoins::new(1);
        let check = |coins: &mut Coins<'_>| coins.with_source(&mut other).check();
        let coins: &mut Coins<'_> = &mut source.coins();
        assert_eq!(coins.under(&token, check), Err(Stop::Frozen));
    }

    #[test]
    fn code_of_others_is_run_and_then_the_step_is_checked() {
        let (token, stopper) = StopToken::default().extended();
        let mut source = NotPrivateSeededCoins::new(0);
        let coins: &mut Coins<'_> = &mut source.coins();
        coins.under(&token, |coins| {
            assert_eq!(coins.guarded(|_| Ok(7)), Ok(7));
            let panics = |_: &mut Coins<'_>| -> Result<(), Fault> { panic!("of others") };
            assert_eq!(coins.guarded(panics), Err(Fault::Failed));
            let stopped = Err(Fault::Stopped(Stop::Halted));
            let stops = |_: &mut Coins<'_>| {
                stopper.stop(Stop::Halted);
                Ok(7)
            };
            assert_eq!(coins.guarded(stops), stopped);
            // A stop hides what the code says; but what has failed has to be closed.
            for (fault, told) in [
                (Fault::Exhausted, stopped),
                (Fault::InvalidQuery("no"), stopped),
                (Fault::Failed, Err(Fault::Failed)),
                (Fault::RoundLimit(7), Err(Fault::RoundLimit(7))),
            ] {
                assert_eq!(coins.guarded(|_| Err(fault)), told);
            }
        });
    }
}
