//! The errors of client and server in our words: what is wrong, where, and what to try. Never with a password.

use std::error::Error as _;
use std::fmt::Display;

use tokio_postgres::error::{DbError, SqlState};
use transship_plugin_api::{Error, Kind};

use super::Server;

/// What the server refused, without the connection being the worse for it.
#[derive(Debug, Clone)]
pub(crate) struct Refused {
    pub(crate) code: SqlState,
    /// The server's words.
    pub(crate) cause: String,
    /// The first of them, without values.
    pub(crate) message: String,
    /// The column at fault, where a constraint is about one.
    column: Option<String>,
    /// The constraint that was broken.
    pub(crate) constraint: Option<Constraint>,
    /// What the server was doing.
    context: String,
}

/// A constraint of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Constraint {
    pub(crate) schema: String,
    pub(crate) table: String,
    pub(crate) name: String,
}

impl Refused {
    /// `None` where the server has said nothing, or goodbye.
    pub(crate) fn of(error: &tokio_postgres::Error) -> Option<Refused> {
        let said = error.as_db_error().filter(|said| !ends_the_connection(said.code()))?;
        Some(Refused {
            code: said.code().clone(),
            cause: words(said),
            message: said.message().trim().into(),
            column: said.column().map(String::from).or_else(|| said.detail().and_then(first_of_key)),
            constraint: constraint(said),
            context: said.where_().unwrap_or_default().into(),
        })
    }

    /// The server took a COPY, but what it said of it does not add up.
    pub(crate) fn unclear(cause: String) -> Refused {
        let (code, message, context) = (SqlState::DATA_EXCEPTION, cause.clone(), String::new());
        Refused { code, cause, message, column: None, constraint: None, context }
    }

    /// The row of a COPY into this table that is at fault, from 1, and the column, as far as the server tells.
    pub(crate) fn place(&self, table: &str) -> (Option<usize>, Option<String>) {
        let (line, column) = place_in_copy(&self.context, table);
        (line, self.column.clone().or(column))
    }

    /// Whether a record is at fault, rather than the statement or the server.
    pub(crate) fn is_a_records_fault(&self) -> bool {
        let class = &self.code.code()[..2];
        // Data exceptions, broken constraints, what triggers and functions raise, and values that are too large.
        matches!(class, "22" | "23" | "44" | "P0" | "54" | "38" | "39")
            || self.code == SqlState::INSUFFICIENT_PRIVILEGE && self.cause.contains("row-level security")
    }
}

impl Refused {
    /// Whether two records of one statement have the same key.
    pub(crate) fn repeats_a_key(&self) -> bool {
        self.code == SqlState::CARDINALITY_VIOLATION
    }

    /// Whether the same may be taken a little later: a deadlock, a lock that somebody else holds.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.code.code(), "40P01" | "40001" | "55P03")
    }
}

/// What a function of ours has told with a notice.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) text: String,
    context: String,
}

impl Told {
    /// The code of such notices, which no server has by itself.
    pub(crate) const CODE: &str = "TS001";

    /// `None`: somebody else's notice.
    pub(super) fn of(notice: &DbError) -> Option<Told> {
        let is_ours = notice.code().code() == Told::CODE;
        is_ours.then(|| Told { text: notice.message().into(), context: notice.where_().unwrap_or_default().into() })
    }

    /// The row of a COPY into this table that was looked at, from 1.
    pub(crate) fn row(&self, table: &str) -> Option<usize> {
        place_in_copy(&self.context, table).0
    }
}

/// Whether a lost connection could be the reason, so that the same may succeed on another one.
pub(super) fn lost_by(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_none_or(|said| ends_the_connection(said.code()))
}

