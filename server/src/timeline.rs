//! The record as a picture: what was spent after each launch, and what was refused.

use std::fmt::Write;

use queryables::ledger::{Decision, Entry};
use serde_json::Value;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 28.0;

/// The first number of a loss: ε where there is also a δ. It only places a line.
fn number(loss: &Value) -> f64 {
    let text = match loss {
        Value::Object(fields) => fields.get("epsilon").unwrap_or(&Value::Null),
        other => other,
    };
    let parsed = text.as_str().and_then(|text| text.parse().ok());
    parsed.or(text.as_f64()).unwrap_or(0.0)
}

/// An SVG of the entries of one budget, in their order. Names need no escapes (`config::is_name`).
pub fn svg(dataset: &str, unit: &str, limit: &str, entries: &[Entry]) -> String {
    let most = limit.parse::<f64>().unwrap_or(0.0).max(f64::MIN_POSITIVE);
    let step = WIDTH / (entries.len().max(1)) as f64;
    let down = |loss: f64| TOP + HEIGHT * (1.0 - (loss / most).clamp(0.0, 1.0));
    let mut path = format!("M{LEFT} {}", down(0.0));
    let mut marks = String::new();
    let mut across = LEFT;
    for entry in entries {
        let spent = down(number(&entry.spent));
        match &entry.decision {
            Decision::Admitted => {
                let _ = write!(path, "V{spent:.2}");
            }
            // A cross, and not a colour alone.
            _ => {
                let _ = write!(
                    marks,
                    "M{:.2} {:.2}l8 8m0 -8l-8 8",
                    across - 4.0,
                    spent - 4.0
                );
            }
        }
        across += step;
        let _ = write!(path, "H{across:.2}");
    }
    let (times, spent) = match (entries.first(), entries.last()) {
        (Some(first), Some(last)) => (
            format!("{} to {}", first.time, last.time),
            number(&last.spent),
        ),
        _ => ("nothing was asked".to_owned(), 0.0),
    };
    let refused = entries
        .iter()
        .filter(|entry| entry.decision != Decision::Admitted);
    let refused: u64 = refused.map(|entry| entry.times).sum();
    let bottom = TOP + HEIGHT;
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" font-family="sans-serif" font-size="12">
<title>{dataset}: {unit} spent {spent} of {limit}, {refused} not admitted</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="{LEFT}" y="16">{dataset}: {unit} spent after each launch. Crosses were not admitted.</text>
<path d="M{LEFT} {TOP}H{}" stroke="#555" stroke-dasharray="6 4"/>
<path d="M{LEFT} {TOP}V{bottom}H{}" fill="none" stroke="#555"/>
<path class="spent" d="{path}" fill="none" stroke="#0b57a4" stroke-width="2"/>
<path class="refused" d="{marks}" fill="none" stroke="#a4200b" stroke-width="2"/>
<text x="{}" y="{}" text-anchor="end">{limit}</text>
<text x="{}" y="{bottom}" text-anchor="end">0</text>
<text x="{}" y="{:.2}" text-anchor="end">{spent}</text>
<text x="{LEFT}" y="{}">{times}</text>
</svg>
"##,
        LEFT + WIDTH + 16.0,
        bottom + 32.0,
        LEFT + WIDTH,
        LEFT + WIDTH,
        LEFT - 6.0,
        TOP + 4.0,
        LEFT - 6.0,
        LEFT + WIDTH,
        down(spent) - 6.0,
        bottom + 20.0,
    )
}
