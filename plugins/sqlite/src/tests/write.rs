//! Tests of writing.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use transship_plugin_api::Kind;

use super::*;

/// Records of a number and a text.
pub(super) fn records(rows: &[(Option<i64>, Option<&str>)]) -> RecordBatch {
    let numbers: Int64Array = rows.iter().map(|(number, _)| *number).collect();
    let texts: StringArray = rows.iter().map(|(_, text)| *text).collect();
    let columns: [(&str, ArrayRef); 2] = [("id", Arc::new(numbers)), ("name", Arc::new(texts))];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
}

fn two() -> Vec<RecordBatch> {
    vec![records(&[(Some(1), Some("ann")), (Some(2), None)])]
}

#[test]
fn rows_are_written_by_position() {
    let place = Place::with("CREATE TABLE t (extra TEXT DEFAULT 'd', n TEXT, \"the id\" INTEGER)");
    let written = write(place.parameter(json!({"table": "T", "column": ["THE ID", "n"]})), two()).unwrap();
    assert_eq!(written.report.written, 2);
    assert!(written.report.bytes > 0);
    assert_eq!(place.one("SELECT group_concat(concat_ws('/', extra, n, \"the id\")) FROM t"), "d/ann/1,d/2");
}

#[test]
fn a_star_stands_for_the_columns_that_can_be_written() {
    let place = Place::with("CREATE TABLE t (id INTEGER, twice INTEGER AS (id * 2), name TEXT)");
    write(place.parameter(json!({"table": "t", "column": ["*"]})), two()).unwrap();
    assert_eq!(place.one("SELECT group_concat(twice) FROM t"), "2,4");
    let named = place.parameter(json!({"table": "t", "column": ["id", "twice"]}));
    assert!(refused(write(named, two())).message().contains("\"twice\" of table t is computed by the database"));
}

#[test]
fn a_table_is_made_from_the_schema() {
    let place = Place::empty();
    let parameter = place.parameter(json!({"table": "new \"table\"", "createTable": true}));
    write(parameter.clone(), two()).unwrap();
    write(parameter, two()).unwrap();
    assert_eq!(
        place.one("SELECT group_concat(id || coalesce(name, '-')) FROM \"new \"\"table\"\"\""),
        "1ann,2-,1ann,2-"
    );
    let made = "CREATE TABLE \"new \"\"table\"\"\" (\"id\" INTEGER, \"name\" TEXT)";
    assert_eq!(place.one("SELECT sql FROM sqlite_schema"), made);
}

#[test]
fn folders_are_made_with_the_file_and_go_with_it_if_preparing_fails() {
    let place = Place::empty();
    let path = place.folder.path().join("a/b/new.db");
    let parameter = |pre_sql: &str| json!({"path": path, "table": "t", "createTable": true, "preSql": [pre_sql]});
    refused(write(parameter("nonsense"), two()));
    assert!(!place.folder.path().join("a").exists());
    write(parameter(""), two()).unwrap();
    assert!(path.exists());
}

#[test]
fn a_table_of_too_many_columns_is_refused_with_the_cause_before_the_statement() {
    let place = Place::empty();
    let column = Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let wide = RecordBatch::try_from_iter((0..2500).map(|number| (format!("c{number}"), column.clone()))).unwrap();
    let error = refused(write(place.parameter(json!({"table": "t", "createTable": true})), vec![wide]));
    let cause = "too many columns on t, in \"CREATE TABLE IF NOT EXISTS \"t\" (\"c0\" INTEGER NOT NULL, ";
    let (path, message) = (place.path(), error.message());
    assert!(message.starts_with(&format!("{}: {cause}", path.display())), "{message}");
    assert!(message.ends_with("…\"") && message.len() < path.as_os_str().len() + 300, "{message}");
}

#[test]
fn a_table_is_made_with_the_names_of_the_job() {
    let place = Place::empty();
    write(place.parameter(json!({"table": "t", "createTable": true, "column": ["order", "select"]})), two()).unwrap();
    assert_eq!(place.one("SELECT sql FROM sqlite_schema"), "CREATE TABLE \"t\" (\"order\" INTEGER, \"select\" TEXT)");
}

