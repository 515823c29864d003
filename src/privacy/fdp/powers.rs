use std::fmt;
use std::sync::Arc;

use rustfft::FftPlanner;

use super::compose::compose;
use super::convert::probability;
use super::curve::Curve;
use super::{Adjacency, Bounds, FDp, FdpError, Grid, Profile};
use crate::number::{Delta, Epsilon, Interval, Mu};
use crate::privacy::convert::gdp;
use crate::privacy::written;
use crate::privacy::{
    Additive, Distance, EpsilonDelta, Measure, Overflow, Postprocessable, Prices, Reentrant,
    UnknownLoss,
};

/// A loss as a number of launches of one mechanism.
///
/// Example: [`RepeatedMechanism`](crate::privacy::fdp::RepeatedMechanism).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Repetitions(pub u64);

impl fmt::Display for Repetitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 unit"),
            many => write!(f, "{many} units"),
        }
    }
}

/// f-DP in units of one profile: a loss of n says that the mechanism is dominated by the n-fold
/// tensor power of the base (Tran et al. Ex. D.3).
///
/// Repetitions add up, exactly. A mechanism that states a fact costs one unit if its profile is known to
/// be at most the base, and zero units if it reveals nothing. A mechanism that costs more
/// implements [`Private`](crate::privacy::Private) for this measure.
///
/// # Guarantee
///
/// A loss of n for a mechanism M: for every two neighbours, M's pair of laws is dominated by
/// (Pⁿ, Qⁿ), where (P, Q) is the base's pair. Where the base has two directions, the dataset with
/// the row comes first under [`AddRemove`](crate::privacy::AddRemove). Under a relation that is not
/// [`ORDERED`](crate::privacy::Relation::ORDERED) there are no units of such a base: take
/// [`Profile::symmetrised`].
///
/// ```
/// use queryables::privacy::facts::{Gaussian, SampledGaussian};
/// use queryables::privacy::fdp::{RepeatedMechanism, Profile, Repetitions};
/// use queryables::privacy::{Prices, UnknownLoss};
///
/// let (rate, mu) = ("0.01".parse()?, "1".parse()?);
/// let steps = RepeatedMechanism::new(Profile::sampled_gaussian_by(rate, mu));
/// assert_eq!(steps.price(&SampledGaussian::new(rate, Gaussian::Mu(mu)))?, Repetitions(1));
/// let UnknownLoss(reason) = steps.price(&Gaussian::Mu(mu)).unwrap_err();
/// assert!(reason.starts_with("not known to be at most one unit"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedMechanism {
    base: Arc<Profile>,
}

impl RepeatedMechanism {
    /// The measure in units of this profile.
    #[must_use]
    pub fn new(base: Profile) -> Self {
        Self {
            base: Arc::new(base),
        }
    }

    /// The profile of one unit.
    #[must_use]
    pub fn base(&self) -> &Profile {
        &self.base
    }

    /// The (ε, δ) of the base, if it is the largest profile that (ε, δ)-DP allows.
    pub(crate) fn response(&self) -> Option<EpsilonDelta> {
        match self.base.curve() {
            Some(Curve::Response(loss)) => Some(*loss),
            _ => None,
        }
    }

