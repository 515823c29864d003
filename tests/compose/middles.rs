//! Persons in the middle of machines, compositors and handles.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use crate::common::{Ask, Count, Stated, Touches, at, epsilon};
use queryables::compose::{Addressed, Message, Refusal, Reply};
use queryables::machine::{CoinSource, Coins, Fault, NotPrivateSeededCoins, Recorder};
use queryables::middle::{
    Average, Cache, LimitQueries, Log, LogEvent, MapAnswer, MapQuery, Middle, Move, Postprocessed,
    Round, Split,
};
use queryables::prelude::*;
use queryables::queryable::Relay;

type Numbered = Stated<Epsilon, Count>;

fn numbered(loss: &str) -> Numbered {
    at(epsilon(loss), Count::default())
}

/// A filter of one, as a machine that takes messages.
fn filter()
-> Addressed<Filter<queryables::account::Capped<queryables::account::Sum<PureDp>>>, Numbered> {
    Addressed::new(Filter::concurrent(PureDp, epsilon("1")))
}

#[test]
fn one_message_becomes_several_launches() {
    // There is a child for each requested loss.
    let launch_all = Split::new(
        |losses: Vec<&'static str>| {
            losses
                .into_iter()
                .map(|loss| Message::Launch(numbered(loss)))
                .collect()
        },
        |replies: Vec<Reply<usize, Epsilon>>| replies,
    );
    let queryable = start(&filter().through(launch_all), Arc::new(())).unwrap();
    let refusal = Refusal {
        spent: epsilon("0.9"),
        set_aside: None,
        requested: epsilon("0.2"),
        remaining: epsilon("0.1"),
        limit: epsilon("1"),
    };
    assert_eq!(
        queryable.ask(vec!["0.3", "0.6", "0.2", "0.1"]),
        Ok(vec![
            Reply::Launched(0),
            Reply::Launched(1),
            Reply::NotLaunched(LaunchError::Refused(refusal)),
            Reply::Launched(2),
        ])
    );
}

#[test]
fn the_log_of_a_compositor_has_what_the_analyst_sees() {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&lines);
    let log = Log::new(move |said| {
        let line = match said {
            LogEvent::Query(Message::Launch(_)) => "launch".to_string(),
            LogEvent::Query(message) => format!("{message:?}"),
            LogEvent::Answer(reply) => format!("{reply:?}"),
            LogEvent::Fault(fault) => format!("{fault:?}"),
        };
        sink.lock().unwrap().push(line);
    });
    let queryable = start(&filter().through(log), Arc::new(())).unwrap();
    assert_eq!(
        queryable.ask(Message::Launch(numbered("0.5"))),
        Ok(Reply::Launched(0))
    );
    assert_eq!(queryable.ask(Message::Ask(0, ())), Ok(Reply::Answered(1)));
    assert_eq!(queryable.ask(Message::Ask(1, ())), Ok(Reply::Unknown(1)));
    let expected = [
        "launch".to_string(),
        "Launched(0)".to_string(),
        "Ask(0, ())".to_string(),
        "Answered(1)".to_string(),
        "Ask(1, ())".to_string(),
        "Unknown(1)".to_string(),
    ];
    assert_eq!(*lines.lock().unwrap(), expected);
}

#[test]
fn a_log_hears_of_a_failure_too() {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&lines);
    let log = Log::new(move |said| sink.lock().unwrap().push(format!("{said:?}")));
    let fails = Ask::new(|_: &(), (): ()| Err::<(), _>(Fault::Failed));
    let child = start(&fails.through(log), Arc::new(())).unwrap();
    assert_eq!(child.ask(()), Err(AskError::Fault(Fault::Failed)));
    assert_eq!(*lines.lock().unwrap(), ["Query(())", "Fault(Failed)"]);
}

