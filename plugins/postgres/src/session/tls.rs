//! Encrypted connections, by the `sslmode` of the URL as libpq and the JDBC driver understand it.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;
use transship_sql::Url;

/// What opens encrypted connections.
pub(crate) type Tls = MakeRustlsConnect;

/// Whether to encrypt, and what to check of the server's certificate.
///
/// # Errors
/// What is wrong with the URL, to be put behind the path of its parameter.
pub(super) fn of(url: &Url) -> Result<(SslMode, Tls), String> {
    let ssl = url.truth("ssl")?.unwrap_or(false);
    // As the JDBC driver: `ssl=true` alone checks everything.
    let mode = url.property("sslmode").map_or(if ssl { "verify-full" } else { "prefer" }.into(), str::to_lowercase);
    let (mode, check) = match mode.as_str() {
        "disable" => (SslMode::Disable, None),
        "allow" | "prefer" => (SslMode::Prefer, None),
        "require" => (SslMode::Require, None),
        "verify-ca" => (SslMode::Require, Some(Check::Authority)),
        "verify-full" => (SslMode::Require, Some(Check::AuthorityAndName)),
        other => {
            let modes = "disable, prefer, require, verify-ca or verify-full";
            return Err(format!("has sslmode={other}, but it must be {modes}"));
        }
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let check = check.map(|check| Authority::of(url, check, &provider)).transpose()?;
    let verifier = Verifier { check, provider };
    let config = ClientConfig::builder_with_provider(verifier.provider.clone()).with_safe_default_protocol_versions();
    let config = config.map_err(|error| format!("cannot be reached by TLS: {error}"))?;
    let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
    Ok((mode, MakeRustlsConnect::new(config)))
}

/// What is checked of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Authority,
    AuthorityAndName,
}

/// Those whose signature is trusted.
#[derive(Debug)]
struct Authority {
    check: Check,
    verifier: Arc<WebPkiServerVerifier>,
    roots: Vec<CertificateDer<'static>>,
}

impl Authority {
    /// Those in the file that the URL names.
    fn of(url: &Url, check: Check, provider: &Arc<CryptoProvider>) -> Result<Authority, String> {
        let Some(path) = url.property("sslrootcert") else {
            return Err("asks for a check of the server's certificate: name the file with the root certificates, \
                        sslrootcert=/path/root.crt, or encrypt without a check, sslmode=require"
                .into());
        };
        let wrong = |error: &dyn std::fmt::Display| format!("has sslrootcert={path}: {error}");
        let certificates = CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))?;
        let roots = certificates.collect::<Result<Vec<_>, _>>().map_err(|error| wrong(&error))?;
        let mut store = RootCertStore::empty();
        for root in &roots {
            store.add(root.clone()).map_err(|error| wrong(&error))?;
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone()).build();
        Ok(Authority { check, verifier: verifier.map_err(|error| wrong(&error))?, roots })
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
                Check::Authority => Ok(()),
                Check::AuthorityAndName => verify_server_name(&ParsedCertificate::try_from(certificate)?, name),
            };
        }
        match self.verifier.verify_server_cert(certificate, intermediates, name, response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.check == Check::Authority => Ok(()),
            outcome => outcome.map(|_| ()),
        }
    }
}

#[derive(Debug)]
struct Verifier {
    check: Option<Authority>,
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
        // Without a check the connection is encrypted, and whoever sits in the middle can read it: that is what was asked for.
        if let Some(authority) = &self.check {
            authority.accepts(certificate, intermediates, name, response, now)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
