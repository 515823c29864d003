//! A launch is decided from public values, and a refusal changes nothing.

use std::sync::Arc;

use super::secret;
use crate::common::{Answer, Count, Touches, at, epsilon, pair};
use queryables::compose::{Halt, Refusal};
use queryables::machine::Stop;
use queryables::prelude::*;
use queryables::privacy::{Distance, Rdp};

// 1. A launch is decided from public values only, before the data is touched.

#[test]
fn a_refused_launch_has_not_touched_the_data() {
    let touches = Touches::default();
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let over = at(epsilon("1.1"), Answer(touches.clone()));
    assert_eq!(
        filter.release(&over),
        Err(LaunchError::Refused(Refusal {
            spent: epsilon("0"),
            set_aside: None,
            requested: epsilon("1.1"),
            remaining: epsilon("1"),
            limit: epsilon("1"),
        }))
    );
    assert_eq!(touches.count(), 0);
    filter
        .release(&at(epsilon("1"), Answer(touches.clone())))
        .unwrap();
    assert_eq!(touches.count(), 1);
}

#[test]
fn a_launch_with_an_unknown_loss_has_not_touched_the_data() {
    let touches = Touches::default();
    let pair_of_rows = Distance::new(2).unwrap();
    let rdp = Rdp::new("4".parse().unwrap());
    let filter = Filter::concurrent(rdp, epsilon("1")).at_distance(pair_of_rows);
    let filter = start(&filter, secret()).unwrap();
    let mechanism = at(epsilon("0.1"), Answer(touches.clone()));
    assert_eq!(
        filter.release(&mechanism),
        Err(LaunchError::UnknownLoss(UnknownLoss(
            "group privacy changes the order of a Rényi guarantee"
        )))
    );
    assert_eq!((touches.count(), filter.privacy_loss()), (0, epsilon("0")));
}

/// Haney et al. 1.10 halts there. Here a mechanism without a price is refused, and the halting filter goes
/// on.
#[test]
fn a_loss_that_is_not_known_does_not_halt() {
    let touches = Touches::default();
    let rdp = Rdp::new("4".parse().unwrap());
    let filter = Filter::concurrent(rdp, epsilon("1")).halting();
    let filter = filter.at_distance(Distance::new(2).unwrap());
    let filter = start(&filter, secret()).unwrap();
    let mechanism = at(epsilon("0.1"), Answer(touches.clone()));
    let unknown = UnknownLoss("group privacy changes the order of a Rényi guarantee");
    for _ in 0..2 {
        assert_eq!(
            filter.release(&mechanism),
            Err(LaunchError::UnknownLoss(unknown))
        );
    }
    assert_eq!(filter.halt(), None);
    assert_eq!((touches.count(), filter.privacy_loss()), (0, epsilon("0")));
}

#[test]
fn a_mechanism_that_panics_when_asked_for_its_loss_is_not_launched() {
    struct Speechless;

    impl Private<PureDp, AddRemove> for Speechless {
        fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
            panic!("no words")
        }
    }

    impl Mechanism<String> for Speechless {
        type Machine = Released<()>;

        fn start(&self, _: &Arc<String>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
            unreachable!("never started")
        }
    }

    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    assert_eq!(
        filter.release(&Speechless),
        Err(LaunchError::UnknownLoss(UnknownLoss(
            "the mechanism failed to state its loss"
        )))
    );
    assert_eq!(filter.release(&at(epsilon("1"), Answer::default())), Ok(1));
}

// 2. A refusal changes nothing and says what it must.

#[test]
fn a_refusal_changes_nothing_and_a_smaller_launch_goes_through() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let child = filter
        .launch(&at(epsilon("0.7"), Count::default()))
        .unwrap();
    let refused = filter.launch(&at(epsilon("0.4"), Count::default()));
    assert_eq!(
        refused.unwrap_err(),
        LaunchError::Refused(Refusal {
            spent: epsilon("0.7"),
            set_aside: None,
            requested: epsilon("0.4"),
            remaining: epsilon("0.3"),
            limit: epsilon("1"),
        })
    );
    assert_eq!(filter.privacy_loss(), epsilon("0.7"));
    assert_eq!(filter.remaining(), epsilon("0.3"));
    assert_eq!(filter.launched(), 1);
    assert_eq!(filter.halt(), None);
    assert!(filter.would_admit(&epsilon("0.3")));
    assert!(!filter.would_admit(&epsilon("0.4")));
    assert_eq!(child.ask(()), Ok(1));
    assert_eq!(
        filter.release(&at(epsilon("0.3"), Answer::default())),
        Ok(1)
    );
    assert_eq!(filter.remaining(), epsilon("0"));
}

#[test]
fn ten_launches_of_a_tenth_fit_in_one_and_the_eleventh_does_not() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1.0")), secret()).unwrap();
    for launches in 1..=10 {
        filter
            .release(&at(Epsilon::try_from(0.1).unwrap(), Answer::default()))
            .unwrap();
        assert_eq!(filter.launched(), launches);
    }
    assert_eq!(filter.privacy_loss(), filter.limit());
    let eleventh = filter.release(&at(epsilon("1e-27"), Answer::default()));
    assert!(matches!(eleventh, Err(LaunchError::Refused(_))));
}

