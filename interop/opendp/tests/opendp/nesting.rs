//! OpenDP's compositors inside one launch: how deep they may be nested, how far apart datasets may
//! be, and what they reveal to functions that do not meet the conditions of the guarantee.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;

use crate::common::epsilon;
use crate::support::*;
use opendp::core::Function;
use opendp::error::Fallible;
use opendp::interactive::Queryable as OpenDpQueryable;
use opendp::measures::MaxDivergence;
use queryables::prelude::*;
use queryables::privacy::Distance;
use queryables_opendp::Measured;

type Composed = OpenDpQueryable<OnRows<MaxDivergence>, usize>;

/// This number of compositors, each the only child of the one around it.
fn nested(levels: u32) -> OnRows<MaxDivergence> {
    if levels == 0 {
        return stating(0.25, &Tally::default());
    }
    let inner = nested(levels - 1);
    let ask = move |queryable: &Composed| queryable.clone().eval(&inner);
    (composed::<MaxDivergence>(vec![0.25]) >> Function::new_fallible(ask)).unwrap()
}

/// OpenDP's hooks double with each level: without a bound, some more levels end the process.
#[test]
fn compositors_nested_too_deeply_fail_and_the_process_goes_on() {
    let on_a_small_stack = thread::Builder::new().stack_size(1 << 20);
    let answers = on_a_small_stack.spawn(|| {
        let filter = start(&Filter::concurrent(PureDp, epsilon("2")), data()).unwrap();
        let answers = [1, 8, 9, 24].map(|levels| filter.release(&Measured::new(nested(levels))));
        // Many beside each other are not nested.
        let children = composed::<MaxDivergence>(vec![0.0; 1000])
            >> Function::new(|queryable: &Composed| {
                let mut queryable = queryable.clone();
                let free = (composed::<MaxDivergence>(vec![0.0])
                    >> Function::new(|_: &Composed| 1))
                .unwrap();
                (0..1000)
                    .map(|_| queryable.eval(&free).unwrap())
                    .sum::<usize>()
            });
        let beside = filter.release(&Measured::new(children.unwrap()));
        (answers, beside, filter.privacy_loss())
    });
    let failed = Err(LaunchError::Failed);
    assert_eq!(
        answers.unwrap().join().unwrap(),
        (
            [Ok(1), Ok(1), failed.clone(), failed],
            Ok(1000),
            epsilon("1")
        )
    );
}

/// OpenDP's compositor knows its loss at the distance that it was built for, and no further.
#[test]
fn beyond_the_distance_of_a_compositor_group_privacy_is_charged() {
    let two = Distance::new(2).unwrap();
    let number = composed::<MaxDivergence>(vec![0.25]) >> Function::new(|_: &Composed| 0_u8);
    let number = Measured::new(number.unwrap());
    let filter = Filter::concurrent(PureDp, epsilon("1")).at_distance(two);
    let filter = start(&filter, data()).unwrap();
    assert_eq!(filter.release(&number), Ok(0));
    assert_eq!(filter.privacy_loss(), epsilon("0.5"));
    // To replace a row is farther than OpenDP's compositor was built for, even for neighbours.
    let replace = start(
        &Filter::concurrent(PureDp, epsilon("1")).under(Replace),
        data(),
    )
    .unwrap();
    let unknown = UnknownLoss("OpenDP's privacy map has no answer at this distance");
    assert_eq!(
        replace.release(&number),
        Err(LaunchError::UnknownLoss(unknown))
    );
}

/// The limit that the guarantee of `Measured` names: OpenDP's compositors run a measurement before
/// they charge for it (opendp/opendp#958), and charge nothing if a function behind it fails. If that
/// ever changes, the warning goes.
#[test]
fn a_function_that_fails_gets_answers_that_opendp_does_not_charge() {
    let seen: Rc<RefCell<Vec<usize>>> = Rc::default();
    let kept = Rc::clone(&seen);
    let not_total = move |answer: &usize| -> Fallible<usize> {
        kept.borrow_mut().push(*answer);
        Err(failure("again"))
    };
    let asked =
        stating::<MaxDivergence>(0.5, &Tally::default()) >> Function::new_fallible(not_total);
    let asked = asked.unwrap();
    let number = composed::<MaxDivergence>(vec![0.5])
        >> Function::new(move |queryable: &Composed| {
            let mut queryable = queryable.clone();
            (0..20).filter(|_| queryable.eval(&asked).is_err()).count()
        });
    let filter = start(&Filter::concurrent(PureDp, epsilon("0.5")), data()).unwrap();
    assert_eq!(filter.release(&Measured::new(number.unwrap())), Ok(20));
    assert_eq!(seen.borrow().len(), 20);
    assert_eq!(filter.privacy_loss(), epsilon("0.5"));

    // As a child, the compositor is closed at the first failure.
    let filter = start(&Filter::concurrent(PureDp, epsilon("0.5")), data()).unwrap();
    let child = filter.launch_local(&Measured::new(composed::<MaxDivergence>(vec![0.5])));
    let child = child.unwrap();
    assert_eq!(child.ask(failing(0.5)), Err(AskError::Fault(Fault::Failed)));
    let again = child.ask(stating(0.5, &Tally::default()));
    assert_eq!(again, Err(AskError::Closed));
}
