//! A table of mixed types, of which other tools lose something on the way: it moves over all 16 ways, into new tables and in a
//! chain through all systems, and is the same at the end.

use std::process::Command;

use transship_tests::program::repository;
use transship_tests::{Job, Value as Json, json, plugin};

use super::canonical::canonical;
use super::csv;
use super::table::{Column, Means, Place};
use super::world::{World, hexadecimal};

/// What each column means, and the type that a CSV file's reader is told.
const COLUMNS: [(&str, Means, &str); 10] = [
    ("id", Means::Number, "long"),
    ("c_big", Means::Number, "long"),
    ("c_dec", Means::Number, "string"),
    ("c_dbl", Means::Float, "double"),
    ("c_ts", Means::Moment, "date"),
    ("c_date", Means::Moment, "string"),
    ("c_bool", Means::Boolean, "boolean"),
    ("c_text", Means::Text, "string"),
    ("c_json", Means::Text, "string"),
    ("c_bytes", Means::Bytes, "bytes"),
];
const ROWS: usize = 5_000;

type Rows = Vec<Vec<Option<String>>>;

/// The rows that the generator of the benchmarks makes.
fn rows() -> Rows {
    csv::parse(&generated(&[&ROWS.to_string(), "--seed", "7", "--bytes", "hex"]))
}