#[test]
fn a_query_can_be_split_into_as_many_as_the_round_limit() {
    let echo = Ask::new(|_: &(), query: usize| Ok(query));
    let list = Split::new(
        |count: usize| (0..count).collect(),
        |answers: Vec<usize>| answers.len(),
    );
    let child = start(&echo.clone().through(list.clone()), Arc::new(())).unwrap();
    assert_eq!(child.ask(1000), Ok(1000));
    assert_eq!(
        child.ask(1001),
        Err(AskError::Fault(Fault::RoundLimit(1000)))
    );
    let child = start(&echo.through(list).with_round_limit(5000), Arc::new(())).unwrap();
    assert_eq!(child.ask(5000), Ok(5000));
}

#[test]
fn middles_stack_and_each_start_has_its_own() {
    let echo = Ask::new(|_: &(), query: i64| Ok(query));
    let mechanism = at(epsilon("0.1"), echo)
        .through(Round::to(NonZeroU32::new(10).unwrap()))
        .through(MapQuery::new(|text: &'static str| text.len() as i64 * 7))
        .through(MapAnswer::new(|answer: i64| format!("about {answer}")))
        .through(LimitQueries::new(2));
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(())).unwrap();
    for _ in 0..2 {
        let child = filter.launch(&mechanism).unwrap();
        assert_eq!(child.ask("abc"), Ok("about 20".to_string()));
        assert_eq!(child.ask("x"), Ok("about 10".to_string()));
        assert_eq!(child.ask("x"), Err(AskError::Fault(Fault::Exhausted)));
    }
    assert_eq!(filter.privacy_loss(), epsilon("0.2"));
}

#[test]
fn functions_are_inferred_from_the_machine() {
    let echo = Ask::new(|_: &(), query: i64| Ok(query));
    let mechanism = echo
        .through(MapAnswer::new(|answer| answer % 2 == 0))
        .through(MapAnswer::new(|even| format!("{even}")))
        .through(MapQuery::new(|query| query));
    let child = start(&mechanism, Arc::new(())).unwrap();
    assert_eq!(child.ask(4), Ok("true".to_string()));
}

#[test]
fn a_function_may_keep_state_and_each_start_has_its_own() {
    let echo = Ask::new(|_: &(), query: u32| Ok(query));
    let mut sum = 0;
    let mechanism = echo.through(MapAnswer::new(move |answer: u32| {
        sum += answer;
        sum
    }));
    for _ in 0..2 {
        let child = start(&mechanism, Arc::new(())).unwrap();
        assert_eq!([3, 4].map(|query| child.ask(query)), [Ok(3), Ok(7)]);
    }
}

/// A query that cannot be cloned.
#[derive(Debug)]
struct Once(u8);

#[test]
fn a_query_that_cannot_be_cloned_goes_through_a_function() {
    let echo = Ask::new(|_: &(), query: u8| Ok(query));
    let unwrapped = MapQuery::new(|Once(query)| query);
    let twice = Split::new(|Once(query)| vec![query, query], |answers: Vec<u8>| answers);
    let child = start(&echo.clone().through(unwrapped), Arc::new(())).unwrap();
    assert_eq!(child.ask(Once(3)), Ok(3));
    let child = start(&echo.through(twice), Arc::new(())).unwrap();
    assert_eq!(child.ask(Once(3)), Ok(vec![3, 3]));
}

#[test]
fn a_cache_spares_the_machine() {
    let touches = Touches::default();
    let mechanism = at(epsilon("0.1"), Count(touches.clone())).through(Cache::new());
    let child = start(&mechanism, Arc::new(())).unwrap();
    assert_eq!([child.ask(()), child.ask(())], [Ok(1), Ok(1)]);
    // One start, one step.
    assert_eq!(touches.count(), 2);
}

#[test]
fn a_cache_remembers_no_answer_of_a_query_that_was_rejected() {
    let tries = Mutex::new(0);
    let second_time = Ask::new(move |_: &(), query: u8| {
        let mut tries = tries.lock().unwrap();
        *tries += 1;
        if *tries == 1 {
            Err(Fault::InvalidQuery("not yet"))
        } else {
            Ok((query, *tries))
        }
    });
    let child = start(&second_time.through(Cache::new()), Arc::new(())).unwrap();
    assert_eq!(
        child.ask(1),
        Err(AskError::Fault(Fault::InvalidQuery("not yet")))
    );
    assert_eq!(child.ask(2), Ok((2, 2)));
    assert_eq!(child.ask(1), Ok((1, 3)));
    assert_eq!(child.ask(2), Ok((2, 2)));
}

#[test]
fn answers_are_held_back_until_they_can_be_averaged() {
    let echo = Ask::new(|_: &(), query: i64| Ok(query));
    let child = start(
        &echo.through(Average::of(NonZeroU32::new(2).unwrap())),
        Arc::new(()),
    )
    .unwrap();
    assert_eq!(
        [3, 4, 5].map(|query| child.ask(query)),
        [Ok(None), Ok(Some(3.5)), Ok(None)]
    );
}

/// Never answers.
#[derive(Clone)]
struct Evasive;

impl Middle<(), usize> for Evasive {
    type OuterQuery = ();
    type OuterAnswer = usize;

    fn on_query(&mut self, (): (), _: &mut Coins<'_>) -> Result<Move<(), usize>, Fault> {
        Ok(Move::Ask(()))
    }

    fn on_answer(&mut self, _: usize, _: &mut Coins<'_>) -> Result<Move<(), usize>, Fault> {
        Ok(Move::Ask(()))
    }
}

#[test]
fn a_middle_that_never_answers_is_stopped_and_closed() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(())).unwrap();
    let touches = Touches::default();
    let evasive = at(epsilon("0.1"), Count(touches.clone())).through(Evasive);
    let child = filter.launch(&evasive.with_round_limit(20)).unwrap();
    assert_eq!(child.ask(()), Err(AskError::Fault(Fault::RoundLimit(20))));
    assert_eq!(touches.count(), 1 + 20);
    assert_eq!(child.ask(()), Err(AskError::Closed));
    // The others do not mind.
    assert_eq!(filter.launch(&numbered("0.1")).unwrap().ask(()), Ok(1));
}

