//! Profiles, by the parameters of their noise.

use queryables::privacy::Prices;
use queryables::privacy::facts::Gaussian;
use queryables::privacy::fdp::{FDp, Grid, Profile, RepeatedMechanism, Repetitions};

use super::{number, pair, refused, round};

#[test]
fn profiles_are_the_parameters_of_their_noise() {
    round(
        Profile::gaussian(number("0.5")),
        r#"{"gaussian":{"mu":"0.5"}}"#,
    );
    round(
        Profile::approx_dp(pair("0.1", "1e-9")),
        r#"{"approx_dp":{"epsilon":"0.1","delta":"1e-9"}}"#,
    );
    round(
        Profile::bounded_range(number("0.1")),
        r#"{"bounded_range":{"epsilon":"0.1"}}"#,
    );
    round(
        Profile::laplace(number("0.1")),
        r#"{"laplace":{"epsilon":"0.1"}}"#,
    );
    round(
        Profile::discrete_laplace(number("0.2"), 2),
        r#"{"discrete_laplace":{"epsilon":"0.2","steps":2}}"#,
    );
    round(
        Profile::rounded_gaussian(number("3"), 1),
        r#"{"rounded_gaussian":{"sigma":"3","steps":1}}"#,
    );
    let counts = [
        (Gaussian::CountMu(number("3")), r#"{"mu":"3"}"#),
        (Gaussian::CountRho(number("5.5")), r#"{"rho":"5.5"}"#),
    ];
    for (count, written) in counts {
        let profile = FDp.price(&count).unwrap();
        round(profile, &format!(r#"{{"rounded_count":{written}}}"#));
    }
    let corners = [
        (number("0.1"), number("0.5")),
        (number("0.4"), number("0.1")),
    ];
    let polygon = Profile::from_trade_off(&corners).unwrap();
    round(
        polygon.clone(),
        r#"{"trade_off":{"corners":[["0.1","0.5"],["0.4","0.1"]]}}"#,
    );
    let sampled = Profile::sampled_gaussian_by(number("0.01"), number("1"));
    let written = r#"{"sampled":{"rate":"0.01","base":{"gaussian":{"mu":"1"}}}}"#;
    round(sampled.clone(), written);
    round(
        Profile::sampled_replacement(number("0.01"), number("1")),
        r#"{"sampled_replacement":{"rate":"0.01","mu":"1"}}"#,
    );
    round(sampled.reversed(), &format!(r#"{{"reversed":{written}}}"#));
    round(
        sampled.symmetrised(),
        &format!(r#"{{"worst":[{written},{{"reversed":{written}}}]}}"#),
    );
    round(
        RepeatedMechanism::new(sampled),
        &format!(r#"{{"measure":"RepeatedMechanism","base":{written}}}"#),
    );
    round(Repetitions(7), "7");
    refused::<Profile>(
        r#"{"trade_off":{"corners":[["0.5","0.75"]]}}"#,
        "not a trade-off function at corner 0: β is more than 1 − α",
    );
    refused::<Profile>(
        r#"{"sampled":{"rate":"0.1","base":{"reversed":{"laplace":{"epsilon":"1"}}}}}"#,
        "only a profile with parameters of its own can be sampled",
    );
    refused::<Profile>(
        r#"{"worst":[{"laplace":{"epsilon":"1"}}]}"#,
        "the worst is that of two profiles",
    );
    refused::<Profile>(
        r#"{"worst":[{"laplace":{"epsilon":"1"}},{"laplace":{"epsilon":"1"}}]}"#,
        "the worst of two equal profiles is each of them",
    );
    refused::<Profile>(r#"{"gaussian":{"mu":"-1"}}"#, "mu must not be negative");
}

/// Tables are computed again, from what they were composed of.
#[test]
fn a_profile_on_a_grid_is_not_written() {
    let grid = Grid::new(number("0.01")).unwrap();
    let composed = Profile::laplace(number("0.1")).power(3, &grid).unwrap();
    assert_eq!(
        serde_json::to_string(&composed).unwrap_err().to_string(),
        "a profile on a grid is not stored: store what it was composed of"
    );
}
