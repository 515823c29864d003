//! The operator's commands.

use crate::support::*;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn check_says_what_is_wrong_line_by_line() {
    let folder = Folder::new();
    let file = folder.0.join("curator.toml");
    let path = file.to_str().unwrap();
    let check = |config: &str| {
        std::fs::write(&file, config).unwrap();
        let done = run(&["check", path]);
        assert!(!done.status.success());
        text(&done.stderr)
    };
    let good = config(&Terms::default());
    let line = |part: &str| good.lines().position(|line| line.contains(part)).unwrap() + 1;

    let several = good
        .replace("127.0.0.1:0", "0.0.0.0:80")
        .replace("name = \"eve\"", "name = \"Eve's\"")
        .replace(&sha256(BEN), "0x12")
        .replace("{ epsilon = \"0.5\" }", "{ rho = \"0.5\" }")
        .replace("old = {}", "nobody = {}");
    let said = check(&several);
    let expected = [
        (line("listen"), "this address is not loopback"),
        (
            line(&sha256(BEN)),
            "a token's SHA-256 has 64 hexadecimal digits",
        ),
        (
            line("name = \"eve\""),
            "an analyst's name has 1 to 64 letters",
        ),
        (line("quota"), "a quota: losses here are stated in epsilon"),
        (line("old = {}"), "there is no analyst \"nobody\""),
    ];
    for (line, problem) in expected {
        let wanted = format!("line {line}: {problem}");
        assert!(
            said.lines().any(|said| said.starts_with(&wanted)),
            "{wanted}\n{said}"
        );
    }
    assert_eq!(said.lines().count(), expected.len(), "{said}");

    let said = check(&good.replace("halting = false", "haltign = false"));
    assert!(
        said.starts_with(&format!("line {}: unknown field", line("halting"))),
        "{said}"
    );
    // What the parser says of a type is followed by what to write.
    let budget = r#"{ epsilon = "1" }"#;
    let (_, from_analysts) = good.split_once("[[analyst]]").unwrap();
    let (ana, _) = from_analysts.split_once("[[analyst]]").unwrap();
    let (_, from_dataset) = good.split_once("[[dataset]]").unwrap();
    for (wrong, wanted) in [
        (
            good.replacen(budget, "{ epsilon = 1 }", 1),
            "integer `1`, expected a string: write it in quotes",
        ),
        (
            good.replacen(budget, r#""1""#, 1),
            r#"string "1", expected a loss with named fields, such as an `epsilon` of "1""#,
        ),
        (
            format!("[analyst]{ana}[[dataset]]{from_dataset}"),
            "map, expected a sequence: a table that can be there several times is written `[[…]]`",
        ),
    ] {
        let said = check(&wrong);
        assert!(said.trim_end().ends_with(wanted), "{said}");
    }
    let said = check(&good.replace("[17, 90]", "[90, 17]"));
    assert!(
        said.starts_with(&format!("line {}: the schema", line("[dataset.schema]"))),
        "{said}"
    );
    // Everything is right, and there is no ledger: it is never made by mistake.
    let said = check(&good);
    let wanted =
        "census.redb: there is no ledger: if nothing is spent, make it with `ledger create`\n";
    assert!(
        said.starts_with("dataset \"census\": ") && said.ends_with(wanted),
        "{said}"
    );
    assert!(!folder.0.join("census.redb").exists());
    let said = check(&good.replace("/adult.csv", "/adults.csv"));
    assert!(said.contains("adults.csv"), "{said}");
    // Known, and not opened by this program.
    let spark =
        r#"data = { spark = { engine = "sc://127.0.0.1:1", rows = { table = ["people"] } } }"#;
    let lines = good.lines();
    let spark: Vec<&str> = lines
        .map(|line| {
            if line.starts_with("data = ") {
                spark
            } else {
                line
            }
        })
        .collect();
    let said = check(&spark.join("\n"));
    assert!(
        said.contains("this program has no client of Spark"),
        "{said}"
    );
    std::fs::write(&file, &good).unwrap();
    assert!(run(&["ledger", "create", path, "census"]).status.success());
    let done = run(&["check", path]);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(text(&done.stdout).lines().count(), 1);
    let again = run(&["ledger", "create", path, "census"]);
    assert!(!again.status.success());
    let said = text(&again.stderr);
    assert!(
        said.starts_with("there is a ledger, or another file, already"),
        "{said}"
    );

    // A cell that cannot be read would be missing for every question: the operator is told, and nobody else.
    let rows = "age,education_num,sex,hours_per_week,income\n30,9,Male,forty,<=50K\n";
    std::fs::write(folder.0.join("bad.csv"), rows).unwrap();
    let bad = good.lines().map(|line| match line.starts_with("data = ") {
        true => r#"data = { csv = "bad.csv" }"#,
        false => line,
    });
    std::fs::write(&file, bad.collect::<Vec<_>>().join("\n")).unwrap();
    let done = run(&["check", path]);
    assert!(done.status.success(), "{done:?}");
    let wanted =
        "column \"hours_per_week\": cells that are not a whole number: 1, the first in line 2";
    assert!(text(&done.stdout).contains(wanted), "{done:?}");
}

#[test]
fn a_token_is_random_and_its_hash_is_shown() {
    let [one, other] = [(), ()].map(|()| text(&run(&["token", "ana"]).stdout));
    assert_ne!(one, other);
    let token = one
        .split_whitespace()
        .find(|word| word.starts_with("qs_"))
        .unwrap();
    assert_eq!(token.len(), 3 + 64);
    assert!(one.contains(&sha256(token)), "{one}");
}

#[test]
fn the_operator_reads_the_ledger() {
    let mut server = Server::new(&Terms::default());
    server.post_once(ANA, "k", RELEASE, &count("age > 30", "0.1"));
    server.post(BEN, RELEASE, &count("age > 30", "0.7"));
    // One process has the file.
    assert!(
        !run(&["ledger", "show", &server.file(), "census"])
            .status
            .success()
    );
    server.kill();
    let ledger = |what: &str| {
        let done = run(&["ledger", what, &server.file(), "census"]);
        assert!(done.status.success(), "{done:?}");
        text(&done.stdout)
    };
    let shown = ledger("show");
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        lines[0].contains("ana") && lines[0].contains("admitted"),
        "{shown}"
    );
    assert!(lines[1].contains("answered"), "{shown}");
    assert!(
        lines[2].contains("ben") && lines[2].contains("over quota"),
        "{shown}"
    );
    assert!(ledger("verify").starts_with("2 entries"));
    assert_eq!(ledger("export").lines().count(), 3);
    let drawn = ledger("timeline");
    assert!(
        drawn.contains("<title>census: epsilon spent 0.1 of 1, 1 not admitted</title>"),
        "{drawn}"
    );
    // A tenth of 240 up at the first launch, and a cross there at the second.
    assert!(
        drawn.contains("d=\"M56 268V244.00H416.00H776.00\""),
        "{drawn}"
    );
    assert!(drawn.contains("M412.00 240.00l8 8m0 -8l-8 8"), "{drawn}");
    assert!(
        drawn.contains("y=\"238.00\" text-anchor=\"end\">0.1</text>"),
        "{drawn}"
    );
    let none = run(&["ledger", "show", &server.file(), "other"]);
    assert!(text(&none.stderr).contains("there is no dataset \"other\""));
}
