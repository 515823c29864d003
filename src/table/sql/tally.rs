//! A plan as one statement.

use super::expression::{ROWS, Writer};
use super::{Dialect, Statement};
use crate::table::{
    Amount, Bound, Grouping, Keys, Kind, MOST_STEPS, Parts, Person, Plan, Schema, TableError,
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
    /// | `numbers` | the sums of each person in each group, clamped where the bound says so |
    /// | `people` | what the numbers of each person are divided by; only where they are scaled |
    /// | `bounded` | both of them joined |
    ///
    /// Nothing in it can overflow, divide by zero or fail to be converted, whatever the rows are.
    ///
    /// # Errors
    ///
    /// [`TableError::OtherSchema`] if the plan was made from another schema than that of the rows.
    pub fn tally<D: Dialect>(
        dialect: &D,
        from: Self,
        schema: &Schema,
        plan: &Plan,
    ) -> Result<Self, TableError> {
        if plan.schema() != schema {
            return Err(TableError::OtherSchema);
        }
        let (from, mut writer) = Writer::new(dialect, schema, from);
        let parts = plan.parts().len();
        let kept = writer.kept(&from, plan)?;
        let stages = writer.stages(plan);
        let totals = (1..=parts).map(|part| {
            let sum = dialect.sum(&stages.number(part));
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
    /// What the first number of a row adds to its total, if it is scaled.
    scaled: Option<String>,
}

impl Stages {
    fn unscaled(text: String) -> Self {
        Self {
            text,
            last: "numbers",
            scaled: None,
        }
    }

    /// What a row of the last stage adds to the total of a part.
    fn number(&self, part: usize) -> String {
        let number = self.scaled.as_deref().unwrap_or(PART);
        number.replace(PART, &format!("number{part}"))
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
                let (person, _) = self.column(name)?;
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
        let (column, kind) = self.column(grouping.column())?;
        let list = self.list(kind, values);
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
        if each_row {
            // A row is in one group: a clamped number is its norm, and one row is within every bound.
            let columns = self.columns(plan, |_, number| number);
            let text = format!(", numbers AS (SELECT place{columns} FROM kept)");
            return Stages::unscaled(text);
        }
        if plan.bound() == Bound::First {
            let one = self.value(plan.amount().range().0);
            let text = format!(
                ", numbers AS (SELECT MIN(place) AS place, {one} AS number1 \
                 FROM kept GROUP BY person)"
            );
            return Stages::unscaled(text);
        }
        let columns = self.columns(plan, |dialect, number| dialect.sum(&number));
        let text = format!(
            ", numbers AS (SELECT person, place{columns}, COUNT(*) AS number_of_rows \
             FROM kept GROUP BY person, place)"
        );
        let several = plan.groups() > 1;
        match plan.bound() {
            Bound::Rows(most) => self.bounded_by_rows(text, most, several),
            // A single number that is clamped is its norm.
            Bound::L1(most) if several => self.bounded(text, most, |dialect, most| {
                let norm = dialect.sum("ABS(number1)");
                format!("CAST(GREATEST({norm}, {most}) AS BIGINT)")
            }),
            Bound::L2(most) if several => {
                let square = most.cast_signed().saturating_mul(most.cast_signed());
                let within = self.value(square);
                self.bounded(text, most, |dialect, most| {
                    let square = dialect.sum("number1 * number1");
                    format!(
                        "CASE WHEN {square} <= {within} THEN {most} \
                         ELSE CAST(FLOOR(SQRT(CAST({square} AS {}))) AS BIGINT) + 1 END",
                        D::DOUBLE
                    )
                })
            }
            _ => Stages::unscaled(text),
        }
    }

    /// The numbers of the plan's parts, summed and clamped as the bound says.
    fn columns(&mut self, plan: &Plan, summed: impl Fn(&D, String) -> String) -> String {
        let numbers = self.numbers(plan);
        let numbers = numbers
            .into_iter()
            .map(|number| summed(self.dialect, number));
        let numbers: Vec<String> = match plan.bound() {
            Bound::Row | Bound::First | Bound::Rows(_) => numbers.collect(),
            Bound::Each(most) | Bound::L1(most) | Bound::L2(most) => {
                let numbers: Vec<String> = numbers.collect();
                let most = most.cast_signed();
                let [least, most] = [-most, most].map(|end| self.value(end));
                let clamped = numbers.into_iter().map(|number| {
                    format!("CAST(GREATEST(LEAST({number}, {most}), {least}) AS BIGINT)")
                });
                clamped.collect()
            }
        };
        let columns = numbers.iter().zip(1..);
        let columns = columns.map(|(number, part)| format!(", {number} AS number{part}"));
        columns.collect()
    }

    /// With the divisor of each person: numbers are multiplied by the bound and divided by it. It is the
    /// bound itself where they are within it. Both factors are at most 2^31.
    fn bounded(
        &mut self,
        text: String,
        most: u64,
        divisor: impl FnOnce(&D, &str) -> String,
    ) -> Stages {
        let most = self.value(most.cast_signed());
        let divisor = divisor(self.dialect, &most);
        let scaled = format!("(number1 * {most})");
        Stages {
            text: of_people(text, &divisor),
            last: "bounded",
            scaled: Some(self.dialect.quotient(&scaled, "divisor")),
        }
    }

    /// The numbers of a person with more rows than `most` are multiplied by it and divided by their rows.
    /// They are wide: nothing is clamped.
    fn bounded_by_rows(&mut self, text: String, most: u64, several: bool) -> Stages {
        let most = self.value(most.cast_signed());
        let (text, last, rows) = if several {
            let rows = self.dialect.sum("number_of_rows");
            (of_people(text, &rows), "bounded", "divisor")
        } else {
            (text, "numbers", "number_of_rows")
        };
        let [number, most_wide, rows_wide] = [PART, &most, rows].map(wide::<D>);
        let quotient = format!("({number} * {most_wide})");
        let quotient = self.dialect.wide_quotient(&quotient, &rows_wide);
        Stages {
            text,
            last,
            scaled: Some(format!(
                "CASE WHEN {rows} <= {most} THEN {number} ELSE {quotient} END"
            )),
        }
    }
}

/// Stands for the number of a part.
const PART: &str = "number1";

fn wide<D: Dialect>(number: &str) -> String {
    format!("CAST({number} AS {})", D::WIDE)
}

/// The numbers, each with its person's divisor.
fn of_people(numbers: String, divisor: &str) -> String {
    numbers
        + &format!(
            ", people AS (SELECT person, {divisor} AS divisor FROM numbers GROUP BY person), \
             bounded AS (SELECT numbers.*, people.divisor \
             FROM numbers JOIN people ON numbers.person = people.person)"
        )
}

/// So many steps, as a double. It is exact: at most 2^51 of them, of at least 2^-202.
fn steps(number: i64, exponent: i32) -> f64 {
    number as f64 * libm::scalbn(1.0, exponent)
}
