//! Compared values, without the end that noise does not have.
//!
//! Noise that is compared ([`Coins::at_least`](crate::machine::Coins::at_least)) decides something,
//! and a cut leaves unknown what it decides far out. But the machine learns nothing of such noise
//! other than how comparisons come out, because nothing else can be done with it
//! ([`DrawnNoise`](crate::machine::DrawnNoise)). So a path goes on where its noise is unknown, in two
//! branches for each comparison.
//!
//! **What is explored.** Noise is drawn when it is needed. If one of two noises that are compared is
//! known, `c + Z ≥ t` is a draw with two outcomes, whose odds have a closed form: for discrete
//! Laplace noise `P(Z ≥ t) = q^t / (1 + q)` for `t ≥ 1`, and `1 − q^(1−t) / (1 + q)` for `t ≤ 0`.
//! What is known of Z from then on is an interval, and later odds are conditional on it. If neither is
//! known, the older noise is drawn: each listed value is a branch, and there is one more, *beyond*, for
//! all values that are not listed, with a probability in `[0, r]`, where r is at most the cut (over the
//! probability of the interval). A comparison with noise that is beyond has two branches with a
//! probability in `[0, 1]` each.
//!
//! **Claim.** The probability of every transcript lies in the interval that is computed for it: the
//! sum, over all paths π that lead to it, of the products of the intervals of their branches.
//!
//! *Proof.* Along a path π the machine makes certain draws, one after the other, of laws `L_1, L_2, …`.
//! Let `X_1, X_2, …` be independent draws of these laws, and let the machine use `X_i` for its i-th
//! draw as long as its run is as on π. Let `E_π` be the event that it is so to the end: each drawn value
//! is the one on π, or is not listed where π says beyond, each interval of π holds its noise, and each
//! comparison comes out as on π, those with noise beyond included. On `E_π` the machine was given what
//! it was given on the run that was followed, and nothing else, so that it answers the same. At each
//! branching exactly one of the branches occurs; so the `E_π` of all paths are disjoint, and one of them
//! occurs. All branches of π but comparisons with noise beyond are facts about single `X_i`: what a known
//! noise was compared with is a number on π. So the probability of all these facts together is the
//! product, over i, of conditional probabilities of one fact about `X_i` after the other, and each of
//! them lies in the interval of its branch. If there are no other branches, this is `P(E_π)`. Otherwise
//! `P(E_π)` is at most this, and at least 0: and such branches have `[0, 1]`. ∎
//!
//! So no mass is missing, no outcome is left out, and the recursion over transcripts bounds every
//! divergence from both sides. An outcome that needs noise beyond on both sides has masses in
//! `[0, r]`: its ratio is not bounded, and a claim stays undecided, as it must. Where bounds are too
//! wide to decide a claim, it is explored again with a smaller cut.
//!
//! Noise that was compared and is then released is drawn to a cut, and counts as cut: it is neither
//! fresh, so that clamping it proves nothing ([`released`](super::released)), nor only compared.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::branching::{Branching, hash};
use super::laws::{Listed, list, rational};
use super::meter::{Held, Meter};
use super::tree::size_in_table;
use super::{Interval, Rational, VerifyError};
use crate::machine::{ClosedForm, CoinsError, DrawnNoise, Known, Later, with_noise};
use crate::number::Ratio;

/// Stands for all values that are not listed.
const BEYOND: i128 = i128::MIN;

/// At least the first, and at most the second, where there is one.
type Range = (Option<i128>, Option<i128>);

/// What an exploration knows of compared noise.
#[derive(Debug)]
pub(super) struct Compared {
    /// Whether noise was ever beyond what is listed.
    went_beyond: AtomicBool,
    /// `P(Z ≥ t)`, by the scale of Z and t.
    tails: Mutex<HashMap<(Ratio, i128), Interval>>,
    /// What is listed, by the scale.
    lists: Mutex<HashMap<Ratio, Arc<Listed>>>,
    /// The memory of the tails.
    held: Held,
}

impl Compared {
    pub(super) fn new(meter: &Arc<Meter>) -> Self {
        Self {
            went_beyond: AtomicBool::new(false),
            tails: Mutex::default(),
            lists: Mutex::default(),
            held: Held::new(meter, 0),
        }
    }

