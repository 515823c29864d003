//! The amount of each row, in whole steps.

use queryables::mechanisms::query::Unavailable;
use queryables::table::{Amount, MOST_STEPS};

use crate::evaluate::Batch;
use crate::vector::{Numbers, Values, Vector};

/// The amount of each row: what [`Amount::steps`] says, for all rows of a batch.
pub(crate) fn amounts(
    amount: &Amount,
    batch: &Batch<'_>,
    steps: &mut Vec<i64>,
) -> Result<(), Unavailable> {
    steps.clear();
    let (low, high) = amount.range();
    let Some(number) = amount.number() else {
        steps.resize(batch.rows, low);
        return Ok(());
    };
    let missing = 0.clamp(low, high);
    match batch.evaluate(number.expr())? {
        // A step of one: the sum with a half, rounded down, is the number itself.
        Vector::Whole(numbers) if amount.exponent() == 0 => {
            fill(&numbers, batch.rows, missing, steps, |number| {
                number.clamp(low, high)
            });
        }
        Vector::Whole(numbers) => {
            let rounded = rounded(amount);
            fill(&numbers, batch.rows, missing, steps, |number| {
                rounded(number.clamp(-MOST_STEPS, MOST_STEPS) as f64)
            });
        }
        Vector::Real(numbers) => {
            let rounded = rounded(amount);
            fill(&numbers, batch.rows, missing, steps, |number| {
                if number.is_nan() {
                    missing
                } else {
                    rounded(number)
                }
            });
        }
        _ => return Err(Unavailable),
    }
    Ok(())
}

/// `floor(x · 2^-exponent + 1/2)`, clamped.
///
/// It is clamped before it is rounded down, which is the same because the ends are whole numbers: then it
/// fits into 64 bits, and rounding needs no call.
fn rounded(amount: &Amount) -> impl Fn(f64) -> i64 {
    let (low, high) = amount.range();
    // Doubles hold the ends, and a power of two within 2^±200.
    let (low, high) = (low as f64, high as f64);
    let scale = power_of_two(-amount.exponent());
    move |number| {
        let steps = (number * scale + 0.5).clamp(low, high);
        let toward_zero = steps as i64;
        toward_zero - i64::from(toward_zero as f64 > steps)
    }
}

/// 2^`exponent`, for exponents from −1022 to 1023.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(u64::from((1023 + exponent).unsigned_abs()) << 52)
}

fn fill<T: Copy>(
    numbers: &Numbers<'_, T>,
    rows: usize,
    missing: i64,
    steps: &mut Vec<i64>,
    compute: impl Fn(T) -> i64,
) {
    match (&numbers.values, &numbers.known) {
        (Values::Same(number), _) => steps.resize(rows, compute(*number)),
        (Values::Each(values), None) => steps.extend(values.iter().map(|value| compute(*value))),
        (Values::Each(values), Some(known)) => {
            let pairs = values.iter().zip(known.iter());
            steps.extend(pairs.map(
                |(value, is_known)| {
                    if is_known { compute(*value) } else { missing }
                },
            ));
        }
    }
}
