//! A column of a batch, as questions see it: 64-bit numbers, texts, yes and no.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, LargeStringArray, StringArray, StringViewArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{DataType, TimeUnit};

use crate::truth::{Truth, bits};

/// The values of a column, or of an expression, for all rows of a batch.
pub(crate) enum Vector<'a> {
    /// Whole numbers, days, or microseconds.
    Whole(Numbers<'a, i64>),
    Real(Numbers<'a, f64>),
    Text(Texts<'a>),
    Truth(Truth),
}

/// Numbers, of which some may be missing.
pub(crate) struct Numbers<'a, T: Copy> {
    pub(crate) values: Values<'a, T>,
    /// Where there is a number; everywhere by default.
    pub(crate) known: Option<NullBuffer>,
}

/// A value for each row.
pub(crate) enum Values<'a, T: Copy> {
    Each(Cow<'a, [T]>),
    /// The same one: a literal.
    Same(T),
}

/// Texts, of which some may be missing.
pub(crate) struct Texts<'a> {
    texts: Layout<'a>,
    /// Which of the texts stands in each row; by default all of them, in their order.
    codes: Option<Vec<usize>>,
    pub(crate) known: Option<NullBuffer>,
}

enum Layout<'a> {
    Small(&'a StringArray),
    Large(&'a LargeStringArray),
    View(&'a StringViewArray),
    Same(&'a str),
}

impl<'a> Vector<'a> {
    /// The values of an Arrow array; none if it has a type that the schema has no kind for.
    ///
    /// - An unsigned number above 2^63 − 1 becomes that.
    /// - A moment is rounded down to microseconds; one beyond 64 bits becomes the first or the last.
    /// - NaN is missing.
    pub(crate) fn of(array: &'a dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Int64 => Self::Whole(borrowed::<Int64Type>(array)?),
            DataType::Int8 => Self::Whole(widened::<Int8Type, _>(array, i64::from)?),
            DataType::Int16 => Self::Whole(widened::<Int16Type, _>(array, i64::from)?),
            DataType::Int32 => Self::Whole(widened::<Int32Type, _>(array, i64::from)?),
            DataType::UInt8 => Self::Whole(widened::<UInt8Type, _>(array, i64::from)?),
            DataType::UInt16 => Self::Whole(widened::<UInt16Type, _>(array, i64::from)?),
            DataType::UInt32 => Self::Whole(widened::<UInt32Type, _>(array, i64::from)?),
            DataType::UInt64 => Self::Whole(widened::<UInt64Type, _>(array, |number| {
                i64::try_from(number).unwrap_or(i64::MAX)
            })?),
            DataType::Date32 => Self::Whole(widened::<Date32Type, _>(array, i64::from)?),
            DataType::Timestamp(unit, _) => Self::Whole(microseconds(array, *unit)?),
            DataType::Float64 => Self::Real(without_nan(borrowed::<Float64Type>(array)?)),
            DataType::Float32 => {
                Self::Real(without_nan(widened::<Float32Type, _>(array, f64::from)?))
            }
            DataType::Boolean => {
                let array = array.as_boolean_opt()?;
                Self::Truth(Truth::known(array.values().clone(), array.nulls()))
            }
            _ => Self::Text(Texts::of(array)?),
        })
    }
}

fn borrowed<A: ArrowPrimitiveType>(array: &dyn Array) -> Option<Numbers<'_, A::Native>> {
    let array = array.as_primitive_opt::<A>()?;
    Some(Numbers {
        values: Values::Each(Cow::Borrowed(array.values())),
        known: array.nulls().cloned(),
    })
}

fn widened<A: ArrowPrimitiveType, T: Copy>(
    array: &dyn Array,
    widen: impl Fn(A::Native) -> T,
) -> Option<Numbers<'_, T>> {
    let array = array.as_primitive_opt::<A>()?;
    let values = array.values().iter().map(|value| widen(*value)).collect();
    Some(Numbers {
        values: Values::Each(Cow::Owned(values)),
        known: array.nulls().cloned(),
    })
}

fn microseconds(array: &dyn Array, unit: TimeUnit) -> Option<Numbers<'_, i64>> {
    match unit {
        TimeUnit::Second => {
            widened::<TimestampSecondType, _>(array, |time| time.saturating_mul(1_000_000))
        }
        TimeUnit::Millisecond => {
            widened::<TimestampMillisecondType, _>(array, |time| time.saturating_mul(1000))
        }
        TimeUnit::Microsecond => borrowed::<TimestampMicrosecondType>(array),
        TimeUnit::Nanosecond => {
            widened::<TimestampNanosecondType, _>(array, |time| time.div_euclid(1000))
        }
    }
}

