//! T: Tran, Koskela, Räisä, Honkela, *f-Differential Privacy Filters: Validity and Approximate
//! Solutions*.
//!
//! | item | where |
//! |---|---|
//! | 3.3, B.1, Fig. 1 and 4 the natural filter fails where trade-off functions cross | [`counterexample`], `--bin counterexample`, `--bin figures` |
//! | 3.8 for arbitrary functions that cross: a first launch after which they are over the budget | [`crossing`] |
//! | 4.1 moments of the privacy loss | [`asymptotic::moments`] |
//! | Alg 2, 4.3 the approximate GDP filter, which is no bound | [`asymptotic`] |
//! | Alg 2 as printed: the last launch is clipped to what is left | [`clipped_sums`] |
//! | 4.2, E.1, F.1, F.2 the fully adaptive central limit theorem | [`asymptotic::LimitConditions`], [`asymptotic::third_moments`] |
//! | Alg 3, 4.4 the same with a budget for each record | [`sampled_sums`] |
//! | §4.5, Fig. 2 the schedule, under four ways of accounting | [`asymptotic::schedule`], `--bin figures` |

pub mod asymptotic;
pub mod clipped_sums;
pub mod counterexample;
pub mod crossing;
pub mod sampled_sums;