#[test]
fn over_in_one_coordinate_is_over() {
    let filter = start(&Filter::concurrent(ApproxDp, pair("1", "1e-6")), secret()).unwrap();
    for over in [pair("1.1", "0"), pair("0.1", "2e-6")] {
        let touches = Touches::default();
        let refused = filter.release(&at(over, Answer(touches.clone())));
        let zero = pair("0", "0");
        let limit = pair("1", "1e-6");
        assert_eq!(
            refused,
            Err(LaunchError::Refused(Refusal {
                spent: zero,
                set_aside: None,
                requested: over,
                remaining: limit,
                limit,
            }))
        );
        assert_eq!(touches.count(), 0);
        assert_eq!(filter.privacy_loss(), zero);
    }
    assert_eq!(
        filter.release(&at(pair("1", "1e-6"), Answer::default())),
        Ok(1)
    );
}

#[test]
fn after_a_halt_nothing_answers_but_what_was_spent_and_why() {
    let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
    let filter = start(&filter, secret()).unwrap();
    let child = filter
        .launch(&at(epsilon("0.2"), Count::default()))
        .unwrap();
    let inner = filter
        .launch(&Filter::concurrent(PureDp, epsilon("0.3")))
        .unwrap();
    let grandchild = inner.launch(&at(epsilon("0.1"), Count::default())).unwrap();
    assert_eq!((child.ask(()), grandchild.ask(())), (Ok(1), Ok(1)));

    let refusal = Refusal {
        spent: epsilon("0.5"),
        set_aside: None,
        requested: epsilon("0.6"),
        remaining: epsilon("0.5"),
        limit: epsilon("1"),
    };
    let over = filter.release(&at(epsilon("0.6"), Answer::default()));
    assert_eq!(over, Err(LaunchError::Refused(refusal.clone())));

    let touches = Touches::default();
    let small = at(epsilon("0.1"), Answer(touches.clone()));
    assert_eq!(
        filter.release(&small),
        Err(LaunchError::Stopped(Stop::Halted))
    );
    assert_eq!(
        inner.release(&small),
        Err(LaunchError::Stopped(Stop::Halted))
    );
    assert_eq!(touches.count(), 0);
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Halted)));
    assert_eq!(grandchild.ask(()), Err(AskError::Stopped(Stop::Halted)));
    assert!(!filter.would_admit(&epsilon("0")));
    assert!(!inner.would_admit(&epsilon("0")));

    assert_eq!(filter.privacy_loss(), epsilon("0.5"));
    assert_eq!(inner.privacy_loss(), epsilon("0.1"));
    assert_eq!(filter.halt(), Some(Halt::OverBudget(refusal)));
}

#[test]
fn a_filter_that_halts_inside_another_stops_only_its_own() {
    let outer = start(&Filter::concurrent(PureDp, epsilon("1")), secret()).unwrap();
    let sibling = outer.launch(&at(epsilon("0.1"), Count::default())).unwrap();
    let inner = outer
        .launch(&Filter::concurrent(PureDp, epsilon("0.3")).halting())
        .unwrap();
    let child = inner.launch(&at(epsilon("0.1"), Count::default())).unwrap();
    let over = inner.release(&at(epsilon("0.9"), Answer::default()));
    assert!(matches!(over, Err(LaunchError::Refused(_))));
    assert_eq!(child.ask(()), Err(AskError::Stopped(Stop::Halted)));
    assert_eq!(sibling.ask(()), Ok(1));
    assert_eq!(outer.release(&at(epsilon("0.1"), Answer::default())), Ok(1));
}

#[test]
fn a_limit_on_the_number_of_mechanisms_is_kept_by_both_policies() {
    let two = Filter::concurrent(PureDp, epsilon("1")).at_most(2);
    let mechanism = at(epsilon("0.1"), Count::default());
    let limit = LaunchError::CountLimit { limit: 2 };

    let refusing = start(&two, secret()).unwrap();
    let first = refusing.launch(&mechanism).unwrap();
    assert!(refusing.would_admit(&epsilon("0.1")));
    refusing.launch(&mechanism).unwrap();
    assert!(!refusing.would_admit(&epsilon("0.1")));
    assert_eq!(refusing.launch(&mechanism).unwrap_err(), limit);
    assert_eq!(refusing.launch(&mechanism).unwrap_err(), limit);
    assert_eq!(first.ask(()), Ok(1));
    assert_eq!(refusing.privacy_loss(), epsilon("0.2"));

    let halting = start(&two.halting(), secret()).unwrap();
    let first = halting.launch(&mechanism).unwrap();
    halting.launch(&mechanism).unwrap();
    assert_eq!(halting.launch(&mechanism).unwrap_err(), limit);
    assert_eq!(
        halting.launch(&mechanism).unwrap_err(),
        LaunchError::Stopped(Stop::Halted)
    );
    assert_eq!(halting.halt(), Some(Halt::CountLimit { limit: 2 }));
    assert_eq!(first.ask(()), Err(AskError::Stopped(Stop::Halted)));
}
