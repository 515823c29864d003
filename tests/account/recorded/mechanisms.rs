/// All of them, one line for each kind of claim.
fn recorded() -> String {
    let mut text = String::new();
    let t = &mut text;
    let wholes = [0..=1, 0..=60, -3..=2, 2..=7, -10..=10];
    let reals = || {
        [
            RealRange::from(0.0..=2.0),
            RealRange::from(-1.0..=28.5),
            RealRange::from(0.0..=16.0).with_step(-4),
            RealRange::of_whole_numbers(0..=20),
        ]
    };
    for (i, loss) in LAPLACE.into_iter().enumerate() {
        let loss: Epsilon = loss.parse().unwrap();
        let count = NoisyCount::new(odd(), loss).unwrap();
        let label = format!("count laplace {i}");
        laplace_prices::<_, AddRemove>(t, &label, &count);
        laplace_prices::<_, Replace>(t, &label, &count);
        accuracy(t, &label, &count);
        answers(t, &label, &count);
        macro_rules! both {
            ($label:expr, |$R:ident| $make:expr) => {{
                let label = $label;
                let $R = AddRemove;
                let made = $make;
                laplace_prices::<_, AddRemove>(t, &format!("{label} add"), &made);
                answers(t, &format!("{label} add"), &made);
                let added = made;
                let $R = Replace;
                let made = $make;
                laplace_prices::<_, Replace>(t, &format!("{label} replace"), &made);
                answers(t, &format!("{label} replace"), &made);
                (added, made)
            }};
        }
        for (j, range) in wholes.iter().enumerate() {
            let label = format!("sum laplace {i} {j}");
            let (added, replaced) =
                both!(&label, |r| NoisySum::new(r, whole(), range.clone(), loss).unwrap());
            accuracy(t, &label, &added);
            accuracy(t, &label, &replaced);
        }
        for (j, range) in reals().into_iter().enumerate() {
            let label = format!("real sum laplace {i} {j}");
            let (added, replaced) =
                both!(&label, |r| NoisyRealSum::new(r, real(), range, loss).unwrap());
            accuracy(t, &label, &added);
            accuracy(t, &label, &replaced);
            let label = format!("mean laplace {i} {j}");
            let (added, replaced) = both!(&label, |r| NoisyMean::new(r, real(), range, loss).unwrap());
            for confidence in confidences() {
                for rows in [1, 100, 10_000, 1_000_000_000] {
                    let one = added.accuracy(confidence).for_rows(rows);
                    let other = replaced.accuracy(confidence).for_rows(rows);
                    writeln!(t, "{label} accuracy {one:?} {other:?}").unwrap();
                }
            }
            let label = format!("variance laplace {i} {j}");
            let (added, replaced) =
                both!(&label, |r| NoisyVariance::new(r, real(), range, loss).unwrap());
            for confidence in confidences() {
                for rows in [1, 100, 10_000, 1_000_000_000] {
                    let one = added.accuracy(confidence).for_rows(rows);
                    let other = replaced.accuracy(confidence).for_rows(rows);
                    writeln!(t, "{label} accuracy {one:?} {other:?}").unwrap();
                }
            }
        }
        let label = format!("histogram laplace {i}");
        let (added, replaced) = both!(&label, |r| NoisyHistogram::new(r, bin(), 3, loss).unwrap());
        accuracy(t, &label, &added);
        accuracy(t, &label, &replaced);
        for horizon in [1, 2, 3, 7, 8, 1000] {
            let label = format!("continual laplace {i} {horizon}");
            let added = ContinualCount::new(AddRemove, time(), horizon, loss).unwrap();
            laplace_prices::<_, AddRemove>(t, &label, &added);
            accuracy(t, &label, &added);
            let replaced = ContinualCount::new(Replace, time(), horizon, loss).unwrap();
            laplace_prices::<_, Replace>(t, &label, &replaced);
            accuracy(t, &label, &replaced);
        }
    }
    for (i, (unit, loss)) in RHO.iter().map(|loss| (0, loss)).chain(MU.iter().map(|loss| (1, loss))).enumerate() {
        macro_rules! made {
            ($Name:ident, ($($before:expr),*), ) => {
                made!($Name::new, $Name::with_mu, ($($before),*))
            };
            ($by_rho:expr, $by_mu:expr, ($($before:expr),*)) => {
                if unit == 0 {
                    $by_rho($($before,)* loss.parse().unwrap()).unwrap()
                } else {
                    $by_mu($($before,)* loss.parse().unwrap()).unwrap()
                }
            };
        }
        let count = made!(GaussianCount, (odd()),);
        let label = format!("count gaussian {i}");
        gaussian_prices::<_, AddRemove>(t, &label, &count);
        gaussian_prices::<_, Replace>(t, &label, &count);
        accuracy(t, &label, &count);
        answers(t, &label, &count);
        macro_rules! both {
            ($label:expr, |$R:ident| $make:expr) => {{
                let label = $label;
                let $R = AddRemove;
                let made = $make;
                gaussian_prices::<_, AddRemove>(t, &format!("{label} add"), &made);
                answers(t, &format!("{label} add"), &made);
                let added = made;
                let $R = Replace;
                let made = $make;
                gaussian_prices::<_, Replace>(t, &format!("{label} replace"), &made);
                answers(t, &format!("{label} replace"), &made);
                (added, made)
            }};
        }
        for (j, range) in wholes.iter().enumerate() {
            let label = format!("sum gaussian {i} {j}");
            let (added, replaced) =
                both!(&label, |r| made!(GaussianSum, (r, whole(), range.clone()),));
            accuracy(t, &label, &added);
            accuracy(t, &label, &replaced);
        }
        for (j, range) in reals().into_iter().enumerate() {
            let label = format!("real sum gaussian {i} {j}");
            let (added, replaced) = both!(&label, |r| made!(GaussianRealSum, (r, real(), range),));
            accuracy(t, &label, &added);
            accuracy(t, &label, &replaced);
            let label = format!("mean gaussian {i} {j}");
            let (added, replaced) = both!(&label, |r| made!(GaussianMean, (r, real(), range),));
            for confidence in confidences() {
                for rows in [1, 100, 10_000, 1_000_000_000] {
                    let one = added.accuracy(confidence).for_rows(rows);
                    let other = replaced.accuracy(confidence).for_rows(rows);
                    writeln!(t, "{label} accuracy {one:?} {other:?}").unwrap();
                }
            }
            let label = format!("variance gaussian {i} {j}");
            let (added, replaced) = both!(&label, |r| made!(GaussianVariance, (r, real(), range),));
            for confidence in confidences() {
                for rows in [1, 100, 10_000, 1_000_000_000] {
                    let one = added.accuracy(confidence).for_rows(rows);
                    let other = replaced.accuracy(confidence).for_rows(rows);
                    writeln!(t, "{label} accuracy {one:?} {other:?}").unwrap();
                }
            }
        }
        let label = format!("histogram gaussian {i}");
        let bins = || Partition::numbered(bin(), 3).unwrap();
        let (added, replaced) = both!(&label, |r| made!(
            GaussianHistogram::over,
            GaussianHistogram::over_with_mu,
            (r, bins())
        ));
        accuracy(t, &label, &added);
        accuracy(t, &label, &replaced);
        for (j, lattice) in [Lattice::of_length(1.0).unwrap(), Lattice::of_whole_numbers(2), Lattice::in_steps(-6, 80)].into_iter().enumerate() {
            let label = format!("vector sum gaussian {i} {j}");
            let (added, replaced) =
                both!(&label, |r| made!(GaussianVectorSum, (r, pair(), 2, lattice),));
            accuracy(t, &label, &added);
            accuracy(t, &label, &replaced);
        }
        for horizon in [2, 3, 7, 8, 1000] {
            let label = format!("continual gaussian {i} {horizon}");
            let added = made!(GaussianContinualCount, (AddRemove, time(), horizon),);
            gaussian_prices::<_, AddRemove>(t, &label, &added);
            accuracy(t, &label, &added);
            let replaced = made!(GaussianContinualCount, (Replace, time(), horizon),);
            gaussian_prices::<_, Replace>(t, &label, &replaced);
            accuracy(t, &label, &replaced);
            let label = format!("factorized {i} {horizon}");
            let added = made!(FactorizedContinualCount, (AddRemove, time(), horizon),);
            gaussian_prices::<_, AddRemove>(t, &label, &added);
            accuracy(t, &label, &added);
            let replaced = made!(FactorizedContinualCount, (Replace, time(), horizon),);
            gaussian_prices::<_, Replace>(t, &label, &replaced);
            accuracy(t, &label, &replaced);
        }
    }
    text
}