impl Server {
    /// The error that the server cannot be reached, or does not let the user in.
    pub(crate) fn unreachable(&self, error: tokio_postgres::Error) -> Error {
        let place = &self.place;
        let Some(said) = error.as_db_error() else {
            let cause = reason(&error);
            let advice = match () {
                _ if cause.contains("TLS")
                    || cause.contains("certificate")
                    || self.insists_on_tls() && cause.contains("server does not support") =>
                {
                    "look at sslmode in the URL"
                }
                _ if cause.contains("timed out") || cause.contains("refused") => {
                    "is the server running, and does it listen on that address? (port, firewall, listen_addresses)"
                }
                _ => "look at the host and port in \"jdbcUrl\"",
            };
            return Error::connect(format!("{place} cannot be reached: {cause}: {advice}")).with_source(error);
        };
        let (user, cause) = (&self.user, words(said));
        let (advice, can_wait) = match said.code() {
            code if *code == SqlState::INVALID_PASSWORD || *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                ("look at \"username\" and \"password\", and at the server's pg_hba.conf", false)
            }
            code if *code == SqlState::INVALID_CATALOG_NAME => ("look at the database's name in \"jdbcUrl\"", false),
            code if *code == SqlState::TOO_MANY_CONNECTIONS => {
                ("run fewer channels, or raise max_connections of the server", true)
            }
            code if *code == SqlState::CANNOT_CONNECT_NOW => ("the server is starting or stopping", true),
            _ => ("see the server's log", false),
        };
        Error::connect(format!("{place} does not let user \"{user}\" in: {cause}: {advice}"))
            .retryable(can_wait)
            .with_source(error)
    }

    /// An error of a statement or a connection.
    pub(crate) fn failed(&self, doing: impl Display, error: tokio_postgres::Error) -> Error {
        let place = format!("{}: {doing}", self.place);
        let Some(said) = error.as_db_error() else {
            return match error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>()) {
                true => Error::io(format!("{place}: the connection is lost ({})", reason(&error))).retryable(true),
                false => Error::io(format!("{place}: {}", reason(&error))),
            }
            .with_source(error);
        };
        let cause = words(said);
        let code = said.code();
        let (kind, retryable, advice) = match &code.code()[..2] {
            _ if ends_the_connection(code) => (Kind::Io, true, ""),
            "40" | "55" => (Kind::Io, true, ""),
            "53" => (Kind::Io, true, ""),
            "57" => (Kind::Io, true, ""),
            "22" | "23" | "44" => (Kind::Data, false, ""),
            "25" if *code == SqlState::READ_ONLY_SQL_TRANSACTION => (
                Kind::Config,
                false,
                ": this server is a standby or read-only; targetServerType=primary in the URL of several hosts finds the other one",
            ),
            "42" if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
                (Kind::Config, false, ": ask for the right with GRANT")
            }
            "42" if matches!(code.code(), "42P01" | "42703" | "42883" | "42704" | "3F000") => (Kind::Schema, false, ""),
            "42" => (Kind::Config, false, ""),
            "3F" => (Kind::Schema, false, ""),
            "0A" => (Kind::Unsupported, false, ""),
            _ => (Kind::Io, false, ""),
        };
        Error::new(kind, format!("{place}: {cause}{advice}")).retryable(retryable).with_source(error)
    }
}

/// Message, detail and hint of the server.
pub(crate) fn words(said: &DbError) -> String {
    let more = [said.detail(), said.hint()].into_iter().flatten();
    let all = std::iter::once(said.message()).chain(more);
    all.map(|text| text.trim().trim_end_matches('.')).collect::<Vec<_>>().join("; ")
}

fn constraint(said: &DbError) -> Option<Constraint> {
    Some(Constraint { schema: said.schema()?.into(), table: said.table()?.into(), name: said.constraint()?.into() })
}

/// The first column that `Key (a, b)=(1, 2) already exists.` names.
fn first_of_key(detail: &str) -> Option<String> {
    let (names, _) = detail.strip_prefix("Key (")?.split_once(")=(")?;
    Some(transship_sql::names::unquote(names.split(", ").next()?))
}

/// The innermost reason: the client's own words only name the kind of error.
fn reason(error: &tokio_postgres::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// Whether the server says goodbye with this.
fn ends_the_connection(code: &SqlState) -> bool {
    matches!(code.code(), "57P01" | "57P02" | "57P03" | "57P04" | "57P05" | "25P03") || code.code().starts_with("08")
}

/// The row and the column that `COPY t, line 3, column a: "x"` names, with whatever words the server has for line and column.
fn place_in_copy(context: &str, table: &str) -> (Option<usize>, Option<String>) {
    // A trigger's own context may stand before it.
    let begin = format!("COPY {table}, ");
    let numbered = context.lines().filter_map(|line| line.strip_prefix(&begin)?.split_once(' '));
    let is_number = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
    let Some((_, rest)) = numbered.into_iter().find(|(_, rest)| is_number(rest)) else { return (None, None) };
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let line = rest[..digits].parse().ok();
    let column = rest[digits..].strip_prefix(", ").and_then(|rest| rest.split_once(' ')).map(|(_, rest)| rest);
    // Behind the name stands the value, or that it is null.
    let column = column.map(|rest| rest.find(": ").map_or(rest, |end| &rest[..end]).to_string());
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_of_a_key_is_found() {
        assert_eq!(first_of_key("Key (id)=(5) already exists."), Some("id".into()));
        assert_eq!(first_of_key("Key (\"Id\", b)=(5, 6) is not present in table \"t\"."), Some("Id".into()));
        assert_eq!(first_of_key("Failing row contains (1)."), None);
    }

    #[test]
    fn the_row_and_the_column_of_a_copy_are_found() {
        assert_eq!(place_in_copy("COPY t, line 3, column a: \"x\"", "t"), (Some(3), Some("a".into())));
        assert_eq!(place_in_copy("COPY t, line 17", "t"), (Some(17), None));
        assert_eq!(
            place_in_copy("COPY a, line 5, line 12, column b: null input", "a, line 5"),
            (Some(12), Some("b".into()))
        );
        assert_eq!(place_in_copy("COPY t, line 3: \"1, line 9\"", "t"), (Some(3), None));
        assert_eq!(place_in_copy("SQL function \"f\" statement 1\nCOPY t, line 2", "t"), (Some(2), None));
        assert_eq!(place_in_copy("COPY t, Zeile 3, Spalte a b: \"x, y\"", "t"), (Some(3), Some("a b".into())));
        assert_eq!(place_in_copy("PL/pgSQL function f() line 1 at RAISE", "t"), (None, None));
    }
}
