//! F: Feldman, Zrnic, *Individual Privacy Accounting via a Rényi Filter* (2021).
//!
//! | item | where |
//! |---|---|
//! | Example 2.8 analyses that are Lipschitz in every record | [`lipschitz_loss`] |
//! | Thm 4.3 against R's stronger adversary, who names new neighbours in every round; Rem. 4.4 | `new_neighbours` |
//! | Example 5.1 a sum is no odometer given its reading | `example_5_1`, and `--bin naive_odometer` |
//! | §6.2, Fig. 2 logistic regression on Adult, with a budget for each person | `--bin adult`, `spec/adult.md` |

mod example_2_8;
#[cfg(test)]
mod example_5_1;
#[cfg(test)]
mod new_neighbours;

pub use example_2_8::lipschitz_loss;
