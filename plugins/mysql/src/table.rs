//! What the server's catalogue says of a table.

use transship_plugin_api::{Error, Result};
use transship_sql::parameters::{Source, What};
use transship_sql::{Dialect, MySql, names};

use crate::session::Session;

/// A table or view.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    /// As the job writes it.
    pub(crate) name: String,
    pub(crate) columns: Vec<TableColumn>,
    /// The columns of the primary key, in its order.
    pub(crate) primary_key: Vec<String>,
    pub(crate) indexes: Vec<Index>,
    /// About how many rows it has, where the server knows.
    pub(crate) rows: Option<u64>,
    /// About how many bytes they have, where the server knows.
    pub(crate) bytes: Option<u64>,
    /// The engine that keeps its rows; empty for a view.
    pub(crate) engine: String,
}

/// An index of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) name: String,
    pub(crate) is_unique: bool,
    /// In its order.
    pub(crate) columns: Vec<String>,
}

/// A column of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TableColumn {
    pub(crate) name: String,
    /// The type's first word, in lower case: `decimal`.
    pub(crate) type_word: String,
    /// The whole type: `decimal(10,2) unsigned`.
    pub(crate) declared: String,
    pub(crate) is_nullable: bool,
    pub(crate) charset: Option<String>,
    /// The longest text, in characters or bytes.
    pub(crate) length: Option<u64>,
    pub(crate) digits: Option<u32>,
    pub(crate) scale: Option<u32>,
    /// Digits of a second.
    pub(crate) fraction: u32,
    /// Whether the server computes it.
    pub(crate) is_generated: bool,
    pub(crate) is_auto_increment: bool,
    /// Whether `*` does not mean it.
    pub(crate) is_invisible: bool,
}

impl Table {
    pub(crate) fn column(&self, name: &str) -> Option<&TableColumn> {
        self.columns.iter().find(|column| column.name.to_lowercase() == name.to_lowercase())
    }

    pub(crate) fn has_index_on(&self, column: &str) -> bool {
        let first = |index: &Index| index.columns.first().is_some_and(|first| first.eq_ignore_ascii_case(column));
        self.indexes.iter().any(first)
    }

    /// Whether what was written can be taken back.
    pub(crate) fn has_transactions(&self) -> bool {
        !["myisam", "aria", "memory", "csv", "archive", "mrg_myisam"].contains(&self.engine.to_lowercase().as_str())
    }
}

/// A table's name as SQL takes it: in quotes if it has none, so that it may be a keyword. What is no name stays.
pub(crate) fn quoted(name: &str) -> String {
    match names::qualified(name, &MySql) {
        Some(words) if words.iter().all(|word| !word.quoted) => {
            words.iter().map(|word| MySql.quote(&word.name)).collect::<Vec<_>>().join(".")
        }
        _ => name.into(),
    }
}

/// An entry of a reader's `column` as SQL takes it: names without quotes get some, all else stays.
pub(crate) fn quoted_column(entry: &str) -> String {
    match names::column(entry, &MySql) {
        Some(word) if !word.quoted && !FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(&word.name)) => {
            MySql.quote(&word.name)
        }
        _ => entry.into(),
    }
}

/// Functions of MySQL that need no parentheses, beside those of standard SQL.
const FUNCTIONS: [&str; 5] = ["utc_date", "utc_time", "utc_timestamp", "current_role", "rownum"];

