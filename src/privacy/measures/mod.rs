//! The measures, one file each.

mod approx_dp;
mod approx_rdp;
mod approx_zcdp;
mod gdp;
mod probabilistic_dp;
mod pure_dp;
mod rdp;
mod rdp_grid;
mod renyi;
mod sampled_gaussian_dp;
mod zcdp;

pub use approx_dp::ApproxDp;
pub use approx_rdp::ApproxRdp;
pub use approx_zcdp::ApproxZCdp;
pub use gdp::Gdp;
pub use probabilistic_dp::ProbabilisticDp;
pub use pure_dp::PureDp;
pub use rdp::Rdp;
pub use rdp_grid::{GridError, RdpCurve, RdpGrid};
pub use renyi::Renyi;
pub use sampled_gaussian_dp::SampledGaussianDp;
pub use zcdp::ZCdp;

/// [`Additive`](super::Additive) for a measure whose loss has checked arithmetic of its own.
macro_rules! additive {
    ($measure:ty) => {
        impl crate::privacy::Additive for $measure {
            #[inline]
            fn plus(
                &self,
                one: &Self::Loss,
                other: &Self::Loss,
            ) -> Result<Self::Loss, crate::privacy::Overflow> {
                one.checked_add(*other).ok_or(crate::privacy::Overflow)
            }

            fn minus(&self, whole: &Self::Loss, part: &Self::Loss) -> Self::Loss {
                whole.saturating_sub(*part)
            }
        }
    };
}
use additive;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Order;
    use crate::privacy::{Distance, EpsilonDelta, Measure, RhoDelta, UnknownLoss};

    /// The loss for a group of three.
    fn of_three<Me: Measure>(measure: &Me, loss: &Me::Loss) -> Result<Me::Loss, UnknownLoss> {
        measure.group(loss, Distance::new(3).unwrap())
    }

    #[test]
    fn groups_pay_what_the_theorems_say() {
        assert_eq!(
            of_three(&PureDp, &"0.1".parse().unwrap()),
            Ok("0.3".parse().unwrap())
        );
        assert_eq!(
            of_three(&ZCdp, &"0.1".parse().unwrap()),
            Ok("0.9".parse().unwrap())
        );
        assert_eq!(
            of_three(&Gdp, &"0.1".parse().unwrap()),
            Ok("0.3".parse().unwrap())
        );
        assert_eq!(
            of_three(&ApproxDp, &EpsilonDelta::new("0.1", "0").unwrap()),
            Ok(EpsilonDelta::new("0.3", "0").unwrap())
        );
    }

    #[test]
    fn groups_without_a_theorem_have_no_loss() {
        let delta = "group privacy with delta > 0 is not offered";
        let order = "group privacy changes the order of a Rényi guarantee";
        let pdp = "probabilistic DP has no group privacy theorem";
        let alpha: Order = "2".parse().unwrap();
        assert_eq!(
            of_three(&ApproxDp, &EpsilonDelta::new("0.1", "1e-9").unwrap()),
            Err(UnknownLoss(delta))
        );
        assert_eq!(
            of_three(&ApproxZCdp, &RhoDelta::new("0.1", "1e-9").unwrap()),
            Err(UnknownLoss(delta))
        );
        assert_eq!(
            of_three(&ProbabilisticDp, &EpsilonDelta::new("0.1", "0").unwrap()),
            Err(UnknownLoss(pdp))
        );
        assert_eq!(
            of_three(
                &ApproxRdp::new(alpha),
                &EpsilonDelta::new("0.1", "0").unwrap()
            ),
            Err(UnknownLoss(order))
        );
        let rdp = Rdp::new(alpha);
        assert_eq!(
            of_three(&rdp, &"0.1".parse().unwrap()),
            Err(UnknownLoss(order))
        );
        let grid = RdpGrid::new([alpha]).unwrap();
        assert_eq!(of_three(&grid, &grid.zero()), Err(UnknownLoss(order)));
    }

    #[test]
    fn a_group_loss_that_cannot_be_held_is_unknown() {
        let error = UnknownLoss("the loss is more than can be held");
        let large = "340000000000";
        assert_eq!(of_three(&PureDp, &large.parse().unwrap()), Err(error));
        assert_eq!(of_three(&ZCdp, &large.parse().unwrap()), Err(error));
        assert_eq!(of_three(&Gdp, &large.parse().unwrap()), Err(error));
    }
}
