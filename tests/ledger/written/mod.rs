//! Losses, measures and rules are read as they were written, and nothing else is read.

mod losses;
mod odometers;
mod plans;
mod profiles;
mod sums;
mod thresholds;

use std::fmt::Debug;

use queryables::account::{ChildLoss, ContinuationRule, Durable, SavedRule};
use queryables::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn read<T>(text: &str) -> Result<T, String>
where
    T: DeserializeOwned,
{
    serde_json::from_str(text).map_err(|error| {
        let text = error.to_string();
        // Without the place.
        let end = text.find(" at line").unwrap_or(text.len());
        text[..end].to_owned()
    })
}

/// Written as this text, and read again.
fn round<T>(value: T, text: &str)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    assert_eq!(read::<T>(text), Ok(value));
}

fn refused<T: DeserializeOwned + Debug>(text: &str, why: &str) {
    assert_eq!(
        read::<T>(text).map_err(Some).unwrap_err(),
        Some(why.to_owned()),
        "{text}"
    );
}

fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}

fn number<T: std::str::FromStr<Err: Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// Charges this rule many times, and after each charge reads it anew: it goes on as the original
/// does, to the last digit.
fn continues<F>(fresh: F, losses: &[ChildLoss<F>])
where
    F: ContinuationRule + Durable + PartialEq,
{
    let (mut rule, mut admitted, mut refused) = (fresh.clone(), 0, 0);
    for turn in 0..200 {
        let text = serde_json::to_string(&SavedRule(rule.clone())).unwrap();
        let again = read::<SavedRule<F>>(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
        let SavedRule(again) = again;
        assert_eq!(again.spent(), rule.spent());
        assert_eq!(again.remaining(), rule.remaining());
        let loss = &losses[(turn * 7 + turn / 3) % losses.len()];
        match (rule.charge(loss), again.charge(loss)) {
            (Ok(next), Ok(also)) => {
                assert_eq!(next, also);
                admitted += 1;
                rule = next;
            }
            (Err(one), Err(other)) => {
                assert_eq!(one, other);
                refused += 1;
            }
            different => panic!("{different:?}"),
        }
    }
    // Otherwise the limit was never near.
    assert!(admitted > 0 && refused > 0, "{admitted} {refused}");
}

/// The text with one thing changed, and why it is not read.
fn damaged<F: ContinuationRule + Durable + PartialEq>(rule: F, changes: &[(&str, &str, &str)]) {
    let text = serde_json::to_string(&SavedRule(rule)).unwrap();
    for (from, to, why) in changes {
        assert!(text.contains(from), "{from} is not in {text}");
        refused::<SavedRule<F>>(&text.replacen(from, to, 1), why);
    }
}

const IMPOSSIBLE: &str = "no launches lead to these counts";
