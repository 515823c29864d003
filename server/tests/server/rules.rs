//! Budgets under every rule, as the curator writes them.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::*;

/// One rule: its budget, a launch, and what is said of it.
struct Case {
    budget: &'static str,
    /// What is launched until nothing more is admitted.
    launch: Value,
    /// How often it fits.
    times: u64,
    /// What one launch costs.
    cost: Value,
    /// What is spent after the first.
    spent: Value,
}

fn gaussian(loss: Value) -> Value {
    json!({"count": {"where": "age > 30", "noise": {"gaussian": loss}}})
}

/// The numbers of launches are those of the rules themselves (`queryables::account`), which their own
/// tests compare with the theorems.
fn cases() -> Vec<Case> {
    use queryables::account::menu::{MenuEntry, MenuFilter};
    use queryables::account::{
        ContinuationRule, FixedCount, NaturalFilter, Rogers, ThroughRdp, ThroughZCdp,
    };
    use queryables::number::{Delta, Epsilon, Mu, Order, Rho};
    use queryables::privacy::{EpsilonDelta, Gdp};

    fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
        text.parse().unwrap()
    }
    /// How often a rule takes a loss, and what is spent after the first.
    fn run<F>(rule: F, loss: queryables::account::ChildLoss<F>) -> (u64, Value)
    where
        F: ContinuationRule<Whole = queryables::privacy::ApproxDp>,
    {
        let first = rule.charge(&loss).unwrap().spent();
        let spent = json!({"epsilon": first.epsilon.to_string(), "delta": first.delta.to_string()});
        let (mut rule, mut times) = (rule, 0);
        while let Ok(next) = rule.charge(&loss) {
            (rule, times) = (next, times + 1);
        }
        (times, spent)
    }
    let limit = EpsilonDelta::new("1", "1e-6").unwrap();
    let pure = |epsilon: &str| EpsilonDelta::new(epsilon, "0").unwrap();
    let slack: Delta = number("5e-7");
    let approx = json!({"epsilon": "0.1", "delta": "0"});
    let case = |budget, launch, (times, spent), cost| Case {
        budget,
        launch,
        times,
        cost,
        spent,
    };
    let entries = ["0.05", "0.1"].map(number::<Epsilon>);
    let entries = [MenuEntry::new(entries[0], 1), MenuEntry::new(entries[1], 4)];
    vec![
        Case {
            budget: r#"{ epsilon = "1", delta = "1e-6" }"#,
            launch: count("age > 30", "0.1"),
            times: 10,
            cost: approx.clone(),
            spent: approx.clone(),
        },
        Case {
            budget: r#"{ rho = "0.1" }"#,
            launch: gaussian(json!({"rho": "0.02"})),
            times: 5,
            cost: json!({"rho": "0.02"}),
            spent: json!({"rho": "0.02"}),
        },
        Case {
            // Squares add up: four times a half.
            budget: r#"{ mu = "1" }"#,
            launch: gaussian(json!({"mu": "0.5"})),
            times: 4,
            cost: json!({"mu": "0.5"}),
            spent: json!({"mu": "0.5"}),
        },
        Case {
            // Gaussian noise with ρ loses αρ at the order α.
            budget: r#"{ order = "8", epsilon = "1" }"#,
            launch: gaussian(json!({"rho": "0.02"})),
            times: 6,
            cost: json!({"order": "8", "epsilon": "0.16"}),
            spent: json!({"order": "8", "epsilon": "0.16"}),
        },
        case(
            "{ epsilon = \"1\", delta = \"1e-6\" }\nrule = { whitehouse = { slack = \"5e-7\" } }",
            count("age > 30", "0.1"),
            run(ThroughZCdp::tight(limit, slack).unwrap(), pure("0.1")),
            approx.clone(),
        ),
        case(
            "{ epsilon = \"1\", delta = \"1e-6\" }\nrule = { renyi = { order = \"30\", slack = \"5e-7\" } }",
            count("age > 30", "0.1"),
            run(
                ThroughRdp::at(number::<Order>("30"), limit, slack).unwrap(),
                pure("0.1"),
            ),
            approx.clone(),
        ),
        case(
            "{ epsilon = \"1\", delta = \"1e-6\" }\nrule = \"rogers\"",
            count("age > 30", "0.01"),
            run(Rogers::new(limit).unwrap(), pure("0.01")),
            json!({"epsilon": "0.01", "delta": "0"}),
        ),
        case(
            "{ epsilon = \"1\", delta = \"1e-6\" }\n\
             rule = { fixed_count = { each = { epsilon = \"0.1\" } } }",
            count("age > 30", "0.1"),
            run(FixedCount::most(limit, pure("0.1")).unwrap(), pure("0.1")),
            approx.clone(),
        ),
        case(
            "{ epsilon = \"1\", delta = \"1e-6\" }\n\
             rule = { menu = { slack = \"5e-7\", step = \"0.05\", entries = [\
             { epsilon = \"0.05\", cost = 1 }, { epsilon = \"0.1\", cost = 4 }] } }",
            count("age > 30", "0.1"),
            run(
                MenuFilter::new(limit, slack, number("0.05"), &entries).unwrap(),
                pure("0.1"),
            ),
            approx,
        ),
        case(
            "{ epsilon = \"1\", delta = \"1e-6\" }\nrule = \"concentrated\"",
            gaussian(json!({"rho": "0.002"})),
            run(
                ThroughZCdp::for_zcdp(limit).unwrap(),
                number::<Rho>("0.002"),
            ),
            json!({"rho": "0.002"}),
        ),
        case(
            "{ epsilon = \"1\", delta = \"1e-6\" }\nrule = \"gaussian\"",
            gaussian(json!({"mu": "0.05"})),
            run(
                NaturalFilter::new(limit, Gdp).unwrap(),
                number::<Mu>("0.05"),
            ),
            json!({"mu": "0.05"}),
        ),
    ]
}

