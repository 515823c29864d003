//! The composition of losses that are fixed in advance.

use super::curve::{Curve, Margin};
use super::entry::COARSEST;
use super::lattice::Lattice;
use super::launch::Launch;
use super::{MenuError, window};
use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;

/// δ at the limit's ε of the first 1, 2, … losses together, each rounded up.
///
/// # Guarantee
///
/// Each is at least the smallest δ such that any mechanisms with these losses, fixed in advance, are
/// together (ε, δ)-DP: the recursion of the menu filter with one path.
///
/// # Errors
///
/// [`MenuError::Empty`], [`MenuError::NoStep`], [`MenuError::StepTooFine`],
/// [`MenuError::StepTooCoarse`] or [`MenuError::BudgetTooSmall`].
pub(crate) fn composed_deltas(
    limit: EpsilonDelta,
    step: Epsilon,
    losses: &[EpsilonDelta],
) -> Result<Vec<Delta>, MenuError> {
    let epsilon = limit.epsilon;
    let largest = losses
        .iter()
        .map(|loss| loss.epsilon)
        .max()
        .ok_or(MenuError::Empty)?;
    let (below, above) = window(epsilon, limit.delta);
    let lattice = Lattice::new(step, below, above.max(largest))?;
    if lattice.below(epsilon).0 == 0 {
        return Err(MenuError::BudgetTooSmall { epsilon });
    }
    // Losses repeat: each is put on the lattice once.
    let mut launches: Vec<(EpsilonDelta, Launch)> = Vec::new();
    for loss in losses {
        if launches.iter().any(|(known, _)| known == loss) {
            continue;
        }
        let (points, rest) = lattice.below(loss.epsilon);
        if points < COARSEST && rest != Epsilon::ZERO {
            let loss = loss.epsilon;
            return Err(MenuError::StepTooCoarse { step, loss });
        }
        launches.push((*loss, Launch::approximate(&lattice, *loss)));
    }
    let margin = Margin::of(launches.iter().map(|(_, launch)| launch));
    let mut curve = Curve::nothing(&lattice, margin);
    let mut next = curve.clone();
    let mut deltas = Vec::with_capacity(losses.len());
    for loss in losses {
        std::mem::swap(&mut curve, &mut next);
        curve.clear();
        for (known, launch) in &launches {
            if known == loss {
                curve.raise_to(launch, &next);
            }
        }
        curve.finish();
        deltas.push(curve.delta(&lattice, epsilon, true));
    }
    Ok(deltas)
}
