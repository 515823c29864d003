//! The conformance kit on OpenDP's compositors, and on a filter of this project that launches OpenDP's
//! measurements. Each test states what the kit finds in OpenDP 0.16, so that it fails when OpenDP changes.

use std::cell::RefCell;
use std::rc::Rc;

use opendp::combinators::{
    CompositionMeasure, make_adaptive_composition, make_fully_adaptive_composition,
    make_privacy_filter,
};
use opendp::core::{Function, Measurement, OdometerQueryable, PrivacyMap};
use opendp::domains::AtomDomain;
use opendp::interactive::Queryable;
use opendp::measures::{Approximate, MaxDivergence, ZeroConcentratedDivergence};
use opendp::metrics::DiscreteDistance;
use opendp::traits::ProductOrd;
use queryables::compose::RunningFilter;
use queryables::prelude::*;
use queryables::verify::conformance::{
    Case, Compositor, Conformance, Launch, Outcome, Probe, Violation,
};
use queryables_opendp::{InDomain, Measured};

use crate::common::epsilon;
use crate::support::{AnyTwo, bit as in_domain, failure};

type Bit = AtomDomain<bool>;
type OnBit<MO, TO> = Measurement<Bit, DiscreteDistance, MO, TO>;
/// A child: OpenDP's compositor of the answers of a probe. Its users cannot write queryables of their own.
type Child<MO> = Queryable<OnBit<MO, u32>, u32>;

/// A measure whose losses add up, and the loss that stands for an ε of the kit. The kit adds; what the sum
/// means is up to the measure.
trait Additive: CompositionMeasure<Distance: Clone + std::fmt::Debug + ProductOrd> + 'static {
    fn stating(loss: Epsilon) -> Self::Distance;
    fn read(loss: Self::Distance) -> Option<Epsilon>;
}

impl Additive for MaxDivergence {
    fn stating(loss: Epsilon) -> f64 {
        loss.to_f64_up()
    }

    fn read(loss: f64) -> Option<Epsilon> {
        Epsilon::at_least(loss).ok()
    }
}

/// It has no theorem for interleaved children.
impl Additive for Approximate<ZeroConcentratedDivergence> {
    fn stating(loss: Epsilon) -> (f64, f64) {
        (loss.to_f64_up(), 0.0)
    }

    fn read((loss, _): (f64, f64)) -> Option<Epsilon> {
        Epsilon::at_least(loss).ok()
    }
}

/// A probe, as what OpenDP launches.
fn measurement<MO: Additive>(probe: &Probe) -> OnBit<MO, Child<MO>> {
    let each = MO::stating(probe.loss_of_one());
    let answers = vec![each; probe.answers() as usize];
    let composed: OnBit<MO, Child<MO>> = make_adaptive_composition(
        Bit::default(),
        DiscreteDistance,
        MO::default(),
        1,
        answers,
    )
    .unwrap();
    let (probe, map) = (probe.clone(), composed.privacy_map.clone());
    let function = Function::new_fallible(move |bit: &bool| {
        probe.start(*bit).map_err(|_| failure("the probe fails"))?;
        composed.invoke(bit)
    });
    Measurement::new(Bit::default(), DiscreteDistance, MO::default(), function, map).unwrap()
}

/// What a child of the probe is asked.
fn question<MO: Additive>(probe: &Probe) -> OnBit<MO, u32> {
    let each = MO::stating(probe.loss_of_one());
    let probe = probe.clone();
    let function = Function::new_fallible(move |bit: &bool| {
        probe.answer(*bit).map_err(|_| failure("no answers are left"))
    });
    let map = PrivacyMap::new(move |_| each.clone());
    Measurement::new(Bit::default(), DiscreteDistance, MO::default(), function, map).unwrap()
}

/// What was started.
struct Children<C>(Vec<(Probe, C)>);

impl<MO: Additive> Children<Child<MO>> {
    fn launched(&mut self, probe: Probe, launched: opendp::error::Fallible<Child<MO>>) -> Launch {
        match launched {
            Ok(child) => {
                self.0.push((probe, child));
                Launch::Started
            }
            // What the analyst reads.
            Err(error) if error.message.as_deref() == Some("the probe fails") => Launch::Failed,
            Err(_) => Launch::Refused,
        }
    }

    fn ask(&mut self, child: usize) -> Option<u32> {
        let (probe, child) = self.0.get_mut(child)?;
        child.eval(&question(probe)).ok()
    }
}

type Adaptive<MO> = OdometerQueryable<OnBit<MO, Child<MO>>, Child<MO>, u32, <MO as opendp::core::Measure>::Distance>;

/// OpenDP's filter, or its odometer.
struct FullyAdaptive<MO: Additive>(Adaptive<MO>, Children<Child<MO>>);

fn odometer<MO: Additive>(bit: bool) -> FullyAdaptive<MO> {
    let odometer =
        make_fully_adaptive_composition(Bit::default(), DiscreteDistance, MO::default()).unwrap();
    FullyAdaptive(odometer.invoke(&bit).unwrap(), Children(vec![]))
}

fn filter<MO: Additive>(bit: bool) -> FullyAdaptive<MO> {
    let odometer =
        make_fully_adaptive_composition(Bit::default(), DiscreteDistance, MO::default()).unwrap();
    let filter = make_privacy_filter(odometer, 1, MO::stating(epsilon("1"))).unwrap();
    FullyAdaptive(filter.invoke(&bit).unwrap(), Children(vec![]))
}

