//! Tests of the module above: what each column takes, and that it comes back.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int32Array,
    Int64Array, StringArray,
};
use arrow_schema::{DataType, Field};
use proptest::prelude::*;
use transship_plugin_api::ColumnFormats;
use transship_plugin_api::fields::INFINITY_KEY;
use transship_plugin_api::row::{Column, cell_to_text};

use super::*;
use crate::binary::EPOCH_MICROS;
use crate::binary::columns::ColumnInTheMaking;
use crate::table;
use crate::types::{Kind, ServerType, oid};

fn server_type(oid: u32, modifier: i32) -> ServerType {
    ServerType { oid, modifier, name: "a type".into() }
}

fn place(oid: u32, modifier: i32) -> Place {
    let column = table::Column {
        name: "a".into(),
        server_type: server_type(oid, modifier),
        generated: false,
        identity_always: false,
        not_null: false,
    };
    let metadata = std::collections::HashMap::from([(INFINITY_KEY.to_string(), "true".to_string())]);
    let field = Field::new("a", DataType::Utf8, true).with_metadata(metadata);
    Place::new(&column, &field, &ColumnFormats::default(), true, false)
}

/// The cell for a value; `None` is NULL.
fn cell(place: &Place, value: Value<'_>) -> Result<Option<Vec<u8>>, Refusal> {
    let mut out = Vec::new();
    put(place, value, &mut out, &mut String::new())?;
    let length = i32::from_be_bytes(out[..4].try_into().unwrap());
    if length < 0 {
        assert_eq!(out.len(), 4);
        return Ok(None);
    }
    assert_eq!(length as usize, out.len() - 4);
    Ok(Some(out.split_off(4)))
}

/// What the reader makes of the cells that the writer made of a column.
fn round_trip(oid: u32, modifier: i32, array: &ArrayRef) -> ArrayRef {
    let place = place(oid, modifier);
    let mut column = ColumnInTheMaking::new(Kind::of(&server_type(oid, modifier)), array.len());
    let values = Column::new(array.as_ref());
    for row in 0..array.len() {
        column.push(cell(&place, values.get(row)).unwrap().as_deref()).unwrap();
    }
    column.finish().unwrap()
}

/// What the server would be sent for a text, as text; the refusal's words otherwise.
fn taken(oid: u32, modifier: i32, text: &str) -> String {
    match cell(&place(oid, modifier), Value::Text(text)) {
        Ok(None) => "NULL".into(),
        Ok(Some(cell)) => {
            let mut column = ColumnInTheMaking::new(Kind::of(&server_type(oid, modifier)), 1);
            column.push(Some(&cell)).unwrap();
            cell_to_text(column.finish().unwrap().as_ref(), 0).unwrap()
        }
        Err(Refusal::Dirty(cause)) => format!("dirty: {cause}"),
        Err(Refusal::Unread) => "the server's".into(),
    }
}

fn assert_dirty(oid: u32, modifier: i32, value: Value<'_>) {
    let outcome = cell(&place(oid, modifier), value);
    assert!(matches!(outcome, Err(Refusal::Dirty(_))), "{value:?} gives {outcome:?}");
}

#[test]
fn columns_come_back_as_they_went() {
    let numeric_15_2 = ((15 << 16) | 2) + 4;
    let cases: Vec<(u32, i32, ArrayRef)> = vec![
        (oid::BOOL, -1, Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        (oid::INT4, -1, Arc::new(Int32Array::from(vec![Some(i32::MIN), None, Some(i32::MAX)]))),
        (oid::INT8, -1, Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(i64::MAX)]))),
        (oid::FLOAT4, -1, Arc::new(Float32Array::from(vec![Some(0.1), None, Some(f32::INFINITY), Some(-0.0)]))),
        (oid::FLOAT8, -1, Arc::new(Float64Array::from(vec![Some(0.1), None, Some(5e-324), Some(1e300)]))),
        (oid::NUMERIC, numeric_15_2, {
            let decimals = Decimal128Array::from(vec![Some(99_999_999_999_999), None, Some(-1), Some(0)]);
            Arc::new(decimals.with_precision_and_scale(15, 2).unwrap())
        }),
        (oid::TEXT, -1, Arc::new(StringArray::from(vec![Some("ä😀"), None, Some("")]))),
        (oid::BYTEA, -1, Arc::new(BinaryArray::from(vec![Some(&b"\0\xff\x10"[..]), None, Some(b"")]))),
        (
            oid::DATE,
            -1,
            Arc::new(Date32Array::from(vec![Some(0), None, Some(i32::MAX), Some(i32::MIN), Some(-735_160)])),
        ),
        (oid::JSONB, -1, Arc::new(StringArray::from(vec![Some("{\"a\":1.10}"), None]))),
    ];
    for (oid, modifier, array) in cases {
        assert_eq!(&round_trip(oid, modifier, &array), &array, "type {oid}");
    }
}

