use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::{Curve, Diverges, Gaussian};
use crate::number::{Delta, Epsilon, Interval, Mu, Order, U256, Unit, units};
use crate::privacy::convert::rdp;
use crate::privacy::fdp::{FDp, Profile};
use crate::privacy::{Distance, Gdp, Prices, SampledGaussianDp, UnknownLoss};

/// Gaussian noise on a Poisson sample, which each row joins with the same probability, or a
/// postprocessing of it.
///
/// ```
/// use queryables::privacy::facts::{Gaussian, SampledGaussian};
/// use queryables::privacy::fdp::{FDp, Profile};
/// use queryables::privacy::{Prices, Rdp};
///
/// let fact = SampledGaussian::new("0.01".parse()?, Gaussian::Mu("1".parse()?));
/// assert!(Rdp::new("2".parse()?).price(&fact)? < "0.0001719".parse()?);
/// let profile = Profile::sampled_gaussian("0.01".parse()?, "1".parse()?);
/// assert_eq!(FDp.price(&fact)?, profile);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// For every dataset and every row in it, the pair (answers with the row, answers without it) is
/// dominated by (1 − q)N(0, 1) + qN(μ, 1) against N(0, 1) (Zhu, Dong, Wang 2022; Tran et al. §2.2),
/// with the Rényi divergences of [`rdp::subsampled_gaussian`] in both directions (Mironov, Talwar,
/// Zhang 2019, §3.3).
///
/// These are known at whole orders. Between n and n + 1 the loss is an upper bound, and not exact:
/// K(α) = (α − 1)·D_α is the logarithm of the mean of the ratios' α-th power, so it is convex in α
/// (Hölder's inequality) and lies below its chord, in both directions. With α = n + w that says
/// D_α ≤ ((1 − w)(n − 1)·D_n + wn·D_(n+1))/(α − 1), a mean of the two; for α < 2 it is D_2.
///
/// It is a fact about rows that are added or removed. A row that is replaced is one removed and one
/// added, for which group privacy has 3·D_2α from the order 2 on (Mironov 2017, Prop. 2). That is about
/// six times as much as D_α where losses are small, and no tighter curve is proved here, so there is
/// no loss for rows that are replaced.
#[derive(Clone, Debug)]
pub struct SampledGaussian {
    rate: Delta,
    gaussian: Gaussian,
    curve: Curve,
}

impl SampledGaussian {
    /// This Gaussian noise, on a sample that each row joins with probability `rate`.
    #[must_use]
    pub fn new(rate: Delta, gaussian: Gaussian) -> Self {
        Self {
            rate,
            gaussian,
            curve: curve(gaussian, rate),
        }
    }

    /// The probability with which a row joins the sample.
    #[must_use]
    pub fn rate(&self) -> Delta {
        self.rate
    }

    /// The noise.
    #[must_use]
    pub fn gaussian(&self) -> Gaussian {
        self.gaussian
    }

    /// What is true at a distance: known for neighbours only.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] unless the distance is that of neighbours.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        if distance == Distance::NEIGHBOURS {
            return Ok(self.clone());
        }
        Err(UnknownLoss("several rows join a sample at another rate"))
    }
}

/// The divergences of the sampled Gaussian mechanism. Results are cached: a divergence is a sum of
/// as many terms as its order.
fn curve(gaussian: Gaussian, rate: Delta) -> Curve {
    let half = match gaussian {
        Gaussian::Rho(rho) => Interval::from(rho),
        Gaussian::Mu(mu) => Interval::from(mu).square() / Interval::TWO,
    };
    let known: Mutex<BTreeMap<u32, Epsilon>> = Mutex::default();
    let at_whole = move |whole: u32| {
        // Poison is ignored: a panic cannot leave half an entry.
        let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(epsilon) = known().get(&whole) {
            return Ok(*epsilon);
        }
        let epsilon = rdp::sampled(whole, rate, half)?;
        known().insert(whole, epsilon);
        Ok(epsilon)
    };
    Curve::new(move |order| match order.whole() {
        Some(whole) => at_whole(whole),
        None => {
            let chord = between_whole_orders(order, &at_whole)?;
            // A sample is never worse than all rows, whose curve lies below its own chords.
            let everybody = (Interval::from(order) * half).up();
            Ok(everybody.map_or(chord, |everybody: Epsilon| everybody.min(chord)))
        }
    })
}

