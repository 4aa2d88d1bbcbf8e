//! What all relational plugins do alike: columns that find each other by name, and the generic names `rdbmsreader` and
//! `rdbmswriter`.

use transship_tests::{Database, Job, Scratch, Value, json, plugin};

/// A database, its writer, and how it is asked.
struct Target {
    writer: &'static str,
    database: Option<Database>,
    scratch: Scratch,
}

impl Target {
    fn all() -> [Target; 3] {
        let target = |writer, database| Target { writer, database, scratch: Scratch::new() };
        [
            target("postgresqlwriter", Some(Database::postgres())),
            target("mysqlwriter", Some(Database::mysql())),
            target("sqlitewriter", None),
        ]
    }

    fn run(&self, sql: &str) {
        match &self.database {
            Some(database) => database.run(sql),
            None => self.connection().execute_batch(sql).unwrap(),
        }
    }

    /// A value, as text.
    fn value(&self, sql: &str) -> String {
        match &self.database {
            Some(database) => database.value(sql),
            None => self.connection().query_row(sql, [], |row| row.get(0)).unwrap(),
        }
    }

    fn connection(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.scratch.path("target.db")).unwrap()
    }

    /// The parameters that read or write these columns of a table.
    fn table(&self, table: &str, column: Value) -> Value {
        match &self.database {
            Some(database) => database.parameter(json!({ "table": [table], "column": column })),
            None => json!({
                "connection": [{ "jdbcUrl": "jdbc:sqlite:target.db", "table": [table] }], "column": column,
            }),
        }
    }

    /// Writes one record with the columns `name`, `id` and `town`.
    fn write(&self, column: Value, more: &Value) -> transship_tests::Finished {
        let mut parameter = self.table("t", column);
        for (key, value) in more.as_object().unwrap() {
            parameter[key] = value.clone();
        }
        let record = json!({
            "column": [
                { "name": "name", "value": "Ada" }, { "name": "id", "value": 7, "type": "long" },
                { "name": "town", "value": "Bath" },
            ],
            "sliceRecordCount": 1,
        });
        self.scratch.run(&Job::new(plugin("streamreader", record), plugin(self.writer, parameter)))
    }
}

const TABLE: &str = "create table t (id int, made varchar(9) default 'today', town varchar(9), name varchar(9))";
const ROW: &str = "select concat(id, ' ', made, ' ', town, ' ', name) from t";

#[test]
fn columns_of_the_same_name_take_each_other() {
    for target in Target::all() {
        target.run(TABLE);
        let by_name = json!({ "columnMapping": "name" });
        target.write(json!(["*"]), &by_name).succeeds();
        let row = if target.database.is_some() {
            ROW
        } else {
            "select id || ' ' || made || ' ' || town || ' ' || name from t"
        };
        assert_eq!(target.value(row), "7 today Bath Ada", "{}", target.writer);

        target.run("delete from t");
        target.write(json!(["id", "name", "town"]), &by_name).succeeds();
        assert_eq!(target.value(row), "7 today Bath Ada", "{}", target.writer);
    }
}

#[test]
fn a_column_that_finds_none_stops_the_job_before_it_writes() {
    for target in Target::all() {
        target.run("create table t (id int, nmae varchar(9), town varchar(9))");
        let by_name = json!({ "columnMapping": "name" });
        let run = target.write(json!(["*"]), &by_name).fails_with(1);
        run.says([
            "no column of table t takes the records' column \"name\": did you mean \"nmae\"? Name it so in the reader",
        ]);
        let run = target.write(json!(["id", "town"]), &by_name).fails_with(1);
        run.says(["no column of table t takes the records' column \"name\""]);
        assert_eq!(target.value("select cast(count(*) as char(1)) from t"), "0", "{}", target.writer);
    }
}

#[test]
fn a_table_that_is_there_takes_the_readers_columns_by_name_where_none_are_named() {
    for target in Target::all() {
        target.run(TABLE);
        target.write(Value::Null, &json!({ "createTable": true })).succeeds();
        assert_eq!(target.value("select name from t"), "Ada", "{}", target.writer);
    }
}

#[test]
fn the_generic_names_go_by_the_url() {
    for target in Target::all() {
        target.run("create table t (id int, town varchar(9))");
        target.run("create table copy (id int, town varchar(9))");
        target.run("insert into t values (7, 'Bath')");
        let reader = plugin("rdbmsreader", target.table("t", json!(["*"])));
        let writer = plugin("rdbmswriter", target.table("copy", json!(["*"])));
        target.scratch.run(&Job::new(reader, writer)).succeeds();
        assert_eq!(target.value("select town from copy"), "Bath", "{}", target.writer);
    }
}

#[test]
fn a_limit_of_connections_is_told_by_reader_and_writer() {
    for target in Target::all() {
        target.run("create table t (id int)");
        target.run("create table copy (id int)");
        let limited = |table: &str| {
            let mut parameter = target.table(table, json!(["*"]));
            match parameter.get_mut("connection") {
                Some(connections) => connections[0]["maxConnections"] = json!(2),
                None => parameter["maxConnections"] = json!(2),
            }
            parameter
        };
        let reader = plugin(&target.writer.replace("writer", "reader"), limited("t"));
        target.scratch.job("job.json", &Job::new(reader, plugin(target.writer, limited("copy"))));
        let prepared = target.scratch.transship(["prepare", "job.json"]).run().succeeds();
        let prepared: Value = serde_json::from_str(&prepared.stdout).unwrap();
        let limit = &prepared["tasks"][0]["split"]["limit"];
        assert_eq!(limit["open"], 2, "{prepared}");
        let name = limit["name"].as_str().unwrap();
        assert!(!name.contains('@') && !name.contains('?') && !name.ends_with("/test"), "{name}");
        // Into a file of SQLite only one task can write.
        let most = if target.database.is_some() { 2 } else { 1 };
        let plan = target.scratch.transship(["plan", "job.json"]).run().succeeds();
        assert!(plan.stdout.contains(&format!("{most} writer tasks")), "{plan}");
    }
}
