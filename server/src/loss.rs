//! Losses as texts: budgets, quotas and prices in configurations and requests.

use queryables::number::{Epsilon, Mu, Order, Rho};
use queryables::privacy::{ApproxDp, EpsilonDelta, Gdp, PureDp, Rdp, ZCdp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A loss. Which fields it has says under which measure: ε is pure privacy, ε and δ approximate, ε and an
/// order Rényi, ρ concentrated (zCDP), μ Gaussian. Numbers are decimal texts, and exact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a loss with named fields, such as an `epsilon` of \"1\""
)]
#[schema(example = json!({"epsilon": "0.1"}))]
pub struct LossText {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<String>,
    /// The Rényi order at which ε holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rho: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<String>,
}

/// The measure of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureName {
    Pure,
    Approx,
    Renyi,
    Concentrated,
    Gaussian,
}

impl LossText {
    /// Its measure; none if the fields fit none.
    pub fn measure(&self) -> Option<MeasureName> {
        let Self {
            epsilon,
            delta,
            order,
            rho,
            mu,
        } = self;
        match (epsilon, delta, order, rho, mu) {
            (Some(_), None, None, None, None) => Some(MeasureName::Pure),
            (Some(_), Some(_), None, None, None) => Some(MeasureName::Approx),
            (Some(_), None, Some(_), None, None) => Some(MeasureName::Renyi),
            (None, None, None, Some(_), None) => Some(MeasureName::Concentrated),
            (None, None, None, None, Some(_)) => Some(MeasureName::Gaussian),
            _ => None,
        }
    }

    /// Its numbers, each with its name. An order is none: it is spent by nobody.
    pub fn numbers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let numbers = [
            ("epsilon", &self.epsilon),
            ("delta", &self.delta),
            ("rho", &self.rho),
            ("mu", &self.mu),
        ];
        numbers
            .into_iter()
            .filter_map(|(name, number)| Some((name, number.as_deref()?)))
    }
}

/// A measure whose losses can be read from texts.
pub trait ReadsLoss: queryables::privacy::Measure {
    /// The loss; an error says what is wrong, in words.
    fn read(&self, text: &LossText) -> Result<Self::Loss, String>;

    /// Whether a loss is smaller than another, where only one number of it counts.
    fn is_less(one: &Self::Loss, other: &Self::Loss) -> bool;

    /// A loss as a request or a configuration would say it.
    fn write(&self, loss: &Self::Loss) -> LossText;
}

/// A number of a loss or a rule; an error names it.
pub fn number<T: std::str::FromStr<Err: std::fmt::Display>>(
    name: &str,
    text: Option<&String>,
) -> Result<T, String> {
    let text = text.ok_or_else(|| format!("{name} is missing"))?;
    text.parse()
        .map_err(|error| format!("{name} = {text:?}: {error}"))
}

/// An error if the fields are those of another measure.
fn only(text: &LossText, measure: MeasureName, needed: &str) -> Result<(), String> {
    match text.measure() {
        Some(found) if found == measure => Ok(()),
        _ => Err(format!("losses here are stated in {needed}")),
    }
}

macro_rules! one_number {
    ($Measure:ident, $Loss:ident, $Name:ident, $field:ident) => {
        impl ReadsLoss for $Measure {
            fn read(&self, text: &LossText) -> Result<$Loss, String> {
                only(text, MeasureName::$Name, stringify!($field))?;
                number(stringify!($field), text.$field.as_ref())
            }

            fn is_less(one: &$Loss, other: &$Loss) -> bool {
                one < other
            }

            fn write(&self, loss: &$Loss) -> LossText {
                LossText {
                    $field: Some(loss.to_string()),
                    ..LossText::default()
                }
            }
        }
    };
}
one_number!(PureDp, Epsilon, Pure, epsilon);
one_number!(ZCdp, Rho, Concentrated, rho);
one_number!(Gdp, Mu, Gaussian, mu);

impl ReadsLoss for Rdp {
    /// At the order of the budget.
    fn read(&self, text: &LossText) -> Result<Epsilon, String> {
        let needed = format!("epsilon at the order {}", self.order());
        only(text, MeasureName::Renyi, &needed)?;
        match number::<Order>("order", text.order.as_ref())? {
            order if order == self.order() => number("epsilon", text.epsilon.as_ref()),
            _ => Err(format!("losses here are stated in {needed}")),
        }
    }

    fn is_less(one: &Epsilon, other: &Epsilon) -> bool {
        one < other
    }

    fn write(&self, loss: &Epsilon) -> LossText {
        LossText {
            epsilon: Some(loss.to_string()),
            order: Some(self.order().to_string()),
            ..LossText::default()
        }
    }
}

impl ReadsLoss for ApproxDp {
    /// A loss without δ has δ = 0.
    fn read(&self, text: &LossText) -> Result<EpsilonDelta, String> {
        if text.measure() != Some(MeasureName::Pure) {
            only(text, MeasureName::Approx, "epsilon and delta")?;
        }
        let zero = "0".to_owned();
        Ok(EpsilonDelta {
            epsilon: number("epsilon", text.epsilon.as_ref())?,
            delta: number("delta", text.delta.as_ref().or(Some(&zero)))?,
        })
    }

    /// By ε alone.
    fn is_less(one: &EpsilonDelta, other: &EpsilonDelta) -> bool {
        one.epsilon < other.epsilon
    }

    fn write(&self, loss: &EpsilonDelta) -> LossText {
        LossText {
            epsilon: Some(loss.epsilon.to_string()),
            delta: Some(loss.delta.to_string()),
            ..LossText::default()
        }
    }
}
