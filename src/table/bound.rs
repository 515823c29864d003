//! What one person can do to the totals.

use super::{MOST_STEPS, Parts, Person, Plan, TableError};

/// How the numbers of one person are bounded, after they are summed over that person's rows.
///
/// Example: [`RowTable`](crate::table::RowTable).
///
/// # Guarantee
///
/// Adding or removing one person, whatever that person's rows are, changes the totals by a vector v with
///
/// | bound | |
/// |---|---|
/// | `Row` | ‖v‖₁ at most [`Plan::largest_row`], in one group |
/// | `First` | ‖v‖₁ at most [`Plan::largest_row`], in one group |
/// | `Each(c)` | every \|v_i\| at most c |
/// | `L1(c)` | ‖v‖₁ at most c |
/// | `L2(c)` | ‖v‖₂ at most c |
/// | `Rows(k)` | ‖v‖₁ at most k · [`Plan::largest_row`] |
///
/// *Proof.* The numbers of a person depend on that person's rows alone, so that they are v. `Row`: a row
/// is in at most one group. `L1`: if the norm n exceeds c, each number t becomes ⌊|t|·c/n⌋ with the sign
/// of t, and these add up to at most c. `L2`: if the square s exceeds c², each becomes ⌊|t|·c/d⌋ with
/// d = ⌊√s⌋ + 1 > √s. In IEEE doubles √ of the double nearest to k² is k for all k below 2^53, and both
/// operations are monotone: so for s ≥ k² the computed root is at least k, and d is at least ⌊√s⌋ + 1.
/// `Rows`: the absolute numbers of r rows add up to at most r times the largest row. If r exceeds k, each
/// number t becomes ⌊|t|·k/r⌋ with the sign of t, and these add up to at most k times the largest row. ∎
///
/// Dividing loses less than a step of each number. So a row must weigh many steps where vectors are
/// scaled: otherwise eleven ones that are scaled to a norm of 10 would all be zero.
///
/// The numbers of means and variances are scaled by one factor, `Rows`. Clamping them apart would move
/// the mean of a person with many rows toward the middle of the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// Each row is a person: nothing is bounded. For schemas that say so, and only for those.
    Row,
    /// A person counts once, in the first group in which there is a row of theirs.
    First,
    /// Each number of a person is clamped to at most this, up and down.
    Each(u64),
    /// Each number of a person is clamped to at most this. Then all are scaled toward zero until their
    /// absolute values add up to at most this.
    L1(u64),
    /// Each number of a person is clamped to at most this. Then all are scaled toward zero until the root
    /// of the sum of their squares is at most this.
    L2(u64),
    /// The numbers of a person with more rows than this are multiplied by this and divided by the number of
    /// those rows, toward zero. Nothing is clamped.
    Rows(u64),
}

/// The largest bound on a norm: the product of two numbers within it is a 64-bit number.
///
/// Example: [`TableQuery`](crate::mechanisms::table::TableQuery).
pub const MOST_NORM: u64 = 1 << 31;

impl Bound {
    pub(super) fn check(self, plan: &Plan) -> Result<(), TableError> {
        let each_row = *plan.schema().person() == Person::EachRow;
        let is_sum = plan.parts() == Parts::Value;
        let too_far =
            "a bound on a norm is at most 2^31 steps: take larger steps, or fewer rows a person";
        let problem = match self {
            Self::Row if !each_row => "a table of people with several rows needs a bound",
            Self::First if !is_sum || plan.amount().number().is_some() => {
                "only rows are counted once a person"
            }
            Self::Each(_) | Self::L1(_) | Self::L2(_) if !is_sum => {
                "the numbers of a mean or a variance are scaled together: bound the rows of a person"
            }
            Self::Each(0) | Self::L1(0) | Self::L2(0) | Self::Rows(0) => {
                "a bound of zero allows nothing"
            }
            Self::Each(most) if most > MOST_STEPS.unsigned_abs() => {
                "a bound on each number is at most 2^50 steps"
            }
            Self::L1(most) | Self::L2(most) if most > MOST_NORM => too_far,
            Self::Rows(rows) if !fits(plan.largest_row(), rows) => too_far,
            _ => return Ok(()),
        };
        Err(TableError::BadAmount(problem))
    }

    /// Bounds the numbers of one person: the sums over that person's `rows` rows, group by group.
    pub fn apply(self, numbers: &mut [i128], rows: u64) {
        match self {
            Self::Row => {}
            Self::First => {
                let first = numbers.iter().position(|number| *number != 0);
                for (place, number) in numbers.iter_mut().enumerate() {
                    if Some(place) != first {
                        *number = 0;
                    }
                }
            }
            Self::Each(most) => clamp(numbers, most),
            Self::L1(most) => {
                clamp(numbers, most);
                let norm = numbers.iter().map(|number| number.unsigned_abs()).sum();
                if norm > u128::from(most) {
                    scale(numbers, most, norm);
                }
            }
            Self::L2(most) => {
                clamp(numbers, most);
                let square: u128 = numbers
                    .iter()
                    .map(|number| number.unsigned_abs().pow(2))
                    .sum();
                if square > u128::from(most) * u128::from(most) {
                    scale(numbers, most, (square as f64).sqrt().floor() as u128 + 1);
                }
            }
            Self::Rows(most) => {
                if rows > most {
                    scale(numbers, most, rows.into());
                }
            }
        }
    }
}

/// Whether this number of rows is within the largest norm.
fn fits(row: u128, rows: u64) -> bool {
    let all = row.checked_mul(rows.into());
    all.is_some_and(|all| all <= MOST_NORM.into())
}

fn clamp(numbers: &mut [i128], most: u64) {
    let most = i128::from(most);
    for number in numbers {
        *number = (*number).clamp(-most, most);
    }
}

/// Multiplies by `most` and divides by `whole`, toward zero. The products are below 2^96: a clamped number
/// is below 2^32, and of `rows` rows below 2^64, a number times the bound is at most `rows` · 2^31.
fn scale(numbers: &mut [i128], most: u64, whole: u128) {
    let whole = i128::try_from(whole).unwrap_or(i128::MAX);
    for number in numbers {
        *number = number.saturating_mul(most.into()) / whole;
    }
}
