use super::{additive, written};
use crate::number::Rho;
use crate::privacy::Reentrant;
use crate::privacy::{Distance, Measure, Overflow, Postprocessable, UnknownLoss};

/// ρ-zero-concentrated privacy: the Rényi divergence of every order α is at most ρα
/// (Haney et al. 4.4).
///
/// Example: [`AnyFilter`](crate::compose::AnyFilter).
#[doc(alias = "concentrated")]
#[doc(alias = "zero-concentrated")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ZCdp;

impl Measure for ZCdp {
    type Loss = Rho;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> Rho {
        Rho::ZERO
    }

    fn join(&self, one: &Rho, other: &Rho) -> Rho {
        *one.max(other)
    }

    /// `k²·ρ` (Bun and Steinke 2016, Proposition 1.9).
    fn group(&self, loss: &Rho, distance: Distance) -> Result<Rho, UnknownLoss> {
        let steps = distance.steps();
        let group = loss
            .checked_mul(steps)
            .and_then(|rho| rho.checked_mul(steps));
        Ok(group.ok_or(Overflow)?)
    }
}

impl Postprocessable for ZCdp {}

additive!(ZCdp);

written!(ZCdp);
