//! Coins that take every branch, one after the other.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU64;

use super::error::{MOST_DRAWS, MOST_OUTCOMES};
use super::explorer::Care;
use super::laws::{Listed, list};
use super::{Interval, Rational, VerifyError};
use crate::machine::{ClosedForm, CoinSource, CoinsError, DrawnNoise, Law};

/// One draw that was made on a path: what was asked for, as a hash, and what came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Choice {
    asked: u64,
    outcome: i128,
}

/// A value that was released where several are taken together, and the hash of its noise's law:
/// without the law, what was taken together could not be drawn again.
pub(super) type Told = (u64, i128);

/// The outcome of one run, on one path.
#[derive(Debug)]
pub(super) struct Outcome<T> {
    pub(super) result: T,
    /// The draws beyond those given.
    pub(super) path: Vec<Choice>,
    /// The probability of these draws.
    pub(super) mass: Interval,
    /// What the adversary is told besides the answer.
    pub(super) told: Vec<Told>,
}

/// Runs `code` on every path that begins with `path`.
///
/// A path is not followed further where a sampler has come to a probability below the cut. Returns
/// the probability of what was not followed to its end.
///
/// # Errors
///
/// Those of the draws and of `each`, and [`VerifyError::Diverged`] where the same draws led
/// elsewhere.
pub(super) fn every_path<T>(
    path: &[Choice],
    care: &Care,
    mut code: impl FnMut(&mut Branching<'_>) -> Result<T, VerifyError>,
    mut each: impl FnMut(Outcome<T>) -> Result<(), VerifyError>,
) -> Result<Rational, VerifyError> {
    let mut forks = Vec::new();
    let mut not_followed = Rational::ZERO;
    loop {
        let mut coins = Branching {
            path,
            care,
            forks,
            position: 0,
            following: None,
            is_cut: false,
            unlisted: Rational::ZERO,
            pending: Vec::new(),
            told: Vec::new(),
            trouble: None,
        };
        let result = code(&mut coins);
        if let Some(trouble) = coins.trouble {
            return Err(trouble);
        }
        let result = result?;
        let used = coins.position == path.len() + coins.forks.len();
        if !used {
            return Err(VerifyError::Diverged);
        }
        not_followed += coins.unlisted;
        let told = coins.told;
        forks = coins.forks;
        let mass = mass_of(&forks);
        if coins.is_cut {
            not_followed += mass.high();
        } else {
            // With room for no more than that: paths are what takes the memory.
            let mut path = Vec::with_capacity(forks.len());
            path.extend(forks.iter().filter_map(Fork::choice));
            each(Outcome {
                result,
                path,
                mass,
                told,
            })?;
        }
        // The next path: the last fork that has another branch takes it.
        while let Some(mut last) = forks.pop() {
            last.at += 1;
            if last.at < last.branches.len() {
                forks.push(last);
                break;
            }
        }
        if forks.is_empty() {
            return Ok(not_followed);
        }
    }
}

/// A draw that is explored: all its outcomes, and which of them is being followed.
#[derive(Debug)]
struct Fork {
    asked: u64,
    branches: Vec<(i128, Interval)>,
    at: usize,
}

impl Fork {
    fn choice(&self) -> Option<Choice> {
        Some(Choice {
            asked: self.asked,
            outcome: self.branches.get(self.at)?.0,
        })
    }
}

fn mass_of(forks: &[Fork]) -> Interval {
    let mut product = Interval::exact(Rational::ONE);
    for fork in forks {
        if let Some((_, mass)) = fork.branches.get(fork.at) {
            product = product.times(mass);
        }
    }
    product
}

/// Coins that first follow a given path, then the branch that is being explored, and take the
/// first branch of every draw beyond.
#[derive(Debug)]
pub(super) struct Branching<'a> {
    path: &'a [Choice],
    care: &'a Care,
    forks: Vec<Fork>,
    position: usize,
    /// Inside a sampler: how many forks there were when it began.
    following: Option<usize>,
    is_cut: bool,
    /// The probability of outcomes that were not listed, at draws made first on this run.
    unlisted: Rational,
    /// The laws of noise that is to be released; where values are taken together, it is not drawn
    /// before.
    pending: Vec<ClosedForm>,
    told: Vec<Told>,
    trouble: Option<VerifyError>,
}

