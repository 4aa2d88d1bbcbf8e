//! Tests of reading.

use std::sync::atomic::Ordering;

use transship_plugin_api::Kind;

use super::*;

#[test]
fn types_come_from_the_declarations() {
    let place = Place::with(
        "CREATE TABLE t (i INTEGER, b BOOLEAN, r REAL, n DECIMAL(10,2), s VARCHAR(9), x BLOB, d DATE, ts DATETIME, tm TIME, u);
         INSERT INTO t VALUES (1, 1, 1.5, 2.5, 'a', x'ff00', '2024-02-29', '2024-02-29 01:02:03.5', '01:02', 7),
                              (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                              (-9223372036854775808, 0, 9e999, 'NaN', '', x'', '0001-01-01', '2024-02-29T01:02', '23:59:59', 7.5);",
    );
    let read = read(place.parameter(json!({"table": "t"}))).unwrap();
    let types = "Int64 Boolean Float64 Utf8 Utf8 Binary Date32 Timestamp(µs) Time64(µs) Utf8";
    assert_eq!(read.types().join(" "), types);
    assert_eq!(read.schema.field(3).metadata()["ARROW:extension:name"], "transship.number");
    assert_eq!(read.schema.field(9).metadata()["ARROW:extension:name"], "transship.number");
    assert_eq!(
        read.words(),
        [
            "1 true 1.5 2.5 a ff00 2024-02-29 2024-02-29T01:02:03.5 01:02:00 7",
            "NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL",
            "-9223372036854775808 false Infinity NaN   0001-01-01 2024-02-29T01:02:00 23:59:59 7.5",
        ]
    );
    assert_eq!(read.dirty, []);
    assert_eq!(read.positions(), [1, 2, 3]);
    assert_eq!((read.splits[0].unit.as_str(), read.splits[0].records), ("rowid", Some(3)));
}

/// Trap 60.
#[test]
fn a_cell_that_does_not_fit_is_dirty_and_the_other_rows_are_read() {
    let place = Place::with(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, r REAL, s TEXT, d DATE);
         INSERT INTO t VALUES (1, 5, 1.0, 'x', '2024-01-01'), (3, 'abc', 1.0, 'x', NULL), (5, 5, 'no', 'x', NULL),
                              (7, 5, 1.0, x'00ff', NULL), (8, 5, 1.0, CAST(x'61ff' AS TEXT), NULL),
                              (9, 5, 1.0, 'x', '2024-02-30'), (10, 1.5, 1.0, 'x', NULL), (11, 6, 2.0, 'y', NULL);",
    );
    let read = read(place.parameter(json!({"table": "t"}))).unwrap();
    assert_eq!(read.words(), ["1 5 1 x 2024-01-01", "11 6 2 y NULL"]);
    assert_eq!(read.positions(), [1, 11]);
    let found: Vec<_> = read
        .dirty
        .iter()
        .map(|dirty| (dirty.position.unwrap(), dirty.column.as_deref().unwrap(), dirty.value.as_deref().unwrap()))
        .collect();
    let expected = [
        (3, "n", "abc"),
        (5, "r", "no"),
        (7, "s", "00ff"),
        (8, "s", "a\u{fffd}"),
        (9, "d", "2024-02-30"),
        (10, "n", "1.5"),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        read.dirty[0].cause,
        "a text does not fit a column INTEGER that is read as Int64: \"types\": {\"n\": \"text\"} takes it"
    );
    let blob = "a blob does not fit a column TEXT that is read as Utf8: \"types\": {\"s\": \"binary\"} takes it";
    assert_eq!(read.dirty[2].cause, blob);
    assert!(read.dirty[3].cause.ends_with("{\"s\": \"binary\"} takes it"), "{}", read.dirty[3].cause);
    assert_eq!(read.dirty[0].record, Some(json!({"id": 3, "n": "abc", "r": 1.0, "s": "x", "d": null})));
    assert!(read.dirty[3].cause.starts_with("a text that is not UTF-8 does not fit"));
}

