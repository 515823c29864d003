//! Postprocessing what a non-interactive mechanism answers.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::machine::{
    Coins, Description, DomainMismatch, Fault, Mechanism, Public, Released, ReleasesOnly,
};
use crate::privacy::{Distance, Postprocessable, Private, Relation, UnknownLoss};

/// A non-interactive mechanism whose answer goes through a function.
///
/// Made by [`mapped`](super::ThroughExt::mapped). It is still non-interactive, so it can be
/// released, and launched where only such mechanisms can. For interactive mechanisms use
/// [`through`](super::ThroughExt::through).
///
/// # Guarantee
///
/// The loss of the mechanism, at every distance: the measure is closed under postprocessing
/// (Haney et al. 2.1).
pub struct Mapped<M, F, D: ?Sized> {
    mechanism: M,
    function: F,
    name: Option<Arc<str>>,
    data: PhantomData<fn(&D)>,
}

crate::clone_fields!([M: Clone, F: Clone, D: ?Sized] Mapped<M, F, D> { mechanism, function, name, data });

impl<M: fmt::Debug, F, D: ?Sized> fmt::Debug for Mapped<M, F, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mapped").field(&self.mechanism).finish()
    }
}

impl<M, F, D: ?Sized> Mapped<M, F, D> {
    pub(super) fn new(mechanism: M, function: F) -> Self {
        Self {
            mechanism,
            function,
            name: None,
            data: PhantomData,
        }
    }

    /// Gives the function a name, which stands for it in descriptions: with it, a ledger can tell a
    /// retry from another question. The name is your word that functions with this name do the same.
    ///
    /// ```
    /// use queryables::data::Predicate;
    /// use queryables::mechanisms::Count;
    /// use queryables::middle::Mapped;
    /// use queryables::prelude::*;
    ///
    /// let all = Predicate::<Vec<u32>>::new("all", |_: &u32| true);
    /// let count = Count::of(all).laplace(epsilon!(0.5))?;
    /// let missing: Mapped<_, _, Vec<u32>> =
    ///     count.mapped(|count| 100 - count).named("missing of 100");
    /// assert_eq!(missing.describe().get("mapped"), Some("missing of 100"));
    /// assert!(missing.describe().is_complete());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn named(self, name: impl Into<Arc<str>>) -> Self {
        Self {
            name: Some(name.into()),
            ..self
        }
    }
}

/// What is said of a function that has no name.
const UNNAMED: &str = "a function without a name";

impl<D, M, A, B, F> Mechanism<D> for Mapped<M, F, D>
where
    D: ?Sized,
    M: Mechanism<D, Machine = Released<A>>,
    F: Fn(A) -> B,
{
    type Machine = Released<B>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<B>, Fault> {
        // The function is told nothing by a mechanism that was stopped meanwhile.
        let Released(answer) = coins.guarded(|coins| self.mechanism.start(data, coins))?;
        Ok(Released((self.function)(answer)))
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        self.mechanism.check(data)
    }

    fn describe(&self) -> Description {
        let description = self.mechanism.describe();
        match &self.name {
            Some(name) => description.with("mapped", name),
            None => description.with("mapped", UNNAMED).incomplete(),
        }
    }
}

impl<M: ReleasesOnly, F, D: ?Sized> ReleasesOnly for Mapped<M, F, D> {}

impl<Me, R, M, F, D> Private<Me, R> for Mapped<M, F, D>
where
    D: ?Sized,
    Me: Postprocessable,
    R: Relation,
    M: Private<Me, R>,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.mechanism.loss(measure)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        self.mechanism.loss_at(measure, distance)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::machine::{CoinSource, NotPrivateSeededCoins, Stop, StopToken, Stopper};
    use crate::middle::ThroughExt;

    /// Stops its own start, if it is told to, and answers 7.
    struct Seven(Option<Stopper>);

    impl Mechanism<()> for Seven {
        type Machine = Released<u8>;

        fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<u8>, Fault> {
            if let Some(stopper) = &self.0 {
                stopper.stop(Stop::Frozen);
            }
            Ok(Released(7))
        }
    }

    #[test]
    fn a_function_hears_nothing_of_a_start_that_was_stopped() {
        for stops in [false, true] {
            let (token, stopper) = StopToken::default().extended();
            let heard = AtomicBool::new(false);
            let mapped = Seven(stops.then_some(stopper)).mapped(|answer| {
                heard.store(true, Ordering::Relaxed);
                answer + 1
            });
            let mut source = NotPrivateSeededCoins::new(0);
            let coins: &mut Coins<'_> = &mut source.coins();
            let answer = coins.under(&token, |coins| mapped.start(&Arc::new(()), coins));
            let frozen = Fault::Stopped(Stop::Frozen);
            assert_eq!(answer, if stops { Err(frozen) } else { Ok(Released(8)) });
            assert_eq!(heard.into_inner(), !stops);
        }
    }
}
