//! Example 2.8: analyses that are Lipschitz in every record.
//!
//! If g is L_i-Lipschitz in its i-th argument, then `g(φ(X₁), …, φ(X_n)) + N(0, σ²)` costs record i at
//! most αL_i²‖φ(X_i)‖²/(2σ²) at order α, that is ρ = L_i²‖φ(X_i)‖²/(2σ²): a removed record is replaced by
//! one whose φ is the origin. The library has the case of a sum, in which every L_i is 1
//! ([`IndividualVectorSum`](queryables::mechanisms::individual::IndividualVectorSum)). Others are no
//! part of it, because a Lipschitz constant cannot be checked: it would be a claim without a proof.

/// ρ of one record: what it can lose under zCDP, at every order.
///
/// ```
/// use papers::feldman_zrnic::lipschitz_loss;
///
/// // A mean of n numbers is 1/n-Lipschitz in each.
/// let loss = lipschitz_loss(0.01, &[3.0, 4.0], 0.5);
/// assert!((loss - 0.005).abs() < 1e-15);
/// ```
#[must_use]
pub fn lipschitz_loss(lipschitz: f64, embedded: &[f64], sigma: f64) -> f64 {
    let square: f64 = embedded.iter().map(|x| x * x).sum();
    lipschitz * lipschitz * square / (2.0 * sigma * sigma)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Analysis = fn(&[f64]) -> f64;

    /// D_α between Gaussians of one deviation is α times this, at every order.
    fn divergence(one: f64, other: f64, sigma: f64) -> f64 {
        (one - other).powi(2) / (2.0 * sigma * sigma)
    }

    fn median(values: &[f64]) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    fn length(values: &[f64]) -> f64 {
        values.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    fn largest(values: &[f64]) -> f64 {
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Every analysis, every record and many datasets: no record loses more, and some lose all of it.
    #[test]
    fn no_record_loses_more_than_the_example_says() {
        let analyses: [(Analysis, f64); 4] = [
            (median, 1.0),
            (length, 1.0),
            (largest, 1.0),
            (|values| values.iter().sum::<f64>() / 7.0, 1.0 / 7.0),
        ];
        let sigma = 0.7;
        let mut state = 1_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as f64 / f64::from(1_u32 << 31) * 4.0 - 2.0
        };
        for (analysis, lipschitz) in analyses {
            let mut tightest = 0.0_f64;
            for _ in 0..2000 {
                let values: Vec<f64> = (0..7).map(|_| next()).collect();
                for record in 0..values.len() {
                    let mut removed = values.clone();
                    removed[record] = 0.0;
                    let lost = divergence(analysis(&values), analysis(&removed), sigma);
                    let stated = lipschitz_loss(lipschitz, &values[record..=record], sigma);
                    assert!(lost <= stated * (1.0 + 1e-9), "{lost} {stated}");
                    tightest = tightest.max(lost / stated);
                }
            }
            // Half of the constant, a quarter of the loss, would not do.
            assert!(tightest > 0.25, "{tightest}");
        }
    }
}
