//! Odometers, at every distance that they track.

use std::sync::Arc;

use super::{numbered, rows};
use crate::common::{Answer, Touches, at, epsilon};
use queryables::machine::{Coins, Fault};
use queryables::number::Rho;
use queryables::prelude::*;
use queryables::privacy::Distance;

#[test]
fn an_odometer_reads_at_every_distance_that_it_tracks() {
    let [two, three] = [2, 3].map(|steps| Distance::new(steps).unwrap());
    let odometer = Odometer::concurrent(ZCdp).tracking([two, Distance::NEIGHBOURS, two]);
    let odometer = start(&odometer, rows()).unwrap();
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

/// Alg 6: a launch leaves the earlier children as they are, and a reading, too.
#[test]
fn the_children_of_an_odometer_are_interleaved() {
    let odometer = start(&Odometer::concurrent(PureDp), rows()).unwrap();
    let first = odometer.launch(&numbered("0.1")).unwrap();
    assert_eq!(first.ask(()), Ok(1));
    let second = odometer.launch(&numbered("0.2")).unwrap();
    assert_eq!((first.ask(()), second.ask(())), (Ok(2), Ok(1)));
    odometer
        .release(&at(epsilon("0.3"), Answer::default()))
        .unwrap();
    assert_eq!(odometer.privacy_loss(), epsilon("0.6"));
    assert_eq!((second.ask(()), first.ask(())), (Ok(2), Ok(3)));
    assert_eq!(odometer.privacy_loss(), epsilon("0.6"));
}

/// Alg 4: every launch is answered at once and charged, whatever came before.
#[test]
fn a_noninteractive_odometer_answers_and_counts() {
    let odometer = start(&Odometer::noninteractive(PureDp), rows()).unwrap();
    for launches in 1..=5_u32 {
        let touches = Touches::default();
        let answer = odometer.release(&at(epsilon("0.1"), Answer(touches.clone())));
        assert!(answer.is_ok(), "{answer:?}");
        assert_eq!(touches.count(), 1);
        let spent = epsilon("0.1").checked_mul(launches.into()).unwrap();
        assert_eq!(odometer.privacy_loss(), spent);
    }
}

#[test]
fn an_odometer_counts_all_distances_or_none() {
    let far = Distance::new(1_000_000).unwrap();
    let odometer = start(&Odometer::concurrent(PureDp).tracking([far]), rows()).unwrap();
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
    let odometer = start(&Odometer::concurrent(PureDp).tracking([two]), rows()).unwrap();
    odometer.release(&Flat).unwrap();
    odometer.release(&&Flat).unwrap();
    assert_eq!(odometer.privacy_loss_at(two), Some(epsilon("0.2")));
}

#[test]
fn a_capped_odometer_is_a_filter_and_can_be_launched() {
    let capped = Odometer::concurrent(PureDp).capped(epsilon("0.5"));
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), rows()).unwrap();
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
