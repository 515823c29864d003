//! The reference: a tree in which every node knows its parent and as which launch it came.
//!
//! Whether something is stopped is worked out anew each time, by walking up the tree. Code that
//! runs on behalf of several nodes carries the list of them, and may go on while none is stopped.

use proptest::strategy::{BoxedStrategy, Strategy};
use proptest_state_machine::ReferenceStateMachine;
use queryables::compose::Refusal;
use queryables::prelude::*;

use super::program::{Act, Id, Kind, Op, Order, Price, Settings, Thing, op, root};

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
    Release(Price, usize, Vec<Act>),
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

// What happens.

impl<const THREADS: bool> Programs<THREADS> {
    /// Decides on a launch, after whatever ran while its price was asked. The context is the
    /// compositor's own for a handle, and that of whoever asked for one inside a machine.
    fn admit(&mut self, at: Id, price: &Price, behalf: &[Id]) -> Result<usize, NotLaunched> {
        self.check(behalf)?;
        self.acts(&price.acts);
        self.check(behalf)?;
        let compositor = self.compositor_mut(at);
        if compositor.halted {
            return Err(LaunchError::Stopped(Stop::Halted));
        }
        let (settings, spent) = (compositor.settings, compositor.spent());
        if !settings.odometer && spent + price.loss > settings.budget {
            compositor.halted = settings.halts;
            return Err(LaunchError::Refused(Refusal {
                spent: epsilon(spent),
                requested: epsilon(price.loss),
                remaining: epsilon(settings.budget - spent),
                limit: epsilon(settings.budget),
            }));
        }
        compositor.losses.push(price.loss);
        Ok(compositor.losses.len() - 1)
    }

    fn add(&mut self, parent: Option<(Id, usize)>) -> Id {
        self.nodes.push(Node {
            parent,
            rows: parent.is_none_or(|(parent, _)| self.nodes[parent].rows),
            what: What::Never,
        });
        self.nodes.len() - 1
    }

    /// The launch of something that answers once.
    fn release(
        &mut self,
        at: Id,
        price: &Price,
        serial: usize,
        on_start: &[Act],
        behalf: &[Id],
    ) -> Result<(), NotLaunched> {
        let launch = self.admit(at, price, behalf)?;
        let child = self.add(Some((at, launch)));
        self.events.push(Event::Started(serial));
        self.acts(on_start);
        // On whose behalf a handle's launch was made does not matter, as it has its own context.
        let behalf = [behalf, &[child]].concat();
        self.check(&behalf).map_err(|_| LaunchError::Failed)
    }

    /// Starts a machine, and says whether it may go on in the end.
    fn start(&mut self, kind: &Kind, behalf: &[Id]) -> Result<(), Stop> {
        match kind {
            Kind::Leaf(serial) => self.events.push(Event::Started(*serial)),
            Kind::Relay(_) | Kind::Nested(_) => {}
            Kind::Behind(behind) => {
                self.acts(&behind.on_start);
                self.check(behalf)?;
                self.start(&behind.inner, behalf)?;
            }
        }
        Ok(())
    }

    fn launch_machine(
        &mut self,
        parent: Option<(Id, usize)>,
        kind: &Kind,
        behalf: &[Id],
    ) -> Result<Id, NotLaunched> {
        let child = self.add(parent);
        let behalf = [behalf, &[child]].concat();
        self.start(kind, &behalf).map_err(|_| LaunchError::Failed)?;
        self.nodes[child].what = What::Machine {
            kind: kind.clone(),
            compositor: nested(kind).map(Compositor::new),
            inside: None,
        };
        Ok(child)
    }

    fn open(&mut self, parent: Option<(Id, usize)>, thing: &Thing) -> Result<(), NotLaunched> {
        match thing {
            Thing::Compositor(settings) => {
                let child = self.add(parent);
                self.nodes[child].what = What::Compositor(Compositor::new(*settings));
                self.opened.push(child);
            }
            Thing::Parallel(settings, acts) => {
                let parts = [0, 1].map(|_| self.add(parent));
                if self.nodes[parts[0]].rows {
                    self.acts(acts);
                }
                self.check(&parts[..1]).map_err(|_| LaunchError::Failed)?;
                for part in parts {
                    self.nodes[part].what = What::Compositor(Compositor::new(*settings));
                    self.opened.push(part);
                }
                // All rows are in the first part.
                self.nodes[parts[1]].rows = false;
            }
            Thing::Machine(kind) => {
                let child = self.launch_machine(parent, kind, &[])?;
                self.opened.push(child);
            }
        }
        Ok(())
    }