#[test]
fn an_integer_too_wide_for_a_real_column_is_dirty() {
    // A REAL column turns integers into reals itself, so this needs a column that only the job calls real.
    let place =
        Place::with("CREATE TABLE t (x); INSERT INTO t VALUES (9007199254740992), (9007199254740993), ('0.1');");
    let read = read(place.parameter(json!({"table": "t", "types": {"X": "real"}}))).unwrap();
    assert_eq!(read.words(), ["9007199254740992", "0.1"]);
    assert_eq!(read.dirty.len(), 1);
    assert_eq!(read.dirty[0].value.as_deref(), Some("9007199254740993"));
}

#[test]
fn the_job_can_give_other_types() {
    let place = Place::with(
        "CREATE TABLE t (a INTEGER, b TEXT, c DATE); INSERT INTO t VALUES ('abc', '7', 'soon'), (1, '8', 2);",
    );
    let text = read(place.parameter(json!({"table": "t", "types": "text"}))).unwrap();
    assert_eq!((text.words(), text.dirty.len()), (vec!["abc 7 soon".into(), "1 8 2".into()], 0));
    let typed =
        read(place.parameter(json!({"table": "t", "types": {"a": "string", "b": "long", "c": "bytes"}}))).unwrap();
    assert_eq!(typed.types(), ["Utf8", "Int64", "Binary"]);
    assert_eq!(typed.words(), ["abc 7 736f6f6e"]);
    assert_eq!(typed.dirty[0].column.as_deref(), Some("c"));
}

#[test]
fn a_datetime_column_that_holds_seconds_is_read_as_integers() {
    let place = Place::with(
        "CREATE TABLE t (at DATETIME, seen TIMESTAMP);
         INSERT INTO t VALUES (NULL, NULL), (1709164800, NULL), (NULL, 'yesterday');",
    );
    let read = read(place.parameter(json!({"table": "t"}))).unwrap();
    assert_eq!(read.types(), ["Int64", "Utf8"]);
    assert_eq!(read.words(), ["NULL NULL", "1709164800 NULL", "NULL yesterday"]);
}

/// Trap 61.
#[test]
fn columns_may_be_names_constants_and_expressions() {
    let place = Place::with(
        "CREATE TABLE t (\"order\" INTEGER, \"a \"\"b\" TEXT, Name TEXT); INSERT INTO t VALUES (1, 'x', 'ann'), (2, 'y', 'bob');",
    );
    let columns = json!(["NAME", "order", "\"a \"\"b\"", "'it''s'", "null", "42", "upper(name) || '!'"]);
    let read = read(place.parameter(json!({"table": "t", "column": columns}))).unwrap();
    assert_eq!(read.words(), ["ann 1 x it's NULL 42 ANN!", "bob 2 y it's NULL 42 BOB!"]);
    let names: Vec<_> = read.schema.fields().iter().map(|field| field.name().as_str()).take(3).collect();
    assert_eq!(names, ["Name", "order", "a \"b"]);
}

#[test]
fn an_aggregate_yields_one_row_however_many_channels_there_are() {
    let place = Place::with("CREATE TABLE t (a INTEGER, c TEXT)");
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100001)";
    place.connection().execute_batch(&format!("INSERT INTO t {numbers} SELECT i, i % 3 FROM n")).unwrap();
    let aggregate = json!({"table": "t", "column": ["count(*)", "max(a)"]});
    let counted = read_with(place.parameter(aggregate), 8, &ReadOptions::default()).unwrap();
    assert_eq!((counted.words(), counted.splits.len()), (vec!["100001 100001".to_string()], 1));
    let distinct =
        read_with(place.parameter(json!({"table": "t", "column": ["distinct c"]})), 8, &ReadOptions::default());
    assert_eq!(distinct.unwrap().rows().len(), 3);
}

/// Trap 55.
#[test]
fn where_keeps_its_or_to_itself() {
    let place = Place::with(
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z');",
    );
    let parameter = place.parameter(json!({"table": "t", "where": "b = 'x' or b = 'y';", "splitPk": "A"}));
    let read = read_with(parameter, 4, &ReadOptions::default()).unwrap();
    let mut words = read.words();
    words.sort_unstable();
    assert_eq!(words, ["1 x", "2 y"]);
}

