//! Losses with two coordinates, in the product order: `a <= b` means that it holds in both.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::number::{Delta, Epsilon, NumberError, Rho, write_number};

macro_rules! pair {
    ($(#[$doc:meta])* $pair:ident, $symbol:literal { $first:ident: $First:ty }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[cfg_attr(
            feature = "serde",
            derive(serde::Serialize, serde::Deserialize),
            serde(deny_unknown_fields)
        )]
        pub struct $pair {
            #[doc = concat!("The ", stringify!($first), " part.")]
            pub $first: $First,
            /// The probability part.
            pub delta: Delta,
        }

        impl $pair {
            /// Reads both numbers.
            ///
            /// # Errors
            ///
            /// That of the first number that cannot be read.
            pub fn new<E, F>(first: E, delta: F) -> Result<Self, NumberError>
            where
                E: TryInto<$First>,
                F: TryInto<Delta>,
                NumberError: From<E::Error> + From<F::Error>,
            {
                Ok(Self {
                    $first: first.try_into()?,
                    delta: delta.try_into()?,
                })
            }

            pub(crate) fn checked_add(self, other: Self) -> Option<Self> {
                Some(Self {
                    $first: self.$first.checked_add(other.$first)?,
                    delta: self.delta.saturating_add(other.delta),
                })
            }

            pub(crate) fn saturating_sub(self, other: Self) -> Self {
                Self {
                    $first: self.$first.saturating_sub(other.$first),
                    delta: self.delta.saturating_sub(other.delta),
                }
            }

            pub(crate) fn join(self, other: Self) -> Self {
                Self {
                    $first: self.$first.max(other.$first),
                    delta: self.delta.max(other.delta),
                }
            }
        }

        impl PartialOrd for $pair {
            /// `None` where each is larger in one coordinate.
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                match (self.$first.cmp(&other.$first), self.delta.cmp(&other.delta)) {
                    (order, Ordering::Equal) => Some(order),
                    (Ordering::Equal, order) => Some(order),
                    (first, second) => (first == second).then_some(first),
                }
            }
        }

        impl fmt::Display for $pair {
            /// A precision rounds both parts up; width and fill are for the pair as a whole. The
            /// alternate form says what it is: `(ε, δ) = (1, 1e-6)`.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let text = match f.precision() {
                    None => format!("({}, {})", self.$first, self.delta),
                    Some(digits) => format!("({:.digits$}, {:.digits$})", self.$first, self.delta),
                };
                write_number(f, $symbol, &text)
            }
        }

        impl FromStr for $pair {
            type Err = NumberError;

            /// Reads what is printed: `(1, 1e-6)`.
            fn from_str(text: &str) -> Result<Self, NumberError> {
                let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
                let (first, delta) = inside
                    .and_then(|inside| inside.split_once(','))
                    .ok_or_else(|| NumberError::NotAPair {
                        what: concat!("(", stringify!($first), ", delta)"),
                        given: NumberError::given(text),
                    })?;
                Self::new(first.trim(), delta.trim())
            }
        }
    };
}

pair!(
    /// The loss (ε, δ).
    ///
    /// ```
    /// use queryables::privacy::EpsilonDelta;
    ///
    /// let small = EpsilonDelta::new("0.1", "1e-6")?;
    /// let other = EpsilonDelta::new("0.2", 0.0)?;
    /// assert!(small.partial_cmp(&other).is_none());
    /// assert_eq!(small.to_string(), "(0.1, 1e-6)");
    /// assert_eq!("(0.1, 1e-6)".parse(), Ok(small));
    /// # Ok::<(), queryables::number::NumberError>(())
    /// ```
    EpsilonDelta, "(ε, δ)" { epsilon: Epsilon }
);

