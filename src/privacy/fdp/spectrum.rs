//! Many-fold convolutions by Fourier transform, with a bound on what rounding does.
//!
//! # Guarantee
//!
//! *Transform.* For a length of 2^L, `rustfft` takes L levels of butterflies x₀ ± w x₁ with
//! |w| = 1 (its larger butterflies are several levels in one). A level rounds a product (√5 u, for
//! u = 2^-53), a sum (u), and w itself: the angle is a float product of −2π/2^L, exact but for π,
//! and an index, so it is off by at most 2π · 1.4 u < 9 u, and the sine and cosine by some u each.
//! Together that is less than 16 u |x₁| + u |x₀|; we take c = 32 u = 2^-48. Let m bound a level's
//! inputs by the sum of moduli of all that flows into them: then an error e grows as
//! e′ ≤ e + c(m + e), so every coefficient of the transform of z is within β Σ|z| of the truth, for
//! β = (1 + c)^L − 1. A level is √2 times a unitary map, and its rounding is at most √2 · 17 u < c of
//! that in the 2-norm: so the 2-norm of the error is at most β that of the result, too.
//!
//! *Powers.* Where U and its approximation are at most ρ in modulus and η apart, their n-th powers
//! differ by at most n η ρ^(n−1), and products of several likewise. A complex product rounds by √5 u,
//! and n factors, however bracketed, by less than 2.5 n u while that is small.
//!
//! *Back.* If coefficients are off by e_k, the N values of the inverse transform are off by at most
//! ‖e‖₂ in total (Cauchy–Schwarz and Parseval), and its own rounding adds β‖V‖₂.

use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

/// Half a unit in the last place of 1.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Where a product is this small, further factors, which are hardly more than 1, are left out: in
/// all, 2^30 such terms come to less than 1e-40, which [`Product::inverse`] adds.
const NOTHING: f64 = 1e-50;

/// β: relative to what goes in.
fn transform_error(length: usize) -> f64 {
    // (1 + c)^L − 1 ≤ 1.01 L c for L up to 40.
    1.01 * f64::from(length.trailing_zeros()) * 32.0 * UNIT
}

/// The product of powers of two spectra at once: the real and the imaginary part of the inputs.
pub(super) struct Product {
    length: usize,
    /// For each frequency up to half the length.
    terms: Vec<Term>,
    factors: f64,
}

#[derive(Clone, Copy)]
struct Term {
    /// The product, for either input.
    product: [Complex<f64>; 2],
    /// At least the moduli of the exact and of the computed product.
    size: [f64; 2],
    /// Σ n η / ρ.
    error: [f64; 2],
}

impl Product {
    /// Of nothing so far. The length is a power of two.
    pub(super) fn new(length: usize) -> Self {
        let one = Term {
            product: [Complex::new(1.0, 0.0); 2],
            size: [1.0; 2],
            error: [0.0; 2],
        };
        Self {
            length,
            terms: vec![one; length / 2 + 1],
            factors: 0.0,
        }
    }

    /// Multiplies by the n-th power of the spectra of two non-negative sequences.
    pub(super) fn multiply(
        &mut self,
        planner: &mut FftPlanner<f64>,
        mut values: Vec<Complex<f64>>,
        launches: u64,
    ) {
        let total: f64 = values.iter().map(|value| value.re + value.im).sum();
        // Rounding of the sum, too; and 4 u for the sum and difference below.
        let eta = (transform_error(self.length) + 4.0 * UNIT) * total * 1.01;
        planner.plan_fft_forward(self.length).process(&mut values);
        let mirrored = values.iter().take(1).chain(values.iter().skip(1).rev());
        let n = launches as f64;
        // Below this, n-th powers are less than e^-140 < 1e-60.
        let negligible = libm::exp(-140.0 / n);
        for ((term, value), mirror) in self.terms.iter_mut().zip(&values).zip(mirrored) {
            // z = u + iv with real u and v: Z_k + conj Z_-k = 2 U_k and Z_k − conj Z_-k = 2i V_k.
            let (sum, difference) = (value + mirror.conj(), value - mirror.conj());
            let pair = [
                sum * 0.5,
                Complex::new(difference.im * 0.5, difference.re * -0.5),
            ];
            let parts = term
                .product
                .iter_mut()
                .zip(&mut term.size)
                .zip(&mut term.error);
            for (((product, size), error), value) in parts.zip(pair) {
                if *size < NOTHING {
                    continue;
                }
                let rho = value.norm_sqr().sqrt() * (1.0 + 8.0 * UNIT) + eta;
                if rho < negligible {
                    // Zero is off by no more than the product itself.
                    (*product, *size, *error) = (Complex::new(0.0, 0.0), 1e-60, 1.0);
                    continue;
                }
                let (power, reach) = powers(value, rho, launches);
                *product *= power;
                *size *= reach;
                *error += n * eta / rho;
            }
        }
        self.factors += n + 1.0;
    }

    /// The sequences whose spectra these are, and a bound on the sum of all errors in either.
    pub(super) fn inverse(self, planner: &mut FftPlanner<f64>) -> (Vec<Complex<f64>>, f64) {
        // Powers of ρ and sums of errors are themselves rounded: by less than 8 u for each factor.
        let rounding = 1.0 + 8.0 * UNIT * self.factors;
        let products = 2.5 * UNIT * self.factors;
        let i = Complex::new(0.0, 1.0);
        let mut values = vec![Complex::new(0.0, 0.0); self.length];
        let (mut squares, mut errors) = (0.0, 0.0);
        for (k, term) in self.terms.iter().enumerate() {
            let [one, other] = term.product;
            let [one_size, other_size] = term.size;
            let [one_error, other_error] = term.error;
            let error = one_size * (one_error + products) + other_size * (other_error + products);
            // Twice, for k and −k. At k = 0 and N/2 that counts too much.
            squares += 2.0 * (one_size + other_size) * (one_size + other_size);
            errors += 2.0 * error * error;
            if let Some(value) = values.get_mut(k) {
                *value = one + i * other;
            }
            if let Some(value) = values.get_mut((self.length - k) % self.length) {
                *value = one.conj() + i * other.conj();
            }
        }
        planner.plan_fft_inverse(self.length).process(&mut values);
        let scale = 1.0 / self.length as f64;
        for value in &mut values {
            *value *= scale;
        }
        // The packing above rounds by 2 u more. Sums of squares of up to 2^30 terms: 1e-6 relative.
        // What was left out is less than 1e-40.
        let error = errors.sqrt() * rounding * rounding
            + (transform_error(self.length) + 4.0 * UNIT) * squares.sqrt() * rounding;
        // The bounds on powers are for fewer launches than this.
        let error = if self.factors < 1e12 {
            error
        } else {
            f64::INFINITY
        };
        (values, error * 1.001 + 1e-40)
    }
}

/// z^n and r^n, by squaring.
fn powers(z: Complex<f64>, r: f64, mut n: u64) -> (Complex<f64>, f64) {
    let (mut square, mut size) = (z, r);
    let (mut power, mut reach) = (Complex::new(1.0, 0.0), 1.0);
    while n > 0 {
        if n & 1 == 1 {
            power *= square;
            reach *= size;
        }
        n >>= 1;
        if n > 0 {
            square *= square;
            size *= size;
        }
    }
    (power, reach)
}

#[cfg(test)]
mod tests;
