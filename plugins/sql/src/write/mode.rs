//! What happens to a record whose key is in the table already.

use transship_plugin_api::{Params, Result};

use crate::names::unquote;

/// What happens to a record whose key is in the table already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteMode {
    /// It is dirty.
    Insert,
    /// It is left out and counted as a duplicate.
    Ignore,
    /// It takes the place of the row that is there; columns that the record has not get their defaults.
    Replace,
    /// It changes the row that is there; columns that the record has not keep their values. With the columns of the key by
    /// which rows are found, where the job names them.
    Update(Option<Vec<String>>),
}

impl WriteMode {
    /// What `writeMode` says; `insert` where it is absent.
    ///
    /// # Errors
    /// It is none of the modes, or empty.
    pub fn read(params: &Params<'_>) -> Result<WriteMode> {
        let Some(text) = params.text("writeMode")? else { return Ok(WriteMode::Insert) };
        WriteMode::parse(&text).ok_or_else(|| {
            let known = "\"insert\", \"insert ignore\", \"replace\", \"update\" or \"update (key, …)\"";
            params.error("writeMode", format_args!("is \"{text}\", but must be {known}"))
        })
    }

    /// Reads the spellings of all databases, in any case: `insert ignore` is MySQL's, `insert or ignore` SQLite's.
    pub fn parse(text: &str) -> Option<WriteMode> {
        let (words, keys) = match text.split_once('(') {
            Some((words, keys)) => (words, Some(keys.trim_end().strip_suffix(')')?)),
            None => (text, None),
        };
        let words = words.to_lowercase();
        let mut words: Vec<_> = words.split_whitespace().collect();
        if words.last() == Some(&"into") {
            words.pop();
        }
        let keys = keys.map(|keys| keys.split(',').map(unquote).collect::<Vec<_>>());
        match (words.as_slice(), keys) {
            (["insert"] | ["insert", "or", "abort" | "fail"], None) => Some(WriteMode::Insert),
            (["insert", "ignore"] | ["insert", "or", "ignore"], None) => Some(WriteMode::Ignore),
            (["replace"] | ["insert", "or", "replace"], None) => Some(WriteMode::Replace),
            (["update"], None) => Some(WriteMode::Update(None)),
            (["update"], Some(keys)) if keys.iter().all(|key| !key.is_empty()) => Some(WriteMode::Update(Some(keys))),
            _ => None,
        }
    }

    /// Whether writing the same records again leaves the table as it was.
    pub fn is_idempotent(&self) -> bool {
        matches!(self, WriteMode::Replace | WriteMode::Update(_))
    }
}
