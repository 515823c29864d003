//! The largest number of units that fits a budget.

use rustfft::FftPlanner;

use super::super::fixed_count;
use crate::number::{Delta, Interval};
use crate::privacy::EpsilonDelta;
use crate::privacy::fdp::{Adjacency, FdpError, RepeatedMechanism, Repetitions};

/// The most units; more are never tried.
const MOST: u64 = 1 << 40;

/// How closely bounds on δ are computed, as shares of ε: the first for a first bracket, and finer
/// ones only between the numbers that the one before leaves open.
const PRECISIONS: [f64; 4] = [1e-2, 1e-3, 1e-4, 3e-5];

/// How closely a reading is computed.
const READING: f64 = 1e-3;

/// The largest number of units that is certified to fit the limit.
///
/// # Errors
///
/// [`FdpError::Endless`], and those of composing the base.
pub(super) fn most(
    chain: &RepeatedMechanism,
    limit: EpsilonDelta,
) -> Result<Repetitions, FdpError> {
    let mut planner = FftPlanner::new();
    let mut tried = |direction, units, precision| {
        let units = Repetitions(units);
        if let Some(delta) = closed(chain, units, limit) {
            return Ok(Tried::new(delta, delta, limit));
        }
        match chain.composed(units, direction, limit, precision, &mut planner) {
            Ok(delta) => Ok(Tried::new(delta.lower, delta.upper, limit)),
            // Nothing is known of it.
            Err(FdpError::TooManyPoints { .. }) => Ok(Tried::new(Delta::ZERO, Delta::ONE, limit)),
            Err(error) => Err(error),
        }
    };
    let most = largest(1, MOST, |units, precision| {
        tried(Adjacency::Remove, units, precision)
    })?;
    if most >= MOST {
        return Err(FdpError::Endless);
    }
    if most == 0 || chain.base().is_symmetric() {
        return Ok(Repetitions(most));
    }
    let most = largest(most, most, |units, precision| {
        tried(Adjacency::Add, units, precision)
    })?;
    Ok(Repetitions(most))
}

/// At least δ of this number of units at the limit's ε, to some per cent.
pub(super) fn reading(
    chain: &RepeatedMechanism,
    units: Repetitions,
    limit: EpsilonDelta,
) -> Result<Delta, FdpError> {
    match closed(chain, units, limit) {
        Some(delta) => Ok(delta),
        None => chain.delta_within(units, limit, READING),
    }
}

/// The same where no transform is needed; then it is the smallest δ, up to rounding.
fn closed(chain: &RepeatedMechanism, units: Repetitions, limit: EpsilonDelta) -> Option<Delta> {
    match chain.response() {
        Some(loss) => Some(fixed_count::composed(units.0, loss, limit.epsilon)),
        None => chain.closed(units, limit.epsilon),
    }
}

/// What bounds on δ say of a number of units.
#[derive(Clone, Copy, Debug)]
struct Tried {
    /// Whether it fits, where that is certified.
    fits: Option<bool>,
    /// ln of the upper bound on δ over the limit.
    excess: f64,
}

impl Tried {
    fn new(lower: Delta, upper: Delta, limit: EpsilonDelta) -> Self {
        let log = |delta: Delta| libm::log(Interval::from(delta).middle());
        let fits = if upper <= limit.delta {
            Some(true)
        } else {
            (lower > limit.delta).then_some(false)
        };
        Self {
            fits,
            excess: log(upper) - log(limit.delta),
        }
    }
}

/// The largest number up to `cap` that is certified to fit, if `start` is a first guess; 0 if there is
/// none.
///
/// δ grows with the number of units (Tran et al. A.16). So a number that is certified to fit certifies
/// all smaller ones, and one that is certified not to fit rules out all larger ones. A number for
/// which the bounds decide neither rules out nothing: larger ones are tried, too, and it is tried
/// again with finer bounds.
fn largest(
    start: u64,
    cap: u64,
    mut tried: impl FnMut(u64, f64) -> Result<Tried, FdpError>,
) -> Result<u64, FdpError> {
    let [coarsest, ..] = PRECISIONS;
    // All up to `low` fit. `high` and larger ones do not, or are not asked for.
    let mut low = (0, f64::NEG_INFINITY);
    let mut high = (cap.saturating_add(1), f64::INFINITY);
    let mut next = start.min(cap);
    loop {
        let mut found = tried(next, coarsest)?;
        if next == cap {
            // If the last number fits, nothing else needs to be tried.
            for precision in PRECISIONS.into_iter().skip(1) {
                if found.fits.is_none() {
                    found = tried(next, precision)?;
                }
            }
        }
        match found.fits {
            Some(true) => low = (next, found.excess),
            Some(false) => high = (next, found.excess),
            None => {}
        }
        if next == cap || found.fits == Some(false) {
            break;
        }
        next = next.saturating_mul(2).min(cap);
    }
    let mut finer = PRECISIONS.into_iter().skip(1);
    let mut precision = coarsest;
    for attempt in 0_u32.. {
        if high.0 - low.0 <= 1 {
            break;
        }
        let middle = between(low, high, attempt);
        let found = tried(middle, precision)?;
        match found.fits {
            Some(true) => low = (middle, found.excess),
            Some(false) => high = (middle, found.excess),
            None => match finer.next() {
                Some(next) => precision = next,
                // Open with the finest bounds: not certified, so it must not be admitted.
                None => high = (middle, found.excess),
            },
        }
    }
    Ok(low.0)
}

/// A number strictly between two, given with their excesses: about where the excess, taken as
/// linear, is zero, and in turn a little less, a little more, and the middle. So both ends close in on
/// it, and quickly enough if it is not linear at all.
fn between(low: (u64, f64), high: (u64, f64), attempt: u32) -> u64 {
    const ASIDE: f64 = 1.0 / 32.0;
    let zero = low.1 / (low.1 - high.1);
    let share = match attempt % 3 {
        0 if zero.is_finite() => zero - ASIDE,
        1 if zero.is_finite() => zero + ASIDE,
        _ => 0.5,
    };
    let apart = high.0 - low.0;
    let step = (share.clamp(0.0, 1.0) * apart as f64) as u64;
    low.0 + step.clamp(1, apart - 1)
}

#[cfg(test)]
mod tests;
