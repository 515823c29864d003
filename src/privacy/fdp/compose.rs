//! The tensor product of profiles (Tran et al. A.12) on a lattice.

use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

use super::atoms::Atoms;
use super::lattice::Lattice;
use super::lattice_profile::{falling, profile};
use super::spectrum::Product;
use super::table::Table;
use super::window::{Moments, Part, Window, log_moment, tilt, window};
use super::{Adjacency, FdpError, Grid, Profile};
use crate::number::Interval;

/// More than what is lost where numbers are too small for a float with all its digits: each of up to
/// 2^30 products loses at most 2.3e-308.
const UNDERFLOW: f64 = 1e-290;

/// The profile of independent launches, in one direction.
///
/// # Guarantee
///
/// Every part is replaced by laws on the lattice whose profiles are above and below its own
/// ([`Atoms`]). Profiles are positive sums of (1 − γ/x)⁺, and (H₁ ⊗ H₂)(γ) = Σ p₂(x) H₁(γ/x), so a
/// larger profile of any part gives a larger product: the products of the bounds bound the product.
///
/// The losses of independent launches add up. Their sum's law is computed modulo the length of the
/// transform. That adds to a place what lies whole lengths away, and leaves out what lies right of
/// the window; both are at most what lies outside the window, which [`Window`] bounds. What the
/// transforms round is bounded by [`Product`]. All of that is added above and subtracted below.
///
/// At the largest loss that the upper laws can have together, and beyond, their profile is the
/// probability of an infinite loss: of a finite L, (1 − e^(s−L))⁺ is 0 there. Nothing is added to that.
///
/// If the grid aims at a δ, the laws are tilted first, p e^(θL − c), and tilted back at the end.
/// Errors of the tilted law then count e^(Σc − θL), which is about δ where it matters.
pub(super) fn compose(
    parts: &[(Profile, u64)],
    direction: Adjacency,
    grid: &Grid,
    planner: &mut FftPlanner<f64>,
) -> Result<Table, FdpError> {
    let lattice = grid.lattice();
    let launches: u64 = parts.iter().fold(0, |sum, part| sum.saturating_add(part.1));
    let tail = grid.tail() / launches.max(1) as f64;
    let parts = parts
        .iter()
        .filter(|(_, launches)| *launches > 0)
        .map(|(profile, launches)| {
            let table = profile.table(direction, lattice, tail, grid.spread())?;
            Ok(Part {
                above: Atoms::above(&table),
                below: Atoms::below(&table),
                launches: *launches,
            })
        })
        .collect::<Result<Vec<Part>, FdpError>>()?;
    if parts.is_empty() {
        return Err(FdpError::NoParts);
    }
    let moments = Moments::new(&parts, lattice);
    let theta = grid.aim().map_or(0.0, |aim| tilt(&moments, aim));
    let window = window(&moments, theta);
    let end = moments.end();
    let length = window.width.next_power_of_two();
    if length > grid.most_points() {
        return Err(FdpError::TooManyPoints {
            needed: length,
            most: grid.most_points(),
        });
    }
    Ok(Composition {
        parts: &parts,
        lattice,
        theta,
        window,
        end,
        length,
    }
    .table(planner))
}

struct Composition<'a> {
    parts: &'a [Part],
    lattice: Lattice,
    theta: f64,
    window: Window,
    /// The largest loss of the upper laws, all launches together.
    end: i64,
    length: u64,
}

