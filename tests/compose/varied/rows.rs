//! Counts, sums and vectors.

use super::*;

pub(super) fn counts_and_sums(all: &mut Groups) {
    let make = |name, loss: &str| of(Count::of(is(name)).laplace(epsilon(loss)).unwrap());
    all.insert(
        "Count",
        vec![make("a", "1"), make("b", "1"), make("a", "2")],
    );
    let make = |name, loss| of(Count::of(is(name)).gaussian(rho(loss)).unwrap());
    let mu = of(Count::of(is("a")).gaussian(mu!(1)).unwrap());
    all.insert(
        "Count, Gaussian",
        vec![make("a", "1"), make("b", "1"), make("a", "2"), mu],
    );
    let make = |name, among, loss: &str| {
        of(Proportion::of(is(name), is(among))
            .laplace(epsilon(loss))
            .unwrap())
    };
    let group = vec![
        make("a", "b", "1"),
        make("c", "b", "1"),
        make("a", "c", "1"),
        make("a", "b", "2"),
    ];
    all.insert("Proportion", group);
    let make = |name, bins| {
        let groups = Partition::numbered(bin("g"), bins).unwrap();
        of(Sum::of(whole(name), 0..=9)
            .by(groups)
            .laplace(epsilon!(1))
            .unwrap())
    };
    all.insert(
        "Sum, by group",
        vec![make("a", 2), make("b", 2), make("a", 3)],
    );
    macro_rules! sums {
        ($($name:literal $noise:ident $loss:ident),*) => {$({
            let make = |name, range, loss| of(Sum::of(whole(name), range).$noise($loss(loss)).unwrap());
            let other = of(Sum::of(whole("a"), 0..=9).under(Replace).$noise($loss("1")).unwrap());
            let group = vec![
                make("a", 0..=9, "1"), make("b", 0..=9, "1"), make("a", -1..=9, "1"),
                make("a", 0..=8, "1"), make("a", 0..=9, "2"), other,
            ];
            all.insert($name, group);
        })*};
    }
    sums!("Sum" laplace epsilon, "Sum, Gaussian" gaussian rho);
    macro_rules! real_sums {
        ($($name:literal $Sum:ident $noise:ident $loss:ident),*) => {$({
            let make = |name, range, exponent, loss| {
                let range = RealRange::from(range).with_step(exponent);
                of($Sum::of(real(name), range).$noise($loss(loss)).unwrap())
            };
            let other = {
                let range = RealRange::from(0.0..=9.0).with_step(-6);
                of($Sum::of(real("a"), range).under(Replace).$noise($loss("1")).unwrap())
            };
            let group = vec![
                make("a", 0.0..=9.0, -6, "1"), make("b", 0.0..=9.0, -6, "1"),
                make("a", -1.0..=9.0, -6, "1"), make("a", 0.0..=8.0, -6, "1"),
                make("a", 0.0..=9.0, -7, "1"), make("a", 0.0..=9.0, -6, "2"), other,
            ];
            all.insert($name, group);
        })*};
    }
    real_sums!(
        "Sum, real" Sum laplace epsilon, "Sum, real, Gaussian" Sum gaussian rho,
        "Mean" Mean laplace epsilon, "Mean, Gaussian" Mean gaussian rho,
        "Variance" Variance laplace epsilon, "Variance, Gaussian" Variance gaussian rho
    );
}

pub(super) fn vectors(all: &mut Groups) {
    let make = |name, dimension, lattice, loss| {
        of(VectorSum::of(vector(name), dimension, lattice)
            .gaussian(rho(loss))
            .unwrap())
    };
    let other = VectorSum::of(vector("a"), 1, LATTICE)
        .under(Replace)
        .gaussian(rho!(1))
        .unwrap();
    // The same function at other weights is another vector.
    let objective = Objective::new("o", 1, |_: &[f64], _: &u8, _: &mut [f64]| {});
    let at = |weight| {
        let vector = objective.gradient_at(&[weight]);
        of(VectorSum::of(vector, 1, LATTICE).gaussian(rho!(1)).unwrap())
    };
    let group = vec![
        make("a", 1, LATTICE, "1"),
        make("b", 1, LATTICE, "1"),
        make("a", 2, LATTICE, "1"),
        make("a", 1, FINER, "1"),
        make("a", 1, LONGER, "1"),
        make("a", 1, LATTICE, "2"),
        of(other),
        at(0.0),
        at(0.5),
    ];
    all.insert("VectorSum", group);
    let make = |name, dimension, lattice, rate: &str, mu: &str| {
        let (rate, mu) = (rate.parse().unwrap(), mu.parse().unwrap());
        of(SampledGaussianSum::new(AddRemove, vector(name), dimension, lattice, rate, mu).unwrap())
    };
    let (rate, mu) = ("0.1".parse().unwrap(), "1".parse().unwrap());
    let other = SampledGaussianSum::new(Replace, vector("a"), 1, LATTICE, rate, mu).unwrap();
    let group = vec![
        make("a", 1, LATTICE, "0.1", "1"),
        make("b", 1, LATTICE, "0.1", "1"),
        make("a", 2, LATTICE, "0.1", "1"),
        make("a", 1, FINER, "0.1", "1"),
        make("a", 1, LONGER, "0.1", "1"),
        make("a", 1, LATTICE, "0.2", "1"),
        make("a", 1, LATTICE, "0.1", "2"),
        of(other),
    ];
    all.insert("SampledGaussianSum", group);
    let objective = |name: &str, weights| {
        Objective::<Rows>::new(name, weights, |_: &[f64], _: &u8, _: &mut [f64]| {})
    };
    let logistic = |name| Objective::<Rows>::logistic(name, 1, |_: &u8, _: &mut [f64]| true);
    let make = |objective, lattice, steps, rate, loss| {
        GradientDescent::new(objective, lattice, steps, rate, rho(loss)).unwrap()
    };
    let base = || make(objective("a", 1), LATTICE, 5, 0.5, "1");
    let group = vec![
        of(base()),
        of(make(objective("b", 1), LATTICE, 5, 0.5, "1")),
        of(make(logistic("a"), LATTICE, 5, 0.5, "1")),
        of(make(logistic("b"), LATTICE, 5, 0.5, "1")),
        of(make(objective("a", 2), LATTICE, 5, 0.5, "1")),
        of(make(objective("a", 1), FINER, 5, 0.5, "1")),
        of(make(objective("a", 1), LONGER, 5, 0.5, "1")),
        of(make(objective("a", 1), LATTICE, 6, 0.5, "1")),
        of(make(objective("a", 1), LATTICE, 5, 0.25, "1")),
        of(make(objective("a", 1), LATTICE, 5, 0.5, "2")),
        of(base().filtered(9).unwrap()),
        of(base().filtered(8).unwrap()),
    ];
    all.insert("GradientDescent", group);
}
