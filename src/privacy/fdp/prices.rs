//! What follows under f-DP from other measures and from facts, and what follows from f-DP.

use std::num::NonZeroU64;

use super::curve::Deviation;
use super::{FDp, Profile};
use crate::number::{Delta, Epsilon, Interval, Mu};
use crate::price_any_fact;
use crate::privacy::facts::{
    BoundedRange, BoundedRanges, Gaussian, Laplace, Probabilistic, SampledGaussian,
    SampledReplacement, Thresholded,
};
use crate::privacy::{
    ApproxDp, EpsilonDelta, Gdp, Implies, ImpliesAt, Prices, ProbabilisticDp, PureDp, UnknownLoss,
};

/// The profile of randomized response, of which every ε-DP mechanism is a postprocessing (Kairouz,
/// Oh, Viswanath 2015).
impl Implies<FDp> for PureDp {
    fn imply(&self, loss: &Epsilon, _: &FDp) -> Result<Profile, UnknownLoss> {
        Ok(Profile::randomized_response(*loss))
    }
}

/// The profile of (ε, δ)-randomized response, of which every (ε, δ)-DP mechanism is a postprocessing
/// (Kairouz, Oh, Viswanath 2015).
impl Implies<FDp> for ApproxDp {
    fn imply(&self, loss: &EpsilonDelta, _: &FDp) -> Result<Profile, UnknownLoss> {
        Ok(Profile::approx_dp(*loss))
    }
}

/// What (ε, δ)-DP implies (Rogers et al. Lemma 2.3).
impl Implies<FDp> for ProbabilisticDp {
    fn imply(&self, loss: &EpsilonDelta, to: &FDp) -> Result<Profile, UnknownLoss> {
        ApproxDp.imply(loss, to)
    }
}

/// By definition (Tran et al. 2.4).
impl Implies<FDp> for Gdp {
    fn imply(&self, loss: &Mu, _: &FDp) -> Result<Profile, UnknownLoss> {
        Ok(Profile::gaussian(*loss))
    }
}

/// [`Profile::mu`], where one is known.
impl Implies<Gdp> for FDp {
    fn imply(&self, loss: &Profile, _: &Gdp) -> Result<Mu, UnknownLoss> {
        loss.mu().map_err(|_| {
            UnknownLoss("no μ is known for this trade-off function: read (ε, δ) from it instead")
        })
    }
}

/// [`Profile::epsilon`] (Tran et al. A.1). Here `slack` is all of δ.
impl ImpliesAt for FDp {
    fn imply_at(&self, loss: &Profile, slack: Delta) -> Result<EpsilonDelta, UnknownLoss> {
        let epsilon = loss.epsilon(slack).map_err(|_| {
            UnknownLoss("the profile is not certified at so small a δ: choose a larger one")
        })?;
        Ok(EpsilonDelta {
            epsilon: epsilon.upper,
            delta: slack,
        })
    }
}

/// The profile of one number that changes by all the steps together: `steps · answers` of them. For a
/// single step that is randomized response.
///
/// # Guarantee
///
/// Numbers that change by x₁, x₂, … are together at least as private as one that changes by the sum.
/// *Proof*, for two, A and B steps; the rest is induction. Let a = e^(−s) be the odds of one step. For
/// a change by t, weigh each loss u by e^(u/2) times its probability under Q. That gives the law
/// ν_t = a^(t/2)/(1 + a) · (1 at ±t·s, and 1 − a at the places (t − 2k)·s between), and the profile is
/// the integral of g(u) = (e^(u/2) − γe^(−u/2))⁺. Compare ν_{A+B} with the convolution of ν_A and ν_B.
/// At ±(A + B)·s the first is larger, 1/(1 + a) to 1/(1 + a)². Elsewhere the second is at least as
/// large: in units of a^((A+B)/2)/(1 + a)² the first has 1 − a² and the second at least 2(1 − a), as an
/// end of either law meets the places between of the other one twice; where it meets only once, at
/// ±(A − B)·s, two ends meet and add 1. So the difference has the signs +, −, +. Both laws give 1 to
/// e^(u/2) and to e^(−u/2), so some combination of these two is below g outside of the two changes of
/// sign and above g between them; its integral against the difference is 0, so that of g is not
/// negative. ∎
///
/// A larger ε for each step is less private: noise with odds of e^(−s|k|) is noise with
/// faster falling odds e^(−t|k|), plus independent noise. In terms of generating functions, with
/// a = e^(−s) > b = e^(−t), the quotient (1 − bz)/(1 − az) = b/a + (1 − b/a)Σ aᵏzᵏ has no negative
/// coefficient, and so has its mirror image.
impl Prices<Laplace> for FDp {
    fn price(&self, fact: &Laplace) -> Result<Profile, UnknownLoss> {
        let steps = fact.steps.checked_mul(fact.answers);
        match steps.map(NonZeroU64::get) {
            Some(steps) if steps > 1 => Ok(Profile::discrete_laplace(fact.epsilon, steps)),
            _ => PureDp.imply(&fact.epsilon, self),
        }
    }
}

