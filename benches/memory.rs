//! What launches and children keep in memory, here and in OpenDP:
//! `cargo bench --package benches --bench memory`.
//!
//! It counts every allocation, which takes time: that is why it is not part of `peers`. The bytes
//! are those asked of the allocator, the same on every machine with pointers of 64 bits.

#[allow(dead_code)]
#[path = "peers/ours.rs"]
mod ours;
mod page;
#[allow(dead_code)]
#[path = "peers/theirs.rs"]
mod theirs;

use std::fmt::Write;
use std::hint::black_box;
use std::num::NonZeroU64;
use std::sync::Arc;

use allocation_counter::measure;
use opendp::core::OdometerQuery;
use queryables::machine::{Coins, Fault, Machine, Mechanism};
use queryables::prelude::*;

const LOSS: f64 = 1e-7;

/// Draws once for each query.
#[derive(Clone)]
struct Drawing;

impl<D: ?Sized> Mechanism<D> for Drawing {
    type Machine = Self;

    fn start(&self, _: &Arc<D>, _: &mut Coins<'_>) -> Result<Self, Fault> {
        Ok(Self)
    }
}

impl Machine for Drawing {
    type Query = ();
    type Answer = u64;

    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<u64, Fault> {
        Ok(coins.uniform(NonZeroU64::MIN)?)
    }
}

impl Private<PureDp, AddRemove> for Drawing {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(Epsilon::ZERO)
    }
}

/// The bytes that are kept for each of `times` things.
fn kept<T>(times: usize, mut one: impl FnMut() -> T) -> f64 {
    let mut all = Vec::with_capacity(times);
    let info = measure(|| all.extend((0..times).map(|_| one())));
    drop(black_box(all));
    info.bytes_current as f64 / times as f64
}

fn main() {
    let mut table = "| | | ours, bytes | OpenDP, bytes |\n|---|---|---:|---:|\n".to_owned();
    let mut report = |name: &str, k: Option<usize>, ours: f64, opendp: Option<f64>| {
        let k_line = k.map(|k| format!(" k={k}")).unwrap_or_default();
        let k_cell = k.map(|k| format!("k = {k}")).unwrap_or_default();
        let line = opendp.map(|bytes| format!(" opendp={bytes:.1}B"));
        let cell = opendp.map_or("–".to_owned(), |bytes| format!("{bytes:.1}"));
        println!(
            "peers: {name}{k_line} ours={ours:.1}B{}",
            line.unwrap_or_default()
        );
        writeln!(table, "| {name} | {k_cell} | {ours:.1} | {cell} |").unwrap();
    };

    // OpenDP's filters keep what the odometer inside keeps.
    for k in [10, 100, 1000, 10_000] {
        let (filter, mechanism) = (ours::filter(), ours::constant());
        let (mut odometer, launch) = (theirs::odometer(), theirs::launch_constant());
        report(
            "bytes per launch, the same mechanism again",
            Some(k),
            kept(k, || filter.release(&mechanism).expect("within the budget")),
            Some(kept(k, || launch(&mut odometer))),
        );
        let mut odometer = theirs::odometer();
        report(
            "bytes per launch, a new mechanism each time",
            Some(k),
            kept(k, || {
                filter
                    .release(&ours::constant())
                    .expect("within the budget")
            }),
            Some(kept(k, || {
                let query = OdometerQuery::Invoke(theirs::constant());
                odometer.eval(&query).expect("an answer");
            })),
        );
    }

    const CHILDREN: usize = 1000;
    let filter = ours::filter();
    report(
        "bytes per live child that answers with a constant",
        None,
        kept(CHILDREN, || ours::child(&filter)),
        None,
    );
    report(
        "bytes per live child that has drawn coins",
        None,
        kept(CHILDREN, || {
            let child = filter.launch(&Drawing).expect("within the budget");
            child.ask(()).expect("randomness");
            child
        }),
        None,
    );
    let budget = Filter::concurrent(PureDp, "0.1".parse().expect("a budget"));
    let mut odometer = theirs::odometer();
    report(
        "bytes per live compositor child",
        None,
        kept(CHILDREN, || {
            filter.launch(&budget).expect("within the budget")
        }),
        Some(kept(CHILDREN, || {
            let child = theirs::child_mechanism(1);
            odometer.invoke(child).expect("a child")
        })),
    );
    if page::whole_run() {
        page::write_section("Memory", &table);
    }
}
