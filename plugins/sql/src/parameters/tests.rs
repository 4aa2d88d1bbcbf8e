//! Tests of the parameters: those of a server, and those of a file that needs no login.

use serde_json::{Value, json};
use transship_plugin_api::Kind;

use super::*;
use crate::jdbc::MYSQL;
use crate::write::WriteMode;

const SERVER: Rules = Rules::server("\"jdbc:mysql://host:3306/database\"");
const FILE: Rules = Rules {
    short_form: "path",
    short_form_excludes_connection: true,
    login: false,
    reader_names_columns: false,
    example: "\"jdbc:sqlite:/path/to/file.db\", or the path alone",
};

fn url(text: &str) -> Result<Url, String> {
    Url::parse(text, &MYSQL)
}

fn path(text: &str) -> Result<PathBuf, String> {
    Ok(text.into())
}

fn reader(parameter: Value) -> Result<Reader<Url>, String> {
    let params = Params::new(&parameter, "parameter").unwrap();
    Reader::read(&params, &SERVER, &url).map_err(message)
}

fn writer(parameter: Value) -> Result<Writer<Url>, String> {
    let params = Params::new(&parameter, "parameter").unwrap();
    Writer::read(&params, &SERVER, &url).map_err(message)
}

fn file_reader(parameter: Value) -> Result<Reader<PathBuf>, String> {
    let params = Params::new(&parameter, "parameter").unwrap();
    Reader::read(&params, &FILE, &path).map_err(message)
}

fn message(error: transship_plugin_api::Error) -> String {
    assert_eq!(error.kind(), Kind::Config);
    error.message().into()
}

/// Parameters with a login, a connection and columns, and these in their place.
fn with(changes: Value) -> Value {
    let mut parameter = json!({
        "username": "me", "password": "secret", "column": ["id"],
        "connection": [{"jdbcUrl": ["jdbc:mysql://host/db"], "table": ["t"]}],
    });
    for (key, value) in changes.as_object().unwrap() {
        parameter[key] = value.clone();
    }
    parameter
}

fn connection(changes: Value) -> Value {
    let mut connection = json!({"jdbcUrl": ["jdbc:mysql://host/db"], "table": ["t"]});
    for (key, value) in changes.as_object().unwrap() {
        connection[key] = value.clone();
    }
    with(json!({ "connection": [connection] }))
}

/// Trap 57.
/// Case 16.
#[test]
fn a_reader_takes_datax_parameters() {
    let reader = reader(json!({
        "username": "me", "password": "p@ss:w/rd#%", "column": ["id", "upper(name)", "'x'"],
        "where": " a = 1 or b = 2 ； ", "splitPk": " ID ", "splitFactor": "3", "fetchSize": -2147483648i64,
        "session": ["", "set a = 1"], "preSql": ["select 0"],
        "connection": [
            {"jdbcUrl": ["jdbc:mysql://a/x", "jdbc:mysql://b/x"], "table": ["t[0-1]", "u,v"]},
            {"jdbcUrl": "jdbc:mysql://c/x", "table": "w"},
        ],
    }))
    .unwrap();
    assert_eq!(reader.condition.as_deref(), Some("a = 1 or b = 2"));
    assert_eq!((reader.split_by.as_deref(), reader.split_factor), (Some("ID"), 3));
    assert_eq!(reader.columns, Columns::Named(vec!["id".into(), "upper(name)".into(), "'x'".into()]));
    assert_eq!((reader.session, reader.probes), (vec!["set a = 1".into()], vec!["select 0".into()]));
    assert_eq!(reader.fetch_size, Some(-2147483648));
    let urls: Vec<Vec<_>> = reader.connections.iter().map(|urls| urls.iter().map(Url::to_string).collect()).collect();
    assert_eq!(urls, [vec!["mysql://a:3306/x", "mysql://b:3306/x"], vec!["mysql://c:3306/x"]]);
    let sources: Vec<_> = reader.sources.iter().map(|source| (source.connection, source.name())).collect();
    let sources: Vec<_> = sources.iter().map(|(connection, name)| (*connection, name.as_str())).collect();
    assert_eq!(sources, [(0, "table t0"), (0, "table t1"), (0, "table u"), (0, "table v"), (1, "table w")]);
    assert_eq!(reader.login.password.reveal(), "p@ss:w/rd#%");
}

