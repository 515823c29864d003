//! All bets of a test, and what they have won together.

use std::collections::HashMap;
use std::hash::Hash;

use super::event_bet::EventBet;
use super::label_bet::LabelBet;
use crate::audit::event::{Counts, NAMED, Side};
use crate::machine::Direction;
use crate::number::{Delta, Interval};
use crate::privacy::EpsilonDelta;

/// What a claim implies, in one direction.
#[derive(Clone, Copy)]
pub(super) struct Odds {
    pair: EpsilonDelta,
    direction: Direction,
    /// e^ε, rounded up.
    pub(super) factor: f64,
}

impl Odds {
    /// Both directions; none where e^ε cannot be held: nothing that can be run refutes it.
    fn of(pair: EpsilonDelta) -> Option<[Self; 2]> {
        let factor = Interval::from(pair.epsilon).exp().high();
        let odds = |direction| Self {
            pair,
            direction,
            factor,
        };
        let directions = [Direction::Forward, Direction::Backward];
        factor.is_finite().then(|| directions.map(odds))
    }

    /// These counts, the likely dataset first.
    pub(super) fn ordered(&self, [first, second]: Counts) -> Counts {
        match self.direction {
            Direction::Forward => [first, second],
            Direction::Backward => [second, first],
        }
    }

    /// How much more often than it may be a label was seen on the likely dataset.
    pub(super) fn gain(&self, counts: Counts) -> f64 {
        let [likely, unlikely] = self.ordered(counts).map(f64::from);
        (likely - self.factor * unlikely).max(0.0)
    }
}

/// Bets on labels, against each pair (ε, δ).
pub(super) struct Bets<L> {
    /// How often each label was seen so far.
    seen: HashMap<L, Counts>,
    rounds: u32,
    /// Where δ is zero.
    by_label: Vec<LabelBet>,
    /// Where it is not: what is seen too often, on whichever labels, is then compared with one δ.
    by_event: Vec<EventBet>,
    /// 1/β, rounded up.
    enough: f64,
    /// Whether the evidence was ever enough.
    refuted: bool,
}

/// What a bet has found.
pub(super) struct Found {
    pub(super) pair: EpsilonDelta,
    pub(super) direction: Direction,
    /// The labels, in words.
    pub(super) labels: String,
    pub(super) counts: Counts,
}

impl<L> Bets<L> {
    pub(super) fn is_refuted(&self) -> bool {
        self.refuted
    }
}

impl<L: Eq + Hash> Bets<L> {
    pub(super) fn new(pairs: Vec<EpsilonDelta>, failure: Delta) -> Self {
        let (pure, approximate): (Vec<_>, Vec<_>) = pairs
            .into_iter()
            .partition(|pair| pair.delta == Delta::ZERO);
        let by_label = pure.into_iter().filter_map(Odds::of).map(LabelBet::new);
        let by_event = approximate.into_iter().filter_map(Odds::of).flatten();
        Self {
            seen: HashMap::new(),
            rounds: 0,
            by_label: by_label.collect(),
            by_event: by_event
                .map(|odds| EventBet::new(odds, odds.pair.delta))
                .collect(),
            enough: (Interval::ONE / Interval::from(failure)).high(),
            refuted: false,
        }
    }

    /// Settles the bets on a round, and learns from it for the next.
    pub(super) fn see(&mut self, first: L, second: L) {
        let before = |label: &L| self.seen.get(label).copied().unwrap_or_default();
        let counts = [before(&first), before(&second)];
        for bet in &mut self.by_label {
            bet.settle(counts);
        }
        for bet in &mut self.by_event {
            bet.settle(counts, self.rounds);
        }
        self.rounds = self.rounds.saturating_add(1);
        for (label, side) in [(first, Side::First), (second, Side::Second)] {
            let counts = self.seen.entry(label).or_default();
            let old = *counts;
            side.count(counts);
            for bet in &mut self.by_event {
                bet.learn(old, *counts);
            }
        }
        self.refuted |= self.evidence() >= self.enough;
    }

    /// The mean of all wealth, rounded down.
    pub(super) fn evidence(&self) -> f64 {
        let by_label = self.by_label.iter().map(LabelBet::wealth);
        let all = by_label.chain(self.by_event.iter().map(EventBet::wealth));
        let means: Vec<Interval> = all.map(mean).collect();
        match means.len() {
            0 => 1.0,
            number => {
                let sum = means
                    .into_iter()
                    .fold(Interval::ZERO, |sum, mean| sum + mean);
                (sum / Interval::whole(number as u128)).low().max(0.0)
            }
        }
    }

