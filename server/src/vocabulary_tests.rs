//! Everything that can be launched, over HTTP and in process: with the same coins both give the same
//! answers, at the same loss and the same accuracy.
//!
//! The server takes its coins from a seed if it is compiled with `--cfg test` (`coins.rs`), as here, and
//! no feature makes it.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

use queryables::ledger::Ledger;
use queryables::machine::{CoinSource, Machine, Mechanism, NotPrivateSeededCoins, Released};
use queryables::mechanisms::table::{Cells, Report};
use queryables::mechanisms::{
    AboveThreshold, Accuracy, Choice, Estimates, MultiplicativeWeights, PermuteAndFlip, QueryExt,
};
use queryables::number::{Confidence, Epsilon, Mu, Rho};
use queryables::privacy::{AddRemove, Private, ZCdp};
use queryables::table::{Condition, Grouping, Schema, Table};
use serde_json::{Value, json};

use crate::coins::SEED;
use crate::local;
use crate::terminal::client::Client;

/// Where a person has several rows: here the age names the person.
const PEOPLE: &str = r#"
[[dataset]]
name = "people"
data = { csv = "adult.csv" }
ledger = { file = "people.redb" }
budget = { rho = "1000000" }

[dataset.analysts]
ana = {}

[dataset.schema]
person = "age"
columns = [
    { name = "age", type = "whole" },
    { name = "hours_per_week", type = "whole", range = [1, 99] },
]
"#;

/// A server in this process, for all tests. Under zCDP everything in the vocabulary has a price.
struct Server {
    address: SocketAddr,
    schema: Schema,
    people: Schema,
    data: Arc<dyn Table>,
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let limits = "requests_per_minute = 1000000\nopen_children = 100\nrunning = 100";
    let config = local::config(limits, r#"{ rho = "1000000" }"#, PEOPLE);
    let [schema, people] = [0, 1].map(|place| config.datasets[place].schema.clone());
    let data = local::table(&schema);
    let address = local::serve(config, |name| Ledger::in_memory(name).unwrap());
    Server {
        address,
        schema,
        people,
        data,
    }
});

fn post(path: &str, body: &Value) -> Value {
    let address = format!("http://{}", SERVER.address);
    let client = Client::new(&address, local::TOKEN, false).unwrap();
    let reply = client.post(path, body, None);
    reply.unwrap_or_else(|failure| panic!("{body}: {failure}"))
}

fn coins() -> NotPrivateSeededCoins {
    NotPrivateSeededCoins::new(SEED)
}

/// The answer of a mechanism that answers once, started here.
fn released<M, T>(mechanism: &M) -> T
where
    M: Mechanism<dyn Table, Machine = Released<T>>,
    Released<T>: Machine<Query = (), Answer = T>,
{
    let mut coins = coins();
    let mut machine = mechanism.start(&SERVER.data, &mut coins.coins()).unwrap();
    machine.step((), &mut coins.coins()).unwrap()
}

fn rho(mechanism: &impl Private<ZCdp, AddRemove>) -> Value {
    json!({"rho": mechanism.loss(&ZCdp).unwrap().to_string()})
}

/// Sends a release and its preview: the answer, without what depends on what was launched before.
fn asked(body: &Value, loss: &Value, accuracy: &Value) -> Value {
    let preview = post("/v1/datasets/census/preview", body);
    assert_eq!(
        (&preview["cost"], &preview["accuracy"]),
        (loss, accuracy),
        "{body}"
    );
    let mut reply = post("/v1/datasets/census/release", body);
    assert_eq!(&reply["loss"], loss, "{body}");
    let fields = reply.as_object_mut().unwrap();
    fields.remove("loss");
    fields.remove("remaining");
    reply
}

fn confidence() -> Confidence {
    "0.95".parse().unwrap()
}

/// An end of an interval, as JSON: none beyond all numbers.
fn end(number: f64) -> Value {
    match number.is_finite() {
        true => json!(number),
        false => Value::Null,
    }
}

macro_rules! one {
    ($name:literal, $more:tt, $noise:tt, $mechanism:expr) => {{
        let mechanism = $mechanism;
        let accuracy = json!(mechanism.accuracy(confidence()));
        one!(@ $name, $more, $noise, mechanism, accuracy)
    }};
    // A mean: how far it is off depends on the number of rows.
    ($name:literal, $more:tt, $noise:tt, $mechanism:expr, rows $rows:literal) => {{
        let mechanism = $mechanism;
        let accuracy = json!(mechanism.accuracy(confidence()).for_rows($rows));
        one!(@ $name, $more, $noise, mechanism, accuracy)
    }};
    (@ $name:literal, $more:tt, $noise:tt, $mechanism:ident, $accuracy:ident) => {{
        let mut statistic = json!($more);
        statistic["noise"] = json!($noise);
        let reply = asked(&json!({$name: statistic}), &rho(&$mechanism), &$accuracy);
        let answer = released(&$mechanism);
        let (answer, interval) = $mechanism.interval(answer, confidence());
        let wanted = json!({"answer": end(answer), "interval": [end(*interval.start()), end(*interval.end())]});
        assert_eq!(reply, wanted, "{}", statistic);
    }};
}

