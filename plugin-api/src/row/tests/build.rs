//! Tests of [`RowBuilder`].

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampSecondType};
use arrow_array::{Array, RecordBatch};
use arrow_buffer::i256;
use arrow_schema::{DataType, Field, IntervalUnit, Schema, TimeUnit};

use super::schema;
use crate::batch::{Origin, byte_size};
use crate::error::Kind;
use crate::row::{RowBuilder, Rows, Value};

/// One column of every type that can be built, and two values for it.
fn every_type() -> Vec<(DataType, [Value<'static>; 2])> {
    static WIDE: [i256; 2] = [i256::from_i128(i128::MAX), i256::MINUS_ONE];
    let wide = |index: usize| Value::Decimal256 { value: &WIDE[index], scale: 0 };
    let interval = |months, days, nanos| Value::Interval { months, days, nanos };
    vec![
        (DataType::Null, [Value::Null, Value::Null]),
        (DataType::Boolean, [Value::Bool(true), Value::Bool(false)]),
        (DataType::Int8, [Value::Int(-128), Value::Int(127)]),
        (DataType::Int16, [Value::Int(-32_768), Value::Int(32_767)]),
        (DataType::Int32, [Value::Int(i32::MIN as i64), Value::Int(i32::MAX as i64)]),
        (DataType::Int64, [Value::Int(i64::MIN), Value::Int(i64::MAX)]),
        (DataType::UInt8, [Value::UInt(0), Value::UInt(255)]),
        (DataType::UInt16, [Value::UInt(0), Value::UInt(65_535)]),
        (DataType::UInt32, [Value::UInt(0), Value::UInt(u32::MAX as u64)]),
        (DataType::UInt64, [Value::UInt(0), Value::UInt(u64::MAX)]),
        (DataType::Float32, [Value::Float32(0.1), Value::Float32(f32::NEG_INFINITY)]),
        (DataType::Float64, [Value::Float64(0.1), Value::Float64(f64::MAX)]),
        (
            DataType::Decimal128(38, 2),
            [Value::Decimal { value: 1, scale: 2 }, Value::Decimal { value: -(10i128.pow(38) - 1), scale: 2 }],
        ),
        (DataType::Decimal256(76, 0), [wide(0), wide(1)]),
        (DataType::Utf8, [Value::Text(""), Value::Text("grün 😀")]),
        (DataType::LargeUtf8, [Value::Text("a"), Value::Text("bc")]),
        (DataType::Binary, [Value::Bytes(b""), Value::Bytes(b"\xff\x00")]),
        (DataType::LargeBinary, [Value::Bytes(b"\xff"), Value::Bytes(b"")]),
        (DataType::FixedSizeBinary(2), [Value::Bytes(b"ab"), Value::Bytes(b"\xff\x00")]),
        (DataType::Date32, [Value::Date(i32::MIN), Value::Date(0)]),
        (DataType::Time64(TimeUnit::Microsecond), [Value::Time(0), Value::Time(86_399_999_999)]),
        (DataType::Time64(TimeUnit::Nanosecond), [Value::Time(1), Value::Time(86_399_999_999)]),
        (DataType::Timestamp(TimeUnit::Second, None), [Value::Timestamp(-1_000_000), Value::Timestamp(0)]),
        (DataType::Timestamp(TimeUnit::Millisecond, None), [Value::Timestamp(-1_000), Value::Timestamp(0)]),
        (DataType::Timestamp(TimeUnit::Microsecond, None), [Value::Timestamp(i64::MIN), Value::Timestamp(i64::MAX)]),
        (DataType::Timestamp(TimeUnit::Nanosecond, None), [Value::Timestamp(-1), Value::Timestamp(1)]),
        (DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), [Value::Instant(-1), Value::Instant(1)]),
        (DataType::Duration(TimeUnit::Second), [Value::Duration(-1_000_000), Value::Duration(0)]),
        (DataType::Duration(TimeUnit::Millisecond), [Value::Duration(-1_000), Value::Duration(0)]),
        (DataType::Duration(TimeUnit::Microsecond), [Value::Duration(-1), Value::Duration(i64::MAX)]),
        (DataType::Duration(TimeUnit::Nanosecond), [Value::Duration(-1), Value::Duration(1)]),
        (DataType::Interval(IntervalUnit::MonthDayNano), [interval(-1, 2, i64::MIN), interval(i32::MAX, 0, 0)]),
    ]
}

