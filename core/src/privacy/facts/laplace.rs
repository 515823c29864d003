use std::num::NonZeroU64;

use super::{Diverges, through};
use crate::number::{Epsilon, Mu, Order, Rho, U256};
use crate::privacy::convert::{gdp, rdp, zcdp};
use crate::privacy::{
    ApproxDp, ApproxZCdp, Distance, Gdp, Measure, Prices, ProbabilisticDp, PureDp, UnknownLoss,
    ZCdp,
};

/// Discrete Laplace noise on whole numbers, each of which has noise of its own.
///
/// Between neighbours at most `answers` of them change, each by at most `steps`. The noise has a
/// scale of `steps · answers / ε`, so that it is ε-DP. It is also true of more numbers, if all of them
/// together change by at most `steps · answers` and each by at most `steps`.
///
/// ```
/// use std::num::NonZeroU64;
/// use queryables::privacy::facts::{Laplace, Pure};
/// use queryables::privacy::{Prices, ZCdp};
///
/// // A replaced row changes two bins of a histogram.
/// let epsilon = "1".parse()?;
/// let answers = NonZeroU64::new(2).expect("not zero");
/// let bins = Laplace { answers, ..Laplace::of_count(epsilon) };
/// assert!(ZCdp.price(&bins)? < ZCdp.price(&Pure { epsilon })?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// The answers are independent, so that their Rényi divergences add up; each is ε/`answers`-DP.
///
/// At a distance of d each number changes by at most d·`steps`, and all of them together by at most
/// d·`steps`·`answers`. The divergences are then largest if `answers` numbers change by d·`steps`
/// each. Why: by [`rdp::discrete_laplace`], e^((α−1)D) of one number that changes by x is
/// `A·e^((α−1)sx) + B·e^(−αsx)`, where 1/s is the scale, with `A + B = 1` and `B = (q − r)/((1 +
/// q)(1 − r)) ≥ 0`. A sum of exponentials is log-convex, so D is convex in x and zero at 0; and a
/// sum of convex functions, each on [0, d·`steps`], with the sum of their arguments bounded, is
/// largest at a corner. The same holds of pure privacy, where D is linear in x, and of zCDP, where the
/// cost is convex in x too ([`zcdp::discrete_laplace`]). Under GDP it is not; [`Gdp`]'s price says what
/// is done there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Laplace {
    /// The ε of all answers together.
    pub epsilon: Epsilon,
    /// By how much an answer changes, at most.
    pub steps: NonZeroU64,
    /// How many answers change, at most.
    pub answers: NonZeroU64,
}

impl Laplace {
    /// Noise on a single number that changes by one: of scale 1/ε.
    #[must_use]
    pub fn of_count(epsilon: Epsilon) -> Self {
        Self {
            epsilon,
            steps: NonZeroU64::MIN,
            answers: NonZeroU64::MIN,
        }
    }

    /// What is true at a distance of d: as many answers change, by d times as much.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if d·ε cannot be held.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        let factor = NonZeroU64::new(distance.steps());
        // A number of steps that cannot be held is taken as one, and priced at what pure privacy
        // implies. That is never too little: the noise is ε-DP whatever the number of steps. Under
        // f-DP it is not either, because the true number of steps is a multiple N of the one that
        // is priced: the noise with odds q in fine steps is the noise with odds q^N in coarse ones
        // plus J − J′, independent, with P(j) ∝ q^j on 0, …, N − 1, as their characteristic
        // functions show. So it is a postprocessing.
        let steps = factor.and_then(|factor| self.steps.checked_mul(factor));
        Ok(Self {
            epsilon: PureDp.group(&self.epsilon, distance)?,
            steps: steps.unwrap_or(NonZeroU64::MIN),
            answers: self.answers,
        })
    }

    /// The ε of one answer, rounded up.
    fn share(&self) -> Epsilon {
        let units = self.epsilon.units().div_ceil(self.answers.get().into());
        Epsilon::from_units(units).unwrap_or(self.epsilon)
    }
}

