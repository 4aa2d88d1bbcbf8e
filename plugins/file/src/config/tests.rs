//! Tests of what job files may say, and of what they are told when they say something else.

use serde_json::{Value, json};
use transship_plugin_api::Kind;

use super::*;
use crate::dialect::{Escape, Terminator};

fn with(base: &Value, more: Value) -> Value {
    let mut parameter = base.clone();
    for (key, value) in more.as_object().unwrap() {
        parameter[key] = value.clone();
    }
    parameter
}

fn reader(more: Value) -> Result<ReaderConfig> {
    ReaderConfig::new(&with(&json!({"path": "a.csv"}), more))
}

fn writer(more: Value) -> Result<WriterConfig> {
    WriterConfig::new(&with(&json!({"path": "out", "fileName": "f", "writeMode": "append"}), more))
}

#[test]
fn a_reader_needs_no_more_than_a_path() {
    let config = reader(json!({})).unwrap();
    assert_eq!(config.paths, ["a.csv"]);
    assert!(config.columns.is_none() && config.null.is_none() && !config.skip_header);
    assert_eq!(config.dialect, crate::dialect::Dialect::default());
    assert!(reader(json!({"column": ["*"]})).unwrap().columns.is_none());
    assert!(reader(json!({"column": "*"})).unwrap().columns.is_none());
}

/// Trap 84.
#[test]
fn the_details_of_the_dialect() {
    let config = reader(json!({"csvReaderConfig": {
        "textQualifier": "'", "escapeMode": "2", "recordDelimiter": "|", "comment": ";", "useComments": "true",
        "safetySwitch": true,
        "caseSensitive": false, "captureRawRecord": true,
    }}));
    let dialect = config.unwrap().dialect;
    assert_eq!(
        (dialect.qualifier, dialect.escape, dialect.terminator),
        (Some(b'\''), Escape::Backslash, Terminator::Byte(b'|'))
    );
    assert_eq!((dialect.comment, dialect.longest_field), (Some(b';'), Some(100_000)));
    let other = reader(json!({"csvReaderConfig": {"trimWhitespace": false}})).unwrap().dialect;
    assert_eq!((other.comment, other.longest_field), (None, None), "settings are those of one reader");
}

/// Trap 25.
#[test]
fn formats_zones_and_encodings_of_the_job_are_checked() {
    for (column, said) in [
        (json!({"timeZone": "Asia/Shangai"}), "common.column.timeZone is \"Asia/Shangai\", which is no time zone"),
        (json!({"datetimeFormat": "YYYY"}), "common.column.datetimeFormat: date pattern"),
        (json!({"encoding": "utf-9"}), "common.column.encoding is \"utf-9\""),
    ] {
        let more = || json!({"common": {"column": column}, "column": [{"index": 0, "type": "date"}]});
        for error in [reader(more()).unwrap_err(), writer(more()).unwrap_err()] {
            assert!(error.kind() == Kind::Config && error.message().starts_with(said), "{error}");
        }
    }
}

