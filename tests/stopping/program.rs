//! Random programs: what can be launched, asked and stopped, and by whom.

use proptest::prelude::*;

/// The number of a node, in the order in which nodes come to be. In a program that was only just
/// generated it is any number, and stands for one of the nodes that fit.
pub type Id = usize;

/// Over every budget here.
pub const OVER: u64 = 1000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    Concurrent,
    Sequential,
    NonInteractive,
}

/// A filter or an odometer.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub order: Order,
    pub odometer: bool,
    /// Filters only.
    pub halts: bool,
    /// In hundredths; filters only.
    pub budget: u64,
}

/// What third-party code does with a handle that it holds: launches something that answers once if
/// the handle is a compositor's, and asks it otherwise.
#[derive(Clone, Debug)]
pub struct Act {
    pub at: Id,
    /// Whether it is about the compositor in which its own code is launched, if there is one.
    pub at_home: bool,
    pub loss: u64,
    /// Names what is launched.
    pub serial: usize,
    /// On a thread that is waited for.
    pub on_a_thread: bool,
}

/// What a launch costs, and what happens while that is asked.
#[derive(Clone, Debug)]
pub struct Price {
    pub loss: u64,
    pub acts: Vec<Act>,
}

/// What can be launched.
#[derive(Clone, Debug)]
pub enum Thing {
    /// A filter or an odometer, of which there will be a handle.
    Compositor(Settings),
    /// Two filters, and what happens while the rows are sorted.
    Parallel(Settings, Vec<Act>),
    Machine(Kind),
}

/// What a machine is made of.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Answers.
    Leaf(Leaf),
    /// A handle that exists already.
    Relay(Id),
    /// A compositor inside the machine, whose children have numbers.
    Nested(Settings),
    Behind(Box<Behind>),
}

/// A search for a large count: what it reads at its start, and the predicates that it is asked about,
/// are third-party code.
#[derive(Clone, Debug, Default)]
pub struct Leaf {
    /// Names it.
    pub serial: usize,
    /// While an attribute is read, as it starts.
    pub on_start: Vec<Act>,
    /// While the predicate of a question is evaluated.
    pub on_answer: Vec<Act>,
}

/// Whose code runs in a start, for a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Code {
    Predicate,
    Attribute,
    Key,
    Score,
}

/// The start of something that answers once.
#[derive(Clone, Debug)]
pub struct Start {
    /// Names it.
    pub serial: usize,
    pub code: Code,
    /// While that code runs.
    pub inside: Vec<Act>,
    /// While a function is applied to the answer.
    pub mapped: Vec<Act>,
}

impl Start {
    /// Nobody acts.
    pub fn quiet(serial: usize) -> Self {
        Self {
            serial,
            code: Code::Predicate,
            inside: vec![],
            mapped: vec![],
        }
    }
}

/// A machine behind a middle.
#[derive(Clone, Debug)]
pub struct Behind {
    /// While the middle is cloned, as the machine starts.
    pub on_start: Vec<Act>,
    /// Before it asks inward.
    pub before: Vec<Act>,
    /// Before it asks inward once more; it does so only if there is something.
    pub again: Vec<Act>,
    pub inner: Kind,
}

/// One step of a program.
#[derive(Clone, Debug)]
pub enum Op {
    /// A launch outside any compositor.
    Free(Thing),
    Launch {
        at: Id,
        price: Price,
        thing: Thing,
    },
    /// The launch of something that answers once.
    Release {
        at: Id,
        price: Price,
        start: Start,
    },
    Ask(Id),
}

fn loss() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..30_u64, 1 => Just(OVER)]
}

fn id() -> impl Strategy<Value = Id> {
    0..12_usize
}

fn settings() -> impl Strategy<Value = Settings> {
    (
        prop_oneof![
            2 => Just(Order::Concurrent),
            4 => Just(Order::Sequential),
            1 => Just(Order::NonInteractive),
        ],
        prop::bool::weighted(0.3),
        any::<bool>(),
        100..400_u64,
    )
        .prop_map(|(order, odometer, halts, budget)| Settings {
            order,
            odometer,
            halts: halts && !odometer,
            budget,
        })
}

fn act(threads: bool) -> impl Strategy<Value = Act> {
    (id(), prop::bool::weighted(0.4), loss()).prop_map(move |(at, at_home, loss)| Act {
        at,
        at_home,
        loss,
        serial: 0,
        on_a_thread: threads,
    })
}

/// Seldom anything, or at most two things.
fn acts(often: f64, threads: bool) -> impl Strategy<Value = Vec<Act>> {
    let some = prop::collection::vec(act(threads), 1..3);
    prop::option::weighted(often, some).prop_map(Option::unwrap_or_default)
}

fn price(threads: bool) -> impl Strategy<Value = Price> {
    (loss(), acts(0.3, threads)).prop_map(|(loss, acts)| Price { loss, acts })
}

fn leaf(threads: bool) -> impl Strategy<Value = Leaf> {
    (acts(0.2, threads), acts(0.4, threads)).prop_map(|(on_start, on_answer)| Leaf {
        serial: 0,
        on_start,
        on_answer,
    })
}

fn start(threads: bool) -> impl Strategy<Value = Start> {
    let code = prop_oneof![
        Just(Code::Predicate),
        Just(Code::Attribute),
        Just(Code::Key),
        Just(Code::Score),
    ];
    (code, acts(0.4, threads), acts(0.3, threads)).prop_map(|(code, inside, mapped)| Start {
        serial: 0,
        code,
        inside,
        mapped,
    })
}

fn kind(threads: bool) -> impl Strategy<Value = Kind> {
    let simple = prop_oneof![
        3 => leaf(threads).prop_map(Kind::Leaf),
        2 => id().prop_map(Kind::Relay),
        3 => settings().prop_map(Kind::Nested),
    ];
    simple.prop_recursive(2, 3, 1, move |inner| {
        (
            acts(0.25, threads),
            acts(0.9, threads),
            acts(0.3, threads),
            inner,
        )
            .prop_map(|(on_start, before, again, inner)| {
                Kind::Behind(Box::new(Behind {
                    on_start,
                    before,
                    again,
                    inner,
                }))
            })
    })
}

fn thing(threads: bool) -> impl Strategy<Value = Thing> {
    prop_oneof![
        3 => settings().prop_map(Thing::Compositor),
        1 => (settings(), acts(0.3, threads)).prop_map(|(settings, acts)| {
            Thing::Parallel(Settings { odometer: false, ..settings }, acts)
        }),
        3 => leaf(threads).prop_map(|leaf| Thing::Machine(Kind::Leaf(leaf))),
        8 => kind(threads).prop_map(Thing::Machine),
    ]
}

/// A root.
pub fn root() -> impl Strategy<Value = Settings> {
    settings()
}

/// One step; with threads, launches from inside other code are made on another one.
pub fn op(threads: bool) -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => thing(threads).prop_map(Op::Free),
        6 => (id(), price(threads), thing(threads))
            .prop_map(|(at, price, thing)| Op::Launch { at, price, thing }),
        2 => (id(), price(threads), start(threads))
            .prop_map(|(at, price, start)| Op::Release { at, price, start }),
        5 => id().prop_map(Op::Ask),
    ]
}
