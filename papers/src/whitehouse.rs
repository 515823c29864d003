//! W: Whitehouse, Ramdas, Rogers, Wu, *Fully-Adaptive Composition in Differential Privacy* (2023).

mod conditional_response;

pub use conditional_response::{ConditionalResponse, ConditionalResponseMachine};

use queryables::number::{Delta, Epsilon};
use queryables::privacy::{EpsilonDelta, UnknownLoss};

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

/// Advanced composition for launches with different ε and δ (W eq. 2), rounded up:
/// `√(2 ln(1/δ′) Σε²) + Σ ε (e^ε − 1)/(e^ε + 1)`, and δ′ + Σδ.
///
/// As [`advanced`], **it is not a filter and not an odometer**: all parameters are fixed in advance.
/// [`FixedInAdvance`](queryables::account::FixedInAdvance) is exact, and a filter.
///
/// # Errors
///
/// [`UnknownLoss`] if the slack δ′ is zero or the bound cannot be held.
pub fn advanced_of(losses: &[EpsilonDelta], slack: Delta) -> Result<EpsilonDelta, UnknownLoss> {
    if slack == Delta::ZERO {
        return Err(UnknownLoss("advanced composition needs δ′ > 0"));
    }
    let (mut squares, mut drift, mut deltas) = (0.0, 0.0, float(slack));
    for loss in losses {
        let epsilon = float(loss.epsilon);
        squares += epsilon * epsilon;
        drift += epsilon * (epsilon / 2.0).tanh();
        deltas += float(loss.delta);
    }
    let bound = (-2.0 * float(slack).ln() * squares).sqrt() + drift;
    match (above(bound), above(deltas)) {
        (Some(epsilon), Some(delta)) => Ok(EpsilonDelta { epsilon, delta }),
        _ => Err(UnknownLoss("the bound is too large")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use queryables::account::FixedInAdvance;
    use queryables::account::menu::MenuError;

    /// Against the exact composition of what is fixed in advance.
    #[test]
    fn different_losses_are_within_the_bound() {
        let pair = |epsilon, delta| EpsilonDelta::new(epsilon, delta).unwrap();
        let mut losses = vec![pair("0.05", "0"); 40];
        losses.extend(vec![pair("0.1", "1e-7"); 10]);
        losses.push(pair("0.5", "0"));
        let slack = "1e-4".parse().unwrap();
        let bound = advanced_of(&losses, slack).unwrap();
        let deltas = ["1.01e-4", "1.010000001e-4"].map(|text| text.parse::<Delta>().unwrap());
        assert!(deltas[0] <= bound.delta && bound.delta < deltas[1]);
        assert!(bound.epsilon > "3.0".parse().unwrap() && bound.epsilon < "3.2".parse().unwrap());
        let step = "0.05".parse().unwrap();
        let exact = |limit| FixedInAdvance::new(limit, step, losses.clone());
        assert!(exact(bound).is_ok());
        // With a third of it, it is over.
        let third = EpsilonDelta {
            epsilon: Epsilon::from_units(bound.epsilon.units() / 3).unwrap(),
            ..bound
        };
        assert!(matches!(exact(third), Err(MenuError::OverBudget { .. })));
        // Equal ones are the other form.
        let equal = advanced_of(&[pair("0.3", "0"); 20], slack).unwrap();
        assert_eq!(
            Ok(equal.epsilon),
            advanced(20, "0.3".parse().unwrap(), slack)
        );
        let missing = Err(UnknownLoss("advanced composition needs δ′ > 0"));
        assert_eq!(advanced_of(&losses, Delta::ZERO), missing);
    }

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
