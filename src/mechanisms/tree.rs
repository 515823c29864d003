//! The binary tree under a continual count.

use std::collections::BTreeMap;
use std::fmt;

use super::RowRelation;
use super::limit::NODES;
use super::statistic::clamped;
use crate::machine::{Coins, Fault, Law, Machine};

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
        let mut so_far = 0;
        for (_, count) in &mut times {
            so_far += *count;
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

impl<N> fmt::Debug for ContinualCountMachine<N> {
    /// Shows neither the data nor the noise.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContinualCountMachine")
            .field("horizon", &self.horizon)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CoinSource;
    use crate::machine::NotPrivateSeededCoins;
    use crate::noise::DiscreteLaplace;
    use crate::number::Ratio;
    use crate::prelude::*;
    use std::collections::BTreeSet;

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
