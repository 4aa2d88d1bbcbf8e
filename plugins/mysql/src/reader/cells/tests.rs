//! Values of packets, read.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Decimal256Type, DurationMicrosecondType, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef};
use proptest::prelude::*;
use transship_plugin_api::dates;

use super::*;
use crate::types;

fn column(kind: u8) -> Column {
    Column { name: "c".into(), kind, charset: 45, length: 20, ..Column::default() }
}

/// What becomes of one value of a packet.
fn decoded(column: &Column, packet: &[u8], policy: ZeroDate) -> std::result::Result<ArrayRef, Misfit> {
    let field = types::field(column, false);
    let mut collector = Collector::new(column, &field, 1, 0, policy).unwrap();
    let mut rest = packet;
    collector.take(&mut rest).unwrap()?;
    assert!(rest.is_empty(), "{} bytes are left", rest.len());
    Ok(collector.finish(field.data_type()).unwrap())
}

fn with_length(bytes: &[u8]) -> Vec<u8> {
    [&[bytes.len() as u8], bytes].concat()
}

fn moment(parts: &[u8]) -> Vec<u8> {
    with_length(parts)
}

#[test]
fn whole_numbers_keep_their_sign_and_all_bits() {
    let unsigned = |kind| Column { flags: 32, ..column(kind) };
    let greatest = decoded(&unsigned(kind::LONGLONG), &u64::MAX.to_le_bytes(), ZeroDate::Null).unwrap();
    assert_eq!(greatest.as_primitive::<UInt64Type>().value(0), u64::MAX);
    let least = decoded(&column(kind::INT24), &(-8_388_608i32).to_le_bytes(), ZeroDate::Null).unwrap();
    assert_eq!(least.as_primitive::<Int32Type>().value(0), -8_388_608);
    let bits = Column { length: 64, ..column(kind::BIT) };
    let bits = decoded(&bits, &with_length(&[0xff, 0, 0, 0, 0, 0, 0, 1]), ZeroDate::Null).unwrap();
    assert_eq!(bits.as_primitive::<UInt64Type>().value(0), 0xff00_0000_0000_0001);
}

#[test]
fn a_short_number_is_a_boolean_where_that_is_asked_for() {
    let described = Column { length: 1, ..column(kind::TINY) };
    let field = types::field(&described, true);
    let mut collector = Collector::new(&described, &field, 3, 0, ZeroDate::Null).unwrap();
    let taken = [0u8, 1, 2].map(|number| collector.take(&mut &[number][..]).unwrap().is_ok());
    assert_eq!(taken, [true, true, false]);
    let array = collector.finish(field.data_type()).unwrap();
    assert_eq!(array.as_boolean().iter().collect::<Vec<_>>(), [Some(false), Some(true), None]);
}

#[test]
fn what_is_zero_is_left_out_of_times() {
    let time = column(kind::TIME);
    let of = |packet: &[u8]| {
        decoded(&time, packet, ZeroDate::Null).unwrap().as_primitive::<DurationMicrosecondType>().value(0)
    };
    assert_eq!(of(&[0]), 0);
    assert_eq!(of(&with_length(&[1, 34, 0, 0, 0, 22, 59, 59])), -(838 * 3600 + 59 * 60 + 59) * 1_000_000);
    assert_eq!(of(&with_length(&[1, 0, 0, 0, 0, 0, 0, 0, 0x20, 0xa1, 7, 0])), -500_000);
}

#[test]
fn a_zero_date_is_null_or_a_misfit_and_a_date_that_is_none_is_one_always() {
    let date = column(kind::DATE);
    assert!(decoded(&date, &[0], ZeroDate::Null).unwrap().is_null(0));
    assert_eq!(decoded(&date, &[0], ZeroDate::Dirty).unwrap_err().value, "0000-00-00");
    for policy in [ZeroDate::Null, ZeroDate::Dirty] {
        let misfit = decoded(&date, &moment(&[0xe8, 7, 0, 15]), policy).unwrap_err();
        assert_eq!(misfit.value, "2024-00-15");
        let misfit = decoded(&column(kind::DATETIME), &moment(&[0xe7, 7, 2, 29, 1, 2, 3]), policy).unwrap_err();
        assert_eq!(misfit.value, "2023-02-29 01:02:03");
    }
}