/// By definition: what is a postprocessing of Gaussian noise, as rounded noise is, is dominated by
/// its profile (Tran et al. 2.4). A count with a deviation of less than 1 has the profile of what is
/// drawn, which is nowhere above; with more noise rounding hides less than 4 % of μ, and a smooth
/// profile has the narrower bounds when it is composed.
///
/// # Guarantee
///
/// Let p(k) be the probability that Gaussian noise of deviation σ is rounded to k, and G(t) that it is
/// rounded to more than t. The counts that do not change have the same answers on both sides, which are
/// independent of the rest. The one that changes by 1 has the profile sup (P − γQ)(A) over sets A of
/// integers, with P(k) = p(k − 1) and Q(k) = p(k). p is log-concave, because it is the integral of a
/// log-concave density over intervals of one length (Prékopa), so p(k − 1)/p(k) rises with k. The best A
/// is therefore all k above some t, and the profile is the supremum of G(t − 1) − γG(t), over whole t and
/// where A is everything or nothing: this is what [`Profile::rounded_gaussian`] computes, with σ enclosed.
/// p is even, so k ↦ −k turns a change by −1 into one by 1, and k ↦ 1 − k turns P against Q into Q against
/// P: the profile is that of either change, in both directions. A count that does not change has the
/// profile (1 − γ)⁺, which no profile is below.
impl Prices<Gaussian> for FDp {
    fn price(&self, fact: &Gaussian) -> Result<Profile, UnknownLoss> {
        let mu = Gdp.price(fact)?;
        let rounding_hides = Interval::from(mu).low() > 1.0;
        Ok(match fact {
            Gaussian::CountMu(mu) if rounding_hides => {
                Profile::rounded_count(Deviation::OverMu(*mu))
            }
            Gaussian::CountRho(rho) if rounding_hides => {
                Profile::rounded_count(Deviation::OverRho(*rho))
            }
            _ => Gdp.imply(&mu, self)?,
        })
    }
}

/// The worst case, exactly (see [`BoundedRange`]).
impl Prices<BoundedRange> for FDp {
    fn price(&self, fact: &BoundedRange) -> Result<Profile, UnknownLoss> {
        Ok(Profile::bounded_range(fact.epsilon))
    }
}

/// What (ε, δ)-DP implies.
impl Prices<Probabilistic> for FDp {
    fn price(&self, fact: &Probabilistic) -> Result<Profile, UnknownLoss> {
        ProbabilisticDp.imply(&fact.loss, self)
    }
}

/// Zhu, Dong, Wang 2022, Theorem 11.
impl Prices<SampledGaussian> for FDp {
    fn price(&self, fact: &SampledGaussian) -> Result<Profile, UnknownLoss> {
        let mu = Gdp.price(&fact.gaussian())?;
        Ok(Profile::sampled_gaussian_by(fact.rate(), mu))
    }
}

/// That of the dominating pair.
impl Prices<SampledReplacement> for FDp {
    fn price(&self, fact: &SampledReplacement) -> Result<Profile, UnknownLoss> {
        let mu = Gdp.price(&fact.added().gaussian())?;
        Ok(Profile::sampled_replacement(fact.added().rate(), mu))
    }
}

/// What (ε, δ)-DP implies.
impl Prices<Thresholded<Laplace>> for FDp {
    fn price(&self, fact: &Thresholded<Laplace>) -> Result<Profile, UnknownLoss> {
        ApproxDp.imply(&ApproxDp.price(fact)?, self)
    }
}

/// That of one choice is its own. For several it is what ε-DP implies: intervals whose place depends on
/// earlier choices are together no interval of length ε, and a composition on a grid has no parameters
/// by which it could be compared or written down. Such mechanisms are composed on a grid of one's own
/// ([`Profile::compose`]).
impl Prices<BoundedRanges> for FDp {
    fn price(&self, fact: &BoundedRanges) -> Result<Profile, UnknownLoss> {
        match fact.choices {
            NonZeroU64::MIN => self.price(&BoundedRange {
                epsilon: fact.epsilon,
            }),
            _ => Ok(Profile::randomized_response(fact.epsilon)),
        }
    }
}

