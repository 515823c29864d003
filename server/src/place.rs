//! Where an analyst launches, and what a launch would cost there.

use std::sync::Arc;

use queryables::machine::PublicMetadata;

use crate::analyst::Analyst;
use crate::dataset::Dataset;
use crate::loss::LossText;
use crate::problem::{Code, Problem};
use crate::question::Ready;
use crate::seat::{Price, Seat};
use crate::view::Preview;

/// A budget in which an analyst launches: that of a dataset, or a share of it.
#[derive(Clone)]
pub struct Place {
    pub dataset: Arc<Dataset>,
    pub seat: Arc<dyn Seat>,
    /// Which of the analyst's budgets.
    pub name: String,
}

impl Place {
    /// The price of a launch, if the data can be reached: whether it can is asked before the charge.
    fn price(&self, ready: &Ready) -> Result<Price, Problem> {
        match self.dataset.data.is_reachable() {
            true => self.seat.price(&ready.launch),
            false => Err(Code::Unavailable.into()),
        }
    }

    /// What a launch costs; an error if it is less than the curator allows.
    pub fn cost(&self, ready: &Ready) -> Result<LossText, Problem> {
        let price = self.price(ready)?;
        match price.too_small {
            true => Err(Problem::invalid_query(
                "a launch must cost more: see the dataset's terms",
            )),
            false => Ok(price.cost),
        }
    }

    /// What a launch would cost. Charges nothing.
    pub fn preview(&self, analyst: &Analyst, ready: &Ready) -> Result<Preview, Problem> {
        let price = self.price(ready)?;
        let question = ready.launch.describe();
        let hash = self.dataset.hash(&analyst.name, &question);
        Ok(Preview {
            cost: price.cost,
            launches_left: price.left.certainly(),
            at_least: matches!(price.left, queryables::account::LaunchesLeft::AtLeast(_)),
            accuracy: ready.accuracy,
            confidence: ready.confidence.to_string(),
            answered_before: crate::limits::lock(&self.dataset.answered).contains(&hash),
            question: question.to_string(),
        })
    }
}