#[test]
fn what_pre_sql_drops_is_made_anew() {
    let place = Place::with("CREATE TABLE t (old TEXT); INSERT INTO t VALUES ('x');");
    let parameter =
        place.parameter(json!({"table": "t", "createTable": true, "preSql": ["drop table if exists @table"]}));
    write(parameter.clone(), two()).unwrap();
    write(parameter, two()).unwrap();
    assert_eq!(place.one("SELECT group_concat(id) FROM t"), "1,2");
}

#[test]
fn without_a_table_nothing_is_written() {
    let place = Place::with("CREATE TABLE customers (id INTEGER)");
    let path = place.path().display().to_string();
    let error = refused(write(place.parameter(json!({"table": "customer", "column": ["*"]})), two()));
    assert_eq!(error.kind(), Kind::Schema);
    let set = "set \"createTable\": true to make it with the reader's columns";
    let advice = format!("did you mean \"customers\"? if not, {set}");
    assert_eq!(error.message(), format!("table customer does not exist in {path}: {advice}"));
    let error = refused(write(place.parameter(json!({"table": "tt", "column": ["*"]})), two()));
    assert_eq!(error.message(), format!("table tt does not exist in {path}: {set}"));

    let place = Place::empty();
    let error = refused(write(place.parameter(json!({"table": "t", "column": ["*"]})), two()));
    assert_eq!(error.kind(), Kind::Schema);
    let path = place.path().display().to_string();
    let advice = "give the path of an existing file, or set \"createTable\": true to make both";
    assert_eq!(error.message(), format!("the file {path} and table t in it do not exist: {advice}"));
    assert!(!place.path().exists());
}

#[test]
fn other_numbers_of_columns_and_unknown_columns_are_refused_before_anything_is_written() {
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT, x TEXT); INSERT INTO t VALUES (0, 'old', NULL);");
    let refusal = |column: Json| {
        let parameter = json!({"table": "t", "column": column, "preSql": ["delete from @table"]});
        refused(write(place.parameter(parameter), two()))
    };
    let error = refusal(json!(["*"]));
    assert_eq!(error.kind(), Kind::Schema);
    let problem = "the records have 2 columns, but 3 of table t are to be filled (id, name, x): give as many columns on both sides";
    assert_eq!(error.message(), problem);
    assert!(refusal(json!(["id", "nam"])).message().ends_with("has no column \"nam\": did you mean \"name\"?"));
    assert!(refusal(json!(["id", "ID"])).message().contains("names \"id\" of table t twice"));
    assert_eq!(place.one("SELECT name FROM t"), "old", "preSql was taken back");
}

#[test]
fn a_schema_that_is_only_known_later_is_checked_when_the_task_is_opened() {
    let place = Place::with("CREATE TABLE t (id INTEGER)");
    let host = RecordingHost::shared();
    let mut writer = new_writer(&place.parameter(json!({"table": "t", "column": ["*"]})), &host).unwrap();
    writer.prepare(&run(), None).unwrap();
    let error = refused(writer.open(&task(), two()[0].schema(), host.clone()));
    assert_eq!(error.kind(), Kind::Schema);

    let place = Place::empty();
    let mut writer = new_writer(&place.parameter(json!({"table": "t", "createTable": true})), &host).unwrap();
    let error = refused(writer.prepare(&run(), None));
    assert!(error.message().contains("the reader does not tell its columns"), "{error}");
    assert!(!place.path().exists());
}

#[test]
fn pre_sql_runs_whole_or_not_at_all() {
    let place = Place::with("CREATE TABLE \"order\" (id INTEGER, name TEXT); INSERT INTO \"order\" VALUES (0, 'old');");
    let with = |pre_sql: Json| place.parameter(json!({"table": "order", "column": ["*"], "preSql": pre_sql}));
    let error = refused(write(with(json!(["", "delete from @table", "insert into nowhere values (1)"])), two()));
    assert!(
        error.message().ends_with("no such table: nowhere, in \"insert into nowhere values (1)\" of \"preSql\""),
        "{error}"
    );
    let error = refused(write(with(json!(["delete from @table", "commit"])), two()));
    assert_eq!(error.kind(), Kind::Config);
    assert!(error.message().contains("\"commit\" of \"preSql\" ended the transaction"), "{error}");
    place.connection().execute_batch("DELETE FROM \"order\"; INSERT INTO \"order\" VALUES (0, 'old');").unwrap();
    let error = refused(write(with(json!(["delete from @table", "rollback"])), two()));
    assert!(error.message().contains("ended the transaction"), "{error}");
    assert_eq!(place.one("SELECT name FROM \"order\""), "old");
    write(with(json!(["delete from @table where id = 0"])), two()).unwrap();
    assert_eq!(place.one("SELECT group_concat(id) FROM \"order\""), "1,2");
}

