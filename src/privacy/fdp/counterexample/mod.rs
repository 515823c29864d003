//! Composing trade-off functions and stopping at a threshold is not a valid filter: Tran et al.
//! 3.3.
//!
//! One person, one sampled Gaussian at rate ½ with mean 1.3, and depending on its answer y either
//! two with means 2.25, 2.25 or two with 0.1, 10. The profiles of the two choices cross at γ ≈
//! 1.363. An analyst who picks the better one after seeing y learns more than either fixed choice
//! allows.
//!
//! T prints (2.25, 2.25) for y ≤ 0.65 and (0.1, 10) for y > 0.65. That violates nothing: small γ go
//! with *large* y. With the branches swapped the violation is the one that T plots.

mod cells;
mod figures;

use cells::{Cell, cells};
pub use figures::{Figures, ProfileRow, TradeOffRow};

use super::{Bounds, Direction, FdpError, Grid, Profile};
use crate::number::{Delta, Interval, Scale};

/// Which branch is taken for small y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Branches {
    /// (2.25, 2.25) for y ≤ 0.65, as printed.
    AsPrinted,
    /// (0.1, 10) for y ≤ 0.65.
    Swapped,
}

/// The example, computed on a grid.
///
/// ```
/// use queryables::privacy::fdp::Grid;
/// use queryables::privacy::fdp::counterexample::{Branches, Counterexample};
///
/// let example = Counterexample::new(&Grid::new("1e-2".parse()?)?)?;
/// let gamma = "1.363".parse()?;
/// let adaptive = example.adaptive(Branches::Swapped, gamma);
/// // The certified lower bound is above the filter's budget.
/// assert!(adaptive.lower > example.budget(gamma).upper);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Counterexample {
    first: Profile,
    futures: [Profile; 2],
    /// The first launch at its places: laws above and below it.
    cells: Vec<Cell>,
}

impl Counterexample {
    /// Computes the profiles of both futures.
    ///
    /// # Errors
    ///
    /// As [`Profile::compose`].
    pub fn new(grid: &Grid) -> Result<Self, FdpError> {
        let mean = |text: &str| {
            let mu = text.parse().unwrap_or_default();
            Profile::sampled_gaussian_by("0.5".parse().unwrap_or_default(), mu)
        };
        let first = mean("1.3");
        let futures = [
            Profile::compose(&[(mean("2.25"), 2)], grid)?,
            Profile::compose(&[(mean("0.1"), 1), (mean("10"), 1)], grid)?,
        ];
        let cells = cells(&first, grid)?;
        Ok(Self {
            first,
            futures,
            cells,
        })
    }

    /// H of the second and third launch together, for means 2.25 and 2.25, and for 0.1 and 10.
    #[must_use]
    pub fn futures(&self) -> &[Profile; 2] {
        &self.futures
    }

    /// The profile of the first launch.
    #[must_use]
    pub fn first(&self) -> &Profile {
        &self.first
    }

    /// H_B(γ): the tightest budget that lets both choices pass, whatever y is.
    #[must_use]
    pub fn budget(&self, gamma: Scale) -> Bounds<Delta> {
        let s = Interval::from(gamma).ln();
        probability(self.budget_at(s))
    }

    fn budget_at(&self, s: Interval) -> Interval {
        let [one, other] = &self.futures;
        self.mixed(s, one, one).max(self.mixed(s, other, other))
    }

    /// H_adapt(γ): of the interaction in which y decides.
    #[must_use]
    pub fn adaptive(&self, branches: Branches, gamma: Scale) -> Bounds<Delta> {
        probability(self.adaptive_at(branches, Interval::from(gamma).ln()))
    }

    fn adaptive_at(&self, branches: Branches, s: Interval) -> Interval {
        let [one, other] = &self.futures;
        match branches {
            Branches::AsPrinted => self.mixed(s, one, other),
            Branches::Swapped => self.mixed(s, other, one),
        }
    }

    /// E over the first answer of the future's H(γ/x), for one future left of 0.65 and one right.
    ///
    /// # Guarantee
    ///
    /// x·H(γ/x) is convex in x = P/Q. So within a cell the expectation under Q is at least its value
    /// at the mean, and at most that with all probability moved to the ends (Jensen).
    fn mixed(&self, s: Interval, left: &Profile, right: &Profile) -> Interval {
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for cell in &self.cells {
            let future = if cell.is_right { right } else { left };
            let height = |loss: Interval| future.at(Direction::Remove, s - loss);
            let (mass, loss) = cell.together;
            low += (mass * height(loss)).low().max(0.0);
            for (mass, loss) in cell.ends {
                high += (mass * height(loss)).high();
            }
        }
        // Some thousand sums of positive numbers.
        Interval::between(low * (1.0 - 1e-11), (high * (1.0 + 1e-11)).min(1.0))
    }
}

fn probability(height: Interval) -> Bounds<Delta> {
    Bounds {
        lower: height.down().unwrap_or_default(),
        upper: height.up().unwrap_or(Delta::ONE),
    }
}