    /// What the bet that has won most would bet on now.
    pub(super) fn best(&self, name: fn(&L) -> String) -> Option<Found> {
        let by_label = self.by_label.iter().map(|bet| {
            // The direction that shows more.
            let shown = |odds: &Odds| {
                self.seen
                    .values()
                    .map(|counts| odds.gain(*counts))
                    .sum::<f64>()
            };
            let [forward, backward] = bet.odds;
            let odds = if shown(&backward) > shown(&forward) {
                backward
            } else {
                forward
            };
            (odds, mean(bet.wealth()).low())
        });
        let by_event = self
            .by_event
            .iter()
            .map(|bet| (bet.odds, mean(bet.wealth()).low()));
        let best = by_label
            .chain(by_event)
            .max_by(|one, other| one.1.total_cmp(&other.1));
        best.map(|(odds, _)| self.found(odds, name))
    }

    fn found(&self, odds: Odds, name: fn(&L) -> String) -> Found {
        let chosen = self
            .seen
            .iter()
            .filter(|(_, counts)| odds.gain(**counts) > 0.0);
        let mut chosen: Vec<_> = chosen
            .map(|(label, counts)| (name(label), *counts))
            .collect();
        // The most telling first; not in the map's order, which differs from time to time.
        chosen.sort_by(|(a, one), (b, other)| {
            odds.gain(*other).total_cmp(&odds.gain(*one)).then(a.cmp(b))
        });
        let counts = chosen
            .iter()
            .fold([0, 0], |[a, b], (_, [c, d])| [a + c, b + d]);
        let mut words: Vec<String> = chosen.into_iter().map(|(name, _)| name).collect();
        let more = words.len().saturating_sub(NAMED);
        words.truncate(NAMED);
        if more > 0 {
            words.push(format!("{more} more"));
        }
        Found {
            pair: odds.pair,
            direction: odds.direction,
            labels: words.join(", or "),
            counts,
        }
    }
}

/// The mean of wealth that is not negative.
fn mean(wealth: &[f64]) -> Interval {
    let sum = wealth.iter().fold(Interval::ZERO, |sum, wealth| {
        sum + Interval::exactly(*wealth)
    });
    sum / Interval::whole(wealth.len() as u128)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All rounds of two laws over two labels: the mean of the evidence at the end, and the probability that
    /// it was ever enough.
    fn explore(laws: [[f64; 2]; 2], claim: (&str, &str), failure: &str, rounds: u32) -> (f64, f64) {
        let pair = EpsilonDelta::new(claim.0, claim.1).unwrap();
        let (mut mean, mut refuted) = (0.0, 0.0);
        for path in 0..4_u32.pow(rounds) {
            let mut bets = Bets::new(vec![pair], failure.parse().unwrap());
            let mut odds = 1.0;
            for round in 0..rounds {
                let labels = [path >> (2 * round) & 1, path >> (2 * round + 1) & 1];
                odds *= laws[0][labels[0] as usize] * laws[1][labels[1] as usize];
                bets.see(labels[0], labels[1]);
            }
            mean += odds * bets.evidence();
            refuted += if bets.refuted { odds } else { 0.0 };
        }
        (mean, refuted)
    }

    /// Ville's inequality, on all 4^6 conversations of six rounds. The claims are just true: ln 3, ln 2 with
    /// δ = 1/5, and both directions at once.
    #[test]
    fn true_claims_do_not_grow_on_average() {
        let three = [[0.75, 0.25], [0.25, 0.75]];
        let two = [[0.6, 0.4], [0.2, 0.8]];
        for (laws, claim) in [
            (three, ("1.0986122886681098", "0")),
            (two, ("0.6931471805599454", "0.2")),
            (two, ("0.7", "0.2")),
            ([[0.5; 2]; 2], ("0", "0")),
        ] {
            for failure in ["0.9", "0.8", "0.5"] {
                let (mean, refuted) = explore(laws, claim, failure, 6);
                assert!(mean <= 1.0 + 1e-12, "{claim:?}: {mean}");
                assert!(refuted <= failure.parse().unwrap(), "{claim:?}: {refuted}");
            }
            // It bets, so that the evidence does change.
            let (mean, refuted) = explore(laws, claim, "0.9", 6);
            assert!(mean > 0.9 && refuted > 0.0, "{claim:?}: {mean} {refuted}");
        }
        // And a false one grows.
        assert!(explore(three, ("0.5", "0"), "0.5", 6).0 > 1.1);
    }
}