fn values_of(records: &RecordBatch, column: usize) -> Vec<Value<'_>> {
    Rows::new(records).iter().map(|row| row.get(column)).collect()
}

#[test]
fn every_type_comes_out_as_it_went_in_with_nulls_between() {
    for (data_type, [first, second]) in every_type() {
        let mut rows = RowBuilder::new(schema([("it", data_type.clone())]), 4).unwrap();
        let expected = [first, Value::Null, second, Value::Null];
        for value in expected {
            rows.push_row(&[value]).unwrap();
        }
        let most = rows.bytes();
        let (records, bytes) = rows.finish().unwrap();
        assert_eq!(records.column(0).data_type(), &data_type);
        assert_eq!(values_of(&records, 0), expected, "{data_type}");
        assert_eq!(bytes, byte_size(&records), "{data_type}");
        assert!((bytes..=bytes + 1).contains(&most), "{data_type}: {most} for {bytes}");
        records.column(0).to_data().validate_full().unwrap();
    }
}

#[test]
fn bytes_are_counted_as_byte_size_does_for_any_number_of_rows() {
    let columns = every_type()
        .into_iter()
        .enumerate()
        .map(|(index, (data_type, _))| Field::new(index.to_string(), data_type, true));
    let mut rows = RowBuilder::new(Arc::new(Schema::new(columns.collect::<Vec<_>>())), 3).unwrap();
    for count in [0, 1, 7, 8, 9, 100] {
        for row in 0..count {
            for (column, (_, values)) in every_type().into_iter().enumerate() {
                let value = if (row + column) % 5 == 4 { Value::Null } else { values[row % 2] };
                rows.set(column, value).unwrap();
            }
            rows.end_row().unwrap();
        }
        let (records, bytes) = rows.finish().unwrap();
        assert_eq!((records.num_rows(), bytes), (count, byte_size(&records)));
    }
}

#[test]
fn a_dropped_row_leaves_nothing_in_any_column() {
    for (data_type, [good, bad]) in every_type() {
        let mut rows = RowBuilder::new(schema([("it", data_type.clone()), ("id", DataType::Int64)]), 4).unwrap();
        rows.push_row(&[good, Value::Int(1)]).unwrap();
        rows.set(0, bad).unwrap();
        rows.set(1, "not a number").unwrap_err();
        rows.drop_row();
        rows.set(0, Value::Null).unwrap();
        rows.drop_row();
        rows.push_row(&[good, Value::Int(3)]).unwrap();
        let (records, bytes) = rows.finish().unwrap();
        assert_eq!(values_of(&records, 0), [good, good], "{data_type}");
        assert_eq!(values_of(&records, 1), [Value::Int(1), Value::Int(3)], "{data_type}");
        assert_eq!(bytes, byte_size(&records), "{data_type}");
    }
}

#[test]
fn a_row_with_a_bad_value_is_not_pushed_in_part() {
    let mut rows = RowBuilder::new(schema([("name", DataType::Utf8), ("age", DataType::Int8)]), 4).unwrap();
    let error = rows.push_row(&[Value::Text("ann"), Value::Int(300)]).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Data, "the whole number 300 does not fit column \"age\" of type Int8")
    );
    assert_eq!((rows.len(), rows.bytes(), rows.row_bytes()), (0, 0, 5));
    rows.push_row(&[Value::Text("bob"), Value::Int(30)]).unwrap();
    let (records, _) = rows.finish().unwrap();
    assert_eq!(values_of(&records, 0), [Value::Text("bob")]);
}

