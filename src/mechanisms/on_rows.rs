//! Mechanisms on rows, for people who have several of them.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::{About, Accuracy, Estimates, RowRelation, apart};
use crate::data::{People, UNBOUNDED};
use crate::machine::{
    Coins, Description, DomainMismatch, Fault, Mechanism, Public, ReleasesOnly, public_part,
};
use crate::number::Confidence;
use crate::privacy::{AddRemove, Distance, Measure, Private, UnknownLoss, checked_under};

/// A mechanism on rows, to be launched on [`People`] who have at most `K` of them.
///
/// `K` is part of the dataset's type, and is found from there. The loss for a person follows from
/// it: it is never entered.
///
/// ```
/// use queryables::data::{People, Predicate};
/// use queryables::mechanisms::{Count, OnRows};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let visits = vec![(1_u32, 'a'), (2, 'b'), (1, 'a')];
/// let patients = People::by_key(&visits, |visit: &(u32, char)| visit.0).at_most::<2>();
/// let filter = start(&Filter::concurrent(ZCdp, rho!(1)), Arc::new(patients))?;
///
/// let to_a = Predicate::new("to ward a", |visit: &(u32, char)| visit.1 == 'a');
/// filter.release(&OnRows(Count::of(to_a).gaussian(rho!(0.1))?))?;
/// // ρ grows with the square of the number of rows.
/// assert_eq!(filter.privacy_loss(), rho!(0.4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Any mechanism will do, a filter for instance: its children are then priced by row, and the person
/// pays once, for all of it.
///
/// # Guarantee
///
/// A person who is added or removed adds or removes at most `K` rows next to each other ([`People`]).
/// These are `K` steps from neighbour to neighbour, so the loss is the mechanism's own at a distance
/// of `K` ([`Private::loss_at`]).
///
/// A person who is replaced may have another number of rows than before. So a loss that the mechanism
/// states for replacing a row says nothing here; but all rows of the one are removed, and all rows of
/// the other are added, which are 2`K` steps. At a distance of d, `K`d and 2`K`d.
#[doc(alias = "user-level")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OnRows<M, const K: u64>(pub M);

impl<D: ?Sized, M: Mechanism<D>, const K: u64> Mechanism<People<D, K>> for OnRows<M, K> {
    type Machine = M::Machine;

    fn start(
        &self,
        people: &Arc<People<D, K>>,
        coins: &mut Coins<'_>,
    ) -> Result<M::Machine, Fault> {
        self.0.start(people.rows(), coins)
    }

    fn check(&self, people: Public<'_, People<D, K>>) -> Result<(), DomainMismatch> {
        self.0.check(public_part(people, |people| &**people.rows()))
    }

    fn describe(&self) -> Description {
        self.0.describe().with("rows of a person", K)
    }
}

impl<M: ReleasesOnly, const K: u64> ReleasesOnly for OnRows<M, K> {}

/// That of the mechanism, which is about the rows that are left of each person.
impl<M: Accuracy, const K: u64> Accuracy for OnRows<M, K> {
    type Distance = M::Distance;

    fn accuracy(&self, confidence: Confidence) -> M::Distance {
        self.0.accuracy(confidence)
    }

    fn about(&self) -> About {
        match K {
            UNBOUNDED => self.0.about(),
            most => self.0.about().of_people(most),
        }
    }
}

/// Those of the mechanism, which are about the rows that are left of each person.
impl<M: Estimates, const K: u64> Estimates for OnRows<M, K> {
    type Answer = M::Answer;
    type Number = M::Number;

    fn interval(
        &self,
        answer: M::Answer,
        confidence: Confidence,
    ) -> (M::Number, RangeInclusive<M::Number>) {
        self.0.interval(answer, confidence)
    }
}

