use crate::privacy::{Measure, Reentrant};
use std::hash::{Hash, Hasher};

#[cfg(feature = "serde")]
use super::durable::{Durable, ImpossibleCounts, Invalid};
use super::{
    Accounting, Accumulator, ChildLoss, ContinuationRule, Exceeded, LaunchesLeft,
    ValidConcurrently, ValidSequentially, WholeLoss,
};

/// The rule `F(·; d) = [G(·) ≼ d]`: go on while the total is at most the limit, equality
/// included.
///
/// # Guarantee
///
/// Valid exactly where the accumulator is (Haney et al. Lemma 2.19).
///
/// # Example
///
/// ```
/// use queryables::account::{Accumulator, ContinuationRule, Exceeded, Sum};
/// use queryables::privacy::PureDp;
///
/// let rule = Sum::new(PureDp).capped("1".parse()?);
/// let rule = rule.charge(&"0.7".parse()?)?;
/// assert_eq!(rule.charge(&"0.4".parse()?), Err(Exceeded));
/// assert_eq!(rule.remaining(), "0.3".parse()?);
/// let rule = rule.charge(&"0.3".parse()?)?;
///
/// // And back to the accumulator.
/// assert_eq!(rule.uncapped().total(), "1".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "`charge` gives the next rule and changes nothing"]
pub struct Capped<G: Accounting> {
    accumulator: G,
    limit: WholeLoss<G>,
}

impl<G: Accumulator> Capped<G> {
    pub(super) fn new(accumulator: G, limit: WholeLoss<G>) -> Self {
        Self { accumulator, limit }
    }

    /// The accumulator of which this is the cap (Haney et al. Lemma 2.19, the other way).
    pub fn uncapped(self) -> G {
        self.accumulator
    }
}

impl<G: Accumulator + Hash> Hash for Capped<G>
where
    WholeLoss<G>: Hash,
{
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.accumulator.hash(state);
        self.limit.hash(state);
    }
}

impl<G: Accumulator> Accounting for Capped<G> {
    const REENTRANT: Reentrant = G::REENTRANT;

    type Children = G::Children;
    type Whole = G::Whole;

    fn children(&self) -> &G::Children {
        self.accumulator.children()
    }

    fn whole(&self) -> &G::Whole {
        self.accumulator.whole()
    }
}

impl<G: Accumulator> ContinuationRule for Capped<G> {
    fn limit(&self) -> &WholeLoss<G> {
        &self.limit
    }

    fn spent(&self) -> WholeLoss<G> {
        self.accumulator.total_within(&self.limit)
    }

    fn set_aside(&self) -> WholeLoss<G> {
        self.accumulator.set_aside()
    }

    fn remaining(&self) -> ChildLoss<G> {
        if !self.accumulator.is_within(&self.limit) {
            return self.children().zero();
        }
        self.accumulator.headroom(&self.limit)
    }

    fn charge(&self, loss: &ChildLoss<G>) -> Result<Self, Exceeded> {
        // A total that overflows is over every limit.
        let accumulator = self.accumulator.add(loss).map_err(|_| Exceeded)?;
        if !accumulator.is_within(&self.limit) {
            return Err(Exceeded);
        }
        Ok(Self {
            accumulator,
            limit: self.limit.clone(),
        })
    }

    fn admits(&self, loss: &ChildLoss<G>) -> LaunchesLeft {
        self.accumulator.admits(loss, &self.limit)
    }
}

impl<G: Accumulator + ValidSequentially> ValidSequentially for Capped<G> {}
impl<G: Accumulator + ValidConcurrently> ValidConcurrently for Capped<G> {}

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters<P, L> {
    of: P,
    limit: L,
}

