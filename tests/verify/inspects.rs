//! What the library's machines show of their state is all of it: with rules and machines that
//! panic at random, the verifier by state finds what it finds without looking at the state.

use std::fmt::Debug;
use std::fs;
use std::hash::Hash;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use queryables::account::{
    Accounting, Accumulator, Capped, ContinuationRule, Exceeded, Sum, ValidConcurrently,
    ValidIndividually, ValidSequentially,
};
use queryables::compose::{
    Addressed, ConcurrentComposition, Filter, IndividualAnswers, IndividualFilter, IndividualQuery,
    Message, Odometer, Parallel, Payers, RecordUnits, Tariff,
};
use queryables::machine::{Coins, Fault, Inspect, Machine, Mechanism};
use queryables::middle::{LimitQueries, ThroughExt};
use queryables::number::Epsilon;
use queryables::privacy::{AddRemove, Private, PureDp, UnknownLoss};
use queryables::verify::{Children, Menu, Pair, Rational, Truncated, Verifier, copies_of};

/// Panics without a message on the terminal.
fn panics_if(when: bool) {
    if when {
        std::panic::resume_unwind(Box::new("on purpose"));
    }
}

/// A rule that panics where its mask says so, by how often it was charged and by the loss.
#[derive(Clone, Debug, Hash)]
struct Panicky {
    inner: Capped<Sum<PureDp>>,
    charges: u32,
    mask: u32,
}

impl Accounting for Panicky {
    type Children = PureDp;
    type Whole = PureDp;

    fn children(&self) -> &PureDp {
        self.inner.children()
    }

    fn whole(&self) -> &PureDp {
        self.inner.whole()
    }
}

impl ContinuationRule for Panicky {
    fn limit(&self) -> &Epsilon {
        self.inner.limit()
    }

    fn spent(&self) -> Epsilon {
        self.inner.spent()
    }

    fn remaining(&self) -> Epsilon {
        self.inner.remaining()
    }

    fn charge(&self, loss: &Epsilon) -> Result<Self, Exceeded> {
        panics_if((self.mask >> self.charges) & 1 == 1);
        Ok(Self {
            inner: self.inner.charge(loss)?,
            charges: self.charges + 1,
            mask: self.mask,
        })
    }
}

impl ValidSequentially for Panicky {}
impl ValidConcurrently for Panicky {}

/// A child that panics, at its start or when it is asked, where its mask says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Moody {
    mask: u8,
    odds: u64,
}

#[derive(Clone, Debug, Hash)]
struct MoodyMachine {
    moody: Moody,
    bit: bool,
    asked: u8,
}

impl Mechanism<bool> for Moody {
    type Machine = MoodyMachine;

    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<MoodyMachine, Fault> {
        panics_if(self.mask & 1 == 1);
        Ok(MoodyMachine {
            moody: *self,
            bit: **data,
            asked: 0,
        })
    }
}

impl Machine for MoodyMachine {
    type Query = ();
    type Answer = bool;

    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<bool, Fault> {
        self.asked += 1;
        let told = self.bit ^ (coins.weighted(&[self.moody.odds, 1])? == 1);
        // After the coins, and by the answer: half changed.
        panics_if((self.moody.mask >> self.asked) & 1 == 1 && told);
        Ok(told)
    }
}

impl Private<PureDp, AddRemove> for Moody {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        panics_if(self.mask & 128 == 128);
        Ok(self.odds.to_string().parse().unwrap())
    }
}

/// What is found by state and without, for a total variation and for a ratio.
fn assert_agree<M, N, Q, A>(mechanism: &M, menu: N, depth: usize) -> Result<(), TestCaseError>
where
    M: Mechanism<bool> + Clone + Send + Sync + 'static,
    M::Machine: Machine<Query = Q, Answer = A> + Inspect + 'static,
    N: Menu<Q, A> + Clone,
    Q: Clone + Debug + Send + Sync + 'static,
    A: Clone + Debug + Eq + Hash + Send + Sync + 'static,
{
    assert_agree_on(mechanism, &Pair::new(false, true), menu, depth)
}

