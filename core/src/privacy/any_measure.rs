//! A measure for mechanisms whose type is erased: it keeps what they state.

use std::cmp::Ordering;

use super::facts::{
    BoundedRange, BoundedRanges, Curve, Fact, Gaussian, Laplace, Probabilistic, Pure,
    SampledGaussian, SampledReplacement, Thresholded,
};
use super::{
    ApproxDp, Distance, EpsilonDelta, Gdp, Implies, Measure, Postprocessable, Prices,
    ProbabilisticDp, PureDp, Reentrant, UnknownLoss, ZCdp,
};
use crate::number::{Epsilon, Mu, Rho};

/// The measure under which the loss of a mechanism is what it states: the [`Fact`] itself, to be
/// priced later under a measure that is chosen at run time.
///
/// Every mechanism that states a fact has a loss under it, the ready-made ones do. One that states
/// a loss under a single measure is wrapped: `Restated::new(ZCdp, mechanism)`. Facts of other
/// crates are added with [`Prices`] for `AnyMeasure`.
///
/// No filter works under it, because facts do not add up:
/// [`AnyFilter`](crate::compose::AnyFilter) takes what is stated under it, and has it priced by
/// its own measure.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Count, NoisyCount};
/// use queryables::prelude::*;
/// use queryables::privacy::AnyMeasure;
///
/// let all = Predicate::new("all", |_: &u8| true);
/// let count: NoisyCount<Vec<u8>> = Count::of(all).laplace(epsilon!(0.25))?;
/// let fact = Private::<_, AddRemove>::loss(&count, &AnyMeasure)?;
/// assert_eq!(fact.to_string(), "Laplace noise, ε = 0.25");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// What is stated holds, under the neighbouring relation for which it is stated, for the mechanism
/// or for one of which it is a postprocessing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AnyMeasure;

impl Measure for AnyMeasure {
    type Loss = Fact;

    const REENTRANT: Reentrant = Reentrant(false);

    fn zero(&self) -> Fact {
        Fact::Pure(Pure {
            epsilon: Epsilon::ZERO,
        })
    }

    /// What is stated of a sample is about one order, that in which the record is added: it is an error
    /// here, before some measure prices the fact for that order alone.
    fn in_both_orders(&self, loss: Fact) -> Result<Fact, UnknownLoss> {
        if is_of_one_order(&loss) {
            return Err(UnknownLoss("it is stated for one order of two datasets"));
        }
        Ok(loss)
    }

    fn join(&self, one: &Fact, other: &Fact) -> Fact {
        match one.partial_cmp(other) {
            Some(Ordering::Less | Ordering::Equal) => other.clone(),
            Some(Ordering::Greater) => one.clone(),
            None => Fact::Either(Box::new([one.clone(), other.clone()])),
        }
    }

    fn group(&self, loss: &Fact, distance: Distance) -> Result<Fact, UnknownLoss> {
        loss.at(distance)
    }
}

fn is_of_one_order(fact: &Fact) -> bool {
    match fact {
        Fact::SampledGaussian(_) => true,
        Fact::Either(facts) => facts.iter().any(is_of_one_order),
        _ => false,
    }
}

/// Of facts, only pure losses are ordered: which of two others is the larger depends on the
/// measure.
impl PartialOrd for Fact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Pure(one), Self::Pure(other)) => one.epsilon.partial_cmp(&other.epsilon),
            _ => (self == other).then_some(Ordering::Equal),
        }
    }
}

/// What is stated is priced for postprocessings, too: see [`Fact`].
impl Postprocessable for AnyMeasure {}

/// As it is stated. ([`Pure`] follows from `PureDp`.)
macro_rules! kept {
    ($($Fact:ident)*) => {$(
        impl Prices<$Fact> for AnyMeasure {
            fn price(&self, fact: &$Fact) -> Result<Fact, UnknownLoss> {
                Ok(Fact::$Fact(fact.clone()))
            }
        }
    )*};
}

kept! { BoundedRange BoundedRanges Curve Gaussian Laplace Probabilistic SampledGaussian SampledReplacement }

impl Prices<Thresholded<Laplace>> for AnyMeasure {
    fn price(&self, fact: &Thresholded<Laplace>) -> Result<Fact, UnknownLoss> {
        Ok(Fact::Thresholded(*fact))
    }
}

impl Prices<Thresholded<Gaussian>> for AnyMeasure {
    fn price(&self, fact: &Thresholded<Gaussian>) -> Result<Fact, UnknownLoss> {
        Ok(Fact::ThresholdedGaussian(*fact))
    }
}

impl Prices<Fact> for AnyMeasure {
    fn price(&self, fact: &Fact) -> Result<Fact, UnknownLoss> {
        Ok(fact.clone())
    }
}