    /// Asks a handle, on behalf of others or of nobody.
    fn ask(&mut self, id: Id, question: Question, behalf: &[Id]) -> Result<Answer, AskError> {
        if self.answering.contains(&id) {
            return Err(AskError::Busy);
        }
        self.answering.push(id);
        let answer = self.ask_child(id, question, &[behalf, &[id]].concat());
        self.answering.pop();
        answer
    }

    fn ask_child(&mut self, id: Id, question: Question, behalf: &[Id]) -> Result<Answer, AskError> {
        self.check(behalf)?;
        let What::Machine { kind, .. } = &self.nodes[id].what else {
            unreachable!("only machines are asked");
        };
        let kind = kind.clone();
        Ok(self.step(id, &kind, question, behalf)?)
    }

    fn step(
        &mut self,
        id: Id,
        kind: &Kind,
        question: Question,
        behalf: &[Id],
    ) -> Result<Answer, Fault> {
        match kind {
            Kind::Leaf(serial) => match question {
                Question::Go => {
                    self.events.push(Event::Stepped(*serial));
                    Ok(Answer::Done)
                }
                Question::Probe => Ok(Answer::Done),
                _ => Err(Fault::InvalidQuery(NOT_HERE)),
            },
            Kind::Relay(to) => self
                .ask(*to, question, behalf)
                .map_err(|error| match error {
                    AskError::Fault(fault) => fault,
                    AskError::Stopped(stop) => Fault::Stopped(stop),
                    AskError::Busy => Fault::InvalidQuery(BUSY),
                    error => unreachable!("nothing fails here: {error}"),
                }),
            Kind::Nested(settings) => self.step_nested(id, settings.order, question, behalf),
            Kind::Behind(behind) if question.is_quiet() => {
                self.step(id, &behind.inner, question, behalf)
            }
            Kind::Behind(behind) => {
                self.acts(&behind.before);
                self.check(behalf)?;
                let answer = self.step(id, &behind.inner, question, behalf)?;
                if behind.again.is_empty() {
                    return Ok(answer);
                }
                self.acts(&behind.again);
                self.check(behalf)?;
                self.step(id, &behind.inner, Question::Go, behalf)
            }
        }
    }

    fn step_nested(
        &mut self,
        id: Id,
        order: Order,
        question: Question,
        behalf: &[Id],
    ) -> Result<Answer, Fault> {
        let interactive = order != Order::NonInteractive;
        Ok(match question {
            Question::Spent => Answer::Spent(epsilon(self.compositor(id).unwrap().spent())),
            Question::Go | Question::Probe => {
                let latest = self.compositor(id).unwrap().children.last().copied();
                match latest {
                    Some(child) => self.ask_nested(child, question, behalf),
                    None => Answer::Done,
                }
            }
            Question::To(number, question) if interactive => {
                let child = self.compositor(id).unwrap().children[number];
                self.ask_nested(child, *question, behalf)
            }
            Question::Launch(price, kind) if interactive => {
                match self.launch_nested(id, &price, &kind, behalf) {
                    Ok(number) => Answer::Launched(number),
                    Err(error) => Answer::NotLaunched(error),
                }
            }
            Question::Release(price, serial, on_start) if !interactive => {
                match self.release(id, &price, serial, &on_start, behalf) {
                    Ok(()) => Answer::Done,
                    Err(error) => Answer::NotLaunched(error),
                }
            }
            _ => return Err(Fault::InvalidQuery(NOT_HERE)),
        })
    }

    fn ask_nested(&mut self, child: Id, question: Question, behalf: &[Id]) -> Answer {
        let behalf = [behalf, &[child]].concat();
        self.ask_child(child, question, &behalf)
            .unwrap_or_else(Answer::NotAnswered)
    }