fn launches(server: &Server, body: &Value) -> u64 {
    let mut admitted = 0;
    loop {
        let reply = server.post(ANA, RELEASE, body);
        match reply.code() {
            "refused" => return admitted,
            _ => assert_eq!(reply.status, 200, "{}", reply.text),
        }
        admitted += 1;
    }
}

/// Each goes on after a restart, in the middle of the budget, and stops where the rule does.
#[test]
fn every_rule_is_spent_to_its_limit_across_a_restart() {
    for case in cases() {
        let mut server = Server::new(&Terms {
            budget: case.budget,
            ben: "{}",
            ..Terms::default()
        });
        let preview = server.post(ANA, PREVIEW, &case.launch).json;
        assert_eq!(preview["cost"], case.cost, "{}", case.budget);
        let first = server.post_once(ANA, "k", RELEASE, &case.launch).json;
        assert_eq!(first["loss"], case.cost, "{}: {first}", case.budget);
        let view = server.get(ANA, "/v1/datasets/census").json;
        assert_eq!(view["spent"], case.spent, "{}", case.budget);
        // What is left is stated as launches are.
        let units = |loss: &Value| {
            loss.as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(
            units(&view["remaining"]),
            units(&case.cost),
            "{}",
            case.budget
        );
        server.kill_and_restart();
        assert_eq!(
            server.post_once(ANA, "k", RELEASE, &case.launch).json["answer"],
            first["answer"]
        );
        assert_eq!(
            1 + launches(&server, &case.launch),
            case.times,
            "{}",
            case.budget
        );
    }
}

#[test]
fn a_halting_budget_under_another_rule_stops_for_good() {
    let server = Server::new(&Terms {
        budget: "{ epsilon = \"1\", delta = \"1e-6\" }\nrule = \"concentrated\"",
        ben: r#"{ quota = { rho = "0.01" } }"#,
        halting: true,
        ..Terms::default()
    });
    let launch = |token, rho: &str| server.post(token, RELEASE, &gaussian(json!({"rho": rho})));
    // A quota is stated as launches are, and refuses without a halt.
    assert_eq!(launch(BEN, "0.02").code(), "over_quota");
    let share = json!({"filter": {"name": "s", "budget": {"rho": "0.004"}}});
    let share = server.post(BEN, CHILDREN, &share);
    assert_eq!(
        (share.status, &share.json["loss"]),
        (201, &json!({"rho": "0.004"})),
        "{}",
        share.text
    );
    assert_eq!(launch(ANA, "0.5").code(), "refused");
    assert_eq!(launch(ANA, "0.001").code(), "closed");
    let inside = format!(
        "/v1/children/{}/release",
        share.json["child"].as_str().unwrap()
    );
    assert_eq!(
        server
            .post(BEN, &inside, &gaussian(json!({"rho": "0.001"})))
            .code(),
        "closed"
    );
}

/// What is wrong is said with its line, before data or ledger are opened.
#[test]
fn check_says_what_is_wrong_with_a_rule() {
    let folder = Folder::new();
    let file = folder.0.join("curator.toml");
    let check = |budget: &'static str, quota: &'static str| {
        let text = config(&Terms {
            budget,
            ben: quota,
            ..Terms::default()
        });
        std::fs::write(&file, &text).unwrap();
        let done = run(&["check", file.to_str().unwrap()]);
        assert!(!done.status.success());
        let line = |part: &str| {
            text.lines()
                .position(|line| line.starts_with(part))
                .unwrap()
                + 1
        };
        let said = String::from_utf8(done.stderr).unwrap();
        // Which line, and what.
        let (place, what) = said.trim_end().split_once(": ").unwrap();
        let places = ["budget", "rule", "ben"];
        let found = places.iter().find(|part| {
            text.contains(&format!("\n{part} =")) && place == format!("line {}", line(part))
        });
        (*found.unwrap_or(&"nowhere"), what.to_owned())
    };
    let approx = "{ epsilon = \"1\", delta = \"1e-6\" }\nrule = ";
    let rule =
        |text: &str, quota| check(Box::leak(format!("{approx}{text}").into_boxed_str()), quota);
    let said = [
        check("{ epsilon = \"1\", rho = \"1\" }", "{}"),
        check("{ epsilon = \"one\" }", "{}"),
        check("{ rho = \"1\" }\nrule = \"concentrated\"", "{}"),
        rule("{ whitehouse = { slack = \"1e-5\" } }", "{}"),
        rule("{ renyi = { order = \"1.01\", slack = \"1e-7\" } }", "{}"),
        rule("{ fixed_count = { each = { rho = \"1\" } } }", "{}"),
        rule(
            "{ menu = { slack = \"1e-7\", step = \"0\", entries = [] } }",
            "{}",
        ),
        rule("\"concentrated\"", "{ quota = { epsilon = \"1\" } }"),
        check(
            "{ order = \"8\", epsilon = \"1\" }",
            "{ quota = { order = \"4\", epsilon = \"1\" } }",
        ),
    ];
    let said = said.map(|(place, what)| format!("{place}: {what}"));
    assert_eq!(
        said,
        [
            "budget: a budget is {epsilon}, {epsilon, delta}, {order, epsilon}, {rho} or {mu}",
            "budget: epsilon = \"one\": epsilon must be a decimal number such as 0.1 or 1e-6, not \"one\"",
            "rule: under this rule the budget is {epsilon, delta}",
            "rule: the slack 1e-5 is more than the budget's δ = 1e-6",
            "rule: at this Rényi order the conversion to (ε, δ) leaves nothing: choose a larger order",
            "rule: each: losses here are stated in epsilon and delta",
            "rule: the menu is empty: give it at least one entry",
            "ben: a quota: losses here are stated in rho",
            "ben: a quota: losses here are stated in epsilon at the order 8",
        ]
    );
}

/// The schema says who one person is, and what a question means: a budget does not go on under another.
#[test]
fn a_budget_does_not_go_on_under_another_schema_or_rule() {
    let mut server = Server::new(&Terms::default());
    server.post(ANA, RELEASE, &count("age > 30", "0.1"));
    server.kill();
    let file = server.file();
    let good = std::fs::read_to_string(&file).unwrap();
    let by_age = good.replace(", range = [17, 90]", "");
    for (good, from, to) in [
        (&good, "range = [17, 90]", "range = [0, 120]"),
        (&by_age, "person = { each_row = true }", "person = \"age\""),
        (&good, "halting = false", "halting = true"),
        (&good, "{ epsilon = \"1\" }", "{ epsilon = \"2\" }"),
    ] {
        assert!(good.contains(from), "{from}");
        std::fs::write(&file, good.replacen(from, to, 1)).unwrap();
        // A server that goes on would not end by itself.
        let mut serve = Command::new("timeout");
        serve.args([
            "30",
            env!("CARGO_BIN_EXE_queryables-server"),
            "serve",
            &file,
        ]);
        let done = serve.output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(!done.status.success(), "{to}");
        assert!(said.contains("terms"), "{to}: {said}");
    }
    std::fs::write(&file, good).unwrap();
    server.start();
    assert_eq!(server.spent(), "0.1");
}