/// The noise's odds fall by e^(−ε/(`steps`·`answers`)) with each step, by definition.
impl Prices<Laplace> for PureDp {
    fn price(&self, fact: &Laplace) -> Result<Epsilon, UnknownLoss> {
        Ok(fact.epsilon)
    }
}

/// The divergence of one answer ([`rdp::discrete_laplace`]), as many times; never more than what
/// ε-DP implies ([`rdp::pure`]).
impl Diverges for Laplace {
    fn divergence(&self, order: Order) -> Result<Epsilon, UnknownLoss> {
        let each = rdp::discrete_laplace(order, self.steps, self.share());
        if self.answers == NonZeroU64::MIN {
            return Ok(each);
        }
        let most = rdp::pure(order, self.epsilon);
        let all = each.checked_mul(self.answers.get());
        Ok(all.map_or(most, |all| all.min(most)))
    }
}

/// That of one answer ([`zcdp::discrete_laplace`]), as many times (Bun and Steinke 2016, Lemma 1.7). It is
/// exact, up to the rounding.
impl Prices<Laplace> for ZCdp {
    fn price(&self, fact: &Laplace) -> Result<Rho, UnknownLoss> {
        let most = zcdp::pure(fact.epsilon);
        let each = zcdp::discrete_laplace(fact.steps, fact.share());
        let all = each.checked_mul(fact.answers.get());
        Ok(all.map_or(most, |all| all.min(most)))
    }
}

/// The least of what follows in two ways.
///
/// As one number that changes by `steps · answers` ([`gdp::discrete_laplace`]): all of them together are at
/// least as private (the price under f-DP has the proof). With one answer this is exact.
///
/// By composition of the answers: `gdp::discrete_laplace_each` bounds the sum of the squares, however the
/// change is divided among them.
impl Prices<Laplace> for Gdp {
    fn price(&self, fact: &Laplace) -> Result<Mu, UnknownLoss> {
        // A number of steps that cannot be held is taken as one, as in [`Laplace::at`].
        let steps = fact.steps.checked_mul(fact.answers);
        let one = gdp::discrete_laplace(steps.unwrap_or(NonZeroU64::MIN), fact.epsilon);
        if fact.answers == NonZeroU64::MIN {
            return one;
        }
        let each = gdp::discrete_laplace_each(fact.steps, fact.share());
        let square = |each| U256::of(each).checked_mul(fact.answers.get().into());
        let all = each.ok().and_then(square).and_then(U256::root_up);
        let all = all.and_then(|units| Mu::from_units(units).ok());
        match (all, one) {
            (Some(all), Ok(one)) => Ok(all.min(one)),
            (all, one) => all.map_or(one, Ok),
        }
    }
}