    fn launch_nested(
        &mut self,
        id: Id,
        price: &Price,
        kind: &Kind,
        behalf: &[Id],
    ) -> Result<usize, NotLaunched> {
        let launch = self.admit(id, price, behalf)?;
        let child = self.launch_machine(Some((id, launch)), kind, behalf)?;
        let children = &mut self.compositor_mut(id).children;
        children.push(child);
        let number = children.len() - 1;
        let What::Machine { inside, .. } = &mut self.nodes[child].what else {
            unreachable!("it was launched as a machine");
        };
        *inside = Some((id, number));
        Ok(number)
    }

    /// The handle through which a machine is reached, and the question on its way.
    pub fn address(&self, id: Id, question: Question) -> (Id, Question) {
        match &self.nodes[id].what {
            What::Machine {
                inside: Some((nested, number)),
                ..
            } => self.address(*nested, Question::To(*number, Box::new(question))),
            _ => (id, question),
        }
    }

    /// What an act asks, if it asks a machine.
    pub fn question_of(&self, act: &Act) -> Option<(Id, Question)> {
        let What::Machine { compositor, .. } = &self.nodes[act.at].what else {
            return None;
        };
        let price = Price {
            loss: act.loss,
            acts: vec![],
        };
        let question = match compositor {
            None => Question::Go,
            Some(nested) if nested.settings.order == Order::NonInteractive => {
                Question::Release(price, act.serial, vec![])
            }
            Some(_) => Question::Launch(price, Kind::Leaf(act.serial)),
        };
        Some(self.address(act.at, question))
    }

    /// Asks a machine on behalf of nobody.
    fn ask_anew(&mut self, (id, question): (Id, Question)) -> Result<Answer, AskError> {
        self.ask(id, question, &[])
    }

    fn acts(&mut self, acts: &[Act]) {
        for act in acts {
            let event = match self.question_of(act) {
                Some(question) => Event::Asked(self.ask_anew(question)),
                None => {
                    let price = Price {
                        loss: act.loss,
                        acts: vec![],
                    };
                    Event::Launched(self.release(act.at, &price, act.serial, &[], &[act.at]))
                }
            };
            self.events.push(event);
        }
    }

    fn run(&mut self, op: &Op) {
        let event = match op {
            Op::Free(thing) => Event::Launched(self.open(None, thing)),
            Op::Launch { at, price, thing } => match (self.is_handle(*at), thing) {
                (true, thing) => {
                    let launched = self.admit(*at, price, &[*at]);
                    Event::Launched(
                        launched.and_then(|launch| self.open(Some((*at, launch)), thing)),
                    )
                }
                (false, Thing::Machine(kind)) => {
                    let question = Question::Launch(price.clone(), kind.clone());
                    Event::Asked(self.ask_anew(self.address(*at, question)))
                }
                _ => unreachable!("only machines live inside of machines"),
            },
            Op::Release {
                at,
                price,
                serial,
                on_start,
            } => {
                if self.is_handle(*at) {
                    Event::Launched(self.release(*at, price, *serial, on_start, &[*at]))
                } else {
                    let question = Question::Release(price.clone(), *serial, on_start.clone());
                    Event::Asked(self.ask_anew(self.address(*at, question)))
                }
            }
            Op::Ask(id) => Event::Asked(self.ask_anew(self.address(*id, Question::Go))),
        };
        self.events.push(event);
    }

    pub fn is_handle(&self, id: Id) -> bool {
        matches!(self.nodes[id].what, What::Compositor(_))
    }

    /// What every node would show now.
    pub fn readings(&self) -> Vec<(Id, Reading)> {
        let mut copy = self.clone();
        let readings = (0..self.nodes.len()).filter_map(|id| Some((id, copy.reading(id)?)));
        readings.collect()
    }

    fn reading(&mut self, id: Id) -> Option<Reading> {
        match &self.nodes[id].what {
            What::Never => None,
            What::Compositor(compositor) => {
                let spent = epsilon(compositor.spent());
                let settings = compositor.settings;
                Some(if settings.odometer {
                    let launched = self.stopped(id).map_err(LaunchError::Stopped);
                    let harmless = settings.order == Order::Concurrent;
                    Reading::Odometer {
                        spent,
                        launched: harmless.then_some(launched),
                    }
                } else {
                    Reading::Filter {
                        spent,
                        admits: !compositor.halted && self.stopped(id).is_ok(),
                        halted: compositor.halted,
                    }
                })
            }
            What::Machine { .. } => {
                let question = self.look(id);
                Some(Reading::Machine(self.ask_anew(question)))
            }
        }
    }