#[test]
fn post_sql_runs_statement_by_statement() {
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT)");
    let post = json!([
        "update @table set name = name || '!' where name is not null; delete from @table where id = 2",
        "vacuum"
    ]);
    write(place.parameter(json!({"table": "t", "column": ["*"], "postSql": post})), two()).unwrap();
    assert_eq!(place.one("SELECT id || name FROM t"), "1ann!");
}

/// Trap 65.
#[test]
fn a_refused_row_is_dirty_and_the_rest_is_written() {
    let place = Place::with(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL CHECK (name <> 'bad'), UNIQUE (name));
         INSERT INTO t VALUES (7, 'seven');",
    );
    let rows = [
        (Some(1), Some("ann")),
        (Some(1), Some("again")),
        (Some(2), None),
        (Some(3), Some("bad")),
        (Some(4), Some("seven")),
        (Some(5), Some("eve")),
    ];
    let written = write(place.parameter(json!({"table": "t", "column": ["*"]})), vec![records(&rows)]).unwrap();
    assert_eq!(written.report.written, 2);
    let found: Vec<_> = written
        .dirty
        .iter()
        .map(|dirty| (dirty.position.unwrap(), dirty.column.as_deref(), dirty.value.as_deref(), dirty.cause.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (101, Some("id"), Some("1"), "UNIQUE constraint failed: t.id"),
            (102, Some("name"), None, "NOT NULL constraint failed: t.name"),
            (103, None, None, "CHECK constraint failed: name <> 'bad'"),
            (104, Some("name"), Some("seven"), "UNIQUE constraint failed: t.name"),
        ]
    );
    assert_eq!(written.dirty[0].record, Some(json!({"id": 1, "name": "again"})));
    assert_eq!(place.one("SELECT group_concat(name) FROM t"), "ann,eve,seven");
}

#[test]
fn write_modes_decide_what_happens_to_a_key_that_is_there() {
    let make = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, kept TEXT); INSERT INTO t VALUES (1, 'old', 'k');";
    let result = |mode: &str, rows: &[(Option<i64>, Option<&str>)]| {
        let place = Place::with(make);
        let parameter = json!({"table": "t", "column": ["id", "name"], "writeMode": mode});
        let written = write(place.parameter(parameter), vec![records(rows)]).unwrap();
        let rows = place.one("SELECT group_concat(concat_ws('/', id, name, kept), ' ') FROM t");
        let dirty: Vec<_> = written.dirty.into_iter().map(|dirty| dirty.cause).collect();
        (rows, written.report.written, written.report.duplicates, dirty)
    };
    let rows = [(Some(1), Some("new")), (Some(2), Some("b")), (Some(2), Some("c"))];
    assert_eq!(result("replace", &rows), ("1/new 2/c".into(), 3, 0, vec![]));
    assert_eq!(result("update", &rows), ("1/new/k 2/c".into(), 3, 0, vec![]));
    assert_eq!(result("insert ignore", &rows), ("1/old/k 2/b".into(), 1, 2, vec![]));
    assert_eq!(result("insert", &rows).1, 1);
}

#[test]
fn insert_or_ignore_leaves_out_duplicates_and_nothing_else() {
    let place =
        Place::with("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL); INSERT INTO t VALUES (1, 'x');");
    let parameter = json!({"table": "t", "column": ["*"], "writeMode": "insert or ignore"});
    let written = write(place.parameter(parameter), vec![records(&[(Some(1), Some("y")), (Some(2), None)])]).unwrap();
    assert_eq!((written.report.written, written.report.duplicates), (0, 1));
    assert_eq!(written.dirty[0].cause, "NOT NULL constraint failed: t.name");
}

