//! A running filter has two forms, the machine and the handle. On random programs both decide,
//! answer, fail and read alike, to the letter: under several rules and measures, both policies and
//! both disciplines, with a limit on launches, with nested filters, with children that fail, panic
//! or state no loss, and after they were stopped from above.

use std::fmt::{Debug, Display};
use std::sync::Arc;

use crate::common::own_rule::OwnRule;
use crate::common::{epsilon, pair};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use queryables::account::{
    Capped, ChildLoss, ContinuationRule, DefaultAccumulator, FixedCount, LaunchesLeft, ThroughZCdp,
    ValidConcurrently, ValidSequentially, WholeLoss,
};
use queryables::compose::{Addressed, FilterMachine, Interactive, Message, Reply, RunningFilter};
use queryables::machine::{
    CoinSource, NotPrivateSeededCoins, Stop, StopToken, Stopper, silence_guarded_panics,
};
use queryables::number::Rho;
use queryables::prelude::*;
use queryables::privacy::{Measure, Relation};
use queryables::queryable::{Child, start_under};

/// What a child does that is out of the ordinary.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Answers,
    FailsToStart,
    PanicsAtItsStart,
    FailsLater,
    PanicsLater,
    Rejects,
    HasNoLoss,
    PanicsAtItsLoss,
}

/// A mechanism with a fate. `ONCE` is non-interactive.
#[derive(Clone, Debug)]
struct Fated<L, const ONCE: bool> {
    fate: Fate,
    loss: L,
}

impl<L: Clone, Me, R, const ONCE: bool> Private<Me, R> for Fated<L, ONCE>
where
    Me: Measure<Loss = L>,
    R: Relation,
{
    fn loss(&self, _: &Me) -> Result<L, UnknownLoss> {
        match self.fate {
            Fate::HasNoLoss => Err(UnknownLoss("nothing is known")),
            Fate::PanicsAtItsLoss => panic!("on purpose"),
            _ => Ok(self.loss.clone()),
        }
    }
}

fn started(fate: Fate) -> Result<Running, Fault> {
    match fate {
        Fate::FailsToStart => Err(Fault::Failed),
        Fate::PanicsAtItsStart => panic!("on purpose"),
        fate => Ok(Running { fate, asked: 0 }),
    }
}

impl<L> Mechanism<()> for Fated<L, true> {
    type Machine = Released<u64>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        started(self.fate).map(|_| Released(7))
    }
}

impl<L> Mechanism<()> for Fated<L, false> {
    type Machine = Running;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Running, Fault> {
        started(self.fate)
    }
}

struct Running {
    fate: Fate,
    asked: u64,
}

impl Machine for Running {
    type Query = ();
    type Answer = u64;

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<u64, Fault> {
        self.asked += 1;
        match (self.fate, self.asked) {
            (Fate::FailsLater, 2..) => Err(Fault::Failed),
            (Fate::PanicsLater, 2..) => panic!("on purpose"),
            (Fate::Rejects, asked) if asked % 2 == 0 => Err(Fault::InvalidQuery("even")),
            (_, asked) => Ok(asked),
        }
    }
}

/// One step of a program. Losses are places in a list, children are counted modulo their number.
#[derive(Clone, Debug)]
enum Step {
    Release(Fate, usize),
    Launch(Fate, usize),
    Admit(usize),
    Ask(usize),
    /// A filter inside, with this budget.
    Nest(usize, bool),
    /// What is said to such a filter.
    Inside(usize, Said),
    /// Whatever both were started under is stopped.
    Stop(Stop),
}

#[derive(Clone, Debug)]
enum Said {
    Launch(Fate, usize),
    Ask(usize),
    Close(usize),
    Spent,
    Remaining,
}

#[derive(Clone, Debug)]
struct Settings {
    rule: usize,
    halts: bool,
    sequential: bool,
    at_most: Option<u64>,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Answers),
        1 => Just(Fate::FailsToStart),
        1 => Just(Fate::PanicsAtItsStart),
        1 => Just(Fate::FailsLater),
        1 => Just(Fate::PanicsLater),
        1 => Just(Fate::Rejects),
        1 => Just(Fate::HasNoLoss),
        1 => Just(Fate::PanicsAtItsLoss),
    ]
}

