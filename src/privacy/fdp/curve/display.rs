use std::fmt;

use super::Curve;

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gaussian(mu) => write!(f, "Gaussian({mu})"),
            Self::Response(loss) => write!(f, "({}, {})-DP", loss.epsilon, loss.delta),
            Self::BoundedRange(range) => write!(f, "bounded range({range})"),
            Self::Laplace(epsilon) => write!(f, "Laplace({epsilon})"),
            Self::DiscreteLaplace { epsilon, steps } => {
                write!(f, "discrete Laplace({epsilon}) in {steps} steps")
            }
            Self::RoundedGaussian { deviation, steps } => {
                write!(f, "rounded Gaussian({deviation}) moved by {steps}")
            }
            Self::Finite(masses) => write!(f, "{} answers", masses.len()),
            Self::Sampled { rate, base } => write!(f, "{base} sampled at {rate}"),
            Self::Opposite { rate, mu } => {
                write!(f, "Gaussian({mu}) sampled at {rate}, a row replaced")
            }
        }
    }
}
