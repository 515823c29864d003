//! Certificates, and the checker that shares no code with the crate.

use std::fmt::Debug;
use std::hash::Hash;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::*;
use queryables::data::Predicate;
use queryables::machine::{Coins, Fault, Machine, Mechanism, Released};
use queryables::mechanisms::{AboveThreshold, Choice, CountScores, NoisyMax};
use queryables::noise::DiscreteLaplace;
use queryables::number::{Epsilon, Ratio};
use queryables::privacy::{AddRemove, ApproxDp, EpsilonDelta, PureDp, Rdp, Replace};
use queryables::verify::{
    Checkable, Children, Menu, Pair, Rational, Verifier, copies_of, epsilon_of_ratio,
};

/// Runs the checker; `None` where there is no Python, which is a failure in CI.
pub(crate) fn checked(certificate: &str, name: &str) -> Option<Result<String, String>> {
    // Tests run at the same time.
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let (process, number) = (std::process::id(), FILES.fetch_add(1, Ordering::Relaxed));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = std::env::temp_dir().join(format!("queryables-{process}-{number}-{name}.json"));
    std::fs::write(&file, certificate).unwrap();
    let output = Command::new("python3")
        .arg(root.join("spec/check_certificate.py"))
        .arg(&file)
        .output()
        .ok();
    std::fs::remove_file(&file).unwrap();
    let Some(output) = output else {
        assert!(std::env::var_os("CI").is_none(), "python3 is missing");
        println!("skipped: python3 is missing, so that {name} was not checked");
        return None;
    };
    let said = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    Some(if output.status.success() {
        Ok(said)
    } else {
        Err(said)
    })
}

/// Asserts why the checker refuses, or how what it says begins, where it can be run.
#[track_caller]
pub(crate) fn assert_checked(certificate: &str, name: &str, expected: Result<&str, &str>) {
    if let Some(said) = checked(certificate, name) {
        let said = said.as_deref().map_err(String::as_str);
        assert!(
            match (said, expected) {
                (Ok(said), Ok(expected)) => said.starts_with(expected),
                (Err(said), Err(expected)) => said == expected,
                _ => false,
            },
            "{name}: {said:?}, not {expected:?}: {certificate}"
        );
    }
}

pub(crate) fn certified<Me: Checkable>(measure: &Me, loss: &Me::Loss, depth: usize) -> String {
    let respond = Respond {
        odds: 3,
        answers: 2,
    };
    let pair = Pair::new(false, true);
    let verifier = Verifier::by_state(copies_of(&respond), &pair, vec![()], depth);
    verifier.certify(measure, loss).unwrap().1.unwrap()
}

pub(crate) fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

pub(crate) const REFUTED: Result<&str, &str> = Ok("not private: ");
pub(crate) const PROVED: Result<&str, &str> = Ok("private: ");

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
    assert_checked(&certificate.unwrap(), "filter", PROVED);
}

/// Certifies that this claim holds and that less is refuted; the checker agrees with both, and takes
/// neither for the other claim.
#[track_caller]
pub(crate) fn assert_certified<Q, A, N, M>(
    verifier: &Verifier<Q, A, N, M>,
    name: &str,
    claim: &str,
    less: &str,
) where
    Q: Clone + Debug + Send + Sync + 'static,
    A: Clone + Debug + Eq + Hash + Send + Sync + 'static,
    N: Menu<Q, A>,
{
    let certify = |text: &str| {
        let (verdict, certificate) = verifier.certify(&PureDp, &epsilon(text)).unwrap();
        (verdict, certificate.unwrap())
    };
    let named = |text: &str| format!("\"epsilon\": \"{text}\"");
    let (verdict, proof) = certify(claim);
    assert!(verdict.holds(), "{verdict}");
    assert_checked(&proof, name, PROVED);
    let exceeded = tampered(&proof, &named(claim), &named(less));
    assert_checked(&exceeded, name, Err("refused: the claim is exceeded"));
    let (verdict, refutation) = certify(less);
    assert!(verdict.is_refuted(), "{verdict}");
    assert_checked(&refutation, name, REFUTED);
    let kept = tampered(&refutation, &named(less), &named(claim));
    let refused = Err("refused: the strategy does not exceed the claim");
    assert_checked(&kept, name, refused);
}

