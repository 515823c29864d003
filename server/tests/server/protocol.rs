//! Every address, every answer, every code.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::*;

#[test]
fn a_dataset_is_seen_previewed_and_asked() {
    let server = Server::new(&Terms::default());
    assert_eq!(
        server
            .get(ANA, "/v1/datasets")
            .json
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let view = server.get(BEN, "/v1/datasets/census").json;
    assert_eq!(view["schema"]["columns"][0]["range"], json!([17, 90]));
    assert_eq!(view["limit"], json!({"epsilon": "1"}));
    assert_eq!(view["quota"], json!({"epsilon": "0.5"}));
    assert_eq!(view["quota_remaining"], json!({"epsilon": "0.5"}));
    assert_eq!(
        server.get(ANA, "/v1/datasets/census").json.get("quota"),
        None
    );
    let me = |token| server.get(token, "/v1/me").json;
    assert_eq!(me(BEN), json!({"name": "ben", "role": "analyst"}));
    assert_eq!(me(CURATOR), json!({"name": "curator", "role": "curator"}));
    assert_eq!(server.get(OLD, "/v1/me").code(), "unauthorized");

    let question = count("age >= 40", "0.1");
    let preview = server.post(ANA, PREVIEW, &question).json;
    assert_eq!(preview["cost"], json!({"epsilon": "0.1"}));
    assert_eq!(preview["launches_left"], 10);
    // The 95 % quantile of discrete Laplace noise with scale 10.
    assert_eq!(preview["accuracy"], 30.0);
    assert_eq!(preview["answered_before"], false);
    assert_eq!(server.spent(), "0");

    let released = server.post_once(ANA, "first", RELEASE, &question).json;
    let [low, high] = [0, 1].map(|end| released["interval"][end].as_f64().unwrap());
    let answer = released["answer"].as_f64().unwrap();
    assert_eq!((low, high), (answer - 30.0, answer + 30.0), "{released}");
    assert_eq!(released["loss"], json!({"epsilon": "0.1"}));
    assert_eq!(released["remaining"], json!({"epsilon": "0.9"}));
    // The same key gets the same answer, and is charged once.
    let again = server.post_once(ANA, "first", RELEASE, &question).json;
    assert_eq!(again, released);
    // Keys belong to an analyst.
    let bens = server.post_once(BEN, "first", RELEASE, &question).json;
    assert_eq!(bens["remaining"], json!({"epsilon": "0.8"}));
    let preview = |token| server.post(token, PREVIEW, &question).json["answered_before"].clone();
    assert_eq!((preview(ANA), preview(BEN)), (json!(true), json!(true)));
    let other = server.post(BEN, PREVIEW, &count("age >= 41", "0.1")).json;
    assert_eq!(other["answered_before"], false);
}

#[test]
fn every_statistic_is_answered() {
    let server = Server::new(&Terms::default());
    let noise = json!({"laplace": {"epsilon": "0.1"}});
    let one = |question: Value| {
        let reply = server.post(ANA, RELEASE, &question);
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json
    };
    // Wrong with probability below 1e-9: noise with scale 99/0.1 is more than 40000 away with
    // probability e^-40.
    let sum = one(json!({"sum": {"of": "hours_per_week", "noise": noise}}));
    assert!(
        (sum["answer"].as_f64().unwrap() - 201_000.0).abs() < 45_000.0,
        "{sum}"
    );
    let mean = one(json!({"mean": {"of": "age", "where": "sex = 'Male'", "noise": noise}}));
    assert!(
        (mean["answer"].as_f64().unwrap() - 39.0).abs() < 10.0,
        "{mean}"
    );
    let variance = one(json!({"variance": {"of": "age", "noise": noise}}));
    assert!(variance["answer"].is_number(), "{variance}");
    let by = json!(["sex", {"column": "age", "edges": [0, 40, 100]}]);
    let table = one(json!({"count": {"by": by, "noise": noise}}));
    let table = &table["answer"];
    assert_eq!(table["columns"], json!(["sex", "age"]));
    let groups: Vec<_> = table["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["group"])
        .collect();
    assert_eq!(groups.len(), 4);
    assert_eq!(groups[1], &json!(["Female", "[40, 100)"]));
    // A condition as JSON is the same question.
    let text = server.post(ANA, PREVIEW, &count("age >= 18", "0.1")).json;
    let written = json!({"ge": [{"column": "age"}, 18]});
    let json = json!({"count": {"where": written, "noise": noise}});
    assert_eq!(
        server.post(ANA, PREVIEW, &json).json["question"],
        text["question"]
    );
    // Previews of means say how far off they are for a guess of the number of rows.
    let guess = json!({"mean": {"of": "age", "noise": noise, "expected_rows": 5000}});
    let near = server.post(ANA, PREVIEW, &guess).json;
    assert!(near["accuracy"].as_f64().unwrap() < 2.0, "{near}");
    let unknown = json!({"mean": {"of": "age", "noise": noise}});
    assert_eq!(
        server.post(ANA, PREVIEW, &unknown).json["accuracy"],
        Value::Null
    );
}

#[test]
fn groups_and_quantiles_are_chosen() {
    let server = Server::new(&Terms::default());
    // A choice with ε = 0.5 is 1000 people off with probability below e^-200.
    let largest = json!({"largest": {"by": ["sex"], "where": "age >= 18", "epsilon": "0.5"}});
    let preview = server.post(ANA, PREVIEW, &largest).json;
    assert_eq!(preview["cost"], json!({"epsilon": "0.5"}));
    assert!(preview["accuracy"].as_f64().unwrap() < 30.0, "{preview}");
    let chosen = server.post_once(ANA, "l", RELEASE, &largest).json;
    assert_eq!(chosen["answer"], json!(["Male"]));
    assert_eq!(server.post_once(ANA, "l", RELEASE, &largest).json, chosen);
    // The median age of 5000 people is 37; 1500 people are between 30 and 37, and between 37 and 45.
    let edges: Vec<u32> = (10..=95).step_by(5).collect();
    let median = json!({"quantiles": {
        "of": {"column": "age", "edges": edges}, "quantiles": [[1, 2]], "epsilon": "0.5",
    }});
    let found = server.post_once(ANA, "m", RELEASE, &median).json;
    let low = found["answer"][0][0].as_i64().unwrap();
    assert!((30..=40).contains(&low), "{found}");
    assert_eq!(found["answer"][0][1].as_i64(), Some(low + 5));
    assert_eq!(server.post_once(ANA, "m", RELEASE, &median).json, found);
    assert_eq!(server.spent(), "1");
}

#[test]
fn weights_and_counts_over_time_are_asked() {
    let server = Server::new(&Terms::default());
    let weights = json!({"multiplicative_weights": {
        "by": ["sex"], "rows": 5000, "threshold": 1000, "updates": 2, "epsilon": "0.5",
    }});
    let opened = server.post_once(ANA, "w", CHILDREN, &weights).json;
    assert_eq!(server.post_once(ANA, "w", CHILDREN, &weights).json, opened);
    let path = |child: &Value| format!("/v1/children/{}/ask", child["child"].as_str().unwrap());
    let weighted = path(&opened);
    let women = server.post(ANA, &weighted, &ask(0, "sex = 'Female'")).json;
    assert!(
        (women["answer"].as_i64().unwrap() - 1650).abs() < 3000,
        "{women}"
    );
    // Only about its columns, and not by time.
    let other = server.post(ANA, &weighted, &ask(1, "age > 30"));
    assert_eq!(other.code(), "invalid_query");
    let time = server.post(ANA, &weighted, &json!({"number": 1, "time": 3}));
    assert_eq!(time.code(), "invalid_query");

    let over_time = json!({"continual_count": {
        "of": {"column": "age", "edges": [10, 20, 30, 40, 100]}, "noise": {"laplace": {"epsilon": "0.5"}},
    }});
    let opened = server.post(ANA, CHILDREN, &over_time).json;
    assert!(opened["accuracy"].as_f64().unwrap() < 200.0, "{opened}");
    let timed = path(&opened);
    let at = |number, time| server.post(ANA, &timed, &json!({"number": number, "time": time}));
    let all = at(0, 4).json;
    // Noise of at most three nodes, each with scale 6: 1000 away with probability below e^-50.
    assert!(
        (all["answer"].as_i64().unwrap() - 5000).abs() < 1000,
        "{all}"
    );
    assert_eq!(at(0, 4).json, all);
    assert_eq!(at(1, 5).code(), "invalid_query");
    assert_eq!(
        server.post(ANA, &timed, &ask(1, "age > 30")).code(),
        "invalid_query"
    );
    let both = json!({"number": 1, "time": 1, "where": "age > 30"});
    assert_eq!(server.post(ANA, &timed, &both).code(), "invalid_request");
    assert_eq!(server.spent(), "1");
}

#[test]
fn a_gaussian_is_asked_under_concentrated_privacy() {
    let terms = Terms {
        budget: r#"{ rho = "0.1" }"#,
        ben: "{}",
        ..Terms::default()
    };
    let server = Server::new(&terms);
    let noise = json!({"gaussian": {"rho": "0.04"}});
    let released = server
        .post(ANA, RELEASE, &json!({"count": {"noise": noise}}))
        .json;
    assert_eq!(released["remaining"], json!({"rho": "0.06"}));
    let mu = json!({"count": {"noise": {"gaussian": {"mu": "0.2"}}}});
    assert_eq!(
        server.post(ANA, PREVIEW, &mu).json["cost"],
        json!({"rho": "0.02"})
    );
}

#[test]
fn a_search_is_opened_asked_and_closed() {
    let server = Server::new(&Terms::default());
    // With ε = 0.5 a count is on the wrong side by 500 with probability below 1e-9.
    let opened = server.post_once(ANA, "s", CHILDREN, &search(1000, "0.5"));
    assert_eq!(opened.status, 201);
    let child = opened.json["child"].as_str().unwrap();
    assert_eq!(child.len(), 32);
    assert_eq!(opened.json["loss"], json!({"epsilon": "0.5"}));
    // The same key: the same child, and no other charge.
    let again = server.post_once(ANA, "s", CHILDREN, &search(1000, "0.5"));
    assert_eq!(again.json, opened.json);
    let other = server.post_once(ANA, "s", CHILDREN, &search(1001, "0.5"));
    assert_eq!(other.code(), "conflict");
    assert_eq!(server.spent(), "0.5");

    let path = format!("/v1/children/{child}/ask");
    let said = |number, condition| server.post(ANA, &path, &ask(number, condition));
    assert_eq!(
        said(0, "age < 18").json,
        json!({"answer": false, "number": 0, "next": 1, "exhausted": false})
    );
    // A lost reply costs nothing: the same number and question get the same answer.
    assert_eq!(said(1, "age >= 17").json["answer"], true);
    assert_eq!(
        said(1, "age >= 17").json,
        json!({"answer": true, "number": 1, "next": 2, "exhausted": true})
    );
    assert_eq!(said(1, "age >= 18").code(), "conflict");
    assert_eq!(said(0, "age < 18").code(), "conflict");
    assert_eq!(said(7, "age < 18").code(), "conflict");
    assert_eq!(said(2, "age >= 17").code(), "closed");
    assert_eq!(server.spent(), "0.5");

    let listed = server.get(ANA, "/v1/children").json;
    assert_eq!(listed[0]["child"], json!(child));
    assert_eq!(listed[0]["next"], 2);
    assert_eq!(listed[0]["exhausted"], true);
    let one = format!("/v1/children/{child}");
    assert_eq!(server.get(ANA, &one).json["kind"], "above_threshold");
    let close = || Ask::new("DELETE", &one).token(ANA).send(&server.address);
    assert_eq!(close().status, 204);
    assert_eq!(close().code(), "gone");
    assert_eq!(said(2, "age >= 17").code(), "gone");
    // Closed by its owner: its key is charged, and its child is lost.
    let again = server.post_once(ANA, "s", CHILDREN, &search(1000, "0.5"));
    assert_eq!(again.code(), "interrupted");
    assert_eq!(server.spent(), "0.5");
}

#[test]
fn a_sparse_vector_tells_counts() {
    let server = Server::new(&Terms::default());
    let sparse = json!({"sparse_vector": {
        "threshold": 1000, "hits": 1, "epsilon": "0.4", "counts_epsilon": "0.1",
    }});
    assert_eq!(
        server.post(ANA, PREVIEW, &sparse).json["cost"],
        json!({"epsilon": "0.5"})
    );
    let child = server.post(ANA, CHILDREN, &sparse).json["child"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/v1/children/{child}/ask");
    assert_eq!(
        server.post(ANA, &path, &ask(0, "age < 18")).json["answer"],
        Value::Null
    );
    let hit = server.post(ANA, &path, &ask(1, "age >= 17")).json;
    // Noise with scale 10: 400 away with probability e^-40.
    assert!(
        (hit["answer"].as_i64().unwrap() - 5000).abs() < 400,
        "{hit}"
    );
}

#[test]
fn a_share_is_launched_in_and_comes_back() {
    let mut server = Server::new(&Terms::default());
    let share = json!({"filter": {"name": "spring", "budget": {"epsilon": "0.3"}}});
    let opened = server.post(BEN, CHILDREN, &share);
    assert_eq!(
        (opened.status, &opened.json["remaining"]),
        (201, &json!({"epsilon": "0.7"}))
    );
    let child = opened.json["child"].as_str().unwrap().to_owned();
    let inside = |what: &str| format!("/v1/children/{child}/{what}");
    let released = server.post_once(BEN, "a", &inside("release"), &count("age > 30", "0.1"));
    assert_eq!(released.json["remaining"], json!({"epsilon": "0.2"}));
    let preview = server
        .post(BEN, &inside("preview"), &count("age > 30", "0.1"))
        .json;
    assert_eq!(preview["launches_left"], 2);
    let refused = server.post(BEN, &inside("release"), &count("age > 30", "0.3"));
    assert_eq!(
        refused.json["refused"],
        json!({
            "spent": "0.1", "requested": "0.3", "remaining": "0.2", "limit": "0.3",
        })
    );
    let inner = server.post(BEN, &inside("children"), &search(100, "0.1"));
    assert_eq!(inner.status, 201);
    // Charged once to the whole, and to the quota.
    assert_eq!(server.spent(), "0.3");
    let quota = server.get(BEN, "/v1/datasets/census").json["quota_remaining"].clone();
    assert_eq!(quota, json!({"epsilon": "0.2"}));
    let more = json!({"filter": {"name": "summer", "budget": {"epsilon": "0.3"}}});
    assert_eq!(server.post(BEN, CHILDREN, &more).code(), "over_quota");
    let same = json!({"filter": {"name": "spring", "budget": {"epsilon": "0.30"}}});
    assert_eq!(
        server.post(BEN, CHILDREN, &same).json["child"],
        json!(child)
    );
    let other = json!({"filter": {"name": "spring", "budget": {"epsilon": "0.1"}}});
    assert_eq!(server.post(BEN, CHILDREN, &other).code(), "conflict");
    assert_eq!(
        server.post(BEN, &inside("children"), &share).code(),
        "invalid_query"
    );
    // Its name is its key: another one would be ignored, whatever was sent with it before.
    let keyed = server.post_once(BEN, "b", CHILDREN, &share);
    assert_eq!((keyed.status, keyed.code()), (400, "invalid_request"));
    assert_eq!(
        keyed.json["detail"],
        "the name of a share is its key: send no `Idempotency-Key`"
    );

    server.kill_and_restart();
    // The share has the same identifier and what it has spent; other children are gone.
    let children = server.get(BEN, "/v1/children").json;
    assert_eq!(children.as_array().unwrap().len(), 1);
    assert_eq!(children[0]["child"], json!(child));
    assert_eq!(
        children[0]["budget"]["remaining"],
        json!({"epsilon": "0.1"})
    );
    let search = inner.json["child"].as_str().unwrap();
    let gone = server.post(
        BEN,
        &format!("/v1/children/{search}/ask"),
        &ask(0, "age > 1"),
    );
    assert_eq!((gone.status, gone.code()), (410, "gone"));
    let again = server.post_once(BEN, "a", &inside("release"), &count("age > 30", "0.1"));
    assert_eq!(again.json["answer"], released.json["answer"]);
    assert_eq!(
        server.post(BEN, CHILDREN, &share).json["child"],
        json!(child)
    );
    assert_eq!(server.spent(), "0.3");
}

#[test]
fn the_curator_reads_the_record_and_the_counters() {
    let server = Server::new(&Terms::default());
    server.post(ANA, RELEASE, &count("age >= 40", "0.25"));
    let record = server.get(CURATOR, "/v1/datasets/census/record");
    let entry: Value = serde_json::from_str(record.text.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&entry["party"], &entry["loss"]),
        (&json!("ana"), &json!("0.25"))
    );
    assert!(record.text.contains("age >= 40"));
    let metrics = server.get(CURATOR, "/metrics").text;
    let spent = r#"queryables_budget{dataset="census",what="spent",unit="epsilon"} 0.25"#;
    assert!(metrics.contains(spent), "{metrics}");
    let launches = r#"queryables_launches_total{dataset="census",decision="admitted"} 1"#;
    assert!(metrics.contains(launches), "{metrics}");
    for path in ["/metrics", "/v1/datasets/census/record"] {
        assert_eq!(server.get(ANA, path).code(), "forbidden", "{path}");
    }
    assert_eq!(
        server
            .post(CURATOR, RELEASE, &count("age > 1", "0.1"))
            .code(),
        "forbidden"
    );
    assert_eq!(server.spent(), "0.25");
    let health = Ask::new("GET", "/healthz").send(&server.address);
    assert_eq!((health.status, &*health.text), (200, "ok\n"));
}

/// The log says who asked what and what was decided. It has no answers: two launches of one question have
/// the same line, apart from the time.
#[test]
fn the_log_has_questions_and_decisions_and_no_answers() {
    // A column of texts without categories: any text may be asked for.
    let education = "columns = [\n    { name = \"education_num\", type = \"text\" },";
    let text = config(&Terms::default()).replace("columns = [", education);
    let mut server = Server::in_folder(Folder::new(), &text);
    server.post(ANA, RELEASE, &count("age >= 40", "0.01"));
    server.post(ANA, RELEASE, &count("age >= 40", "0.01"));
    server.post(ANA, RELEASE, &count("age >= 40", "2"));
    // What an analyst writes does not begin a line, and says nothing to a terminal.
    let forged = "education_num = 'x\n2026-01-01T00:00:00Z INFO launch \u{1b}[2Jforged'";
    server.post(ANA, RELEASE, &count(forged, "3"));
    // Nor does it say what is no loss, which may be as long as a body, or writes one at length.
    let share = |budget: String| {
        let share = json!({"filter": {"name": "s", "budget": {"epsilon": budget}}});
        server.post(ANA, CHILDREN, &share)
    };
    assert_eq!(share("much".repeat(1000)).code(), "invalid_query");
    assert_eq!(share("0.5".to_owned() + &"0".repeat(1000)).status, 201);
    let log = std::fs::read_to_string(server.folder.0.join("log")).unwrap();
    let launches = log.lines().filter_map(|line| line.split_once(" launch "));
    let launches: Vec<&str> = launches.map(|(_, launch)| launch).collect();
    assert_eq!(launches.len(), 5, "{log}");
    assert!(!log.contains("much") && !log.contains("5000"), "{log}");
    assert!(launches[0].contains("ana") && launches[0].contains("age >= 40"));
    assert!(launches[0].ends_with("admitted\"") && launches[2].ends_with("refused\""));
    assert_eq!(launches[0], launches[1]);
    assert!(!log.contains("qs_"), "a token is in the log");
    assert!(!log.contains('\u{1b}') && log.contains("forged"), "{log}");
    server.kill();
    let shown = run(&["ledger", "show", &server.file(), "census"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        !shown.contains('\u{1b}') && shown.contains("\\u{1b}[2Jforged"),
        "{shown}"
    );
    // Two launches with their outcomes, and the refusals.
    assert_eq!(shown.lines().count(), 8, "{shown}");
}

/// Each code, as it is made, and the list in the document.
#[test]
fn every_code_has_its_status_and_no_other_is_sent() {
    let terms = Terms {
        limits: "requests_per_minute = 1000000\nlongest_body = 5000\nopen_children = 1\nasks_per_child = 1",
        ..Terms::default()
    };
    let server = Server::new(&terms);
    let mut seen = BTreeSet::new();
    let mut expect = |reply: Reply, status: u16, code: &str| {
        assert_eq!(
            (reply.status, reply.code()),
            (status, code),
            "{}",
            reply.text
        );
        assert!(
            reply.head.contains("application/problem+json"),
            "{}",
            reply.head
        );
        assert_eq!(reply.json["status"], status);
        assert_eq!(reply.json["type"], format!("urn:queryables:problem:{code}"));
        seen.insert(code.to_owned());
    };
    let post = |body: &Value| server.post(ANA, RELEASE, body);
    expect(post(&count("age > 1", "7")), 409, "refused");
    expect(
        server.post(BEN, RELEASE, &count("age > 1", "0.6")),
        409,
        "over_quota",
    );
    expect(post(&count("age >", "0.1")), 422, "invalid_query");
    expect(post(&count("height > 1", "0.1")), 422, "unknown_column");
    expect(post(&json!({"median": {}})), 400, "invalid_request");
    let float = post(&json!({"count": {"noise": {"laplace": {"epsilon": 0.1}}}}));
    let said = float.json["detail"].as_str().unwrap();
    assert_eq!(
        said,
        "invalid type: floating point `0.1`, expected a string at line 1 column 43: write it in \
         quotes"
    );
    let opened = post(&search(10, "0.01"));
    let said = opened.json["detail"].as_str().unwrap();
    assert!(
        said.starts_with("unknown variant `above_threshold`, expected one of `count`")
            && said.ends_with(": this is opened at `children`"),
        "{said}"
    );
    let gaussian = post(&json!({"count": {"noise": {"gaussian": {"rho": "0.01"}}}}));
    assert_eq!(
        gaussian.json["detail"],
        "no known loss: PureDp has no price for what the mechanism states: if that is Gaussian \
         noise, ask for `laplace` instead"
    );
    server.post_once(ANA, "k", RELEASE, &count("age > 1", "0.01"));
    let conflict = server.post_once(ANA, "k", RELEASE, &count("age > 2", "0.01"));
    expect(conflict, 409, "conflict");
    let child = server.post_once(ANA, "c", CHILDREN, &search(10, "0.01"));
    let child = child.json["child"].as_str().unwrap().to_owned();
    expect(
        server.post(ANA, CHILDREN, &search(10, "0.01")),
        429,
        "too_many",
    );
    let path = format!("/v1/children/{child}/ask");
    server.post(ANA, &path, &ask(0, "age > 1"));
    expect(server.post(ANA, &path, &ask(1, "age > 1")), 409, "closed");
    let close = Ask::new("DELETE", &format!("/v1/children/{child}")).token(ANA);
    close.send(&server.address);
    expect(server.post(ANA, &path, &ask(1, "age > 1")), 410, "gone");
    let lost = server.post_once(ANA, "c", CHILDREN, &search(10, "0.01"));
    expect(lost, 409, "interrupted");
    expect(
        server.get(ANA, "/v1/datasets/other"),
        404,
        "unknown_dataset",
    );
    expect(server.get(ANA, "/v2"), 404, "not_found");
    expect(server.get(ANA, RELEASE), 405, "method_not_allowed");
    expect(server.get("qs_nobody", "/v1/datasets"), 401, "unauthorized");
    expect(server.get(ANA, "/metrics"), 403, "forbidden");
    expect(post(&count(&"a".repeat(6000), "0.1")), 413, "too_large");

    // Those that need a slow client or engine, or a disk that fails: `security`, `engine`, `budget`.
    for code in ["too_slow", "busy", "unavailable", "failed"] {
        seen.insert(code.to_owned());
    }
    let document = server.get(ANA, "/v1/openapi.json").json;
    let codes = &document["components"]["schemas"]["Code"];
    let listed: BTreeSet<String> = match codes["enum"].as_array() {
        Some(codes) => codes
            .iter()
            .map(|code| code.as_str().unwrap().to_owned())
            .collect(),
        None => {
            let codes = codes["oneOf"].as_array().unwrap().iter();
            codes
                .map(|code| {
                    code["enum"][0]
                        .as_str()
                        .or(code["const"].as_str())
                        .unwrap()
                        .to_owned()
                })
                .collect()
        }
    };
    assert_eq!(seen, listed);
}

/// What a schema of the document gives as its example.
fn example<'a>(document: &'a Value, body: &'a Value) -> Option<&'a Value> {
    let body = &body["content"]["application/json"];
    if !body["example"].is_null() {
        return Some(&body["example"]);
    }
    let name = body["schema"]["$ref"].as_str()?.rsplit('/').next()?;
    let schema = &document["components"]["schemas"][name];
    [&schema["example"], &schema["examples"][0]]
        .into_iter()
        .find(|example| !example.is_null())
}

#[test]
fn the_examples_of_the_document_are_answered() {
    let server = Server::new(&Terms::default());
    let document = Ask::new("GET", "/v1/openapi.json")
        .send(&server.address)
        .json;
    assert_eq!(document["openapi"], "3.1.0");
    let search = server.post(ANA, CHILDREN, &search(1000, "0.05")).json;
    let share = json!({"filter": {"name": "s", "budget": {"epsilon": "0.3"}}});
    let share = server.post(ANA, CHILDREN, &share).json;
    let mut run = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let child = if path.ends_with("ask") || method == "delete" {
                &search
            } else {
                &share
            };
            // The search is closed last: paths are in the order of the alphabet.
            if method == "delete" {
                continue;
            }
            let address = path.replace("{name}", "census");
            let address = address.replace("{child}", child["child"].as_str().unwrap());
            let token = match &**path {
                "/metrics" | "/v1/datasets/{name}/record" => CURATOR,
                _ => ANA,
            };
            let request = Ask::new(&method.to_uppercase(), &address).token(token);
            let body = &operation["requestBody"];
            let request = match body.is_null() {
                true => request,
                false => {
                    let example = example(&document, body);
                    request.json(example.unwrap_or_else(|| panic!("{path} has no example")))
                }
            };
            let reply = request.send(&server.address);
            let stated = operation["responses"].as_object().unwrap();
            assert!((200..300).contains(&reply.status), "{path}: {}", reply.text);
            assert!(
                stated.contains_key(&reply.status.to_string()),
                "{path}: {}",
                reply.status
            );
            run += 1;
        }
    }
    assert_eq!(run, 15);
    // A number fits more than one kind of answer.
    assert!(document["components"]["schemas"]["Answer"]["anyOf"].is_array());
}
