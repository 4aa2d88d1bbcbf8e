//! Takes `jdbc:` URLs apart: hosts, database, user, properties. Without the `jdbc:` they are taken as well.
//! Not here: what a property means (each plugin knows its own).

mod decode;
mod hosts;

use std::fmt;

use crate::password::Password;
use decode::{decoded, decoded_property};

pub use hosts::Host;

/// A family of URLs, and what is to be known of it to read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheme {
    /// What people call the system.
    pub system: &'static str,
    /// The words behind `jdbc:`.
    pub words: &'static [&'static str],
    /// The port of a host that names none.
    pub port: u16,
    /// A URL to show to who wrote another.
    pub example: &'static str,
}

/// MySQL and MariaDB.
pub const MYSQL: Scheme = Scheme {
    system: "MySQL and MariaDB",
    words: &["mysql", "mariadb"],
    port: 3306,
    example: "jdbc:mysql://host:3306/database",
};

/// PostgreSQL.
pub const POSTGRESQL: Scheme = Scheme {
    system: "PostgreSQL",
    words: &["postgresql", "postgres"],
    port: 5432,
    example: "jdbc:postgresql://host:5432/database",
};

/// Where a database is, and how to behave there.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    /// The word behind `jdbc:`, in lower case: `mysql`, `mariadb`, `postgresql`.
    pub scheme: String,
    /// A word between scheme and hosts that says how to use several of them: `replication`, `loadbalance`.
    pub mode: Option<String>,
    /// The hosts, in order; there is at least one.
    pub hosts: Vec<Host>,
    /// The database, if the URL names one.
    pub database: Option<String>,
    /// The user, if the URL names one.
    pub user: Option<String>,
    /// The password, if the URL has one.
    pub password: Option<Password>,
    properties: Vec<(String, String)>,
}

impl Url {
    /// Reads a URL of this scheme.
    ///
    /// # Errors
    /// What is wrong with it, to be put behind the path of the parameter: `names jdbc:xyz, and …`. Never with a password.
    pub fn parse(text: &str, scheme: &Scheme) -> Result<Url, String> {
        let text = text.trim();
        let rest = without_prefix(text, "jdbc:").unwrap_or(text);
        let Some((word, rest)) = rest.split_once(':') else { return Err(no_url(scheme)) };
        let word = word.to_lowercase();
        if !scheme.words.contains(&word.as_str()) {
            return Err(other_system(&word, scheme));
        }
        let (place, properties) = rest.split_once('?').unwrap_or((rest, ""));
        let (mode, place) = match place.split_once("//") {
            Some((mode, place)) => (mode.trim_end_matches(':'), place),
            // `jdbc:postgresql:database`: on this machine.
            None => ("", place),
        };
        let is_local = !rest.contains("//");
        let (authority, database) = match is_local {
            true => ("", place.trim_start_matches('/')),
            false => place.split_once('/').unwrap_or((place, "")),
        };
        // A password may have an `@` in it; a host has none.
        let (login, hosts) = match authority.rsplit_once('@') {
            Some((login, hosts)) => (Some(login), hosts),
            None => (None, authority),
        };
        let (user, password) = match login.map(|login| login.split_once(':').unwrap_or((login, ""))) {
            Some((user, password)) => (decoded(user), decoded(password)),
            None => (String::new(), String::new()),
        };
        let mut url = Url {
            scheme: word,
            mode: (!mode.is_empty()).then(|| mode.to_lowercase()),
            hosts: hosts::parse(hosts, scheme.port)?,
            database: Some(decoded(database)).filter(|name| !name.is_empty()),
            user: Some(user).filter(|user| !user.is_empty()),
            password: Some(password).filter(|password| !password.is_empty()).map(Password::new),
            properties: properties.split('&').filter(|pair| !pair.is_empty()).map(decoded_property).collect(),
        };
        // The rest of a password with a question mark in it; so it is not shown.
        if !url.properties.iter().all(|(name, _)| is_word(name)) {
            return Err("has a property whose name is no word (in a password, write ? as %3F)".into());
        }
        url.take_login_from_properties();
        Ok(url)
    }

    /// The value of a property, by its name in any case. Of several with the name the last counts.
    pub fn property(&self, name: &str) -> Option<&str> {
        let is_it = |(known, _): &&(String, String)| known.eq_ignore_ascii_case(name);
        self.properties.iter().rev().find(is_it).map(|(_, value)| value.as_str())
    }

    /// Whether a property is `true`; `None` where it is absent.
    ///
    /// # Errors
    /// It is neither `true` nor `false`, in no spelling.
    pub fn truth(&self, name: &str) -> Result<Option<bool>, String> {
        let Some(text) = self.property(name) else { return Ok(None) };
        match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" | "on" => Ok(Some(true)),
            "false" | "no" | "0" | "off" => Ok(Some(false)),
            _ => Err(format!("has {name}={text}, but it must be true or false")),
        }
    }

    /// A property that is a whole number from 0 on; `None` where it is absent.
    ///
    /// # Errors
    /// It is none.
    pub fn whole(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.property(name) else { return Ok(None) };
        let number = text.parse::<u64>();
        number.map(Some).map_err(|_| format!("has {name}={text}, but it must be a whole number from 0 on"))
    }

    /// All properties, in order.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &str)> {
        self.properties.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The names of properties that are not among these, for a word that they have no effect.
    pub fn properties_beside<'a>(&'a self, known: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let names = self.properties.iter().map(|(name, _)| name.as_str());
        names.filter(move |name| !known.iter().any(|known| known.eq_ignore_ascii_case(name)))
    }

    /// Some drivers take user and password as properties.
    fn take_login_from_properties(&mut self) {
        if self.user.is_none() {
            self.user = self.property("user").filter(|user| !user.is_empty()).map(String::from);
        }
        if self.password.is_none() {
            self.password = self.property("password").filter(|word| !word.is_empty()).map(Password::new);
        }
        self.properties.retain(|(name, _)| !["user", "password"].iter().any(|login| login.eq_ignore_ascii_case(name)));
    }
}

impl fmt::Display for Url {
    /// Where it is: hosts and database, and neither user nor properties, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = self.hosts.iter().map(Host::to_string).collect::<Vec<_>>().join(",");
        write!(f, "{}://{hosts}/{}", self.scheme, self.database.as_deref().unwrap_or_default())
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.properties.iter().map(|(name, _)| name).collect();
        write!(f, "{self} as {:?} with {names:?}", self.user.as_deref().unwrap_or_default())
    }
}

/// The rest of a text behind a prefix in any case.
pub fn without_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// The problem that a URL is one of another system.
pub fn other_system(word: &str, scheme: &Scheme) -> String {
    let plugin = match word {
        "mysql" | "mariadb" => "mysqlreader and mysqlwriter read and write it",
        "postgresql" | "postgres" => "postgresqlreader and postgresqlwriter read and write it",
        "sqlite" => "sqlitereader and sqlitewriter read and write it",
        _ => "there is no plugin for it here",
    };
    format!("names jdbc:{word}: {plugin}; this one is for {} (\"{}\")", scheme.system, scheme.example)
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '$'))
}

/// The text is not shown: it may hold a password.
fn no_url(scheme: &Scheme) -> String {
    format!("is no URL: write \"{}\"", scheme.example)
}

#[cfg(test)]
mod tests;
