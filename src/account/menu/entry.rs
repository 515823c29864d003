//! What a menu consists of.

use super::lattice::Lattice;
use super::launch::Launch;
use super::{MenuError, window};
use crate::number::{Delta, Epsilon, Interval};
use crate::privacy::EpsilonDelta;

/// An entry of a menu: up to `count` launches of at most ε each, paid for at once.
///
/// Most entries are for one launch ([`MenuEntry::new`]). A *lease*, for several, allows a finer
/// grid of losses where costs are small numbers. Unused launches of a lease are lost.
///
/// Example: [`MenuFilter`](crate::account::menu::MenuFilter).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MenuEntry {
    /// The most that each launch may lose.
    pub epsilon: Epsilon,
    /// How many launches are paid for.
    pub count: u64,
    /// What they cost together.
    pub cost: u64,
}

impl MenuEntry {
    /// One launch of at most ε.
    #[must_use]
    pub fn new(epsilon: Epsilon, cost: u64) -> Self {
        Self {
            epsilon,
            count: 1,
            cost,
        }
    }
}

/// The lattice, and every entry on it.
pub(super) fn prepared(
    limit: EpsilonDelta,
    slack: Delta,
    step: Epsilon,
    entries: &[(Epsilon, u64)],
) -> Result<(Lattice, Vec<Launch>), MenuError> {
    let EpsilonDelta { epsilon, delta } = limit;
    if slack > delta {
        return Err(MenuError::SlackTooLarge { slack, delta });
    }
    if slack == Delta::ZERO {
        return Err(MenuError::NoSlack);
    }
    if let Some(entry) = entries.iter().position(|(loss, _)| *loss == Epsilon::ZERO) {
        return Err(MenuError::LosesNothing { entry });
    }
    let largest = entries.last().ok_or(MenuError::Empty)?.0;
    let (below, above) = window(epsilon, slack);
    let lattice = Lattice::new(step, below, above.max(largest))?;
    if lattice.below(epsilon).0 == 0 {
        return Err(MenuError::BudgetTooSmall { epsilon });
    }
    // At which order tails matter, about; it decides only how many dots a lease gets.
    let order = 1.5 * -Interval::from(slack).ln().middle() / Interval::from(epsilon).middle();
    let launch = |(loss, count): &(Epsilon, u64)| {
        if *count > 1 {
            return Launch::repeated(&lattice, *loss, *count, order);
        }
        let (points, rest) = lattice.below(*loss);
        if points < COARSEST && rest != Epsilon::ZERO {
            return Err(MenuError::StepTooCoarse { step, loss: *loss });
        }
        let loss = EpsilonDelta {
            epsilon: *loss,
            delta: Delta::ZERO,
        };
        Ok(Launch::approximate(&lattice, loss))
    };
    let launches = entries.iter().map(launch).collect::<Result<_, _>>()?;
    Ok((lattice, launches))
}

/// A loss that is no multiple of the step must be at least this many steps. Halfway between two
/// points the chord adds (h/2)² to a mean square of ε²: at most 1/64 of it.
pub(super) const COARSEST: i64 = 4;