impl Composition<'_> {
    fn table(&self, planner: &mut FftPlanner<f64>) -> Table {
        let mut product = Product::new(self.length as usize);
        // Σ c, and how much every probability may be off by, as a logarithm.
        let (mut log_scale, mut slack) = (Interval::ZERO, 0.0);
        for part in self.parts {
            let shift = log_moment(&part.above, self.lattice, self.theta);
            product.multiply(planner, self.tilted(part, shift), part.launches);
            let launches = Interval::whole(u128::from(part.launches));
            log_scale = log_scale + launches * Interval::exactly(shift);
            slack += part.launches as f64 * self.rounding(part, shift);
        }
        let (values, error) = product.inverse(planner);
        let first = self.window.first;
        let start = first.rem_euclid(self.length as i64) as usize;
        let rotated = values.iter().skip(start).chain(values.iter().take(start));
        // How much a probability counts once tilted back.
        let scales = self.scales(log_scale.middle());
        let [above, below]: [Vec<f64>; 2] =
            [real as fn(&Complex<f64>) -> f64, imaginary].map(|part: fn(&Complex<f64>) -> f64| {
                // A probability is not negative: what is computed below zero is nearer at zero.
                let tilted = rotated.clone().map(|value| part(value).max(0.0));
                profile(
                    &tilted
                        .zip(&scales)
                        .map(|(p, scale)| p * scale)
                        .collect::<Vec<_>>(),
                    self.lattice,
                )
            });
        // Rounding: of the masses, of tilting back (16 u each), and of the sums (8 N u).
        let rounding = slack
            + (8.0 * self.length as f64 + 16.0) * f64::EPSILON
            + (2200.0 + log_scale.high().abs() + self.theta * 600.0) * 8.0 * f64::EPSILON;
        let (infinite, certain) = self.infinite();
        let lost = error + self.window.outside;
        let missing: f64 = self
            .parts
            .iter()
            .map(|part| part.launches as f64 * part.below.missing * (1.0 + 1e-9))
            .sum();
        // Only larger losses count at a place, and their scale is smaller.
        let up = (first..)
            .zip(above.iter().zip(&scales))
            .map(|(place, (height, scale))| {
                let finite = if place < self.end {
                    (height + lost * scale) * (1.0 + 2.0 * rounding) + UNDERFLOW
                } else {
                    0.0
                };
                (finite + infinite).min(1.0)
            })
            .collect::<Vec<f64>>();
        let mut low: Vec<f64> = below
            .iter()
            .zip(&scales)
            .map(|(height, scale)| {
                (height * (1.0 - 2.0 * rounding) - lost * scale - missing).max(0.0) + certain
            })
            .collect();
        // H falls, so what bounds it from below at a place does so to the left.
        low.iter_mut().rev().fold(0.0_f64, |most, low| {
            *low = low.max(most);
            *low
        });
        Table {
            lattice: self.lattice,
            nodes: (first..first + self.length as i64).collect(),
            up: falling(&up),
            low,
            start: 0.0,
            infinite: certain,
        }
        .with_ends()
    }

    /// e^(Σc − θL) at all places: anew every 1024, in between by multiplication. So the relative error
    /// is at most 2200 u, and 4 u for each unit of the exponents.
    fn scales(&self, log_scale: f64) -> Vec<f64> {
        let step = libm::exp(-self.theta * self.lattice.about(1));
        let mut scale = 0.0;
        (0..self.length as i64)
            .map(|offset| {
                if offset % 1024 == 0 {
                    let loss = self.lattice.about(self.window.first + offset);
                    scale = libm::exp(log_scale - self.theta * loss);
                }
                let here = scale;
                scale *= step;
                here
            })
            .collect()
    }

    /// Both laws, tilted, modulo the length: the upper as real and the lower as imaginary part.
    fn tilted(&self, part: &Part, shift: f64) -> Vec<Complex<f64>> {
        let length = self.length as i64;
        let mut values = vec![Complex::new(0.0, 0.0); self.length as usize];
        let tilt = |index: i64, mass: f64| {
            mass * libm::exp(self.theta * self.lattice.about(index) - shift)
        };
        for &(index, mass) in &part.above.masses {
            if let Some(value) = values.get_mut(index.rem_euclid(length) as usize) {
                value.re += tilt(index, mass);
            }
        }
        for &(index, mass) in &part.below.masses {
            if let Some(value) = values.get_mut(index.rem_euclid(length) as usize) {
                value.im += tilt(index, mass);
            }
        }
        values
    }

    /// At most how far a tilted mass is off, relatively: the exponent by 4 u of its size, `exp` by
    /// 4 u, and as much again for adding up what falls on the same place.
    fn rounding(&self, part: &Part, shift: f64) -> f64 {
        let masses = part.above.masses.iter().chain(&part.below.masses);
        let exponent = masses
            .map(|(index, _)| (self.theta * self.lattice.about(*index)).abs())
            .fold(0.0, f64::max);
        (8.0 + exponent + shift.abs()) * 4.0 * f64::EPSILON
    }

    /// The probability 1 − Π(1 − p)^n of an infinite loss, from above and from below.
    ///
    /// The finite masses F of a part and its p sum up to T, which is 1 but for N 2^-44 in all, and
    /// ΠT − ΠF = ΠT (1 − Π(1 − p/T)).
    fn infinite(&self) -> (f64, f64) {
        let total = |atoms: fn(&Part) -> &Atoms| {
            let log: f64 = self
                .parts
                .iter()
                .map(|part| part.launches as f64 * libm::log1p(-atoms(part).infinite))
                .sum();
            -libm::expm1(log)
        };
        let launches: f64 = self.parts.iter().map(|part| part.launches as f64).sum();
        let slack = 1e-12 + launches * 2_f64.powi(-43);
        (
            total(|part| &part.above) * (1.0 + slack),
            (total(|part| &part.below) * (1.0 - slack)).max(0.0),
        )
    }
}

fn real(value: &Complex<f64>) -> f64 {
    value.re
}

fn imaginary(value: &Complex<f64>) -> f64 {
    value.im
}
