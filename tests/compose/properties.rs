//! Random programs against a naive reference that keeps every loss and works everything out
//! anew each time.

use std::sync::Arc;

use crate::common::{Answer, Count, at};
use proptest::prelude::*;
use queryables::account::{Accumulator, Capped, ContinuationRule, DefaultAccumulator, Sum};
use queryables::compose::{
    Addressed, Discipline, Interactive, Interleaved, Message, Refusal, Reply, RunningFilterOf,
    Sequential,
};
use queryables::machine::{
    CoinSource, Machine, Mechanism, NotPrivateSeededCoins, Script, View, interact,
};
use queryables::middle::{Log, MapAnswer, MapQuery, ThroughExt};
use queryables::prelude::*;
use queryables::queryable::{HandleOf, IntoHandle};
use queryables::verify::strategies::{conversations, datasets, epsilons};

type Running<X> = RunningFilterOf<(), PureDp, AddRemove, X>;

/// What a program can do to the nodes that it has opened so far; nodes are named by their number,
/// modulo how many there are.
#[derive(Clone, Debug)]
enum Action {
    LaunchFilter(usize, Settings),
    LaunchCounter(usize, u64),
    Release(usize, u64),
    Ask(usize),
    Read(usize),
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    budget: u64,
    count_limit: Option<u64>,
    halts: bool,
    sequential: bool,
}

fn loss(hundredths: u64) -> Epsilon {
    Epsilon::from_units(u128::from(hundredths) * 10_u128.pow(25)).unwrap()
}

/// What is seen of an action.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Launched,
    NotLaunched(LaunchError<Epsilon>),
    Asked(Result<usize, AskError>),
    Spent {
        spent: Epsilon,
        remaining: Epsilon,
        admits: Vec<bool>,
    },
    Nothing,
}

/// Losses that are tried on every filter that is read.
const TRIED: [u64; 4] = [0, 1, 20, 100];

// The real thing.

enum Node {
    Concurrent(Running<Interleaved>),
    Sequential(Running<Sequential>),
    Counter(Queryable<(), usize>),
}

fn open(settings: Settings, parent: Option<&Node>) -> Result<Node, LaunchError<Epsilon>> {
    fn set<X>(
        filter: Filter<Capped<Sum<PureDp>>, AddRemove, X>,
        settings: Settings,
    ) -> Filter<Capped<Sum<PureDp>>, AddRemove, X> {
        let filter = if settings.halts {
            filter.halting()
        } else {
            filter
        };
        match settings.count_limit {
            Some(limit) => filter.at_most(limit),
            None => filter,
        }
    }
    fn below<M>(
        mechanism: &M,
        parent: Option<&Node>,
    ) -> Result<HandleOf<M, ()>, LaunchError<Epsilon>>
    where
        M: Mechanism<(), Machine: IntoHandle> + Private<PureDp, AddRemove>,
    {
        match parent {
            None => Ok(launch(mechanism, Arc::new(())).unwrap()),
            Some(Node::Concurrent(parent)) => parent.launch(mechanism),
            Some(Node::Sequential(parent)) => parent.launch(mechanism),
            Some(Node::Counter(_)) => unreachable!("a counter has no children"),
        }
    }
    let budget = loss(settings.budget);
    if settings.sequential {
        below(&set(Filter::sequential(PureDp, budget), settings), parent).map(Node::Sequential)
    } else {
        below(&set(Filter::concurrent(PureDp, budget), settings), parent).map(Node::Concurrent)
    }
}

fn read<X: Discipline>(filter: &Running<X>) -> Seen {
    Seen::Spent {
        spent: filter.privacy_loss(),
        remaining: filter.remaining(),
        admits: TRIED.map(|tried| filter.would_admit(&loss(tried))).to_vec(),
    }
}

fn launch_counter<X: Interactive>(
    filter: &Running<X>,
    hundredths: u64,
) -> Result<Node, LaunchError<Epsilon>> {
    filter
        .launch(&at(loss(hundredths), Count::default()))
        .map(Node::Counter)
}

