//! Tests of what is stored for a value.

use arrow_schema::TimeUnit;
use rusqlite::types::Value as Stored;
use transship_plugin_api::Params;

use super::*;
use crate::connection::words;

fn place(declared: &str) -> Place {
    let target = Target::declared(declared, false);
    Place { name: "c".into(), declared: declared.into(), target, numbers: false, empty_as_null: true, dates: None }
}

fn owned(value: ValueRef<'_>) -> Stored {
    Stored::try_from(value).unwrap()
}

fn store(declared: &str, value: Value<'_>) -> Result<Stored, Cause> {
    stored(&place(declared), value, &mut String::new()).map(owned)
}

fn number(declared: &str, text: &str) -> Result<Stored, Cause> {
    let place = Place { numbers: true, ..place(declared) };
    stored(&place, Value::Text(text), &mut String::new()).map(owned)
}

fn text(text: &str) -> Result<Stored, Cause> {
    Ok(Stored::Text(text.into()))
}

fn integer(number: i64) -> Result<Stored, Cause> {
    Ok(Stored::Integer(number))
}

/// Whatever is stored must be what SQLite gives back from a column of that type: as it is, or as the same number.
#[test]
fn what_is_stored_comes_back() {
    let values = [
        Value::Null,
        Value::Bool(true),
        Value::Int(0),
        Value::Int(i64::MIN),
        Value::Int((1 << 53) + 1),
        Value::UInt(u64::MAX),
        Value::Float64(0.1),
        Value::Float64(12.0),
        Value::Float64(f64::INFINITY),
        Value::Float64(f64::NAN),
        Value::Float64(1e300),
        Value::Float32(0.1),
        Value::Decimal { value: 1250, scale: 2 },
        Value::Decimal { value: 9_999_999_999_999_999, scale: 2 },
        Value::Text(""),
        Value::Text("007"),
        Value::Text("1e5"),
        Value::Text(" 12 "),
        Value::Text("99999999999999.99"),
        Value::Text("0x10"),
        Value::Text("a\0b"),
        Value::Text("Infinity"),
        Value::Text("infinity"),
        Value::Text("NaN"),
        Value::Bytes(b""),
        Value::Bytes(b"\xff\0"),
        Value::Date(19_782),
        Value::Timestamp(1),
        Value::Instant(-1),
        Value::Time(1),
        Value::Duration(-1),
        Value::Interval { months: 1, days: 2, nanos: 3 },
    ];
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    for declared in ["INTEGER", "REAL", "NUMERIC", "BOOLEAN", "TEXT", "BLOB", "DATE", "STRING", "DECIMAL TEXT(20,2)"] {
        connection.execute_batch(&format!("DROP TABLE IF EXISTS t; CREATE TABLE t (c {declared})")).unwrap();
        for value in values {
            for numbers in [false, matches!(value, Value::Text(text) if number::is_number(text))] {
                let place = Place { numbers, ..place(declared) };
                let mut scratch = String::new();
                let Ok(stored) = stored(&place, value, &mut scratch) else { continue };
                let stored = owned(stored);
                connection.execute("DELETE FROM t", []).unwrap();
                connection
                    .execute("INSERT INTO t VALUES (?)", [&stored])
                    .unwrap_or_else(|error| panic!("{}", words(&error)));
                let back: Stored = connection.query_row("SELECT c FROM t", [], |row| row.get(0)).unwrap();
                let same = match (&stored, &back) {
                    (Stored::Integer(number), Stored::Real(real)) | (Stored::Real(real), Stored::Integer(number)) => {
                        number::exact_integer(*real) == Some(*number)
                    }
                    (Stored::Text(text), Stored::Integer(number)) => *text == number.to_string(),
                    (Stored::Text(text), Stored::Real(real)) => *text == format!("{real:?}"),
                    (stored, back) => stored == back,
                };
                assert!(same, "{value:?} was stored into {declared} as {stored:?} and came back as {back:?}");
            }
        }
    }
}

