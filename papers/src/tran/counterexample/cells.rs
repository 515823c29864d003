//! The first launch, cut into cells.
//!
//! P = ½N(0, 1) + ½N(1.3, 1) and Q = N(0, 1), so P/Q at y is x = ½ + ½e^(1.3y − 0.845), which rises
//! with y and is 1 at y = 0.65.

/// Answers of the first launch between two values of y: their probabilities under Q, and x.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Whether y > 0.65.
    pub(super) is_right: bool,
    /// Put at either end, so that P and Q keep their probabilities.
    pub(super) ends: [(f64, f64); 2],
    /// All of it at the mean of x.
    pub(super) together: (f64, f64),
}

const MEAN: f64 = 1.3;
/// Where x = 1.
const MIDDLE: f64 = 0.65;
const WIDTH: f64 = 0.01;
/// Up to ten to either side: what lies beyond has a probability of less than 1e-18.
const CELLS: i32 = 1000;

/// The answers, cut at y = 0.65 and every hundredth to either side.
pub(super) fn cells() -> Vec<Cell> {
    let at = |index: i32| MIDDLE + WIDTH * f64::from(index);
    let cell = |index: i32| {
        let (from, to) = (at(index), at(index + 1));
        let q = between(from, to);
        let p = 0.5 * q + 0.5 * between(from - MEAN, to - MEAN);
        let (first, last) = (ratio(from), ratio(to));
        // A share s of q at the right end, so that p = q·((1 − s)·first + s·last).
        let share = ((p - first * q) / (q * (last - first))).clamp(0.0, 1.0);
        Cell {
            is_right: index >= 0,
            ends: [(q * (1.0 - share), first), (q * share, last)],
            together: (q, p / q),
        }
    };
    (-CELLS..CELLS).map(cell).collect()
}

/// x at y.
fn ratio(y: f64) -> f64 {
    0.5 + 0.5 * (MEAN * (y - MIDDLE)).exp()
}

/// The probability of N(0, 1) between two numbers, from the tail on their side.
fn between(from: f64, to: f64) -> f64 {
    let above = |y: f64| 0.5 * libm::erfc(y * std::f64::consts::FRAC_1_SQRT_2);
    if from >= 0.0 {
        above(from) - above(to)
    } else {
        above(-to) - above(-from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_the_probabilities_of_both() {
        let cells = cells();
        let sum = |of: &dyn Fn(&Cell) -> f64| cells.iter().map(of).sum::<f64>();
        let ends = |cell: &Cell, weight: &dyn Fn(f64) -> f64| {
            let [(one, x), (other, y)] = cell.ends;
            one * weight(x) + other * weight(y)
        };
        for sum in [
            sum(&|cell| cell.together.0),
            sum(&|cell| cell.together.0 * cell.together.1),
            sum(&|cell| ends(cell, &|_| 1.0)),
            sum(&|cell| ends(cell, &|x| x)),
        ] {
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        }
        // Q is to the right of 0.65 with probability Φ(−0.65), P with ½Φ(−0.65) + ½Φ(0.65) = ½.
        let right = |cell: &Cell| f64::from(u8::from(cell.is_right));
        let q = sum(&|cell| right(cell) * cell.together.0);
        let p = sum(&|cell| right(cell) * cell.together.0 * cell.together.1);
        assert!((q - 0.257_846_110_805_864_7).abs() < 1e-12, "{q}");
        assert!((p - 0.5).abs() < 1e-12, "{p}");
    }
}