/// The steps between rows of people at this distance, if a person is this number of rows.
fn steps<const K: u64>(times: u64, people: Distance) -> Result<Distance, UnknownLoss> {
    if K == UNBOUNDED {
        return Err(UnknownLoss(
            "people may have any number of rows here: choose a number with `at_most`",
        ));
    }
    let steps = K.checked_mul(times);
    let steps = steps.and_then(|steps| steps.checked_mul(people.steps()));
    let steps = steps.ok_or(UnknownLoss("more rows than can be counted"))?;
    Distance::new(steps).ok_or(UnknownLoss("a person must be allowed at least one row"))
}

impl<Me, M, R, const K: u64> Private<Me, R> for OnRows<M, K>
where
    Me: Measure,
    M: Private<Me, AddRemove>,
    R: RowRelation,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        Private::<Me, R>::loss_at(self, measure, Distance::NEIGHBOURS)
    }

    /// One who is replaced is removed, and another is added.
    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        let rows = steps::<K>(apart::<R>(), distance)?;
        // Neighbours here may be several steps apart there, where no dataset comes first.
        checked_under::<AddRemove, _>(measure, self.0.loss_at(measure, rows)?, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Attribute, Predicate, Vector};
    use crate::machine::{CoinSource, NotPrivateSeededCoins, Released};
    use crate::mechanisms::{Count, Lattice, Mean, NoisyQuantiles, SampledGaussianSum, Sum};
    use crate::number::Epsilon;
    use crate::prelude::*;
    use crate::privacy::{PureDp, ZCdp};

    fn all() -> Predicate<Vec<u8>> {
        Predicate::new("all", |_: &u8| true)
    }

    fn count() -> crate::mechanisms::NoisyCount<Vec<u8>> {
        Count::of(all()).laplace(epsilon!(0.1)).unwrap()
    }

    #[test]
    fn a_person_loses_as_much_as_their_rows() {
        let three = OnRows::<_, 3>(count());
        let added: Epsilon = Private::<PureDp, AddRemove>::loss(&three, &PureDp).unwrap();
        let replaced = Private::<PureDp, Replace>::loss(&three, &PureDp).unwrap();
        assert_eq!(
            (added, replaced),
            ("0.3".parse().unwrap(), "0.6".parse().unwrap())
        );
        let two = Distance::new(2).unwrap();
        let added = Private::<PureDp, AddRemove>::loss_at(&three, &PureDp, two).unwrap();
        let replaced = Private::<PureDp, Replace>::loss_at(&three, &PureDp, two).unwrap();
        assert_eq!(
            (added, replaced),
            ("0.6".parse().unwrap(), "1.2".parse().unwrap())
        );
        let gaussian = OnRows::<_, 3>(Count::of(all()).gaussian(rho!(0.1)).unwrap());
        let rho = Private::<ZCdp, Replace>::loss(&gaussian, &ZCdp).unwrap();
        assert_eq!(rho, "3.6".parse().unwrap());
    }

    #[test]
    fn without_a_bound_on_the_rows_there_is_none_on_the_loss() {
        let unbounded = OnRows::<_, UNBOUNDED>(count());
        let loss = Private::<PureDp, AddRemove>::loss(&unbounded, &PureDp);
        let expected = "people may have any number of rows here: choose a number with `at_most`";
        assert_eq!(loss, Err(UnknownLoss(expected)));
        let many = OnRows::<_, { UNBOUNDED / 2 + 1 }>(count());
        let loss = Private::<PureDp, Replace>::loss(&many, &PureDp);
        assert_eq!(loss, Err(UnknownLoss("more rows than can be counted")));
        let none = OnRows::<_, 0>(count());
        let loss = Private::<PureDp, AddRemove>::loss(&none, &PureDp);
        assert_eq!(
            loss,
            Err(UnknownLoss("a person must be allowed at least one row"))
        );
    }

    /// A sampled sum has no loss for rows more than one apart.
    #[test]
    fn what_is_not_known_of_rows_is_not_known_of_people() {
        use crate::privacy::Rdp;
        let itself: Vector<Vec<u8>> = Vector::new("itself", |row: &u8, out: &mut [f64]| {
            out[0] = f64::from(*row);
        });
        let lattice = Lattice::of_whole_numbers(3);
        let (rate, mu) = ("0.1".parse().unwrap(), "1".parse().unwrap());
        let sum = SampledGaussianSum::new(AddRemove, itself, 1, lattice, rate, mu).unwrap();
        let measure = Rdp::new("2".parse().unwrap());
        let one = Private::<Rdp, AddRemove>::loss(&OnRows::<_, 1>(sum.clone()), &measure);
        assert_eq!(one, sum.loss(&measure));
        let two = Private::<Rdp, AddRemove>::loss(&OnRows::<_, 2>(sum.clone()), &measure);
        assert_eq!(two, sum.loss_at(&measure, Distance::new(2).unwrap()));
        assert!(matches!(two, Err(UnknownLoss(_))), "{two:?}");
    }

    /// What an answer on rows of people is about, for every kind of mechanism that has an interval.
    #[test]
    fn an_estimate_names_its_rows_and_values() {
        let likely: Confidence = "0.95".parse().unwrap();
        let one: Epsilon = "1".parse().unwrap();
        let said = OnRows::<_, 3>(count()).estimate(7, likely).about;
        assert_eq!(said.to_string(), "of at most 3 rows a person");
        assert_eq!(said.rows_of_a_person(), Some(3));
        assert_eq!(count().about().to_string(), "of all rows in the dataset");
        let number = Attribute::<Vec<u8>, _>::new("itself", |row: &u8| i64::from(*row));
        let sum = Sum::of(number.clone(), 0..=60).laplace(one).unwrap();
        assert_eq!(
            OnRows::<_, 3>(sum).estimate(7, likely).to_string(),
            "7 (from -173 to 187 with confidence 0.95, of at most 3 rows a person, clamped to 0..=60)"
        );
        let real = Attribute::<Vec<u8>, _>::new("itself", |row: &u8| f64::from(*row));
        let mean = OnRows::<_, 3>(Mean::of(real, 0.0..=60.0).laplace(one).unwrap());
        let people = People::by_key(&vec![1, 1, 2], |row: &u8| u64::from(*row)).at_most::<3>();
        let mut coins = NotPrivateSeededCoins::new(1);
        let Released(answer) = mean.start(&Arc::new(people), &mut coins.coins()).unwrap();
        let said = mean.estimate(answer, likely).to_string();
        let about = "of at most 3 rows a person, clamped to 0..=60)";
        assert!(said.ends_with(about), "{said}");
        // The distances that choices state are about the same rows.
        let median = NoisyQuantiles::new(AddRemove, number, 0..=60, [(1, 2)], one).unwrap();
        let said = OnRows::<_, 1>(median).about().to_string();
        assert_eq!(said, "of at most 1 row a person, clamped to 0..=60");
        let step = Vector::<Vec<u8>>::new("step", |row: &u8, out: &mut [f64]| {
            out.fill(f64::from(*row));
        });
        let (lattice, mu) = (Lattice::of_length(0.5).unwrap(), "1".parse().unwrap());
        let rate = "0.1".parse().unwrap();
        let sum = SampledGaussianSum::new(AddRemove, step, 1, lattice, rate, mu).unwrap();
        assert_eq!(
            sum.about().to_string(),
            "of all rows in the dataset, rounded to multiples of 2^-21, clipped to a length of 0.5, \
             in a random sample of them"
        );
    }

    #[test]
    fn the_description_says_how_many_rows() {
        let described = Mechanism::<People<Vec<u8>, 3>>::describe(&OnRows(count()));
        assert_eq!(
            described.to_string(),
            "Count(predicate = all, relation = add or remove one row, epsilon = 0.1, rows of a person = 3)"
        );
    }
}
