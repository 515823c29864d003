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

use queryables::number::{Delta, Scale};
use queryables::privacy::fdp::{Adjacency, Bounds, FdpError, Grid, Profile};

use crate::number::float;

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
/// use papers::tran::counterexample::{Branches, Counterexample};
/// use queryables::privacy::fdp::Grid;
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
    cells: Vec<Cell>,
}

/// More than all roundings of floats amount to: see [`Counterexample::mixed`].
const ROUNDING: f64 = 1e-10;

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
        let futures = [
            Profile::compose(&[(mean("2.25"), 2)], grid)?,
            Profile::compose(&[(mean("0.1"), 1), (mean("10"), 1)], grid)?,
        ];
        Ok(Self {
            first: mean("1.3"),
            futures,
            cells: cells(),
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
        probability(self.budget_at(float(gamma)))
    }

    fn budget_at(&self, gamma: f64) -> (f64, f64) {
        let [one, other] = &self.futures;
        larger(self.mixed(gamma, one, one), self.mixed(gamma, other, other))
    }

    /// (H₁ ⊗ max(H, H′))(γ), with the profiles of both choices: what no selection exceeds, and what one
    /// attains at this γ (Tran et al. B.1, B.3).
    #[must_use]
    pub fn best(&self, gamma: Scale) -> Bounds<Delta> {
        probability(self.best_at(float(gamma)))
    }

    fn best_at(&self, gamma: f64) -> (f64, f64) {
        let [one, other] = &self.futures;
        let worse = one.worst(other);
        self.mixed(gamma, &worse, &worse)
    }

    /// H_adapt(γ): of the interaction in which y decides.
    #[must_use]
    pub fn adaptive(&self, branches: Branches, gamma: Scale) -> Bounds<Delta> {
        probability(self.adaptive_at(branches, float(gamma)))
    }

    fn adaptive_at(&self, branches: Branches, gamma: f64) -> (f64, f64) {
        let [one, other] = &self.futures;
        match branches {
            Branches::AsPrinted => self.mixed(gamma, one, other),
            Branches::Swapped => self.mixed(gamma, other, one),
        }
    }

    /// E over the first answer of the future's H(γ/x), x = P/Q, for one future left of 0.65 and one
    /// right: bounds from below and from above.
    ///
    /// # Guarantee
    ///
    /// g(x) = x·H(γ/x) is convex in x. So within a cell its expectation under Q is at least its
    /// value at the mean, and at most that with all probability moved to the ends (Jensen). H comes
    /// with bounds of its own. g rises by at most 1 for 1, and H by at most 1 if γ is multiplied by
    /// e; so each float that is off by 1e-15 moves the sum over 2000 cells by no more than
    /// 2000·1e-15, and [`ROUNDING`] is more than all of them together, tails of 1e-18 that no cell
    /// has included.
    fn mixed(&self, gamma: f64, left: &Profile, right: &Profile) -> (f64, f64) {
        let (mut low, mut high) = (-ROUNDING, ROUNDING);
        for cell in &self.cells {
            let future = if cell.is_right { right } else { left };
            let height = |x: f64| {
                let certain = Bounds {
                    lower: Delta::ZERO,
                    upper: Delta::ONE,
                };
                let at = Scale::at_least(gamma / x);
                at.map_or(certain, |at| future.height(Adjacency::Remove, at))
            };
            let (q, x) = cell.together;
            low += q * x * height(x).lower.to_f64_down();
            for (q, x) in cell.ends {
                high += q * x * height(x).upper.to_f64_up();
            }
        }
        (low.max(0.0), high.min(1.0))
    }
}

/// Bounds on the larger one of two.
fn larger(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.max(other.0), one.1.max(other.1))
}

fn probability((low, high): (f64, f64)) -> Bounds<Delta> {
    Bounds {
        lower: Delta::at_most(low).unwrap_or_default(),
        upper: Delta::at_least(high).unwrap_or(Delta::ONE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use queryables::account::profiles::{InProfiles, Menu};
    use queryables::account::{ContinuationRule, Exceeded};
    use queryables::privacy::fdp::Blackwell;

    fn text<T: std::str::FromStr>(number: &str) -> T
    where
        T::Err: std::fmt::Debug,
    {
        number.parse().unwrap()
    }

    #[test]
    fn the_counterexample_is_one() {
        let grid = Grid::new(text("1e-2")).unwrap();
        let example = Counterexample::new(&grid).unwrap();
        let gamma = text("1.363");
        let within = |bounds: Bounds<Delta>, low: &str, high: &str| {
            assert!(
                bounds.lower >= text(low) && bounds.upper <= text(high),
                "{bounds}"
            );
        };
        let [one, other] = example.futures();
        let comparison = one.compare(other, Adjacency::Remove, &grid).unwrap();
        let Blackwell::Crossing { at: (low, high) } = comparison else {
            panic!("{comparison:?}");
        };
        assert!(
            low < 1.363 && high > 1.3625 && high - low < 0.1,
            "{low} {high}"
        );
        within(example.budget(gamma), "0.5368", "0.538");
        within(
            example.adaptive(Branches::Swapped, gamma),
            "0.5598",
            "0.561",
        );
        within(
            example.adaptive(Branches::AsPrinted, gamma),
            "0.5133",
            "0.5146",
        );
        // The same budget by Fourier transform.
        let whole = example.first().tensor(one, &grid).unwrap();
        let whole = whole.worst(&example.first().tensor(other, &grid).unwrap());
        within(whole.height(Adjacency::Remove, gamma), "0.5368", "0.538");
        let figures = example.figures(
            &["1.2", "1.363", "1.5"].map(text),
            &["0.2", "0.25", "0.3"].map(text),
        );
        let row = figures.profiles[1];
        assert!(row.symmetric_adaptive.lower > row.symmetric_budget.upper);
        assert_eq!(figures.trade_offs.len(), 3);
        assert!(
            figures
                .trade_offs
                .iter()
                .any(|row| row.adaptive < row.budget)
        );
    }

    /// T's Example 3.3: composing as it comes is over the budget. A menu on which both choices are is not.
    #[test]
    fn a_menu_covers_what_the_natural_filter_does_not() {
        let grid = Grid::new(text("5e-2")).unwrap();
        let step = |mu: &str| Profile::sampled_gaussian_by(text("0.5"), text(mu));
        let example = Counterexample::new(&grid).unwrap();
        assert_eq!(*example.first(), step("1.3"), "the rate of the example");
        let entries = [("0.1", 1), ("1.3", 1), ("2.25", 2), ("10", 3)];
        let entries = entries.map(|(mu, cost)| (step(mu), cost));
        let value = InProfiles::new(Menu::new(&entries, 5, grid).unwrap()).in_full();
        let gamma: Scale = text("1.363");
        let reached = example.adaptive(Branches::Swapped, gamma);
        assert!(reached.lower > example.budget(gamma).upper);
        let covered = value.limit().height(Adjacency::Remove, gamma);
        assert!(covered.upper >= reached.lower, "{covered:?} {reached:?}");
        // Both choices of the example are admitted, and nothing more.
        let rule = value.charge(&step("1.3")).unwrap();
        let rule = rule
            .charge(&step("0.1"))
            .unwrap()
            .charge(&step("10"))
            .unwrap();
        assert_eq!(rule.charge(&step("0.1")), Err(Exceeded));
    }
}
