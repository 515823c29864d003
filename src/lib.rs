//! Interactive differential privacy.
//!
//! ```text
//! (state, query; coins) -> (state', answer)
//! ```
//!
//! A differentially private mechanism that answers several queries is a randomized state machine.
//! With this crate you write such machines, launch them on data under a *filter* (which stops
//! before a budget is exceeded) or an *odometer* (which says what has been spent), choose their
//! privacy parameters as you go, interleave any number of open ones, and put a *person in the
//! middle* of any conversation: code that hears each query and answer and decides what to pass on,
//! and never sees the data.
//!
//! ```
//! use queryables::data::Predicate;
//! use queryables::mechanisms::Count;
//! use queryables::prelude::*;
//! use std::sync::Arc;
//!
//! // The curator starts a filter on the data and hands it out.
//! let ages = Arc::new(vec![31_u32, 44, 52, 67, 70]);
//! let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), ages)?;
//!
//! // The analyst asks for a noisy count: ε = 0.25 is charged, and then it runs.
//! let retired = Predicate::new("retired", |age: &u32| *age >= 65);
//! let count = filter.release(&Count::of(retired.clone()).laplace(epsilon!(0.25))?)?;
//! println!("about {count} are retired");
//! assert_eq!(filter.remaining().to_string(), "0.75");
//!
//! // What is over budget is refused before the data is touched.
//! let refused = filter.release(&Count::of(retired).laplace(epsilon!(0.8))?);
//! assert!(matches!(refused, Err(LaunchError::Refused(_))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it fits together
//!
//! ```text
//! data + Filter
//!   └─ start ─▶ RunningFilter
//!                 ├─ launch(mechanism) ──▶ Queryable ─ ask(query) ─▶ answer
//!                 ├─ release(mechanism) ─▶ answer
//!                 └─ privacy_loss(), remaining(), would_admit(loss)
//! ```
//!
//! 1. The data holder starts a [`Filter`](compose::Filter) on the data with [`start`] and gives
//!    the handle to the analyst.
//! 2. The analyst launches mechanisms. Each states its loss ([`Private`](privacy::Private)) before
//!    it sees the data; the filter decides, charges, and only then starts it.
//! 3. A mechanism that answers once is [`release`](compose::RunningFilter::release)d; any other comes
//!    back as a [`Queryable`](queryable::Queryable), or as another compositor.
//!
//! # What the types rule out
//!
//! Conditions of theorems are types: children can be interleaved only where a concurrent
//! composition theorem is known, losses carry their measure and neighbouring relation, and a
//! mechanism without a bound cannot be launched where one is needed. If it compiles, a theorem
//! backs it, as long as every mechanism's own claim is true, and, for (ε, δ) and f-DP, as long as
//! interleaved children have finite communication
//! ([`LimitQueries`](middle::LimitQueries) makes that literal); each item that carries a guarantee
//! says under `# Guarantee` which theorem that is, and what it assumes.
//!
//! # Which measure
//!
//! A *measure* says what a loss is. All of these let children be interleaved.
//!
//! | measure | loss | take it when |
//! |---|---|---|
//! | [`PureDp`](privacy::PureDp) | ε | you want the plainest promise, or launch a few mechanisms with Laplace noise |
//! | [`ApproxDp`](privacy::ApproxDp) | (ε, δ) | a budget was given to you as (ε, δ); [`account`] has rules that admit more than adding up |
//! | [`ZCdp`](privacy::ZCdp) | ρ | most of your noise is Gaussian, and you want one number that adds up |
//! | [`Gdp`](privacy::Gdp) | μ | all of your noise is Gaussian: this is then exact, and admits most |
//!
//! # Where it comes from
//!
//! The definitions, algorithms and theorems are those of five papers: Haney, Shoemate, Tian, Vadhan,
//! Vyrros, Xu and Zhang 2023 on concurrent composition with adaptive parameters, the backbone; Rogers,
//! Roth, Ullman and Vadhan 2016 on odometers and filters; Whitehouse, Ramdas, Rogers and Wu 2023 on fully
//! adaptive composition; Feldman and Zrnic 2021 on individual budgets; Tran, Koskela, Räisä and Honkela
//! on filters under f-DP.
//!
//! # Crates
//!
//! What a framework needs that has its own mechanisms is a crate of its own with few dependencies,
//! [`queryables_core`]: all of [`number`], [`machine`], [`queryable`] and [`middle`], and most of
//! [`data`], [`privacy`], [`account`] and [`compose`]. This crate re-exports it under the same paths,
//! so that programs need to name this one only.
//!
//! Tables in files and databases, OpenDP, and generators of the rand ecosystem are crates of their own:
//! [`queryables-arrow`](https://docs.rs/queryables-arrow),
//! [`queryables-postgres`](https://docs.rs/queryables-postgres) (also a ledger for many processes),
//! [`queryables-opendp`](https://docs.rs/queryables-opendp),
//! [`queryables-rand`](https://docs.rs/queryables-rand). `queryables-server` serves remote analysts.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `fdp`, by default | trade-off functions and what is computed on them: [`privacy::fdp`], [`account::NaturalFilter`], [`account::advise`](fn@account::advise) |
//! | `rayon`, by default | large data is read on several threads |
//! | `verify` | [`verify`] |
//! | `proptest` | [`verify::strategies`] for property tests |
//! | `table` | [`table`], and mechanisms on tables |
//! | `ledger` | [`ledger`]; `redb` keeps it in a file |
//! | `serde` | losses, rules and refusals written down and read again |
//!
//! # Modules, each built on those above it only
//!
//! | module | what lives there |
//! |---|---|
//! | [`number`] | exact decimals, ratios, intervals rounded outward |
//! | [`machine`] | machines, mechanisms, coins, adversaries, views |
//! | [`data`] | datasets, questions about one record, and passes over all records |
//! | [`privacy`] | measures and their losses, neighbouring relations, conversions |
//! | [`account`] | how losses add up: accumulators and continuation rules |
//! | [`queryable`] | the handles that analysts hold |
//! | [`compose`] | filters, odometers, and other compositors |
//! | [`middle`] | the person in the middle, and ready-made ones |
//! | [`noise`] | exact samplers on the integers |
//! | [`table`] | questions that are data: schemas, expressions over columns, plans; feature `table` |
//! | [`mechanisms`] | ready-made mechanisms, one-shot and interactive |
//! | [`verify`] | the exact worst case of a mechanism over all adversaries, for finite noise and for most ready-made mechanisms, otherwise up to a stated δ; feature `verify` |
//! | [`audit`] | a statistical lower bound on ε, for what is too large to enumerate |
//! | [`ledger`] | budgets that survive: the record, restarts, many processes, quotas; feature `ledger` |
//!
//! The [`prelude`] has what most programs need.

