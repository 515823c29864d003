use super::*;

/// Circular convolution, term by term.
fn convolved(one: &[f64], other: &[f64]) -> Vec<f64> {
    let length = one.len();
    (0..length)
        .map(|k| {
            (0..length)
                .map(|j| one[j] * other[(k + length - j) % length])
                .sum()
        })
        .collect()
}

fn law(length: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let odds: Vec<f64> = (0..length)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f64
        })
        .collect();
    let sum: f64 = odds.iter().sum();
    odds.iter().map(|odds| odds / sum).collect()
}

#[test]
fn products_of_powers_are_convolutions_within_the_error() {
    for length in [16, 64, 256] {
        let (a, b) = (law(length, 1), law(length, 2));
        let (c, d) = (law(length, 3), law(length, 4));
        let pack = |one: &[f64], other: &[f64]| -> Vec<Complex<f64>> {
            let pairs = one.iter().zip(other);
            pairs
                .map(|(one, other)| Complex::new(*one, *other))
                .collect()
        };
        let mut planner = FftPlanner::new();
        let mut product = Product::new(length);
        product.multiply(&mut planner, pack(&a, &b), 3);
        product.multiply(&mut planner, pack(&c, &d), 1);
        let (values, error) = product.inverse(&mut planner);
        assert!(error > 0.0 && error < 1e-11, "{error}");
        let truth =
            |one: &[f64], other: &[f64]| convolved(&convolved(&convolved(one, one), one), other);
        for (truth, part) in [(truth(&a, &c), 0), (truth(&b, &d), 1)] {
            let off: f64 = values
                .iter()
                .zip(&truth)
                .map(|(value, truth)| ([value.re, value.im][part] - truth).abs())
                .sum();
            assert!(off < error, "{off} is more than {error}");
            // The bound is for the worst case: if it were ten times smaller, it should still hold.
            assert!(off < 0.1 * error, "{off} is near {error}");
        }
    }
}

#[test]
fn sharp_laws_keep_their_places() {
    // All of the probability at one place: every coefficient has modulus 1.
    let length = 1024;
    let mut values = vec![Complex::new(0.0, 0.0); length];
    values[5] = Complex::new(1.0, 0.5);
    let mut planner = FftPlanner::new();
    let mut product = Product::new(length);
    product.multiply(&mut planner, values, 7);
    let (values, error) = product.inverse(&mut planner);
    let rest: f64 = values
        .iter()
        .enumerate()
        .filter(|(k, _)| *k != 35)
        .map(|(_, v)| v.norm())
        .sum();
    assert!(rest <= 2.0 * error);
    assert!((values[35].re - 1.0).abs() <= error);
    assert!((values[35].im - 0.5_f64.powi(7)).abs() <= error);
    assert!(error < 1e-9, "{error}");
}

#[test]
fn the_bound_is_what_the_proof_says() {
    // Per level: √5 u and u for the arithmetic, 9 u for the angle and √2 · 2 u for sine and cosine;
    // in the 2-norm times √2.
    let level = 2_f64.sqrt() * (5_f64.sqrt() + 1.0 + 9.0 + 2.0 * 2_f64.sqrt());
    for levels in 1..=30 {
        let proved = ((1.0 + level * UNIT).ln() * f64::from(levels)).exp_m1();
        assert!(transform_error(1 << levels) >= proved);
    }
}

#[test]
fn absurdly_many_launches_are_no_bound() {
    let mut planner = FftPlanner::new();
    let mut product = Product::new(16);
    product.multiply(
        &mut planner,
        vec![Complex::new(0.0625, 0.0625); 16],
        u64::MAX,
    );
    assert_eq!(product.inverse(&mut planner).1, f64::INFINITY);
}