#[test]
fn after_a_refused_value_the_row_goes_on_with_another() {
    let mut rows = RowBuilder::new(schema([("name", DataType::Utf8), ("age", DataType::Int8)]), 4).unwrap();
    rows.set(0, "ann").unwrap();
    rows.set(1, 300i64).unwrap_err();
    rows.set(1, Value::Null).unwrap();
    rows.end_row().unwrap();
    let (records, _) = rows.finish().unwrap();
    assert_eq!((values_of(&records, 0), values_of(&records, 1)), (vec![Value::Text("ann")], vec![Value::Null]));
}

#[test]
fn setting_a_column_again_replaces_its_value() {
    let mut rows = RowBuilder::new(schema([("name", DataType::Utf8)]), 4).unwrap();
    rows.set(0, "a long name").unwrap();
    rows.set(0, "ann").unwrap();
    assert_eq!(rows.row_bytes(), 7);
    rows.end_row().unwrap();
    let (records, bytes) = rows.finish().unwrap();
    assert_eq!((values_of(&records, 0), bytes), (vec![Value::Text("ann")], 7));
}

#[test]
fn columns_that_are_not_set_are_null_or_named() {
    let id = Field::new("id", DataType::Int64, false);
    let name = Field::new("name", DataType::Utf8, true);
    let mut rows = RowBuilder::new(Arc::new(Schema::new(vec![id, name])), 4).unwrap();
    rows.set(0, 1i64).unwrap();
    rows.end_row().unwrap();
    rows.set(1, "ann").unwrap();
    assert_eq!(rows.end_row().unwrap_err().message(), "column \"id\" can't be NULL");
    rows.drop_row();
    assert_eq!(rows.push_row(&[Value::Null, Value::Null]).unwrap_err().message(), "column \"id\" can't be NULL");
    let (records, _) = rows.finish().unwrap();
    assert_eq!(values_of(&records, 1), [Value::Null]);
    assert_eq!(records.num_rows(), 1);
}

#[test]
fn whole_numbers_go_into_any_width_that_holds_them() {
    let mut rows = RowBuilder::new(schema([("signed", DataType::Int16), ("unsigned", DataType::UInt64)]), 4).unwrap();
    rows.push_row(&[Value::UInt(32_767), Value::Int(0)]).unwrap();
    rows.push_row(&[Value::UInt(32_768), Value::Int(0)]).unwrap_err();
    rows.push_row(&[Value::Int(0), Value::Int(-1)]).unwrap_err();
    let (records, _) = rows.finish().unwrap();
    assert_eq!(values_of(&records, 0), [Value::Int(32_767)]);
}

#[test]
fn decimals_change_scale_only_where_every_digit_is_kept() {
    for data_type in [DataType::Decimal128(5, 2), DataType::Decimal256(5, 2)] {
        let mut rows = RowBuilder::new(schema([("price", data_type)]), 4).unwrap();
        let mut push = |value, scale| rows.push_row(&[Value::Decimal { value, scale }]).is_ok();
        assert!(push(5, 0) && push(12_300, 4) && push(0, 127) && push(1, -2) && push(-99_999, 2));
        assert!(!push(12_345, 3) && !push(100_000, 2) && !push(1_000, 0) && !push(i128::MAX, -128) && !push(1, 127));
        let (records, _) = rows.finish().unwrap();
        let texts: Vec<_> =
            (0..records.num_rows()).map(|row| crate::row::cell_to_text(records.column(0), row).unwrap()).collect();
        assert_eq!(texts, ["5.00", "1.23", "0.00", "100.00", "-999.99"]);
    }
}

#[test]
fn moments_finer_than_the_columns_unit_are_refused() {
    let mut rows = RowBuilder::new(schema([("at", DataType::Timestamp(TimeUnit::Second, None))]), 4).unwrap();
    rows.push_row(&[Value::Timestamp(1_000_001)]).unwrap_err();
    rows.push_row(&[Value::Timestamp(-2_000_000)]).unwrap();
    let (records, _) = rows.finish().unwrap();
    assert_eq!(records.column(0).as_primitive::<TimestampSecondType>().value(0), -2);

    let mut rows = RowBuilder::new(schema([("at", DataType::Timestamp(TimeUnit::Nanosecond, None))]), 4).unwrap();
    rows.push_row(&[Value::Timestamp(i64::MAX)]).unwrap_err();
}

