use super::FdpError;
use super::lattice::Lattice;
use super::window::Aim;
use crate::number::{Delta, Epsilon, Interval};

/// How finely profiles are discretised, and for which δ.
///
/// Bounds are valid on every grid. A smaller step makes them narrower, by the square of the step,
/// and takes longer.
///
/// Fourier transforms in floats leave some of δ uncertain, the same everywhere: 2e-10 for 100
/// launches of a sampled Gaussian and 3e-9 for 3650. [`Profile::floor`](super::Profile::floor) is the
/// smallest δ that is certified. A grid that is aimed at a δ tilts the laws first, and what is
/// uncertain falls to some 1e-8 of that δ, down to δ = 1e-30 and below; far from it, bounds are
/// wider. At and beyond the largest loss that all launches can have together, only the probability of
/// an infinite loss counts, and nothing is uncertain.
///
/// ```
/// use queryables::privacy::fdp::Grid;
///
/// let grid = Grid::new("1e-3".parse()?)?.aimed_at("1e-9".parse()?);
/// # let _ = grid;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    pub(super) lattice: Lattice,
    pub(super) aim: Option<Delta>,
    pub(super) place: Option<Epsilon>,
    pub(super) spread: u32,
    most_points: u64,
}

impl Grid {
    pub(super) const SPREAD: u32 = 128;

    /// The grid of multiples of a step.
    ///
    /// # Errors
    ///
    /// [`FdpError::Step`] if the step is not between 1e-9 and 1.
    pub fn new(step: Epsilon) -> Result<Self, FdpError> {
        Ok(Self {
            lattice: Lattice::new(step)?,
            aim: None,
            place: None,
            spread: Self::SPREAD,
            most_points: 1 << 22,
        })
    }

    /// The same, but most precise where the composition's δ is near this value. Zero means that
    /// there is no such value.
    #[must_use]
    pub fn aimed_at(self, delta: Delta) -> Self {
        let aim = (delta > Delta::ZERO).then_some(delta);
        Self { aim, ..self }
    }

    /// The same, but most precise at this ε, whatever δ is there. What is cut off still follows the δ
    /// that the grid is aimed at.
    pub(super) fn precise_at(self, epsilon: Epsilon) -> Self {
        let place = Some(epsilon);
        Self { place, ..self }
    }

    /// The same, with at most this many points: 2²² by default, which take some 300 MB.
    #[cfg(test)]
    pub(super) fn with_most_points(self, most_points: u64) -> Self {
        Self {
            most_points: most_points.min(1 << 30),
            ..self
        }
    }

    /// The same, where single launches are evaluated at places this many times as close: within
    /// 1/128 of the distance to zero or to a kink by default.
    pub(super) fn spread_by(self, factor: u32) -> Self {
        Self {
            spread: self.spread.saturating_mul(factor.max(1)),
            ..self
        }
    }

    /// The step.
    #[must_use]
    pub fn step(&self) -> Epsilon {
        self.lattice.step()
    }

    pub(super) fn lattice(&self) -> Lattice {
        self.lattice
    }

    pub(super) fn spread(&self) -> u32 {
        self.spread
    }

    pub(super) fn most_points(&self) -> u64 {
        self.most_points
    }

    /// Where bounds are to be narrow, if anywhere in particular.
    pub(super) fn aim(&self) -> Option<Aim> {
        let at = |epsilon| Aim::Loss(Interval::from(epsilon).middle());
        self.place.map(at).or_else(|| self.delta().map(Aim::Delta))
    }

    fn delta(&self) -> Option<f64> {
        self.aim.map(|delta| Interval::from(delta).middle())
    }

    /// How much of δ may be counted as an infinite loss, over all launches.
    ///
    /// If only one place matters, 1e-5 of δ does no harm. Then rare large losses are cut off that would
    /// keep the tilt small, and with it the precision.
    pub(super) fn tail(&self) -> f64 {
        match (self.delta(), self.place) {
            (Some(delta), Some(_)) => 1e-5 * delta,
            (Some(delta), None) => (1e-9 * delta).min(1e-16),
            (None, _) => 1e-16,
        }
    }
}
