//! What the protocol says: the JSON of budgets, children, previews and answers.

use queryables::table::Schema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::asking::Query;
use crate::children::{Child, Opened};
use crate::loss::LossText;
use crate::problem::Problem;
use crate::question::Written;
use crate::rule::RuleText;
use crate::seat::Seat;

/// Who has the token of a request.
#[derive(Serialize, ToSchema)]
pub struct Me {
    pub name: String,
    pub role: Role,
}

/// What a token is for.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Asks questions.
    Analyst,
    /// Reads budgets, records and counters, and asks nothing.
    Curator,
}

/// A dataset, as an analyst sees it.
#[derive(Serialize, ToSchema)]
pub struct DatasetView {
    pub name: String,
    /// Columns with their public domains, and who one person is.
    #[schema(value_type = Object)]
    pub schema: Schema,
    /// How the losses of launches add up: `"sum"`, or another rule with its parameters.
    pub rule: RuleText,
    #[serde(flatten)]
    pub budget: BudgetView,
}

/// A budget, as an analyst sees it. `limit` and `spent` are stated in the measure of the budget; what is
/// left, and quotas, in that of launches, which is the same unless the rule says another.
#[derive(Serialize, ToSchema)]
pub struct BudgetView {
    pub limit: LossText,
    /// By everybody together.
    pub spent: LossText,
    pub remaining: LossText,
    /// The analyst's own quota, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<LossText>,
    /// What is left of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_remaining: Option<LossText>,
    /// How many launches there were.
    pub launched: u64,
    /// It was stopped for good.
    pub halted: bool,
}

/// What a launch would cost.
#[derive(Serialize, ToSchema)]
pub struct Preview {
    pub cost: LossText,
    /// How many such launches the budget and the quota admit, one after the other.
    pub launches_left: u64,
    /// Counting stopped there: there may be more.
    pub at_least: bool,
    /// How far an answer is from the truth, with the confidence; null if that needs a guess of the
    /// number of rows.
    pub accuracy: Option<f64>,
    pub confidence: String,
    /// Whether the same question was answered before: to this analyst, or to anybody if the curator
    /// shares questions.
    pub answered_before: bool,
    /// The question, as the ledger would record it.
    pub question: String,
}

/// An answer, what it cost, and what is left.
#[derive(Serialize, ToSchema)]
pub struct Released {
    #[serde(flatten)]
    pub answer: Answer,
    pub loss: LossText,
    pub remaining: LossText,
}

/// A child that is open.
#[derive(Serialize, ToSchema)]
pub struct ChildView {
    /// Its identifier, which nobody else can guess. Keep it secret.
    pub child: String,
    pub dataset: String,
    pub kind: String,
    /// As the ledger records it.
    pub question: String,
    /// The number of its next question.
    pub next: u64,
    /// It answers no more: every hit was found, it has failed, or it was asked as often as it may be.
    pub exhausted: bool,
    /// How far an answer is from the truth, with a probability of 0.95; null where it is not known.
    pub accuracy: Option<f64>,
    /// The budget of a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetView>,
    /// What its launch cost; only when it is opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossText>,
    /// What is left of the budget that it was launched in; only when it is opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<LossText>,
}

/// A question to a child. Searches and counts are asked `where`, counts over time are asked `time`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"number": 0, "where": "age <= 40"}))]
pub struct Ask {
    /// Its number in the conversation, from 0. The same number and question get the same answer.
    pub number: u64,
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Written>,
    /// How many buckets of time have passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
}

impl Ask {
    pub fn query(&self, schema: &Schema) -> Result<Query, Problem> {
        match (&self.condition, self.time) {
            (Some(condition), None) => Ok(Query::Condition(condition.condition(schema)?)),
            (None, Some(time)) => Ok(Query::Time(time)),
            _ => Err(Problem::invalid_request("a question has `where` or `time`")),
        }
    }
}

/// The answer of a child.
#[derive(Serialize, ToSchema)]
pub struct Asked {
    #[serde(flatten)]
    pub answer: Answer,
    pub number: u64,
    /// The number of the next question.
    pub next: u64,
    /// This was its last answer.
    pub exhausted: bool,
}

pub fn budget_view(seat: &dyn Seat) -> Result<BudgetView, Problem> {
    let reading = seat.reading()?;
    Ok(BudgetView {
        limit: reading.limit,
        spent: reading.spent,
        remaining: reading.remaining,
        quota: reading.quota,
        quota_remaining: reading.quotas.into_iter().next(),
        launched: reading.launched,
        halted: reading.halted,
    })
}

impl Child {
    pub fn view(&self) -> Result<ChildView, Problem> {
        let budget = match &self.open {
            Opened::Machine(_) => None,
            Opened::Share(seat) => Some(budget_view(&**seat)?),
        };
        let talk = self.talk();
        Ok(ChildView {
            child: self.id.clone(),
            dataset: self.about.dataset.clone(),
            kind: self.about.kind.to_owned(),
            question: self.about.description.clone(),
            next: talk.next,
            exhausted: talk.exhausted,
            accuracy: self.about.accuracy,
            budget,
            loss: None,
            remaining: None,
        })
    }
}
