//! Which nodes the numbers in a program stand for.

use super::*;
use crate::program::{Act, Id, Kind, Op, Order, Price, Thing};

impl<const THREADS: bool> Programs<THREADS> {
    fn pick(&self, number: usize, fits: impl Fn(&What) -> bool) -> Option<Id> {
        let fitting = (0..self.nodes.len()).filter(|id| fits(&self.nodes[*id].what));
        let fitting: Vec<_> = fitting.collect();
        (!fitting.is_empty()).then(|| fitting[number % fitting.len()])
    }

    pub fn named_acts(&mut self, acts: &[Act]) -> Vec<Act> {
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

    pub fn named_price(&mut self, price: &Price) -> Price {
        Price {
            loss: price.loss,
            acts: self.named_acts(&price.acts),
        }
    }

    pub fn named_kind(&mut self, kind: &Kind) -> Kind {
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

    pub fn named_thing(&mut self, thing: &Thing) -> Thing {
        match thing {
            Thing::Compositor(settings) => Thing::Compositor(*settings),
            Thing::Parallel(settings, acts) => Thing::Parallel(*settings, self.named_acts(acts)),
            Thing::Machine(kind) => Thing::Machine(self.named_kind(kind)),
        }
    }

    pub fn named(&mut self, op: &Op) -> Op {
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
