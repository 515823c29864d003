/// Moments of the privacy loss ln P/Q of a sampled Gaussian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Its mean under P.
    pub mean_p: f64,
    /// Its mean under Q.
    pub mean_q: f64,
    /// Its variance under P.
    pub variance_p: f64,
    /// Its variance under Q.
    pub variance_q: f64,
}

/// The moments for a rate and a deviation σ, at sensitivity 1, to some ten digits.
///
/// By the trapezoidal rule, whose error falls faster than any power of the step for a function
/// that is smooth and falls like e^(−x²/2).
///
/// ```
/// use queryables::privacy::fdp::asymptotic::moments;
///
/// let moments = moments(0.01, 1.0);
/// assert!((moments.mean_p - 8.38122076508e-5).abs() < 1e-14);
/// ```
#[must_use]
pub fn moments(rate: f64, sigma: f64) -> Moments {
    const STEPS: i32 = 64;
    let mu = 1.0 / sigma;
    let from = (-40 * STEPS) / 3;
    let to = (libm::ceil(mu + 14.0) as i32).saturating_mul(STEPS);
    let mut sums = [0.0_f64; 5];
    for index in from..=to {
        let x = f64::from(index) / f64::from(STEPS);
        let excess = rate * libm::expm1(mu * x - 0.5 * mu * mu);
        let loss = libm::log1p(excess);
        let density = libm::exp(-0.5 * x * x);
        // ln(1+e) − e, so that the mean, which is far smaller than the loss, is precise.
        for (sum, value) in sums.iter_mut().zip([
            density,
            density * (loss - excess),
            density * loss * loss,
            density * (loss - excess) * (1.0 + excess) + density * excess * excess,
            density * loss * loss * (1.0 + excess),
        ]) {
            *sum += value;
        }
    }
    let [whole, mean_q, square_q, mean_p, square_p] = sums;
    // E_Q[e] = 0 and E_P[e] = E_Q[e²].
    let [mean_q, square_q, mean_p, square_p] =
        [mean_q, square_q, mean_p, square_p].map(|sum| sum / whole);
    Moments {
        mean_p,
        mean_q,
        variance_p: square_p - mean_p * mean_p,
        variance_q: square_q - mean_q * mean_q,
    }
}
