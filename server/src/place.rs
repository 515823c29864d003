//! Where an analyst launches, and what a launch would cost there.

use std::sync::Arc;

use queryables::account::LaunchesLeft;
use queryables::machine::PublicMetadata;

use crate::analyst::Analyst;
use crate::dataset::Dataset;
use crate::loss::LossText;
use crate::problem::{Code, Problem};
use crate::question::Ready;
use crate::seat::Seat;
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
    /// An error if the data cannot be reached: that is asked before the charge.
    fn reachable(&self) -> Result<(), Problem> {
        match self.dataset.data.is_reachable() {
            true => Ok(()),
            false => Err(Code::Unavailable.into()),
        }
    }

    /// What a launch costs; an error if it is less than the curator allows.
    pub fn cost(&self, ready: &Ready) -> Result<LossText, Problem> {
        self.reachable()?;
        let cost = self.seat.cost(&ready.launch)?;
        match cost.too_small {
            true => Err(Problem::invalid_query(
                "a launch must cost more: see the dataset's terms",
            )),
            false => Ok(cost.loss),
        }
    }

    /// What a launch would cost. Charges nothing.
    pub fn preview(&self, analyst: &Analyst, ready: &Ready) -> Result<Preview, Problem> {
        self.reachable()?;
        let left = self.seat.launches_left(&ready.launch)?;
        let question = ready.launch.description().to_string();
        Ok(Preview {
            cost: self.seat.cost(&ready.launch)?.loss,
            launches_left: left.certainly(),
            at_least: matches!(left, LaunchesLeft::AtLeast(_)),
            accuracy: (ready.accuracy)(),
            confidence: ready.confidence.to_string(),
            answered_before: self.dataset.was_answered(&analyst.name, &question),
            question,
        })
    }
}
