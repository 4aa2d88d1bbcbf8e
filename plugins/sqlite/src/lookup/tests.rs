//! What `sqlitelookup` finds.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use crossbeam::channel::unbounded;
use rusqlite::Connection;
use serde_json::{Value, json};
use transship_plugin_api::row::cell_to_text;
use transship_plugin_api::{Answer, DirtyRecord, Found, Host, Kind, Lookup, Result};

use super::new;

struct Nobody;

impl Host for Nobody {
    fn log(&self, _: log::Level, _: &str, _: &str) {}

    fn dirty(&self, _: &DirtyRecord<'_>) -> Result<()> {
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

/// A database with clients, and a lookup in it.
struct Clients {
    _folder: tempfile::TempDir,
    path: String,
}

impl Clients {
    fn new() -> Clients {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clients.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "create table clients (id integer primary key, name text, born date, balance decimal(10, 2), region int);
                 insert into clients values (1, 'Ada', '1815-12-10', 10.5, 7), (2, 'Grace', '1906-12-09', 3, 7),
                     (3, 'Alan', null, 0, 8), (4, 'Kurt', 'long ago', 1, 9);
                 create table orders (client text, number int);
                 insert into orders values ('1', 10), ('1', 11), ('2', 20);",
            )
            .unwrap();
        Clients { path: path.display().to_string(), _folder: folder }
    }

    fn lookup(&self, mut parameter: Value) -> Box<dyn Lookup> {
        parameter["path"] = json!(self.path);
        new(&parameter, Arc::new(Nobody)).unwrap()
    }
}

fn key(column: impl arrow_array::Array + 'static) -> RecordBatch {
    let column: ArrayRef = Arc::new(column);
    RecordBatch::try_from_iter([("id", column)]).unwrap()
}

fn ask(lookup: &dyn Lookup, keys: RecordBatch) -> Result<Found> {
    let (sender, answer) = unbounded();
    lookup.start(keys, Answer::new(move |outcome: Result<Found>| sender.send(outcome).unwrap()));
    answer.recv().unwrap()
}

/// Each row with the number of its key, and each failure.
fn shown(found: &Found) -> Vec<String> {
    let rows = (0..found.rows.num_rows()).map(|row| {
        let cells = found.rows.columns().iter().map(|column| cell_to_text(column, row).unwrap_or("NULL".into()));
        format!("{}: {}", found.key_of_row[row], cells.collect::<Vec<_>>().join(" "))
    });
    rows.chain(found.failed.iter().map(|(key, error)| format!("{key} failed: {}", error.message()))).collect()
}

#[test]
fn a_query_finds_none_one_or_several_rows_for_each_of_the_keys_of_a_call() {
    let clients = Clients::new();
    let mut lookup = clients.lookup(json!({ "querySql": "select number, client from orders where client = ?" }));
    let keys = key(Int64Array::from(vec![1, 2, 3, 1]));
    let columns = lookup.prepare(keys.schema()).unwrap();
    assert_eq!(columns.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), ["number", "client"]);
    let found = ask(lookup.as_ref(), keys).unwrap();
    assert_eq!(shown(&found), ["0: 10 1", "0: 11 1", "1: 20 2", "3: 10 1", "3: 11 1"], "a number finds its text");
    assert_eq!(found.rows.schema(), columns);
}

#[test]
fn a_table_finds_rows_by_its_key_columns_with_the_types_of_the_reader() {
    let clients = Clients::new();
    let parameter =
        json!({ "table": "clients", "column": ["NAME", "born", "balance", "id * 2"], "types": { "born": "text" } });
    let mut lookup = clients.lookup(parameter);
    let keys = key(StringArray::from(vec!["3", "1", "x"]));
    lookup.prepare(keys.schema()).unwrap();
    let found = ask(lookup.as_ref(), keys).unwrap();
    assert_eq!(shown(&found), ["0: Alan NULL 0 6", "1: Ada 1815-12-10 10.5 2"], "a text finds its number");

    let mut lookup = clients.lookup(json!({ "table": "clients", "keyColumn": ["region", "name"], "column": ["id"] }));
    let columns: [(&str, ArrayRef); 2] =
        [("r", Arc::new(Int64Array::from(vec![7, 8]))), ("n", Arc::new(StringArray::from(vec!["Grace", "Ada"])))];
    let keys = RecordBatch::try_from_iter(columns).unwrap();
    lookup.prepare(keys.schema()).unwrap();
    assert_eq!(shown(&ask(lookup.as_ref(), keys).unwrap()), ["0: 2"]);
}

#[test]
fn a_row_that_does_not_fit_its_columns_fails_its_key_alone() {
    let clients = Clients::new();
    let mut lookup = clients.lookup(json!({ "table": "clients", "column": ["born"] }));
    let keys = key(Int64Array::from(vec![4, 2]));
    lookup.prepare(keys.schema()).unwrap();
    assert_eq!(
        shown(&ask(lookup.as_ref(), keys).unwrap()),
        [
            "1: 1906-12-09",
            "0 failed: column \"born\" of its row holds a text, which does not fit: \"types\" can give it another type"
        ]
    );
}

#[test]
fn what_cannot_work_is_told_before_any_key_is_looked_up() {
    let clients = Clients::new();
    let refused = |parameter: Value| {
        let keys = key(Int64Array::from(vec![1]));
        clients.lookup(parameter).prepare(keys.schema()).unwrap_err().message().to_string()
    };
    let two = refused(json!({ "querySql": "select 1 where ? = ?" }));
    assert!(
        two.starts_with("parameter.querySql has 2 places for values (?), and the key of the record has 1"),
        "{two}"
    );
    let keys = refused(json!({ "table": "clients", "keyColumn": ["id", "name"] }));
    assert_eq!(keys, "parameter.keyColumn names 2 columns, and the key of the record has 1");
    let column = refused(json!({ "table": "clients", "keyColumn": "idd" }));
    assert!(column.contains("idd"), "{column}");
    let table = refused(json!({ "table": "customers" }));
    assert!(table.contains("customers"), "{table}");
}

#[test]
fn many_calls_are_answered_by_all_connections_and_none_is_lost() {
    let clients = Clients::new();
    let mut lookup = clients.lookup(json!({ "table": "clients", "column": ["name"], "connections": 3 }));
    let keys = key(Int64Array::from(vec![1, 2]));
    lookup.prepare(keys.schema()).unwrap();
    let (sender, answers) = unbounded();
    for _ in 0..500 {
        let sender = sender.clone();
        lookup.start(keys.clone(), Answer::new(move |outcome: Result<Found>| sender.send(outcome).unwrap()));
    }
    for found in answers.iter().take(500) {
        assert_eq!(shown(&found.unwrap()), ["0: Ada", "1: Grace"]);
    }
}

#[test]
fn a_query_that_goes_on_for_ever_ends_when_the_job_is_given_up() {
    let clients = Clients::new();
    let endless = "with recursive n(i) as (select ? union all select i + 1 from n) select count(*) as c from n";
    let parameter = json!({ "querySql": endless, "types": { "c": "integer" }, "connections": 1 });
    let mut lookup = clients.lookup(parameter);
    let keys = key(Int64Array::from(vec![1]));
    lookup.prepare(keys.schema()).unwrap();
    let (sender, answers) = unbounded();
    for _ in 0..2 {
        let sender = sender.clone();
        lookup.start(keys.clone(), Answer::new(move |outcome: Result<Found>| sender.send(outcome).unwrap()));
    }
    lookup.cancel();
    for _ in 0..2 {
        assert_eq!(answers.recv().unwrap().unwrap_err().kind(), Kind::Cancelled);
    }
}
