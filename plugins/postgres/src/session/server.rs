//! Where a database is and how to behave there, from a `jdbc:` URL and the job's login.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use transship_sql::Url;
use transship_sql::parameters::Login;

use super::tls::{self, Tls};

/// How long to wait for a connection, if the URL does not say.
const CONNECT_PATIENCE: Duration = Duration::from_secs(15);
/// A peer that is silent for longer is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Properties of URLs that have an effect.
const KNOWN: &[&str] = &[
    "applicationName",
    "connectTimeout",
    "currentSchema",
    "loginTimeout",
    "options",
    "socketTimeout",
    "ssl",
    "sslcert",
    "sslfactory",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "targetServerType",
    "tcpKeepAlive",
];
/// Properties that are about what a driver does inside, or about what is so here in any case.
const WITHOUT_EFFECT: &[&str] = &[
    "allowMultiQueries",
    "autosave",
    "binaryTransfer",
    "characterEncoding",
    "charSet",
    "defaultRowFetchSize",
    "preferQueryMode",
    "prepareThreshold",
    "readOnly",
    "reWriteBatchedInserts",
    "rewriteBatchedStatements",
    "stringtype",
    "useSSL",
    "useUnicode",
    "zeroDateTimeBehavior",
];

/// A database, and who goes there.
pub(crate) struct Server {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// Hosts and database, for messages.
    pub(crate) place: String,
    /// The user, for messages.
    pub(super) user: String,
    /// The schema that names without one are looked for in.
    schema: Option<String>,
    /// The zone in which the server shows and reads moments, where it is not to be the server's own.
    zone: Option<String>,
    /// The job's `session`.
    pub(crate) statements: Vec<String>,
}

impl Server {
    /// # Errors
    /// What is wrong with the URL, to be put behind the path of its parameter.
    pub(crate) fn new(url: &Url, login: &Login, statements: &[String]) -> Result<Server, String> {
        let login = login.at(url);
        let mut config = Config::new();
        for host in &url.hosts {
            config.host(&host.name).port(host.port);
        }
        let database = url.database.clone().unwrap_or_else(|| login.username.clone());
        config.user(&login.username).password(login.password.reveal()).dbname(&database);
        config.application_name(url.property("applicationName").unwrap_or("transship"));
        config.keepalives(url.truth("tcpKeepAlive")?.unwrap_or(true)).keepalives_idle(KEEPALIVE);
        config.keepalives_interval(KEEPALIVE / 3).keepalives_retries(3);
        let seconds =
            |name: &str| Ok::<_, String>(url.whole(name)?.filter(|seconds| *seconds > 0).map(Duration::from_secs));
        let connect = seconds("connectTimeout")?.or(seconds("loginTimeout")?).unwrap_or(CONNECT_PATIENCE);
        config.connect_timeout(connect);
        if let Some(patience) = seconds("socketTimeout")? {
            config.tcp_user_timeout(patience);
        }
        if let Some(options) = url.property("options") {
            config.options(options);
        }
        config.target_session_attrs(match url.property("targetServerType").map(str::to_lowercase).as_deref() {
            None | Some("any" | "preferprimary" | "prefersecondary" | "preferslave") => TargetSessionAttrs::Any,
            Some("primary" | "master") => TargetSessionAttrs::ReadWrite,
            Some("secondary" | "slave") => TargetSessionAttrs::ReadOnly,
            Some(other) => {
                return Err(format!("has targetServerType={other}, but it must be any, primary or secondary"));
            }
        });
        let (mode, tls) = tls::of(url)?;
        config.ssl_mode(mode);
        let unknown: Vec<_> = url.properties_beside(KNOWN).filter(|name| !is_among(name, WITHOUT_EFFECT)).collect();
        if !unknown.is_empty() {
            log::warn!("the URL of {url} has properties without effect here: {}", unknown.join(", "));
        }
        Ok(Server {
            config,
            tls,
            place: url.to_string(),
            user: login.username,
            schema: url.property("currentSchema").map(String::from),
            zone: None,
            statements: statements.to_vec(),
        })
    }

    /// The same, but moments are shown and read in this zone.
    pub(crate) fn in_zone(self, zone: Option<String>) -> Server {
        Server { zone, ..self }
    }

    /// What makes the text of values independent of the server's settings: ISO dates, all digits of floats, no local signs. What
    /// the job's `session` says comes later, and counts.
    pub(super) fn setting_up(&self) -> String {
        let mut sql = String::from(
            "SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres'; SET extra_float_digits = 3; \
             SET bytea_output = 'hex'; SET lc_monetary = 'C'; SET statement_timeout = 0; \
             SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0",
        );
        if let Some(zone) = &self.zone {
            sql.push_str(&format!("; SET timezone = {}", literal(zone)));
        }
        if let Some(schema) = &self.schema {
            let schemas = schema.split(',').map(|name| literal(name.trim()));
            sql.push_str(&format!("; SET search_path = {}", schemas.collect::<Vec<_>>().join(", ")));
        }
        sql
    }

    /// Whether it may be reached without TLS, for advice.
    pub(super) fn insists_on_tls(&self) -> bool {
        self.config.get_ssl_mode() == SslMode::Require
    }
}

fn literal(text: &str) -> String {
    transship_sql::Dialect::text(&transship_sql::Postgres, text)
}

fn is_among(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}
