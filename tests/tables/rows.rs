//! Rows with everything ugly in them.

use queryables::table::{Column, Domain, Kind, Schema, Value};

use crate::Draw;

/// A value for each column.
pub type Row = Vec<Option<Value>>;

/// Around the ends of what is exact somewhere.
const NUMBERS: [i64; 14] = [
    i64::MIN,
    i64::MIN + 1,
    i64::MAX,
    i64::MAX - 1,
    1 << 50,
    -(1 << 50),
    (1 << 50) + 1,
    (1 << 53) + 1,
    1 << 32,
    -(1 << 31) - 1,
    255,
    -129,
    0,
    1,
];

const REALS: [f64; 16] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    0.0,
    -0.0,
    // Ties, and what is next to one.
    0.5,
    -0.5,
    1.5,
    2.5,
    0.499_999_999_999_999_94,
    1_125_899_906_842_624.5,
    -1e300,
    0.1,
];

const TEXTS: [&str; 12] = [
    "", "a", "aa", "A", "b", "it's", "\"", "a,b\r\n", "\u{1}", "é", "日本", "CA",
];

impl Draw {
    /// Some rows: often few, sometimes none. Few people have most of them.
    pub fn rows(&mut self, schema: &Schema) -> Vec<Row> {
        let most = *self.one_of(&[0, 1, 5, 40, 40, 120]);
        let rows = self.below(most + 1);
        (0..rows).map(|_| self.row(schema)).collect()
    }

    /// A row.
    pub fn row(&mut self, schema: &Schema) -> Row {
        let columns = schema.columns().iter().enumerate();
        let row = columns.map(|(place, column)| {
            if schema.person_column() == Some(place) {
                self.person(column.kind())
            } else if self.one_in(6) {
                None
            } else {
                Some(self.value(column))
            }
        });
        row.collect()
    }

    fn person(&mut self, kind: Kind) -> Option<Value> {
        // The least of two: the first people have more rows.
        let number = self.below(9).min(self.below(9));
        match (number, kind) {
            (8, _) => None,
            (_, Kind::Text) => Some(TEXTS[number].into()),
            (0, _) => Some(Value::Whole(i64::MIN)),
            _ => Some(Value::Whole(number as i64 - 3)),
        }
    }

    fn value(&mut self, column: &Column) -> Value {
        if let Some(Domain::Categories(categories)) = column.domain()
            && !self.one_in(8)
        {
            return self.one_of(categories).clone();
        }
        match column.kind() {
            Kind::Whole if self.one_in(4) => Value::Whole(*self.one_of(&NUMBERS)),
            Kind::Whole => Value::Whole(self.between(-6, 12)),
            Kind::Real if self.one_in(3) => Value::Real(*self.one_of(&REALS)),
            Kind::Real => Value::Real(self.between(-60, 400) as f64 / 8.0),
            Kind::Text => Value::from(*self.one_of(&TEXTS)),
            Kind::Bool => Value::Bool(self.one_in(2)),
            Kind::Date if self.one_in(8) => Value::Date(*self.one_of(&[i32::MIN, i32::MAX])),
            Kind::Date => Value::Date(self.between(-3, 3) as i32 + *self.one_of(&[0, 19_753])),
            Kind::Time if self.one_in(8) => Value::Time(*self.one_of(&[i64::MIN, i64::MAX])),
            Kind::Time => Value::Time(self.between(-3, 3) * *self.one_of(&[1, 999, 1_000_000])),
        }
    }
}
