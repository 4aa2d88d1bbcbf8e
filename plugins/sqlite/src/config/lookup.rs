//! What `sqlitelookup` takes.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde_json::Value;
use transship_plugin_api::{Parameter, Params, Result};

use super::{Manners, Types, location};

/// The parameters of `sqlitelookup`.
pub(crate) const LOOKUP_PARAMETERS: &[Parameter] = &[
    Parameter::required("path", "string", "the database file, as a path or jdbc:sqlite:/path/file.db"),
    Parameter::optional("querySql", "string", "", "the query, with ? for each column of the key: this or table"),
    Parameter::optional("table", "string", "", "the table or view whose rows are found by its key columns"),
    Parameter::optional(
        "keyColumn",
        "string or list of strings",
        "called as in the record",
        "the key columns of the table",
    ),
    Parameter::optional("column", "list of strings", "[\"*\"]", "the columns of the table: names and SQL expressions"),
    Parameter::optional(
        "types",
        "object or string",
        "",
        "types for columns, instead of the declared: {\"born\": \"text\"}",
    ),
    Parameter::optional("connections", "integer", "4", "how many connections, each with a thread, look up at once"),
    Parameter::optional("session", "list of strings", "[]", "statements to run first on each connection, e.g. pragmas"),
    Parameter::optional(
        "busyTimeout",
        "integer",
        "10000",
        "milliseconds to wait for a lock that another process holds",
    ),
];

/// As many threads as look up if the job does not say.
const CONNECTIONS: NonZeroUsize = NonZeroUsize::new(4).expect("four is not zero");
/// More connections to one file than these help nobody.
const MOST_CONNECTIONS: u64 = 256;

/// What to look up, and how.
#[derive(Debug, Clone)]
pub(crate) struct LookupConfig {
    pub(crate) path: PathBuf,
    pub(crate) source: LookupSource,
    pub(crate) types: Types,
    pub(crate) connections: NonZeroUsize,
    pub(crate) manners: Manners,
}

/// Where rows are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LookupSource {
    Query(String),
    Table {
        name: String,
        /// Empty: called as the columns of the record.
        keys: Vec<String>,
        columns: Vec<String>,
    },
}

impl LookupConfig {
    pub(crate) fn from_json(parameter: &Value) -> Result<LookupConfig> {
        let params = Params::new(parameter, "parameter")?;
        let path = location::path_of(&params.required_text("path")?).map_err(|why| params.error("path", why))?;
        let connections = match params.whole("connections")? {
            None => CONNECTIONS,
            Some(number @ 1..=MOST_CONNECTIONS) => NonZeroUsize::new(number as usize).unwrap_or(CONNECTIONS),
            Some(number) => {
                let problem = format!("is {number}, but must be from 1 to {MOST_CONNECTIONS}");
                return Err(params.error("connections", problem));
            }
        };
        Ok(LookupConfig {
            path,
            source: LookupSource::read(&params)?,
            types: Types::from_params(&params)?,
            connections,
            manners: Manners::new(&params, params.texts("session")?)?,
        })
    }
}

impl LookupSource {
    fn read(params: &Params<'_>) -> Result<LookupSource> {
        let filled =
            |key: &str| -> Result<Option<String>> { Ok(params.text(key)?.filter(|text| !text.trim().is_empty())) };
        match (filled("querySql")?, filled("table")?) {
            (Some(query), None) => {
                for key in ["keyColumn", "column"] {
                    if params.value(key).is_some() {
                        return Err(params.error(key, "goes with table: a querySql has its columns and keys in it"));
                    }
                }
                Ok(LookupSource::Query(query))
            }
            (None, Some(name)) => {
                let columns = params.texts("column")?;
                let columns = if columns.is_empty() { vec!["*".to_string()] } else { columns };
                Ok(LookupSource::Table { name, keys: params.texts("keyColumn")?, columns })
            }
            (Some(_), Some(_)) => Err(params.error("querySql", "and table exclude each other: give one of them")),
            (None, None) => Err(params.error("querySql", "is required, or table: where rows are found")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refusal(parameter: Value) -> String {
        LookupConfig::from_json(&parameter).unwrap_err().message().to_string()
    }

    #[test]
    fn a_query_or_a_table_is_looked_into() {
        let config =
            LookupConfig::from_json(&json!({ "path": "jdbc:sqlite:x.db", "querySql": "select 1 where ?" })).unwrap();
        assert_eq!((config.path, config.source), ("x.db".into(), LookupSource::Query("select 1 where ?".into())));
        let config = LookupConfig::from_json(&json!({ "path": "x.db", "table": "t", "connections": 2 })).unwrap();
        let table = LookupSource::Table { name: "t".into(), keys: vec![], columns: vec!["*".into()] };
        assert_eq!((config.source, config.connections.get()), (table, 2));
        assert_eq!(refusal(json!({ "table": "t" })), "parameter.path is required");
        assert!(refusal(json!({ "path": "x" })).starts_with("parameter.querySql is required, or table"));
        assert!(refusal(json!({ "path": "x", "table": "t", "querySql": "q" })).contains("exclude each other"));
        assert!(
            refusal(json!({ "path": "x", "querySql": "q", "column": ["a"] }))
                .starts_with("parameter.column goes with table")
        );
        assert!(
            refusal(json!({ "path": "x", "table": "t", "connections": 0 })).contains("is 0, but must be from 1 to 256")
        );
        assert!(refusal(json!({ "path": ":memory:", "table": "t" })).starts_with("parameter.path names no file"));
    }
}
