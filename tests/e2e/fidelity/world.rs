//! Where the values are: a table in each database and a file, filled and read with the systems' own clients, never with transship.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use transship_tests::{Database, Scratch, Value as Json, json, plugin};

use super::csv;
use super::table::{Column, Means, Place, Value};

/// The databases of a test, the folder with the SQLite file and the CSV file, and what each holds once it is filled.
pub(super) struct World {
    pub(super) postgres: Database,
    pub(super) mariadb: Database,
    pub(super) folder: Scratch,
    pub(super) table: Vec<Column>,
}

/// The cells of a table, by row and the name of the column.
pub(super) type Cells = BTreeMap<i64, BTreeMap<String, Option<String>>>;

impl World {
    /// Empty databases.
    pub(super) fn new() -> World {
        let world = World {
            postgres: Database::postgres(),
            mariadb: Database::mysql(),
            folder: Scratch::new(),
            table: super::table::read(),
        };
        world.postgres.run("CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'b,c', '')");
        world
    }

    /// The columns that a place has as a source.
    pub(super) fn columns_of(&self, place: Place) -> impl Iterator<Item = &Column> {
        self.table.iter().filter(move |column| column.values.iter().any(|value| column.has(value, place)))
    }

    /// Makes a table in one of the databases, with these columns.
    pub(super) fn make<'a>(&self, place: Place, name: &str, columns: impl Iterator<Item = &'a Column>) {
        let columns = columns.map(|column| format!("{} {}", quote(place, &column.name), column.declared(place)));
        let columns: Vec<_> = columns.collect();
        self.execute(place, &format!("CREATE TABLE {name} (id {}, {});", key(place), columns.join(", ")));
    }

    pub(super) fn execute(&self, place: Place, sql: &str) {
        match place {
            Place::Postgres => self.postgres.run(sql),
            Place::MariaDb => self.mariadb.run(sql),
            Place::Sqlite => self.sqlite().execute_batch(sql).unwrap(),
            Place::Csv => {}
        }
    }

    fn sqlite(&self) -> Connection {
        Connection::open(self.folder.path("values.db")).unwrap()
    }

    /// Puts all values that a place has into a table or file called `source`.
    pub(super) fn fill(&self, place: Place) {
        let columns: Vec<&Column> = self.columns_of(place).collect();
        if place == Place::Csv {
            return self.fill_csv(&columns);
        }
        self.make(place, "source", columns.iter().copied());
        let mut sql = String::from(if place == Place::MariaDb { "SET time_zone = '+00:00';\n" } else { "" });
        for (column, value) in values(&columns, place) {
            let insert = format!(
                "INSERT INTO source (id, {}) VALUES ({}, {});\n",
                quote(place, &column.name),
                value.id,
                literal(place, column, value)
            );
            let is_date_of_mysql = value.is.as_ref().is_some_and(|is| is.contains("-00-"));
            match is_date_of_mysql {
                true => sql.push_str(&format!("SET sql_mode = '';\n{insert}SET sql_mode = DEFAULT;\n")),
                false => sql.push_str(&insert),
            }
        }
        self.execute(place, &sql);
    }

    fn fill_csv(&self, columns: &[&Column]) {
        let mut lines = String::new();
        for (column, value) in values(columns, Place::Csv) {
            let mut cells = vec![Some(value.id.to_string())];
            let is_here = |other: &&Column| std::ptr::eq(*other, column);
            let text = column.text(value, Place::Csv);
            cells.extend(columns.iter().map(|other| text.clone().filter(|_| is_here(other))));
            csv::push_line(&mut lines, &cells);
        }
        self.folder.write("source.csv", lines);
    }

    /// A reader of what was filled. `zone`: of the session, as an offset.
    pub(super) fn reader(&self, place: Place, zone: &str) -> Json {
        match place {
            Place::Postgres => {
                let parameter = json!({ "table": ["source"], "column": ["*"] });
                plugin("postgresqlreader", self.postgres.parameter(parameter))
            }
            Place::MariaDb => {
                let session = [format!("SET time_zone = '{zone}'")];
                let parameter = json!({ "table": ["source"], "column": ["*"], "session": session });
                plugin("mysqlreader", self.mariadb.parameter(parameter))
            }
            Place::Sqlite => {
                plugin("sqlitereader", json!({ "path": self.folder.path("values.db"), "table": "source" }))
            }
            Place::Csv => {
                let columns = self.columns_of(place).enumerate();
                let columns = columns.map(|(index, column)| {
                    json!({ "index": index + 1, "type": column.declared(place), "name": column.name })
                });
                let columns: Vec<_> =
                    [json!({ "index": 0, "type": "long", "name": "id" })].into_iter().chain(columns).collect();
                plugin("txtfilereader", csv::reader(&self.folder.path("source.csv"), &columns))
            }
        }
    }

    /// A writer into a table: one that is there, with the columns that `from` has, or one that it makes.
    pub(super) fn writer(&self, place: Place, table: &str, from: Place, is_new: bool, zone: &str) -> Json {
        let columns: Vec<&str> =
            ["id"].into_iter().chain(self.columns_of(from).map(|column| column.name.as_str())).collect();
        let parameter = match is_new {
            true => json!({ "table": [table], "createTable": true }),
            false => json!({ "table": [table], "column": columns }),
        };
        match place {
            Place::Postgres => plugin("postgresqlwriter", self.postgres.parameter(parameter)),
            Place::MariaDb => {
                let mut parameter = self.mariadb.parameter(parameter);
                parameter["session"] = json!([format!("SET time_zone = '{zone}'")]);
                plugin("mysqlwriter", parameter)
            }
            Place::Sqlite => {
                let mut parameter = parameter;
                parameter["path"] = self.folder.path("values.db").to_str().into();
                parameter["table"] = table.into();
                plugin("sqlitewriter", parameter)
            }
            Place::Csv => plugin("txtfilewriter", csv::writer(self.folder.folder(), table)),
        }
    }

    /// What is in a table or file that was written.
    pub(super) fn cells(&self, place: Place, table: &str, columns: &[&Column]) -> Cells {
        let rows = match place {
            Place::Postgres => self.postgres_rows(table, columns),
            Place::MariaDb => self.mariadb_rows(table, columns),
            Place::Sqlite => self.sqlite_rows(table, columns),
            Place::Csv => csv::parse(&std::fs::read(self.file(table)).unwrap()),
        };
        let row = |cells: Vec<Option<String>>| {
            let mut cells = cells.into_iter();
            let id = cells.next().flatten().unwrap().parse().unwrap();
            (id, columns.iter().map(|column| column.name.clone()).zip(cells).collect())
        };
        rows.into_iter().map(row).collect()
    }

    /// The CSV file of this name, whoever has written it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        let is_it = |file: &String| file.starts_with(&format!("{name}__")) || *file == format!("{name}.csv");
        let files: Vec<_> = self.folder.files().into_iter().filter(is_it).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        self.folder.path(&files[0])
    }

    /// Every cell as psql shows it, by way of hexadecimal digits, so that no line end or tab can do harm.
    fn postgres_rows(&self, table: &str, columns: &[&Column]) -> Vec<Vec<Option<String>>> {
        let types = self.types(&self.postgres, "data_type", table);
        let shown = columns.iter().map(|column| {
            let name = quote(Place::Postgres, &column.name);
            match types[&column.name].as_str() {
                "bytea" => format!("encode({name}, 'hex')"),
                // What is shown of a char(8) has its blanks, unlike what becomes of it as text.
                _ => format!(
                    "CASE WHEN {name} IS NOT NULL THEN encode(convert_to(format('%s', {name}), 'UTF8'), 'hex') END"
                ),
            }
        });
        let shown: Vec<_> = shown.collect();
        let settings = "SET timezone = 'UTC'; SET extra_float_digits = 3; SET intervalstyle = 'postgres'";
        let sql = format!("{settings}; SELECT id, {} FROM {table} ORDER BY id", shown.join(", "));
        let is_bytes = columns.iter().map(|column| types[&column.name] == "bytea").collect::<Vec<_>>();
        self.postgres.rows(&sql).iter().map(|line| of_hexadecimal(line, &is_bytes)).collect()
    }

    fn mariadb_rows(&self, table: &str, columns: &[&Column]) -> Vec<Vec<Option<String>>> {
        let types = self.types(&self.mariadb, "data_type", table);
        let is_bytes = |column: &&Column| {
            let declared = &types[&column.name];
            declared.ends_with("blob") || declared.ends_with("binary") || declared == "geometry"
        };
        let shown = columns.iter().map(|column| {
            let name = quote(Place::MariaDb, &column.name);
            match (types[&column.name].as_str(), column.means) {
                ("geometry", _) => format!("hex(ST_AsWKB({name}))"),
                _ if is_bytes(column) => format!("hex({name})"),
                // The bits of those that are shown so elsewhere.
                ("bit", Means::Text) => format!("hex(lpad(bin({name} + 0), 8, '0'))"),
                ("bit", _) => format!("hex(concat({name} + 0))"),
                // The number itself: what is shown of it is rounded.
                ("float", _) => format!("hex(concat({name} + 0e0))"),
                _ => format!("hex(CONVERT(concat({name}) USING utf8mb4))"),
            }
        });
        let shown: Vec<_> = shown.collect();
        let sql = format!("SET time_zone = '+00:00'; SELECT id, {} FROM {table} ORDER BY id", shown.join(", "));
        let bytes = columns.iter().map(is_bytes).collect::<Vec<_>>();
        let mut rows: Vec<_> = self.mariadb.rows(&sql).iter().map(|line| of_hexadecimal(line, &bytes)).collect();
        for (place, column) in columns.iter().enumerate().filter(|(_, column)| types[&column.name] == "float") {
            assert_eq!(column.means, Means::Float);
            for cell in rows.iter_mut().filter_map(|row| row[place + 1].as_mut()) {
                *cell = cell.parse::<f32>().unwrap().to_string();
            }
        }
        rows
    }

    /// The type of each column of a table, as the catalogue has it.
    fn types(&self, database: &Database, what: &str, table: &str) -> BTreeMap<String, String> {
        let sql = format!("SELECT column_name, {what} FROM information_schema.columns WHERE table_name = '{table}'");
        let mine = match std::ptr::eq(database, &self.mariadb) {
            true => format!("{sql} AND table_schema = database()"),
            false => sql,
        };
        let rows = database.rows(&mine);
        rows.iter().filter_map(|row| row.split_once('\t')).map(|(name, of)| (name.into(), of.into())).collect()
    }

    fn sqlite_rows(&self, table: &str, columns: &[&Column]) -> Vec<Vec<Option<String>>> {
        let names = columns.iter().map(|column| quote(Place::Sqlite, &column.name)).collect::<Vec<_>>();
        let connection = self.sqlite();
        let sql = format!("SELECT id, {} FROM {table} ORDER BY id", names.join(", "));
        let mut statement = connection.prepare(&sql).unwrap();
        let width = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let mut found = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let cell = |index| match row.get_ref(index).unwrap() {
                ValueRef::Null => None,
                ValueRef::Integer(number) => Some(number.to_string()),
                ValueRef::Real(real) => Some(format!("{real:?}")),
                ValueRef::Text(text) => Some(String::from_utf8(text.to_vec()).unwrap()),
                ValueRef::Blob(bytes) => Some(hexadecimal(bytes)),
            };
            found.push((0..width).map(cell).collect());
        }
        found
    }
}

