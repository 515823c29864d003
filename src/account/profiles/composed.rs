//! Trade-off functions that are all known, composed.

use crate::account::{Accumulator, ComposesConcurrently, RootSumSquares};
use crate::number::{Delta, Epsilon, Interval};
use crate::privacy::UnknownLoss;
use crate::privacy::fdp::{FDp, FdpError, Grid, Profile};

/// The tensor product: Haney et al. 1.8 for f-DP, which follows from 3.3, with Tran et al. 2.8.
///
/// Exact for Gaussians. Others are composed by Fourier transform on a grid that follows the smallest
/// of them; if one was composed before, on its grid.
impl ComposesConcurrently for FDp {
    fn composed(&self, losses: &[Profile]) -> Result<Profile, UnknownLoss> {
        let perfect = Profile::perfect();
        let losses: Vec<&Profile> = losses
            .iter()
            .filter(|loss| !loss.is_known_below(&perfect))
            .collect();
        let gaussians: Option<Vec<_>> = losses.iter().map(|loss| loss.gaussian_noise()).collect();
        match (losses.as_slice(), gaussians) {
            ([], _) => Ok(perfect),
            ([only], _) => Ok((*only).clone()),
            (_, Some(gaussians)) => {
                let mut squares = RootSumSquares::default();
                for mu in gaussians {
                    squares = squares.add(&mu)?;
                }
                Ok(Profile::gaussian(squares.total()))
            }
            (losses, None) => product(losses),
        }
    }
}

/// Each loss once, with how often it is there.
pub(super) fn counted<'a>(losses: impl IntoIterator<Item = &'a Profile>) -> Vec<(Profile, u64)> {
    let mut parts: Vec<(Profile, u64)> = Vec::new();
    for loss in losses {
        match parts.iter_mut().find(|(known, _)| known == loss) {
            Some((_, launches)) => *launches += 1,
            None => parts.push((loss.clone(), 1)),
        }
    }
    parts
}

fn product(losses: &[&Profile]) -> Result<Profile, UnknownLoss> {
    let parts = counted(losses.iter().copied());
    let given = losses.iter().find_map(|loss| loss.step());
    let mut step = given.unwrap_or_else(|| step_for(losses));
    loop {
        let composed = Grid::new(step).and_then(|grid| Profile::compose(&parts, &grid));
        match composed {
            Ok(product) => return Ok(product),
            // A coarser grid is a bound, too.
            Err(FdpError::TooManyPoints { .. }) if given.is_none() => {
                step = step.checked_mul(2).ok_or(TOO_FAR)?;
            }
            Err(FdpError::DifferentSteps { .. }) => return Err(DIFFERENT),
            Err(_) => return Err(TOO_FAR),
        }
    }
}

const DIFFERENT: UnknownLoss =
    UnknownLoss("the trade-off functions were composed on grids with different steps");
const TOO_FAR: UnknownLoss = UnknownLoss("the product reaches farther than it can be computed");

/// About a hundredth of the smallest loss, but not more than a hundredth.
fn step_for(losses: &[&Profile]) -> Epsilon {
    // H(1) is the total variation, about a quarter of a small ε.
    let apart = |loss: &&Profile| -> Delta { loss.worst_delta(Epsilon::ZERO).upper };
    let least = losses.iter().map(apart).min().unwrap_or(Delta::ONE);
    let step = (0.02 * Interval::from(least).middle()).clamp(1e-6, 1e-2);
    Interval::exactly(step).down().unwrap_or_default()
}
