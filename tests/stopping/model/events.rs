//! What happens when a program runs.

use queryables::compose::Refusal;
use queryables::machine::Stop;
use queryables::prelude::*;

use super::*;
use crate::program::{Act, Id, Kind, Leaf, Op, Order, Price, Start, Thing};

impl<const THREADS: bool> Programs<THREADS> {
    /// Decides on a launch, after whatever ran while its price was asked. The context is the
    /// compositor's own for a handle, and the caller's for a compositor inside a machine.
    pub fn admit(&mut self, at: Id, price: &Price, behalf: &[Id]) -> Result<usize, NotLaunched> {
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
                set_aside: None,
                requested: epsilon(price.loss),
                remaining: epsilon(settings.budget - spent),
                limit: epsilon(settings.budget),
            }));
        }
        compositor.losses.push(price.loss);
        Ok(compositor.losses.len() - 1)
    }

    pub fn add(&mut self, parent: Option<(Id, usize)>) -> Id {
        self.nodes.push(Node {
            parent,
            rows: parent.is_none_or(|(parent, _)| self.nodes[parent].rows),
            what: What::Never,
        });
        self.nodes.len() - 1
    }

    /// The launch of something that answers once.
    pub fn release(
        &mut self,
        at: Id,
        price: &Price,
        start: &Start,
        behalf: &[Id],
    ) -> Result<(), NotLaunched> {
        let launch = self.admit(at, price, behalf)?;
        let child = self.add(Some((at, launch)));
        // On whose behalf a handle's launch was made does not matter, as it has its own context.
        let behalf = [behalf, &[child]].concat();
        self.events.push(Event::Started(start.serial));
        self.acts_on_rows(child, &start.inside);
        self.check(&behalf).map_err(|_| LaunchError::Failed)?;
        self.acts(&start.mapped);
        self.check(&behalf).map_err(|_| LaunchError::Failed)
    }

    /// Starts a machine, and says whether it may go on in the end.
    pub fn start(&mut self, kind: &Kind, behalf: &[Id]) -> Result<(), Stop> {
        match kind {
            Kind::Leaf(leaf) => {
                self.events.push(Event::Started(leaf.serial));
                let id = *behalf.last().expect("the one that starts");
                self.acts_on_rows(id, &leaf.on_start);
            }
            Kind::Relay(_) | Kind::Nested(_) => {}
            Kind::Behind(behind) => {
                self.acts(&behind.on_start);
                self.check(behalf)?;
                self.start(&behind.inner, behalf)?;
            }
        }
        self.check(behalf)
    }

    pub fn launch_machine(
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

    pub fn open(&mut self, parent: Option<(Id, usize)>, thing: &Thing) -> Result<(), NotLaunched> {
        match thing {
            Thing::Compositor(settings) => {
                let child = self.add(parent);
                self.nodes[child].what = What::Compositor(Compositor::new(*settings));
                self.opened.push(child);
            }
            Thing::Parallel(settings, acts) => {
                let parts = [0, 1].map(|_| self.add(parent));
                self.acts_on_rows(parts[0], acts);
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
    pub fn ask(&mut self, id: Id, question: Question, behalf: &[Id]) -> Result<Answer, AskError> {
        if self.answering.contains(&id) {
            return Err(AskError::Busy);
        }
        self.answering.push(id);
        let answer = self.ask_child(id, question, &[behalf, &[id]].concat());
        self.answering.pop();
        answer
    }

    pub fn ask_child(
        &mut self,
        id: Id,
        question: Question,
        behalf: &[Id],
    ) -> Result<Answer, AskError> {
        self.check(behalf)?;
        let What::Machine { kind, .. } = &self.nodes[id].what else {
            unreachable!("only machines are asked");
        };
        let kind = kind.clone();
        let answer = self.step(id, &kind, question, behalf);
        self.check(behalf)?;
        Ok(answer?)
    }

    pub fn step(
        &mut self,
        id: Id,
        kind: &Kind,
        question: Question,
        behalf: &[Id],
    ) -> Result<Answer, Fault> {
        match kind {
            Kind::Leaf(leaf) => match question {
                Question::Go => {
                    self.events.push(Event::Stepped(leaf.serial));
                    self.acts_on_rows(id, &leaf.on_answer);
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
                // The middle is told only what is still given out.
                let answer = self.step(id, &behind.inner, question, behalf);
                self.check(behalf)?;
                let answer = answer?;
                if behind.again.is_empty() {
                    return Ok(answer);
                }
                self.acts(&behind.again);
                self.check(behalf)?;
                let answer = self.step(id, &behind.inner, Question::Go, behalf);
                self.check(behalf)?;
                answer
            }
        }
    }

    pub fn step_nested(
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
            Question::Release(price, start) if !interactive => {
                match self.release(id, &price, &start, behalf) {
                    Ok(()) => Answer::Done,
                    Err(error) => Answer::NotLaunched(error),
                }
            }
            _ => return Err(Fault::InvalidQuery(NOT_HERE)),
        })
    }

    pub fn ask_nested(&mut self, child: Id, question: Question, behalf: &[Id]) -> Answer {
        let behalf = [behalf, &[child]].concat();
        self.ask_child(child, question, &behalf)
            .unwrap_or_else(Answer::NotAnswered)
    }

    pub fn launch_nested(
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
                Question::Release(price, Start::quiet(act.serial))
            }
            Some(_) => {
                let leaf = Leaf {
                    serial: act.serial,
                    ..Leaf::default()
                };
                Question::Launch(price, Kind::Leaf(leaf))
            }
        };
        Some(self.address(act.at, question))
    }

    /// Asks a machine on behalf of nobody.
    pub fn ask_anew(&mut self, (id, question): (Id, Question)) -> Result<Answer, AskError> {
        self.ask(id, question, &[])
    }

    /// Code that runs for a row, once: where there are none, it does not run.
    pub fn acts_on_rows(&mut self, id: Id, acts: &[Act]) {
        if self.nodes[id].rows {
            self.acts(acts);
        }
    }

    pub fn acts(&mut self, acts: &[Act]) {
        for act in acts {
            let event = match self.question_of(act) {
                Some(question) => Event::Asked(self.ask_anew(question)),
                None => {
                    let price = Price {
                        loss: act.loss,
                        acts: vec![],
                    };
                    let start = Start::quiet(act.serial);
                    Event::Launched(self.release(act.at, &price, &start, &[act.at]))
                }
            };
            self.events.push(event);
        }
    }

    pub fn run(&mut self, op: &Op) {
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
            Op::Release { at, price, start } => {
                if self.is_handle(*at) {
                    Event::Launched(self.release(*at, price, start, &[*at]))
                } else {
                    let question = Question::Release(price.clone(), start.clone());
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

    pub fn reading(&mut self, id: Id) -> Option<Reading> {
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