/// Every value of these columns that a place has.
pub(super) fn values<'a>(columns: &[&'a Column], place: Place) -> Vec<(&'a Column, &'a Value)> {
    let of = |column: &&'a Column| {
        let column = *column;
        column.values.iter().filter(move |value| column.has(value, place)).map(move |value| (column, value))
    };
    columns.iter().flat_map(of).collect()
}

fn key(place: Place) -> &'static str {
    if place == Place::Sqlite { "INTEGER PRIMARY KEY" } else { "int PRIMARY KEY" }
}

fn quote(place: Place, name: &str) -> String {
    if place == Place::MariaDb { format!("`{name}`") } else { format!("\"{name}\"") }
}

/// A value as SQL.
fn literal(place: Place, column: &Column, value: &Value) -> String {
    let Some(text) = column.text(value, place) else { return "NULL".into() };
    if let Some(sql) = value.sql(place) {
        return sql.into();
    }
    match (place, column.means) {
        (Place::Postgres, Means::Bytes) => format!("'\\x{text}'"),
        (_, Means::Bytes) => format!("x'{text}'"),
        // The client would make something else of backslashes and line ends.
        (Place::MariaDb, Means::Text) => format!("CONVERT(x'{}' USING utf8mb4)", hexadecimal(text.as_bytes())),
        _ => format!("'{}'", text.replace('\'', "''")),
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The cells of a line: the first as it is, the others in hexadecimal digits, which stand for bytes or for a text.
fn of_hexadecimal(line: &str, is_bytes: &[bool]) -> Vec<Option<String>> {
    let mut cells = line.split('\t');
    let id = cells.next().map(String::from);
    let cell = |(cell, is_bytes): (&str, &bool)| match cell {
        "NULL" => None,
        cell if *is_bytes => Some(cell.to_lowercase()),
        cell => {
            let byte = |at: usize| u8::from_str_radix(&cell[at..at + 2], 16).unwrap();
            Some(String::from_utf8((0..cell.len()).step_by(2).map(byte).collect()).unwrap())
        }
    };
    [id].into_iter().chain(cells.zip(is_bytes).map(cell)).collect()
}
