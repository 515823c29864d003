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
pub(crate) use renyi::Renyi;
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

/// Serde's traits, with the measure's name as a tag, because an ε alone does not say of which measure
/// it is a loss: `{"measure": "Rdp", "order": "2"}`. A field is read by the method of its name.
#[doc(hidden)]
#[macro_export]
macro_rules! written {
    ($measure:ident) => {
        $crate::written!(
            $measure {} => Ok::<_, std::convert::Infallible>($measure)
        );
    };
    ($measure:ident { $($field:ident: $type:ty)? } => $read:expr) => {
        #[cfg(feature = "serde")]
        const _: () = {
            #[derive(serde::Serialize, serde::Deserialize)]
            #[serde(tag = "measure", deny_unknown_fields)]
            enum Tagged {
                $measure { $($field: $type)? },
                #[serde(other)]
                Another,
            }

            impl serde::Serialize for $measure {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    let tagged = Tagged::$measure { $($field: self.$field().to_owned())? };
                    tagged.serialize(serializer)
                }
            }

            impl<'de> serde::Deserialize<'de> for $measure {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    match Tagged::deserialize(deserializer)? {
                        Tagged::$measure { $($field)? } => $read.map_err(serde::de::Error::custom),
                        Tagged::Another => Err(serde::de::Error::custom(concat!(
                            "the measure is not ",
                            stringify!($measure)
                        ))),
                    }
                }
            }
        };
    };
}
pub(super) use written;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Delta, Epsilon, Mu, Order, Rho};
    use crate::privacy::{Distance, EpsilonDelta, Measure, Overflow, RhoDelta, UnknownLoss};
    use crate::tests::oracle::{exp, is_just_above, quantity, real, sizes};
    use proptest::prelude::*;

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

    /// What parallel parts cost: the least loss that is at least as large as each of two.
    #[test]
    fn the_join_of_losses_is_above_both() {
        let (one, other) = (["0.1", "2e-6"], ["0.2", "1e-6"]);
        let pair = |[epsilon, delta]: [&str; 2]| EpsilonDelta::new(epsilon, delta).unwrap();
        let both = EpsilonDelta::new("0.2", "2e-6").unwrap();
        let order: Order = "2".parse().unwrap();
        assert_eq!(ApproxDp.join(&pair(one), &pair(other)), both);
        assert_eq!(ProbabilisticDp.join(&pair(one), &pair(other)), both);
        assert_eq!(ApproxRdp::new(order).join(&pair(one), &pair(other)), both);
        let pair = |[rho, delta]: [&str; 2]| RhoDelta::new(rho, delta).unwrap();
        let both = RhoDelta::new("0.2", "2e-6").unwrap();
        assert_eq!(ApproxZCdp.join(&pair(one), &pair(other)), both);
        let [less, more]: [Epsilon; 2] = ["0.1", "0.2"].map(|text| text.parse().unwrap());
        for (one, other) in [(less, more), (more, less)] {
            assert_eq!(PureDp.join(&one, &other), more);
            assert_eq!(Rdp::new(order).join(&one, &other), more);
        }
        let [less, more]: [Rho; 2] = ["0.1", "0.2"].map(|text| text.parse().unwrap());
        assert_eq!(ZCdp.join(&less, &more), more);
        let [less, more]: [Mu; 2] = ["0.1", "0.2"].map(|text| text.parse().unwrap());
        assert_eq!(Gdp.join(&less, &more), more);
    }

    #[test]
    fn the_delta_of_a_group_grows_with_every_step() {
        let pair = |epsilon: &str, delta: &str| EpsilonDelta::new(epsilon, delta).unwrap();
        let group = |loss, steps| ApproxDp.group(&loss, Distance::new(steps).unwrap());
        // Nothing is rounded for neighbours, or where ε is zero.
        assert_eq!(group(pair("0.1", "1e-6"), 1), Ok(pair("0.1", "1e-6")));
        assert_eq!(group(pair("0", "1e-6"), 3), Ok(pair("0", "3e-6")));
        assert_eq!(group(pair("0", "0.4"), 3), Ok(pair("0", "1")));
        // 1e-6 (1 + e^0.1 + e^0.2), rounded up.
        let three = group(pair("0.1", "1e-6"), 3).unwrap();
        assert_eq!(three.epsilon, "0.3".parse().unwrap());
        let truth =
            (0..3).map(|step| exp(&(quantity(pair("0.1", "0").epsilon) * real(step.into()))));
        let truth =
            truth.fold(real(0.0), |sum, term| sum + term) * quantity(pair("0", "1e-6").delta);
        is_just_above(three.delta, &truth);
        // More than certainty is certainty, and what overflows is.
        assert_eq!(group(pair("1", "0.3"), 2), Ok(pair("2", "1")));
        assert_eq!(group(pair("1000", "1e-38"), 9), Ok(pair("9000", "1")));
        assert_eq!(group(pair("1e11", "1e-38"), 9), Err(Overflow.into()));
        // A tiny ε: as many δ, but for rounding.
        let many = group(pair("1e-27", "1e-9"), 1000).unwrap();
        assert_eq!(format!("{:.8}", many.delta), "1.00000001e-6");
    }

    proptest! {
        #[test]
        fn a_group_loses_what_its_steps_add_up_to(
            epsilon in sizes::<crate::number::units::Epsilon>(-9.0..0.5),
            delta in sizes::<crate::number::units::Delta>(-30.0..-6.0), steps in 2..20_u64,
        ) {
            let loss = EpsilonDelta { epsilon, delta };
            let given = ApproxDp.group(&loss, Distance::new(steps).unwrap()).unwrap();
            let factor = exp(&quantity(epsilon));
            let (mut truth, mut power) = (real(0.0), quantity(delta));
            for _ in 0..steps {
                truth += &power;
                power *= &factor;
            }
            prop_assert_eq!(given.epsilon, epsilon.checked_mul(steps).unwrap());
            if truth < real(1.0) {
                is_just_above(given.delta, &truth);
            } else {
                prop_assert_eq!(given.delta, Delta::ONE);
            }
        }
    }

    #[test]
    fn groups_without_a_theorem_have_no_loss() {
        let delta = "group privacy with delta > 0 is not offered";
        let order = "group privacy changes the order of a Rényi guarantee";
        let pdp = "probabilistic DP has no group privacy theorem";
        let alpha: Order = "2".parse().unwrap();
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
