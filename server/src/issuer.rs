//! Tokens of an issuer that the curator names (JWT): verified here, never made.

use std::fs;
use std::path::{Path, PathBuf};

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use serde::Deserialize;

/// The longest token that is looked at.
pub const LONGEST: usize = 4096;
/// How far the issuer's clock may be from ours, in seconds.
const LEEWAY: u64 = 30;

/// Who issues tokens, as the curator writes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssuerConfig {
    /// `iss` of every token.
    name: String,
    /// `aud` of every token.
    audience: String,
    algorithm: SignedBy,
    /// PEM files with the issuer's public keys.
    public_keys: Vec<PathBuf>,
}

/// How tokens are signed. Only asymmetric ones: this server could not make one.
#[derive(Clone, Copy, Debug, Deserialize)]
enum SignedBy {
    #[serde(rename = "EdDSA")]
    EdDsa,
    #[serde(rename = "ES256")]
    Es256,
    #[serde(rename = "RS256")]
    Rs256,
}

/// An issuer, with its keys.
pub struct Issuer {
    keys: Vec<DecodingKey>,
    validation: Validation,
}

/// What a token says. The types are exact: an `exp` that is no number is no token.
#[derive(Deserialize)]
struct Claims {
    sub: String,
    #[serde(rename = "exp")]
    _exp: u64,
}

impl IssuerConfig {
    pub fn in_folder(mut self, folder: &Path) -> Self {
        for file in &mut self.public_keys {
            *file = folder.join(&*file);
        }
        self
    }

    pub fn open(&self) -> Result<Issuer, String> {
        if self.public_keys.is_empty() || self.name.is_empty() || self.audience.is_empty() {
            return Err("an issuer has a name, an audience and a public key".to_owned());
        }
        let (algorithm, read): (_, fn(&[u8]) -> _) = match self.algorithm {
            SignedBy::EdDsa => (Algorithm::EdDSA, DecodingKey::from_ed_pem),
            SignedBy::Es256 => (Algorithm::ES256, DecodingKey::from_ec_pem),
            SignedBy::Rs256 => (Algorithm::RS256, DecodingKey::from_rsa_pem),
        };
        let keys = self.public_keys.iter().map(|file| {
            let words = |error: String| format!("{}: {error}", file.display());
            let pem = fs::read(file).map_err(|error| words(error.to_string()))?;
            read(&pem).map_err(|error| words(error.to_string()))
        });
        // The algorithm is ours: what the head of a token says is compared with it, never followed.
        let mut validation = Validation::new(algorithm);
        validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        validation.set_issuer(&[&self.name]);
        validation.set_audience(&[&self.audience]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY;
        Ok(Issuer {
            keys: keys.collect::<Result<_, _>>()?,
            validation,
        })
    }
}

impl Issuer {
    /// Whom a token was issued for; none if anything in it is wrong.
    pub fn subject(&self, token: &str) -> Option<String> {
        let verified = |key| decode::<Claims>(token, key, &self.validation).ok();
        Some(self.keys.iter().find_map(verified)?.claims.sub)
    }
}
