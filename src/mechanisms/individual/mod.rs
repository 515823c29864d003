//! Queries for which each record pays what it can lose.
//!
//! Ask them of an [`IndividualFilter`](crate::compose::IndividualFilter), which keeps the accounts;
//! which rules it takes is said by [`ValidIndividually`](crate::account::ValidIndividually).
//!
//! | query | a record pays | under |
//! |---|---|---|
//! | [`IndividualCount`] | ε, if it is counted | any rule that prices Laplace noise |
//! | [`IndividualSum`] | ε·\|v\|/Δ for its number v | the same |
//! | [`IndividualVectorSum`] | ρ·‖v‖²/C² for its vector v | rules in which squares add up |
//! | [`IndividualChoice`] | ε·(range of its scores)/Δ | any rule that prices bounded ranges |
//! | [`ThresholdHistogram`](super::ThresholdHistogram) | (ε, δ), if it has a key | rules with (ε, δ) children |

mod choice;
mod count;
mod sum;
mod vector_sum;

pub use choice::IndividualChoice;
pub use count::IndividualCount;
pub use sum::IndividualSum;
pub use vector_sum::IndividualVectorSum;

use crate::number::{Epsilon, U256};
use crate::privacy::{Overflow, UnknownLoss};

/// ε·part/whole, rounded up.
fn share(epsilon: Epsilon, part: u64, whole: u64) -> Result<Epsilon, UnknownLoss> {
    let product = U256::whole(epsilon.units()).checked_mul(part.into());
    let units = product.and_then(|product| {
        let (units, rest) = product.div_rem(whole.max(1).into());
        units.to_u128()?.checked_add(u128::from(rest != 0))
    });
    let epsilon = units.and_then(|units| Epsilon::from_units(units).ok());
    Ok(epsilon.ok_or(Overflow)?)
}
