use super::sampled_gaussian::remembered;
use super::{Curve, Diverges, SampledGaussian};
use crate::number::{Epsilon, Order};
use crate::privacy::convert::sampled;
use crate::privacy::{Distance, UnknownLoss};

/// Gaussian noise on a Poisson sample in which one row is replaced by another, or a postprocessing of
/// it. Each row moves the sum by at most μ standard deviations of the noise, in any direction.
///
/// ```
/// use queryables::privacy::facts::{Gaussian, SampledGaussian, SampledReplacement};
/// use queryables::privacy::{Prices, Rdp};
///
/// let added = SampledGaussian::new("0.01".parse()?, Gaussian::Mu("1".parse()?));
/// let replaced = SampledReplacement::from(&added);
/// let measure = Rdp::new("2".parse()?);
/// assert!(measure.price(&added)? < "0.0001719".parse()?);
/// assert!(measure.price(&replaced)? < "0.0004576".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// Both directions are dominated by one pair: (1 − q)N(0, 1) + qN(μ, 1) against
/// (1 − q)N(0, 1) + qN(−μ, 1). Rows that move the sum in opposite directions attain it.
///
/// *Proof.* Let N be the law of the answers without the row, P and Q those with one row and with the other,
/// X = dP/dN and Y = dQ/dN; and A(z) = 1 − q + q·e^(μz − μ²/2), with Z of law N(0, 1). That
/// [`SampledGaussian`] dominates says that E(X − γ)⁺ ≤ E(A(Z) − γ)⁺ for every γ, and the means are 1: X is
/// at most A(Z) in convex order, and so is Y.
///
/// The profile of P against Q at γ is E(X − γY)⁺. For X and Y of given laws it is largest if Y falls where X
/// rises, because (x − γy)⁺ is submodular. Then X and −γY rise together, and sums of such numbers keep the
/// convex order of their parts (Müller and Stoyan 2002). So the profile is at most E(A(Z) − γA(−Z))⁺, in
/// which A(Z) and −A(−Z) rise together and A(−Z) has the law of A(Z). That is the profile of the pair.
/// The same holds with P and Q exchanged.
#[derive(Clone, Debug)]
pub struct SampledReplacement {
    added: SampledGaussian,
    curve: Curve,
}

/// Noise on a sample which each row joins with the same probability.
impl From<&SampledGaussian> for SampledReplacement {
    fn from(added: &SampledGaussian) -> Self {
        let rate = added.rate();
        Self {
            added: added.clone(),
            curve: remembered(added.gaussian(), move |order, half| {
                sampled::replaced(order, rate, half)
            }),
        }
    }
}

impl SampledReplacement {
    /// The same for a row that is added or removed: its rate and its noise.
    #[must_use]
    pub fn added(&self) -> &SampledGaussian {
        &self.added
    }

    /// What is true at a distance: known for neighbours only.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] unless the distance is that of neighbours.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        self.added.at(distance).map(|_| self.clone())
    }
}

/// With the same rate and noise; the rest follows from them.
impl PartialEq for SampledReplacement {
    fn eq(&self, other: &Self) -> bool {
        self.added == other.added
    }
}

impl Diverges for SampledReplacement {
    fn divergence(&self, order: Order) -> Result<Epsilon, UnknownLoss> {
        self.curve.divergence(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::facts::Gaussian;

    fn fact(rate: &str, mu: &str) -> SampledReplacement {
        let gaussian = Gaussian::Mu(mu.parse().unwrap());
        SampledReplacement::from(&SampledGaussian::new(rate.parse().unwrap(), gaussian))
    }

    #[test]
    fn it_is_known_for_neighbours_only() {
        let fact = fact("0.25", "1");
        let near = fact.at(Distance::NEIGHBOURS).unwrap();
        assert_eq!(near.added().rate(), fact.added().rate());
        assert_eq!(
            fact.at(Distance::new(2).unwrap()).map(|_| ()),
            Err(UnknownLoss("several rows join a sample at another rate"))
        );
    }
}