/// Traps 32, 62.
#[test]
fn numbers_are_stored_as_numbers_or_refused() {
    assert_eq!(store("INTEGER", Value::Text("12")), integer(12));
    assert_eq!(store("INTEGER", Value::Text(" 12.0 ")), integer(12));
    assert_eq!(store("INTEGER", Value::Text("1.5")), Ok(Stored::Real(1.5)));
    assert_eq!(store("REAL", Value::Int(3)), Ok(Stored::Real(3.0)));
    assert_eq!(number("NUMERIC", "12.50"), Ok(Stored::Real(12.5)));
    assert_eq!(number("DECIMAL TEXT(38, 10)", "12.50"), text("12.50"));
    assert_eq!(number("", "12.50"), Ok(Stored::Real(12.5)));
    assert_eq!(number("", "99999999999999.99"), text("99999999999999.99"));
    assert_eq!(store("", Value::Text("12.50")), text("12.50"));
    for (declared, value) in [
        ("INTEGER", Value::Text("abc")),
        ("INTEGER", Value::Date(0)),
        ("INTEGER", Value::Bytes(b"1")),
        ("INTEGER", Value::UInt(u64::MAX)),
        ("REAL", Value::Int((1 << 53) + 1)),
        ("REAL", Value::Float64(f64::NAN)),
        ("NUMERIC", Value::Decimal { value: 9_999_999_999_999_999, scale: 2 }),
        ("BOOLEAN", Value::Int(2)),
        ("BOOLEAN", Value::Text("yes")),
    ] {
        let cause = store(declared, value).unwrap_err();
        assert!(cause.starts_with(&format!("column \"c\" {declared} cannot store it: ")), "{cause}");
    }
}

/// Trap 33.
#[test]
fn the_cause_says_what_is_wrong_with_a_number() {
    for (text, problem) in [
        ("1e400", "it is out of the range of SQLite's numbers; a TEXT column would keep it"),
        ("-1e400", "it is out of the range"),
        ("1e-400", "it is out of the range"),
        ("99999999999999.99", "it has more digits than a number of SQLite keeps"),
        ("NaN", "SQLite has no NaN and would store NULL"),
        ("abc", "the text is no number"),
    ] {
        for declared in ["INTEGER", "REAL", "NUMERIC"] {
            let cause = store(declared, Value::Text(text)).unwrap_err();
            assert!(cause.starts_with(&format!("column \"c\" {declared} cannot store it: {problem}")), "{cause}");
        }
    }
    let cause = store("STRING", Value::Text("1e400")).unwrap_err();
    assert!(cause.ends_with("SQLite would make infinity or zero of it"), "{cause}");
}

/// Traps 29, 64.
#[test]
fn an_empty_text_for_a_number_is_null_unless_the_job_says_otherwise() {
    assert_eq!(store("INTEGER", Value::Text("")), Ok(Stored::Null));
    assert_eq!(store("BOOLEAN", Value::Text("")), Ok(Stored::Null));
    assert_eq!(store("TEXT", Value::Text("")), text(""));
    assert_eq!(store("DATE", Value::Text("")), text(""));
    let kept = Place { empty_as_null: false, ..place("INTEGER") };
    assert!(stored(&kept, Value::Text(""), &mut String::new()).is_err());
}

#[test]
fn text_that_sqlite_would_turn_into_another_text_is_refused() {
    assert_eq!(store("STRING", Value::Text("42")), text("42"));
    assert_eq!(store("DATE", Value::Text("2024-02-29")), text("2024-02-29"));
    assert_eq!(store("STRING", Value::Text("NaN")), text("NaN"));
    assert_eq!(store("STRING", Value::Text("infinity")), text("infinity"));
    for changed in ["042", "1e5", "4.20", " 42", "12345678901234567890"] {
        let cause = store("STRING", Value::Text(changed)).unwrap_err();
        assert!(cause.contains("SQLite would make"), "{changed}: {cause}");
    }
}

/// Trap 34.
#[test]
fn a_null_is_null_in_every_column() {
    for declared in ["INTEGER", "REAL", "NUMERIC", "BOOLEAN", "TEXT", "BLOB", "DATE", "STRING"] {
        assert_eq!(store(declared, Value::Null), Ok(Stored::Null), "{declared}");
    }
}

