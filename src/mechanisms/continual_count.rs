//! A running count of rows over time.

use std::num::NonZeroU64;
use std::sync::Arc;

use super::noised::Starts;
use super::statistic::fitted;
use super::tree::{ContinualCountMachine, largest_change, most_nodes};
use super::{AddedNoise, Change, CountsBy, MechanismError, Noised, Query, RowRelation, Source};
use crate::machine::{Coins, Description, DomainMismatch, Fault, Public, PublicView};
use crate::noise::Noise;

/// The number of rows that arrived before a time, for any number of times: the binary-tree counter
/// of Dwork, Naor, Pitassi and Rothblum 2010 and Chan, Shi and Song 2011.
///
/// Use it to follow a growing count. For T times, a fresh [`Count`](super::Count) each
/// time would need noise of scale T/ε; here each answer has at most log₂ T + 1 noises of scale
/// (log₂ T + 1)/ε. Answers are consistent: the same time gets the same answer. Where losses are
/// accounted in zCDP, Gaussian noise is more accurate, with a standard deviation of about
/// (log₂ T + 1)/√(2ρ), and [`FactorizedContinualCount`](super::FactorizedContinualCount) more so.
///
/// Times run from 0 to the horizon, and a row arrives at the one that an attribute gives. A query
/// is a time t, and the answer counts the rows that arrived before t, so that t = 1 asks for those
/// at time 0. Times can be asked for in any order.
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::ContinualCount;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// // The hour at which each visitor came, over four weeks: one every hour.
/// let visits: Arc<Vec<u64>> = Arc::new((0..28 * 24).collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), visits)?;
///
/// let hour = Attribute::new("hour", |hour: &u64| Some(*hour));
/// let visitors = ContinualCount::of(hour, 28 * 24).laplace(epsilon!(0.5))?;
/// let visitors = filter.launch(&visitors)?;
/// for day in 1..=28 {
///     let so_far = visitors.ask(24 * day)?;
///     assert!(so_far.abs_diff(24 * day as i64) < 5_000);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// It holds against every choice of times, and is tight. Times are the
/// leaves of a binary tree. The rows before t are those below the nodes that the binary digits of t
/// name, one for each digit 1, and each node has noise of its own, drawn once: all answers are
/// computed from the noisy counts of the nodes. How many nodes one row can change is their
/// change Δ, each by one, which is √Δ in the Euclidean norm:
///
/// - a row that is added or removed: Δ is the number of binary digits of the horizon. A row at time
///   0 is below as many nodes, and no row is below more, since only left children are ever named;
/// - a row that is replaced: the nodes that are above the old time or the new one, and not both.
///   With a horizon of 2^h + r, where r < 2^h, that is h + 1 and the number of digits of r, if any,
///   or 2h − 1 if that is more.
///
/// Noise is clamped to an `i128`; what lies beyond has a probability below e^-100000000 and is not
/// part of the bound.
#[doc(alias = "prefix sum")]
#[doc(alias = "streaming")]
#[doc(alias = "tree")]
#[derive(Clone, Debug)]
pub struct ContinualCount<A> {
    time: A,
    horizon: u64,
}

impl<A> ContinualCount<A> {
    /// Counts rows by the time that `time` gives, below `horizon`. Those without a time, or with a
    /// later one, are not counted.
    pub fn of(time: A, horizon: u64) -> Self {
        Self { time, horizon }
    }
}

/// The form of a query that is asked about times: noise is drawn as it is needed.
///
/// Example: [`ContinualCount`](crate::mechanisms::ContinualCount).
#[derive(Clone, Copy, Debug)]
pub struct OverTime;

impl<A: Source, R: RowRelation> Query<R> for ContinualCount<A> {
    type Answer = i64;
    type Form = OverTime;
    type Value = i64;

    fn change(&self) -> Result<Change, MechanismError> {
        // Without times there are no nodes.
        let change = NonZeroU64::new(largest_change::<R>(self.horizon));
        let change = change.filter(|_| self.horizon > 0);
        change
            .map(Change::places)
            .ok_or_else(MechanismError::no_time)
    }

    fn answer(&self, totals: &[i128]) -> i64 {
        fitted(totals)
    }

    fn scale(&self) {}

