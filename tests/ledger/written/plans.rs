//! Rules with a plan or a menu, whose tables are computed again.

use queryables::account::menu::{
    Detail, MenuEntry, MenuFilter, SampledGaussians, TwoPriceListFilter,
};
use queryables::account::{ContinuationRule, FixedCount, FixedInAdvance, NaturalFilter, SavedRule};
use queryables::number::Mu;
use queryables::privacy::Gdp;
use queryables::privacy::fdp::{Profile, RepeatedMechanism, Repetitions};

use super::{IMPOSSIBLE, continues, damaged, number, pair, read};

#[test]
fn rules_with_a_plan_continue_where_they_were() {
    let limit = pair("1", "1e-6");
    let each = pair("0.1", "0");
    let count = FixedCount::new(limit, each, 5).unwrap();
    continues(count.clone(), &[each]);
    damaged(
        count,
        &[
            (r#""counts":0"#, r#""counts":6"#, IMPOSSIBLE),
            (
                r#""counts":0"#,
                r#""counts":-1"#,
                "invalid value: integer `-1`, expected u64",
            ),
        ],
    );
    let step = number("0.01");
    let plan = FixedInAdvance::new(limit, step, vec![each, pair("0.2", "0"), each]).unwrap();
    continues(plan.clone(), &[each]);
    damaged(
        plan,
        &[
            (r#""counts":0"#, r#""counts":4"#, IMPOSSIBLE),
            (
                r#""step":"0.01""#,
                r#""step":"0""#,
                "the lattice step is 0: choose one that divides the losses",
            ),
        ],
    );
    let entries = [
        MenuEntry::new(number("0.1"), 1),
        MenuEntry {
            epsilon: number("0.1"),
            count: 5,
            cost: 4,
        },
        MenuEntry::new(number("0.2"), 4),
    ];
    let menu = MenuFilter::new(limit, number("1e-7"), number("0.05"), &entries).unwrap();
    continues(
        menu.clone(),
        &[each, pair("0.15", "1e-8"), pair("0.3", "0")],
    );
    let menu = menu.charge(&pair("0.1", "1e-7")).unwrap();
    damaged(
        menu,
        &[
            (r#""paid":["#, r#""paid":[9999"#, IMPOSSIBLE),
            (r#""deltas":"1e-7""#, r#""deltas":"1e-6""#, IMPOSSIBLE),
            (r#""epsilons":"0.1""#, r#""epsilons":"7""#, IMPOSSIBLE),
            (
                r#""name":"menu""#,
                r#""name":"mine""#,
                "no menu has this name",
            ),
            (
                r#""slack":"1e-7""#,
                r#""slack":"0""#,
                "this filter needs a slack δ′ > 0: pay for it out of δ",
            ),
        ],
    );
    let entries = [(number("0.1"), [1, 1]), (number("0.2"), [2, 4])];
    let sums =
        TwoPriceListFilter::new(limit, number("5e-7"), number("0.05"), &entries, [6, 5]).unwrap();
    continues(sums.clone(), &[each, pair("0.2", "1e-8")]);
    let sums = sums.charge(&each).unwrap();
    damaged(
        sums,
        &[
            (r#""left":[5,4]"#, r#""left":[7,4]"#, IMPOSSIBLE),
            (r#""left":[5,4]"#, r#""left":[6,5]"#, IMPOSSIBLE),
            (r#""epsilons":"0.1""#, r#""epsilons":"5""#, IMPOSSIBLE),
        ],
    );
}

#[test]
fn natural_filters_continue_where_they_were() {
    let limit = pair("1", "1e-6");
    let gaussian = NaturalFilter::new(limit, Gdp).unwrap();
    continues(gaussian.clone(), &["0.05", "0.021"].map(number::<Mu>));
    let gaussian = gaussian.charge(&number("0.1")).unwrap();
    damaged(
        gaussian,
        &[
            (r#""counts":"1000"#, r#""counts":"100000"#, IMPOSSIBLE),
            (
                r#""chain":{"measure":"Gdp"}"#,
                r#""chain":{"measure":"ZCdp"}"#,
                "the measure is not Gdp",
            ),
        ],
    );
    let response = RepeatedMechanism::new(Profile::randomized_response(number("0.1")));
    let units = NaturalFilter::new(limit, response).unwrap();
    continues(units.clone(), &[Repetitions(3), Repetitions(1)]);
    let units = units.charge(&Repetitions(3)).unwrap();
    damaged(
        units,
        &[
            (r#""counts":3"#, r#""counts":3000"#, IMPOSSIBLE),
            (
                r#""counts":3"#,
                r#""counts":"3""#,
                r#"invalid type: string "3", expected u64"#,
            ),
            (
                r#"{"epsilon":"0.1","delta":"0"}"#,
                r#"{"epsilon":"0","delta":"0"}"#,
                "2^40 or more launches fit: take a base that loses more",
            ),
        ],
    );
}

#[test]
fn menus_of_sampled_gaussians_are_read_as_they_were_written() {
    let limit = pair("2", "1e-3");
    let detail = Detail {
        step: number("0.01"),
        ratio: 2,
        cheapest: 2,
    };
    let sigmas = ["2", "4"].map(number);
    let menu = SampledGaussians::new(number("0.1"), &sigmas, 5, limit, detail).unwrap();
    let filter = menu.filter(limit).unwrap();
    let launched = filter.charge(&number("0.25")).unwrap();
    // Each reading builds the menu anew, so there are few. `rules` spends such a filter to its end.
    let text = serde_json::to_string(&SavedRule(launched.clone())).unwrap();
    assert_eq!(read(&text), Ok(SavedRule(launched.clone())));
    damaged(
        launched,
        &[
            (r#""counts":[2,[4,0]]"#, r#""counts":[1,[4,0]]"#, IMPOSSIBLE),
            (r#""counts":[2,[4,0]]"#, r#""counts":[2,[4]]"#, IMPOSSIBLE),
            (
                r#""counts":[2,[4,0]]"#,
                r#""counts":[2,[4,18446744073709551615]]"#,
                IMPOSSIBLE,
            ),
            (
                r#""counts":[2,[4,0]]"#,
                r#""counts":[999999,[4,0]]"#,
                IMPOSSIBLE,
            ),
            (
                r#""lease":5"#,
                r#""lease":0"#,
                "the rate, the lease, the ratio or the cheapest cost is out of range: take more than 0 of each",
            ),
        ],
    );
}