#[test]
fn bad_parameters_of_the_reader_are_named() {
    let column = |column: Value| json!({"column": [column]});
    let cases = [
        (json!({"path": []}), "parameter.path"),
        (json!({"path": ""}), "parameter.path"),
        (json!({"fieldDelimiter": ""}), "parameter.fieldDelimiter"),
        (json!({"fieldDelimiter": "a\n"}), "parameter.fieldDelimiter"),
        (json!({"fieldDelimiter": "\""}), "parameter.fieldDelimiter"),
        (json!({"encoding": "utf-9"}), "utf-9\", which is no encoding that is known here (known are UTF-8"),
        (json!({"encoding": "iso-2022-kr"}), "iso-2022-kr"),
        (json!({"compress": "lzo"}), "gzip, gz, bzip2"),
        (json!({"skipHeader": "perhaps"}), "parameter.skipHeader"),
        (json!({"splitBytes": "many"}), "parameter.splitBytes"),
        (json!({"bufferSize": -1}), "parameter.bufferSize"),
        (json!({"column": ["id", "name"]}), "parameter.column"),
        (json!({"column": 5}), "parameter.column"),
        (column(json!({"index": 0})), "parameter.column[0].type"),
        (column(json!({"index": 0, "type": "strng"})), "string, long"),
        (column(json!({"type": "string"})), "index"),
        (column(json!({"index": 0, "value": "x", "type": "string"})), "exclude"),
        (column(json!({"index": -1, "type": "string"})), "parameter.column[0].index"),
        (column(json!({"index": 0, "type": "date", "format": "yyyy-bb"})), "parameter.column[0].format"),
        (column(json!({"value": "x", "type": "long"})), "parameter.column[0].value"),
        (json!({"csvReaderConfig": "{not json"}), "parameter.csvReaderConfig"),
        (json!({"csvReaderConfig": {"escapeMode": 3}}), "parameter.csvReaderConfig.escapeMode"),
        (json!({"csvReaderConfig": {"textQualifier": "ab"}}), "parameter.csvReaderConfig.textQualifier"),
    ];
    for (more, named) in cases {
        let error = reader(more.clone()).unwrap_err();
        assert_eq!(error.kind(), Kind::Config);
        assert!(error.message().contains(named), "{more}: {error}");
    }
}

#[test]
fn bad_parameters_of_the_writer_are_named() {
    let cases = [
        (json!({"path": ""}), "parameter.path"),
        (json!({"fileName": null}), "parameter.fileName"),
        (json!({"fileName": "a/b"}), "parameter.fileName"),
        (json!({"writeMode": null}), "parameter.writeMode"),
        (json!({"writeMode": "replace"}), "truncate"),
        (json!({"fileFormat": "parquet"}), "parameter.fileFormat"),
        (json!({"compress": "zip"}), "parameter.compress"),
        (json!({"fieldDelimiter": ""}), "parameter.fieldDelimiter"),
        (json!({"fieldDelimiter": "\n"}), "parameter.fieldDelimiter"),
        (json!({"fieldDelimiter": "¦", "encoding": "us-ascii"}), "parameter.fieldDelimiter"),
        (json!({"header": 7}), "parameter.header"),
        (json!({"byteEncoding": "morse"}), "parameter.byteEncoding"),
        (json!({"dateFormat": "bbb"}), "parameter.dateFormat"),
        (json!({"fileFormat": "sql"}), "parameter.table"),
        (json!({"fileFormat": "csv", "csvWriterConfig": {"escapeMode": 0}}), "parameter.csvWriterConfig.escapeMode"),
        (json!({"fileFormat": "csv", "fieldDelimiter": "\""}), "parameter.fieldDelimiter"),
        (
            json!({
                "fileFormat": "csv", "fieldDelimiter": "n",
                "csvWriterConfig": {"escapeMode": 2, "useTextQualifier": false},
            }),
            "letter",
        ),
    ];
    for (more, named) in cases {
        let error = writer(more.clone()).unwrap_err();
        assert_eq!(error.kind(), Kind::Config);
        assert!(error.message().contains(named), "{more}: {error}");
    }
}

#[test]
fn a_name_too_long_for_a_file_is_refused_before_anything_is_written() {
    let name = |length: usize| json!({"fileName": "ä".repeat(length / 2), "suffix": ".csv"});
    assert!(writer(name(212)).is_ok());
    let error = writer(name(214)).unwrap_err();
    assert!(error.kind() == Kind::Config && error.message().contains("218 bytes"), "{error}");
    assert!(error.message().contains("no more than 217"), "{error}");
}

#[test]
fn a_header_of_one_name_needs_no_brackets() {
    for (given, header) in [
        (json!("id"), Header::Given(vec!["id".into()])),
        (json!(["id"]), Header::Given(vec!["id".into()])),
        (json!("True"), Header::Names),
        (json!("false"), Header::None),
        (json!(""), Header::None),
    ] {
        assert_eq!(writer(json!({"header": given})).unwrap().header, header, "{given}");
    }
}

