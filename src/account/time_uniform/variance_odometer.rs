use std::fmt::Debug;

use super::spent::{Spent, SubGaussian, Variance};
use super::{Reading, Slack, TimeUniformOdometer};
#[cfg(feature = "serde")]
use crate::account::durable::{Durable, Invalid};
use crate::account::twice_rho::squares;
use crate::number::{Epsilon, Interval, U256};
use crate::privacy::{Overflow, ProbabilisticDp, ZCdp};

/// An odometer whose bound, for launches without δ, is a function of V: a [`TangentOdometer`], a
/// [`MixtureOdometer`] or a [`StitchedOdometer`], each of which has an example.
///
/// `M` is the measure of the launches: [`ProbabilisticDp`], or [`ZCdp`] after
/// [`for_zcdp`](Self::for_zcdp).
///
/// [`TangentOdometer`]: super::TangentOdometer
/// [`MixtureOdometer`]: super::MixtureOdometer
/// [`StitchedOdometer`]: super::StitchedOdometer
#[derive(Clone, Debug, PartialEq)]
#[must_use = "`add` gives the next odometer and changes nothing"]
pub struct VarianceOdometer<B, M = ProbabilisticDp> {
    pub(super) boundary: B,
    launches: M,
    slack: Slack,
    spent: Spent,
}

/// A bound on the realised loss as a function of V, at all times at once.
pub(crate) trait Boundary: Clone + Debug + Send + Sync + 'static {
    /// At this V; `None` if nothing is known there.
    fn at(&self, squares: U256) -> Option<Interval>;
}

impl<B> VarianceOdometer<B> {
    /// Nothing counted yet.
    pub(super) fn with_boundary(boundary: B, slack: Slack) -> Self {
        Self {
            boundary,
            launches: ProbabilisticDp,
            slack,
            spent: Spent::default(),
        }
    }

    /// The same for launches under zCDP, Gaussian noise for example. What was counted stays counted.
    pub fn for_zcdp(self) -> VarianceOdometer<B, ZCdp> {
        VarianceOdometer {
            boundary: self.boundary,
            launches: ZCdp,
            slack: self.slack,
            spent: self.spent,
        }
    }
}

#[expect(
    private_bounds,
    reason = "three bounds are proved, and nobody adds one"
)]
impl<B: Boundary, M> VarianceOdometer<B, M> {
    /// The bound at this variance, of launches without δ, rounded up; `None` if nothing is known
    /// there, or if it is more than can be held.
    #[must_use]
    pub fn bound_at(&self, variance: Variance) -> Option<Epsilon> {
        self.boundary.at(squares(variance)).and_then(Interval::up)
    }
}

impl<B: Boundary, M: SubGaussian> TimeUniformOdometer for VarianceOdometer<B, M> {
    type Launches = M;

    fn launches(&self) -> &M {
        &self.launches
    }

    fn add(&self, loss: &M::Loss) -> Result<Self, Overflow> {
        let spent = self.spent.add::<M>(loss)?;
        Ok(Self {
            spent,
            ..self.clone()
        })
    }

    fn reading(&self) -> Reading {
        let boundary = |squares| self.boundary.at(squares);
        self.spent.reading(&self.slack, boundary)
    }
}

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters<M> {
    launches: M,
    slack: Slack,
    parameter: String,
}

/// The bound of an odometer by its one parameter.
#[cfg(feature = "serde")]
pub(crate) trait Parameter: Boundary {
    /// The odometer's name.
    const NAME: &'static str;

    /// The parameter, exactly.
    fn parameter(&self) -> String;

    /// With this parameter, if it is one.
    fn read(parameter: &str, slack: Slack) -> Option<Self>;
}

/// A positive float, exactly as it was written.
#[cfg(feature = "serde")]
pub(super) fn positive(parameter: &str) -> Option<f64> {
    let number = parameter.parse().ok();
    number.filter(|number: &f64| number.is_finite() && *number > 0.0)
}

#[cfg(feature = "serde")]
impl<B, M> Durable for VarianceOdometer<B, M>
where
    B: Parameter,
    M: SubGaussian + serde::Serialize + serde::de::DeserializeOwned,
{
    const NAME: &'static str = B::NAME;

    type Parameters = Parameters<M>;
    type Counts = Spent;

    fn parameters(&self) -> Parameters<M> {
        Parameters {
            launches: self.launches.clone(),
            slack: self.slack,
            parameter: self.boundary.parameter(),
        }
    }

    fn build(parameters: Parameters<M>) -> Result<Self, Invalid> {
        let Parameters {
            launches,
            slack,
            parameter,
        } = parameters;
        let boundary = B::read(&parameter, slack);
        Ok(Self {
            boundary: boundary.ok_or("the parameter must be a positive number")?,
            launches,
            slack,
            spent: Spent::default(),
        })
    }

    fn counts(&self) -> Spent {
        self.spent
    }

    fn resume(&self, spent: Spent) -> Result<Self, Invalid> {
        Ok(Self {
            spent,
            ..self.clone()
        })
    }
}