impl Branching<'_> {
    fn branch(
        &mut self,
        asked: u64,
        branches: impl FnOnce() -> Result<Listed, VerifyError>,
    ) -> Result<i128, CoinsError> {
        if self.is_cut || self.trouble.is_some() {
            return Err(CoinsError::TapeEnds);
        }
        let position = self.position;
        self.position += 1;
        let recorded = match self.path.get(position) {
            Some(choice) => Some(*choice),
            None => match self.forks.get(position - self.path.len()) {
                Some(fork) => fork.choice(),
                None => None,
            },
        };
        if let Some(choice) = recorded {
            return if choice.asked == asked {
                Ok(choice.outcome)
            } else {
                self.fail(VerifyError::Diverged)
            };
        }
        if self.forks.len() >= MOST_DRAWS {
            return self.fail(VerifyError::TooManyDraws);
        }
        if let Some(since) = self.following {
            let mass = mass_of(self.forks.get(since..).unwrap_or_default());
            if *mass.high() < self.care.cut {
                // This draw is not made.
                self.position -= 1;
                self.is_cut = true;
                return Err(CoinsError::TapeEnds);
            }
        }
        match branches() {
            Ok(Listed { branches, rest }) => {
                let first = branches.first().map(|(outcome, _)| *outcome);
                if rest > Rational::ZERO {
                    self.unlisted += mass_of(&self.forks).high() * rest;
                }
                self.forks.push(Fork {
                    asked,
                    branches,
                    at: 0,
                });
                first.ok_or(CoinsError::NoWeight)
            }
            Err(trouble) => self.fail(trouble),
        }
    }

    /// Records what went wrong; the machine gets an error, whose kind does not matter.
    fn fail<T>(&mut self, trouble: VerifyError) -> Result<T, CoinsError> {
        self.trouble.get_or_insert(trouble);
        Err(CoinsError::TapeDiverges)
    }

    /// Branches over integer weights. The weights have been checked.
    fn branch_weights(&mut self, weights: &[u64]) -> Result<i128, CoinsError> {
        let total = crate::machine::total_weight(weights)?;
        self.branch(hash(&("weights", weights)), || {
            if weights.len() as u64 > MOST_OUTCOMES {
                let outcomes = weights.len() as u64;
                return Err(VerifyError::TooManyOutcomes { outcomes });
            }
            let positive = weights
                .iter()
                .enumerate()
                .filter(|(_, weight)| **weight > 0);
            Ok(Listed::all(positive.map(|(index, weight)| {
                (index as i128, share(*weight, total))
            })))
        })
    }
}

fn share(weight: u64, total: NonZeroU64) -> Interval {
    Interval::exact(Rational::from_parts(weight.into(), total.get().into()))
}

pub(super) fn hash(asked: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    asked.hash(&mut hasher);
    hasher.finish()
}

