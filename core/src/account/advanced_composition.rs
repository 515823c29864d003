use super::deltas::Deltas;
#[cfg(feature = "serde")]
use super::durable::{Durable, ImpossibleCounts, Invalid};
use super::{Accumulator, RuleError, ValidConcurrently, ValidSequentially};
use crate::account::twice_rho::{largest_epsilon, squares, twice_rho};
use crate::number::{Delta, Epsilon, Interval, Quantity, U256, units};
use crate::privacy::convert::{log_inverse, zcdp};
use crate::privacy::{EpsilonDelta, Overflow};

/// The (ε, δ) accumulator of advanced composition: after launches of (ε₁, δ₁), …, (ε_k, δ_k) the
/// total is `(√(2 ln(1/δ′) V) + ½V, δ′ + Σδ)`, where `V = 2Σ ε·tanh(ε/2)` is at most Σε².
///
/// δ′, the slack, is chosen in advance and part of the total from the start. The sums do not depend
/// on the order; what is shown is rounded up.
///
/// # Guarantee
///
/// Haney et al. 3.8, which relies on Whitehouse et al. Thm 2; for interleaved children Haney et al.
/// 1.20, with finite communication. As printed, 3.8 takes the root of both terms; the proof, and
/// this code, take it of the first only. Both papers have Σε² for V;
/// [`ThroughZCdp`](super::ThroughZCdp) says why the smaller one is valid.
///
/// Capped, it is the filter of Haney et al. 3.7. [`ThroughZCdp::simple`](super::ThroughZCdp::simple)
/// is the same filter with its threshold computed once.
///
/// # Example
///
/// ```
/// use queryables::account::{Accumulator, AdvancedComposition};
/// use queryables::privacy::EpsilonDelta;
///
/// let mut total = AdvancedComposition::new("1e-6".parse()?)?;
/// for _ in 0..100 {
///     total = total.add(&EpsilonDelta::new("0.01", "0")?)?;
/// }
/// // Added up it would be 1.
/// assert!(total.total() <= EpsilonDelta::new("0.5307", "1e-6")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Hash)]
#[must_use = "`add` gives the next total and changes nothing"]
pub struct AdvancedComposition {
    log: Interval,
    squares: U256,
    deltas: Deltas,
}

impl AdvancedComposition {
    /// Nothing counted yet, with this slack δ′.
    ///
    /// # Errors
    ///
    /// [`RuleError::NoSlack`] if δ′ is zero.
    pub fn new(slack: Delta) -> Result<Self, RuleError> {
        Ok(Self {
            log: log_inverse(slack).map_err(|_| RuleError::NoSlack)?,
            squares: U256::default(),
            deltas: Deltas::new(slack),
        })
    }

    /// The ε of the total where `V = 2Σ ε·tanh(ε/2)` is this, rounded up; `None` if it is more than
    /// can be held.
    ///
    /// ```
    /// use queryables::account::AdvancedComposition;
    ///
    /// let total = AdvancedComposition::new("1e-6".parse()?)?;
    /// let (least, most) = ("0.5306".parse()?, "0.5307".parse()?);
    /// let bound = total.bound_at("0.01".parse()?);
    /// assert!(bound.is_some_and(|bound| bound > least && bound < most));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bound_at(&self, variance: Quantity<units::Variance>) -> Option<Epsilon> {
        simple_epsilon(squares(variance), self.log)
    }

    /// The largest V for which the bound is at most ε, rounded down.
    fn threshold(&self, epsilon: Epsilon) -> U256 {
        simple_threshold(epsilon, self.log)
    }
}

/// `√(2 ln(1/δ′) y) + y/2 ≤ ε` if and only if `y/2 ≤ (√(ln(1/δ′) + ε) − √ln(1/δ′))²`.
pub(super) fn simple_threshold(epsilon: Epsilon, log: Interval) -> U256 {
    let rho = zcdp::simple_budget(epsilon.into(), log);
    (Interval::TWO * rho).squares_down(27)
}

/// `√(2 ln(1/δ′) y) + y/2`, rounded up.
pub(super) fn simple_epsilon(squares: U256, log: Interval) -> Option<Epsilon> {
    let squares = Interval::squares(squares, 27);
    ((Interval::TWO * log * squares).sqrt() + squares / Interval::TWO).up()
}

/// 1.6·10¹¹: the bound is then near 8·10¹⁰ for every δ′, and can be held.
fn most_squares() -> U256 {
    U256::of_units(400_000 * 10_u128.pow(27))
}

approx_dp_in_and_out!(AdvancedComposition);

