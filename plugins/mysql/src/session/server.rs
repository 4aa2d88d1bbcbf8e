//! Where a server is and how to behave there, from a `jdbc:` URL and the job's login.

use std::fmt::Display;
use std::time::Duration;

use transship_plugin_api::{Error, Kind};
use transship_sql::Url;
use transship_sql::jdbc::Host;
use transship_sql::parameters::Login;
use transship_sql::password::Password;

use super::tls::Tls;

/// How long to wait for a connection, if the URL does not say.
const CONNECT_PATIENCE: Duration = Duration::from_secs(15);

/// Properties of URLs that have an effect.
const KNOWN: &[&str] = &[
    "allowLoadLocalInfile",
    "connectTimeout",
    "requireSSL",
    "serverSslCert",
    "sessionVariables",
    "socketTimeout",
    "sslCa",
    "sslCert",
    "sslKey",
    "sslMode",
    "useSSL",
    "verifyServerCertificate",
];
/// Properties about what a driver does inside, or about what is so here in any case.
const WITHOUT_EFFECT: &[&str] = &[
    "allowMultiQueries",
    "allowPublicKeyRetrieval",
    "autoReconnect",
    "cachePrepStmts",
    "characterEncoding",
    "characterSetResults",
    "connectionCollation",
    "defaultFetchSize",
    "failOverReadOnly",
    "maxReconnects",
    "netTimeoutForStreamingResults",
    "nullCatalogMeansCurrent",
    "prepStmtCacheSize",
    "rewriteBatchedStatements",
    "tcpKeepAlive",
    "tinyInt1isBit",
    "trustServerCertificate",
    "useCompression",
    "useCursorFetch",
    "useInformationSchema",
    "useServerPrepStmts",
    "useUnicode",
    "yearIsDateType",
    "zeroDateTimeBehavior",
    "useOldAliasMetadataBehavior",
    "maxAllowedPacket",
    "dumpQueriesOnException",
    "enabledTLSProtocols",
    "initialTimeout",
];
/// Properties about the clocks of drivers: here a date and time is what the table says, and a timestamp an instant.
const ABOUT_CLOCKS: &[&str] = &[
    "serverTimezone",
    "connectionTimeZone",
    "forceConnectionTimeZoneToSession",
    "useTimezone",
    "useLegacyDatetimeCode",
    "useJDBCCompliantTimezoneShift",
    "useGmtMillisForDatetimes",
    "timezone",
    "noDatetimeStringSync",
];

/// A server, a database of it, and who goes there.
pub(crate) struct Server {
    pub(super) hosts: Vec<Host>,
    pub(super) database: Option<String>,
    pub(super) user: String,
    pub(super) password: Password,
    pub(super) tls: Tls,
    pub(super) connect_patience: Duration,
    /// How long the server may be silent.
    pub(super) patience: Option<Duration>,
    /// Whether files may be sent by `LOAD DATA LOCAL`.
    pub(crate) may_load: bool,
    /// Hosts and database, for messages.
    pub(crate) place: String,
    /// Settings of the URL, `a=1, b=2`.
    pub(super) variables: Option<String>,
    /// The job's `session`.
    pub(super) statements: Vec<String>,
}

impl Server {
    /// # Errors
    /// What is wrong with the URL, to be put behind the path of its parameter.
    pub(crate) fn new(url: &Url, login: &Login, statements: &[String]) -> Result<Server, String> {
        let login = login.at(url);
        let millis =
            |name: &str| Ok::<_, String>(url.whole(name)?.filter(|millis| *millis > 0).map(Duration::from_millis));
        Ok(Server {
            hosts: url.hosts.clone(),
            database: url.database.clone(),
            user: login.username,
            password: login.password,
            tls: Tls::of(url)?,
            connect_patience: millis("connectTimeout")?.unwrap_or(CONNECT_PATIENCE),
            patience: millis("socketTimeout")?,
            may_load: url.truth("allowLoadLocalInfile")?.unwrap_or(true),
            place: url.to_string(),
            variables: url.property("sessionVariables").map(String::from).filter(|text| !text.trim().is_empty()),
            statements: statements.to_vec(),
        })
    }

    /// Names the URL's properties that have no effect and might be expected to.
    pub(crate) fn warn_of_ignored(url: &Url) {
        let is_among = |name: &str, names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let others: Vec<_> = url.properties_beside(KNOWN).filter(|name| !is_among(name, WITHOUT_EFFECT)).collect();
        let (clocks, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|name| is_among(name, ABOUT_CLOCKS));
        if !clocks.is_empty() {
            let clocks = clocks.join(", ");
            log::info!(
                "the URL's {clocks} is not needed: DATETIME is read as it is, TIMESTAMP as the instant that it is"
            );
        }
        if !others.is_empty() {
            log::warn!("the URL of {url} has properties without effect here: {}", others.join(", "));
        }
    }

    /// Says where and at what a connection was lost.
    pub(crate) fn lost(&self, doing: impl Display, error: Error) -> Error {
        match error.kind() {
            Kind::Io => error.context(format_args!("{}: {doing}", self.place)),
            _ => error,
        }
    }
}
