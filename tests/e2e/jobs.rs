//! The job files in `jobs/`: each is run as it stands, and what it makes is compared with its data, value by value. The data
//! is read here by the `csv` crate, and by eye where a row is written out.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use rusqlite::types::Value as Stored;
use transship_tests::http::{Reply, Request, with_server};
use transship_tests::program::repository;
use transship_tests::records::{number, text};
use transship_tests::{Finished, Scratch, json, plugins};

/// The columns of the airports, and which of them are numbers.
const COLUMNS: [&str; 11] = ["icao", "iata", "name", "city", "subd", "country", "elevation", "lat", "lon", "tz", "lid"];
const NUMBERS: std::ops::Range<usize> = 6..9;

/// A folder that looks like the root of the repository to a job, so that its `out/` is not touched.
fn root() -> Scratch {
    let scratch = Scratch::new();
    for folder in ["jobs", "plugin-api"] {
        let link = scratch.path(folder);
        std::os::unix::fs::symlink(repository().join(folder), link).expect("a link can be made");
    }
    scratch
}

fn run(scratch: &Scratch, job: &str) -> Finished {
    scratch.transship(["run", &format!("jobs/{job}.json"), "--json"]).run().succeeds()
}

/// The records of a CSV file, the header first.
fn csv_records(path: &Path) -> Vec<Vec<String>> {
    let reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).expect("the file is there");
    let records = reader.into_records().map(|record| record.expect("it is CSV"));
    records.map(|record| record.iter().map(String::from).collect()).collect()
}

/// The records of the CSV files in a folder, without their headers, which are those of the airports.
fn records_in(scratch: &Scratch, folder: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for file in files_in(scratch, folder) {
        let mut records = csv_records(&scratch.path(file));
        assert_eq!(records.remove(0), COLUMNS);
        found.append(&mut records);
    }
    found
}

fn files_in(scratch: &Scratch, folder: &str) -> Vec<String> {
    scratch.files().into_iter().filter(|name| name.starts_with(folder)).collect()
}

/// The airports as their file has them.
fn airports() -> Vec<Vec<String>> {
    let mut airports = csv_records(&repository().join("jobs/data/airports.csv"));
    assert_eq!(airports.remove(0), COLUMNS);
    assert_eq!(airports.len(), 7884);
    airports
}

/// Every row of the table, in the order in which they were written.
fn table(scratch: &Scratch) -> Vec<Vec<Stored>> {
    let read = || -> rusqlite::Result<Vec<Vec<Stored>>> {
        let database = database(scratch);
        let mut rows = database.prepare("select * from airports order by rowid")?;
        assert_eq!(rows.column_names().collect::<Vec<_>>(), COLUMNS);
        rows.query_map([], |row| (0..COLUMNS.len()).map(|column| row.get(column)).collect())?.collect()
    };
    read().expect("the table can be read")
}

/// The first value that a query yields.
fn query<T: rusqlite::types::FromSql>(scratch: &Scratch, sql: &str) -> T {
    database(scratch).query_row(sql, [], |row| row.get(0)).expect("the query yields a value of this type")
}

fn database(scratch: &Scratch) -> Connection {
    Connection::open(scratch.path("out/airports.db")).expect("the database can be opened")
}

/// What the table is to hold for a field of the file.
fn stored(column: usize, field: &str) -> Stored {
    match field {
        "" => Stored::Null,
        field if NUMBERS.contains(&column) => match field.parse::<f64>().expect("it is a number") {
            whole if whole.fract() == 0.0 => Stored::Integer(whole as i64),
            number => Stored::Real(number),
        },
        field => Stored::Text(field.into()),
    }
}

fn airport<'a>(airports: &'a [Vec<String>], iata: &str) -> &'a [String] {
    airports.iter().find(|airport| airport[1] == iata).expect("there is such an airport")
}

#[test]
fn the_quick_start_fills_a_table_with_every_field_of_the_file() {
    let scratch = root();
    let summary = run(&scratch, "quick-start").summary();
    assert_eq!(["read", "written"].map(|count| number(&summary, &format!("/counts/{count}"))), [7884, 7884]);

    let (airports, table) = (airports(), table(&scratch));
    assert_eq!(table.len(), airports.len());
    for (airport, row) in airports.iter().zip(&table) {
        let expected: Vec<Stored> = airport.iter().enumerate().map(|(column, field)| stored(column, field)).collect();
        assert_eq!(*row, expected);
    }
}

