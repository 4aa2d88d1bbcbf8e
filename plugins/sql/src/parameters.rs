//! DataX's relational parameters: what the readers and the writers of all databases have in common.
//! Not here: what only one database takes, and whether a table has the columns named.

pub mod describe;
mod reader;
mod writer;

use std::path::PathBuf;

use transship_plugin_api::{Limit, Params, Result};

use crate::jdbc::Url;
use crate::names;
use crate::password::Password;

pub use reader::{Reader, Source, What};
pub use writer::Writer;

/// What differs between the databases in how their parameters are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The key that names the database outside of `connection`, beside `table` or `querySql`: the short form.
    pub short_form: &'static str,
    /// Whether the short form beside `connection` is an error. Where it is the name of one of DataX's keys it must not be: DataX
    /// does not see it.
    pub short_form_excludes_connection: bool,
    /// Whether user name and password are needed.
    pub login: bool,
    /// Whether a job must say which columns it reads; else all of them are.
    pub reader_names_columns: bool,
    /// A location to show to who gave none.
    pub example: &'static str,
}

impl Rules {
    /// For a database on a server: as DataX, with `jdbcUrl` and `table` also outside of `connection`.
    pub const fn server(example: &'static str) -> Rules {
        Rules {
            short_form: "jdbcUrl",
            short_form_excludes_connection: false,
            login: true,
            reader_names_columns: true,
            example,
        }
    }
}

/// Where a database is: a URL, or the path of a file.
pub trait Location: Clone {
    /// The user that it names.
    fn user(&self) -> Option<&str> {
        None
    }

    /// The password that it has in it.
    fn password(&self) -> Option<&Password> {
        None
    }

    /// What is connected to, the same whatever is asked for there: without database, user and properties.
    fn server(&self) -> String;
}

impl Location for Url {
    fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    fn password(&self) -> Option<&Password> {
        self.password.as_ref()
    }

    fn server(&self) -> String {
        let system = match self.scheme.as_str() {
            "mariadb" => "mysql",
            "postgres" => "postgresql",
            word => word,
        };
        let hosts: Vec<_> = self.hosts.iter().map(|host| host.to_string().to_lowercase()).collect();
        format!("{system}://{}", hosts.join(","))
    }
}

impl Location for PathBuf {
    fn server(&self) -> String {
        let path = std::path::absolute(self);
        format!("file://{}", path.as_deref().unwrap_or(self).display())
    }
}

/// Reads a location; the error goes behind the path of its parameter.
pub type ReadLocation<'a, L> = &'a dyn Fn(&str) -> Result<L, String>;

/// User name and password. They are empty where the URL has them, or where none are needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The user's name.
    pub username: String,
    /// The password.
    pub password: Password,
}

impl Login {
    /// The user and the password for a location. Those of the job count more than those of the URL, as with the drivers.
    pub fn at<L: Location>(&self, location: &L) -> Login {
        let username = Some(self.username.as_str()).filter(|name| !name.is_empty()).or(location.user());
        let password = Some(&self.password).filter(|word| !word.reveal().is_empty()).or(location.password());
        Login {
            username: username.unwrap_or_default().into(),
            password: password.cloned().unwrap_or_else(|| Password::new("")),
        }
    }

    /// They come first in a job's template, so they are what is missed first, whatever is wrong behind them.
    fn read<L: Location>(params: &Params<'_>, rules: &Rules, location: ReadLocation<'_, L>) -> Result<Login> {
        let urls = connections(params, rules).unwrap_or_default();
        let urls = urls.iter().flat_map(|(connection, key)| connection.texts(key).unwrap_or_default());
        let places: Vec<L> = urls.filter_map(|url| location(&url).ok()).collect();
        let is_in_url = |has: fn(&L) -> bool| !places.is_empty() && places.iter().all(has);
        let text = |key: &str, is_in_url: bool| match params.text(key)?.filter(|text| !text.trim().is_empty()) {
            Some(text) => Ok(text),
            None if !rules.login || is_in_url => Ok(String::new()),
            None => params.required_text(key),
        };
        Ok(Login {
            username: text("username", is_in_url(|place| place.user().is_some()))?,
            password: Password::new(text("password", is_in_url(|place| place.password().is_some()))?),
        })
    }
}