fn assert_agree_on<D, M, N, Q, A>(
    mechanism: &M,
    pair: &Pair<D>,
    menu: N,
    depth: usize,
) -> Result<(), TestCaseError>
where
    D: Debug + PartialEq + Send + Sync + 'static,
    M: Mechanism<D> + Clone + Send + Sync + 'static,
    M::Machine: Machine<Query = Q, Answer = A> + Inspect + 'static,
    N: Menu<Q, A> + Clone,
    Q: Clone + Debug + Send + Sync + 'static,
    A: Clone + Debug + Eq + Hash + Send + Sync + 'static,
{
    let by_state = Verifier::by_state(copies_of(mechanism), pair, menu.clone(), depth).replays(2);
    let opaque = Verifier::new(copies_of(mechanism), pair, menu, depth).replays(2);
    let value = |worst: Result<queryables::verify::Worst<Q, A>, _>| worst.map(|worst| worst.value);
    prop_assert_eq!(
        value(by_state.worst_delta(Rational::from(2_u8))),
        value(opaque.worst_delta(Rational::from(2_u8)))
    );
    prop_assert_eq!(value(by_state.worst_ratio()), value(opaque.worst_ratio()));
    Ok(())
}

/// The same child on the rows of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct OfPart(Moody);

impl Mechanism<Vec<u8>> for OfPart {
    type Machine = MoodyMachine;

    fn start(&self, rows: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<MoodyMachine, Fault> {
        self.0.start(&Arc::new(rows.len() > 1), coins)
    }
}

impl Private<PureDp, AddRemove> for OfPart {
    fn loss(&self, measure: &PureDp) -> Result<Epsilon, UnknownLoss> {
        self.0.loss(measure)
    }
}

/// A query of an individual filter: whether more than one row takes part, truly more often than not.
/// It panics where its mask says so: before or after records are charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct MoodyQuery {
    cost: u64,
    mask: u8,
}

impl<F: ValidIndividually<Children = PureDp>> IndividualQuery<Vec<u8>, F> for MoodyQuery {
    type Noise = ();
    type Total = u64;
    type Answer = bool;

    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        units.flat(&self.cost.to_string().parse().unwrap())
    }

    fn noise(&self, _: &mut Coins<'_>) -> Result<(), Fault> {
        panics_if(self.mask & 1 == 1);
        Ok(())
    }

    fn nothing(&self) -> u64 {
        0
    }

    fn take(&self, rows: &Vec<u8>, records: Range<usize>, payers: &mut Payers<'_>) -> u64 {
        let rows = rows[records].iter().map(|row| u64::from(*row));
        rows.map(|size| payers.charge_or(size, |allowed| allowed))
            .sum()
    }

    fn merge(&self, total: &mut u64, chunk: u64) {
        *total += chunk;
    }

    fn answer(&self, total: u64, (): (), coins: &mut Coins<'_>) -> Result<bool, Fault> {
        let told = (total > 1) ^ (coins.weighted(&[2, 1])? == 1);
        panics_if(self.mask & 2 == 2 && told);
        Ok(told)
    }
}

