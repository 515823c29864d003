//! Profiles in serialized form: by the parameters of their noise, or by what they were composed of.
//! Tables are not stored, and are computed again.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::curve::{Curve, Deviation};
use super::profile::{Form, Source};
use super::{Grid, Profile};
use crate::number::{Delta, Epsilon, Mu, Rho, Scale};
use crate::privacy::EpsilonDelta;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Written {
    Gaussian {
        mu: Mu,
    },
    ApproxDp {
        epsilon: Epsilon,
        delta: Delta,
    },
    BoundedRange {
        epsilon: Epsilon,
    },
    Laplace {
        epsilon: Epsilon,
    },
    DiscreteLaplace {
        epsilon: Epsilon,
        steps: u64,
    },
    RoundedGaussian {
        sigma: Scale,
        steps: u32,
    },
    RoundedCount(Count),
    TradeOff {
        corners: Vec<(Delta, Delta)>,
    },
    Sampled {
        rate: Delta,
        base: Box<Written>,
    },
    SampledReplacement {
        rate: Delta,
        mu: Mu,
    },
    Reversed(Box<Written>),
    Worst(Vec<Written>),
    Product {
        grid: Grid,
        parts: Vec<(Profile, u64)>,
    },
    Menu {
        grid: Grid,
        entries: Vec<(Profile, usize)>,
        cost: usize,
    },
}

/// The deviation of noise on a count, 1/μ or 1/√(2ρ).
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Count {
    Mu(Mu),
    Rho(Rho),
}

impl From<&Curve> for Written {
    fn from(curve: &Curve) -> Self {
        match curve {
            Curve::Gaussian(mu) => Self::Gaussian { mu: *mu },
            Curve::Response(EpsilonDelta { epsilon, delta }) => Self::ApproxDp {
                epsilon: *epsilon,
                delta: *delta,
            },
            Curve::BoundedRange(epsilon) => Self::BoundedRange { epsilon: *epsilon },
            Curve::Laplace(epsilon) => Self::Laplace { epsilon: *epsilon },
            Curve::DiscreteLaplace { epsilon, steps } => Self::DiscreteLaplace {
                epsilon: *epsilon,
                steps: *steps,
            },
            Curve::RoundedGaussian { deviation, steps } => match deviation {
                Deviation::Sigma(sigma) => Self::RoundedGaussian {
                    sigma: *sigma,
                    steps: *steps,
                },
                Deviation::OverMu(mu) => Self::RoundedCount(Count::Mu(*mu)),
                Deviation::OverRho(rho) => Self::RoundedCount(Count::Rho(*rho)),
            },
            Curve::Finite(masses) => Self::TradeOff {
                corners: corners(masses),
            },
            Curve::Sampled { rate, base } => Self::Sampled {
                rate: *rate,
                base: Box::new((&**base).into()),
            },
            Curve::Opposite { rate, mu } => Self::SampledReplacement {
                rate: *rate,
                mu: *mu,
            },
        }
    }
}

/// The corners of a polygon whose sides have these widths and heights. The last one, (1, 0), is
/// implied.
fn corners(masses: &[(Delta, Delta)]) -> Vec<(Delta, Delta)> {
    let mut corner = (Delta::ZERO, Delta::ONE);
    let mut corners: Vec<_> = masses
        .iter()
        .map(|(width, height)| {
            corner = (
                corner.0.saturating_add(*width),
                corner.1.saturating_sub(*height),
            );
            corner
        })
        .collect();
    corners.pop();
    corners
}

impl Written {
    fn of(profile: &Profile) -> Result<Self, &'static str> {
        let written = match (profile.source.as_deref(), &profile.form) {
            (Some(Source::Product { parts, grid }), _) => Self::Product {
                grid: *grid,
                parts: parts.to_vec(),
            },
            (
                Some(Source::Menu {
                    entries,
                    cost,
                    grid,
                }),
                _,
            ) => Self::Menu {
                grid: *grid,
                entries: entries.to_vec(),
                cost: *cost,
            },
            (None, Form::Closed(curve)) => curve.into(),
            (None, Form::Worst(several)) => {
                Self::Worst(several.iter().map(Self::of).collect::<Result<_, _>>()?)
            }
            (None, Form::Tables { .. }) => return Err("it is not known what it was composed of"),
        };
        Ok(match profile.reversed {
            true => Self::Reversed(Box::new(written)),
            false => written,
        })
    }

    /// By the constructors, so that only what can be built is read.
    fn build(self) -> Result<Profile, String> {
        Ok(match self {
            Self::Gaussian { mu } => Profile::gaussian(mu),
            Self::ApproxDp { epsilon, delta } => {
                Profile::approx_dp(EpsilonDelta { epsilon, delta })
            }
            Self::BoundedRange { epsilon } => Profile::bounded_range(epsilon),
            Self::Laplace { epsilon } => Profile::laplace(epsilon),
            Self::DiscreteLaplace { epsilon, steps } => Profile::discrete_laplace(epsilon, steps),
            Self::RoundedGaussian { sigma, steps } => Profile::rounded_gaussian(sigma, steps),
            Self::RoundedCount(count) => Profile::rounded_count(match count {
                Count::Mu(mu) => Deviation::OverMu(mu),
                Count::Rho(rho) => Deviation::OverRho(rho),
            }),
            Self::TradeOff { corners } => {
                Profile::from_trade_off(&corners).map_err(|error| error.to_string())?
            }
            Self::Sampled { rate, base } => base
                .build()?
                .sampled(rate)
                .ok_or("only a profile with parameters of its own can be sampled")?,
            Self::SampledReplacement { rate, mu } => Profile::sampled_replacement(rate, mu),
            Self::Reversed(profile) => profile.build()?.reversed(),
            Self::Worst(several) => {
                let several = several.into_iter().map(Self::build);
                let several = several.collect::<Result<Vec<_>, _>>()?;
                let [one, other] = &*several else {
                    return Err("the worst is that of two profiles".to_owned());
                };
                if one == other {
                    return Err("the worst of two equal profiles is each of them".to_owned());
                }
                one.worst(other)
            }
            Self::Product { grid, parts } => {
                Profile::compose(&parts, &grid).map_err(|error| error.to_string())?
            }
            Self::Menu {
                grid,
                entries,
                cost,
            } => {
                let values = Profile::menu(&entries.into(), cost, &grid);
                let value = values.map_err(|error| error.to_string())?.pop();
                value.ok_or("a menu has at least the value of no cost")?
            }
        })
    }
}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = Written::of(self).map_err(S::Error::custom)?;
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Profile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        written.build().map_err(D::Error::custom)
    }
}

/// What is not the default is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenGrid {
    step: Epsilon,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    aim: Option<Delta>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<Epsilon>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spread: Option<u32>,
}

impl Serialize for Grid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = WrittenGrid {
            step: self.step(),
            aim: self.aim,
            place: self.place,
            spread: (self.spread != Self::SPREAD).then_some(self.spread),
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Grid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = WrittenGrid::deserialize(deserializer)?;
        let mut grid = Self::new(written.step).map_err(D::Error::custom)?;
        grid.aim = written.aim.filter(|aim| *aim > Delta::ZERO);
        grid.place = written.place;
        grid.spread = written.spread.unwrap_or(Self::SPREAD).max(1);
        Ok(grid)
    }
}
