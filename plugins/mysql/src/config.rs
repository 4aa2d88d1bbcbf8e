//! The parameters of a job: the tables that `transship plugins mysql` prints, and what both sides share.
//! Not here: whether a table has the columns named.

mod reader;
mod writer;

use std::sync::Arc;

use transship_plugin_api::Params;
use transship_sql::Url;
use transship_sql::jdbc::MYSQL;
use transship_sql::parameters::{Login, Rules};

use crate::session::Server;

pub(crate) use reader::{READER_PARAMETERS, ReaderConfig, ZeroDate};
pub(crate) use writer::{Transaction, WRITER_PARAMETERS, WriterConfig};

const RULES: Rules = Rules::server(MYSQL.example);

fn location(text: &str) -> Result<Url, String> {
    Url::parse(text, &MYSQL)
}

/// The server of a URL; the error is put behind the path of its parameter.
fn server(
    params: &Params<'_>,
    url: &Url,
    login: &Login,
    statements: &[String],
) -> transship_plugin_api::Result<Arc<Server>> {
    let server = Server::new(url, login, statements).map_err(|problem| params.error("jdbcUrl", problem))?;
    Server::warn_of_ignored(url);
    Ok(Arc::new(server))
}

#[cfg(test)]
mod tests;
