//! What holds for all losses, conversations and data.

use std::sync::Arc;

use crate::common::at;
use crate::programs::loss;
use proptest::prelude::*;
use queryables::account::{Accumulator, ContinuationRule, DefaultAccumulator};
use queryables::compose::{Addressed, Message, Reply};
use queryables::machine::{
    CoinSource, Machine, Mechanism, NotPrivateSeededCoins, Script, View, interact,
};
use queryables::middle::{Log, MapAnswer, MapQuery, ThroughExt};
use queryables::number::{Mu, Rho};
use queryables::prelude::*;
use queryables::privacy::{Gdp, ProbabilisticDp, RdpGrid};
use queryables::verify::strategies::{conversations, datasets, epsilons};

// Totals do not depend on the order, to the last digit.

fn order_does_not_matter<Me: DefaultAccumulator>(
    measure: &Me,
    losses: &[Me::Loss],
    other: &[Me::Loss],
    limit: &Me::Loss,
) {
    let total = |losses: &[Me::Loss]| {
        let mut total = measure.accumulator();
        for loss in losses {
            total = total.add(loss).unwrap();
        }
        (total.total(), total.is_within(limit), total.headroom(limit))
    };
    assert_eq!(total(losses), total(other));
    let counted = losses.iter().fold(measure.accumulator(), |total, loss| {
        total.add(loss).unwrap()
    });
    assert_eq!(
        counted.clone().capped(limit.clone()).uncapped().total(),
        counted.total()
    );
    // And the rule says of the whole what the accumulator says (Lemma 2.19).
    let mut rule = measure.accumulator().capped(limit.clone());
    let mut total = measure.accumulator();
    for loss in losses {
        let next = total.add(loss).unwrap();
        let charged = rule.charge(loss);
        assert_eq!(
            charged.is_ok(),
            next.total() <= *limit || next.is_within(limit)
        );
        if let Ok(charged) = charged {
            (rule, total) = (charged, next);
        }
        assert_eq!(rule.spent(), total.total());
        assert!(
            rule.charge(&rule.remaining()).is_ok(),
            "what remains is admitted"
        );
    }
}

/// Losses of up to ten, to the last digit.
fn units() -> impl Strategy<Value = Vec<u128>> {
    prop::collection::vec(0..10_u128.pow(28), 1..20)
}

proptest! {
    #[test]
    fn totals_do_not_depend_on_the_order(
        units in units(),
        shuffled in any::<prop::sample::Index>(),
        limit in 0..10_u128.pow(29),
    ) {
        let turn = shuffled.index(units.len());
        let turned = |list: &[u128]| {
            let mut turned = list.to_vec();
            turned.rotate_left(turn);
            turned.reverse();
            turned
        };
        macro_rules! check {
            ($measure:expr, $loss:expr) => {{
                let losses: Vec<_> = units.iter().map($loss).collect();
                let other: Vec<_> = turned(&units).iter().map($loss).collect();
                order_does_not_matter(&$measure, &losses, &other, &($loss)(&limit));
            }};
        }
        let pair = |units: &u128| EpsilonDelta {
            epsilon: Epsilon::from_units(*units).unwrap(),
            // Up to 1, so that sums saturate.
            delta: Delta::from_units((units * 10_u128.pow(9)).min(10_u128.pow(38))).unwrap(),
        };
        let grid = RdpGrid::new(["2", "4"].map(|order| order.parse().unwrap())).unwrap();
        check!(PureDp, |units: &u128| Epsilon::from_units(*units).unwrap());
        check!(ApproxDp, pair);
        check!(ProbabilisticDp, pair);
        check!(ZCdp, |units: &u128| Rho::from_units(*units).unwrap());
        check!(Gdp, |units: &u128| Mu::from_units(*units).unwrap());
        check!(grid, |units: &u128| grid
            .curve([*units, *units / 2].map(|units| Epsilon::from_units(units).unwrap()))
            .unwrap());
    }
}

// A view through a middle that changes nothing is the same view.

type Numbered = crate::common::Stated<Epsilon, Toss>;

/// Answers with coins.
#[derive(Clone, Debug)]
struct Toss;

impl Mechanism<()> for Toss {
    type Machine = Toss;

