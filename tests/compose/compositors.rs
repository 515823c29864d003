//! The compositors of the papers, one by one.

use std::sync::{Arc, Mutex};

use crate::common::{Answer, Count, Run, Touches, at, epsilon, pair};
use queryables::compose::{
    Addressed, BoxedMechanism, ConcurrentComposition, Message, Parallel, Reply, Universal,
    UniversalAnswer, UniversalQuery,
};
use queryables::machine::{
    CoinSource, Coins, Fault, NotPrivateSeededCoins, Script, View, interact, truncated_view,
};
use queryables::middle::{LimitQueries, Middle, Move, ThroughExt};
use queryables::prelude::*;

fn rows() -> Arc<Vec<u32>> {
    Arc::new(vec![1, 2, 3, 4, 5])
}

fn coins() -> NotPrivateSeededCoins {
    NotPrivateSeededCoins::new(0)
}

// Sequential: a launch freezes earlier children, recursively.

#[test]
fn a_sequential_launch_freezes_earlier_children_and_theirs() {
    let filter = Filter::sequential(ApproxZCdp, RhoDelta::new("1", "1e-6").unwrap());
    let filter = launch(&filter, rows()).unwrap();
    let loss = RhoDelta::new("0.1", "0").unwrap();
    let child = filter.launch(&at(loss, Count::default())).unwrap();
    assert_eq!(child.ask(()), Ok(1));

    let inner = filter
        .launch(&Filter::sequential(ApproxZCdp, loss))
        .unwrap();
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    let small = RhoDelta::new("0.01", "0").unwrap();
    let grandchild = inner.launch(&at(small, Count::default())).unwrap();
    assert_eq!(grandchild.ask(()), Ok(1));

    // A refused launch freezes nobody.
    let large = RhoDelta::new("2", "0").unwrap();
    let refused = filter.release(&at(large, Answer::default()));
    assert!(matches!(refused, Err(LaunchError::Refused(_))));
    assert_eq!(grandchild.ask(()), Ok(2));

    // Nor does reading.
    assert_eq!(filter.privacy_loss(), RhoDelta::new("0.2", "0").unwrap());
    assert!(filter.would_admit(&loss));
    assert_eq!(grandchild.ask(()), Ok(3));

    // A release is a launch.
    filter.release(&at(loss, Answer::default())).unwrap();
    assert_eq!(grandchild.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    let touches = Touches::default();
    let frozen = inner.release(&at(small, Answer(touches.clone())));
    assert_eq!(frozen, Err(LaunchError::Stopped(Stop::Frozen)));
    assert_eq!(touches.count(), 0);
    assert!(!inner.would_admit(&small));
    // What it has spent is left read.
    assert_eq!(inner.privacy_loss(), small);
}

/// Asks twice for one answer, and does something in between. Keeps all that it hears.
#[derive(Clone)]
struct InBetween {
    act: Arc<dyn Fn() + Send + Sync>,
    heard: Arc<Mutex<Vec<usize>>>,
}

impl Middle<(), usize> for InBetween {
    type OuterQuery = ();
    type OuterAnswer = usize;

    fn on_query(&mut self, (): (), _: &mut Coins<'_>) -> Result<Move<(), usize>, Fault> {
        Ok(Move::Ask(()))
    }

    fn on_answer(&mut self, answer: usize, _: &mut Coins<'_>) -> Result<Move<(), usize>, Fault> {
        let mut heard = self.heard.lock().unwrap();
        heard.push(answer);
        if heard.len().is_multiple_of(2) {
            return Ok(Move::Answer(answer));
        }
        (self.act)();
        Ok(Move::Ask(()))
    }
}

/// A middle that launches a sibling in the middle of an answer has two children open at once, and
/// hears no more of the first.
#[test]
fn a_middle_does_not_talk_on_after_a_freeze() {
    let filter = Filter::sequential(ApproxZCdp, RhoDelta::new("1", "1e-6").unwrap());
    let filter = launch(&filter, rows()).unwrap();
    let loss = RhoDelta::new("0.1", "0").unwrap();
    let heard = Arc::new(Mutex::new(vec![]));
    let through = |act: Arc<dyn Fn() + Send + Sync>| {
        let heard = Arc::clone(&heard);
        at(loss, Count::default().through(InBetween { act, heard }))
    };
    let child = filter.launch(&through(Arc::new(|| ()))).unwrap();
    assert_eq!(child.ask(()), Ok(2));
    assert_eq!(*heard.lock().unwrap(), [1, 2]);

    let sibling = filter.clone();
    let launches = Arc::new(move || {
        sibling.release(&at(loss, Answer::default())).unwrap();
    });
    // At any depth.
    let inner = filter
        .launch(&Filter::sequential(
            ApproxZCdp,
            RhoDelta::new("0.5", "0").unwrap(),
        ))
        .unwrap();
    let child = inner.launch(&through(launches)).unwrap();
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    assert_eq!(*heard.lock().unwrap(), [1, 2, 1]);
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    assert_eq!(filter.launched(), 3);
}

#[test]
fn freezing_goes_through_concurrent_children() {
    let outer = launch(&Filter::sequential(ZCdp, "1".parse().unwrap()), rows()).unwrap();
    let tenth: Rho = "0.1".parse().unwrap();
    let middle = outer
        .launch(&Filter::concurrent(ZCdp, "0.5".parse().unwrap()))
        .unwrap();
    let inner = middle
        .launch(&Filter::concurrent(ZCdp, "0.3".parse().unwrap()))
        .unwrap();
    let one = middle.launch(&at(tenth, Count::default())).unwrap();
    let two = inner.launch(&at(tenth, Count::default())).unwrap();
    // Under the concurrent ones, everybody goes on.
    assert_eq!(
        [one.ask(()), two.ask(()), one.ask(())],
        [Ok(1), Ok(1), Ok(2)]
    );
    outer.release(&at(tenth, Answer::default())).unwrap();
    assert_eq!(
        [one.ask(()), two.ask(())],
        [Err(AskError::Stopped(Stop::Frozen)); 2]
    );
    assert_eq!(
        inner.launch(&at(tenth, Count::default())).unwrap_err(),
        LaunchError::Stopped(Stop::Frozen)
    );
}

#[test]
fn a_halting_filter_below_a_sequential_one_obeys_both() {
    for freeze_first in [false, true] {
        let outer = launch(&Filter::sequential(PureDp, epsilon("1")), rows()).unwrap();
        let inner = outer
            .launch(&Filter::concurrent(PureDp, epsilon("0.5")).halting())
            .unwrap();
        let child = inner.launch(&at(epsilon("0.1"), Count::default())).unwrap();
        assert_eq!(child.ask(()), Ok(1));
        if freeze_first {
            outer
                .release(&at(epsilon("0.1"), Answer::default()))
                .unwrap();
            assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Frozen)));
        } else {
            let over = inner.release(&at(epsilon("0.9"), Answer::default()));
            assert!(matches!(over, Err(LaunchError::Refused(_))));
            assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Halted)));
        }
    }
}

