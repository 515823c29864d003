//! Trade-off functions with two directions, under relations where neither dataset comes first: one
//! mechanism may have the one first and another mechanism the other. Their laws together are not the
//! product of either direction.

use std::sync::Arc;

use crate::support::*;
use queryables::account::LaunchesLeft;
use queryables::account::profiles::{InProfiles, Powers, WithinProfile};
use queryables::compose::{AnyFilter, ConcurrentComposition, Filter, LaunchError, Odometer};
use queryables::machine::{Coins, Fault, Machine, Mechanism, Released};
use queryables::mechanisms::OnRows;
use queryables::privacy::facts::{Fact, Gaussian, SampledGaussian};
use queryables::privacy::fdp::{FDp, Grid, Profile, RepeatedMechanism, Repetitions};
use queryables::privacy::{
    AddRemove, AnyMeasure, Distance, Measure, Prices, Private, Relation, Replace,
    SampledGaussianDp, UnknownLoss,
};
use queryables::queryable::start;
use queryables::verify::{Pair, Rational, Verifier, copies_of};

/// On `true` a fair coin; on `false` tails with probability 4/5; or with the data turned around.
#[derive(Clone, Copy, Debug)]
struct Biased {
    turned: bool,
}

const STRAIGHT: Biased = Biased { turned: false };
const TURNED: Biased = Biased { turned: true };

