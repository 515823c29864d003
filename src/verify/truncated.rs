//! Odometers, cut where their guarantee is.

use std::sync::Arc;

use super::VerifyError;
use super::menu::{Children, Menu};
use crate::compose::{Message, Reply};
use crate::machine::{
    AnswerKind, Coins, Fault, Inspect, Machine, Mechanism, Metered, ReleasesOnly, StateKey,
};

/// An odometer whose conversation ends when its reading is no longer at most a threshold: the
/// answer that crosses it is not given.
///
/// Crossing is an answer of its own, `None`, because it must not look like an odometer that failed:
/// an adversary can tell a failure on one dataset from a crossing on the other.
///
/// The view of this machine is the truncated view (Haney et al. Alg 5, see
/// [`truncated_view`](crate::machine::truncated_view)), which is what an odometer's guarantee is
/// about: it must be private with a loss of the threshold, for every threshold.
///
/// Example: [`Verifier`](crate::verify::Verifier).
#[derive(Clone, Debug)]
pub struct Truncated<M, L> {
    odometer: M,
    threshold: L,
}

impl<M, L> Truncated<M, L> {
    /// This odometer, up to this threshold.
    pub fn new(odometer: M, threshold: L) -> Self {
        Self {
            odometer,
            threshold,
        }
    }
}

impl<D, M, L> Mechanism<D> for Truncated<M, L>
where
    D: ?Sized,
    M: Mechanism<D>,
    L: Clone,
{
    type Machine = TruncatedMachine<M::Machine, L>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(TruncatedMachine {
            odometer: self.odometer.start(data, coins)?,
            threshold: self.threshold.clone(),
            crossed: false,
        })
    }
}

impl<M: ReleasesOnly, L> ReleasesOnly for Truncated<M, L> {}

/// A running [`Truncated`] odometer.
#[derive(Debug)]
pub struct TruncatedMachine<S, L> {
    odometer: S,
    threshold: L,
    crossed: bool,
}

impl<S: Machine + Metered> Machine for TruncatedMachine<S, S::Loss> {
    type Query = S::Query;
    /// `None` where the threshold is crossed; nothing is answered after it.
    type Answer = Option<S::Answer>;

    fn step(&mut self, query: S::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        if self.crossed {
            return Err(Fault::Failed);
        }
        let answer = self.odometer.step(query, coins);
        if self.odometer.privacy_loss() <= self.threshold {
            return answer.map(Some);
        }
        self.crossed = true;
        // That the threshold is crossed, and nothing else.
        coins.answered(AnswerKind::Reading);
        Ok(None)
    }
}

impl<S: Inspect, L: Inspect> Inspect for TruncatedMachine<S, L> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.crossed);
        // Once it is crossed, nothing else matters any more.
        if !self.crossed {
            key.write(&self.threshold);
            key.write(&self.odometer);
        }
    }
}

/// The same children; crossing the threshold is like a message that was refused.
impl<M, Q, A, C, W> Menu<Message<M, Q>, Option<Reply<A, C, W>>> for Children<M, Q>
where
    M: Clone + Send + Sync + 'static,
    Q: Clone + Send + Sync + 'static,
{
    type State = <Self as Menu<Message<M, Q>, Reply<A, C, W>>>::State;

    fn start(&self) -> Self::State {
        Menu::<Message<M, Q>, Reply<A, C, W>>::start(self)
    }

    fn queries(&self, state: &Self::State) -> Vec<Message<M, Q>> {
        Menu::<Message<M, Q>, Reply<A, C, W>>::queries(self, state)
    }

    fn after(
        &self,
        state: &Self::State,
        query: &Message<M, Q>,
        answer: &Result<Option<Reply<A, C, W>>, Fault>,
    ) -> Self::State {
        // Only a launch changes the queries on offer.
        let launched = match answer {
            Ok(Some(Reply::Launched(child))) => Ok(Reply::Launched(*child)),
            _ => Err(Fault::Failed),
        };
        Menu::<Message<M, Q>, Reply<A, C, W>>::after(self, state, query, &launched)
    }

    fn reads_answers(&self) -> bool {
        Menu::<Message<M, Q>, Reply<A, C, W>>::reads_answers(self)
    }

    fn check(&self) -> Result<(), VerifyError> {
        Menu::<Message<M, Q>, Reply<A, C, W>>::check(self)
    }
}
