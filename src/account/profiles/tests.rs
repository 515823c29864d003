use super::*;
use crate::account::menu::{MenuEntry, MenuFilter};
use crate::account::nonadaptive::tight_delta;
use crate::account::{
    Accumulator, ComposesConcurrently, ContinuationRule, Exceeded, NaturalFilter,
};
use crate::number::{Delta, Interval};
use crate::privacy::convert::gdp;
use crate::privacy::fdp::{
    Adjacency, FDp, FdpError, Grid, Profile, RepeatedMechanism, Repetitions,
};
use crate::privacy::{EpsilonDelta, Overflow, UnknownLoss};

fn text<T: std::str::FromStr>(number: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    number.parse().unwrap()
}

fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}

fn grid(step: &str) -> Grid {
    Grid::new(text(step)).unwrap()
}

fn response(epsilon: &str) -> Profile {
    Profile::randomized_response(text(epsilon))
}

fn gaussian(mu: &str) -> Profile {
    Profile::gaussian(text(mu))
}

fn middle(delta: Delta) -> f64 {
    Interval::from(delta).middle()
}

/// Charges until it is refused; readings rise and stay within the limit at every ε that is tried.
fn launches<L: Family>(mut rule: WithinProfile<L>, loss: &Profile) -> usize {
    let at = ["0", "0.3", "1", "2"].map(text);
    let read = |profile: &Profile| at.map(|epsilon| profile.worst_delta(epsilon).upper);
    let mut launches = 0;
    while let Ok(next) = rule.charge(loss) {
        let (before, after) = (read(&rule.spent()), read(&next.spent()));
        assert!(
            before
                .iter()
                .zip(&after)
                .all(|(before, after)| before <= after)
        );
        let limit = read(next.limit());
        assert!(
            after
                .iter()
                .zip(&limit)
                .all(|(after, limit)| after <= limit)
        );
        rule = next;
        launches += 1;
        assert!(launches < 1000, "nothing is refused");
    }
    launches
}

#[test]
fn gaussians_take_any_budget() {
    let rule = |limit| InProfiles::new(Gaussians).within(limit);
    // A hundred tenths fill a Gaussian of one, to the last digit.
    assert_eq!(
        launches(rule(gaussian("1")).unwrap(), &gaussian("0.1")),
        100
    );
    let some = rule(gaussian("1")).unwrap().charge(&gaussian("0.6"));
    assert_eq!(some.unwrap().remaining(), gaussian("0.8"));
    // An (ε, δ) is what the natural filter makes of it.
    let limit = pair("1", "1e-6");
    let natural = NaturalFilter::new(limit, crate::privacy::Gdp).unwrap();
    let profiles = rule(Profile::approx_dp(limit)).unwrap();
    assert_eq!(profiles.remaining(), Profile::gaussian(*natural.most()));
    assert_eq!(launches(profiles, &gaussian("0.01")), 560);
    // A polygon: f(0) = 0.9, f(0.1) = 0.6, f(0.6) = 0.1, f(0.9) = 0.
    let corners = [
        ("0", "0.9"),
        ("0.1", "0.6"),
        ("0.6", "0.1"),
        ("0.9", "0"),
        ("1", "0"),
    ];
    let corners = corners.map(|(alpha, beta)| (text(alpha), text(beta)));
    let polygon = Profile::from_trade_off(&corners).unwrap();
    let most = rule(polygon.clone()).unwrap().remaining();
    let mu = middle_of(&most);
    assert!(mu > 0.3, "{mu}");
    // It is within the polygon, and a little more is not, at some false-alarm rate.
    let above = |profile: &Profile| {
        (1..20).all(|part| {
            let alpha: Delta = text(&format!("{}", f64::from(part) / 20.0));
            let [one, other] =
                [profile, &polygon].map(|profile| profile.trade_off(Adjacency::Remove, alpha));
            one.upper >= other.lower
        })
    };
    assert!(above(&most));
    assert!(!above(&gaussian(&format!("{:.9}", 1.03 * mu))));
    // No Gaussian is ε-DP.
    assert_eq!(rule(response("1")).unwrap_err(), FdpError::NoGaussianBound);
}

fn middle_of(gaussian: &Profile) -> f64 {
    Interval::from(gaussian.mu().unwrap()).middle()
}

