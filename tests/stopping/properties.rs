//! The contract of stopping, on random programs.
//!
//! A start or a question counts at the check after its code. What passed there before the freeze or
//! halt is given out; afterwards, and in whatever runs on behalf of a stopped child, no further check
//! passes, for it and its descendants; and nobody else is disturbed.
//!
//! A program launches filters and odometers in every order of nesting, as handles and inside
//! machines, parallel parts, plain machines, handles wrapped into mechanisms, and middles; and
//! third-party code launches and asks with handles that it holds: in the middle of an answer, while
//! it is cloned or mapped as a child starts, while the loss of a launch is asked for, while rows are
//! sorted into parts, and while predicates, attributes, keys and scores read the rows for a start or
//! an answer. After each step everything that happened and everything that can be
//! seen of every node is compared with the reference.

#[path = "../common/mod.rs"]
mod common;
mod doubles;
mod model;
mod program;
mod system;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use common::own_rule::{BeforeDeciding, OwnRule};
use common::{at, epsilon};
use doubles::{
    AnswersUnchecked, CheckedBeforeOnly, ContextLost, JudgedByTheAsker, RelayEscapes,
    StartsUnchecked,
};
use model::{Event, Programs};
use program::Op;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestError, TestRng, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use queryables::account::Exceeded;
use queryables::compose::{Addressed, Message, RunningFilterOf, Sequential};
use queryables::machine::Stop;
use queryables::prelude::*;
use queryables::queryable::Relay;
use system::{Disagreement, Running, System};

/// How long programs are.
const STEPS: std::ops::Range<usize> = 1..24;

/// How many programs there are.
const CASES: u32 = 2048;

#[derive(Clone, Copy, Debug)]
struct Real;

impl System for Real {}

struct Stopping<const THREADS: bool, S>(PhantomData<S>);

impl<const THREADS: bool, S: System> StateMachineTest for Stopping<THREADS, S> {
    type SystemUnderTest = Running<S>;
    type Reference = Programs<THREADS>;

    fn init_test(model: &Programs<THREADS>) -> Running<S> {
        Running::new(model)
    }

    fn apply(mut running: Running<S>, model: &Programs<THREADS>, _: Op) -> Running<S> {
        running
            .apply(model)
            .unwrap_or_else(|difference| panic!("{difference}"));
        running
    }

    fn check_invariants(running: &Running<S>, model: &Programs<THREADS>) {
        running
            .look(model)
            .unwrap_or_else(|difference| panic!("{difference}"));
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 4096,
        ..ProptestConfig::default()
    }
}

prop_state_machine! {
    #![proptest_config(config(CASES))]

    #[test]
    fn programs_stop_as_the_contract_says(sequential STEPS => Stopping<false, Real>);
}

prop_state_machine! {
    #![proptest_config(config(CASES / 4))]

    #[test]
    fn programs_with_threads_stop_as_the_contract_says(sequential STEPS => Stopping<true, Real>);
}

// The same programs find each of the former defects, with a fixed seed.

/// Runs one program.
fn run<S: System>(mut model: Programs<false>, program: &[Op]) -> Result<(), Disagreement> {
    let mut running = Running::<S>::new(&model);
    for op in program {
        model = Programs::apply(model, op);
        running.apply(&model)?;
        running.look(&model)?;
    }
    Ok(())
}

fn deterministic(cases: u32) -> TestRunner {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config(cases), rng)
}

/// How many programs it takes until one goes wrong, and how the smallest such program does.
fn caught<S: System>() -> (u32, Disagreement) {
    let (cases, found) = (Cell::new(0), RefCell::new(None));
    let programs = Programs::<false>::sequential_strategy(STEPS);
    let result = deterministic(CASES).run(&programs, |(model, program, _)| {
        if found.borrow().is_none() {
            cases.set(cases.get() + 1);
        }
        run::<S>(model, &program).map_err(|disagreement| {
            let reason = TestCaseError::fail(disagreement.to_string());
            found.replace(Some(disagreement));
            reason
        })
    });
    let smallest = match result {
        Err(TestError::Fail(reason, _)) => reason.message().to_owned(),
        other => panic!("nothing was found: {other:?}"),
    };
    println!("after {} programs: {smallest}", cases.get());
    let disagreement = found.into_inner().expect("it was found");
    (cases.get(), disagreement)
}

/// What should be stopped goes on: where a stop is expected there is none, or a leaf is reached.
fn goes_on<S: System>() {
    let (_, Disagreement { expected, found }) = caught::<S>();
    let reached = ["Started(", "Stepped("]
        .iter()
        .any(|leaf| found.contains(leaf));
    assert!(expected.contains("Stopped(") || reached, "{expected}");
    // Unless it is something else that was stopped, on the way.
    let stopped = |event: &str| event.starts_with("Some(Asked(Err(Stopped(");
    assert!(
        !found.contains("Stopped(") || stopped(&expected) && !stopped(&found),
        "{found}"
    );
}

/// With this seed, by the 17th program.
#[test]
fn a_relay_that_is_not_stopped_with_the_original_is_found() {
    goes_on::<RelayEscapes>();
}

/// With this seed, by the 56th program.
#[test]
fn a_check_before_the_loss_and_not_after_is_found() {
    goes_on::<CheckedBeforeOnly>();
}

/// With this seed, by the 119th program.
#[test]
fn a_context_that_is_lost_in_between_is_found() {
    goes_on::<ContextLost>();
}

/// With this seed, by the 10th program.
#[test]
fn an_answer_that_is_not_checked_after_its_code_is_found() {
    goes_on::<AnswersUnchecked>();
}