#[test]
fn a_sequential_odometer_freezes_too() {
    let odometer = launch(&Odometer::sequential(ApproxZCdp), rows()).unwrap();
    let loss = RhoDelta::new("0.1", "1e-9").unwrap();
    let child = odometer.launch(&at(loss, Count::default())).unwrap();
    assert_eq!(child.ask(()), Ok(1));
    odometer.release(&at(loss, Answer::default())).unwrap();
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    assert_eq!(
        odometer.privacy_loss(),
        RhoDelta::new("0.2", "2e-9").unwrap()
    );
}

// Concurrent.

#[test]
fn concurrent_children_of_different_types_are_interleaved_and_outlive_their_filter() {
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let count = filter
        .launch(&at(epsilon("0.1"), Count::default()))
        .unwrap();
    let limited = at(epsilon("0.1"), Count::default()).through(LimitQueries::new(2));
    let limited = filter.launch(&limited).unwrap();
    let inner = filter
        .launch(&Filter::concurrent(PureDp, epsilon("0.2")))
        .unwrap();
    let sum = Run::new(|rows: &Vec<u32>| Ok(rows.iter().sum::<u32>()));
    assert_eq!(count.ask(()), Ok(1));
    assert_eq!(limited.ask(()), Ok(1));
    assert_eq!(inner.release(&at(epsilon("0.1"), sum)), Ok(15));
    drop(filter);
    assert_eq!([count.ask(()), limited.ask(())], [Ok(2), Ok(2)]);
    assert_eq!(limited.ask(()), Err(AskError::Fault(Fault::Exhausted)));
    assert_eq!(inner.privacy_loss(), epsilon("0.1"));
    assert_eq!(inner.release(&at(epsilon("0.1"), Answer::default())), Ok(1));
}

