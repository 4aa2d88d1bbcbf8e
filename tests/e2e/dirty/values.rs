//! Values that a real plugin cannot read or store: they are dirty, told with file, line and byte, and never become zero or NULL.

use transship_tests::records::{number, text};
use transship_tests::{Job, Scratch, Value, faulty_writer, json, plugin};

fn reader(path: &str, more: Value) -> Value {
    let mut parameter = json!({
        "path": [path],
        "column": [
            { "index": 0, "type": "long", "name": "id" },
            { "index": 1, "type": "double", "name": "price" },
            { "index": 2, "type": "date", "format": "yyyy-MM-dd", "name": "day" },
            { "index": 3, "type": "boolean", "name": "paid" },
        ],
    });
    parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    plugin("txtfilereader", parameter)
}

fn sqlite_writer() -> Value {
    let create = "create table t (id integer primary key, price real not null, day text, paid integer)";
    plugin("sqlitewriter", json!({ "path": "out.db", "table": "t", "column": ["*"], "preSql": [create] }))
}

fn ids(scratch: &Scratch) -> Vec<i64> {
    let database = rusqlite::Connection::open(scratch.path("out.db")).unwrap();
    let mut statement = database.prepare("select id from t order by id").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn what_cannot_be_read_as_its_type_is_dirty_with_file_line_and_byte() {
    let scratch = Scratch::new();
    let lines = [
        "id,price,day,paid",
        "1,1.5,2024-01-01,true",
        "x2,2.5,2024-01-02,true",
        "3,3.5 EUR,2024-01-03,true",
        "4,4.5,2024-02-30,true",
        "5,5.5,2024-01-05,perhaps",
        "6,6.5",
        "99999999999999999999999999999999999999999999999999x,7.5,2024-01-07,true",
        "8,8.5,2024-01-08,false",
    ];
    scratch.write("in.csv", lines.join("\n"));
    let run = scratch.run(&Job::new(reader("in.csv", json!({ "skipHeader": true })), sqlite_writer())).succeeds();
    assert_eq!(ids(&scratch), [1, 8], "{run}");

    let dirty = scratch.dirty_records();
    let expected = [
        (2, "id", Some("x2")),
        (3, "price", Some("3.5 EUR")),
        (4, "day", Some("2024-02-30")),
        (5, "paid", Some("perhaps")),
        (6, "day", None),
    ];
    assert_eq!(dirty.len(), expected.len() + 1, "{run}");
    for (record, (index, column, value)) in dirty.iter().zip(expected) {
        let byte: usize = lines[..index].iter().map(|line| line.len() + 1).sum();
        assert_eq!(record["source"], json!({ "file": "in.csv", "line": index + 1, "byte": byte }), "{record}");
        assert_eq!((number(record, "/position"), text(record, "/unit")), (index as u64 + 1, "line"), "{record}");
        assert_eq!((text(record, "/column"), record.get("value").and_then(Value::as_str)), (column, value), "{record}");
        assert_eq!(text(record, "/record"), lines[index], "it is kept as it was written");
        assert!(!text(record, "/cause").is_empty(), "{record}");
    }
}

#[test]
fn what_the_target_refuses_is_dirty_and_names_the_line_of_the_source() {
    let scratch = Scratch::new();
    scratch.write(
        "in.csv",
        "1,1.5,2024-01-01,true\n\n2,,2024-01-02,true\n\"3\",3.5,\"2024-01-03\",true\n1,9.5,2024-01-04,true\n",
    );
    let run = scratch.run(&Job::new(reader("in.csv", json!({ "nullFormat": "" })), sqlite_writer())).succeeds();
    assert_eq!(ids(&scratch), [1, 3], "{run}");
    let dirty = scratch.dirty_records();
    let told: Vec<_> = dirty
        .iter()
        .map(|record| (number(record, "/position"), text(record, "/column"), text(record, "/side")))
        .collect();
    assert_eq!(told, [(3, "price", "writer"), (5, "id", "writer")], "{run}");
    assert!(text(&dirty[1], "/cause").contains("UNIQUE"), "{run}");
    assert_eq!(dirty[1]["record"]["id"], 1, "{run}");
}

#[test]
fn the_line_is_that_of_the_file_although_the_file_is_read_in_ranges() {
    let scratch = Scratch::new();
    let bad = [1, 5000, 9_999, 10_000, 20_000];
    // Each record has two lines.
    let record = |number: u64| {
        if bad.contains(&number) { format!("x{number},\"two\nlines\"\n") } else { format!("{number},\"two\nlines\"\n") }
    };
    scratch.write("in.csv", (1..=20_000).map(record).collect::<String>());
    let column = json!([{ "index": 0, "type": "long" }, { "index": 1, "type": "string" }]);
    let reader = plugin("txtfilereader", json!({ "path": ["in.csv"], "splitBytes": 30_000, "column": column }));
    let run = scratch.run(&Job::new(reader, faulty_writer(json!({}))).channels(3)).succeeds();
    assert!(run.summary()["tasks"].as_array().unwrap().len() > 5, "it is read in ranges: {run}");

    let content = scratch.read("in.csv");
    let mut found = Vec::new();
    for record in scratch.dirty_records() {
        let value = text(&record, "/value");
        assert!(content[number(&record, "/source/byte") as usize..].starts_with(value), "{record}");
        assert_eq!(record["source"]["line"], record["position"], "{record}");
        found.push((value.to_string(), number(&record, "/position")));
    }
    found.sort_by_key(|(_, line)| *line);
    assert_eq!(found, bad.map(|number| (format!("x{number}"), 2 * number - 1)), "{run}");
    assert_eq!(scratch.ids().len(), 20_000 - bad.len());
}

#[test]
fn a_limit_on_real_values_stops_the_job() {
    let scratch = Scratch::new();
    scratch.write("in.csv", "1,1.5,2024-01-01,true\nx2,2.5,2024-01-02,true\n3,3.5,2024-01-03,true\n");
    let job = Job::new(reader("in.csv", json!({})), sqlite_writer()).with("job.setting.errorLimit.record", 0);
    let run = scratch.run(&job).fails_with(6);
    assert_eq!(run.error(), "1 dirty record is more than job.setting.errorLimit.record allows (0)");
    assert_eq!(ids(&scratch), [0; 0]);
    assert_eq!(scratch.dirty_records().len(), 1);
}
