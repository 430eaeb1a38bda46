//! Encryption and identities: TLS 1.3 in which both sides show a certificate.

use mxrs_types::{Error, Result};
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name in a certificate that is valid for every worker. A certificate for one worker has a name such as `worker-2`
/// instead.
pub const WORKER: &str = "worker";

/// The files by which a process proves who it is, and checks others. All are in the PEM format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificates of the authority that has signed the certificates of this job.
    pub authority: PathBuf,
    /// The certificate of this process, followed by the intermediate certificates up to the authority. The certificate of a
    /// server names the hosts by which workers reach it. The certificate of a worker names `worker`, or `worker-2` if its
    /// owner may only be worker 2.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
}

const VERSIONS: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13];
/// The protocol that runs inside TLS: HTTP/2.
const PROTOCOL: &[u8] = b"h2";

impl TlsFiles {
    fn roots(&self) -> Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&self.authority)? {
            roots.add(certificate).map_err(|error| unusable(&self.authority, error, "certificates of an authority"))?;
        }
        Ok(roots)
    }

    fn identity(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
        let key =
            PrivateKeyDer::from_pem_file(&self.key).map_err(|error| unusable(&self.key, error, "a private key"))?;
        Ok((certificates(&self.certificate)?, key))
    }

    /// The settings of a server, which refuses clients without a certificate of the authority.
    ///
    /// # Errors
    /// Fails if a file cannot be read, is not of its kind, or if certificate and key do not belong together.
    pub fn server(&self) -> Result<Arc<ServerConfig>> {
        let provider = provider()?;
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(self.roots()?), Arc::clone(&provider)).build();
        let verifier = verifier.map_err(|error| unusable(&self.authority, error, "certificates of an authority"))?;
        let (certificates, key) = self.identity()?;
        let config = ServerConfig::builder_with_provider(provider).with_protocol_versions(VERSIONS);
        let config = config.map_err(|error| Error::invalid("version of TLS", error, "TLS 1.3"))?;
        let config = config.with_client_cert_verifier(verifier).with_single_cert(certificates, key);
        let mut config = config.map_err(|error| unusable(&self.certificate, error, "a certificate of the key"))?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Arc::new(config))
    }

    /// The settings of a worker.
    ///
    /// # Errors
    /// As [`Self::server`].
    pub fn client(&self) -> Result<Arc<ClientConfig>> {
        let (certificates, key) = self.identity()?;
        let config = ClientConfig::builder_with_provider(provider()?).with_protocol_versions(VERSIONS);
        let config = config.map_err(|error| Error::invalid("version of TLS", error, "TLS 1.3"))?;
        let config = config.with_root_certificates(self.roots()?).with_client_auth_cert(certificates, key);
        let mut config = config.map_err(|error| unusable(&self.certificate, error, "a certificate of the key"))?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Arc::new(config))
    }
}

/// The cryptography: graviola, which is written in Rust and needs certain instructions of the processor.
fn provider() -> Result<Arc<rustls::crypto::CryptoProvider>> {
    if !graviola::util::is_cpu_supported() {
        let reason = "the cryptography needs AES and vector instructions that this processor does not have";
        return Err(Error::not_built("TLS on this processor", reason));
    }
    Ok(Arc::new(rustls_graviola::default_provider()))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let all = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>);
    let all = all.map_err(|error| unusable(path, error, "certificates"))?;
    if all.is_empty() { Err(unusable(path, "no certificate", "certificates")) } else { Ok(all) }
}

fn unusable(path: &Path, got: impl ToString, expected: &str) -> Error {
    Error::invalid("PEM file for TLS", got, expected).context(format!("reading {}", path.display()))
}

/// Whether a certificate allows its owner to be the worker with this rank.
pub fn names_worker(certificate: &CertificateDer<'_>, rank: usize) -> bool {
    let Ok(parsed) = ParsedCertificate::try_from(certificate) else { return false };
    let is_named =
        |name: String| ServerName::try_from(name).is_ok_and(|name| verify_server_name(&parsed, &name).is_ok());
    is_named(WORKER.to_owned()) || is_named(format!("{WORKER}-{rank}"))
}
