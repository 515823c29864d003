//! Testing a claim run by run, until it is refuted.

mod bets;
mod event_bet;
mod label_bet;

use std::fmt::{self, Debug};
use std::hash::Hash;

use bets::Bets;

use super::claim::{Refutable, fail};
use super::event::Side;
use super::finding::short_up;
use super::trials::Runs;
use crate::machine::View;
use crate::number::Delta;
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
/// Why: a round is one run on each dataset, with views that have labels X and Y. Before it, all stakes are
/// fixed from earlier rounds. A bet is a factor that is not negative, and whose mean is at most 1, given
/// the past, if the claim is true. So the product over all rounds is a supermartingale that starts at 1, and
/// so is the mean of several such products: over ways to choose the stakes, and over the pairs (ε, δ) that
/// the claim implies. By Ville's inequality it ever reaches 1/β with probability at most β. What is
/// computed is rounded down. (Testing by betting, Shafer 2021; for differential privacy González et al. 2025.)
///
/// For δ = 0 the bet has stakes f and b for each label, between 0 and e^−ε, and the factor is
/// `(1 + f(X) − e^ε·b(X))·(1 + b(Y) − e^ε·f(Y))`. X and Y are independent, so its mean is (1 + s)(1 + t), where
/// s and t are the means of what is added to 1. ε-privacy in both directions gives E f(X) ≤ e^ε·E f(Y) and
/// E b(Y) ≤ e^ε·E b(X), so s + t ≤ 0, and (1 + s)(1 + t) ≤ (1 + (s + t)/2)² ≤ 1.
///
/// For δ > 0 it has an event E, a stake λ ≤ 1/(e^ε + δ) and a direction, and the factor is
/// `1 + λ·(1[X in E] − e^ε·1[Y in E] − δ)`.
///
/// # How few runs are enough
///
/// Let p and q be the laws of the labels, and p₀ and q₀ any laws of which the claim is true. A test that is
/// wrong with probability β at most and that refutes the claim in the end takes at least ln(1/β)/D runs on
/// each dataset, on average, where D = KL(p‖p₀) + KL(q‖q₀) (Wald 1945). For δ = 0, stakes f = (p − e^ε·q)⁺/(e^ε·(p + q))
/// and b = (q − e^ε·p)⁺/(e^ε·(p + q)) make the evidence grow at the rate of p₀ = (p + q)·e^ε/(1 + e^ε)
/// where p > e^ε·q, (p + q)/(1 + e^ε) where q > e^ε·p, and p otherwise; q₀ is p + q − p₀. Where p₀ sums up
/// to 1, as for a pair of datasets that are mirror images, no test has a larger rate. What is left is the
/// price of learning p and q: `audit::sequential::the_planted_threshold_that_goes_on_is_found_in_thousands_of_runs`.
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
        self.bets.is_refuted()
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
        if let Some(best) = self.bets.best(self.name) {
            let EpsilonDelta { epsilon, delta } = best.pair;
            let [first, second] = best.counts;
            write!(
                f,
                ": it implies ε ≤ {} at δ = {delta} ({})\nseen in {first} runs on the first dataset and \
                 in {second} on the second: {}",
                short_up(epsilon),
                best.direction,
                best.labels,
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
            .field("refuted", &self.bets.is_refuted())
            .finish_non_exhaustive()
    }
}
