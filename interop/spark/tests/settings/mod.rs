//! Settings that another client of the session has changed, or that the server has forgotten.

use queryables::mechanisms::query::Unavailable;
use queryables::table::{Amount, Bound, Column, Kind, Parts, Plan, RowTable, Schema, Table, Value};
use tables::Row;

use crate::killed::Asked;
use crate::support::{Kind as Engine, Server, rows, sql};

/// Another zone, whole numbers that wrap, and files that may be left out, in the session of the server.
pub fn change(server: &Server, is_other: bool) {
    change_in(&server.session(), is_other);
}

fn change_in(session: &str, is_other: bool) {
    let zone = if is_other { "Asia/Tokyo" } else { "UTC" };
    let (yes, no) = (is_other.to_string(), (!is_other).to_string());
    for (key, value) in [
        ("spark.sql.session.timeZone", zone),
        ("spark.sql.ansi.enabled", &no),
        ("spark.sql.files.ignoreCorruptFiles", &yes),
        ("spark.sql.files.ignoreMissingFiles", &yes),
    ] {
        sql::set(session, key, value);
    }
}

pub fn nothing_is_computed_with_other_settings(server: &Server, asked: &Asked) {
    times_are_read_in_utc_or_not_at_all(server, asked);
    what_cannot_be_read_is_not_left_out(server, asked);
}

#[test]
fn nothing_is_computed_by_sail_with_other_settings() {
    if let Some(server) = Server::new(Engine::Sail) {
        nothing_is_computed_with_other_settings(&server, &Asked::new(&server));
    }
}

/// As after a server was started anew between what it is told and the question.
fn times_are_read_in_utc_or_not_at_all(server: &Server, asked: &Asked) {
    // One of them is written without a zone.
    let columns = ["at", "also at"].map(|name| Column::new(name, Kind::Time));
    let schema = Schema::of_rows(columns).unwrap();
    let hour = 3_600_000_000;
    let row = |hours: i64| -> Row { vec![Some(Value::Time(hours * hour)); 2] };
    let drawn: Vec<Row> = (0..48).map(row).collect();
    let path = server.folder().join("times.parquet");
    rows::write(&path, &schema, &drawn);
    let path = path.to_str().unwrap();
    let reference = RowTable::new(&schema, drawn).unwrap();
    let plans = schema.columns().iter().map(|column| {
        let early = format!("\"{}\" < timestamp '1970-01-02 00:00:00'", column.name());
        let early = schema.condition(early).unwrap();
        let one = (Amount::one(0).unwrap(), Parts::Value);
        Plan::new(&schema, Some(early), one, vec![], Bound::Row).unwrap()
    });

    let table = asked.engine.parquet(&[path], &schema).unwrap();
    let session = asked.session(server);
    for plan in plans {
        assert_eq!(reference.tally(&plan), Ok(vec![24]));
        change_in(&session, true);
        assert_eq!(table.tally(&plan), Ok(vec![24]));
        asked.proxy.replace("session.timeZone", "session.timeZona");
        change_in(&session, true);
        assert_eq!(table.tally(&plan), Err(Unavailable));
        asked.proxy.replace_nothing();
        assert_eq!(table.tally(&plan), Ok(vec![24]));
    }
}

fn what_cannot_be_read_is_not_left_out(server: &Server, asked: &Asked) {
    let visits = &asked.visits;
    let folder = server.folder().join("two");
    std::fs::create_dir(&folder).unwrap();
    let (one, other) = (folder.join("1.parquet"), folder.join("2.parquet"));
    std::fs::copy(&visits.path, &one).unwrap();
    std::fs::copy(&visits.path, &other).unwrap();
    let both = asked
        .engine
        .parquet(&[folder.to_str().unwrap()], &visits.schema);
    let both = both.unwrap();
    assert!(both.tally(&visits.plan).is_ok());
    change_in(&asked.session(server), true);
    // It begins as before, and its end says where the rest is.
    let mut bytes = std::fs::read(&other).unwrap();
    let half = bytes.len() / 2;
    bytes[4..half].fill(0xff);
    std::fs::write(&other, bytes).unwrap();
    assert_eq!(both.tally(&visits.plan), Err(Unavailable));
}
