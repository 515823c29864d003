//! Which masses two machines can share out at a point of a conversation.

use queryables::verify::Rational;

/// The pairs (α, β) with α ≥ 0 and 0 ≤ β ≤ h(α), for a concave function h that does not rise.
///
/// With every (α, β) the set holds everything below: so sums and intersections are again of this
/// form, and need nothing but the corners of h.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frontier {
    /// The corners of h, from α = 0 to the largest α. There is at least one.
    corners: Vec<[Rational; 2]>,
}

/// `(value, rise per step)` of a line through two corners, at α.
fn on_line([from, to]: [&[Rational; 2]; 2], alpha: &Rational) -> Rational {
    let rise = (&to[1] - &from[1]) / (&to[0] - &from[0]);
    &from[1] + &rise * &(alpha - &from[0])
}

impl Frontier {
    /// The pairs with `c·α + β ≤ m₀` and `α + c·β ≤ m₁`, where c ≥ 1.
    pub(super) fn leaf(odds: &Rational, [m0, m1]: &[Rational; 2]) -> Self {
        // The α-axis is left at m₀/c or m₁, the β-axis at m₀ or m₁/c.
        let alpha = (m0 / odds).min(m1.clone());
        let beta = m0.clone().min(m1 / odds);
        let mut corners = vec![[Rational::ZERO, beta.clone()]];
        // Both lines cross where α·(c² − 1) = c·m₀ − m₁.
        let steep = odds * odds - Rational::ONE;
        if steep > Rational::ZERO {
            let cross = (odds * m0 - m1) / &steep;
            if cross > Rational::ZERO && cross < alpha {
                let height = (odds * m1 - m0) / steep;
                corners.push([cross, height]);
            }
        }
        if alpha > Rational::ZERO {
            let least = (m0 - &(odds * &alpha)).min((m1 - &alpha) / odds);
            corners.push([alpha, least]);
        }
        Self { corners }
    }

    fn largest(&self) -> &Rational {
        &self.corners[self.corners.len() - 1][0]
    }

    /// h(α); `None` beyond the largest α.
    pub(super) fn height(&self, alpha: &Rational) -> Option<Rational> {
        let next = self.corners.iter().position(|[at, _]| at >= alpha)?;
        if self.corners[next][0] == *alpha {
            return Some(self.corners[next][1].clone());
        }
        let before = next.checked_sub(1)?;
        Some(on_line([&self.corners[before], &self.corners[next]], alpha))
    }

    /// The edges, as how far they go and how much they rise.
    fn edges(&self) -> impl Iterator<Item = [Rational; 2]> + '_ {
        let pairs = self.corners.windows(2);
        pairs.map(|pair| [&pair[1][0] - &pair[0][0], &pair[1][1] - &pair[0][1]])
    }

    /// All sums of one pair out of each: the edges of all, the flattest first.
    pub(super) fn sum(parts: &[Self]) -> Self {
        let mut corner = [Rational::ZERO, Rational::ZERO];
        for part in parts {
            corner[1] += &part.corners[0][1];
        }
        let mut corners = vec![corner.clone()];
        for (_, [run, rise]) in flattest_first(parts) {
            corner[0] += run;
            corner[1] += rise;
            corners.push(corner.clone());
        }
        Self { corners }
    }

    /// The pairs that are in both.
    pub(super) fn and(&self, other: &Self) -> Self {
        let end = self.largest().min(other.largest());
        let mut stops: Vec<Rational> = [self, other]
            .iter()
            .flat_map(|one| one.corners.iter().map(|[at, _]| at.clone()))
            .filter(|at| at <= end)
            .collect();
        stops.sort();
        stops.dedup();
        let mut corners: Vec<[Rational; 2]> = Vec::new();
        let mut last: Option<[Rational; 3]> = None;
        for at in stops {
            let (Some(one), Some(two)) = (self.height(&at), other.height(&at)) else {
                continue;
            };
            if let Some([before, one_before, two_before]) = &last {
                // Between two stops both are straight: they cross at most once.
                let gaps = [one_before - two_before, &one - &two];
                let product = &gaps[0] * &gaps[1];
                if product < Rational::ZERO {
                    let part = &gaps[0] / &(&gaps[0] - &gaps[1]);
                    let cross = before + &(&part * &(&at - before));
                    let height = one_before + &(&part * &(&one - one_before));
                    corners.push([cross, height]);
                }
            }
            corners.push([at.clone(), one.clone().min(two.clone())]);
            last = Some([at, one, two]);
        }
        Self { corners }
    }

    /// Whether it holds this pair.
    pub(super) fn holds(&self, [alpha, beta]: &[Rational; 2]) -> bool {
        self.height(alpha).is_some_and(|height| *beta <= height)
    }

    /// The largest t for which it holds (t, t).
    pub(super) fn diagonal(&self) -> Rational {
        for pair in self.corners.windows(2) {
            let gaps = [&pair[0][1] - &pair[0][0], &pair[1][1] - &pair[1][0]];
            if gaps[1] <= Rational::ZERO {
                let part = &gaps[0] / &(&gaps[0] - &gaps[1]);
                return &pair[0][0] + &(&part * &(&pair[1][0] - &pair[0][0]));
            }
        }
        self.largest().clone()
    }

    /// One pair out of each part, such that they add up to this one, which is in their sum.
    pub(super) fn share(parts: &[Self], [alpha, beta]: &[Rational; 2]) -> Vec<[Rational; 2]> {
        let mut shares = vec![Rational::ZERO; parts.len()];
        let mut left = alpha.clone();
        for (part, [run, _]) in flattest_first(parts) {
            let taken = run.min(left.clone());
            left -= &taken;
            shares[part] += taken;
        }
        let highest: Vec<Rational> = parts
            .iter()
            .zip(&shares)
            .map(|(part, share)| part.height(share).unwrap_or_default())
            .collect();
        let mut total = Rational::ZERO;
        for height in &highest {
            total += height;
        }
        let pairs = shares.into_iter().zip(highest);
        pairs
            .map(|(share, height)| match total > Rational::ZERO {
                true => [share, &height * &(beta / &total)],
                false => [share, Rational::ZERO],
            })
            .collect()
    }
}

