//! Values: every one of a table of them goes between all systems, whatever the zones of process and servers, and arrives as it
//! was, or as the table says, or its record is dirty with the cell named. `docs/fidelity.md` is made of the same table.

mod canonical;
mod csv;
mod mixed;
mod page;
mod table;
mod world;

use transship_tests::{Job, Scratch, Value as Json};

use canonical::canonical;
use table::{Arrival, Column, Place, Value};
use world::{Cells, World, values};

/// The zone of the process, that of the databases of PostgreSQL, and that of the sessions of MariaDB: each time all differ.
const ZONES: [[&str; 3]; 4] = [
    ["UTC", "Asia/Shanghai", "-03:30"],
    ["Asia/Shanghai", "America/New_York", "+05:45"],
    ["America/New_York", "Asia/Kathmandu", "+08:00"],
    // Where summer time is half an hour.
    ["Australia/Lord_Howe", "UTC", "-05:00"],
];

/// Runs a job in a zone, and tells which rows were dirty, and why.
fn run(job: &Job, zone: &str) -> Vec<(i64, String)> {
    let scratch = Scratch::new();
    scratch.job("job.json", job);
    let run = scratch.transship(["run", "job.json", "--json"]).env("TZ", zone).run().succeeds();
    let dirty: Vec<(i64, String)> = scratch.dirty_records().iter().map(of_dirty).collect();
    let counts = &run.summary()["counts"];
    let told: u64 = ["dirty_at_reader", "dirty_at_writer"].map(|key| counts[key].as_u64().unwrap()).iter().sum();
    assert_eq!(told, dirty.len() as u64, "{counts}");
    dirty
}

fn of_dirty(record: &Json) -> (i64, String) {
    let id = &record["record"]["id"];
    let id = id.as_i64().or_else(|| id.as_str()?.parse().ok());
    let told = format!("column {}: {}", record["column"], record["cause"]);
    (id.unwrap_or_else(|| panic!("a dirty record without its key: {record}")), told)
}

/// What is wrong with the arrival of values.
struct Findings {
    way: String,
    wrong: Vec<String>,
}

impl Findings {
    /// Looks at what has become of each value.
    fn look(
        &mut self,
        source: &[(&Column, &Value)],
        cells: &Cells,
        dirty: &[(i64, String)],
        expected: impl Fn(&Column, &Value) -> Arrival,
        is_exact: impl Fn(&Column, &Value, Option<&str>) -> Result<(), String>,
    ) {
        for (column, value) in source {
            let arrival = expected(column, value);
            let cause = dirty.iter().find(|(id, _)| *id == value.id).map(|(_, cause)| cause.as_str());
            let found = cells.get(&value.id).map(|row| row[&column.name].as_deref());
            let problem = match (&arrival, found, cause) {
                (Arrival::Dirty(words), None, Some(cause)) if cause.contains(words.as_str()) => continue,
                (Arrival::Exact, Some(found), None) => match is_exact(column, value, found) {
                    Ok(()) => continue,
                    Err(problem) => problem,
                },
                (Arrival::Changed { is, .. }, Some(found), None) if same(column, is.as_deref(), found) => continue,
                _ => format!("found {found:?}, cause {cause:?}"),
            };
            self.wrong
                .push(format!("{}: {:?} ({:?}) must be {arrival:?}; {problem}", self.way, value.say, column.name));
        }
        // NULL stays NULL in all other columns.
        for (id, row) in cells {
            let values: Vec<_> = row.iter().filter(|(_, cell)| cell.is_some()).map(|(name, _)| name).collect();
            if values.len() > 1 {
                self.wrong.push(format!("{}: row {id} has values in {values:?}", self.way));
            }
        }
    }
}

fn same(column: &Column, one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => canonical(column.means, one) == canonical(column.means, other),
        (one, other) => one == other,
    }
}

