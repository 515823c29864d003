//! Wherever two trade-off functions cross, composing as it comes is over the budget: Tran et al. 3.8,
//! by a first launch of randomized response.
//!
//! Let the futures have profiles H₁ and H₂ that cross: H₁ > H₂ at some γ₁ and H₂ > H₁ at some γ₂. The
//! natural filter admits both after a first launch, if its budget is at least what each of them, fixed
//! in advance, loses. Take randomized response with odds c to 1, where c² = γ₂/γ₁, and γ² = γ₁γ₂. Its
//! answer moves γ to γ/c = γ₁ with probability c/(c + 1), and to γc = γ₂ otherwise. So
//!
//! ```text
//! H_adapt(γ)  =  c/(c+1) · max(H₁, H₂)(γ₁)  +  1/(c+1) · max(H₁, H₂)(γ₂)
//! H_budget(γ) =  max over i of  c/(c+1) · H_i(γ₁)  +  1/(c+1) · H_i(γ₂)
//! ```
//!
//! and the first is larger, because no single i has the maximum at both places. The example of T
//! ([`counterexample`](super::counterexample)) has a Gaussian in the place of the response.

use crate::number::float;
use queryables::number::{Delta, Scale};
use queryables::privacy::fdp::{Adjacency, Blackwell, Bounds, FdpError, Grid, Profile};

/// How far an adversary is over the budget who chooses after the first answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The odds of a truth of the first launch, against one lie.
    pub odds: f64,
    /// The γ at which the budget is exceeded.
    pub gamma: f64,
    /// The profile of the tightest budget that admits both futures, at γ.
    pub budget: Bounds<Delta>,
    /// The profile of what the adversary sees, at γ. Its lower bound is above the budget.
    pub adaptive: Bounds<Delta>,
}

/// A first launch after which choosing between these two is over the budget of the natural filter;
/// `None` if they are not certainly crossing.
///
/// # Errors
///
/// Those of [`Profile::compare`].
///
/// ```
/// use papers::tran::crossing::violation;
/// use queryables::privacy::fdp::{Adjacency, Grid, Profile};
///
/// let (one, other) = (Profile::gaussian("1".parse()?), Profile::laplace("1".parse()?));
/// let found = violation(&one, &other, Adjacency::Remove, &Grid::new("1e-2".parse()?)?)?;
/// let found = found.expect("they cross");
/// assert!(found.adaptive.lower > found.budget.upper);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn violation(
    one: &Profile,
    other: &Profile,
    direction: Adjacency,
    grid: &Grid,
) -> Result<Option<Violation>, FdpError> {
    let Blackwell::Crossing { at: (low, high) } = one.compare(other, direction, grid)? else {
        return Ok(None);
    };
    // Close to the crossing they hardly differ: the best of a few distances.
    let found = [1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 8.0]
        .into_iter()
        .filter_map(|factor| at(one, other, direction, [low / factor, high * factor]));
    let excess =
        |found: &Violation| found.adaptive.lower.to_f64_down() - found.budget.upper.to_f64_up();
    Ok(found
        .filter(|found| excess(found) > 0.0)
        .max_by(|a, b| excess(a).total_cmp(&excess(b))))
}

