//! The weights after each step.

use crate::mechanisms::MechanismError;
use crate::mechanisms::limit::COORDINATES;

/// The weights of gradient descent, from zero on: after each step, and averaged. All of it is
/// computed from released sums, and so it is public.
///
/// The average gives later steps more weight: in step t, the new weights count 3/t, and those before
/// (t − 3)/t. It costs nothing, and has less noise than the last weights.
///
/// ```
/// use queryables::mechanisms::Descent;
///
/// let mut descent = Descent::new(1, 0.5)?;
/// for gradient in [-2.0, -2.0, -2.0, -2.0] {
///     descent.step(&[gradient]);
/// }
/// assert_eq!((descent.steps(), descent.weights()), (4, &[4.0][..]));
/// assert_eq!(descent.average(), [3.0 / 4.0 * 4.0 + 1.0 / 4.0 * 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Descent {
    rate: f64,
    steps: u64,
    weights: Vec<f64>,
    average: Vec<f64>,
}

impl Descent {
    /// At zero, before the first step. The rate is what a sum of gradients is multiplied by: the usual
    /// learning rate, divided by a public number of records.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadParameter`] unless it is finite and greater than zero, and
    /// [`MechanismError::TooFew`] or [`MechanismError::TooMany`] unless there are from 1 to 2^21
    /// weights.
    pub fn new(weights: usize, rate: f64) -> Result<Self, MechanismError> {
        if !(rate.is_finite() && rate > 0.0) {
            let must = "finite and greater than zero";
            return Err(MechanismError::parameter("the learning rate", rate, must));
        }
        if weights == 0 {
            return Err(MechanismError::none("weights"));
        }
        COORDINATES.check(weights)?;
        Ok(Self {
            rate,
            steps: 0,
            weights: vec![0.0; weights],
            average: vec![0.0; weights],
        })
    }

    /// What a sum is multiplied by.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Goes down by the rate times this sum of gradients.
    pub fn step(&mut self, sum: &[f64]) {
        self.steps += 1;
        let share = 3.0 / self.steps.max(3) as f64;
        let weights = self.weights.iter_mut().zip(&mut self.average);
        for ((weight, average), slope) in weights.zip(sum) {
            *weight -= self.rate * slope;
            *average += share * (*weight - *average);
        }
    }

    /// The weights after the last step.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The average of the weights after each step.
    #[must_use]
    pub fn average(&self) -> &[f64] {
        &self.average
    }

    /// The number of steps.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }
}
