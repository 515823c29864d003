//! Profiles, by the parameters of their noise.

use queryables::account::profiles::{Gaussians, InProfiles, List, Menu, Powers};
use queryables::privacy::Prices;
use queryables::privacy::facts::Gaussian;
use queryables::privacy::fdp::{FDp, Grid, Profile, RepeatedMechanism, Repetitions};

use super::{IMPOSSIBLE, continues, damaged, number, pair, read, refused, round};

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
fn a_profile_on_a_grid_is_what_it_was_composed_of() {
    let grid = Grid::new(number("0.01")).unwrap();
    let (laplace, gaussian) = (
        Profile::laplace(number("0.1")),
        Profile::gaussian(number("0.5")),
    );
    let written =
        r#"{"product":{"grid":{"step":"0.01"},"parts":[[{"laplace":{"epsilon":"0.1"}},3]]}}"#;
    let power = laplace.power(3, &grid).unwrap();
    round(power.clone(), written);
    round(power.reversed(), &format!(r#"{{"reversed":{written}}}"#));
    let again = read::<Profile>(written).unwrap();
    let epsilon = |profile: &Profile| profile.epsilon(number("1e-3")).unwrap();
    assert_eq!(epsilon(&again), epsilon(&power));
    let aimed = grid.aimed_at(number("1e-9"));
    round(
        power.tensor(&gaussian, &aimed).unwrap(),
        &format!(
            r#"{{"product":{{"grid":{{"step":"0.01","aim":"1e-9"}},"parts":[[{written},1],[{{"gaussian":{{"mu":"0.5"}}}},1]]}}}}"#
        ),
    );
    // Another grid, other launches and other parts are other profiles.
    let finer = Grid::new(number("0.005")).unwrap();
    assert_ne!(power, laplace.power(3, &finer).unwrap());
    assert_ne!(power, laplace.power(3, &aimed).unwrap());
    assert_ne!(power, laplace.power(4, &grid).unwrap());
    assert_ne!(power, gaussian.power(3, &grid).unwrap());
    assert_ne!(power, power.reversed());
    refused::<Profile>(
        &written.replace("0.01", "2"),
        "the step 2 is not between 1e-9 and 1: choose one of about a hundredth of ε",
    );
    refused::<Profile>(
        &written.replace(",3]", ",0]"),
        "nothing to compose: name at least one part, launched at least once",
    );
}

#[test]
fn rules_in_f_dp_continue_where_they_were() {
    let grid = Grid::new(number("0.05")).unwrap();
    let gaussian = |mu: &str| Profile::gaussian(number(mu));
    let laplace = |epsilon: &str| Profile::laplace(number(epsilon));
    let gaussians = InProfiles::new(Gaussians).within(gaussian("1")).unwrap();
    continues(gaussians.clone(), &[gaussian("0.2"), laplace("0.1")]);

    let powers = InProfiles::new(Powers::new(laplace("0.3"), 5, grid).unwrap());
    continues(powers.clone().in_full(), &[laplace("0.3"), laplace("0.2")]);
    let limit = laplace("0.3").power(3, &grid).unwrap();
    let within = powers.clone().within(limit).unwrap();
    continues(within.clone(), &[laplace("0.3")]);
    // Units beyond the list, and units within the list that are over the budget.
    let text = r#""counts":0"#;
    let beyond = [(text, r#""counts":6"#, IMPOSSIBLE)];
    damaged(powers.in_full(), &beyond);
    damaged(within, &[(text, r#""counts":4"#, IMPOSSIBLE)]);

    let entries = [(laplace("0.2"), 2), (gaussian("0.5"), 3)];
    let menu = InProfiles::new(Menu::new(&entries, 6, grid).unwrap()).in_full();
    continues(menu.clone(), &[gaussian("0.5"), laplace("0.2")]);
    // No entries cost 1 together.
    let changes = [1, 7].map(|cost| format!(r#""counts":{cost}"#));
    damaged(
        menu,
        &changes.each_ref().map(|to| (text, &**to, IMPOSSIBLE)),
    );

    let list = [laplace("1"), gaussian("0.5"), laplace("1")];
    let list = InProfiles::new(List::new(&list, grid).unwrap()).in_full();
    continues(list.clone(), &[laplace("1"), gaussian("0.5")]);
    damaged(
        list,
        &[
            (text, r#""counts":4"#, IMPOSSIBLE),
            (
                r#""rule":"List""#,
                r#""rule":"Menu""#,
                "the rule is Menu, not List",
            ),
        ],
    );
    damaged(
        gaussians,
        &[
            (
                r#""counts":"0""#,
                r#""counts":"1000000000000000000000000000000000000000000000000000001""#,
                IMPOSSIBLE,
            ),
            (
                r#""limit":{"gaussian":{"mu":"1"}}"#,
                r#""limit":null"#,
                "this family needs a limit",
            ),
        ],
    );
}
