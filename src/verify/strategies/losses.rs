use proptest::prelude::*;

use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;

/// ε from 0 to `largest`, in hundredths.
///
/// Example: [`strategies`](crate::verify::strategies).
pub fn epsilons(largest: Epsilon) -> impl Strategy<Value = Epsilon> + Clone {
    const HUNDREDTH: u128 = 10_u128.pow(25);
    (0..=largest.units() / HUNDREDTH)
        .prop_map(|hundredths| Epsilon::from_units(hundredths * HUNDREDTH).unwrap_or_default())
}

/// δ: 0, or a power of ten from 1e-12 to 0.1.
///
/// Example: [`strategies`](crate::verify::strategies).
pub fn deltas() -> impl Strategy<Value = Delta> + Clone {
    (0..=12_u32).prop_map(|place| match place {
        0 => Delta::ZERO,
        place => Delta::from_units(10_u128.pow(38 - 13 + place)).unwrap_or_default(),
    })
}

/// (ε, δ) with ε up to `largest`.
///
/// Example: [`strategies`](crate::verify::strategies).
pub fn epsilon_deltas(largest: Epsilon) -> impl Strategy<Value = EpsilonDelta> + Clone {
    (epsilons(largest), deltas()).prop_map(|(epsilon, delta)| EpsilonDelta { epsilon, delta })
}
