//! Conditions and numbers over the columns of a schema.

use queryables::table::{
    Column, Comparison, Condition, Domain, Expr, Kind, Number, Operation, Schema, Value, col,
};

use crate::Draw;

const COMPARISONS: [Comparison; 6] = [
    Comparison::Eq,
    Comparison::Ne,
    Comparison::Lt,
    Comparison::Le,
    Comparison::Gt,
    Comparison::Ge,
];

impl Draw {
    /// A condition.
    ///
    /// # Panics
    ///
    /// If what was drawn does not fit the schema, which is a mistake here.
    pub fn condition(&mut self, schema: &Schema) -> Condition {
        let expr = self.truth(schema, 3);
        let condition = schema.condition(expr.clone());
        condition.unwrap_or_else(|error| panic!("{expr:?}: {error}"))
    }

    /// A number, if there is a column of numbers.
    pub(crate) fn number(&mut self, schema: &Schema) -> Option<Number> {
        let columns = of_kind(schema, |kind| matches!(kind, Kind::Whole | Kind::Real));
        let column = columns.get(self.below(columns.len().max(1)))?;
        let expr = if column.kind() == Kind::Whole && self.one_in(3) {
            self.whole(schema, 2)
        } else {
            col(column.name())
        };
        let number = schema.number(expr.clone());
        Some(number.unwrap_or_else(|error| panic!("{expr:?}: {error}")))
    }

    fn truth(&mut self, schema: &Schema, depth: usize) -> Expr {
        match self.below(if depth == 0 { 6 } else { 10 }) {
            0..6 => self.predicate(schema),
            6 => self.truth(schema, depth - 1) & self.truth(schema, depth - 1),
            7 => self.truth(schema, depth - 1) | self.truth(schema, depth - 1),
            8 => !self.truth(schema, depth - 1),
            _ => Expr::And(vec![
                self.truth(schema, depth - 1),
                self.truth(schema, depth - 1) | self.predicate(schema),
                self.predicate(schema),
            ]),
        }
    }

    fn predicate(&mut self, schema: &Schema) -> Expr {
        let column = self.one_of(schema.columns());
        let one = match column.kind() {
            Kind::Whole if column.domain().is_none() => self.whole(schema, 1),
            _ => col(column.name()),
        };
        match (self.below(6), column.kind()) {
            (0, _) => col(column.name()).is_null(),
            (1, _) => {
                let most = *self.one_of(&[1, 3, 12]);
                let mut values: Vec<Value> = Vec::new();
                for _ in 0..most {
                    let value = self.literal(column);
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                one.is_in(values)
            }
            (_, Kind::Bool) => match self.below(3) {
                0 => col(column.name()),
                1 => col(column.name()).eq(self.literal(column)),
                _ => col(column.name()).ne(self.literal(column)),
            },
            (2, _) => {
                let (low, high) = (self.literal(column), self.literal(column));
                one.between(low, high)
            }
            (3, kind) if column.domain().is_none() => {
                // With another column of the kind, or with itself.
                let others = of_kind(schema, |other| other == kind);
                let others: Vec<_> = others
                    .iter()
                    .filter(|other| other.domain().is_none())
                    .collect();
                let other = col(self.one_of(&others).name());
                Expr::Compare(*self.one_of(&COMPARISONS), Box::new(one), Box::new(other))
            }
            _ => {
                let (one, other) = (Box::new(one), Box::new(Expr::Literal(self.literal(column))));
                let (one, other) = if self.one_in(5) {
                    (other, one)
                } else {
                    (one, other)
                };
                Expr::Compare(*self.one_of(&COMPARISONS), one, other)
            }
        }
    }

    /// A whole number; a literal if there is no column of them.
    fn whole(&mut self, schema: &Schema, depth: usize) -> Expr {
        let mut columns = of_kind(schema, |kind| kind == Kind::Whole);
        // Categories are compared with categories only.
        columns.retain(|column| !matches!(column.domain(), Some(Domain::Categories(_))));
        let column = columns.get(self.below(columns.len().max(1)));
        match (column, self.below(if depth == 0 { 3 } else { 6 })) {
            (Some(column), 0 | 1) => col(column.name()),
            (_, 0..3) => Expr::Literal(self.between(-5, 5).into()),
            (_, chosen) => {
                let operation = [Operation::Add, Operation::Sub, Operation::Mul][chosen - 3];
                let (one, other) = (self.whole(schema, depth - 1), self.whole(schema, depth - 1));
                Expr::Compute(operation, Box::new(one), Box::new(other))
            }
        }
    }

    /// A constant that a column may be compared with.
    pub(crate) fn literal(&mut self, column: &Column) -> Value {
        if let Some(Domain::Categories(categories)) = column.domain() {
            return self.one_of(categories).clone();
        }
        match column.kind() {
            Kind::Whole if self.one_in(5) => (*self.one_of(&[i64::MIN, i64::MAX])).into(),
            Kind::Whole => self.between(-6, 12).into(),
            Kind::Real => {
                let reals = [0.0, 0.5, -0.5, 1.5, f64::MAX, 5e-324, 12.0, 12.125];
                (*self.one_of(&reals)).into()
            }
            Kind::Text => (*self.one_of(&["a", "aa", "it's", "\"", "é", "b", ""])).into(),
            Kind::Bool => self.one_in(2).into(),
            Kind::Date => Value::Date(self.between(-3, 3) as i32 + *self.one_of(&[0, 19_753])),
            Kind::Time => Value::Time(self.between(-3, 3) * *self.one_of(&[1, 999, 1_000_000])),
        }
    }
}

/// The columns of such a kind.
pub(crate) fn of_kind(schema: &Schema, is_such: impl Fn(Kind) -> bool) -> Vec<&Column> {
    let columns = schema.columns().iter();
    columns.filter(|column| is_such(column.kind())).collect()
}