through!(Laplace: PureDp => ApproxDp, PureDp => ProbabilisticDp, ZCdp => ApproxZCdp);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Rdp;
    use proptest::prelude::*;

    fn of(epsilon: &str, steps: u64, answers: u64) -> Laplace {
        Laplace {
            epsilon: epsilon.parse().unwrap(),
            steps: NonZeroU64::new(steps).unwrap(),
            answers: NonZeroU64::new(answers).unwrap(),
        }
    }

    fn order(text: &str) -> Order {
        text.parse().unwrap()
    }

    /// A share that cannot be held is rounded up, and the whole is still no more than ε.
    #[test]
    fn shares_are_rounded_up() {
        assert_eq!(of("1", 1, 3).share().units(), 10_u128.pow(27).div_ceil(3));
        assert_eq!(of("1e-27", 1, 3).share(), "1e-27".parse().unwrap());
        assert_eq!(
            Rdp::new(order("2")).price(&of("1e-27", 1, 3)),
            Ok("1e-27".parse().unwrap())
        );
    }

    #[test]
    fn independent_answers_add_up() {
        let rdp = Rdp::new(order("3"));
        let half: Epsilon = rdp.price(&of("0.5", 1, 1)).unwrap();
        assert_eq!(rdp.price(&of("1", 1, 2)), Ok(half.checked_mul(2).unwrap()));
        let half: Rho = ZCdp.price(&of("0.5", 1, 1)).unwrap();
        assert_eq!(ZCdp.price(&of("1", 1, 2)), Ok(half.checked_mul(2).unwrap()));
        // √4 times what a quarter has.
        let quarter: Mu = Gdp.price(&of("0.25", 1, 1)).unwrap();
        assert_eq!(
            Gdp.price(&of("1", 1, 4)),
            Ok(quarter.checked_mul(2).unwrap())
        );
        // √2 is rounded up.
        let half: Mu = Gdp.price(&of("0.5", 1, 1)).unwrap();
        let both: Mu = Gdp.price(&of("1", 1, 2)).unwrap();
        assert!(U256::of(both) > U256::of(half).checked_mul(2).unwrap());
        assert!(Gdp.price(&of("1", 1, 4)).unwrap() < gdp::pure("1".parse().unwrap()).unwrap());
    }

    /// Where their number makes no difference, the whole is what ε-DP implies.
    #[test]
    fn what_cannot_be_added_up_is_still_private() {
        let large = of("3.4e11", 1, 3);
        let most = rdp::pure(order("2"), large.epsilon);
        assert!(Rdp::new(order("2")).price(&large).unwrap() <= most);
        assert_eq!(ZCdp.price(&large), Ok(zcdp::pure(large.epsilon)));
        assert!(Gdp.price(&large).unwrap() <= gdp::pure(large.epsilon).unwrap());
    }

    #[test]
    fn a_distance_multiplies_the_steps() {
        let three = Distance::new(3).unwrap();
        assert_eq!(of("0.1", 2, 5).at(three), Ok(of("0.3", 6, 5)));
        assert_eq!(of("0.1", u64::MAX, 5).at(three), Ok(of("0.3", 1, 5)));
        assert_eq!(
            of("3.4e11", 1, 1).at(three),
            Err(UnknownLoss("the loss is more than can be held"))
        );
    }

    /// Σ p(k)^α q(k)^(1−α) for noise of decay q per step, summed up in floats.
    fn moment(decay: f64, shift: i32, order: f64) -> f64 {
        let law = |k: i32| (1.0 - decay) / (1.0 + decay) * decay.powi(k.abs());
        // As a power of the ratio, so that nothing underflows.
        let ratio = |k: i32| decay.powi(k.abs() - (k - shift).abs());
        let terms = (-2000..=2000).map(|k| law(k - shift) * ratio(k).powf(order));
        terms.sum()
    }

    /// Up to 3, 5 and 2 steps: however they are divided among numbers, no division costs more than
    /// what is charged for all of them, and one division costs as much.
    #[test]
    fn no_division_of_the_change_costs_more() {
        let float = |text: String| text.parse::<f64>().unwrap();
        let rho = |s: f64, k: u32| {
            let x = f64::from(k) * s;
            x + (-x).exp_m1() * s / s.sinh()
        };
        for (epsilon, steps, answers) in [("1", 3, 2), ("0.3", 5, 1), ("20", 2, 3), ("9", 3, 2)] {
            let fact = of(epsilon, steps, answers);
            let s = epsilon.parse::<f64>().unwrap() / (steps * answers) as f64;
            let price = float(ZCdp.price(&fact).unwrap().to_string());
            let worst = divisions(steps as u32 * answers as u32, steps as u32)
                .into_iter()
                .map(|parts| parts.into_iter().map(|part| rho(s, part)).sum::<f64>())
                .fold(0.0, f64::max);
            assert!((price / worst - 1.0).abs() < 1e-9, "{price} {worst}");
            // And no profile is above that of Gaussian noise.
            let mu = float(Gdp.price(&fact).unwrap().to_string());
            for parts in divisions(steps as u32 * answers as u32, steps as u32) {
                for epsilon in [0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0] {
                    let found = profile(s, &parts, epsilon);
                    let allowed = gaussian_profile(mu, epsilon);
                    assert!(found <= allowed + 1e-12, "{parts:?}: {found} {allowed}");
                }
            }
        }
    }

    /// δ(ε) of N(μ, 1) against N(0, 1).
    fn gaussian_profile(mu: f64, epsilon: f64) -> f64 {
        let tail = |t: f64| 0.5 * libm::erfc(t / std::f64::consts::SQRT_2);
        tail(epsilon / mu - mu / 2.0) - epsilon.exp() * tail(epsilon / mu + mu / 2.0)
    }

    /// All ways to write `total` as a sum of numbers from 1 to `most`, the largest first.
    fn divisions(total: u32, most: u32) -> Vec<Vec<u32>> {
        if total == 0 {
            return vec![vec![]];
        }
        let firsts = 1..=most.min(total);
        firsts
            .flat_map(|first| {
                divisions(total - first, first)
                    .into_iter()
                    .map(move |mut rest| {
                        rest.insert(0, first);
                        rest
                    })
            })
            .collect()
    }

    /// δ(ε) of noises against the same shifted by these numbers of steps.
    fn profile(s: f64, shifts: &[u32], epsilon: f64) -> f64 {
        // (loss, probability) of all together; a loss is a whole number of s.
        let mut law = std::collections::BTreeMap::from([(0_i64, 1.0)]);
        let q = (-s).exp();
        for shift in shifts.iter().map(|shift| i64::from(*shift)) {
            let mut next = std::collections::BTreeMap::new();
            for (loss, mass) in &law {
                let mut add =
                    |more: i64, odds: f64| *next.entry(loss + more).or_insert(0.0) += mass * odds;
                add(shift, 1.0 / (1.0 + q));
                (1..shift)
                    .for_each(|j| add(shift - 2 * j, (1.0 - q) / (1.0 + q) * q.powi(j as i32)));
                add(-shift, q.powi(shift as i32) / (1.0 + q));
            }
            law = next;
        }
        law.into_iter()
            .map(|(loss, mass)| mass * (1.0 - (epsilon - s * loss as f64).exp()).max(0.0))
            .sum()
    }

    #[test]
    fn sums_in_fine_steps_cost_less_than_counts() {
        let [count, sum] = [1, 1000].map(|steps| of("1", steps, 1));
        let ratio = |a: String, b: String| a.parse::<f64>().unwrap() / b.parse::<f64>().unwrap();
        let zcdp = |fact| ZCdp.price(&fact).unwrap().to_string();
        let gdp = |fact| Gdp.price(&fact).unwrap().to_string();
        // tanh(1/2) to e^−1, and 1.2320 to 1.0300.
        assert!((ratio(zcdp(count), zcdp(sum)) - 1.25616).abs() < 1e-5);
        assert!((ratio(gdp(count), gdp(sum)) - 1.19611).abs() < 1e-4);
    }

    proptest! {
        /// However this number of steps is divided among answers, the loss is within the price.
        #[test]
        fn at_a_distance_no_change_of_the_answers_costs_more(
            hundredths in 1_u32..100, answers in 1_u64..4, distance in 1_u64..4,
            order in 1.1..6.0_f64, rows in proptest::collection::vec(any::<[bool; 4]>(), 3),
        ) {
            let epsilon = format!("{:.2}", f64::from(hundredths) / 50.0);
            let fact = of(&epsilon, 1, answers);
            let decay = (-epsilon.parse::<f64>().unwrap() / answers as f64).exp();
            // Each row changes at most `answers` of four numbers by one.
            let mut changes = [0; 4];
            for row in &rows[..distance as usize] {
                let changed = (0..4).filter(|index| row[*index]).take(answers as usize);
                changed.for_each(|index| changes[index] += 1);
            }
            let product: f64 = changes.iter().map(|change| moment(decay, *change, order)).product();
            let divergence = product.ln() / (order - 1.0);
            let measure = Rdp::new(format!("{order:.9}").parse().unwrap());
            let apart = fact.at(Distance::new(distance).unwrap()).unwrap();
            let price: f64 = measure.price(&apart).unwrap().to_string().parse().unwrap();
            prop_assert!(divergence <= price + 1e-7, "{divergence} {price}");
        }
    }
}
