//! What stands around a mechanism, and what has no name.

use super::*;

fn all_differ(group: &[Description]) {
    let texts: BTreeSet<Vec<(&str, &str)>> = group
        .iter()
        .map(|each| each.parameters().collect())
        .collect();
    assert_eq!(texts.len(), group.len(), "{group:#?}");
}

#[test]
fn whatever_parameter_of_an_individual_query_is_changed_changes_the_description() {
    fn pure<Q: IndividualQuery<Rows, F>, F: ValidIndividually>(_: &F, query: Q) -> Description {
        query.describe()
    }
    let rule = PureDp.accumulator().capped(epsilon("1"));
    let count = |name, loss| pure(&rule, Count::of(is(name)).laplace(epsilon(loss)).unwrap());
    let active = |times| {
        pure(
            &rule,
            ActiveRecords::times(times).laplace(epsilon!(1)).unwrap(),
        )
    };
    all_differ(&[
        count("a", "1"),
        count("b", "1"),
        count("a", "2"),
        active(1),
        active(2),
    ]);
    let sum = |name, range, loss| {
        pure(
            &rule,
            Sum::of(whole(name), range).laplace(epsilon(loss)).unwrap(),
        )
    };
    let base = sum("a", 0..=9, "1");
    all_differ(&[
        base,
        sum("b", 0..=9, "1"),
        sum("a", 0..=8, "1"),
        sum("a", 0..=9, "2"),
    ]);
    let choice = |names: &[&str], range, loss| {
        let candidates = names.iter().map(|name| whole(name));
        pure(
            &rule,
            Choice::by(
                AddRemove,
                ExponentialMechanism,
                SumScores::of(candidates, range).unwrap(),
                epsilon(loss),
            )
            .unwrap(),
        )
    };
    all_differ(&[
        choice(&["a", "b"], 0..=9, "1"),
        choice(&["a", "c"], 0..=9, "1"),
        choice(&["a", "b"], 0..=8, "1"),
        choice(&["a", "b"], 0..=9, "2"),
    ]);
    let rule = ZCdp.accumulator().capped(rho("1"));
    let sum = |name, dimension, lattice, loss| {
        let sum = VectorSum::of(vector(name), dimension, lattice).gaussian(rho(loss));
        pure(&rule, sum.unwrap())
    };
    all_differ(&[
        sum("a", 1, LATTICE, "1"),
        sum("b", 1, LATTICE, "1"),
        sum("a", 2, LATTICE, "1"),
        sum("a", 1, FINER, "1"),
        sum("a", 1, LONGER, "1"),
        sum("a", 1, LATTICE, "2"),
    ]);
}

/// A score of one's own that says nothing about itself.
struct Own;

impl Score<AddRemove> for Own {
    fn candidates(&self) -> usize {
        2
    }

    fn sensitivity(&self) -> Sensitivity {
        Sensitivity::each(1)
    }
}

impl Evaluate<Rows> for Own {
    fn evaluate(&self, _: &Rows, _: &mut [i64]) -> Result<(), Unavailable> {
        Ok(())
    }
}

/// A mechanism of one's own that says nothing about itself.
#[derive(Clone)]
struct Silent;

impl Mechanism<Rows> for Silent {
    type Machine = Released<u8>;

    fn start(&self, _: &std::sync::Arc<Rows>, _: &mut Coins<'_>) -> Result<Released<u8>, Fault> {
        Ok(Released(0))
    }
}

impl Private<PureDp, AddRemove> for Silent {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon("1"))
    }
}

#[test]
fn what_has_no_name_makes_a_description_incomplete() {
    let count = || Count::of(is("a")).laplace(epsilon!(1)).unwrap();
    let minus = |count: i64| -count;
    for incomplete in [
        of(Silent),
        of(Choice::by(AddRemove, ExponentialMechanism, Own, epsilon("1")).unwrap()),
        of(count().mapped(minus)),
        of(count().mapped(minus).named("minus").mapped(minus)),
        of(count().through(LimitQueries::new(1))),
        of(count().through(Clamp::new(0, 1))),
        of(count().through(Round::to(std::num::NonZeroU32::MIN))),
        of(ConcurrentComposition::new([Silent])),
        of(BoxedRelease::<Rows, _, AddRemove, _>::new(PureDp, Silent)),
        of(&Silent),
        of(Restated::new(PureDp, Silent)),
        of(Filter::concurrent(PureDp, epsilon("1"))),
        of(Odometer::concurrent(PureDp)),
    ] {
        assert!(!incomplete.is_complete(), "{incomplete}");
    }
}

/// What stands around a mechanism says what it holds, and what it changes.
#[test]
fn what_is_around_a_mechanism_is_in_its_description() {
    let count = |name| Count::of(is(name)).laplace(epsilon!(1)).unwrap();
    let minus = |count: i64| -count;
    let group = [
        of(count("a")),
        of(count("b")),
        of(count("a").mapped(minus).named("minus")),
        of(count("a").mapped(|count| -2 * count).named("minus twice")),
        of(count("b").mapped(minus).named("minus")),
        of(count("a")
            .mapped(minus)
            .named("minus")
            .mapped(minus)
            .named("minus")),
        of(ConcurrentComposition::new([count("a")])),
        of(ConcurrentComposition::new([count("b")])),
        of(ConcurrentComposition::new([count("a"), count("a")])),
    ];
    all_differ(&group);
    assert!(group.iter().all(Description::is_complete));
    let many = |rows| match rows {
        1 => Mechanism::<queryables::data::People<Rows, 1>>::describe(&OnRows::<_, 1>(count("a"))),
        _ => Mechanism::<queryables::data::People<Rows, 2>>::describe(&OnRows::<_, 2>(count("a"))),
    };
    all_differ(&[many(1), many(2)]);
    let restated = |slack: &str| {
        let count = Count::of(is("a")).gaussian(rho!(1)).unwrap();
        of(RestatedAt::new(ZCdp, slack.parse().unwrap(), count))
    };
    all_differ(&[restated("1e-6"), restated("1e-7")]);
}
