//! W: Whitehouse, Ramdas, Rogers, Wu, *Fully-Adaptive Composition in Differential Privacy* (2023).

use queryables::number::{Delta, Epsilon};
use queryables::privacy::UnknownLoss;

use crate::number::{above, float};

/// Advanced composition, `√(2k ln(1/δ′)) ε + kε (e^ε − 1)/(e^ε + 1)` for k launches of ε, rounded up
/// (W eq. 2, after Dwork, Rothblum and Vadhan).
///
/// **It is not a filter and not an odometer**: it holds for a number of launches and an ε that are
/// fixed in advance. As an odometer it fails ([`NaiveAdvanced`](crate::rogers::NaiveAdvanced)). As a
/// filter it holds once kε (e^ε − 1)/(e^ε + 1) is replaced by the ½Σε² that is never less (W Thm 2):
/// that is [`ThroughZCdp::simple`](queryables::account::ThroughZCdp::simple).
///
/// # Errors
///
/// [`UnknownLoss`] if the slack δ′ is zero or the bound cannot be held.
///
/// ```
/// use papers::whitehouse::advanced;
///
/// let epsilon = advanced(1000, "0.01".parse()?, "1e-6".parse()?)?;
/// assert!(epsilon > "1.7122".parse()? && epsilon < "1.7123".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn advanced(launches: u64, each: Epsilon, slack: Delta) -> Result<Epsilon, UnknownLoss> {
    if slack == Delta::ZERO {
        return Err(UnknownLoss("advanced composition needs δ′ > 0"));
    }
    let (launches, each) = (launches as f64, float(each));
    let log = -float(slack).ln();
    // (e^ε − 1)/(e^ε + 1) = tanh(ε/2), which does not overflow.
    let bound = (2.0 * launches * log).sqrt() * each + launches * each * (each / 2.0).tanh();
    above(bound).ok_or(UnknownLoss("the bound is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_scale() {
        let epsilon = |text: &str| text.parse::<Epsilon>().unwrap();
        assert_eq!(
            advanced(10, epsilon("0.1"), Delta::ZERO),
            Err(UnknownLoss("advanced composition needs δ′ > 0"))
        );
        assert_eq!(advanced(0, epsilon("0.1"), Delta::ONE), Ok(Epsilon::ZERO));
        assert_eq!(
            advanced(u64::MAX, epsilon("1e9"), Delta::ONE),
            Err(UnknownLoss("the bound is too large"))
        );
    }
}