#[cfg(feature = "serde")]
impl<G: Accumulator + Durable + PartialEq> Durable for Capped<G>
where
    WholeLoss<G>: serde::Serialize + serde::de::DeserializeOwned,
{
    const NAME: &'static str = G::NAME;

    type Parameters = Parameters<G::Parameters, WholeLoss<G>>;
    type Counts = G::Counts;

    fn parameters(&self) -> Self::Parameters {
        Parameters {
            of: self.accumulator.parameters(),
            limit: self.limit.clone(),
        }
    }

    fn build(Parameters { of, limit }: Self::Parameters) -> Result<Self, Invalid> {
        Ok(Self::new(G::build(of)?, limit))
    }

    fn counts(&self) -> G::Counts {
        self.accumulator.counts()
    }

    fn resume(&self, counts: G::Counts) -> Result<Self, Invalid> {
        let accumulator = self.accumulator.resume(counts)?;
        // One that has counted nothing may be over a limit that is less than its slack.
        if !(accumulator.is_within(&self.limit) || accumulator == self.accumulator) {
            return Err(ImpossibleCounts.into());
        }
        Ok(Self::new(accumulator, self.limit.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::DefaultAccumulator;
    use crate::account::{AdvancedComposition, Sum};
    use crate::number::Epsilon;
    use crate::privacy::{ApproxDp, EpsilonDelta, Gdp, Overflow, PureDp, RdpGrid};

    #[test]
    fn what_is_refused_is_over_the_limit_or_cannot_be_held() {
        let mut rule = PureDp.accumulator().capped("1".parse().unwrap());
        rule = rule.charge(&"0.5".parse().unwrap()).unwrap();
        assert_eq!(rule.charge(&"0.6".parse().unwrap()), Err(Exceeded));
        assert_eq!(rule.charge(&"3.4e11".parse().unwrap()), Err(Exceeded));
    }

    /// Shows one unit more than it compares.
    #[derive(Clone, Debug)]
    struct Rough(Sum<PureDp>);

    impl Accounting for Rough {
        type Children = PureDp;
        type Whole = PureDp;

        fn children(&self) -> &PureDp {
            &PureDp
        }

        fn whole(&self) -> &PureDp {
            &PureDp
        }
    }

    impl Accumulator for Rough {
        fn add(&self, loss: &Epsilon) -> Result<Self, Overflow> {
            self.0.add(loss).map(Self)
        }

        fn total(&self) -> Epsilon {
            Epsilon::from_units(self.0.total().units() + 1).unwrap()
        }

        fn is_within(&self, limit: &Epsilon) -> bool {
            self.0.is_within(limit)
        }

        fn headroom(&self, limit: &Epsilon) -> Epsilon {
            self.0.headroom(limit)
        }
    }

    #[test]
    fn rounding_shows_no_more_than_the_limit_but_an_excess_does() {
        let epsilon = |text: &str| text.parse::<Epsilon>().unwrap();
        let mut rule = Rough(Sum::new(PureDp)).capped(epsilon("1"));
        rule = rule.charge(&epsilon("0.5")).unwrap();
        assert_eq!(rule.spent(), epsilon("0.500000000000000000000000001"));
        rule = rule.charge(&epsilon("0.5")).unwrap();
        assert_eq!(rule.spent(), epsilon("1"));
        let less = rule.uncapped().capped(epsilon("0.9"));
        assert_eq!(less.spent(), epsilon("1.000000000000000000000000001"));
    }

    /// In δ, with room in ε; in ε, with room in δ; by a slack that is spent from the start.
    #[test]
    fn what_is_over_its_cap_from_the_start_has_nothing_remaining() {
        let pair = |epsilon: &str, delta: &str| EpsilonDelta::new(epsilon, delta).unwrap();
        let sum = ApproxDp.accumulator().add(&pair("0.5", "1e-6")).unwrap();
        let slack = AdvancedComposition::new("1e-6".parse().unwrap()).unwrap();
        let nothing = EpsilonDelta::default();
        for limit in [pair("1", "1e-7"), pair("0.4", "1")] {
            let rule = sum.clone().capped(limit);
            assert_eq!(rule.remaining(), nothing, "{limit}");
            assert_eq!(rule.charge(&nothing), Err(Exceeded));
        }
        let rule = slack.capped(pair("1", "1e-7"));
        assert_eq!(rule.remaining(), nothing);
        assert_eq!(rule.charge(&nothing), Err(Exceeded));
        // At the limit is not over it.
        let rule = sum.capped(pair("0.5", "1e-6"));
        assert_eq!(rule.remaining(), nothing);
        assert!(rule.charge(&nothing).is_ok());
    }

    #[test]
    fn over_in_one_coordinate_is_over() {
        let pair = |epsilon: &str, delta: &str| EpsilonDelta::new(epsilon, delta).unwrap();
        let rule = ApproxDp.accumulator().capped(pair("1", "1e-6"));
        assert_eq!(rule.charge(&pair("1.1", "0")), Err(Exceeded));
        assert_eq!(rule.charge(&pair("0.1", "2e-6")), Err(Exceeded));
        assert!(rule.charge(&pair("1", "1e-6")).is_ok());
    }

    #[test]
    fn a_budget_on_a_grid_holds_at_every_order() {
        let grid = RdpGrid::new(["2", "4"].map(|order| order.parse().unwrap())).unwrap();
        let curve = |low: &str, high: &str| {
            grid.curve([low, high].map(|epsilon| epsilon.parse().unwrap()))
                .unwrap()
        };
        let mut rule = grid.accumulator().capped(curve("1", "2"));
        assert_eq!(rule.charge(&curve("0.1", "2.1")), Err(Exceeded));
        assert_eq!(rule.charge(&curve("1.1", "0.1")), Err(Exceeded));
        rule = rule.charge(&curve("0.5", "1.5")).unwrap();
        assert_eq!(rule.remaining(), curve("0.5", "0.5"));
    }

    #[test]
    fn squares_are_compared_exactly() {
        let mut rule = Gdp.accumulator().capped("5".parse().unwrap());
        rule = rule.charge(&"3".parse().unwrap()).unwrap();
        assert_eq!(
            rule.charge(&"4.000000000000000000000000001".parse().unwrap()),
            Err(Exceeded)
        );
        assert_eq!(rule.remaining(), "4".parse().unwrap());
        rule = rule.charge(&"4".parse().unwrap()).unwrap();
        assert_eq!(rule.spent(), "5".parse().unwrap());
    }
}