#[test]
fn filters_nest_and_each_keeps_its_own_budget() {
    let mut filter = launch(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let root = filter.clone();
    for depth in 1..=9 {
        let budget = Epsilon::from_units(epsilon("1").units() / 10 * (10 - depth)).unwrap();
        let inner = filter.launch(&Filter::concurrent(PureDp, budget)).unwrap();
        assert_eq!(filter.privacy_loss(), budget);
        filter = inner;
    }
    assert_eq!(root.remaining(), epsilon("0.1"));
    assert_eq!(filter.limit(), epsilon("0.1"));
    assert_eq!(
        filter.release(&at(epsilon("0.1"), Answer::default())),
        Ok(1)
    );
}

#[test]
fn a_filter_inside_another_must_have_its_measure_and_distance() {
    let order = |text: &str| Rdp::new(text.parse().unwrap());
    let outer = launch(&Filter::concurrent(order("2"), epsilon("1")), rows()).unwrap();
    let other = Filter::concurrent(order("4"), epsilon("0.1"));
    assert_eq!(
        outer.launch(&other).unwrap_err(),
        LaunchError::UnknownLoss(UnknownLoss("the filter has another measure"))
    );
    assert!(
        outer
            .launch(&Filter::concurrent(order("2"), epsilon("0.1")))
            .is_ok()
    );

    let two = Distance::new(2).unwrap();
    let outer = Filter::concurrent(PureDp, epsilon("1")).at_distance(two);
    let outer = launch(&outer, rows()).unwrap();
    let neighbours = Filter::concurrent(PureDp, epsilon("0.1"));
    outer.launch(&neighbours).unwrap();
    assert_eq!(outer.privacy_loss(), epsilon("0.2"));
    let three = neighbours.at_distance(Distance::new(3).unwrap());
    outer.launch(&three).unwrap();
    assert_eq!(outer.privacy_loss(), epsilon("0.3"));
}

#[test]
fn a_filter_at_a_distance_charges_for_the_group() {
    let two = Distance::new(2).unwrap();
    let filter = Filter::concurrent(ZCdp, "1".parse().unwrap()).at_distance(two);
    let filter = launch(&filter, rows()).unwrap();
    filter
        .release(&at("0.1".parse::<Rho>().unwrap(), Answer::default()))
        .unwrap();
    assert_eq!(filter.privacy_loss(), "0.4".parse().unwrap());
}

#[test]
fn every_measure_with_a_concurrent_theorem_has_a_concurrent_filter() {
    let rho: Rho = "0.5".parse().unwrap();
    let mu: Mu = "0.6".parse().unwrap();
    let rdp = Rdp::new("2".parse().unwrap());
    let grid = RdpGrid::new(["2", "4"].map(|order| order.parse().unwrap())).unwrap();
    let curve = |low: &str, high: &str| grid.curve([epsilon(low), epsilon(high)]).unwrap();

    macro_rules! admits_twice {
        ($measure:expr, $budget:expr, $loss:expr) => {{
            let filter = launch(&Filter::concurrent($measure, $budget), rows()).unwrap();
            let mechanism = at($loss, Answer::default());
            filter.release(&mechanism).unwrap();
            filter.release(&mechanism).unwrap();
            assert_eq!(filter.privacy_loss(), $budget);
            assert!(matches!(
                filter.release(&mechanism),
                Err(LaunchError::Refused(_))
            ));
        }};
    }
    admits_twice!(PureDp, epsilon("1"), epsilon("0.5"));
    admits_twice!(ApproxDp, pair("1", "2e-6"), pair("0.5", "1e-6"));
    admits_twice!(rdp, epsilon("1"), epsilon("0.5"));
    admits_twice!(grid.clone(), curve("1", "3"), curve("0.5", "1.5"));
    admits_twice!(ZCdp, "1".parse::<Rho>().unwrap(), rho);
    // 0.36 + 0.64 = 1: squares add up.
    let filter = launch(&Filter::concurrent(Gdp, "1".parse().unwrap()), rows()).unwrap();
    filter.release(&at(mu, Answer::default())).unwrap();
    assert_eq!(filter.remaining(), "0.8".parse().unwrap());
    filter
        .release(&at("0.8".parse::<Mu>().unwrap(), Answer::default()))
        .unwrap();
    assert_eq!(filter.privacy_loss(), "1".parse().unwrap());
}

#[test]
fn a_curve_of_another_grid_is_no_loss() {
    let grid = RdpGrid::new(["2", "4"].map(|order| order.parse().unwrap())).unwrap();
    let other = RdpGrid::new(["2".parse().unwrap()]).unwrap();
    let filter = Filter::concurrent(grid.clone(), grid.zero());
    let filter = launch(&filter, rows()).unwrap();
    let unknown = UnknownLoss("the stated loss does not belong to the measure");
    assert_eq!(
        filter.release(&at(other.zero(), Answer::default())),
        Err(LaunchError::UnknownLoss(unknown))
    );
    assert!(!filter.would_admit(&other.zero()));
    assert!(filter.would_admit(&grid.zero()));
}

// Non-interactive.

#[test]
fn a_noninteractive_filter_releases() {
    let filter = Filter::noninteractive(ProbabilisticDp, pair("1", "1e-6"));
    let filter = launch(&filter, rows()).unwrap();
    let mechanism = at(pair("0.5", "4e-7"), Answer::default());
    assert_eq!(filter.release(&mechanism), Ok(1));
    assert_eq!(filter.release(&mechanism), Ok(2));
    assert_eq!(filter.remaining(), pair("0", "2e-7"));

    let odometer = launch(&Odometer::noninteractive(ProbabilisticDp), rows()).unwrap();
    odometer.release(&mechanism).unwrap();
    odometer.release(&mechanism).unwrap();
    assert_eq!(odometer.privacy_loss(), pair("1", "8e-7"));
}

// Odometers.

#[test]
fn an_odometer_reads_at_every_distance_that_it_tracks() {
    let [two, three] = [2, 3].map(|steps| Distance::new(steps).unwrap());
    let odometer = Odometer::concurrent(ZCdp).tracking([two, Distance::NEIGHBOURS, two]);
    let odometer = launch(&odometer, rows()).unwrap();
    for rho in ["0.1", "0.2"] {
        let rho: Rho = rho.parse().unwrap();
        odometer.release(&at(rho, Answer::default())).unwrap();
    }
    assert_eq!(odometer.privacy_loss(), "0.3".parse().unwrap());
    assert_eq!(
        odometer.privacy_loss_at(Distance::NEIGHBOURS),
        Some("0.3".parse().unwrap())
    );
    assert_eq!(odometer.privacy_loss_at(two), Some("1.2".parse().unwrap()));
    assert_eq!(odometer.privacy_loss_at(three), None);
}

#[test]
fn an_odometer_counts_all_distances_or_none() {
    let far = Distance::new(1_000_000).unwrap();
    let odometer = launch(&Odometer::concurrent(PureDp).tracking([far]), rows()).unwrap();
    odometer
        .release(&at(epsilon("200000"), Answer::default()))
        .unwrap();
    let overflow = odometer.release(&at(epsilon("200000"), Answer::default()));
    assert_eq!(overflow, Err(LaunchError::Overflow));
    assert_eq!(odometer.privacy_loss(), epsilon("200000"));
    assert_eq!(odometer.privacy_loss_at(far), Some(epsilon("2e11")));
}

#[test]
fn a_mechanism_may_know_better_than_group_privacy() {
    /// Costs the same at every distance.
    #[derive(Clone)]
    struct Flat;

    impl Mechanism<Vec<u32>> for Flat {
        type Machine = Released<()>;

        fn start(&self, _: &Arc<Vec<u32>>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
            Ok(Released(()))
        }
    }

    impl Private<PureDp, AddRemove> for Flat {
        fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
            Ok(epsilon("0.1"))
        }

        fn loss_at(&self, measure: &PureDp, _: Distance) -> Result<Epsilon, UnknownLoss> {
            Private::<PureDp, AddRemove>::loss(self, measure)
        }
    }

    let two = Distance::new(2).unwrap();
    let odometer = launch(&Odometer::concurrent(PureDp).tracking([two]), rows()).unwrap();
    odometer.release(&Flat).unwrap();
    odometer.release(&&Flat).unwrap();
    assert_eq!(odometer.privacy_loss_at(two), Some(epsilon("0.2")));
}

