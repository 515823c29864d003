//! One value of a column.

use std::cmp::Ordering;
use std::fmt;

use super::calendar::{
    FIRST_DAY, LAST_DAY, MICROSECONDS_OF_A_DAY, date_text, read_date, read_time, time_text,
};
use super::print::Shortened;
use super::{Kind, TableError};

/// A value of a column, or a literal of a question. A missing value has none.
///
/// It prints as it is written in a question. In JSON a number with a point is real and one without is
/// whole, and a date or a time is an object.
///
/// ```
/// use queryables::table::Value;
///
/// let values = [18.into(), 0.5.into(), "it's".into(), true.into(), Value::Date(19_753)];
/// let texts = values.each_ref().map(Value::to_string);
/// assert_eq!(texts, ["18", "0.5", "'it''s'", "TRUE", "DATE '2024-01-31'"]);
/// let json = r#"[18,0.5,"it's",true,{"date":"2024-01-31"}]"#;
/// assert_eq!(serde_json::to_string(&values)?, json);
/// assert_eq!(serde_json::from_str::<[Value; 5]>(json)?, values);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Whole(i64),
    /// A real number. NaN is a missing value, and no literal.
    Real(f64),
    /// A text. Texts compare by their bytes.
    Text(String),
    /// Yes or no.
    Bool(bool),
    /// A date: days since 1970-01-01.
    Date(i32),
    /// A moment: microseconds since 1970-01-01 00:00:00 UTC.
    Time(i64),
}

impl Value {
    /// Its type.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Whole(_) => Kind::Whole,
            Self::Real(_) => Kind::Real,
            Self::Text(_) => Kind::Text,
            Self::Bool(_) => Kind::Bool,
            Self::Date(_) => Kind::Date,
            Self::Time(_) => Kind::Time,
        }
    }

    /// The order of two values of one type; of others there is none, nor of NaN.
    #[must_use]
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) | (Self::Time(one), Self::Time(other)) => {
                Some(one.cmp(other))
            }
            (Self::Real(one), Self::Real(other)) => one.partial_cmp(other),
            (Self::Text(one), Self::Text(other)) => Some(one.as_bytes().cmp(other.as_bytes())),
            (Self::Bool(one), Self::Bool(other)) => Some(one.cmp(other)),
            (Self::Date(one), Self::Date(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }

    /// The same constant as a value of this type, in the one form that it has there. `place` says where
    /// it stands, after a space.
    pub(super) fn fit(self, kind: Kind, place: &dyn fmt::Display) -> Result<Self, TableError> {
        let bad = |value: &Self, problem| TableError::BadLiteral {
            what: format!("{}{place}", Shortened(value)),
            problem,
        };
        match (self, kind) {
            (Self::Real(value), Kind::Real) => {
                if value.is_finite() {
                    // Zero has two forms, which are equal: the sum with the positive one is positive.
                    Ok(Self::Real(value + 0.0))
                } else {
                    Err(bad(
                        &Self::Real(value),
                        "is not a finite number: write one that is",
                    ))
                }
            }
            (Self::Whole(value), Kind::Real) => {
                let real = value as f64;
                if real as i128 == i128::from(value) {
                    Ok(Self::Real(real))
                } else {
                    let problem = "is not exactly a real number of 64 bits: write one that is";
                    Err(bad(&Self::Whole(value), problem))
                }
            }
            (Self::Text(text), Kind::Date) => match read_date(&text) {
                Some(days) => Ok(Self::Date(days)),
                None => Err(bad(&Self::Text(text), "is not a date: write 'YYYY-MM-DD'")),
            },
            (Self::Text(text), Kind::Time) => match read_time(&text) {
                Some(time) => Ok(Self::Time(time)),
                None => {
                    let problem = "is not a time: write 'YYYY-MM-DD hh:mm:ss' in UTC";
                    Err(bad(&Self::Text(text), problem))
                }
            },
            // A database could not be asked about it.
            (Self::Text(text), Kind::Text) if text.contains('\0') => {
                let problem = "contains the character U+0000: leave it out";
                Err(bad(&Self::Text(text), problem))
            }
            (value, kind) if value.kind() != kind => Err(TableError::WrongType {
                what: format!("{}{place}", Shortened(&value)),
                found: value.kind(),
                wanted: kind,
            }),
            (value @ Self::Date(days), _) if !(FIRST_DAY..=LAST_DAY).contains(&days) => {
                Err(bad(&value, "is not in the years 1 to 9999"))
            }
            (value @ Self::Time(time), _) => {
                let days = time.div_euclid(MICROSECONDS_OF_A_DAY);
                if (i64::from(FIRST_DAY)..=i64::from(LAST_DAY)).contains(&days) {
                    Ok(value)
                } else {
                    Err(bad(&value, "is not in the years 1 to 9999"))
                }
            }
            (value, _) => Ok(value),
        }
    }
}

/// As it is written in a question.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => value.fmt(f),
            // With a point or an exponent, so that it is read as a real number again.
            Self::Real(value) => write!(f, "{value:?}"),
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Self::Bool(true) => f.write_str("TRUE"),
            Self::Bool(false) => f.write_str("FALSE"),
            Self::Date(days) => write!(f, "DATE '{}'", date_text(*days)),
            Self::Time(time) => write!(f, "TIMESTAMP '{}'", time_text(*time)),
        }
    }
}

macro_rules! value_from {
    ($($Rust:ty => $Variant:ident),* $(,)?) => {
        $(
            impl From<$Rust> for Value {
                fn from(value: $Rust) -> Self {
                    Self::$Variant(value.into())
                }
            }
        )*
    };
}
value_from!(i32 => Whole, i64 => Whole, u32 => Whole, f64 => Real, &str => Text, String => Text, bool => Bool);