pair!(
    /// The loss (ρ, δ) of approximate zero-concentrated privacy.
    ///
    /// Read and compared as [`EpsilonDelta`] is.
    RhoDelta, "(ρ, δ)" { rho: Rho }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_product() {
        let pair = |epsilon: &str, delta: &str| EpsilonDelta::new(epsilon, delta).unwrap();
        for (left, right, order) in [
            (pair("1", "0.5"), pair("1", "0.5"), Some(Ordering::Equal)),
            (pair("1", "0.4"), pair("1", "0.5"), Some(Ordering::Less)),
            (pair("1", "0.5"), pair("2", "0.5"), Some(Ordering::Less)),
            (pair("1", "0.4"), pair("2", "0.5"), Some(Ordering::Less)),
            (pair("2", "0.5"), pair("1", "0.4"), Some(Ordering::Greater)),
            (pair("1", "0.5"), pair("2", "0.4"), None),
        ] {
            assert_eq!(left.partial_cmp(&right), order, "{left} {right}");
            assert_eq!(right.partial_cmp(&left), order.map(Ordering::reverse));
        }
    }

    #[test]
    fn the_join_is_the_least_upper_bound() {
        let pair = |rho: &str, delta: &str| RhoDelta::new(rho, delta).unwrap();
        assert_eq!(pair("1", "0.5").join(pair("2", "0.4")), pair("2", "0.5"));
        assert_eq!(
            pair("1", "0.5").saturating_sub(pair("2", "0.4")),
            pair("0", "0.1")
        );
    }

    #[test]
    fn a_pair_is_read_as_it_is_printed() {
        let pair = EpsilonDelta::new("0.5", "1e-6").unwrap();
        assert_eq!("(0.5, 1e-6)".parse(), Ok(pair));
        assert_eq!("( 0.5,1e-6 )".parse(), Ok(pair));
        assert_eq!(pair.to_string().parse(), Ok(pair));
        let pair = RhoDelta::new("2", "0").unwrap();
        assert_eq!(pair.to_string().parse(), Ok(pair));
        for text in ["", "1", "1, 2", "(1 2)", "(1, 0", "((1), 0", "1, 0)"] {
            let (what, given) = ("(epsilon, delta)", text.into());
            assert_eq!(
                text.parse::<EpsilonDelta>(),
                Err(NumberError::NotAPair { what, given }),
                "{text}"
            );
        }
        assert_eq!(
            "(x, 0)".parse::<RhoDelta>(),
            Err(NumberError::Malformed {
                what: "rho",
                given: "x".into()
            })
        );
        assert_eq!(
            "(1, 0, 0)".parse::<RhoDelta>(),
            Err(NumberError::Malformed {
                what: "delta",
                given: "0, 0".into()
            })
        );
        assert_eq!(
            NumberError::NotAPair {
                what: "(rho, delta)",
                given: "1, 2".into()
            }
            .to_string(),
            "(rho, delta) must be a pair such as (1, 1e-6), not \"1, 2\""
        );
    }

    #[test]
    fn a_precision_rounds_both_parts_up() {
        let pair = EpsilonDelta::new("12.3416", "1.2345e-6").unwrap();
        assert_eq!(format!("{pair:.2}"), "(12.35, 1.24e-6)");
        assert_eq!(format!("{pair:.0}"), "(13, 2e-6)");
        assert_eq!(format!("{pair:*>14.0}"), "****(13, 2e-6)");
        assert_eq!(format!("{pair:<12.0}|"), "(13, 2e-6)  |");
        let pair = RhoDelta::new("0.001", "0").unwrap();
        assert_eq!(format!("{pair:.2}"), "(0.01, 0.00)");
        assert_eq!(format!("{pair:12}|"), "  (0.001, 0)|");
        assert_eq!(format!("{pair:#.1}"), "(ρ, δ) = (0.1, 0.0)");
    }

    #[test]
    fn the_first_bad_number_is_named() {
        assert_eq!(
            EpsilonDelta::new(-1.0, 2.0),
            Err(NumberError::Negative { what: "epsilon" })
        );
        assert_eq!(
            EpsilonDelta::new(1.0, f64::NAN),
            Err(NumberError::NotANumber { what: "delta" })
        );
    }
}