#[test]
fn numbers_are_never_cut_or_rounded() {
    assert_dirty(oid::INT2, -1, Value::Int(40_000));
    assert_dirty(oid::INT4, -1, Value::UInt(u64::MAX));
    assert_dirty(oid::INT4, -1, Value::Float64(1.5));
    assert_dirty(oid::INT8, -1, Value::Decimal { value: 15, scale: 1 });
    assert_dirty(oid::FLOAT8, -1, Value::Int((1 << 53) + 1));
    assert_dirty(oid::FLOAT8, -1, Value::Text("9007199254740993"));
    assert_dirty(oid::FLOAT4, -1, Value::Text("16777217"));
    assert_dirty(oid::FLOAT4, -1, Value::Float64(1e300));
    assert_dirty(oid::FLOAT8, -1, Value::Text("1e400"));
    let numeric_5_2 = ((5 << 16) | 2) + 4;
    assert_dirty(oid::NUMERIC, numeric_5_2, Value::Text("1.005"));
    assert_dirty(oid::NUMERIC, numeric_5_2, Value::Decimal { value: 1_005, scale: 3 });
    assert_dirty(oid::NUMERIC, numeric_5_2, Value::Int(1_000));
    assert_eq!(taken(oid::NUMERIC, numeric_5_2, "999.99"), "999.99");
    assert_eq!(taken(oid::NUMERIC, numeric_5_2, "1.500"), "1.50");
    assert_eq!(taken(oid::FLOAT8, -1, "0.10000000000000001"), "0.1");
    assert_eq!(taken(oid::FLOAT8, -1, "-Infinity"), "-Infinity");
    assert_eq!(taken(oid::INT8, -1, " 1e3 "), "1000");
    assert_eq!(taken(oid::INT4, -1, "7.0"), "7");
}

#[test]
fn an_empty_text_is_null_for_numbers_only() {
    assert_eq!(taken(oid::INT4, -1, ""), "NULL");
    assert_eq!(taken(oid::NUMERIC, -1, ""), "NULL");
    assert_eq!(taken(oid::TEXT, -1, ""), "");
    assert_dirty(oid::DATE, -1, Value::Text(""));
    assert_dirty(oid::BOOL, -1, Value::Text(""));
    let mut keeps = place(oid::INT4, -1);
    keeps.empty_as_null = false;
    assert!(matches!(cell(&keeps, Value::Text("")), Err(Refusal::Dirty(_))));
}

#[test]
fn texts_are_read_as_the_server_would() {
    for (text, truth) in
        [("t", "true"), ("YES", "true"), ("on", "true"), ("1", "true"), ("of", "false"), ("n", "false"), ("0", "false")]
    {
        assert_eq!(taken(oid::BOOL, -1, text), truth);
    }
    assert_dirty(oid::BOOL, -1, Value::Text("o"));
    let uuid = "6774d596-8cc8-4c20-8e98-6f2f105d62a8";
    for text in
        [uuid, &uuid.to_uppercase(), "{6774d5968cc84c208e986f2f105d62a8}", "6774-d596-8cc8-4c20-8e98-6f2f-105d-62a8"]
    {
        assert_eq!(taken(oid::UUID, -1, text), taken(oid::UUID, -1, uuid));
    }
    assert_dirty(oid::UUID, -1, Value::Text("6774d596-8cc8"));
    assert_eq!(taken(oid::DATE, -1, "2024-02-29"), "2024-02-29");
    assert_eq!(taken(oid::DATE, -1, "29 Feb 2024"), "the server's");
    assert_eq!(
        taken(oid::TIMESTAMPTZ, -1, "2024-03-10 10:00:00.5+08"),
        taken(oid::TIMESTAMPTZ, -1, "2024-03-10T02:00:00.5Z")
    );
    assert_eq!(
        taken(oid::TIMESTAMP, -1, "2024-03-10 10:00:00+08:00"),
        taken(oid::TIMESTAMP, -1, "2024-03-10 02:00:00")
    );
    assert_eq!(taken(oid::TIME, -1, "12:34:56.789"), "12:34:56.789");
    assert_eq!(taken(oid::INTERVAL, -1, "1 day"), "the server's");
}

