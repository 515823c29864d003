//! Random programs against a naive reference that keeps every loss and works everything out
//! anew each time.

use std::sync::Arc;

use crate::common::{Answer, Count, at};
use proptest::prelude::*;
use queryables::account::{Capped, Sum};
use queryables::compose::{
    Discipline, Interactive, Interleaved, Refusal, RunningFilterOf, Sequential,
};
use queryables::machine::{Mechanism, Stop};
use queryables::prelude::*;
use queryables::queryable::{HandleOf, IntoHandle};

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

pub fn loss(hundredths: u64) -> Epsilon {
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
            None => Ok(start(mechanism, Arc::new(())).unwrap()),
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
                set_aside: None,
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
