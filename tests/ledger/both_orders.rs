//! Where no dataset comes first, a party pays for both orders of two datasets, and so does whoever holds
//! the party with its measure erased.

use std::sync::Arc;

use queryables::account::LaunchesLeft;
use queryables::account::profiles::{InProfiles, Powers, WithinProfile};
use queryables::compose::AnyFilter;
use queryables::ledger::{Ledger, LedgerError, LedgerFilter};
use queryables::prelude::*;
use queryables::privacy::facts::{Fact, Gaussian, SampledGaussian};
use queryables::privacy::fdp::{FDp, Grid, Profile};
use queryables::privacy::{AnyMeasure, Prices, Relation};

/// States a sampled Gaussian, in one of the two orders.
#[derive(Clone, Copy, Debug)]
struct States;

impl Mechanism<()> for States {
    type Machine = Released<()>;

    fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
        Ok(Released(()))
    }
}

fn sampled() -> Fact {
    let gaussian = Gaussian::Mu("1".parse().unwrap());
    Fact::SampledGaussian(SampledGaussian::new("0.1".parse().unwrap(), gaussian))
}

impl<R: Relation> Private<AnyMeasure, R> for States {
    fn loss(&self, _: &AnyMeasure) -> Result<Fact, UnknownLoss> {
        Ok(sampled())
    }
}

impl<R: Relation> Private<FDp, R> for States {
    fn loss(&self, _: &FDp) -> Result<Profile, UnknownLoss> {
        FDp.price(&sampled())
    }
}

type OnNothing<R> = LedgerFilter<(), WithinProfile<Powers>, R>;

/// A budget of two of these.
fn two_of<R: Relation>(ledger: &Ledger, name: &str, base: &Profile, relation: R) -> OnNothing<R> {
    let grid = Grid::new("1e-2".parse().unwrap()).unwrap();
    let powers = InProfiles::new(Powers::new(base.clone(), 2, grid).unwrap()).in_full();
    let filter = Filter::concurrent_with(powers).under(relation);
    ledger.start(name, &filter, &Arc::new(())).unwrap()
}

#[test]
fn a_party_takes_a_loss_for_both_orders() {
    let directed = FDp.price(&sampled()).unwrap();
    let both_orders = directed.symmetrised();
    let ledger = Ledger::in_memory("bits").unwrap();
    let filter = two_of(&ledger, "directed", &directed, Replace);
    let party = filter.party("Ana");
    assert_eq!(party.would_admit(&directed), Ok(false));
    let preview = party.preview(&States).unwrap();
    assert_eq!(*preview.cost(), both_orders);
    assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(0));
    match party.release(&States) {
        Err(LedgerError::Launch(LaunchError::Refused(refusal))) => {
            assert_eq!(refusal.requested, both_orders);
        }
        other => panic!("{other:?}"),
    }
    let erased = AnyFilter::from(filter.party("Ben"));
    assert_eq!(erased.would_admit(&States), Ok(false));
    let preview = erased.preview(&States).unwrap();
    assert_eq!(preview.cost().get(), Some(&both_orders));
    assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(0));

    // A budget for both orders, one launch for each of the two.
    let filter = two_of(&ledger, "both", &both_orders, Replace);
    let (party, erased) = (filter.party("Ana"), AnyFilter::from(filter.party("Ben")));
    assert_eq!(party.would_admit(&directed), Ok(true));
    party.release(&States).unwrap();
    assert_eq!(erased.would_admit(&States), Ok(true));
    erased.release(&States).unwrap();
    assert_eq!(party.would_admit(&directed), Ok(false));
    assert_eq!(erased.would_admit(&States), Ok(false));

    // With an order one direction is enough.
    let party = two_of(&ledger, "ordered", &directed, AddRemove).party("Ana");
    assert_eq!(party.would_admit(&directed), Ok(true));
    assert_eq!(*party.preview(&States).unwrap().cost(), directed);
    party.release(&States).unwrap();
}