fn act(nodes: &mut Vec<Node>, action: &Action) -> Seen {
    let node = |number: usize| &nodes[number % nodes.len()];
    let opened = match *action {
        Action::LaunchFilter(number, settings) => match node(number) {
            Node::Counter(_) => return Seen::Nothing,
            parent => open(settings, Some(parent)),
        },
        Action::LaunchCounter(number, hundredths) => match node(number) {
            Node::Concurrent(filter) => launch_counter(filter, hundredths),
            Node::Sequential(filter) => launch_counter(filter, hundredths),
            Node::Counter(_) => return Seen::Nothing,
        },
        Action::Release(number, hundredths) => {
            let mechanism = at(loss(hundredths), Answer::default());
            let released = match node(number) {
                Node::Concurrent(filter) => filter.release(&mechanism),
                Node::Sequential(filter) => filter.release(&mechanism),
                Node::Counter(_) => return Seen::Nothing,
            };
            return match released {
                Ok(_) => Seen::Launched,
                Err(error) => Seen::NotLaunched(error),
            };
        }
        Action::Ask(number) => {
            return match node(number) {
                Node::Counter(counter) => Seen::Asked(counter.ask(())),
                _ => Seen::Nothing,
            };
        }
        Action::Read(number) => {
            return match node(number) {
                Node::Concurrent(filter) => read(filter),
                Node::Sequential(filter) => read(filter),
                Node::Counter(_) => Seen::Nothing,
            };
        }
    };
    match opened {
        Ok(node) => {
            nodes.push(node);
            Seen::Launched
        }
        Err(error) => Seen::NotLaunched(error),
    }
}

// The reference.

struct Reference {
    nodes: Vec<ReferenceNode>,
}

struct ReferenceNode {
    /// The parent, and as which of its launches this was started.
    parent: Option<(usize, usize)>,
    kind: ReferenceKind,
}

enum ReferenceKind {
    Filter {
        settings: Settings,
        losses: Vec<u64>,
        halted: bool,
    },
    Counter {
        asked: usize,
    },
}

impl Reference {
    /// Who stops this node, looking upwards from it.
    fn stopped(&self, number: usize) -> Option<AskError> {
        let (parent, launch) = self.nodes[number].parent?;
        let ReferenceKind::Filter {
            settings,
            losses,
            halted,
        } = &self.nodes[parent].kind
        else {
            return None;
        };
        if settings.sequential && launch + 1 != losses.len() {
            return Some(AskError::Stopped(Stop::Frozen));
        }
        if *halted {
            return Some(AskError::Stopped(Stop::Halted));
        }
        self.stopped(parent)
    }

    /// Every reason that stands against a launch, the first one first.
    fn against(&self, number: usize, requested: u64) -> Option<LaunchError<Epsilon>> {
        let ReferenceKind::Filter {
            settings,
            losses,
            halted,
        } = &self.nodes[number].kind
        else {
            unreachable!("only filters launch");
        };
        match self.stopped(number) {
            Some(AskError::Stopped(Stop::Frozen)) => {
                return Some(LaunchError::Stopped(Stop::Frozen));
            }
            Some(_) => return Some(LaunchError::Stopped(Stop::Halted)),
            None => {}
        }
        if *halted {
            return Some(LaunchError::Stopped(Stop::Halted));
        }
        if let Some(limit) = settings.count_limit
            && losses.len() as u64 >= limit
        {
            return Some(LaunchError::CountLimit { limit });
        }
        let spent: u64 = losses.iter().sum();
        (spent + requested > settings.budget).then(|| {
            LaunchError::Refused(Refusal {
                spent: loss(spent),
                requested: loss(requested),
                remaining: loss(settings.budget - spent),
                limit: loss(settings.budget),
            })
        })
    }

    fn launch(&mut self, number: usize, requested: u64, child: Option<ReferenceKind>) -> Seen {
        let against = self.against(number, requested);
        let ReferenceKind::Filter {
            settings,
            losses,
            halted,
        } = &mut self.nodes[number].kind
        else {
            unreachable!("only filters launch");
        };
        if let Some(error) = against {
            let over = matches!(
                error,
                LaunchError::Refused(_) | LaunchError::CountLimit { .. }
            );
            *halted |= settings.halts && over;
            return Seen::NotLaunched(error);
        }
        losses.push(requested);
        let launch = losses.len() - 1;
        if let Some(kind) = child {
            self.nodes.push(ReferenceNode {
                parent: Some((number, launch)),
                kind,
            });
        }
        Seen::Launched
    }