impl Accumulator for AdvancedComposition {
    fn add(&self, loss: &EpsilonDelta) -> Result<Self, Overflow> {
        let squares = self.squares.checked_add(twice_rho(loss.epsilon));
        let squares = squares.filter(|squares| *squares <= most_squares());
        Ok(Self {
            squares: squares.ok_or(Overflow)?,
            deltas: self.deltas.plus(loss.delta),
            ..*self
        })
    }

    fn total(&self) -> EpsilonDelta {
        let epsilon = if self.squares == U256::default() {
            Some(Epsilon::ZERO)
        } else {
            simple_epsilon(self.squares, self.log)
        };
        EpsilonDelta {
            // `add` keeps only what can be held.
            epsilon: epsilon.unwrap_or(Epsilon::LARGEST),
            delta: self.deltas.total(),
        }
    }

    fn set_aside(&self) -> EpsilonDelta {
        self.deltas.set_aside()
    }

    fn is_within(&self, limit: &EpsilonDelta) -> bool {
        self.deltas.total() <= limit.delta && self.squares <= self.threshold(limit.epsilon)
    }

    fn total_within(&self, limit: &EpsilonDelta) -> EpsilonDelta {
        let mut total = self.total();
        // Only ε is rounded.
        if self.is_within(limit) {
            total.epsilon = total.epsilon.min(limit.epsilon);
        }
        total
    }

    fn headroom(&self, limit: &EpsilonDelta) -> EpsilonDelta {
        // No more than `add` takes.
        let threshold = self.threshold(limit.epsilon).min(most_squares());
        let left = threshold.checked_sub(self.squares);
        EpsilonDelta {
            epsilon: left.map_or(Epsilon::ZERO, largest_epsilon),
            delta: self.deltas.left_of(limit.delta),
        }
    }
}

impl ValidSequentially for AdvancedComposition {}
impl ValidConcurrently for AdvancedComposition {}

/// What launches change, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    squares: U256,
    deltas: Delta,
}

#[cfg(feature = "serde")]
impl Durable for AdvancedComposition {
    const NAME: &'static str = "AdvancedComposition";

    type Parameters = Delta;
    type Counts = Counts;

    fn parameters(&self) -> Delta {
        self.deltas.slack()
    }

    fn build(slack: Delta) -> Result<Self, Invalid> {
        Ok(Self::new(slack)?)
    }

    fn counts(&self) -> Counts {
        Counts {
            squares: self.squares,
            deltas: self.deltas.children(),
        }
    }