    /// A question that changes nothing.
    pub fn look(&self, id: Id) -> (Id, Question) {
        let nested = self.compositor(id).is_some();
        let question = if nested {
            Question::Spent
        } else {
            Question::Probe
        };
        self.address(id, question)
    }
}

// Which nodes the numbers in a program stand for.

impl<const THREADS: bool> Programs<THREADS> {
    fn pick(&self, number: usize, fits: impl Fn(&What) -> bool) -> Option<Id> {
        let fitting = (0..self.nodes.len()).filter(|id| fits(&self.nodes[*id].what));
        let fitting: Vec<_> = fitting.collect();
        (!fitting.is_empty()).then(|| fitting[number % fitting.len()])
    }

    fn named_acts(&mut self, acts: &[Act]) -> Vec<Act> {
        let mut named = vec![];
        for act in acts {
            if let Some(at) = self.pick(act.at, |what| !matches!(what, What::Never)) {
                self.serial += 1;
                named.push(Act {
                    at,
                    serial: self.serial,
                    ..act.clone()
                });
            }
        }
        named
    }

    fn named_price(&mut self, price: &Price) -> Price {
        Price {
            loss: price.loss,
            acts: self.named_acts(&price.acts),
        }
    }

    fn named_kind(&mut self, kind: &Kind) -> Kind {
        self.serial += 1;
        match kind {
            Kind::Leaf(_) => Kind::Leaf(self.serial),
            Kind::Relay(number) => {
                let has_handle = |what: &What| matches!(what, What::Machine { inside: None, .. });
                match self.pick(*number, has_handle) {
                    Some(to) => Kind::Relay(to),
                    None => Kind::Leaf(self.serial),
                }
            }
            Kind::Nested(settings) => Kind::Nested(*settings),
            Kind::Behind(behind) => {
                let mut behind = behind.clone();
                behind.on_start = self.named_acts(&behind.on_start);
                behind.before = self.named_acts(&behind.before);
                behind.again = self.named_acts(&behind.again);
                behind.inner = self.named_kind(&behind.inner);
                Kind::Behind(behind)
            }
        }
    }

    fn named_thing(&mut self, thing: &Thing) -> Thing {
        match thing {
            Thing::Compositor(settings) => Thing::Compositor(*settings),
            Thing::Parallel(settings, acts) => Thing::Parallel(*settings, self.named_acts(acts)),
            Thing::Machine(kind) => Thing::Machine(self.named_kind(kind)),
        }
    }

    fn named(&mut self, op: &Op) -> Op {
        let interactive =
            |compositor: &Compositor| compositor.settings.order != Order::NonInteractive;
        match op {
            Op::Free(thing) => Op::Free(self.named_thing(thing)),
            Op::Launch { at, price, thing } => {
                let thing = self.named_thing(thing);
                let launches = |what: &What| match what {
                    What::Compositor(compositor) => interactive(compositor),
                    What::Machine { compositor, .. } => {
                        compositor.as_ref().is_some_and(interactive)
                    }
                    What::Never => false,
                };
                let Some(at) = self.pick(*at, launches) else {
                    return Op::Free(thing);
                };
                let thing = match thing {
                    Thing::Compositor(settings) | Thing::Parallel(settings, _)
                        if !self.is_handle(at) =>
                    {
                        Thing::Machine(Kind::Nested(settings))
                    }
                    thing => thing,
                };
                let price = self.named_price(price);
                Op::Launch { at, price, thing }
            }
            Op::Release {
                at,
                price,
                on_start,
                ..
            } => {
                let releases = |what: &What| match what {
                    What::Compositor(_) => true,
                    What::Machine { compositor, .. } => compositor
                        .as_ref()
                        .is_some_and(|nested| !interactive(nested)),
                    What::Never => false,
                };
                self.serial += 1;
                Op::Release {
                    at: self.pick(*at, releases).expect("a root"),
                    price: self.named_price(price),
                    serial: self.serial,
                    on_start: self.named_acts(on_start),
                }
            }
            Op::Ask(number) => {
                let machine = |what: &What| matches!(what, What::Machine { .. });
                match self.pick(*number, machine) {
                    Some(id) => Op::Ask(id),
                    None => Op::Free(Thing::Machine(self.named_kind(&Kind::Leaf(0)))),
                }
            }
        }
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
