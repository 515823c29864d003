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
/// *Proof.* Which other rows are in the sample has the same law on both sides. Given them, the sums
/// are Gaussian mixtures, in units of the noise and around the sum of the others:
/// P = (1 − q)N(0, I) + qN(u, I) and Q = (1 − q)N(0, I) + qN(v, I), with u and v of length at most μ.
/// Hockey-stick divergences are jointly convex, so the largest one given the others bounds the whole. For
/// γ ≥ 1 it is ∫(P − γQ)⁺. With n_u for the density of N(u, I), P − γQ is
/// q·n_u·(1 − R), where R = w·n_0/n_u + γ·n_v/n_u and w = (γ − 1)(1 − q)/q ≥ 0. At u + Z, with Z of law
/// N(0, I),
///
/// R = w·e^(G − var G/2) + γ·e^(H − var H/2), for G = −u·Z and H = (v − u)·Z,
///
/// so the divergence is q·E(1 − R)⁺: the mean of a convex function of R. By Kahane's inequality
/// (1986) such a mean does not fall if no covariance of the Gaussian vector (G, H) falls. Those are |u|²
/// and |u − v|² and u·(u − v), at most μ², 4μ² and 2μ², and u = −v of length μ attains all three bounds.
/// The same with u and v exchanged bounds γQ − P, and so the profile below γ = 1.
///
/// *Proof of the inequality*, for a smooth convex ψ; others are limits of these. Let X and Y be
/// independent Gaussian vectors with covariances C and C′, and X(t) = √(1 − t)·X + √t·Y. With
/// M_i = w_i·e^(X(t)_i − var X(t)_i/2), partial integration gives
/// d/dt Eψ(ΣM_i) = ½ Σ_ij (C′_ij − C_ij)·E(M_i·M_j·ψ″(ΣM_i)), which is not negative.
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
