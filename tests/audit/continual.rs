//! Counts over time, whose noise is too large to enumerate.

use queryables::audit::{Audit, Pair};
use queryables::data::Attribute;
use queryables::machine::{Script, View};
use queryables::mechanisms::FactorizedContinualCount;
use queryables::prelude::*;
use queryables::privacy::{AddRemove, Gdp};

/// The seed was chosen beforehand: a true claim is refuted with probability at most 1e-9.
#[test]
fn a_factorized_count_loses_what_it_states_and_not_much_less() {
    let time = Attribute::new("time", |time: &u64| Some(*time));
    let count = FactorizedContinualCount::new(AddRemove, time, 8, mu!(2));
    let count = count.unwrap();
    let pair = Pair::new(vec![0], vec![]);
    let times = || Script::new([1, 2, 4, 8]);
    let audit = Audit::new(&count, &pair, times, 4).trials(2000).seed(2);
    let total = |view: &View<i64>| -> i64 {
        let answers = view.answers().filter_map(|answer| answer.as_ref().ok());
        answers.sum()
    };
    let finding = audit.run_by(|view| total(view).clamp(-9, 14)).unwrap();
    let refuted = |mu: &str| finding.check(&Gdp, &mu.parse().unwrap()).is_refuted();
    assert!(!refuted("2") && refuted("0.5"), "{finding:?}");
}
