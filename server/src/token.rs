//! Bearer tokens: random, and known here only by their hash.

use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The SHA-256 of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// Reads 64 hexadecimal digits.
    pub fn read(text: &str) -> Option<Self> {
        let mut hash = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(digits).ok()?;
            *byte = u8::from_str_radix(digits, 16).ok()?;
        }
        Some(Self(hash))
    }

    pub fn to_hex(self) -> String {
        hex(&self.0)
    }

    /// An identifier for something that belongs to the owner of the token, which nobody else can guess:
    /// the same in every process.
    pub fn derive(self, names: &[&str]) -> String {
        let mut hash = Sha256::new();
        hash.update(b"queryables share\0");
        hash.update(self.0);
        for name in names {
            hash.update((name.len() as u64).to_be_bytes());
            hash.update(name.as_bytes());
        }
        let hash: [u8; 32] = hash.finalize().into();
        hex(hash.get(..16).unwrap_or_default())
    }

    /// In a time that does not depend on where they differ.
    pub fn is(self, other: Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Random bits of the operating system, in hexadecimal digits.
pub fn random<const BYTES: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

/// A new token: 256 random bits.
pub fn new_token() -> Result<String, getrandom::Error> {
    Ok(format!("qs_{}", random::<32>()?))
}

/// Seconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
