//! Searches, which find candidates.
//!
//! Soundness does not depend on them. Either the claim that is searched is itself certified, and the
//! answer is a point at which it said yes; or the answer is evaluated again, rounded outward, and any
//! point gives a valid bound. A bad point only gives a weak bound.
//!
//! | search | over | finds |
//! |---|---|---|
//! | [`bisect`] | numbers | two points near each other, at one of which a claim holds |
//! | [`largest`] | counts | the last one for which a claim holds |
//! | [`least`], [`most`] | units of a quantity, from a guess | the first or the last one for which a claim is certified |
//! | [`lowest`] | floats | the bottom of a valley |

/// A claim holds at `yes` and not at `no`: two points between them of which the same is true, and which
/// are near each other. It is asked in the middle, until the two are `near` or nothing is between them.
///
/// The claim need not hold at `yes` for the search to end. So a candidate is not more than that, unless
/// it is known to hold there.
pub fn bisect<T: Midpoint>(
    mut yes: T,
    mut no: T,
    mut near: impl FnMut(T, T) -> bool,
    mut holds: impl FnMut(T) -> bool,
) -> (T, T) {
    while !near(yes, no) {
        let middle = yes.midpoint(no);
        if middle == yes || middle == no {
            break;
        }
        if holds(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    (yes, no)
}

/// Numbers that [`bisect`] searches.
pub trait Midpoint: Copy + PartialEq {
    /// A number between the two, as near to one as to the other. For whole numbers it is rounded.
    fn midpoint(self, other: Self) -> Self;
}

macro_rules! midpoint {
    ($($number:ty)*) => {$(
        impl Midpoint for $number {
            fn midpoint(self, other: Self) -> Self {
                <$number>::midpoint(self, other)
            }
        }
    )*};
}
midpoint!(u64 u128 i64 f64);

/// For [`bisect`]: until nothing is between them. Only for whole numbers, because the floats between two
/// numbers are too many.
pub fn next_to_each_other<T>(_: T, _: T) -> bool {
    false
}

/// For [`bisect`]: after this number of questions.
pub fn after<T>(mut questions: u32) -> impl FnMut(T, T) -> bool {
    move |_, _| {
        let none_left = questions == 0;
        questions = questions.saturating_sub(1);
        none_left
    }
}

/// For [`bisect`]: at most `1 + 2^-bits` of the larger one apart.
pub fn apart_by(bits: u32) -> impl Fn(u128, u128) -> bool {
    move |one: u128, other: u128| one.abs_diff(other) <= 1 + (one.max(other) >> bits)
}

/// The largest number for which a claim holds that holds up to it and not beyond; 0 if there is none.
pub fn largest(mut holds: impl FnMut(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, 1);
    while holds(high) {
        low = high;
        if high == u64::MAX {
            return high;
        }
        high = high.saturating_mul(2);
    }
    bisect(low, high, next_to_each_other, holds).0
}

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
    Some(bisect(high, low, apart_by(42), holds).0)
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
    Some(bisect(low, high, apart_by(42), holds).0)
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

    /// From either side, in every kind of number, and no farther apart than asked.
    #[test]
    fn the_two_points_of_a_bisection_are_on_either_side() {
        assert_eq!(
            bisect(0_u64, u64::MAX, next_to_each_other, |x| x < 77),
            (76, 77)
        );
        assert_eq!(
            bisect(u64::MAX, 0, next_to_each_other, |x| x > 77),
            (78, 77)
        );
        assert_eq!(
            bisect(90_i64, 12, next_to_each_other, |x| x >= 40),
            (40, 39)
        );
        let mut asked = 0;
        let (yes, no) = bisect(1.0, 0.0, after(10), |x| {
            asked += 1;
            x >= 0.3
        });
        assert_eq!((asked, yes - no), (10, 1.0 / 1024.0));
        assert!(no < 0.3 && 0.3 <= yes);
        // Of floats next to each other there is no middle.
        let next = 1.0 + f64::EPSILON;
        assert_eq!(
            bisect(next, 1.0, after(60), |_| panic!("asked")),
            (next, 1.0)
        );
        let (yes, no) = bisect(1 << 100, 0, apart_by(42), |x: u128| x > 1 << 90);
        assert!(no <= 1 << 90 && 1 << 90 < yes && yes - no <= 1 + (yes >> 42));
    }

    #[test]
    fn the_largest_of_all_numbers() {
        for last in [0, 1, 2, 3, 1000, u64::MAX - 1, u64::MAX] {
            assert_eq!(largest(|number| number <= last), last);
        }
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
