//! What a launch would cost, before it is made.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use queryables::account::LaunchesLeft;
use queryables::compose::AnyFilter;
use queryables::data::Predicate;
use queryables::machine::{CoinSource, NotPrivateSeededCoins, Stop};
use queryables::mechanisms::{Accuracy, Count};
use queryables::prelude::*;

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// Counts how often the data is touched.
fn counting(touched: &Arc<AtomicU32>, loss: &str) -> queryables::mechanisms::NoisyCount<Vec<u8>> {
    let touched = Arc::clone(touched);
    let all = Predicate::new("all", move |_: &u8| {
        touched.fetch_add(1, Ordering::Relaxed);
        true
    });
    Count::of(all).laplace(epsilon(loss)).unwrap()
}

#[test]
fn asking_touches_nothing_and_the_number_is_what_is_admitted() {
    let touched = Arc::default();
    let count = counting(&touched, "0.3");
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let filter = start(&filter.halting(), Arc::new(vec![1])).unwrap();
    for left in (0..=3).rev() {
        for _ in 0..2 {
            let preview = filter.preview(&count).unwrap();
            assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(left));
            assert_eq!(*preview.cost(), epsilon("0.3"));
        }
        assert_eq!(filter.launched(), 3 - left);
        assert_eq!(touched.load(Ordering::Relaxed), 3 - left as u32);
        // Not even a preview of what is over budget halts it.
        assert_eq!(filter.halt(), None);
        assert_eq!(filter.release(&count).is_ok(), left > 0);
    }
    assert!(filter.halt().is_some());
    let cheap = counting(&touched, "0.1");
    let preview = filter.preview(&cheap).unwrap();
    assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(0));
}

/// Step by step, the machine says what the handle says.
#[test]
fn a_machine_has_the_preview_of_its_handle() {
    let touched = Arc::default();
    let count = counting(&touched, "0.3");
    let filter = Filter::concurrent(PureDp, epsilon("1")).halting();
    let data = Arc::new(vec![1]);
    let handle = start(&filter, Arc::clone(&data)).unwrap();
    let mut source = NotPrivateSeededCoins::new(1);
    let coins: &mut Coins<'_> = &mut source.coins();
    let mut machine = filter.start(&data, coins).unwrap();
    for _ in 0..5 {
        let [one, other] = [
            machine.preview(&count, coins).unwrap(),
            handle.preview(&count).unwrap(),
        ];
        assert_eq!(one.cost(), other.cost());
        assert_eq!(one.launches_left(), other.launches_left());
        let admitted = machine.release(&count, coins).is_ok();
        assert_eq!(admitted, one.launches_left() != LaunchesLeft::Exactly(0));
        assert_eq!(handle.release(&count).is_ok(), admitted);
    }
    // Three launches of each: previews touched nothing.
    assert_eq!(touched.load(Ordering::Relaxed), 6);
    let (token, stopper) = coins.token().extended();
    stopper.stop(Stop::Halted);
    let preview = coins.under(&token, |coins| machine.preview(&count, coins).err());
    assert_eq!(preview, Some(LaunchError::Stopped(Stop::Halted)));
}

#[test]
fn a_limit_on_the_number_of_launches_counts() {
    let touched = Arc::default();
    let count = counting(&touched, "0.1");
    let filter = Filter::concurrent(PureDp, epsilon("1")).at_most(2);
    let filter = start(&filter, Arc::new(vec![1])).unwrap();
    let left = || filter.preview(&count).unwrap().launches_left();
    assert_eq!(left(), LaunchesLeft::Exactly(2));
    filter.release(&count).unwrap();
    assert_eq!(left(), LaunchesLeft::Exactly(1));
}

#[test]
fn what_has_no_loss_has_no_preview() {
    struct Nothing;
    impl Mechanism<Vec<u8>> for Nothing {
        type Machine = Released<()>;

        fn start(&self, _: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
            Ok(Released(()))
        }
    }
    impl Private<PureDp, AddRemove> for Nothing {
        fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
            Err(UnknownLoss("none is known"))
        }
    }
    let outer = Filter::concurrent(PureDp, epsilon("1")).halting();
    let outer = start(&outer, Arc::new(vec![1])).unwrap();
    let inner = outer
        .launch(&Filter::concurrent(PureDp, epsilon("0.5")))
        .unwrap();
    let error = inner.preview(&Nothing).unwrap_err();
    assert_eq!(
        error,
        LaunchError::UnknownLoss(UnknownLoss("none is known"))
    );
    let touched = Arc::default();
    let dear = counting(&touched, "0.6");
    let refused = outer.release(&dear).unwrap_err();
    assert!(matches!(refused, LaunchError::Refused(_)));
    let error = inner.preview(&dear).unwrap_err();
    assert_eq!(error, LaunchError::Stopped(Stop::Halted));
}

#[test]
fn filters_of_any_measure_preview_too() {
    let touched = Arc::default();
    let count = counting(&touched, "0.3");
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(vec![1])).unwrap();
    let any = AnyFilter::from(filter);
    let preview = any.preview(&count).unwrap();
    assert_eq!(preview.cost().get(), Some(&epsilon("0.3")));
    assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(3));
    assert_eq!(preview.accuracy("0.95".parse().unwrap()), 10);
    let zcdp = Filter::concurrent(ZCdp, "0.5".parse().unwrap());
    let zcdp = AnyFilter::from(start(&zcdp, Arc::new(vec![1_u8])).unwrap());
    let all = Predicate::new("all", |_: &u8| true);
    let count = Count::of(all).gaussian(rho!(0.1)).unwrap();
    let preview = zcdp.preview(&count).unwrap();
    assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(5));
}
