//! Compositors as single machines, which are told what to launch and whom to ask.

use super::{Numbered, coins, numbered, rows};
use crate::common::{Answer, at, epsilon, pair};
use queryables::compose::{Addressed, Message, Reply};
use queryables::machine::{CoinSource, Script, Stop, View, interact, truncated_view};
use queryables::prelude::*;
use queryables::privacy::ProbabilisticDp;

#[test]
fn a_filter_as_one_machine_answers_messages() {
    let filter = Filter::concurrent(PureDp, epsilon("1")).at_most(2);
    let mut machine = Addressed::<_, Numbered>::new(filter)
        .start(&rows(), &mut coins().coins())
        .unwrap();
    let over = LaunchError::Refused(queryables::compose::Refusal {
        spent: epsilon("0.4"),
        set_aside: None,
        requested: epsilon("0.7"),
        remaining: epsilon("0.6"),
        limit: epsilon("1"),
    });
    for (message, reply) in [
        (Message::Ask(0, ()), Ok(Reply::Unknown(0))),
        (Message::Close(0), Ok(Reply::Unknown(0))),
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
        (
            Message::Remaining,
            Ok(Reply::Remaining(Some(epsilon("0.5")))),
        ),
        (Message::Close(0), Ok(Reply::Closed(0))),
        (
            Message::Ask(0, ()),
            Ok(Reply::NotAnswered(AskError::Closed)),
        ),
        // What is closed has cost what it cost, and closing disturbs nobody else.
        (Message::Close(0), Ok(Reply::Closed(0))),
        (Message::PrivacyLoss, Ok(Reply::PrivacyLoss(epsilon("0.5")))),
        (Message::Ask(1, ()), Ok(Reply::Answered(2))),
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
        set_aside: None,
        requested: pair("0.4", "0"),
        remaining: pair("0.3", "0"),
        limit: pair("1", "0"),
    });
    for (message, reply) in [
        (once("0.7"), Reply::Answered(1)),
        (once("0.4"), Reply::NotLaunched(over)),
        (Message::PrivacyLoss, Reply::PrivacyLoss(pair("0.7", "0"))),
        (Message::Remaining, Reply::Remaining(Some(pair("0.3", "0")))),
        (Message::Close(0), Reply::Unknown(0)),
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
    // An odometer has no budget.
    assert_eq!(
        odometer.step(Message::Remaining, &mut coins().coins()),
        Ok(Reply::Remaining(None))
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
