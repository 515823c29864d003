//! Search for the best of many valid answers.
//!
//! Soundness does not depend on this search: its result is evaluated again, rounded outward, and
//! any point gives a valid bound. A bad point only gives a weak bound.

/// Where a function with one valley is smallest between two points.
pub fn lowest(from: f64, to: f64, function: impl Fn(f64) -> f64) -> f64 {
    /// More than the functions here need, and cheap.
    const STEPS: i32 = 128;
    /// 0.618^50 = 4e-11 of two steps of the scan.
    const SECTIONS: i32 = 50;
    let value = |at: f64| {
        let value = function(at);
        if value.is_nan() { f64::INFINITY } else { value }
    };
    let step = (to - from) / f64::from(STEPS);
    let mut best = from;
    let mut best_value = value(from);
    for index in 1..=STEPS {
        let at = from + f64::from(index) * step;
        let here = value(at);
        if here < best_value {
            (best, best_value) = (at, here);
        }
    }
    // Golden section between the neighbours of the best point.
    let golden = 0.5 * (5_f64.sqrt() - 1.0);
    let (mut low, mut high) = (best - step, best + step);
    let (mut left, mut right) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_left, mut at_right) = (value(left), value(right));
    for _ in 0..SECTIONS {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - golden * (high - low);
            at_left = value(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + golden * (high - low);
            at_right = value(right);
        }
    }
    let middle = 0.5 * (low + high);
    if value(middle) <= best_value {
        middle
    } else {
        best
    }
}

/// The least number of units for which a claim is certified, to within `2^-42` of it (2.3e-13),
/// starting from a guess; `None` if it holds for none up to `largest`.
///
/// `holds` says yes only where that is proved, and the answer is one for which it said yes.
pub fn least(guess: f64, largest: u128, holds: impl Fn(u128) -> bool) -> Option<u128> {
    let mut high = (guess as u128).clamp(1, largest);
    let mut growth = (high >> 30).max(1);
    while !holds(high) {
        if high == largest {
            return None;
        }
        high = high.saturating_add(growth).min(largest);
        growth = growth.saturating_mul(8);
    }
    let mut low = high;
    let mut growth = (high >> 30).max(1);
    while low > 0 && holds(low) {
        high = low;
        low = low.saturating_sub(growth);
        growth = growth.saturating_mul(8);
    }
    if low == 0 && holds(0) {
        return Some(0);
    }
    while high - low > 1 + (high >> 42) {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// The most units for which a claim is certified, as [`least`] does it.
pub fn most(guess: f64, largest: u128, holds: impl Fn(u128) -> bool) -> Option<u128> {
    if holds(largest) {
        return Some(largest);
    }
    if !holds(0) {
        return None;
    }
    let mut high = (guess as u128).clamp(1, largest);
    let mut growth = (high >> 30).max(1);
    while holds(high) {
        high = high.saturating_add(growth).min(largest);
        growth = growth.saturating_mul(8);
    }
    let mut low = high;
    let mut growth = (high >> 30).max(1);
    while !holds(low) {
        high = low;
        low = low.saturating_sub(growth);
        growth = growth.saturating_mul(8);
    }
    while high - low > 1 + (high >> 42) {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valleys_are_found() {
        for bottom in [-3.0, 0.1, 7.77] {
            let found = lowest(-10.0, 10.0, |x| (x - bottom).abs());
            assert!((found - bottom).abs() < 1e-8, "{found} {bottom}");
        }
        // A function that is NaN everywhere.
        assert!(lowest(0.0, 1.0, |_| f64::NAN).is_finite());
    }

    #[test]
    fn the_first_and_the_last() {
        for guess in [0.0, 1.0, 999.0, 1e30] {
            assert_eq!(least(guess, 1_000_000, |x| x >= 1234), Some(1234));
            assert_eq!(most(guess, 1_000_000, |x| x <= 1234), Some(1234));
        }
        assert_eq!(least(5.0, 10, |_| true), Some(0));
        assert_eq!(least(5.0, 10, |_| false), None);
        assert_eq!(least(5.0, 10, |x| x == 10), Some(10));
        assert_eq!(most(5.0, 10, |_| true), Some(10));
        assert_eq!(most(5.0, 10, |_| false), None);
        assert_eq!(most(5.0, 10, |x| x == 0), Some(0));
    }
}
