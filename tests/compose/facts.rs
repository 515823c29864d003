//! A mechanism that does not fit what is public about the data is refused before anything is
//! charged, however it is wrapped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::epsilon;
use queryables::compose::{Addressed, BoxedMechanism, Message, Reply};
use queryables::machine::{DomainMismatch, Public, PublicMetadata};
use queryables::prelude::*;

/// Visits on the days from 0 to a horizon that is public.
struct Visits {
    horizon: u32,
    days: Vec<u32>,
}

impl PublicMetadata for Visits {
    type Metadata = u32;

    fn metadata(&self) -> &u32 {
        &self.horizon
    }
}

fn visits() -> Arc<Visits> {
    Arc::new(Visits {
        horizon: 7,
        days: vec![1, 1, 6],
    })
}

/// The number of visits on a day; it counts its starts.
#[derive(Clone)]
struct OnDay(u32, Arc<AtomicUsize>);

impl Mechanism<Visits> for OnDay {
    type Machine = Released<usize>;

    fn start(&self, visits: &Arc<Visits>, _: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Ok(Released(
            visits.days.iter().filter(|day| **day == self.0).count(),
        ))
    }

    fn check(&self, visits: Public<'_, Visits>) -> Result<(), DomainMismatch> {
        if self.0 < *visits.metadata() {
            Ok(())
        } else {
            Err(AFTER)
        }
    }
}

impl Private<PureDp, AddRemove> for OnDay {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(epsilon("0.1"))
    }
}

const AFTER: DomainMismatch = DomainMismatch("the day is after the horizon");

#[test]
fn what_does_not_fit_the_public_facts_is_refused_before_the_charge() {
    type Boxed = BoxedMechanism<Visits, PureDp, AddRemove, (), usize>;
    let touches = Arc::new(AtomicUsize::new(0));
    let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
    let filter = start(&filter, visits()).unwrap();
    assert_eq!(*filter.metadata(), 7);
    let day = OnDay(7, touches.clone());
    let refused = LaunchError::DomainMismatch(AFTER);
    assert_eq!(filter.release(&day), Err(refused.clone()));
    let boxed = filter.launch(&Boxed::new(PureDp, day.clone()));
    assert_eq!(boxed.map(|_| ()), Err(refused.clone()));
    let mapped = day.clone().mapped(|visits: usize| visits > 0);
    assert_eq!(filter.release(&mapped), Err(refused.clone()));
    let odometer = start(&Odometer::concurrent(PureDp), visits()).unwrap();
    assert_eq!(odometer.release(&day), Err(refused.clone()));
    let inside = Addressed::<_, Boxed>::new(Filter::concurrent(PureDp, epsilon("1")));
    let inside = start(&inside, visits()).unwrap();
    assert_eq!(
        inside.ask(Message::Launch(Boxed::new(PureDp, day.clone()))),
        Ok(Reply::NotLaunched(refused))
    );
    assert_eq!(
        start(&day, visits()).map(|_| ()),
        Err(Fault::InvalidQuery(AFTER.0))
    );

    assert_eq!(filter.privacy_loss(), Epsilon::ZERO);
    assert_eq!(odometer.privacy_loss(), Epsilon::ZERO);
    assert_eq!(
        inside.ask(Message::PrivacyLoss),
        Ok(Reply::PrivacyLoss(Epsilon::ZERO))
    );
    assert_eq!(touches.load(Ordering::SeqCst), 0);
    // It did not halt either.
    assert_eq!(filter.release(&OnDay(1, touches)), Ok(2));
}