fn moody() -> impl Strategy<Value = Moody> {
    // A start or a loss that panics is rarer than an answer.
    let mask = prop_oneof![6 => (0..8_u8).prop_map(|mask| mask * 2), 1 => Just(1), 1 => Just(128)];
    (mask, 2..4_u64).prop_map(|(mask, odds)| Moody { mask, odds })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn what_compositors_show_is_all_of_their_state(
        children in prop::collection::vec(moody(), 1..3),
        mask in 0..8_u32,
        most in 1..3_u64,
    ) {
        let rule = Panicky {
            inner: Sum::new(PureDp).capped("6".parse().unwrap()),
            charges: 0,
            mask,
        };
        let menu = Children::new(children.clone(), vec![()]).at_most(2);
        let concurrent = Filter::concurrent_with(rule.clone()).at_most(most);
        assert_agree(&Addressed::<_, Moody>::new(concurrent.clone()), menu.clone(), 3)?;
        let halting = Addressed::<_, Moody>::new(concurrent.halting());
        assert_agree(&halting, menu.clone(), 3)?;
        let sequential = Addressed::<_, Moody>::new(Filter::sequential_with(rule));
        assert_agree(&sequential, menu.clone(), 3)?;
        let odometer = Addressed::<_, Moody>::new(Odometer::concurrent(PureDp));
        assert_agree(&Truncated::new(odometer, "5".parse::<Epsilon>().unwrap()), menu, 3)?;
    }

    #[test]
    fn what_compositions_and_middles_show_is_all_of_their_state(
        children in prop::collection::vec(moody(), 2..3),
        limit in 1..3_u64,
    ) {
        let composition = ConcurrentComposition::new(children.clone());
        assert_agree(&composition, vec![(0, ()), (1, ())], 3)?;
        let limited = children[0].through(LimitQueries::new(limit));
        assert_agree(&limited, vec![()], 3)?;
    }

    #[test]
    fn what_parts_show_is_all_of_their_state(child in moody(), mask in 0..4_u32) {
        let rule = Panicky {
            inner: Sum::new(PureDp).capped("4".parse().unwrap()),
            charges: 0,
            mask,
        };
        let filter = Addressed::<_, OfPart>::new(Filter::concurrent_with(rule));
        let filters = [0, 1].map(|key| (key, filter.clone()));
        let parts = Parallel::new(|row: &u8| *row, filters).unwrap();
        let message = |key: u8| {
            [Message::Launch(OfPart(child)), Message::Ask(0, ())].map(|message| (key, message))
        };
        let menu = [message(0), message(1)].concat();
        assert_agree_on(&parts, &Pair::new(vec![0, 0, 1], vec![0, 1]), menu, 3)?;
    }

    #[test]
    fn what_individual_filters_show_is_all_of_their_state(
        queries in prop::collection::vec((1..3_u64, 0..4_u8), 2),
        budget in 2..5_u64,
        most in 2..4_u64,
    ) {
        let filter = IndividualFilter::new(PureDp, budget.to_string().parse().unwrap());
        let answers = IndividualAnswers::<_, _, MoodyQuery>::new(filter.at_most(most));
        let queries = queries.into_iter().map(|(cost, mask)| MoodyQuery { cost, mask });
        let pair = Pair::new(vec![1, 1, 0], vec![1, 0]);
        assert_agree_on(&answers, &pair, queries.collect::<Vec<_>>(), 3)?;
    }
}

/// Where each `Inspect` of the library is compared with the opaque verifier. A derived `Hash` writes
/// all fields.
#[test]
fn every_inspect_is_compared_with_the_opaque_verifier() {
    let compared = [
        (
            "AboveThresholdMachine",
            "compared::a_search_is_decided_over_several_rounds",
        ),
        (
            "AddressedMachine",
            "what_compositors_show_is_all_of_their_state",
        ),
        ("Child", "what_compositors_show_is_all_of_their_state"),
        (
            "CompositorMachine",
            "what_compositors_show_is_all_of_their_state",
        ),
        (
            "ConcurrentMachine",
            "what_compositions_and_middles_show_is_all_of_their_state",
        ),
        ("DrawnNoise", "compared::noise_is_a_part_of_the_state"),
        ("FilterGate", "what_compositors_show_is_all_of_their_state"),
        (
            "IndividualAnswersMachine",
            "what_individual_filters_show_is_all_of_their_state",
        ),
        (
            "IndividualMachine",
            "what_individual_filters_show_is_all_of_their_state",
        ),
        (
            "OdometerGate",
            "what_compositors_show_is_all_of_their_state",
        ),
        ("PartsMachine", "what_parts_show_is_all_of_their_state"),
        (
            "Postprocessed",
            "what_compositions_and_middles_show_is_all_of_their_state",
        ),
        ("T", "every other type, by its `Hash`"),
        (
            "TruncatedMachine",
            "what_compositors_show_is_all_of_their_state",
        ),
    ];
    let mut found = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("core/src"), root.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(path).unwrap();
                let implementations = text.lines().filter(|line| line.starts_with("impl"));
                let of = implementations.filter_map(|line| line.split_once(" Inspect for "));
                let name = |name: &str| name.split(['<', ' ']).next().map(str::to_owned);
                found.extend(of.filter_map(|(_, rest)| name(rest)));
            }
        }
    }
    found.sort();
    assert_eq!(found, compared.map(|(name, _)| name));
}
