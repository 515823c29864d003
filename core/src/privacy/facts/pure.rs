use crate::number::Epsilon;
use crate::privacy::{Distance, Implies, Measure, Prices, PureDp, UnknownLoss};

/// ε-DP, where nothing else is known.
///
/// ```
/// use queryables::privacy::facts::Pure;
/// use queryables::privacy::{ApproxDp, Distance, Prices, PureDp};
///
/// let fact = Pure { epsilon: "0.1".parse()? };
/// assert_eq!(ApproxDp.price(&fact)?.to_string(), "(0.1, 0)");
/// let three = Distance::new(3).expect("not zero");
/// assert_eq!(PureDp.price(&fact.at(three)?)?, "0.3".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pure {
    /// The largest log-ratio of the odds of any event.
    pub epsilon: Epsilon,
}

impl Pure {
    /// What is true at a distance of d: d·ε-DP (Dwork and Roth 2014, Theorem 2.2).
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if it cannot be held.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        let epsilon = PureDp.group(&self.epsilon, distance)?;
        Ok(Self { epsilon })
    }
}

/// What ε-DP implies, by the theorem that [`Implies`] names.
impl<Me: Measure> Prices<Pure> for Me
where
    PureDp: Implies<Me>,
{
    fn price(&self, fact: &Pure) -> Result<Me::Loss, UnknownLoss> {
        PureDp.imply(&fact.epsilon, self)
    }
}
