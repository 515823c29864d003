//! Learning which event tells two datasets apart.
//!
//! Labels are ranked by how much more often they are seen on the first dataset than on the second.
//! The events to consider are then the beginnings of that list, for the first dataset, and its
//! endings, for the second: for true probabilities these are the best there are (Neyman and Pearson
//! 1933). Which beginning and which ending is decided on other runs, because the ranking is biased
//! towards its own.
//!
//! The result may be a bad event, but never a wrong bound: the bound is computed on separate runs.

use std::collections::HashMap;
use std::hash::Hash;

use super::finding::Level;

/// More labels than these are counted, not named.
pub(super) const NAMED: usize = 5;

/// How often something was seen, on the first dataset and on the second.
pub(super) type Counts = [u32; 2];

/// Which of the two datasets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    First,
    Second,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::First, Self::Second];

    pub(super) fn count(self, [first, second]: &mut Counts) {
        match self {
            Self::First => *first += 1,
            Self::Second => *second += 1,
        }
    }
}

/// How often each label was seen, in the order in which they first were.
pub(super) struct Tally<L> {
    index: HashMap<L, usize>,
    counts: Vec<Counts>,
}

impl<L: Eq + Hash> Tally<L> {
    pub(super) fn new() -> Self {
        Self {
            index: HashMap::new(),
            counts: Vec::new(),
        }
    }

    pub(super) fn see(&mut self, label: L, side: Side) {
        let at = *self.index.entry(label).or_insert(self.counts.len());
        if self.counts.len() == at {
            self.counts.push([0, 0]);
        }
        if let Some(counts) = self.counts.get_mut(at) {
            side.count(counts);
        }
    }

    /// Ranks the labels: the first ones are the strongest evidence for the first dataset.
    pub(super) fn rank(self) -> Ranking<L> {
        let mut labels: Vec<_> = self.index.into_iter().collect();
        // Not in the map's order: with a seed, the outcome must be the same each time.
        labels.sort_by_key(|(_, at)| *at);
        // Labels seen once stand for all unseen labels, which are about as likely (Good 1953).
        let mut rare = [0, 0];
        let mut entries = Vec::new();
        for ((label, _), counts) in labels.into_iter().zip(self.counts) {
            let [first, second] = counts;
            if first.saturating_add(second) > 1 {
                entries.push((Some(label), counts));
            } else {
                rare = [rare[0] + first, rare[1] + second];
            }
        }
        entries.push((None, rare));
        // By (first + ½) / (second + ½), which is defined where one count is zero.
        entries.sort_by(|(_, [a, b]), (_, [c, d])| {
            let cross = |x: u32, y: u32| (2 * u128::from(x) + 1) * (2 * u128::from(y) + 1);
            cross(*c, *b).cmp(&cross(*a, *d))
        });
        let mut ranking = Ranking {
            places: HashMap::new(),
            rare: 0,
            length: entries.len(),
        };
        for (place, (label, _)) in entries.into_iter().enumerate() {
            match label {
                Some(label) => drop(ranking.places.insert(label, place)),
                None => ranking.rare = place,
            }
        }
        ranking
    }
}

/// Labels in order, with one place for all that are rare.
pub(super) struct Ranking<L> {
    places: HashMap<L, usize>,
    rare: usize,
    length: usize,
}

impl<L: Eq + Hash> Ranking<L> {
    /// The place of a label.
    pub(super) fn place(&self, label: &L) -> usize {
        self.places.get(label).copied().unwrap_or(self.rare)
    }

    /// No counts yet, one for each place.
    pub(super) fn nothing_seen(&self) -> Vec<Counts> {
        vec![[0, 0]; self.length]
    }

