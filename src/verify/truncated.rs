//! Odometers, cut where their guarantee is.

use std::sync::Arc;

use crate::machine::{Coins, Fault, Inspect, Machine, Mechanism, Metered, StateKey};

/// An odometer whose conversation ends when its reading is no longer at most a threshold: the
/// answer that crosses it is not given.
///
/// The view of this machine is the truncated view (Haney et al. Alg 5, see
/// [`truncated_view`](crate::machine::truncated_view)), which is what an odometer's guarantee is
/// about: it must be private with a loss of the threshold, for every threshold.
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

    fn start(&self, data: &Arc<D>, coins: &mut dyn Coins) -> Result<Self::Machine, Fault> {
        Ok(TruncatedMachine {
            odometer: self.odometer.start(data, coins)?,
            threshold: self.threshold.clone(),
        })
    }
}

/// A running [`Truncated`] odometer.
#[derive(Debug)]
pub struct TruncatedMachine<S, L> {
    odometer: S,
    threshold: L,
}

impl<S: Machine + Metered> Machine for TruncatedMachine<S, S::Loss> {
    type Query = S::Query;
    type Answer = S::Answer;

    fn step(&mut self, query: S::Query, coins: &mut dyn Coins) -> Result<S::Answer, Fault> {
        let answer = self.odometer.step(query, coins);
        if self.odometer.privacy_loss() <= self.threshold {
            answer
        } else {
            // Not recoverable: the conversation ends here.
            Err(Fault::Failed)
        }
    }
}

impl<S: Inspect, L: Inspect> Inspect for TruncatedMachine<S, L> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.threshold);
        key.write(&self.odometer);
    }
}