    fn start(
        &self,
        _: &Arc<()>,
        _: &mut queryables::machine::Coins<'_>,
    ) -> Result<Toss, queryables::machine::Fault> {
        Ok(Toss)
    }
}

impl Machine for Toss {
    type Query = u8;
    type Answer = usize;

    fn step(
        &mut self,
        query: u8,
        coins: &mut queryables::machine::Coins<'_>,
    ) -> Result<usize, queryables::machine::Fault> {
        Ok(coins.weighted(&[u64::from(query) + 1, 3, 5])?)
    }
}

fn messages() -> impl Strategy<Value = Vec<Message<Numbered, u8>>> {
    prop::collection::vec(
        prop_oneof![
            (0..30_u64).prop_map(|hundredths| Message::Launch(at(loss(hundredths), Toss))),
            (0..6_usize, any::<u8>()).prop_map(|(number, query)| Message::Ask(number, query)),
            Just(Message::PrivacyLoss),
        ],
        0..30,
    )
}

proptest! {
    #[test]
    fn a_view_through_an_identity_is_the_same_view(messages in messages(), seed: u64) {
        fn view<M>(mechanism: &M, messages: &[Message<Numbered, u8>], seed: u64) -> View<<M::Machine as Machine>::Answer>
        where
            M: Mechanism<(), Machine: Machine<Query = Message<Numbered, u8>>>,
        {
            let mut machine = mechanism.start(&Arc::new(()), &mut NotPrivateSeededCoins::new(1).coins()).unwrap();
            interact(
                &mut Script::new(messages.to_vec()),
                &mut machine,
                &mut NotPrivateSeededCoins::new(2),
                &mut NotPrivateSeededCoins::new(seed),
                100,
            )
        }
        let filter = Addressed::<_, Numbered>::new(Filter::concurrent(PureDp, loss(100)));
        let direct = view(&filter, &messages, seed);
        prop_assert_eq!(&view(&filter.clone().through(Log::new(|_| {})), &messages, seed), &direct);
        let both = filter.through(MapQuery::new(|query| query)).through(MapAnswer::new(|answer| answer));
        prop_assert_eq!(view(&both, &messages, seed), direct);
    }
}

// What is admitted, and what is told of the loss, does not depend on the data.

/// Answers with the whole dataset.
#[derive(Clone, Debug)]
struct Publish;

impl Mechanism<Vec<u8>> for Publish {
    type Machine = Released<Vec<u8>>;

    fn start(
        &self,
        data: &Arc<Vec<u8>>,
        _: &mut queryables::machine::Coins<'_>,
    ) -> Result<Self::Machine, queryables::machine::Fault> {
        Ok(Released(data.to_vec()))
    }
}

type Published = crate::common::Stated<Epsilon, Publish>;

/// Launches of up to 0.3, questions and readings.
fn talks() -> impl Strategy<Value = Vec<Message<Published, ()>>> {
    let mechanisms = epsilons(loss(30)).prop_map(|loss| at(loss, Publish));
    conversations(mechanisms, Just(()), 0..30)
}

proptest! {
    #[test]
    fn decisions_do_not_depend_on_the_data(
        one in datasets(any::<u8>(), 0..6),
        other in datasets(any::<u8>(), 0..6),
        talk in talks(),
        budget in epsilons(loss(100)),
        halts: bool,
    ) {
        let filter = Filter::concurrent(PureDp, budget);
        let filter = if halts { filter.halting() } else { filter };
        let filter = Addressed::<_, Published>::new(filter);
        let seen = |data: &Vec<u8>| -> Vec<_> {
            let coins = || NotPrivateSeededCoins::new(1);
            let data = Arc::new(data.clone());
            let mut machine = filter.start(&data, &mut coins().coins()).unwrap();
            let mut script = Script::new(talk.clone());
            let view = interact(&mut script, &mut machine, &mut coins(), &mut coins(), 100);
            let told = view.answers().cloned().map(|answer| match answer {
                // The only thing that is told of the data.
                Ok(Reply::Answered(told)) => {
                    assert_eq!(told, *data);
                    Ok(Reply::Answered(vec![]))
                }
                other => other,
            });
            told.collect()
        };
        prop_assert_eq!(seen(&one).len(), talk.len());
        prop_assert_eq!(seen(&one), seen(&other));
    }
}
