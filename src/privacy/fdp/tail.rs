//! The normal distribution in floats, enclosed.

use crate::number::Interval;

/// Floats outward from what `libm::erfc` gives: its source states an error below one unit in the
/// last place, and we take four.
const STEPS: u32 = 4;

/// Below this, results are so small that a float no longer has all its digits.
const TINY: f64 = 1e-300;

/// Φ(−t), for any t: erfc(t/√2)/2, which falls in t.
pub(super) fn tail(t: Interval) -> Interval {
    let root = std::f64::consts::FRAC_1_SQRT_2;
    let scaled = t * Interval::between(root.next_down(), root.next_up());
    let (mut low, mut high) = (libm::erfc(scaled.high()), libm::erfc(scaled.low()));
    for _ in 0..STEPS {
        (low, high) = (low.next_down(), high.next_up());
    }
    // Halving is exact above the smallest floats, and what is lost there is less than TINY.
    Interval::between((0.5 * low - TINY).max(0.0), (0.5 * high + TINY).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::oracle;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_tail_is_enclosed(t in prop_oneof![-9.0..9.0, -1e-3..1e-3, 5.0..30.0_f64]) {
            let given = tail(Interval::exactly(t));
            let truth = oracle::real(1.0) - oracle::cdf(&oracle::real(t));
            let truth = if t > 0.0 { oracle::tail(&oracle::real(t)) } else { truth };
            prop_assert!(oracle::real(given.low()) <= truth, "{given:?}");
            prop_assert!(oracle::real(given.high()) >= truth, "{given:?}");
            // x²ε of relative error comes from rounding t/√2.
            let width = 1e-15 * (3.0 + t * t) * given.high() + 3e-300;
            prop_assert!(given.high() - given.low() <= width, "{given:?} is wide");
        }
    }

    #[test]
    fn far_out_is_tiny_but_not_nothing() {
        for t in [37.0, 38.5, 50.0, 1e300, f64::INFINITY] {
            let given = tail(Interval::exactly(t));
            assert!(given.low() >= 0.0 && given.high() > 0.0 && given.high() < 1e-280);
        }
        assert_eq!(tail(Interval::exactly(f64::NEG_INFINITY)).high(), 1.0);
    }
}