#[test]
fn a_capped_odometer_is_a_filter_and_can_be_launched() {
    let capped = Odometer::concurrent(PureDp).capped(epsilon("0.5"));
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let inner = filter.launch(&capped).unwrap();
    assert_eq!(filter.privacy_loss(), epsilon("0.5"));
    inner
        .release(&at(epsilon("0.5"), Answer::default()))
        .unwrap();
    assert!(matches!(
        inner.release(&at(epsilon("0.1"), Answer::default())),
        Err(LaunchError::Refused(_))
    ));
}

// As single machines.

type Numbered = crate::common::Stated<Epsilon, Count>;

fn numbered(loss: &str) -> Numbered {
    at(epsilon(loss), Count::default())
}

#[test]
fn a_filter_as_one_machine_answers_messages() {
    let filter = Filter::concurrent(PureDp, epsilon("1")).at_most(2);
    let mut machine = Addressed::<_, Numbered>::new(filter)
        .start(&rows(), &mut coins().coins())
        .unwrap();
    let over = LaunchError::Refused(queryables::compose::Refusal {
        spent: epsilon("0.4"),
        requested: epsilon("0.7"),
        remaining: epsilon("0.6"),
        limit: epsilon("1"),
    });
    for (message, reply) in [
        (
            Message::Ask(0, ()),
            Err(Fault::InvalidQuery("no child has this number")),
        ),
        (Message::Launch(numbered("0.4")), Ok(Reply::Launched(0))),
        (
            Message::Launch(numbered("0.7")),
            Ok(Reply::NotLaunched(over)),
        ),
        (Message::Ask(0, ()), Ok(Reply::Answered(1))),
        (Message::Launch(numbered("0.1")), Ok(Reply::Launched(1))),
        (Message::Ask(1, ()), Ok(Reply::Answered(1))),
        (Message::Ask(0, ()), Ok(Reply::Answered(2))),
        (
            Message::Launch(numbered("0.1")),
            Ok(Reply::NotLaunched(LaunchError::CountLimit { limit: 2 })),
        ),
        (Message::PrivacyLoss, Ok(Reply::PrivacyLoss(epsilon("0.5")))),
    ] {
        assert_eq!(machine.step(message, &mut coins().coins()), reply);
    }
}

