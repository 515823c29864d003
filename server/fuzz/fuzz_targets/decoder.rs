//! Any bytes as the body of a launch or of a question: an error of the request, or a launch with a
//! description. No panic.
//!
//! `cargo +nightly fuzz run decoder -- -max_total_time=300 -max_len=4096`, in `server`.
#![no_main]
#![allow(dead_code, reason = "the server uses the rest")]

#[path = "../../src/answer.rs"]
mod answer;
#[path = "../../src/asking.rs"]
mod asking;
#[path = "../../src/coins.rs"]
mod coins;
#[path = "../../src/data.rs"]
mod data;
#[path = "../../src/loss.rs"]
mod loss;
#[path = "../../src/problem.rs"]
mod problem;
#[path = "../../src/question/mod.rs"]
mod question;
#[path = "../../src/rule.rs"]
mod rule;
#[path = "../../src/seat.rs"]
mod seat;

use std::sync::LazyLock;

use queryables::table::Schema;

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let text = r#"{"person": {"each_row": true}, "columns": [
        {"name": "age", "type": "whole", "range": [17, 90]},
        {"name": "height", "type": "real", "range": [0.5, 2.5]},
        {"name": "sex", "type": "text", "categories": ["Female", "Male"]}]}"#;
    serde_json::from_str(text).expect("a schema")
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(asked) = serde_json::from_slice::<question::Release>(bytes)
        && let Ok(ready) = asked.ready(&SCHEMA)
    {
        let _ = ready.launch.describe().to_string();
    }
    if let Ok(asked) = serde_json::from_slice::<question::Opening>(bytes)
        && let Ok(Some(ready)) = asked.ready(&SCHEMA)
    {
        let _ = ready.launch.describe().to_string();
    }
    if let Ok(asked) = serde_json::from_slice::<question::Written>(bytes) {
        let _ = asked.condition(&SCHEMA);
    }
});
