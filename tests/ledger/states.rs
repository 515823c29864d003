//! States of budgets that no launches lead to are not read.

use std::sync::{Arc, Mutex};

use ledger::Numbered;
use queryables::ledger::{
    Charge, Ledger, LedgerError, Outcome, Receipt, Saved, Store, StoreError, read_lines,
};
use queryables::prelude::*;

/// Has one budget, whose state is given.
#[derive(Debug)]
struct One(Mutex<String>);

impl Store for One {
    fn name_dataset(&self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    fn open(&self, _: &str, _: &str, _: &str) -> Result<Saved, StoreError> {
        let state = self.0.lock().unwrap().clone();
        Ok(Saved { version: 1, state })
    }

    fn newer(&self, _: &[(&str, u64)]) -> Result<Vec<(usize, Saved)>, StoreError> {
        Ok(vec![])
    }

    fn charge(&self, _: &mut dyn Charge) -> Result<Receipt, StoreError> {
        Err(StoreError::Unavailable("on purpose".to_owned()))
    }

    fn sync(&self, _: &Receipt) -> Result<(), StoreError> {
        Ok(())
    }

    fn finish(&self, _: u64, _: Outcome) -> Result<(), StoreError> {
        Ok(())
    }

    fn lines(&self, _: u64, _: usize) -> Result<Vec<String>, StoreError> {
        Ok(vec![])
    }
}

/// As `spec/ledger.md` describes it.
fn sealed(object: &str) -> String {
    let mut crc = !0_u32;
    for byte in object.bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ ((crc & 1) * 0xedb8_8320);
        }
    }
    let body = object.strip_suffix('}').unwrap();
    format!("{body},\"check\":\"{:08x}\"}}", !crc)
}

/// What a filter with a budget of 1 says to a state.
fn opened(state: &str, limit: Option<u64>, halts: bool) -> Result<Epsilon, LedgerError<Epsilon>> {
    let mut filter = Filter::concurrent(PureDp, "1".parse().unwrap());
    if let Some(limit) = limit {
        filter = filter.at_most(limit);
    }
    if halts {
        filter = filter.halting();
    }
    let store = One(Mutex::new(sealed(state)));
    let ledger = Ledger::on(store, "numbers").unwrap();
    let filter = ledger.start("census", &filter, &Arc::new(()))?;
    Ok(filter.privacy_loss().unwrap())
}

#[test]
fn a_state_that_no_launches_lead_to_is_damaged() {
    let over = r#"{"over_budget":{"spent":"0.5","requested":"0.6","remaining":"0.5","limit":"1"}}"#;
    let count = r#"{"count_limit":{"limit":3}}"#;
    let state = |launched: u64, halt: &str| {
        format!(r#"{{"ledger":1,"launched":{launched},"counts":"0.5","halt":{halt}}}"#)
    };
    let half = Ok("0.5".parse().unwrap());
    for (right, limit, halts) in [
        (state(1, "null"), None, false),
        (state(3, "null"), Some(3), true),
        (state(2, over), None, true),
        (state(3, count), Some(3), true),
    ] {
        assert_eq!(opened(&right, limit, halts), half, "{right}");
    }
    let what = "the budget \"census\"".to_owned();
    let damaged = Err(LedgerError::Store(StoreError::Damaged { what }));
    for (wrong, limit, halts) in [
        // Something is spent, and nothing was launched.
        (state(0, "null"), None, false),
        // More launches than it takes.
        (state(4, "null"), Some(3), false),
        // A halt of a filter that does not, one for another reason, and one over another budget.
        (state(2, over), None, false),
        (state(3, count), Some(3), false),
        (state(3, count), Some(4), true),
        (state(2, count), Some(3), true),
        (state(3, count), None, true),
        (
            state(2, &over.replace(r#""spent":"0.5""#, r#""spent":"0.4""#)),
            None,
            true,
        ),
        (
            state(
                2,
                &over.replace(r#""requested":"0.6""#, r#""requested":"0.5""#),
            ),
            None,
            true,
        ),
        (
            state(2, &over.replace(r#""limit":"1""#, r#""limit":"2""#)),
            None,
            true,
        ),
        // Another version, a field too many, one too few, one twice.
        (
            state(1, "null").replace(r#""ledger":1"#, r#""ledger":2"#),
            None,
            false,
        ),
        (state(1, r#"null,"more":1"#), None, false),
        (state(1, "null").replace(r#","halt":null"#, ""), None, false),
        (state(1, r#"null,"launched":2"#), None, false),
        // More than the budget, and less than nothing.
        (state(1, "null").replace("0.5", "1.5"), None, false),
        (state(1, "null").replace("0.5", "-0.5"), None, false),
    ] {
        assert_eq!(opened(&wrong, limit, halts), damaged, "{wrong}");
    }
}

/// Lines that are whole, each by itself, and that no ledger writes in this order.
#[test]
fn an_outcome_follows_its_entry_once_and_only_what_was_admitted_has_one() {
    let ledger = Ledger::in_memory("numbers").unwrap();
    let filter = ledger::pure(&ledger, "census", "1");
    for (number, epsilon) in [(1, "0.5"), (2, "0.6"), (3, "0.5")] {
        let _ = filter.party("Ana").release(&Numbered::new(number, epsilon));
    }
    let mut text = Vec::new();
    ledger.export(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let [first, first_done, refused, third, third_done] = lines[..] else {
        panic!("{text}");
    };
    let read = |lines: &[&str]| read_lines(&lines.concat()).map(|lines| lines.len());
    assert_eq!(read(&lines), Ok(5));
    // A part of a record begins anywhere, and the last launch may be running.
    assert_eq!(read(&[refused, third]), Ok(2));
    let damaged = |line| {
        let what = format!("line {line} of the record");
        Err(StoreError::Damaged { what })
    };
    assert_eq!(read(&[first, first_done, first_done, refused]), damaged(3));
    assert_eq!(read(&[first_done]), damaged(1));
    assert_eq!(read(&[first, third_done]), damaged(2));
    let of_refused = first_done.trim_end().rsplit_once(",\"check\"").unwrap().0;
    let of_refused = format!("{of_refused}}}").replace(r#""sequence":1"#, r#""sequence":2"#);
    let of_refused = sealed(&of_refused) + "\n";
    assert_eq!(read(&[first, first_done, refused, &of_refused]), damaged(4));
}