    /// That of an answer about the time with the most nodes. Symmetric noise with one peak is
    /// farther from zero the more of it is added (Anderson's inequality), so no other time has more.
    fn noise(&self, node: Noise) -> Noise {
        node.times(most_nodes(self.horizon)).unwrap_or(node)
    }

    fn describe(&self) -> Description {
        let description = Description::new("ContinualCount");
        let described = self.time.describe("time", description);
        described.with("horizon", self.horizon)
    }
}

impl<D, A, N, R> Starts<D, ContinualCount<A>, N, R> for OverTime
where
    D: ?Sized,
    A: CountsBy<D, u64>,
    N: AddedNoise<Law: Clone>,
{
    type Machine = ContinualCountMachine<N::Law>;

    fn start(
        Noised { query, noise, .. }: &Noised<ContinualCount<A>, N, R>,
        data: &Arc<D>,
        _: &mut Coins<'_>,
    ) -> Result<Self::Machine, Fault> {
        query.time.check(Public::of(&**data))?;
        // Times beyond the horizon are never asked for.
        let times = query.time.counts(data)?;
        let law = noise.law().clone();
        Ok(ContinualCountMachine::new(times, query.horizon, law))
    }

    fn check(query: &ContinualCount<A>, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        query.time.check(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Attribute;
    use crate::machine::Law;
    use crate::mechanisms::LaplaceNoise;

    type Times = ContinualCount<Attribute<Vec<u8>, Option<u64>>>;

    use crate::machine::CoinSource;
    use crate::machine::{ClosedForm, Machine, NotPrivateSeededCoins};
    use crate::number::Ratio;
    use crate::prelude::*;
    use crate::privacy::{Private, PureDp, Rdp, Replace, ZCdp};
    use crate::tests::exact::{answers, violation};

    /// A row of t arrives at time t; 99 has no time, and 98 cannot be read.
    fn time() -> Attribute<Vec<u8>, Option<u64>> {
        Attribute::new("time", |row: &u8| match row {
            98 => panic!("an unlucky row"),
            99 => None,
            row => Some(u64::from(*row)),
        })
    }

    fn laplace<R: RowRelation>(
        relation: R,
        horizon: u64,
        epsilon: &str,
    ) -> Result<Noised<Times, LaplaceNoise, R>, MechanismError> {
        ContinualCount::of(time(), horizon)
            .under(relation)
            .laplace(epsilon.parse::<Epsilon>().unwrap())
    }

    /// Whether the loss is attained between these datasets, and surely not exceeded, if all nodes
    /// are asked for.
    fn attains<R: RowRelation>(relation: R, horizon: u64, pair: [&[u8]; 2]) -> bool {
        let change = largest_change::<R>(horizon);
        // Noise of scale 1.
        let count = laplace(relation, horizon, &change.to_string()).unwrap();
        let loss = count.loss(&PureDp).unwrap();
        let queries: Vec<_> = (1..=horizon).chain([1]).collect();
        let [one, other] = pair.map(|rows| answers(&count, rows, &queries, 7));
        assert!(one.cut.to_f64_fast() < 0.01 && other.cut.to_f64_fast() < 0.01);
        let exceeds = |epsilon| {
            violation(&one, &other, epsilon).is_some() || violation(&other, &one, epsilon).is_some()
        };
        assert!(!exceeds(loss));
        exceeds(loss.saturating_sub("0.6".parse().unwrap()))
    }

    #[test]
    fn the_loss_is_attained_and_not_exceeded() {
        assert!(attains(AddRemove, 2, [&[0, 1], &[1]]));
        assert!(!attains(AddRemove, 2, [&[0, 1], &[0]]));
        assert!(attains(AddRemove, 3, [&[0], &[]]));
        assert!(attains(Replace, 2, [&[0], &[99]]));
        assert!(!attains(Replace, 2, [&[0], &[1]]));
        assert!(attains(Replace, 3, [&[0], &[2]]));
        assert!(!attains(Replace, 3, [&[0], &[98]]));
    }

    /// The Rényi divergence of order 2: that of two counts with ε/2 each, which is 3.7511. One with
    /// ε would have 3.9819.
    #[test]
    fn the_divergence_of_laplace_noise_is_attained_and_not_exceeded() {
        let count = laplace(AddRemove, 2, "4").unwrap();
        let [one, other] = [&[0][..], &[]].map(|rows| answers(&count, rows, &[1, 2], 20));
        let squares = one.outcomes.iter().filter_map(|(answer, p)| {
            let q = other.outcomes.get(answer)?;
            Some((p * p / q).to_f64_fast())
        });
        let divergence = squares.sum::<f64>().ln();
        let order = Rdp::new("2".parse().unwrap());
        let claim: f64 = count.loss(&order).unwrap().to_string().parse().unwrap();
        // What was cut is missing from the sum.
        assert!(
            (divergence..divergence + 1e-3).contains(&claim),
            "{divergence} {claim}"
        );
    }

    /// The Rényi divergence of order 2 is at most 2ρ, and rounding takes less than one part in 12σ²
    /// from it; here σ² = 2.
    #[test]
    fn the_loss_of_gaussian_noise_is_nearly_attained_and_not_exceeded() {
        let rho = "0.5".parse().unwrap();
        let count = ContinualCount::of(time(), 2).gaussian(rho).unwrap();
        assert_eq!(count.loss(&ZCdp), Ok(rho));
        let answers = |rows: &[u8]| answers(&count, rows, &[1, 2], 9);
        let (one, other) = (answers(&[0]), answers(&[]));
        let sum: f64 = one
            .outcomes
            .iter()
            .filter_map(|(answer, mass)| {
                let (p, q) = (mass, other.outcomes.get(answer)?);
                Some((p * p / q).to_f64_fast())
            })
            .sum();
        assert!((1.0 - 1.0 / 24.0..1.0).contains(&sum.ln()), "{sum}");
    }

    #[test]
    fn counts_are_of_what_came_before_and_do_not_change() {
        // With an ε of a million the noise is negligible.
        let count = laplace(AddRemove, 100, "1000000").unwrap();
        let mut coins = NotPrivateSeededCoins::new(5);
        let data = Arc::new(vec![3, 0, 3, 98, 99, 7, 100]);
        let mut machine = count.start(&data, &mut coins.coins()).unwrap();
        let mut ask = |time| machine.step(time, &mut coins.coins());
        for (time, expected) in [(0, 0), (1, 1), (3, 1), (4, 3), (7, 3), (8, 4), (100, 4)] {
            assert_eq!(ask(time), Ok(expected), "{time}");
        }
        assert_eq!(
            ask(101),
            Err(Fault::InvalidQuery("the time is beyond the horizon"))
        );
        assert_eq!(
            format!("{machine:?}"),
            "ContinualCountMachine { horizon: 100, .. }"
        );
    }

    #[test]
    fn noise_follows_from_the_loss_and_the_horizon() {
        let scale = |numerator, denominator| Ratio::new(numerator, denominator).unwrap();
        let closed_form = |horizon| {
            laplace(Replace, horizon, "0.5")
                .unwrap()
                .noise
                .law()
                .closed_form()
        };
        let laplace = |scale| ClosedForm::DiscreteLaplace { scale };
        assert_eq!(closed_form(1), laplace(scale(2, 1)));
        assert_eq!(closed_form(5), laplace(scale(8, 1)));
        let rho = rho!(0.15);
        let gaussian = ContinualCount::of(time(), 7).gaussian(rho).unwrap();
        let variance = scale(10, 1);
        assert_eq!(
            gaussian.noise.law().closed_form(),
            ClosedForm::RoundedGaussian { variance }
        );
    }

    #[test]
    fn bad_parameters_are_refused() {
        let error = |horizon, text| laplace(AddRemove, horizon, text).map(|_| ());
        assert_eq!(error(0, "1"), Err(MechanismError::no_time()));
        assert_eq!(error(1, "0"), Err(MechanismError::NoLoss("epsilon")));
        assert_eq!(error(u64::MAX, "1e-27"), Ok(()));
        let gaussian = |horizon, rho: &str| {
            let rho: Rho = rho.parse().unwrap();
            ContinualCount::of(time(), horizon)
                .under(Replace)
                .gaussian(rho)
                .map(|_| ())
        };
        assert_eq!(gaussian(0, "1"), Err(MechanismError::no_time()));
        assert_eq!(gaussian(1, "0"), Err(MechanismError::NoLoss("rho")));
        assert_eq!(gaussian(u64::MAX, "1e-27"), Ok(()));
    }
}
