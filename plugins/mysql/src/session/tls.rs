//! Encrypted connections, as the `sslMode` of a URL says it, or its older forms.

use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use transship_sql::Url;
use transship_sql::tls::{self, Check, Properties};

/// The properties that name files: as the drivers name them where these take PEM, else as MySQL's own programs do.
const PROPERTIES: Properties = Properties {
    roots: &["sslCa", "serverSslCert"],
    certificate: "sslCert",
    key: "sslKey",
    stores: &[
        ("clientCertificateKeyStoreUrl", "sslCert and sslKey"),
        ("keyStore", "sslCert and sslKey"),
        ("trustCertificateKeyStoreUrl", "sslCa"),
        ("trustStore", "sslCa"),
    ],
    unchecked: "sslMode=REQUIRED",
};

/// Whether to encrypt, and how.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(super) mode: Mode,
    /// `None` where nothing is encrypted.
    config: Option<Arc<ClientConfig>>,
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
        let config = match mode {
            Mode::Never => None,
            Mode::Preferred | Mode::Always => Some(Arc::new(tls::client(url, check, &PROPERTIES)?)),
        };
        Ok(Tls { mode, config })
    }

    /// # Errors
    /// Why there is no encrypted connection to this host.
    pub(super) fn client(&self, host: &str) -> Result<ClientConnection, String> {
        let config = self.config.clone().ok_or("the URL wants no encryption")?;
        let name = ServerName::try_from(host.to_string()).map_err(|error| error.to_string())?;
        ClientConnection::new(config, name).map_err(|error| error.to_string())
    }
}

fn wanted(url: &Url) -> Result<(Mode, Check), String> {
    if let Some(mode) = url.property("sslMode") {
        return match mode.to_lowercase().replace('_', "-").as_str() {
            "disabled" | "disable" => Ok((Mode::Never, Check::Nothing)),
            "preferred" | "prefer" => Ok((Mode::Preferred, Check::Nothing)),
            "required" | "require" | "trust" => Ok((Mode::Always, Check::Nothing)),
            "verify-ca" => Ok((Mode::Always, Check::Authority)),
            "verify-identity" | "verify-full" => Ok((Mode::Always, Check::AuthorityAndName)),
            other => {
                let modes = "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY";
                Err(format!("has sslMode={other}, but it must be {modes}"))
            }
        };
    }
    // The older words. `useSSL=true` alone does not insist on encryption.
    let verifies = url.truth("verifyServerCertificate")?.unwrap_or(false);
    let mode = match (url.truth("useSSL")?, url.truth("requireSSL")?.unwrap_or(false) || verifies) {
        (Some(false), _) => Mode::Never,
        (_, true) => Mode::Always,
        _ => Mode::Preferred,
    };
    Ok((mode, if verifies && mode == Mode::Always { Check::Authority } else { Check::Nothing }))
}
