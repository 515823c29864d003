//! Responses, streams and searches.

use super::*;

pub(super) fn responses_and_streams(all: &mut Groups) {
    let odds = |truth, lie| of_bit(RandomizedResponse::with_odds(truth, lie).unwrap());
    let made = |loss| of_bit(RandomizedResponse::new(epsilon(loss)).unwrap());
    // The last two have the same ε, rounded.
    let far = u64::MAX / 2;
    let group = vec![
        made("1"),
        made("2"),
        odds(3, 1),
        odds(4, 1),
        odds(far, 1),
        odds(far - 1, 1),
    ];
    all.insert("RandomizedResponse", group);
    let delta = |text: &str| text.parse().unwrap();
    let made = |loss, text| {
        let loss = EpsilonDelta {
            epsilon: epsilon(loss),
            delta: delta(text),
        };
        of_bit(ApproxRandomizedResponse::new(loss))
    };
    let odds = |truth| of_bit(ApproxRandomizedResponse::with_odds(truth, 1, delta("0.1")).unwrap());
    let group = vec![
        made("1", "0.1"),
        made("2", "0.1"),
        made("1", "0.2"),
        odds(3),
        odds(far),
        odds(far - 1),
    ];
    all.insert("ApproxRandomizedResponse", group);
    macro_rules! streams {
        ($($name:literal |$R:ident, $hour:ident, $horizon:ident, $loss:ident| $made:expr;)*) => {$({
            let make = |name, $horizon, $loss| {
                let ($R, $hour) = (AddRemove, hour(name));
                of($made.unwrap())
            };
            let replaced = {
                let ($R, $hour, $horizon, $loss) = (Replace, hour("a"), 9, "1");
                of($made.unwrap())
            };
            let group = vec![make("a", 9, "1"), make("b", 9, "1"), make("a", 8, "1"), make("a", 9, "2"), replaced];
            all.insert($name, group);
        })*};
    }
    streams!(
        "ContinualCount" |relation, hour, horizon, loss|
            ContinualCount::of(hour, horizon).under(relation).laplace(epsilon(loss));
        "ContinualCount, Gaussian" |relation, hour, horizon, loss|
            ContinualCount::of(hour, horizon).under(relation).gaussian(rho(loss));
        "FactorizedContinualCount" |relation, hour, horizon, loss|
            FactorizedContinualCount::new(relation, hour, horizon, rho(loss));
    );
    let make = |threshold, hits, first, second| {
        let (first, second) = (epsilon(first), epsilon(second));
        AboveThreshold::<Predicate<Rows>>::with_shares(AddRemove, threshold, hits, first, second)
            .unwrap()
    };
    let replaced =
        || AboveThreshold::<Predicate<Rows>, _>::new(Replace, 5, 2, epsilon("3")).unwrap();
    let group = vec![
        of(make(5, 2, "1", "2")),
        of(make(6, 2, "1", "2")),
        of(make(5, 3, "1", "2")),
        of(make(5, 2, "2", "1")),
        of(make(5, 2, "1", "3")),
        of(replaced()),
    ];
    all.insert("AboveThreshold", group);
    let counts = |search: AboveThreshold<Predicate<Rows>>, loss| {
        of(search.with_counts(epsilon(loss)).unwrap())
    };
    let group = vec![
        counts(make(5, 2, "1", "2"), "1"),
        counts(make(6, 2, "1", "2"), "1"),
        counts(make(5, 3, "1", "2"), "1"),
        counts(make(5, 2, "2", "1"), "1"),
        counts(make(5, 2, "1", "1"), "2"),
        counts(make(5, 2, "1", "2"), "2"),
        of(replaced().with_counts(epsilon("1")).unwrap()),
    ];
    all.insert("SparseVector", group);
}
