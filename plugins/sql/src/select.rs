//! The text of the query that reads a table or a part of it.

/// `select` these columns, as they are, `from` the table, `where` the job's condition and that of a range hold.
pub fn from_table<S: AsRef<str>>(columns: &[S], table: &str, condition: Option<&str>, range: Option<&str>) -> String {
    let columns = columns.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    format!("SELECT {columns} FROM {table}{}", conditions(condition, range))
}

/// ` WHERE (…) AND …`, or nothing. The job's condition stands in parentheses of its own: it may have an `or` in it.
pub fn conditions(condition: Option<&str>, range: Option<&str>) -> String {
    let condition = condition.map(parenthesised);
    let all: Vec<_> = condition.into_iter().chain(range.map(String::from)).collect();
    if all.is_empty() { String::new() } else { format!(" WHERE {}", all.join(" AND ")) }
}

/// A condition of the job in parentheses. A comment at its end must not swallow the one that closes it.
fn parenthesised(condition: &str) -> String {
    let may_end_in_comment = condition.contains("--") || condition.contains('#');
    format!("({condition}{})", if may_end_in_comment { "\n" } else { "" })
}

#[cfg(test)]
mod tests;