#[test]
fn gaussians_price_what_has_a_mu() {
    let sum = InProfiles::new(Gaussians);
    let sum = sum
        .add(&gaussian("3"))
        .unwrap()
        .add(&gaussian("4"))
        .unwrap();
    assert_eq!(sum.total(), gaussian("5"));
    let sum = sum.add(&response("0.5")).unwrap();
    let expected = (25.0
        + Interval::from(gdp::pure(text("0.5")).unwrap())
            .middle()
            .powi(2))
    .sqrt();
    assert!((middle_of(&sum.total()) - expected).abs() < 1e-9);
    let leaks = Profile::approx_dp(pair("0.5", "1e-6"));
    assert_eq!(sum.add(&leaks).unwrap_err(), Overflow);
    let UnknownLoss(why) = sum.covers(&leaks).unwrap_err();
    assert!(why.starts_with("no member of the family"), "{why}");
}

#[test]
fn powers_are_the_optimal_composition() {
    let powers = Powers::new(response("0.1"), 30, grid("0.1")).unwrap();
    let mut total = InProfiles::new(powers);
    for count in 1..=30 {
        total = total.add(&response("0.1")).unwrap();
        for epsilon in ["0.3", "0.5", "1"].map(text) {
            let exact = middle(tight_delta(count, text("0.1"), epsilon));
            let read = middle(total.total().worst_delta(epsilon).upper);
            assert!(
                exact <= read * (1.0 + 1e-12) && read <= exact + 1e-9,
                "{count} {exact} {read}"
            );
        }
    }
    // It was built for thirty.
    assert_eq!(total.add(&response("0.1")).unwrap_err(), Overflow);
    assert_eq!(total.covers(&response("0.2")).map_err(|_| ()), Err(()));
    assert!(total.add(&Profile::perfect()).is_ok());
}

#[test]
fn powers_fit_a_budget_of_any_form() {
    let limit = pair("1", "1e-3");
    let natural = NaturalFilter::new(limit, RepeatedMechanism::new(response("0.1"))).unwrap();
    let powers = Powers::new(response("0.1"), 60, grid("0.1")).unwrap();
    let rule = InProfiles::new(powers.clone())
        .within(Profile::approx_dp(limit))
        .unwrap();
    assert_eq!(
        Repetitions(launches(rule, &response("0.1")) as u64),
        *natural.most()
    );
    // 60 readings for 180 numbers: the reading is that of a larger number, never more than the limit.
    assert_ne!(natural.most().0 % 3, 0);
    let many = Powers::new(response("0.1"), 180, grid("0.1")).unwrap();
    let rule = InProfiles::new(many)
        .within(Profile::approx_dp(limit))
        .unwrap();
    assert_eq!(
        Repetitions(launches(rule, &response("0.1")) as u64),
        *natural.most()
    );
    // Everything it was built for.
    let full = InProfiles::new(powers).in_full();
    assert_eq!(launches(full.clone(), &response("0.07")), 60);
    // A power costs as many units.
    let five = response("0.1").power(5, &grid("0.1")).unwrap();
    assert_eq!(launches(full, &five), 12);
    // A budget that is smaller than a unit takes none.
    let powers = Powers::new(response("0.1"), 5, grid("0.1")).unwrap();
    let rule = InProfiles::new(powers).within(response("0.05")).unwrap();
    assert_eq!(rule.remaining(), Profile::perfect());
    assert_eq!(rule.charge(&response("0.1")), Err(Exceeded));
}

#[test]
fn the_value_of_a_menu_is_that_of_the_menu_filter() {
    let prices = [("0.1", 1), ("0.2", 4)];
    let entries = prices.map(|(epsilon, cost)| (response(epsilon), cost));
    let menu = Menu::new(&entries, 40, grid("0.1")).unwrap();
    let listed = prices.map(|(epsilon, cost)| MenuEntry::new(text(epsilon), cost as u64));
    let limit = pair("1", "5e-3");
    let reference = MenuFilter::new(limit, limit.delta, text("0.1"), &listed).unwrap();
    // It was built for forty.
    let mut total = InProfiles::new(menu.clone());
    for _ in 0..10 {
        total = total.add(&response("0.2")).unwrap();
    }
    assert_eq!(total.add(&response("0.1")).err(), Some(Overflow));
    let rule = InProfiles::new(menu)
        .within(Profile::approx_dp(limit))
        .unwrap();
    let before = rule.clone();
    assert_eq!(
        launches(rule.clone(), &response("0.1")) as u64,
        reference.budget()
    );
    // Readings after each launch, where Σε is over the limit: then the reference reads its worst case.
    let (mut rule, mut reference) = (rule, reference);
    for cost in 1..=reference.budget() {
        rule = rule.charge(&response("0.1")).unwrap();
        reference = reference.charge(&pair("0.1", "0")).unwrap();
        if cost > 10 {
            let read = middle(rule.spent().worst_delta(limit.epsilon).upper);
            let expected = middle(reference.spent().delta);
            assert!(
                (read - expected).abs() < 1e-6 * expected,
                "{cost} {read} {expected}"
            );
        }
    }
    // Nothing that costs anything is left.
    assert_eq!(rule.remaining(), Profile::perfect());
    // What is between two entries costs the larger one.
    assert_eq!(
        launches(before, &response("0.15")),
        reference.budget() as usize / 4
    );
}