/// An upper bound between the whole orders n and n + 1, from the divergences there, rounded up: see
/// [`SampledGaussian`]. In units, and so exact but for the last one.
fn between_whole_orders(
    order: Order,
    at_whole: impl Fn(u32) -> Result<Epsilon, UnknownLoss>,
) -> Result<Epsilon, UnknownLoss> {
    const ONE: u128 = 10_u128.pow(units::Order::DECIMALS);
    let (below, part) = (order.units() / ONE, order.units() % ONE);
    let whole = u32::try_from(below).map_err(|_| UnknownLoss("no order is large enough"))?;
    let more = at_whole(whole + 1)?;
    if whole < 2 {
        // At the order 1 the moment's logarithm is 0, which leaves the other end.
        return Ok(more);
    }
    let less = at_whole(whole)?;
    // Both are rounded, so that the first may be larger; then it is a bound as well.
    let rise = U256::whole(more.saturating_sub(less).units());
    let share = rise.checked_mul(part * below).and_then(|scaled| {
        let (units, rest) = scaled.div_rem(order.units() - ONE);
        Epsilon::from_units(units.to_u128()? + u128::from(rest != 0)).ok()
    });
    let sum = share.and_then(|share| less.checked_add(share));
    // A mean of the two is at most the larger one.
    Ok(sum.map_or(more.max(less), |sum| sum.min(more.max(less))))
}

/// Mironov, Talwar, Zhang 2019, §3.3, at whole orders; between them an upper bound.
impl Diverges for SampledGaussian {
    fn divergence(&self, order: Order) -> Result<Epsilon, UnknownLoss> {
        self.curve.divergence(order)
    }
}

/// Zhu, Dong, Wang 2022, Theorem 11.
impl Prices<SampledGaussian> for FDp {
    fn price(&self, fact: &SampledGaussian) -> Result<Profile, UnknownLoss> {
        let mu = Gdp.price(&fact.gaussian)?;
        Ok(Profile::sampled_gaussian_by(fact.rate, mu))
    }
}

