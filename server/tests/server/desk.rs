//! The desk, in a real browser.

use std::process::Command;

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::support::*;

const LOSS: &str = "//label[.='Loss']/following-sibling::input";
const WHERE: &str = "//form//label[.='Rows where']/following-sibling::input";
const SUBMIT: &str = "//form//button[@type='submit']";

/// A browser that is signed in; none where there is no browser.
fn signed_in(server: &Server, token: &str) -> Option<Browser> {
    let browser = Browser::start()?;
    browser.open(&server.address);
    sign_in(&browser, token);
    browser.wait("document.querySelector('.preview dl')");
    Some(browser)
}

/// By keyboard alone: the field has the focus.
fn sign_in(browser: &Browser, token: &str) {
    browser.wait("document.activeElement.type === 'password'");
    browser.keys(&format!("{token}\n"));
}

fn choose(browser: &Browser, kind: &str) {
    browser.click(&format!("//option[@value='{kind}']"));
}

/// Waits until the preview is that of what was just typed.
fn previewed(browser: &Browser, text: &str) {
    browser.wait_for(".preview", text);
}

#[test]
fn a_wrong_token_is_explained_and_a_right_one_is_kept_in_memory_only() {
    let server = Server::new(&Terms::default());
    let Some(browser) = Browser::start() else {
        return;
    };
    browser.open(&server.address);
    sign_in(&browser, "qs_wrong");
    browser.wait_for(".problem", "A valid token is needed.");
    assert_eq!(
        browser.run("return document.querySelector('input').value"),
        ""
    );
    sign_in(&browser, ANA);
    browser.wait_for(".budget", "1 left of 1, 0 spent");
    let kept = "return [localStorage.length, sessionStorage.length, document.cookie, \
        location.pathname + location.search + location.hash, \
        document.documentElement.outerHTML.includes('qs_ana')]";
    assert_eq!(browser.run(kept), json!([0, 0, "", "/", false]));
    // Signing out forgets it.
    browser.press("Sign out");
    browser.wait("document.activeElement.type === 'password'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_preview_follows_what_is_typed_and_costs_nothing() {
    let server = Server::new(&Terms::default());
    let Some(browser) = signed_in(&server, BEN) else {
        return;
    };
    // The quota of 0.5 admits 5; the 95 % quantile of discrete Laplace noise with scale 10 is 30.
    previewed(&browser, "5 times");
    let said = browser.text(".preview");
    assert!(said.contains("ε 0.1") && said.contains("± 30"), "{said}");
    browser.fill(LOSS, "0.25");
    previewed(&browser, "2 times");
    browser.fill(WHERE, "age >== 18");
    previewed(&browser, "at character 7");
    browser.fill(WHERE, "");
    // A condition by clicking.
    browser.click("//select[@aria-label='Column']/option[.='sex']");
    browser.click("//select[@aria-label='Value']/option[.='Male']");
    browser.press("Add condition");
    browser.wait("document.querySelector('.preview details')");
    browser.click("//select[@aria-label='Column']/option[.='age']");
    browser.press("Add condition");
    let written = "return document.querySelector('.question input.code').value";
    assert_eq!(browser.run(written), "sex = 'Male' AND age = 17");
    // The same as text, and back.
    browser.press("As text");
    let text = "return JSON.parse(document.querySelector('textarea').value)";
    let wanted = json!({"count": {"where": "sex = 'Male' AND age = 17", "noise": {"laplace": {"epsilon": "0.25"}}}});
    assert_eq!(browser.run(text), wanted);
    browser.fill("//textarea", r#"{"mean": {"of": "age", "by": ["sex"], "noise": {"laplace": {"epsilon": "0.5"}}, "expected_rows": 5000}}"#);
    previewed(&browser, "1 time");
    browser.press("By clicking");
    assert_eq!(
        browser.run("return document.querySelector('.question select').value"),
        "mean"
    );
    browser.press("As text");
    // A condition in JSON has no field: it stays a text, and is previewed.
    browser.fill("//textarea", r#"{"count": {"where": {"ge": [{"column": "age"}, 18]}, "noise": {"laplace": {"epsilon": "0.1"}}}}"#);
    previewed(&browser, "5 times");
    browser.press("By clicking");
    browser.wait_for(".question", "The form cannot show this question");
    assert_eq!(server.spent(), "0");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn the_page_and_the_copied_requests_ask_the_same_question_once() {
    let server = Server::new(&Terms::default());
    let Some(browser) = signed_in(&server, ANA) else {
        return;
    };
    browser.fill(WHERE, "sex = 'Male'");
    browser.run("document.querySelector('.snippets').open = true");
    browser.wait_for("[data-language=curl]", "Male");
    let copied = |language: &str| browser.text(&format!("[data-language={language}]"));
    let run = |program: &str, text: &str| {
        let done = Command::new(program)
            .args(["-c", text])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("QUERYABLES_TOKEN", ANA)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    // Three ways with one key: one charge, and one answer.
    let [curl, python, rust] = ["curl", "Python", "Rust"].map(copied);
    let replied: Value = serde_json::from_str(&run("bash", &curl)).unwrap();
    let answer = replied["answer"].as_f64().unwrap();
    assert!(run("python3", &python).contains(&format!("'answer': {answer:?}")));
    browser.click(SUBMIT);
    browser.wait_for(".answer-place", "Cost ε 0.1; ε 0.9 of the budget is left.");
    let shown = browser.text(".answer-place .large").replace(',', "");
    assert_eq!(shown.parse::<f64>().unwrap(), answer);
    assert_eq!(server.spent(), "0.1");
    browser.wait_for(".budget", "0.9 left of 1, 0.1 spent");
    // That in Rust is the example, which is compiled.
    let key = curl.split("Idempotency-Key: ").nth(1).unwrap();
    let key = key.split('\'').next().unwrap();
    let example = include_str!("../../examples/request.rs")
        .replace("127.0.0.1:8400", &server.address)
        .replace("a key that is used once", key);
    assert_eq!(rust.trim(), example.trim());
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_table_is_drawn_with_error_bars_and_saved() {
    let server = Server::new(&Terms::default());
    let Some(browser) = signed_in(&server, ANA) else {
        return;
    };
    browser.click("//label[contains(., 'sex')]/input");
    browser.click(SUBMIT);
    browser.wait("document.querySelectorAll('table.answer tbody tr').length === 2");
    let drawn = "return [...document.querySelectorAll('table.answer tbody svg')]\
        .map((bars) => [bars.querySelectorAll('.value-bar').length, bars.querySelectorAll('.whisker').length])";
    assert_eq!(browser.run(drawn), json!([[1, 3], [1, 3]]));
    let first = browser.text("table.answer tbody tr");
    assert!(first.starts_with("Female"), "{first}");

    browser.press("History");
    browser.press("Save as CSV");
    let file = browser.folder.0.join("downloads/history.csv");
    browser.wait("document.querySelector('.history')");
    let mut text = String::new();
    while !text.ends_with("\r\n") {
        // Each round asks the browser: it does not run away from a slow one.
        browser.wait("true");
        text = std::fs::read_to_string(&file).unwrap_or_default();
    }
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[1].contains("\"Female\","), "{text}");
    let cells = "return import('/export.js').then(({ cell }) => \
        ['=1', '+1', '-1', '@a', '\\t1', 'a\"b', '<=50K', -1, null].map(cell))";
    let wanted = json!([
        "\"'=1\"",
        "\"'+1\"",
        "\"'-1\"",
        "\"'@a\"",
        "\"'\t1\"",
        "\"a\"\"b\"",
        "\"<=50K\"",
        "-1",
        ""
    ]);
    assert_eq!(browser.run(cells), wanted);
}

#[test]
fn a_refusal_says_its_numbers_and_charges_nothing() {
    let server = Server::new(&Terms::default());
    let Some(browser) = signed_in(&server, ANA) else {
        return;
    };
    browser.fill(LOSS, "1.5");
    previewed(&browser, "0 times");
    browser.click(SUBMIT);
    browser.wait_for(".answer-place .problem", "The budget does not allow it.");
    let said = browser.text(".answer-place .numbers").replace('\n', " ");
    assert_eq!(
        said.split_whitespace().collect::<Vec<_>>().join(" "),
        "This needs 1.5 Left 1 Spent 0 Limit 1"
    );
    // A smaller one is admitted.
    browser.fill(LOSS, "0.5");
    previewed(&browser, "2 times");
    browser.click(SUBMIT);
    browser.wait_for(".answer-place", "ε 0.5 of the budget is left");
    assert_eq!(server.spent(), "0.5");
}

/// Opens a search. What a threshold of a million more or less says is certain: the noise has a scale of
/// some hundreds, and e^-1000 is below 1e-9.
fn open_search(browser: &Browser, threshold: &str) {
    browser.press("Ask");
    choose(browser, "above_threshold");
    browser.fill("//label[.='Threshold']/following-sibling::input", threshold);
    browser.wait_for(".preview", "Cost");
    browser.click(SUBMIT);
    browser.wait_for(".answer-place", "Search opened, for ε 0.1.");
    browser.wait("!document.querySelector('.ask button[type=submit]').disabled");
    browser.press("Conversations");
    browser.wait_for(".card", &format!("threshold = {threshold},"));
}

fn ask_card(browser: &Browser, card: usize, question: &str) {
    browser.fill(&format!("(//article)[{card}]//input"), question);
    browser.click(&format!("(//article)[{card}]//form//button"));
    browser.wait(&format!(
        "!document.querySelectorAll('article')[{}].querySelector('button[type=submit]').disabled \
         || document.querySelectorAll('article')[{0}].classList.contains('ended')",
        card - 1
    ));
}

#[test]
fn two_searches_are_asked_in_turn() {
    let server = Server::new(&Terms::default());
    let Some(browser) = signed_in(&server, ANA) else {
        return;
    };
    open_search(&browser, "1000000");
    open_search(&browser, "-1000000");
    ask_card(&browser, 1, "age > 30");
    ask_card(&browser, 2, "age > 31");
    ask_card(&browser, 1, "age > 32");
    ask_card(&browser, 1, "age > 34");
    let said = "return [...document.querySelectorAll('article')].map((card) => \
        [...card.querySelectorAll('.log li')].map((line) => `${line.value} ${line.innerText}`))";
    let below = |number: u32, age: u32| format!("{number} age > {age} ✗ below the threshold");
    assert_eq!(
        browser.run(said),
        json!([
            [below(0, 30), below(1, 32), below(2, 34)],
            ["0 age > 31 ✓ above the threshold"]
        ])
    );
    // One hit was paid for.
    assert_eq!(
        browser.run(
            "return document.querySelectorAll('article')[1].querySelector('.state').innerText"
        ),
        "Ended: it has given all its answers"
    );
    assert_eq!(server.spent(), "0.2");
    // It stays to be read, and takes no more questions, until somebody removes it.
    let form = "return document.querySelectorAll('article')[1].querySelector('form').hidden";
    assert_eq!(browser.run(form), true);
    let open = || {
        server
            .get(ANA, "/v1/children")
            .json
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(open(), 2);
    browser.click("(//article)[2]//button[.='Remove']");
    browser.wait("document.querySelectorAll('article').length === 1");
    assert_eq!(open(), 1);
    browser.click("(//article)[1]//button[.='Close']");
    browser.wait_for("article", "Closed. What it cost stands.");
    assert_eq!(open(), 0);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// The same search is asked from a terminal until its end: the page says that, and goes on from there.
#[test]
fn a_search_that_was_asked_elsewhere_is_caught_up_with() {
    let server = Server::new(&Terms::default());
    let Some(browser) = signed_in(&server, ANA) else {
        return;
    };
    open_search(&browser, "-1000000");
    let children = server.get(ANA, "/v1/children").json;
    let child = children[0]["child"].as_str().unwrap();
    let path = format!("/v1/children/{child}/ask");
    assert_eq!(
        server.post(ANA, &path, &ask(0, "age > 30")).json["exhausted"],
        true
    );
    ask_card(&browser, 1, "age > 31");
    browser.wait_for(
        "article .problem",
        "this number was used for another question",
    );
    browser.wait_for("article .state", "Ended: it has given all its answers");
    assert_eq!(server.spent(), "0.1");
}

/// Everything in the vocabulary is asked by clicking.
#[test]
fn choices_weights_and_counts_over_time_are_asked() {
    let server = Server::new(&Terms {
        budget: r#"{ epsilon = "10" }"#,
        ..Terms::default()
    });
    let Some(browser) = signed_in(&server, ANA) else {
        return;
    };
    browser.fill(LOSS, "1");
    // With ε = 1 a group with 1700 people fewer is chosen with probability below e^-800.
    choose(&browser, "largest");
    browser.click("//label[contains(., 'sex')]/input");
    browser.wait_for(".preview", "Error bar");
    browser.click(SUBMIT);
    browser.wait_for(".answer-place .large", "Male");
    choose(&browser, "quantiles");
    browser.fill(
        "//label[.='Quantiles']/following-sibling::input",
        "1/4, 1/2",
    );
    browser.wait_for(".preview", "Error bar");
    browser.click(SUBMIT);
    browser.wait("document.querySelectorAll('.answer-place .chosen li').length === 2");
    for (kind, edge) in [
        ("multiplicative_weights", "sex = 'Male'"),
        ("continual_count", "2"),
    ] {
        browser.press("Ask");
        choose(&browser, kind);
        browser.wait_for(".preview", "Cost");
        browser.click(SUBMIT);
        browser.wait_for(".answer-place", "opened, for ε 1.");
        browser.wait("!document.querySelector('.ask button[type=submit]').disabled");
        browser.press("Conversations");
        let card = format!("article[data-kind={kind}]");
        browser.wait_for(&card, "Open");
        let place = format!("//article[@data-kind='{kind}']");
        browser.fill(&format!("{place}//input"), edge);
        browser.click(&format!("{place}//form//button"));
        browser.wait_for(&format!("{card} .log li"), "about ");
    }
    // The same as text, and back.
    browser.press("Ask");
    for kind in [
        "largest",
        "quantiles",
        "multiplicative_weights",
        "continual_count",
        "filter",
    ] {
        choose(&browser, kind);
        browser.press("As text");
        let text = browser.run("return document.querySelector('textarea').value");
        browser.press("By clicking");
        let shown = "return document.querySelector('.question select').value";
        assert_eq!(browser.run(shown), *kind, "{text}");
    }
    browser.press("History");
    browser.wait_for(".history", "Question to: Count over time");
    assert_eq!(server.spent(), "4");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Launches may be stated in another measure than the budget.
#[test]
fn a_budget_under_another_rule_is_shown() {
    let server = Server::new(&Terms {
        budget: "{ epsilon = \"1\", delta = \"1e-6\" }\nrule = \"concentrated\"",
        ben: "{}",
        ..Terms::default()
    });
    let Some(browser) = signed_in(&server, ANA) else {
        return;
    };
    let said = browser.text(".budget");
    assert!(said.contains("0 spent of 1"), "{said}");
    assert!(
        said.contains("The largest launch that fits: ρ 0.0"),
        "{said}"
    );
    assert!(
        said.contains("Losses add up by the rule concentrated."),
        "{said}"
    );
    let noise = "return document.querySelector('option[value=rho]').parentElement.value";
    assert_eq!(browser.run(noise), "rho");
    browser.fill(LOSS, "0.001");
    browser.wait_for(".preview", "ρ 0.001");
    browser.click(SUBMIT);
    browser.wait_for(".answer-place", "Cost ρ 0.001; ρ 0.0");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_restart_in_the_middle_loses_no_charge_and_is_explained() {
    let mut server = Server::new(&Terms::default());
    // The page belongs to an address: the server must come back there.
    let file = server.file();
    let config = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, config.replace("127.0.0.1:0", &server.address)).unwrap();
    let Some(browser) = signed_in(&server, ANA) else {
        return;
    };
    open_search(&browser, "1000000");
    ask_card(&browser, 1, "age > 30");
    browser.press("Ask");
    choose(&browser, "count");
    previewed(&browser, "9 times");
    server.kill();
    browser.click(SUBMIT);
    browser.wait_for("#notice", "nothing is charged twice");
    server.start();
    browser.wait_for(".answer-place", "Cost ε 0.1; ε 0.8 of the budget is left.");
    assert_eq!(server.spent(), "0.2");
    browser.press("Conversations");
    ask_card(&browser, 1, "age > 31");
    browser.wait_for("article .problem", "What they cost stands.");
    assert_eq!(browser.text("article .state"), "Gone");
    // What was said before can still be read.
    assert_eq!(
        browser.text("article .log"),
        "age > 30 ✗ below the threshold"
    );
}

#[test]
fn text_is_never_read_as_markup() {
    let server = Server::new(&Terms::default());
    let Some(browser) = signed_in(&server, ANA) else {
        return;
    };
    browser.fill(WHERE, "<img src=x onerror=alert(1)>");
    browser.wait("document.querySelector('.preview .problem')");
    browser.click(SUBMIT);
    browser.wait_for(".answer-place pre", "<img src=x onerror=alert(1)>");
    browser.press("History");
    browser.wait_for(".history", "<img src=x onerror=alert(1)>");
    assert_eq!(browser.run("return document.images.length"), 0);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    // The policy holds even if a script tries.
    let tried = "try { document.body.innerHTML = '<b>'; return 'done' } catch (error) { return error.name }";
    assert_eq!(browser.run(tried), "TypeError");
}

#[test]
fn every_view_fits_a_narrow_window_and_every_control_has_a_name() {
    let server = Server::new(&Terms::default());
    let Some(browser) = signed_in(&server, ANA) else {
        return;
    };
    open_search(&browser, "1000000");
    let size = json!({"width": 320, "height": 700, "deviceScaleFactor": 1, "mobile": false});
    browser.tools("Emulation.setDeviceMetricsOverride", &size);
    let unnamed = "return [...document.querySelectorAll('input, select, textarea')]\
        .filter((control) => control.labels.length === 0 && !control.ariaLabel).length";
    for view in ["Ask", "Conversations", "History"] {
        browser.press(view);
        assert_eq!(
            browser.run("return document.documentElement.scrollWidth <= innerWidth"),
            true,
            "{view}"
        );
        assert_eq!(browser.run(unnamed), 0, "{view}");
    }
}

#[test]
fn the_curator_reads_what_was_asked_and_charged() {
    let server = Server::new(&Terms {
        budget: r#"{ epsilon = "1", delta = "1e-6" }"#,
        ben: "{}",
        ..Terms::default()
    });
    let Some(browser) = Browser::start() else {
        return;
    };
    server.post(ANA, RELEASE, &count("age > 30", "0.1"));
    browser.open(&server.address);
    sign_in(&browser, CURATOR);
    browser.wait_for(".budget", "0.9 left of 1");
    browser.press("Read the record");
    browser.wait_for(".record", "age > 30");
    let said = browser.text(".record");
    // A loss of two numbers; and what is for programs is not shown.
    assert!(said.contains("ε 0.1, δ 0"), "{said}");
    assert!(
        !said.contains(".json") && !said.contains("object"),
        "{said}"
    );
}

/// WCAG 2.2, 1.4.3: a contrast of at least 4.5 for text, in both schemes.
#[test]
fn colours_have_enough_contrast_in_light_and_dark() {
    let server = Server::new(&Terms::default());
    let Some(browser) = Browser::start() else {
        return;
    };
    browser.open(&server.address);
    let contrasts = "
        const style = getComputedStyle(document.documentElement);
        const luminance = (name) => {
          const text = style.getPropertyValue(name).trim();
          const parts = [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) / 255)
            .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
          return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
        };
        const contrast = ([one, other]) => {
          const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
          return (high + 0.05) / (low + 0.05);
        };
        return [['--ink', '--paper'], ['--ink', '--raised'], ['--quiet', '--paper'], ['--quiet', '--raised'],
          ['--accent', '--paper'], ['--on-accent', '--accent'], ['--wrong', '--wrong-paper'],
          ['--ink', '--wrong-paper'], ['--ink', '--note-paper']].map(contrast)";
    for scheme in ["light", "dark"] {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.tools("Emulation.setEmulatedMedia", &features);
        let contrasts = browser.run(contrasts);
        let contrasts = contrasts.as_array().unwrap().iter();
        let lowest = contrasts
            .map(|contrast| contrast.as_f64().unwrap())
            .fold(21.0, f64::min);
        assert!(lowest >= 4.5, "{scheme}: {lowest}");
    }
    let paper =
        "return getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()";
    assert_eq!(browser.run(paper), "#14191c");
}