    fn resume(&self, Counts { squares, deltas }: Counts) -> Result<Self, Invalid> {
        if squares > most_squares() {
            return Err(ImpossibleCounts.into());
        }
        Ok(Self {
            squares,
            deltas: Deltas::new(self.deltas.slack()).plus(deltas),
            ..*self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{ContinuationRule, Exceeded, ThroughZCdp};
    use proptest::prelude::*;

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    #[test]
    fn there_is_no_bound_without_slack() {
        assert_eq!(
            AdvancedComposition::new(Delta::ZERO),
            Err(RuleError::NoSlack)
        );
    }

    #[test]
    fn the_slack_is_spent_from_the_start() {
        let total = AdvancedComposition::new("1e-6".parse().unwrap()).unwrap();
        assert_eq!(total.total(), pair("0", "1e-6"));
        assert!(total.is_within(&pair("0", "1e-6")));
        assert!(!total.is_within(&pair("1", "9e-7")));
    }

    #[test]
    fn what_cannot_be_held_is_an_overflow() {
        let mut total = AdvancedComposition::new("1e-6".parse().unwrap()).unwrap();
        total = total.add(&pair("8e10", "0.1")).unwrap();
        assert_eq!(total.add(&pair("1e-27", "0.1")), Err(Overflow));
        assert!(total.total().epsilon > "8e10".parse().unwrap());
    }

    #[test]
    fn headroom_is_admitted_and_one_unit_more_is_not() {
        let mut total = AdvancedComposition::new("1e-6".parse().unwrap()).unwrap();
        total = total.add(&pair("0.1", "1e-7")).unwrap();
        let limit = pair("1", "2e-6");
        let room = total.headroom(&limit);
        assert_eq!(room.delta, "9e-7".parse().unwrap());
        let rule = total.capped(limit);
        assert!(rule.charge(&room).is_ok());
        let more = Epsilon::from_units(room.epsilon.units() + 1).unwrap();
        let more = EpsilonDelta {
            epsilon: more,
            ..room
        };
        assert_eq!(rule.charge(&more), Err(Exceeded));
    }

    #[test]
    fn what_is_within_a_limit_is_not_said_to_be_above_it() {
        let nothing = AdvancedComposition::new("1e-6".parse().unwrap()).unwrap();
        let mut beyond = 0;
        for part in 1..1000 {
            let limit = EpsilonDelta::new(f64::from(part) / 97.0, 1e-5).unwrap();
            let mut rule = nothing.capped(limit);
            let epsilon = rule.remaining().epsilon;
            let delta = Delta::ZERO;
            rule = rule.charge(&EpsilonDelta { epsilon, delta }).unwrap();
            let (spent, total) = (rule.spent(), rule.uncapped().total());
            assert_eq!(spent.epsilon, total.epsilon.min(limit.epsilon));
            assert_eq!(spent.delta, total.delta);
            beyond += u32::from(total.epsilon > limit.epsilon);
        }
        // Otherwise this test has checked nothing.
        assert!(beyond > 0);
    }

    #[test]
    fn what_is_above_a_limit_is_said_to_be() {
        let mut total = AdvancedComposition::new("1e-6".parse().unwrap()).unwrap();
        total = total.add(&pair("1", "0")).unwrap();
        assert_eq!(total.capped(pair("1", "1e-5")).spent(), total.total());
    }

    #[test]
    fn a_huge_limit_has_room_for_what_can_be_counted() {
        let total = AdvancedComposition::new("1e-6".parse().unwrap()).unwrap();
        let mut rule = total.capped(pair("3e11", "1e-5"));
        let room = rule.remaining();
        assert_eq!(room.epsilon, "8e10".parse().unwrap());
        rule = rule.charge(&room).unwrap();
        assert_eq!(rule.remaining(), EpsilonDelta::default());
    }

    proptest! {
        /// Haney et al. Lemma 2.19: F(·; d) = [G(·) ≼ d].
        #[test]
        fn filter_and_accumulator_agree(
            losses in proptest::collection::vec((0..200_u32, 0..3_u32), 1..60),
            limit in 1..400_u32,
        ) {
            let limit = EpsilonDelta::new(f64::from(limit) * 1e-2, 1.5e-5).unwrap();
            let slack = "1e-6".parse().unwrap();
            let mut capped = AdvancedComposition::new(slack).unwrap().capped(limit);
            let mut filter = ThroughZCdp::simple(limit, slack).unwrap();
            for (epsilon, delta) in losses {
                let epsilon = Epsilon::from_units(u128::from(epsilon) * 10_u128.pow(24)).unwrap();
                let delta = Delta::from_units(u128::from(delta) * 10_u128.pow(33)).unwrap();
                let loss = EpsilonDelta { epsilon, delta };
                let next = capped.clone().uncapped().add(&loss).unwrap();
                let (admitted, also) = (filter.charge(&loss), capped.charge(&loss));
                prop_assert_eq!(admitted.is_ok(), also.is_ok());
                if let (Ok(one), Ok(other)) = (admitted, also) {
                    (filter, capped) = (one, other);
                }
                prop_assert_eq!(filter.spent(), capped.spent());
                prop_assert_eq!(filter.remaining(), capped.remaining());
                if admitted.is_err() {
                    // Refused: the total, if not rounded, would be over the limit.
                    let total = next.total();
                    let above = total.epsilon.units() + total.epsilon.units() / 1_000_000_000_000;
                    prop_assert!(total.delta > limit.delta || above > limit.epsilon.units());
                }
            }
        }

        #[test]
        fn the_total_rises_in_every_argument(
            losses in proptest::collection::vec((0..10_u128.pow(28), 0..10_u128.pow(30)), 1..9),
            at in 0..9_usize, more in 0..10_u128.pow(27),
        ) {
            let total = |change: Option<usize>, slack: &str| {
                let mut total = AdvancedComposition::new(slack.parse().unwrap()).unwrap();
                for (index, (epsilon, delta)) in losses.iter().enumerate() {
                    let extra = if change == Some(index) { more } else { 0 };
                    let loss = EpsilonDelta {
                        epsilon: Epsilon::from_units(epsilon + extra).unwrap(),
                        delta: Delta::from_units(delta + extra).unwrap(),
                    };
                    total = total.add(&loss).unwrap();
                }
                total.total()
            };
            prop_assert!(total(None, "1e-6") <= total(Some(at % losses.len()), "1e-6"));
            prop_assert!(total(None, "1e-5").epsilon <= total(None, "1e-6").epsilon);
        }
    }
}