#[test]
fn a_nul_character_is_dirty_or_left_out() {
    assert_dirty(oid::TEXT, -1, Value::Text("a\0b"));
    let mut removes = place(oid::TEXT, -1);
    removes.removes_nul = true;
    assert_eq!(cell(&removes, Value::Text("a\0b")), Ok(Some(b"ab".to_vec())));
}

#[test]
fn what_a_column_would_cut_off_is_dirty() {
    assert_dirty(oid::VARCHAR, 4 + 2, Value::Text("abc"));
    assert_eq!(taken(oid::VARCHAR, 4 + 2, "äö"), "äö");
    assert_dirty(oid::NAME, -1, Value::Text(&"a".repeat(64)));
    assert_dirty(oid::TIMESTAMP, 3, Value::Timestamp(1));
    assert_dirty(oid::TIME, 0, Value::Time(500_000));
    assert_dirty(oid::DATE, -1, Value::Timestamp(1));
    assert_dirty(oid::INTERVAL, -1, Value::Interval { months: 0, days: 0, nanos: 1 });
    assert_dirty(oid::TIME, -1, Value::Duration(-1));
    assert_eq!(cell(&place(oid::DATE, -1), Value::Timestamp(0)), cell(&place(oid::DATE, -1), Value::Date(0)));
}

#[test]
fn extreme_dates_are_infinite_only_if_the_reader_says_so() {
    let infinite = cell(&place(oid::TIMESTAMP, -1), Value::Timestamp(i64::MAX)).unwrap();
    assert_eq!(infinite, Some(i64::MAX.to_be_bytes().to_vec()));
    let mut finite = place(oid::TIMESTAMP, -1);
    finite.infinity = false;
    // The server's moments reach a little further than 64 bits of microseconds since 1970.
    let finite = cell(&finite, Value::Timestamp(i64::MAX)).unwrap();
    assert_eq!(finite, Some((i64::MAX - EPOCH_MICROS).to_be_bytes().to_vec()));
}

proptest! {
    #[test]
    fn moments_come_back(micros in -211_000_000_000_000_000i64..9_223_372_036_854_775_807) {
        let place = place(oid::TIMESTAMP, -1);
        let cell = cell(&place, Value::Timestamp(micros)).unwrap();
        let mut column = ColumnInTheMaking::new(Kind::Timestamp, 1);
        column.push(cell.as_deref()).unwrap();
        let array = column.finish().unwrap();
        prop_assert_eq!(Column::new(array.as_ref()).get(0), Value::Timestamp(micros));
    }

    #[test]
    fn intervals_come_back(months: i32, days: i32, micros in -9_000_000_000_000_000i64..9_000_000_000_000_000) {
        let value = Value::Interval { months, days, nanos: micros * 1_000 };
        let cell = cell(&place(oid::INTERVAL, -1), value).unwrap();
        let mut column = ColumnInTheMaking::new(Kind::Interval, 1);
        column.push(cell.as_deref()).unwrap();
        let array = column.finish().unwrap();
        prop_assert_eq!(Column::new(array.as_ref()).get(0), value);
    }

    #[test]
    fn floats_written_with_all_their_digits_are_taken(float in any::<f64>()) {
        prop_assume!(float.is_finite());
        let cell = cell(&place(oid::FLOAT8, -1), Value::Text(&format!("{float:e}"))).unwrap();
        prop_assert_eq!(cell, Some(float.to_be_bytes().to_vec()));
    }
}
