//! Encrypted connections, by the `sslmode` of the URL as libpq and the JDBC driver understand it.

use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;
use transship_sql::Url;
use transship_sql::tls::{self, Check, Properties};

/// What opens encrypted connections.
pub(crate) type Tls = MakeRustlsConnect;

/// The properties that name files.
const PROPERTIES: Properties = Properties {
    roots: &["sslrootcert"],
    certificate: "sslcert",
    key: "sslkey",
    stores: &[],
    unchecked: "sslmode=require",
};

/// Whether to encrypt, and what to check of the server's certificate.
///
/// # Errors
/// What is wrong with the URL, to be put behind the path of its parameter.
pub(super) fn of(url: &Url) -> Result<(SslMode, Tls), String> {
    let ssl = url.truth("ssl")?.unwrap_or(false);
    let trusts_all = url.property("sslfactory").is_some_and(|class| class.ends_with("NonValidatingFactory"));
    // As the JDBC driver: `ssl=true` alone checks everything.
    let usual = match (ssl, trusts_all) {
        (false, _) => "prefer",
        (true, true) => "require",
        (true, false) => "verify-full",
    };
    let mode = url.property("sslmode").unwrap_or(usual).to_lowercase();
    let (mode, check) = match mode.as_str() {
        "disable" => (SslMode::Disable, Check::Nothing),
        "allow" | "prefer" => (SslMode::Prefer, Check::Nothing),
        "require" => (SslMode::Require, Check::Nothing),
        "verify-ca" => (SslMode::Require, Check::Authority),
        "verify-full" => (SslMode::Require, Check::AuthorityAndName),
        other => {
            let modes = "disable, prefer, require, verify-ca or verify-full";
            return Err(format!("has sslmode={other}, but it must be {modes}"));
        }
    };
    Ok((mode, MakeRustlsConnect::new(tls::client(url, check, &PROPERTIES)?)))
}