    pub(super) fn went_beyond(&self) -> bool {
        self.went_beyond.load(Ordering::Relaxed)
    }

    /// `P(Z ≥ t)`.
    fn tail(&self, scale: Ratio, t: i128) -> Interval {
        let lock = || self.tails.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&(scale, t)) {
            return known.clone();
        }
        let one = Interval::exact(Rational::ONE);
        let rate = scale.inverse().map_or(Rational::ONE, rational);
        let power = |steps: u128| Interval::exp_minus(&(&rate * Rational::from(steps)));
        let over = |share: Interval| share.over(&one.plus(&power(1)));
        // The divisor is at least one.
        let tail = match t > 0 {
            true => over(power(t.unsigned_abs())).unwrap_or_else(anything),
            false => {
                let rest = over(power(t.unsigned_abs() + 1)).unwrap_or_else(anything);
                one.minus(&rest)
            }
        };
        let bytes = size_in_table::<((Ratio, i128), Interval)>() + tail.size_on_heap();
        self.held.grow(bytes);
        lock().insert((scale, t), tail.clone());
        tail
    }

    /// `P(low ≤ Z ≤ high)`.
    fn mass(&self, scale: Ratio, (low, high): Range) -> Interval {
        let one = Interval::exact(Rational::ONE);
        let from = low.map_or(one, |low| self.tail(scale, low));
        match high {
            Some(high) => from.minus(&self.tail(scale, high.saturating_add(1))),
            None => from,
        }
    }

    /// `P(Z ≥ t)` and `P(Z < t)`, given that Z is in this range, which reaches to both sides.
    fn split(&self, scale: Ratio, (low, high): Range, t: i128) -> Result<Listed, VerifyError> {
        let whole = self.mass(scale, (low, high));
        let part = |range| {
            self.mass(scale, range)
                .over(&whole)
                .unwrap_or_else(anything)
        };
        let before = t.saturating_sub(1);
        let branches = [(1, part((Some(t), high))), (0, part((low, Some(before))))];
        Listed::all(self.held.meter(), branches)
    }

    /// The values in this range, given that it is there, and what is beyond.
    fn values(&self, scale: Ratio, range: Range, cut: &Rational) -> Result<Listed, VerifyError> {
        let lock = || self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&scale).map(Arc::clone);
        let all = match known {
            Some(known) => known,
            None => {
                let law = ClosedForm::DiscreteLaplace { scale };
                let listed = Arc::new(list(&law, cut, self.held.meter())?);
                lock().insert(scale, Arc::clone(&listed));
                listed
            }
        };
        let whole = self.mass(scale, range);
        let inside = |value: i128| {
            range.0.is_none_or(|low| low <= value) && range.1.is_none_or(|high| value <= high)
        };
        let listed = all.branches.iter().filter(|(value, _)| inside(*value));
        let listed =
            listed.map(|(value, mass)| (*value, mass.over(&whole).unwrap_or_else(anything)));
        // The list is symmetric, without gaps: does it hold both ends?
        let farthest = all.branches.iter().map(|(value, _)| *value).max();
        let held = |end: Option<i128>| end.zip(farthest).is_some_and(|(end, far)| end.abs() <= far);
        let beyond = (!(held(range.0) && held(range.1))).then(|| {
            self.went_beyond.store(true, Ordering::Relaxed);
            let rest = Interval::exact(all.rest.clone()).over(&whole);
            let most = rest.map_or(Rational::ONE, |rest| rest.high().clone());
            let mass = Interval::between(Rational::ZERO, most.min(Rational::ONE));
            (BEYOND, mass)
        });
        Listed::all(self.held.meter(), listed.chain(beyond))
    }
}

/// A probability of which nothing is known.
fn anything() -> Interval {
    Interval::between(Rational::ZERO, Rational::ONE)
}

/// The scale of noise that is drawn when it is needed.
pub(super) fn scale_of(law: &ClosedForm) -> Option<Ratio> {
    match law {
        ClosedForm::DiscreteLaplace { scale } if scale.numerator() > 0 => Some(*scale),
        _ => None,
    }
}

