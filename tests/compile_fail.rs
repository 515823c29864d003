//! What no theorem backs does not compile, and the message says why.
//!
//! The messages are those of the compiler named in `Cargo.toml`; `TRYBUILD=overwrite cargo test
//! --test compile_fail` writes them anew. Read the difference: it is what a newcomer will see.

#[test]
fn what_no_theorem_backs_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