#[test]
fn an_instant_is_what_the_clock_shows_less_its_offset() {
    let stamp = column(kind::TIMESTAMP);
    let field = types::field(&stamp, false);
    let mut collector = Collector::new(&stamp, &field, 1, 8 * 3600, ZeroDate::Null).unwrap();
    collector.take(&mut &moment(&[0xb2, 7, 1, 1, 8, 0, 1])[..]).unwrap().unwrap();
    let array = collector.finish(field.data_type()).unwrap();
    assert_eq!(array.as_primitive::<TimestampMicrosecondType>().value(0), 1_000_000);
}

#[test]
fn text_that_is_none_is_a_misfit_and_the_column_goes_on() {
    let text = column(253);
    let field = types::field(&text, false);
    let mut collector = Collector::new(&text, &field, 2, 0, ZeroDate::Null).unwrap();
    assert!(collector.take(&mut &with_length(&[b'a', 0xff])[..]).unwrap().is_err());
    assert!(collector.take(&mut &with_length("é".as_bytes())[..]).unwrap().is_ok());
    let array = collector.finish(field.data_type()).unwrap();
    assert_eq!(array.as_string::<i32>().iter().collect::<Vec<_>>(), [None, Some("é")]);
}

#[test]
fn a_packet_that_ends_too_early_is_an_error() {
    for (kind, packet) in
        [(kind::LONGLONG, &[1, 2][..]), (kind::DATE, &[4, 1]), (kind::TIME, &[8, 0]), (253, &[5, b'a'])]
    {
        let column = column(kind);
        let mut collector = Collector::new(&column, &types::field(&column, false), 1, 0, ZeroDate::Null).unwrap();
        assert!(collector.take(&mut &packet[..]).is_err(), "kind {kind}");
    }
}

proptest! {
    #[test]
    fn decimals_of_any_size_keep_all_digits(digits in "[0-9]{1,65}", scale in 0usize..30, negative: bool) {
        let scale = scale.min(digits.len() - 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let sign = if negative { "-" } else { "" };
        let text = if scale > 0 { format!("{sign}{whole}.{fraction}") } else { format!("{sign}{whole}") };
        let described = Column {
            length: digits.len() as u32 + 1 + u32::from(scale > 0),
            decimals: scale as u8,
            ..column(kind::NEW_DECIMAL)
        };
        let array = decoded(&described, &with_length(text.as_bytes()), ZeroDate::Null).unwrap();
        let shown = match array.data_type() {
            DataType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value_as_string(0),
            _ => array.as_primitive::<Decimal256Type>().value_as_string(0),
        };
        let plain = |text: &str| {
            let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'-'));
            let unsigned = text.trim_start_matches('-').trim_start_matches('0');
            let sign = if text.starts_with('-') && !is_zero { "-" } else { "" };
            let unsigned = if unsigned.is_empty() || unsigned.starts_with('.') { format!("0{unsigned}") } else { unsigned.into() };
            format!("{sign}{unsigned}")
        };
        prop_assert_eq!(plain(&shown), plain(&text));
    }

    #[test]
    fn every_day_is_the_same_day(days in -719_162i32..2_932_896) {
        let (year, month, day) = dates::civil_from_days(i64::from(days));
        let [y0, y1] = (year as u16).to_le_bytes();
        let array = decoded(&column(kind::DATE), &moment(&[y0, y1, month as u8, day as u8]), ZeroDate::Null).unwrap();
        prop_assert_eq!(array.as_primitive::<Date32Type>().value(0), days);
    }
}
