//! A bet that has a stake for each label.

use super::bets::Odds;
use crate::audit::event::Counts;
use crate::number::Interval;

/// A bet against ε, in both directions at once: the more often a label was seen on one dataset than it may
/// be, the larger the stake on it.
pub(super) struct LabelBet {
    /// Forward, and backward.
    pub(super) odds: [Odds; 2],
    /// What each way to choose stakes has won, rounded down.
    wealth: [f64; PRIORS.len()],
}

/// How often a label counts as seen on the other dataset, and how often in all, before it was seen: so what
/// was seen once or twice gets no large stake. Small numbers win soon where few labels show much, large ones
/// where many show little. Any list is valid.
const PRIORS: [[f64; 2]; 4] = [[0.1, 0.2], [0.4, 1.0], [0.7, 4.0], [1.0, 10.0]];

impl LabelBet {
    pub(super) fn new(odds: [Odds; 2]) -> Self {
        Self {
            odds,
            wealth: [1.0; PRIORS.len()],
        }
    }

    pub(super) fn wealth(&self) -> &[f64] {
        &self.wealth
    }

    /// `counts` are those that the two labels of this round had before it, the label of the first dataset
    /// first.
    pub(super) fn settle(&mut self, [first, second]: [Counts; 2]) {
        let [forward, backward] = self.odds;
        let factor = Interval::exactly(forward.factor);
        for (wealth, prior) in self.wealth.iter_mut().zip(PRIORS) {
            let [for_first, against_first] =
                [forward, backward].map(|odds| stake(odds, first, prior));
            let [against_second, for_second] =
                [forward, backward].map(|odds| stake(odds, second, prior));
            let first = Interval::ONE + for_first - factor * against_first;
            let second = Interval::ONE + for_second - factor * against_second;
            // Not negative, but for rounding.
            let grown =
                Interval::exactly(first.low().max(0.0)) * Interval::exactly(second.low().max(0.0));
            *wealth = (Interval::exactly(*wealth) * grown).low().max(0.0);
        }
    }
}

/// The best stake where the counts are the probabilities, pulled towards zero, and at most e^−ε.
fn stake(odds: Odds, counts: Counts, [unlikely_before, before]: [f64; 2]) -> Interval {
    let [likely, unlikely] = odds.ordered(counts).map(f64::from);
    let excess = likely / odds.factor - unlikely - unlikely_before;
    let best = excess / (likely + unlikely + before);
    let largest = (Interval::ONE / Interval::exactly(odds.factor)).low();
    Interval::exactly(best.clamp(0.0, largest))
}
