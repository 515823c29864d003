//! The public guess of private multiplicative weights.

use std::sync::Arc;

use super::Domain;

/// A weight for each record of a domain. It does not know the data: it is moved by which side of the
/// guess a count was found on, and never by the count.
///
/// Everything here is public, so floats are fine.
pub(super) struct Weights<U> {
    pub(super) domain: Arc<U>,
    /// They add up to one.
    weights: Vec<f64>,
    pub(super) rows: u32,
    pub(super) rate: f64,
}

impl<U> Weights<U> {
    /// The same weight for all of the domain, to be moved at this rate.
    pub(super) fn new<Q>(domain: U, rows: u32, rate: f64) -> Self
    where
        U: Domain<Q>,
    {
        let weights = vec![1.0 / domain.size() as f64; domain.size()];
        Self {
            domain: Arc::new(domain),
            weights,
            rows,
            rate,
        }
    }

    /// The number of records in the domain.
    pub(super) fn size(&self) -> usize {
        self.weights.len()
    }

    /// How many rows the guess has of which the condition holds.
    pub(super) fn guess<Q>(&self, question: &Q) -> i64
    where
        U: Domain<Q>,
    {
        let share: f64 = (self.weights.iter().enumerate())
            .filter(|(record, _)| self.domain.holds(question, *record))
            .map(|(_, weight)| weight)
            .sum();
        (share * f64::from(self.rows)).round() as i64
    }

    /// Moves weight to the records of which the condition holds, for a side of 1, or away from them, for
    /// a side of −1.
    pub(super) fn update<Q>(&mut self, question: &Q, side: i8)
    where
        U: Domain<Q>,
    {
        let factor = libm::exp(f64::from(side) * self.rate);
        for (record, weight) in self.weights.iter_mut().enumerate() {
            if self.domain.holds(question, record) {
                *weight *= factor;
            }
        }
        // Not zero: the rate is at most a half, and so what added up to one is now e^(-1/2) at least.
        let total: f64 = self.weights.iter().sum();
        for weight in &mut self.weights {
            *weight /= total;
        }
    }
}

crate::clone_fields!([U] Weights<U> { domain, weights, rows, rate });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::exact::rows_of;

    #[test]
    fn weights_move_toward_the_count() {
        let mut weights = Weights::new(vec![1_u8, 2, 3, 4], 100, 0.25);
        assert_eq!(weights.guess(&rows_of(1)), 25);
        weights.update(&rows_of(1), 1);
        // e^0.25 of 3 + e^0.25: 0.29971.
        assert_eq!(weights.guess(&rows_of(1)), 30);
        weights.update(&rows_of(1), -1);
        assert_eq!(weights.guess(&rows_of(1)), 25);
        weights.update(&rows_of(1), -1);
        // e^-0.25 of 3 + e^-0.25: 0.20609.
        assert_eq!(weights.guess(&rows_of(1)), 21);
    }
}