#[test]
fn a_noninteractive_filter_as_one_machine_answers_launches_at_once() {
    type Once = crate::common::Stated<EpsilonDelta, Answer>;
    let once = |epsilon: &str| Message::Launch(at(pair(epsilon, "0"), Answer::default()));
    let filter = Filter::noninteractive(ProbabilisticDp, pair("1", "0"));
    let odometer = Odometer::noninteractive(ProbabilisticDp);
    let mut filter = Addressed::<_, Once>::new(filter)
        .start(&rows(), &mut coins().coins())
        .unwrap();
    let over = LaunchError::Refused(queryables::compose::Refusal {
        spent: pair("0.7", "0"),
        requested: pair("0.4", "0"),
        remaining: pair("0.3", "0"),
        limit: pair("1", "0"),
    });
    for (message, reply) in [
        (once("0.7"), Reply::Answered(1)),
        (once("0.4"), Reply::NotLaunched(over)),
        (Message::PrivacyLoss, Reply::PrivacyLoss(pair("0.7", "0"))),
    ] {
        assert_eq!(filter.step(message, &mut coins().coins()), Ok(reply));
    }
    // The view of the odometer, truncated (Haney et al. Alg 4, 5).
    let mut odometer = Addressed::<_, Once>::new(odometer)
        .start(&rows(), &mut coins().coins())
        .unwrap();
    let view = truncated_view(
        &mut Script::new([once("0.7"), once("0.2"), once("0.2")]),
        &mut odometer,
        &pair("1", "0"),
        &mut coins(),
        &mut coins(),
        100,
    );
    assert!(
        view.answers()
            .eq(&[Ok(Reply::Answered(1)), Ok(Reply::Answered(1))])
    );
}

