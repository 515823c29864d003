//! Orders start just above 1.

use super::*;
use queryables::privacy::facts::{Gaussian, Laplace, Pure};
use queryables::privacy::{Prices, ZCdp};

/// What noise costs at order 1 is its Kullback–Leibler divergence, which is its ρ under zCDP. At the smallest
/// order that there is, it costs that, up to a relative difference of 1e-8.
#[test]
fn the_smallest_order_is_order_one() {
    assert_eq!(
        "1".parse::<Order>().unwrap_err().to_string(),
        "order must be greater than 1"
    );
    let smallest = Rdp::new(read("1.000000001"));
    let check = |rho: Rho, loss: Epsilon| {
        let [rho, loss] = [rho.to_string(), loss.to_string()].map(|text| read::<f64>(&text));
        assert!(loss >= rho && loss <= rho * (1.0 + 1e-8), "{loss} {rho}");
    };
    for epsilon in ["0.01", "1", "5"] {
        let epsilon = read(epsilon);
        let pure = Pure { epsilon };
        check(ZCdp.price(&pure).unwrap(), smallest.price(&pure).unwrap());
        for steps in [1, 10, 1000] {
            let steps = std::num::NonZeroU64::new(steps).unwrap();
            let noise = Laplace {
                steps,
                ..Laplace::of_count(epsilon)
            };
            check(ZCdp.price(&noise).unwrap(), smallest.price(&noise).unwrap());
        }
    }
    let noise = Gaussian::Rho(read("0.5"));
    check(ZCdp.price(&noise).unwrap(), smallest.price(&noise).unwrap());
}
