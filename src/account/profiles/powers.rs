//! Powers of one trade-off function.

use std::sync::Arc;

use super::family::{Family, NO_PRICE, is_nothing, largest, sealed};
use crate::privacy::UnknownLoss;
use crate::privacy::fdp::{FdpError, Grid, Profile};

/// Powers of one trade-off function: a launch costs a number of units, one for everything that is at
/// most the function.
///
/// # Guarantee
///
/// They are a Blackwell chain, because fⁿ ⊗ fᵐ = fⁿ⁺ᵐ (Tran et al. Ex. D.3), so the natural filter is
/// valid for every budget (3.6).
///
/// ```
/// use queryables::account::profiles::{InProfiles, Powers};
/// use queryables::account::{Accumulator, ContinuationRule};
/// use queryables::privacy::fdp::{Grid, Profile};
///
/// let step = Profile::sampled_gaussian_by("0.1".parse()?, "0.5".parse()?);
/// let steps = Powers::new(step.clone(), 40, Grid::new("1e-3".parse()?)?)?;
/// let mut steps = InProfiles::new(steps);
/// for _ in 0..16 {
///     steps = steps.add(&step)?;
/// }
/// // All of its (ε, δ) at once.
/// assert!(steps.total().worst_delta("1".parse()?).upper < "1.1e-5".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Powers {
    base: Profile,
    most: usize,
    /// The powers of multiples of `stride`, from the first on, up to `most`.
    readings: Arc<[Profile]>,
    stride: usize,
    pub(super) grid: Grid,
}

/// How many powers are computed in advance, at most.
const READINGS: usize = 64;

impl Powers {
    /// Up to this number of units, composed on this grid.
    ///
    /// Up to 64 readings are computed in advance; a number between two of them reads as the larger.
    ///
    /// # Errors
    ///
    /// Those of [`Profile::power`].
    pub fn new(base: Profile, most: usize, grid: Grid) -> Result<Self, FdpError> {
        if most == 0 {
            return Err(FdpError::NoParts);
        }
        let stride = most.div_ceil(READINGS);
        let numbers = (1..=most.div_ceil(stride)).map(|number| (number * stride).min(most));
        let readings = numbers
            .map(|number| power(&base, number, &grid))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            base,
            most,
            readings,
            stride,
            grid,
        })
    }

    /// The function of one unit.
    #[must_use]
    pub fn base(&self) -> &Profile {
        &self.base
    }

    pub(super) fn last(&self) -> usize {
        self.most
    }

    /// The number of units of a launch.
    fn units(&self, loss: &Profile) -> Option<usize> {
        if is_nothing(loss) {
            return Some(0);
        }
        if loss.is_within(&self.base) {
            return Some(1);
        }
        let place = self.readings.iter().position(|power| *power == *loss);
        place.map(|place| ((place + 1) * self.stride).min(self.most))
    }
}

fn power(base: &Profile, number: usize, grid: &Grid) -> Result<Profile, FdpError> {
    match number {
        0 => Ok(Profile::perfect()),
        1 => Ok(base.clone()),
        _ => base.power(number as u64, grid),
    }
}

impl Family for Powers {}

impl sealed::Family for Powers {
    type State = usize;
    type Most = usize;

    fn nothing(&self) -> usize {
        0
    }

    fn covers(&self, loss: &Profile) -> Result<(), UnknownLoss> {
        self.units(loss).map(|_| ()).ok_or(NO_PRICE)
    }

    fn after(&self, state: &usize, loss: &Profile) -> Option<usize> {
        let next = state.checked_add(self.units(loss)?)?;
        (next <= self.most).then_some(next)
    }

    fn profile(&self, state: &usize) -> Profile {
        match state.checked_sub(1) {
            None => Profile::perfect(),
            Some(before) => {
                let reading = self.readings.get(before / self.stride);
                reading.unwrap_or(&self.base).clone()
            }
        }
    }

    fn most(&self, limit: &Profile) -> Result<usize, FdpError> {
        largest(self.most + 1, |number| {
            Ok(power(&self.base, number, &self.grid)?.is_within(limit))
        })
    }

    fn is_within(&self, state: &usize, most: &usize) -> bool {
        state <= most
    }

    /// A number between two readings reads as the larger.
    fn reads_within(&self, state: &usize, most: &usize) -> bool {
        let read = state.div_ceil(self.stride).saturating_mul(self.stride);
        read.min(self.most) <= *most
    }

    fn headroom(&self, state: &usize, most: &usize) -> Profile {
        match state < most {
            true => self.base.clone(),
            false => Profile::perfect(),
        }
    }
}
