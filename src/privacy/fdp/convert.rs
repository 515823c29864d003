//! From a profile to (ε, δ) and to GDP.

use super::curve::Curve;
use super::{Adjacency, Bounds, FdpError, Grid, Profile};
use crate::number::{Delta, Epsilon, Interval, Mu, Scale, Unit, units};
use crate::privacy::EpsilonDelta;
use crate::privacy::convert::search::{after, bisect, least, most};
use crate::privacy::convert::{bounded_range, gdp};

/// e^600 is still a float.
const FARTHEST: f64 = 600.0;

pub(super) fn probability(height: Interval) -> Bounds<Delta> {
    Bounds {
        lower: height.down().unwrap_or_default(),
        upper: height.up().unwrap_or(Delta::ONE),
    }
}

impl Profile {
    /// H(γ) in one direction (Tran et al. A.2).
    ///
    /// ```
    /// use queryables::privacy::fdp::{Adjacency, Profile};
    ///
    /// let profile = Profile::sampled_gaussian_by("0.5".parse()?, "1.3".parse()?);
    /// let height = profile.height(Adjacency::Remove, "1.363".parse()?);
    /// assert!(height.lower > "0.172663".parse()? && height.upper < "0.172664".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn height(&self, direction: Adjacency, gamma: Scale) -> Bounds<Delta> {
        probability(self.at(direction, Interval::from(gamma).ln()))
    }

    /// The smallest δ for an ε in one direction: H(e^ε).
    #[must_use]
    pub fn delta(&self, direction: Adjacency, epsilon: Epsilon) -> Bounds<Delta> {
        probability(self.at(direction, epsilon.into()))
    }

    /// The smallest δ such that this is (ε, δ)-DP: that of the worse direction.
    ///
    /// # Guarantee
    ///
    /// A mechanism that is dominated by the profile is (ε, δ)-DP for δ = `upper` (Tran et al. A.1).
    #[must_use]
    pub fn worst_delta(&self, epsilon: Epsilon) -> Bounds<Delta> {
        probability(self.worst_at(epsilon.into()))
    }

    fn worst_at(&self, s: Interval) -> Interval {
        Adjacency::BOTH
            .map(|direction| self.at(direction, s))
            .into_iter()
            .fold(Interval::ZERO, Interval::max)
    }

    /// The smallest δ that is certified at any ε: what is left at ε = 600.
    #[must_use]
    pub fn floor(&self) -> Delta {
        probability(self.worst_at(Interval::exactly(FARTHEST))).upper
    }

    /// The smallest ε such that this is (ε, δ)-DP.
    ///
    /// # Guarantee
    ///
    /// A mechanism that is dominated by the profile is (ε, δ)-DP for ε = `upper`.
    ///
    /// # Errors
    ///
    /// [`FdpError::BelowFloor`] if δ is less than what is certified.
    ///
    /// ```
    /// use queryables::privacy::fdp::Profile;
    ///
    /// let epsilon = Profile::gaussian("1".parse()?).epsilon("1e-5".parse()?)?;
    /// assert!(epsilon.lower < "4.377178096".parse()? && epsilon.upper > "4.377178095".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn epsilon(&self, delta: Delta) -> Result<Bounds<Epsilon>, FdpError> {
        let target = Interval::from(delta);
        let height = |units: u128| {
            Epsilon::from_units(units).map_or(Interval::ONE, |loss| self.worst_at(loss.into()))
        };
        let (high, _) = bisect(FARTHEST, 0.0, after(64), |loss| {
            self.worst_at(Interval::exactly(loss)).high() <= target.low()
        });
        let (guess, last) = (high * 1e27, 600 * 10_u128.pow(27));
        let from_units =
            |units: Option<u128>| units.and_then(|units| Epsilon::from_units(units).ok());
        let upper = least(guess, last, |units| height(units).high() <= target.low());
        let upper = from_units(upper).ok_or_else(|| FdpError::BelowFloor {
            asked: delta,
            floor: self.floor(),
        })?;
        // The ε in question is larger than any where even the lower bound is more than δ.
        let lower = most(guess, <units::Epsilon as Unit>::LARGEST, |units| {
            height(units).low() > target.high()
        });
        Ok(Bounds {
            lower: from_units(lower).unwrap_or_default().min(upper),
            upper,
        })
    }

    /// The same, or an error if the bounds are farther apart than asked.
    ///
    /// # Errors
    ///
    /// [`FdpError::TooCoarse`], and as [`epsilon`](Self::epsilon).
    pub(super) fn epsilon_within(
        &self,
        delta: Delta,
        width: Epsilon,
    ) -> Result<Bounds<Epsilon>, FdpError> {
        let bounds = self.epsilon(delta)?;
        let reached = bounds.upper.saturating_sub(bounds.lower);
        if reached <= width {
            Ok(bounds)
        } else {
            let asked = width;
            Err(FdpError::TooCoarse { reached, asked })
        }
    }

    /// The smallest ε of a composition at a δ, with bounds at most `width` apart: on the first grid
    /// that is fine enough. A single launch needs no grid.
    ///
    /// # Errors
    ///
    /// As [`compose`](Self::compose) and [`epsilon`](Self::epsilon), and [`FdpError::TooCoarse`] where
    /// no grid of up to 2²² points is fine enough.
    ///
    /// ```
    /// use queryables::privacy::fdp::Profile;
    ///
    /// let step = Profile::sampled_gaussian("0.01".parse()?, "1".parse()?);
    /// let parts = [(step, 100)];
    /// let epsilon = Profile::composed_epsilon(&parts, "1e-5".parse()?, "1e-2".parse()?)?;
    /// assert!(epsilon.upper > "0.717".parse()? && epsilon.upper < "0.729".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn composed_epsilon(
        parts: &[(Self, u64)],
        delta: Delta,
        width: Epsilon,
    ) -> Result<Bounds<Epsilon>, FdpError> {
        let mut launched = parts.iter().filter(|(_, launches)| *launches > 0);
        if let (Some((profile, 1)), None) = (launched.next(), launched.next()) {
            return profile.epsilon_within(delta, width);
        }
        let launches: f64 = parts.iter().map(|(_, launches)| *launches as f64).sum();
        let size = Interval::from(width).middle();
        // The bounds are some n·h² apart.
        let mut step = (0.3 * size / launches.max(1.0)).sqrt().clamp(2e-9, 0.1);
        let mut factor = 1;
        let mut coarse = None;
        loop {
            let rounded = Interval::exactly(step).down().unwrap_or_default();
            let grid = Grid::new(rounded)?.aimed_at(delta).spread_by(factor);
            let composed = match Self::compose(parts, &grid) {
                // The grid before was too coarse, and a finer one is not to be had.
                Err(error @ FdpError::TooManyPoints { .. }) => {
                    return Err(coarse.unwrap_or(error));
                }
                composed => composed?,
            };
            match composed.epsilon_within(delta, width) {
                Err(error @ (FdpError::TooCoarse { .. } | FdpError::BelowFloor { .. }))
                    if factor < 256 && !composed.leaks_more_than(delta) =>
                {
                    coarse = Some(error);
                    (step, factor) = (0.5 * step, 2 * factor);
                }
                result => return result,
            }
        }
    }

    /// Whether an infinite loss is certain to be more probable than this: then no grid helps.
    fn leaks_more_than(&self, delta: Delta) -> bool {
        self.worst_at(Interval::exactly(FARTHEST)).low() > Interval::from(delta).high()
    }

    /// A μ such that this is μ-GDP (Tran et al. 2.4), where one is known.
    ///
    /// Gaussian noise has its own, and sampling changes nothing: the largest losses of a sampled
    /// Gaussian are as likely as those of a Gaussian, but for a factor. Both are tight. Where a row of the
    /// sample is replaced, it is that of all rows, 2μ, which is tight only if all are in the sample. Pure privacy
    /// has the bound of [`gdp::pure`], tight for randomized response, and a bounded range that of half
    /// its length ([`BoundedRange`](crate::privacy::facts::BoundedRange)), which is tight, too.
    ///
    /// # Errors
    ///
    /// [`FdpError::NoGaussianBound`] elsewhere. A composition on a grid has none: what is cut off
    /// counts as an infinite loss, which no Gaussian has.
    pub fn mu(&self) -> Result<Mu, FdpError> {
        fn of(curve: &Curve) -> Option<Mu> {
            let pure = |epsilon| gdp::pure(epsilon).ok();
            match curve {
                Curve::Gaussian(mu) => Some(*mu),
                Curve::BoundedRange(range) => bounded_range::mu(*range).ok(),
                Curve::Laplace(epsilon) | Curve::DiscreteLaplace { epsilon, .. } => pure(*epsilon),
                Curve::Response(EpsilonDelta { epsilon, delta }) if *delta == Delta::ZERO => {
                    pure(*epsilon)
                }
                // Postprocessing of Gaussian noise.
                Curve::RoundedGaussian { deviation, steps } => deviation.mu(*steps),
                Curve::Sampled { base, .. } => of(base),
                // A mixture of N(0, 1) with itself and of N(μ, 1) with N(−μ, 1), which are 2μ apart.
                Curve::Opposite { mu, .. } => mu.checked_mul(2),
                Curve::Response(_) | Curve::Finite(_) => None,
            }
        }
        self.curve().and_then(of).ok_or(FdpError::NoGaussianBound)
    }
}
