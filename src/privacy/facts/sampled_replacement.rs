use super::sampled_gaussian::remembered;
use super::{Curve, Diverges, SampledGaussian};
use crate::number::{Epsilon, Order};
use crate::privacy::convert::sampled;
use crate::privacy::fdp::{FDp, Profile};
use crate::privacy::{Distance, Gdp, Prices, UnknownLoss};

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

/// That of the dominating pair.
impl Prices<SampledReplacement> for FDp {
    fn price(&self, fact: &SampledReplacement) -> Result<Profile, UnknownLoss> {
        let mu = Gdp.price(&fact.added.gaussian())?;
        Ok(Profile::sampled_replacement(fact.added.rate(), mu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Interval;
    use crate::privacy::facts::Gaussian;

    fn fact(rate: &str, mu: &str) -> SampledReplacement {
        let gaussian = Gaussian::Mu(mu.parse().unwrap());
        SampledReplacement::from(&SampledGaussian::new(rate.parse().unwrap(), gaussian))
    }

    /// ∫(P − γQ)⁺ on a grid of the plane, for rows that move the sum by u and by v.
    fn hockey_stick(rate: f64, [u, v]: [[f64; 2]; 2], gamma: f64) -> f64 {
        let step = 0.125;
        let places = || (-64..=64).map(|place| f64::from(place) * step);
        let density = |x: [f64; 2], [a, b]: [f64; 2]| {
            let square = (x[0] - a).powi(2) + (x[1] - b).powi(2);
            (-0.5 * square).exp() / std::f64::consts::TAU
        };
        let heights = places()
            .flat_map(|x| places().map(move |y| [x, y]))
            .map(|x| {
                let rest = (1.0 - rate) * density(x, [0.0, 0.0]);
                let (p, q) = (rest + rate * density(x, u), rest + rate * density(x, v));
                (p - gamma * q).max(0.0)
            });
        heights.sum::<f64>() * step * step
    }

    #[test]
    fn no_two_rows_are_worse_than_opposite_ones() {
        let mu = 1.5;
        let at = |length: f64, angle: f64| [length * angle.cos(), length * angle.sin()];
        for (rate, gamma) in [(0.2, 1.0), (0.2, 1.4), (0.7, 1.0), (0.7, 3.0)] {
            let profile = FDp
                .price(&fact(&rate.to_string(), &mu.to_string()))
                .unwrap();
            let epsilon = Interval::exactly(gamma).ln().up().unwrap();
            let bound = Interval::from(profile.worst_delta(epsilon).upper).middle();
            let u = at(mu, 0.0);
            for angle in [0.0, 0.8, 1.6, 2.4, 3.0] {
                for length in [0.0, 0.5 * mu, mu] {
                    for pair in [[u, at(length, angle)], [at(length, angle), u]] {
                        let found = hockey_stick(rate, pair, gamma);
                        // 5e-4 for the grid: (P − γQ)⁺ has a kink.
                        assert!(
                            found <= bound + 5e-4,
                            "{rate} {gamma} {pair:?}: {found} {bound}"
                        );
                    }
                }
            }
            let worst = hockey_stick(rate, [u, [-mu, 0.0]], gamma);
            assert!(
                (worst - bound).abs() < 5e-4,
                "{rate} {gamma}: {worst} {bound}"
            );
        }
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