/// How many losses there are to choose from; the last is over every budget.
const LOSSES: usize = 4;

fn loss() -> impl Strategy<Value = usize> {
    prop_oneof![6 => 0..LOSSES - 1, 1 => Just(LOSSES - 1)]
}

fn step() -> impl Strategy<Value = Step> {
    let said = prop_oneof![
        3 => (fate(), loss()).prop_map(|(fate, loss)| Said::Launch(fate, loss)),
        3 => (0..4_usize).prop_map(Said::Ask),
        1 => (0..4_usize).prop_map(Said::Close),
        1 => Just(Said::Spent),
        1 => Just(Said::Remaining),
    ];
    prop_oneof![
        3 => (fate(), loss()).prop_map(|(fate, loss)| Step::Release(fate, loss)),
        3 => (fate(), loss()).prop_map(|(fate, loss)| Step::Launch(fate, loss)),
        1 => loss().prop_map(Step::Admit),
        3 => (0..6_usize).prop_map(Step::Ask),
        1 => (loss(), any::<bool>()).prop_map(|(budget, halts)| Step::Nest(budget, halts)),
        3 => (0..3_usize, said).prop_map(|(number, said)| Step::Inside(number, said)),
        1 => prop_oneof![Just(Stop::Frozen), Just(Stop::Halted)].prop_map(Step::Stop),
    ]
}

fn program() -> impl Strategy<Value = (Settings, Vec<Step>)> {
    let settings = (
        0..RULES,
        any::<bool>(),
        any::<bool>(),
        prop::option::weighted(0.3, 1..6_u64),
    );
    let settings = settings.prop_map(|(rule, halts, sequential, at_most)| Settings {
        rule,
        halts,
        sequential,
        at_most,
    });
    (settings, prop::collection::vec(step(), 1..20))
}

type Talk<L> = Message<Fated<L, false>, ()>;
type Told<L> = Reply<u64, L>;
type Accumulator<F> = <Children<F> as DefaultAccumulator>::Accumulator;
type Children<F> = <F as queryables::account::Accounting>::Children;
type Inner<F> = Addressed<Filter<Capped<Accumulator<F>>>, Fated<ChildLoss<F>, false>>;
type InnerMachine<F> = <Inner<F> as Mechanism<()>>::Machine;

/// A handle, and the machine beside it.
struct Both<F: ContinuationRule, X>
where
    Children<F>: DefaultAccumulator,
{
    handle: RunningFilter<(), F, AddRemove, X>,
    machine: FilterMachine<(), F, AddRemove, X>,
    children: Vec<(Queryable<(), u64>, Child<Running>)>,
    nested: Vec<Pair<F>>,
    losses: [ChildLoss<F>; LOSSES],
    measure: Children<F>,
    coins: NotPrivateSeededCoins,
    /// Stops both.
    above: (StopToken, Stopper),
}

type Pair<F> = (
    Queryable<Talk<ChildLoss<F>>, Told<ChildLoss<F>>>,
    Child<InnerMachine<F>>,
);

/// Asserts that both are the same, and so are their texts.
macro_rules! same {
    ($by_handle:expr, $by_machine:expr, $what:expr) => {{
        let (by_handle, by_machine) = ($by_handle, $by_machine);
        prop_assert_eq!(&by_handle, &by_machine, "{:?}", $what);
        if let (Err(one), Err(other)) = (by_handle, by_machine) {
            prop_assert_eq!(one.to_string(), other.to_string());
        }
    }};
}

