//! Budgets and quotas, with many clients.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::postgres;
use crate::support::*;

#[test]
fn eight_clients_spend_to_the_limit_and_not_beyond() {
    let terms = Terms {
        ben: "{}",
        ..Terms::default()
    };
    let server = Server::new(&terms);
    let admitted: usize = thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|client| {
                let server = &server;
                scope.spawn(move || {
                    let token = [ANA, BEN][client % 2];
                    let launch = || server.post(token, RELEASE, &count("age > 30", "0.01"));
                    let mut admitted = 0;
                    loop {
                        let reply = launch();
                        match reply.code() {
                            "refused" => return admitted,
                            "busy" | "too_many" => {}
                            _ => {
                                assert_eq!(reply.status, 200, "{}", reply.text);
                                admitted += 1;
                            }
                        }
                    }
                })
            })
            .collect();
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .sum()
    });
    assert_eq!(admitted, 100);
    assert_eq!(server.spent(), "1");
}

#[test]
fn a_quota_refuses_and_charges_nobody() {
    let server = Server::new(&Terms::default());
    assert_eq!(
        server.post(BEN, RELEASE, &count("age > 30", "0.4")).status,
        200
    );
    let refused = server.post(BEN, RELEASE, &count("age > 30", "0.2"));
    assert_eq!((refused.status, refused.code()), (409, "over_quota"));
    assert_eq!(
        refused.json["refused"],
        json!({
            "spent": "0.4", "requested": "0.2", "remaining": "0.1", "limit": "0.5",
        })
    );
    assert_eq!(server.spent(), "0.4");
    // Ana has no quota.
    assert_eq!(
        server.post(ANA, RELEASE, &count("age > 30", "0.6")).status,
        200
    );
    assert_eq!(
        server.post(BEN, RELEASE, &count("age > 30", "0.1")).code(),
        "refused"
    );
    assert_eq!(server.spent(), "1");
}

#[test]
fn two_analysts_interleave_searches() {
    let server = Server::new(&Terms::default());
    // Wrong by 500 with probability below 1e-9.
    let open = |token| {
        let child = server.post(token, CHILDREN, &search(2500, "0.5")).json;
        format!("/v1/children/{}/ask", child["child"].as_str().unwrap())
    };
    let (anas, bens) = (open(ANA), open(BEN));
    let above = |token, path: &str, number, condition| {
        server.post(token, path, &ask(number, condition)).json["answer"].clone()
    };
    assert_eq!(above(ANA, &anas, 0, "age < 20"), false);
    assert_eq!(above(BEN, &bens, 0, "age < 20"), false);
    assert_eq!(above(BEN, &bens, 1, "age >= 17"), true);
    // The hit of one closes nothing of the other.
    assert_eq!(above(ANA, &anas, 1, "age < 21"), false);
    assert_eq!(above(ANA, &anas, 2, "age >= 17"), true);
    assert_eq!(
        server.post(ANA, &anas, &ask(3, "age < 20")).code(),
        "closed"
    );
    assert_eq!(server.post(ANA, &bens, &ask(2, "age < 20")).code(), "gone");
    assert_eq!(server.spent(), "1");
}

#[test]
fn a_halting_budget_stops_children_and_launches() {
    let terms = Terms {
        halting: true,
        ..Terms::default()
    };
    let mut server = Server::new(&terms);
    let child = server.post(ANA, CHILDREN, &search(2500, "0.5")).json;
    let path = format!("/v1/children/{}/ask", child["child"].as_str().unwrap());
    assert_eq!(
        server.post(ANA, RELEASE, &count("age > 30", "0.6")).code(),
        "refused"
    );
    assert_eq!(
        server.post(ANA, &path, &ask(0, "age < 20")).code(),
        "closed"
    );
    assert_eq!(
        server.post(BEN, RELEASE, &count("age > 30", "0.1")).code(),
        "closed"
    );
    server.kill_and_restart();
    assert_eq!(
        server.post(BEN, RELEASE, &count("age > 30", "0.1")).code(),
        "closed"
    );
    assert_eq!(server.get(ANA, "/v1/datasets/census").json["halted"], true);
}

#[test]
fn a_launch_below_the_smallest_loss_is_refused() {
    let server = Server::new(&Terms {
        budget: "{ epsilon = \"1\" }\nsmallest = { epsilon = \"0.01\" }",
        ..Terms::default()
    });
    let small = server.post(ANA, RELEASE, &count("age > 30", "0.0099"));
    assert_eq!(small.code(), "invalid_query");
    assert_eq!(
        server.post(ANA, CHILDREN, &search(1, "0.001")).code(),
        "invalid_query"
    );
    assert_eq!(server.spent(), "0");
    assert_eq!(
        server.post(ANA, RELEASE, &count("age > 30", "0.01")).status,
        200
    );
}

/// The ledger's file is taken away: nothing is answered, and nothing says why.
#[test]
fn without_its_ledger_a_dataset_is_unavailable() {
    let server = Server::new(&Terms::default());
    let path = server.folder.0.join("census.redb");
    std::fs::rename(&path, server.folder.0.join("elsewhere")).unwrap();
    let reply = server.post(ANA, RELEASE, &count("age > 30", "0.1"));
    assert_eq!((reply.status, reply.code()), (503, "unavailable"));
    assert_eq!(reply.json["detail"], json!(null));
    let folder = server.folder.0.to_str().unwrap();
    assert!(!reply.text.contains(folder), "{}", reply.text);
}