#[test]
fn queries_are_read_one_split_each() {
    let place = Place::with("CREATE TABLE t (a INTEGER, b DECIMAL(5,1)); INSERT INTO t VALUES (1, 2.5), (2, 3);");
    let queries = json!({"querySql": ["select a, b from t where a = 1;", "select a, b from t where a = 2 ; "]});
    let read = read_with(place.parameter(queries), 5, &ReadOptions::default()).unwrap();
    assert_eq!(read.words(), ["1 2.5", "2 3"]);
    let labels: Vec<_> = read.splits.iter().map(|split| (split.label.as_str(), split.unit.as_str())).collect();
    assert_eq!(labels, [("query 1", "record"), ("query 2", "record")]);
    assert_eq!(read.positions(), [0, 0]);
}

#[test]
fn several_tables_share_one_schema() {
    let place = Place::with(
        "CREATE TABLE t0 (a INTEGER, b TEXT); INSERT INTO t0 VALUES (1, 'x');
         CREATE TABLE t1 (a TEXT, b TEXT); INSERT INTO t1 VALUES ('two', 'y');",
    );
    let both = read(place.parameter(json!({"table": ["t[0-1]"]}))).unwrap();
    assert_eq!((both.types().join(" "), both.words()), ("Utf8 Utf8".into(), vec!["1 x".into(), "two y".into()]));

    place.connection().execute_batch("CREATE TABLE t2 (a INTEGER)").unwrap();
    let error = refused(read(place.parameter(json!({"table": ["t0", "t2"]}))));
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Schema, "table t2 has 1 columns and table t0 has 2, but one job reads both")
    );
}

#[test]
fn a_file_is_read_and_never_made() {
    let place = Place::empty();
    let error = refused(read(place.parameter(json!({"table": "t"}))));
    assert_eq!(error.kind(), Kind::Io);
    assert!(error.message().ends_with("test.db does not exist"), "{error}");
    assert!(!place.path().exists());

    std::fs::write(place.path(), "this is no database, though it is a file of some length").unwrap();
    let error = refused(read(place.parameter(json!({"table": "t"}))));
    assert!(error.message().contains("is not a SQLite database"), "{error}");
}

#[test]
fn a_query_cannot_write() {
    let place = Place::with("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1);");
    let error = refused(read(place.parameter(json!({"querySql": "delete from t returning a"}))));
    assert!(error.message().contains("readonly"), "{error}");
    let error = refused(read(place.parameter(json!({"querySql": "delete from t"}))));
    assert!(error.message().contains("yields no rows"), "{error}");
    let error = refused(read(place.parameter(json!({"querySql": "select 1; select 2"}))));
    assert_eq!(error.kind(), Kind::Config, "{error}");
    assert_eq!(place.one("SELECT count(*) FROM t"), "1");
}

#[test]
fn misspelt_names_are_answered_with_the_nearest() {
    let place = Place::with("CREATE TABLE orders (id INTEGER, customer TEXT)");
    for (parameter, expected) in [
        (json!({"table": "order"}), "table order does not exist in PATH: did you mean \"orders\"?"),
        (json!({"table": "x"}), "table x does not exist in PATH"),
        (
            json!({"table": "orders", "column": ["id", "custmer"]}),
            "table orders of PATH has no column \"custmer\": did you mean \"customer\"?",
        ),
        (
            json!({"table": "orders", "column": ["upper(custmer)"]}),
            "table orders of PATH has no column \"custmer\": did you mean \"customer\"?",
        ),
        // In double quotes SQLite would take an unknown column for a text.
        (
            json!({"table": "orders", "column": ["\"x\""]}),
            "table orders of PATH has no column \"x\": it has id, customer",
        ),
    ] {
        let error = refused(read(place.parameter(parameter.clone())));
        assert_eq!(error.kind(), Kind::Schema, "{parameter}");
        assert_eq!(error.message(), expected.replace("PATH", &place.path().display().to_string()), "{parameter}");
    }
    let unknown = place.parameter(json!({"table": "orders", "splitPk": "idd"}));
    let error = refused(read_with(unknown, 2, &ReadOptions::default()));
    assert!(error.message().contains("has no column \"idd\": did you mean \"id\"?"), "{error}");
}

