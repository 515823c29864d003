//! What is minimised: a loss for each record.

use std::fmt;
use std::sync::Arc;

use crate::data::{Dataset, Vector};

/// The gradient of a loss that each record has, at any weights. It is public, and cheap to clone.
///
/// ```
/// use queryables::mechanisms::Objective;
///
/// // Half the squared distance: minimised by the mean.
/// let distance = Objective::new("distance", 1, |weights: &[f64], row: &f64, out: &mut [f64]| {
///     out[0] = weights[0] - row;
/// });
/// let mut gradients = [0.0; 2];
/// distance.gradient_at(&[3.0]).read(&vec![1.0, 7.0], 0..2, None, &mut gradients);
/// assert_eq!(gradients, [2.0, -4.0]);
/// ```
///
/// # Guarantee
///
/// That of a [`Vector`]: a record on which the closure panics, or whose gradient is not finite, counts
/// as zero. The closure must depend on nothing but the weights and the record.
pub struct Objective<D: ?Sized> {
    name: Arc<str>,
    dimension: usize,
    gradient_at: Arc<GradientAt<D>>,
}

type GradientAt<D> = dyn Fn(Arc<[f64]>) -> Vector<D> + Send + Sync;

impl<D: Dataset + ?Sized + 'static> Objective<D> {
    /// The loss with this gradient, which `gradient` writes for weights and a record: as many numbers
    /// as there are weights.
    pub fn new(
        name: impl Into<Arc<str>>,
        weights: usize,
        gradient: impl Fn(&[f64], D::Record<'_>, &mut [f64]) + Send + Sync + 'static,
    ) -> Self {
        let name = name.into();
        let (named, gradient) = (Arc::clone(&name), Arc::new(gradient));
        let gradient_at = move |weights: Arc<[f64]>| {
            let gradient = Arc::clone(&gradient);
            let at = format!("{named} at {weights:?}");
            let write = move |record: D::Record<'_>, out: &mut [f64]| {
                gradient(&weights, record, out);
            };
            Vector::new(at, write)
        };
        Self {
            name,
            dimension: weights,
            gradient_at: Arc::new(gradient_at),
        }
    }

    /// The loss of logistic regression, ln(1 + e^(−m)) for a record with the label yes and
    /// ln(1 + e^m) for one with the label no, where m is the sum of its features times the weights.
    ///
    /// `example` writes the features of a record and returns its label, and `name` names it. For a
    /// constant term, let one feature be 1.
    ///
    /// ```
    /// use queryables::mechanisms::Objective;
    ///
    /// let objective = Objective::logistic("pairs", 1, |row: &(f64, bool), features: &mut [f64]| {
    ///     features[0] = row.0;
    ///     row.1
    /// });
    /// let mut gradients = [0.0; 2];
    /// let rows = vec![(3.0, true), (3.0, false)];
    /// objective.gradient_at(&[0.0]).read(&rows, 0..2, None, &mut gradients);
    /// assert_eq!(gradients, [-1.5, 1.5]);
    /// ```
    pub fn logistic(
        name: &str,
        features: usize,
        example: impl Fn(D::Record<'_>, &mut [f64]) -> bool + Send + Sync + 'static,
    ) -> Self {
        let gradient = move |weights: &[f64], record: D::Record<'_>, out: &mut [f64]| {
            let label = example(record, out);
            let margin = weights
                .iter()
                .zip(&*out)
                .map(|(weight, x)| weight * x)
                .sum();
            let slope = logistic_slope(margin, label);
            for number in out {
                *number *= slope;
            }
        };
        Self::new(format!("logistic loss of {name}"), features, gradient)
    }
}

impl<D: ?Sized> Objective<D> {
    /// The gradient at these weights, as a question about one record.
    #[must_use]
    pub fn gradient_at(&self, weights: &[f64]) -> Vector<D> {
        (self.gradient_at)(weights.into())
    }

    /// The number of weights.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The derivative of the logistic loss by the margin: the predicted probability of the label yes, less
/// 1 if it is yes.
pub(super) fn logistic_slope(margin: f64, label: bool) -> f64 {
    // Of the smaller of both probabilities, so that it stays precise far from zero.
    let signed = if label { margin } else { -margin };
    let missed = 1.0 / (1.0 + libm::exp(signed));
    if label { -missed } else { missed }
}

crate::clone_fields!([D: ?Sized] Objective<D> { name, dimension, gradient_at });

impl<D: ?Sized> fmt::Debug for Objective<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Objective({})", self.name)
    }
}
