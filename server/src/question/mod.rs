//! The vocabulary: what can be launched and asked, in JSON.

mod choice;
mod expression;
mod group;
mod noise;
mod opening;
mod over_time;
mod release;
mod search;
mod statistic;
mod weights;

use queryables::number::Confidence;

use crate::problem::Problem;
use crate::seat::Launch;

pub use expression::Written;
pub use opening::{Opening, Share};
pub use release::Release;

/// A launch, ready to be made.
pub struct Ready {
    pub launch: Launch,
    /// How far an answer is from the truth, with the confidence; none where it depends on more than the
    /// question. A release does not need it: it is computed where it is shown.
    pub accuracy: Box<dyn Fn() -> Option<f64>>,
    pub confidence: Confidence,
}

/// A number that a question states; an error names it.
fn read<T: std::str::FromStr<Err: std::fmt::Display>>(
    name: &str,
    text: &str,
) -> Result<T, Problem> {
    let parsed = text.parse();
    parsed.map_err(|error| Problem::invalid_query(format!("{name} = {text:?}: {error}")))
}

/// That of a question, or what it is by default.
fn confidence(text: Option<&str>) -> Result<Confidence, Problem> {
    read("confidence", text.unwrap_or("0.95"))
}
