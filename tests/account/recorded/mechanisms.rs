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
        let count = Count::of(odd()).laplace(loss).unwrap();
        let label = format!("count laplace {i}");
        laplace_prices::<_, AddRemove>(t, &label, &count);
        let replaced = Count::of(odd()).under(Replace).laplace(loss).unwrap();
        laplace_prices::<_, Replace>(t, &label, &replaced);
        accuracy(t, &label, &count, count.variance());
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
                both!(&label, |r| Sum::of(whole(), range.clone()).under(r).laplace(loss).unwrap());
            accuracy(t, &label, &added, added.variance());
            accuracy(t, &label, &replaced, replaced.variance());
        }
        for (j, range) in reals().into_iter().enumerate() {
            let label = format!("real sum laplace {i} {j}");
            let (added, replaced) =
                both!(&label, |r| Sum::of(real(), range).under(r).laplace(loss).unwrap());
            accuracy(t, &label, &added, added.variance());
            accuracy(t, &label, &replaced, replaced.variance());
            let label = format!("mean laplace {i} {j}");
            let (added, replaced) = both!(&label, |r| Mean::of(real(), range).under(r).laplace(loss).unwrap());
            for confidence in confidences() {
                for rows in [1, 100, 10_000, 1_000_000_000] {
                    let one = added.accuracy(confidence).for_rows(rows);
                    let other = replaced.accuracy(confidence).for_rows(rows);
                    writeln!(t, "{label} accuracy {one:?} {other:?}").unwrap();
                }
            }
            let label = format!("variance laplace {i} {j}");
            let (added, replaced) =
                both!(&label, |r| Variance::of(real(), range).under(r).laplace(loss).unwrap());
            for confidence in confidences() {
                for rows in [1, 100, 10_000, 1_000_000_000] {
                    let one = added.accuracy(confidence).for_rows(rows);
                    let other = replaced.accuracy(confidence).for_rows(rows);
                    writeln!(t, "{label} accuracy {one:?} {other:?}").unwrap();
                }
            }
        }
        let label = format!("histogram laplace {i}");
        let (added, replaced) = both!(&label, |r| Histogram::of(Partition::numbered(bin(), 3).unwrap()).under(r).laplace(loss).unwrap());
        accuracy(t, &label, &added, added.variance());
        accuracy(t, &label, &replaced, replaced.variance());
        for horizon in [1, 2, 3, 7, 8, 1000] {
            let label = format!("continual laplace {i} {horizon}");
            let added = ContinualCount::of(time(), horizon).laplace(loss).unwrap();
            laplace_prices::<_, AddRemove>(t, &label, &added);
            accuracy(t, &label, &added, added.variance());
            let replaced = ContinualCount::of(time(), horizon).under(Replace).laplace(loss).unwrap();
            laplace_prices::<_, Replace>(t, &label, &replaced);
            accuracy(t, &label, &replaced, replaced.variance());
        }
    }
    for (i, (unit, loss)) in RHO.iter().map(|loss| (0, loss)).chain(MU.iter().map(|loss| (1, loss))).enumerate() {
        let loss: Gaussian = match unit {
            0 => Gaussian::Rho(loss.parse().unwrap()),
            _ => Gaussian::Mu(loss.parse().unwrap()),
        };
        let count = Count::of(odd()).gaussian(loss).unwrap();
        let label = format!("count gaussian {i}");
        gaussian_prices::<_, AddRemove>(t, &label, &count);
        let replaced = Count::of(odd()).under(Replace).gaussian(loss).unwrap();
        gaussian_prices::<_, Replace>(t, &label, &replaced);
        accuracy(t, &label, &count, count.variance());
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
                both!(&label, |r| Sum::of(whole(), range.clone()).under(r).gaussian(loss).unwrap());
            accuracy(t, &label, &added, added.variance());
            accuracy(t, &label, &replaced, replaced.variance());
        }
        for (j, range) in reals().into_iter().enumerate() {
            let label = format!("real sum gaussian {i} {j}");
            let (added, replaced) = both!(&label, |r| Sum::of(real(), range).under(r).gaussian(loss).unwrap());
            accuracy(t, &label, &added, added.variance());
            accuracy(t, &label, &replaced, replaced.variance());
            let label = format!("mean gaussian {i} {j}");
            let (added, replaced) = both!(&label, |r| Mean::of(real(), range).under(r).gaussian(loss).unwrap());
            for confidence in confidences() {
                for rows in [1, 100, 10_000, 1_000_000_000] {
                    let one = added.accuracy(confidence).for_rows(rows);
                    let other = replaced.accuracy(confidence).for_rows(rows);
                    writeln!(t, "{label} accuracy {one:?} {other:?}").unwrap();
                }
            }
            let label = format!("variance gaussian {i} {j}");
            let (added, replaced) = both!(&label, |r| Variance::of(real(), range).under(r).gaussian(loss).unwrap());
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
        let (added, replaced) = both!(&label, |r| Histogram::of(bins()).under(r).gaussian(loss).unwrap());
        accuracy(t, &label, &added, added.variance());
        accuracy(t, &label, &replaced, replaced.variance());
        for (j, lattice) in [Lattice::of_length(1.0).unwrap(), Lattice::of_whole_numbers(2), Lattice::in_steps(-6, 80)].into_iter().enumerate() {
            let label = format!("vector sum gaussian {i} {j}");
            let (added, replaced) =
                both!(&label, |r| VectorSum::of(pair(), 2, lattice).under(r).gaussian(loss).unwrap());
            accuracy(t, &label, &added, added.variance());
            accuracy(t, &label, &replaced, replaced.variance());
        }
        for horizon in [2, 3, 7, 8, 1000] {
            let label = format!("continual gaussian {i} {horizon}");
            let added = ContinualCount::of(time(), horizon).under(AddRemove).gaussian(loss).unwrap();
            gaussian_prices::<_, AddRemove>(t, &label, &added);
            accuracy(t, &label, &added, added.variance());
            let replaced = ContinualCount::of(time(), horizon).under(Replace).gaussian(loss).unwrap();
            gaussian_prices::<_, Replace>(t, &label, &replaced);
            accuracy(t, &label, &replaced, replaced.variance());
            let label = format!("factorized {i} {horizon}");
            let added = FactorizedContinualCount::new(AddRemove, time(), horizon, loss).unwrap();
            gaussian_prices::<_, AddRemove>(t, &label, &added);
            accuracy(t, &label, &added, added.variance());
            let replaced = FactorizedContinualCount::new(Replace, time(), horizon, loss).unwrap();
            gaussian_prices::<_, Replace>(t, &label, &replaced);
            accuracy(t, &label, &replaced, replaced.variance());
        }
    }
    text
}
