//! Which method finds what. Audits have a seed: they end the same way each time.

use corpus::{Method, Says, all};

const TABLE: &str = "\
noisy_max_value finds finds -
scale_upside_down finds finds -
float_laplace finds finds -
precision_of_floats finds finds -
finite_sampler finds passes -
float_sum finds finds -
clipped_after_averaging finds finds -
replaced_row finds finds finds
one_draw_for_all_groups finds finds -
overflow_is_told finds finds -
clamped_before_the_expression finds finds -
bounds_of_squares finds finds -
no_bounds_no_noise finds finds -
sum_of_two_columns finds finds -
noise_from_the_data finds finds -
public_number_of_rows finds finds -
atom_at_the_threshold finds finds finds
threshold_rounded_down finds finds finds
keys_without_a_bound finds finds -
permute_and_flip_as_exponential finds passes finds
failed_child_not_charged finds finds -
charged_after_running finds finds -
negative_loss finds finds -
runs_without_a_price finds finds -
reversed_comparison finds finds -
budget_tells finds finds -
svt_without_query_noise finds finds -
svt_without_cutoff finds passes -
svt_noise_for_one_hit finds passes -
svt_tells_the_compared_value finds passes -
conversion_to_pdp - - finds
drift_of_delta - - finds
stopping_when_it_looks_bad - - finds
classical_gaussian finds passes finds
";

fn letter(method: Option<Method>) -> &'static str {
    match method.map(|method| method.broken) {
        Some(Says::Refutes) => "finds",
        Some(Says::Passes) => "passes",
        Some(Says::Undecided) => "undecided",
        None => "-",
    }
}

/// A repaired machine is never found; where the verifier is asked, it proves the claim.
#[test]
fn every_bug_is_found_and_no_repaired_machine_is() {
    let mut table = String::new();
    for bug in all() {
        let found = bug.find().unwrap();
        let methods = [found.verify, found.audit, found.reference];
        for method in methods.iter().flatten() {
            assert_eq!(method.repaired, Says::Passes, "{}", bug.name);
        }
        let refuted = |method: &Option<Method>| method.is_some_and(|m| m.broken == Says::Refutes);
        assert!(methods.iter().any(refuted), "{}", bug.name);
        let [verify, audit, reference] = methods.map(letter);
        table += &format!("{} {verify} {audit} {reference}\n", bug.name);
    }
    assert_eq!(table, TABLE);
}

#[test]
fn every_bug_is_described_and_there_are_at_least_twenty() {
    let bugs = all();
    assert!(bugs.len() >= 20, "{}", bugs.len());
    for (at, bug) in bugs.iter().enumerate() {
        let texts = [bug.name, bug.claim, bug.wrong, bug.source];
        assert!(texts.iter().all(|text| !text.is_empty()), "{}", bug.name);
        assert!(
            bug.source.contains("http") || bug.source.contains("20"),
            "{}",
            bug.name
        );
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bugs/");
        assert!(std::path::Path::new(&format!("{file}{}.rs", bug.name)).exists());
        assert!(bugs[..at].iter().all(|other| other.name != bug.name));
    }
}