/// Where noise is compared, probabilities are known up to what is beyond what is listed.
#[test]
fn compared_noise_has_certificates() {
    let is = |value| Predicate::new(format!("is {value}"), move |row: &u8| *row == value);
    let votes = Pair::new(vec![7_u8, 7], vec![7, 8]);
    let max = Choice::by(
        Replace,
        NoisyMax,
        CountScores::of([is(7), is(8)]),
        epsilon("1"),
    )
    .unwrap();
    let verifier = Verifier::new(copies_of(&max), &votes, vec![()], 1);
    assert_certified(&verifier, "max", "1", "0.5");
    let search: AboveThreshold<_> = AboveThreshold::new(AddRemove, 2, 1, epsilon("2")).unwrap();
    let counts = Pair::new(vec![7, 8], vec![7, 7, 8]);
    let menu = vec![is(7), is(8)];
    let verifier = Verifier::by_state(copies_of(&search), &counts, menu, 2);
    assert_certified(&verifier, "search", "2", "0.8");
    // What is decided only at a smaller cut has the tree of that cut.
    let at = |cut| Verifier::new(copies_of(&max), &votes, vec![()], 1).cut(cut);
    let most = |cut| at(cut).worst_ratio().unwrap().value.high().unwrap().clone();
    let (rough, fine) = (most(ratio(1, 10)), most(ratio(1, 1 << 30)));
    assert!(fine < rough);
    let between = epsilon_of_ratio(&((fine + rough) / Rational::from(2_u8))).unwrap();
    assert_certified(&at(ratio(1, 10)), "deeper", &between.to_string(), "0.5");
    // A leak that is less probable than what is not listed of all the rest.
    let verifier = Verifier::new(|| TellsAbove(15), &counts, vec![()], 1);
    let (verdict, refutation) = verifier.certify(&PureDp, &epsilon("20")).unwrap();
    assert!(verdict.is_refuted(), "{verdict}");
    let refutation = refutation.unwrap().to_string();
    assert_checked(&refutation, "leak", REFUTED);
    // If something was cut, it could be where the leak is.
    let cut = tampered(&refutation, "\"cut\": \"0\"", "\"cut\": \"1/1000\"");
    let refused = Err("refused: the strategy does not exceed the claim");
    assert_checked(&cut, "leak", refused);
}

/// Tells the number of rows where noise is larger than other noise by this.
struct TellsAbove(i128);

impl Mechanism<Vec<u8>> for TellsAbove {
    type Machine = Released<Option<usize>>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let law = DiscreteLaplace::new(Ratio::from(1)).unwrap();
        let [noise, other] = [coins.noise(&law)?, coins.noise(&law)?];
        let above = coins.at_least((0, &noise), (self.0, &other));
        Ok(Released(above.then_some(data.len())))
    }
}

/// Replaces the first occurrence, which must be there.
#[track_caller]
pub(crate) fn tampered(certificate: &str, from: &str, to: &str) -> String {
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
    let mass = |to| tampered(&proof, "[\"1\", \"1/9\"]", to);
    refused(
        &mass("[\"1\", \"2/9\"]"),
        "the answers have more probability than their query",
    );
    let less = "the answers have less probability";
    refused(&mass("[\"8/9\", \"1/9\"]"), less);
    let negative = "a negative probability, or wrong bounds";
    refused(&mass("[\"-1\", \"1/9\"]"), negative);
    refused(&mass("[[\"1\", \"0\"], \"1/9\"]"), negative);
    refused(
        &tampered(&refutation, "\"9/16\"", "\"15/16\""),
        "more than certain",
    );
    refused(
        &tampered(&refutation, "\"9/16\"", "\"8/16\""),
        "less than certain",
    );
    // What was asked.
    for depth in ["1", "3"] {
        let depth = tampered(&proof, "\"depth\": 2", &format!("\"depth\": {depth}"));
        refused(&depth, "a point with another number of queries left");
    }
    let depth = tampered(&refutation, "\"depth\": 2", "\"depth\": 1");
    refused(&depth, "the strategy asks more often than it may");
    let again = tampered(
        &refutation,
        "[[\"answer\", \"false\"], {\"ask\": \"()\"",
        "[[\"answer\", \"false\"], {\"ask\": \"start\"",
    );
    let not_on_it = "a query that is not on the menu";
    refused(&again, not_on_it);
    let other = tampered(&refutation, "\"ask\": \"()\"", "\"ask\": \"another\"");
    refused(&other, not_on_it);
    let menu = tampered(&proof, "\"menu\": [\"()\"]", "\"menu\": [\"()\", \"more\"]");
    refused(&menu, "a query of the menu is missing");
    // The answers.
    let named = |text: &str| format!("[\"answer\", \"{text}\"]");
    let twice = tampered(&refutation, &named("true"), &named("false"));
    refused(&twice, "an answer is there twice");
    // The direction, where the two are not alike: here both are, so that only a wrong word fails.
    let direction = tampered(&refutation, "\"forward\"", "\"sideways\"");
    refused(&direction, "an unknown direction");
    // The verdict, and the format.
    refused(&tampered(&refutation, "not private", "private"), "'goals'");
    refused(
        &tampered(&proof, "certificate 3", "certificate 2"),
        "an unknown format",
    );
}