#[test]
fn the_messages_of_a_sequential_filter_freeze() {
    let filter = Filter::sequential(PureDp, epsilon("1"));
    let mut machine = Addressed::<_, Numbered>::new(filter)
        .start(&rows(), &mut coins().coins())
        .unwrap();
    let messages = [
        Message::Launch(numbered("0.1")),
        Message::Launch(numbered("0.1")),
        Message::Ask(0, ()),
        Message::Ask(1, ()),
    ];
    let replies = messages.map(|message| machine.step(message, &mut coins().coins()).unwrap());
    assert_eq!(
        replies,
        [
            Reply::Launched(0),
            Reply::Launched(1),
            Reply::NotAnswered(AskError::Stopped(Stop::Frozen)),
            Reply::Answered(1),
        ]
    );
}

#[test]
fn the_view_of_an_odometer_is_truncated_where_its_reading_passes_the_threshold() {
    let script = || {
        Script::new([
            Message::Launch(numbered("0.3")),
            Message::Ask(0, ()),
            Message::Launch(numbered("0.2")),
            Message::Ask(0, ()),
            Message::Launch(numbered("0.1")),
            Message::Ask(1, ()),
        ])
    };
    let start = || {
        Addressed::<_, Numbered>::new(Odometer::concurrent(PureDp))
            .start(&rows(), &mut coins().coins())
            .unwrap()
    };
    let whole: View<_> = interact(&mut script(), &mut start(), &mut coins(), &mut coins(), 100);
    assert_eq!(whole.rounds.len(), 6);
    for (threshold, rounds) in [("0.2", 0), ("0.3", 2), ("0.49", 2), ("0.5", 4), ("0.6", 6)] {
        let truncated = truncated_view(
            &mut script(),
            &mut start(),
            &epsilon(threshold),
            &mut coins(),
            &mut coins(),
            100,
        );
        assert_eq!(truncated.rounds, whole.rounds[..rounds], "{threshold}");
    }
}

// Composition of mechanisms that are started up front.

#[test]
fn concurrent_composition_interleaves_and_adds_up() {
    let both = ConcurrentComposition::new([numbered("0.1"), numbered("0.3")]);
    assert_eq!(
        Private::<PureDp, AddRemove>::loss(&both, &PureDp),
        Ok(epsilon("0.4"))
    );
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let both = filter.launch(&both).unwrap();
    assert_eq!(filter.privacy_loss(), epsilon("0.4"));
    let answers = [0, 1, 0, 0, 1].map(|number| both.ask((number, ())));
    assert_eq!(answers, [1, 1, 2, 3, 2].map(|answer| Ok(Ok(answer))));
    assert_eq!(
        both.ask((2, ())),
        Err(AskError::Fault(Fault::InvalidQuery(
            "no mechanism has this number"
        )))
    );
}