#[test]
fn dates_and_times_are_written_as_sqlite_writes_them() {
    assert_eq!(store("DATE", Value::Date(19_782)), text("2024-02-29"));
    assert_eq!(store("TEXT", Value::Timestamp(0)), text("1970-01-01 00:00:00"));
    assert_eq!(store("DATETIME", Value::Timestamp(1_500_000)), text("1970-01-01 00:00:01.5"));
    assert_eq!(store("TEXT", Value::Instant(0)), text("1970-01-01 00:00:00Z"));
    assert_eq!(store("TIME", Value::Time(3_600_000_000)), text("01:00:00"));
    assert_eq!(store("TEXT", Value::Duration(90_000_000_000)), text("25:00:00"));
    for beyond in [Value::Date(i32::MAX), Value::Date(-1_000_000), Value::Timestamp(i64::MAX)] {
        assert!(store("DATE", beyond).unwrap_err().contains("the year is not between"), "{beyond:?}");
    }
}

/// Trap 25.
#[test]
fn text_columns_take_dates_in_the_form_that_the_job_writes() {
    let formats = |column: serde_json::Value| {
        let parameter = serde_json::json!({ "common": { "column": column } });
        ColumnFormats::read(&Params::new(&parameter, "parameter").unwrap()).unwrap()
    };
    let store = |column, declared, value, zone: Option<&str>| {
        let field = Field::new("c", DataType::Timestamp(TimeUnit::Microsecond, zone.map(Into::into)), true);
        let place = place(declared);
        let dates = Dates::of(&formats(column), &field, declared, place.target);
        stored(&Place { dates, ..place }, value, &mut String::new()).map(owned)
    };
    let written = || serde_json::json!({ "datetimeFormat": "dd/MM/yyyy HH:mm", "dateFormat": "d.M.yyyy" });
    let zone = || serde_json::json!({ "timeZone": "GMT+8" });
    assert_eq!(store(written(), "TEXT", Value::Timestamp(0), None), text("01/01/1970 00:00"));
    assert_eq!(store(written(), "VARCHAR(20)", Value::Date(19_782), None), text("29.2.2024"));
    assert_eq!(store(written(), "TIMESTAMP", Value::Timestamp(0), None), text("1970-01-01 00:00:00"));
    assert_eq!(store(written(), "DATE", Value::Date(19_782), None), text("2024-02-29"));
    assert_eq!(store(zone(), "TEXT", Value::Instant(0), Some("UTC")), text("1970-01-01 08:00:00"));
    assert_eq!(store(zone(), "TIMESTAMP", Value::Instant(0), Some("UTC")), text("1970-01-01 08:00:00"));
    assert_eq!(store(zone(), "TIMESTAMPTZ", Value::Instant(0), Some("UTC")), text("1970-01-01 00:00:00Z"));
    assert_eq!(store(zone(), "TIMESTAMP", Value::Timestamp(0), None), text("1970-01-01 00:00:00"));
    assert_eq!(store(serde_json::json!({}), "TEXT", Value::Instant(0), Some("UTC")), text("1970-01-01 00:00:00Z"));
    assert!(store(zone(), "TIMESTAMP", Value::Instant(i64::MAX), Some("UTC")).unwrap_err().contains("the year"));
}

/// Traps 31, 32, 35.
#[test]
fn values_in_text_columns_are_written_out() {
    assert_eq!(store("TEXT", Value::Bool(false)), text("false"));
    assert_eq!(store("TEXT", Value::Int(-7)), text("-7"));
    assert_eq!(store("TEXT", Value::UInt(u64::MAX)), text("18446744073709551615"));
    assert_eq!(store("TEXT", Value::Float64(7.0)), text("7.0"));
    assert_eq!(store("TEXT", Value::Float64(f64::NAN)), text("NaN"));
    assert_eq!(store("TEXT", Value::Float32(0.1)), text("0.1"));
    assert_eq!(store("TEXT", Value::Decimal { value: 1250, scale: 2 }), text("12.50"));
    assert_eq!(store("TEXT", Value::Bytes(b"\xff")), Ok(Stored::Blob(vec![0xff])));
}
