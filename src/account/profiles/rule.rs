//! The accumulator and the rule on a family.

use super::family::Family;
use super::family::sealed::Family as _;
use crate::account::{
    Accounting, Accumulator, ContinuationRule, Exceeded, ValidConcurrently, ValidSequentially,
};
use crate::privacy::fdp::{FDp, FdpError, Profile};
use crate::privacy::{Overflow, UnknownLoss};

/// Trade-off functions counted in a [`Family`]: an accumulator in f-DP.
///
/// Example: [`Menu`](crate::account::profiles::Menu).
///
/// # Guarantee
///
/// For every threshold, the view up to where the reading exceeds it is within it: that of the
/// family, with Haney et al. 2.19; for interleaved interactive children with finite communication
/// Haney et al. 3.6.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "`add` gives the next total and changes nothing"]
pub struct InProfiles<L: Family> {
    pub(super) family: L,
    pub(super) state: L::State,
}

impl<L: Family> InProfiles<L> {
    /// Nothing counted yet.
    pub fn new(family: L) -> Self {
        let state = family.nothing();
        Self { family, state }
    }

    /// The filter with this budget: any trade-off function. Launches go on as long as the profile of
    /// everything together is certified to be within it.
    ///
    /// # Errors
    ///
    /// [`FdpError::NoGaussianBound`] for [`Gaussians`](super::Gaussians), if no μ is known to be
    /// within the budget; those of composing.
    pub fn within(self, limit: Profile) -> Result<WithinProfile<L>, FdpError> {
        let most = self.family.most(&limit)?;
        Ok(WithinProfile {
            counted: self,
            most,
            limit,
        })
    }
}

macro_rules! everything {
    ($($family:ident: $last:expr;)*) => {$(
        impl InProfiles<super::$family> {
            /// The filter whose budget is everything that the family was built for.
            pub fn in_full(self) -> WithinProfile<super::$family> {
                let last: fn(&super::$family) -> usize = $last;
                let most = last(&self.family);
                let limit = self.family.profile(&most);
                WithinProfile { counted: self, most, limit }
            }
        }
    )*};
}
everything! {
    Powers: super::Powers::last;
    Menu: super::Menu::last;
    List: super::List::last;
}

impl<L: Family> Accounting for InProfiles<L> {
    type Children = FDp;
    type Whole = FDp;

    fn children(&self) -> &FDp {
        &FDp
    }

    fn whole(&self) -> &FDp {
        &FDp
    }
}

impl<L: Family> Accumulator for InProfiles<L> {
    fn covers(&self, loss: &Profile) -> Result<(), UnknownLoss> {
        self.family.covers(loss)
    }

    fn add(&self, loss: &Profile) -> Result<Self, Overflow> {
        let state = self.family.after(&self.state, loss).ok_or(Overflow)?;
        let family = self.family.clone();
        Ok(Self { family, state })
    }

    fn total(&self) -> Profile {
        self.family.profile(&self.state)
    }

    fn is_within(&self, limit: &Profile) -> bool {
        self.total().is_within(limit)
    }

    /// Nothing where no budget can be made of the limit.
    fn headroom(&self, limit: &Profile) -> Profile {
        match self.family.most(limit) {
            Ok(most) => self.family.headroom(&self.state, &most),
            Err(_) => Profile::perfect(),
        }
    }
}

/// The rule of a [`Family`] with a budget that is a trade-off function.
///
/// The largest state that fits the budget is found once; a launch only compares states.
///
/// Example: [`Menu`](crate::account::profiles::Menu).
///
/// # Guarantee
///
/// The whole is dominated by the budget: that of the family, and for interleaved interactive children
/// with finite communication Haney et al. 3.4.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "`charge` gives the next rule and changes nothing"]
pub struct WithinProfile<L: Family> {
    pub(super) counted: InProfiles<L>,
    pub(super) most: L::Most,
    pub(super) limit: Profile,
}

impl<L: Family> Accounting for WithinProfile<L> {
    type Children = FDp;
    type Whole = FDp;

    fn children(&self) -> &FDp {
        &FDp
    }

    fn whole(&self) -> &FDp {
        &FDp
    }
}

impl<L: Family> ContinuationRule for WithinProfile<L> {
    fn limit(&self) -> &Profile {
        &self.limit
    }

    fn spent(&self) -> Profile {
        let InProfiles { family, state } = &self.counted;
        match family.reads_within(state, &self.most) {
            true => self.counted.total(),
            false => self.limit.clone(),
        }
    }

    fn remaining(&self) -> Profile {
        let InProfiles { family, state } = &self.counted;
        family.headroom(state, &self.most)
    }

    fn charge(&self, loss: &Profile) -> Result<Self, Exceeded> {
        let counted = self.counted.add(loss).map_err(|_| Exceeded)?;
        if !self.counted.family.is_within(&counted.state, &self.most) {
            return Err(Exceeded);
        }
        Ok(Self {
            counted,
            most: self.most.clone(),
            limit: self.limit.clone(),
        })
    }
}

impl<L: Family> ValidSequentially for InProfiles<L> {}
impl<L: Family> ValidConcurrently for InProfiles<L> {}
impl<L: Family> ValidSequentially for WithinProfile<L> {}
impl<L: Family> ValidConcurrently for WithinProfile<L> {}
