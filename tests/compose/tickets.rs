//! Losses that are admitted here for mechanisms that run elsewhere.

use std::sync::Arc;

use crate::common::{Answer, Touches, at, epsilon};
use queryables::machine::{CoinSource, NotPrivateSeededCoins, Stop};
use queryables::prelude::*;
use queryables::privacy::{Distance, Rdp};

fn couple() -> Distance {
    Distance::new(2).unwrap()
}

#[test]
fn a_ticket_is_charged_as_a_launch_is() {
    let loss = epsilon("0.4");
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(())).unwrap();
    let odometer = Odometer::concurrent(PureDp).tracking([couple()]);
    let odometer = start(&odometer, Arc::new(())).unwrap();
    let mechanism = at(loss, Answer(Touches::default()));
    for _ in 0..2 {
        assert_eq!(filter.admit(&loss).unwrap().token().check(), Ok(()));
        assert_eq!(odometer.admit(&loss).unwrap().token().check(), Ok(()));
    }
    odometer.release(&mechanism).unwrap();
    let by_ticket = filter.admit(&loss).map(|_| ()).unwrap_err();
    assert_eq!(by_ticket, filter.release(&mechanism).unwrap_err());
    assert_eq!(filter.privacy_loss(), epsilon("0.8"));
    assert_eq!(odometer.privacy_loss(), epsilon("1.2"));
    assert_eq!(odometer.privacy_loss_at(couple()), Some(epsilon("2.4")));
}

#[test]
fn the_machine_of_an_odometer_gives_tickets_too() {
    let mut source = NotPrivateSeededCoins::new(1);
    let mut coins = source.coins();
    let odometer = Odometer::sequential(PureDp);
    let mut odometer = odometer.start(&Arc::new(()), &mut coins).unwrap();
    let first = odometer.admit(&epsilon("0.25"), &coins).unwrap();
    assert_eq!(first.token().check(), Ok(()));
    let _second = odometer.admit(&epsilon("0.5"), &coins).unwrap();
    assert_eq!(first.token().check(), Err(Stop::Frozen));
    assert_eq!(odometer.privacy_loss(), epsilon("0.75"));
}

#[test]
fn a_later_ticket_freezes_an_earlier_one_and_a_halt_stops_both() {
    let odometer = start(&Odometer::sequential(PureDp), Arc::new(())).unwrap();
    let first = odometer.admit(&epsilon("1")).unwrap();
    let second = odometer.admit(&epsilon("1")).unwrap();
    assert_eq!(first.token().check(), Err(Stop::Frozen));
    assert_eq!(second.token().check(), Ok(()));

    let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
    let filter = start(&filter, Arc::new(())).unwrap();
    let ticket = filter.admit(&epsilon("0.5")).unwrap();
    filter.admit(&epsilon("2")).map(|_| ()).unwrap_err();
    assert_eq!(ticket.token().check(), Err(Stop::Halted));
}

#[test]
fn where_no_group_privacy_is_known_no_ticket_is_given() {
    let measure = Rdp::new("2".parse().unwrap());
    let odometer = Odometer::concurrent(measure).tracking([couple()]);
    let odometer = start(&odometer, Arc::new(())).unwrap();
    let unknown = UnknownLoss("group privacy changes the order of a Rényi guarantee");
    assert_eq!(
        odometer.admit(&epsilon("0.1")).map(|_| ()),
        Err(LaunchError::UnknownLoss(unknown))
    );
    assert_eq!(odometer.privacy_loss(), epsilon("0"));
}

/// Where maps are kept, that of a ticket is group privacy, at whatever distance is asked later.
#[test]
fn an_odometer_that_keeps_maps_reads_a_ticket_by_group_privacy() {
    let odometer = Odometer::concurrent(PureDp).keeping_maps();
    let odometer = start(&odometer, Arc::new(())).unwrap();
    let ticket = odometer.admit(&epsilon("0.4")).unwrap();
    assert_eq!(ticket.token().check(), Ok(()));
    odometer
        .release(&at(epsilon("0.1"), Answer(Touches::default())))
        .unwrap();
    assert_eq!(odometer.privacy_loss(), epsilon("0.5"));
    assert_eq!(odometer.privacy_loss_at(couple()), Ok(epsilon("1")));
    let rdp = Odometer::concurrent(Rdp::new("2".parse().unwrap())).keeping_maps();
    let rdp = start(&rdp, Arc::new(())).unwrap();
    assert!(rdp.admit(&epsilon("0.1")).is_ok());
    let unknown = UnknownLoss("group privacy changes the order of a Rényi guarantee");
    assert_eq!(rdp.privacy_loss_at(couple()), Err(unknown));
}