#[test]
fn the_quick_start_keeps_quotes_commas_letters_empty_fields_and_sums() {
    let scratch = root();
    run(&scratch, "quick-start");
    let name: String = query(&scratch, "select name from airports where iata = 'PAQ'");
    assert_eq!(name, r#"Warren "Bud" Woods Palmer Municipal Airport"#);
    let city: String = query(&scratch, "select city from airports where iata = 'IST'");
    assert_eq!(city, "Arnavutköy, Istanbul");
    let region: String = query(&scratch, "select subd from airports where iata = 'HAS'");
    assert_eq!(region, "Ḩaʼil");
    let nothing: Option<String> = query(&scratch, "select city from airports where iata = 'HAS'");
    assert_eq!(nothing, None);
    let counts = ["city is null", "subd is null", "lid is null", "name like '%,%' or city like '%,%'"];
    let counts = counts.map(|what| query::<i64>(&scratch, &format!("select count(*) from airports where {what}")));
    assert_eq!(counts, [816, 341, 5913, 70]);
    let hundredths: i64 = query(&scratch, "select sum(cast(round(elevation * 100) as integer)) from airports");
    assert_eq!(hundredths, 868_747_584);
    let highest = "select group_concat(iata) from (select iata from airports order by elevation desc limit 3)";
    assert_eq!(query::<String>(&scratch, highest), "DCY,BPX,DDR");
}

#[test]
fn the_quick_start_run_twice_leaves_what_it_left_before() {
    let scratch = root();
    run(&scratch, "quick-start");
    let before = table(&scratch);
    run(&scratch, "quick-start");
    assert_eq!(table(&scratch), before);
    assert_eq!(before.len(), 7884);
    assert_eq!(files_in(&scratch, "out"), ["out/airports.db"]);
}

#[test]
fn the_way_back_from_the_table_gives_the_file_again() {
    let scratch = root();
    run(&scratch, "quick-start");
    // Twice: the second run replaces what the first made.
    for _ in 0..2 {
        run(&scratch, "sqlite-to-csv");
        let files = files_in(&scratch, "out/airports-csv/");
        assert!(matches!(&files[..], [file] if file.ends_with(".csv")), "{files:?}");
        let (airports, copies) = (airports(), records_in(&scratch, "out/airports-csv/"));
        assert_eq!(copies.len(), airports.len());
        for (airport, copy) in airports.iter().zip(&copies) {
            // A table does not keep how a number was written: 53.0 is 53 there.
            let same = |column: usize| stored(column, &airport[column]) == stored(column, &copy[column]);
            assert!((0..COLUMNS.len()).all(same), "{airport:?} became {copy:?}");
        }
        assert_eq!(airport(&copies, "PAQ"), airport(&airports, "PAQ"));
    }
}

#[test]
fn a_file_read_in_pieces_is_all_there() {
    let scratch = root();
    let summary = run(&scratch, "split-large-file").summary();
    let files = files_in(&scratch, "out/airports-parts/");
    assert_eq!(files.len(), summary["tasks"].as_array().unwrap().len());
    assert!(files.len() > 4, "{files:?}");
    let (mut expected, mut found) = (airports(), records_in(&scratch, "out/airports-parts/"));
    expected.sort();
    found.sort();
    assert!(found == expected, "the pieces hold {} records, the file {}", found.len(), expected.len());
}

#[test]
fn made_up_records_are_printed_as_the_job_describes_them() {
    let scratch = root();
    let run = scratch.transship(["run", "jobs/stream-to-stream.json"]).run().succeeds();
    let mut ids = BTreeSet::new();
    for line in run.stdout.lines() {
        let [id, greeting, letters, amount, day, is_new] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not six columns: {line}");
        };
        assert!(ids.insert(id.parse::<u32>().unwrap()), "{line}");
        assert_eq!(greeting, "hello", "{line}");
        assert!((3..=8).contains(&letters.len()) && letters.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{line}");
        assert!((0.0..100.0).contains(&amount.parse::<f64>().unwrap()), "{line}");
        // Moments are made to the millisecond and shown as finely as they are.
        assert!(day.starts_with("2024-") && ("2024-01-01 00:00:00".len()..24).contains(&day.len()), "{line}");
        assert!(["true", "false"].contains(&is_new), "{line}");
    }
    assert_eq!(ids.into_iter().collect::<Vec<_>>(), (1..=10).collect::<Vec<_>>(), "{run}");
}

#[test]
fn records_are_filtered_and_changed_on_the_way_and_a_variable_says_which() {
    let scratch = root();
    let job = "jobs/transform-and-variables.json";
    let run = scratch.transship(["run", job, "-D", "country=IS"]).run().succeeds();
    assert_eq!(
        run.stdout, "BLO Blönduós.. IS 131\nKEF Reykjavik. IS 171\nMVA Reykjahlíð IS 1030\nVEY Vestmannae IS 326\n",
        "{run}"
    );
    run.says(["read 7884 + added 0 = written 4 + filtered 7880"]).does_not_say(["warning"]);
    let luxembourg = scratch.transship(["run", job, "-p", "-Dcountry=LU"]).run().succeeds();
    assert_eq!(luxembourg.stdout, "LUX Luxembourg LU 1234\n", "{luxembourg}");
}

#[test]
fn dirty_rows_are_kept_with_file_and_line_and_the_others_pass() {
    let scratch = root();
    let run = scratch.transship(["run", "jobs/dirty-rows.json"]).run().succeeds();
    let good = [
        "1001 | Ada | tea, green | 2 | 4.50 | 2024-03-01 00:00:00",
        "1002 | Björn | coffee | 1 | 12.00 | 2024-03-01 00:00:00",
        "1004 | Dmitri | cup \"Tsar\" | 6 | 7.25 | 2024-03-02 00:00:00",
        "1005 | Eve | sieve | 1 | 0.99 | 2024-03-03 00:00:00",
        "1009 | Inès | milk | 2 | null | 2024-03-04 00:00:00",
        "1011 | Kofi | tea, white | 1 | 11.75 | 2024-03-06 00:00:00",
        "1012 | Lena | filter | 100 | 0.05 | 2024-03-06 00:00:00",
    ];
    assert_eq!(run.stdout.lines().collect::<Vec<_>>(), good, "{run}");

    let dirty = scratch.dirty_records();
    let planted = [
        (4, "quantity", json!("one"), "1003,Chloé,\"teapot\nfor two\",one,31.90,2024-03-02"),
        (8, "ordered", json!("2024-02-30"), "1006,Farid,kettle,1,49.99,2024-02-30"),
        (9, "price", json!(null), "1007,Grace,\"tea, black\",3"),
        (10, "price", json!("1.5.0"), "1008,Håkon,sugar,10,1.5.0,2024-03-04"),
        (12, "order", json!("10l0"), "10l0,Jun,honey,1,8.40,2024-03-05"),
    ];
    assert_eq!(dirty.len(), planted.len(), "{run}");
    for (found, (line, column, value, record)) in dirty.iter().zip(planted) {
        assert_eq!(text(found, "/source/file"), "jobs/data/shop-orders.csv", "{found}");
        assert_eq!(number(found, "/source/line"), line, "{found}");
        assert_eq!((text(found, "/column"), &found["value"]), (column, &value), "{found}");
        assert_eq!(text(found, "/record"), record);
        assert!(!text(found, "/cause").is_empty(), "{found}");
    }
    let shown = format!("\"cause\": {}", dirty[1]["cause"]);
    assert!(scratch.read("jobs/README.md").contains(&shown), "the README shows another cause than {shown}");
}

#[test]
fn one_dirty_row_more_than_the_job_allows_fails_it() {
    let scratch = root();
    let job = scratch.read("jobs/dirty-rows.json").replace(r#""record": 5"#, r#""record": 4"#);
    scratch.write("stricter.json", job);
    scratch.transship(["run", "stricter.json"]).run().fails_with(6);
}

#[test]
fn the_kata_loses_nothing_and_handles_nothing_twice_or_out_of_order() {
    let scratch = root();
    // The writer itself fails the job if the order of a client is broken, or an event comes twice.
    let summary = run(&scratch, "kata").summary();
    let count = |name: &str| number(&summary, &format!("/counts/{name}"));
    assert_eq!(count("written"), 5_000);
    assert_eq!(count("read"), count("written") + count("duplicates"));
    assert!((20..=90).contains(&count("duplicates")), "{summary}");
}

#[test]
fn flights_get_the_cities_of_their_airports_from_a_database() {
    let scratch = root();
    run(&scratch, "quick-start");
    run(&scratch, "enrich-from-sqlite");
    let files = files_in(&scratch, "out/flights/");
    let mut records = csv_records(&scratch.path(&files[0]));
    let columns = ["flight", "day", "origin", "destination", "from_city", "from_country", "to_city", "to_country"];
    assert_eq!(records.remove(0), columns);
    let flights = csv_records(&repository().join("jobs/data/flights.csv"));
    assert_eq!(records.len(), flights.len() - 1);
    let airports = airports();
    let city = |iata: &str| match airports.iter().find(|airport| airport[1] == iata && !iata.is_empty()) {
        Some(airport) => [airport[3].clone(), airport[5].clone()],
        None => [String::new(), String::new()],
    };
    for (flight, record) in flights[1..].iter().zip(&records) {
        let expected = [flight.clone(), city(&flight[2]).to_vec(), city(&flight[3]).to_vec()].concat();
        assert_eq!(*record, expected);
    }
}

#[test]
fn records_are_completed_by_a_service_whose_answers_are_remembered() {
    let scratch = root();
    let answer = |request: &Request| match request.path().strip_prefix("/countries/") {
        Some("IS") => Reply::ok(r#"{"capital": "Reykjavík", "population": 389444}"#),
        Some("US") => Reply::ok(r#"{"capital": "Washington"}"#),
        _ => Reply::new(404, ""),
    };
    with_server(answer, |server| {
        let service = format!("-Dservice={}", server.url().replace("http://", ""));
        scratch.transship(["run", "jobs/enrich-from-http.json", service.as_str()]).run().succeeds();
        let asked = server.requests();
        let countries: BTreeSet<&str> = asked.iter().map(|request| request.path()).collect();
        assert_eq!(countries.len(), 233);
        assert!(asked.len() < airports().len(), "nothing is remembered: {} requests", asked.len());
    });
    let files = files_in(&scratch, "out/airports-with-capitals/");
    let mut records = csv_records(&scratch.path(&files[0]));
    assert_eq!(records.remove(0), ["iata", "country", "capital", "population"]);
    let airports = airports();
    assert_eq!(records.len(), airports.len());
    for (airport, record) in airports.iter().zip(&records) {
        let known = match airport[5].as_str() {
            "IS" => ["Reykjavík", "389444"],
            "US" => ["Washington", ""],
            _ => ["", ""],
        };
        assert_eq!(record[..], [airport[1].as_str(), airport[5].as_str(), known[0], known[1]]);
    }
}

#[test]
fn a_plugin_in_c_is_loaded_from_its_path() {
    let scratch = root();
    scratch.write(
        "out/libtransship_minimal.so",
        std::fs::read(plugins::minimal().join("libtransship_minimal.so")).unwrap(),
    );
    let run = scratch.transship(["run", "jobs/custom-plugin.json"]).run().succeeds();
    let printed: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(printed, ["0\tname 0", "1\tname 1", "2\tnull", "3\tname 3", "4\tname 4", "5\tnull"], "{run}");
}

#[test]
fn the_readme_builds_the_plugin_where_the_job_looks_for_it() {
    let scratch = root();
    let readme = scratch.read("jobs/README.md");
    let commands: Vec<&str> =
        readme.lines().filter(|line| line.starts_with("mkdir ") || line.starts_with("cc ")).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for command in commands {
        assert!(Command::new("sh").args(["-c", command]).current_dir(scratch.folder()).status().unwrap().success());
    }
    scratch.transship(["run", "jobs/custom-plugin.json"]).run().succeeds();
}

#[test]
fn the_readme_lists_every_job() {
    let readme = std::fs::read_to_string(repository().join("jobs/README.md")).unwrap();
    let listed: BTreeSet<String> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| [")?.split_once(']').map(|(name, _)| name.to_string()))
        .collect();
    let files = std::fs::read_dir(repository().join("jobs")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
    assert_eq!(listed, names.filter(|name| name.ends_with(".json")).collect::<BTreeSet<_>>());
}

#[test]
fn several_tables_run_beside_each_other() {
    let scratch = root();
    let run = scratch.transship(["run", "jobs/several-tables.json", "--json"]).run().succeeds();
    let written: Vec<_> = run.summaries().iter().map(|summary| number(&summary["counts"], "/written")).collect();
    let flights = csv_records(&repository().join("jobs/data/flights.csv")).len() as u64 - 1;
    assert_eq!(written, [2_000_000, flights, airports().len() as u64]);
    let mut ended: Vec<_> = run.summaries().iter().map(|summary| text(summary, "/ended").to_string()).collect();
    let large = ended.remove(0);
    assert!(ended.iter().all(|ended| *ended <= large), "the small ones are not done before the large one: {run}");
}
