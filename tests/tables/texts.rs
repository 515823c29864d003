//! The text of a statement has nothing that somebody wrote: values are parameters, and names stand in quotes.

use queryables::table::sql::{Dialect, Statement};
use queryables::table::{
    Amount, Bound, Column, Expr, Grouping, Kind, Parts, Plan, Schema, Value, col,
};

use crate::Draw;

/// In every text that an analyst writes here.
pub const MARK: &str = "Quagga";

const UGLY: [&str; 13] = [
    "'", "\"", "\\", "$1", "--", "/*", ";", "\n", "COLLATE", "\u{85}", "é", "$$", "`",
];

/// A dialect, and what its texts look like.
pub struct Texts<D> {
    pub dialect: D,
    /// What names stand in. Inside it is doubled.
    pub quote: char,
    /// What the text may have besides letters and digits.
    pub signs: &'static [u8],
    /// What it may have between single quotes.
    pub quoted: &'static [&'static str],
    /// A list is one parameter, so that its length is not in the text.
    pub lists_are_parameters: bool,
}

impl<D: Dialect> Texts<D> {
    /// A plan over these rows, as a statement.
    #[must_use]
    pub fn rendered(&self, rows: &str, plan: &Plan) -> Statement {
        let from = Statement {
            text: self.dialect.quoted(rows),
            parameters: vec![],
        };
        Statement::tally(&self.dialect, from, plan.schema(), plan).unwrap()
    }

    /// Two plans that differ in nothing but what an analyst chose have one text.
    pub fn have_nothing_that_an_analyst_writes(&self) {
        for seed in 0..2_000 {
            let plans = [1, 2].map(|constants| {
                let mut constants = Draw::new(constants << 32 | seed);
                self.plan(&mut Draw::new(seed), &mut constants)
            });
            let [one, other] = plans.each_ref().map(|plan| self.rendered("rows", plan));
            assert_eq!(one.text, other.text);
            assert!(!one.text.contains(MARK));
            assert!(format!("{:?}", one.parameters).contains(MARK));
        }
    }

    /// Also where a question has every kind of column.
    pub fn hold_only_what_they_may(&self) {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || self.signs.contains(&byte);
        for seed in 0..2_000 {
            let mut draw = Draw::new(seed);
            let schema = draw.schema();
            let text = self.rendered("rows", &draw.plan(&schema)).text;
            assert!(text.bytes().all(allowed), "{text}");
            for quoted in text.split('\'').skip(1).step_by(2) {
                assert!(self.quoted.contains(&quoted), "{quoted}");
            }
        }
    }

    /// Whatever names the curator gives, the text is the same but for them, and each is one quoted name.
    pub fn have_any_name_in_quotes_and_nothing_of_it_outside(&self) {
        let tame = [0, 1, 2].map(|number| format!("{MARK}{number}"));
        let text_of = |names: &[String; 3]| {
            let [person, word, rows] = names;
            let columns = [
                Column::new(person, Kind::Text),
                Column::new(word, Kind::Text),
            ];
            let schema = Schema::of_people(person, columns).unwrap();
            let condition = schema.condition(col(word).gt("x").is_null()).unwrap();
            let keys = Grouping::keys(&schema, word, ["x", "y"]).unwrap();
            let (one, bound) = ((Amount::one(0).unwrap(), Parts::Value), Bound::L2(5));
            let plan = Plan::new(&schema, Some(condition), one, vec![keys], bound).unwrap();
            self.rendered(rows, &plan).text
        };
        let with_tame = text_of(&tame);
        let quote = self.quote;
        for seed in 0..2_000 {
            let mut draw = Draw::new(seed);
            let names = [0, 1, 2].map(|number| {
                let pieces = (0..draw.below(5)).map(|_| UGLY[draw.below(UGLY.len())]);
                let name = pieces.collect::<String>() + &number.to_string();
                name.replace(char::is_control, "")
            });
            let mut expected = with_tame.clone();
            for (tame, name) in tame.iter().zip(&names) {
                let quoted = self.dialect.quoted(name);
                let inside = quoted.strip_prefix(quote).unwrap();
                let inside = inside.strip_suffix(quote).unwrap();
                let inside = inside.replace(&format!("{quote}{quote}"), "\0");
                assert!(!inside.contains(quote), "{quoted}");
                assert_eq!(inside.replace('\0', &quote.to_string()), *name);
                expected = expected.replace(&self.dialect.quoted(tame), &quoted);
            }
            assert_eq!(text_of(&names), expected);
        }
    }

    /// A plan of a shape that the first draw decides, with constants that the second decides.
    fn plan(&self, shape: &mut Draw, constants: &mut Draw) -> Plan {
        let columns = [
            Column::new("person", Kind::Text),
            Column::new("a \"word\"", Kind::Text),
            Column::new("number", Kind::Whole),
        ];
        let schema = Schema::of_people("person", columns).unwrap();
        let condition = schema.condition(self.truth(shape, constants, 3)).unwrap();
        let keys: Vec<String> = (0..3).map(|_| text(constants)).collect();
        let grouping = if shape.below(2) == 0 {
            Grouping::keys(&schema, "a \"word\"", keys).unwrap()
        } else {
            let mut edges = keys;
            edges.sort();
            Grouping::buckets(&schema, "a \"word\"", edges).unwrap()
        };
        let low = constants.below(9) as i64;
        let number = schema.number(col("number") * low).unwrap();
        let amount = Amount::of(number, 0, -low, low).unwrap();
        let bound = constants.below(1 << 20) as u64 + 1;
        let bound = [Bound::Each(bound), Bound::L1(bound), Bound::L2(bound)][shape.below(3)];
        let amount = (amount, Parts::Value);
        Plan::new(&schema, Some(condition), amount, vec![grouping], bound).unwrap()
    }

    fn truth(&self, shape: &mut Draw, constants: &mut Draw, depth: usize) -> Expr {
        let word = || col("a \"word\"");
        match shape.below(if depth == 0 { 4 } else { 7 }) {
            0 => word().eq(text(constants)),
            1 => {
                let many = match self.lists_are_parameters {
                    true => constants.below(5),
                    false => shape.below(5),
                };
                let texts: Vec<Value> = (0..=many).map(|_| text(constants).into()).collect();
                word().is_in(texts)
            }
            2 => word().between(text(constants), text(constants)),
            3 => col("number").lt(constants.below(1000) as i64),
            4 => !self.truth(shape, constants, depth - 1),
            5 => self.truth(shape, constants, depth - 1).is_null(),
            _ => {
                let one = self.truth(shape, constants, depth - 1);
                one.eq(self.truth(shape, constants, depth - 1))
            }
        }
    }
}

fn text(draw: &mut Draw) -> String {
    let mut text = String::new();
    for _ in 0..draw.below(4) {
        text.push_str(UGLY[draw.below(UGLY.len())]);
    }
    let (number, end) = (draw.below(1 << 20), UGLY[draw.below(UGLY.len())]);
    format!("{text}{MARK}{number}{end}")
}
