//! Composition that is **not a filter**: bounds for launches whose losses and number are fixed in
//! advance, to compare with.
//!
//! Stopping where such a bound reaches a budget is not private: an analyst who chooses losses as
//! answers come in can break it (Rogers et al. 6.1). So nothing here is a rule, and no compositor
//! takes it.

use crate::privacy::convert::{log_inverse, loss_up, probability_up};
use crate::privacy::{Delta, Epsilon, EpsilonDelta, Interval, UnknownLoss};

/// Advanced composition: `√(2k ln(1/δ′)) ε + kε (e^ε − 1)/(e^ε + 1)` for k launches of ε, rounded up
/// (Whitehouse et al. eq. 2, after Dwork, Rothblum and Vadhan).
///
/// # Errors
///
/// [`UnknownLoss`] if the slack δ′ is zero or the bound cannot be held.
///
/// ```
/// use queryables::account::nonadaptive;
///
/// let epsilon = nonadaptive::advanced(1000, "0.01".parse()?, "1e-6".parse()?)?;
/// assert!(epsilon < "1.7123".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn advanced(launches: u64, each: Epsilon, slack: Delta) -> Result<Epsilon, UnknownLoss> {
    let log = log_inverse(slack)?;
    if each == Epsilon::ZERO || launches == 0 {
        return Ok(Epsilon::ZERO);
    }
    let (launches, each) = (Interval::whole(u128::from(launches)), Interval::from(each));
    // (e^ε − 1)/(e^ε + 1) = (1 − e^-ε)/(1 + e^-ε), which does not overflow.
    let less = (-each).exp_m1();
    let drift = -less / (Interval::TWO + less);
    loss_up((Interval::TWO * launches * log).sqrt() * each + launches * each * drift)
}

/// The smallest δ such that any k launches of ε-DP, fixed in advance, are together (ε_total, δ)-DP,
/// rounded up: that of k-fold randomized response (Kairouz, Oh, Viswanath 2015).
///
/// `Σ_j P(j) (1 − e^(ε_total − (k−2j)ε))⁺`, where j of the k responses, binomially many with
/// probability 1/(1 + e^ε), are lies. The time grows like √k.
///
/// ```
/// use queryables::account::nonadaptive;
///
/// let delta = nonadaptive::tight_delta(10, "0.1".parse()?, "0.5".parse()?);
/// assert!(delta > "0.009929".parse()? && delta < "0.00993".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn tight_delta(launches: u64, each: Epsilon, total: Epsilon) -> Delta {
    if each == Epsilon::ZERO || launches == 0 {
        return Delta::ZERO;
    }
    // Basic composition: where the largest loss is no more than the total, δ is zero.
    if each
        .checked_mul(launches)
        .is_some_and(|largest| largest <= total)
    {
        return Delta::ZERO;
    }
    let binomial = Binomial {
        launches,
        each: each.into(),
        total: total.into(),
    };
    // Weights relative to the likeliest j, walking away from it on either side.
    let likeliest = libm::floor(launches as f64 / (1.0 + libm::exp(binomial.each.middle())));
    let start = (likeliest as u64).min(launches);
    let mut sums = Sums::default();
    sums.count(Interval::ONE, binomial.gain(start));
    let factor = binomial.each.exp();
    sums.walk((0..start).rev(), &binomial, Gains::Rise, |j| {
        // From j + 1 to j.
        Interval::whole(u128::from(j) + 1) / Interval::whole(u128::from(launches - j)) * factor
    });
    sums.walk(start + 1..=launches, &binomial, Gains::Fall, |j| {
        // From j − 1 to j.
        Interval::whole(u128::from(launches - j) + 1) / Interval::whole(u128::from(j)) / factor
    });
    probability_up(sums.part / sums.whole)
}

struct Binomial {
    launches: u64,
    each: Interval,
    total: Interval,
}

impl Binomial {
    /// `(1 − e^(ε_total − (k−2j)ε))⁺`.
    fn gain(&self, lies: u64) -> Interval {
        let (truths, lies) = (u128::from(self.launches - lies), u128::from(lies));
        if truths <= lies {
            return Interval::ZERO;
        }
        let loss = Interval::whole(truths - lies) * self.each;
        (-(self.total - loss).exp_m1()).max(Interval::ZERO)
    }
}

/// Σ of weights, and Σ of weights times gains.
struct Sums {
    whole: Interval,
    part: Interval,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            whole: Interval::ZERO,
            part: Interval::ZERO,
        }
    }
}

impl Sums {
    fn count(&mut self, weight: Interval, gain: Interval) {
        self.whole = self.whole + weight;
        if gain.high() > 0.0 {
            self.part = self.part + weight * gain;
        }
    }

    /// Counts a side of the distribution, until what is left cannot matter. The ratio of
    /// successive weights falls on the way out, the gains rise or fall.
    fn walk(
        &mut self,
        side: impl Iterator<Item = u64>,
        binomial: &Binomial,
        gains: Gains,
        ratio: impl Fn(u64) -> Interval,
    ) {
        /// What may be left out, of either sum: below the 1e-9 that is promised, above the 1e-16
        /// of a float.
        const NEGLIGIBLE: f64 = 1e-13;
        /// Or of certainty: far below the 1e-38 that δ resolves.
        const NOTHING: f64 = 1e-60;
        let mut weight = Interval::ONE;
        for j in side {
            let ratio = ratio(j);
            let gain = binomial.gain(j);
            if ratio.high() < 1.0 {
                // What is left, this j included, is at most a geometric series, and a gain at
                // most 1.
                let rest = (weight * ratio / (Interval::ONE - ratio)).high();
                let gains_nothing = gains == Gains::Fall && gain.high() == 0.0;
                let part = if gains_nothing { 0.0 } else { rest };
                let negligible =
                    rest <= NEGLIGIBLE * self.whole.low() && part <= NEGLIGIBLE * self.part.low();
                if negligible || rest < NOTHING {
                    self.whole = self.whole + Interval::between(0.0, rest);
                    self.part = self.part + Interval::between(0.0, part);
                    return;
                }
            }
            weight = weight * ratio;
            self.count(weight, gain);
        }
    }
}

/// How gains change along a walk.
#[derive(PartialEq)]
enum Gains {
    Rise,
    Fall,
}

/// How many launches of ε, fixed in advance, fit a budget, by [`tight_delta`]: no rule for pure
/// children can admit more.
///
/// ```
/// use queryables::account::nonadaptive;
/// use queryables::privacy::EpsilonDelta;
///
/// let budget = EpsilonDelta::new("1", "1e-6")?;
/// assert_eq!(nonadaptive::tight_launches("0.01".parse()?, budget), 562);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn tight_launches(each: Epsilon, budget: EpsilonDelta) -> u64 {
    super::compare::largest(|launches| tight_delta(launches, each, budget.epsilon) <= budget.delta)
}
