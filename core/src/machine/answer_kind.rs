//! What an answer can tell about data, by its kind.

use std::cell::Cell;

use super::{CoinSource, Coins};

/// Whether an answer can depend on data.
///
/// A compositor gives many answers that cannot: a refused launch, a reading of the privacy loss. A
/// check that meets no others has checked nothing, and `verify` reports it. The kinds are ordered
/// by how much they can tell.
///
/// Example: [`Coins`](crate::machine::Coins).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnswerKind {
    /// There was no answer: a child was closed, or no child has this number.
    Refused,
    /// A launch was refused.
    NotLaunched,
    /// A public value: the reading of an odometer.
    Reading,
    /// A mechanism was launched; its answers come later.
    Launched,
    /// An answer that may depend on data. By default every answer is.
    Informative,
}

/// Where the verifier reads the kind of an answer. It is in the context of a step
/// ([`Coins::observed`]), and nobody else sets it.
pub(crate) type Observer<'a> = Option<&'a Cell<AnswerKind>>;

impl<S: ?Sized> Coins<'_, S> {
    /// States the kind of the answer that this step is about to give. Only `verify` reads it:
    /// without it, every answer is [`Informative`](AnswerKind::Informative).
    ///
    /// The statement made last counts: a machine that passes on the answer of a machine inside
    /// states nothing, and one that answers itself overrides what was stated inside.
    ///
    /// ```
    /// use queryables::machine::{AnswerKind, Coins, Fault, Machine};
    ///
    /// /// Answers queries below a limit with what is inside.
    /// struct Below<S>(u32, S);
    ///
    /// impl<S: Machine<Query = u32>> Machine for Below<S> {
    ///     type Query = u32;
    ///     type Answer = Option<S::Answer>;
    ///
    ///     fn step(&mut self, query: u32, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
    ///         if query < self.0 {
    ///             return self.1.step(query, coins).map(Some);
    ///         }
    ///         coins.answered(AnswerKind::Refused);
    ///         Ok(None)
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn answered(&mut self, kind: AnswerKind) {
        if let Some(observer) = self.observer {
            observer.set(kind);
        }
    }
}

impl Coins<'_> {
    /// Asks a machine whose answer is not passed on as it is, and returns it with its kind.
    pub(crate) fn with_kind<T, E>(
        &mut self,
        ask: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> (Result<T, E>, AnswerKind) {
        self.answered(AnswerKind::Informative);
        let answer = ask(self);
        let stated = self.observer.map_or(AnswerKind::Informative, Cell::get);
        let kind = answer.as_ref().map_or(AnswerKind::Refused, |_| stated);
        (answer, kind)
    }
}

impl<'a, S: CoinSource> Coins<'a, S> {
    /// This context, with somebody who is told the kind of the answer. For the verifier.
    pub(crate) fn observed(mut self, kind: &'a Cell<AnswerKind>) -> Self {
        self.observer = Some(kind);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Fault, NotPrivateSeededCoins, StopToken};

    /// The kind of the answer of this step.
    fn kind_of(step: impl FnOnce(&mut Coins<'_>)) -> AnswerKind {
        let kind = Cell::new(AnswerKind::Informative);
        step(&mut NotPrivateSeededCoins::new(0).coins().observed(&kind));
        kind.get()
    }

    #[test]
    fn the_last_statement_counts() {
        assert_eq!(kind_of(|_| ()), AnswerKind::Informative);
        let stated = kind_of(|coins| {
            coins.answered(AnswerKind::Launched);
            coins.answered(AnswerKind::Refused);
        });
        assert_eq!(stated, AnswerKind::Refused);
    }

    #[test]
    fn a_statement_is_heard_under_tokens_and_from_other_coins() {
        let (token, _stopper) = StopToken::default().extended();
        let inside = kind_of(|coins| {
            coins.under(&token, |coins| coins.answered(AnswerKind::Reading));
        });
        assert_eq!(inside, AnswerKind::Reading);
        let mut other = NotPrivateSeededCoins::new(1);
        let elsewhere = kind_of(|coins| {
            coins
                .with_source(&mut other)
                .answered(AnswerKind::NotLaunched);
        });
        assert_eq!(elsewhere, AnswerKind::NotLaunched);
    }

    #[test]
    fn an_answer_from_inside_has_its_own_kind() {
        kind_of(|coins| {
            coins.answered(AnswerKind::Refused);
            let silent = coins.with_kind(|_| Ok::<_, Fault>(7));
            assert_eq!(silent, (Ok(7), AnswerKind::Informative));
            let reading = coins.with_kind(|coins| {
                coins.answered(AnswerKind::Reading);
                Ok::<_, Fault>(7)
            });
            assert_eq!(reading, (Ok(7), AnswerKind::Reading));
            let fault = coins.with_kind(|_| Err::<(), _>(Fault::Exhausted));
            assert_eq!(fault, (Err(Fault::Exhausted), AnswerKind::Refused));
        });
    }
}
