//! Coins that take every branch, one after the other.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU64;
use std::sync::Arc;

use super::compared::scale_of;
use super::error::MOST_DRAWS;
use super::fork::{Choice, Fork, Outcomes, mass_of};
use super::laws::{Listed, list};
use super::meter::Meter;
use super::runner::Runner;
use super::{Interval, Rational, VerifyError};
use crate::machine::{ClosedForm, CoinSource, CoinsError, DrawnNoise, Known, Later, Law};
use crate::machine::{later_of, noise_drawn, noise_later, with_noise};

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
/// Those of the draws and of `each`, [`VerifyError::Diverged`] where the same draws led elsewhere,
/// and those of the meter.
pub(super) fn every_path<T>(
    path: &[Choice],
    runner: &Runner,
    mut code: impl FnMut(&mut Branching<'_>) -> Result<T, VerifyError>,
    mut each: impl FnMut(Outcome<T>) -> Result<(), VerifyError>,
) -> Result<Rational, VerifyError> {
    let mut forks = Vec::new();
    let mut not_followed = Rational::ZERO;
    loop {
        let mut coins = Branching {
            path,
            runner,
            forks,
            position: 0,
            following: None,
            is_cut: false,
            unlisted: Rational::ZERO,
            pending: Vec::new(),
            new_pending: 0,
            told: Vec::new(),
            trouble: None,
        };
        let result = runner.meter.run(|| code(&mut coins))?;
        if coins.pending.iter().any(|later| later.is_misused()) {
            return Err(VerifyError::OtherCoins);
        }
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
            path.extend(forks.iter().map(|fork: &Fork| fork.choice));
            each(Outcome {
                result,
                path,
                mass,
                told,
            })?;
        }
        // The next path: the last fork that has another branch takes it.
        while let Some(last) = forks.pop() {
            if let Some(next) = last.next() {
                forks.push(next);
                break;
            }
        }
        if forks.is_empty() {
            return Ok(not_followed);
        }
    }
}

/// Coins that first follow a given path, then the branch that is being explored, and take the
/// first branch of every draw beyond.
#[derive(Debug)]
pub(super) struct Branching<'a> {
    path: &'a [Choice],
    runner: &'a Runner,
    forks: Vec<Fork>,
    position: usize,
    /// Inside a sampler: how many forks there were when it began.
    following: Option<usize>,
    is_cut: bool,
    /// The probability of outcomes that were not listed, at draws made first on this run.
    unlisted: Rational,
    /// Noise that is drawn when it is released or compared.
    pending: Vec<Arc<Later>>,
    /// How many of them beyond the given path.
    new_pending: usize,
    told: Vec<Told>,
    trouble: Option<VerifyError>,
}