macro_rules! each_noise {
    ($shape:ident, $name:literal, $more:tt, $query:expr $(, rows $rows:literal)?) => {{
        let query = $query;
        let epsilon: Epsilon = "0.1".parse().unwrap();
        $shape!($name, $more, {"laplace": {"epsilon": "0.1"}}, query.clone().laplace(epsilon).unwrap() $(, rows $rows)?);
        let rho: Rho = "0.005".parse().unwrap();
        $shape!($name, $more, {"gaussian": {"rho": "0.005"}}, query.clone().gaussian(rho).unwrap() $(, rows $rows)?);
        let mu: Mu = "0.1".parse().unwrap();
        $shape!($name, $more, {"gaussian": {"mu": "0.1"}}, query.gaussian(mu).unwrap() $(, rows $rows)?);
    }};
}

#[test]
fn statistics_are_those_of_the_library() {
    let schema = &SERVER.schema;
    let adults = json!("age >= 40");
    each_noise!(one, "count", {"where": adults}, schema.count().filter("age >= 40").unwrap());
    each_noise!(
        one, "sum", {"of": "hours_per_week", "where": adults, "clamped": [10.0, 60.0], "rows_per_person": 1},
        schema.sum("hours_per_week").unwrap().clamped(10.0..=60.0).filter("age >= 40").unwrap().rows_per_person(1)
    );
    each_noise!(
        one, "mean", {"of": "age", "where": "sex = 'Male'", "expected_rows": 3000},
        schema.mean("age").unwrap().filter("sex = 'Male'").unwrap(), rows 3000
    );
    each_noise!(
        one, "variance", {"of": "age", "clamped": [17.0, 90.0], "expected_rows": 5000},
        schema.variance("age").unwrap().clamped(17.0..=90.0), rows 5000
    );
}

#[test]
fn people_are_those_of_the_library() {
    let schema = &SERVER.people;
    let sum = schema.sum("hours_per_week").unwrap().rows_per_person(3);
    let sum = sum.laplace("0.1".parse::<Epsilon>().unwrap()).unwrap();
    let body = json!({"sum": {
        "of": "hours_per_week", "rows_per_person": 3, "noise": {"laplace": {"epsilon": "0.1"}},
    }});
    let reply = post("/v1/datasets/people/release", &body);
    let mut coins = coins();
    let data = local::table(schema);
    let mut machine = sum.start(&data, &mut coins.coins()).unwrap();
    let answer = machine.step((), &mut coins.coins()).unwrap();
    let (answer, interval) = sum.interval(answer, confidence());
    assert_eq!(reply["answer"], json!(answer));
    assert_eq!(reply["interval"], json!([interval.start(), interval.end()]));
    assert_eq!(reply["loss"], rho(&sum));
}

macro_rules! table {
    ($name:literal, $more:tt, $noise:tt, $mechanism:expr $(, rows $rows:literal)?) => {{
        let mechanism = $mechanism;
        let mut statistic = json!($more);
        statistic["noise"] = json!($noise);
        let accuracy = mechanism.accuracy(confidence());
        $(let accuracy = accuracy.for_rows($rows);)?
        let reply = asked(&json!({$name: statistic}), &rho(&mechanism), &json!(accuracy));
        let report: Report = released(&mechanism.reported::<dyn Table>(confidence()));
        let rows = report.rows.into_iter().map(|row| match row.estimate {
            Some((answer, low, high)) => json!({
                "group": row.key, "answer": end(answer), "interval": [end(low), end(high)],
            }),
            None => json!({"group": row.key, "answer": null, "interval": [null, null]}),
        });
        let wanted = json!({"answer": {"columns": report.columns, "rows": rows.collect::<Vec<_>>()}});
        assert_eq!(reply, wanted, "{}", statistic);
    }};
}

