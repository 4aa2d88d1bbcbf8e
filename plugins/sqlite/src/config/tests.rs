//! Tests of the parameters.

use std::path::Path;

use serde_json::{Value, json};
use transship_sql::parameters::{Columns, What};
use transship_sql::write::WriteMode;

use super::*;

fn problem_of_reader(parameter: Value) -> String {
    ReaderConfig::from_json(&parameter).expect_err("the parameters should be refused").message().to_string()
}

fn problem_of_writer(parameter: Value) -> String {
    WriterConfig::from_json(&parameter).expect_err("the parameters should be refused").message().to_string()
}

fn path_of(url: &str) -> Result<String, String> {
    location::path_of(url).map(|path| path.display().to_string())
}

#[test]
fn a_database_is_named_by_url_or_path() {
    assert_eq!(path_of("jdbc:sqlite:/data/x.db"), Ok("/data/x.db".into()));
    assert_eq!(path_of("JDBC:SQLite:x.db"), Ok("x.db".into()));
    assert_eq!(path_of("jdbc:sqlite:file:x.db?mode=ro&cache=shared"), Ok("x.db".into()));
    assert_eq!(path_of("jdbc:sqlite:x.db?journal_mode=WAL"), Ok("x.db".into()));
    assert_eq!(path_of(" what?.db "), Ok("what?.db".into()));
    // A name that SQLite would take for a URI stays a name.
    assert_eq!(path_of("file:x.db"), Ok("./file:x.db".into()));
}

#[test]
fn other_databases_have_no_driver_here() {
    let problem = path_of("jdbc:xyz://host/db").unwrap_err();
    assert!(problem.contains("no driver for jdbc:xyz"), "{problem}");
    for memory in ["jdbc:sqlite:", "jdbc:sqlite::memory:", ":memory:", "jdbc:sqlite::resource:x.db"] {
        assert!(path_of(memory).unwrap_err().contains("names no file"), "{memory}");
    }
}

#[test]
fn a_reader_takes_datax_parameters() {
    let config = ReaderConfig::from_json(&json!({
        "username": "", "password": "secret", "column": ["id", "upper(name)"], "where": " a = 1 or b = 2 ； ",
        "splitPk": "", "fetchSize": "1000", "session": ["", "pragma query_only = on"],
        "connection": [
            {"jdbcUrl": ["jdbc:sqlite:a.db", "jdbc:sqlite:b.db"], "table": ["t[0-1]"]},
            {"jdbcUrl": "c.db", "table": "u"},
        ],
    }))
    .unwrap();
    assert_eq!(config.condition.as_deref(), Some("a = 1 or b = 2"));
    assert_eq!(config.split_by, None);
    assert_eq!(config.split_factor, 5);
    assert_eq!(config.columns, Columns::Named(vec!["id".into(), "upper(name)".into()]));
    assert_eq!(config.manners.session, ["pragma query_only = on"]);
    assert_eq!(config.connections[0], [Path::new("a.db"), Path::new("b.db")]);
    let sources: Vec<_> = config.sources.iter().map(|source| (source.connection, source.name())).collect();
    assert_eq!(sources, [(0, "table t0".into()), (0, "table t1".into()), (1, "table u".into())]);
}

/// Trap 54.
#[test]
fn queries_lose_final_semicolons_and_ignore_what_belongs_to_tables() {
    let config = ReaderConfig::from_json(&json!({
        "path": "a.db", "querySql": ["select 1;", "select 2 ;  "], "column": ["x"], "where": "x = 1", "splitPk": "x",
    }))
    .unwrap();
    let queries: Vec<_> = config.sources.iter().map(|source| source.what.clone()).collect();
    assert_eq!(queries, [What::Query("select 1".into(), 1), What::Query("select 2".into(), 2)]);
    assert_eq!((config.condition, config.split_by, config.columns), (None, None, Columns::All));
}