impl<'a> Branching<'a> {
    pub(super) fn runner(&self) -> &'a Runner {
        self.runner
    }

    /// What is known of this noise, if it is one that is drawn when it is needed.
    pub(super) fn of_these_coins<'n>(
        &mut self,
        noise: &'n DrawnNoise,
    ) -> Result<Option<&'n Arc<Later>>, CoinsError> {
        let Some(later) = later_of(noise) else {
            return Ok(None);
        };
        let same = |own: &Arc<Later>| Arc::ptr_eq(own, later);
        if self.pending.get(later.number).is_some_and(same) {
            Ok(Some(later))
        } else {
            self.fail(VerifyError::OtherCoins)
        }
    }

    pub(super) fn branch(
        &mut self,
        asked: u64,
        outcomes: impl FnOnce() -> Result<Outcomes, VerifyError>,
    ) -> Result<i128, CoinsError> {
        if self.is_cut || self.trouble.is_some() {
            return Err(CoinsError::TapeEnds);
        }
        let position = self.position;
        self.position += 1;
        let recorded = match self.path.get(position) {
            Some(choice) => Some(*choice),
            None => {
                let fork = self.forks.get(position - self.path.len());
                fork.map(|fork| fork.choice)
            }
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
            if *mass.high() < self.runner.care.cut {
                // This draw is not made.
                self.position -= 1;
                self.is_cut = true;
                return Err(CoinsError::TapeEnds);
            }
        }
        let outcomes = match outcomes() {
            Ok(outcomes) => outcomes,
            Err(trouble) => return self.fail(trouble),
        };
        if let Outcomes::Listed(listed) = &outcomes
            && listed.rest > Rational::ZERO
        {
            self.unlisted += mass_of(&self.forks).high() * &listed.rest;
        }
        let Some(fork) = Fork::new(asked, outcomes) else {
            self.position -= 1;
            return Err(CoinsError::NoWeight);
        };
        let outcome = fork.choice.outcome;
        self.forks.push(fork);
        Ok(outcome)
    }

    /// Branches over a list.
    pub(super) fn branch_list(
        &mut self,
        asked: u64,
        list: impl FnOnce(&Arc<Meter>) -> Result<Listed, VerifyError>,
    ) -> Result<i128, CoinsError> {
        let meter = &self.runner.meter;
        self.branch(asked, || Ok(Outcomes::Listed(Arc::new(list(meter)?))))
    }

    /// Branches over a named law, to a cut.
    pub(super) fn branch_law(&mut self, law: &ClosedForm) -> Result<i128, CoinsError> {
        let cut = &self.runner.care.cut;
        self.branch_list(hash(&("law", law)), |meter| list(law, cut, meter))
    }

    /// Records what went wrong; the machine gets an error, whose kind does not matter.
    pub(super) fn fail<T>(&mut self, trouble: VerifyError) -> Result<T, CoinsError> {
        self.trouble.get_or_insert(trouble);
        Err(CoinsError::TapeDiverges)
    }

    /// Branches over integer weights. The weights have been checked.
    fn branch_weights(&mut self, weights: &[u64]) -> Result<i128, CoinsError> {
        let total = crate::machine::total_weight(weights)?;
        let meter = &self.runner.meter;
        let asked = hash(&("weights", weights));
        self.branch(asked, || Outcomes::weighted(weights, total, meter))
    }
}

pub(super) fn hash(asked: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    asked.hash(&mut hasher);
    hasher.finish()
}

impl CoinSource for Branching<'_> {
    fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
        let asked = hash(&("uniform", below));
        let drawn = self.branch(asked, || Outcomes::uniform(below))?;
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
            support => self.branch_law(&support),
        }
    }

    fn noise(&mut self, law: &dyn Law) -> Result<DrawnNoise, CoinsError> {
        let law_of_noise = law.closed_form();
        let together = self.runner.care.window.as_ref();
        let together = together.is_some_and(|window| window.holds(&law_of_noise));
        if !together && scale_of(&law_of_noise).is_none() {
            return self.draw(law).map(noise_drawn);
        }
        // Noise that is never needed makes no branches.
        self.new_pending += usize::from(self.position >= self.path.len());
        if self.new_pending > MOST_DRAWS {
            return self.fail(VerifyError::TooManyDraws);
        }
        let later = Arc::new(Later::new(law_of_noise, self.pending.len()));
        let noise = noise_later(&later);
        self.pending.push(later);
        Ok(noise)
    }

    fn release(&mut self, truth: i128, noise: DrawnNoise) -> i128 {
        let released = match self.of_these_coins(&noise) {
            Ok(None) => return with_noise(&noise, truth),
            Ok(Some(later)) => self.released(truth, later),
            Err(error) => Err(error),
        };
        released.unwrap_or_else(|_| self.abandon(truth))
    }

    fn at_least(&mut self, left: (i128, &DrawnNoise), right: (i128, &DrawnNoise)) -> bool {
        let found = self.compare(left, right);
        found.unwrap_or_else(|_| self.abandon(false))
    }
}

impl Branching<'_> {
    /// A truth plus noise that is drawn now.
    fn released(&mut self, truth: i128, later: &Later) -> Result<i128, CoinsError> {
        let (care, law) = (&self.runner.care, &later.law);
        if later.known() != Known::Between(None, None) {
            return Ok(truth.saturating_add(self.reveal(later)?));
        }
        let Some(window) = care.window.as_ref().filter(|window| window.holds(law)) else {
            return Ok(truth.saturating_add(self.branch_law(law)?));
        };
        window.meet(truth);
        let known = self.position < self.path.len();
        let asked = hash(&("release", law, truth));
        let value = self.branch(asked, || window.values(law, truth).map(Outcomes::Listed))?;
        if !known {
            self.told.push((hash(law), value));
        }
        Ok(value)
    }

    /// The run is discarded: what went wrong is recorded, or something was cut.
    fn abandon<T>(&mut self, instead: T) -> T {
        self.is_cut |= self.trouble.is_none();
        instead
    }
}
