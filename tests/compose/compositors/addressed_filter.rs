//! Filters of any measure whose children are addressed by number.

use super::rows;
use crate::common::epsilon;
use queryables::compose::{AddressedFilter, AnyMechanism, Message, Reply};
use queryables::data::Predicate;
use queryables::mechanisms::{AboveThreshold, Count};
use queryables::prelude::*;
use queryables::privacy::AnyLoss;

type Rows = Vec<u32>;

fn large() -> Predicate<Rows> {
    Predicate::new("large", |row: &u32| *row > 2)
}

fn loss(epsilon: &str) -> AnyLoss {
    AnyLoss::new(epsilon.parse::<Epsilon>().unwrap())
}

type Any = AnyMechanism<Rows, Predicate<Rows>, i64>;

fn any_count(price: &str) -> Any {
    Any::once(Count::of(large()).laplace(epsilon(price)).unwrap())
}

fn any_search(price: &str) -> Any {
    Any::open(AboveThreshold::new(AddRemove, 1000, 1, epsilon(price)).unwrap())
}

#[test]
fn children_of_an_addressed_filter_have_numbers_in_the_order_of_their_launches() {
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let filter = AddressedFilter::new(launch(&filter, rows()).unwrap());
    let left = || filter.ask(Message::Remaining);
    assert_eq!(
        filter.ask(Message::Launch(any_search("0.25"))),
        Reply::Launched(0)
    );
    // What answers once has no number.
    let count = filter.ask(Message::Launch(any_count("0.25")));
    assert!(matches!(count, Reply::Answered(_)));
    let search = filter.ask(Message::Launch(any_search("0.25")));
    assert_eq!(search, Reply::Launched(1));
    // Converted to what this program's answers are. Wrong with probability below e^-50.
    let ask = |number| filter.ask(Message::Ask(number, large()));
    assert_eq!(ask(0), Reply::Answered(0));

    assert_eq!(filter.ask(Message::Close(0)), Reply::Closed(0));
    assert_eq!(ask(0), Reply::NotAnswered(AskError::Closed));
    assert_eq!(filter.ask(Message::Close(0)), Reply::Closed(0));
    // The other one is not disturbed, numbers are not used again, and nothing is given back.
    assert_eq!(ask(1), Reply::Answered(0));
    assert_eq!(left(), Reply::Remaining(Some(loss("0.25"))));
    assert_eq!(
        filter.ask(Message::Launch(any_search("0.25"))),
        Reply::Launched(2)
    );
    assert_eq!(ask(3), Reply::Unknown(3));
    assert_eq!(filter.ask(Message::Close(3)), Reply::Unknown(3));
    assert_eq!(left(), Reply::Remaining(Some(loss("0"))));
    assert_eq!(
        filter.ask(Message::PrivacyLoss),
        Reply::PrivacyLoss(loss("1"))
    );
    let refused = filter.ask(Message::Launch(any_count("0.1")));
    assert!(matches!(
        refused,
        Reply::NotLaunched(LaunchError::Refused(_))
    ));
}

#[test]
fn an_addressed_filter_opens_nothing_where_children_answer_once() {
    let filter = Filter::noninteractive(PureDp, epsilon("1"));
    let filter = AddressedFilter::new(launch(&filter, rows()).unwrap());
    let search = filter.ask(Message::Launch(any_search("0.5")));
    assert_eq!(search, Reply::NotLaunched(LaunchError::Interactive));
    assert_eq!(filter.ask(Message::Ask(0, large())), Reply::Unknown(0));
    assert_eq!(filter.filter().privacy_loss(), loss("0"));
}

/// A conversion that panics counts as a mechanism that fails: charged, and the rest goes on.
#[test]
fn a_conversion_that_panics_fails_its_mechanism() {
    #[derive(Debug, PartialEq)]
    struct Never;
    impl From<i64> for Never {
        fn from(_: i64) -> Self {
            panic!("no conversion")
        }
    }
    impl From<bool> for Never {
        fn from(_: bool) -> Self {
            panic!("no conversion")
        }
    }
    type Bad = AnyMechanism<Rows, Predicate<Rows>, Never>;
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let filter = AddressedFilter::new(launch(&filter, rows()).unwrap());
    let count = Bad::once(Count::of(large()).laplace(epsilon!(0.25)).unwrap());
    assert_eq!(
        filter.ask(Message::Launch(count)),
        Reply::NotLaunched(LaunchError::Failed)
    );
    let search = AboveThreshold::new(AddRemove, 1000, 1, epsilon("0.25")).unwrap();
    assert_eq!(
        filter.ask(Message::Launch(Bad::open(search))),
        Reply::Launched(0)
    );
    let ask = || filter.ask(Message::Ask(0, large()));
    assert_eq!(ask(), Reply::NotAnswered(AskError::Fault(Fault::Failed)));
    assert_eq!(ask(), Reply::NotAnswered(AskError::Closed));
    assert_eq!(filter.filter().privacy_loss(), loss("0.5"));
}

#[test]
fn messages_are_read_and_replies_are_written_as_json() {
    type Sent = Message<String, u8>;
    for (text, message) in [
        (r#"{"launch":"count"}"#, Sent::Launch("count".to_owned())),
        (r#"{"ask":[3,7]}"#, Sent::Ask(3, 7)),
        (r#"{"close":3}"#, Sent::Close(3)),
        (r#""privacy_loss""#, Sent::PrivacyLoss),
        (r#""remaining""#, Sent::Remaining),
    ] {
        assert_eq!(serde_json::from_str::<Sent>(text).unwrap(), message);
        assert_eq!(serde_json::to_string(&message).unwrap(), text);
    }
    type Said = Reply<u8, AnyLoss>;
    let quarter = loss("0.25");
    for (text, reply) in [
        (r#"{"launched":3}"#, Said::Launched(3)),
        (r#"{"answered":7}"#, Said::Answered(7)),
        (
            r#"{"not_launched":"at the limit of 2 mechanisms"}"#,
            Said::NotLaunched(LaunchError::CountLimit { limit: 2 }),
        ),
        (
            r#"{"not_answered":"closed, because it failed or somebody closed it"}"#,
            Said::NotAnswered(AskError::Closed),
        ),
        (r#"{"unknown":3}"#, Said::Unknown(3)),
        (
            r#"{"privacy_loss":"ε = 0.25"}"#,
            Said::PrivacyLoss(quarter.clone()),
        ),
        (
            r#"{"remaining":"ε = 0.25"}"#,
            Said::Remaining(Some(quarter)),
        ),
        (r#"{"remaining":null}"#, Said::Remaining(None)),
    ] {
        assert_eq!(serde_json::to_string(&reply).unwrap(), text);
    }
}

#[test]
fn what_was_chosen_at_run_time_says_its_name_and_loss() {
    assert_eq!(
        format!("{:?}", any_count("0.25")),
        "Boxed(Count(predicate = large, relation = add or remove one row, epsilon = 0.25), Laplace noise, ε = 0.25)"
    );
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let filter = AddressedFilter::<Rows, (), i64>::new(launch(&filter, rows()).unwrap());
    assert_eq!(format!("{filter:?}"), "AddressedFilter(AnyFilter(PureDp))");
}
