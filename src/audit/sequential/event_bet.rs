//! A bet that some event is seen too often.

use super::bets::Odds;
use crate::audit::event::Counts;
use crate::number::{Delta, Interval};

/// A bet against (ε, δ), in one direction: that some event is seen on one dataset more than e^ε times as
/// often as on the other, and δ. The event are the labels of which that has been so.
pub(super) struct EventBet {
    pub(super) odds: Odds,
    /// δ, rounded up.
    delta: f64,
    /// What each of the stakes has grown to, rounded down.
    wealth: [f64; STAKES.len()],
    /// The sum of all gains: what would have been won on the labels on which it bets now, before δ. It
    /// decides whether to bet at all, and need not be exact.
    edge: f64,
}

/// Parts of the largest stake that is allowed. Large ones win soon where an event is never seen on the other
/// dataset, small ones where it is seen a little more often than it may be. Any list is valid.
const STAKES: [f64; 8] = [0.97, 0.85, 0.7, 0.5, 0.3, 0.15, 0.06, 0.02];

impl EventBet {
    pub(super) fn new(odds: Odds, delta: Delta) -> Self {
        Self {
            odds,
            delta: Interval::from(delta).high(),
            wealth: [1.0; STAKES.len()],
            edge: 0.0,
        }
    }

    pub(super) fn wealth(&self) -> &[f64] {
        &self.wealth
    }

    /// `counts` are those that the two labels of this round had before it, the label of the first dataset
    /// first.
    pub(super) fn settle(&mut self, [first, second]: [Counts; 2], rounds: u32) {
        if self.edge <= self.delta * f64::from(rounds) {
            return;
        }
        let hits = [first, second].map(|counts| u32::from(self.odds.gain(counts) > 0.0));
        let [likely, unlikely] = self.odds.ordered(hits).map(Interval::from);
        let [factor, delta] = [self.odds.factor, self.delta].map(Interval::exactly);
        let payoff = likely - factor * unlikely - delta;
        let largest = Interval::ONE / (factor + delta);
        for (wealth, part) in self.wealth.iter_mut().zip(STAKES) {
            // A stake that is rounded down is as good as any other; 1 + λ·payoff is then not negative.
            let stake = Interval::exactly((Interval::exactly(part) * largest).low());
            let grown = Interval::exactly(*wealth) * (Interval::ONE + stake * payoff);
            *wealth = grown.low().max(0.0);
        }
    }

    /// The counts of a label were the first, and are now the second.
    pub(super) fn learn(&mut self, old: Counts, new: Counts) {
        self.edge += self.odds.gain(new) - self.odds.gain(old);
    }
}