// Links lead to all modules; without all features some are not there.
#![cfg_attr(
    not(all(
        feature = "fdp",
        feature = "ledger",
        feature = "proptest",
        feature = "table"
    )),
    allow(rustdoc::broken_intra_doc_links)
)]
#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]
#![warn(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate
)]
// In the library only: tests and examples may panic.
#![cfg_attr(
    not(test),
    warn(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

pub mod account;
pub mod audit;
pub mod compose;
pub mod data;
#[cfg(feature = "ledger")]
pub mod ledger;
pub mod mechanisms;
pub mod noise;
pub mod privacy;
#[cfg(feature = "table")]
pub mod table;
#[cfg(test)]
mod tests;
#[cfg(feature = "verify")]
pub mod verify;

#[cfg(feature = "ledger")]
use queryables_core::toolkit::sync;
pub(crate) use queryables_core::{clone_fields, debug_fields, debug_is_message};
#[doc(inline)]
pub use queryables_core::{confidence, delta, epsilon, middle, mu, price_any_fact, rho, start};

/// What most programs need, in one `use`: that of the core, and what makes queries mechanisms.
pub mod prelude {
    pub use crate::mechanisms::{Grouped, QueryExt};
    #[doc(inline)]
    pub use queryables_core::prelude::*;
}

/// Exact decimals and ratios: [`queryables_core::number`].
pub mod number {
    #[doc(inline)]
    pub use queryables_core::number::*;
    pub(crate) use queryables_core::toolkit::number::*;
}

/// Machines, mechanisms, coins, adversaries, views: [`queryables_core::machine`].
pub mod machine {
    #[doc(inline)]
    pub use queryables_core::machine::*;
    pub(crate) use queryables_core::toolkit::machine::*;
}

/// The handles that analysts hold: [`queryables_core::queryable`].
pub mod queryable {
    #[doc(inline)]
    pub use queryables_core::queryable::*;
    pub(crate) use queryables_core::toolkit::queryable::*;
}

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
