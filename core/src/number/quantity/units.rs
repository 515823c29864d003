//! The units of the parameters in this crate.

use super::{Shortened, Unit, sealed};

macro_rules! unit {
    ($(#[$doc:meta])* $unit:ident, $name:literal, $symbol:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $unit;

        impl sealed::Sealed for $unit {}

        impl Unit for $unit {
            const NAME: &'static str = $name;
            const SYMBOL: &'static str = $symbol;
            const DECIMALS: u32 = 27;
            const LARGEST: u128 = 340_000_000_000 * 10_u128.pow(Self::DECIMALS);
            const LARGEST_TEXT: &'static str = "3.4e11";
        }
    };
}

unit!(/** ε. */ Epsilon, "epsilon", "ε");
unit!(/** ρ of zero-concentrated privacy. */ Rho, "rho", "ρ");
unit!(/** μ of Gaussian privacy. */ Mu, "mu", "μ");

/// δ, a probability.
///
/// Example: [`Quantity`](crate::number::Quantity).
#[derive(Clone, Copy, Debug)]
pub struct Delta;

impl sealed::Sealed for Delta {}

impl Unit for Delta {
    const NAME: &'static str = "delta";
    const SYMBOL: &'static str = "δ";
    const DECIMALS: u32 = 38;
    const LARGEST: u128 = 10_u128.pow(38);
    const LARGEST_TEXT: &'static str = "1";
    const TOO_LARGE: &'static str = "write a number of at most 1: a δ is a probability";
}

/// The probability with which a statement holds: below one, because noise has no end.
#[derive(Clone, Copy, Debug)]
pub struct Confidence;

impl sealed::Sealed for Confidence {}

impl Unit for Confidence {
    const NAME: &'static str = "confidence";
    const DECIMALS: u32 = 38;
    const LARGEST: u128 = 10_u128.pow(38) - 1;
    const LARGEST_TEXT: &'static str = "1 - 1e-38 (write 0.95 for 95 %)";
    const TOO_LARGE: &'static str = "write a number below 1: a confidence of 95 % is 0.95";
    const GREATER_THAN: Option<(u128, &'static str)> = Some((0, "0"));
    const SHORTENED: Shortened = Shortened::Down;
}

/// How far noise spreads, or how far an answer can move: a positive number.
///
/// Example: [`Quantity`](crate::number::Quantity).
#[derive(Clone, Copy, Debug)]
pub struct Scale;

impl sealed::Sealed for Scale {}

impl Unit for Scale {
    const NAME: &'static str = "scale";
    const DECIMALS: u32 = 27;
    const LARGEST: u128 = 340_000_000_000 * 10_u128.pow(Self::DECIMALS);
    const LARGEST_TEXT: &'static str = "3.4e11";
    const GREATER_THAN: Option<(u128, &'static str)> = Some((0, "0"));
    const SHORTENED: Shortened = Shortened::Nearest;
}

/// α, the order of a Rényi divergence.
#[derive(Clone, Copy, Debug)]
pub struct Order;

impl sealed::Sealed for Order {}

impl Unit for Order {
    const NAME: &'static str = "order";
    const SYMBOL: &'static str = "α";
    const DECIMALS: u32 = 9;
    const LARGEST: u128 = 10_u128.pow(9 + 9);
    const LARGEST_TEXT: &'static str = "1e9";
    const GREATER_THAN: Option<(u128, &'static str)> = Some((10_u128.pow(9), "1"));
    const SHORTENED: Shortened = Shortened::Nearest;
}

/// V of a time-uniform odometer, the variance of the Gaussian that the realised loss is compared
/// with: a positive number.
#[derive(Clone, Copy, Debug)]
pub struct Variance;

impl sealed::Sealed for Variance {}

impl Unit for Variance {
    const NAME: &'static str = "variance";
    const DECIMALS: u32 = 27;
    const LARGEST: u128 = 340_000_000_000 * 10_u128.pow(Self::DECIMALS);
    const LARGEST_TEXT: &'static str = "3.4e11";
    const GREATER_THAN: Option<(u128, &'static str)> = Some((0, "0"));
}