#[test]
fn certificates_of_nothing_are_refused() {
    let proof = certified(&PureDp, &epsilon("2.198"), 2).to_string();
    let refused = |certificate: &str, why: &str| {
        assert_checked(certificate, "nothing", Err(&format!("refused: {why}")));
    };
    // A conversation may end before its depth only by a fault that ends it.
    let points = proof.find("\"points\"").unwrap();
    let head = tampered(&proof[..points], "\"depth\": 2", "\"depth\": 5");
    let named = |(kind, text): (&str, &str)| format!("[\"{kind}\", \"{text}\"]");
    let only = |answer: (&str, &str), points: &str, last: usize| {
        let (none, answer) = ("\"cut\": [\"0\", \"0\"]", named(answer));
        format!(
            "{head}\"points\": [{points}], \"start\": \
             {{\"answers\": [[{answer}, {last}, \"1\"]], {none}}}}}"
        )
    };
    let end = "{\"masses\": [\"1\", \"1\"]}";
    let too_early = "a point without queries before the end";
    let ok = ("answer", "()");
    refused(&only(ok, end, 0), too_early);
    // A machine that did not start is not asked, whatever the fault. If it never starts, or never
    // answers, nothing is proved, unless the two sides differ in that.
    let unanswered = "nothing is answered, and nothing differs";
    refused(&only(("end", "Exhausted"), end, 0), unanswered);
    let after = |answer: (&str, &str)| {
        let answer = named(answer);
        let point = format!(
            "{end}, {{\"masses\": [\"1\", \"1\"], \"left\": 5, \"queries\": [{{\"ask\": \"()\", \
             \"answers\": [[{answer}, 0, \"1\"]], \"cut\": [\"0\", \"0\"]}}]}}"
        );
        only(ok, &point, 1)
    };
    refused(&after(("answer", "true")), too_early);
    refused(&after(("fault", "Exhausted")), too_early);
    refused(&after(("end", "Failed")), unanswered);
    refused(&after(("end", "RoundLimit(7)")), unanswered);
    // The kind decides, and not what the text begins with.
    refused(&after(("answer", "Err(Failed)")), too_early);
    refused(&after(("fault", "FailedToo")), too_early);
    refused(&after(("Err(Failed", "")), "an unknown kind of answer");
    // The menu.
    let menu = "\"menu\": [\"()\"], ";
    let point = "{\"masses\": [\"1\", \"1\"], \"left\": 5, \"queries\": []}";
    let nothing = only(ok, point, 0);
    refused(&nothing, "a query of the menu is missing");
    refused(&tampered(&nothing, menu, ""), "'menu'");
    let empty = tampered(&nothing, menu, "\"menu\": [], ");
    refused(&empty, "an empty menu asks nothing");
    let changes = tampered(
        &nothing,
        "\"menu changes\": \"no\"",
        "\"menu changes\": \"yes\"",
    );
    refused(&changes, "nothing is asked at the start");
    // The depth.
    let depth = tampered(&proof, "\"depth\": 2", "\"depth\": 0");
    refused(&depth, "a depth of 0 asks nothing");
    let depth = tampered(&proof, "\"depth\": 2", "\"depth\": true");
    refused(&depth, "a depth of 0 asks nothing");
    let twice = tampered(&proof, "\"depth\": 2", "\"depth\": 9, \"depth\": 2");
    refused(&twice, "a key is there twice");
    // The sides; two that are shown in short may begin alike.
    let same = tampered(&proof, "[\"false\", \"true\"]", "[\"true\", \"true\"]");
    refused(&same, "the two sides are the same");
    let short = tampered(&proof, "[\"false\", \"true\"]", "[\"1…\", \"1…\"]");
    assert_checked(&short, "short", PROVED);
    // The claim.
    let goal = "[{\"kind\": \"ratio\", \"epsilon\": \"2.198\"}]";
    refused(&tampered(&proof, goal, "[]"), "no goal");
    let loss = EpsilonDelta::new("1", "0.3927").unwrap();
    let approx = certified(&ApproxDp, &loss, 3).to_string();
    let all = tampered(&approx, "\"delta\": \"0.3927\"", "\"delta\": \"1\"");
    refused(&all, "a delta of 1 or more allows everything");
}

/// Says a bit as often as it is asked, in words that look like a fault that ends a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct LooksFailed(bool);

impl Debug for LooksFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0 {
            "Err(FailedToo)"
        } else {
            "Err(Failed)"
        })
    }
}

impl Mechanism<bool> for LooksFailed {
    type Machine = Self;

    fn start(&self, bit: &Arc<bool>, _: &mut Coins<'_>) -> Result<Self, Fault> {
        Ok(Self(**bit))
    }
}

