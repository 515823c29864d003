//! Filters on tables: what one person is, and questions that were asked before.

use std::sync::Arc;

use ledger::created;
use queryables::account::{Capped, Sum};
use queryables::compose::LaunchError;
use queryables::ledger::{Ledger, LedgerError, LedgerFilter, Line, StoreError};
use queryables::mechanisms::QueryExt;
use queryables::prelude::*;
use queryables::table::{Column, Expr, Kind, RowTable, Schema, Value, col};

fn columns() -> [Column; 2] {
    [
        Column::new("patient", Kind::Whole),
        Column::whole("age", 0..=120),
    ]
}

fn people() -> Schema {
    Schema::of_people("patient", columns()).unwrap()
}

fn table(schema: &Schema) -> Arc<RowTable> {
    let row = |patient: i64| vec![Some(patient.into()), Some(Value::from(patient % 90))];
    Arc::new(RowTable::new(schema, (0..100).map(row).collect()).unwrap())
}

type TableFilter = LedgerFilter<RowTable, Capped<Sum<PureDp>>>;

fn opened(ledger: &Ledger, schema: &Schema) -> Result<TableFilter, LedgerError<Epsilon>> {
    let filter = Filter::concurrent(PureDp, epsilon!(1));
    ledger.start("clinic", &filter, &table(schema))
}

/// What the error says of the terms.
fn other_terms(error: LedgerError<Epsilon>) -> String {
    match error {
        LedgerError::Store(StoreError::OtherTerms { budget, terms }) if budget == "clinic" => terms,
        other => panic!("{other}"),
    }
}

