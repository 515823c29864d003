//! Which nodes the numbers in a program stand for.

use super::*;
use crate::program::{Act, Id, Kind, Leaf, Op, Order, Price, Start, Thing};

impl<const THREADS: bool> Programs<THREADS> {
    fn pick(&self, number: usize, fits: impl Fn(&What) -> bool) -> Option<Id> {
        let fitting = (0..self.nodes.len()).filter(|id| fits(&self.nodes[*id].what));
        let fitting: Vec<_> = fitting.collect();
        (!fitting.is_empty()).then(|| fitting[number % fitting.len()])
    }

    /// `home` is the compositor in which the code that acts is launched.
    pub fn named_acts(&mut self, acts: &[Act], home: Option<Id>) -> Vec<Act> {
        let mut named = vec![];
        for act in acts {
            let any = || self.pick(act.at, |what| !matches!(what, What::Never));
            if let Some(at) = home.filter(|_| act.at_home).or_else(any) {
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

    pub fn named_price(&mut self, price: &Price, home: Option<Id>) -> Price {
        Price {
            loss: price.loss,
            acts: self.named_acts(&price.acts, home),
        }
    }

    pub fn named_leaf(&mut self, leaf: &Leaf, home: Option<Id>) -> Leaf {
        self.serial += 1;
        Leaf {
            serial: self.serial,
            on_start: self.named_acts(&leaf.on_start, home),
            on_answer: self.named_acts(&leaf.on_answer, home),
        }
    }

    pub fn named_start(&mut self, start: &Start, home: Option<Id>) -> Start {
        self.serial += 1;
        Start {
            serial: self.serial,
            code: start.code,
            inside: self.named_acts(&start.inside, home),
            mapped: self.named_acts(&start.mapped, home),
        }
    }

    pub fn named_kind(&mut self, kind: &Kind, home: Option<Id>) -> Kind {
        match kind {
            Kind::Leaf(leaf) => Kind::Leaf(self.named_leaf(leaf, home)),
            Kind::Relay(number) => {
                let has_handle = |what: &What| matches!(what, What::Machine { inside: None, .. });
                match self.pick(*number, has_handle) {
                    Some(to) => Kind::Relay(to),
                    None => Kind::Leaf(self.named_leaf(&Leaf::default(), None)),
                }
            }
            Kind::Nested(settings) => Kind::Nested(*settings),
            Kind::Behind(behind) => {
                let mut behind = behind.clone();
                behind.on_start = self.named_acts(&behind.on_start, home);
                behind.before = self.named_acts(&behind.before, home);
                behind.again = self.named_acts(&behind.again, home);
                behind.inner = self.named_kind(&behind.inner, home);
                Kind::Behind(behind)
            }
        }
    }

    pub fn named_thing(&mut self, thing: &Thing, home: Option<Id>) -> Thing {
        match thing {
            Thing::Compositor(settings) => Thing::Compositor(*settings),
            Thing::Parallel(settings, acts) => {
                Thing::Parallel(*settings, self.named_acts(acts, home))
            }
            Thing::Machine(kind) => Thing::Machine(self.named_kind(kind, home)),
        }
    }

    pub fn named(&mut self, op: &Op) -> Op {
        let interactive =
            |compositor: &Compositor| compositor.settings.order != Order::NonInteractive;
        match op {
            Op::Free(thing) => Op::Free(self.named_thing(thing, None)),
            Op::Launch { at, price, thing } => {
                let launches = |what: &What| match what {
                    What::Compositor(compositor) => interactive(compositor),
                    What::Machine { compositor, .. } => {
                        compositor.as_ref().is_some_and(interactive)
                    }
                    What::Never => false,
                };
                let Some(at) = self.pick(*at, launches) else {
                    return Op::Free(self.named_thing(thing, None));
                };
                let thing = self.named_thing(thing, Some(at));
                let thing = match thing {
                    Thing::Compositor(settings) | Thing::Parallel(settings, _)
                        if !self.is_handle(at) =>
                    {
                        Thing::Machine(Kind::Nested(settings))
                    }
                    thing => thing,
                };
                let price = self.named_price(price, Some(at));
                Op::Launch { at, price, thing }
            }
            Op::Release { at, price, start } => {
                let releases = |what: &What| match what {
                    What::Compositor(_) => true,
                    What::Machine { compositor, .. } => compositor
                        .as_ref()
                        .is_some_and(|nested| !interactive(nested)),
                    What::Never => false,
                };
                let at = self.pick(*at, releases).expect("a root");
                Op::Release {
                    at,
                    price: self.named_price(price, Some(at)),
                    start: self.named_start(start, Some(at)),
                }
            }
            Op::Ask(number) => {
                let machine = |what: &What| matches!(what, What::Machine { .. });
                // Half of the time the latest one, which nobody has frozen yet.
                let latest = |id: &Id| machine(&self.nodes[*id].what);
                let latest = (0..self.nodes.len()).rev().find(latest);
                let latest = latest.filter(|_| number % 2 == 0);
                match latest.or_else(|| self.pick(*number, machine)) {
                    Some(id) => Op::Ask(id),
                    None => Op::Free(Thing::Machine(Kind::Leaf(
                        self.named_leaf(&Leaf::default(), None),
                    ))),
                }
            }
        }
    }
}
