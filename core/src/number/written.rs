//! Numbers in serialized form: decimal strings, which no reader rounds.

use std::borrow::Cow;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Quantity, U256, Unit};

impl<U: Unit> Serialize for Quantity<U> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads what [`FromStr`](std::str::FromStr) reads, and only from a string: most readers treat a
/// JSON number as a float.
impl<'de, U: Unit> Deserialize<'de> for Quantity<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// The number of digits that always fit into 128 bits.
const DIGITS: usize = 38;

impl Serialize for U256 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (rest, low) = self.div_rem(10_u128.pow(38));
        let (high, middle) = rest.div_rem(10_u128.pow(38));
        // 2^256 has 78 digits.
        let (_, high) = high.halves();
        let text = format!("{high}{middle:0DIGITS$}{low:0DIGITS$}");
        let digits = text.trim_start_matches('0');
        serializer.serialize_str(if digits.is_empty() { "0" } else { digits })
    }
}

impl<'de> Deserialize<'de> for U256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let digits = text.bytes().map(|byte| char::from(byte).to_digit(10));
        let number = digits.take(79).try_fold(Self::default(), |number, digit| {
            let tens = number.checked_mul(10)?;
            tens.checked_add(Self::whole(u128::from(digit?)))
        });
        let number = number.filter(|_| !text.is_empty());
        number
            .ok_or_else(|| D::Error::custom("a sum of squares must be a whole number below 2^256"))
    }
}