#[test]
fn tables_are_those_of_the_library() {
    let schema = &SERVER.schema;
    let sex = || Grouping::of(schema, "sex").unwrap();
    let decades = [10, 40, 95];
    let ages =
        || Grouping::buckets(schema, "age", decades.map(queryables::table::Value::Whole)).unwrap();
    let by = json!(["sex", {"column": "age", "edges": [10.0, 40.0, 95.0]}]);
    each_noise!(table, "count", {"by": by}, schema.count().grouped(sex()).grouped(ages()));
    each_noise!(
        table, "sum", {"of": "hours_per_week", "by": ["sex"]},
        schema.sum("hours_per_week").unwrap().grouped(sex())
    );
    each_noise!(
        table, "mean", {"of": "age", "by": ["sex"], "expected_rows": 1000},
        schema.mean("age").unwrap().grouped(sex()), rows 1000
    );
    each_noise!(
        table, "variance", {"of": "age", "by": ["sex"], "expected_rows": 1000},
        schema.variance("age").unwrap().grouped(sex()), rows 1000
    );
}

#[test]
fn choices_are_those_of_the_library() {
    let schema = &SERVER.schema;
    let epsilon: Epsilon = "0.01".parse().unwrap();
    let ages = |edges: &[i64]| {
        let edges = edges
            .iter()
            .map(|edge| queryables::table::Value::Whole(*edge));
        Grouping::buckets(schema, "age", edges).unwrap()
    };
    let edges: Vec<i64> = (10..=95).step_by(5).collect();
    let counts = schema
        .count()
        .filter("sex = 'Female'")
        .unwrap()
        .grouped(ages(&edges));
    let scores = counts.clone().scores().unwrap();
    let largest = Choice::by(AddRemove, PermuteAndFlip, scores.clone(), epsilon).unwrap();
    let body = json!({"largest": {
        "where": "sex = 'Female'", "by": [{"column": "age", "edges": edges}], "epsilon": "0.01",
    }});
    let accuracy = json!(largest.accuracy(confidence()) as f64);
    let reply = asked(&body, &rho(&largest), &accuracy);
    assert_eq!(reply, json!({"answer": scores.key(released(&largest))}));

    let quantiles = counts
        .quantiles(AddRemove, [(1, 4), (1, 2)], epsilon)
        .unwrap();
    let body = json!({"quantiles": {
        "where": "sex = 'Female'", "of": {"column": "age", "edges": edges},
        "quantiles": [[1, 4], [1, 2]], "epsilon": "0.01",
    }});
    let accuracy = json!(quantiles.accuracy(confidence()) as f64);
    let reply = asked(&body, &rho(&quantiles), &accuracy);
    assert_eq!(reply, json!({"answer": released(&quantiles)}));
}

/// Opens a child and asks it, over HTTP and here; answers are compared one by one, and returned.
fn conversation<M, Q, A>(
    opening: &Value,
    accuracy: u128,
    mechanism: &M,
    questions: &[(Value, Q)],
    written: impl Fn(A) -> Value,
) -> Vec<Value>
where
    M: Mechanism<dyn Table, Machine: Machine<Query = Q, Answer = A>> + Private<ZCdp, AddRemove>,
    Q: Clone,
{
    let (loss, accuracy) = (rho(mechanism), json!(accuracy as f64));
    let preview = post("/v1/datasets/census/preview", opening);
    assert_eq!(
        (&preview["cost"], &preview["accuracy"]),
        (&loss, &accuracy),
        "{opening}"
    );
    let child = post("/v1/datasets/census/children", opening);
    assert_eq!(
        (&child["loss"], &child["accuracy"]),
        (&loss, &accuracy),
        "{opening}"
    );
    let path = format!("/v1/children/{}/ask", child["child"].as_str().unwrap());
    let mut coins = coins();
    let mut machine = mechanism.start(&SERVER.data, &mut coins.coins()).unwrap();
    let answers = questions
        .iter()
        .enumerate()
        .map(|(number, (body, question))| {
            let mut body = body.clone();
            body["number"] = json!(number);
            let answer = written(machine.step(question.clone(), &mut coins.coins()).unwrap());
            assert_eq!(post(&path, &body)["answer"], answer, "{opening}: {body}");
            answer
        });
    answers.collect()
}