#[test]
fn a_reader_names_the_path_of_what_is_wrong() {
    let of = problem_of_reader;
    assert!(of(json!({})).starts_with("parameter.connection is required"));
    assert!(
        of(json!({"connection": [{"jdbcUrl": [], "table": ["t"]}]})).starts_with("parameter.connection[0].jdbcUrl is")
    );
    assert!(
        of(json!({"connection": [{"jdbcUrl": ["a"], "table": []}]})).starts_with("parameter.connection[0].table is")
    );
    let both = json!({"connection": [{"jdbcUrl": "a", "table": "t", "querySql": "select 1"}]});
    assert!(of(both).starts_with("parameter.connection[0].querySql stands beside \"table\""));
    let mixed = json!({"connection": [{"jdbcUrl": "a", "table": "t"}, {"jdbcUrl": "a", "querySql": "select 1"}]});
    assert!(of(mixed).starts_with("parameter.connection[1].table and \"querySql\" are mixed"));
    assert!(of(json!({"path": "a", "table": "t", "column": []})).starts_with("parameter.column is empty"));
    assert!(of(json!({"path": "a", "table": "t", "column": ["*", "a"]})).starts_with("parameter.column has \"*\""));
    assert!(of(json!({"path": "a", "table": "t", "column": ["a", ""]})).starts_with("parameter.column[1] is empty"));
    assert!(of(json!({"path": "a", "connection": []})).starts_with("parameter.path stands beside"));
    assert!(of(json!({"path": "a", "table": "t", "splitFactor": 0})).starts_with("parameter.splitFactor is 0"));
    assert!(
        of(json!({"path": "a", "table": "t", "types": {"a": "varchar"}}))
            .starts_with("parameter.types.a is \"varchar\"")
    );
    assert!(
        of(json!({"path": "a", "table": "t", "types": {"a": null}})).starts_with("parameter.types.a must be a type")
    );
    assert!(of(json!({"path": "a", "table": "t", "busyTimeout": -1})).starts_with("parameter.busyTimeout must not"));
}

#[test]
fn types_are_given_to_one_column_or_to_all() {
    let types =
        |types: Value| ReaderConfig::from_json(&json!({"path": "a", "table": "t", "types": types})).unwrap().types;
    let named = types(json!({"Born": "date", "*": "string"}));
    assert_eq!((named.of("born"), named.of("x")), (Some(crate::types::Kind::Date), Some(crate::types::Kind::Text)));
    assert_eq!(types(json!("text")).of("anything"), Some(crate::types::Kind::Text));
}

/// Trap 67.
#[test]
fn write_modes_are_read_in_every_spelling() {
    let mode = |text: &str| {
        let parameter = json!({"path": "a", "table": "t", "column": "*", "writeMode": text});
        WriterConfig::from_json(&parameter).map(|config| config.mode).ok()
    };
    for insert in ["insert", "INSERT", "insert into", " Insert ", "insert or fail"] {
        assert_eq!(mode(insert), Some(WriteMode::Insert), "{insert}");
    }
    assert_eq!(mode("insert ignore"), Some(WriteMode::Ignore));
    assert_eq!(mode("insert or ignore into"), Some(WriteMode::Ignore));
    assert_eq!(mode("replace"), Some(WriteMode::Replace));
    assert_eq!(mode("insert or replace"), Some(WriteMode::Replace));
    assert_eq!(mode("update"), Some(WriteMode::Update(None)));
    assert_eq!(mode("update(a, \"b c\")"), Some(WriteMode::Update(Some(vec!["a".into(), "b c".into()]))));
    for unknown in ["", "upsert", "insert or rollback", "update()", "update(a", "delete from t"] {
        assert_eq!(mode(unknown), None, "{unknown}");
    }
}

#[test]
fn a_writer_names_the_path_of_what_is_wrong() {
    let of = problem_of_writer;
    assert!(of(json!({})).starts_with("parameter.connection is required"));
    assert!(of(json!({"path": "a", "table": "t"})).starts_with("parameter.column is required"));
    assert!(
        of(json!({"path": "a", "table": ["t", "u"], "column": ["*"]})).starts_with("parameter.table names several")
    );
    let several =
        json!({"connection": [{"jdbcUrl": "a", "table": "t"}, {"jdbcUrl": "b", "table": "t"}], "column": ["*"]});
    assert!(of(several).starts_with("parameter.connection names several tables"));
    assert!(of(json!({"path": ["a", "b"], "table": "t", "column": ["*"]})).starts_with("parameter.path must be one"));
    assert!(
        of(json!({"path": "a", "table": "t", "column": "*", "batchSize": 0})).starts_with("parameter.batchSize must")
    );
    let upsert = json!({"path": "a", "table": "t", "column": "*", "writeMode": "upsert"});
    assert!(of(upsert).starts_with("parameter.writeMode is \"upsert\", but must be \"insert\""));
}

#[test]
fn every_parameter_that_is_read_is_listed() {
    let listed: Vec<_> = READER_PARAMETERS.iter().map(|parameter| parameter.name.as_ref()).collect();
    for name in ["path", "connection[].jdbcUrl", "splitPk", "types", "session", "busyTimeout", "preSql"] {
        assert!(listed.contains(&name), "{name}");
    }
    assert!(WRITER_PARAMETERS.iter().any(|parameter| parameter.name == "createTable"));
}
