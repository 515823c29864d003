//! The reference: a tree in which every node knows its parent and as which launch it came.
//!
//! Whether something is stopped is worked out anew each time, by walking up the tree. Code that
//! runs on behalf of several nodes carries the list of them, and may go on while none is stopped. What
//! it came to is given out if none is stopped when it has returned.

mod events;
mod names;

use proptest::strategy::{BoxedStrategy, Strategy};
use proptest_state_machine::ReferenceStateMachine;
use queryables::machine::Stop;
use queryables::prelude::*;

use crate::program::{Id, Kind, Op, Order, Price, Settings, Start, Thing, op, root};

/// Hundredths.
pub fn epsilon(hundredths: u64) -> Epsilon {
    Epsilon::from_units(u128::from(hundredths) * 10_u128.pow(25)).unwrap()
}

pub const BUSY: &str = "the inner machine is busy";
pub const NOT_HERE: &str = "not understood here";

pub type NotLaunched = LaunchError<Epsilon>;

/// What a machine of a program answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Done,
    Launched(usize),
    NotLaunched(NotLaunched),
    NotAnswered(AskError),
    Spent(Epsilon),
}

/// What happens, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A check let the start of a leaf pass.
    Started(usize),
    /// A check let a question to a leaf pass.
    Stepped(usize),
    /// What a launch gave.
    Launched(Result<(), NotLaunched>),
    /// What a question gave.
    Asked(Result<Answer, AskError>),
}

/// What can be seen of a node without changing anything.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    Filter {
        spent: Epsilon,
        admits: bool,
        halted: bool,
    },
    Odometer {
        spent: Epsilon,
        /// Where a launch that costs nothing freezes nobody.
        launched: Option<Result<(), NotLaunched>>,
    },
    Machine(Result<Answer, AskError>),
}

#[derive(Clone, Debug)]
pub struct Programs<const THREADS: bool> {
    nodes: Vec<Node>,
    /// Who is answering, the outermost first.
    answering: Vec<Id>,
    serial: usize,
    /// The last step, with its nodes named, what happened, and the nodes that have handles since.
    pub op: Option<Op>,
    pub events: Vec<Event>,
    pub opened: Vec<Id>,
}

#[derive(Clone, Debug)]
struct Node {
    /// Who may stop it: the parent, and as which of its launches this was started.
    parent: Option<(Id, usize)>,
    /// Whether there are rows in its data.
    rows: bool,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// Did not start.
    Never,
    Compositor(Compositor),
    /// `inside` is a nested compositor, and which of its children this is.
    Machine {
        kind: Kind,
        compositor: Option<Compositor>,
        inside: Option<(Id, usize)>,
    },
}

#[derive(Clone, Debug)]
struct Compositor {
    settings: Settings,
    losses: Vec<u64>,
    halted: bool,
    /// By number, where it is nested.
    children: Vec<Id>,
}

impl Compositor {
    fn new(settings: Settings) -> Self {
        Self {
            settings,
            losses: vec![],
            halted: false,
            children: vec![],
        }
    }

    fn spent(&self) -> u64 {
        self.losses.iter().sum()
    }
}

/// A question in a program.
#[derive(Clone, Debug)]
pub enum Question {
    Go,
    /// As `Go`, but nobody acts on the way.
    Probe,
    Spent,
    To(usize, Box<Question>),
    Launch(Price, Kind),
    Release(Price, Start),
}

impl Question {
    fn is_quiet(&self) -> bool {
        match self {
            Self::Probe | Self::Spent => true,
            Self::To(_, question) => question.is_quiet(),
            Self::Go | Self::Launch(..) | Self::Release(..) => false,
        }
    }
}

/// What a nested compositor inside this kind is, if there is one.
fn nested(kind: &Kind) -> Option<Settings> {
    match kind {
        Kind::Leaf(_) | Kind::Relay(_) => None,
        Kind::Nested(settings) => Some(*settings),
        Kind::Behind(behind) => nested(&behind.inner),
    }
}

// Who stops whom.

impl<const THREADS: bool> Programs<THREADS> {
    fn compositor(&self, id: Id) -> Option<&Compositor> {
        match &self.nodes[id].what {
            What::Compositor(compositor) => Some(compositor),
            What::Machine { compositor, .. } => compositor.as_ref(),
            What::Never => None,
        }
    }

    fn compositor_mut(&mut self, id: Id) -> &mut Compositor {
        match &mut self.nodes[id].what {
            What::Compositor(compositor) => Some(compositor),
            What::Machine { compositor, .. } => compositor.as_mut(),
            What::Never => None,
        }
        .expect("a compositor")
    }

    /// Who stops this node, looking upwards from it.
    fn stopped(&self, id: Id) -> Result<(), Stop> {
        let Some((parent, launch)) = self.nodes[id].parent else {
            return Ok(());
        };
        let compositor = self.compositor(parent).expect("a parent launches");
        let freezes = compositor.settings.order != Order::Concurrent;
        if freezes && launch + 1 != compositor.losses.len() {
            return Err(Stop::Frozen);
        }
        if compositor.halted {
            return Err(Stop::Halted);
        }
        self.stopped(parent)
    }

    /// Whether what runs on behalf of these may go on.
    fn check(&self, behalf: &[Id]) -> Result<(), Stop> {
        behalf.iter().rev().try_for_each(|id| self.stopped(*id))
    }
}

impl<const THREADS: bool> ReferenceStateMachine for Programs<THREADS> {
    type State = Self;
    type Transition = Op;

    fn init_state() -> BoxedStrategy<Self> {
        let with_root = |settings| {
            let mut programs = Self {
                nodes: vec![],
                answering: vec![],
                serial: 0,
                op: None,
                events: vec![],
                opened: vec![],
            };
            let op = Op::Free(Thing::Compositor(settings));
            programs.run(&op);
            Self {
                op: Some(op),
                ..programs
            }
        };
        root().prop_map(with_root).boxed()
    }

    fn transitions(_: &Self) -> BoxedStrategy<Op> {
        op(THREADS).boxed()
    }

    fn apply(mut state: Self, op: &Op) -> Self {
        state.events.clear();
        state.opened.clear();
        let op = state.named(op);
        state.run(&op);
        state.op = Some(op);
        state
    }
}
