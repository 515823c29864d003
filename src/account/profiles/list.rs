//! Trade-off functions that are fixed in advance.

use std::sync::Arc;

use super::composed::counted;
use super::family::{Family, NO_PRICE, is_nothing, largest, sealed};
use crate::privacy::UnknownLoss;
use crate::privacy::fdp::{FdpError, Grid, Profile};

/// Trade-off functions that are fixed in advance; the mechanisms are not. Each launch takes the next
/// function of the list and must be at least as private.
///
/// # Guarantee
///
/// The tensor product of all functions: they do not depend on answers, so every composition theorem
/// for non-interactive mechanisms holds (Tran et al. A.14), and carries over to interleaved
/// interactive ones (Haney et al. 1.8 for f-DP, by 3.3; §5.1 for mechanisms that are chosen along the
/// way). Functions may cross.
///
/// ```
/// use queryables::account::{ContinuationRule, Exceeded};
/// use queryables::account::profiles::{InProfiles, List};
/// use queryables::privacy::fdp::{Grid, Profile};
///
/// let (laplace, gaussian) = (Profile::laplace("1".parse()?), Profile::gaussian("0.5".parse()?));
/// let list = List::new(&[laplace.clone(), gaussian.clone()], Grid::new("1e-2".parse()?)?)?;
/// let rule = InProfiles::new(list).in_full();
/// // First the Laplace noise.
/// assert_eq!(rule.charge(&Profile::gaussian("2".parse()?)), Err(Exceeded));
/// let rule = rule.charge(&Profile::laplace("0.8".parse()?))?;
/// assert_eq!(rule.remaining(), gaussian);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    pub(super) losses: Arc<[Profile]>,
    /// The product of the first ones, from none on.
    products: Arc<[Profile]>,
    pub(super) grid: Grid,
}

impl List {
    /// These functions, in the order in which launches take them, composed on this grid.
    ///
    /// # Errors
    ///
    /// [`FdpError::NoParts`] if there are none; those of [`Profile::tensor`].
    pub fn new(losses: &[Profile], grid: Grid) -> Result<Self, FdpError> {
        if losses.is_empty() {
            return Err(FdpError::NoParts);
        }
        let mut products = vec![Profile::perfect()];
        for count in 1..=losses.len() {
            let first = losses.get(..count).unwrap_or(losses);
            products.push(match first {
                [only] => only.clone(),
                _ => Profile::compose(&counted(first), &grid)?,
            });
        }
        Ok(Self {
            losses: losses.into(),
            products: products.into(),
            grid,
        })
    }

    pub(super) fn last(&self) -> usize {
        self.losses.len()
    }
}

impl Family for List {}

impl sealed::Family for List {
    type State = usize;
    type Most = usize;

    fn nothing(&self) -> usize {
        0
    }

    fn covers(&self, loss: &Profile) -> Result<(), UnknownLoss> {
        let covered = self.losses.iter().any(|turn| loss.is_within(turn));
        covered.then_some(()).ok_or(NO_PRICE)
    }

    fn after(&self, state: &usize, loss: &Profile) -> Option<usize> {
        if is_nothing(loss) {
            return Some(*state);
        }
        let turn = self.losses.get(*state)?;
        loss.is_within(turn).then_some(state + 1)
    }

    fn profile(&self, state: &usize) -> Profile {
        let product = self.products.get(*state);
        product.cloned().unwrap_or_else(Profile::perfect)
    }

    fn most(&self, limit: &Profile) -> Result<usize, FdpError> {
        largest(self.products.len(), |count| {
            Ok(self.profile(&count).is_within(limit))
        })
    }

    fn is_within(&self, state: &usize, most: &usize) -> bool {
        state <= most
    }

    fn headroom(&self, state: &usize, most: &usize) -> Profile {
        let next = self.losses.get(*state).filter(|_| state < most);
        next.cloned().unwrap_or_else(Profile::perfect)
    }
}
