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
/// use papers::tran::asymptotic::moments;
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
        let exponent = mu * x - 0.5 * mu * mu;
        let excess = rate * libm::expm1(exponent);
        let loss = if rate == 1.0 {
            // Far to the left the excess is rounded to −1.
            exponent
        } else {
            libm::log1p(excess)
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: Moments, exact: [f64; 4]) {
        let Moments {
            mean_p,
            mean_q,
            variance_p,
            variance_q,
        } = found;
        for (found, exact) in [mean_p, mean_q, variance_p, variance_q].iter().zip(exact) {
            assert!((found / exact - 1.0).abs() < 1e-10, "{found} {exact}");
        }
    }

    /// Means and variances are integrals against the two densities, by Gauss–Legendre quadrature in
    /// 40 digits (mpmath), with each variance as the mean of (L − E L)². Far from both limits the four
    /// numbers have different sizes.
    #[test]
    fn moments_are_those_of_the_densities() {
        for (rate, sigma, exact) in [
            (
                0.01,
                1.0,
                [
                    8.381_220_765_083_18e-5,
                    -8.188_976_914_062_578e-5,
                    1.716_305_062_474_135e-4,
                    1.600_866_476_963_36e-4,
                ],
            ),
            (
                0.9,
                5.0,
                [
                    0.016_203_259_683_924_35,
                    -0.016_144_774_366_003_36,
                    0.032_522_801_534_159_22,
                    0.032_171_894_575_910_03,
                ],
            ),
            (
                0.5,
                1.0,
                [
                    0.138_578_517_815_263_8,
                    -0.111_421_482_184_736_2,
                    0.342_992_375_126_680_1,
                    0.178_465_242_309_929_9,
                ],
            ),
            (
                0.25,
                0.5,
                [
                    0.234_346_692_741_086_1,
                    -0.118_079_718_826_167_2,
                    0.904_934_701_010_149_4,
                    0.117_123_572_391_541_9,
                ],
            ),
        ] {
            assert_near(moments(rate, sigma), exact);
        }
    }

    /// At rate 1 the loss is μx − μ²/2: a Gaussian value of variance μ² around μ²/2 or −μ²/2.
    #[test]
    fn without_sampling_they_are_those_of_a_gaussian() {
        for mu in [0.25_f64, 1.0, 3.0] {
            let square = mu * mu;
            let exact = [square / 2.0, -square / 2.0, square, square];
            assert_near(moments(1.0, 1.0 / mu), exact);
        }
    }
}
