//! Certificates, and the checker that shares no code with the crate.

use std::path::Path;
use std::process::Command;

use crate::support::*;
use queryables::number::Epsilon;
use queryables::privacy::{ApproxDp, EpsilonDelta, PureDp, Rdp};
use queryables::verify::{Certificate, Checkable, Children, Pair, Verifier, copies_of};

/// Runs the checker; `None` where there is no Python.
fn checked(certificate: &str, name: &str) -> Option<Result<String, String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = std::env::temp_dir().join(format!("queryables-{}-{name}.json", std::process::id()));
    std::fs::write(&file, certificate).unwrap();
    let output = Command::new("python3")
        .arg(root.join("spec/check_certificate.py"))
        .arg(&file)
        .output()
        .ok();
    std::fs::remove_file(&file).unwrap();
    let output = output?;
    let said = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    Some(if output.status.success() {
        Ok(said)
    } else {
        Err(said)
    })
}

/// Asserts what the checker says, where it can be run.
#[track_caller]
fn assert_checked(certificate: &str, name: &str, expected: Result<&str, &str>) {
    if let Some(said) = checked(certificate, name) {
        let said = said.as_deref().map_err(String::as_str);
        let begins = |said: &str, expected: &str| said.starts_with(expected);
        assert!(
            match (said, expected) {
                (Ok(said), Ok(expected)) | (Err(said), Err(expected)) => begins(said, expected),
                _ => false,
            },
            "{name}: {said:?}, not {expected:?}: {certificate}"
        );
    }
}

fn certified<Me: Checkable>(measure: &Me, loss: &Me::Loss, depth: usize) -> Certificate {
    let respond = Respond {
        odds: 3,
        answers: 2,
    };
    let pair = Pair::new(false, true);
    let verifier = Verifier::by_state(copies_of(&respond), &pair, vec![()], depth);
    verifier.certify(measure, loss).unwrap().1.unwrap()
}

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

const REFUTED: Result<&str, &str> = Ok("not private: ");
const PROVED: Result<&str, &str> = Ok("private: ");

#[test]
fn verdicts_are_checked_by_another_program() {
    // Two answers at odds of three: ln 9 = 2.197, and a little more or less.
    let pure = |text| certified(&PureDp, &epsilon(text), 2).to_string();
    assert_checked(&pure("2.198"), "pure", PROVED);
    assert_checked(&pure("2.197"), "pure-less", REFUTED);
    // δ(1) = 9/16 - e/16 = 0.3926.
    let approx = |delta| {
        let loss = EpsilonDelta::new("1", delta).unwrap();
        certified(&ApproxDp, &loss, 3).to_string()
    };
    assert_checked(&approx("0.3927"), "approx", PROVED);
    assert_checked(&approx("0.3926"), "approx-less", REFUTED);
    // D_2 of one answer is ln(7/3) = 0.8473.
    let renyi = |text| certified(&Rdp::new("2".parse().unwrap()), &epsilon(text), 1).to_string();
    assert_checked(&renyi("0.8473"), "renyi", PROVED);
    assert_checked(&renyi("0.8472"), "renyi-less", REFUTED);
}

#[test]
fn a_filter_has_a_certificate() {
    let filter = pure_filter::<Respond>(ln(3));
    let pair = Pair::new(false, true);
    let menu = Children::new(vec![once(3)], vec![()]);
    let verifier = Verifier::by_state(copies_of(&filter), &pair, menu, 3);
    let (verdict, certificate) = verifier.certify(&PureDp, &ln(3)).unwrap();
    assert!(verdict.holds());
    assert_checked(&certificate.unwrap().to_string(), "filter", PROVED);
}

/// Replaces the first occurrence, which must be there.
#[track_caller]
fn tampered(certificate: &str, from: &str, to: &str) -> String {
    assert!(certificate.contains(from), "no {from} in {certificate}");
    certificate.replacen(from, to, 1)
}

#[test]
fn tampered_certificates_are_refused() {
    let proof = certified(&PureDp, &epsilon("2.198"), 2).to_string();
    let refutation = certified(&PureDp, &epsilon("2.197"), 2).to_string();
    let refused = |certificate: &str, why: &str| {
        let refused = format!("refused: {why}");
        assert_checked(certificate, "tampered", Err(&refused));
    };
    // The claim.
    refused(&tampered(&proof, "2.198", "2.197"), "the claim is exceeded");
    refused(
        &tampered(&refutation, "2.197", "2.198"),
        "the strategy does not exceed the claim",
    );
    // The probabilities.
    refused(
        &tampered(&proof, "[\"9/16\", \"1/16\"]", "[\"9/16\", \"2/16\"]"),
        "the answers have more probability than their query",
    );
    refused(
        &tampered(&proof, "[\"9/16\", \"1/16\"]", "[\"8/16\", \"1/16\"]"),
        "the answers have less probability",
    );
    refused(
        &tampered(&proof, "[\"9/16\", \"1/16\"]", "[\"-9/16\", \"1/16\"]"),
        "a probability is negative",
    );
    refused(
        &tampered(&refutation, "\"9/16\"", "\"15/16\""),
        "more than certain",
    );
    // What was asked.
    let depth = tampered(&proof, "\"depth\": 2", "\"depth\": 3");
    refused(&depth, "a point without queries before the end");
    let depth = tampered(&proof, "\"depth\": 2", "\"depth\": 1");
    refused(&depth, "the tree is deeper than it may be");
    let depth = tampered(&refutation, "\"depth\": 2", "\"depth\": 1");
    refused(&depth, "the strategy asks more often than it may");
    let menu = tampered(&proof, "\"menu\": [\"()\"]", "\"menu\": [\"()\", \"more\"]");
    refused(&menu, "a query of the menu is missing");
    // The answers.
    let twice = tampered(&refutation, "Ok(true)", "Ok(false)");
    refused(&twice, "an answer is there twice");
    // The direction, where the two are not alike: here both are, so that only a wrong word fails.
    let direction = tampered(&refutation, "\"forward\"", "\"sideways\"");
    refused(&direction, "an unknown direction");
    // The verdict, and the format.
    refused(&tampered(&refutation, "not private", "private"), "'goals'");
    refused(
        &tampered(&proof, "certificate 1", "certificate 2"),
        "an unknown format",
    );
}
