//! A running count of rows over time.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::limit::NODES;
use super::noised::Starts;
use super::statistic::{clamped, fitted};
use super::{AddedNoise, Change, CountsBy, MechanismError, Noised, Query, RowRelation, Source};
use crate::machine::{Coins, Description, DomainMismatch, Fault, Law, Machine, Public, public};
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
        query.time.check(public(&**data))?;
        // Times beyond the horizon are never asked for.
        let times = query.time.counts(data)?;
        let law = noise.law().clone();
        Ok(ContinualCountMachine::new(times, query.horizon, law))
    }

    fn check(query: &ContinualCount<A>, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        query.time.check(data)
    }
}

/// The largest number of nodes whose noise is added up for a time up to this horizon: as many as a
/// time has digits 1.
pub(super) fn most_nodes(horizon: u64) -> u32 {
    // One digit less than the horizon has, unless the horizon has no digit 0.
    u64::BITS - horizon.leading_zeros() - u32::from(horizon.count_zeros() > horizon.leading_zeros())
}

/// How many nodes one row changes, at most, for this horizon.
///
/// A row that is added at time 0 is below as many nodes as the horizon has digits, and none is below
/// more. Where a row is replaced: one at time 0 that is no longer counted changes h + 1 nodes. One
/// that moves from the first time of a left half to the first of the right half, where the whole has
/// 2^m times, changes m nodes that it leaves, and those that it enters: below the right half itself,
/// which is never named, up to m − 1. All nodes above are above both. The largest whole that fits has
/// m = h; with r > 0, a row can also move from 0 to 2^h, where nothing is above both.
pub(super) fn largest_change<R: RowRelation>(horizon: u64) -> u64 {
    let all = digits(horizon);
    if !R::REPLACES {
        return all;
    }
    let rest = horizon ^ (1_u64 << all.saturating_sub(1));
    (all + digits(rest)).max((2 * all).saturating_sub(3))
}

/// The number of binary digits.
fn digits(number: u64) -> u64 {
    u64::from(u64::BITS - number.leading_zeros())
}

/// A running [`ContinualCount`](super::ContinualCount): it is asked times up to its horizon.
///
/// It remembers the noisy count of every node that it has used: at most one for each time asked for and
/// digit of it, and never more than there are times. Where all of them take more memory than is allowed
/// ([`MOST_MEMORY`](super::MOST_MEMORY)), a time that needs another is
/// [`Fault::InvalidQuery`], whatever the data is.
pub struct ContinualCountMachine<N> {
    /// The times at which rows arrived, in order, and how many were there then.
    arrived: Vec<(u64, u64)>,
    horizon: u64,
    noise: N,
    /// By the times at which nodes begin and end.
    drawn: BTreeMap<(u64, u64), i128>,
}

impl<N: Law> ContinualCountMachine<N> {
    /// Counts rows that arrive at these times, in order, with how many arrive at each.
    pub(super) fn new(mut times: Vec<(u64, u64)>, horizon: u64, noise: N) -> Self {
        let mut so_far = 0_u64;
        for (_, count) in &mut times {
            so_far = so_far.saturating_add(*count);
            *count = so_far;
        }
        Self {
            arrived: times,
            horizon,
            noise,
            drawn: BTreeMap::new(),
        }
    }

    /// How many rows arrived before this time.
    fn before(&self, end: u64) -> u64 {
        let times = self.arrived.partition_point(|(time, _)| *time < end);
        let last = times.checked_sub(1).and_then(|last| self.arrived.get(last));
        last.map_or(0, |(_, so_far)| *so_far)
    }

    /// The noisy number of rows below a node.
    fn noisy(&mut self, node: (u64, u64), coins: &mut Coins<'_>) -> Result<i128, Fault> {
        if let Some(noisy) = self.drawn.get(&node) {
            return Ok(*noisy);
        }
        let noise = coins.noise(&self.noise)?;
        let [before, after] = [node.0, node.1].map(|end| i128::from(self.before(end)));
        let noisy = coins.release(after - before, noise);
        self.drawn.insert(node, noisy);
        Ok(noisy)
    }
}

impl<N: Law> Machine for ContinualCountMachine<N> {
    type Query = u64;
    type Answer = i64;

    fn step(&mut self, time: u64, coins: &mut Coins<'_>) -> Result<i64, Fault> {
        if time > self.horizon {
            return Err(Fault::InvalidQuery("the time is beyond the horizon"));
        }
        // Known before anything is drawn, and from the queries alone.
        let room = NODES.most().saturating_sub(self.drawn.len());
        let is_new = |node: &(u64, u64)| !self.drawn.contains_key(node);
        if room < u64::BITS as usize && nodes(time).filter(is_new).count() > room {
            return Err(Fault::InvalidQuery(
                "no room for the noise of another time: ask for one that was asked for before",
            ));
        }
        let mut noisy = 0_i128;
        for node in nodes(time) {
            noisy = noisy.saturating_add(self.noisy(node, coins)?);
        }
        Ok(clamped(noisy))
    }
}

/// The nodes below which the times before this one are, the largest first: one for each binary
/// digit 1, by the times at which it begins and ends.
fn nodes(time: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut begin = 0;
    (0..u64::BITS)
        .rev()
        .map(move |digit| time & (1 << digit))
        .filter(|size| *size > 0)
        .map(move |size| {
            let node = (begin, begin + size);
            begin += size;
            node
        })
}

