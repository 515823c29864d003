//! The record in JSON Lines: what is torn, what is damaged, and what others read.

use std::process::Command;

use ledger::{Numbered, fresh, pure};
use queryables::account::FixedCount;
use queryables::ledger::{Ledger, Line, StoreError, dp_events, read_lines};
use queryables::prelude::*;
use queryables::privacy::{Gdp, Measure};

fn exported() -> String {
    let ledger = Ledger::in_memory("numbers").unwrap();
    let filter = pure(&ledger, "census", "1");
    for number in 0..12 {
        let _ = filter.party("Ana").release(&Numbered::new(number, "0.1"));
    }
    let mut text = Vec::new();
    ledger.export(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn damaged_line(line: usize) -> Result<Vec<Line>, StoreError> {
    let what = format!("line {line} of the record");
    Err(StoreError::Damaged { what })
}

#[test]
fn a_torn_last_line_is_left_out_and_everything_else_is_an_error() {
    let text = exported();
    let whole = read_lines(&text).unwrap();
    // Twelve decisions, ten of which were run.
    assert_eq!(whole.len(), 22);
    let last = text[..text.len() - 1].rfind('\n').unwrap() + 1;
    for end in last..text.len() {
        assert_eq!(read_lines(&text[..end]).unwrap(), whole[..21], "{end}");
    }
    // A byte of an earlier line is another one, or a line is missing.
    let first = text.find('\n').unwrap() + 1;
    for at in 0..first - 1 {
        let mut bytes = text.clone().into_bytes();
        bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
        let damaged = String::from_utf8(bytes).unwrap();
        assert_eq!(read_lines(&damaged), damaged_line(1), "{at}");
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let without_third = [&lines[..2], &lines[3..]].concat().concat();
    assert!(lines[2].contains(r#""sequence":2"#));
    // Its outcome is there without it.
    assert_eq!(read_lines(&without_third), damaged_line(3));
    // A last line that was written to its end is not torn.
    let mut damaged = text.clone();
    damaged.replace_range(text.len() - 30..text.len() - 29, "#");
    assert_eq!(read_lines(&damaged), damaged_line(22));
}

#[test]
fn a_line_of_another_version_is_not_read() {
    let text = exported();
    let line = text.lines().next().unwrap();
    assert!(matches!(Line::read(line), Some(Line::Entry(_))));
    assert_eq!(
        Line::read(&line.replacen(r#""ledger":1"#, r#""ledger":2"#, 1)),
        None
    );
}

/// Reads the record as somebody would who has only its description.
const READ: &str = r#"
import json, sys, zlib
lines = []
for line in open(sys.argv[1], encoding="utf-8"):
    body, check = line.rstrip("\n")[:-20] + "}", line.rstrip("\n")[-10:-2]
    assert zlib.crc32(body.encode()) == int(check, 16), line
    lines.append(json.loads(body))
print(len(lines), sum("outcome" in line for line in lines))
"#;

/// Rebuilds the events, and lets dp_accounting compose them.
const EVENTS: &str = r#"
import json, sys
try:
    import dp_accounting
    from dp_accounting import dp_event, pld
except ImportError:
    print("no dp_accounting"); sys.exit()

def event(value):
    (name, arguments), = value.items()
    if "events" in arguments:
        arguments = {"events": [event(inner) for inner in arguments["events"]]}
    return getattr(dp_event, name)(**arguments)

composed = event(json.load(open(sys.argv[1])))
kinds = sorted({type(inner).__name__ for inner in composed.events})
accountant = pld.PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_ONE)
pure = [inner for inner in composed.events if type(inner).__name__ == "RandomizedResponseDpEvent"]
accountant.compose(dp_event.ComposedDpEvent(pure))
gaussian = pld.PLDAccountant()
gaussian.compose(dp_event.ComposedDpEvent(
    [inner for inner in composed.events if type(inner).__name__ == "GaussianDpEvent"]))
print(len(composed.events), ",".join(kinds),
      accountant.get_epsilon(0), accountant.get_epsilon(1e-6), gaussian.get_epsilon(1e-6))
"#;

/// Which Python to ask: the one that has the package, where somebody says so.
fn python() -> String {
    std::env::var("QUERYABLES_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn run(script: &str, path: &std::path::Path) -> Option<String> {
    let output = Command::new(python())
        .args(["-c", script])
        .arg(path)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no {}", python());
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[test]
fn others_read_the_lines_by_their_description() {
    let path = fresh("lines.jsonl");
    std::fs::write(&path, exported()).unwrap();
    if let Some(read) = run(READ, &path) {
        assert_eq!(read, "22 10");
    }
}

/// A filter under `measure`, and one launch in it.
fn charged<Me, M>(ledger: &Ledger, name: &str, measure: Me, budget: Me::Loss, mechanism: &M)
where
    Me: queryables::account::DefaultAccumulator,
    queryables::account::Capped<Me::Accumulator>:
        queryables::ledger::LedgerRule<Children = Me, Whole = Me>,
    Me::Accumulator: queryables::account::ValidConcurrently
        + queryables::account::Accounting<Children = Me, Whole = Me>,
    M: Mechanism<(), Machine = Released<u64>> + Private<Me, AddRemove>,
{
    let filter = Filter::concurrent(measure, budget);
    let filter = ledger
        .start(name, &filter, &std::sync::Arc::new(()))
        .unwrap();
    filter.party("Ana").release(mechanism).unwrap();
}

/// The same number as a loss of every measure.
#[derive(Clone)]
struct Any;

impl Mechanism<()> for Any {
    type Machine = Released<u64>;

    fn start(&self, _: &std::sync::Arc<()>, _: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        Ok(Released(0))
    }
}

macro_rules! any {
    ($($measure:ty => $loss:expr;)*) => {$(
        impl Private<$measure, AddRemove> for Any {
            fn loss(&self, _: &$measure) -> Result<<$measure as Measure>::Loss, UnknownLoss> {
                Ok($loss)
            }
        }
    )*};
}

any! {
    ZCdp => "0.125".parse().unwrap();
    Gdp => "0.5".parse().unwrap();
    ApproxDp => EpsilonDelta::new("0.1", "1e-6").unwrap();
}

/// The charge for a share is a launch; what is launched in it is within that charge.
#[test]
fn what_is_spent_in_a_share_is_exported_once() {
    let ledger = Ledger::in_memory("numbers").unwrap();
    let filter = pure(&ledger, "census", "1");
    let share = Filter::concurrent(PureDp, "0.5".parse().unwrap());
    let share = filter.reserve("Ben", &share).unwrap();
    for number in 0..3 {
        share
            .party("Ben")
            .release(&Numbered::new(number, "0.1"))
            .unwrap();
    }
    let lines = ledger.lines(1, 100).unwrap();
    let noise = |filter: &str| {
        let events = dp_events(filter, &lines)["ComposedDpEvent"]["events"].take();
        let noise = |event: &serde_json::Value| {
            event["RandomizedResponseDpEvent"]["noise_parameter"].as_f64()
        };
        events
            .as_array()
            .unwrap()
            .iter()
            .map(noise)
            .collect::<Vec<_>>()
    };
    let response = |epsilon: f64| Some(2.0 / (1.0 + epsilon.exp()));
    assert_eq!(noise("census"), [response(0.5)]);
    assert_eq!(noise(share.name()), [response(0.1); 3]);
    assert_eq!(noise("nobody"), []);
}

#[test]
fn dp_accounting_composes_what_the_ledger_has_charged() {
    let ledger = Ledger::in_memory("numbers").unwrap();
    let filter = pure(&ledger, "census", "1");
    for number in 0..11 {
        let _ = filter.party("Ana").release(&Numbered::new(number, "0.1"));
    }
    charged(&ledger, "zcdp", ZCdp, "1".parse().unwrap(), &Any);
    charged(&ledger, "gdp", Gdp, "1".parse().unwrap(), &Any);
    charged(
        &ledger,
        "approx",
        ApproxDp,
        EpsilonDelta::new("1", "1e-5").unwrap(),
        &Any,
    );
    let lines = ledger.lines(1, 100).unwrap();
    let of = |filter: &str| dp_events(filter, &lines)["ComposedDpEvent"]["events"].clone();
    let all = ["census", "zcdp", "gdp", "approx"].map(of);
    let all: Vec<_> = all.iter().flat_map(|of| of.as_array().unwrap()).collect();
    let events = serde_json::json!({"ComposedDpEvent": {"events": all}});
    let path = fresh("events.json");
    std::fs::write(&path, serde_json::to_string(&events).unwrap()).unwrap();
    let Some(read) = run(EVENTS, &path) else {
        return;
    };
    if read == "no dp_accounting" {
        eprintln!("skipped: {} has no dp_accounting", python());
        return;
    }
    let parts: Vec<&str> = read.split(' ').collect();
    let [count, kinds, pure, approximate, gaussian] = parts[..] else {
        panic!("{read}");
    };
    assert_eq!(count, "13");
    let all = "GaussianDpEvent,RandomizedResponseDpEvent,UnsupportedDpEvent,ZCDpEvent";
    assert_eq!(kinds, all);
    // Ten times 0.1; its discretisation rounds up by at most 1e-4 each.
    let near = |text: &str, value: f64, by: f64| {
        let read: f64 = text.parse().unwrap();
        assert!((read - value).abs() <= by, "{read} {value}");
    };
    near(pure, 1.0, 2e-3);
    let limit = EpsilonDelta {
        epsilon: Epsilon::round_down(approximate).unwrap(),
        delta: "1e-6".parse().unwrap(),
    };
    let each = EpsilonDelta::new("0.1", "0").unwrap();
    let optimal = FixedCount::new(limit, each, 10);
    assert!(optimal.is_ok(), "{optimal:?}");
    let curve =
        queryables::privacy::convert::gdp::epsilon("0.5".parse().unwrap(), "1e-6".parse().unwrap());
    near(gaussian, curve.unwrap().to_string().parse().unwrap(), 2e-3);
}