    /// At least the smallest δ such that this number of units is (ε, δ)-DP, certified, for a δ of
    /// about `aim`.
    ///
    /// # Errors
    ///
    /// Those of [`Profile::power`], on a grid whose bounds are within about 1e-4 of ε.
    ///
    /// ```
    /// use queryables::privacy::fdp::{RepeatedMechanism, Profile, Repetitions};
    ///
    /// let gaussian = RepeatedMechanism::new(Profile::gaussian("0.1".parse()?));
    /// let delta = gaussian.delta(Repetitions(100), "1".parse()?, "0.1".parse()?)?;
    /// // One launch of μ = 1.
    /// assert!(delta > "0.1269367".parse()? && delta < "0.1269368".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delta(
        &self,
        units: Repetitions,
        epsilon: Epsilon,
        aim: Delta,
    ) -> Result<Delta, FdpError> {
        let near = EpsilonDelta {
            epsilon,
            delta: aim,
        };
        match self.closed(units, epsilon) {
            Some(delta) => Ok(delta),
            None => self.delta_within(units, near, 1e-4),
        }
    }

    /// The same by Fourier transform, at this ε and for about this δ, with bounds that are within
    /// about this share of ε.
    pub(crate) fn delta_within(
        &self,
        units: Repetitions,
        near: EpsilonDelta,
        precision: f64,
    ) -> Result<Delta, FdpError> {
        let mut planner = FftPlanner::new();
        let mut upper = |direction| {
            let bounds = self.composed(units, direction, near, precision, &mut planner)?;
            Ok(bounds.upper)
        };
        let remove = upper(Adjacency::Remove)?;
        if self.base.is_symmetric() {
            return Ok(remove);
        }
        Ok(remove.max(upper(Adjacency::Add)?))
    }

    /// The same where no transform is needed; then it is the smallest δ, but for rounding.
    pub(crate) fn closed(&self, units: Repetitions, epsilon: Epsilon) -> Option<Delta> {
        match (units.0, self.base.curve()) {
            (0, _) => Some(Delta::ZERO),
            // Pure losses add up, exactly.
            _ if self.adds_up_to(units).is_some_and(|all| all <= epsilon) => Some(Delta::ZERO),
            (1, _) => Some(self.base.worst_delta(epsilon).upper),
            // Tran et al. A.18.
            (launches, Some(Curve::Gaussian(mu))) => {
                let mu = Interval::whole(launches.into()).sqrt() * Interval::from(*mu);
                Some(gdp::delta(mu.up().unwrap_or(Mu::LARGEST), epsilon))
            }
            _ => None,
        }
    }

    /// The sum of the largest losses, if the base is known to be pure.
    fn adds_up_to(&self, units: Repetitions) -> Option<Epsilon> {
        let each = self.base.approximate()?;
        (each.delta == Delta::ZERO)
            .then(|| each.epsilon.checked_mul(units.0))
            .flatten()
    }

    /// Bounds in one direction.
    pub(crate) fn composed(
        &self,
        units: Repetitions,
        direction: Adjacency,
        EpsilonDelta { epsilon, delta }: EpsilonDelta,
        precision: f64,
        planner: &mut FftPlanner<f64>,
    ) -> Result<Bounds<Delta>, FdpError> {
        // The bounds are some n·h² apart.
        let width = precision * Interval::from(epsilon).middle().max(1e-6);
        let mut step = (0.3 * width / units.0 as f64).sqrt().clamp(2e-9, 0.1);
        // And a share of 1/spread² of ε, roughly.
        let spread = if precision < 1e-4 { 4 } else { 1 };
        loop {
            let rounded = Interval::exactly(step).down().unwrap_or_default();
            let grid = Grid::new(rounded)?.aimed_at(delta).precise_at(epsilon);
            let grid = grid.spread_by(spread);
            let parts = [((*self.base).clone(), units.0)];
            match compose(&parts, direction, &grid, planner) {
                // A coarser grid is a bound, too.
                Err(FdpError::TooManyPoints { .. }) if step < 0.25 => step *= 2.0,
                table => return Ok(probability(table?.at(epsilon.into()))),
            }
        }
    }
}

impl Measure for RepeatedMechanism {
    type Loss = Repetitions;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> Repetitions {
        Repetitions(0)
    }

    fn in_both_orders(&self, units: Repetitions) -> Result<Repetitions, UnknownLoss> {
        if units == Repetitions(0) || self.base.is_symmetric() {
            return Ok(units);
        }
        Err(UnknownLoss(
            "the base has two directions, and neither dataset comes first: symmetrise the base",
        ))
    }

    /// The powers of one profile are ordered (Tran et al. A.16).
    fn join(&self, one: &Repetitions, other: &Repetitions) -> Repetitions {
        *one.max(other)
    }

    fn group(&self, loss: &Repetitions, distance: Distance) -> Result<Repetitions, UnknownLoss> {
        if distance == Distance::NEIGHBOURS || *loss == Repetitions(0) {
            return Ok(*loss);
        }
        Err(UnknownLoss(
            "group privacy in units of a profile is not offered",
        ))
    }
}

/// Tran et al. A.6: the profile determines the trade-off function, which postprocessing keeps.
impl Postprocessable for RepeatedMechanism {}