#[test]
fn escapes_written_out_are_understood() {
    for (written, meant) in [
        ("\\t", "\t"),
        ("\\u0001", "\u{1}"),
        ("\\x1f", "\u{1f}"),
        ("\\\\", "\\"),
        ("\\", "\\"),
        ("\\q", "\\q"),
        ("\\u12", "\\u12"),
        ("a|b", "a|b"),
        ("\\r\\n", "\r\n"),
    ] {
        assert_eq!(unescape(written), meant, "{written}");
    }
}

#[test]
fn every_parameter_is_listed_once() {
    for parameters in [READER_PARAMETERS, WRITER_PARAMETERS] {
        let mut names: Vec<&str> = parameters.iter().map(|parameter| &*parameter.name).collect();
        names.sort();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}

#[test]
fn parameters_without_effect_are_told() {
    type Find = fn(&Params<'_>, &Params<'_>) -> Result<Vec<super::idle::Idle>>;
    let idle = |csv: &str, find: Find, value: Value| {
        let params = Params::new(&value, "p").unwrap();
        let settings = csv_settings(&params, csv).unwrap().unwrap_or_else(|| json!({}));
        let found = find(&params, &Params::new(&settings, params.path("csv")).unwrap()).unwrap();
        found.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
    };
    for (value, expected) in [
        (json!({"nullFormat": "x", "nullWhenQuoted": false, "fieldDelimiter": ";", "splitBytes": 10}), &[][..]),
        (json!({"nullWhenQuoted": false}), &["p.nullWhenQuoted"]),
        (json!({"fieldDelimiter": ";", "csvReaderConfig": {"delimiter": "|"}}), &["p.fieldDelimiter"]),
        (
            json!({"csvReaderConfig": "{\"useTextQualifier\": false, \"textQualifier\": \"'\"}"}),
            &["p.csv.textQualifier"],
        ),
        (json!({"csvReaderConfig": {"comment": ";"}}), &["p.csv.comment"]),
        (json!({"csvReaderConfig": {"comment": ";", "useComments": true}}), &[]),
        (json!({"compress": "gzip", "splitBytes": 10}), &["p.splitBytes"]),
        (json!({"compress": "gzip", "splitBytes": 0}), &[]),
        (json!({"csvReaderConfig": {"escapeMode": 2}, "splitBytes": 10}), &["p.splitBytes"]),
        (
            json!({"column": [
                {"index": 0, "type": "date", "format": "yyyy"}, {"index": 1, "type": "long", "format": "0"},
            ]}),
            &["p.column[1].format"],
        ),
    ] {
        assert_eq!(idle("csvReaderConfig", super::idle::of_reader, value.clone()), expected, "{value}");
    }
    for (value, expected) in [
        (json!({"fieldDelimiter": ";", "nullFormat": "", "suffix": "x"}), &[][..]),
        (json!({"csvWriterConfig": {}, "table": "t"}), &["p.csvWriterConfig", "p.table"]),
        (
            json!({"fileFormat": "SQL", "table": "t", "nullFormat": "x", "fieldDelimiter": ";"}),
            &["p.fieldDelimiter", "p.nullFormat"],
        ),
        (json!({"dateFormat": "yyyy", "format": "MM"}), &["p.format"]),
        (
            json!({"fileFormat": "csv", "lineDelimiter": "x", "csvWriterConfig": {"recordDelimiter": "|"}}),
            &["p.lineDelimiter"],
        ),
        (
            json!({"fileFormat": "csv", "csvWriterConfig": {"useTextQualifier": false, "forceQualifier": true}}),
            &["p.csv.forceQualifier"],
        ),
    ] {
        assert_eq!(idle("csvWriterConfig", super::idle::of_writer, value.clone()), expected, "{value}");
    }
}