#[test]
fn a_table_goes_on_under_its_own_schema_only() {
    let path = created("tables.redb", "patients");
    let (schema, rows) = (people(), Schema::of_rows(columns()).unwrap());
    {
        let ledger = Ledger::open(&path, "patients").unwrap();
        let filter = opened(&ledger, &schema).unwrap();
        let share = Filter::concurrent(PureDp, epsilon!(0.25));
        filter.reserve("students", &share).unwrap();
    }
    let ledger = Ledger::open(&path, "patients").unwrap();
    let written = |person: &str, schema: &Schema| {
        let digest = schema.digest();
        serde_json::json!({
            "name": "Table",
            "parameters": [["person", person], ["schema", digest]],
        })
    };
    let (one, each) = (r#""patient""#, r#"{"each_row":true}"#);
    let error = other_terms(opened(&ledger, &rows).unwrap_err());
    let (was, is) = (written(one, &schema), written(each, &rows));
    assert_eq!(error, format!("data was {was}, and is {is} now"));
    // On other data it does not go on either, nor with another budget.
    let filter = Filter::concurrent(PureDp, epsilon!(1));
    let ages = Arc::new(vec![30, 31]);
    let error = ledger.start("clinic", &filter, &ages).unwrap_err();
    assert_eq!(
        other_terms(error),
        format!("data was {was}, and is null now")
    );
    let smaller = Filter::concurrent(PureDp, epsilon!(0.5));
    let error = ledger
        .start("clinic", &smaller, &table(&schema))
        .unwrap_err();
    assert_eq!(
        other_terms(error),
        "parameters was {\"limit\":\"1\",\"of\":{\"measure\":\"PureDp\"}}, \
         and is {\"limit\":\"0.5\",\"of\":{\"measure\":\"PureDp\"}} now"
    );
    let filter = opened(&ledger, &schema).unwrap();
    assert_eq!(filter.remaining(), Ok(epsilon!(0.75)));
    filter
        .reserve("students", &Filter::concurrent(PureDp, epsilon!(0.25)))
        .unwrap();
    assert_eq!(filter.remaining(), Ok(epsilon!(0.75)));
}

#[test]
fn a_question_that_was_answered_is_not_charged_again() {
    let schema = people();
    let adults =
        |text: &str, loss: Epsilon| schema.count().filter(text).unwrap().laplace(loss).unwrap();
    let path = created("recalled.redb", "patients");
    let first: f64 = {
        let ledger = Ledger::open(&path, "patients").unwrap().keeping_answers();
        let filter = opened(&ledger, &schema).unwrap();
        filter
            .party("Ana")
            .recall_or_release(&adults("age >= 18", epsilon!(0.1)))
            .unwrap()
    };
    // After a restart, too; and written in another way, it is the same question.
    let ledger = Ledger::open(&path, "patients").unwrap().keeping_answers();
    let filter = opened(&ledger, &schema).unwrap();
    let ana = filter.party("Ana");
    for text in ["age >= 18", "(age>=18)"] {
        assert_eq!(
            ana.recall_or_release(&adults(text, epsilon!(0.1))),
            Ok(first)
        );
    }
    assert_eq!(filter.privacy_loss(), Ok(epsilon!(0.1)));
    // Another condition, loss or noise is another question.
    ana.recall_or_release(&adults("age >= 19", epsilon!(0.1)))
        .unwrap();
    assert_eq!(filter.privacy_loss(), Ok(epsilon!(0.2)));
    ana.recall_or_release(&adults("age >= 18", epsilon!(0.2)))
        .unwrap();
    assert_eq!(filter.privacy_loss(), Ok(epsilon!(0.4)));
    // A plain release is a new answer.
    ana.release(&adults("age >= 18", epsilon!(0.1))).unwrap();
    assert_eq!(filter.privacy_loss(), Ok(epsilon!(0.5)));

    // Where answers are not kept, each one is new.
    let ledger = Ledger::in_memory("patients").unwrap();
    let filter = opened(&ledger, &schema).unwrap();
    for spent in [epsilon!(0.1), epsilon!(0.2)] {
        let question = adults("age >= 18", epsilon!(0.1));
        filter.party("Ana").recall_or_release(&question).unwrap();
        assert_eq!(filter.privacy_loss(), Ok(spent));
    }
}

#[test]
fn what_others_asked_is_reused_only_in_a_group() {
    let schema = people();
    let ledger = Ledger::in_memory("patients").unwrap().keeping_answers();
    let filter = opened(&ledger, &schema).unwrap();
    let ages = schema
        .sum("age")
        .unwrap()
        .by_buckets("age", [0, 40, 121])
        .unwrap();
    let ages = ages.laplace(epsilon!(0.1)).unwrap();
    let alone = ["Ana", "Ben"].map(|name| filter.party(name).recall_or_release(&ages).unwrap());
    assert_eq!(filter.privacy_loss(), Ok(epsilon!(0.2)));
    assert_ne!(alone[0], alone[1]);
    let team = ["Ana", "Ben"].map(|name| filter.party_of("team", name));
    let shared = team.map(|party| party.recall_or_release(&ages).unwrap());
    assert_eq!(shared[0], shared[1]);
    assert_eq!(filter.privacy_loss(), Ok(epsilon!(0.3)));
    // Neither what was asked alone, nor what a party with the name of the group asks, is the group's.
    assert!(alone.iter().all(|answer| *answer != shared[0]));
    let namesake = filter.party("team").recall_or_release(&ages).unwrap();
    assert_ne!(namesake, shared[0]);
    assert_eq!(filter.privacy_loss(), Ok(epsilon!(0.4)));
    let long = filter
        .party_of(&"a".repeat(2000), "Ana")
        .recall_or_release(&ages);
    let too_long = StoreError::TooLong {
        what: "a group's name".to_owned(),
        bytes: 2000,
        limit: 1024,
    };
    assert_eq!(long, Err(LedgerError::Store(too_long)));
}

#[test]
fn the_record_shows_the_question() {
    let schema = people();
    let ledger = Ledger::in_memory("patients").unwrap();
    let filter = opened(&ledger, &schema).unwrap();
    let question = schema
        .count()
        .filter("age>=18 and not patient in (1,2)")
        .unwrap();
    let refused = filter
        .party("Ana")
        .release(&question.clone().laplace(epsilon!(2)).unwrap());
    assert!(matches!(
        refused,
        Err(LedgerError::Launch(LaunchError::Refused(_)))
    ));
    let Line::Entry(entry) = &ledger.lines(1, 1).unwrap()[0] else {
        panic!("a refusal has an entry");
    };
    // For people as text, for programs as JSON, whole.
    let json = entry.mechanism.get("question.json").unwrap();
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    let read: Expr = serde_json::from_value(json["where"].clone()).unwrap();
    let asked = question.plan().unwrap();
    assert_eq!(Some(&schema.condition(read).unwrap()), asked.condition());
    assert!(!entry.mechanism.to_string().contains("question.json"));
    let text = entry.mechanism.get("where").unwrap();
    assert_eq!(text, "age >= 18 AND patient NOT IN (1, 2)");
    assert_eq!(schema.condition(text).unwrap().to_string(), text);
    assert_eq!(entry.mechanism.get("schema"), Some(schema.digest()));
    assert_eq!(
        entry.mechanism.get("person"),
        Some("at most 1 from each person")
    );
}

/// A list that is longer than what is printed of it.
#[test]
fn the_record_has_the_whole_question_in_json() {
    let schema = people();
    let ledger = Ledger::in_memory("patients").unwrap();
    let filter = opened(&ledger, &schema).unwrap();
    let patients = Vec::from_iter(0..500);
    let question = schema
        .count()
        .filter(col("patient").is_in(patients.clone()))
        .unwrap();
    let question = question.by_buckets("age", [0, 18, 121]).unwrap();
    filter
        .party("Ana")
        .release(&question.laplace(epsilon!(0.1)).unwrap())
        .unwrap();
    let Line::Entry(entry) = &ledger.lines(1, 1).unwrap()[0] else {
        panic!("a launch has an entry");
    };
    let json = entry.mechanism.get("question.json").unwrap();
    let expected = serde_json::json!({
        "where": { "in": [{ "column": "patient" }, patients] },
        "by": [{ "column": "age", "edges": [0, 18, 121] }],
    });
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(json).unwrap(),
        expected
    );
}
