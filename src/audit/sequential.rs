//! Testing a claim run by run, until it is refuted.

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::hash::Hash;

use super::claim::{Refutable, fail};
use super::event::{Counts, NAMED, Side};
use super::finding::short_up;
use super::trials::Runs;
use crate::machine::{Direction, View};
use crate::number::{Delta, Interval};
use crate::privacy::EpsilonDelta;

/// A claim that is tested while the mechanism is run. It may be looked at after every run, and stopped at
/// any time, for any reason: the probability that a true claim is *ever* refuted is at most that of the
/// audit.
///
/// Started by [`Audit::test`](super::Audit::test) and [`Audit::test_by`](super::Audit::test_by).
///
/// ```
/// use queryables::audit::{Audit, Pair};
/// use queryables::machine::Script;
/// use queryables::mechanisms::RandomizedResponse;
/// use queryables::privacy::PureDp;
///
/// let response = RandomizedResponse::new("3".parse()?)?;
/// let pair = Pair::new(false, true);
/// let audit = Audit::new(&response, &pair, || Script::new([()]), 1).seed(7);
///
/// // 10 000 runs at most on each dataset; it takes less than a hundred.
/// let mut test = audit.test(&PureDp, &"1".parse()?)?;
/// assert!(test.run(10_000) && test.rounds() < 100);
///
/// let mut test = audit.test(&PureDp, &"3".parse()?)?;
/// assert!(!test.run(1000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// If the claim is true, and runs are independent of each other, then with probability at least 1 −
/// [`failure`](super::Audit::failure) it is never refuted, however long the test goes on.
///
/// Why: a round is one run on each dataset. Before it, an event E and a stake λ ≥ 0 are fixed from earlier
/// rounds. If the claim implies (ε, δ)-privacy, the payoff `1[first view in E] − e^ε·1[second view in E] −
/// δ` has a mean of at most 0, given the past; so `1 + λ·payoff`, which is not negative for λ ≤ 1/(e^ε + δ),
/// has a mean of at most 1, and the product over all rounds is a supermartingale that starts at 1. So is
/// the mean of several such products: here, over the directions, over a list of stakes, and over the
/// pairs (ε, δ) that the claim implies. By Ville's inequality it ever reaches 1/β with probability at most
/// β. What is computed is rounded down. (Testing by betting, Shafer 2021; for differential privacy González et
/// al. 2025.)
pub struct SequentialTest<'r, 'a, A, L> {
    runs: Runs<'r, 'a, A>,
    label: Box<dyn Fn(View<A>) -> L + 'r>,
    name: fn(&L) -> String,
    claim: String,
    failure: Delta,
    rounds: u32,
    bets: Bets<L>,
}

impl<'r, 'a, A, L: Eq + Hash> SequentialTest<'r, 'a, A, L> {
    pub(super) fn new<Me: Refutable>(
        measure: &Me,
        loss: &Me::Loss,
        failure: Delta,
        runs: Runs<'r, 'a, A>,
        label: Box<dyn Fn(View<A>) -> L + 'r>,
        name: fn(&L) -> String,
    ) -> Self {
        Self {
            runs,
            label,
            name,
            claim: loss.to_string(),
            failure,
            rounds: 0,
            bets: Bets::new(measure.implied(loss), failure),
        }
    }

    /// Runs the mechanism this number of times more on each dataset, or until the claim is refuted, and
    /// says whether it is.
    pub fn run(&mut self, rounds: u32) -> bool {
        for _ in 0..rounds {
            if self.is_refuted() {
                break;
            }
            let [first, second] = Side::BOTH.map(|side| (self.label)(self.runs.one(side)));
            self.bets.see(first, second);
            self.rounds = self.rounds.saturating_add(1);
        }
        self.is_refuted()
    }

    /// Whether the claim is refuted. A claim that is not may still be false.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        self.bets.refuted
    }

    /// How often the mechanism was run on each dataset.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// By which factor the stakes have grown: 1 at the start, and 1/β when the claim is refuted, where β is
    /// the probability of failure. Rounded down.
    #[must_use]
    pub fn evidence(&self) -> f64 {
        self.bets.evidence()
    }

    /// For tests: runs this number of times on each dataset.
    ///
    /// # Panics
    ///
    /// If the claim is refuted; the message says by what.
    #[track_caller]
    pub fn assert_not_refuted(&mut self, rounds: u32) {
        if self.run(rounds) {
            fail(&self.to_string());
        }
    }
}

impl<A, L: Eq + Hash> fmt::Display for SequentialTest<'_, '_, A, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            claim,
            rounds,
            failure,
            ..
        } = self;
        if !self.is_refuted() {
            return write!(
                f,
                "a loss of {claim} is not refuted by {rounds} runs on each dataset, which is no proof"
            );
        }
        write!(
            f,
            "a loss of {claim} is refuted by {rounds} runs on each dataset"
        )?;
        if let Some(best) = self.bets.best() {
            let EpsilonDelta { epsilon, delta } = best.pair;
            let (names, [first, second]) = self.bets.event(best, self.name);
            write!(
                f,
                ": it implies ε ≤ {} at δ = {delta} ({})\nseen in {first} runs on the first dataset and \
                 in {second} on the second: {names}",
                short_up(epsilon),
                best.direction,
            )?;
        }
        write!(f, "\nwrong with probability at most {failure}")
    }
}

impl<A, L> Debug for SequentialTest<'_, '_, A, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequentialTest")
            .field("claim", &self.claim)
            .field("rounds", &self.rounds)
            .field("refuted", &self.bets.refuted)
            .finish_non_exhaustive()
    }
}

