//! What every mechanism with added noise costs, how accurate it is, and what it draws, as recorded
//! before mechanisms became a query, a noise and a relation: `recorded/lines.txt`, to the last digit.
//!
//! Each price is a claim, so a line that changes needs a proof. To record again: run the test with
//! `RECORD=1`.

use std::fmt::{Debug, Display, Write};
use std::sync::Arc;

use queryables::data::{Attribute, Predicate, Vector};
use queryables::machine::{CoinSource, NotPrivateSeededCoins};
use queryables::mechanisms::*;
use queryables::number::{Confidence, Order};
use queryables::prelude::*;
use queryables::privacy::facts::Gaussian;
use queryables::privacy::fdp::{FDp, Profile};
use queryables::privacy::{ApproxZCdp, Distance, Gdp, Measure, ProbabilisticDp, Rdp, Relation};

type Rows = Vec<u8>;

fn price<Me: Measure<Loss: Display>, R: Relation>(
    text: &mut String,
    measure: &Me,
    mechanism: &impl Private<Me, R>,
) {
    for distance in [1, 2, 5] {
        let distance = Distance::new(distance).unwrap();
        match mechanism.loss_at(measure, distance) {
            Ok(loss) => write!(text, " {loss}"),
            Err(UnknownLoss(reason)) => write!(text, " ({reason})"),
        }
        .unwrap();
    }
    text.push(';');
}

fn profile<R: Relation>(text: &mut String, mechanism: &impl Private<FDp, R>) {
    for distance in [1, 2] {
        let profile: Result<Profile, _> = mechanism.loss_at(&FDp, Distance::new(distance).unwrap());
        match profile {
            Ok(profile) => {
                let deltas = ["0", "0.1", "1"];
                for epsilon in deltas {
                    let delta = profile.worst_delta(epsilon.parse().unwrap());
                    write!(text, " {delta:?}").unwrap();
                }
            }
            Err(UnknownLoss(reason)) => write!(text, " ({reason})").unwrap(),
        }
    }
    text.push('\n');
}

fn confidences() -> [Confidence; 4] {
    ["0.5", "0.9", "0.95", "0.999999"].map(|text| text.parse().unwrap())
}

fn orders() -> [Rdp; 2] {
    ["1.5", "32"].map(|text| Rdp::new(text.parse::<Order>().unwrap()))
}

fn gaussian_prices<M, R: Relation>(text: &mut String, label: &str, mechanism: &M)
where
    M: Private<ZCdp, R> + Private<ApproxZCdp, R> + Private<Rdp, R> + Private<Gdp, R>,
    M: Private<FDp, R>,
{
    write!(text, "{label} prices").unwrap();
    price::<_, R>(text, &ZCdp, mechanism);
    price::<_, R>(text, &ApproxZCdp, mechanism);
    price::<_, R>(text, &Gdp, mechanism);
    for order in orders() {
        price::<_, R>(text, &order, mechanism);
    }
    profile::<R>(text, mechanism);
}

fn laplace_prices<M, R: Relation>(text: &mut String, label: &str, mechanism: &M)
where
    M: Private<ZCdp, R> + Private<ApproxZCdp, R> + Private<Rdp, R> + Private<Gdp, R>,
    M: Private<FDp, R> + Private<PureDp, R> + Private<ApproxDp, R> + Private<ProbabilisticDp, R>,
{
    write!(text, "{label} pure").unwrap();
    price::<_, R>(text, &PureDp, mechanism);
    price::<_, R>(text, &ApproxDp, mechanism);
    price::<_, R>(text, &ProbabilisticDp, mechanism);
    text.push('\n');
    gaussian_prices::<M, R>(text, label, mechanism);
}

/// Accuracies of what has noise on its numbers.
fn accuracy(
    text: &mut String,
    label: &str,
    mechanism: &impl Accuracy<Distance: Debug>,
    variance: f64,
) {
    write!(text, "{label} accuracy").unwrap();
    for confidence in confidences() {
        write!(text, " {:?}", mechanism.accuracy(confidence)).unwrap();
    }
    writeln!(text, " variance {:?} about {}", variance, mechanism.about()).unwrap();
}

/// What is answered under fixed coins.
fn answers<M, A: Shown>(text: &mut String, label: &str, mechanism: &M)
where
    M: Mechanism<Rows, Machine = Released<A>>,
{
    let data: Arc<Rows> = Arc::new((0..200).collect());
    let mut coins = NotPrivateSeededCoins::new(11);
    for _ in 0..3 {
        let Released(answer) = mechanism.start(&data, &mut coins.coins()).unwrap();
        writeln!(text, "{label} answers {}", answer.shown()).unwrap();
    }
}

/// An answer as text, to the last digit.
trait Shown {
    fn shown(&self) -> String;
}

macro_rules! shown {
    ($($Answer:ty: |$answer:ident| $shown:expr;)*) => {$(
        impl Shown for $Answer {
            fn shown(&self) -> String {
                let $answer = self;
                format!("{:?}", $shown)
            }
        }
    )*};
}

shown! {
    i64: |number| number;
    f64: |number| number;
    Vec<i64>: |numbers| numbers;
    Vec<f64>: |numbers| numbers;
    NoisyMean: |mean| (mean.value(), mean.rows());
    NoisyVariance: |variance| (variance.value(), variance.mean(), variance.rows());
}

fn odd() -> Predicate<Rows> {
    Predicate::new("odd", |row: &u8| row % 2 == 1)
}

fn whole() -> Attribute<Rows, i64> {
    Attribute::new("signed", |row: &u8| i64::from(*row) - 50)
}

fn real() -> Attribute<Rows, f64> {
    Attribute::new("real", |row: &u8| f64::from(*row) / 7.0)
}

fn time() -> Attribute<Rows, Option<u64>> {
    Attribute::new("time", |row: &u8| Some(u64::from(*row)))
}

fn bin() -> Attribute<Rows, usize> {
    Attribute::new("bin", |row: &u8| usize::from(*row) / 70)
}

fn pair() -> Vector<Rows> {
    Vector::new("pair", |row: &u8, out: &mut [f64]| {
        out[0] = f64::from(*row) / 100.0;
        out[1] = -f64::from(*row) / 300.0;
    })
}

const LAPLACE: [&str; 4] = ["0.1", "1", "2.5", "0.1234567890123"];
const RHO: [&str; 3] = ["0.02", "0.5", "5.5"];
const MU: [&str; 2] = ["0.3", "3"];

include!("recorded/mechanisms.rs");

#[test]
fn prices_accuracies_and_answers_are_as_recorded() {
    let text = recorded();
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/account/recorded/lines.txt"
    );
    if std::env::var_os("RECORD").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    for (line, (found, expected)) in text.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "line {}", line + 1);
    }
    assert_eq!(text.lines().count(), expected.lines().count());
}
