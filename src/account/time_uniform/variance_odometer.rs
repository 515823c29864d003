use super::mixture::Mixture;
use super::spent::{Spent, SubGaussian, Variance};
use super::stitched::Stitched;
use super::tangent::Tangent;
use super::{Reading, Slack, TimeUniformOdometer};
#[cfg(feature = "serde")]
use crate::account::durable::{Durable, Invalid};
use crate::account::twice_rho::squares;
use crate::number::{Epsilon, Interval, U256};
use crate::privacy::{Overflow, ProbabilisticDp, ZCdp};

/// An odometer whose bound, for launches without δ, is a function of V: a
/// [tangent](Self::tangent), a [mixture](Self::mixture) or [stitched lines](Self::stitched).
///
/// `M` is the measure of the launches: [`ProbabilisticDp`], or [`ZCdp`] after
/// [`for_zcdp`](Self::for_zcdp).
#[derive(Clone, Debug, PartialEq)]
#[must_use = "`add` gives the next odometer and changes nothing"]
pub struct VarianceOdometer<M = ProbabilisticDp> {
    pub(super) bound: Bound,
    launches: M,
    slack: Slack,
    spent: Spent,
}

/// A bound on the realised loss as a function of V, at all times at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    Tangent(Tangent),
    Mixture(Mixture),
    Stitched(Stitched),
}

impl Bound {
    /// At this V; `None` if nothing is known there.
    fn at(&self, squares: U256) -> Option<Interval> {
        match self {
            Self::Tangent(bound) => Some(bound.at(squares)),
            Self::Mixture(bound) => Some(bound.at(squares)),
            Self::Stitched(bound) => bound.at(squares),
        }
    }
}

impl VarianceOdometer {
    /// Nothing counted yet.
    pub(super) fn with_bound(bound: Bound, slack: Slack) -> Self {
        Self {
            bound,
            launches: ProbabilisticDp,
            slack,
            spent: Spent::default(),
        }
    }

    /// The same for launches under zCDP, Gaussian noise for example. What was counted stays counted.
    pub fn for_zcdp(self) -> VarianceOdometer<ZCdp> {
        VarianceOdometer {
            bound: self.bound,
            launches: ZCdp,
            slack: self.slack,
            spent: self.spent,
        }
    }
}

impl<M> VarianceOdometer<M> {
    /// The bound at this variance, of launches without δ, rounded up; `None` if nothing is known
    /// there, or if it is more than can be held.
    #[must_use]
    pub fn bound_at(&self, variance: Variance) -> Option<Epsilon> {
        self.bound.at(squares(variance)).and_then(Interval::up)
    }
}

impl<M: SubGaussian> TimeUniformOdometer for VarianceOdometer<M> {
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
        self.spent
            .reading(&self.slack, |squares| self.bound.at(squares))
    }
}

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters<M> {
    launches: M,
    slack: Slack,
    bound: Written,
}

/// A bound by its one parameter, exactly as it was written.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    Tangent(String),
    Mixture(String),
    Stitched(Variance),
}

#[cfg(feature = "serde")]
impl Written {
    fn of(bound: &Bound) -> Self {
        match bound {
            Bound::Tangent(bound) => Self::Tangent(format!("{:?}", bound.tangent)),
            Bound::Mixture(bound) => Self::Mixture(format!("{:?}", bound.gamma)),
            Bound::Stitched(bound) => Self::Stitched(bound.start),
        }
    }

    fn read(&self, slack: Slack) -> Option<Bound> {
        let positive = |written: &str| {
            let number = written.parse().ok();
            number.filter(|number: &f64| number.is_finite() && *number > 0.0)
        };
        Some(match self {
            Self::Tangent(at) => Bound::Tangent(Tangent::new(positive(at)?, slack)),
            Self::Mixture(gamma) => Bound::Mixture(Mixture::new(positive(gamma)?, slack)),
            Self::Stitched(start) => Bound::Stitched(Stitched::new(*start, slack)),
        })
    }
}

#[cfg(feature = "serde")]
impl<M> Durable for VarianceOdometer<M>
where
    M: SubGaussian + serde::Serialize + serde::de::DeserializeOwned,
{
    const NAME: &'static str = "VarianceOdometer";

    type Parameters = Parameters<M>;
    type Counts = Spent;

    fn parameters(&self) -> Parameters<M> {
        Parameters {
            launches: self.launches.clone(),
            slack: self.slack,
            bound: Written::of(&self.bound),
        }
    }

    fn build(parameters: Parameters<M>) -> Result<Self, Invalid> {
        let Parameters {
            launches,
            slack,
            bound,
        } = parameters;
        let bound = bound.read(slack);
        Ok(Self {
            bound: bound.ok_or("the parameter must be a positive number")?,
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
