//! Encrypted connections: whom to trust and who we are, from the files that a URL names.
//! Not here: what a plugin's URL calls its modes, nor which connections are encrypted.

use std::fmt::Display;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::Url;

/// What is checked of a server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Nothing: encrypted, but whoever sits in the middle can read along.
    Nothing,
    /// That somebody has signed it who is trusted.
    Authority,
    /// That, and that it is for the host that the URL names.
    AuthorityAndName,
}

/// The properties by which URLs of a system name files.
#[derive(Debug, Clone, Copy)]
pub struct Properties {
    /// Names for the file of those whose signatures are trusted; the first one is shown.
    pub roots: &'static [&'static str],
    /// Our certificate.
    pub certificate: &'static str,
    /// The key of our certificate.
    pub key: &'static str,
    /// Stores of Java, which cannot be read here, and the property to use in place of each.
    pub stores: &'static [(&'static str, &'static str)],
    /// How to encrypt without a check, for advice.
    pub unchecked: &'static str,
}

/// How connections to the server of a URL are encrypted.
///
/// # Errors
/// What is wrong with the URL or a file, to be put behind the path of the URL's parameter.
pub fn client(url: &Url, check: Check, properties: &Properties) -> Result<ClientConfig, String> {
    refuse_stores(url, properties)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trusted = match check {
        Check::Nothing => None,
        Check::Authority | Check::AuthorityAndName => Some(Trusted::of(url, check, properties, &provider)?),
    };
    let verifier = Verifier { trusted, provider };
    let config = ClientConfig::builder_with_provider(verifier.provider.clone()).with_safe_default_protocol_versions();
    let config = config.map_err(|error| format!("cannot be reached by TLS: {error}"))?;
    let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let Some((certificates, key)) = ourselves(url, properties)? else { return Ok(config.with_no_client_auth()) };
    config.with_client_auth_cert(certificates, key).map_err(|error| {
        let Properties { certificate, key, .. } = properties;
        format!("has {certificate} and {key}, which do not belong together: {error}")
    })
}

/// A file that a URL names by a property.
#[derive(Debug, Clone, Copy)]
struct File<'a> {
    property: &'a str,
    path: &'a str,
}

impl<'a> File<'a> {
    fn of(url: &'a Url, property: &'a str) -> Option<File<'a>> {
        let path = url.property(property).filter(|path| !path.trim().is_empty())?;
        Some(File { property, path })
    }

    /// A problem with it.
    fn wrong(&self, why: impl Display) -> String {
        format!("has {}={}: {why}", self.property, self.path)
    }

    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, String> {
        let bytes = std::fs::read(self.path).map_err(|error| self.wrong(error))?;
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
        let found = found.map_err(|error| self.wrong(error))?;
        match found.is_empty() {
            true => {
                Err(self.wrong("there is no certificate in it: it must be in PEM form, -----BEGIN CERTIFICATE-----"))
            }
            false => Ok(found),
        }
    }

    /// A key in PEM form, or in DER form as the JDBC driver of PostgreSQL wants it.
    fn key(&self) -> Result<PrivateKeyDer<'static>, String> {
        let bytes = std::fs::read(self.path).map_err(|error| self.wrong(error))?;
        let has = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
        if has(b"BEGIN ENCRYPTED PRIVATE KEY") || has(b"Proc-Type: 4,ENCRYPTED") {
            return Err(self.wrong("a pass phrase locks it: write it without one, openssl pkey -in KEY -out key.pem"));
        }
        if has(b"-----BEGIN ") {
            return PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| self.wrong(error));
        }
        let advice = "it is no key, neither in PEM nor in DER form (from a .p12 file: openssl pkcs12 -in FILE -nodes -nocerts -out key.pem)";
        PrivateKeyDer::try_from(bytes).map_err(|_| self.wrong(advice))
    }
}

/// A job that names a store means to be safe: it is not run without.
fn refuse_stores(url: &Url, properties: &Properties) -> Result<(), String> {
    for (store, instead) in properties.stores {
        if url.property(store).is_some_and(|text| !text.trim().is_empty()) {
            return Err(format!(
                "has {store}, a store of Java, which cannot be read here: write what is in it to files in PEM form (keytool \
                 -importkeystore -deststoretype PKCS12, then openssl pkcs12 -in), and name them by {instead}"
            ));
        }
    }
    Ok(())
}

/// Our certificate, with those that lead from it to one that the server knows, and its key.
#[allow(clippy::type_complexity, reason = "it is taken apart at once")]
fn ourselves(
    url: &Url,
    properties: &Properties,
) -> Result<Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>, String> {
    let Properties { certificate, key, .. } = properties;
    match (File::of(url, certificate), File::of(url, key)) {
        (Some(certificate), Some(key)) => Ok(Some((certificate.certificates()?, key.key()?))),
        (Some(_), None) => Err(format!("has {certificate}, and no key for it: add {key}=/path/client.key")),
        (None, Some(_)) => Err(format!("has {key}, and no certificate for it: add {certificate}=/path/client.crt")),
        (None, None) => Ok(None),
    }
}

/// Those whose signatures are trusted.
#[derive(Debug)]
struct Trusted {
    check: Check,
    verifier: Arc<WebPkiServerVerifier>,
    roots: Vec<CertificateDer<'static>>,
}

impl Trusted {
    fn of(url: &Url, check: Check, properties: &Properties, provider: &Arc<CryptoProvider>) -> Result<Trusted, String> {
        let Properties { roots: names, unchecked, .. } = properties;
        let Some(file) = names.iter().find_map(|name| File::of(url, name)) else {
            return Err(format!(
                "asks for a check of the server's certificate: name the file with the root certificates, {}=/path/ca.pem, or \
                 encrypt without a check, {unchecked}",
                names[0]
            ));
        };
        let roots = file.certificates()?;
        let mut store = RootCertStore::empty();
        for root in &roots {
            store.add(root.clone()).map_err(|error| file.wrong(error))?;
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone()).build();
        Ok(Trusted { check, verifier: verifier.map_err(|error| file.wrong(error))?, roots })
    }

    /// Whether the server is who it should be.
    fn accepts(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        response: &[u8],
        now: UnixTime,
    ) -> Result<(), Error> {
        // A certificate that its owner has signed himself is trusted by being in the file.
        if self.roots.iter().any(|root| root == certificate) {
            return match self.check {
                Check::AuthorityAndName => verify_server_name(&ParsedCertificate::try_from(certificate)?, name),
                Check::Authority | Check::Nothing => Ok(()),
            };
        }
        match self.verifier.verify_server_cert(certificate, intermediates, name, response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.check != Check::AuthorityAndName => Ok(()),
            outcome => outcome.map(|_| ()),
        }
    }
}

#[derive(Debug)]
struct Verifier {
    /// `None`: everybody is.
    trusted: Option<Trusted>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(trusted) = &self.trusted {
            trusted.accepts(certificate, intermediates, name, response, now)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
