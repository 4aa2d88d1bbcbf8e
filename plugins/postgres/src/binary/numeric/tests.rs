//! Tests of the module above: numbers of any length, both ways.

use arrow_buffer::i256;
use proptest::prelude::*;

use super::*;

/// The cell without the length before it.
fn cell(put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out);
    let length = i32::from_be_bytes(out[..4].try_into().unwrap());
    assert_eq!(length as usize, out.len() - 4);
    out.split_off(4)
}

fn written(cell: &[u8]) -> String {
    let mut out = Vec::new();
    Numeric::parse(cell).unwrap().write(&mut out);
    String::from_utf8(out).unwrap()
}

fn of_text(text: &str) -> Vec<u8> {
    cell(|out| Decimal::parse(text).unwrap().put(out).unwrap())
}

#[test]
fn groups_are_what_the_server_sends() {
    // As `numeric_send` gives them for 12345.678 and for 0.00012.
    assert_eq!(of_text("12345.678"), [0, 3, 0, 1, 0, 0, 0, 3, 0, 1, 9, 41, 26, 124]);
    assert_eq!(of_text("0.00012"), [0, 2, 255, 255, 0, 0, 0, 5, 0, 1, 7, 208]);
    assert_eq!(of_text("0.00"), [0, 0, 0, 0, 0, 0, 0, 2]);
}

#[test]
fn texts_come_back_as_they_were() {
    for text in
        ["0", "1", "-1", "10000", "-0.5", "1.50", "123456789012345678901234567890.123456789", "0.00000000000000000001"]
    {
        assert_eq!(written(&of_text(text)), text);
    }
    for (text, same) in [
        ("NaN", "NaN"),
        ("inf", "Infinity"),
        ("-Infinity", "-Infinity"),
        (" +7 ", "7"),
        ("1e3", "1000"),
        ("15e-3", "0.015"),
    ] {
        assert_eq!(written(&of_text(text)), same);
    }
}

#[test]
fn what_is_no_number_is_told() {
    for text in ["", " ", "abc", "1e", "1.2.3", "--1", "1 2", ".", "e5", "-nan", "0x10"] {
        assert_eq!(Decimal::parse(text), None, "{text}");
    }
}

#[test]
fn a_number_that_would_be_rounded_does_not_fit() {
    let fits = |text: &str| Decimal::parse(text).unwrap().fits(5, 2);
    assert_eq!(fits("123.45"), Ok(()));
    assert_eq!(fits("123.4500"), Ok(()));
    assert_eq!(fits("1.005"), Err(Misfit::TooFine));
    assert_eq!(fits("1234.5"), Err(Misfit::TooLarge));
    assert_eq!(fits("NaN"), Ok(()));
    assert_eq!(fits("Infinity"), Err(Misfit::TooLarge));
}

#[test]
fn numbers_beyond_all_bounds_are_refused() {
    let put = |text: &str| Decimal::parse(text).unwrap().put(&mut Vec::new());
    assert_eq!(put("1e999999999999999999999"), Err(Misfit::TooLarge));
    assert_eq!(put("1e-20000"), Err(Misfit::TooFine));
    assert_eq!(put("0e999999999"), Ok(()));
}

#[test]
fn decimals_tell_what_they_cannot_hold() {
    let nan = of_text("NaN");
    assert_eq!(Numeric::parse(&nan).unwrap().scaled(2), Err(NotDecimal::NotFinite));
    let fine = of_text("0.001");
    assert_eq!(Numeric::parse(&fine).unwrap().scaled(2), Err(NotDecimal::TooLong));
    let large = of_text(&"9".repeat(60));
    assert_eq!(Numeric::parse(&large).unwrap().scaled(0), Err(NotDecimal::TooLong));
    assert_eq!(Numeric::parse(&large).unwrap().scaled_256(0), Ok(i256::from_string(&"9".repeat(60)).unwrap()));
}

proptest! {
    #[test]
    fn decimals_come_back(value in any::<i128>(), shift in 0u32..120, scale in -5i8..38) {
        let value = value >> shift;
        let cell = cell(|out| put_i128(out, value, scale));
        let numeric = Numeric::parse(&cell).unwrap();
        prop_assert_eq!(numeric.scaled(scale), Ok(value));
        prop_assert_eq!(numeric.scaled_256(scale), Ok(i256::from_i128(value)));
    }

    #[test]
    fn any_digits_come_back(whole in "0|[1-9][0-9]{0,60}", fraction in "[0-9]{0,40}", negative: bool) {
        let is_zero = whole == "0" && fraction.bytes().all(|digit| digit == b'0');
        let sign = if negative && !is_zero { "-" } else { "" };
        let text = if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") };
        prop_assert_eq!(written(&of_text(&text)), text);
    }

    #[test]
    fn both_ways_of_writing_are_one(value in any::<i64>(), scale in 0i8..18) {
        let text = i256::from_i128(value as i128).to_string();
        let digits = text.trim_start_matches('-').trim_start_matches('0').as_bytes().to_vec();
        let decimal = Decimal::Finite { negative: value < 0, digits, scale: scale as i64 };
        let (mut slow, mut fast) = (Vec::new(), Vec::new());
        decimal.put(&mut slow).unwrap();
        put_i128(&mut fast, value as i128, scale);
        prop_assert_eq!(slow, fast);
    }
}
