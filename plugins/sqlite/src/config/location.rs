//! Where a database file is: a JDBC URL, or a path as it is.

use std::path::PathBuf;

use transship_sql::jdbc::without_prefix;

/// The path in `jdbc:sqlite:/path/x.db?busy_timeout=5`, or the path itself.
pub(super) fn path_of(url: &str) -> Result<PathBuf, String> {
    let url = url.trim();
    let Some(rest) = without_prefix(url, "jdbc:") else { return plain(url) };
    let Some(path) = without_prefix(rest, "sqlite:") else {
        let driver = rest.split(':').next().unwrap_or(rest);
        return Err(format!(
            "names jdbc:{driver}, and there is no driver for jdbc:{driver} here, only for jdbc:sqlite"
        ));
    };
    let path = without_prefix(path, "file:").unwrap_or(path);
    let (path, options) = path.split_once('?').unwrap_or((path, ""));
    if !options.is_empty() {
        log::warn!("the options \"{options}\" behind the database file are ignored: write pragmas into \"session\"");
    }
    plain(path)
}

fn plain(path: &str) -> Result<PathBuf, String> {
    if path.is_empty() || path.starts_with(":memory:") || path.starts_with(":resource:") {
        return Err("names no file: a database in memory ends with the program, so there is nothing to move".into());
    }
    // SQLite would take such a name for a URI, which may say that the file is to be created or not to be locked.
    Ok(if path.starts_with("file:") { format!("./{path}").into() } else { path.into() })
}
