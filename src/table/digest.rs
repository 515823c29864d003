//! What schemas and questions are known by.

use std::fmt::Write;

use serde::Serialize;
use sha2::{Digest, Sha256};

/// The SHA-256 of a beginning and of a value's JSON, in hexadecimal digits.
///
/// The JSON has no spaces and one order, so that equal values have equal digests.
pub(super) fn digest(beginning: &str, value: &impl Serialize) -> String {
    // What has a digest was checked before: its numbers are finite, so that writing it does not fail.
    let json = serde_json::to_string(value).unwrap_or_default();
    let digest = Sha256::new().chain_update(beginning).chain_update(json);
    let mut text = String::with_capacity(64);
    for byte in digest.finalize() {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