    fn act(&mut self, action: &Action) -> Seen {
        let (Action::LaunchFilter(number, _)
        | Action::LaunchCounter(number, _)
        | Action::Release(number, _)
        | Action::Ask(number)
        | Action::Read(number)) = action;
        let number = number % self.nodes.len();
        let is_filter = matches!(self.nodes[number].kind, ReferenceKind::Filter { .. });
        match *action {
            Action::Ask(_) if is_filter => Seen::Nothing,
            Action::Ask(_) => {
                if let Some(error) = self.stopped(number) {
                    return Seen::Asked(Err(error));
                }
                let ReferenceKind::Counter { asked } = &mut self.nodes[number].kind else {
                    unreachable!("filters were sorted out");
                };
                *asked += 1;
                Seen::Asked(Ok(*asked))
            }
            _ if !is_filter => Seen::Nothing,
            Action::LaunchFilter(_, settings) => {
                let kind = ReferenceKind::Filter {
                    settings,
                    losses: vec![],
                    halted: false,
                };
                self.launch(number, settings.budget, Some(kind))
            }
            Action::LaunchCounter(_, hundredths) => self.launch(
                number,
                hundredths,
                Some(ReferenceKind::Counter { asked: 0 }),
            ),
            Action::Release(_, hundredths) => self.launch(number, hundredths, None),
            Action::Read(_) => {
                let ReferenceKind::Filter {
                    settings, losses, ..
                } = &self.nodes[number].kind
                else {
                    unreachable!("counters were sorted out");
                };
                let spent: u64 = losses.iter().sum();
                Seen::Spent {
                    spent: loss(spent),
                    remaining: loss(settings.budget - spent),
                    admits: TRIED
                        .map(|tried| self.against(number, tried).is_none())
                        .to_vec(),
                }
            }
        }
    }
}

// Programs.

fn settings() -> impl Strategy<Value = Settings> {
    (
        0..=120_u64,
        prop::option::weighted(0.2, 0..4_u64),
        prop::bool::weighted(0.3),
        any::<bool>(),
    )
        .prop_map(|(budget, count_limit, halts, sequential)| Settings {
            budget,
            count_limit,
            halts,
            sequential,
        })
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let node = 0..12_usize;
    prop::collection::vec(
        prop_oneof![
            2 => (node.clone(), settings()).prop_map(|(node, settings)| Action::LaunchFilter(node, settings)),
            3 => (node.clone(), 0..40_u64).prop_map(|(node, loss)| Action::LaunchCounter(node, loss)),
            2 => (node.clone(), 0..40_u64).prop_map(|(node, loss)| Action::Release(node, loss)),
            4 => node.clone().prop_map(Action::Ask),
            1 => node.prop_map(Action::Read),
        ],
        0..40,
    )
}

/// A root that has room for something.
fn root() -> impl Strategy<Value = Settings> {
    settings().prop_map(|root| Settings {
        budget: 2 * root.budget,
        count_limit: None,
        ..root
    })
}

fn run(root: Settings, program: &[Action]) -> Vec<Seen> {
    let mut nodes = vec![open(root, None).unwrap()];
    program
        .iter()
        .map(|action| act(&mut nodes, action))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn programs_go_as_the_reference_says(root in root(), program in actions()) {
        let kind = ReferenceKind::Filter { settings: root, losses: vec![], halted: false };
        let mut reference = Reference { nodes: vec![ReferenceNode { parent: None, kind }] };
        let expected: Vec<_> = program.iter().map(|action| reference.act(action)).collect();
        prop_assert_eq!(run(root, &program), expected);
    }

    #[test]
    fn reading_changes_nothing(root in root(), program in actions(), reads in prop::collection::vec(0..12_usize, 1..4)) {
        // The same program, with readings of everything before every step.
        let with_reads: Vec<_> = program
            .iter()
            .flat_map(|action| {
                let reads = reads.iter().map(|number| Action::Read(*number));
                reads.chain([action.clone()]).collect::<Vec<_>>()
            })
            .collect();
        let seen = run(root, &with_reads);
        let after_reads: Vec<_> = seen.into_iter().skip(reads.len()).step_by(reads.len() + 1).collect();
        prop_assert_eq!(after_reads, run(root, &program));
    }
}

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
