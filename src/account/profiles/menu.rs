//! A price list of trade-off functions.

use std::sync::Arc;

use super::family::{Family, NO_PRICE, is_nothing, largest, sealed};
use crate::privacy::UnknownLoss;
use crate::privacy::fdp::{FdpError, Grid, Profile};

/// A price list: each entry is a trade-off function with a whole cost, and a launch costs as little
/// as an entry that is at least as bad.
///
/// # Guarantee
///
/// What an adversary can reach with costs of n together is at most
/// `V_n = max(H₀, max over entries of H_i ⊗ V_(n − c_i))`, which is itself a profile: it chooses the
/// entry before the answer, so the maximum stands outside of the product (Tran et al. B.1, widened;
/// `spec/menu_filter.md` has the proof). It is tight at each γ, and no single adversary attains all of
/// it. V rises with n, so it is a reading for every threshold (Haney et al. 2.19).
///
/// ```
/// use queryables::account::{ContinuationRule, Exceeded};
/// use queryables::account::profiles::{InProfiles, Menu};
/// use queryables::privacy::fdp::{Grid, Profile};
///
/// // Trade-off functions that cross once they are composed.
/// let step = |mu: &str| Ok::<_, queryables::number::NumberError>(
///     Profile::sampled_gaussian_by("0.1".parse()?, mu.parse()?));
/// let (little, much) = (step("0.5")?, step("2")?);
/// let entries = [(little.clone(), 1), (much.clone(), 6)];
/// let menu = Menu::new(&entries, 12, Grid::new("1e-2".parse()?)?)?;
/// let rule = InProfiles::new(menu).in_full();
/// let rule = rule.charge(&much)?.charge(&little)?.charge(&little)?;
/// assert_eq!(rule.remaining(), little);
/// assert_eq!(rule.charge(&much), Err(Exceeded));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Menu {
    pub(super) entries: Arc<[(Profile, usize)]>,
    /// V for every cost from zero on.
    values: Arc<[Profile]>,
    pub(super) grid: Grid,
}

impl Menu {
    /// Entries with their costs, and the value of every cost up to `most`, on this grid.
    ///
    /// # Errors
    ///
    /// [`FdpError::NoParts`] without entries, or if an entry costs nothing; those of
    /// [`Profile::tensor`].
    pub fn new(entries: &[(Profile, usize)], most: usize, grid: Grid) -> Result<Self, FdpError> {
        if entries.is_empty() || entries.iter().any(|(_, cost)| *cost == 0) {
            return Err(FdpError::NoParts);
        }
        let entries = entries.into();
        let values = Profile::menu(&entries, most, &grid)?.into();
        Ok(Self {
            entries,
            values,
            grid,
        })
    }

    /// The lowest cost of an entry that is at least as bad.
    fn cost(&self, loss: &Profile) -> Option<usize> {
        if is_nothing(loss) {
            return Some(0);
        }
        let covers = |(entry, _): &&(Profile, usize)| loss.is_within(entry);
        let costs = self.entries.iter().filter(covers).map(|(_, cost)| *cost);
        costs.min()
    }

    /// Whether costs of entries can add up to this.
    #[cfg(feature = "serde")]
    pub(super) fn leads_to(&self, total: usize) -> bool {
        let mut reached = vec![true];
        for total in 1..=total {
            let before = |cost: &usize| total.checked_sub(*cost).and_then(|left| reached.get(left));
            let mut costs = self.entries.iter().map(|(_, cost)| cost);
            let next = costs.any(|cost| before(cost) == Some(&true));
            reached.push(next);
        }
        reached.last() == Some(&true)
    }

    pub(super) fn last(&self) -> usize {
        self.values.len().saturating_sub(1)
    }
}

impl Family for Menu {}

impl sealed::Family for Menu {
    type State = usize;
    type Most = usize;

    fn nothing(&self) -> usize {
        0
    }

    fn covers(&self, loss: &Profile) -> Result<(), UnknownLoss> {
        self.cost(loss).map(|_| ()).ok_or(NO_PRICE)
    }

    fn after(&self, state: &usize, loss: &Profile) -> Option<usize> {
        let next = state.checked_add(self.cost(loss)?)?;
        (next <= self.last()).then_some(next)
    }

    fn profile(&self, state: &usize) -> Profile {
        let value = self.values.get(*state);
        value.cloned().unwrap_or_else(Profile::perfect)
    }

    fn most(&self, limit: &Profile) -> Result<usize, FdpError> {
        largest(self.last() + 1, |total| {
            Ok(self.profile(&total).is_within(limit))
        })
    }

    fn is_within(&self, state: &usize, most: &usize) -> bool {
        state <= most
    }

    /// The dearest entry that fits.
    fn headroom(&self, state: &usize, most: &usize) -> Profile {
        let left = most.saturating_sub(*state);
        let fitting = self.entries.iter().filter(|(_, cost)| *cost <= left);
        let dearest = fitting.max_by_key(|(_, cost)| *cost);
        dearest.map_or_else(Profile::perfect, |(entry, _)| entry.clone())
    }
}