/// Tosses a coin between asking and making something up.
#[derive(Clone)]
struct Unreliable;

impl Middle<(), usize> for Unreliable {
    type OuterQuery = ();
    type OuterAnswer = Option<usize>;

    fn on_query(
        &mut self,
        (): (),
        coins: &mut Coins<'_>,
    ) -> Result<Move<(), Option<usize>>, Fault> {
        Ok(if coins.weighted(&[1, 1])? == 0 {
            Move::Ask(())
        } else {
            Move::Answer(None)
        })
    }

    fn on_answer(
        &mut self,
        answer: usize,
        _: &mut Coins<'_>,
    ) -> Result<Move<(), Option<usize>>, Fault> {
        Ok(Move::Answer(Some(answer)))
    }
}

#[test]
fn a_middle_may_toss_coins() {
    let mut coins = Recorder::new(NotPrivateSeededCoins::new(8));
    let mut machine = Count::default()
        .through(Unreliable)
        .start(&Arc::new(()), &mut coins.coins())
        .unwrap();
    let answers: Vec<_> = (0..8)
        .map(|_| machine.step((), &mut coins.coins()).unwrap())
        .collect();
    let heads: Vec<_> = coins
        .into_tape()
        .iter()
        .map(|(_, value)| *value == 0)
        .collect();
    let asked: Vec<_> = answers.iter().map(Option::is_some).collect();
    assert_eq!(asked, heads);
    assert!(heads.contains(&true) && heads.contains(&false));
}

#[test]
fn somebody_can_stand_in_the_middle_of_a_handle() {
    let filter = start(&Filter::concurrent(PureDp, epsilon("1")), Arc::new(())).unwrap();
    let child = filter.launch(&numbered("0.1")).unwrap();
    let mut twice = Postprocessed::new(
        Split::new(|()| vec![(), ()], |answers: Vec<usize>| answers),
        Relay(child.clone()),
    );
    assert_eq!(
        twice.step((), &mut NotPrivateSeededCoins::new(0).coins()),
        Ok(vec![1, 2])
    );
    assert_eq!(child.ask(()), Ok(3));
}
