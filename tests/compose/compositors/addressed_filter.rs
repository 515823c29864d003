//! Filters of any measure whose children are addressed by number.

use super::rows;
use crate::common::epsilon;
use queryables::compose::{AddressedFilter, AnyMechanism, Message, Refusal, Reply, Unavailable};
use queryables::data::Predicate;
use queryables::machine::{DomainMismatch, Stop};
use queryables::mechanisms::{AboveThreshold, Count};
use queryables::number::Rho;
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
    let filter = AddressedFilter::new(start(&filter, rows()).unwrap());
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
    let filter = AddressedFilter::new(start(&filter, rows()).unwrap());
    let search = filter.ask(Message::Launch(any_search("0.5")));
    assert_eq!(search, Reply::NotLaunched(LaunchError::Interactive));
    assert_eq!(filter.ask(Message::Ask(0, large())), Reply::Unknown(0));
    assert_eq!(filter.filter().reading().unwrap().privacy_loss, loss("0"));
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
    let filter = AddressedFilter::new(start(&filter, rows()).unwrap());
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
    assert_eq!(filter.filter().reading().unwrap().privacy_loss, loss("0.5"));
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
}

fn refusal(spent: AnyLoss, set_aside: Option<AnyLoss>, limit: AnyLoss) -> Refusal<AnyLoss> {
    let rho = |text: &str| AnyLoss::new(text.parse::<Rho>().unwrap()).under(&ZCdp);
    Refusal {
        spent,
        set_aside: set_aside.map(Box::new),
        requested: rho("0.6"),
        remaining: rho("0.5"),
        limit,
    }
}