/// Trap 66.
#[test]
fn an_update_goes_by_the_primary_key_or_the_key_that_is_named() {
    let place = Place::with("CREATE TABLE t (id INTEGER UNIQUE, name TEXT UNIQUE); INSERT INTO t VALUES (9, 'ann');");
    let with = |mode: &str| place.parameter(json!({"table": "t", "column": ["id", "name"], "writeMode": mode}));
    write(with("update (name)"), two()).unwrap();
    assert_eq!(place.one("SELECT id FROM t WHERE name = 'ann'"), "1");
    assert!(refused(write(with("update"), two())).message().contains("has no primary key to update by"));
    assert!(refused(write(with("update (nam)"), two())).message().contains("did you mean \"name\"?"));
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT)");
    let no_key = place.parameter(json!({"table": "t", "column": ["id", "name"], "writeMode": "update (id)"}));
    assert!(refused(write(no_key, two())).message().contains("does not match any PRIMARY KEY or UNIQUE constraint"));
    // A second unique key that is hurt makes the record dirty.
    let place =
        Place::with("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE); INSERT INTO t VALUES (5, 'ann');");
    let written = write(place.parameter(json!({"table": "t", "column": ["*"], "writeMode": "update"})), two()).unwrap();
    assert_eq!((written.report.written, written.dirty[0].cause.as_str()), (1, "UNIQUE constraint failed: t.name"));
}

#[test]
fn a_key_that_is_the_whole_record_counts_as_written() {
    let place =
        Place::with("CREATE TABLE t (id INTEGER, name TEXT, PRIMARY KEY (name, id)); INSERT INTO t VALUES (1, 'ann');");
    let written = write(place.parameter(json!({"table": "t", "column": ["*"], "writeMode": "update"})), two()).unwrap();
    assert_eq!((written.report.written, written.dirty.len()), (2, 0));
}

#[test]
fn rows_that_a_trigger_or_the_table_leaves_out_are_not_counted_as_written() {
    let place = Place::with(
        "CREATE TABLE t (id INTEGER, name TEXT);
         CREATE TRIGGER odd BEFORE INSERT ON t WHEN new.id = 1 BEGIN SELECT raise(IGNORE); END;
         CREATE TABLE u (id INTEGER UNIQUE ON CONFLICT IGNORE, name TEXT); INSERT INTO u VALUES (2, 'x');
         CREATE TABLE v (id INTEGER UNIQUE ON CONFLICT ROLLBACK, name TEXT); INSERT INTO v VALUES (2, 'x');",
    );
    for table in ["t", "u"] {
        let written = write(place.parameter(json!({"table": table, "column": ["*"]})), two()).unwrap();
        assert_eq!((written.report.written, written.dirty.len()), (1, 1), "{table}");
        assert!(written.dirty[0].cause.starts_with("ignored"), "{table}");
    }
    let error = refused(write(place.parameter(json!({"table": "v", "column": ["*"]})), two()));
    assert!(error.message().contains("SQLite has rolled the whole transaction back"), "{error}");
    assert_eq!(place.one("SELECT count(*) FROM v"), "1");
}

#[test]
fn foreign_keys_are_enforced_only_if_the_session_says_so() {
    let make = "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE t (id INTEGER REFERENCES p, name TEXT);";
    let written = |session: Json| {
        let parameter = json!({"table": "t", "column": ["*"], "session": session});
        write(Place::with(make).parameter(parameter), two()).unwrap().report.written
    };
    assert_eq!(written(json!([])), 2);
    assert_eq!(written(json!(["pragma foreign_keys = on"])), 0);
}

#[test]
fn a_view_is_not_written_to() {
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT); CREATE VIEW v AS SELECT * FROM t;");
    let error = refused(write(place.parameter(json!({"table": "v", "column": ["*"]})), two()));
    assert_eq!(error.kind(), Kind::Unsupported);
}

