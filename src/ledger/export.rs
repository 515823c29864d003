//! The record as Google's dp_accounting reads it.

use serde_json::{Value, json};

use super::{Decision, Entry, Line};

/// What was charged in one filter, as one `ComposedDpEvent` of dp_accounting: an object with the name of
/// each event class and its arguments, in the order of the launches.
///
/// Other filters of the ledger are left out: their losses may be about another relation, and those
/// inside a [share](super::LedgerFilter::reserve) are within the charge for the share.
///
/// An event bounds the loss of what was launched; dp_accounting then composes for losses fixed in
/// advance, which is a reading to compare with and no filter.
///
/// | loss | event |
/// |---|---|
/// | ε, or (ε, 0) | `RandomizedResponseDpEvent`: every ε-DP mechanism is a postprocessing of it (Kairouz et al. 2015) |
/// | ρ of zCDP | `ZCDpEvent` |
/// | μ of GDP | `GaussianDpEvent` |
/// | anything else | `UnsupportedDpEvent` |
///
/// Numbers become floats, rounded to the nearest.
///
/// Example: [`Ledger`](crate::ledger::Ledger).
#[must_use]
pub fn dp_events(filter: &str, lines: &[Line]) -> Value {
    let charged = lines.iter().filter_map(|line| match line {
        Line::Entry(entry) if entry.filter == filter && entry.decision == Decision::Admitted => {
            Some(event(entry))
        }
        _ => None,
    });
    json!({"ComposedDpEvent": {"events": charged.collect::<Vec<_>>()}})
}

fn event(entry: &Entry) -> Value {
    let number = |value: &Value| value.as_str()?.parse::<f64>().ok();
    let measure = entry.measure.get("measure").and_then(Value::as_str);
    let (loss, part) = (number(&entry.loss), |name| {
        entry.loss.get(name).and_then(number)
    });
    let converted = match measure {
        Some("PureDp") => loss.map(response),
        Some("ApproxDp") if part("delta") == Some(0.0) => part("epsilon").map(response),
        Some("ZCdp") => loss.map(|rho| json!({"ZCDpEvent": {"rho": rho}})),
        Some("Gdp") => loss.map(|mu| {
            if mu == 0.0 {
                return json!({"NoOpDpEvent": {}});
            }
            json!({"GaussianDpEvent": {"noise_multiplier": 1.0 / mu}})
        }),
        _ => None,
    };
    converted.unwrap_or_else(|| json!({"UnsupportedDpEvent": {}}))
}

/// Answers truly with odds of e^ε to 1: it tells the truth, or with this probability one of two
/// values at random.
fn response(epsilon: f64) -> Value {
    let noise = 2.0 / (1.0 + libm::exp(epsilon));
    json!({"RandomizedResponseDpEvent": {"noise_parameter": noise, "num_buckets": 2}})
}