/// With this seed, by the 6th program.
#[test]
fn a_start_that_is_not_checked_after_its_code_is_found() {
    let (_, Disagreement { expected, found }) = caught::<StartsUnchecked>();
    assert_eq!(expected, "Some(Launched(Err(Failed)))");
    assert_eq!(found, "Some(Launched(Ok(())))");
}

/// With this seed, by the 25th program.
#[test]
fn a_judgement_by_the_context_of_the_asker_is_found() {
    let (_, Disagreement { expected, found }) = caught::<JudgedByTheAsker>();
    assert!(!expected.contains("Stopped("), "{expected}");
    // It is stopped, or does not happen at all.
    assert!(found.contains("Stopped(") || found == "None", "{found}");
}

// And they reach what they are about.

/// How often each of these happens, at least, to handles and to what is inside of machines.
const SEEN: [(&str, usize); 13] = [
    (WITHHELD, 20),
    ("Launched(Ok(()))", 1000),
    ("Launched(Err(Refused(Refusal", 100),
    ("Launched(Err(Stopped(Frozen)))", 100),
    ("Launched(Err(Stopped(Halted)))", 100),
    ("Launched(Err(Failed))", 100),
    ("Asked(Ok(Done))", 1000),
    ("Asked(Err(Stopped(Frozen)))", 100),
    ("Asked(Err(Stopped(Halted)))", 100),
    ("Asked(Err(Busy))", 100),
    ("Asked(Ok(NotAnswered(Stopped(Frozen))))", 10),
    ("Asked(Ok(NotAnswered(Stopped(Halted))))", 10),
    ("Asked(Ok(NotLaunched(Stopped(Halted))))", 5),
];

/// A question that reached a leaf, and was stopped by then.
const WITHHELD: &str = "withheld";

#[test]
fn programs_reach_every_way_to_be_stopped() {
    let mut seen = BTreeMap::<String, usize>::new();
    let programs = Programs::<false>::sequential_strategy(STEPS);
    let mut runner = deterministic(CASES);
    for _ in 0..CASES {
        let (mut model, program, _) = programs.new_tree(&mut runner).unwrap().current();
        for op in &program {
            model = Programs::apply(model, op);
            if let [before @ .., last] = &*model.events
                && let Event::Asked(Err(AskError::Stopped(_))) = last
                && before
                    .iter()
                    .any(|event| matches!(event, Event::Stepped(_)))
            {
                *seen.entry(WITHHELD.to_owned()).or_default() += 1;
            }
            for event in &model.events {
                let event = format!("{event:?}");
                let name = event.split(" {").next().unwrap_or_default();
                *seen.entry(name.to_owned()).or_default() += 1;
            }
        }
    }
    for (event, least) in SEEN {
        let times = seen.get(event).copied().unwrap_or_default();
        println!("{event}: {times}");
        assert!(times >= least, "{event}: only {times} times");
    }
}

// A custom machine may forget to check; a relay inside does not.

/// Launches on the filter that it lives in, and steps a relay.
struct Careless {
    outer: RunningFilterOf<(), PureDp, AddRemove, Sequential>,
    relay: Relay<Queryable<(), usize>>,
}

#[derive(Clone)]
struct StartsCareless(
    RunningFilterOf<(), PureDp, AddRemove, Sequential>,
    Queryable<(), usize>,
);

impl Mechanism<()> for StartsCareless {
    type Machine = Careless;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Careless, Fault> {
        Ok(Careless {
            outer: self.0.clone(),
            relay: Relay(self.1.clone()),
        })
    }
}

impl Machine for Careless {
    type Query = ();
    type Answer = usize;

    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<usize, Fault> {
        let later = at(epsilon("0.1"), common::Answer::default());
        self.outer.release(&later).map_err(|_| Fault::Failed)?;
        self.relay.step((), coins)
    }
}

#[test]
fn a_relay_asks_nothing_for_a_machine_that_was_stopped() {
    let other = start(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(())).unwrap();
    let original = other
        .launch(&at(epsilon("0.1"), common::Count::default()))
        .unwrap();
    let outer = start(&Filter::sequential(PureDp, epsilon("3")), Arc::new(())).unwrap();
    let careless = StartsCareless(outer.clone(), original.clone());
    let careless = outer.launch(&at(epsilon("0.1"), careless)).unwrap();
    assert_eq!(careless.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    // It was not asked before.
    assert_eq!(original.ask(()), Ok(1));
}

// Custom rules are third-party code, too.

/// Launches on a filter around its own as it is asked to decide.
#[derive(Clone, Debug)]
struct Meddling(RunningFilterOf<(), PureDp, AddRemove, Sequential>);

impl BeforeDeciding for Meddling {
    fn before_deciding(&self, _: &Epsilon) -> Result<(), Exceeded> {
        let later = at(epsilon("0.1"), common::Answer::default());
        self.0.release(&later).map_err(|_| Exceeded)?;
        Ok(())
    }
}

#[test]
fn a_rule_that_freezes_its_own_filter_admits_nothing() {
    let outer = Filter::sequential(PureDp, epsilon("3"));
    let outer = start(&outer, Arc::new(())).unwrap();
    let rule = OwnRule::new(epsilon("1"), Meddling(outer.clone()));
    let inner = || Filter::concurrent_with(rule.clone());
    let mechanism = at(epsilon("0.1"), common::Count::default());
    let stopped = LaunchError::Stopped(Stop::Frozen);

    let filter = outer.launch(&inner()).unwrap();
    let launched = filter.launch(&mechanism).map(|_| ());
    assert_eq!(launched, Err(stopped));
    assert_eq!(filter.privacy_loss(), Epsilon::ZERO);

    // As a machine, too.
    let nested = outer.launch(&Addressed::new(inner())).unwrap();
    let launch = Message::Launch(mechanism);
    assert_eq!(nested.ask(launch), Err(AskError::Stopped(Stop::Frozen)));
}