/// The columns of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Columns {
    /// `["*"]`: all that the table has.
    All,
    /// These, in this order: names, constants, expressions.
    Named(Vec<String>),
}

impl Columns {
    /// What `column` says; `None` where it is absent.
    pub fn read(params: &Params<'_>) -> Result<Option<Columns>> {
        if params.value("column").is_none() {
            return Ok(None);
        }
        let names = params.texts("column")?;
        match names.as_slice() {
            [] => Err(params.error("column", "is empty: name the columns, or give [\"*\"] for all of them")),
            [star] if star.trim() == "*" => Ok(Some(Columns::All)),
            names if names.iter().any(|name| name.trim() == "*") => {
                Err(params.error("column", "has \"*\" beside other columns: give [\"*\"] alone, or name them all"))
            }
            names => match names.iter().position(|name| name.trim().is_empty()) {
                Some(index) => Err(params.error(&format!("column[{index}]"), "is empty")),
                None => Ok(Some(Columns::Named(names.to_vec()))),
            },
        }
    }
}

/// A list of statements without the blank ones.
pub fn statements(params: &Params<'_>, key: &str) -> Result<Vec<String>> {
    let mut statements = params.texts(key)?;
    statements.retain(|statement| !statement.trim().is_empty());
    Ok(statements)
}

/// The locations that a list of URLs names; there is at least one.
fn locations<L>(params: &Params<'_>, key: &str, rules: &Rules, read: ReadLocation<'_, L>) -> Result<Vec<L>> {
    let urls = statements(params, key)?;
    if urls.is_empty() {
        let what = if params.value(key).is_none() { "is required" } else { "is required, but empty" };
        return Err(params.error(key, format_args!("{what}: {}", rules.example)));
    }
    urls.iter().map(|url| read(url).map_err(|problem| params.error(key, problem))).collect()
}

/// How many connections to one server the job allows; `None`: as many as there are tasks.
fn most_connections(params: &Params<'_>) -> Result<Option<u32>> {
    match params.integer("maxConnections")? {
        None => Ok(None),
        Some(most @ 1..) => Ok(Some(u32::try_from(most).unwrap_or(u32::MAX))),
        Some(most) => Err(params.error("maxConnections", format_args!("is {most}, but must be at least 1"))),
    }
}

/// For each place of a connection, the limit of what is open there at once; none where the job sets no limit.
fn limits<L: Location>(params: &Params<'_>, places: &[L]) -> Result<Vec<Limit>> {
    let Some(open) = most_connections(params)? else { return Ok(Vec::new()) };
    Ok(places.iter().map(|place| Limit { name: place.server(), open }).collect())
}

/// The tables that a list of names and ranges of names (`t[0-3]`) stands for.
fn tables(params: &Params<'_>) -> Result<Vec<String>> {
    let mut tables = Vec::new();
    for entry in params.texts("table")? {
        names::expand(&entry, &mut tables).map_err(|problem| params.error("table", problem))?;
    }
    Ok(tables)
}

/// The objects that name databases: those of `connection`, or the parameter itself in its short form. With each the key of the
/// location in it.
fn connections<'a>(params: &Params<'a>, rules: &Rules) -> Result<Vec<(Params<'a>, &'static str)>> {
    let short = rules.short_form;
    let has_connection = params.value("connection").is_some();
    if params.value(short).is_some() && !has_connection {
        return Ok(vec![(params.clone(), short)]);
    }
    if params.value(short).is_some() && rules.short_form_excludes_connection {
        return Err(params.error(short, "stands beside \"connection\": give one of the two"));
    }
    let connections = params.objects("connection")?;
    if connections.is_empty() {
        let short = format!("is required (or the short form, \"{short}\" with \"table\")");
        return Err(params.error("connection", short));
    }
    Ok(connections.into_iter().map(|connection| (connection, "jdbcUrl")).collect())
}

/// The keys of the short form have no effect beside `connection`.
fn warn_of_ignored(params: &Params<'_>, rules: &Rules) {
    for key in [rules.short_form, "table", "querySql"] {
        if params.value(key).is_some() && params.value("connection").is_some() {
            log::warn!("{} is ignored: \"connection\" has its own", params.path(key));
        }
    }
}

#[cfg(test)]
mod tests;
