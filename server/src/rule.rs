//! The rule of a budget: by which theorem the losses of launches add up.

use queryables::account::menu::{MenuEntry, MenuFilter};
use queryables::account::{
    Accumulator, Capped, DefaultAccumulator, FixedCount, NaturalFilter, Rogers, RootSumSquares,
    Sum, ThroughRdp, ThroughZCdp,
};
use queryables::privacy::{ApproxDp, Gdp, PureDp, Rdp, ZCdp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::loss::{LossText, MeasureName, ReadsLoss, number};

/// How losses add up, as the curator writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RuleText {
    /// They are added; under Gaussian privacy their squares are. Launches state the measure of the
    /// budget.
    #[default]
    Sum,
    /// Launches state (ε, δ), which add up as zCDP; `slack` is a part of the budget's δ.
    Whitehouse { slack: String },
    /// Launches state (ε, δ), which add up at a Rényi order; `slack` is a part of the budget's δ.
    Renyi { order: String, slack: String },
    /// Launches state (ε, δ); δ is a part of the budget's.
    Rogers,
    /// Launches state (ε, δ), of which none is more than `each`: as many as an exact composition
    /// admits.
    FixedCount { each: LossText },
    /// Launches state (ε, δ) and pay the cost of the smallest entry that covers them. `slack` is a part
    /// of the budget's δ, and entries are compared on multiples of `step`.
    Menu {
        slack: String,
        step: String,
        entries: Vec<Entry>,
    },
    /// Launches state ρ, and the budget is (ε, δ).
    Concentrated,
    /// Launches state μ, and the budget is (ε, δ).
    Gaussian,
}

/// A line of a price list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The most that a launch may lose.
    pub epsilon: String,
    pub cost: u64,
}

/// A rule with its budget.
#[derive(Clone)]
pub enum Rule {
    Pure(Capped<Sum<PureDp>>),
    Approx(Capped<Sum<ApproxDp>>),
    ZCdp(Capped<Sum<ZCdp>>),
    Gdp(Capped<RootSumSquares>),
    Rdp(Capped<Sum<Rdp>>),
    Whitehouse(ThroughZCdp),
    Renyi(ThroughRdp),
    Rogers(Rogers),
    FixedCount(FixedCount),
    Menu(MenuFilter),
    Concentrated(ThroughZCdp<ZCdp>),
    Gaussian(NaturalFilter<Gdp>),
}

/// The same code for every rule: each has a type of its own.
macro_rules! each_rule {
    ($rule:expr, $inner:ident => $body:expr) => {
        match $rule {
            $crate::rule::Rule::Pure($inner) => $body,
            $crate::rule::Rule::Approx($inner) => $body,
            $crate::rule::Rule::ZCdp($inner) => $body,
            $crate::rule::Rule::Gdp($inner) => $body,
            $crate::rule::Rule::Rdp($inner) => $body,
            $crate::rule::Rule::Whitehouse($inner) => $body,
            $crate::rule::Rule::Renyi($inner) => $body,
            $crate::rule::Rule::Rogers($inner) => $body,
            $crate::rule::Rule::FixedCount($inner) => $body,
            $crate::rule::Rule::Menu($inner) => $body,
            $crate::rule::Rule::Concentrated($inner) => $body,
            $crate::rule::Rule::Gaussian($inner) => $body,
        }
    };
}
pub(crate) use each_rule;

/// What a failed constructor says.
fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Rule {
    /// The rule of a budget; an error says what is wrong with either, in words.
    pub fn read(budget: &LossText, text: &RuleText) -> Result<Self, String> {
        fn sum<Me: ReadsLoss + DefaultAccumulator>(
            measure: &Me,
            budget: &LossText,
        ) -> Result<Capped<Me::Accumulator>, String>
        where
            Me::Accumulator: Accumulator<Whole = Me>,
        {
            Ok(measure.accumulator().capped(measure.read(budget)?))
        }
        if let RuleText::Sum = text {
            return Ok(match budget.measure() {
                Some(MeasureName::Pure) => Self::Pure(sum(&PureDp, budget)?),
                Some(MeasureName::Approx) => Self::Approx(sum(&ApproxDp, budget)?),
                Some(MeasureName::Concentrated) => Self::ZCdp(sum(&ZCdp, budget)?),
                Some(MeasureName::Gaussian) => Self::Gdp(sum(&Gdp, budget)?),
                Some(MeasureName::Renyi) => {
                    let order = number("order", budget.order.as_ref())?;
                    Self::Rdp(sum(&Rdp::new(order), budget)?)
                }
                None => {
                    return Err(
                        "a budget is {epsilon}, {epsilon, delta}, {order, epsilon}, {rho} or {mu}"
                            .to_owned(),
                    );
                }
            });
        }
        if budget.measure() != Some(MeasureName::Approx) {
            return Err("under this rule the budget is {epsilon, delta}".to_owned());
        }
        let limit = ApproxDp.read(budget)?;
        Ok(match text {
            RuleText::Sum => Self::Approx(sum(&ApproxDp, budget)?),
            RuleText::Whitehouse { slack } => {
                let slack = number("slack", Some(slack))?;
                Self::Whitehouse(ThroughZCdp::tight(limit, slack).map_err(words)?)
            }
            RuleText::Renyi { order, slack } => {
                let (order, slack) = (number("order", Some(order))?, number("slack", Some(slack))?);
                Self::Renyi(ThroughRdp::at(order, limit, slack).map_err(words)?)
            }
            RuleText::Rogers => Self::Rogers(Rogers::new(limit).map_err(words)?),
            RuleText::FixedCount { each } => {
                let each = ApproxDp
                    .read(each)
                    .map_err(|error| format!("each: {error}"))?;
                Self::FixedCount(FixedCount::most(limit, each).map_err(words)?)
            }
            RuleText::Menu {
                slack,
                step,
                entries,
            } => {
                let entries = entries.iter().map(|entry| {
                    let epsilon = number("epsilon", Some(&entry.epsilon))?;
                    Ok(MenuEntry::new(epsilon, entry.cost))
                });
                let entries = entries.collect::<Result<Vec<_>, String>>()?;
                let (slack, step) = (number("slack", Some(slack))?, number("step", Some(step))?);
                Self::Menu(MenuFilter::new(limit, slack, step, &entries).map_err(words)?)
            }
            RuleText::Concentrated => {
                Self::Concentrated(ThroughZCdp::for_zcdp(limit).map_err(words)?)
            }
            RuleText::Gaussian => Self::Gaussian(NaturalFilter::new(limit, Gdp).map_err(words)?),
        })
    }

    /// Whether launches state their loss like this: the error says how.
    pub fn reads(&self, loss: &LossText) -> Result<(), String> {
        use queryables::account::Accounting;
        each_rule!(self, rule => rule.children().read(loss).map(drop))
    }
}
