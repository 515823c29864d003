//! Def. 2.4: the concurrent composition of mechanisms, each with a dataset of its own.
//!
//! A mechanism here takes one dataset. k of them are a dataset too, a list, and a mechanism for the
//! j-th is one for the list. Lists are neighbours if all of their datasets are: then losses add up as
//! they do on one dataset, because H's theorems never compare two mechanisms' data.

use std::sync::Arc;

use crate::support::*;
use queryables::compose::ConcurrentComposition;
use queryables::machine::{Coins, Fault, Mechanism};
use queryables::privacy::{AddRemove, Private, PureDp, UnknownLoss};
use queryables::verify::{Pair, Rational, Verifier, copies_of};

/// A mechanism for one dataset of the list.
#[derive(Clone, Copy, Debug)]
struct OnDataset<M> {
    number: usize,
    mechanism: M,
}

impl<D: Clone, M: Mechanism<D>> Mechanism<Vec<D>> for OnDataset<M> {
    type Machine = M::Machine;

    fn start(&self, data: &Arc<Vec<D>>, coins: &mut Coins<'_>) -> Result<M::Machine, Fault> {
        let own = data
            .get(self.number)
            .ok_or(Fault::InvalidQuery("no such dataset"))?;
        self.mechanism.start(&Arc::new(own.clone()), coins)
    }
}

/// For lists of which every dataset may change.
impl<M: Private<PureDp, AddRemove>> Private<PureDp, AddRemove> for OnDataset<M> {
    fn loss(&self, measure: &PureDp) -> Result<queryables::number::Epsilon, UnknownLoss> {
        self.mechanism.loss(measure)
    }
}

fn on(number: usize, odds: u64) -> OnDataset<Respond> {
    let mechanism = once(odds);
    OnDataset { number, mechanism }
}

#[test]
fn definition_2_4_mechanisms_on_datasets_of_their_own_lose_the_sum() {
    let both = ConcurrentComposition::new([on(0, 3), on(1, 5)]);
    let loss = Private::<PureDp, AddRemove>::loss(&both, &PureDp).unwrap();
    assert_eq!(loss, ln(3).checked_add(ln(5)).unwrap());
    let worst = |pair| {
        let verifier = Verifier::new(copies_of(&both), &pair, vec![(0, ()), (1, ())], 2);
        exact(&verifier.worst_ratio().unwrap())
    };
    // All datasets change: both losses count, and it is attained.
    let all = Pair::new(vec![false, false], vec![true, true]);
    assert_eq!(worst(all), Rational::from(15_u8));
    // One of them changes: only its mechanism's does.
    let second = Pair::new(vec![false, false], vec![false, true]);
    assert_eq!(worst(second), Rational::from(5_u8));
}