/// Sends all values of a place to all places, into tables that are there and into such as the writer makes.
fn all_values_go_everywhere_from(from: Place) {
    let world = World::new();
    Place::ALL.iter().for_each(|place| world.fill(*place));
    let columns: Vec<&Column> = world.columns_of(from).collect();
    let source = values(&columns, from);
    let mut findings = Findings { way: String::new(), wrong: Vec::new() };
    for to in Place::ALL {
        // What the system itself makes of each value's own SQL is what it must hold.
        let native: Vec<&Column> = world.columns_of(to).collect();
        let held = match to {
            Place::Csv => Cells::new(),
            _ => world.cells(to, "source", &native),
        };
        let as_the_system_has_it = |column: &Column, value: &Value, found: Option<&str>| {
            let text = column.text(value, Place::Csv);
            let own = held.get(&value.id).map(|row| row[&column.name].as_deref());
            let expected = own.filter(|_| column.own_type(to).is_some()).unwrap_or(text.as_deref());
            // Within a system not even a zero may come or go.
            let is_strict = from == to && to != Place::Sqlite;
            let fits = if is_strict { expected == found } else { same(column, expected, found) };
            if fits { Ok(()) } else { Err(format!("expected {expected:?}, found {found:?}")) }
        };
        for (number, [zone, postgres_zone, mariadb_zone]) in ZONES.into_iter().enumerate() {
            let name = world.postgres.name();
            world.postgres.run(&format!("ALTER DATABASE {name} SET timezone = '{postgres_zone}'"));
            let reader = || world.reader(from, mariadb_zone);

            findings.way = format!("{} to {} in {zone}", from.name(), to.name());
            let target = format!("ready{number}");
            world.make(to, &target, columns.iter().copied());
            let dirty = run(&Job::new(reader(), world.writer(to, &target, from, false, mariadb_zone)), zone);
            let cells = world.cells(to, &target, &columns);
            let expected = |column: &Column, value: &Value| column.arrival(value, from, to);
            findings.look(&source, &cells, &dirty, expected, as_the_system_has_it);

            // What a new table is like does not depend on zones: two show it.
            if to == Place::Csv || number % 2 == 1 {
                continue;
            }
            findings.way = format!("{} to a new table of {} in {zone}", from.name(), to.name());
            let target = format!("new{number}");
            let dirty = run(&Job::new(reader(), world.writer(to, &target, from, true, mariadb_zone)), zone);
            let cells = world.cells(to, &target, &columns);
            let expected = |column: &Column, value: &Value| column.arrival_in_new_table(value, from, to);
            findings.look(&source, &cells, &dirty, expected, |column, value, found| {
                if same(column, value.is.as_deref(), found) { Ok(()) } else { Err(format!("found {found:?}")) }
            });
        }
    }
    findings.wrong.dedup();
    assert!(findings.wrong.is_empty(), "{} findings:\n{}", findings.wrong.len(), findings.wrong.join("\n"));
}

/// Traps 25, 26, 61.
#[test]
fn values_of_postgresql_arrive_everywhere() {
    all_values_go_everywhere_from(Place::Postgres);
}

#[test]
fn values_of_mariadb_arrive_everywhere() {
    all_values_go_everywhere_from(Place::MariaDb);
}

#[test]
fn values_of_sqlite_arrive_everywhere() {
    all_values_go_everywhere_from(Place::Sqlite);
}

#[test]
fn values_of_csv_files_arrive_everywhere() {
    all_values_go_everywhere_from(Place::Csv);
}

#[test]
fn the_page_says_what_the_table_says() {
    let table = table::read();
    let values = table.iter().map(|column| column.values.len()).sum::<usize>();
    assert!(values >= 120, "{values}");
    let text = page::text(&table);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return std::fs::write(page::path(), text).unwrap();
    }
    let found = std::fs::read_to_string(page::path()).unwrap_or_default();
    assert!(found == text, "docs/fidelity.md does not say what the table says (UPDATE_EXPECT=1 writes it)");
}