/// By definition.
impl Implies<AnyMeasure> for PureDp {
    fn imply(&self, loss: &Epsilon, _: &AnyMeasure) -> Result<Fact, UnknownLoss> {
        Ok(Fact::Pure(Pure { epsilon: *loss }))
    }
}

/// By definition.
impl Implies<AnyMeasure> for ApproxDp {
    fn imply(&self, loss: &EpsilonDelta, _: &AnyMeasure) -> Result<Fact, UnknownLoss> {
        Ok(Fact::ApproxDp(*loss))
    }
}

/// By definition.
impl Implies<AnyMeasure> for ProbabilisticDp {
    fn imply(&self, loss: &EpsilonDelta, _: &AnyMeasure) -> Result<Fact, UnknownLoss> {
        Ok(Fact::Probabilistic(Probabilistic { loss: *loss }))
    }
}

/// By definition.
impl Implies<AnyMeasure> for ZCdp {
    fn imply(&self, loss: &Rho, _: &AnyMeasure) -> Result<Fact, UnknownLoss> {
        Ok(Fact::ZCdp(*loss))
    }
}

/// μ-GDP is a postprocessing of N(0, 1) and N(μ, 1) (Dong, Roth, Su 2022, Theorem 2.10): whatever
/// follows for Gaussian noise follows from it.
impl Implies<AnyMeasure> for Gdp {
    fn imply(&self, loss: &Mu, _: &AnyMeasure) -> Result<Fact, UnknownLoss> {
        Ok(Fact::Gaussian(Gaussian::Mu(*loss)))
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;
    use crate::privacy::{ApproxRdp, ApproxZCdp, Rdp, RdpGrid, SampledGaussianDp};

    fn pure(epsilon: &str) -> Fact {
        PureDp
            .imply(&epsilon.parse().unwrap(), &AnyMeasure)
            .unwrap()
    }

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    fn laplace(epsilon: &str) -> Laplace {
        Laplace::of_count(epsilon.parse().unwrap())
    }

    #[test]
    fn what_is_stated_of_a_sample_is_about_one_order() {
        let gaussian = Gaussian::Mu("0.5".parse().unwrap());
        let sampled = SampledGaussian::new("0.1".parse().unwrap(), gaussian);
        let sampled = Fact::SampledGaussian(sampled);
        let either = Fact::Either(Box::new([pure("0.1"), sampled.clone()]));
        let why = UnknownLoss("it is stated for one order of two datasets");
        for fact in [sampled, either] {
            assert_eq!(AnyMeasure.in_both_orders(fact), Err(why));
        }
        assert_eq!(AnyMeasure.in_both_orders(pure("0.1")), Ok(pure("0.1")));
    }

    fn facts() -> Vec<Fact> {
        let gaussian = Gaussian::Mu("0.5".parse().unwrap());
        let rate = "0.1".parse().unwrap();
        vec![
            pure("0.5"),
            Fact::Laplace(laplace("0.5")),
            Fact::BoundedRange(BoundedRange {
                epsilon: "0.5".parse().unwrap(),
            }),
            Fact::BoundedRanges(BoundedRanges {
                epsilon: "0.5".parse().unwrap(),
                choices: NonZeroU64::MIN.saturating_add(1),
            }),
            Fact::Probabilistic(Probabilistic {
                loss: pair("0.5", "1e-6"),
            }),
            Fact::Gaussian(gaussian),
            Fact::SampledGaussian(SampledGaussian::new(rate, gaussian)),
            Fact::SampledReplacement((&SampledGaussian::new(rate, gaussian)).into()),
            Fact::Curve(Curve::new(|_| Ok("0.5".parse().unwrap()))),
            Fact::Thresholded(Thresholded {
                noise: laplace("0.5"),
                delta: "1e-6".parse().unwrap(),
            }),
            Fact::ThresholdedGaussian(Thresholded {
                noise: gaussian,
                delta: "1e-6".parse().unwrap(),
            }),
            Fact::ApproxDp(pair("0.5", "1e-6")),
            Fact::ZCdp("0.5".parse().unwrap()),
        ]
    }

    /// Which facts a measure prices, in the order of [`facts`].
    fn priced<Me: Prices<Fact>>(measure: &Me) -> String {
        let mark = |fact: Fact| match measure.price(&fact) {
            Ok(_) => 'x',
            Err(UnknownLoss(reason)) if reason.contains("has no price for what") => '.',
            Err(UnknownLoss("this measure has no loss where δ > 0")) => 'd',
            Err(unknown) => panic!("{fact}: {unknown}"),
        };
        facts().into_iter().map(mark).collect()
    }

    #[test]
    fn each_measure_prices_what_a_theorem_gives_it() {
        let order = "4".parse().unwrap();
        assert_eq!(priced(&PureDp), "xxxxd........");
        assert_eq!(priced(&ApproxDp), "xxxxx....x.x.");
        assert_eq!(priced(&ProbabilisticDp), "xxxxx....x.x.");
        assert_eq!(priced(&ZCdp), "xxxxdx......x");
        assert_eq!(priced(&ApproxZCdp), "xxxxxx...xxxx");
        assert_eq!(priced(&Rdp::new(order)), "xxxxdxxxx...x");
        assert_eq!(priced(&RdpGrid::new([order]).unwrap()), "xxxxdxxxx...x");
        assert_eq!(priced(&ApproxRdp::new(order)), "xxxxxxxxxxxxx");
        assert_eq!(priced(&Gdp), "xxxxdx.......");
        assert_eq!(
            priced(&SampledGaussianDp::new("0.1".parse().unwrap())),
            "......x......"
        );
        assert_eq!(priced(&AnyMeasure), "xxxxxxxxxxxxx");
    }

    #[test]
    fn the_price_is_that_of_what_is_inside() {
        let fact = laplace("0.5");
        let erased = AnyMeasure.price(&fact).unwrap();
        assert_eq!(PureDp.price(&erased), PureDp.price(&fact));
        assert_eq!(ZCdp.price(&erased), ZCdp.price(&fact));
        assert_eq!(Gdp.price(&erased), Gdp.price(&fact));
        let three = Distance::new(3).unwrap();
        assert_eq!(
            AnyMeasure.group(&erased, three),
            AnyMeasure.price(&fact.at(three).unwrap())
        );
    }

    /// (ε, δ)-pDP is not closed under postprocessing, and nobody knows what happened to the
    /// mechanism before it was erased.
    #[test]
    fn a_probabilistic_loss_is_priced_as_if_it_were_postprocessed() {
        let stated = |delta: &str| {
            let loss = pair("0.5", delta);
            (loss, ProbabilisticDp.imply(&loss, &AnyMeasure).unwrap())
        };
        let (loss, fact) = stated("1e-6");
        assert_eq!(
            ProbabilisticDp.price(&fact),
            ApproxDp.imply(&loss, &ProbabilisticDp)
        );
        assert_eq!(ApproxDp.price(&fact), Ok(loss));
        let (loss, fact) = stated("0");
        assert_eq!(ProbabilisticDp.price(&fact), Ok(loss));
    }

    #[test]
    fn of_two_facts_the_join_has_the_larger_price() {
        let (one, other) = (pure("0.3"), Fact::ZCdp("0.02".parse().unwrap()));
        let either = AnyMeasure.join(&one, &other);
        assert_eq!(either, Fact::Either(Box::new([one.clone(), other.clone()])));
        let [first, second] = [&one, &other].map(|fact| ZCdp.price(fact).unwrap());
        assert!(first > second);
        assert_eq!(ZCdp.price(&either), Ok(first));
        assert_eq!(
            PureDp.price(&either),
            Err(UnknownLoss(
                "PureDp has no price for what the mechanism states"
            ))
        );
        let two = Distance::new(2).unwrap();
        let apart = AnyMeasure.join(&one.at(two).unwrap(), &other.at(two).unwrap());
        assert_eq!(either.at(two), Ok(apart));
        assert_eq!(AnyMeasure.join(&pure("0.1"), &pure("0.3")), pure("0.3"));
        assert_eq!(AnyMeasure.join(&pure("0.3"), &pure("0.1")), pure("0.3"));
        assert_eq!(AnyMeasure.join(&other, &other), other);
    }

    #[test]
    fn a_fact_equals_itself_and_no_other() {
        let all = facts();
        for (at, one) in all.iter().enumerate() {
            for (place, other) in all.iter().enumerate() {
                assert_eq!(one == &other.clone(), at == place, "{one} {other}");
            }
        }
        // Two functions are not compared.
        let curves = [0, 1].map(|_| Fact::Curve(Curve::new(|_| Ok(Epsilon::ZERO))));
        assert_ne!(curves[0], curves[1]);
    }

    #[test]
    fn a_fact_says_its_numbers() {
        let said: Vec<_> = facts().iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "ε = 0.5",
                "Laplace noise, ε = 0.5",
                "bounded range, ε = 0.5",
                "2 bounded ranges, ε = 0.5",
                "probabilistic, (ε, δ) = (0.5, 1e-6)",
                "Gaussian noise, μ = 0.5",
                "Gaussian noise, μ = 0.5, sampled at a rate of 0.1",
                "Gaussian noise, μ = 0.5, sampled at a rate of 0.1, and a row replaced",
                "a Rényi curve",
                "Laplace noise above a threshold, ε = 0.5, δ = 1e-6",
                "Gaussian noise, μ = 0.5, above a threshold, δ = 1e-6",
                "(ε, δ) = (0.5, 1e-6)",
                "ρ = 0.5",
            ]
        );
        let either = AnyMeasure.join(&pure("0.3"), &Fact::ZCdp("0.02".parse().unwrap()));
        assert_eq!(either.to_string(), "ε = 0.3, or ρ = 0.02");
    }
}
