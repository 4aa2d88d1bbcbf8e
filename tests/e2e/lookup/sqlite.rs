//! The `sqlite` lookup in whole jobs.

use rusqlite::Connection;
use transship_tests::{Job, Scratch, faulty_reader, json, plugin};

use super::{asking, printed, run};

/// A database in which every third id has no name, and 6 has two.
fn database(scratch: &Scratch) {
    let database = Connection::open(scratch.path("names.db")).unwrap();
    database
        .execute_batch(
            "create table names (id integer, name text);
             with recursive ids(id) as (select 1 union all select id + 1 from ids where id < 1000)
             insert into names select id, 'name ' || id from ids where id % 3 != 0;
             insert into names values (6, 'six'), (6, 'half a dozen');
             create index names_id on names (id);",
        )
        .unwrap();
}

fn job(lookup: serde_json::Value, parameter: serde_json::Value) -> Job {
    let lookup = json!({ "name": "sqlitelookup", "parameter": lookup });
    let reader = faulty_reader(json!({ "records": 1000, "batch": 100 }));
    Job::new(reader, plugin("streamwriter", json!({}))).transformer(asking(lookup, parameter))
}

fn expected() -> Vec<(u64, Option<String>)> {
    let rows = |id: u64| match id {
        6 => vec![(6, Some("six".into())), (6, Some("half a dozen".into()))],
        id if id % 3 == 0 => vec![(id, None)],
        id => vec![(id, Some(format!("name {id}")))],
    };
    (1..=1000).flat_map(rows).collect()
}

#[test]
fn records_get_the_columns_of_the_rows_that_their_ids_find() {
    for parameter in [
        json!({}),
        json!({ "mode": "unordered", "capacity": 500, "batch": { "size": 7 } }),
        json!({ "mode": "key", "batch": { "size": 1 } }),
        json!({ "cache": { "entries": 100 } }),
    ] {
        for source in
            [json!({ "table": "names" }), json!({ "querySql": "select name from names where id = ? order by rowid" })]
        {
            let scratch = Scratch::new();
            database(&scratch);
            let mut lookup = source;
            lookup["path"] = json!("names.db");
            let run = run(&scratch, &job(lookup, parameter.clone())).succeeds();
            let (mut printed, mut expected) = (printed(&run), expected());
            if parameter.get("mode").is_some() {
                printed.sort();
                expected.sort();
            }
            assert_eq!(printed, expected, "{parameter}");
            run.says(["read 1000 + added 1 = written 1001"]);
        }
    }
}

#[test]
fn a_database_or_a_column_that_is_not_there_fails_the_job_before_it_reads() {
    let scratch = Scratch::new();
    database(&scratch);
    let missing = run(&scratch, &job(json!({ "path": "nams.db", "table": "names" }), json!({}))).fails_with(1);
    assert!(missing.error().contains("the database file nams.db does not exist"), "{missing}");
    let parameter = json!({ "columns": ["nam"] });
    let column = run(&scratch, &job(json!({ "path": "names.db", "table": "names" }), parameter)).fails_with(1);
    assert!(
        column.error().contains("\"nam\", which the lookup does not find: it finds id, name; did you mean \"name\"?"),
        "{column}"
    );
}
