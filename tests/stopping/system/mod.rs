//! The real thing: the same programs with handles, machines and middles of the crate.

mod handles;
mod mechanisms;
mod nested;

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::thread;

use queryables::compose::{Addressed, BoxedMechanism, Parallel};
use queryables::machine::BoxedMachine;
use queryables::prelude::*;
use queryables::queryable::{HandleOf, IntoHandle};

use crate::model::{Answer, Event, NotLaunched, Programs, Question, Reading, epsilon};
use crate::program::{Act, Id, Kind, Op, Order, Price, Settings, Start, Thing};
pub use handles::Handle;
pub use handles::Launches;
use handles::{filter, launch_at};
use mechanisms::*;
pub use mechanisms::{Once, Query, Stated, boxed};
use nested::Nested;

pub type Rows = Vec<u8>;
pub type Asked = Queryable<Query, Answer>;
pub type Boxed = BoxedMechanism<Rows, PureDp, AddRemove, Query, Answer>;

/// The operations that had defects. A double does one of them in the old, wrong way.
pub trait System: Debug + Copy + Send + Sync + 'static {
    /// Asks a handle from inside other code; there are coins where that code is a middle.
    fn ask(
        handle: &Asked,
        query: Query,
        _coins: Option<&mut Coins<'_>>,
    ) -> Result<Answer, AskError> {
        handle.ask(query)
    }

    /// Starts or steps a compositor that lives inside a machine.
    fn inside<T>(coins: &mut Coins<'_>, run: impl FnOnce(&mut Coins<'_>) -> T) -> T {
        run(coins)
    }

    /// A mechanism that is about to be launched, and what a double wants to know of its machine.
    fn expose(mechanism: Boxed) -> (Boxed, Option<Shared>) {
        (mechanism, None)
    }

    /// A handle wrapped into a mechanism.
    fn relay(handle: &Asked, _machine: Option<&Shared>) -> Boxed {
        boxed(Wrapped(handle.clone()))
    }

    /// Asks a handle from outside.
    fn ask_anew(
        handle: &Asked,
        query: Query,
        _machine: Option<&Shared>,
    ) -> Result<Answer, AskError> {
        handle.ask(query)
    }

    /// Launches something that answers once.
    fn release(at: &Handle, mechanism: &Once) -> Result<(), NotLaunched> {
        at.release(mechanism)
    }

    /// Launches on a handle.
    fn launch<C, M>(at: &C, mechanism: &Stated<M>) -> Result<HandleOf<M, Rows>, NotLaunched>
    where
        C: Launches,
        M: Mechanism<Rows, Machine: IntoHandle> + Clone,
    {
        at.launch(mechanism)
    }
}

/// A machine that a double shares with somebody, or what it has answered.
pub type Shared = Arc<Exposure>;

#[derive(Default)]
pub struct Exposure {
    pub machine: Mutex<Option<BoxedMachine<Query, Answer>>>,
    pub answer: Mutex<Option<Answer>>,
}

pub fn rows() -> Arc<Rows> {
    Arc::new(vec![0, 1, 2])
}

/// A running program.
pub struct Running<S> {
    log: Log,
    handles: BTreeMap<Id, Handle>,
    system: PhantomData<S>,
}

/// What the reference and what runs disagree on.
#[derive(Debug)]
pub struct Disagreement {
    pub expected: String,
    pub found: String,
}

impl Disagreement {
    fn between(expected: &impl Debug, found: &impl Debug) -> Self {
        Self {
            expected: format!("{expected:?}"),
            found: format!("{found:?}"),
        }
    }