    /// The most promising beginning and ending: the length of the first, and where the second
    /// starts. `seen` are counts by place, of `runs` runs on each dataset.
    pub(super) fn cut(&self, seen: &[Counts], runs: u32, level: &Level) -> (usize, usize) {
        let share = |count: u32| f64::from(count) / f64::from(runs.max(1));
        let total = seen.iter().fold([0, 0], |sum, counts| add(sum, *counts));
        let (mut sum, mut beginning, mut ending) = ([0, 0], (0, f64::MIN), (0, f64::MIN));
        for (place, counts) in seen.iter().enumerate() {
            let [first, second] = [total[0] - sum[0], total[1] - sum[1]].map(share);
            let promise = level.promise(second, first);
            if promise >= ending.1 {
                ending = (place, promise);
            }
            sum = add(sum, *counts);
            let [first, second] = sum.map(share);
            let promise = level.promise(first, second);
            if promise > beginning.1 {
                beginning = (place + 1, promise);
            }
        }
        (beginning.0, ending.0)
    }

    /// The labels at these places in words, in the order of the list of places.
    pub(super) fn describe(
        &self,
        places: impl Iterator<Item = usize>,
        name: impl Fn(&L) -> String,
    ) -> String {
        let names: HashMap<usize, &L> = self.places.iter().map(|(l, at)| (*at, l)).collect();
        let places: Vec<usize> = places.collect();
        let mut words: Vec<String> = places
            .iter()
            .take(NAMED)
            .map(|place| names.get(place).map_or("anything rare".into(), |l| name(l)))
            .collect();
        if places.len() > NAMED {
            let more = places.len() - NAMED;
            let rare = places.iter().skip(NAMED).any(|place| *place == self.rare);
            let rare = if rare {
                ", anything rare among them"
            } else {
                ""
            };
            words.push(format!("{more} more{rare}"));
        }
        words.join(", or ")
    }
}

fn add(one: Counts, other: Counts) -> Counts {
    [one[0] + other[0], one[1] + other[1]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Delta;

    /// Labels with these counts on each dataset, in this order.
    fn ranking(seen: &[(char, Counts)]) -> Ranking<char> {
        let mut tally = Tally::new();
        for (label, [first, second]) in seen {
            (0..*first).for_each(|_| tally.see(*label, Side::First));
            (0..*second).for_each(|_| tally.see(*label, Side::Second));
        }
        tally.rank()
    }

    fn level() -> Level {
        Level::new(1000, "1e-9".parse().unwrap(), Delta::ZERO).unwrap()
    }

    #[test]
    fn labels_are_ranked_by_their_ratio() {
        let ranking = ranking(&[
            ('a', [2, 9]),
            ('b', [5, 0]),
            ('c', [7, 7]),
            ('d', [9, 0]),
            ('e', [6, 6]),
        ]);
        let order = ranking.describe(0..6, char::to_string);
        assert_eq!(order, "d, or b, or c, or e, or anything rare, or 1 more");
        assert_eq!(ranking.place(&'a'), 5);
        let backward = ranking.describe((1..6).rev(), char::to_string);
        assert_eq!(backward, "a, or anything rare, or e, or c, or b");
    }

    #[test]
    fn what_was_seen_once_stands_for_what_was_not() {
        let ranking = ranking(&[('a', [5, 5]), ('b', [1, 0]), ('c', [1, 0]), ('d', [1, 1])]);
        assert_eq!(ranking.place(&'b'), 0);
        assert_eq!(ranking.place(&'z'), 0);
        assert_eq!([ranking.place(&'a'), ranking.place(&'d')], [1, 2]);
        let all = ranking.describe(0..3, char::to_string);
        assert_eq!(all, "anything rare, or a, or d");
    }

    #[test]
    fn the_list_is_cut_where_most_is_promised() {
        let ranking = ranking(&[('a', [9, 0]), ('b', [9, 3]), ('c', [5, 5]), ('d', [0, 9])]);
        assert_eq!(ranking.place(&'d'), 4);
        // By place: a, b, c, anything rare, d.
        let cut = |seen: [Counts; 5]| ranking.cut(&seen, 500, &level());
        assert_eq!(
            cut([[200, 0], [100, 90], [200, 200], [0, 0], [0, 210]]),
            (1, 4)
        );
        // What one ranking overrated is left out, in both directions.
        assert_eq!(
            cut([[1, 0], [250, 0], [249, 400], [0, 100], [0, 0]]),
            (2, 3)
        );
        // Nothing to choose from, and no runs to choose by.
        assert_eq!(ranking.cut(&[[0, 0]; 5], 0, &level()), (1, 4));
    }
}
