//! A plan as one statement.

use super::expression::{ROWS, Writer, form_of};
use super::{Dialect, Statement, TextForm};
use crate::table::{
    Amount, Bound, Grouping, Keys, Kind, MOST_STEPS, Parts, Person, Plan, TableError,
};

impl Statement {
    /// The totals of a plan over the rows of `from`: a quoted name of a table, or a query in parentheses,
    /// whose parameters are the first ones.
    ///
    /// A row of the answer has the place of a group, and the totals of its parts as texts
    /// ([`read_totals`](super::read_totals)). Groups without rows are not in it.
    ///
    /// # What is sent
    ///
    /// | part | what it holds |
    /// |---|---|
    /// | `kept` | the rows of step 1 of [`Plan`]'s "What is computed": person, place of the group, amount |
    /// | `numbers` | the sums of each person in each group, each of them clamped |
    /// | `bounded` | the same, with what they are divided by so that their norm is at most the bound |
    ///
    /// Nothing in it can overflow, divide by zero or fail to be converted, whatever the rows are.
    ///
    /// # Errors
    ///
    /// [`TableError::UnknownColumn`] if the plan names a column that its schema does not have. No plan
    /// does.
    pub fn tally<D: Dialect>(dialect: &D, from: Self, plan: &Plan) -> Result<Self, TableError> {
        let (from, mut writer) = Writer::new(dialect, plan.schema(), from);
        let parts = plan.parts().len();
        let kept = writer.kept(&from, plan)?;
        let stages = writer.stages(plan);
        let totals = (1..=parts).map(|part| {
            let sum = dialect.sum(&stages.number(dialect, part));
            format!(", CAST({sum} AS {}) AS total{part}", D::TEXT)
        });
        let totals: String = totals.collect();
        let text = format!(
            "WITH kept AS ({kept}){} SELECT place{totals} FROM {} GROUP BY place",
            stages.text, stages.last
        );
        Ok(writer.finish(text))
    }
}

/// What comes between the rows and the totals.
struct Stages {
    text: String,
    /// The one whose numbers are added up.
    last: &'static str,
    /// The bound on the norm, if there is one.
    scaled: Option<String>,
}

impl Stages {
    /// What a row of the last stage adds to a total.
    fn number(&self, dialect: &impl Dialect, part: usize) -> String {
        match &self.scaled {
            None => format!("number{part}"),
            Some(most) => dialect.quotient(&format!("(number{part} * {most})"), "divisor"),
        }
    }
}