#[test]
fn blank_is_absent_where_that_is_harmless() {
    let reader = reader(with(json!({
        "where": "", "splitPk": " ", "splitFactor": "", "fetchSize": "", "session": [], "preSql": "",
    })))
    .unwrap();
    assert_eq!((reader.condition, reader.split_by, reader.fetch_size), (None, None, None));
    assert_eq!((reader.split_factor, reader.session.len(), reader.probes.len()), (5, 0, 0));
}

/// Trap 54.
/// Case 14.
#[test]
fn queries_lose_final_semicolons_and_ignore_what_belongs_to_tables() {
    let queries = ["select 1;", "select 2 ;  ", "select ';'"];
    for column in [json!([]), json!(["x"]), json!(["*", "x"])] {
        let changes = json!({"jdbcUrl": "jdbc:mysql://h/x", "querySql": queries});
        let leftover = with(json!({"connection": [changes], "column": column, "where": "x = 1", "splitPk": "x"}));
        let reader = reader(leftover).unwrap();
        let read: Vec<_> = reader.sources.iter().map(|source| source.what.clone()).collect();
        let query = |sql: &str, number| What::Query(sql.into(), number);
        assert_eq!(read, [query("select 1", 1), query("select 2", 2), query("select ';'", 3)]);
        assert_eq!((reader.condition, reader.split_by, reader.columns), (None, None, Columns::All));
    }
}

/// Case 33.
#[test]
fn an_untouched_template_is_refused_at_its_first_empty_key() {
    let mut parameter = json!({
        "column": [], "connection": [{"jdbcUrl": [], "table": []}], "password": "", "username": "", "where": "",
        "preSql": [], "session": [], "writeMode": "",
    });
    let steps = [
        ("username", json!("me"), "parameter.username is required, but empty"),
        ("password", json!("secret"), "parameter.password is required, but empty"),
        (
            "connection",
            json!([{"jdbcUrl": "jdbc:mysql://h/x", "table": []}]),
            "parameter.connection[0].jdbcUrl is required, but empty: ",
        ),
        (
            "connection",
            json!([{"jdbcUrl": "jdbc:mysql://h/x", "table": ["t"]}]),
            "parameter.connection[0].table is required",
        ),
        ("column", json!(["*"]), "parameter.column is empty"),
    ];
    for (key, filled, said) in steps {
        for problem in [reader(parameter.clone()).unwrap_err(), writer(parameter.clone()).unwrap_err()] {
            assert!(problem.starts_with(said), "{problem}");
        }
        parameter[key] = filled;
    }
    assert!(reader(parameter.clone()).is_ok());
    assert!(writer(parameter).unwrap_err().starts_with("parameter.writeMode is \"\", but must be \"insert\""));
}

#[test]
fn a_reader_names_the_path_of_what_is_wrong() {
    let of = |parameter| reader(parameter).unwrap_err();
    let starts = [
        (of(with(json!({"connection": null}))), "parameter.connection is required (or the short form, \"jdbcUrl\""),
        (of(connection(json!({"jdbcUrl": null}))), "parameter.connection[0].jdbcUrl is required: \"jdbc:mysql://host"),
        (
            of(connection(json!({"jdbcUrl": "jdbc:xyz://h"}))),
            "parameter.connection[0].jdbcUrl names jdbc:xyz: there is no",
        ),
        (of(connection(json!({"table": [" "]}))), "parameter.connection[0].table is required (or \"querySql\")"),
        (of(connection(json!({"querySql": "select 1"}))), "parameter.connection[0].querySql stands beside \"table\""),
        (
            of(connection(json!({"table": "t[0-99999999]"}))),
            "parameter.connection[0].table \"t[0-99999999]\" stands for more",
        ),
        (of(with(json!({"column": null}))), "parameter.column is required: name the columns"),
        (of(with(json!({"column": ["*", "a"]}))), "parameter.column has \"*\""),
        (of(with(json!({"column": ["a", ""]}))), "parameter.column[1] is empty"),
        (of(with(json!({"splitFactor": 0}))), "parameter.splitFactor is 0"),
        (of(with(json!({"fetchSize": "many"}))), "parameter.fetchSize must be a whole number"),
    ];
    for (said, expected) in starts {
        assert!(said.starts_with(expected), "{said}");
    }
    let mixed = json!([
        {"jdbcUrl": "jdbc:mysql://h/x", "table": "t"}, {"jdbcUrl": "jdbc:mysql://h/x", "querySql": "select 1"},
    ]);
    let said = of(with(json!({ "connection": mixed })));
    assert!(said.starts_with("parameter.connection[1].table and \"querySql\" are mixed"), "{said}");
}

