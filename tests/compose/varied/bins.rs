//! Histograms, quantiles and choices.

use super::*;

pub(super) fn histograms(all: &mut Groups) {
    let by_key = |name: &str, keys: &[&'static str]| {
        Partition::by_key(name, |_: &u8| "x", keys.to_vec()).unwrap()
    };
    let by_hash = |name: &str, keys: &[&'static str]| {
        Partition::by_hash(name, |_: &u8| "x", keys.to_vec()).unwrap()
    };
    macro_rules! histograms {
        ($($name:literal $noise:ident $loss:ident),*) => {$({
            let numbered = |name, bins, loss| {
                let partition = Partition::numbered(bin(name), bins).unwrap();
                of(Histogram::of(partition).$noise($loss(loss)).unwrap())
            };
            let keyed = |name, keys: &[&'static str]| {
                of(Histogram::of(by_key(name, keys)).$noise($loss("1")).unwrap())
            };
            let hashed = |keys: &[&'static str]| {
                of(Histogram::of(by_hash("c", keys)).$noise($loss("1")).unwrap())
            };
            let replaced = Histogram::of(by_key("a", &["x", "y"])).under(Replace).$noise($loss("1"));
            let group = vec![
                numbered("a", 9, "1"), numbered("b", 9, "1"), numbered("a", 8, "1"),
                numbered("a", 9, "2"), keyed("a", &["x", "y"]), keyed("b", &["x", "y"]),
                keyed("a", &["x", "z"]), keyed("a", &["x, y"]), keyed("a", &["x\", \"y"]),
                hashed(&["x", "y"]), hashed(&["x", "z"]), of(replaced.unwrap()),
            ];
            all.insert($name, group);
        })*};
    }
    histograms!("Histogram" laplace epsilon, "Histogram, Gaussian" gaussian rho);
    let delta = |text: &str| text.parse().unwrap();
    let make = |name: &str, threshold, loss| {
        let loss = epsilon(loss);
        let key = |row: &u8| *row;
        of(ThresholdHistogram::with_threshold(AddRemove, name, key, threshold, loss).unwrap())
    };
    let loss = EpsilonDelta {
        epsilon: epsilon("1"),
        delta: delta("1e-6"),
    };
    let replaced = ThresholdHistogram::new(Replace, "a", |row: &u8| *row, loss).unwrap();
    let group = vec![
        make("a", 9, "1"),
        make("b", 9, "1"),
        make("a", 8, "1"),
        make("a", 9, "2"),
        of(replaced),
    ];
    all.insert("ThresholdHistogram", group);
    let make = |name: &str, threshold, loss| {
        let key = |row: &u8| *row;
        let loss = rho(loss);
        of(
            GaussianThresholdHistogram::with_threshold(AddRemove, name, key, threshold, loss)
                .unwrap(),
        )
    };
    let loss = RhoDelta {
        rho: rho("1"),
        delta: delta("1e-6"),
    };
    let replaced = GaussianThresholdHistogram::new(Replace, "a", |row: &u8| *row, loss).unwrap();
    let group = vec![
        make("a", 9, "1"),
        make("b", 9, "1"),
        make("a", 8, "1"),
        make("a", 9, "2"),
        of(replaced),
    ];
    all.insert("GaussianThresholdHistogram", group);
    let make = |name, range, quantiles: &[(u32, u32)], loss| {
        let quantiles = quantiles.iter().copied();
        of(NoisyQuantiles::new(AddRemove, whole(name), range, quantiles, epsilon(loss)).unwrap())
    };
    let replaced = NoisyQuantiles::new(Replace, whole("a"), 0..=9, [(1, 2)], epsilon("1")).unwrap();
    let group = vec![
        make("a", 0..=9, &[(1, 2)], "1"),
        make("b", 0..=9, &[(1, 2)], "1"),
        make("a", 1..=9, &[(1, 2)], "1"),
        make("a", 0..=8, &[(1, 2)], "1"),
        make("a", 0..=9, &[(1, 3)], "1"),
        make("a", 0..=9, &[(1, 2), (2, 3)], "1"),
        make("a", 0..=9, &[(1, 2)], "2"),
        of(replaced),
    ];
    all.insert("NoisyQuantiles", group);
}

pub(super) fn choices(all: &mut Groups) {
    macro_rules! choices {
        ($($Law:ident)*) => {$({
            let make = |list, loss| {
                of(Choice::by(AddRemove, $Law, CountScores::of(list), epsilon(loss)).unwrap())
            };
            let listed = lists().into_iter().map(|list| make(list, "1"));
            let mut group: Vec<_> = listed.collect();
            group.push(make(nine("i"), "2"));
            let scores = CountScores::of(nine("i"));
            group.push(of(Choice::by(Replace, $Law, scores, epsilon("1")).unwrap()));
            all.insert(stringify!($Law), group);
        })*};
    }
    choices!(NoisyMax NoisyMaxWithMargin ExponentialMechanism PermuteAndFlip);
    let make = |k, list, loss| {
        of(Choice::by(AddRemove, TopK(k), CountScores::of(list), epsilon(loss)).unwrap())
    };
    let mut group: Vec<_> = lists().into_iter().map(|list| make(1, list, "1")).collect();
    group.push(make(2, nine("i"), "1"));
    group.push(make(1, nine("i"), "2"));
    let scores = CountScores::of(nine("i"));
    group.push(of(
        Choice::by(Replace, TopK(1), scores, epsilon("1")).unwrap()
    ));
    all.insert("TopK", group);
}
