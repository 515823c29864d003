//! What an analyst writes is never in the text.

use super::*;
use queryables::table::sql::Statement;
use queryables::table::{Amount, Bound, Column, Expr, Grouping, Parts, Plan, Schema, Value, col};
use tables::Draw;

/// In every text that an analyst writes here.
const MARK: &str = "Quagga";

const UGLY: [&str; 13] = [
    "'", "\"", "\\", "$1", "--", "/*", ";", "\n", "COLLATE", "\u{85}", "é", "$$", "`",
];

fn text(draw: &mut Draw) -> String {
    let mut text = String::new();
    for _ in 0..draw.below(4) {
        text.push_str(UGLY[draw.below(UGLY.len())]);
    }
    format!(
        "{text}{MARK}{}{}",
        draw.below(1 << 20),
        UGLY[draw.below(UGLY.len())]
    )
}

fn schema() -> Schema {
    let columns = [
        Column::new("person", Kind::Text),
        Column::new("a \"word\"", Kind::Text),
        Column::new("number", Kind::Whole),
    ];
    Schema::of_people("person", columns).unwrap()
}

/// A plan of a shape that the first draw decides, with constants that the second decides.
fn plan(shape: &mut Draw, constants: &mut Draw) -> Plan {
    let schema = schema();
    let condition = schema.condition(truth(shape, constants, 3)).unwrap();
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
    Plan::new(
        &schema,
        Some(condition),
        (amount, Parts::Value),
        vec![grouping],
        bound,
    )
    .unwrap()
}

fn truth(shape: &mut Draw, constants: &mut Draw, depth: usize) -> Expr {
    let word = || col("a \"word\"");
    match shape.below(if depth == 0 { 4 } else { 7 }) {
        0 => word().eq(text(constants)),
        1 => {
            // How many there are is part of the shape.
            let many = shape.below(5) + 1;
            let texts: Vec<Value> = (0..many).map(|_| text(constants).into()).collect();
            word().is_in(texts)
        }
        2 => word().between(text(constants), text(constants)),
        3 => col("number").lt(constants.below(1000) as i64),
        4 => !truth(shape, constants, depth - 1),
        5 => truth(shape, constants, depth - 1).is_null(),
        _ => truth(shape, constants, depth - 1).eq(truth(shape, constants, depth - 1)),
    }
}

fn rendered(plan: &Plan) -> Statement {
    let from = Statement {
        text: Spark.quoted("rows"),
        parameters: vec![],
    };
    Statement::tally(&Spark, from, plan).unwrap()
}

#[test]
fn nothing_that_an_analyst_writes_is_in_the_text() {
    for seed in 0..2_000 {
        let plans = [1, 2]
            .map(|constants| plan(&mut Draw::new(seed), &mut Draw::new(constants << 32 | seed)));
        let [one, other] = plans.each_ref().map(rendered);
        assert_eq!(one.text, other.text);
        assert!(!one.text.contains(MARK));
        assert!(format!("{:?}", one.parameters).contains(MARK));
    }
}

/// Also where a question has every kind of column.
#[test]
fn texts_of_random_plans_hold_only_what_they_may() {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b" `:,()*+-/<=>_.'\"".contains(&byte);
    for seed in 0..2_000 {
        let mut draw = Draw::new(seed);
        let schema = draw.schema();
        let statement = rendered(&draw.plan(&schema));
        assert!(statement.text.bytes().all(allowed), "{}", statement.text);
        // Quotes are around the number that is none, and around the ends of 64 bits.
        let quoted = statement.text.split('\'').skip(1).step_by(2);
        let known = ["-9223372036854775808", "9223372036854775807"];
        for quoted in quoted {
            assert!(known.contains(&quoted), "{quoted}");
        }
    }
}

/// Whatever names the curator gives, the text is the same but for them, and each is one quoted name.
#[test]
fn any_name_stands_in_quotes_and_nothing_of_it_outside() {
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
        let from = Statement {
            text: Spark.quoted(rows),
            parameters: vec![],
        };
        Statement::tally(&Spark, from, &plan).unwrap().text
    };
    let with_tame = text_of(&tame);
    for seed in 0..2_000 {
        let mut draw = Draw::new(seed);
        let names = [0, 1, 2].map(|number| {
            let pieces = (0..draw.below(5)).map(|_| UGLY[draw.below(UGLY.len())]);
            let name = pieces.collect::<String>() + &number.to_string();
            name.replace(char::is_control, "")
        });
        let mut expected = with_tame.clone();
        for (tame, name) in tame.iter().zip(&names) {
            let quoted = Spark.quoted(name);
            let inside = quoted[1..quoted.len() - 1].replace("``", "\0");
            assert!(quoted.starts_with('`') && quoted.ends_with('`'));
            assert!(!inside.contains('`'), "{quoted}");
            assert_eq!(inside.replace('\0', "`"), *name);
            expected = expected.replace(&Spark.quoted(tame), &quoted);
        }
        assert_eq!(text_of(&names), expected);
    }
}

#[test]
fn names_are_quoted() {
    assert_eq!(Spark.quoted("a`; DROP TABLE `b"), "`a``; DROP TABLE ``b`");
}

#[test]
fn edges_are_found_by_halves() {
    assert_eq!(
        Spark.edges_below("x", ":p1_0, :p1_1"),
        "(CASE WHEN x IS NOT NULL THEN CASE WHEN x < :p1_1 THEN \
         CASE WHEN x < :p1_0 THEN 0 ELSE 1 END ELSE 2 END END)"
    );
}
