//! The conformance kit on OpenDP's compositors, and on a filter of this project that launches OpenDP's
//! measurements. Each test states what the kit finds in OpenDP 0.16, so that it fails when OpenDP changes.

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::sync::Arc;

use opendp::combinators::{
    CompositionMeasure, make_adaptive_composition, make_fully_adaptive_composition,
    make_privacy_filter,
};
use opendp::core::{Function, Measurement, OdometerQueryable, PrivacyMap};
use opendp::domains::AtomDomain;
use opendp::error::{Error, ErrorVariant};
use opendp::interactive::Queryable;
use opendp::measures::{Approximate, MaxDivergence, ZeroConcentratedDivergence};
use opendp::metrics::DiscreteDistance;
use opendp::traits::ProductOrd;
use queryables::account::{Capped, Sum};
use queryables::compose::RunningFilter;
use queryables::prelude::*;
use queryables::privacy::{Distance, Relation};
use queryables::verify::conformance::{
    Case, Compositor, Conformance, Launch, Outcome, Probe, Violation,
};
use queryables_opendp::{InDomain, Measured, Within};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn failure(message: &str) -> Error {
    Error {
        variant: ErrorVariant::FailedFunction,
        message: Some(message.to_owned()),
        backtrace: Backtrace::disabled(),
    }
}

/// Any two values are neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
struct AnyTwo;

impl Relation for AnyTwo {
    const NAME: &'static str = "any two values";
}

impl Within<Bit, DiscreteDistance> for AnyTwo {
    /// Different or not: however many steps, it is one.
    fn d_in(_: &Bit, _: &DiscreteDistance, _: Distance) -> Result<u32, UnknownLoss> {
        Ok(1)
    }
}

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
    let composed: OnBit<MO, Child<MO>> =
        make_adaptive_composition(Bit::default(), DiscreteDistance, MO::default(), 1, answers)
            .unwrap();
    let (probe, map) = (probe.clone(), composed.privacy_map.clone());
    let function = Function::new_fallible(move |bit: &bool| {
        probe.start(*bit).map_err(|_| failure("the probe fails"))?;
        composed.invoke(bit)
    });
    Measurement::new(
        Bit::default(),
        DiscreteDistance,
        MO::default(),
        function,
        map,
    )
    .unwrap()
}

/// What a child of the probe is asked.
fn question<MO: Additive>(probe: &Probe) -> OnBit<MO, u32> {
    let each = MO::stating(probe.loss_of_one());
    let probe = probe.clone();
    let function = Function::new_fallible(move |bit: &bool| {
        probe
            .answer(*bit)
            .map_err(|_| failure("no answers are left"))
    });
    let map = PrivacyMap::new(move |_| each.clone());
    Measurement::new(
        Bit::default(),
        DiscreteDistance,
        MO::default(),
        function,
        map,
    )
    .unwrap()
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

type Adaptive<MO> = OdometerQueryable<
    OnBit<MO, Child<MO>>,
    Child<MO>,
    u32,
    <MO as opendp::core::Measure>::Distance,
>;

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
struct Fixed<MO: Additive>(
    Queryable<OnBit<MO, Child<MO>>, Child<MO>>,
    Children<Child<MO>>,
);

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
    RunningFilter<InDomain<Bit>, Capped<Sum<PureDp>>, AnyTwo>,
    Vec<Box<dyn Fn() -> Option<u32>>>,
);

fn ours(bit: bool) -> Ours {
    let filter = Filter::concurrent(PureDp, epsilon("1")).under(AnyTwo);
    let data = InDomain::new(Bit::default(), bit).unwrap();
    Ours(start(&filter, Arc::new(data)).unwrap(), vec![])
}

impl Compositor for Ours {
    fn launch(&mut self, child: Probe) -> Launch {
        let measured = Measured::new(measurement::<MaxDivergence>(&child));
        match self.0.launch_local(&measured) {
            Ok(running) => {
                let ask = move || running.ask(question(&child)).ok();
                self.1.push(Box::new(ask));
                Launch::Started
            }
            Err(LaunchError::Failed) => Launch::Failed,
            Err(_) => Launch::Refused,
        }
    }