// Shows neither the data nor the noise.
crate::debug_fields!([N] ContinualCountMachine<N>, "ContinualCountMachine" { horizon, .. });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Attribute;
    use crate::machine::{ClosedForm, CoinSource, NotPrivateSeededCoins};
    use crate::mechanisms::LaplaceNoise;
    use crate::noise::DiscreteLaplace;
    use crate::number::Ratio;
    use crate::prelude::*;
    use crate::privacy::{Private, PureDp, Rdp, Replace, ZCdp};
    use crate::tests::exact::{answers, violation};
    use std::collections::BTreeSet;

    type Times = ContinualCount<Attribute<Vec<u8>, Option<u64>>>;

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

    /// Counts of others may be as large as a count can be.
    #[test]
    fn counts_that_no_number_holds_are_clamped() {
        let noise = DiscreteLaplace::new(Ratio::from(1)).unwrap();
        let counts = vec![(0, u64::MAX), (1, u64::MAX), (4, 1)];
        let machine = ContinualCountMachine::new(counts, 8, noise);
        let before = [0, 1, 2, 8].map(|end| machine.before(end));
        assert_eq!(before, [0, u64::MAX, u64::MAX, u64::MAX]);
    }

    /// A conversation that goes on takes no more memory than what is asked for at once.
    #[test]
    fn nodes_are_remembered_up_to_a_bound() {
        let noise = DiscreteLaplace::new(Ratio::from(1)).unwrap();
        let mut coins = NotPrivateSeededCoins::new(5);
        let taken = allocation_counter::measure(|| {
            let mut count = ContinualCountMachine::new(vec![(3, 1)], 1 << 40, noise);
            let first = count.step(7, &mut coins.coins()).unwrap();
            // Room for two more: one time needs three, and another two.
            for begin in (3_u64..).take(NODES.most() - 5) {
                count.drawn.insert((begin << 41, (begin << 41) + 1), 0);
            }
            assert_eq!(count.drawn.len(), NODES.most() - 2);
            let full = Fault::InvalidQuery(
                "no room for the noise of another time: ask for one that was asked for before",
            );
            assert_eq!(count.step(0b_1110_0000, &mut coins.coins()), Err(full));
            assert_eq!(count.drawn.len(), NODES.most() - 2);
            assert!(count.step(0b_1100_0000, &mut coins.coins()).is_ok());
            assert_eq!(count.step(1 << 39, &mut coins.coins()), Err(full));
            assert_eq!(count.step(7, &mut coins.coins()), Ok(first));
        });
        let most = crate::mechanisms::MOST_MEMORY as u64;
        assert!((most / 4..=most).contains(&taken.bytes_max), "{taken:?}");
    }

    #[test]
    fn the_nodes_of_a_time_cover_what_is_before_it() {
        assert_eq!(nodes(0).count(), 0);
        assert!(nodes(13).eq([(0, 8), (8, 12), (12, 13)]));
        for time in 1..200 {
            let nodes: Vec<_> = nodes(time).collect();
            assert_eq!(nodes.len() as u32, time.count_ones());
            assert!(nodes.windows(2).all(|pair| pair[0].1 == pair[1].0));
            assert_eq!((nodes[0].0, nodes[nodes.len() - 1].1), (0, time));
            // Nodes of a binary tree, and left children.
            for (begin, end) in nodes {
                let size = end - begin;
                assert!(size.is_power_of_two() && begin % (2 * size) == 0);
            }
        }
        assert!(nodes(u64::MAX).last() == Some((u64::MAX - 1, u64::MAX)));
    }

    /// Every row and every move, over all nodes that any query names.
    #[test]
    fn the_largest_change_is_that_of_some_row_and_no_row_changes_more() {
        for horizon in 1..=70 {
            let named: BTreeSet<_> = (0..=horizon).flat_map(nodes).collect();
            let above = |time: u64| -> BTreeSet<(u64, u64)> {
                let above = |(begin, end): &&(u64, u64)| (*begin..*end).contains(&time);
                named.iter().filter(above).copied().collect()
            };
            // The last one is not counted.
            let above: Vec<_> = (0..=horizon).map(above).collect();
            let most = above.iter().map(BTreeSet::len).max().unwrap() as u64;
            assert_eq!(largest_change::<AddRemove>(horizon), most, "{horizon}");
            let moves = above.iter().flat_map(|one| {
                above
                    .iter()
                    .map(move |other| one.symmetric_difference(other).count())
            });
            let most = moves.max().unwrap() as u64;
            assert_eq!(largest_change::<Replace>(horizon), most, "{horizon}");
        }
        assert_eq!(largest_change::<AddRemove>(u64::MAX), 64);
        assert_eq!(largest_change::<Replace>(u64::MAX), 127);
    }

    #[test]
    fn the_most_nodes_are_those_of_some_time() {
        for horizon in 1..200 {
            let most = (1..=horizon).map(u64::count_ones).max().unwrap();
            assert_eq!(most_nodes(horizon), most, "{horizon}");
        }
        assert_eq!((most_nodes(u64::MAX), most_nodes(u64::MAX - 1)), (64, 63));
    }

    #[test]
    fn the_same_time_gets_the_same_answer() {
        let noise = DiscreteLaplace::new(Ratio::from(7000)).unwrap();
        let mut machine = ContinualCountMachine::new(vec![(1, 1)], 64, noise);
        let mut coins = NotPrivateSeededCoins::new(5);
        let mut all = || -> Vec<_> {
            (0..=64)
                .map(|time| machine.step(time, &mut coins.coins()).unwrap())
                .collect()
        };
        let first = all();
        assert_eq!(first, all());
        // Noise everywhere, and yet not all of it the same.
        assert!(first.iter().collect::<BTreeSet<_>>().len() > 32);
        assert_eq!(machine.drawn.len(), 64);
    }
}