impl Branching<'_> {
    /// Whether the first truth plus its noise is at least the second plus its own.
    pub(super) fn compare(
        &mut self,
        left: (i128, &DrawnNoise),
        right: (i128, &DrawnNoise),
    ) -> Result<bool, CoinsError> {
        let noises = [self.of_these_coins(left.1)?, self.of_these_coins(right.1)?];
        let open = |later: &&Arc<Later>| matches!(later.known(), Known::Between(..));
        for later in noises.into_iter().flatten().filter(open) {
            // A law whose odds have no closed form here is drawn to a cut.
            if scale_of(&later.law).is_none() {
                let value = self.branch_law(&later.law)?;
                later.learn(Known::Drawn(value));
            }
        }
        if let [Some(one), Some(other)] = noises.map(|noise| noise.filter(open)) {
            let older = if one.number <= other.number {
                one
            } else {
                other
            };
            self.draw_compared(older)?;
        }
        let known = |noise: Option<&Arc<Later>>, drawn: &DrawnNoise| {
            noise.map_or_else(|| Known::Drawn(with_noise(drawn, 0)), |later| later.known())
        };
        let at = |(truth, _): (i128, &DrawnNoise), noise: i128| truth.checked_add(noise);
        match (known(noises[0], left.1), known(noises[1], right.1)) {
            (Known::Drawn(one), Known::Drawn(other)) => {
                // Clamped as everywhere else.
                Ok(left.0.saturating_add(one) >= right.0.saturating_add(other))
            }
            (Known::Beyond, _) | (_, Known::Beyond) => {
                let both = [(1, anything()), (0, anything())];
                let found = self.branch_list(hash(&"beyond"), |meter| Listed::all(meter, both))?;
                Ok(found == 1)
            }
            (Known::Between(low, high), Known::Drawn(other)) => {
                let t = at(right, other).and_then(|value| value.checked_sub(left.0));
                self.is_from(noises[0], (low, high), t)
            }
            // c + Z ≥ d + Y where Y is at most c + Z − d, and not at least one more.
            (Known::Drawn(one), Known::Between(low, high)) => {
                let most = at(left, one).and_then(|value| value.checked_sub(right.0));
                let t = most.and_then(|most| most.checked_add(1));
                Ok(!self.is_from(noises[1], (low, high), t)?)
            }
            // One of them was drawn.
            (Known::Between(..), Known::Between(..)) => self.fail(VerifyError::Diverged),
        }
    }

    /// Whether noise in this range is at least t.
    fn is_from(
        &mut self,
        noise: Option<&Arc<Later>>,
        (low, high): Range,
        t: Option<i128>,
    ) -> Result<bool, CoinsError> {
        let (Some(later), Some(t)) = (noise, t) else {
            return self.fail(VerifyError::OutOfRange("a compared value"));
        };
        if low.is_some_and(|low| low >= t) {
            return Ok(true);
        }
        if high.is_some_and(|high| high < t) {
            return Ok(false);
        }
        // No noise is less than the least of all.
        let Some(below) = t.checked_sub(1) else {
            return Ok(true);
        };
        let Some(scale) = scale_of(&later.law) else {
            return self.fail(VerifyError::Diverged);
        };
        let compared = &self.runner().compared;
        let asked = hash(&("compared", scale, low, high, t));
        let found = self.branch_list(asked, |_| compared.split(scale, (low, high), t))? == 1;
        later.learn(match found {
            true => Known::Between(Some(t), high),
            false => Known::Between(low, Some(below)),
        });
        Ok(found)
    }

    /// Draws noise that is compared with other unknown noise.
    fn draw_compared(&mut self, later: &Later) -> Result<(), CoinsError> {
        let (Some(scale), Known::Between(low, high)) = (scale_of(&later.law), later.known()) else {
            return self.fail(VerifyError::Diverged);
        };
        let runner = self.runner();
        let asked = hash(&("drawn to be compared", scale, low, high));
        let (compared, cut) = (&runner.compared, &runner.care.cut);
        let value = self.branch_list(asked, |_| compared.values(scale, (low, high), cut))?;
        later.learn(match value {
            BEYOND => Known::Beyond,
            value => Known::Drawn(value),
        });
        Ok(())
    }

    /// Noise that was compared, to be released: to a cut, and what is beyond is not followed.
    pub(super) fn reveal(&mut self, later: &Later) -> Result<i128, CoinsError> {
        if let Known::Between(..) = later.known() {
            self.draw_compared(later)?;
        }
        match later.known() {
            Known::Drawn(value) => Ok(value),
            _ => Err(CoinsError::TapeEnds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::Limits;

    fn compared() -> Compared {
        Compared::new(&Arc::new(Meter::new(Limits::default())))
    }

    fn scale() -> Ratio {
        Ratio::new(3, 2).unwrap()
    }

    /// The law, in floats.
    fn law(k: i128) -> f64 {
        let q = (-2.0_f64 / 3.0).exp();
        (1.0 - q) / (1.0 + q) * q.powi(k.unsigned_abs() as i32)
    }

    fn between(low: Option<i128>, high: Option<i128>) -> f64 {
        (low.unwrap_or(-200)..=high.unwrap_or(200)).map(law).sum()
    }

    #[track_caller]
    fn assert_near(mass: &Interval, expected: f64) {
        let (low, high) = (mass.low().to_f64(), mass.high().to_f64());
        assert!(
            low <= expected + 1e-12 && expected - 1e-12 <= high,
            "{mass} {expected}"
        );
        assert!(high - low < 1e-12, "{mass}");
    }

    const RANGES: [Range; 5] = [
        (None, None),
        (Some(-2), None),
        (None, Some(3)),
        (Some(-2), Some(3)),
        (Some(4), None),
    ];

    #[test]
    fn tails_and_ranges_have_their_mass() {
        let compared = compared();
        for t in -6..=6 {
            assert_near(&compared.tail(scale(), t), between(Some(t), None));
        }
        for range in RANGES {
            assert_near(&compared.mass(scale(), range), between(range.0, range.1));
        }
    }

    #[test]
    fn a_range_is_split_with_its_odds() {
        let compared = compared();
        for range in RANGES {
            let t = range.0.map_or(1, |low| low + 2);
            let found = compared.split(scale(), range, t).unwrap();
            let whole = between(range.0, range.1);
            let [(1, from), (0, below)] = found.branches.as_slice() else {
                panic!("{found:?}");
            };
            assert_near(from, between(Some(t), range.1) / whole);
            assert_near(below, between(range.0, Some(t - 1)) / whole);
            assert_eq!(found.rest, Rational::ZERO);
        }
    }

    #[test]
    fn values_in_a_range_and_what_is_beyond_are_everything() {
        let cut = Rational::from_parts(1.into(), 1000_u16.into());
        for range in RANGES {
            let compared = compared();
            let found = compared.values(scale(), range, &cut).unwrap();
            let whole = between(range.0, range.1);
            let mut listed = 0.0;
            for (value, mass) in found.branches.iter().filter(|(value, _)| *value != BEYOND) {
                assert!(range.0.is_none_or(|low| low <= *value));
                assert!(range.1.is_none_or(|high| *value <= high));
                assert_near(mass, law(*value) / whole);
                listed += law(*value) / whole;
            }
            let beyond = found.branches.iter().find(|(value, _)| *value == BEYOND);
            // Where both ends are listed there is nothing else.
            assert_eq!(beyond.is_none(), range == (Some(-2), Some(3)));
            assert_eq!(compared.went_beyond(), beyond.is_some());
            let most = beyond.map_or(0.0, |(_, mass)| mass.high().to_f64());
            assert!(beyond.is_none_or(|(_, mass)| *mass.low() == Rational::ZERO));
            assert!(
                listed + most >= 1.0 - 1e-12 && most <= 0.001 / whole,
                "{range:?}"
            );
        }
        // A range that no listed value is in is all beyond.
        let far = (Some(1000), None);
        let found = compared().values(scale(), far, &cut).unwrap();
        assert_eq!(found.branches, [(BEYOND, anything())]);
    }

    #[test]
    fn what_is_remembered_is_counted() {
        let compared = compared();
        let meter = Arc::clone(compared.held.meter());
        for t in 0..1000 {
            compared.tail(scale(), t);
        }
        let tails = meter.progress().memory;
        assert!(tails > 100_000, "{tails}");
        let cut = Rational::from_parts(1.into(), 1000_u16.into());
        drop(compared.values(scale(), (None, None), &cut).unwrap());
        assert!(meter.progress().memory > tails);
        drop(compared);
        assert_eq!(meter.progress().memory, 0);
    }
}