/// A disk that takes no more: what is not written is not answered, and what was answered is charged.
#[test]
fn a_full_disk_answers_nothing_that_is_not_charged() {
    let mut server = Server::new(&Terms {
        budget: r#"{ epsilon = "1000000" }"#,
        ..Terms::default()
    });
    server.kill();
    let ledger = server.folder.0.join("census.redb");
    let blocks = std::fs::metadata(&ledger).unwrap().len() / 1024;
    // No file of the process may be longer than the ledger is now: writing fails, as on a full disk.
    server.start_by(&[
        "bash",
        "-c",
        &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\""),
    ]);
    // Each has a long question, so that the file must grow.
    let question = |at: u64| {
        count(
            &format!(
                "age > 30 and {}",
                vec![format!("age <> {at}"); 200].join(" and ")
            ),
            "0.001",
        )
    };
    let mut answers = Vec::new();
    let refused = loop {
        let at = answers.len() as u64;
        assert!(at < 5000, "the file never grew");
        let reply = server.post_once(ANA, &format!("{at}"), RELEASE, &question(at));
        match reply.status {
            200 => answers.push(reply.json["answer"].clone()),
            _ => break reply,
        }
    };
    assert_eq!((refused.status, refused.code()), (503, "unavailable"));
    assert_eq!(refused.json["detail"], json!(null));
    server.kill_and_restart();
    for (at, answer) in answers.iter().enumerate() {
        let again = server.post_once(ANA, &format!("{at}"), RELEASE, &question(at as u64));
        assert_eq!(&again.json["answer"], answer, "{at}");
    }
    // The one without a reply was charged, or was not.
    let spent = (server.spent().parse::<f64>().unwrap() * 1000.0).round() as usize;
    assert!(
        (answers.len()..=answers.len() + 1).contains(&spent),
        "{spent} of {}",
        answers.len()
    );
}

/// A table in PostgreSQL, which goes away: nothing is charged for what cannot be asked.
#[test]
fn a_table_in_postgresql_is_asked_and_costs_nothing_while_it_is_away() {
    let Some(mut postgres) = postgres::Server::new("server-table") else {
        return;
    };
    let folder = postgres.folder().to_str().unwrap().to_owned();
    let columns = "(17 + i % 70)::bigint AS age, 'Male'::text AS sex, 40::bigint AS hours_per_week";
    let table =
        format!("CREATE TABLE people AS SELECT {columns} FROM generate_series(1, 5000) AS i");
    let mut psql = Command::new("psql");
    psql.args(["-h", &folder, "-U", "queryables", "-c", &table, "postgres"]);
    assert!(psql.output().unwrap().status.success());
    let connection = postgres.parameters();
    let server = Server::new(&Terms {
        data: format!("{{ postgres = {{ connection = {connection:?}, table = \"people\" }} }}"),
        ..Terms::default()
    });
    let all = server
        .post(ANA, RELEASE, &count("sex = 'Male'", "0.5"))
        .json;
    // Noise with scale 2 is 100 away with probability e^-50.
    assert!(
        (all["answer"].as_f64().unwrap() - 5000.0).abs() < 100.0,
        "{all}"
    );
    let child = server.post(ANA, CHILDREN, &search(2500, "0.2")).json;
    let path = format!("/v1/children/{}/ask", child["child"].as_str().unwrap());
    postgres.kill();
    let away = server.post(ANA, RELEASE, &count("sex = 'Male'", "0.1"));
    assert_eq!((away.status, away.code()), (503, "unavailable"));
    assert_eq!(
        server.post(ANA, &path, &ask(0, "age >= 17")).code(),
        "unavailable"
    );
    assert_eq!(server.spent(), "0.7");
    // The child is as it was.
    postgres.restart();
    assert_eq!(
        server.post(ANA, &path, &ask(0, "age >= 17")).json["answer"],
        true
    );
    assert_eq!(
        server
            .post(ANA, RELEASE, &count("sex = 'Male'", "0.1"))
            .status,
        200
    );
}

/// Answers and refusals take a multiple of the quantum.
#[test]
fn the_time_of_a_reply_is_rounded_up() {
    let server = Server::new(&Terms {
        quantum: 700,
        ..Terms::default()
    });
    for question in [
        count("age > 30", "0.1"),
        count("age > 30", "9"),
        count("age >", "0.1"),
    ] {
        let begun = Instant::now();
        server.post(ANA, RELEASE, &question);
        assert!(begun.elapsed() >= Duration::from_millis(700));
    }
    // Nobody waits for what is public anyway.
    assert_eq!(server.get(ANA, "/v1/datasets").status, 200);
}

/// SIGTERM: what runs is answered, and the process ends well.
#[test]
fn a_server_that_is_ended_answers_what_runs() {
    let mut server = Server::new(&Terms::default());
    let replies: Vec<_> = thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|_| {
                let address = server.address.clone();
                scope.spawn(move || {
                    let mut last = Vec::new();
                    loop {
                        let request = Ask::new("POST", RELEASE).token(ANA);
                        let request = request.json(&count("age > 30", "0.001"));
                        match request.try_send(&address) {
                            Ok(reply) => last.push(reply.status),
                            Err(_) => return last,
                        }
                    }
                })
            })
            .collect();
        while server.spent() == "0" {}
        let id = server.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status();
        assert!(sent.unwrap().success());
        assert!(server.wait());
        clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
            .collect()
    });
    assert!(!replies.is_empty());
    assert!(
        replies
            .iter()
            .all(|status| *status == 200 || *status == 503),
        "{replies:?}"
    );
    // Every launch that was charged has its outcome.
    let shown = run(&["ledger", "export", &server.file(), "census"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert_eq!(
        text.matches("admitted").count(),
        text.matches("answered").count(),
        "{text}"
    );
}
