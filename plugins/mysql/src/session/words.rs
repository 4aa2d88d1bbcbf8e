//! The server's errors in our words: what is wrong, where, and what to try. Never with a password.

use std::fmt::Display;

use transship_plugin_api::{Error, Kind};

use super::server::Server;

/// What the server refused, without the connection being the worse for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) code: u16,
    /// The server's words.
    pub(crate) cause: String,
}

/// Error numbers that mean something here.
pub(crate) mod code {
    pub(crate) const TOO_MANY_CONNECTIONS: u16 = 1040;
    pub(crate) const NO_ACCESS_TO_DATABASE: u16 = 1044;
    pub(crate) const ACCESS_DENIED: u16 = 1045;
    pub(crate) const NO_DATABASE_SELECTED: u16 = 1046;
    pub(crate) const UNKNOWN_DATABASE: u16 = 1049;
    pub(crate) const SHUTDOWN: u16 = 1053;
    pub(crate) const UNKNOWN_COLUMN: u16 = 1054;
    pub(crate) const DUPLICATE: u16 = 1062;
    pub(crate) const SYNTAX: u16 = 1064;
    pub(crate) const COMMAND_DENIED: u16 = 1142;
    pub(crate) const NO_SUCH_TABLE: u16 = 1146;
    pub(crate) const COMMAND_NOT_ALLOWED: u16 = 1148;
    pub(crate) const UNKNOWN_TIME_ZONE: u16 = 1298;
    pub(crate) const LOCK_TIMEOUT: u16 = 1205;
    pub(crate) const DEADLOCK: u16 = 1213;
    pub(crate) const READ_ONLY: u16 = 1290;
    pub(crate) const TABLE_FULL: u16 = 1114;
    pub(crate) const DISK_FULL: u16 = 1021;
    pub(crate) const INTERRUPTED: u16 = 1317;
    pub(crate) const ACCESS_DENIED_WITHOUT_PASSWORD: u16 = 1698;
    pub(crate) const LOCAL_LOADING_DISABLED: u16 = 3948;
    pub(crate) const LOCAL_LOADING_REJECTED: u16 = 2068;
    pub(crate) const KILLED: u16 = 1927;
    pub(crate) const NO_PARENT: u16 = 1452;
    pub(crate) const CHECK_OF_MARIADB: u16 = 4025;
    pub(crate) const CHECK_OF_MYSQL: u16 = 3819;
}

impl Refused {
    /// Reads an error packet.
    pub(super) fn parse(packet: &[u8]) -> Refused {
        let code = packet.get(1..3).map_or(0, |code| u16::from_le_bytes([code[0], code[1]]));
        let words = match packet.get(3..) {
            // The state of standard SQL: `#42S02`.
            Some([b'#', rest @ ..]) => rest.get(5..).unwrap_or_default(),
            Some(rest) => rest,
            None => &[],
        };
        Refused { code, cause: String::from_utf8_lossy(words).into_owned() }
    }

    /// Whether the same may succeed later.
    pub(crate) fn is_passing(&self) -> bool {
        self.is_about_locks() || matches!(self.code, code::TOO_MANY_CONNECTIONS | code::SHUTDOWN | code::KILLED)
    }

    /// Whether others were in the way.
    pub(crate) fn is_about_locks(&self) -> bool {
        matches!(self.code, code::LOCK_TIMEOUT | code::DEADLOCK)
    }

    /// Whether it has to do with values, so that other rows may pass.
    pub(crate) fn is_about_rows(&self) -> bool {
        use code::*;
        !matches!(
            self.code,
            NO_ACCESS_TO_DATABASE
                | ACCESS_DENIED
                | NO_DATABASE_SELECTED
                | UNKNOWN_DATABASE
                | SHUTDOWN
                | UNKNOWN_COLUMN
                | SYNTAX
                | COMMAND_DENIED
                | NO_SUCH_TABLE
                | COMMAND_NOT_ALLOWED
                | LOCK_TIMEOUT
                | DEADLOCK
                | READ_ONLY
                | TABLE_FULL
                | DISK_FULL
                | INTERRUPTED
                | KILLED
        )
    }

    /// Whether the server takes no files from clients.
    pub(crate) fn forbids_loading(&self) -> bool {
        matches!(self.code, code::COMMAND_NOT_ALLOWED | code::LOCAL_LOADING_DISABLED | code::LOCAL_LOADING_REJECTED)
    }
}

impl Server {
    /// An error for what the server refused while something was being done.
    pub(crate) fn refused(&self, doing: impl Display, refused: &Refused) -> Error {
        let Refused { code, cause } = refused;
        let (kind, advice) = match *code {
            code::ACCESS_DENIED | code::ACCESS_DENIED_WITHOUT_PASSWORD => {
                (Kind::Connect, "check \"username\" and \"password\", and from which hosts the user may come")
            }
            code::NO_ACCESS_TO_DATABASE => (Kind::Connect, "grant the user rights on it, or name another database"),
            code::UNKNOWN_DATABASE => (Kind::Connect, "check the database in \"jdbcUrl\""),
            code::NO_DATABASE_SELECTED => {
                (Kind::Config, "name the database in \"jdbcUrl\", or before the table: db.table")
            }
            code::NO_SUCH_TABLE => (Kind::Schema, "check \"table\", and the database in \"jdbcUrl\""),
            code::UNKNOWN_COLUMN => (Kind::Schema, "check \"column\", \"where\" and \"splitPk\""),
            code::SYNTAX => (Kind::Config, "check \"column\", \"where\" and \"querySql\""),
            code::COMMAND_DENIED => (Kind::Config, "grant the user the right"),
            code::READ_ONLY => (Kind::Config, "write to the primary server"),
            code::TABLE_FULL | code::DISK_FULL => (Kind::Io, "make room at the server"),
            code::TOO_MANY_CONNECTIONS => (Kind::Connect, "lower \"channel\", or raise max_connections at the server"),
            code::LOCK_TIMEOUT => (Kind::Data, "another transaction holds the rows"),
            code::DEADLOCK => (Kind::Data, "two transactions waited for each other"),
            _ => (Kind::Data, ""),
        };
        let advice = if advice.is_empty() { String::new() } else { format!("; {advice}") };
        let message = format!("{}: {doing}: {} ({code}){advice}", self.place, cause.trim_end_matches('.'));
        Error::new(kind, message).retryable(refused.is_passing())
    }
}