#[test]
fn the_way_out_that_a_dirty_record_names_is_one() {
    let place = Place::with("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x'), (x'00ff');");
    let blobs = read(place.parameter(json!({"table": "t", "types": {"a": "text"}}))).unwrap();
    assert!(blobs.dirty[0].cause.ends_with("\"types\": {\"a\": \"binary\"} takes it"), "{}", blobs.dirty[0].cause);
    let taken = read(place.parameter(json!({"table": "t", "types": {"a": "binary"}}))).unwrap();
    assert_eq!((taken.words().len(), taken.dirty), (2, vec![]));

    let place = Place::with("CREATE TABLE t (a); INSERT INTO t VALUES (x'00ff'), (7);");
    let numbers = read(place.parameter(json!({"table": "t"}))).unwrap();
    assert!(
        numbers.dirty[0].cause.ends_with(": cast(\"a\" as blob) in its place takes it"),
        "{}",
        numbers.dirty[0].cause
    );
    let taken = read(place.parameter(json!({"table": "t", "column": ["cast(\"a\" as blob)"]}))).unwrap();
    assert_eq!((taken.words(), taken.dirty), (vec!["00ff".into(), "37".into()], vec![]));
}

/// Trap 56.
#[test]
fn the_first_database_that_can_be_opened_and_whose_probes_agree_is_read() {
    let place = Place::with("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1);");
    let other = Place::with("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (2), (3);");
    let missing = place.folder.path().join("missing.db");
    let urls = json!([missing, place.path(), other.path()]);
    let parameter = json!({"connection": [{"jdbcUrl": urls, "table": ["t"]}], "column": ["*"]});
    assert_eq!(read(parameter.clone()).unwrap().words(), ["1"]);
    let mut probing = parameter;
    probing["preSql"] = json!(["select count(*) = 1 from t"]);
    assert_eq!(read(probing).unwrap().words(), ["2", "3"]);
}

#[test]
fn batches_are_cut_by_records_and_by_bytes() {
    let place = Place::with(
        "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('0123456789'), ('b'), ('c'), ('d'), ('0123456789');",
    );
    let sizes = |options: ReadOptions| {
        let read = read_with(place.parameter(json!({"table": "t"})), 1, &options).unwrap();
        let sizes: Vec<_> = read.batches.iter().map(|batch| batch.records.num_rows()).collect();
        for batch in &read.batches {
            assert_eq!(batch.bytes, transship_plugin_api::batch::byte_size(&batch.records));
        }
        sizes
    };
    assert_eq!(sizes(ReadOptions { batch_records: 2, ..ReadOptions::default() }), [2, 2, 1]);
    assert_eq!(sizes(ReadOptions { batch_bytes: 14, ..ReadOptions::default() }), [1, 3, 1]);
    assert_eq!(sizes(ReadOptions { batch_bytes: 0, ..ReadOptions::default() }), [1, 1, 1, 1, 1]);
}

#[test]
fn a_record_that_is_too_large_is_dirty() {
    let place = Place::with("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('a'), (printf('%.1000c', 'x')), ('b');");
    let options = ReadOptions { max_record_bytes: 500, ..ReadOptions::default() };
    let read = read_with(place.parameter(json!({"table": "t"})), 1, &options).unwrap();
    assert_eq!((read.words(), read.positions()), (vec!["a".into(), "b".into()], vec![1, 3]));
    assert_eq!(read.dirty[0].cause, "the record has 1004 bytes, and 500 is the most (maxRecordBytes)");
    assert_eq!(read.dirty[0].position, Some(2));
}

