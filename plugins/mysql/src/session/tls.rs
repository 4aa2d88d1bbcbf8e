//! Encrypted connections, as the `sslMode` of a URL says it, or its older forms.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use transship_sql::Url;

/// Whether to encrypt, and what to check of the server's certificate.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(super) mode: Mode,
    config: Arc<ClientConfig>,
}

/// When to encrypt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Never,
    /// Where the server can.
    Preferred,
    Always,
}

impl Tls {
    /// # Errors
    /// What is wrong with the URL, to be put behind the path of its parameter.
    pub(super) fn of(url: &Url) -> Result<Tls, String> {
        let (mode, check) = wanted(url)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let inner = check.map(|check| Ok::<_, String>((check, authority(url, &provider)?))).transpose()?;
        let verifier = Verifier { inner, provider };
        let config =
            ClientConfig::builder_with_provider(verifier.provider.clone()).with_safe_default_protocol_versions();
        let config = config.map_err(|error| format!("cannot be reached by TLS: {error}"))?;
        let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
        Ok(Tls { mode, config: Arc::new(config) })
    }

    pub(super) fn client(&self, host: &str) -> Result<ClientConnection, String> {
        let name = ServerName::try_from(host.to_string()).map_err(|error| error.to_string())?;
        ClientConnection::new(self.config.clone(), name).map_err(|error| error.to_string())
    }
}

/// What is checked of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Authority,
    AuthorityAndName,
}

fn wanted(url: &Url) -> Result<(Mode, Option<Check>), String> {
    if let Some(mode) = url.property("sslMode") {
        return match mode.to_lowercase().replace('_', "-").as_str() {
            "disabled" | "disable" => Ok((Mode::Never, None)),
            "preferred" | "prefer" => Ok((Mode::Preferred, None)),
            "required" | "require" | "trust" => Ok((Mode::Always, None)),
            "verify-ca" => Ok((Mode::Always, Some(Check::Authority))),
            "verify-identity" | "verify-full" => Ok((Mode::Always, Some(Check::AuthorityAndName))),
            other => {
                let modes = "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY";
                Err(format!("has sslMode={other}, but it must be {modes}"))
            }
        };
    }
    // The older words. `useSSL=true` alone does not insist on encryption.
    let check = url.truth("verifyServerCertificate")?.unwrap_or(false).then_some(Check::Authority);
    let mode = match (url.truth("useSSL")?, url.truth("requireSSL")?.unwrap_or(false) || check.is_some()) {
        (Some(false), _) => Mode::Never,
        (_, true) => Mode::Always,
        _ => Mode::Preferred,
    };
    Ok((mode, check.filter(|_| mode == Mode::Always)))
}

/// What checks that a certificate is signed by somebody in the file that the URL names.
fn authority(url: &Url, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, String> {
    let named = ["serverSslCert", "sslCa"].iter().find_map(|key| Some((key, url.property(key)?)));
    let Some((key, path)) = named else {
        return Err("asks for a check of the server's certificate: name the file with the root certificates, \
                    sslCa=/path/ca.pem, or encrypt without a check, sslMode=REQUIRED"
            .into());
    };
    let failed = |error: String| format!("has {key}={path}: {error}");
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))? {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        roots.add(certificate).map_err(|error| failed(error.to_string()))?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
    verifier.map_err(|error| failed(error.to_string()))
}

#[derive(Debug)]
struct Verifier {
    inner: Option<(Check, Arc<WebPkiServerVerifier>)>,
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
        // Encrypted without a check: whoever sits in the middle can read along, and that is what was asked for.
        let Some((check, inner)) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        let is_only_the_name = |error: &Error| {
            use CertificateError::{NotValidForName, NotValidForNameContext};
            matches!(error, Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }))
        };
        match inner.verify_server_cert(certificate, intermediates, name, response, now) {
            Err(error) if *check == Check::Authority && is_only_the_name(&error) => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
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
