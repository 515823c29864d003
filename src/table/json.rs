//! Expressions and values in JSON.
//!
//! A constant is itself: `18`, `0.5`, `"CA"`, `true`, `{"date": "2024-01-31"}`,
//! `{"time": "2024-01-31 12:00:00"}`. Everything else is an object with one key.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::bounds::{DEEPEST, MOST_PARTS, TOO_DEEP, TOO_MANY_PARTS};
use super::calendar::{date_text, read_date, read_time, time_text};
use super::expr::{Comparison, Operation};
use super::{Expr, Value};

fn object<S: Serializer>(
    serializer: S,
    key: &str,
    value: &(impl Serialize + ?Sized),
) -> Result<S::Ok, S::Error> {
    let mut object = serializer.serialize_map(Some(1))?;
    object.serialize_entry(key, value)?;
    object.end()
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(value) => serializer.serialize_i64(*value),
            Self::Real(value) if value.is_finite() => serializer.serialize_f64(*value),
            Self::Real(_) => Err(serde::ser::Error::custom(
                "a number that is not finite is no constant",
            )),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Date(days) => object(serializer, "date", &date_text(*days)),
            Self::Time(time) => object(serializer, "time", &time_text(*time)),
        }
    }
}

impl Serialize for Expr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Column(name) => object(serializer, "column", name),
            Self::Literal(value) => value.serialize(serializer),
            Self::Compare(comparison, one, other) => {
                object(serializer, comparison.key(), &(one, other))
            }
            Self::In(one, values) => object(serializer, "in", &(one, values)),
            Self::Between(one, low, high) => object(serializer, "between", &(one, low, high)),
            Self::IsNull(one) => object(serializer, "is_null", one),
            Self::And(parts) => object(serializer, "and", parts),
            Self::Or(parts) => object(serializer, "or", parts),
            Self::Not(one) => object(serializer, "not", one),
            Self::Compute(operation, one, other) => {
                object(serializer, operation.key(), &(one, other))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = Cell::new(MOST_PARTS);
        let part = Part {
            levels: DEEPEST,
            parts: &parts,
        };
        part.deserialize(deserializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = Cell::new(1);
        let part = Part {
            levels: 1,
            parts: &parts,
        };
        constant(part.deserialize(deserializer)?)
    }
}

fn constant<E: Error>(expr: Expr) -> Result<Value, E> {
    match expr {
        Expr::Literal(value) => Ok(value),
        expr => Err(E::custom(format_args!(
            "{expr} stands where a constant is needed"
        ))),
    }
}

/// Reads one expression: how many levels and parts it may still have.
#[derive(Clone, Copy)]
struct Part<'a> {
    levels: usize,
    parts: &'a Cell<usize>,
}