#[test]
fn the_login_may_stand_in_the_url() {
    let parameter = json!({"column": "*", "jdbcUrl": "jdbc:mysql://you:p%40ss@h/x", "table": "t"});
    let config = reader(parameter.clone()).unwrap();
    let login = config.login.at(&config.connections[0][0]);
    assert_eq!((login.username.as_str(), login.password.reveal()), ("you", "p@ss"));
    // What the job says counts more.
    let mut both = parameter.clone();
    both["username"] = json!("me");
    both["password"] = json!("secret");
    let config = reader(both).unwrap();
    let login = config.login.at(&config.connections[0][0]);
    assert_eq!((login.username.as_str(), login.password.reveal()), ("me", "secret"));
    let mut without = parameter;
    without["jdbcUrl"] = json!(["jdbc:mysql://you:p@h/x", "jdbc:mysql://you@h/x"]);
    assert_eq!(reader(without).unwrap_err(), "parameter.password is required");
}

/// Case 19: what DataX does not see has no effect.
#[test]
fn the_short_form_is_ignored_beside_connection() {
    let writer = writer(with(json!({"table": "ignored_here", "jdbcUrl": "jdbc:mysql://nowhere"}))).unwrap();
    assert_eq!((writer.table.as_str(), writer.location.to_string()), ("t", "mysql://host:3306/db".into()));
    let said = file_reader(json!({"path": "a", "connection": []})).unwrap_err();
    assert!(said.starts_with("parameter.path stands beside \"connection\""), "{said}");
    assert!(file_reader(json!({"path": "a", "table": "t"})).is_ok());
}

/// Case 17.
#[test]
fn a_writer_takes_datax_parameters() {
    let writer = writer(json!({
        "writeMode": "update", "username": "me", "password": "secret", "column": ["a", "b"], "batchSize": "4096",
        "batchByteSize": 1024, "emptyAsNull": "false", "session": ["set session sql_mode='ANSI'"],
        "preSql": ["", "delete from @table where a > 1 or '@table' = b"], "postSql": ["analyze @table", " "],
        "connection": [{"jdbcUrl": "jdbc:mysql://h/x", "table": ["s.t"]}],
    }))
    .unwrap();
    assert_eq!(writer.pre_sql, ["delete from s.t where a > 1 or 's.t' = b"]);
    assert_eq!(writer.post_sql, ["analyze s.t"]);
    assert_eq!(writer.mode, WriteMode::Update(None));
    assert_eq!((writer.batch_records, writer.batch_bytes, writer.empty_as_null), (4096, 1024, false));
    assert_eq!(writer.columns, Some(Columns::Named(vec!["a".into(), "b".into()])));
}

/// Trap 70.
#[test]
fn a_writer_has_the_defaults_of_datax() {
    let config = writer(with(json!({}))).unwrap();
    assert_eq!((config.batch_records, config.batch_bytes), (2_048, 32 << 20));
    assert_eq!(config.mode, WriteMode::Insert);
    assert!(config.empty_as_null && !config.create_table);
    let created = writer(with(json!({"column": null, "createTable": true}))).unwrap();
    assert_eq!(created.columns, None);
}

