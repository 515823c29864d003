//! Noise, by the loss that it costs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Which noise, for which loss.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// Discrete Laplace noise, for an ε.
    Laplace {
        #[schema(example = "0.1")]
        epsilon: String,
    },
    /// Rounded Gaussian noise, for a ρ or a μ.
    Gaussian(GaussianLoss),
}

/// The loss of Gaussian noise.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GaussianLoss {
    Rho(String),
    Mu(String),
}