    fn ask(&mut self, child: usize) -> Option<u32> {
        self.1.get(child)?()
    }

    fn reading(&mut self) -> Option<Epsilon> {
        Some(self.0.privacy_loss())
    }
}

fn kit() -> Conformance {
    Conformance::filter(epsilon("1"))
}

type ApproxZCdp = Approximate<ZeroConcentratedDivergence>;

/// The smallest adversary whose outcome is wanted, as it is printed.
fn smallest<C: Compositor>(
    kit: &Conformance,
    start: impl Fn(bool) -> C,
    wanted: fn(&Outcome) -> bool,
) -> String {
    let case: Option<Case> = kit.search(start, wanted);
    case.unwrap().to_string()
}

/// Theirs runs a launch on the data, and then decides.
#[test]
fn a_filter_that_runs_what_it_refuses() {
    let touched = |outcome: &Outcome| *outcome == Outcome::Violates(Violation::TouchedData);
    let adversary = "\
not sound: a child was run on the data, and then refused
  launch #0 (ε = 1, 1 answer): started
  launch #1 (ε = 0.25, 1 answer): refused";
    assert_eq!(
        smallest(&kit(), filter::<MaxDivergence>, touched),
        adversary
    );
    let sequential = kit().sequential();
    assert_eq!(
        smallest(&sequential, filter::<ApproxZCdp>, touched),
        adversary
    );
}

/// Theirs does not charge for a child that fails, though whether it fails may depend on the data.
#[test]
fn a_filter_that_forgets_failed_children() {
    let over =
        |outcome: &Outcome| matches!(outcome, Outcome::Violates(Violation::OverBudget { .. }));
    assert_eq!(
        smallest(&kit(), filter::<MaxDivergence>, over),
        "\
not sound: what was told costs ε = 1.25, and the budget is ε = 1
  launch #0 (ε = 0.75, fails): failed
  launch #1 (ε = 0.5, 1 answer): started
  ask #0: no answer
  ask #1: answered 4"
    );
    // Nor does their odometer.
    let violated = |outcome: &Outcome| matches!(outcome, Outcome::Violates(_));
    assert_eq!(
        smallest(
            &Conformance::odometer(),
            odometer::<MaxDivergence>,
            violated
        ),
        "\
not sound: what was told costs ε = 0.25, and the reading is ε = 0
  launch #0 (ε = 0.25, fails): failed
  ask #0: no answer
  read: ε = 0"
    );
}

/// Besides those two, the kit finds nothing in their filter and odometer: children may be asked in any
/// order, no answer is lost or swapped, and no decision depends on the data.
#[test]
fn nothing_else_is_found_in_the_filter_and_the_odometer() {
    let other = |outcome: &Outcome| {
        use Violation::{OverBudget, TouchedData, UnderRead};
        let known = |violation: &Violation| {
            matches!(
                violation,
                OverBudget { .. } | TouchedData | UnderRead { .. }
            )
        };
        matches!(outcome, Outcome::Violates(found) if !known(found))
    };
    let none = |case: Option<Case>| assert!(case.is_none(), "{}", case.unwrap());
    none(kit().search(filter::<MaxDivergence>, other));
    none(Conformance::odometer().search(odometer::<MaxDivergence>, other));
}

/// Theirs, where children that fail are refused before they are run: then only the arithmetic is left.
struct WithoutFailures<C>(C);

impl<C: Compositor> Compositor for WithoutFailures<C> {
    fn launch(&mut self, child: Probe) -> Launch {
        if child.fails() {
            return Launch::Refused;
        }
        self.0.launch(child)
    }

    fn ask(&mut self, child: usize) -> Option<u32> {
        self.0.ask(child)
    }

    fn reading(&mut self) -> Option<Epsilon> {
        self.0.reading()
    }
}