/// Bets on labels, one for each pair (ε, δ) and direction.
struct Bets<L> {
    /// How often each label was seen so far.
    seen: HashMap<L, Counts>,
    rounds: u32,
    bets: Vec<Bet>,
    /// 1/β, rounded up.
    enough: f64,
    /// Whether the evidence was ever enough.
    refuted: bool,
}

impl<L: Eq + Hash> Bets<L> {
    fn new(pairs: Vec<EpsilonDelta>, failure: Delta) -> Self {
        let directions = [Direction::Forward, Direction::Backward];
        let bets = pairs
            .into_iter()
            .filter_map(|pair| Bet::new(pair, directions[0]))
            .flat_map(|bet| {
                directions.map(|direction| Bet {
                    direction,
                    ..bet.clone()
                })
            });
        Self {
            seen: HashMap::new(),
            rounds: 0,
            bets: bets.collect(),
            enough: (Interval::ONE / Interval::from(failure)).high(),
            refuted: false,
        }
    }

    /// Settles the bets on a round, and learns from it for the next.
    fn see(&mut self, first: L, second: L) {
        let before = |label: &L| self.seen.get(label).copied().unwrap_or_default();
        let counts = [before(&first), before(&second)];
        for bet in &mut self.bets {
            bet.settle(counts, self.rounds);
        }
        self.rounds = self.rounds.saturating_add(1);
        for (label, side) in [(first, Side::First), (second, Side::Second)] {
            let counts = self.seen.entry(label).or_default();
            let old = *counts;
            side.count(counts);
            for bet in &mut self.bets {
                bet.edge += bet.gain(*counts) - bet.gain(old);
            }
        }
        self.refuted |= self.evidence() >= self.enough;
    }

    /// The mean of all wealth, rounded down.
    fn evidence(&self) -> f64 {
        if self.bets.is_empty() {
            return 1.0;
        }
        let sum = self
            .bets
            .iter()
            .fold(Interval::ZERO, |sum, bet| sum + bet.wealth());
        let number = Interval::whole(self.bets.len() as u128);
        (sum / number).low().max(0.0)
    }

    /// The bet that has won most.
    fn best(&self) -> Option<&Bet> {
        let wealth = |bet: &&Bet| bet.wealth().low();
        self.bets
            .iter()
            .max_by(|one, other| wealth(one).total_cmp(&wealth(other)))
    }

    /// The labels on which a bet would bet now, in words, and how often they were seen.
    fn event(&self, bet: &Bet, name: fn(&L) -> String) -> (String, Counts) {
        let chosen = self
            .seen
            .iter()
            .filter(|(_, counts)| bet.gain(**counts) > 0.0);
        let mut chosen: Vec<_> = chosen
            .map(|(label, counts)| (name(label), *counts))
            .collect();
        // The most telling first; not in the map's order, which differs from time to time.
        chosen.sort_by(|(a, one), (b, other)| {
            bet.gain(*other).total_cmp(&bet.gain(*one)).then(a.cmp(b))
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
        (words.join(", or "), counts)
    }
}

/// A bet against (ε, δ), in one direction: that some event is seen on one dataset more than e^ε times as
/// often as on the other, and δ.
#[derive(Clone)]
struct Bet {
    pair: EpsilonDelta,
    direction: Direction,
    /// e^ε, rounded up.
    factor: f64,
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

impl Bet {
    /// None where e^ε cannot be held: nothing that can be run refutes it.
    fn new(pair: EpsilonDelta, direction: Direction) -> Option<Self> {
        let factor = Interval::from(pair.epsilon).exp().high();
        factor.is_finite().then(|| Self {
            pair,
            direction,
            factor,
            delta: Interval::from(pair.delta).high(),
            wealth: [1.0; STAKES.len()],
            edge: 0.0,
        })
    }

    fn wealth(&self) -> Interval {
        let sum = self.wealth.iter().fold(Interval::ZERO, |sum, wealth| {
            sum + Interval::exactly(*wealth)
        });
        sum / Interval::whole(STAKES.len() as u128)
    }

    /// These counts, the likely dataset first.
    fn ordered(&self, [first, second]: Counts) -> Counts {
        match self.direction {
            Direction::Forward => [first, second],
            Direction::Backward => [second, first],
        }
    }

    /// What a bet on a label with these counts would have won so far, if it would have won anything: it bets
    /// on the labels of which this is positive.
    fn gain(&self, counts: Counts) -> f64 {
        let [likely, unlikely] = self.ordered(counts).map(f64::from);
        (likely - self.factor * unlikely).max(0.0)
    }

    /// `counts` are those that the two labels of this round had before it, the label of the first dataset
    /// first.
    fn settle(&mut self, [first, second]: [Counts; 2], rounds: u32) {
        if self.edge <= self.delta * f64::from(rounds) {
            return;
        }
        let hits = [first, second].map(|counts| u32::from(self.gain(counts) > 0.0));
        let [likely, unlikely] = self.ordered(hits).map(Interval::from);
        let [factor, delta] = [self.factor, self.delta].map(Interval::exactly);
        let payoff = likely - factor * unlikely - delta;
        let largest = Interval::ONE / (factor + delta);
        for (wealth, part) in self.wealth.iter_mut().zip(STAKES) {
            // A stake that is rounded down is as good as any other; 1 + λ·payoff is then not negative.
            let stake = Interval::exactly((Interval::exactly(part) * largest).low());
            let grown = Interval::exactly(*wealth) * (Interval::ONE + stake * payoff);
            *wealth = grown.low().max(0.0);
        }
    }
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