impl<D: Dialect> Writer<'_, D> {
    /// The rows that count: person, place of the group, amount.
    fn kept(&mut self, from: &str, plan: &Plan) -> Result<String, TableError> {
        let mut joins = String::new();
        let mut conditions = Vec::new();
        let mut place = String::from("0");
        for (number, grouping) in plan.groupings().iter().enumerate() {
            let group = self.group(number, grouping, &mut joins, &mut conditions)?;
            place = format!("({place} * {} + {group})", grouping.len());
        }
        let person = match plan.schema().person() {
            Person::EachRow => String::new(),
            Person::Column(name) => {
                let (person, _) = self.column(name, TextForm::Plain)?;
                conditions.push(format!("{person} IS NOT NULL"));
                format!("{person} AS person, ")
            }
        };
        if let Some(condition) = plan.condition() {
            conditions.push(self.expression(condition.expr())?);
        }
        let amount = self.amount(plan.amount())?;
        let conditions = match conditions.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", conditions.join(" AND ")),
        };
        Ok(format!(
            "SELECT {person}CAST({place} AS BIGINT) AS place, {amount} AS amount \
             FROM {from} AS {ROWS}{joins}{conditions}"
        ))
    }

    /// The group of a row, from zero. Keys are joined, so that many of them are found fast.
    fn group(
        &mut self,
        number: usize,
        grouping: &Grouping,
        joins: &mut String,
        conditions: &mut Vec<String>,
    ) -> Result<String, TableError> {
        let (Keys::Values(values) | Keys::Buckets(values)) = grouping.groups();
        let form = form_of(values);
        let (column, kind) = self.column(grouping.column(), form)?;
        let list = self.list(kind, values, form);
        Ok(match grouping.groups() {
            Keys::Values(_) => {
                let keys = format!("keys{number}");
                let table = self.dialect.list_table(&list, &keys);
                joins.push_str(&format!(" JOIN {table} ON {column} = {keys}.key"));
                format!("({keys}.place - 1)")
            }
            Keys::Buckets(_) => {
                let edges = self.dialect.edges_below(&column, &list);
                conditions.push(format!("{edges} BETWEEN 1 AND {}", grouping.len()));
                format!("({edges} - 1)")
            }
        })
    }

    /// The amount of a row, in steps.
    ///
    /// It is `floor(x · 2^-exponent + 1/2)` in doubles, as in [`Amount::steps`], but engines fail where a
    /// product overflows or underflows. So x is clamped before, to where the amount is clamped anyway:
    ///
    /// - Above 2^51 steps the floor is at least 2^51, and an amount is at most 2^50.
    /// - Below a quarter of a step the floor is 0. Between both the product is exact.
    /// - A missing number becomes n · 2^exponent, where n is the number of the range that is nearest to
    ///   zero. Its floor is n; where the clamp to ±2^50 changes it, the last clamp gives n.
    fn amount(&mut self, amount: &Amount) -> Result<String, TableError> {
        let (low, high) = amount.range();
        let Some(number) = amount.number() else {
            return Ok(self.value(low));
        };
        let exponent = amount.exponent();
        let missing = self.value(steps(0.clamp(low, high), exponent));
        let most = match number.kind() {
            Kind::Whole => MOST_STEPS as f64,
            _ => steps(2 * MOST_STEPS, exponent),
        };
        let number_text = self.expression(number.expr())?;
        let number_text = format!("COALESCE(CAST({number_text} AS {}), {missing})", D::DOUBLE);
        let [least, most] = [-most, most].map(|end| self.value(end));
        let mut clamped = format!("GREATEST(LEAST({number_text}, {most}), {least})");
        if exponent > 0 && number.kind() == Kind::Real {
            let quarter = self.value(steps(1, exponent - 2));
            let zero = self.value(0.0);
            clamped = format!(
                "(CASE WHEN ABS({number_text}) < {quarter} THEN {zero} ELSE {clamped} END)"
            );
        }
        let scale = self.value(steps(1, -exponent));
        let half = self.value(0.5);
        let [low, high] = [low, high].map(|end| self.value(end as f64));
        Ok(format!(
            "CAST(LEAST(GREATEST(FLOOR({clamped} * {scale} + {half}), {low}), {high}) AS BIGINT)"
        ))
    }

    /// The numbers that a row adds, each at most [`Plan::largest_row`] and so of 64 bits.
    fn numbers(&mut self, plan: &Plan) -> Vec<String> {
        let (low, high) = plan.amount().range();
        if plan.parts() == Parts::Value {
            return vec!["amount".to_owned()];
        }
        let above = format!("(amount - {})", self.value(low));
        let below = format!("({} - amount)", self.value(high));
        match plan.parts() {
            Parts::Variance => vec![
                format!("{above} * {above}"),
                format!("2 * {above} * {below}"),
                format!("{below} * {below}"),
            ],
            _ => vec![above, below],
        }
    }

    fn stages(&mut self, plan: &Plan) -> Stages {
        let each_row = *plan.schema().person() == Person::EachRow;
        let numbers = self.numbers(plan);
        let most = match plan.bound() {
            Bound::Row => None,
            Bound::First if each_row => None,
            Bound::First => {
                let one = self.value(plan.amount().range().0);
                let text = format!(
                    ", numbers AS (SELECT MIN(place) AS place, {one} AS number1 \
                     FROM kept GROUP BY person)"
                );
                return Stages {
                    text,
                    last: "numbers",
                    scaled: None,
                };
            }
            Bound::Each(most) | Bound::L1(most) | Bound::L2(most) => Some(most.cast_signed()),
        };
        let most = most.map(|most| (self.value(most), self.value(-most)));
        let columns = numbers.iter().zip(1..).map(|(number, part)| {
            let number = if each_row {
                number.clone()
            } else {
                self.dialect.sum(number)
            };
            match &most {
                None => format!(", {number} AS number{part}"),
                Some((most, least)) => format!(
                    ", CAST(GREATEST(LEAST({number}, {most}), {least}) AS BIGINT) AS number{part}"
                ),
            }
        });
        let columns: String = columns.collect();
        let text = if each_row {
            format!(", numbers AS (SELECT place{columns} FROM kept)")
        } else {
            format!(", numbers AS (SELECT person, place{columns} FROM kept GROUP BY person, place)")
        };
        let stages = Stages {
            text,
            last: "numbers",
            scaled: None,
        };
        match (plan.bound(), most) {
            (Bound::L1(_) | Bound::L2(_), Some((most, _))) => {
                self.bounded(plan, stages, most, each_row || plan.groups() == 1)
            }
            _ => stages,
        }
    }

    /// With the divisor of each person: numbers are multiplied by the bound and divided by it. It is the
    /// bound itself where they are within it.
    fn bounded(&mut self, plan: &Plan, stages: Stages, most: String, alone: bool) -> Stages {
        let parts = 1..=plan.parts().len();
        // A person has one row of numbers, or several.
        let added = |number: String| match alone {
            true => format!("CAST({number} AS {})", D::WIDE),
            false => self.dialect.sum(&number),
        };
        let divisor = match plan.bound() {
            Bound::L2(bound) => {
                let squares = parts.map(|part| added(format!("number{part} * number{part}")));
                let square = squares.collect::<Vec<_>>().join(" + ");
                let bound = bound.cast_signed();
                let within = self.value(bound.saturating_mul(bound));
                format!(
                    "CASE WHEN {square} <= {within} THEN {most} \
                     ELSE CAST(FLOOR(SQRT(CAST({square} AS {}))) AS BIGINT) + 1 END",
                    D::DOUBLE
                )
            }
            _ => {
                let norms = parts.map(|part| added(format!("ABS(number{part})")));
                let norm = norms.collect::<Vec<_>>().join(" + ");
                format!("CAST(GREATEST({norm}, {most}) AS BIGINT)")
            }
        };
        let text = match alone {
            true => format!(", bounded AS (SELECT numbers.*, {divisor} AS divisor FROM numbers)"),
            false => format!(
                ", divisors AS (SELECT person, {divisor} AS divisor FROM numbers GROUP BY person), \
                 bounded AS (SELECT numbers.*, divisors.divisor \
                 FROM numbers JOIN divisors ON numbers.person = divisors.person)"
            ),
        };
        Stages {
            text: stages.text + &text,
            last: "bounded",
            scaled: Some(most),
        }
    }
}

/// So many steps, as a double. It is exact: at most 2^51 of them, of at least 2^-202.
fn steps(number: i64, exponent: i32) -> f64 {
    number as f64 * libm::scalbn(1.0, exponent)
}