    /// How the step ended, or the first thing that happened otherwise.
    fn in_events(expected: &[Event], found: &[Event]) -> Option<Self> {
        if expected.last() != found.last() {
            return Some(Self::between(&expected.last(), &found.last()));
        }
        let longer = expected.len().max(found.len());
        let (expected, found) = (0..longer)
            .map(|index| (expected.get(index), found.get(index)))
            .find(|(expected, found)| expected != found)?;
        Some(Self::between(&expected, &found))
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

impl<S: System> Running<S> {
    pub fn new<const T: bool>(model: &Programs<T>) -> Self {
        let mut running = Self {
            log: Log::default(),
            handles: BTreeMap::new(),
            system: PhantomData,
        };
        running.apply(model).expect("a root is launched");
        running
    }

    /// Does what the reference has done.
    pub fn apply<const T: bool>(&mut self, model: &Programs<T>) -> Result<(), Disagreement> {
        let op = model.op.as_ref().expect("a step");
        let (event, opened) = self.run(model, op);
        self.log.push(event);
        if let Some(disagreement) = Disagreement::in_events(&model.events, &self.log.take()) {
            return Err(disagreement);
        }
        assert_eq!(opened.len(), model.opened.len());
        self.handles
            .extend(model.opened.iter().copied().zip(opened));
        Ok(())
    }

    /// Looks at everything.
    pub fn look<const T: bool>(&self, model: &Programs<T>) -> Result<(), Disagreement> {
        for (id, expected) in model.readings() {
            let found = if model.is_handle(id) {
                self.handles[&id].reading()
            } else {
                let (id, question) = model.look(id);
                let query = self.query(model, &question);
                Reading::Machine(self.handles[&id].machine().0.ask(query))
            };
            if found != expected {
                return Err(Disagreement::between(&(id, expected), &(id, found)));
            }
        }
        let events = self.log.take();
        assert!(events.is_empty(), "looking does nothing: {events:?}");
        Ok(())
    }

    fn run<const T: bool>(&self, model: &Programs<T>, op: &Op) -> (Event, Vec<Handle>) {
        let ask = |at, question| {
            let (id, question) = model.address(at, question);
            let query = self.query(model, &question);
            let (handle, machine) = self.handles[&id].machine();
            (Event::Asked(S::ask_anew(handle, query, machine)), vec![])
        };
        let free = Price {
            loss: 0,
            acts: vec![],
        };
        let opened = match op {
            Op::Ask(id) => return ask(*id, Question::Go),
            Op::Free(thing) => self.open(model, None, &free, thing),
            Op::Launch { at, price, thing } => match thing {
                Thing::Machine(kind) if !model.is_handle(*at) => {
                    return ask(*at, Question::Launch(price.clone(), kind.clone()));
                }
                thing => self.open(model, Some(&self.handles[at]), price, thing),
            },
            Op::Release { at, price, start } => {
                if !model.is_handle(*at) {
                    let question = Question::Release(price.clone(), start.clone());
                    return ask(*at, question);
                }
                let mechanism = self.once(model, price, start);
                S::release(&self.handles[at], &mechanism).map(|()| vec![])
            }
        };
        match opened {
            Ok(handles) => (Event::Launched(Ok(())), handles),
            Err(error) => (Event::Launched(Err(error)), vec![]),
        }
    }

    fn open<const T: bool>(
        &self,
        model: &Programs<T>,
        at: Option<&Handle>,
        price: &Price,
        thing: &Thing,
    ) -> Result<Vec<Handle>, NotLaunched> {
        let while_asked = self.hook(model, &price.acts);
        macro_rules! launched {
            ($mechanism:expr) => {
                launch_at::<S, _>(
                    at,
                    &Stated {
                        loss: epsilon(price.loss),
                        while_asked,
                        mechanism: $mechanism,
                    },
                )?
            };
        }
        Ok(match thing {
            Thing::Compositor(settings) => {
                let Settings { halts, .. } = *settings;
                let budget = epsilon(settings.budget);
                vec![match (settings.odometer, settings.order) {
                    (false, Order::Concurrent) => Handle::ConcurrentFilter(launched!(filter(
                        Filter::concurrent(PureDp, budget),
                        halts
                    ))),
                    (false, Order::Sequential) => Handle::SequentialFilter(launched!(filter(
                        Filter::sequential(PureDp, budget),
                        halts
                    ))),
                    (false, Order::NonInteractive) => Handle::NonInteractiveFilter(launched!(
                        filter(Filter::noninteractive(PureDp, budget), halts)
                    )),
                    (true, Order::Concurrent) => {
                        Handle::ConcurrentOdometer(launched!(Odometer::concurrent(PureDp)))
                    }
                    (true, Order::Sequential) => {
                        Handle::SequentialOdometer(launched!(Odometer::sequential(PureDp)))
                    }
                    (true, Order::NonInteractive) => {
                        Handle::NonInteractiveOdometer(launched!(Odometer::noninteractive(PureDp)))
                    }
                }]
            }
            Thing::Parallel(settings, acts) => {
                let hook = self.hook(model, acts);
                // All rows are in the first part.
                let key = move |row: &u8| {
                    if let (0, Some(hook)) = (row, &hook) {
                        hook();
                    }
                    0_u8
                };
                let budget = epsilon(settings.budget);
                macro_rules! parts {
                    ($filter:expr, $Handle:path) => {{
                        let filter = filter($filter, settings.halts);
                        let filters = [0, 1].map(|part| (part, filter.clone()));
                        let parts = launched!(Parallel::new(key, filters).unwrap());
                        [0, 1].map(|part| $Handle(parts.part(&part).unwrap()))
                    }};
                }
                match settings.order {
                    Order::Concurrent => {
                        parts!(Filter::concurrent(PureDp, budget), Handle::ConcurrentFilter)
                    }
                    Order::Sequential => {
                        parts!(Filter::sequential(PureDp, budget), Handle::SequentialFilter)
                    }
                    Order::NonInteractive => parts!(
                        Filter::noninteractive(PureDp, budget),
                        Handle::NonInteractiveFilter
                    ),
                }
                .into()
            }
            Thing::Machine(kind) => {
                let (mechanism, shared) = S::expose(self.machine(model, kind));
                vec![Handle::Machine(launched!(mechanism), shared)]
            }
        })
    }

    fn machine<const T: bool>(&self, model: &Programs<T>, kind: &Kind) -> Boxed {
        match kind {
            Kind::Leaf(leaf) => boxed(Leaf {
                serial: leaf.serial,
                log: self.log.clone(),
                on_start: self.hook(model, &leaf.on_start),
                on_answer: self.hook(model, &leaf.on_answer),
            }),
            Kind::Relay(id) => {
                let (handle, shared) = self.handles[id].machine();
                S::relay(handle, shared)
            }
            Kind::Nested(settings) => self.nested(*settings),
            Kind::Behind(behind) => {
                let meddler = Meddler {
                    on_clone: self.hook(model, &behind.on_start),
                    before: self.coin_hook(model, &behind.before),
                    again: self.coin_hook(model, &behind.again),
                    pending: false,
                };
                let inner = self.machine(model, &behind.inner);
                boxed(ByPointer(Arc::new(inner.through(meddler))))
            }
        }
    }

    fn nested(&self, settings: Settings) -> Boxed {
        let Settings { halts, .. } = settings;
        let budget = epsilon(settings.budget);
        macro_rules! interactive {
            ($compositor:expr) => {
                boxed(Nested(
                    Addressed::<_, Boxed>::new($compositor),
                    PhantomData::<S>,
                ))
            };
        }
        match (settings.odometer, settings.order) {
            (false, Order::Concurrent) => {
                interactive!(filter(Filter::concurrent(PureDp, budget), halts))
            }
            (false, Order::Sequential) => {
                interactive!(filter(Filter::sequential(PureDp, budget), halts))
            }
            (true, Order::Concurrent) => interactive!(Odometer::concurrent(PureDp)),
            (true, Order::Sequential) => interactive!(Odometer::sequential(PureDp)),
            (false, Order::NonInteractive) => {
                let filter = filter(Filter::noninteractive(PureDp, budget), halts);
                boxed(Nested(Addressed::<_, Once>::new(filter), PhantomData::<S>))
            }
            (true, Order::NonInteractive) => {
                let odometer = Odometer::noninteractive(PureDp);
                boxed(Nested(
                    Addressed::<_, Once>::new(odometer),
                    PhantomData::<S>,
                ))
            }
        }
    }

    fn once<const T: bool>(&self, model: &Programs<T>, price: &Price, start: &Start) -> Once {
        let (inside, mapped) = (&start.inside, &start.mapped);
        once(
            Some((start.serial, self.log.clone())),
            price.loss,
            self.hook(model, &price.acts),
            (
                start.code,
                self.hook(model, inside),
                self.hook(model, mapped),
            ),
        )
    }

    fn query<const T: bool>(&self, model: &Programs<T>, question: &Question) -> Query {
        match question {
            Question::Go => Query::Go,
            Question::Probe => Query::Probe,
            Question::Spent => Query::Spent,
            Question::To(number, question) => {
                Query::To(*number, Box::new(self.query(model, question)))
            }
            Question::Launch(price, kind) => Query::Launch(Boxed::new(
                PureDp,
                Stated {
                    loss: epsilon(price.loss),
                    while_asked: self.hook(model, &price.acts),
                    mechanism: self.machine(model, kind),
                },
            )),
            Question::Release(price, start) => Query::Release(self.once(model, price, start)),
        }
    }

    fn hook<const T: bool>(&self, model: &Programs<T>, acts: &[Act]) -> Option<Hook> {
        let acts = self.acts(model, acts);
        (!acts.is_empty())
            .then(|| -> Hook { Arc::new(move || acts.iter().for_each(|act| act(None))) })
    }

    fn coin_hook<const T: bool>(&self, model: &Programs<T>, acts: &[Act]) -> Option<CoinHook> {
        let acts = self.acts(model, acts);
        (!acts.is_empty()).then(|| -> CoinHook {
            Arc::new(move |coins: &mut Coins<'_>| acts.iter().for_each(|act| act(Some(coins))))
        })
    }

    /// What is done with handles that exist by now, and are held from now on.
    fn acts<const T: bool>(&self, model: &Programs<T>, acts: &[Act]) -> Vec<Deed> {
        acts.iter().map(|act| self.act(model, act)).collect()
    }

    fn act<const T: bool>(&self, model: &Programs<T>, act: &Act) -> Deed {
        let log = self.log.clone();
        let (loss, serial, on_a_thread) = (act.loss, act.serial, act.on_a_thread);
        let Some((id, question)) = model.question_of(act) else {
            let handle = self.handles[&act.at].clone();
            return Box::new(move |_| {
                let mechanism = quiet(Some((serial, log.clone())), loss);
                let launched = if on_a_thread {
                    thread::scope(|scope| {
                        scope.spawn(|| handle.release(&mechanism)).join().unwrap()
                    })
                } else {
                    handle.release(&mechanism)
                };
                log.push(Event::Launched(launched));
            });
        };
        let handle = self.handles[&id].machine().0.clone();
        let (path, what) = way(question);
        Box::new(move |coins| {
            let query = match what {
                Way::Go => Query::Go,
                Way::Launch => Query::Launch(Boxed::new(
                    PureDp,
                    Stated {
                        loss: epsilon(loss),
                        while_asked: None,
                        mechanism: boxed(Leaf::quiet(serial, &log)),
                    },
                )),
                Way::Release => Query::Release(quiet(Some((serial, log.clone())), loss)),
            };
            let query = path
                .iter()
                .rev()
                .fold(query, |query, number| Query::To(*number, Box::new(query)));
            log.push(Event::Asked(S::ask(&handle, query, coins)));
        })
    }
}

/// Something that is done with a handle, again and again.
type Deed = Box<dyn Fn(Option<&mut Coins<'_>>) + Send + Sync>;

#[derive(Clone, Copy)]
enum Way {
    Go,
    Launch,
    Release,
}

/// A question taken apart: through which children it goes, and what it is.
fn way(question: Question) -> (Vec<usize>, Way) {
    match question {
        Question::To(number, question) => {
            let (path, what) = way(*question);
            ([vec![number], path].concat(), what)
        }
        Question::Launch(..) => (vec![], Way::Launch),
        Question::Release(..) => (vec![], Way::Release),
        Question::Go | Question::Probe | Question::Spent => (vec![], Way::Go),
    }
}
