//! Keys that are not known in advance, and quantiles: exact odds against their claims.

use crate::support::*;
use queryables::data::Attribute;
use queryables::mechanisms::{GaussianThresholdHistogram, NoisyQuantiles, ThresholdHistogram};
use queryables::number::{Delta, Epsilon};
use queryables::privacy::{AddRemove, ApproxDp, EpsilonDelta, PureDp, Replace};
use queryables::verify::{Pair, Verifier, copies_of};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn key(row: &u8) -> Option<u8> {
    Some(*row)
}

/// δ plus or minus this many units of 1e-9.
fn near(delta: Delta, billionths: i64) -> Delta {
    let units = delta.units() as i128 + i128::from(billionths) * 10_i128.pow(29);
    Delta::from_units(units as u128).unwrap()
}

/// Asserts that (ε, δ) holds, and with a smaller δ does not; up to this many billionths, which may be
/// cut from the noise.
macro_rules! assert_tight {
    ($verifier:expr, $at:expr, $delta:expr, $billionths:expr) => {
        let (verifier, epsilon) = (&$verifier, epsilon($at));
        let claim = |billionths| EpsilonDelta {
            epsilon,
            delta: near($delta, billionths),
        };
        verifier.assert_private(&ApproxDp, &claim($billionths));
        let less = verifier.check(&ApproxDp, &claim(-$billionths)).unwrap();
        assert!(less.is_refuted(), "{less}");
    };
}

/// Where the threshold is reached exactly, the key is released: with q = e^(−1) and a threshold of 3
/// that makes q²/(1 + q), where q³/(1 + q) would be claimed if it were not counted.
#[test]
fn an_unknown_key_has_its_delta_at_every_epsilon() {
    let pair = Pair::new(vec![], vec![7_u8]);
    let histogram = ThresholdHistogram::with_threshold(AddRemove, "key", key, 3, epsilon("1"));
    let histogram = histogram.unwrap();
    let q = (-1.0_f64).exp();
    let delta: f64 = histogram.delta().to_string().parse().unwrap();
    assert!((delta - q * q / (1.0 + q)).abs() < 1e-15);
    let verifier = Verifier::new(copies_of(&histogram), &pair, vec![()], 1);
    for at in ["0", "1", "7"] {
        assert_tight!(verifier, at, histogram.delta(), 10);
    }
    let atomless = EpsilonDelta::new("1", "0.036398").unwrap();
    assert!(q.powi(3) / (1.0 + q) < 0.036398);
    assert!(verifier.check(&ApproxDp, &atomless).unwrap().is_refuted());
}

#[test]
fn a_key_of_both_sides_loses_epsilon_and_no_delta() {
    let pair = Pair::new(vec![7_u8], vec![7, 7]);
    let histogram = ThresholdHistogram::with_threshold(AddRemove, "key", key, 3, epsilon("1"));
    let histogram = histogram.unwrap();
    let verifier = Verifier::new(copies_of(&histogram), &pair, vec![()], 1);
    verifier.assert_private(&ApproxDp, &EpsilonDelta::new("1", "1e-8").unwrap());
    let less = EpsilonDelta::new("0.99", "1e-8").unwrap();
    assert!(verifier.check(&ApproxDp, &less).unwrap().is_refuted());
}

/// Each side may have a key of its own, and still it is one δ and not two.
#[test]
fn a_replaced_row_has_the_same_delta() {
    let histogram = ThresholdHistogram::with_threshold(Replace, "key", key, 3, epsilon("1"));
    let histogram = histogram.unwrap();
    for (one, other) in [
        // A key each, a key of one side and one of both, both keys of both sides.
        (&[7][..], &[8][..]),
        (&[7, 7], &[7, 8]),
        (&[7, 7, 8], &[7, 8, 8]),
    ] {
        let pair = Pair::new(one.to_vec(), other.to_vec());
        let verifier = Verifier::new(copies_of(&histogram), &pair, vec![()], 1);
        let verifier = verifier.cut(ratio(1, 100_000));
        let claim = |billionths| EpsilonDelta {
            epsilon: epsilon("1"),
            delta: near(histogram.delta(), billionths),
        };
        verifier.assert_private(&ApproxDp, &claim(50_000));
        if one.len() == 1 {
            let less = verifier.check(&ApproxDp, &claim(-50_000)).unwrap();
            assert!(less.is_refuted(), "{less}");
        }
    }
}

#[test]
fn a_gaussian_threshold_has_its_delta_at_every_epsilon() {
    let pair = Pair::new(vec![], vec![7_u8]);
    let rho = "0.5".parse().unwrap();
    let histogram = GaussianThresholdHistogram::with_threshold(AddRemove, "key", key, 3, rho);
    let histogram = histogram.unwrap();
    // Φ(−3/2).
    assert!(
        histogram
            .delta()
            .to_string()
            .starts_with("0.06680720126885806")
    );
    let verifier = Verifier::new(copies_of(&histogram), &pair, vec![()], 1);
    for at in ["0", "3"] {
        assert_tight!(verifier, at, histogram.delta(), 10);
    }
}

#[test]
fn quantiles_keep_their_loss() {
    let value = || Attribute::new("value", |row: &u8| i64::from(*row));
    let median = NoisyQuantiles::new(AddRemove, value(), 0..=20, [(1, 2)], epsilon("1")).unwrap();
    let pair = Pair::new(vec![2_u8], vec![2, 20]);
    let verifier = Verifier::new(copies_of(&median), &pair, vec![()], 1);
    assert!(verifier.check(&PureDp, &epsilon("1")).unwrap().holds());
    assert!(
        verifier
            .check(&PureDp, &epsilon("0.8"))
            .unwrap()
            .is_refuted()
    );
    // Two of them, in order, for a replaced row.
    let quantiles = [(1, 3), (2, 3)];
    let two = NoisyQuantiles::new(Replace, value(), 0..=4, quantiles, epsilon("1")).unwrap();
    let pair = Pair::new(vec![0_u8, 2, 4], vec![4, 2, 4]);
    let verifier = Verifier::new(copies_of(&two), &pair, vec![()], 1);
    assert!(verifier.check(&PureDp, &epsilon("1")).unwrap().holds());
    assert!(
        verifier
            .check(&PureDp, &epsilon("0.2"))
            .unwrap()
            .is_refuted()
    );
}
