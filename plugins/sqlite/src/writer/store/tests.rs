//! Tests of what is stored for a value.

use arrow_schema::{Field, TimeUnit};
use rusqlite::types::Value as Stored;
use transship_plugin_api::Params;

use super::*;
use crate::connection::words;

fn place(declared: &str) -> Place {
    let target = Target::declared(declared, false);
    Place {
        name: "c".into(),
        declared: declared.into(),
        target,
        meaning: Meaning::default(),
        numbers: false,
        empty_as_null: true,
        dates: None,
        formats: ColumnFormats::default(),
    }
}

/// What a job file says in `common.column`.
fn formats(column: serde_json::Value) -> ColumnFormats {
    let parameter = serde_json::json!({ "common": { "column": column } });
    ColumnFormats::read(&Params::new(&parameter, "parameter").unwrap()).unwrap()
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
    for declared in
        ["INTEGER", "REAL", "NUMERIC", "BOOLEAN", "TEXT", "BLOB", "DATE", "TIME", "STRING", "DECIMAL TEXT(20,2)"]
    {
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
    assert_eq!(store("YEAR", Value::Text("2024")), integer(2024));
    assert_eq!(store("BIT", Value::Text("true")), integer(1));
    assert_eq!(store("BIT(8)", Value::Int(200)), integer(200));
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
        ("BIT", Value::Text("nonsense")),
        ("BIT(1)", Value::Int(2)),
        ("YEAR", Value::Text("nonsense")),
        ("YEAR", Value::Date(0)),
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
    assert_eq!(store("BIT", Value::Text("")), Ok(Stored::Null));
    assert_eq!(store("YEAR", Value::Text("")), Ok(Stored::Null));
    assert_eq!(store("TEXT", Value::Text("")), text(""));
    assert_eq!(store("STRING", Value::Text("")), text(""));
    assert!(store("DATE", Value::Text("")).unwrap_err().ends_with("the text is empty, which is no date"));
    let kept = Place { empty_as_null: false, ..place("INTEGER") };
    assert!(stored(&kept, Value::Text(""), &mut String::new()).is_err());
}

#[test]
fn text_that_sqlite_would_turn_into_another_text_is_refused() {
    assert_eq!(store("STRING", Value::Text("42")), text("42"));
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
    // SQLite's functions know no years of more than four digits, but the text is the date, and is read again as it.
    assert_eq!(store("DATE", Value::Date(2_932_897)), text("10000-01-01"));
    assert_eq!(store("DATE", Value::Date(-735_160)), text("-0043-03-15"));
}

/// What the field says beyond its type.
#[test]
fn infinite_dates_are_words_and_uuids_have_hyphens() {
    use transship_plugin_api::fields::{UUID, with_infinity};
    let store = |field: Field, declared, value| {
        let place = Place { meaning: Meaning::of(&field), ..place(declared) };
        stored(&place, value, &mut String::new()).map(owned)
    };
    let dates = || with_infinity(Field::new("c", DataType::Date32, true));
    let moments = || with_infinity(Field::new("c", DataType::Timestamp(TimeUnit::Microsecond, None), true));
    for declared in ["DATE", "TEXT", "TIMESTAMP", "", "STRING"] {
        assert_eq!(store(dates(), declared, Value::Date(i32::MAX)), text("infinity"));
        assert_eq!(store(moments(), declared, Value::Timestamp(i64::MIN)), text("-infinity"));
    }
    assert!(store(dates(), "INTEGER", Value::Date(i32::MAX)).unwrap_err().ends_with("a date is no number"));
    for declared in ["DATE", "TIMESTAMP"] {
        assert_eq!(store(Field::new("c", DataType::Utf8, true), declared, Value::Text("infinity")), text("infinity"));
    }
    let uuids = || {
        let metadata = [("ARROW:extension:name".to_string(), UUID.to_string())];
        Field::new("c", DataType::FixedSizeBinary(16), true).with_metadata(metadata)
    };
    let bytes = [0x67; 16];
    for declared in ["TEXT", "CHAR(36)", "UUID"] {
        assert_eq!(store(uuids(), declared, Value::Bytes(&bytes)), text("67676767-6767-6767-6767-676767676767"));
    }
    assert_eq!(store(uuids(), "BLOB", Value::Bytes(&bytes)), Ok(Stored::Blob(bytes.to_vec())));
}

/// Trap 25.
#[test]
fn text_columns_take_dates_in_the_form_that_the_job_writes() {
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
}

/// Trap 63.
#[test]
fn a_column_of_dates_takes_dates_and_times_and_numbers_and_nothing_else() {
    for declared in ["DATE", "DATETIME", "TIMESTAMP(3)", "TIME", "TIMESTAMP WITH TIME ZONE"] {
        for kept in [
            "2024-02-29",
            "2024-2-9",
            "2024-02-29 10:00",
            "2024-02-29T10:00:00.123456",
            "2024-02-29 10:00:00.123456789+02:00",
            "23:59:59",
        ] {
            assert_eq!(store(declared, Value::Text(kept)), text(kept), "{declared}");
        }
        for wrong in ["nonsense", "", " ", "2024-02-30", "2024-02-29 25:00:00", "2024-02-29 or so", "1709164800", "now"]
        {
            let cause = store(declared, Value::Text(wrong)).unwrap_err();
            assert!(cause.starts_with(&format!("column \"c\" {declared} cannot store it: the text is ")), "{cause}");
        }
        for wrong in [Value::Bool(true), Value::Bytes(b"2024"), Value::Interval { months: 1, days: 0, nanos: 0 }] {
            assert!(store(declared, wrong).unwrap_err().ends_with(" is no date"), "{declared} {wrong:?}");
        }
        // Seconds since 1970, and days as SQLite's own functions count them.
        assert_eq!(store(declared, Value::Int(1_709_164_800)), integer(1_709_164_800));
        assert_eq!(store(declared, Value::Float64(2_460_370.5)), Ok(Stored::Real(2_460_370.5)));
        assert_eq!(number(declared, "1709164800"), integer(1_709_164_800));
        assert_eq!(store(declared, Value::Duration(36_000_000_000)), text("10:00:00"));
    }
    let cause = store("TIME", Value::Text("x")).unwrap_err();
    let wanted =
        "the text is no time like 23:59:59; other forms go into \"extraFormats\" of the job file's common.column";
    assert_eq!(cause, format!("column \"c\" TIME cannot store it: {wanted}"));
}

/// Trap 63.
#[test]
fn dates_in_the_forms_of_the_job_are_stored_in_the_form_that_sqlite_knows() {
    let store = |declared: &str, written: &str, column: serde_json::Value| {
        let place = Place { formats: formats(column), ..place(declared) };
        stored(&place, Value::Text(written), &mut String::new()).map(owned)
    };
    let ours = || serde_json::json!({ "dateFormat": "dd/MM/yyyy", "extraFormats": ["dd/MM/yyyy HH:mm", "HH'h'mm"] });
    assert_eq!(store("DATE", "29/02/2024", ours()), text("2024-02-29"));
    assert_eq!(store("DATETIME", "29/02/2024", ours()), text("2024-02-29 00:00:00"));
    assert_eq!(store("DATE", "29/02/2024 10:30", ours()), text("2024-02-29 10:30:00"));
    assert_eq!(store("TIME", "10h30", ours()), text("10:30:00"));
    assert_eq!(store("DATETIME", "2024-02-29T10:30", ours()), text("2024-02-29T10:30"));
    // The same digits are another day to the job, or to SQLite a number.
    assert_eq!(store("DATE", "2024-03-02", serde_json::json!({ "dateFormat": "yyyy-dd-MM" })), text("2024-02-03"));
    assert_eq!(store("DATE", "20240229", serde_json::json!({})), text("2024-02-29"));
    assert!(store("DATE", "20240229", ours()).is_err());
    let zoned = || serde_json::json!({ "datetimeFormat": "dd.MM.yyyy HH:mm XXX", "timeZone": "GMT+8" });
    assert_eq!(store("DATETIME", "29.02.2024 10:30 +00:00", zoned()), text("2024-02-29 18:30:00"));
    assert_eq!(store("TIMESTAMPTZ", "29.02.2024 10:30 +02:00", zoned()), text("2024-02-29 08:30:00Z"));
    assert!(store("DATE", "30/02/2024", ours()).is_err());
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