#[test]
fn gaussian_losses_compose_as_squares() {
    let mu = |text: &str| text.parse::<Mu>().unwrap();
    let both = ConcurrentComposition::new(["3", "4"].map(|loss| at(mu(loss), Count::default())));
    assert_eq!(Private::<Gdp, AddRemove>::loss(&both, &Gdp), Ok(mu("5")));
}

#[test]
fn one_that_fails_to_start_fails_them_all() {
    let start = |fails: bool| {
        at(
            epsilon("0.1"),
            Run::new(move |_: &Vec<u32>| if fails { Err(Fault::Failed) } else { Ok(7) }),
        )
    };
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let both = filter.launch(&ConcurrentComposition::new([start(false), start(true)]));
    assert_eq!(both.unwrap_err(), LaunchError::Failed);
    assert_eq!(filter.privacy_loss(), epsilon("0.2"));
}

#[test]
fn one_that_fails_leaves_the_others() {
    type Any = BoxedMechanism<Vec<u32>, PureDp, AddRemove, (), usize>;
    let fails = crate::common::Ask::new(|_: &Vec<u32>, ()| Err::<usize, _>(Fault::Failed));
    let fails: Any = BoxedMechanism::new(at(epsilon("0.1"), fails));
    let both = ConcurrentComposition::new([fails, Any::new(numbered("0.1"))]);
    let both = launch(&both, rows()).unwrap();
    assert_eq!(both.ask((0, ())), Ok(Err(AskError::Fault(Fault::Failed))));
    assert_eq!(both.ask((0, ())), Ok(Err(AskError::Closed)));
    assert_eq!(both.ask((1, ())), Ok(Ok(1)));
}

// Parallel.

#[test]
fn parallel_parts_cost_the_largest_and_are_interleaved() {
    let budgets = [(0, "0.3"), (1, "0.5"), (2, "0.1")];
    let filters = budgets.map(|(key, budget)| (key, Filter::concurrent(PureDp, epsilon(budget))));
    let by_remainder = Parallel::new(|row: &u32| row % 4, filters);
    let whole = launch(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let parts = whole.launch(&by_remainder).unwrap();
    assert_eq!(whole.privacy_loss(), epsilon("0.5"));
    assert!(parts.keys().eq(&[0, 1, 2]));
    assert!(parts.part(&3).is_none());

    let contents = || Run::new(|rows: &Vec<u32>| Ok(rows.clone()));
    let part = |key| parts.part(&key).unwrap();
    let counter = part(1)
        .launch(&at(epsilon("0.2"), Count::default()))
        .unwrap();
    assert_eq!(
        part(0).release(&at(epsilon("0.3"), contents())),
        Ok(vec![4])
    );
    assert_eq!(counter.ask(()), Ok(1));
    // Row 3 is in no part.
    assert_eq!(
        part(1).release(&at(epsilon("0.3"), contents())),
        Ok(vec![1, 5])
    );
    assert_eq!(
        part(2).release(&at(epsilon("0.1"), contents())),
        Ok(vec![2])
    );
    assert_eq!(counter.ask(()), Ok(2));
    // Each part has its own budget, shared by all who hold it.
    assert_eq!(part(1).remaining(), epsilon("0"));
    assert!(matches!(
        part(0).release(&at(epsilon("0.1"), contents())),
        Err(LaunchError::Refused(_))
    ));
    assert_eq!(whole.privacy_loss(), epsilon("0.5"));
}

#[test]
fn parallel_losses_that_cross_cost_their_join() {
    let filters =
        [pair("1", "1e-9"), pair("0.1", "1e-6")].map(|budget| Filter::concurrent(ApproxDp, budget));
    let parallel = Parallel::new(|row: &u32| *row, (0..).zip(filters));
    assert_eq!(parallel.loss(&ApproxDp), Ok(pair("1", "1e-6")));
    // Two rows may lie in two parts: what is left is group privacy, which needs δ = 0.
    assert_eq!(
        parallel.loss_at(&ApproxDp, Distance::new(2).unwrap()),
        Err(UnknownLoss("group privacy with delta > 0 is not offered"))
    );
}

#[test]
fn parallel_parts_freeze_with_what_launched_them() {
    let filters = [(0, Filter::concurrent(PureDp, epsilon("0.5")))];
    let outer = launch(&Filter::sequential(PureDp, epsilon("1")), rows()).unwrap();
    let parts = outer.launch(&Parallel::new(|_: &u32| 0, filters)).unwrap();
    let child = parts.part(&0).unwrap().launch(&numbered("0.1")).unwrap();
    assert_eq!(child.ask(()), Ok(1));
    outer
        .release(&at(epsilon("0.1"), Answer::default()))
        .unwrap();
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Frozen)));
    let frozen = parts.part(&0).unwrap().launch(&numbered("0.1"));
    assert_eq!(frozen.unwrap_err(), LaunchError::Stopped(Stop::Frozen));
}