impl Mechanism<bool> for Biased {
    type Machine = Tosses;

    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Tosses, Fault> {
        Ok(Tosses {
            fair: **data != self.turned,
            tossed: false,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Tosses {
    fair: bool,
    tossed: bool,
}

impl Machine for Tosses {
    type Query = ();
    type Answer = bool;

    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<bool, Fault> {
        if std::mem::replace(&mut self.tossed, true) {
            return Err(Fault::Exhausted);
        }
        let weights = if self.fair { [1, 1] } else { [4, 1] };
        Ok(coins.weighted(&weights)? == 1)
    }
}

/// T[P, Q] of the fair coin P and the biased one Q.
fn biased() -> Profile {
    let corner = ("0.5".parse().unwrap(), "0.2".parse().unwrap());
    Profile::from_trade_off(&[corner]).unwrap()
}

/// In one of the two orders.
impl Private<FDp, Replace> for Biased {
    fn loss(&self, _: &FDp) -> Result<Profile, UnknownLoss> {
        Ok(biased())
    }
}

/// Whoever turns the row around says so where there is an order.
impl Private<FDp, AddRemove> for Biased {
    fn loss(&self, _: &FDp) -> Result<Profile, UnknownLoss> {
        Ok(if self.turned {
            biased().reversed()
        } else {
            biased()
        })
    }

    /// Two rows say no more than one.
    fn loss_at(&self, measure: &FDp, _: Distance) -> Result<Profile, UnknownLoss> {
        Private::<FDp, AddRemove>::loss(self, measure)
    }
}

fn grid() -> Grid {
    Grid::new("1e-3".parse().unwrap()).unwrap()
}

/// δ at ε = ln 2, from above.
fn read(profile: &Profile) -> f64 {
    let delta = profile.worst_delta(ln(2)).upper;
    delta.to_string().parse().unwrap()
}

/// The exact δ at e^ε = 2 of mechanisms that are asked once each.
fn attained(mechanisms: [Biased; 2]) -> Rational {
    let both = ConcurrentComposition::new(mechanisms);
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(copies_of(&both), &pair, vec![(0, ()), (1, ())], 2).replays(1);
    exact(&verifier.worst_delta(Rational::from(2_u64)).unwrap())
}

fn stated<R: Relation>(mechanisms: [Biased; 2]) -> f64
where
    Biased: Private<FDp, R>,
{
    let both = ConcurrentComposition::new(mechanisms);
    read(&Private::<FDp, R>::loss(&both, &FDp).unwrap())
}

/// By hand: with P = (1/2, 1/2) and Q = (1/5, 4/5), Σ(Q² − 2P²)⁺ = 16/25 − 2/4 = 14/100 and
/// Σ(P² − 2Q²)⁺ = 1/4 − 2/25 = 17/100, but Σ(PQ − 2QP)⁺ = 4/10 − 2/10 = 1/5.
#[test]
fn what_is_stated_holds_if_one_mechanism_turns_the_data_around() {
    assert_eq!(attained([STRAIGHT, STRAIGHT]), ratio(17, 100));
    assert_eq!(attained([STRAIGHT, TURNED]), ratio(1, 5));
    // The order is part of the relation, and each direction is composed by itself.
    let ordered = stated::<AddRemove>([STRAIGHT, STRAIGHT]);
    assert!((0.17..0.1701).contains(&ordered), "{ordered}");
    let said = stated::<AddRemove>([STRAIGHT, TURNED]);
    assert!((0.2..0.2001).contains(&said), "{said}");
    // No dataset comes first.
    let replaced = stated::<Replace>([STRAIGHT, TURNED]);
    assert!(replaced >= 0.2, "{replaced}");
    assert_eq!(replaced, stated::<Replace>([TURNED, TURNED]));
}

fn two_of(base: Profile) -> WithinProfile<Powers> {
    InProfiles::new(Powers::new(base, 2, grid()).unwrap()).in_full()
}

/// The loss for which a launch was refused. Tables are long: nothing is printed of them.
fn refused<T>(launch: Result<T, LaunchError<Profile>>) -> Profile {
    match launch {
        Err(LaunchError::Refused(refusal)) => refusal.requested,
        Err(_) => panic!("another error"),
        Ok(_) => panic!("it was launched"),
    }
}

#[test]
fn a_filter_takes_a_loss_for_both_orders() {
    let data = Arc::new(true);
    // One direction is not enough for it.
    let directed = Filter::concurrent_with(two_of(biased())).under(Replace);
    let directed = start(&directed, Arc::clone(&data)).unwrap();
    let both_orders = biased().symmetrised();
    assert_eq!(refused(directed.launch(&STRAIGHT)), both_orders);
    assert_eq!(refused(directed.admit(&biased())), both_orders);
    // What is said before a launch is what the launch says.
    assert!(!directed.would_admit(&biased()));
    let preview = directed.preview(&STRAIGHT).unwrap();
    assert_eq!(*preview.cost(), both_orders);
    assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(0));
    // Both are.
    let both = Filter::concurrent_with(two_of(both_orders.clone())).under(Replace);
    let both = start(&both, Arc::clone(&data)).unwrap();
    assert!(both.would_admit(&biased()));
    both.launch(&STRAIGHT).unwrap();
    both.launch(&TURNED).unwrap();
    assert!(!both.would_admit(&biased()));
    assert!(read(&both.privacy_loss()) >= 0.2);
    // One that adds or removes a row has an order, and two of them have none.
    let one = start(
        &Filter::concurrent_with(two_of(biased())),
        Arc::clone(&data),
    )
    .unwrap();
    one.launch(&STRAIGHT).unwrap();
    assert_eq!(refused(one.launch(&TURNED)), biased().reversed());
    let two = Distance::new(2).unwrap();
    let far = Filter::concurrent_with(two_of(biased())).at_distance(two);
    let far = start(&far, data).unwrap();
    assert_eq!(refused(far.launch(&STRAIGHT)), both_orders);
}

/// States a sampled Gaussian, in one of the two orders.
#[derive(Clone, Copy, Debug)]
struct States;

impl Mechanism<bool> for States {
    type Machine = Released<()>;

    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
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

/// Its decisions are those of the filter that it was, before a launch and at a launch.
#[test]
fn an_erased_filter_takes_a_loss_for_both_orders() {
    let data = Arc::new(true);
    let directed = FDp.price(&sampled()).unwrap();
    let both_orders = directed.symmetrised();
    let replacing = |base: &Profile| -> AnyFilter<bool, Replace> {
        let filter = Filter::concurrent_with(two_of(base.clone())).under(Replace);
        start(&filter, Arc::clone(&data)).unwrap().into()
    };
    let filter = replacing(&directed);
    assert_eq!(filter.would_admit(&States), Ok(false));
    let preview = filter.preview(&States).unwrap();
    assert_eq!(preview.cost().get(), Some(&both_orders));
    assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(0));
    match filter.release(&States) {
        Err(LaunchError::Refused(refusal)) => {
            assert_eq!(refusal.requested.get(), Some(&both_orders));
        }
        other => panic!("{other:?}"),
    }
    // A budget for both orders.
    let filter = replacing(&both_orders);
    for left in [2, 1] {
        assert_eq!(filter.would_admit(&States), Ok(true));
        let preview = filter.preview(&States).unwrap();
        assert_eq!(preview.launches_left(), LaunchesLeft::Exactly(left));
        filter.release(&States).unwrap();
    }
    assert_eq!(filter.would_admit(&States), Ok(false));
    // With an order one direction is enough.
    let ordered = Filter::concurrent_with(two_of(directed.clone()));
    let ordered: AnyFilter<bool> = start(&ordered, data).unwrap().into();
    assert_eq!(ordered.would_admit(&States), Ok(true));
    assert_eq!(
        ordered.preview(&States).unwrap().cost().get(),
        Some(&directed)
    );
    ordered.release(&States).unwrap();
}

#[test]
fn an_odometer_takes_a_loss_for_both_orders() {
    let powers = |base| InProfiles::new(Powers::new(base, 2, grid()).unwrap());
    let directed = Odometer::concurrent_with(powers(biased())).under(Replace);
    let directed = start(&directed, Arc::new(true)).unwrap();
    let no_price = UnknownLoss(
        "no member of the family is known to be at least as bad as this trade-off function",
    );
    let refused = directed.launch(&STRAIGHT).unwrap_err();
    assert_eq!(refused, LaunchError::UnknownLoss(no_price));
    // Maps are asked later: at two steps there is no order.
    let maps = Odometer::concurrent_with(powers(biased())).keeping_maps();
    let maps = start(&maps, Arc::new(true)).unwrap();
    maps.launch(&STRAIGHT).unwrap();
    let two = Distance::new(2).unwrap();
    assert_eq!(maps.privacy_loss_at(Distance::NEIGHBOURS), Ok(biased()));
    assert_eq!(maps.privacy_loss_at(two), Err(no_price));
}

/// A person who is added may be several rows, which are then added or removed: no order is left.
#[test]
fn the_rows_of_a_person_have_no_order() {
    let one = Private::<FDp, AddRemove>::loss(&OnRows::<_, 1>(STRAIGHT), &FDp);
    assert_eq!(one, Ok(biased()));
    let two = Private::<FDp, AddRemove>::loss(&OnRows::<_, 2>(STRAIGHT), &FDp);
    assert_eq!(two, Ok(biased().symmetrised()));
    let replaced = Private::<FDp, Replace>::loss(&OnRows::<_, 1>(STRAIGHT), &FDp);
    assert_eq!(replaced, Ok(biased().symmetrised()));
}

#[test]
fn units_of_a_directed_base_need_an_order() {
    let one = Repetitions(1);
    let base = RepeatedMechanism::new(biased());
    let why = "the base has two directions, and neither dataset comes first: symmetrise the base";
    assert_eq!(base.in_both_orders(one), Err(UnknownLoss(why)));
    assert_eq!(base.in_both_orders(base.zero()), Ok(base.zero()));
    let both = RepeatedMechanism::new(biased().symmetrised());
    assert_eq!(both.in_both_orders(one), Ok(one));
    let sampled = SampledGaussianDp::new("0.1".parse().unwrap());
    let why = "this measure is about a row that is added or removed: use `FDp`";
    assert_eq!(
        sampled.in_both_orders("1".parse().unwrap()),
        Err(UnknownLoss(why))
    );
    assert_eq!(sampled.in_both_orders(sampled.zero()), Ok(sampled.zero()));
}
