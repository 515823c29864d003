//! Plans over a schema.

use queryables::table::{
    Amount, Bound, Domain, Grouping, Kind, MOST_NORM, MOST_STEPS, Parts, Person, Plan, Schema,
    Value,
};

use crate::Draw;

impl Draw {
    /// A plan.
    ///
    /// # Panics
    ///
    /// If what was drawn does not fit together, which is a mistake here.
    pub fn plan(&mut self, schema: &Schema) -> Plan {
        let condition = (!self.one_in(3)).then(|| self.condition(schema));
        let parts = *self.one_of(&[Parts::Value, Parts::Value, Parts::Mean, Parts::Variance]);
        let amount = self.amount(schema, parts);
        let groupings = *self.one_of(&[0, 0, 1, 1, 1, 2]);
        let groupings = (0..groupings).map(|_| self.grouping(schema)).collect();
        let each_row = *schema.person() == Person::EachRow;
        let counts_rows = amount.number().is_none();
        let bound = match parts {
            Parts::Value => self.bound(each_row, counts_rows),
            _ if each_row && self.one_in(2) => Bound::Row,
            _ => Bound::Rows(*self.one_of(&[1, 2, 3, 7])),
        };
        Plan::new(schema, condition, (amount, parts), groupings, bound).unwrap()
    }

    fn amount(&mut self, schema: &Schema, parts: Parts) -> Amount {
        let number = if self.one_in(4) {
            None
        } else {
            self.number(schema)
        };
        let Some(number) = number else {
            return Amount::one(*self.one_of(&[0, 0, -16])).unwrap();
        };
        let exponent = *self.one_of(&[0, 0, 0, -1, -10, 3, -200, 200, -49]);
        // What a person with seven rows of a mean or a variance adds is within the largest norm.
        let widest = match parts {
            Parts::Value => MOST_STEPS,
            Parts::Mean => 1 << 27,
            Parts::Variance => 1 << 13,
        };
        let (low, high) = match self.below(6) {
            0 => (0, 100),
            1 => (3, 7),
            2 => (-7, -3),
            3 => (-widest, widest),
            _ => (self.between(-50, 0), self.between(0, 50)),
        };
        Amount::of(number, exponent, low, high).unwrap()
    }

    fn grouping(&mut self, schema: &Schema) -> Grouping {
        let column = self.one_of(schema.columns());
        if matches!(column.domain(), Some(Domain::Categories(_))) && !self.one_in(3) {
            return Grouping::of(schema, column.name()).unwrap();
        }
        let mut keys: Vec<Value> = Vec::new();
        for _ in 0..*self.one_of(&[2, 4, 10]) {
            let key = self.literal(column);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let has_order = column.kind() != Kind::Bool;
        if column.kind() == Kind::Real || (has_order && keys.len() > 1 && self.one_in(2)) {
            while keys.len() < 2 {
                let key = self.literal(column);
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
            keys.sort_by(|one, other| one.order(other).unwrap());
            return Grouping::buckets(schema, column.name(), keys).unwrap();
        }
        Grouping::keys(schema, column.name(), keys).unwrap()
    }

    fn bound(&mut self, each_row: bool, counts_rows: bool) -> Bound {
        let most = *self.one_of(&[1, 2, 10, 37, 65_536, 100_000, MOST_NORM]);
        match self.below(6) {
            0 if counts_rows => Bound::First,
            0..3 if each_row => Bound::Row,
            0 | 1 => Bound::Each(*self.one_of(&[1, 5, most, MOST_STEPS.unsigned_abs()])),
            2 | 3 => Bound::L1(most),
            4 if counts_rows => Bound::Rows(*self.one_of(&[1, 3])),
            _ => Bound::L2(most),
        }
    }
}