/// The edges of all parts with the number of the part, the flattest first.
fn flattest_first(parts: &[Frontier]) -> Vec<(usize, [Rational; 2])> {
    let numbered = parts.iter().enumerate();
    let mut edges: Vec<(usize, [Rational; 2])> = numbered
        .flat_map(|(part, frontier)| frontier.edges().map(move |edge| (part, edge)))
        .collect();
    // Runs are positive: a flatter edge has the larger rise per step.
    edges.sort_by(|(_, one), (_, two)| (&two[1] * &one[0]).cmp(&(&one[1] * &two[0])));
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(numerator: i128, denominator: u128) -> Rational {
        Rational::new(numerator, denominator).unwrap()
    }

    fn corners(of: &Frontier) -> Vec<(String, String)> {
        let corners = of.corners.iter();
        corners
            .map(|[alpha, beta]| (alpha.to_string(), beta.to_string()))
            .collect()
    }

    fn texts(corners: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(alpha, beta): &(&str, &str)| ((*alpha).to_owned(), (*beta).to_owned());
        corners.iter().map(owned).collect()
    }

    #[test]
    fn a_leaf_is_bounded_by_both_lines() {
        let three = Rational::from(3_u8);
        // 3α + β ≤ 3/4 and α + 3β ≤ 1/2 cross at α = 7/32, β = 3/32.
        let leaf = Frontier::leaf(&three, &[number(3, 4), number(1, 2)]);
        assert_eq!(
            corners(&leaf),
            texts(&[("0", "1/6"), ("7/32", "3/32"), ("1/4", "0")])
        );
        // What is impossible on one side is not shared.
        let nothing = Frontier::leaf(&three, &[number(3, 4), Rational::ZERO]);
        assert_eq!(corners(&nothing), texts(&[("0", "0")]));
        // At ε = 0 both are one line.
        let equal = Frontier::leaf(&Rational::ONE, &[number(1, 2), number(1, 3)]);
        assert_eq!(corners(&equal), texts(&[("0", "1/3"), ("1/3", "0")]));
    }

    #[test]
    fn sums_and_intersections_by_hand() {
        let triangle = |alpha: i128, beta: i128| Frontier {
            corners: vec![
                [Rational::ZERO, Rational::from(beta)],
                [Rational::from(alpha), Rational::ZERO],
            ],
        };
        let sum = Frontier::sum(&[triangle(1, 2), triangle(2, 1)]);
        assert_eq!(corners(&sum), texts(&[("0", "3"), ("2", "2"), ("3", "0")]));
        let both = triangle(1, 2).and(&triangle(2, 1));
        assert_eq!(
            corners(&both),
            texts(&[("0", "1"), ("2/3", "2/3"), ("1", "0")])
        );
        assert_eq!(both.diagonal(), number(2, 3));
        assert_eq!(sum.diagonal(), Rational::from(2_u8));
        assert!(sum.holds(&[number(5, 2), Rational::ONE]));
        assert!(!sum.holds(&[number(5, 2), number(101, 100)]));
        assert!(!sum.holds(&[number(7, 2), Rational::ZERO]));
    }

    #[test]
    fn shares_add_up_and_are_held() {
        let three = Rational::from(3_u8);
        let parts = [
            Frontier::leaf(&three, &[number(1, 2), number(1, 3)]),
            Frontier::leaf(&three, &[number(1, 4), number(1, 2)]),
            Frontier::leaf(&three, &[number(1, 4), number(1, 6)]),
        ];
        let sum = Frontier::sum(&parts);
        for step in 0..=20 {
            let alpha = sum.largest() * &number(step, 20);
            let height = sum.height(&alpha).unwrap();
            for beta in [height.clone(), &height * &number(2, 3), Rational::ZERO] {
                let shares = Frontier::share(&parts, &[alpha.clone(), beta.clone()]);
                let mut total = [Rational::ZERO, Rational::ZERO];
                for (share, part) in shares.iter().zip(&parts) {
                    assert!(part.holds(share), "{share:?} {part:?}");
                    total[0] += &share[0];
                    total[1] += &share[1];
                }
                assert_eq!(total, [alpha.clone(), beta]);
            }
        }
    }
}
