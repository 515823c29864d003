//! Private gradient descent (Feldman and Zrnic §6): each step releases a noisy sum of clipped
//! gradients, and the weights are computed from what was released.
//!
//! | part | what it is |
//! |---|---|
//! | [`Objective`] | the gradient of one record's loss, a public function of weights and record; [`Objective::logistic`] is logistic regression |
//! | [`Descent`] | the weights after each step, and their average |
//! | [`GradientDescent`] | a given number of steps as one mechanism (F Alg. 7), or more of them, with a budget for each record (F Alg. 8) |
//!
//! A sum is not divided by the number of records, which is private: the learning rate is for sums.
//! Choose it as the usual one divided by a number that is public, such as how many records were
//! expected.
//!
//! Noise is drawn once for each step and added to the sum. (F prints it inside the sum over records;
//! the guarantees of F are for one draw.)
//!
//! # Your own loop
//!
//! Where the steps are to be seen one by one, to stop early for instance, release the sums from a
//! filter. All of it is covered by the filter's guarantee: the weights are a postprocessing of
//! released sums, and the next query depends on them only.
//!
//! ```
//! use queryables::mechanisms::{Descent, Lattice, Objective, VectorSum};
//! use queryables::prelude::*;
//! use std::sync::Arc;
//!
//! // One feature and a constant; the label is whether the feature is positive.
//! let examples: Vec<(f64, bool)> = (-500..500).map(|x| (f64::from(x) / 500.0, x >= 0)).collect();
//! let examples = Arc::new(examples);
//! let objective = Objective::logistic("signs", 2, |example: &(f64, bool), features: &mut [f64]| {
//!     features.copy_from_slice(&[example.0, 1.0]);
//!     example.1
//! });
//!
//! let filter = start(&Filter::noninteractive(ZCdp, rho!(0.5)), examples)?;
//! // Gradients are clipped to a length of 1, on a lattice of 1/1024.
//! let lattice = Lattice::of_length(1.0)?;
//! // About a thousand records are expected.
//! let mut descent = Descent::new(2, 4.0 / 1000.0)?;
//! for _ in 0..100 {
//!     let gradient = objective.gradient_at(descent.weights());
//!     let sum = VectorSum::of(gradient, 2, lattice).gaussian(rho!(0.005))?;
//!     descent.step(&filter.release(&sum)?);
//! }
//! assert!(descent.weights()[0] > 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod descent;
mod mechanism;
mod objective;

pub use descent::Descent;
pub use mechanism::GradientDescent;
pub use objective::Objective;

#[cfg(test)]
mod tests;