price_any_fact!(FDp);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Measure;
    use crate::privacy::facts::Fact;
    use crate::privacy::facts::{Curve, Pure};
    use crate::privacy::fdp::{Adjacency, Blackwell, Grid};
    use std::num::NonZeroU64;

    fn text<T: std::str::FromStr>(number: &str) -> T
    where
        T::Err: std::fmt::Debug,
    {
        number.parse().unwrap()
    }

    fn laplace(epsilon: &str, steps: u64, answers: u64) -> Laplace {
        Laplace {
            epsilon: text(epsilon),
            steps: NonZeroU64::new(steps).unwrap(),
            answers: NonZeroU64::new(answers).unwrap(),
        }
    }

    fn ranges(epsilon: &str, choices: u64) -> BoundedRanges {
        BoundedRanges {
            epsilon: text(epsilon),
            choices: NonZeroU64::new(choices).unwrap(),
        }
    }

    fn replacement(rate: &str, mu: &str) -> SampledReplacement {
        let gaussian = Gaussian::Mu(text(mu));
        SampledReplacement::from(&SampledGaussian::new(text(rate), gaussian))
    }

    #[test]
    fn one_choice_is_a_bounded_range() {
        let one = BoundedRange {
            epsilon: text("0.3"),
        };
        assert_eq!(FDp.price(&ranges("0.3", 1)), FDp.price(&one));
        assert_eq!(
            FDp.price(&ranges("0.3", 2)),
            Ok(Profile::randomized_response(one.epsilon))
        );
    }

    /// A fact that is chosen at run time has the price of what is inside, or none.
    #[test]
    fn a_fact_is_priced_as_what_is_inside() {
        let pair = EpsilonDelta::new("0.5", "1e-6").unwrap();
        let gaussian = Gaussian::Mu(text("0.5"));
        let sampled = SampledGaussian::new(text("0.1"), gaussian);
        let pure = Pure {
            epsilon: text("0.5"),
        };
        let range = BoundedRange {
            epsilon: text("0.5"),
        };
        let thresholded = Thresholded {
            noise: laplace("0.5", 1, 1),
            delta: pair.delta,
        };
        for (fact, price) in [
            (Fact::Pure(pure), FDp.price(&pure)),
            (
                Fact::Laplace(laplace("0.5", 3, 1)),
                FDp.price(&laplace("0.5", 3, 1)),
            ),
            (Fact::BoundedRange(range), FDp.price(&range)),
            (
                Fact::BoundedRanges(ranges("0.5", 2)),
                FDp.price(&ranges("0.5", 2)),
            ),
            (
                Fact::Probabilistic(Probabilistic { loss: pair }),
                FDp.price(&Probabilistic { loss: pair }),
            ),
            (Fact::Gaussian(gaussian), FDp.price(&gaussian)),
            (Fact::SampledGaussian(sampled.clone()), FDp.price(&sampled)),
            (
                Fact::SampledReplacement(replacement("0.1", "0.5")),
                FDp.price(&replacement("0.1", "0.5")),
            ),
            (Fact::Thresholded(thresholded), FDp.price(&thresholded)),
            (Fact::ApproxDp(pair), Ok(Profile::approx_dp(pair))),
        ] {
            assert!(price.is_ok());
            assert_eq!(FDp.price(&fact), price, "{fact}");
            let either = Fact::Either(Box::new([fact, Fact::Pure(pure)]));
            let both = FDp.join(&price.unwrap(), &FDp.price(&pure).unwrap());
            assert_eq!(FDp.price(&either), Ok(both));
        }
        let none = UnknownLoss("FDp has no price for what the mechanism states");
        let thresholded = Thresholded {
            noise: gaussian,
            delta: pair.delta,
        };
        for fact in [
            Fact::ZCdp(text("0.5")),
            Fact::Curve(Curve::new(|_| Ok(text("0.5")))),
            Fact::ThresholdedGaussian(thresholded),
        ] {
            assert_eq!(FDp.price(&fact), Err(none), "{fact}");
        }
    }

    /// ∫(P − γQ)⁺ on a grid of the plane, for rows that move the sum by u and by v.
    fn hockey_stick(rate: f64, [u, v]: [[f64; 2]; 2], gamma: f64) -> f64 {
        let step = 0.125;
        let places = || (-64..=64).map(|place| f64::from(place) * step);
        let density = |x: [f64; 2], [a, b]: [f64; 2]| {
            let square = (x[0] - a).powi(2) + (x[1] - b).powi(2);
            (-0.5 * square).exp() / std::f64::consts::TAU
        };
        let heights = places()
            .flat_map(|x| places().map(move |y| [x, y]))
            .map(|x| {
                let rest = (1.0 - rate) * density(x, [0.0, 0.0]);
                let (p, q) = (rest + rate * density(x, u), rest + rate * density(x, v));
                (p - gamma * q).max(0.0)
            });
        heights.sum::<f64>() * step * step
    }

    #[test]
    fn no_two_rows_are_worse_than_opposite_ones() {
        let mu = 1.5;
        let at = |length: f64, angle: f64| [length * angle.cos(), length * angle.sin()];
        for (rate, gamma) in [(0.2, 1.0), (0.2, 1.4), (0.7, 1.0), (0.7, 3.0)] {
            let profile = FDp
                .price(&replacement(&rate.to_string(), &mu.to_string()))
                .unwrap();
            let epsilon = Interval::exactly(gamma).ln().up().unwrap();
            let bound = Interval::from(profile.worst_delta(epsilon).upper).middle();
            let u = at(mu, 0.0);
            for angle in [0.0, 0.8, 1.6, 2.4, 3.0] {
                for length in [0.0, 0.5 * mu, mu] {
                    for pair in [[u, at(length, angle)], [at(length, angle), u]] {
                        let found = hockey_stick(rate, pair, gamma);
                        // 5e-4 for the grid: (P − γQ)⁺ has a kink.
                        assert!(
                            found <= bound + 5e-4,
                            "{rate} {gamma} {pair:?}: {found} {bound}"
                        );
                    }
                }
            }
            let worst = hockey_stick(rate, [u, [-mu, 0.0]], gamma);
            assert!(
                (worst - bound).abs() < 5e-4,
                "{rate} {gamma}: {worst} {bound}"
            );
        }
    }

    #[test]
    fn facts_state_their_own_profiles() {
        let response = Profile::randomized_response(text("0.3"));
        assert_eq!(
            FDp.price(&Pure {
                epsilon: text("0.3")
            }),
            Ok(response.clone())
        );
        let range = BoundedRange {
            epsilon: text("0.3"),
        };
        assert_eq!(FDp.price(&range), Ok(Profile::bounded_range(text("0.3"))));
        assert_eq!(FDp.price(&laplace("0.3", 1, 1)), Ok(response.clone()));
        for (steps, answers) in [(3, 1), (1, 3)] {
            assert_eq!(
                FDp.price(&laplace("0.3", steps, answers)),
                Ok(Profile::discrete_laplace(text("0.3"), 3))
            );
        }
        // Too many steps to count: what is ε-DP.
        assert_eq!(FDp.price(&laplace("0.3", u64::MAX, 2)), Ok(response));
        assert_eq!(
            FDp.price(&Gaussian::Rho(text("0.5"))),
            Ok(Profile::gaussian(text("1")))
        );
        let loss = EpsilonDelta::new("0.5", "1e-3").unwrap();
        assert_eq!(
            FDp.price(&Probabilistic { loss }),
            Ok(Profile::approx_dp(loss))
        );
    }

    /// Parameters and grids say the same of bounded ranges, and their own δ is on the curve.
    #[test]
    fn a_bounded_range_is_between_others() {
        let range = Profile::bounded_range(text("0.8"));
        let fact = BoundedRange {
            epsilon: text("0.8"),
        };
        for at in ["0", "0.1", "0.5", "0.79", "0.8", "2"] {
            let delta = range.worst_delta(text(at));
            let exact = fact.delta(text(at));
            assert!(delta.lower <= exact && exact <= delta.upper, "{at}");
            assert!(
                delta.upper.saturating_sub(delta.lower) < text("1e-14"),
                "{at}"
            );
        }
        let mu = range.mu().unwrap();
        assert_eq!(Ok(mu), Gdp.price(&fact));
        let (grid, remove) = (Grid::new(text("1e-3")).unwrap(), Adjacency::Remove);
        for (other, order) in [
            (
                Profile::randomized_response(text("0.8")),
                Blackwell::Ordered,
            ),
            (Profile::bounded_range(text("0.9")), Blackwell::Ordered),
            (Profile::bounded_range(text("0.7")), Blackwell::Reversed),
        ] {
            assert_eq!(range.compare(&other, remove, &grid), Ok(order), "{other}");
            assert!(range.is_known_below(&other) == (order == Blackwell::Ordered));
        }
        // Two of them, on a grid, are between two of each.
        let two = |profile: &Profile| {
            let all = profile.power(2, &grid).unwrap();
            all.worst_delta(text("0.5"))
        };
        let gaussian = Profile::gaussian(mu);
        let response = Profile::randomized_response(text("0.8"));
        assert!(two(&range).upper < two(&gaussian).lower);
        assert!(two(&range).upper < two(&response).lower);
    }

    /// A number that changes by one: the noise is below or above, and nothing else is learnt.
    #[test]
    fn discrete_laplace_noise_on_a_count_is_randomized_response() {
        let noise = Profile::discrete_laplace(text("0.7"), 1);
        let response = Profile::randomized_response(text("0.7"));
        for epsilon in ["0", "0.1", "0.35", "0.69", "0.7", "1"] {
            let [one, other] =
                [&noise, &response].map(|profile| profile.delta(Adjacency::Remove, text(epsilon)));
            assert!(
                one.lower <= other.upper && other.lower <= one.upper,
                "{epsilon}"
            );
            let apart = one.upper.saturating_sub(one.lower);
            assert!(apart < text("1e-12"), "{epsilon}");
        }
        // In steps of three, less is learnt than from one answer that is 0.7-DP.
        let three = Profile::discrete_laplace(text("0.7"), 3);
        let at = |profile: &Profile| profile.delta(Adjacency::Remove, text("0.35"));
        assert!(at(&three).upper < at(&response).lower);
    }

    /// The law of the loss of a number that changes by some steps, under P: exact but for floats.
    fn losses(odds: f64, steps: i32) -> Vec<(i32, f64)> {
        let mut losses = vec![
            (steps, 1.0 / (1.0 + odds)),
            (-steps, odds.powi(steps) / (1.0 + odds)),
        ];
        for place in 1..steps {
            let mass = (1.0 - odds) / (1.0 + odds) * odds.powi(place);
            losses.push((steps - 2 * place, mass));
        }
        losses
    }

    #[test]
    fn numbers_that_change_together_are_no_worse_than_one() {
        for (odds, one, other) in [
            (0.9, 1, 1),
            (0.5, 1, 3),
            (0.7, 2, 2),
            (0.95, 5, 2),
            (0.1, 4, 4),
        ] {
            let each: f64 = -libm::log(odds);
            let (first, second) = (losses(odds, one), losses(odds, other));
            let both = first
                .iter()
                .flat_map(|(a, p)| second.iter().map(move |(b, q)| (a + b, p * q)));
            let both: Vec<(i32, f64)> = both.collect();
            let whole: f64 = both.iter().map(|(_, mass)| mass).sum();
            assert!((whole - 1.0).abs() < 1e-12);
            let steps = (one + other) as u32;
            let together = Profile::discrete_laplace(
                (each * f64::from(steps)).try_into().unwrap(),
                steps.into(),
            );
            for place in -40..=40 {
                let s = f64::from(place) / 40.0 * each * f64::from(steps);
                let exact: f64 = both
                    .iter()
                    .map(|(loss, mass)| mass * (1.0 - (s - f64::from(*loss) * each).exp()).max(0.0))
                    .sum();
                let bound = together.at(Adjacency::Remove, Interval::exactly(s)).high();
                assert!(
                    exact <= bound + 1e-12,
                    "{odds} {one} {other} {s}: {exact} {bound}"
                );
            }
        }
    }

    #[test]
    fn what_follows_from_f_dp() {
        let response = Profile::approx_dp(EpsilonDelta::new("0.5", "1e-3").unwrap());
        let at = FDp.imply_at(&response, text("2e-3")).unwrap();
        assert!(at.epsilon < text("0.5") && at.delta == text("2e-3"), "{at}");
        assert_eq!(
            FDp.imply_at(&response, text("1e-4")),
            Err(UnknownLoss(
                "the profile is not certified at so small a δ: choose a larger one"
            ))
        );
        assert_eq!(
            FDp.imply(&response, &Gdp),
            Err(UnknownLoss(
                "no μ is known for this trade-off function: read (ε, δ) from it instead"
            ))
        );
        assert_eq!(
            FDp.imply(&Profile::gaussian(text("0.3")), &Gdp),
            Ok(text("0.3"))
        );
    }
}
