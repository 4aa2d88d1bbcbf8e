//! Parameters that do nothing beside others: the job runs, but whoever wrote it may have meant something else.
//! Not here: parameters that are wrong (`config/reader`, `config/writer`), or unknown (the engine).

use serde_json::Value;
use transship_plugin_api::{Params, Result};

use super::csv_settings;

/// A parameter without effect, by its path, and why.
pub(super) type Idle = (String, &'static str);

/// Warns of parameters without effect; `csv` is the key of the CSV settings.
pub(super) fn warn(
    params: &Params<'_>,
    csv: &str,
    find: impl Fn(&Params<'_>, &Params<'_>) -> Result<Vec<Idle>>,
) -> Result<()> {
    let settings = csv_settings(params, csv)?.unwrap_or_else(|| Value::Object(Default::default()));
    for (path, why) in find(params, &Params::new(&settings, params.path(csv))?)? {
        log::warn!("{path} has no effect: {why}");
    }
    Ok(())
}

/// Those of a reader.
pub(super) fn of_reader(params: &Params<'_>, csv: &Params<'_>) -> Result<Vec<Idle>> {
    let mut found = of_dialect(params, csv)?;
    if params.value("nullFormat").is_none() {
        find(&mut found, params, &["nullWhenQuoted"], "there is no nullFormat");
    } else if csv.truth("useTextQualifier")? == Some(false) {
        find(&mut found, params, &["nullWhenQuoted"], "useTextQualifier is off");
    }
    if csv.truth("useComments")? != Some(true) {
        find(&mut found, csv, &["comment"], "useComments is not on");
    }
    let compress = params.text("compress")?.unwrap_or_default().trim().to_ascii_lowercase();
    if params.whole("splitBytes")?.is_some_and(|bytes| bytes > 0) {
        if !matches!(compress.as_str(), "" | "none" | "auto") {
            find(&mut found, params, &["splitBytes"], "packed files are never cut");
        } else if csv.truth("useComments")? == Some(true) || csv.whole("escapeMode")? == Some(2) {
            find(&mut found, params, &["splitBytes"], "files with comments or backslash escapes are read whole");
        }
    }
    let lists_columns =
        params.value("column").and_then(Value::as_array).is_some_and(|items| items.iter().all(Value::is_object));
    for column in if lists_columns { params.objects("column")? } else { Vec::new() } {
        if !column.text("type")?.is_some_and(|name| name.trim().eq_ignore_ascii_case("date")) {
            find(&mut found, &column, &["format"], "the type is not date");
        }
    }
    Ok(found)
}

/// Those of a writer.
pub(super) fn of_writer(params: &Params<'_>, csv: &Params<'_>) -> Result<Vec<Idle>> {
    let mut found = Vec::new();
    let format = params.text("fileFormat")?.unwrap_or_default().trim().to_ascii_lowercase();
    if format == "csv" {
        found.extend(of_dialect(params, csv)?);
        if !is_empty(csv, "recordDelimiter") {
            find(&mut found, params, &["lineDelimiter"], "csvWriterConfig.recordDelimiter goes before it");
        }
        if csv.truth("useTextQualifier")? == Some(false) {
            find(&mut found, csv, &["forceQualifier"], "useTextQualifier is off");
        }
    } else {
        find(&mut found, params, &["csvWriterConfig"], "fileFormat is not csv");
    }
    if format == "sql" {
        find(&mut found, params, &["fieldDelimiter", "nullFormat"], "fileFormat is sql");
    } else {
        find(&mut found, params, &["table", "quoteChar", "commitSize"], "fileFormat is not sql");
    }
    if !is_empty(params, "dateFormat") {
        find(&mut found, params, &["format"], "dateFormat goes before it");
    }
    Ok(found)
}

/// What reader and writer have in common.
fn of_dialect(params: &Params<'_>, csv: &Params<'_>) -> Result<Vec<Idle>> {
    let mut found = Vec::new();
    if !is_empty(csv, "delimiter") {
        find(&mut found, params, &["fieldDelimiter"], "the delimiter of the CSV settings goes before it");
    }
    if csv.truth("useTextQualifier")? == Some(false) {
        find(&mut found, csv, &["textQualifier"], "useTextQualifier is off");
    }
    Ok(found)
}

fn find(found: &mut Vec<Idle>, params: &Params<'_>, keys: &[&str], why: &'static str) {
    let told = keys.iter().filter(|key| !is_empty(params, key));
    found.extend(told.map(|key| (params.path(key), why)));
}

/// Whether nothing is said, or an empty text.
fn is_empty(params: &Params<'_>, key: &str) -> bool {
    params.value(key).is_none_or(|value| value.as_str().is_some_and(str::is_empty))
}