/// The response that moves γ to these two places.
fn at(
    one: &Profile,
    other: &Profile,
    direction: Adjacency,
    [left, right]: [f64; 2],
) -> Option<Violation> {
    let places = [Scale::at_least(left).ok()?, Scale::at_least(right).ok()?];
    let [left, right] = places.map(float);
    let odds = (right / left).sqrt();
    let truth = odds / (odds + 1.0);
    let heights = |of: &Profile| places.map(|gamma| of.height(direction, gamma));
    // Floats are off by less than this.
    const ROUNDING: f64 = 1e-12;
    let mixed = |at: [Bounds<Delta>; 2]| {
        let low = at.map(|at| at.lower.to_f64_down());
        let high = at.map(|at| at.upper.to_f64_up());
        let mix = |[left, right]: [f64; 2]| truth * left + (1.0 - truth) * right;
        (mix(low) - ROUNDING, mix(high) + ROUNDING)
    };
    let larger = |one: (f64, f64), other: (f64, f64)| (one.0.max(other.0), one.1.max(other.1));
    let (first, second) = (heights(one), heights(other));
    let worst = [0, 1].map(|place: usize| Bounds {
        lower: first[place].lower.max(second[place].lower),
        upper: first[place].upper.max(second[place].upper),
    });
    let bounds = |(low, high): (f64, f64)| Bounds {
        lower: Delta::at_most(low.max(0.0)).unwrap_or_default(),
        upper: Delta::at_least(high.min(1.0)).unwrap_or(Delta::ONE),
    };
    Some(Violation {
        odds,
        gamma: (left * right).sqrt(),
        budget: bounds(larger(mixed(first), mixed(second))),
        adaptive: bounds(mixed(worst)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<T: std::str::FromStr>(number: &str) -> T
    where
        T::Err: std::fmt::Debug,
    {
        number.parse().unwrap()
    }

    /// The same by composing, which knows nothing of crossings.
    fn check(one: &Profile, other: &Profile, grid: &Grid) -> f64 {
        let found = violation(one, other, Adjacency::Remove, grid)
            .unwrap()
            .unwrap();
        assert!(found.adaptive.lower > found.budget.upper, "{found:?}");
        let epsilon = Scale::at_least(found.odds.ln())
            .unwrap()
            .to_string()
            .parse()
            .unwrap();
        let first = Profile::randomized_response(epsilon);
        let gamma = Scale::at_least(found.gamma).unwrap();
        let fixed = |future: &Profile| {
            let whole = first.tensor(future, grid).unwrap();
            whole.height(Adjacency::Remove, gamma)
        };
        let fixed = [fixed(one), fixed(other)];
        let upper = fixed.iter().map(|at| at.upper).max().unwrap();
        let lower = fixed.iter().map(|at| at.lower).max().unwrap();
        let near = |a: Delta, b: Delta| (a.to_f64_up() - b.to_f64_up()).abs() < 5e-3;
        assert!(
            near(upper, found.budget.upper) && near(lower, found.budget.lower),
            "{found:?}"
        );
        // What covers both futures covers the adversary.
        let covered = first.tensor(&one.worst(other), grid).unwrap();
        let covered = covered.height(Adjacency::Remove, gamma);
        assert!(covered.upper >= found.adaptive.lower && near(covered.upper, found.adaptive.upper));
        found.adaptive.lower.to_f64_down() - found.budget.upper.to_f64_up()
    }

    #[test]
    fn whatever_crosses_is_over_the_budget() {
        let grid = Grid::new(text("1e-2")).unwrap();
        let gaussian = Profile::gaussian(text("1"));
        assert!(check(&gaussian, &Profile::laplace(text("1")), &grid) > 1e-3);
        let response = Profile::randomized_response(text("1"));
        assert!(check(&gaussian, &response, &grid) > 1e-3);
        let leaks =
            Profile::approx_dp(queryables::privacy::EpsilonDelta::new("0.5", "0.1").unwrap());
        assert!(check(&leaks, &gaussian, &grid) > 1e-3);
        // Sampled Gaussians that are ordered, composed to two that are not: T's own futures.
        let step = |mu: &str| Profile::sampled_gaussian_by(text("0.5"), text(mu));
        let one = step("2.25").power(2, &grid).unwrap();
        let other = step("0.1").tensor(&step("10"), &grid).unwrap();
        assert!(check(&one, &other, &grid) > 1e-3);
    }

    #[test]
    fn what_is_ordered_is_not() {
        let grid = Grid::new(text("1e-2")).unwrap();
        let [one, two] = ["1", "2"].map(|mu| Profile::gaussian(text(mu)));
        assert_eq!(violation(&one, &two, Adjacency::Remove, &grid), Ok(None));
        let same = violation(&one, &one, Adjacency::Remove, &grid);
        assert_eq!(same, Ok(None));
    }
}
