//! Noise with rational odds.

use queryables::machine::{Coins, Fault};

/// `value` plus two-sided geometric noise, clamped to `0..=most`. The odds fall by a factor of `base` with
/// each step, so that a release costs `ln base` for each step by which the value changes.
///
/// P(noise = k) is in proportion to `(base − 1)·base^−|k|`, and P(noise ≥ t) to `base^(1−t)`, for t ≥ 0 and
/// with the same factor.
pub(crate) fn geometric(
    value: u64,
    most: u64,
    base: u64,
    coins: &mut Coins<'_>,
) -> Result<u64, Fault> {
    let value = value.min(most);
    let scale = u32::try_from(most).map_err(|_| Fault::Failed)?;
    let weight = |answer: u64| {
        let distance = u32::try_from(answer.abs_diff(value)).ok()?;
        let ends = answer == 0 || answer == most;
        let (factor, exponent) = match ends {
            true => (1, scale + 1 - distance),
            false => (base - 1, scale - distance),
        };
        base.checked_pow(exponent)?.checked_mul(factor)
    };
    let weights: Option<Vec<u64>> = (0..=most).map(weight).collect();
    Ok(coins.weighted(&weights.ok_or(Fault::Failed)?)? as u64)
}

/// The bit, told truly `odds` times for each lie: it costs `ln odds`.
pub(crate) fn respond(bit: bool, odds: u64, coins: &mut Coins<'_>) -> Result<bool, Fault> {
    Ok(bit ^ (coins.weighted(&[odds, 1])? == 1))
}