impl CoinSource for Branching<'_> {
    fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
        let drawn = self.branch(hash(&("uniform", below)), || {
            let outcomes = below.get();
            if outcomes > MOST_OUTCOMES {
                return Err(VerifyError::TooManyOutcomes { outcomes });
            }
            let all = (0..outcomes).map(|value| (i128::from(value), share(1, below)));
            Ok(Listed::all(all))
        })?;
        u64::try_from(drawn).map_err(|_| CoinsError::OutOfRange)
    }

    fn word(&mut self) -> Result<u64, CoinsError> {
        self.fail(VerifyError::RawWord)
    }

    fn weighted(&mut self, weights: &[u64]) -> Result<usize, CoinsError> {
        let drawn = self.branch_weights(weights)?;
        usize::try_from(drawn).map_err(|_| CoinsError::OutOfRange)
    }

    fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
        match law.closed_form() {
            ClosedForm::Weights(weights) => self.branch_weights(&weights),
            ClosedForm::FollowSampler => {
                // Samplers may have paths of any length; improbable ones are cut.
                let outer = self.following;
                let since = self.position.saturating_sub(self.path.len());
                self.following = outer.or(Some(since));
                let drawn = law.sample(self);
                self.following = outer;
                drawn
            }
            support => {
                let care = self.care;
                self.branch(hash(&("law", &support)), || list(&support, &care.cut))
            }
        }
    }

    fn noise(&mut self, law: &dyn Law) -> Result<DrawnNoise, CoinsError> {
        let support = law.closed_form();
        let together = self.care.window.as_ref();
        if together.is_none_or(|window| !window.holds(&support)) {
            return self.draw(law).map(DrawnNoise::new);
        }
        self.pending.push(support);
        Ok(DrawnNoise::later(self.pending.len() - 1))
    }

    fn release(&mut self, truth: i128, noise: DrawnNoise) -> i128 {
        let law = noise.number().and_then(|number| self.pending.get(number));
        let (Some(window), Some(law)) = (&self.care.window, law.cloned()) else {
            return noise.added_to(truth);
        };
        window.meet(truth);
        let known = self.position < self.path.len();
        let asked = hash(&("release", &law, truth));
        match self.branch(asked, || window.values(&law, truth)) {
            Ok(value) => {
                if !known {
                    self.told.push((hash(&law), value));
                }
                value
            }
            // The run is discarded: what went wrong is recorded, or a sampler outside was cut.
            Err(_) => {
                self.is_cut |= self.trouble.is_none();
                truth
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Bernoulli;
    use std::cell::Cell;

    fn ratio(numerator: i64, denominator: u64) -> Rational {
        Rational::from_parts(numerator.into(), denominator.into())
    }

    fn below(number: u64) -> NonZeroU64 {
        NonZeroU64::new(number).unwrap()
    }

    /// All outcomes, and what was cut.
    fn all_of<T>(
        path: &[Choice],
        cut: &Rational,
        code: impl FnMut(&mut Branching<'_>) -> Result<T, VerifyError>,
    ) -> Result<(Vec<Outcome<T>>, Rational), VerifyError> {
        let mut list = Vec::new();
        let care = Care {
            cut: cut.clone(),
            ..Care::default()
        };
        let cut = every_path(path, &care, code, |outcome| {
            list.push(outcome);
            Ok(())
        })?;
        Ok((list, cut))
    }

    fn explore<T>(
        mut code: impl FnMut(&mut dyn CoinSource) -> T,
    ) -> Result<Vec<(T, Rational)>, VerifyError> {
        let (list, cut) = all_of(&[], &Rational::ZERO, |coins| Ok(code(coins)))?;
        assert_eq!(cut, Rational::ZERO);
        let masses = list.iter().map(|outcome| outcome.mass.low());
        let total = masses.fold(Rational::ZERO, |sum, mass| sum + mass);
        assert_eq!(total, Rational::ONE);
        Ok(list
            .into_iter()
            .map(|outcome| (outcome.result, outcome.mass.low().clone()))
            .collect())
    }

    #[test]
    fn every_branch_is_taken_once_with_its_odds() {
        let found = explore(|coins| {
            if coins.weighted(&[1, 0, 3]).unwrap() == 0 {
                return (0, coins.uniform(below(2)).unwrap() as i128);
            }
            (1, coins.draw(&Bernoulli::new(1, 3).unwrap()).unwrap())
        });
        let expected = vec![
            ((0, 0), ratio(1, 8)),
            ((0, 1), ratio(1, 8)),
            ((1, 0), ratio(1, 2)),
            ((1, 1), ratio(1, 4)),
        ];
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn code_without_draws_has_one_path() {
        assert_eq!(explore(|_| 7), Ok(vec![(7, Rational::ONE)]));
    }

    #[test]
    fn a_given_path_is_followed() {
        let code =
            |coins: &mut Branching<'_>| Ok([(); 2].map(|()| coins.uniform(below(3)).unwrap()));
        let all = all_of(&[], &Rational::ZERO, code).unwrap();
        let path = &all.0[7].path[..1];
        let below = all_of(path, &Rational::ZERO, code).unwrap();
        let found: Vec<_> = below.0.iter().map(|o| o.result).collect();
        assert_eq!(found, [[2, 0], [2, 1], [2, 2]]);
        assert_eq!(*below.0[0].mass.low(), ratio(1, 3));
    }

    #[test]
    fn another_draw_on_a_replay_is_noticed() {
        let runs = Cell::new(0);
        let wider = all_of(&[], &Rational::ZERO, |coins| {
            runs.set(runs.get() + 1);
            Ok(coins.uniform(below(1 + runs.get())).is_ok())
        });
        assert_eq!(wider.unwrap_err(), VerifyError::Diverged);

        let runs = Cell::new(0);
        let fewer = all_of(&[], &Rational::ZERO, |coins| {
            runs.set(runs.get() + 1);
            if runs.get() == 1 {
                coins.uniform(below(2)).unwrap();
            }
            Ok(())
        });
        assert_eq!(fewer.unwrap_err(), VerifyError::Diverged);
    }

    #[test]
    fn what_has_no_end_is_an_error() {
        let endless = all_of(&[], &Rational::ZERO, |coins| {
            while coins.uniform(below(2)).is_ok() {}
            Ok(())
        });
        assert_eq!(endless.unwrap_err(), VerifyError::TooManyDraws);
        let wide = all_of(&[], &Rational::ZERO, |coins| {
            Ok(coins.uniform(NonZeroU64::MAX).is_ok())
        });
        let outcomes = u64::MAX;
        assert_eq!(wide.unwrap_err(), VerifyError::TooManyOutcomes { outcomes });
    }

    /// Tosses until heads.
    #[derive(Debug)]
    struct UntilHeads;

    impl Law for UntilHeads {
        fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
            let mut tosses = 1;
            while coins.uniform(below(2))? == 0 {
                tosses += 1;
            }
            Ok(tosses)
        }
    }

    #[test]
    fn a_sampler_without_end_is_cut_at_the_stated_mass() {
        let found = all_of(&[], &ratio(1, 8), |coins| Ok(coins.draw(&UntilHeads))).unwrap();
        let masses: Vec<_> = found
            .0
            .iter()
            .map(|o| (o.result, o.mass.low().clone()))
            .collect();
        // The path of four tails has a mass of 1/16 < 1/8 and is not followed.
        assert_eq!(
            masses,
            [
                (Ok(4), ratio(1, 16)),
                (Ok(3), ratio(1, 8)),
                (Ok(2), ratio(1, 4)),
                (Ok(1), ratio(1, 2)),
            ]
        );
        assert_eq!(found.1, ratio(1, 16));
    }
}