/// A prepared task, with its host.
fn open_task(place: &Place, parameter: Json) -> (Box<dyn transship_plugin_api::WriterTask>, Arc<RecordingHost>) {
    let host = RecordingHost::shared();
    let mut writer = new_writer(&place.parameter(parameter), &host).unwrap();
    writer.prepare(&run(), Some(two()[0].schema())).unwrap();
    let mut task = writer.open(&task(), two()[0].schema(), host.clone()).unwrap();
    task.prepare().unwrap();
    (task, host)
}

fn batch(rows: &[(Option<i64>, Option<&str>)]) -> Batch {
    Batch::measured(records(rows), Origin::from(0))
}

#[test]
fn nothing_is_seen_before_the_commit_and_nothing_is_left_of_an_abort() {
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT)");
    let (mut task, _) = open_task(&place, json!({"table": "t", "column": ["*"]}));
    task.write(batch(&[(Some(1), None)])).unwrap();
    task.flush().unwrap();
    assert_eq!(place.one("SELECT count(*) FROM t"), "0");
    task.abort().unwrap();
    task.abort().unwrap();
    assert_eq!(place.one("SELECT count(*) FROM t"), "0");
    place.connection().execute_batch("BEGIN EXCLUSIVE; COMMIT").expect("no lock is left");
}

#[test]
fn a_checkpoint_commits_what_came_so_far() {
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT)");
    let (mut task, _) = open_task(&place, json!({"table": "t", "column": ["*"]}));
    task.write(batch(&[(Some(1), None), (Some(2), None)])).unwrap();
    assert_eq!(task.checkpoint(1).unwrap().unwrap().written, 2);
    assert_eq!(task.checkpoint(2).unwrap().unwrap(), Report::default());
    task.write(batch(&[(Some(3), None)])).unwrap();
    task.abort().unwrap();
    assert_eq!(place.one("SELECT group_concat(id) FROM t"), "1,2");
}

#[test]
fn a_task_without_records_locks_nothing() {
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT)");
    let (mut task, _) = open_task(&place, json!({"table": "t", "column": ["*"]}));
    place.connection().execute_batch("BEGIN EXCLUSIVE; COMMIT").expect("nobody holds a lock");
    assert_eq!(task.commit().unwrap(), Report::default());
}

#[test]
fn a_lock_is_waited_for_and_then_given_up() {
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT)");
    let (mut task, _) = open_task(&place, json!({"table": "t", "column": ["*"], "busyTimeout": 20}));
    let other = place.connection();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = refused(task.write(batch(&[(Some(1), None)])));
    assert_eq!((error.kind(), error.is_retryable()), (Kind::Io, true));
    assert!(error.message().contains("another connection has had the file locked for 0.02 s"), "{error}");
    other.execute_batch("COMMIT").unwrap();
    task.write(batch(&[(Some(1), None)])).unwrap();
    assert_eq!(task.commit().unwrap().written, 1);
}

#[test]
fn a_file_that_is_read_for_long_does_not_make_the_writer_crawl() {
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y');");
    let session = json!(["pragma cache_size = 10"]);
    let (mut task, _) =
        open_task(&place, json!({"table": "t", "column": ["*"], "busyTimeout": 20, "session": session}));
    let other = place.connection();
    let mut reading = other.prepare("SELECT * FROM t").unwrap();
    let mut rows = reading.query([]).unwrap();
    rows.next().unwrap();
    // Pages that do not fit into the cache have to be written out, which the other connection forbids.
    let long = "x".repeat(4_000);
    let many = vec![(Some(3), Some(long.as_str())); 100];
    let error = refused(task.write(batch(&many)));
    assert_eq!((error.kind(), error.is_retryable()), (Kind::Io, true));
    assert!(error.message().contains("pragma journal_mode = wal"), "{error}");
    task.abort().unwrap();
    assert_eq!(place.one("SELECT count(*) FROM t"), "2");
}

#[test]
fn waiting_for_a_lock_can_be_cancelled() {
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT)");
    let (mut task, _) = open_task(&place, json!({"table": "t", "column": ["*"], "busyTimeout": 600_000}));
    let other = place.connection();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let cancel = task.cancel_handle().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| refused(task.write(batch(&[(Some(1), None)]))));
        cancel();
        assert_eq!(waiting.join().unwrap().kind(), Kind::Cancelled);
    });
}