#[test]
fn reading_goes_on_behind_any_batch() {
    let place = Place::with(
        "CREATE TABLE t (a INTEGER); INSERT INTO t (rowid, a) VALUES (-5, 1), (0, 2), (3, 3), (9, 4), (10, 5);",
    );
    let host = RecordingHost::shared();
    let mut reader = new_reader(&place.parameter(json!({"table": "t"})), &host).unwrap();
    reader.prepare().unwrap();
    let splits = all_splits(reader.as_mut(), 1).unwrap();
    // Negative rowids cannot be positions, so records are counted, and no batch says where to go on.
    assert_eq!((splits[0].unit.as_str(), splits.len()), ("record", 1));
    place.connection().execute_batch("DELETE FROM t WHERE rowid < 0").unwrap();

    let mut reader = new_reader(&place.parameter(json!({"table": "t"})), &host).unwrap();
    reader.prepare().unwrap();
    let split = all_splits(reader.as_mut(), 1).unwrap().remove(0);
    let options = ReadOptions { batch_records: 1, ..ReadOptions::default() };
    let mut task = reader.open(&split, &options, host.clone()).unwrap();
    task.prepare().unwrap();
    let batches = drain(task.as_mut()).unwrap();
    assert_eq!(batches.len(), 4);
    for (index, batch) in batches.iter().enumerate() {
        let options = ReadOptions { position: batch.position.clone(), ..options.clone() };
        let mut task = reader.open(&split, &options, host.clone()).unwrap();
        task.prepare().unwrap();
        let rest: Vec<_> = drain(task.as_mut()).unwrap().iter().map(|batch| batch.origin.first).collect();
        assert_eq!(rest, [0, 3, 9, 10][index + 1..]);
    }
}

#[test]
fn a_waiting_task_is_idle_and_one_that_is_dropped_ends() {
    let place = Place::with("CREATE TABLE t (a INTEGER)");
    // Never ends by itself.
    let query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let host = RecordingHost::shared();
    let parameter = place.parameter(json!({"querySql": query, "types": "integer"}));
    let mut reader = new_reader(&parameter, &host).unwrap();
    reader.prepare().unwrap();
    let split = all_splits(reader.as_mut(), 1).unwrap().remove(0);
    let open = |reader: &mut Box<dyn Reader>| {
        let mut task = reader.open(&split, &ReadOptions::default(), host.clone()).unwrap();
        task.prepare().unwrap();
        assert!(matches!(task.next(Duration::from_millis(1)), Ok(Item::Idle)));
        task
    };
    drop(open(&mut reader));

    let mut task = open(&mut reader);
    task.cancel_handle().unwrap()();
    assert_eq!(refused(task.next(Duration::from_secs(10))).kind(), Kind::Cancelled);
    // What has failed is never at its end.
    assert_eq!(refused(task.next(Duration::from_secs(10))).kind(), Kind::Internal);

    let mut task = open(&mut reader);
    host.cancelled.store(true, Ordering::Relaxed);
    assert_eq!(refused(task.next(Duration::from_secs(10))).kind(), Kind::Cancelled);
}

#[test]
fn session_statements_run_on_each_connection() {
    let place = Place::with("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('A'), ('b');");
    let session = json!(["pragma case_sensitive_like = on"]);
    let parameter = place.parameter(json!({"table": "t", "where": "a like 'a'", "session": session}));
    assert_eq!(read(parameter).unwrap().rows().len(), 0);
    let error = refused(read(place.parameter(json!({"table": "t", "session": ["nonsense"]}))));
    assert!(error.message().ends_with("syntax error, in \"nonsense\" of \"session\""), "{error}");
}

#[test]
fn views_and_tables_in_other_schemas_are_read() {
    let place = Place::with(
        "CREATE TABLE \"a.b\" (x INTEGER); INSERT INTO \"a.b\" VALUES (1); CREATE VIEW v AS SELECT x, x + 1 AS y FROM \"a.b\";
         CREATE TABLE w (k TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES ('p');
         CREATE TABLE s (rowid TEXT, oid TEXT, _rowid_ TEXT); INSERT INTO s VALUES ('q', 'r', 's');",
    );
    for (table, words) in
        [("a.b", "1"), ("main.\"a.b\"", "1"), ("`a.b`", "1"), ("V", "1 2"), ("MAIN.w", "p"), ("s", "q r s")]
    {
        assert_eq!(read(place.parameter(json!({"table": [table]}))).unwrap().words(), [words], "{table}");
    }
}