/// Looks a table up; `None` where it is not there, or its name is an expression.
pub(crate) fn find(session: &mut Session, name: &str) -> Result<Option<Table>> {
    let Some(words) = names::qualified(name, &MySql) else { return Ok(None) };
    let (schema, table) = match words.as_slice() {
        [table] => ("DATABASE()".to_string(), &table.name),
        [schema, table] => (MySql.text(&schema.name), &table.name),
        _ => return Ok(None),
    };
    let which = format!("table_schema = {schema} AND table_name = {}", MySql.text(table));
    let doing = format!("asking for the columns of {name}");
    let sql = format!(
        "SELECT column_name, data_type, column_type, is_nullable, character_set_name, character_maximum_length, \
         numeric_precision, numeric_scale, datetime_precision, extra FROM information_schema.columns \
         WHERE {which} ORDER BY ordinal_position"
    );
    let columns: Vec<_> = session.ask(&doing, &sql)?.into_iter().filter_map(column).collect();
    if columns.is_empty() {
        return Ok(None);
    }
    let sql = format!("SELECT table_rows, data_length, engine FROM information_schema.tables WHERE {which}");
    let mut found = Table { name: name.into(), columns, ..Table::default() };
    if let Some([rows, bytes, engine]) =
        session.ask(&doing, &sql)?.into_iter().next().and_then(|row| <[_; 3]>::try_from(row).ok())
    {
        let number = |text: Option<String>| text.and_then(|text| text.parse().ok());
        (found.rows, found.bytes) = (number(rows), number(bytes));
        found.engine = engine.unwrap_or_default();
    }
    let sql = format!(
        "SELECT index_name, non_unique, column_name FROM information_schema.statistics WHERE {which} \
         ORDER BY index_name, seq_in_index"
    );
    for row in session.ask(&doing, &sql)? {
        let Ok([Some(name), Some(non_unique), column]) = <[_; 3]>::try_from(row) else { continue };
        if found.indexes.last().is_none_or(|last| last.name != name) {
            found.indexes.push(Index { name, is_unique: non_unique == "0", columns: Vec::new() });
        }
        if let Some(index) = found.indexes.last_mut() {
            // A part without a name is an expression.
            index.columns.push(column.unwrap_or_default());
        }
    }
    let primary = found.indexes.iter().find(|index| index.name == "PRIMARY");
    found.primary_key = primary.map(|index| index.columns.clone()).unwrap_or_default();
    Ok(Some(found))
}

fn column(row: Vec<Option<String>>) -> Option<TableColumn> {
    let [name, type_word, declared, nullable, charset, length, digits, scale, fraction, extra] =
        <[Option<String>; 10]>::try_from(row).ok()?;
    let number = |text: Option<String>| text.and_then(|text| text.parse::<u64>().ok());
    let extra = extra.unwrap_or_default().to_lowercase();
    Some(TableColumn {
        name: name?,
        type_word: type_word?.to_lowercase(),
        declared: declared?,
        is_nullable: nullable?.eq_ignore_ascii_case("yes"),
        charset,
        length: number(length),
        digits: number(digits).and_then(|digits| u32::try_from(digits).ok()),
        scale: number(scale).and_then(|scale| u32::try_from(scale).ok()),
        fraction: number(fraction).and_then(|fraction| u32::try_from(fraction).ok()).unwrap_or(0),
        is_generated: extra.contains("virtual") || extra.contains("stored") || extra.contains("persistent"),
        is_auto_increment: extra.contains("auto_increment"),
        is_invisible: extra.contains("invisible"),
    })
}

/// Adds to an error about a table that is not there what there is.
pub(crate) fn with_tables_like_it(session: &mut Session, source: &Source, error: Error) -> Error {
    match &source.what {
        What::Table(name) => missing(session, name, error),
        What::Query(..) => error,
    }
}

/// As [`with_tables_like_it`].
pub(crate) fn missing(session: &mut Session, name: &str, error: Error) -> Error {
    let sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name LIMIT 1000";
    let Ok(rows) = session.ask("asking for tables", sql) else { return error };
    let known: Vec<String> = rows.into_iter().filter_map(|mut row| row.pop().flatten()).collect();
    match transship_plugin_api::params::nearest(&names::unquote(name), known.iter().map(String::as_str)) {
        Some(name) => Error::new(error.kind(), format!("{}; did you mean \"{name}\"?", error.message())),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_quotes_where_they_have_none() {
        assert_eq!(quoted("order"), "`order`");
        assert_eq!(quoted("shop.Order"), "`shop`.`Order`");
        assert_eq!(quoted("`a b`"), "`a b`");
        assert_eq!(quoted("(select 1) t"), "(select 1) t");
    }

    #[test]
    fn columns_that_are_expressions_stay_as_they_are() {
        assert_eq!(quoted_column("group"), "`group`");
        for entry in ["'x'", "1", "null", "utc_date", "CURRENT_TIMESTAMP", "a + 1", "t.a", "`a`", "\"text\"", "*"] {
            assert_eq!(quoted_column(entry), entry);
        }
    }
}