#[test]
fn a_list_is_the_product_and_takes_launches_in_order() {
    let losses = [response("0.2"), gaussian("0.5"), response("0.3")];
    let list = List::new(&losses, grid("1e-2")).unwrap();
    let rule = InProfiles::new(list.clone()).in_full();
    let parts = losses.clone().map(|loss| (loss, 1));
    assert_eq!(
        *rule.limit(),
        Profile::compose(&parts, &grid("1e-2")).unwrap()
    );
    // Functions may cross: the second is not within the first.
    assert_eq!(rule.charge(&losses[1]), Err(Exceeded));
    let rule = rule.charge(&response("0.1")).unwrap();
    assert_eq!(rule.spent(), losses[0]);
    assert_eq!(rule.remaining(), losses[1]);
    let rule = rule.charge(&losses[1]).unwrap().charge(&losses[2]).unwrap();
    assert_eq!(rule.spent(), *rule.limit());
    assert_eq!(rule.charge(&response("0.001")), Err(Exceeded));
    assert!(rule.charge(&Profile::perfect()).is_ok());
    // With a budget, as many of the first as fit.
    let short = InProfiles::new(list)
        .within(Profile::approx_dp(pair("1", "0.1")))
        .unwrap();
    let short = short
        .charge(&losses[0])
        .unwrap()
        .charge(&losses[1])
        .unwrap();
    assert_eq!(short.remaining(), losses[2]);
    let list = List::new(&losses, grid("1e-2")).unwrap();
    let short = InProfiles::new(list)
        .within(Profile::approx_dp(pair("0.25", "1e-3")))
        .unwrap();
    let short = short.charge(&losses[0]).unwrap();
    assert_eq!(short.charge(&losses[1]), Err(Exceeded));
    assert_eq!(short.remaining(), Profile::perfect());
}

#[test]
fn what_has_no_parts_is_an_error() {
    let none = grid("1e-2");
    assert_eq!(List::new(&[], none).unwrap_err(), FdpError::NoParts);
    assert_eq!(Menu::new(&[], 3, none).unwrap_err(), FdpError::NoParts);
    let free = [(response("0.1"), 0)];
    assert_eq!(Menu::new(&free, 3, none).unwrap_err(), FdpError::NoParts);
    let powers = Powers::new(response("0.1"), 0, none);
    assert_eq!(powers.unwrap_err(), FdpError::NoParts);
}

#[test]
fn known_losses_compose_to_their_product() {
    assert_eq!(FDp.composed(&[]), Ok(Profile::perfect()));
    let nothing = Profile::perfect();
    assert_eq!(
        FDp.composed(&[nothing.clone(), response("1")]),
        Ok(response("1"))
    );
    assert_eq!(
        FDp.composed(&[gaussian("3"), nothing, gaussian("4")]),
        Ok(gaussian("5"))
    );
    // Ten responses: the optimal composition, whatever the grid.
    for each in ["0.1", "0.003"] {
        let ten = FDp.composed(&vec![response(each); 10]).unwrap();
        let five = text::<crate::number::Epsilon>(each).checked_mul(5).unwrap();
        let exact = middle(tight_delta(10, text(each), five));
        let read = middle(ten.worst_delta(five).upper);
        assert!(
            exact <= read * (1.0 + 1e-12) && read <= 1.01 * exact,
            "{exact} {read}"
        );
    }
    // What was composed before keeps its grid; two grids do not fit.
    let [one, other] = ["1e-2", "3e-3"].map(|step| response("0.2").power(3, &grid(step)).unwrap());
    assert!(FDp.composed(&[one.clone(), gaussian("1")]).is_ok());
    let UnknownLoss(why) = FDp.composed(&[one, other]).unwrap_err();
    assert!(why.ends_with("different steps"), "{why}");
}