impl<'a> Part<'a> {
    /// For what is inside of it.
    fn inside<E: Error>(self) -> Result<Part<'a>, E> {
        match self.levels - 1 {
            0 => Err(E::custom(TOO_DEEP)),
            levels => Ok(Part { levels, ..self }),
        }
    }

    /// Both sides of an operator.
    fn two<'de, A: MapAccess<'de>>(self, object: &mut A) -> Result<[Box<Expr>; 2], A::Error> {
        let parts = object.next_value_seed(List(self.inside()?))?;
        Ok(exactly(parts)?.map(Box::new))
    }
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = Expr;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Expr, D::Error> {
        let left = self.parts.get().checked_sub(1);
        self.parts
            .set(left.ok_or_else(|| D::Error::custom(TOO_MANY_PARTS))?);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = Expr;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a constant, or an object with one key such as {\"column\": \"age\"}")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Expr, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Expr, E> {
        match i64::try_from(value) {
            Ok(value) => Ok(value.into()),
            Err(_) => Err(E::custom(format_args!(
                "{value} is larger than a whole number of 64 bits"
            ))),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Expr, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Expr, E> {
        Ok(value.into())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Expr, E> {
        Ok(value.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Expr, A::Error> {
        let Some(key) = object.next_key::<String>()? else {
            return Err(A::Error::invalid_length(0, &self));
        };
        let expr = match &*key {
            "column" => Expr::Column(object.next_value()?),
            "date" => {
                Value::Date(object.next_value_seed(Calendar("a date: YYYY-MM-DD", read_date))?)
                    .into()
            }
            "time" => {
                let reader = Calendar("a time in UTC: YYYY-MM-DD hh:mm:ss", read_time);
                Value::Time(object.next_value_seed(reader)?).into()
            }
            "in" => object.next_value_seed(In(self.inside()?))?,
            "between" => {
                let parts = object.next_value_seed(List(self.inside()?))?;
                let [one, low, high] = exactly(parts)?;
                Expr::Between(Box::new(one), constant(low)?, constant(high)?)
            }
            "and" => Expr::And(object.next_value_seed(List(self.inside()?))?),
            "or" => Expr::Or(object.next_value_seed(List(self.inside()?))?),
            "not" => Expr::Not(Box::new(object.next_value_seed(self.inside()?)?)),
            "is_null" => Expr::IsNull(Box::new(object.next_value_seed(self.inside()?)?)),
            key => {
                let comparison = Comparison::ALL.into_iter().find(|each| each.key() == key);
                let operation = Operation::ALL.into_iter().find(|each| each.key() == key);
                if let Some(comparison) = comparison {
                    let [one, other] = self.two(&mut object)?;
                    Expr::Compare(comparison, one, other)
                } else if let Some(operation) = operation {
                    let [one, other] = self.two(&mut object)?;
                    Expr::Compute(operation, one, other)
                } else {
                    return Err(A::Error::unknown_field(key, KEYS));
                }
            }
        };
        match object.next_key::<String>()? {
            None => Ok(expr),
            Some(second) => {
                let both =
                    format_args!("one object has the keys {key:?} and {second:?}: it may have one");
                Err(A::Error::custom(both))
            }
        }
    }
}

/// Everything that an object may be.
const KEYS: &[&str] = &[
    "column", "date", "time", "eq", "ne", "lt", "le", "gt", "ge", "in", "between", "is_null",
    "and", "or", "not", "add", "sub", "mul",
];

fn exactly<const N: usize, E: Error>(parts: Vec<Expr>) -> Result<[Expr; N], E> {
    <[Expr; N]>::try_from(parts).map_err(|parts| {
        let found = parts.len();
        E::custom(format_args!(
            "a list has {found} parts, and {N} are needed here"
        ))
    })
}

/// Reads a list of expressions.
struct List<'a>(Part<'a>);

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = Vec<Expr>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Expr>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = Vec<Expr>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Expr>, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = list.next_element_seed(self.0)? {
            parts.push(part);
        }
        Ok(parts)
    }
}

/// Reads a list of an expression and a list of constants.
struct In<'a>(Part<'a>);

impl<'de> DeserializeSeed<'de> for In<'_> {
    type Value = Expr;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Expr, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for In<'_> {
    type Value = Expr;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of an expression and a list of constants")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Expr, A::Error> {
        let wrong = |found: usize| {
            A::Error::invalid_length(found, &"an expression and a list of constants")
        };
        let one = list.next_element_seed(self.0)?.ok_or_else(|| wrong(0))?;
        let values = list
            .next_element_seed(List(self.0))?
            .ok_or_else(|| wrong(1))?;
        if list.next_element::<serde::de::IgnoredAny>()?.is_some() {
            return Err(wrong(3));
        }
        let values = values.into_iter().map(constant).collect::<Result<_, _>>()?;
        Ok(Expr::In(Box::new(one), values))
    }
}

/// Reads a day or a moment: what is expected, and who reads it.
struct Calendar<T>(&'static str, fn(&str) -> Option<T>);

impl<'de, T> DeserializeSeed<'de> for Calendar<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Self(expected, read) = self;
        let unexpected = serde::de::Unexpected::Str(&text);
        read(&text).ok_or_else(|| D::Error::invalid_value(unexpected, &expected))
    }
}