impl<F, X> Both<F, X>
where
    F: ContinuationRule,
    X: Interactive + 'static,
    Children<F>: DefaultAccumulator<Accumulator: ValidConcurrently> + Clone,
    ChildLoss<F>: Display + Debug + PartialEq + Clone + Send + Sync + 'static,
    WholeLoss<F>: Display + Debug + PartialEq,
    Inner<F>: Private<Children<F>, AddRemove>,
    InnerMachine<F>:
        Machine<Query = Talk<ChildLoss<F>>, Answer = Told<ChildLoss<F>>> + Send + 'static,
{
    fn run(
        filter: &Filter<F, AddRemove, X>,
        measure: Children<F>,
        losses: [ChildLoss<F>; LOSSES],
        program: &[Step],
    ) -> Result<(), TestCaseError> {
        let data = Arc::new(());
        let mut coins = NotPrivateSeededCoins::new(7);
        let above = StopToken::default().extended();
        let machine = {
            let coins: &mut Coins<'_> = &mut coins.coins();
            coins.under(&above.0, |coins| filter.start(&data, coins))
        };
        let mut both = Self {
            handle: start_under(filter, Arc::clone(&data), &above.0).unwrap(),
            machine: machine.unwrap(),
            children: vec![],
            nested: vec![],
            losses,
            measure,
            coins,
            above,
        };
        for step in program {
            both.step(step)?;
            both.read(step)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        let loss = |place: &usize| self.losses[*place].clone();
        let mut coins = self.coins.coins();
        match step {
            Step::Release(fate, place) => {
                let (fate, loss) = (*fate, loss(place));
                let once = Fated::<_, true> { fate, loss };
                let (one, other) = (
                    self.handle.release(&once),
                    self.machine.release(&once, &mut coins),
                );
                same!(one, other, step);
            }
            Step::Launch(fate, place) => {
                let (fate, loss) = (*fate, loss(place));
                let often = Fated::<_, false> { fate, loss };
                let one = self.handle.launch(&often);
                let other = self.machine.launch(&often, &mut coins);
                same!(one.as_ref().map(|_| ()), other.as_ref().map(|_| ()), step);
                self.children.extend(one.ok().zip(other.ok()));
            }
            Step::Admit(place) => {
                let one = self.handle.admit(&loss(place));
                let other = self.machine.admit(&loss(place), &coins);
                same!(one.map(|_| ()), other.map(|_| ()), step);
            }
            Step::Ask(number) => {
                let children = self.children.len().max(1);
                if let Some((one, other)) = self.children.get_mut(number % children) {
                    same!(one.ask(()), other.ask((), &mut coins), step);
                }
            }
            Step::Nest(place, halts) => {
                let inner = Filter::concurrent(self.measure.clone(), loss(place));
                let inner = Inner::<F>::new(if *halts { inner.halting() } else { inner });
                let one = self.handle.launch(&inner);
                let other = self.machine.launch(&inner, &mut coins);
                same!(one.as_ref().map(|_| ()), other.as_ref().map(|_| ()), step);
                self.nested.extend(one.ok().zip(other.ok()));
            }
            Step::Inside(number, said) => {
                let talk = || match said {
                    Said::Launch(fate, place) => Message::Launch(Fated {
                        fate: *fate,
                        loss: loss(place),
                    }),
                    Said::Ask(number) => Message::Ask(*number, ()),
                    Said::Close(number) => Message::Close(*number),
                    Said::Spent => Message::PrivacyLoss,
                    Said::Remaining => Message::Remaining,
                };
                let (one, other) = (talk(), talk());
                let nested = self.nested.len().max(1);
                if let Some((handle, child)) = self.nested.get_mut(number % nested) {
                    same!(handle.ask(one), child.ask(other, &mut coins), step);
                }
            }
            Step::Stop(why) => self.above.1.stop(*why),
        }
        Ok(())
    }

    /// Everything that can be read of either.
    fn read(&mut self, step: &Step) -> Result<(), TestCaseError> {
        let coins = self.coins.coins();
        let (handle, machine) = (&self.handle, &mut self.machine);
        prop_assert_eq!(handle.privacy_loss(), machine.privacy_loss(), "{:?}", step);
        prop_assert_eq!(handle.remaining(), machine.remaining(), "{:?}", step);
        // How many launches that cost nothing are left takes long to count.
        let zero = self.measure.zero();
        for loss in self.losses.iter().filter(|loss| **loss != zero) {
            let (fate, loss) = (Fate::Answers, loss.clone());
            let once = Fated::<_, true> { fate, loss };
            let left = |left: LaunchesLeft| left != LaunchesLeft::Exactly(0);
            let one = handle.preview(&once);
            let one = one.map(|preview| (preview.cost().clone(), preview.launches_left()));
            let other = machine.preview(&once, &coins);
            let other = other.map(|preview| (preview.cost().clone(), preview.launches_left()));
            let admits = other.as_ref().is_ok_and(|(_, launches)| left(*launches));
            same!(one, other, step);
            prop_assert_eq!(handle.would_admit(&once.loss), admits, "{:?}", step);
        }
        // A machine says that it has halted by its next decision, which changes nothing.
        if handle.halt().is_some() {
            let stopped = self.above.0.check().and(Err(Stop::Halted));
            let stopped = stopped.map_err(LaunchError::Stopped);
            let decided = machine.admit(&self.losses[0], &coins).map(|_| ());
            prop_assert_eq!(decided, stopped);
        }
        Ok(())
    }
}

/// How many rules there are below.
const RULES: usize = 6;

fn run((settings, program): (Settings, Vec<Step>)) -> Result<(), TestCaseError> {
    let Settings { halts, at_most, .. } = settings;
    macro_rules! under {
        ($rule:expr, $measure:expr, $losses:expr) => {{
            let (rule, measure, losses) = ($rule, $measure, $losses);
            macro_rules! with {
                ($filter:expr) => {{
                    let filter = $filter;
                    let filter = if halts { filter.halting() } else { filter };
                    let filter = match at_most {
                        Some(number) => filter.at_most(number),
                        None => filter,
                    };
                    Both::run(&filter, measure, losses, &program)
                }};
            }
            if settings.sequential {
                with!(Filter::sequential_with(rule))
            } else {
                with!(Filter::concurrent_with(rule))
            }
        }};
    }
    let pure = ["0.1", "0.25", "0", "2"].map(epsilon);
    let pairs = [("0.1", "0"), ("0.25", "1e-7"), ("0", "1e-7"), ("2", "1e-9")];
    let pairs = pairs.map(|(epsilon, delta)| pair(epsilon, delta));
    let budget = pair("1", "1e-6");
    match settings.rule {
        0 => under!(capped(&PureDp, epsilon("1")), PureDp, pure),
        1 => under!(capped(&ApproxDp, budget), ApproxDp, pairs),
        2 => {
            let rho = |text: &str| text.parse::<Rho>().unwrap();
            let losses = ["0.1", "0.25", "0", "2"].map(rho);
            under!(capped(&ZCdp, rho("1")), ZCdp, losses)
        }
        3 => {
            let rule = ThroughZCdp::tight(budget, "5e-7".parse().unwrap()).unwrap();
            under!(rule, ApproxDp, pairs)
        }
        4 => {
            let rule = FixedCount::most(budget, pair("0.25", "1e-7")).unwrap();
            under!(rule, ApproxDp, pairs)
        }
        _ => {
            // Third-party code, and so decided outside the lock.
            let nothing: fn(&Epsilon) = |_| ();
            under!(OwnRule::new(epsilon("1"), nothing), PureDp, pure)
        }
    }
}

fn capped<Me>(measure: &Me, budget: Me::Loss) -> Capped<Me::Accumulator>
where
    Me: DefaultAccumulator<
        Accumulator: ValidSequentially + queryables::account::Accounting<Whole = Me>,
    >,
{
    queryables::account::Accumulator::capped(measure.accumulator(), budget)
}

#[test]
fn they_decide_and_read_alike() {
    silence_guarded_panics();
    let config = ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = match std::env::var_os("CI") {
        Some(_) => {
            TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
        }
        None => TestRunner::new(config),
    };
    runner.run(&program(), run).unwrap();
}