impl<MO: Additive> Compositor for FullyAdaptive<MO> {
    fn launch(&mut self, child: Probe) -> Launch {
        let launched = self.0.invoke(measurement(&child));
        self.1.launched(child, launched)
    }

    fn ask(&mut self, child: usize) -> Option<u32> {
        self.1.ask(child)
    }

    fn reading(&mut self) -> Option<Epsilon> {
        MO::read(self.0.privacy_loss(1).ok()?)
    }
}

/// OpenDP's compositor whose losses are fixed in advance: four quarters.
struct Fixed<MO: Additive>(Queryable<OnBit<MO, Child<MO>>, Child<MO>>, Children<Child<MO>>);

fn fixed<MO: Additive>(bit: bool) -> Fixed<MO> {
    let composed = make_adaptive_composition(
        Bit::default(),
        DiscreteDistance,
        MO::default(),
        1,
        vec![MO::stating(epsilon("0.25")); 4],
    );
    Fixed(composed.unwrap().invoke(&bit).unwrap(), Children(vec![]))
}

impl<MO: Additive> Compositor for Fixed<MO> {
    fn launch(&mut self, child: Probe) -> Launch {
        let launched = self.0.eval(&measurement(&child));
        self.1.launched(child, launched)
    }

    fn ask(&mut self, child: usize) -> Option<u32> {
        self.1.ask(child)
    }

    /// It has none.
    fn reading(&mut self) -> Option<Epsilon> {
        None
    }
}

/// A filter of this project, with children of OpenDP's.
struct Ours(
    RunningFilter<PureDp, InDomain<Bit>, AnyTwo>,
    Children<Rc<RefCell<dyn FnMut() -> Option<u32>>>>,
);

fn ours(bit: bool) -> Ours {
    let filter = Filter::concurrent(PureDp, epsilon("1")).under(AnyTwo);
    Ours(start(&filter, in_domain(bit)).unwrap(), Children(vec![]))
}

impl Compositor for Ours {
    fn launch(&mut self, child: Probe) -> Launch {
        let measured = Measured::new(measurement::<MaxDivergence>(&child));
        match self.0.launch_local(&measured) {
            Ok(running) => {
                let probe = child.clone();
                let ask = move || running.ask(question(&probe)).ok();
                self.1.0.push((child, Rc::new(RefCell::new(ask))));
                Launch::Started
            }
            Err(LaunchError::Failed) => Launch::Failed,
            Err(_) => Launch::Refused,
        }
    }

    fn ask(&mut self, child: usize) -> Option<u32> {
        let (_, child) = self.1.0.get(child)?;
        child.borrow_mut()()
    }

    fn reading(&mut self) -> Option<Epsilon> {
        Some(self.0.privacy_loss())
    }
}

fn kit() -> Conformance {
    Conformance::filter(epsilon("1"))
}

fn violation(kit: &Conformance, start: impl Fn(bool) -> FullyAdaptive<MaxDivergence>, wanted: fn(Violation) -> bool) -> Option<Case> {
    kit.search(start, |outcome| matches!(outcome, Outcome::Violates(found) if wanted(*found)))
}

#[test]
fn explore() {
    let show = |name: &str, case: Option<Case>| match case {
        Some(case) => println!("== {name}\n{case}"),
        None => println!("== {name}: nothing"),
    };
    show("filter touched", violation(&kit(), filter, |v| v == Violation::TouchedData));
    show("filter over", violation(&kit(), filter, |v| matches!(v, Violation::OverBudget{..})));
    show("filter under", violation(&kit(), filter, |v| matches!(v, Violation::UnderRead{..})));
    show("filter other", violation(&kit(), filter, |v| !matches!(v, Violation::UnderRead{..}|Violation::OverBudget{..}|Violation::TouchedData)));
    show("filter differs", kit().search(filter::<MaxDivergence>, |o| matches!(o, Outcome::Differs{..})));
    let od = Conformance::odometer();
    show("odometer viol", violation(&od, odometer, |_| true));
    show("odometer other", violation(&od, odometer, |v| !matches!(v, Violation::UnderRead{..})));
    show("odometer differs", od.search(odometer::<MaxDivergence>, |o| matches!(o, Outcome::Differs{..})));
    let any = |o: &Outcome| matches!(o, Outcome::Violates(_));
    show("fixed viol", kit().search(fixed::<MaxDivergence>, any));
    show("fixed over", kit().search(fixed::<MaxDivergence>, |o| matches!(o, Outcome::Violates(Violation::OverBudget{..}))));
    show("fixed differs", kit().search(fixed::<MaxDivergence>, |o| matches!(o, Outcome::Differs{expected, ..} if !expected.contains("read"))));
    type Z = Approximate<ZeroConcentratedDivergence>;
    show("fixed zcdp seq", kit().sequential().search(fixed::<Z>, any));
    show("fixed zcdp notfrozen", kit().sequential().search(fixed::<Z>, |o| matches!(o, Outcome::Violates(Violation::NotFrozen))));
    show("fixed pure seq", kit().sequential().search(fixed::<MaxDivergence>, |o| matches!(o, Outcome::Violates(Violation::NotFrozen))));
    show("filter zcdp seq", kit().sequential().search(filter::<Z>, any));
    show("odom zcdp seq", od.clone().sequential().search(odometer::<Z>, |o| *o!=Outcome::Conforms));
    show("ours viol", kit().search(ours, any));
    show("ours differs", kit().search(ours, |o| *o!=Outcome::Conforms));
}
