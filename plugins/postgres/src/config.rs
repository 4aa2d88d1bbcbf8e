//! The parameters of a job: what only PostgreSQL takes of them, and the tables that `transship plugins postgres` prints.
//! Not here: what all relational plugins take (`transship_sql::parameters`), and whether a table has the columns named.

mod reader;
mod writer;

use std::sync::Arc;

use transship_plugin_api::{ColumnFormats, Params, Result};
use transship_sql::parameters::{Login, Rules};
use transship_sql::{Url, jdbc};

use crate::session::Server;

pub(crate) use reader::{READER_PARAMETERS, ReaderConfig};
pub(crate) use writer::{NulCharacter, WRITER_PARAMETERS, WriterConfig};

const RULES: Rules = Rules::server(jdbc::POSTGRESQL.example);

fn location(url: &str) -> Result<Url, String> {
    let url = Url::parse(url, &jdbc::POSTGRESQL)?;
    // Looked at once here, so that a bad property is told before anything is connected.
    let nobody = Login { username: String::new(), password: transship_sql::Password::new("") };
    Server::new(&url, &nobody, &[]).map(|_| url)
}

/// The server behind a URL that has been looked at.
fn server(
    params: &Params<'_>,
    url: &Url,
    login: &Login,
    session: &[String],
    zone: Option<String>,
) -> Result<Arc<Server>> {
    let server = Server::new(url, login, session).map_err(|problem| params.error("jdbcUrl", problem))?;
    Ok(Arc::new(server.in_zone(zone)))
}

/// The name of the job's time zone, as it is written there.
fn zone_name(params: &Params<'_>, formats: &ColumnFormats) -> Option<String> {
    formats.zone()?;
    let column = params.value("common")?.get("column")?;
    column.get("timeZone")?.as_str().map(|name| server_zone(name.trim()))
}

/// A zone as PostgreSQL names it: it takes `GMT+8` for eight hours *behind* UTC, as POSIX does, where Java means ahead.
fn server_zone(name: &str) -> String {
    let prefix = ["GMT", "UTC", "UT"].into_iter().find(|prefix| name.len() > prefix.len() && name.starts_with(prefix));
    match prefix.map(|prefix| &name[prefix.len()..]) {
        Some(offset) if offset.starts_with(['+', '-']) => {
            let (sign, rest) = offset.split_at(1);
            let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "00"));
            format!("<{name}>{}{hours}:{minutes}", if sign == "+" { "-" } else { "+" })
        }
        _ => name.into(),
    }
}

#[cfg(test)]
mod tests;