fn generated(arguments: &[&str]) -> Vec<u8> {
    let generator = repository().join("engine/benches/mixed_table.py");
    let output = Command::new("python3").arg(generator).args(arguments).output().expect("python3 can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Makes the table in a database as the benchmarks have it.
fn make(world: &World, place: Place, name: &str) {
    let system = if place == Place::MariaDb { "mysql" } else { place.key() };
    let sql = generated(&["--create", system, "--table", name]);
    world.execute(place, &String::from_utf8(sql).unwrap());
}

/// Puts the rows into a table or file, by the system's own client.
fn fill(world: &World, place: Place, name: &str, rows: &Rows) {
    if place == Place::Csv {
        let mut lines = String::new();
        rows.iter().for_each(|row| csv::push_line(&mut lines, row));
        world.folder.write(format!("{name}.csv"), lines);
        return;
    }
    make(world, place, name);
    let literal = |(cell, (_, means, _)): (&Option<String>, &(&str, Means, &str))| match (cell, means, place) {
        (None, ..) => "NULL".into(),
        (Some(text), Means::Bytes, Place::Postgres) => format!("'\\x{text}'"),
        (Some(text), Means::Bytes, _) => format!("x'{text}'"),
        (Some(text), Means::Text, Place::MariaDb) => {
            format!("CONVERT(x'{}' USING utf8mb4)", hexadecimal(text.as_bytes()))
        }
        (Some(text), Means::Boolean | Means::Float, _) => text.clone(),
        (Some(text), ..) => format!("'{}'", text.replace('\'', "''")),
    };
    for rows in rows.chunks(500) {
        let row = |row: &Vec<Option<String>>| {
            let values: Vec<String> = row.iter().zip(&COLUMNS).map(literal).collect();
            format!("({})", values.join(", "))
        };
        let values: Vec<String> = rows.iter().map(row).collect();
        world.execute(place, &format!("INSERT INTO {name} VALUES {};", values.join(",\n")));
    }
}

fn reader(world: &World, place: Place, name: &str, is_for_new_table: bool) -> Json {
    let table = json!({ "table": [name], "column": ["*"] });
    match place {
        Place::Postgres => plugin("postgresqlreader", world.postgres.parameter(table)),
        Place::MariaDb => plugin("mysqlreader", world.mariadb.parameter(table)),
        Place::Sqlite => plugin("sqlitereader", json!({ "path": world.folder.path("values.db"), "table": name })),
        Place::Csv => {
            // A new column for numbers of a text file has decimals, and not room for 1e300.
            let type_of = |word: &'static str| if is_for_new_table && word == "double" { "string" } else { word };
            let columns = COLUMNS.iter().enumerate();
            let columns = columns
                .map(|(index, (name, _, r#type))| json!({ "index": index, "type": type_of(r#type), "name": name }));
            plugin("txtfilereader", csv::reader(&world.file(name), &columns.collect::<Vec<_>>()))
        }
    }
}

fn writer(world: &World, place: Place, name: &str, is_new: bool) -> Json {
    let mut parameter = json!({ "table": [name], "column": ["*"], "createTable": is_new });
    match place {
        Place::Postgres => plugin("postgresqlwriter", world.postgres.parameter(parameter)),
        Place::MariaDb => plugin("mysqlwriter", world.mariadb.parameter(parameter)),
        Place::Sqlite => {
            parameter["path"] = world.folder.path("values.db").to_str().into();
            parameter["table"] = name.into();
            plugin("sqlitewriter", parameter)
        }
        Place::Csv => plugin("txtfilewriter", csv::writer(world.folder.folder(), name)),
    }
}

fn move_all(world: &World, from: (Place, &str), to: (Place, &str), is_new: bool) {
    let job = Job::new(reader(world, from.0, from.1, is_new), writer(world, to.0, to.1, is_new)).channels(2);
    let dirty = super::run(&job, "America/New_York");
    assert_eq!(dirty, [], "{} to {}", from.0.name(), to.0.name());
}

/// Compares what is in a table or file with the rows, cell by cell.
fn holds(world: &World, place: Place, name: &str, rows: &Rows, way: &str) {
    let columns: Vec<Column> = COLUMNS[1..].iter().map(|(name, means, _)| Column::plain(name, *means)).collect();
    let found = world.cells(place, name, &columns.iter().collect::<Vec<_>>());
    assert_eq!(found.len(), rows.len(), "{way}");
    for row in rows {
        let id: i64 = row[0].as_ref().unwrap().parse().unwrap();
        for (cell, (column, means, _)) in row[1..].iter().zip(&COLUMNS[1..]) {
            let same = |text: &Option<String>| text.as_ref().map(|text| canonical(*means, text));
            assert_eq!(same(&found[&id][*column]), same(cell), "{way}: {column} of row {id}");
        }
    }
}

/// Traps 58, 62.
#[test]
fn a_table_of_mixed_types_moves_over_all_ways() {
    let world = World::new();
    let rows = rows();
    for from in Place::ALL {
        fill(&world, from, "source", &rows);
    }
    for from in Place::ALL {
        for to in Place::ALL {
            let way = format!("{} to {}", from.name(), to.name());
            let name = format!("from_{}", from.key());
            if to != Place::Csv {
                make(&world, to, &name);
            }
            move_all(&world, (from, "source"), (to, &name), false);
            holds(&world, to, &name, &rows, &way);
        }
    }
}

#[test]
fn a_table_of_mixed_types_is_made_anew_everywhere() {
    let world = World::new();
    let rows = rows();
    for from in Place::ALL {
        fill(&world, from, "source", &rows);
    }
    for from in Place::ALL {
        for to in [Place::Postgres, Place::MariaDb, Place::Sqlite] {
            let name = format!("made_from_{}", from.key());
            move_all(&world, (from, "source"), (to, &name), true);
            holds(&world, to, &name, &rows, &format!("{} to a new table of {}", from.name(), to.name()));
        }
    }
    // All columns, none beside them, in their order, of their types: nothing is inferred from values.
    let types = |table: &str| {
        world.postgres.rows(&format!(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute \
             WHERE attrelid = '{table}'::regclass AND attnum > 0 ORDER BY attnum"
        ))
    };
    assert_eq!(types("made_from_postgres"), types("source"));
}

#[test]
fn a_table_of_mixed_types_is_the_same_after_a_way_through_all_systems() {
    let world = World::new();
    let rows = rows();
    fill(&world, Place::Postgres, "source", &rows);
    make(&world, Place::MariaDb, "second");
    make(&world, Place::Sqlite, "third");
    make(&world, Place::Postgres, "last");
    let way = [
        (Place::Postgres, "source"),
        (Place::Csv, "first"),
        (Place::MariaDb, "second"),
        (Place::Sqlite, "third"),
        (Place::Postgres, "last"),
    ];
    way.windows(2).for_each(|step| move_all(&world, step[0], step[1], false));
    // As bytes: JSON has no equality.
    let except = |one: &str, other: &str| {
        let of = |table: &str| format!("SELECT id, {}, c_json::text FROM {table}", OTHER_COLUMNS.join(", "));
        world.postgres.value(&format!("SELECT count(*) FROM ({} EXCEPT {}) x", of(one), of(other)))
    };
    assert_eq!((except("source", "last"), except("last", "source")), ("0".into(), "0".into()));
    assert_eq!(world.postgres.value("SELECT count(*) FROM last"), ROWS.to_string());
}

const OTHER_COLUMNS: [&str; 8] = ["c_big", "c_dec", "c_dbl", "c_ts", "c_date", "c_bool", "c_text", "c_bytes"];
