//! TLS by rustls: the curator's certificate and key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::Deserialize;
use tokio_rustls::TlsAcceptor;

/// Where the certificate and its key are, in PEM.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    certificate: PathBuf,
    key: PathBuf,
}

impl TlsFiles {
    pub fn in_folder(&self, folder: &Path) -> Self {
        Self {
            certificate: folder.join(&self.certificate),
            key: folder.join(&self.key),
        }
    }

    /// Reads them. TLS 1.2 and 1.3, HTTP/1.1 only.
    pub fn acceptor(&self) -> Result<TlsAcceptor, String> {
        let certificate = |error| format!("{}: {error}", self.certificate.display());
        let chain = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| certificate(error.to_string()))?;
        // What is wrong with a key is not said: its text must not reach a log.
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|_| format!("{}: no private key in PEM", self.key.display()))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| certificate(error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