fn without_nan(mut numbers: Numbers<'_, f64>) -> Numbers<'_, f64> {
    if let Values::Each(values) = &numbers.values {
        // Without an early end, so that it is fast where there is none: nearly always.
        if values
            .iter()
            .fold(false, |some, number| some | number.is_nan())
        {
            let is_number = NullBuffer::new(bits(values, |number| !number.is_nan()));
            numbers.known = NullBuffer::union(numbers.known.as_ref(), Some(&is_number));
        }
    }
    numbers
}

impl<T: Copy> Numbers<'_, T> {
    /// The same number in all rows.
    pub(crate) fn same(number: T) -> Self {
        Self {
            values: Values::Same(number),
            known: None,
        }
    }

    /// Where the test holds; unknown where there is no number.
    pub(crate) fn test(&self, rows: usize, test: impl Fn(T) -> bool) -> Truth {
        match &self.values {
            Values::Each(values) => Truth::known(bits(values, test), self.known.as_ref()),
            Values::Same(value) => Truth::all(rows, test(*value)),
        }
    }
}

impl<'a> Texts<'a> {
    fn of(array: &'a dyn Array) -> Option<Self> {
        let (texts, codes) = match array.data_type() {
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary_opt()?;
                // An empty dictionary has missing values only, for which every code will do.
                let codes = match dictionary.values().len() {
                    0 => vec![0; array.len()],
                    _ => dictionary.normalized_keys(),
                };
                (dictionary.values().as_ref(), Some(codes))
            }
            _ => (array, None),
        };
        let texts = match texts.data_type() {
            DataType::Utf8 => Layout::Small(texts.as_string_opt()?),
            DataType::LargeUtf8 => Layout::Large(texts.as_string_opt()?),
            DataType::Utf8View => Layout::View(texts.as_string_view_opt()?),
            _ => return None,
        };
        Some(Self {
            texts,
            codes,
            // A code of a dictionary may stand for a missing text.
            known: array.logical_nulls(),
        })
    }

    /// The same text in all rows.
    pub(crate) fn same(text: &'a str) -> Self {
        Self {
            texts: Layout::Same(text),
            codes: None,
            known: None,
        }
    }

    /// How many rows there are; one for a literal.
    pub(crate) fn len(&self) -> usize {
        self.codes
            .as_ref()
            .map_or_else(|| self.texts.len(), Vec::len)
    }

    /// The text of a row. Where it is missing, it may be any.
    #[inline]
    pub(crate) fn at(&self, row: usize) -> &'a str {
        match &self.codes {
            None => self.texts.at(row),
            Some(codes) => codes.get(row).map_or("", |code| self.texts.at(*code)),
        }
    }

    /// What is computed from the text of each row: once for each code, where there are codes.
    pub(crate) fn map<T: Copy>(&self, rows: usize, compute: impl Fn(&str) -> T) -> Vec<T> {
        match &self.codes {
            Some(codes) if self.texts.len() <= codes.len() => {
                let all: Vec<T> = (0..self.texts.len())
                    .map(|code| compute(self.texts.at(code)))
                    .collect();
                let missing = compute("");
                let of_rows = codes
                    .iter()
                    .map(|code| all.get(*code).copied().unwrap_or(missing));
                of_rows.collect()
            }
            _ => (0..rows).map(|row| compute(self.at(row))).collect(),
        }
    }

    /// Where the test holds; unknown where there is no text.
    pub(crate) fn test(&self, rows: usize, test: impl Fn(&str) -> bool) -> Truth {
        let holds = BooleanBuffer::from(self.map(rows, test));
        Truth::known(holds, self.known.as_ref())
    }
}

impl<'a> Layout<'a> {
    fn len(&self) -> usize {
        match self {
            Self::Small(texts) => texts.len(),
            Self::Large(texts) => texts.len(),
            Self::View(texts) => texts.len(),
            Self::Same(_) => 1,
        }
    }

    #[inline]
    fn at(&self, place: usize) -> &'a str {
        if place >= self.len() && !matches!(self, Self::Same(_)) {
            return "";
        }
        match self {
            Self::Small(texts) => texts.value(place),
            Self::Large(texts) => texts.value(place),
            Self::View(texts) => texts.value(place),
            Self::Same(text) => text,
        }
    }
}