// Universal.

#[test]
fn a_universal_mechanism_becomes_one_mechanism_within_its_budget() {
    let universal = Universal::new(PureDp, AddRemove, epsilon("0.5"));
    let filter = launch(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
    let place = filter.launch(&universal).unwrap();
    assert_eq!(filter.privacy_loss(), epsilon("0.5"));
    let touches = Touches::default();
    let costing = |loss| UniversalQuery::Become(at(epsilon(loss), Count(touches.clone())));
    assert_eq!(
        place.ask(UniversalQuery::Ask(())),
        Err(AskError::Fault(Fault::InvalidQuery(
            "it has not become a mechanism yet"
        )))
    );
    assert_eq!(
        place.ask(costing("0.6")),
        Err(AskError::Fault(Fault::InvalidQuery(
            "the mechanism's loss is over the budget"
        )))
    );
    assert_eq!(touches.count(), 0);
    assert_eq!(place.ask(costing("0.5")), Ok(UniversalAnswer::Became));
    assert_eq!(
        place.ask(UniversalQuery::Ask(())),
        Ok(UniversalAnswer::Answered(1))
    );
    assert_eq!(
        place.ask(costing("0.1")),
        Err(AskError::Fault(Fault::InvalidQuery(
            "it has become a mechanism already"
        )))
    );
    assert_eq!(
        place.ask(UniversalQuery::Ask(())),
        Ok(UniversalAnswer::Answered(2))
    );
    assert_eq!(filter.privacy_loss(), epsilon("0.5"));
}

// Relations and measures.

#[test]
fn a_relation_of_ones_own() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct OneHousehold;

    impl Relation for OneHousehold {
        const NAME: &'static str = "one household";
    }

    let filter = Filter::concurrent(PureDp, epsilon("1")).under(OneHousehold);
    let filter = launch(&filter, rows()).unwrap();
    let inner = Filter::concurrent(PureDp, epsilon("0.5")).under(OneHousehold);
    let inner = filter.launch(&inner).unwrap();
    assert_eq!(inner.release(&at(epsilon("0.5"), Answer::default())), Ok(1));
    let odometer = launch(&Odometer::concurrent(PureDp).under(OneHousehold), rows()).unwrap();
    assert_eq!(
        odometer.release(&at(epsilon("0.5"), Answer::default())),
        Ok(1)
    );
}

#[test]
fn a_pure_mechanism_is_launched_where_approximate_privacy_is_counted() {
    let filter = launch(&Filter::concurrent(ApproxDp, pair("1", "1e-6")), rows()).unwrap();
    let child = filter
        .launch(&Restated::new(PureDp, numbered("0.25")))
        .unwrap();
    assert_eq!(child.ask(()), Ok(1));
    assert_eq!(filter.privacy_loss(), pair("0.25", "0"));

    let filter = launch(&Filter::concurrent(ZCdp, "1".parse().unwrap()), rows()).unwrap();
    filter
        .launch(&Restated::new(PureDp, numbered("0.2")))
        .unwrap();
    assert_eq!(
        filter.privacy_loss(),
        queryables::privacy::convert::zcdp::pure(epsilon("0.2"))
    );
}
