//! Runs the reference values in `spec/vectors`, or in the directory named by `VECTORS_DIR`.
//!
//! A value on the wrong side, one outside the tolerance, an operation that is not known here and a
//! directory without rows all fail, and name the row. Comparisons are exact. The rows of what is for
//! comparison only are run by `papers/tests/conformance`.

mod arguments;
mod can_fail;
mod compute;
mod runner;

use std::path::Path;

use compute::compute;
use runner::{Package, assert_met, directory};

#[test]
fn every_reference_value_is_met() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_met(&directory(root), Package::Library, compute);
}
