//! Odometers that keep the privacy maps of what they launch.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{numbered, rows};
use crate::common::epsilon;
use queryables::machine::{CoinSource, Coins, Fault, NotPrivateSeededCoins};
use queryables::prelude::*;
use queryables::privacy::Distance;

/// A privacy map of its own: `base + slope·distance`, up to the distance 100; and it counts how
/// often it is asked.
#[derive(Clone, Default)]
struct Mapped {
    base: u64,
    slope: u64,
    asked: Arc<AtomicU64>,
}

fn mapped(base: u64, slope: u64) -> Mapped {
    Mapped {
        base,
        slope,
        asked: Arc::default(),
    }
}

impl Mechanism<Vec<u32>> for Mapped {
    type Machine = Released<u64>;

    fn start(&self, _: &Arc<Vec<u32>>, _: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        match self.base {
            13 => Err(Fault::Failed),
            base => Ok(Released(base)),
        }
    }
}

const TOO_FAR: UnknownLoss = UnknownLoss("nothing is known beyond 100");

impl Private<PureDp, AddRemove> for Mapped {
    fn loss(&self, measure: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Private::<PureDp, AddRemove>::loss_at(self, measure, Distance::NEIGHBOURS)
    }

    fn loss_at(&self, _: &PureDp, distance: Distance) -> Result<Epsilon, UnknownLoss> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match distance.steps() {
            77 => panic!("no map at 77"),
            steps @ ..=100 => Ok(epsilon(&(self.base + self.slope * steps).to_string())),
            _ => Err(TOO_FAR),
        }
    }
}

fn far(steps: u64) -> Distance {
    Distance::new(steps).unwrap()
}

#[test]
fn kept_maps_are_read_at_any_distance_asked_for_later() {
    let odometer = start(&Odometer::concurrent(PureDp).keeping_maps(), rows()).unwrap();
    assert_eq!(odometer.privacy_loss_at(far(5)), Ok(Epsilon::ZERO));
    assert_eq!(odometer.release(&mapped(1, 0)), Ok(1));
    let child = odometer.launch(&mapped(2, 3)).unwrap();
    assert_eq!(odometer.privacy_loss(), epsilon("6"));
    for (distance, total) in [(1, "6"), (2, "9"), (5, "18"), (100, "303")] {
        assert_eq!(odometer.privacy_loss_at(far(distance)), Ok(epsilon(total)));
    }
    // Group privacy, where the mechanism knows nothing better.
    odometer.launch(&numbered("0.5")).unwrap();
    assert_eq!(odometer.privacy_loss_at(far(5)), Ok(epsilon("20.5")));
    assert_eq!(odometer.clone().privacy_loss(), epsilon("6.5"));
    assert_eq!(child.ask(()), Ok(2));
}

/// A failed start is charged at every distance; what is not admitted leaves nothing behind.
#[test]
fn kept_maps_are_those_of_the_launches_that_were_charged() {
    let odometer = start(&Odometer::concurrent(PureDp).keeping_maps(), rows()).unwrap();
    assert_eq!(odometer.release(&mapped(13, 1)), Err(LaunchError::Failed));
    assert_eq!(odometer.privacy_loss(), epsilon("14"));
    assert_eq!(odometer.privacy_loss_at(far(3)), Ok(epsilon("16")));
    let too_much = mapped(300_000_000_000, 0);
    assert_eq!(odometer.release(&too_much), Ok(300_000_000_000));
    assert_eq!(odometer.release(&too_much), Err(LaunchError::Overflow));
    assert_eq!(
        odometer.privacy_loss_at(far(3)),
        Ok(epsilon("300000000016"))
    );
}

#[test]
fn where_one_map_knows_nothing_there_is_no_reading() {
    let odometer = start(&Odometer::concurrent(PureDp).keeping_maps(), rows()).unwrap();
    odometer.release(&mapped(1, 1)).unwrap();
    assert_eq!(odometer.privacy_loss_at(far(101)), Err(TOO_FAR));
    let failed = UnknownLoss("a privacy map failed at this distance");
    assert_eq!(odometer.privacy_loss_at(far(77)), Err(failed));
    // Neither changes anything.
    assert_eq!(odometer.privacy_loss_at(far(100)), Ok(epsilon("101")));
}

/// A reading at a distance asks each map once; one for neighbours asks none.
#[test]
fn a_reading_at_a_distance_is_linear_in_the_launches() {
    let odometer = start(&Odometer::concurrent(PureDp).keeping_maps(), rows()).unwrap();
    let mechanism = mapped(1, 1);
    let asked = || mechanism.asked.swap(0, Ordering::Relaxed);
    for launches in 1..=20 {
        odometer.release(&mechanism).unwrap();
        assert_eq!(asked(), 1);
        let _ = odometer.privacy_loss();
        assert_eq!(asked(), 0);
        odometer.privacy_loss_at(far(2)).unwrap();
        assert_eq!(asked(), launches);
    }
}

/// The machine that the handle is made of, with explicit coins.
#[test]
fn kept_maps_as_a_machine() {
    let mut source = NotPrivateSeededCoins::new(0);
    let mut coins = source.coins();
    let odometer = Odometer::concurrent(PureDp).keeping_maps();
    let mut machine = odometer.start(&rows(), &mut coins).unwrap();
    assert_eq!(machine.release(&mapped(1, 2), &mut coins), Ok(1));
    let mut child = machine.launch(&mapped(4, 0), &mut coins).unwrap();
    assert_eq!(child.ask((), &mut coins), Ok(4));
    assert_eq!(machine.privacy_loss(), epsilon("7"));
    assert_eq!(machine.privacy_loss_at(far(10)), Ok(epsilon("25")));
}

#[test]
fn an_odometer_that_keeps_maps_freezes_where_it_is_sequential() {
    let odometer = start(&Odometer::sequential(PureDp).keeping_maps(), rows()).unwrap();
    let first = odometer.launch(&numbered("0.1")).unwrap();
    assert_eq!(first.ask(()), Ok(1));
    odometer.launch(&numbered("0.1")).unwrap();
    let frozen = AskError::Stopped(queryables::machine::Stop::Frozen);
    assert_eq!(first.ask(()), Err(frozen));
    assert_eq!(odometer.privacy_loss_at(far(2)), Ok(epsilon("0.4")));
}