#[test]
fn children_answer_as_those_of_the_library() {
    let schema = &SERVER.schema;
    let condition = |text: &str| -> (Value, Condition) {
        (json!({"where": text}), schema.condition(text).unwrap())
    };
    let epsilon = |text: &str| -> Epsilon { text.parse().unwrap() };
    // With so little ε answers are mostly noise: with other coins they would be others.
    let questions: Vec<_> = (20..60)
        .map(|age| condition(&format!("age <= {age}")))
        .collect();
    let search = AboveThreshold::<Condition>::new(AddRemove, 2500, 40, epsilon("0.02")).unwrap();
    let body = json!({"above_threshold": {"threshold": 2500, "hits": 40, "epsilon": "0.02"}});
    conversation(
        &body,
        search.accuracy(confidence()),
        &search,
        &questions,
        |answer: bool| json!(answer),
    );
    let sparse = search.with_counts(epsilon("0.4")).unwrap();
    let body = json!({"sparse_vector": {
        "threshold": 2500, "hits": 40, "epsilon": "0.02", "counts_epsilon": "0.4",
    }});
    let accuracy = sparse.accuracy(confidence()).count;
    conversation(
        &body,
        accuracy,
        &sparse,
        &questions,
        |answer: Option<i64>| json!(answer),
    );

    // With so much ε there is no noise: the threshold is the one that was stated, and no other.
    let exact = [condition("age <= 40")];
    let count = schema.count().filter("age <= 40").unwrap();
    let count = count.laplace(epsilon("100")).unwrap();
    let people = count.interval(released(&count), confidence()).0 as i64;
    for (threshold, is_above) in [(people, true), (people + 1, false)] {
        let search =
            AboveThreshold::<Condition>::new(AddRemove, threshold, 1, epsilon("100")).unwrap();
        let body =
            json!({"above_threshold": {"threshold": threshold, "hits": 1, "epsilon": "100"}});
        let accuracy = search.accuracy(confidence());
        let answers = conversation(&body, accuracy, &search, &exact, |answer: bool| {
            json!(answer)
        });
        assert_eq!(answers, [json!(is_above)]);
        let sparse = search.with_counts(epsilon("100")).unwrap();
        let body = json!({"sparse_vector": {
            "threshold": threshold, "hits": 1, "epsilon": "100", "counts_epsilon": "100",
        }});
        let accuracy = sparse.accuracy(confidence()).count;
        let answers = conversation(&body, accuracy, &sparse, &exact, |answer: Option<i64>| {
            json!(answer)
        });
        assert_eq!(answers, [json!(is_above.then_some(people))]);
    }

    let groupings = vec![Grouping::of(schema, "sex").unwrap()];
    let cells = Cells::of_groupings(schema, groupings).unwrap();
    let weights =
        MultiplicativeWeights::<_, Condition>::new(cells, 5000, 400, 3, epsilon("0.5")).unwrap();
    let body = json!({"multiplicative_weights": {
        "by": ["sex"], "rows": 5000, "threshold": 400, "updates": 3, "epsilon": "0.5",
    }});
    let questions = ["sex = 'Male'", "sex = 'Female'", "sex <> 'Male'"].map(condition);
    conversation(
        &body,
        weights.accuracy(confidence()),
        &weights,
        &questions,
        |answer: i64| json!(answer),
    );

    let edges = [10, 20, 30, 40, 95].map(queryables::table::Value::Whole);
    let ages = Grouping::buckets(schema, "age", edges).unwrap();
    let counts = schema
        .count()
        .filter("sex = 'Male'")
        .unwrap()
        .grouped(ages)
        .over_time()
        .unwrap();
    let times: Vec<_> = [1, 3, 4]
        .map(|time: u64| (json!({"time": time}), time))
        .to_vec();
    let body = |noise: Value| {
        json!({"continual_count": {
            "where": "sex = 'Male'", "of": {"column": "age", "edges": [10, 20, 30, 40, 95]}, "noise": noise,
        }})
    };
    macro_rules! over_time {
        ($noise:tt, $counts:expr) => {{
            let counts = $counts.unwrap();
            let accuracy = counts.accuracy(confidence());
            conversation(
                &body(json!($noise)),
                accuracy,
                &counts,
                &times,
                |answer: i64| json!(answer),
            );
        }};
    }
    over_time!({"laplace": {"epsilon": "0.1"}}, counts.clone().laplace(epsilon("0.1")));
    over_time!({"gaussian": {"rho": "0.005"}}, counts.clone().gaussian("0.005".parse::<Rho>().unwrap()));
    over_time!({"gaussian": {"mu": "0.1"}}, counts.gaussian("0.1".parse::<Mu>().unwrap()));
}

/// A share costs its budget, and what is launched in it answers as it would outside.
#[test]
fn a_share_answers_as_the_library() {
    let share = post(
        "/v1/datasets/census/children",
        &json!({"filter": {"name": "share", "budget": {"rho": "0.5"}}}),
    );
    assert_eq!(share["loss"], json!({"rho": "0.5"}));
    let path = format!("/v1/children/{}/release", share["child"].as_str().unwrap());
    let body = json!({"count": {"where": "age >= 40", "noise": {"gaussian": {"rho": "0.1"}}}});
    let count = SERVER.schema.count().filter("age >= 40").unwrap();
    let count = count.gaussian("0.1".parse::<Rho>().unwrap()).unwrap();
    let (answer, _) = count.interval(released(&count), confidence());
    let reply = post(&path, &body);
    assert_eq!(reply["answer"], json!(answer));
    assert_eq!(
        (&reply["loss"], &reply["remaining"]),
        (&json!({"rho": "0.1"}), &json!({"rho": "0.4"}))
    );
}
