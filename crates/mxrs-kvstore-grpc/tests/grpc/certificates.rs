//! Certificates for tests: an authority, and certificates that it signs.

use base64::Engine as _;
use graviola::hashing::Sha256;
use graviola::signing::ecdsa::{P256, SigningKey};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, Error, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyIdMethod, KeyUsagePurpose, PublicKeyData, SignatureAlgorithm, date_time_ymd,
};
use std::path::{Path, PathBuf};

/// A private key, with its public key.
pub struct Key {
    key: SigningKey<P256>,
    public: Vec<u8>,
}

impl Key {
    fn new() -> Self {
        let key = SigningKey::<P256>::generate().unwrap();
        let mut buffer = [0; 65];
        let public = key.private_key.public_key_uncompressed();
        buffer.copy_from_slice(&public);
        Self { key, public: buffer.to_vec() }
    }

    fn pem(&self) -> String {
        let mut buffer = [0; 512];
        pem("PRIVATE KEY", self.key.to_pkcs8_der(&mut buffer).unwrap())
    }
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &rcgen::PKCS_ECDSA_P256_SHA256
    }
}

impl rcgen::SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut buffer = [0; 128];
        let signature = self.key.sign_asn1::<Sha256>(&[message], &mut buffer).map_err(|_| Error::RemoteKeyError)?;
        Ok(signature.to_vec())
    }
}

fn pem(kind: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", lines.join("\n"))
}

/// An authority, whose files are in a folder.
pub struct Authority {
    folder: PathBuf,
    key: Key,
    params: CertificateParams,
}

/// The files of one process: certificate of the authority, own certificate, own key.
pub struct Files {
    pub authority: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Authority {
    /// An authority of this name.
    pub fn new(folder: &Path, name: &str) -> Self {
        let key = Key::new();
        let mut params = params(name, &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let certificate = params.self_signed(&key).unwrap();
        let folder = folder.join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("ca.pem"), pem("CERTIFICATE", certificate.der())).unwrap();
        Self { folder, key, params }
    }

    /// A certificate for these names, which expires at the beginning of the year `until`.
    pub fn sign(&self, file: &str, names: &[&str], until: i32) -> Files {
        let (key, mut params) = (Key::new(), params(file, names));
        params.not_after = date_time_ymd(until, 1, 1);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let issuer = Issuer::from_params(&self.params, &self.key);
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let path = |end: &str| self.folder.join(format!("{file}{end}"));
        std::fs::write(path(".pem"), pem("CERTIFICATE", certificate.der())).unwrap();
        std::fs::write(path(".key"), key.pem()).unwrap();
        Files { authority: self.folder.join("ca.pem"), certificate: path(".pem"), key: path(".key") }
    }
}

fn params(name: &str, names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.serial_number = Some(vec![1, 2, 3, u8::try_from(name.len()).unwrap()].into());
    params.key_identifier_method = KeyIdMethod::PreSpecified(name.as_bytes().to_vec());
    params
}
