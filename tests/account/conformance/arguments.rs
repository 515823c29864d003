//! The arguments of a row, and why one fails.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use queryables::number::{NumberError, Quantity, Unit};
use queryables::privacy::fdp::FdpError;
use queryables::privacy::{EpsilonDelta, UnknownLoss};
use serde_json::Value;

/// The arguments of a row.
pub struct Args<'a>(pub &'a Value);

impl Args<'_> {
    pub fn text(&self, name: &str) -> Result<String, Failure> {
        text(
            self.0
                .get(name)
                .ok_or_else(|| format!("no argument {name}"))?,
        )
    }

    pub fn get<U: Unit>(&self, name: &str) -> Result<Quantity<U>, Failure> {
        Ok(self.text(name)?.parse()?)
    }

    pub fn whole(&self, name: &str) -> Result<u64, Failure> {
        Ok(self.text(name)?.parse()?)
    }

    pub fn pair(&self, epsilon: &str, delta: &str) -> Result<EpsilonDelta, Failure> {
        Ok(EpsilonDelta {
            epsilon: self.get(epsilon)?,
            delta: self.get(delta)?,
        })
    }

    pub fn list<U: Unit>(&self, name: &str) -> Result<Vec<Quantity<U>>, Failure> {
        let list = self
            .0
            .get(name)
            .and_then(Value::as_array)
            .ok_or_else(|| format!("no list {name}"))?;
        list.iter().map(|value| Ok(text(value)?.parse()?)).collect()
    }
}

pub fn text(value: &Value) -> Result<String, Failure> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) if number.is_u64() => Ok(number.to_string()),
        other => Err(format!("{other} is no number").into()),
    }
}

/// A decimal number, exactly.
pub fn decimal(text: &str) -> Result<RBig, Failure> {
    let bad = || Failure(format!("{text} is no decimal number"));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: IBig = format!("{whole}{fraction}").parse().map_err(|_| bad())?;
    let exponent: i32 = exponent.parse().map_err(|_| bad())?;
    let exponent = exponent - fraction.len() as i32;
    let power = UBig::from(10_u8).pow(exponent.unsigned_abs() as usize);
    Ok(if exponent < 0 {
        RBig::from_parts(digits, power)
    } else {
        RBig::from(digits * IBig::from(power))
    })
}

/// Why a row fails.
#[derive(Debug, PartialEq)]
pub struct Failure(pub String);

macro_rules! failures {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self(error.to_string())
            }
        }
    )*};
}

failures!(
    &str,
    String,
    NumberError,
    UnknownLoss,
    FdpError,
    queryables::account::RuleError,
    queryables::account::menu::MenuError,
    queryables::privacy::Overflow,
    std::num::ParseIntError,
    std::num::TryFromIntError,
    dashu_base::ConversionError,
    serde_json::Error
);

pub trait OrFail<T> {
    fn or_fail(self) -> Result<T, Failure>;
}

impl<T> OrFail<T> for Result<T, UnknownLoss> {
    fn or_fail(self) -> Result<T, Failure> {
        Ok(self?)
    }
}