#[test]
fn a_cancelled_task_stops_between_records() {
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT)");
    let (mut task, host) = open_task(&place, json!({"table": "t", "column": ["*"]}));
    host.cancelled.store(true, Ordering::Relaxed);
    assert_eq!(refused(task.write(batch(&[(Some(1), None)]))).kind(), Kind::Cancelled);
    task.abort().unwrap();
    assert_eq!(place.one("SELECT count(*) FROM t"), "0");
}

#[test]
fn a_full_database_is_an_error_that_names_the_file() {
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT)");
    let session = json!(["pragma max_page_count = 3"]);
    let (mut task, _) = open_task(&place, json!({"table": "t", "column": ["*"], "session": session}));
    let long = "x".repeat(20_000);
    let error = refused(task.write(batch(&[(Some(1), Some(&long))])));
    assert_eq!(error.kind(), Kind::Io);
    assert!(error.message().contains("test.db") && error.message().contains("the disk is full"), "{error}");
    task.abort().unwrap();
    assert_eq!(place.one("SELECT count(*) FROM t"), "0");
}

#[test]
fn an_abort_undoes_what_a_broken_connection_left_in_the_journal() {
    let place = Place::with("CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'old');");
    let torn = Place::empty();
    std::fs::copy(place.path(), torn.path()).unwrap();
    let (mut task, _) = open_task(&torn, json!({"table": "t", "column": ["*"]}));
    // A transaction whose pages are in the file already, and then the file as it is if nobody ends it.
    let other = place.connection();
    let fill = "WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                INSERT INTO t SELECT i, printf('%.500c', 'x') FROM n";
    other.execute_batch(&format!("PRAGMA cache_size = 1; BEGIN; DELETE FROM t; {fill}")).unwrap();
    let journal = |place: &Place| place.folder.path().join("test.db-journal");
    std::fs::copy(place.path(), torn.path()).unwrap();
    std::fs::copy(journal(&place), journal(&torn)).unwrap();
    task.abort().unwrap();
    assert!(!journal(&torn).exists());
    assert_eq!(torn.one("SELECT group_concat(name) FROM t"), "old");
}

#[test]
fn the_target_has_one_name_whatever_the_path() {
    let place = Place::with("CREATE TABLE t (id INTEGER)");
    std::fs::create_dir(place.folder.path().join("sub")).unwrap();
    let target = |path: PathBuf| {
        let parameter = json!({"path": path, "table": "t", "column": ["*"], "writeMode": "replace"});
        new_writer(&parameter, &RecordingHost::shared()).unwrap().info()
    };
    let info = target(place.path());
    assert_eq!((info.max_open_tasks, info.idempotent), (1, true));
    assert_eq!(info.target, target(place.folder.path().join("sub/../test.db")).target);
    assert_eq!(
        target(place.folder.path().join("new.db")).target,
        target(place.folder.path().join("sub/../new.db")).target
    );
    assert!(!place.folder.path().join("new.db").exists());
}

#[test]
fn the_plan_lists_what_will_be_done() {
    let parameter = json!({
        "connection": [{"jdbcUrl": "jdbc:sqlite:shop.db", "table": ["orders"]}], "createTable": true,
        "writeMode": "update", "preSql": ["delete from @table"], "postSql": ["analyze"],
    });
    let plan = new_writer(&parameter, &RecordingHost::shared()).unwrap().plan();
    assert_eq!(
        plan,
        [
            "open shop.db",
            "CREATE TABLE IF NOT EXISTS orders, with the reader's columns",
            "delete from orders",
            "INSERT INTO orders (the reader's columns) ON CONFLICT (the primary key) DO UPDATE, one transaction for each task",
            "analyze",
        ]
    );
    let written = |mode: &str| {
        let parameter = json!({"path": "shop.db", "table": "t", "column": ["id", "name"], "writeMode": mode});
        new_writer(&parameter, &RecordingHost::shared()).unwrap().plan().remove(1)
    };
    let updated = "INSERT INTO t (id, name) ON CONFLICT (name, id) DO UPDATE, one transaction for each task";
    assert_eq!(written("update (name, id)"), updated);
}