/// Everything that a reply can be, with its JSON.
fn replies() -> Vec<(&'static str, Reply<u8, AnyLoss>)> {
    let quarter = loss("0.25").under(&PureDp);
    let rho = |text: &str| AnyLoss::new(text.parse::<Rho>().unwrap()).under(&ZCdp);
    let pair =
        |epsilon, delta| AnyLoss::new(EpsilonDelta::new(epsilon, delta).unwrap()).under(&ApproxDp);
    let refused = refusal(rho("0.5"), None, rho("1"));
    let aside = refusal(
        pair("0", "1e-6"),
        Some(pair("0", "1e-6")),
        pair("1", "1e-6"),
    );
    let quota = LaunchError::OverQuota {
        quota: "Ana".to_owned(),
        refusal: Box::new(refused.clone()),
    };
    let down = || Unavailable("on purpose".to_owned());
    let not_launched = [
        (
            r#"{"count_limit":{"limit":2}}"#,
            LaunchError::CountLimit { limit: 2 },
        ),
        (
            r#""unknown_loss""#,
            LaunchError::UnknownLoss(UnknownLoss("no")),
        ),
        (
            r#""domain_mismatch""#,
            LaunchError::DomainMismatch(DomainMismatch("no")),
        ),
        (r#""interactive""#, LaunchError::Interactive),
        (r#""overflow""#, LaunchError::Overflow),
        (r#""frozen""#, LaunchError::Stopped(Stop::Frozen)),
        (r#""halted""#, LaunchError::Stopped(Stop::Halted)),
        (r#""rule_failed""#, LaunchError::RuleFailed),
        (r#""failed""#, LaunchError::Failed),
        (r#""unavailable""#, LaunchError::Unavailable(down())),
    ];
    let not_answered = [
        (
            r#""invalid_query""#,
            AskError::Fault(Fault::InvalidQuery("no")),
        ),
        (r#""exhausted""#, AskError::Fault(Fault::Exhausted)),
        (
            r#"{"round_limit":{"rounds":7}}"#,
            AskError::Fault(Fault::RoundLimit(7)),
        ),
        (r#""failed""#, AskError::Fault(Fault::Failed)),
        (r#""unavailable""#, AskError::Fault(Fault::Unavailable)),
        (r#""frozen""#, AskError::Stopped(Stop::Frozen)),
        (r#""halted""#, AskError::Stopped(Stop::Halted)),
        (r#""closed""#, AskError::Closed),
        (r#""busy""#, AskError::Busy),
    ];
    let written = |kind: &str, code: &str| &*format!(r#"{{"{kind}":{code}}}"#).leak();
    let mut replies = vec![
        (r#"{"launched":3}"#, Reply::Launched(3)),
        (r#"{"answered":7}"#, Reply::Answered(7)),
        (r#"{"closed":3}"#, Reply::Closed(3)),
        (r#"{"unknown":3}"#, Reply::Unknown(3)),
        (
            r#"{"refused":{"measure":"ZCdp","spent":"0.5","requested":"0.6","remaining":"0.5","limit":"1"}}"#,
            Reply::NotLaunched(LaunchError::Refused(refused)),
        ),
        (
            r#"{"refused":{"measure":"ZCdp","whole":"ApproxDp","spent":"(0, 1e-6)","set_aside":"(0, 1e-6)","requested":"0.6","remaining":"0.5","limit":"(1, 1e-6)"}}"#,
            Reply::NotLaunched(LaunchError::Refused(aside)),
        ),
        (
            r#"{"privacy_loss":{"measure":"PureDp","loss":"0.25"}}"#,
            Reply::PrivacyLoss(quarter.clone()),
        ),
        (
            r#"{"remaining":{"measure":"PureDp","loss":"0.25"}}"#,
            Reply::Remaining(Some(quarter)),
        ),
        (
            r#"{"remaining":{"loss":"0.25"}}"#,
            Reply::Remaining(Some(loss("0.25"))),
        ),
        (r#"{"remaining":null}"#, Reply::Remaining(None)),
        (
            r#"{"over_quota":{"quota":"Ana","refused":{"measure":"ZCdp","spent":"0.5","requested":"0.6","remaining":"0.5","limit":"1"}}}"#,
            Reply::NotLaunched(quota),
        ),
        (r#"{"not_read":"unavailable"}"#, Reply::NotRead(down())),
    ];
    for (code, error) in not_launched {
        replies.push((written("not_launched", code), Reply::NotLaunched(error)));
    }
    for (code, error) in not_answered {
        replies.push((written("not_answered", code), Reply::NotAnswered(error)));
    }
    replies
}

#[test]
fn replies_are_fields_and_codes_and_what_is_read_is_written_alike() {
    type Said = Reply<u8, AnyLoss>;
    for (text, reply) in replies() {
        assert_eq!(serde_json::to_string(&reply).unwrap(), text);
        let read: Said = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        // Of the same kind, and readable by people too.
        assert_eq!(
            std::mem::discriminant(&read),
            std::mem::discriminant(&reply)
        );
    }
    let read = |text| serde_json::from_str::<Said>(text).unwrap();
    assert_eq!(
        read(r#"{"not_answered":"closed"}"#),
        Reply::NotAnswered(AskError::Closed)
    );
    let Reply::NotLaunched(error) = read(replies()[4].0) else {
        panic!("a refusal")
    };
    assert_eq!(
        error.to_string(),
        "a loss of 0.6 is over budget: 0.5 of 1 is spent, 0.5 is left"
    );
    for unknown in [
        r#"{"refused":{}}"#,
        r#"{"not_launched":"soon"}"#,
        r#""launched""#,
    ] {
        assert!(serde_json::from_str::<Said>(unknown).is_err(), "{unknown}");
    }
}

#[test]
fn what_was_chosen_at_run_time_says_its_name_and_loss() {
    assert_eq!(
        format!("{:?}", any_count("0.25")),
        "Boxed(Count(predicate = large, relation = add or remove one row, epsilon = 0.25), Laplace noise, ε = 0.25)"
    );
    let filter = Filter::concurrent(PureDp, epsilon("1"));
    let filter = AddressedFilter::<Rows, (), i64>::new(start(&filter, rows()).unwrap());
    assert_eq!(format!("{filter:?}"), "AddressedFilter(AnyFilter(PureDp))");
}