/// They add floats and round up: not even a loss of 10⁻²⁷ is admitted over the budget or left out of the
/// reading.
#[test]
fn their_sums_of_floats_are_sound() {
    let odometer = |bit| WithoutFailures(odometer::<MaxDivergence>(bit));
    Conformance::odometer().cases(10_000).assert_sound(odometer);
    let filter = |bit| WithoutFailures(filter::<MaxDivergence>(bit));
    let other = |outcome: &Outcome| matches!(outcome, Outcome::Violates(found) if *found != Violation::TouchedData);
    let found = kit().cases(10_000).search(filter, other);
    assert!(found.is_none(), "{}", found.unwrap());
}

/// Counts the answers: "frozen" says nothing about children that never answer.
struct Counted<'a, C>(C, &'a Cell<u32>);

impl<C: Compositor> Compositor for Counted<'_, C> {
    fn launch(&mut self, child: Probe) -> Launch {
        self.0.launch(child)
    }

    fn ask(&mut self, child: usize) -> Option<u32> {
        let answer = self.0.ask(child)?;
        self.1.set(self.1.get() + 1);
        Some(answer)
    }

    fn reading(&mut self) -> Option<Epsilon> {
        self.0.reading()
    }
}

/// Where losses are fixed in advance, theirs is sound: it decides before it runs, a child that fails has
/// used its share, and where there is no theorem for interleaved children, earlier ones are frozen.
#[test]
fn a_compositor_with_losses_fixed_in_advance_is_sound() {
    kit().assert_sound(fixed::<MaxDivergence>);
    let answers = Cell::new(0);
    let counted = |bit| Counted(fixed::<ApproxZCdp>(bit), &answers);
    kit().sequential().assert_sound(counted);
    assert!(answers.get() > 100, "{}", answers.get());
    // The kit does see children that are not frozen.
    let thawed = |outcome: &Outcome| *outcome == Outcome::Violates(Violation::NotFrozen);
    assert_eq!(
        smallest(&kit().sequential(), fixed::<MaxDivergence>, thawed),
        "\
not sound: a child answers after a later launch
  launch #0 (ε = 0.25, 1 answer): started
  launch #1 (ε = 0.25, 1 answer): started
  ask #0: answered 0"
    );
    // And it differs: a launch has its share, and no more, and nothing is read.
    let stricter = |outcome: &Outcome| matches!(outcome, Outcome::Differs { said, .. } if said.starts_with("launch"));
    assert_eq!(
        smallest(&kit(), fixed::<MaxDivergence>, stricter),
        "\
sound, and differs: launch #0: Refused, where the reference says: launch #0: Started
  launch #0 (ε = 0.5, 1 answer): refused
  ask #0: no answer
  read: no reading"
    );
}

/// Of approximate zCDP, interactive children in theirs can be launched and never answer.
#[test]
fn approximate_zcdp_children_never_answer() {
    let differs = |outcome: &Outcome| *outcome != Outcome::Conforms;
    assert_eq!(
        smallest(
            &Conformance::odometer().sequential(),
            odometer::<ApproxZCdp>,
            differs
        ),
        "\
sound, and differs: ask #0: no answer, where the reference says: ask #0: an answer
  launch #0 (ε = 0.25, 1 answer): started
  ask #0: no answer
  read: ε = 0.25"
    );
}

/// Ours, with the same children: the only difference is that what OpenDP calls 0.1 is more than that.
#[test]
fn our_filter_with_their_children_is_sound() {
    kit().assert_sound(ours);
    let differs = |outcome: &Outcome| *outcome != Outcome::Conforms;
    assert_eq!(
        smallest(&kit(), ours, differs),
        "\
sound, and differs: read: ε = 0.100000000000000005551115124, where the reference says: read: ε = 0.1
  launch #0 (ε = 0.1, 1 answer): started
  ask #0: answered 0
  ask #0: no answer
  read: ε = 0.100000000000000005551115124"
    );
}