/// Hⁿ ⊗ Hᵐ = Hⁿ⁺ᵐ (Tran et al. A.13).
impl Additive for RepeatedMechanism {
    fn plus(&self, one: &Repetitions, other: &Repetitions) -> Result<Repetitions, Overflow> {
        one.0.checked_add(other.0).map(Repetitions).ok_or(Overflow)
    }

    fn minus(&self, whole: &Repetitions, part: &Repetitions) -> Repetitions {
        Repetitions(whole.0.saturating_sub(part.0))
    }
}

written!(RepeatedMechanism { base: Profile } => Ok::<_, std::convert::Infallible>(RepeatedMechanism::new(base)));

/// One unit, where the profile is known to be at most the base by a theorem.
#[diagnostic::do_not_recommend]
impl<Fact> Prices<Fact> for RepeatedMechanism
where
    FDp: Prices<Fact>,
{
    fn price(&self, fact: &Fact) -> Result<Repetitions, UnknownLoss> {
        let profile = FDp.price(fact)?;
        if profile.is_known_below(&Profile::perfect()) {
            return Ok(Repetitions(0));
        }
        if profile.is_known_below(&self.base) {
            return Ok(Repetitions(1));
        }
        Err(UnknownLoss(
            "not known to be at most one unit: take a base that is at least as large, or state \
             the units",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::facts::{Gaussian, Laplace, Pure, SampledGaussian};

    fn text<T: std::str::FromStr>(number: &str) -> T
    where
        T::Err: std::fmt::Debug,
    {
        number.parse().unwrap()
    }

    #[test]
    fn what_is_at_most_the_base_is_one_unit() {
        let steps = RepeatedMechanism::new(Profile::sampled_gaussian_by(text("0.01"), text("1")));
        let sampled = |rate: &str, mu: &str| {
            steps.price(&SampledGaussian::new(text(rate), Gaussian::Mu(text(mu))))
        };
        let more = Err(UnknownLoss(
            "not known to be at most one unit: take a base that is at least as large, or state \
             the units",
        ));
        assert_eq!(sampled("0.01", "1"), Ok(Repetitions(1)));
        assert_eq!(sampled("0.005", "0.3"), Ok(Repetitions(1)));
        assert_eq!(sampled("0.011", "1"), more);
        assert_eq!(sampled("0.01", "1.1"), more);
        assert_eq!(steps.price(&Gaussian::Mu(Mu::ZERO)), Ok(Repetitions(0)));
        let pure = RepeatedMechanism::new(Profile::randomized_response(text("0.1")));
        assert_eq!(
            pure.price(&Pure {
                epsilon: text("0.1")
            }),
            Ok(Repetitions(1))
        );
        assert_eq!(
            pure.price(&Laplace::of_count(text("0.05"))),
            Ok(Repetitions(1))
        );
        assert_eq!(pure.price(&Laplace::of_count(text("0.2"))), more);
        assert_eq!(
            pure.price(&Pure {
                epsilon: Epsilon::ZERO
            }),
            Ok(Repetitions(0))
        );
    }

    #[test]
    fn units_add_up_and_are_for_neighbours() {
        let pure = RepeatedMechanism::new(Profile::randomized_response(text("0.1")));
        assert_eq!(
            pure.plus(&Repetitions(2), &Repetitions(3)),
            Ok(Repetitions(5))
        );
        assert_eq!(
            pure.plus(&Repetitions(u64::MAX), &Repetitions(1)),
            Err(Overflow)
        );
        assert_eq!(pure.minus(&Repetitions(2), &Repetitions(3)), Repetitions(0));
        assert_eq!(pure.join(&Repetitions(2), &Repetitions(3)), Repetitions(3));
        let two = Distance::new(2).unwrap();
        assert_eq!(
            pure.group(&Repetitions(2), Distance::NEIGHBOURS),
            Ok(Repetitions(2))
        );
        assert_eq!(
            pure.group(&Repetitions(2), two),
            Err(UnknownLoss(
                "group privacy in units of a profile is not offered"
            ))
        );
        assert_eq!(
            (Repetitions(1).to_string(), Repetitions(7).to_string()),
            ("1 unit".into(), "7 units".into())
        );
    }
}