#[test]
fn a_writer_names_the_path_of_what_is_wrong() {
    let of = |parameter| writer(parameter).unwrap_err();
    let twice = json!([
        {"jdbcUrl": "jdbc:mysql://h/x", "table": "t"}, {"jdbcUrl": "jdbc:mysql://h/x", "table": "u"},
    ]);
    let starts = [
        (of(with(json!({"connection": twice}))), "parameter.connection names several tables"),
        (of(connection(json!({"table": ["t", "u"]}))), "parameter.connection[0].table names several tables"),
        (of(connection(json!({"jdbcUrl": ["mysql://a", "mysql://b"]}))), "parameter.connection[0].jdbcUrl must be one"),
        (of(with(json!({"column": null}))), "parameter.column is required: the table's columns"),
        (of(with(json!({"batchSize": 0}))), "parameter.batchSize must be at least 1"),
        (of(with(json!({"batchByteSize": "-5"}))), "parameter.batchByteSize must be at least 1"),
        (
            of(with(json!({"columnMapping": "nmae"}))),
            "parameter.columnMapping is \"nmae\", but must be \"position\" or",
        ),
        (of(with(json!({"writeMode": "upsert"}))), "parameter.writeMode is \"upsert\", but must be \"insert\""),
    ];
    for (said, expected) in starts {
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn no_password_is_shown() {
    let config = reader(with(json!({"password": "hush"}))).unwrap();
    let shown = format!("{config:?}");
    assert!(!shown.contains("hush") && shown.contains("***"), "{shown}");
}

#[test]
fn a_limit_is_named_by_the_server_alone() {
    let limited = |url: &str, most: Value| {
        reader(with(json!({"connection": [{"jdbcUrl": url, "table": ["t"], "maxConnections": most}]})))
    };
    let same = [
        "jdbc:mysql://Host/db",
        "jdbc:mysql://host:3306/other?useSSL=false&user=you&password=secret",
        "jdbc:mariadb://you:secret@host",
    ];
    for url in same {
        let reader = limited(url, json!("3")).unwrap();
        assert_eq!(reader.limits, [[Limit { name: "mysql://host:3306".into(), open: 3 }]], "{url}");
    }
    let several = limited("jdbc:mysql://host:3307,[::1]/db", json!(1)).unwrap();
    assert_eq!(several.limits[0][0].name, "mysql://host:3307,[::1]:3306");
    for most in [0, -1] {
        let problem = limited("jdbc:mysql://host/db", json!(most)).unwrap_err();
        assert!(problem.contains(&format!("connection[0].maxConnections is {most}")), "{problem}");
    }
}

#[test]
fn every_place_of_a_connection_has_its_limit_if_any() {
    let connections = json!([
        {"jdbcUrl": ["jdbc:mysql://a/db", "jdbc:mysql://b/db"], "table": ["t"], "maxConnections": 2},
        {"jdbcUrl": ["jdbc:mysql://c/db"], "table": ["t"]},
    ]);
    let limits = reader(with(json!({"connection": connections}))).unwrap().limits;
    let told: Vec<Vec<_>> = limits.iter().map(|limits| limits.iter().map(|limit| &limit.name[..]).collect()).collect();
    assert_eq!(told, [vec!["mysql://a:3306", "mysql://b:3306"], vec![]]);
    let short = file_reader(json!({"path": "/data/x.db", "table": "t", "maxConnections": 4})).unwrap();
    assert_eq!(short.limits, [[Limit { name: "file:///data/x.db".into(), open: 4 }]]);
}

#[test]
fn a_writer_may_be_limited_too() {
    let most = |changes: Value| writer(connection(changes)).map(|writer| writer.most_connections);
    assert_eq!(most(json!({})), Ok(None));
    assert_eq!(most(json!({"maxConnections": 2})), Ok(Some(2)));
    assert!(most(json!({"maxConnections": 0})).unwrap_err().contains("maxConnections is 0"));
}