/// By definition, at the rate of the measure and at smaller ones: more of N(μ, 1) in the mixture is
/// easier to tell apart.
impl Prices<SampledGaussian> for SampledGaussianDp {
    fn price(&self, fact: &SampledGaussian) -> Result<Mu, UnknownLoss> {
        if fact.rate > self.rate() {
            return Err(UnknownLoss(
                "the sampling rate is larger than that of the measure",
            ));
        }
        Gdp.price(&fact.gaussian)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Rdp;

    fn of(rate: &str, mu: &str) -> SampledGaussian {
        SampledGaussian::new(rate.parse().unwrap(), Gaussian::Mu(mu.parse().unwrap()))
    }

    #[test]
    fn a_smaller_rate_is_priced_and_a_larger_one_is_not() {
        let measure = SampledGaussianDp::new("0.01".parse().unwrap());
        for rate in ["0.01", "0.001"] {
            assert_eq!(measure.price(&of(rate, "0.5")), Ok("0.5".parse().unwrap()));
        }
        assert_eq!(
            measure.price(&of("0.011", "0.5")),
            Err(UnknownLoss(
                "the sampling rate is larger than that of the measure"
            ))
        );
    }

    /// ln ∫ N(x)·((1 − q) + q·e^(μx − μ²/2))^α dx/(α − 1), by the trapezoidal rule, which converges
    /// faster than any power of the step for what falls off like e^(−x²).
    fn integrated(rate: f64, mu: f64, order: f64) -> f64 {
        let step = 1.0 / 64.0;
        let reach = (order * mu + 12.0) / step;
        let density = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let ratio = |x: f64| 1.0 - rate + rate * (mu * x - mu * mu / 2.0).exp();
        let places = (-(reach as i64)..=reach as i64).map(|place| place as f64 * step);
        let moment: f64 = places.map(|x| density(x) * ratio(x).powf(order)).sum();
        (moment * step).ln() / (order - 1.0)
    }

    #[test]
    fn between_whole_orders_it_is_bounded_by_the_chord() {
        for (rate, mu) in [("0.01", "1"), ("0.25", "0.75"), ("0.5", "2")] {
            let fact = of(rate, mu);
            let loss = |order: &str| -> f64 {
                let loss = fact.divergence(order.parse().unwrap()).unwrap();
                loss.to_string().parse().unwrap()
            };
            let truth = |order: &str| {
                let [rate, mu, order] = [rate, mu, order].map(|text| text.parse().unwrap());
                integrated(rate, mu, order)
            };
            // The integral is right where the sum is known.
            for order in ["2", "3", "8"] {
                assert!(
                    (truth(order) / loss(order) - 1.0).abs() < 1e-9,
                    "{rate} {order}"
                );
            }
            // Below 2 it is D_2, or what it is on all rows if that is less.
            for order in ["1.000000001", "1.5", "1.999999999"] {
                let [mu, at]: [f64; 2] = [mu, order].map(|text| text.parse().unwrap());
                let least = loss("2").min(at * mu * mu / 2.0);
                assert!((loss(order) / least - 1.0).abs() < 1e-9, "{rate} {order}");
                // So near 1 the integral says nothing.
                assert!(at < 1.1 || truth(order) <= loss(order), "{rate} {order}");
            }
            for order in ["2.000000001", "2.25", "2.5", "2.75", "3.5", "7.9"] {
                let loss = loss(order);
                // 1e-9 for the integral.
                let exact = truth(order);
                assert!(
                    exact <= loss * (1.0 + 1e-9),
                    "{rate} {order}: {exact} {loss}"
                );
                // The chord of K, from the integrals at its ends.
                let at: f64 = order.parse().unwrap();
                let log_moment = |whole: f64| (whole - 1.0) * truth(&whole.to_string());
                let (low, part) = (at.floor(), at.fract());
                let chord = (1.0 - part) * log_moment(low) + part * log_moment(low + 1.0);
                let chord = chord / (at - 1.0);
                assert!(
                    (loss / chord - 1.0).abs() < 1e-9,
                    "{rate} {order}: {chord} {loss}"
                );
            }
            // At the order 2.5 it is up to 12 percent more than the truth.
            let share = loss("2.5") / truth("2.5");
            assert!((1.07..1.12).contains(&share), "{rate}: {share}");
        }
    }

    #[test]
    fn the_chord_is_a_mean_of_its_ends_and_rounded_up() {
        let order = |text: &str| text.parse::<Order>().unwrap();
        let ends = |whole: u32| Epsilon::from_units(u128::from(whole) * 100);
        let ends = |whole| ends(whole).map_err(|_| UnknownLoss("too much"));
        let units = |text| between_whole_orders(order(text), ends).unwrap().units();
        // D_2 = 200, D_3 = 300: (0.5·1·200 + 0.5·2·300)/1.5 = 266.66….
        assert_eq!(units("2.5"), 267);
        // (0.25·2·300 + 0.75·3·400)/2.75 = 381.81….
        assert_eq!(units("3.75"), 382);
        assert_eq!(units("2.000000001"), 201);
        assert_eq!(units("1.5"), 200);
        let last = UnknownLoss("there is no more");
        let few = |whole| if whole < 4 { ends(whole) } else { Err(last) };
        assert_eq!(between_whole_orders(order("3.5"), few), Err(last));
        let far = of("0.01", "1").divergence(order("1000000.5"));
        assert_eq!(far, Err(UnknownLoss("the order must be at most 1000000")));
    }

    /// With all rows in the sample the curve is exact between whole orders.
    #[test]
    fn everybody_in_the_sample_is_no_sample() {
        let loss = of("1", "2").divergence("2.5".parse().unwrap()).unwrap();
        assert!(loss >= "5".parse().unwrap() && loss < "5.000000001".parse().unwrap());
    }

    #[test]
    fn it_is_known_for_neighbours_only() {
        let fact = of("0.25", "1");
        let rdp = Rdp::new("2".parse().unwrap());
        let near = fact.at(Distance::NEIGHBOURS).unwrap();
        assert_eq!(rdp.price(&near), rdp.price(&fact));
        assert_eq!(
            fact.at(Distance::new(2).unwrap()).map(|_| ()),
            Err(UnknownLoss("several rows join a sample at another rate"))
        );
    }
}