#[test]
fn values_of_another_kind_are_refused_and_shown() {
    for (data_type, value, expected) in [
        (DataType::Int64, Value::Text("12"), "takes Int64, not the text \"12\""),
        (DataType::Utf8, Value::Int(12), "takes Utf8, not the whole number 12"),
        (DataType::Float64, Value::Float32(0.1), "takes Float64, not the float 0.1"),
        (DataType::Float64, Value::Int(1), "takes Float64, not the whole number 1"),
        (DataType::Boolean, Value::Null, ""),
        (DataType::Date32, Value::Timestamp(0), "takes Date32, not the timestamp without zone 1970-01-01T00:00:00"),
        (DataType::Utf8, Value::Bytes(b"ab"), "takes Utf8, not 2 bytes"),
        (DataType::FixedSizeBinary(16), Value::Bytes(b"ab"), "2 bytes does not fit"),
        (DataType::Null, Value::Bool(true), "takes Null, not the boolean true"),
    ] {
        let mut rows = RowBuilder::new(schema([("it", data_type)]), 4).unwrap();
        match rows.push_row(&[value]) {
            Ok(()) => assert!(expected.is_empty(), "{value:?} was taken"),
            Err(error) => {
                assert!(!expected.is_empty() && error.message().contains(expected), "{error}");
                assert!(error.message().contains("\"it\""), "{error}");
            }
        }
    }
}

#[test]
fn types_that_are_not_built_row_by_row_are_said_at_once() {
    let list = DataType::List(Arc::new(Field::new_list_field(DataType::Int8, true)));
    let error = RowBuilder::new(schema([("tags", list)]), 4).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.message().contains("\"tags\""), "{error}");
}

#[test]
fn a_batch_cannot_end_in_the_middle_of_a_row() {
    let mut rows = RowBuilder::new(schema([("id", DataType::Int64)]), 4).unwrap();
    rows.set(0, 1i64).unwrap();
    rows.finish().unwrap_err();
    rows.end_row().unwrap();
    let batch = rows.finish_batch(Origin::from(7)).unwrap();
    assert_eq!((batch.num_rows(), batch.bytes, batch.origin.position(0)), (1, 8, 7));
}

#[test]
fn rows_of_the_wrong_length_and_columns_that_do_not_exist_are_refused() {
    let mut rows = RowBuilder::new(schema([("id", DataType::Int64)]), 4).unwrap();
    rows.push_row(&[]).unwrap_err();
    rows.push_row(&[Value::Int(1), Value::Int(2)]).unwrap_err();
    rows.set(1, 1i64).unwrap_err();
    assert!(rows.is_empty());
}

#[test]
fn batches_without_columns_still_count_their_rows() {
    let mut rows = RowBuilder::new(schema([]), 4).unwrap();
    rows.push_row(&[]).unwrap();
    rows.push_row(&[]).unwrap();
    let (records, bytes) = rows.finish().unwrap();
    assert_eq!((records.num_rows(), bytes), (2, 0));
}

#[test]
fn many_batches_come_out_of_one_builder() {
    let mut rows = RowBuilder::new(schema([("id", DataType::Int64), ("name", DataType::Utf8)]), 2).unwrap();
    let mut next = 0i64;
    for size in [1, 1_000, 3, 40] {
        let first = next;
        for _ in 0..size {
            rows.push_row(&[Value::Int(next), Value::Text("x")]).unwrap();
            next += 1;
        }
        let (records, _) = rows.finish().unwrap();
        let expected: Vec<_> = (first..next).collect();
        assert_eq!(&records.column(0).as_primitive::<Int64Type>().values()[..], expected);
    }
}
