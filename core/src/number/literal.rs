//! Exact decimals that are read when the program is compiled.

use super::{Quantity, Unit};

/// An ε, read from a literal when the program is compiled: `epsilon!(0.1)` is exactly 1/10.
///
/// A number that cannot be held exactly does not compile. For a text from outside, `parse` it.
///
/// ```
/// use queryables_core::epsilon;
/// use queryables_core::number::Epsilon;
///
/// const TENTH: Epsilon = epsilon!(0.1);
/// assert_eq!(TENTH, "0.1".parse()?);
/// assert_eq!(epsilon!(1e-3), "0.001".parse()?);
/// # Ok::<(), queryables_core::number::NumberError>(())
/// ```
///
/// ```compile_fail
/// queryables_core::epsilon!(-0.1);
/// ```
#[macro_export]
macro_rules! epsilon {
    ($number:literal) => {{
        const NUMBER: $crate::number::Epsilon =
            $crate::number::Epsilon::literal(::core::stringify!($number));
        NUMBER
    }};
}

/// A δ, read from a literal when the program is compiled: `delta!(1e-6)` ([`epsilon!`](crate::epsilon)).
#[macro_export]
macro_rules! delta {
    ($number:literal) => {{
        const NUMBER: $crate::number::Delta =
            $crate::number::Delta::literal(::core::stringify!($number));
        NUMBER
    }};
}

/// A ρ, read from a literal when the program is compiled: `rho!(0.02)` ([`epsilon!`](crate::epsilon)).
#[macro_export]
macro_rules! rho {
    ($number:literal) => {{
        const NUMBER: $crate::number::Rho =
            $crate::number::Rho::literal(::core::stringify!($number));
        NUMBER
    }};
}

/// A μ, read from a literal when the program is compiled: `mu!(0.5)` ([`epsilon!`](crate::epsilon)).
#[macro_export]
macro_rules! mu {
    ($number:literal) => {{
        const NUMBER: $crate::number::Mu = $crate::number::Mu::literal(::core::stringify!($number));
        NUMBER
    }};
}

/// A confidence, read from a literal when the program is compiled: `confidence!(0.95)`
/// ([`epsilon!`](crate::epsilon)).
#[macro_export]
macro_rules! confidence {
    ($number:literal) => {{
        const NUMBER: $crate::number::Confidence =
            $crate::number::Confidence::literal(::core::stringify!($number));
        NUMBER
    }};
}

impl<U: Unit> Quantity<U> {
    /// The number in a literal.
    ///
    /// # Panics
    ///
    /// If it is not an exact decimal that can be held. It is called in constants only.
    #[doc(hidden)]
    #[must_use]
    #[expect(
        clippy::panic,
        clippy::indexing_slicing,
        reason = "it runs when the program is compiled"
    )]
    pub const fn literal(text: &str) -> Self {
        let text = text.as_bytes();
        let (mut units, mut power, mut at) = (0_u128, U::DECIMALS as i64, 0);
        let (mut after_point, mut digits) = (false, 0);
        while at < text.len() {
            match text[at] {
                digit @ b'0'..=b'9' => {
                    units = match units.checked_mul(10) {
                        Some(tens) => tens + (digit - b'0') as u128,
                        None => panic!("write fewer digits: no more can be held exactly"),
                    };
                    digits += 1;
                    if after_point {
                        power -= 1;
                    }
                }
                b'.' if !after_point => after_point = true,
                b'_' => {}
                b'e' | b'E' => {
                    power += exponent(text, at + 1);
                    break;
                }
                b'-' => panic!("write a number that is not negative"),
                b'"' => panic!("write the number without quotes"),
                _ => panic!("write a decimal number, such as 0.1 or 1e-6, without a type"),
            }
            at += 1;
        }
        if digits == 0 {
            panic!("write a decimal number, such as 0.1 or 1e-6");
        }
        while power > 0 && units > 0 {
            units = match units.checked_mul(10) {
                Some(units) => units,
                None => panic!("{}", U::TOO_LARGE),
            };
            power -= 1;
        }
        while power < 0 && units > 0 {
            if !units.is_multiple_of(10) {
                panic!("write fewer digits: no more can be held exactly");
            }
            units /= 10;
            power += 1;
        }
        if units > U::LARGEST {
            panic!("{}", U::TOO_LARGE);
        }
        match U::GREATER_THAN {
            Some((floor, _)) if units <= floor => {
                panic!("write a larger number: this one is out of range")
            }
            _ => Self::unchecked(units),
        }
    }
}

/// The power of ten from this place on.
#[expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "it runs when the program is compiled"
)]
const fn exponent(text: &[u8], from: usize) -> i64 {
    let (mut at, mut power, mut sign) = (from, 0_i64, 1);
    if at < text.len() && (text[at] == b'-' || text[at] == b'+') {
        sign = if text[at] == b'-' { -1 } else { 1 };
        at += 1;
    }
    if at == text.len() {
        panic!("write digits after the e, such as 1e-6");
    }
    while at < text.len() {
        match text[at] {
            digit @ b'0'..=b'9' if power < 1000 => power = 10 * power + (digit - b'0') as i64,
            b'_' => {}
            _ => panic!("write a decimal number, such as 0.1 or 1e-6, without a type"),
        }
        at += 1;
    }
    sign * power
}

#[cfg(test)]
mod tests {
    use crate::number::{Confidence, Delta, Epsilon, Mu, Rho};

    #[test]
    fn a_literal_is_the_decimal_that_is_written() {
        assert_eq!(epsilon!(0.1), "0.1".parse().unwrap());
        assert_eq!(epsilon!(10), "10".parse().unwrap());
        assert_eq!(epsilon!(1_000.5), "1000.5".parse().unwrap());
        assert_eq!(epsilon!(1e-27).units(), 1);
        assert_eq!(epsilon!(3.4e11), "3.4e11".parse().unwrap());
        assert_eq!(epsilon!(0), Epsilon::ZERO);
        assert_eq!(delta!(1e-6), "0.000001".parse::<Delta>().unwrap());
        assert_eq!(delta!(1), Delta::ONE);
        assert_eq!(rho!(0.02), "0.02".parse::<Rho>().unwrap());
        assert_eq!(mu!(0.500), "0.5".parse::<Mu>().unwrap());
        assert_eq!(confidence!(0.95), "0.95".parse::<Confidence>().unwrap());
    }

    #[test]
    #[should_panic(expected = "write fewer digits: no more can be held exactly")]
    fn what_cannot_be_held_is_refused() {
        let _ = Epsilon::literal("1e-28");
    }

    #[test]
    #[should_panic(expected = "write a smaller number: this one cannot be held")]
    fn what_is_too_large_is_refused() {
        let _ = Epsilon::literal("1e12");
    }

    #[test]
    #[should_panic(expected = "write a number of at most 1: a δ is a probability")]
    fn a_delta_above_one_is_refused() {
        let _ = Delta::literal("1.1");
    }

    #[test]
    #[should_panic(expected = "write a number below 1: a confidence of 95 % is 0.95")]
    fn a_confidence_in_percent_is_refused() {
        let _ = Confidence::literal("95");
    }

    #[test]
    #[should_panic(expected = "write a larger number: this one is out of range")]
    fn a_confidence_of_zero_is_refused() {
        let _ = Confidence::literal("0.0");
    }

    #[test]
    #[should_panic(expected = "without a type")]
    fn a_typed_literal_is_refused() {
        let _ = Epsilon::literal("1f64");
    }
}
