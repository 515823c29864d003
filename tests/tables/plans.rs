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
        let amount = self.amount(schema);
        let parts = *self.one_of(&[Parts::Value, Parts::Value, Parts::Mean, Parts::Variance]);
        let groupings = *self.one_of(&[0, 0, 1, 1, 1, 2]);
        let groupings = (0..groupings).map(|_| self.grouping(schema)).collect();
        let once = parts == Parts::Value && amount.number().is_none();
        let bound = self.bound(*schema.person() == Person::EachRow, once);
        Plan::new(schema, condition, (amount, parts), groupings, bound).unwrap()
    }

    fn amount(&mut self, schema: &Schema) -> Amount {
        let number = if self.one_in(4) {
            None
        } else {
            self.number(schema)
        };
        let Some(number) = number else {
            return Amount::one(*self.one_of(&[0, 0, -16, -50])).unwrap();
        };
        let exponent = *self.one_of(&[0, 0, 0, -1, -10, 3, -200, 200, -49]);
        let ends = [
            (0, 1),
            (0, 100),
            (-100, 100),
            (3, 7),
            (-7, -3),
            (-MOST_STEPS, MOST_STEPS),
        ];
        let (low, high) = match *self.one_of(&ends) {
            (0, 1) => (self.between(-50, 0), self.between(0, 50)),
            ends => ends,
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
        if column.kind() == Kind::Real || (keys.len() > 1 && self.one_in(2)) {
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

    fn bound(&mut self, each_row: bool, once: bool) -> Bound {
        let most = *self.one_of(&[1, 2, 10, 37, 65_536, 100_000, MOST_NORM]);
        match self.below(6) {
            0 if once => Bound::First,
            0..3 if each_row => Bound::Row,
            0 | 1 => Bound::Each(*self.one_of(&[1, 5, most, MOST_STEPS.unsigned_abs()])),
            2 | 3 => Bound::L1(most),
            _ => Bound::L2(most),
        }
    }
}
