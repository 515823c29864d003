//! Losses as texts: budgets, quotas and prices in configurations and requests.

use queryables::number::{Epsilon, Mu, Rho};
use queryables::privacy::{ApproxDp, EpsilonDelta, Gdp, PureDp, ZCdp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A loss. Which fields it has says under which measure: ε is pure privacy, ε and δ approximate, ρ
/// concentrated (zCDP), μ Gaussian. Numbers are decimal texts, and exact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"epsilon": "0.1"}))]
pub struct LossText {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<String>,
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
    Concentrated,
    Gaussian,
}

impl LossText {
    /// Its measure; none if the fields fit none.
    pub fn measure(&self) -> Option<MeasureName> {
        match (&self.epsilon, &self.delta, &self.rho, &self.mu) {
            (Some(_), None, None, None) => Some(MeasureName::Pure),
            (Some(_), Some(_), None, None) => Some(MeasureName::Approx),
            (None, None, Some(_), None) => Some(MeasureName::Concentrated),
            (None, None, None, Some(_)) => Some(MeasureName::Gaussian),
            _ => None,
        }
    }
}

impl LossText {
    /// Its numbers, each with its name.
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
    fn read(text: &LossText) -> Result<Self::Loss, String>;

    /// Whether a loss is smaller than another, where only one number of it counts.
    fn is_less(one: &Self::Loss, other: &Self::Loss) -> bool;

    /// A loss as a request or a configuration would say it.
    fn write(loss: &Self::Loss) -> LossText;
}

fn number<T: std::str::FromStr<Err: std::fmt::Display>>(
    name: &str,
    text: Option<&String>,
) -> Result<T, String> {
    let text = text.ok_or_else(|| format!("{name} is missing: the dataset's measure needs it"))?;
    text.parse()
        .map_err(|error| format!("{name} = {text:?}: {error}"))
}

/// An error if the fields are those of another measure.
fn only(text: &LossText, measure: MeasureName, needed: &str) -> Result<(), String> {
    match text.measure() {
        Some(found) if found == measure => Ok(()),
        _ => Err(format!("the dataset's budget needs a loss in {needed}")),
    }
}

macro_rules! one_number {
    ($Measure:ident, $Loss:ident, $Name:ident, $field:ident) => {
        impl ReadsLoss for $Measure {
            fn read(text: &LossText) -> Result<$Loss, String> {
                only(text, MeasureName::$Name, stringify!($field))?;
                number(stringify!($field), text.$field.as_ref())
            }

            fn is_less(one: &$Loss, other: &$Loss) -> bool {
                one < other
            }

            fn write(loss: &$Loss) -> LossText {
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

impl ReadsLoss for ApproxDp {
    /// A loss without δ has δ = 0.
    fn read(text: &LossText) -> Result<EpsilonDelta, String> {
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

    fn write(loss: &EpsilonDelta) -> LossText {
        LossText {
            epsilon: Some(loss.epsilon.to_string()),
            delta: Some(loss.delta.to_string()),
            ..LossText::default()
        }
    }
}