impl Machine for LooksFailed {
    type Query = ();
    type Answer = Self;

    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<Self, Fault> {
        Ok(Self(self.0 ^ (coins.weighted(&[3, 1])? == 1)))
    }
}

/// One answer is ln 3 = 1.0986, and two are twice that.
#[test]
fn an_answer_that_looks_like_a_failure_ends_no_conversation() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::by_state(|| LooksFailed(false), &pair, vec![()], 2);
    assert_certified(&verifier, "looks-failed", "2.198", "2.197");
    // A proof that stops after the first answer would be one of half the loss.
    let once = Verifier::by_state(|| LooksFailed(false), &pair, vec![()], 1);
    let (_, proof) = once.certify(&PureDp, &epsilon("1.1")).unwrap();
    let proof = proof.unwrap().to_string();
    assert_checked(&proof, "looks-failed-once", PROVED);
    let deeper = proof.replace("\"depth\": 1", "\"depth\": 5");
    let deeper = deeper.replace("\"left\": 1", "\"left\": 5");
    let early = Err("refused: a point without queries before the end");
    assert_checked(&deeper, "looks-failed-deeper", early);
}

#[test]
fn the_checker_says_what_it_checked() {
    let pure = |text| certified(&PureDp, &epsilon(text), 2).to_string();
    let scope = "; depth 2, 1 on the menu, false against true";
    for (claim, begins) in [("2.198", PROVED), ("2.197", REFUTED)] {
        if let Some(said) = checked(&pure(claim), "scope") {
            let said = said.unwrap();
            assert!(said.starts_with(begins.unwrap()), "{said}");
            let ends = format!(" exceeds ratio {claim}{scope}");
            assert!(said.ends_with(&ends), "{said}");
        }
    }
}

/// One answer of two, with these probabilities on one side, and the other way round on the other.
fn two_answers(one: &str, other: &str, epsilon: &str) -> [String; 2] {
    let goal = format!("{{\"kind\": \"renyi\", \"order\": 2, \"epsilon\": \"{epsilon}\"}}");
    let head = "\"format\": \"queryables certificate 3\", \"sides\": [\"false\", \"true\"], \
                \"depth\": 1, \"menu\": [\"()\"]";
    let masses =
        [[one, other], [other, one]].map(|[p, q]| format!("\"masses\": [\"{p}\", \"{q}\"]"));
    let [false_, true_] = &masses;
    let cut = "\"cut\": [\"0\", \"0\"]";
    let proof = format!(
        "{{{head}, \"verdict\": \"private\", \"menu changes\": \"no\", \"goals\": [{goal}], \
         \"points\": [{{{false_}}}, {{{true_}}}, {{\"masses\": [\"1\", \"1\"], \"left\": 1, \
         \"queries\": [{{\"ask\": \"()\", {cut}, \"answers\": [[[\"answer\", \"false\"], 0, \"1\"], \
         [[\"answer\", \"true\"], 1, \"1\"]]}}]}}], \
         \"start\": {{\"answers\": [[[\"answer\", \"()\"], 2, \"1\"]], {cut}}}}}"
    );
    let refutation = format!(
        "{{{head}, \"verdict\": \"not private\", \"goal\": {goal}, \"direction\": \"forward\", \
         \"cut\": \"0\", \"tree\": {{\"ask\": \"start\", \"answers\": [[[\"answer\", \"()\"], {{\"ask\": \"()\", \
         \"answers\": [[[\"answer\", \"false\"], {{{false_}}}], [[\"answer\", \"true\"], {{{true_}}}]]}}]]}}}}"
    );
    [proof, refutation]
}

#[test]
fn a_claim_is_never_both_proved_and_refuted() {
    // D_2 = 4e-10: less than the tolerance, and more than nothing.
    let [proof, refutation] = two_answers("0.500005", "0.499995", "0");
    let within = Err("refused: the claim is exceeded within the tolerance");
    assert_checked(&proof, "within", within);
    assert_checked(&refutation, "within-refuted", REFUTED);
    // With a larger claim it is the other way round.
    let [proof, refutation] = two_answers("0.500005", "0.499995", "4.1e-10");
    assert_checked(&proof, "larger", PROVED);
    let less = Err("refused: the strategy does not exceed the claim");
    assert_checked(&refutation, "larger-refuted", less);
    // Nothing that can be told is exceeded here, and only the tolerance allows it.
    let [proof, _] = two_answers("1/2", "1/2", "0");
    let vague = proof.replace(
        "[\"1/2\", \"1/2\"]",
        "[[\"0.5\", \"0.5000000001\"], \"0.5\"]",
    );
    if let Some(said) = checked(&vague, "vague") {
        let said = said.unwrap();
        assert!(
            said.contains(" 0, up to 1e-9 in epsilon; depth 1"),
            "{said}"
        );
    }
}
