//! Gaussian trade-off functions.

use super::family::{Family, NO_PRICE, sealed};
use crate::account::{Accumulator, RootSumSquares};
use crate::number::Mu;
use crate::privacy::UnknownLoss;
use crate::privacy::convert::gdp;
use crate::privacy::fdp::{FdpError, Profile};

/// Gaussian trade-off functions: a launch costs the least μ that is known for it
/// ([`Profile::mu`]), and squares add up.
///
/// # Guarantee
///
/// They are a Blackwell chain: G_μ ⊗ G_ν is the Gaussian of √(μ² + ν²) (Tran et al. 3.7), so the
/// natural filter is valid for every budget (3.6).
///
/// ```
/// use queryables::account::{ContinuationRule, Exceeded};
/// use queryables::account::profiles::{Gaussians, InProfiles};
/// use queryables::privacy::fdp::Profile;
///
/// let budget = Profile::gaussian("1".parse()?);
/// let rule = InProfiles::new(Gaussians).within(budget)?;
/// let rule = rule.charge(&Profile::gaussian("0.6".parse()?))?;
/// assert_eq!(rule.spent(), Profile::gaussian("0.6".parse()?));
/// assert_eq!(rule.remaining(), Profile::gaussian("0.8".parse()?));
/// // A Laplace count has a μ, too.
/// let rule = rule.charge(&Profile::laplace("0.5".parse()?))?;
/// assert_eq!(rule.charge(&Profile::gaussian("0.8".parse()?)), Err(Exceeded));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaussians;

impl Family for Gaussians {}

impl sealed::Family for Gaussians {
    type State = RootSumSquares;
    type Most = Mu;

    fn nothing(&self) -> RootSumSquares {
        RootSumSquares::default()
    }

    fn covers(&self, loss: &Profile) -> Result<(), UnknownLoss> {
        loss.mu().map(|_| ()).map_err(|_| NO_PRICE)
    }

    fn after(&self, squares: &RootSumSquares, loss: &Profile) -> Option<RootSumSquares> {
        squares.add(&loss.mu().ok()?).ok()
    }

    fn profile(&self, squares: &RootSumSquares) -> Profile {
        Profile::gaussian(squares.total())
    }

    fn most(&self, limit: &Profile) -> Result<Mu, FdpError> {
        largest_within(limit)
    }

    fn is_within(&self, squares: &RootSumSquares, most: &Mu) -> bool {
        squares.is_within(most)
    }

    /// The root is rounded up.
    fn reads_within(&self, squares: &RootSumSquares, most: &Mu) -> bool {
        squares.total() <= *most
    }

    fn headroom(&self, squares: &RootSumSquares, most: &Mu) -> Profile {
        Profile::gaussian(squares.headroom(most))
    }
}

/// The largest μ that is known to be within a trade-off function.
fn largest_within(limit: &Profile) -> Result<Mu, FdpError> {
    if let Some(mu) = limit.gaussian_noise() {
        // Rounded noise is a postprocessing of this, and not the other way round.
        if Profile::gaussian(mu).is_within(limit) {
            return Ok(mu);
        }
    }
    if let Some(loss) = limit.approximate()
        && *limit == Profile::approx_dp(loss)
    {
        // δ(ε) ≤ δ is all that f_{ε,δ} asks for.
        return positive(gdp::budget(loss.epsilon, loss.delta));
    }
    // Each step is certified by itself.
    let (mut low, mut high) = (Mu::ZERO, Mu::LARGEST);
    if let Ok(most) = "64".parse() {
        high = most;
    }
    for _ in 0..48 {
        let middle = (low.units() / 2).saturating_add(high.units() / 2);
        let Ok(middle) = Mu::from_units(middle) else {
            break;
        };
        match Profile::gaussian(middle).is_within(limit) {
            true => low = middle,
            false => high = middle,
        }
    }
    positive(low)
}

fn positive(mu: Mu) -> Result<Mu, FdpError> {
    match mu == Mu::ZERO {
        true => Err(FdpError::NoGaussianBound),
        false => Ok(mu),
    }
}
