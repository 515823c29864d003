//! Parameters as PostgreSQL reads them.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use queryables::table::Value;
use queryables::table::sql::Parameter;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// The parameters of a statement, to be sent.
pub(crate) fn bound(parameters: &[Parameter]) -> Vec<Box<dyn ToSql + Sync + Send + '_>> {
    let bound = parameters.iter().map(|parameter| match parameter {
        Parameter::One(value) => Box::new(Sent(value)) as Box<dyn ToSql + Sync + Send>,
        Parameter::List(_, values) => {
            let values = values.iter().map(|value| value.as_ref().map(Sent));
            Box::new(values.collect::<Vec<_>>())
        }
    });
    bound.collect()
}

/// A value, in the binary form of the type that the statement gives its placeholder.
#[derive(Debug)]
struct Sent<'a>(&'a Value);

impl ToSql for Sent<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self.0 {
            Value::Whole(number) => out.put_i64(*number),
            Value::Real(number) => out.put_f64(*number),
            Value::Text(text) => out.put_slice(text.as_bytes()),
            Value::Bool(yes) => out.put_u8((*yes).into()),
            Value::Date(days) => out.put_i32(date(*days)),
            Value::Time(microseconds) => out.put_i64(timestamp(*microseconds)),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// From 1970-01-01 to 2000-01-01.
const DAYS: i32 = 10_957;
const MICROSECONDS: i64 = DAYS as i64 * 86_400_000_000;

/// Days since 2000-01-01. Dates are from 4714-11-24 BC up to 5874897-12-31; beyond that they are infinite.
fn date(days: i32) -> i32 {
    match days.saturating_sub(DAYS) {
        ..-2_451_545 => i32::MIN,
        2_145_031_949.. => i32::MAX,
        days => days,
    }
}

/// Microseconds since 2000-01-01. Times are from 4714-11-24 BC up to the year 294276; beyond that they
/// are infinite.
fn timestamp(microseconds: i64) -> i64 {
    match microseconds.saturating_sub(MICROSECONDS) {
        ..-211_813_488_000_000_000 => i64::MIN,
        9_223_371_331_200_000_000.. => i64::MAX,
        microseconds => microseconds,
    }
}
